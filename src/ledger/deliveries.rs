//! Deliveries: one row for each destination that must take a version of a document.

use rusqlite::{Connection, OptionalExtension as _, Params, Row, params};

use super::columns::{Statements as _, as_json};
use super::documents::{self, COLUMNS, Document};
use super::pauses::ProbeChoice;
use super::reservations::{self, Owner};
use super::work::Tries;
use super::{Millis, QueryResult};
use crate::document::Version;
use crate::failure::Failure;
use crate::reservation::Known;

pub use self::again::{arrived, due_again, reroute_unknown, spool_empties};
pub(super) use self::again::{due_now, forget_at, forget_intents, forget_refusals, forget_success, retract};
pub use self::ended::{Ended, end, leave_unconfirmed, postpone, refused};
pub use self::filed::{Unproved, lies_at, not_asked_for, unproved, was_sent, with_metadata};
pub use self::replaced::{NOT_REPLACED, beside, not_replaced, removed};
pub use self::unmatched::{
    Waiting, leave_unmatched, matched, needs_none, needs_person, send_with, sent_nothing, unmatched,
};

mod again;
mod ended;
mod filed;
mod replaced;
mod unmatched;

/// One delivery that is due. It holds patient data in `metadata`, so it has no `Debug`.
#[derive(Clone)]
pub struct Delivery {
    /// The document, in state `fetched`.
    pub document: Document,
    /// `Metadata` as JSON.
    pub metadata: Option<String>,
    /// NAME of the destination.
    pub destination: String,
    /// The failed attempts.
    pub tries: Tries,
    /// The patient's number that the last attempt used.
    pub number: Option<String>,
    /// The patient's number that this version was delivered with elsewhere. It stays for all destinations.
    pub frozen: Option<String>,
    /// What the ledger knew of its names when the delivery was read.
    pub known: Known,
    /// The PDFs of earlier versions whose deliveries to this destination were pending when they were replaced.
    pub replaced: Vec<String>,
    /// The PDF of the last earlier version that arrived there, or may have: the destination is told that this version
    /// replaces it.
    pub arrived_before: Option<String>,
}

impl Delivery {
    /// The owner of its names.
    pub fn owner(&self) -> Owner {
        let document = &self.document;
        Owner {
            document: document.id,
            uuid: document.version.uuid.clone(),
            pdf: document.version.pdf.clone(),
            destination: self.destination.clone(),
        }
    }

    /// The keys of the versions in `replaced`.
    pub fn replaced_keys(&self) -> Vec<String> {
        self.replaced.iter().map(|pdf| self.key_of(pdf)).collect()
    }

    /// The key of the version in `arrived_before`.
    pub fn key_before(&self) -> Option<String> {
        self.arrived_before.as_deref().map(|pdf| self.key_of(pdf))
    }

    /// The key of another version.
    fn key_of(&self, pdf: &str) -> String {
        Version { pdf: pdf.to_owned(), ..self.document.version.clone() }.delivery_key(&self.destination)
    }

    /// Whether an attempt that was cut off, or whose answer was lost, may have delivered it: its intent is open.
    pub fn is_uncertain(&self) -> bool {
        self.known.intent.is_some()
    }
}

fn read(row: &Row<'_>) -> QueryResult<Delivery> {
    Ok(Delivery {
        document: documents::read(row)?,
        metadata: row.get("metadata")?,
        destination: row.get("destination")?,
        tries: Tries {
            attempts: row.get("delivery_attempts")?,
            failing_since: row.get("delivery_failing_since")?,
            failing_for: row.get("delivery_failing_for")?,
            failure: row.get("delivery_failure")?,
            refusals: row.get("delivery_refusals")?,
            changed_at: row.get("delivery_changed_at")?,
            due_at: row.get("delivery_due_at")?,
        },
        number: row.get("number")?,
        frozen: row.get("frozen")?,
        known: Known::default(),
        replaced: Vec::new(),
        arrived_before: None,
    })
}

