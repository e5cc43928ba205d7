//! Deliveries: one row for each destination that must take a version of a document.

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::columns::{Statements as _, as_json};
use super::documents::{self, Document};
use super::reservations::{self, Owner};
use super::tries::{self, Key, Tries};
use super::{Millis, QueryResult, patients};
use crate::domain::document::Version;
use crate::domain::document::edition::edition;
use crate::domain::failure::Failure;
use crate::domain::reservation::Known;
use crate::domain::state::State;

pub use self::again::{arrived, reroute_unknown, spool_empties, waits_for_word};
pub(super) use self::again::{due_now, forget_at, forget_intents, forget_success, retract};
pub(super) use self::ended::put_off;
pub use self::ended::{Ended, end, is_pending, leave_unconfirmed};
pub use self::filed::{Unproved, lies_at, not_asked_for, unproved, was_sent, with_metadata};
pub(super) use self::replaced::void;
pub use self::replaced::{NOT_REPLACED, beside, has_old, not_replaced, removed};
pub use self::unmatched::{
    Waiting, ask_anew, is_numbered, leave_unmatched, matched, needs_none, needs_person, send_with, sent_nothing,
    unmatched,
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
    /// The keys of earlier versions whose deliveries to this destination were pending when they were replaced.
    pub replaced: Vec<String>,
    /// The key of the last earlier version that arrived there for the same patient, or may have: the destination is told
    /// that this version replaces it.
    pub arrived_before: Option<String>,
}

impl Delivery {
    pub(super) fn key(&self) -> Key<'_> {
        Key::delivery(self.document.id, &self.document.version.pdf, &self.destination)
    }

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

    /// Whether an attempt may have delivered it that was cut off or whose answer was lost, so that its intent is open,
    /// or that a restored ledger does not know of.
    pub fn is_uncertain(&self) -> bool {
        self.known.intent.is_some() || self.document.in_doubt
    }
}

/// The pending delivery of the current version of a fetched document to the destination.
pub fn pending(db: &Connection, destination: &str, document: i64) -> QueryResult<Option<Delivery>> {
    in_states(db, destination, document, "('pending')")
}

/// The same, but the delivery may also wait for its proof.
pub fn of(db: &Connection, destination: &str, document: i64) -> QueryResult<Option<Delivery>> {
    in_states(db, destination, document, "('pending', 'filed')")
}

fn in_states(db: &Connection, destination: &str, document: i64, states: &str) -> QueryResult<Option<Delivery>> {
    let document = documents::by_number(db, document)?.filter(|document| document.state == State::Fetched);
    let Some(document) = document else { return Ok(None) };
    let (id, pdf) = (document.id, document.version.pdf.as_str());
    let read = |row: &Row<'_>| {
        let tries = tries::of(db, Key::delivery(id, pdf, destination))?;
        let tries = Tries { changed_at: row.get("changed_at")?, due_at: row.get("due_at")?, ..tries };
        Ok((tries, row.get("number")?))
    };
    let found = db
        .prepare_cached(&format!(
            "SELECT changed_at, due_at, number FROM delivery
             WHERE document = ?1 AND pdf = ?2 AND destination = ?3 AND state IN {states}"
        ))?
        .query_row(params![id, pdf, destination], read)
        .optional()?;
    let Some((tries, number)) = found else { return Ok(None) };
    let key = |pdf: String| Version { pdf, ..document.version.clone() }.delivery_key(destination);
    let earlier: Vec<(Millis, String, bool, bool)> = db.rows(
        "SELECT changed_at, pdf, state = 'pending', state IN ('filed', 'delivered') OR unconfirmed_at IS NOT NULL
         FROM delivery WHERE document = ?1 AND pdf <> ?2 AND destination = ?3",
        params![id, pdf, destination],
    )?;
    let of_this = earlier.iter().filter(|(_, before, _, has_arrived)| *has_arrived && edition(before) == edition(pdf));
    let arrived_before = of_this.max().map(|(_, before, ..)| key(before.clone()));
    let replaced = earlier.into_iter().filter(|(_, _, is_pending, _)| *is_pending).map(|(_, pdf, ..)| key(pdf));
    let (replaced, metadata) = (replaced.collect(), patients::metadata(db, id)?);
    let frozen = document.filed_by.clone();
    let (destination, known) = (destination.to_owned(), Known::default());
    let delivery = Delivery { document, metadata, destination, tries, number, frozen, known, replaced, arrived_before };
    Ok(Some(Delivery { known: reservations::known(db, &delivery.owner())?, ..delivery }))
}

/// The number that the current version of a document was, or may have been, delivered with anywhere.
pub fn frozen(db: &Connection, document: i64) -> QueryResult<Option<String>> {
    db.perhaps(
        "SELECT coalesce(CASE WHEN number_pdf = pdf THEN number END,
                (SELECT max(any.number) FROM delivery AS any WHERE any.document = document.id AND any.pdf = document.pdf))
         FROM document WHERE id = ?1",
        [document],
    )
    .map(Option::flatten)
}

// A plus sign before a column keeps SQLite from using an index on it: by `state` alone it would read every delivery
// that ever was. The module `plans` looks for such statements.

/// The destinations that have this version of the document, proved or not.
pub fn delivered_to(db: &Connection, document: i64, pdf: &str) -> QueryResult<Vec<String>> {
    db.values(
        "SELECT destination FROM delivery WHERE document = ?1 AND pdf = ?2 AND state IN ('filed', 'delivered')",
        params![document, pdf],
    )
}

/// Whether this version still has to be sent to a destination.
pub fn any_pending(db: &Connection, document: i64, pdf: &str) -> QueryResult<bool> {
    db.prepare_cached("SELECT 1 FROM delivery WHERE document = ?1 AND pdf = ?2 AND +state = 'pending'")?
        .exists(params![document, pdf])
}

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
    db.run(
        "DELETE FROM delivery WHERE document = ?1 AND state NOT IN ('filed', 'delivered')
           AND (pdf <> ?2 AND state <> 'pending' OR destination NOT IN (SELECT value FROM json_each(?3)))",
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
        let key = Key::delivery(document, pdf, destination);
        let Tries { failure, refusals, .. } = tries::of(db, key)?;
        let refused = failure.filter(Failure::is_permanent);
        let planned = db.change(
            "INSERT INTO delivery (document, pdf, destination, state, due_at, changed_at)
             VALUES (?1, ?2, ?3, 'pending', ?4, ?4)
             ON CONFLICT DO UPDATE SET state = 'pending', due_at = ?4, changed_at = iif(?5, changed_at, ?4),
                 unconfirmed_at = NULL, place = NULL, filed = NULL, proof = NULL, number_refused = NULL,
                 unmatched = NULL, to_remove = NULL
             WHERE state NOT IN ('filed', 'delivered')",
            params![document, pdf, destination, now, refused.is_some()],
        )?;
        if planned > 0 {
            let refusals = refused.as_ref().map_or(0, |_| refusals);
            tries::change(db, key, |row| *row = Tries { failure: refused, refusals, ..Tries::default() })?;
        }
        pending += planned;
    }
    Ok(pending)
}

/// The document left `fetched`: its pending deliveries are not due until it comes back.
pub(super) fn suspend(db: &Connection, document: i64) -> QueryResult<()> {
    db.run("UPDATE delivery SET due_at = NULL, unmatched = NULL WHERE document = ?1 AND state = 'pending'", [document])
}

#[cfg(test)]
mod tests;
