//! `docsyncd show UUID`

use std::fmt::Write as _;

use super::output::{complain, ledger_to_read, local, print, print_json, table};
use super::{Exit, Outcome, runtime};
use crate::config::Loaded;
use crate::ledger::view::{self, DocumentHistory};
use crate::ledger::{LedgerError, documents};

pub(super) fn show(loaded: &Loaded, uuid: &str, json: bool) -> Outcome {
    let Some(ledger) = ledger_to_read(loaded)? else {
        return Err(LedgerError::Missing(loaded.config.state.path.clone()).into());
    };
    let wanted = uuid.to_owned();
    let found = runtime()?.block_on(ledger.read(move |db| {
        documents::find(db, &wanted)?.into_iter().map(|id| view::show(db, id)).collect::<Result<Vec<_>, _>>()
    }))?;
    match found.as_slice() {
        [] => {
            complain(&format!("docsyncd: no document {uuid} is known; docsyncd list shows those that are"));
            Ok(Exit::Failed)
        }
        // One document is one object; only where several accounts list it, it is an array.
        [one] if json => print_json(one),
        several if json => print_json(&several),
        several => print(&several.iter().map(text).collect::<Vec<_>>().join("\n")),
    }
}

fn text(shown: &DocumentHistory) -> String {
    let document = &shown.document;
    let mut text = String::new();
    // Writing to a String cannot fail.
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "{name:<13} {value}");
    };
    line("document", &document.uuid);
    line("account", &document.account);
    line("type", document.kind.as_deref().unwrap_or("-"));
    line("created", &document.created_at);
    line("state", &document.state);
    if let Some(reason) = &document.reason {
        line("reason", reason);
    }
    if document.attempts > 0 {
        line("attempts", &document.attempts.to_string());
    }
    if document.next_attempt.is_some() {
        line("next attempt", &local(document.next_attempt.as_deref()));
    }
    if let Some(size) = document.size {
        line("size", &format!("{size} bytes"));
    }
    if let Some(sha256) = &document.sha256 {
        line("SHA-256", sha256);
    }
    for delivery in &shown.deliveries {
        let _ = write!(text, "\n{}: {}", delivery.destination, delivery.state);
        if let Some(place) = &delivery.place {
            let _ = write!(text, "\n    {place}");
        }
        if let Some(reason) = &delivery.reason {
            let _ = write!(text, "\n    {reason}");
        }
        if delivery.next_attempt.is_some() {
            let next = local(delivery.next_attempt.as_deref());
            let _ = write!(text, "\n    {} failed attempts, next {next}", delivery.attempts);
        }
        text.push('\n');
    }
    if shown.history.first().is_none_or(|row| row.event != "discovered") {
        text.push_str("\nolder history was removed (state.keep_history)\n");
    }
    let mut rows = table(&["when", "event", "state", "attempt", "destination", "reason"]);
    for row in &shown.history {
        rows.add_row([
            local(row.at.as_deref()).as_str(),
            &row.event,
            &row.state,
            &row.attempt.to_string(),
            row.destination.as_deref().unwrap_or(""),
            row.reason.as_deref().unwrap_or(""),
        ]);
    }
    let _ = writeln!(text, "\n{rows}");
    text
}
