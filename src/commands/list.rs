//! `docsyncd list`: a line for each document, written as it is read, so that a million of them take no memory.

mod layout;

use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;

use anyhow::Context as _;
use rusqlite::Connection;
use serde::ser::{SerializeSeq as _, Serializer as _};

use super::output::{completed, ledger_to_list, local, print, terminal_width};
use super::pager::Out;
use super::{Exit, Outcome, runtime};
use crate::config::Loaded;
use crate::ledger::QueryResult;
use crate::state::State;
use crate::views::{self, DocumentView};
use layout::{Layout, Line};

/// The end of a uuid that is shown where there is no room for all of it; characters.
const SHORT_UUID: usize = 8;
/// Lines that are looked at before the first is written, so that the columns are as wide as what they hold.
const MEASURED: usize = 500;

/// What a person wants listed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    pub(super) state: Option<State>,
    pub(super) limit: Option<usize>,
    /// All columns, and nothing cut.
    pub(super) wide: bool,
    pub(super) json: bool,
}

pub(super) fn list(loaded: &Loaded, wanted: Wanted) -> Outcome {
    let Some(ledger) = ledger_to_list(loaded)? else {
        return print(if wanted.json { "[]\n" } else { NOTHING });
    };
    let written = runtime()?.block_on(ledger.read(move |db| write_all(db, wanted)))?;
    match written {
        // A reader that went away (`docsyncd list | head`) is no error.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::Done),
        other => other.map(|()| Exit::Done).context("cannot write to standard output"),
    }
}

const NOTHING: &str = "no documents\n";

/// Writes while it reads. The outer error is the ledger's, the inner one that of standard output.
fn write_all(db: &Connection, wanted: Wanted) -> QueryResult<io::Result<()>> {
    if wanted.json {
        let mut out = BufWriter::new(io::stdout().lock());
        return Ok(write_json(db, wanted, &mut out)?.and_then(|()| out.flush()));
    }
    let mut out = BufWriter::new(if wanted.wide { Out::of_long_lines() } else { Out::open() });
    let written = write_lines(db, wanted, &mut out)?.and_then(|()| out.flush());
    // Also when the person has left it early.
    let (out, _) = out.into_parts();
    let closed = out.close();
    Ok(written.and(closed))
}

fn write_json(db: &Connection, wanted: Wanted, out: &mut impl Write) -> QueryResult<io::Result<()>> {
    let mut json = serde_json::Serializer::pretty(&mut *out);
    let mut array = match json.serialize_seq(None) {
        Ok(array) => array,
        Err(error) => return Ok(Err(error.into())),
    };
    let mut written = Ok(());
    each(db, wanted, |document| {
        written = array.serialize_element(&document).map_err(Into::into);
        written.is_ok()
    })?;
    Ok(written.and_then(|()| array.end().map_err(Into::into)).and_then(|()| writeln!(out)))
}

fn write_lines(db: &Connection, wanted: Wanted, out: &mut impl Write) -> QueryResult<io::Result<()>> {
    // What goes into a file or a pipe is not cut, and names nobody.
    let terminal = terminal_width();
    let (is_terminal, width) = (terminal.is_some(), terminal.filter(|_| !wanted.wide));
    let (mut written, mut first, mut layout) = (Ok(()), Vec::new(), None);
    each(db, wanted, |document| {
        let line = line(&document, is_terminal);
        written = match &layout {
            Some(layout) => write_line(out, layout, &line),
            None => {
                first.push(line);
                if first.len() < MEASURED { Ok(()) } else { write_first(out, &mut layout, &mut first, terminal, width) }
            }
        };
        written.is_ok()
    })?;
    Ok(written.and_then(|()| match (&layout, first.is_empty()) {
        (Some(_), _) => Ok(()),
        (None, true) => out.write_all(NOTHING.as_bytes()),
        (None, false) => write_first(out, &mut layout, &mut first, terminal, width),
    }))
}

/// The header and the lines that were read so far.
fn write_first(
    out: &mut impl Write,
    layout: &mut Option<Layout>,
    lines: &mut Vec<Line>,
    terminal: Option<usize>,
    width: Option<usize>,
) -> io::Result<()> {
    let layout = layout.insert(Layout::of(lines, width));
    write_line(out, layout, &Line::header(terminal.is_some()))?;
    lines.drain(..).try_for_each(|line| write_line(out, layout, &line))
}

fn write_line(out: &mut impl Write, layout: &Layout, line: &Line) -> io::Result<()> {
    writeln!(out, "{}", layout.line(line))
}

/// Shows up to as many documents as are wanted, and none after one for which there is nobody left to write.
fn each(db: &Connection, wanted: Wanted, mut show: impl FnMut(DocumentView) -> bool) -> QueryResult<()> {
    let mut left = wanted.limit.unwrap_or(usize::MAX);
    views::list(db, wanted.state, |document| {
        left = left.saturating_sub(1);
        if show(document) && left > 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })
}

fn line(document: &DocumentView, is_terminal: bool) -> Line {
    let changed = document.changed_at.as_deref();
    let of_patient = |text: &Option<String>| text.clone().filter(|_| is_terminal);
    let file = || of_patient(&document.place).and_then(|place| place.rsplit(['/', '\\']).next().map(str::to_owned));
    let reason = document.reason.as_deref().map(completed).or_else(file);
    let cells = [
        document.state.clone(),
        local(changed),
        of_patient(&document.name).unwrap_or_default(),
        document.kind.as_deref().unwrap_or("-").to_owned(),
        document.destinations.as_deref().unwrap_or("-").to_owned(),
        document.uuid.clone(),
        reason.unwrap_or_default(),
        document.account.clone(),
        local(document.next_attempt.as_deref()),
    ];
    Line { cells, short_when: short_time(changed), is_header: false }
}

/// What tells a document from others where there is no room for all of its uuid: the end, since the beginning of a
/// UUIDv7 is a time (RFC 9562, section 5.7).
pub(super) fn short(uuid: &str) -> &str {
    let before = uuid.char_indices().rev().nth(SHORT_UUID - 1);
    before.and_then(|(at, _)| uuid.get(at..)).unwrap_or(uuid)
}

/// Of this year the day and the time, else the date.
pub(super) fn short_time(time: Option<&str>) -> String {
    let Some(Ok(at)) = time.map(str::parse::<jiff::Timestamp>) else { return "-".to_owned() };
    let (at, today) = (at.to_zoned(jiff::tz::TimeZone::system()), jiff::Zoned::now());
    at.strftime(if at.year() == today.year() { "%m-%d %H:%M" } else { "%Y-%m-%d" }).to_string()
}
