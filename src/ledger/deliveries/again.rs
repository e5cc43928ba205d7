//! Deliveries that become due by something other than time: a person asked for them, others turned out to share their
//! failure, or the configuration changed.

use rusqlite::{Connection, params};

use super::super::columns::{Statements as _, as_json};
use super::super::documents::{self, Document};
use super::super::history::{self, Because};
use super::super::tries::{self, Key, Tries};
use super::super::{Millis, QueryResult, reservations};
use super::{Ended, end, of};
use crate::domain::failure::{Failure, Kind};
use crate::domain::proof::Proof;
use crate::domain::state::{Event, State};

/// A destination works again: documents that wait because the spool is full are due.
pub fn spool_empties(db: &Connection, now: Millis) -> QueryResult<()> {
    db.run(
        "UPDATE document SET due_at = ?1 WHERE state = 'discovered' AND due_at > ?1
           AND EXISTS (SELECT 1 FROM retry_state WHERE document = id AND work = 'fetch:' AND reason_code = 'spool_full')",
        [now],
    )
}

/// The failure by which this destination refused the delivery is not the document's own: the delivery is due again.
pub(in crate::ledger) fn retract(
    db: &Connection,
    document: &Document,
    destination: &str,
    (reason, code): (&str, &str),
    now: Millis,
) -> QueryResult<()> {
    let (id, pdf) = (document.id, document.version.pdf.as_str());
    db.run(
        "UPDATE delivery SET state = 'pending', due_at = ?4, changed_at = ?4
         WHERE document = ?1 AND pdf = ?2 AND destination = ?3",
        params![id, pdf, destination, now],
    )?;
    tries::say(db, Key::delivery(id, pdf, destination), Some((reason, code)))?;
    let (event, because) = (Event::Retracted.as_str(), Some(Because::coded(reason, Some(code))));
    history::append(db, (id, Some(destination)), now, event, State::Fetched, 0, because)
}

/// Makes the deliveries of a fetched document due: those that wait, those that may have arrived, and those that failed
/// while others wait.
pub(in crate::ledger) fn due_now(db: &Connection, document: i64, now: Millis) -> QueryResult<()> {
    forget_intents(db, document)?;
    // Whoever was asked has looked.
    db.run(
        "UPDATE document SET in_doubt = 0 WHERE id = ?1 AND in_doubt
           AND EXISTS (SELECT 1 FROM delivery WHERE document = ?1 AND unconfirmed_at IS NOT NULL)",
        [document],
    )?;
    let asked: Vec<(String, String)> = db.rows(
        "UPDATE delivery SET unconfirmed_at = NULL, due_at = ?2 WHERE document = ?1 AND unconfirmed_at IS NOT NULL
         RETURNING pdf, destination",
        params![document, now],
    )?;
    asked.iter().try_for_each(|(pdf, to)| tries::say(db, Key::delivery(document, pdf, to), None))?;
    let failed: Vec<(String, String)> = db.rows(
        "UPDATE delivery SET state = 'pending', due_at = ?2, changed_at = ?2
         WHERE document = ?1 AND +state = 'failed'
           AND pdf = (SELECT pdf FROM document WHERE id = ?1 AND state = 'fetched')
         RETURNING pdf, destination",
        params![document, now],
    )?;
    for (pdf, to) in &failed {
        tries::change(db, Key::delivery(document, pdf, to), |row| *row = Tries::default())?;
    }
    db.run(
        "UPDATE delivery SET due_at = min(due_at, ?2)
         WHERE document = ?1 AND state = 'pending' AND due_at IS NOT NULL",
        params![document, now],
    )
}

/// A person looked for what may have arrived of the document, also if it was given up: the intents of those attempts
/// are void.
pub fn forget_intents(db: &Connection, document: i64) -> QueryResult<()> {
    let ended: Vec<(String, String, bool, Option<String>)> = db.rows(
        "SELECT destination, delivery.pdf, unconfirmed_at IS NOT NULL, reason_code
         FROM delivery LEFT JOIN retry_state
              ON retry_state.document = ?1 AND work = destination AND retry_state.pdf = delivery.pdf
         WHERE delivery.document = ?1 AND (unconfirmed_at IS NOT NULL OR +state = 'failed')",
        [document],
    )?;
    let is_unconfirmed =
        |code: &str| Failure::parse(code).is_some_and(|failure| matches!(failure.kind, Kind::Unconfirmed(_)));
    for (destination, pdf, asks, code) in ended {
        if asks || code.as_deref().is_some_and(is_unconfirmed) {
            db.run(
                "UPDATE file_reservation SET path = NULL, temporary = NULL
                 WHERE uuid = (SELECT uuid FROM document WHERE id = ?1) AND destination = ?2 AND pdf = ?3",
                params![document, destination, pdf],
            )?;
        }
    }
    Ok(())
}

