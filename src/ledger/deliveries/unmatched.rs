//! Deliveries that need the patient's number in the practice's own list.

use rusqlite::{Connection, params};

use super::super::columns::{Statements as _, as_json};
use super::super::history::{self, Because};
use super::super::tries::{self, Key};
use super::super::{Millis, QueryResult};
use super::ended::{PENDING, update};
use super::{Delivery, frozen};
use crate::domain::document::DocumentUuid;
use crate::domain::state::State;

/// Records the patient's number that the delivery is about to be made with, and returns it: `number`, unless the
/// version was, or may have been, delivered with another one since `delivery` was read.
pub fn send_with(db: &Connection, delivery: &Delivery, number: &str) -> QueryResult<String> {
    let frozen = frozen(db, delivery.document.id)?.filter(|frozen| delivery.frozen.as_ref() != Some(frozen));
    let number = frozen.unwrap_or_else(|| number.to_owned());
    // The time of the last change stays, because nothing was tried yet.
    let unchanged = delivery.tries.changed_at;
    update(db, delivery, unchanged, PENDING, "number = ?6, unmatched = NULL", &[&number])?;
    Ok(number)
}

/// An attempt surely delivered nothing, so the number is determined again.
pub fn sent_nothing(db: &Connection, delivery: &Delivery) -> QueryResult<()> {
    update(db, delivery, delivery.tries.changed_at, PENDING, "number = NULL", &[]).map(drop)
}

/// A daemon starts: deliveries to destinations outside `needing` need no number, and no longer wait for one.
pub fn needs_none(db: &Connection, needing: &[String], now: Millis) -> QueryResult<()> {
    let waiting: Vec<(i64, String)> = db.rows(
        "SELECT document, destination FROM delivery INDEXED BY delivery_unmatched
         WHERE unmatched IS NOT NULL AND destination NOT IN (SELECT value FROM json_each(?1))",
        [as_json(needing)],
    )?;
    matched(db, &waiting, now)
}

/// Leaves the delivery until a person, or the practice's list, says whose the letter is.
pub fn leave_unmatched(db: &Connection, delivery: &Delivery, why: &str, reason: &str, now: Millis) -> QueryResult<()> {
    let code = format!("patient_{why}");
    let set = "due_at = NULL, unmatched = ?6, number_refused = ?7";
    if update(db, delivery, now, PENDING, set, &[&why, &delivery.number])? {
        tries::say(db, delivery.key(), Some((reason, &code)))?;
        let of = (delivery.document.id, Some(delivery.destination.as_str()));
        let because = Some(Because::coded(reason, Some(&code)));
        history::append(db, of, now, "needs_person", State::Fetched, delivery.tries.attempts, because)?;
    }
    Ok(())
}

/// A delivery that waits for its patient. It holds patient data in `metadata`, so it has no `Debug`.
pub struct Waiting {
    /// The ledger's number of the document.
    pub document: i64,
    /// Its uuid.
    pub uuid: DocumentUuid,
    /// NAME of the destination.
    pub destination: String,
    /// Why.
    pub why: String,
    /// The number that it was last to be sent with.
    pub number: Option<String>,
    /// [`Delivery::frozen`]
    pub frozen: Option<String>,
    /// `Metadata` as JSON.
    pub metadata: String,
}

/// The deliveries that wait for their patients.
pub fn unmatched(db: &Connection) -> QueryResult<Vec<Waiting>> {
    let mut statement = db.prepare_cached(
        "SELECT delivery.document AS document, document.uuid AS uuid, destination, unmatched,
                coalesce(delivery.number, number_refused) AS number, json
         FROM delivery INDEXED BY delivery_unmatched CROSS JOIN document ON document.id = delivery.document
         JOIN document_metadata ON document_metadata.document = delivery.document
         WHERE unmatched IS NOT NULL",
    )?;
    let rows = statement.query_map([], |row| {
        let document = row.get("document")?;
        Ok(Waiting {
            document,
            uuid: row.get("uuid")?,
            destination: row.get("destination")?,
            why: row.get("unmatched")?,
            number: row.get("number")?,
            frozen: frozen(db, document)?,
            metadata: row.get("json")?,
        })
    })?;
    rows.collect()
}

/// Whether this version was, or may have been, delivered with a number: nobody takes that back.
pub fn is_numbered(db: &Connection, document: i64) -> QueryResult<bool> {
    frozen(db, document).map(|frozen| frozen.is_some())
}

/// A person took back whose the document is: what was not sent yet waits for a person again, at the destinations that
/// need a number. `why` is the word.
pub fn ask_anew(
    db: &Connection,
    document: i64,
    needing: &[String],
    why: &str,
    reason: &str,
    now: Millis,
) -> QueryResult<()> {
    let code = format!("patient_{why}");
    let waiting: Vec<(String, String)> = db.rows(
        "UPDATE delivery SET due_at = NULL, changed_at = ?3, unmatched = ?4
         WHERE document = ?1 AND pdf = (SELECT pdf FROM document WHERE id = ?1) AND +state = 'pending'
           AND number IS NULL AND unmatched IS NULL AND destination IN (SELECT value FROM json_each(?2))
         RETURNING pdf, destination",
        params![document, as_json(needing), now, why],
    )?;
    waiting.iter().try_for_each(|(pdf, to)| tries::say(db, Key::delivery(document, pdf, to), Some((reason, &code))))
}

/// Whether a person has to say whose the document is.
pub fn needs_person(db: &Connection, document: i64) -> QueryResult<bool> {
    db.prepare_cached("SELECT 1 FROM delivery WHERE document = ?1 AND unmatched IS NOT NULL")?.exists([document])
}

/// The patients of these deliveries are known, or have changed: the deliveries are due. The time for which they waited
/// is not time in which they were tried.
pub fn matched(db: &Connection, deliveries: &[(i64, String)], now: Millis) -> QueryResult<()> {
    for (document, destination) in deliveries {
        let versions: Vec<String> = db.values(
            "UPDATE delivery SET due_at = ?3, changed_at = ?3, unmatched = NULL
             WHERE document = ?1 AND destination = ?2 AND unmatched IS NOT NULL RETURNING pdf",
            params![document, destination, now],
        )?;
        versions.iter().try_for_each(|pdf| tries::say(db, Key::delivery(*document, pdf, destination), None))?;
    }
    Ok(())
}
