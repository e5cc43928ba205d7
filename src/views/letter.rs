//! Everything about one document, for its page.

use std::cmp::Reverse;

use rusqlite::{Connection, params};

use super::documents::{DocumentHistory, show};
use crate::domain::document::DocumentUuid;
use crate::ledger::QueryResult;
use crate::ledger::columns::Statements as _;

/// One document. Holds patient data, so it has no `Debug`.
pub struct LetterDetail {
    /// As in `show`, but with the deliveries of the current version first, and the newest first.
    pub shown: DocumentHistory,
    /// A text that changes with the document: a decision made on an older page may no longer apply.
    pub stands: String,
    /// Whether there is something to retry.
    pub can_be_retried: bool,
}

/// Runs `read` on the document with this uuid; `None` if there is none.
///
/// # Errors
/// Any SQLite error.
pub fn of<T>(
    db: &Connection,
    uuid: &DocumentUuid,
    read: impl FnOnce(&Connection, i64) -> QueryResult<T>,
) -> QueryResult<Option<T>> {
    let id = db.perhaps("SELECT id FROM document WHERE uuid = ?1 COLLATE NOCASE", [uuid.as_str()])?;
    id.map(|id| read(db, id)).transpose()
}

/// Everything about the document with this number in the ledger.
///
/// # Errors
/// Any SQLite error.
pub fn read(db: &Connection, id: i64) -> QueryResult<LetterDetail> {
    let mut shown = show(db, id)?;
    shown.deliveries.sort_by_key(|delivery| (!delivery.is_present, Reverse(delivery.changed_at)));
    Ok(LetterDetail { shown, stands: stands(db, id)?, can_be_retried: can_be_retried(db, id)? })
}

/// Whether there is something to retry. There is not for a letter that has ended well, or that is filed and waits for
/// its proof.
///
/// # Errors
/// Any SQLite error.
pub fn can_be_retried(db: &Connection, id: i64) -> QueryResult<bool> {
    db.prepare_cached(
        "SELECT 1 FROM document WHERE id = ?1 AND state NOT IN ('reported', 'withdrawn')
           AND NOT EXISTS (SELECT 1 FROM delivery WHERE document = ?1 AND +state = 'filed' AND pdf = document.pdf)",
    )?
    .exists([id])
}

/// A text that changes whenever anything about the document changes.
///
/// # Errors
/// Any SQLite error.
pub fn stands(db: &Connection, id: i64) -> QueryResult<String> {
    db.prepare_cached(
        "SELECT state || '.' || round || '.' || changed_at || '.' ||
                (SELECT count(*) || '.' || ifnull(max(changed_at), 0) || '.' || total(unconfirmed_at IS NOT NULL)
                 FROM delivery WHERE document = ?1) FROM document WHERE id = ?1",
    )?
    .query_row(params![id], |row| row.get(0))
}
