//! `docsyncd list`

use super::output::{ledger_to_read, local, print, print_json, table};
use super::{Outcome, runtime};
use crate::config::Loaded;
use crate::ledger::view;
use crate::state::State;

pub(super) fn list(loaded: &Loaded, state: Option<State>, json: bool) -> Outcome {
    let documents = match ledger_to_read(loaded)? {
        Some(ledger) => runtime()?.block_on(ledger.read(move |db| view::list(db, state)))?,
        None => Vec::new(),
    };
    if json {
        return print_json(&documents);
    }
    if documents.is_empty() {
        return print("no documents\n");
    }
    let mut rows = table(&["document", "account", "type", "state", "changed", "next attempt", "reason"]);
    for document in &documents {
        rows.add_row([
            document.uuid.as_str(),
            &document.account,
            document.kind.as_deref().unwrap_or("-"),
            &document.state,
            &local(document.changed_at.as_deref()),
            &local(document.next_attempt.as_deref()),
            document.reason.as_deref().unwrap_or(""),
        ]);
    }
    print(&format!("{rows}\n"))
}
