//! `docsyncd list`: a line for each document, written as it is read, so that a million of them take no memory.

use std::io::{self, BufWriter, StdoutLock, Write};
use std::ops::ControlFlow;

use anyhow::Context as _;
use rusqlite::Connection;
use serde::ser::{SerializeSeq as _, Serializer as _};

use super::output::{ledger_to_read, local, print};
use super::{Exit, Outcome, runtime};
use crate::config::Loaded;
use crate::ledger::QueryResult;
use crate::ledger::view::{self, DocumentView};
use crate::state::State;

/// Widths of the columns whose longest value is known beforehand; characters. A longer one moves the rest of its line.
const UUID: usize = 36;
const KIND: usize = 20;
const STATE: usize = 10;
const TIME: usize = 19;

pub(super) fn list(loaded: &Loaded, state: Option<State>, json: bool) -> Outcome {
    let Some(ledger) = ledger_to_read(loaded)? else {
        return print(if json { "[]\n" } else { NOTHING });
    };
    let written = runtime()?.block_on(ledger.read(move |db| write_all(db, state, json)))?;
    match written {
        // A reader that went away (`docsyncd list | head`) is no error.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::Done),
        other => other.map(|()| Exit::Done).context("cannot write to standard output"),
    }
}

const NOTHING: &str = "no documents\n";

/// Writes while it reads. The outer error is the ledger's, the inner one that of standard output.
fn write_all(db: &Connection, state: Option<State>, json: bool) -> QueryResult<io::Result<()>> {
    let mut out = BufWriter::new(io::stdout().lock());
    let written = if json { write_json(db, state, &mut out) } else { write_lines(db, state, &mut out) };
    written.map(|written| written.and_then(|()| out.flush()))
}

type Out = BufWriter<StdoutLock<'static>>;

fn write_json(db: &Connection, state: Option<State>, out: &mut Out) -> QueryResult<io::Result<()>> {
    let mut json = serde_json::Serializer::pretty(&mut *out);
    let mut array = match json.serialize_seq(None) {
        Ok(array) => array,
        Err(error) => return Ok(Err(error.into())),
    };
    let mut written = Ok(());
    view::list(db, state, |document| go_on(array.serialize_element(&document).map_err(Into::into), &mut written))?;
    Ok(written.and_then(|()| array.end().map_err(Into::into)).and_then(|()| writeln!(out)))
}

fn write_lines(db: &Connection, state: Option<State>, out: &mut Out) -> QueryResult<io::Result<()>> {
    let account = view::longest_account(db)?.max("account".len());
    let (mut written, mut any) = (Ok(()), false);
    view::list(db, state, |document| {
        let header = if any { Ok(()) } else { write_line(out, account, HEADER) };
        any = true;
        go_on(header.and_then(|()| write_document(out, account, &document)), &mut written)
    })?;
    Ok(written.and_then(|()| if any { Ok(()) } else { out.write_all(NOTHING.as_bytes()) }))
}

/// Whether there is anybody left to write for.
fn go_on(result: io::Result<()>, written: &mut io::Result<()>) -> ControlFlow<()> {
    *written = result;
    if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
}

const HEADER: [&str; 7] = ["document", "account", "type", "state", "changed", "next attempt", "reason"];

fn write_document(out: &mut Out, account: usize, document: &DocumentView) -> io::Result<()> {
    let changed = local(document.changed_at.as_deref());
    let next = local(document.next_attempt.as_deref());
    let columns = [
        document.uuid.as_str(),
        &document.account,
        document.kind.as_deref().unwrap_or("-"),
        &document.state,
        &changed,
        &next,
        document.reason.as_deref().unwrap_or(""),
    ];
    write_line(out, account, columns)
}

fn write_line(out: &mut Out, account: usize, columns: [&str; 7]) -> io::Result<()> {
    let [uuid, of, kind, state, changed, next, reason] = columns;
    let line =
        format!(" {uuid:UUID$}  {of:account$}  {kind:KIND$}  {state:STATE$}  {changed:TIME$}  {next:TIME$}  {reason}");
    writeln!(out, "{}", line.trim_end())
}
