//! `docsyncd list`: a line for each document, written as it is read, so that a million of them take no memory.

use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;

use anyhow::Context as _;
use comfy_table::Table;
use rusqlite::Connection;
use serde::ser::{SerializeSeq as _, Serializer as _};

use super::output::{ledger_to_list, local, print};
use super::pager::Out;
use super::{Exit, Outcome, runtime};
use crate::config::Loaded;
use crate::ledger::QueryResult;
use crate::ledger::view::{self, DocumentView};
use crate::state::State;

/// Widths of the columns; characters. A longer value moves the rest of its line, where there is room for it.
const STATE: usize = 10;
const WHEN: usize = 19;
const KIND: usize = 20;
const DESTINATION: usize = 12;
const UUID: usize = 36;
/// The same where a line must fit a terminal.
const SHORT_WHEN: usize = 11;
const SHORT_KIND: usize = 15;
const SHORT_DESTINATION: usize = 8;
const SHORT_UUID: usize = 8;
/// Terminals that are narrower have no column for the destination, and then none for the type.
const WITH_DESTINATION: usize = 72;
const WITH_KIND: usize = 60;

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
    let mut out = BufWriter::new(Out::open());
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
    // What goes into a file or a pipe is not cut.
    let width = terminal_width().filter(|_| !wanted.wide);
    let account = view::longest_account(db)?.max("account".len());
    let (mut written, mut any) = (Ok(()), false);
    each(db, wanted, |document| {
        let header = if any { Ok(()) } else { writeln!(out, "{}", line(&HEADER.map(str::to_owned), width, account)) };
        any = true;
        written = header.and_then(|()| writeln!(out, "{}", line(&columns(&document, width.is_some()), width, account)));
        written.is_ok()
    })?;
    Ok(written.and_then(|()| if any { Ok(()) } else { out.write_all(NOTHING.as_bytes()) }))
}

/// Shows up to as many documents as are wanted, and none after one for which there is nobody left to write.
fn each(db: &Connection, wanted: Wanted, mut show: impl FnMut(DocumentView) -> bool) -> QueryResult<()> {
    let mut left = wanted.limit.unwrap_or(usize::MAX);
    view::list(db, wanted.state, |document| {
        left = left.saturating_sub(1);
        if show(document) && left > 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })
}

/// The width of the terminal that standard output is; `None` when it is none.
pub(super) fn terminal_width() -> Option<usize> {
    Table::new().width().map(usize::from)
}

const HEADER: [&str; 8] = ["state", "when", "type", "destination", "document", "account", "next attempt", "reason"];

fn columns(document: &DocumentView, short: bool) -> [String; 8] {
    let changed = document.changed_at.as_deref();
    [
        document.state.clone(),
        if short { short_time(changed) } else { local(changed) },
        document.kind.as_deref().unwrap_or("-").to_owned(),
        document.destinations.as_deref().unwrap_or("-").to_owned(),
        document.uuid.clone(),
        document.account.clone(),
        local(document.next_attempt.as_deref()),
        document.reason.as_deref().unwrap_or("").to_owned(),
    ]
}

/// What tells a document from others where there is no room for all of its uuid: the end, since the beginning of a UUIDv7 is a time
/// (RFC 9562, section 5.7).
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

/// A line; with a width it fits that, and what does not fit is cut or left out.
fn line(columns: &[String; 8], width: Option<usize>, account_width: usize) -> String {
    let [state, when, kind, destination, uuid, account, next, reason] = columns;
    let Some(width) = width else {
        let line = format!(
            " {state:STATE$}  {when:WHEN$}  {kind:KIND$}  {destination:DESTINATION$}  {uuid:UUID$}  {account:account_width$}  \
             {next:WHEN$}  {reason}"
        );
        return line.trim_end().to_owned();
    };
    let mut line = format!(" {}  {}", fitted(state, STATE), fitted(when, SHORT_WHEN));
    if width >= WITH_KIND {
        line = format!("{line}  {}", fitted(kind, SHORT_KIND));
    }
    if width >= WITH_DESTINATION {
        line = format!("{line}  {}", fitted(destination, SHORT_DESTINATION));
    }
    line = format!("{line}  {:SHORT_UUID$}  ", short(uuid));
    let room = width.saturating_sub(line.chars().count());
    line.push_str(&fitted(reason, room));
    line.chars().take(width).collect::<String>().trim_end().to_owned()
}

/// The text in so many characters.
fn fitted(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return format!("{text:width$}");
    }
    text.chars().take(width.saturating_sub(1)).chain((width > 0).then_some('…')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> [String; 8] {
        [
            "discovered",
            "11-21 09:31",
            "referral_letter",
            "pms, scan, archive",
            "3f0c9f0e-5a43-4c1e-9d53-6f3f2f0f9a11",
            "main",
            "2026-11-21 09:45:00",
            "the folder of destination `pms` does not exist (/srv/pms/import): is the share mounted?",
        ]
        .map(str::to_owned)
    }

    #[test]
    fn a_line_fits_the_terminal_and_columns_fall_away_in_a_fixed_order() {
        let at = |width| line(&example(), Some(width), 4);
        insta::assert_snapshot!([120, 80, 65, 50, 20].map(at).join("\n"), @r"
         discovered  11-21 09:31  referral_letter  pms, sc…  2f0f9a11  the folder of destination `pms` does not exist (/srv/pms…
         discovered  11-21 09:31  referral_letter  pms, sc…  2f0f9a11  the folder of de…
         discovered  11-21 09:31  referral_letter  2f0f9a11  the folder …
         discovered  11-21 09:31  2f0f9a11  the folder of…
         discovered  11-21 0
        ");
        for width in 10..200 {
            assert!(at(width).chars().count() <= width);
            assert!(line(&HEADER.map(str::to_owned), Some(width), 4).chars().count() <= width);
        }
    }

    #[test]
    fn nothing_is_cut_where_there_is_no_terminal() {
        let line = line(&example(), None, 4);
        assert!(example().iter().all(|column| line.contains(column)), "{line}");
    }
}
