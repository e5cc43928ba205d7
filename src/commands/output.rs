//! What a person reads: standard output, standard error, and tables.

use std::io::{self, Write as _};

use anyhow::Context as _;
use comfy_table::presets::NOTHING;
use comfy_table::{ContentArrangement, Table};
use serde::Serialize;

use super::{Exit, Outcome};
use crate::config::Loaded;
use crate::ledger::{Ledger, LedgerError};

/// Writes to standard output. A reader that went away (`docsyncd list | head`) is no error.
pub(super) fn print(text: &str) -> Outcome {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::Done),
        other => other.map(|()| Exit::Done).context("cannot write to standard output"),
    }
}

/// Writes a line to standard error; there is nobody left to tell when that fails.
pub(super) fn complain(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Prints one JSON document.
pub(super) fn print_json<T: Serialize>(value: &T) -> Outcome {
    let mut text = serde_json::to_string_pretty(value).context("cannot write JSON")?;
    text.push('\n');
    print(&text)
}

/// A table without lines, cut to the terminal's width; when it goes into a file or pipe, nothing is cut.
pub(super) fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_header(header.to_vec());
    table
}

/// A time of the ledger's views as a person at this machine reads it.
pub(super) fn local(time: Option<&str>) -> String {
    let Some(time) = time else { return "-".to_owned() };
    match time.parse::<jiff::Timestamp>() {
        Ok(at) => at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string(),
        Err(_) => time.to_owned(),
    }
}

/// Opens the ledger to look at it beside a daemon; `None` when there is none yet.
pub(super) fn ledger_to_read(loaded: &Loaded) -> anyhow::Result<Option<Ledger>> {
    match Ledger::open_beside(&loaded.config.state.path) {
        Ok(ledger) => Ok(Some(ledger)),
        Err(LedgerError::Missing(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
