//! Documents one by one: `list`, `show`, and the data for `preview`.

use std::ops::ControlFlow;

use rusqlite::{Connection, Row, params};
use serde::Serialize;

use super::letters::refusals_instead;
use super::time;
use super::waits::Waits;
use crate::document::DocumentUuid;
use crate::language::Reason;
use crate::ledger::columns::{Statements as _, from_row};
use crate::ledger::{QueryResult, listed};
use crate::state::{STATES, State};

/// One document in `list`. `name` and `place` are patient data.
#[derive(Debug, Serialize)]
pub struct DocumentView {
    /// Its identifier.
    pub uuid: String,
    /// The account that lists it.
    pub account: String,
    /// `document.type`
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Its state.
    pub state: String,
    /// Failed attempts in this state.
    pub attempts: u32,
    /// When it is processed next.
    pub next_attempt: Option<String>,
    /// Why it waits or failed, including a pause or a destination that it waits for.
    pub reason: Option<String>,
    /// `createdAt` as the API printed it.
    pub created_at: String,
    /// When docsyncd first saw it.
    pub found_at: Option<String>,
    /// When anything about it last changed.
    pub changed_at: Option<String>,
    /// Bytes of its PDF.
    pub size: Option<u64>,
    /// Digest of its PDF.
    pub sha256: Option<String>,
    /// The destinations of its current version, for people; programs find them in `show`.
    #[serde(skip)]
    pub destinations: Option<String>,
    /// The patient's name, as far as it is kept. Shown only to the person who asks, at a terminal.
    #[serde(skip)]
    pub name: Option<String>,
    /// Where a destination has its current version, for the same person.
    #[serde(skip)]
    pub place: Option<String>,
    /// `reason` as data, to be told in a person's language.
    #[serde(skip)]
    pub told: Vec<Reason>,
}

/// Shows documents one after another, the last changed first: all, or those in one state. Reads no further once `show`
/// breaks. All are from the same moment, and only one is in memory at a time.
///
/// # Errors
/// Any SQLite error.
pub fn list(
    db: &Connection,
    state: Option<State>,
    mut show: impl FnMut(DocumentView) -> ControlFlow<()>,
) -> QueryResult<()> {
    // The index has each state's documents in the wanted order, so they are merged and need no sorting.
    let states = state.map_or(STATES.to_vec(), |state| vec![state]);
    let of_state = |state: &State| format!("SELECT {DOCUMENT_COLUMNS} FROM document WHERE state = '{state}'");
    let all = states.iter().map(of_state).collect::<Vec<_>>().join(" UNION ALL ");
    let mut statement = db.prepare(&format!("{all} ORDER BY changed_at DESC, id DESC"))?;
    let waits = Waits::read(db)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if show(read_waiting(db, &waits, row)?).is_break() {
            break;
        }
    }
    Ok(())
}

/// Everything about one document: `show`.
#[derive(Debug, Serialize)]
pub struct DocumentHistory {
    /// The document.
    #[serde(flatten)]
    pub document: DocumentView,
    /// Its deliveries.
    pub deliveries: Vec<DeliveryView>,
    /// Everything that happened to it, oldest first.
    pub history: Vec<HistoryView>,
}

/// One delivery in `show`.
#[derive(Debug, Serialize)]
pub struct DeliveryView {
    /// NAME of the destination.
    pub destination: String,
    /// `pending`, `filed`, `delivered` or `failed`.
    pub state: String,
    /// Failed attempts.
    pub attempts: u32,
    /// When it is tried next.
    pub next_attempt: Option<String>,
    /// Why it waits or failed, or what is left to do there.
    pub reason: Option<String>,
    /// Where it lies. May contain patient data: shown to the person who asks, and never logged.
    pub place: Option<String>,
    /// The PDF's identifier.
    pub pdf: String,
    /// When the row last changed.
    pub changed_at: Option<String>,
    /// Whether it may have arrived, and waits for a person to look there.
    pub may_have_arrived: bool,
    /// The proof that it is there (`proof::Proof`); null before that.
    pub proof: Option<String>,
    /// The patient's number that it was sent with. Shown only to the person who asks.
    #[serde(skip)]
    pub number: Option<String>,
    /// `reason` as data.
    #[serde(skip)]
    pub told: Option<Reason>,
}

/// One row of history in `show`.
#[derive(Debug, Serialize)]
pub struct HistoryView {
    /// When it happened.
    pub at: Option<String>,
    /// What happened.
    pub event: String,
    /// The state after it.
    pub state: String,
    /// Failed attempts so far.
    pub attempt: u32,
    /// The destination concerned.
    pub destination: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// The same as data, as far as that still stands beside what it is about.
    #[serde(skip)]
    pub told: Option<Reason>,
}

