//! New versions that destinations filed beside the old versions: a person removes the old ones there.

use rusqlite::{Connection, params};

use super::super::columns::Statements as _;
use super::super::{Millis, QueryResult, history};
use super::Delivery;
use crate::domain::state::State;

/// What is said of such a letter.
pub const NOT_REPLACED: &str = "it was filed beside the version that it replaces: remove the old one there";

/// The delivery succeeded, and the earlier version still lies there.
pub fn not_replaced(db: &Connection, of: &Delivery, now: Millis) -> QueryResult<()> {
    let (document, to) = (&of.document, of.destination.as_str());
    let updated = db.change(
        "UPDATE delivery SET reason = ?4, reason_code = 'not_replaced', changed_at = ?5
         WHERE document = ?1 AND pdf = ?2 AND destination = ?3 AND +state IN ('filed', 'delivered')",
        params![document.id, document.version.pdf, to, NOT_REPLACED, now],
    )?;
    if updated > 0 {
        let reason = Some(NOT_REPLACED.into());
        history::append(db, document.id, now, "not_replaced", State::Fetched, of.tries.attempts, Some(to), reason)?;
    }
    Ok(())
}

/// A person says that the old versions of the document are gone. Returns how many deliveries waited for that.
pub fn removed(db: &Connection, document: i64) -> QueryResult<usize> {
    db.change(
        "UPDATE delivery SET reason = NULL, reason_code = NULL WHERE document = ?1 AND reason_code = 'not_replaced'",
        [document],
    )
}

/// The first `limit` documents whose old versions a person has to remove.
pub fn beside(db: &Connection, limit: usize) -> QueryResult<Vec<String>> {
    db.values(
        "SELECT DISTINCT uuid FROM delivery INDEXED BY delivery_not_replaced JOIN document ON document.id = delivery.document
         WHERE delivery.reason_code = 'not_replaced' LIMIT ?1",
        [limit],
    )
}