/// A person looked, and deliveries of the document that may have arrived are there, or were taken from there: they
/// count as delivered. Where there are none, the word is about those that wait for their proof. Returns how many there
/// are.
pub fn arrived(db: &Connection, document: i64, now: Millis) -> QueryResult<usize> {
    let destinations: Vec<(String, Option<String>)> = db.rows(
        "UPDATE delivery SET unconfirmed_at = NULL
         WHERE document = ?1 AND (unconfirmed_at IS NOT NULL AND +state = 'pending' OR +state = 'filed' AND NOT EXISTS (
                   SELECT 1 FROM delivery AS asked
                   WHERE asked.document = ?1 AND asked.unconfirmed_at IS NOT NULL AND +asked.state = 'pending'))
           AND pdf = (SELECT pdf FROM document WHERE id = ?1 AND state = 'fetched')
         RETURNING destination, place",
        [document],
    )?;
    let mut arrived = 0;
    for (destination, place) in &destinations {
        let Some(delivery) = of(db, destination, document)? else { continue };
        let place = place.as_deref().unwrap_or(SEEN);
        end(db, &delivery, &Ended::Delivered { place, proof: Proof::Person }, now)?;
        reservations::delivered(db, &delivery.owner())?;
        arrived += 1;
    }
    Ok(arrived)
}

/// Whether a person may say that the document arrived ([`arrived`]).
pub fn waits_for_word(db: &Connection, document: i64) -> QueryResult<bool> {
    db.prepare_cached(
        "SELECT 1 FROM delivery WHERE document = ?1 AND (unconfirmed_at IS NOT NULL AND +state = 'pending' OR +state = 'filed')
           AND pdf = (SELECT pdf FROM document WHERE id = ?1 AND state = 'fetched')",
    )?
    .exists([document])
}

/// The place of a delivery that a person has seen.
const SEEN: &str = "seen there by a person";

/// A person asked for the document again: it is to be delivered everywhere once more. What lies there stays known until
/// it is known for whom the document is now ([`super::void`]).
pub(in crate::ledger) fn forget_success(db: &Connection, document: i64) -> QueryResult<()> {
    db.run(
        "DELETE FROM delivery WHERE document = ?1 AND to_remove IS NULL
           AND (+state NOT IN ('filed', 'delivered') OR pdf <> (SELECT pdf FROM document WHERE id = ?1))",
        [document],
    )?;
    db.run(
        "UPDATE delivery SET state = 'again', due_at = NULL
         WHERE document = ?1 AND pdf = (SELECT pdf FROM document WHERE id = ?1)",
        [document],
    )
}

/// Like [`forget_success`], at these destinations only, and for the current version.
pub(in crate::ledger) fn forget_at(db: &Connection, document: i64, destinations: &[String]) -> QueryResult<()> {
    db.run(
        "UPDATE delivery SET state = 'again', due_at = NULL
         WHERE document = ?1 AND pdf = (SELECT pdf FROM document WHERE id = ?1)
           AND destination IN (SELECT value FROM json_each(?2))",
        params![document, as_json(destinations)],
    )
}

/// After a change of the configuration, documents that wait for a destination which no longer exists start over, so
/// that the routes decide again. Returns how many.
pub fn reroute_unknown(db: &Connection, known: &[String], now: Millis) -> QueryResult<usize> {
    let waited_for: Vec<String> = db.values("SELECT DISTINCT destination FROM delivery WHERE state = 'pending'", [])?;
    let mut rerouted = 0;
    for name in waited_for.into_iter().filter(|name| !known.contains(name)) {
        let reason = format!("destination {name} is no longer configured");
        let waiting: Vec<(i64, i64)> = db.rows(
            "SELECT document.id, document.round FROM delivery JOIN document ON document.id = delivery.document
             WHERE delivery.state = 'pending' AND delivery.destination = ?1
               AND document.state = 'fetched' AND document.pdf = delivery.pdf",
            [&name],
        )?;
        for (id, round) in waiting {
            let moved = documents::transition(db, id, round, Event::StartOver, now, Some(reason.as_str().into()))?;
            rerouted += usize::from(moved.is_some());
        }
    }
    Ok(rerouted)
}
