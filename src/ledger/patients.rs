//! Which patients of the practice's list persons assigned to patients of the cloud service, and numbers that are to be
//! sent to the service.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::columns::{Statements as _, from_row};
use super::{Millis, QueryResult};

/// An assignment by a person. A number says whose letters they are, so it has no `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub struct Assigned {
    /// `patient.uuid`
    pub patient: String,
    /// The number in the practice's list.
    pub number: String,
    /// The digest of name and date of birth in both places at that time.
    pub fingerprint: String,
    /// Whether the practice's list had the number at that time.
    pub listed: bool,
    /// The operating system's user who made it, or the browser: [`AT_THE_PAGE`] and which one.
    pub who: Option<String>,
    /// When it was made.
    pub at: Millis,
    /// Whether letters of the patient that were filed by another number will be filed anew.
    pub to_refile: bool,
    /// Whether they began anew.
    pub refiled: bool,
}

/// How an assignment begins to say who made it, if that was at the status page.
pub const AT_THE_PAGE: &str = "status page, ";
/// How long letters wait for somebody at the status page to take an assignment back.
const UNDO_FOR: Millis = 10_000;

impl Assigned {
    /// When letters may be filed by it: somebody at the status page may take it back first. If the clock was put back
    /// since, that is now.
    pub fn waits_until(&self, now: Millis) -> Millis {
        let is_of_page = self.who.as_ref().is_some_and(|who| who.starts_with(AT_THE_PAGE));
        if is_of_page && self.at <= now { self.at.saturating_add(UNDO_FOR) } else { now }
    }
}

const COLUMNS: &str = "uuid AS patient, number, fingerprint, listed, who, at, to_refile, refiled";

fn read(row: &rusqlite::Row<'_>) -> QueryResult<Assigned> {
    Ok(from_row!(row => Assigned { patient, number, fingerprint, listed, who, at, to_refile, refiled }))
}

/// The assignment of the patient.
pub fn assigned(db: &Connection, patient: &str) -> QueryResult<Option<Assigned>> {
    db.prepare_cached(&format!("SELECT {COLUMNS} FROM patient WHERE uuid = ?1"))?.query_row([patient], read).optional()
}

/// All assignments.
pub fn all(db: &Connection) -> QueryResult<Vec<Assigned>> {
    db.prepare(&format!("SELECT {COLUMNS} FROM patient ORDER BY uuid"))?.query_map([], read)?.collect()
}

/// Those by which letters are still to be filed anew.
pub fn to_refile(db: &Connection) -> QueryResult<Vec<Assigned>> {
    db.prepare_cached(&format!("SELECT {COLUMNS} FROM patient WHERE to_refile"))?.query_map([], read)?.collect()
}

/// The patient's letters began anew.
pub fn refiled(db: &Connection, patient: &str) -> QueryResult<()> {
    db.run("UPDATE patient SET to_refile = 0, refiled = 1 WHERE uuid = ?1", [patient])
}

/// The numbers that letters were, or are about to be, filed with, and how many letters.
pub fn used(db: &Connection) -> QueryResult<HashMap<String, u64>> {
    let mut used = HashMap::new();
    let mut statement =
        db.prepare_cached("SELECT number FROM delivery INDEXED BY delivery_number WHERE number IS NOT NULL")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let number = row.get_ref("number")?.as_str()?;
        match used.get_mut(number) {
            Some(letters) => *letters += 1,
            None => drop(used.insert(number.to_owned(), 1)),
        }
    }
    Ok(used)
}

/// Saves an assignment, in place of an earlier one.
pub fn assign(db: &Connection, assigned: &Assigned) -> QueryResult<()> {
    let Assigned { patient, number, fingerprint, listed, who, at, to_refile, refiled } = assigned;
    db.run(
        "INSERT OR REPLACE INTO patient (uuid, number, fingerprint, listed, who, at, to_refile, refiled)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        params![patient, number, fingerprint, listed, who, at, to_refile, refiled],
    )
}

/// Removes an assignment, for future letters. Returns whether there was one.
pub fn remove(db: &Connection, patient: &str) -> QueryResult<bool> {
    db.change("DELETE FROM patient WHERE uuid = ?1", [patient]).map(|removed| removed > 0)
}