/// The first delivery that the statement finds, with its names.
fn one(db: &Connection, sql: &str, params: impl Params) -> QueryResult<Option<Delivery>> {
    let Some(mut delivery) = db.prepare_cached(sql)?.query_row(params, read).optional()? else { return Ok(None) };
    delivery.known = reservations::known(db, &delivery.owner())?;
    let document = &delivery.document;
    delivery.replaced = db.values(
        "SELECT pdf FROM delivery WHERE document = ?1 AND pdf <> ?2 AND destination = ?3 AND +state = 'pending'",
        params![document.id, document.version.pdf, delivery.destination],
    )?;
    delivery.arrived_before = db
        .prepare_cached(
            "SELECT pdf, max(changed_at) FROM delivery WHERE document = ?1 AND pdf <> ?2 AND destination = ?3
               AND (+state IN ('filed', 'delivered') OR unconfirmed_at IS NOT NULL)",
        )?
        .query_row(params![document.id, document.version.pdf, delivery.destination], |row| row.get(0))?;
    Ok(Some(delivery))
}

/// A pending delivery of the current version of a fetched document.
const PENDING: &str = "FROM delivery JOIN document ON document.id = delivery.document
     WHERE delivery.state = 'pending' AND delivery.destination = ?1
       AND document.state = 'fetched' AND document.pdf = delivery.pdf";
/// The same, but the delivery may also wait for its proof.
const OPEN: &str = "FROM delivery JOIN document ON document.id = delivery.document
     WHERE +delivery.state IN ('pending', 'filed') AND delivery.destination = ?1
       AND document.state = 'fetched' AND document.pdf = delivery.pdf";

/// The number that the current version of a document was, or may have been, delivered with anywhere, as SQL.
pub(super) const FROZEN: &str = "SELECT coalesce(CASE WHEN document.number_pdf = document.pdf THEN document.number END,
     (SELECT max(any.number) FROM delivery AS any WHERE any.document = document.id AND any.pdf = document.pdf))";

fn select(which: &str) -> String {
    select_from(PENDING, which)
}

fn select_from(open: &str, which: &str) -> String {
    format!(
        "SELECT {COLUMNS}, delivery.destination AS destination, delivery.attempts AS delivery_attempts,
                delivery.failing_since AS delivery_failing_since, delivery.failing_for AS delivery_failing_for,
                delivery.changed_at AS delivery_changed_at, delivery.due_at AS delivery_due_at,
                delivery.failure AS delivery_failure, delivery.refusals AS delivery_refusals, delivery.number AS number,
                ({FROZEN}) AS frozen,
                (SELECT json FROM document_metadata WHERE document_metadata.document = document.id) AS metadata
         {open} {which}"
    )
}

/// The documents of up to `limit` deliveries to the destination that are due, and whether each failed before. The one
/// that is due longest comes first. If there are `limit` of them, up to as many that never failed follow: a place is
/// kept for those.
///
/// # Errors
/// Any SQLite error.
pub fn due(db: &Connection, destination: &str, now: Millis, limit: usize) -> QueryResult<Vec<(i64, bool)>> {
    let due = |which: &str| -> QueryResult<Vec<(i64, bool)>> {
        db.rows(
            &format!(
                "SELECT document.id, delivery.attempts > 0 {PENDING} AND delivery.due_at <= ?2 {which}
                 ORDER BY delivery.due_at LIMIT ?3"
            ),
            params![destination, now, limit],
        )
    };
    let mut found = due("")?;
    if found.len() == limit {
        let mut others = due("AND delivery.attempts = 0")?;
        others.retain(|other| !found.contains(other));
        found.extend(others);
    }
    Ok(found)
}

/// The pending delivery of the document to the destination.
///
/// # Errors
/// Any SQLite error.
pub fn pending(db: &Connection, destination: &str, document: i64) -> QueryResult<Option<Delivery>> {
    one(db, &select("AND document.id = ?2"), params![destination, document])
}

/// The delivery of the document to the destination that is pending or waits for its proof.
///
/// # Errors
/// Any SQLite error.
pub fn of(db: &Connection, destination: &str, document: i64) -> QueryResult<Option<Delivery>> {
    one(db, &select_from(OPEN, "AND document.id = ?2"), params![destination, document])
}

/// Like [`documents::probe`], for deliveries that are due at the destination.
///
/// # Errors
/// Any SQLite error.
pub fn probe(
    db: &Connection,
    destination: &str,
    now: Millis,
    by: ProbeChoice,
    in_flight: &[i64],
) -> QueryResult<Option<Delivery>> {
    let (fresh, same) = (by == ProbeChoice::Fresh, by == ProbeChoice::Same);
    let which = "AND delivery.due_at <= ?2 AND document.id NOT IN (SELECT value FROM json_each(?5))
                 ORDER BY (coalesce(delivery.failure, delivery.reason_code) IS NULL) IS NOT ?3,
                          CASE WHEN ?3 AND coalesce(delivery.failure, delivery.reason_code) IS NULL THEN -document.id
                               WHEN ?4 THEN delivery.attempts ELSE delivery.changed_at END, document.id LIMIT 1";
    one(db, &select(which), params![destination, now, fresh, same, as_json(in_flight)])
}