/// The whole history of one document by the ledger's number.
///
/// # Errors
/// Any SQLite error.
pub fn show(db: &Connection, id: i64) -> QueryResult<DocumentHistory> {
    let waits = Waits::read(db)?;
    let sql = format!("SELECT {DOCUMENT_COLUMNS} FROM document WHERE id = ?1");
    let document = db.query_row(&sql, [id], |row| read_waiting(db, &waits, row))?;
    let deliveries: Vec<DeliveryView> = db
        .prepare(
            "SELECT destination, state, attempts, CASE WHEN state <> 'filed' THEN due_at END AS next_attempt, reason, place, pdf, changed_at,
                    unconfirmed_at IS NOT NULL AS may_have_arrived, proof, number, reason_code
             FROM delivery WHERE document = ?1 AND (+state <> 'pending' OR pdf = (SELECT pdf FROM document WHERE id = ?1))
             ORDER BY changed_at, destination",
        )?
        .query_map(params![id], |row| {
            let (code, text): (Option<String>, Option<String>) = (row.get("reason_code")?, row.get("reason")?);
            let (name, ended) = (row.get("destination")?, row.get_ref("state")?.as_str()? == "failed");
            let told = text.map(|text| Reason { text, code, name, ended });
            Ok(from_row!(row => DeliveryView {
                destination, state, attempts, next_attempt: time, reason, place, pdf, changed_at: time, may_have_arrived, proof, number;
                told: told
            }))
        })?
        .collect::<QueryResult<_>>()?;
    // A row of the history has no code; what it tells of still has one, as long as it is so.
    let known: Vec<&Reason> =
        document.told.iter().chain(deliveries.iter().filter_map(|one| one.told.as_ref())).collect();
    let history = db
        .prepare("SELECT at, event, state, attempt, destination, reason FROM history WHERE document = ?1 ORDER BY id")?
        .query_map(params![id], |row| {
            let reason: Option<String> = row.get("reason")?;
            let told = known.iter().find(|known| Some(&known.text) == reason.as_ref()).map(|known| (*known).clone());
            Ok(from_row!(row => HistoryView { at: time, event, state, attempt, destination, reason; told: told }))
        })?
        .collect::<QueryResult<_>>()?;
    Ok(DocumentHistory { document, deliveries, history })
}

/// What is known of a document that the API lists.
pub struct Known {
    /// The ledger's number of it.
    pub id: i64,
    /// Its state.
    pub state: State,
    /// Whether it has ended and this PDF is not new.
    pub is_done: bool,
    /// The destinations that have a version, proved or not, each with the PDF and the place.
    pub delivered: Vec<(String, String, Option<String>)>,
    /// The patient's numbers that versions were filed with, each with its PDF.
    pub numbers: Vec<(String, String)>,
}

/// What is known of the document with this uuid, whichever account lists it. `pdf` is the PDF that the API lists.
///
/// # Errors
/// Any SQLite error.
pub fn known(db: &Connection, uuid: &DocumentUuid, pdf: Option<&str>) -> QueryResult<Option<Known>> {
    let Some(listed::Known { id, state, listed, listed_pdf, .. }) = listed::known(db, uuid)? else { return Ok(None) };
    let delivered = db.rows(
        "SELECT destination, pdf, place FROM delivery WHERE document = ?1 AND +state IN ('filed', 'delivered')",
        [id],
    )?;
    let numbers = db.rows(
        "SELECT pdf, number FROM delivery WHERE document = ?1 AND +state IN ('filed', 'delivered') AND number IS NOT NULL",
        [id],
    )?;
    let is_done = !state.is_open() && listed && (pdf.is_none() || pdf == listed_pdf.as_deref());
    Ok(Some(Known { id, state, is_done, delivered, numbers }))
}

const DOCUMENT_COLUMNS: &str = "uuid, account, kind, state, attempts, due_at AS next_attempt,
    reason || CASE WHEN state IN ('failing', 'failed') AND report_reason IS NOT NULL
        THEN ' (the API refused the report of this: ' || report_reason || ')' ELSE '' END AS reason,
    created_at, found_at, changed_at, size, sha256,
    (SELECT group_concat(destination, ', ') FROM delivery WHERE document = document.id AND pdf = document.pdf)
        AS destinations,
    (SELECT nullif(shown, '') FROM name WHERE name.document = document.id) AS name,
    (SELECT place FROM delivery WHERE document = document.id AND pdf = document.pdf AND place IS NOT NULL LIMIT 1) AS place,
    reason AS told_reason, reason_code, id";

/// Adds what an open document waits for, if its own row does not say.
fn read_waiting(db: &Connection, waits: &Waits, row: &Row<'_>) -> QueryResult<DocumentView> {
    let mut document = from_row!(row => DocumentView {
        uuid, account, kind, state, attempts, next_attempt: time, reason, created_at, found_at: time, changed_at: time,
        size, sha256, destinations, name, place; told: Vec::new()
    });
    let (id, state): (i64, State) = (row.get("id")?, row.get("state")?);
    if let Some(text) = row.get("told_reason")? {
        let (name, ended) = (document.account.clone(), state.is_failure());
        document.told.push(Reason { text, code: row.get("reason_code")?, name, ended });
    }
    if document.reason.is_none()
        && let Some(wait) = waits.of(db, id, &document.account, state)?
    {
        document.next_attempt = time(Some(wait.until));
        document.attempts = wait.attempts;
        document.reason = Some(wait.reason.text.clone());
        document.told.push(wait.reason);
    }
    refusals_instead(db, id, state, &mut document.told)?;
    Ok(document)
}
