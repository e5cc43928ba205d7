//! `docsyncd list`: a line for each document. Lines are written while they are read, so that a million take no memory.

mod layout;

use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;

use rusqlite::Connection;
use serde::ser::{SerializeSeq as _, Serializer as _};

use super::harmless::{self, Form, in_line};
use super::output::{completed, ended, ledger_to_list, local, print, terminal_width};
use super::pager::Out;
use super::{Outcome, runtime};
use crate::commands::cli::ListArgs;
use crate::config::Loaded;
use crate::formats::language::Language;
use crate::ledger::{Millis, QueryResult};
use crate::views::{self, DeliveryView, DocumentView};
use layout::{Layout, Line};

/// How many characters of a uuid's end are shown if the whole has no room.
const SHORT_UUID: usize = 8;
/// How many lines are measured before the first is written, to set the columns' widths.
const MEASURED: usize = 500;
/// How many bytes are read before a person begins to page. A longer list is written while it is read.
const AHEAD: usize = 32 * 1024 * 1024;

pub(super) fn list(loaded: &Loaded, wanted: &ListArgs, language: Language) -> Outcome {
    let Some(ledger) = ledger_to_list(loaded, language)? else {
        return print(&if wanted.json { "[]\n".to_owned() } else { nothing(language) });
    };
    let runtime = runtime()?;
    if !wanted.json && terminal_width().is_some() {
        let listed = wanted.clone();
        let read = ledger.read(move |db| {
            let mut lines = Ahead(Vec::new());
            Ok(write_lines(db, &listed, language, &mut lines)?.is_ok().then_some(lines.0))
        });
        if let Some(lines) = runtime.block_on(read)? {
            let mut out = open(wanted);
            let written = out.write_all(&lines);
            // Also if the person has left it early.
            let closed = out.close();
            return ended(written.and(closed));
        }
    }
    let wanted = wanted.clone();
    ended(runtime.block_on(ledger.read(move |db| write_all(db, &wanted, language)))?)
}

fn open(wanted: &ListArgs) -> Out {
    if wanted.wide { Out::of_long_lines() } else { Out::open() }
}

/// Buffers up to [`AHEAD`] bytes before a person begins to page, because the ledger's log grows as long as somebody
/// reads.
struct Ahead(Vec<u8>);