/// The patient's documents that are to be filed.
pub fn waiting_of(db: &Connection, patient: &str) -> QueryResult<Vec<i64>> {
    db.values("SELECT id FROM document WHERE patient = ?1 AND state = 'fetched'", [patient])
}

/// Whether another patient of the service was given this number, or a letter of another patient was filed with it.
pub fn is_anothers(db: &Connection, number: &str, patient: &str) -> QueryResult<bool> {
    db.prepare_cached(
        "SELECT 1 FROM patient WHERE number = ?1 AND uuid <> ?2
         UNION ALL
         SELECT 1 FROM delivery INDEXED BY delivery_number JOIN document ON document.id = delivery.document
             AND document.pdf = delivery.pdf
         WHERE delivery.number IS NOT NULL AND delivery.number = ?1 AND document.patient <> ?2 LIMIT 1",
    )?
    .exists([number, patient])
}

/// Whether a letter of the patient was, or is about to be, filed with this number.
pub fn is_filed_by(db: &Connection, patient: &str, number: &str) -> QueryResult<bool> {
    db.prepare_cached(
        "SELECT 1 FROM document JOIN delivery ON delivery.document = document.id AND delivery.pdf = document.pdf
         WHERE document.patient = ?1 AND delivery.number = ?2 LIMIT 1",
    )?
    .exists([patient, number])
}

/// The uuids of the patient's letters that were filed with another number than this one.
pub fn filed_otherwise(db: &Connection, patient: &str, number: &str) -> QueryResult<Vec<String>> {
    db.values(
        "SELECT uuid FROM document WHERE patient = ?1 AND +state <> 'fetched' AND EXISTS (
             SELECT 1 FROM delivery WHERE document = document.id AND delivery.pdf = document.pdf AND +number <> ?2)",
        [patient, number],
    )
}

/// The patient of a document, as the API last showed it.
pub fn of_document(db: &Connection, document: i64) -> QueryResult<Option<String>> {
    Ok(db.perhaps::<Option<String>>("SELECT patient FROM document WHERE id = ?1", [document])?.flatten())
}

/// What templates need of an open document, as JSON (`Metadata`).
pub fn metadata(db: &Connection, document: i64) -> QueryResult<Option<String>> {
    db.perhaps("SELECT json FROM document_metadata WHERE document = ?1", [document])
}

/// The uuid of the patient's newest document in the ledger: with it a person names the patient.
pub fn newest_document(db: &Connection, patient: &str) -> QueryResult<Option<String>> {
    db.perhaps("SELECT uuid FROM document WHERE patient = ?1 ORDER BY id DESC LIMIT 1", [patient])
}

/// A patient's number that is to be sent to the service.
pub struct Push {
    /// `patient.uuid`
    pub patient: String,
    /// The account whose credentials are used.
    pub account: String,
    /// The number in the practice's list.
    pub number: String,
    /// Failed attempts.
    pub attempts: u32,
}

/// A letter was delivered with this number: it is to be sent to the service, unless the service has it.
pub fn push(db: &Connection, patient: &str, account: &str, number: &str, now: Millis) -> QueryResult<()> {
    db.run(
        "INSERT INTO patient_push (uuid, account, number, due_at) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (uuid) DO UPDATE SET account = ?2, number = ?3, attempts = 0, due_at = ?4 WHERE number <> ?3",
        params![patient, account, number, now],
    )
}

/// A number that is due to be sent, and the earliest due time of all.
pub fn due_push(db: &Connection, now: Millis) -> QueryResult<(Option<Push>, Option<Millis>)> {
    let earliest = db
        .prepare_cached(
            "SELECT uuid AS patient, account, number, attempts, due_at FROM patient_push INDEXED BY patient_push_due
             WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1",
        )?
        .query_row([], |row| {
            Ok((from_row!(row => Push { patient, account, number, attempts }), row.get::<_, Millis>("due_at")?))
        })
        .optional()?;
    let (push, due_at) = earliest.unzip();
    Ok((push.filter(|_| due_at <= Some(now)), due_at))
}

/// The number was sent, or the service refused it for good (`None`); otherwise it is sent again at `again_at`.
pub fn pushed(db: &Connection, push: &Push, again_at: Option<Millis>) -> QueryResult<()> {
    db.run(
        "UPDATE patient_push SET due_at = ?3, attempts = attempts + (?3 IS NOT NULL) WHERE uuid = ?1 AND number = ?2",
        params![push.patient, push.number, again_at],
    )
}
