//! Records what an administrator did in the history, with the person's name.

use super::output::complain;
use crate::config::Loaded;
use crate::ledger::history::{self, Action};
use crate::ledger::{Ledger, LedgerError, QueryResult, now};
use crate::system::readers::person;

/// Records it in the transaction that does it.
pub(super) fn record(db: &rusqlite::Connection, action: Action, what: &str) -> QueryResult<()> {
    history::act(db, now(), action, what, person().as_deref())
}

/// One document by its uuid, several by their number: each has its own history.
pub(super) fn documents(uuids: &[&str]) -> String {
    match uuids {
        [uuid] => format!("document {uuid}"),
        several => format!("{} documents", several.len()),
    }
}

/// Records something that was done outside of the ledger. Before the first start there is no ledger, and no history to
/// complete. If the ledger cannot be written, nothing is undone, but the person is told.
pub(super) async fn record_done(loaded: &Loaded, action: Action, what: String) {
    let written = match Ledger::open_beside(&loaded.config.state.path) {
        Ok(ledger) => ledger.write(move |db| record(db, action, &what)).await,
        Err(LedgerError::Missing(_)) => Ok(()),
        Err(error) => Err(error),
    };
    if let Err(error) = written {
        complain(&format!("docsyncd: warning: this could not be written into the history: {error}"));
    }
}
