//! Deliveries: one row for each destination that has to take a version of a document.

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::documents::{self, COLUMNS, Document};
use super::{Millis, QueryResult, history};
use crate::state::{Event, State};

/// One delivery that is due.
#[derive(Clone)]
pub struct Delivery {
    /// The document, in state `fetched`.
    pub document: Document,
    /// NAME of the destination.
    pub destination: String,
    /// Failed attempts of this delivery.
    pub attempts: u32,
    /// When the first of them failed.
    pub failing_since: Option<Millis>,
    /// When anything about it last changed.
    pub changed_at: Millis,
}

fn read(row: &Row<'_>) -> QueryResult<Delivery> {
    Ok(Delivery {
        document: documents::read(row)?,
        destination: row.get("destination")?,
        attempts: row.get("delivery_attempts")?,
        failing_since: row.get("delivery_failing_since")?,
        changed_at: row.get("delivery_changed_at")?,
    })
}

fn select(order: &str) -> String {
    format!(
        "SELECT {COLUMNS}, delivery.destination AS destination, delivery.attempts AS delivery_attempts,
                delivery.failing_since AS delivery_failing_since, delivery.changed_at AS delivery_changed_at
         FROM delivery JOIN document ON document.id = delivery.document
         WHERE delivery.state = 'pending' AND delivery.destination = ?1 AND delivery.due_at <= ?2
           AND document.state = 'fetched' AND document.pdf = delivery.pdf
         ORDER BY {order} LIMIT ?3"
    )
}

/// Up to `limit` deliveries to the destination that are due, the longest due first.
///
/// # Errors
/// Those of SQLite.
pub fn due(db: &Connection, destination: &str, now: Millis, limit: usize) -> QueryResult<Vec<Delivery>> {
    db.prepare_cached(&select("delivery.due_at"))?.query_map(params![destination, now, limit], read)?.collect()
}

/// The due delivery that failed least, one that never did before all others: the best one to find out with whether a
/// pause can end, and the one that must not wait behind those that keep it up.
///
/// # Errors
/// Those of SQLite.
pub fn probe(db: &Connection, destination: &str, now: Millis) -> QueryResult<Option<Delivery>> {
    db.prepare_cached(&select("delivery.attempts, delivery.reason IS NOT NULL, delivery.due_at"))?
        .query_row(params![destination, now, 1], read)
        .optional()
}

/// The next time after `now` at which a delivery to the destination becomes due.
///
/// # Errors
/// Those of SQLite.
pub fn next_due(db: &Connection, destination: &str, now: Millis) -> QueryResult<Option<Millis>> {
    db.prepare_cached(
        "SELECT delivery.due_at FROM delivery JOIN document ON document.id = delivery.document
         WHERE delivery.state = 'pending' AND delivery.destination = ?1 AND delivery.due_at > ?2
           AND document.state = 'fetched' AND document.pdf = delivery.pdf
         ORDER BY delivery.due_at LIMIT 1",
    )?
    .query_row(params![destination, now], |row| row.get(0))
    .optional()
}

// A plus sign before a column keeps SQLite from using an index on it: by `state` alone it would read every delivery that
// ever was. `plans` looks for such statements.

/// The destinations that have this version of the document.
///
/// # Errors
/// Those of SQLite.
pub fn delivered_to(db: &Connection, document: i64, pdf: &str) -> QueryResult<Vec<String>> {
    db.prepare_cached("SELECT destination FROM delivery WHERE document = ?1 AND pdf = ?2 AND +state = 'delivered'")?
        .query_map(params![document, pdf], |row| row.get(0))?
        .collect()
}

/// Makes the rows of this version be those of `destinations`, keeps what was delivered, and returns how many are
/// pending.
pub(super) fn plan(
    db: &Connection,
    document: i64,
    pdf: &str,
    destinations: &[String],
    now: Millis,
) -> QueryResult<usize> {
    db.prepare_cached("DELETE FROM delivery WHERE document = ?1 AND state <> 'delivered'")?.execute([document])?;
    let mut pending = 0;
    for destination in destinations {
        pending += db
            .prepare_cached(
                "INSERT INTO delivery (document, pdf, destination, state, due_at, changed_at)
                 VALUES (?1, ?2, ?3, 'pending', ?4, ?4) ON CONFLICT DO NOTHING",
            )?
            .execute(params![document, pdf, destination, now])?;
    }
    Ok(pending)
}

