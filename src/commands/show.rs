//! `docsyncd show UUID`

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use comfy_table::ContentArrangement;

use super::harmless::in_line;
use super::output::{completed, folded, ledger_to_read, local, print_json, show_table, table, terminal_width};
use super::{Exit, Outcome, list, named, runtime};
use crate::config::Loaded;
use crate::destinations;
use crate::domain::document::DocumentUuid;
use crate::formats::language::Language;
use crate::ledger::{LedgerError, documents, now};
use crate::views::{self, DeliveryView, DocumentHistory, DocumentView, HistoryView};

pub(super) fn show(loaded: &Loaded, uuid: &str, json: bool, language: Language) -> Outcome {
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
    let named = named.unambiguous(language)?;
    let failed = shown.iter().any(|shown| shown.document.state.is_failure());
    let seen: Vec<i64> = named.found.iter().flat_map(|(_, ids)| ids.clone()).collect();
    let shown = match shown.as_slice() {
        [] => {
            named.complain_of_unknown(language);
            Ok(Exit::Failed)
        }
        // One document is one object. Only if several accounts list it, it is an array.
        [one] if json => print_json(one),
        several if json => print_json(&several),
        several => {
            let ledger = &loaded.config.state.path;
            let width = terminal_width();
            let texts = several.iter().map(|shown| text(shown, ledger, width, language)).collect::<Vec<_>>();
            show_table(&folded(&completed(&texts.join("\n")), width))
        }
    };
    if failed {
        // It is shown even if the ledger cannot be written now.
        let _ = runtime()?.block_on(ledger.write(move |db| documents::seen(db, &seen, now())));
    }
    shown
}

fn text(shown: &DocumentHistory, ledger: &Path, width: Option<usize>, language: Language) -> String {
    let document = &shown.document;
    let is_english = language == Language::English;
    let labels = LABELS.map(|key| language.label(key));
    let label_width = labels.iter().map(|label| label.chars().count() + 1).max().unwrap_or(0);
    let mut text = String::new();
    // Writing to a String cannot fail.
    let mut line = |key: &str, value: &str| {
        let label = language.label(key);
        let _ = writeln!(text, "{label:<label_width$} {value}");
    };
    line("column-document", &document.uuid);
    line("page-account", &document.account);
    line("page-type", &document.kind.as_deref().map_or_else(|| "-".to_owned(), |kind| language.kind(kind)));
    line("letter-created", &document.created_at);
    line("page-state", &language.state(views::stands(document.state, &shown.deliveries)));
    if let Some(reason) = list::reason(document, language)
        && (is_english || document.reasons.iter().any(|reason| reason.code.is_some()))
    {
        line("column-reason", &reason);
    }
    if let Some(exact) = document.reason.as_deref().filter(|_| !is_english) {
        line("column-exact", exact);
    }
    if document.attempts > 0 {
        line("column-attempts", &document.attempts.to_string());
    }
    if document.next_attempt.is_some() {
        line("column-next", &local(document.next_attempt));
    }
    if let Some(size) = document.size {
        line("letter-size", &language.fill("show-bytes", &[("size", size.into())]));
    }
    if let Some(sha256) = &document.sha256 {
        let _ = writeln!(text, "{:<label_width$} {sha256}", "SHA-256");
    }
    // The copy that counts comes first.
    let mut deliveries: Vec<&DeliveryView> = shown.deliveries.iter().collect();
    deliveries.sort_by_key(|delivery| !delivery.is_present);
    for delivery in deliveries {
        text.push_str(&of_delivery(document, delivery, ledger, language));
    }
    if shown.is_cut() {
        let _ = write!(text, "\n{}\n", language.text("show-history-removed"));
    }
    if !is_english {
        let _ = writeln!(text, "\n{}", told_history(&shown.history, language));
        return text;
    }
    let history = history(&shown.history);
    let fits = width.is_none_or(|width| history.lines().all(|line| line.chars().count() <= width));
    let _ = writeln!(text, "\n{}", if fits { history } else { narrow_history(&shown.history) });
    text
}