impl Write for Ahead {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > AHEAD {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn nothing(language: Language) -> String {
    language.text("list-none") + "\n"
}

/// Writes while it reads. The outer error is the ledger's, the inner one that of standard output.
fn write_all(db: &Connection, wanted: &ListArgs, language: Language) -> QueryResult<io::Result<()>> {
    if wanted.json {
        let mut out = BufWriter::new(harmless::output(Form::Json));
        return Ok(write_json(db, wanted, &mut out)?.and_then(|()| out.flush()));
    }
    let mut out = BufWriter::new(open(wanted));
    let written = write_lines(db, wanted, language, &mut out)?.and_then(|()| out.flush());
    // Also if the person has left it early.
    let (out, _) = out.into_parts();
    let closed = out.close();
    Ok(written.and(closed))
}

fn write_json(db: &Connection, wanted: &ListArgs, out: &mut impl Write) -> QueryResult<io::Result<()>> {
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

fn write_lines(
    db: &Connection,
    wanted: &ListArgs,
    language: Language,
    out: &mut impl Write,
) -> QueryResult<io::Result<()>> {
    // A file or a pipe gets uncut lines without names.
    let terminal = terminal_width();
    let (is_terminal, width) = (terminal.is_some(), terminal.filter(|_| !wanted.wide));
    let (mut written, mut first, mut layout) = (Ok(()), Vec::new(), None);
    let header = || header(language, is_terminal);
    each(db, wanted, |document| {
        let line = line(&document, is_terminal, language);
        written = match &layout {
            Some(layout) => write_line(out, layout, &line),
            None => {
                first.push(line);
                if first.len() < MEASURED { Ok(()) } else { write_first(out, &mut layout, &mut first, header(), width) }
            }
        };
        written.is_ok()
    })?;
    Ok(written.and_then(|()| match (&layout, first.is_empty()) {
        (Some(_), _) => Ok(()),
        (None, true) => out.write_all(nothing(language).as_bytes()),
        (None, false) => write_first(out, &mut layout, &mut first, header(), width),
    }))
}

/// The header and the lines that were read so far.
fn write_first(
    out: &mut impl Write,
    layout: &mut Option<Layout>,
    lines: &mut Vec<Line>,
    header: Line,
    width: Option<usize>,
) -> io::Result<()> {
    let layout = layout.insert(Layout::of(&header, lines, width));
    write_line(out, layout, &header)?;
    lines.drain(..).try_for_each(|line| write_line(out, layout, &line))
}

fn write_line(out: &mut impl Write, layout: &Layout, line: &Line) -> io::Result<()> {
    writeln!(out, "{}", layout.line(line))
}

/// Shows at most the wanted number of documents, and stops when nobody reads any more.
fn each(db: &Connection, wanted: &ListArgs, mut show: impl FnMut(DocumentView) -> bool) -> QueryResult<()> {
    let mut left = wanted.limit.unwrap_or(usize::MAX);
    let is_other = |document: &DocumentView| wanted.account.as_ref().is_some_and(|name| *name != document.account);
    views::list(db, wanted.state, |document| {
        if is_other(&document) {
            return ControlFlow::Continue(());
        }
        left = left.saturating_sub(1);
        if show(document) && left > 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })
}

/// Files are shown only on a terminal.
fn header(language: Language, is_terminal: bool) -> Line {
    let reason = if is_terminal { "column-reason-or-file" } else { "column-reason" };
    let keys = [
        "page-state",
        "column-when",
        "page-patient",
        "page-type",
        "column-destination",
        "column-document",
        reason,
        "page-account",
        "column-next",
    ];
    Line::header(keys.map(|key| language.label(key)))
}

fn line(document: &DocumentView, is_terminal: bool, language: Language) -> Line {
    let mut present: Vec<&DeliveryView> = document.present().collect();
    present.sort_by_key(|delivery| &delivery.destination);
    let names: Vec<&str> = present.iter().map(|delivery| delivery.destination.as_str()).collect();
    let place = present.iter().find_map(|delivery| delivery.place.as_ref()).filter(|_| is_terminal);
    let file = || place.and_then(|place| place.rsplit(['/', '\\']).next().map(|file| in_line(file).into_owned()));
    let reason = reason(document, language).map(|reason| completed(&reason)).or_else(file);
    let cells = [
        language.state(document.stands()),
        local(document.changed_at),
        document.name.as_deref().filter(|_| is_terminal).map_or_else(String::new, |name| in_line(name).into_owned()),
        document.kind.as_deref().map_or_else(|| "-".to_owned(), |kind| language.kind(kind)),
        if names.is_empty() { "-".to_owned() } else { names.join(", ") },
        document.uuid.clone(),
        reason.unwrap_or_default(),
        document.account.clone(),
        local(document.next_attempt),
    ];
    Line { cells, short_when: short_time(document.changed_at, language), is_header: false }
}

/// Why it waits or failed. A person who administers docsyncd reads the exact words, if they are in the right language.
pub(super) fn reason(document: &DocumentView, language: Language) -> Option<String> {
    match language {
        Language::English => document.reason.clone(),
        _ if document.reasons.is_empty() => None,
        _ => Some(document.reasons.iter().map(|reason| language.reason(reason)).collect::<Vec<_>>().join(" ")),
    }
}

/// The end of a uuid, which distinguishes documents. The beginning of a UUIDv7 is a time (RFC 9562, section 5.7).
pub(super) fn short(uuid: &str) -> &str {
    let before = uuid.char_indices().rev().nth(SHORT_UUID - 1);
    before.and_then(|(at, _)| uuid.get(at..)).unwrap_or(uuid)
}

/// Day and time for the current year; otherwise the date.
pub(super) fn short_time(at: Millis, language: Language) -> String {
    let Ok(at) = jiff::Timestamp::from_millisecond(at) else { return "-".to_owned() };
    let (at, today) = (at.to_zoned(jiff::tz::TimeZone::system()), jiff::Zoned::now());
    let format = match language {
        _ if at.year() != today.year() => "%Y-%m-%d",
        Language::English => "%m-%d %H:%M",
        Language::French => "%d/%m %H:%M",
        Language::German => "%d.%m %H:%M",
    };
    at.strftime(format).to_string()
}