/// What became of one delivery.
pub enum Ended<'a> {
    /// The destination has it, there.
    Delivered(&'a str),
    /// It will never take it, for this reason.
    Failed(&'a str),
}

/// Records the end of a delivery, and moves the document on when it was the last one. Returns the document's new
/// state, if it changed.
///
/// # Errors
/// Those of SQLite.
pub fn end(db: &Connection, delivery: &Delivery, ended: &Ended<'_>, now: Millis) -> QueryResult<Option<State>> {
    let document = &delivery.document;
    let (word, place, reason) = match ended {
        Ended::Delivered(place) => ("delivered", Some(*place), None),
        Ended::Failed(reason) => ("failed", None, Some(*reason)),
    };
    let updated = db
        .prepare_cached(
            "UPDATE delivery SET state = ?4, place = ?5, reason = ?6, due_at = NULL, changed_at = ?7
             WHERE document = ?1 AND pdf = ?2 AND destination = ?3 AND state = 'pending'
               AND EXISTS (SELECT 1 FROM document WHERE id = ?1 AND round = ?8 AND state = 'fetched')",
        )?
        .execute(params![
            document.id,
            document.version.pdf,
            delivery.destination,
            word,
            place,
            reason,
            now,
            document.round
        ])?;
    if updated == 0 {
        return Ok(None);
    }
    history::append(
        db,
        document.id,
        now,
        if word == "delivered" { "delivered" } else { "delivery_failed" },
        State::Fetched,
        delivery.attempts,
        Some(&delivery.destination),
        reason,
    )?;
    let count = |state: &str| -> QueryResult<i64> {
        db.prepare_cached("SELECT count(*) FROM delivery WHERE document = ?1 AND pdf = ?2 AND +state = ?3")?
            .query_row(params![document.id, document.version.pdf, state], |row| row.get(0))
    };
    if count("pending")? > 0 {
        return Ok(None);
    }
    if count("failed")? == 0 {
        return documents::transition(db, document.id, document.round, Event::AllDelivered, now, None);
    }
    let reasons: String = db
        .prepare_cached(
            "SELECT group_concat(destination || ': ' || reason, '; ') FROM delivery
             WHERE document = ?1 AND pdf = ?2 AND state = 'failed'",
        )?
        .query_row(params![document.id, document.version.pdf], |row| row.get(0))?;
    documents::transition(db, document.id, document.round, Event::Refused, now, Some(&reasons))
}

/// As [`documents::failing_since`], of a delivery that is pending.
///
/// # Errors
/// Those of SQLite.
pub fn failing_since(db: &Connection, delivery: &Delivery) -> QueryResult<Option<Millis>> {
    let version = &delivery.document.version;
    let row = db
        .prepare_cached(
            "SELECT failing_since FROM delivery
             WHERE document = ?1 AND pdf = ?2 AND destination = ?3 AND state = 'pending'",
        )?
        .query_row(params![delivery.document.id, version.pdf, delivery.destination], |row| row.get(0));
    Ok(row.optional()?.flatten())
}

/// As [`documents::leave_out_time`], of what waits for this destination.
///
/// # Errors
/// Those of SQLite.
pub fn leave_out_time(db: &Connection, destination: &str, since: Millis, now: Millis) -> QueryResult<()> {
    db.prepare_cached(
        "UPDATE delivery SET failing_since = failing_since + max(0, ?3 - max(failing_since, ?2))
         WHERE state = 'pending' AND destination = ?1 AND failing_since IS NOT NULL",
    )?
    .execute(params![destination, since, now])
    .map(|_| ())
}

/// Leaves the delivery pending until `postponed.due_at`.
///
/// # Errors
/// Those of SQLite.
pub fn postpone(
    db: &Connection,
    delivery: &Delivery,
    postponed: &documents::Postponed<'_>,
    now: Millis,
) -> QueryResult<()> {
    let document = &delivery.document;
    let updated = db
        .prepare_cached(
            "UPDATE delivery SET due_at = ?4, reason = ?5, attempts = attempts + ?6, changed_at = ?7,
                    failing_since = CASE WHEN ?6 OR failing_since IS NOT NULL THEN ?9 END
             WHERE document = ?1 AND pdf = ?2 AND destination = ?3 AND state = 'pending'
               AND EXISTS (SELECT 1 FROM document WHERE id = ?1 AND round = ?8 AND state = 'fetched')",
        )?
        .execute(params![
            document.id,
            document.version.pdf,
            delivery.destination,
            postponed.due_at,
            postponed.reason,
            i64::from(postponed.charged),
            now,
            document.round,
            postponed.failing_since
        ])?;
    if updated > 0 && postponed.charged {
        history::append(
            db,
            document.id,
            now,
            "postponed",
            State::Fetched,
            delivery.attempts + 1,
            Some(&delivery.destination),
            Some(postponed.reason),
        )?;
    }
    Ok(())
}

/// The delivery to this destination failed in a way that turned out to be none of the document's own, which still waits for
/// another one: it is due again. Returns whether there was such a delivery.
pub(super) fn take_back(
    db: &Connection,
    document: i64,
    destination: &str,
    reason: &str,
    now: Millis,
) -> QueryResult<bool> {
    let updated = db
        .prepare_cached(
            "UPDATE delivery SET state = 'pending', due_at = ?3, reason = ?4, changed_at = ?3
             WHERE document = ?1 AND destination = ?2 AND state = 'failed'
               AND pdf = (SELECT pdf FROM document WHERE id = ?1)",
        )?
        .execute(params![document, destination, now, reason])?;
    if updated > 0 {
        let event = Event::TakenBack.as_str();
        history::append(db, document, now, event, State::Fetched, 0, Some(destination), Some(reason))?;
    }
    Ok(updated > 0)
}

/// The document left `fetched`: its pending deliveries are nobody's turn until it comes back.
pub(super) fn suspend(db: &Connection, document: i64) -> QueryResult<usize> {
    db.prepare_cached("UPDATE delivery SET due_at = NULL WHERE document = ?1 AND state = 'pending'")?
        .execute([document])
}

/// A person asked for the document again: what was delivered is to be delivered once more.
pub(super) fn forget_success(db: &Connection, document: i64) -> QueryResult<usize> {
    db.prepare_cached("DELETE FROM delivery WHERE document = ?1")?.execute([document])
}

/// Makes the pending deliveries of a fetched document due.
pub(super) fn due_now(db: &Connection, document: i64, now: Millis) -> QueryResult<usize> {
    db.prepare_cached(
        "UPDATE delivery SET due_at = ?2 WHERE document = ?1 AND state = 'pending' AND due_at IS NOT NULL",
    )?
    .execute(params![document, now])
}

/// Documents that are read at once to be routed anew.
const REROUTED_AT_ONCE: usize = 500;

/// After a change of the configuration: documents that wait for a destination which no longer exists start over, so
/// that the routes decide again. Returns how many.
///
/// # Errors
/// Those of SQLite.
pub fn reroute_unknown(db: &Connection, known: &[String], now: Millis) -> QueryResult<usize> {
    let waited_for: Vec<String> = db
        .prepare("SELECT DISTINCT destination FROM delivery WHERE state = 'pending'")?
        .query_map([], |row| row.get(0))?
        .collect::<QueryResult<_>>()?;
    let mut rerouted = 0;
    for name in waited_for.into_iter().filter(|name| !known.contains(name)) {
        let reason = format!("destination {name} is no longer configured");
        loop {
            // Each that starts over waits no longer, so that the next ones are found.
            let waiting: Vec<(i64, i64)> = db
                .prepare_cached(
                    "SELECT document.id, document.round FROM delivery JOIN document ON document.id = delivery.document
                     WHERE delivery.state = 'pending' AND delivery.destination = ?1
                       AND document.state = 'fetched' AND document.pdf = delivery.pdf LIMIT ?2",
                )?
                .query_map(params![name, REROUTED_AT_ONCE], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<QueryResult<_>>()?;
            let mut moved = 0;
            for (id, round) in waiting {
                moved +=
                    usize::from(documents::transition(db, id, round, Event::StartOver, now, Some(&reason))?.is_some());
            }
            if moved == 0 {
                break;
            }
            rerouted += moved;
        }
    }
    Ok(rerouted)
}