/// Where a delivery stands, and what is known of it.
fn of_delivery(document: &DocumentView, delivery: &DeliveryView, ledger: &Path, language: Language) -> String {
    let state = language.delivery(&delivery.state, delivery.may_have_arrived);
    let mut text = format!("\n{}: {state}", delivery.destination);
    if let Some(proof) = &delivery.proof {
        let _ = write!(text, " ({})", language.proof(proof).unwrap_or_else(|| proof.clone()));
    }
    if let Some(mark) = delivery.mark() {
        let _ = write!(text, " · {}", language.text(mark));
    }
    let mut below = |what: &str| {
        let _ = write!(text, "\n    {what}");
    };
    if let Some(number) = &delivery.number {
        below(&language.fill("show-patient-number", &[("number", number.into())]));
    }
    if let Some(place) = &delivery.place {
        below(&in_line(place));
    }
    if let Some(reason) = &delivery.reason {
        if language != Language::English && reason.code.is_some() {
            below(&language.reason(reason));
        }
        below(&reason.text);
    }
    if let Some(output) = output_of(document, delivery, ledger) {
        below(&language.fill("show-output", &[("file", (&output.display().to_string()).into())]));
    }
    if delivery.next_attempt.is_some() {
        let next = local(delivery.next_attempt);
        let values = [("count", u64::from(delivery.attempts).into()), ("next", (&next).into())];
        below(&language.fill("show-attempts", &values));
    }
    text.push('\n');
    text
}

/// The labels of values.
const LABELS: [&str; 10] = [
    "column-document",
    "page-account",
    "page-type",
    "letter-created",
    "page-state",
    "column-reason",
    "column-exact",
    "column-attempts",
    "column-next",
    "letter-size",
];

/// A sentence for each event. Only the English words of a wait that is over are kept.
fn told_history(rows: &[HistoryView], language: Language) -> String {
    let mut text = String::new();
    for row in rows {
        let event = language.event(&row.event, row.destination.as_deref());
        let event = match row.attempt {
            0 => event,
            attempt => language
                .fill("show-event-attempt", &[("event", (&event).into()), ("attempt", u64::from(attempt).into())]),
        };
        let _ = writeln!(text, "{}  {event}", local(row.at));
        if let Some(who) = &row.who {
            let _ = writeln!(text, "    {}", row.by_whom(language, &language.who(who)));
        } else if let Some(reason) = &row.reason {
            let told = if reason.code.is_some() { language.reason(reason) } else { reason.text.clone() };
            let _ = writeln!(text, "    {told}");
        }
    }
    text.trim_end().to_owned()
}

/// Why it happened, and by whom.
fn why(row: &HistoryView) -> String {
    let by = row.who.as_ref().map(|who| Language::English.fill("letter-by", &[("who", who.into())]));
    row.reason.as_ref().map(|reason| reason.text.clone()).into_iter().chain(by).collect::<Vec<_>>().join("; ")
}

/// A line for each event.
fn history(rows: &[HistoryView]) -> String {
    let mut table = table(&["when", "event", "state", "attempt", "destination", "reason"]);
    table.set_content_arrangement(ContentArrangement::Disabled);
    for row in rows {
        table.add_row([
            local(row.at).as_str(),
            &row.event,
            &row.state,
            &row.attempt.to_string(),
            row.destination.as_deref().unwrap_or(""),
            &why(row),
        ]);
    }
    table.to_string()
}

/// [`history`], without room for columns: the reason stands below.
fn narrow_history(rows: &[HistoryView]) -> String {
    let mut text = String::new();
    for row in rows {
        let attempt = if row.attempt > 0 { format!(", attempt {}", row.attempt) } else { String::new() };
        let destination = row.destination.as_ref().map(|name| format!(", {name}")).unwrap_or_default();
        let why = why(row);
        let reason = if why.is_empty() { why } else { format!("\n    {why}") };
        let at = local(row.at);
        let _ = writeln!(text, "{at}  {}: {}{attempt}{destination}{reason}", row.event, row.state);
    }
    text.trim_end().to_owned()
}

/// The file with what a destination's program wrote when it failed, if there is one.
fn output_of(document: &DocumentView, delivery: &DeliveryView, ledger: &Path) -> Option<PathBuf> {
    let uuid = DocumentUuid::parse(&document.uuid)?;
    Some(destinations::output_file(ledger, &delivery.destination, &uuid)).filter(|path| path.exists())
}
