//! Letters whose patient a person has to find in the practice's list.

use std::collections::HashSet;

use rusqlite::{Connection, params};

use crate::domain::document::DocumentUuid;
use crate::domain::state::State;
use crate::formats::language::Reason;
use crate::ledger::columns::{Statements as _, from_row};
use crate::ledger::history::{ASSIGNED, Action, UNASSIGNED};
use crate::ledger::tries::{self, Key, Tries};
use crate::ledger::{Millis, QueryResult};

/// How long a letter may take until it is filed by a person's decision; milliseconds. If it takes longer, a person is
/// asked again.
const DECIDED_FOR: Millis = 60_000;

/// The condition that a delivery waits for a person to say whose its document is. A decision of the last minute is
/// about to be carried out; one of a clock that was ahead is not. It may not settle what the destination itself refuses.
pub(super) const ASKS: &str = "unmatched IS NOT NULL AND unmatched <> 'no_list' AND document.state = 'fetched'
    AND document.pdf = delivery.pdf
    AND NOT (unmatched IN ('nobody', 'several', 'no_date_of_birth', 'no_name')
             AND EXISTS (SELECT 1 FROM patient WHERE patient.uuid = document.patient
                         AND patient.at > ?1 AND patient.at <= ?1 + 60000))";

/// A decision after this time is about to be carried out.
pub(super) fn decided_since(now: Millis) -> Millis {
    now.saturating_sub(DECIDED_FOR)
}

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
pub fn unmatched(db: &Connection, now: Millis, limit: usize) -> QueryResult<Vec<UnmatchedView>> {
    // SQLite takes the bare columns from the row with the minimum.
    let mut statement = db.prepare_cached(&format!(
        "SELECT document.id AS id, uuid, kind, min(found_at) AS found_at, count(DISTINCT document.id) AS letters,
                destination, delivery.pdf AS pdf
         FROM delivery INDEXED BY delivery_unmatched CROSS JOIN document ON document.id = delivery.document
         WHERE {ASKS} GROUP BY ifnull(document.patient, uuid) ORDER BY found_at, document.id LIMIT ?2",
    ))?;
    let rows = statement.query_map(params![decided_since(now), limit], |row| {
        let (id, pdf, name): (i64, String, String) = (row.get("id")?, row.get("pdf")?, row.get("destination")?);
        let Tries { reason, reason_code: code, .. } = tries::of(db, Key::delivery(id, &pdf, &name))?;
        let reason = Reason { text: reason.unwrap_or_default(), code, name, ended: false };
        Ok(from_row!(row => UnmatchedView { uuid, kind, found_at, letters; id: id, reason: reason }))
    })?;
    rows.collect()
}

/// Whether a person is asked whose this document is.
///
/// # Errors
/// Any SQLite error.
pub fn asks(db: &Connection, document: i64, now: Millis) -> QueryResult<bool> {
    db.prepare_cached(&format!(
        "SELECT 1 FROM delivery JOIN document ON document.id = delivery.document WHERE delivery.document = ?2 AND {ASKS}"
    ))?
    .exists(params![decided_since(now), document])
}

/// Open letters of patients whom people named since `since`, the last named first: numbers in the ledger.
///
/// # Errors
/// Any SQLite error.
pub fn decided(db: &Connection, since: Millis, limit: usize) -> QueryResult<Vec<i64>> {
    db.values(
        "SELECT min(document.id) FROM patient
         CROSS JOIN document INDEXED BY document_patient ON document.patient = patient.uuid
         WHERE patient.at >= ?1 AND document.state = 'fetched' GROUP BY patient.uuid ORDER BY patient.at DESC LIMIT ?2",
        params![since, limit],
    )
}

/// What a person decided about a letter's patient. Holds patient data, so it has no `Debug`.
#[derive(Clone)]
pub struct DecisionView {
    /// When.
    pub at: Millis,
    /// The operating system's user, or a browser.
    pub who: Option<String>,
    /// Whether it was taken back, or takes back an earlier one.
    pub is_taken_back: bool,
    /// The letter by which it was decided.
    pub uuid: String,
    /// Its `document.type`
    pub kind: Option<String>,
    /// The patient's name, as far as it is kept.
    pub name: Option<String>,
    /// The number; `None` once it was erased.
    pub number: Option<String>,
    /// The letter's state now.
    pub state: State,
    /// See [`super::stands`].
    pub stands: &'static str,
}

/// The newest decisions since `since`, up to `limit`. Those of letters that are no longer known are left out.
///
/// # Errors
/// Any SQLite error.
pub fn decisions(db: &Connection, since: Millis, limit: usize) -> QueryResult<Vec<DecisionView>> {
    let rows: Vec<(Millis, String, Option<String>, Option<String>)> = db.rows(
        "SELECT at, event, reason, who FROM history WHERE document IS NULL AND event IN (?1, ?2) AND at >= ?3
         ORDER BY id DESC LIMIT ?4",
        params![Action::Assign.as_str(), Action::Unassign.as_str(), since, limit],
    )?;
    let (mut found, mut undone) = (Vec::new(), HashSet::new());
    for (at, event, what, who) in rows {
        let uuid = what.as_deref().and_then(|what| what.strip_prefix("document ")).and_then(DocumentUuid::parse);
        let Some(uuid) = uuid else { continue };
        let is_undo = event == Action::Unassign.as_str();
        // The newest come first.
        if is_undo {
            undone.insert(uuid.clone());
        }
        let is_taken_back = undone.contains(&uuid);
        let of_letter = if is_undo { UNASSIGNED } else { ASSIGNED };
        let read = |db: &Connection, id: i64| {
            let document = super::one(db, id)?;
            let number = "SELECT reason FROM history WHERE document = ?1 AND event = ?2 AND at = ?3 LIMIT 1";
            let number: Option<Option<String>> = db.perhaps(number, params![id, of_letter, at])?;
            Ok((document, number.flatten()))
        };
        if let Some((document, number)) = super::letter::of(db, &uuid, read)? {
            let stands = document.stands();
            let super::DocumentView { uuid, kind, name, state, .. } = document;
            found.push(DecisionView { at, who, is_taken_back, uuid, kind, name, number, state, stands });
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
