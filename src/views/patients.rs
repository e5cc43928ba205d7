//! Letters whose patient a person has to find in the practice's list.

use rusqlite::Connection;

use crate::formats::language::Reason;
use crate::ledger::columns::from_row;
use crate::ledger::{Millis, QueryResult};

/// The waiting letters of one patient.
#[derive(Debug, Clone)]
pub struct UnmatchedView {
    /// The ledger's number of the first of these letters.
    pub id: i64,
    /// The identifier of the first letter.
    pub uuid: String,
    /// Its `document.type`
    pub kind: Option<String>,
    /// When docsyncd first saw it.
    pub found_at: Millis,
    /// How many of the patient's letters wait.
    pub letters: u64,
    /// Why.
    pub reason: Reason,
}

/// Up to `limit` patients, starting with those whose letters wait longest. If the service names no patient, each letter
/// counts as one of its own.
///
/// # Errors
/// Any SQLite error.
pub fn unmatched(db: &Connection, limit: usize) -> QueryResult<Vec<UnmatchedView>> {
    // SQLite takes the bare columns from the row with the minimum.
    let mut statement = db.prepare_cached(
        "SELECT document.id AS id, uuid, kind, min(found_at) AS found_at, count(DISTINCT document.id) AS letters,
                destination, delivery.reason AS reason, delivery.reason_code AS reason_code
         FROM delivery INDEXED BY delivery_unmatched JOIN document ON document.id = delivery.document
         WHERE unmatched IS NOT NULL AND unmatched <> 'no_list' AND document.state = 'fetched' AND document.pdf = delivery.pdf
         GROUP BY ifnull(document.patient, uuid) ORDER BY found_at, document.id LIMIT ?1",
    )?;
    let rows = statement.query_map([limit], |row| {
        let text: Option<String> = row.get("reason")?;
        let (code, name) = (row.get("reason_code")?, row.get("destination")?);
        let reason = Reason { text: text.unwrap_or_default(), code, name, ended: false };
        Ok(from_row!(row => UnmatchedView { id, uuid, kind, found_at, letters; reason: reason }))
    })?;
    rows.collect()
}
