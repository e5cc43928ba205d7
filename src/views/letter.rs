//! Everything about one document, for its page: the same as `show`, as data.

use rusqlite::{Connection, params};

use super::letters::{self, LetterView};
use crate::document::DocumentUuid;
use crate::language::Reason;
use crate::ledger::columns::{Statements as _, from_row};
use crate::ledger::{Millis, QueryResult};

/// One document. Holds patient data, so it has no `Debug`.
pub struct LetterDetail {
    /// As in a list.
    pub letter: LetterView,
    /// When the service created it, as the service printed it.
    pub created_at: String,
    /// The PDF of the current version.
    pub pdf: PdfView,
    /// Its deliveries, those of the current version first.
    pub deliveries: Vec<Delivery>,
    /// What happened to it, the oldest first.
    pub history: Vec<Happened>,
    /// Whether older rows were removed (`state.keep_history`).
    pub history_removed: bool,
    /// A text that changes with the document: a decision made on an older page may no longer apply.
    pub stands: String,
    /// Whether there is something to retry.
    pub can_be_retried: bool,
}

/// The PDF, as the ledger knows it.
#[derive(Clone)]
pub struct PdfView {
    /// The ledger's number of the document.
    pub id: i64,
    /// The round, by which the spool identifies the file.
    pub round: i64,
    /// Length in bytes.
    pub size: Option<u64>,
    /// SHA-256, 64 lower-case hexadecimal digits.
    pub sha256: Option<String>,
    /// The destinations that have it, and where it lies there.
    pub places: Vec<(String, String)>,
}

/// A delivery. Holds patient data.
pub struct Delivery {
    /// NAME of the destination.
    pub destination: String,
    /// `pending`, `filed`, `delivered` or `failed`.
    pub state: String,
    /// When it is tried next.
    pub next_attempt: Option<Millis>,
    /// Where it lies.
    pub place: Option<String>,
    /// Whether it is of the current version.
    pub is_present: bool,
    /// When the delivery last changed.
    pub changed_at: Millis,
    /// Whether it may have arrived, and waits for a person to look there.
    pub may_have_arrived: bool,
    /// Whether a person has to assign the patient.
    pub is_unmatched: bool,
    /// The proof that it is there (`proof::Proof`).
    pub proof: Option<String>,
    /// The patient's number that it was sent with.
    pub number: Option<String>,
    /// Why it waits or failed.
    pub reason: Option<Reason>,
}

/// A row of the history.
pub struct Happened {
    /// When it happened.
    pub at: Millis,
    /// What happened.
    pub event: String,
    /// The destination concerned.
    pub destination: Option<String>,
    /// Why: with its code while the document or a delivery still has this reason, else in English only.
    pub reason: Option<Reason>,
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
    let letter = letters::one(db, id)?;
    let (created_at, history_removed): (String, bool) = db
        .prepare_cached("SELECT created_at, history_removed FROM document WHERE id = ?1")?
        .query_row([id], |row| row.try_into())?;
    let deliveries: Vec<Delivery> = db
        .prepare_cached(
            "SELECT destination, state, CASE WHEN state = 'pending' THEN due_at END AS next_attempt, place, changed_at,
                    pdf = (SELECT pdf FROM document WHERE id = ?1) AS is_present, unconfirmed_at IS NOT NULL AS may_have_arrived,
                    unmatched IS NOT NULL AND unmatched <> 'no_list' AS is_unmatched, proof, number, reason, reason_code
             FROM delivery WHERE document = ?1 AND (is_present OR +state <> 'pending')
             ORDER BY is_present DESC, changed_at DESC, destination",
        )?
        .query_map([id], |row| {
            let (text, name): (Option<String>, String) = (row.get("reason")?, row.get("destination")?);
            let (code, ended) = (row.get("reason_code")?, row.get_ref("state")?.as_str()? == "failed");
            let reason = text.map(|text| Reason { text, code, name, ended });
            Ok(from_row!(row => Delivery {
                destination, state, next_attempt, place, is_present, changed_at, may_have_arrived, is_unmatched, proof, number;
                reason: reason
            }))
        })?
        .collect::<QueryResult<_>>()?;
    // A row of the history has no code. The document or delivery still has one while the reason lasts.
    let known: Vec<&Reason> =
        letter.reasons.iter().chain(deliveries.iter().filter_map(|delivery| delivery.reason.as_ref())).collect();
    let history = db
        .prepare_cached("SELECT at, event, destination, reason FROM history WHERE document = ?1 ORDER BY id")?
        .query_map([id], |row| {
            let text: Option<String> = row.get("reason")?;
            let reason = text.map(|text| match known.iter().find(|known| known.text == text) {
                Some(known) => (*known).clone(),
                None => Reason { text, code: None, name: String::new(), ended: false },
            });
            Ok(from_row!(row => Happened { at, event, destination; reason: reason }))
        })?
        .collect::<QueryResult<_>>()?;
    let (pdf, stands, can_be_retried) = (pdf(db, id)?, stands(db, id)?, can_be_retried(db, id)?);
    Ok(LetterDetail { letter, created_at, pdf, deliveries, history, history_removed, stands, can_be_retried })
}

/// The document's PDF.
///
/// # Errors
/// Any SQLite error.
pub fn pdf(db: &Connection, id: i64) -> QueryResult<PdfView> {
    let places = db.rows(
        "SELECT destination, place FROM delivery
         WHERE document = ?1 AND pdf = (SELECT pdf FROM document WHERE id = ?1) AND place IS NOT NULL ORDER BY destination",
        [id],
    )?;
    db.prepare_cached("SELECT id, round, size, sha256 FROM document WHERE id = ?1")?
        .query_row([id], |row| Ok(from_row!(row => PdfView { id, round, size, sha256; places: places })))
}

/// Whether there is something to retry: not for a letter that has ended well, nor for one that is filed and waits for
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