/// The next time after `now` at which a delivery to the destination becomes due.
///
/// # Errors
/// Any SQLite error.
pub fn next_due(db: &Connection, destination: &str, now: Millis) -> QueryResult<Option<Millis>> {
    db.perhaps(
        &format!("SELECT delivery.due_at {PENDING} AND delivery.due_at > ?2 ORDER BY delivery.due_at LIMIT 1"),
        params![destination, now],
    )
}

// A plus sign before a column keeps SQLite from using an index on it: by `state` alone it would read every delivery
// that ever was. The module `plans` looks for such statements.

/// The destinations that have this version of the document, proved or not.
///
/// # Errors
/// Any SQLite error.
pub fn delivered_to(db: &Connection, document: i64, pdf: &str) -> QueryResult<Vec<String>> {
    db.values(
        "SELECT destination FROM delivery WHERE document = ?1 AND pdf = ?2 AND +state IN ('filed', 'delivered')",
        params![document, pdf],
    )
}

/// Whether this version still has to be sent to a destination.
///
/// # Errors
/// Any SQLite error.
pub fn any_pending(db: &Connection, document: i64, pdf: &str) -> QueryResult<bool> {
    db.prepare_cached("SELECT 1 FROM delivery WHERE document = ?1 AND pdf = ?2 AND +state = 'pending'")?
        .exists(params![document, pdf])
}

/// A delivery that was not made: its destination, the failure by which it was refused, how often, its last change, and
/// the number that it may have been made with.
type Refused = (String, Option<Failure>, u32, Millis, Option<String>);

/// Gives this version one row for each of `destinations`. Keeps finished deliveries, and the failures by which others
/// were refused. Returns how many have not ended. A delivery that may have arrived is still known by its intent.
/// Pending deliveries of earlier versions stay without a due time until this version is delivered: their attempts may
/// have left something there.
pub(super) fn plan(
    db: &Connection,
    document: i64,
    pdf: &str,
    destinations: &[String],
    now: Millis,
) -> QueryResult<usize> {
    let refused: Vec<Refused> = db.rows(
        "DELETE FROM delivery WHERE document = ?1 AND state NOT IN ('filed', 'delivered')
           AND (pdf = ?2 OR state <> 'pending' OR destination NOT IN (SELECT value FROM json_each(?3)))
         RETURNING destination, CASE WHEN pdf = ?2 AND state = 'failed' THEN failure END, refusals, changed_at,
                   CASE WHEN pdf = ?2 THEN number END",
        params![document, pdf, as_json(destinations)],
    )?;
    db.run(
        "UPDATE delivery SET due_at = NULL, unconfirmed_at = NULL, unmatched = NULL WHERE document = ?1 AND +state = 'pending'",
        [document],
    )?;
    let mut pending = db
        .prepare_cached("SELECT count(*) FROM delivery WHERE document = ?1 AND pdf = ?2 AND +state = 'filed'")?
        .query_row(params![document, pdf], |row| row.get(0))?;
    for destination in destinations {
        let before = refused.iter().find(|(name, failure, ..)| name == destination && failure.is_some());
        let (failure, refusals, failed_at) =
            before.map_or((&None, 0, now), |(_, failure, refusals, at, _)| (failure, *refusals, *at));
        let number = refused.iter().find_map(|(name, .., number)| number.as_ref().filter(|_| name == destination));
        pending += db.change(
            "INSERT INTO delivery (document, pdf, destination, state, due_at, changed_at, failure, refusals, number)
             VALUES (?1, ?2, ?3, 'pending', ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING",
            params![document, pdf, destination, now, failed_at, failure, refusals, number],
        )?;
    }
    Ok(pending)
}

/// The document left `fetched`: its pending deliveries are not due until it comes back.
pub(super) fn suspend(db: &Connection, document: i64) -> QueryResult<usize> {
    db.change(
        "UPDATE delivery SET due_at = NULL, unmatched = NULL WHERE document = ?1 AND state = 'pending'",
        [document],
    )
}

#[cfg(test)]
mod tests;
