//! `docsyncd show UUID`

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use comfy_table::ContentArrangement;

use super::output::{completed, folded, ledger_to_read, local, print_json, show_table, table, terminal_width};
use super::{Exit, Outcome, named, runtime};
use crate::adapters;
use crate::config::Loaded;
use crate::document::DocumentUuid;
use crate::ledger::LedgerError;
use crate::views::{self, DeliveryView, DocumentHistory, DocumentView, HistoryView};

pub(super) fn show(loaded: &Loaded, uuid: &str, json: bool) -> Outcome {
    let Some(ledger) = ledger_to_read(loaded)? else {
        return Err(LedgerError::Missing(loaded.config.state.path.clone()).into());
    };
    let wanted = vec![uuid.to_owned()];
    let (named, shown) = runtime()?.block_on(ledger.read(move |db| {
        let named = named::find(db, &wanted)?;
        let ids = named.found.iter().flat_map(|(_, ids)| ids);
        let shown = ids.map(|id| views::show(db, *id)).collect::<Result<Vec<_>, _>>()?;
        Ok((named, shown))
    }))?;
    let named = named.unambiguous()?;
    match shown.as_slice() {
        [] => {
            named.complain_of_unknown();
            Ok(Exit::Failed)
        }
        // One document is one object; only where several accounts list it, it is an array.
        [one] if json => print_json(one),
        several if json => print_json(&several),
        several => {
            let ledger = &loaded.config.state.path;
            let width = terminal_width();
            let texts = several.iter().map(|shown| text(shown, ledger, width)).collect::<Vec<_>>();
            show_table(&folded(&completed(&texts.join("\n")), width))
        }
    }
}

fn text(shown: &DocumentHistory, ledger: &Path, width: Option<usize>) -> String {
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
        let state = if delivery.may_have_arrived { "may have arrived" } else { delivery.state.as_str() };
        let state = if state == "filed" { "filed, not yet taken" } else { state };
        let _ = write!(text, "\n{}: {state}", delivery.destination);
        if let Some(proof) = &delivery.proof {
            let _ = write!(text, " ({})", in_words(proof));
        }
        if let Some(number) = &delivery.number {
            let _ = write!(text, "\n    patient number {number}");
        }
        if let Some(place) = &delivery.place {
            let _ = write!(text, "\n    {place}");
        }
        if let Some(reason) = &delivery.reason {
            let _ = write!(text, "\n    {reason}");
        }
        if let Some(output) = output_of(document, delivery, ledger) {
            let _ = write!(text, "\n    what the program wrote: {}", output.display());
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
    let history = history(&shown.history);
    let fits = width.is_none_or(|width| history.lines().all(|line| line.chars().count() <= width));
    let _ = writeln!(text, "\n{}", if fits { history } else { narrow_history(&shown.history) });
    text
}

/// What shows that a letter is there.
fn in_words(proof: &str) -> &str {
    match proof {
        "durable" => "the file is on the disk",
        "accepted" => "it was accepted",
        "read_back" => "it was read back and compared",
        "taken" => "it was taken from there",
        "moved" => "it was moved by the practice's software",
        "sidecar" => "the practice's software wrote so into the sidecar",
        "probe" | "query" => "the service shows it",
        "person" => "a person saw it there",
        other => other,
    }
}

/// A line for each event.
fn history(rows: &[HistoryView]) -> String {
    let mut table = table(&["when", "event", "state", "attempt", "destination", "reason"]);
    table.set_content_arrangement(ContentArrangement::Disabled);
    for row in rows {
        table.add_row([
            local(row.at.as_deref()).as_str(),
            &row.event,
            &row.state,
            &row.attempt.to_string(),
            row.destination.as_deref().unwrap_or(""),
            row.reason.as_deref().unwrap_or(""),
        ]);
    }
    table.to_string()
}

/// The same where there is no room for columns: the reason stands below.
fn narrow_history(rows: &[HistoryView]) -> String {
    let mut text = String::new();
    for row in rows {
        let attempt = if row.attempt > 0 { format!(", attempt {}", row.attempt) } else { String::new() };
        let destination = row.destination.as_ref().map(|name| format!(", {name}")).unwrap_or_default();
        let reason = row.reason.as_ref().map(|reason| format!("\n    {reason}")).unwrap_or_default();
        let at = local(row.at.as_deref());
        let _ = writeln!(text, "{at}  {}: {}{attempt}{destination}{reason}", row.event, row.state);
    }
    text.trim_end().to_owned()
}

/// The file with what a destination's program wrote when it failed, if there is one.
fn output_of(document: &DocumentView, delivery: &DeliveryView, ledger: &Path) -> Option<PathBuf> {
    let uuid = DocumentUuid::parse(&document.uuid)?;
    Some(adapters::output_file(ledger, &delivery.destination, &uuid)).filter(|path| path.exists())
}
