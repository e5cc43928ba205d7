//! Deliveries: one row for each destination that has to take a version of a document.

use rusqlite::{Connection, OptionalExtension as _, Params, Row, params};

use super::documents::{self, COLUMNS, Document};
use super::reservations::{self, Owner};
use super::{Millis, QueryResult, failures, history};
use crate::reservation::Known;
use crate::state::{Event, State};

/// One delivery that is due. It holds patient data in `metadata`, so it has no `Debug`.
#[derive(Clone)]
pub struct Delivery {
    /// The document, in state `fetched`.
    pub document: Document,
    /// `Metadata` as JSON.
    pub metadata: Option<String>,
    /// NAME of the destination.
    pub destination: String,
    /// Failed attempts of this delivery.
    pub attempts: u32,
    /// When the first of them failed.
    pub failing_since: Option<Millis>,
    /// For how long it was tried in vain; milliseconds.
    pub failing_for: Millis,
    /// When anything about it last changed.
    pub changed_at: Millis,
    /// When it was due.
    pub due_at: Option<Millis>,
    /// The last failure, as the ledger keeps it.
    pub failure: Option<String>,
    /// What the ledger knew of its names when this was read.
    pub known: Known,
}

impl Delivery {
    /// Whose its names are.
    pub fn owner(&self) -> Owner {
        let document = &self.document;
        Owner {
            document: document.id,
            uuid: document.version.uuid.clone(),
            pdf: document.version.pdf.clone(),
            destination: self.destination.clone(),
            sha256: document.sha256.clone().unwrap_or_default(),
        }
    }

    /// Whether an attempt that was cut off, or whose answer was lost, may have delivered it: its intent is not settled.
    pub fn is_uncertain(&self) -> bool {
        self.known.intent.is_some()
    }
}

fn read(row: &Row<'_>) -> QueryResult<Delivery> {
    Ok(Delivery {
        document: documents::read(row)?,
        metadata: row.get("metadata")?,
        destination: row.get("destination")?,
        attempts: row.get("delivery_attempts")?,
        failing_since: row.get("delivery_failing_since")?,
        failing_for: row.get("delivery_failing_for")?,
        changed_at: row.get("delivery_changed_at")?,
        due_at: row.get("delivery_due_at")?,
        failure: row.get("delivery_failure")?,
        known: Known::default(),
    })
}

/// The one delivery that the statement finds, with its names.
fn one(db: &Connection, sql: &str, params: impl Params) -> QueryResult<Option<Delivery>> {
    let Some(mut delivery) = db.prepare_cached(sql)?.query_row(params, read).optional()? else { return Ok(None) };
    delivery.known = reservations::known(db, &delivery.owner())?;
    Ok(Some(delivery))
}

/// A delivery that waits for its turn, if it is the document's turn, too.
const PENDING: &str = "FROM delivery JOIN document ON document.id = delivery.document
     WHERE delivery.state = 'pending' AND delivery.destination = ?1
       AND document.state = 'fetched' AND document.pdf = delivery.pdf";

fn select(which: &str) -> String {
    format!(
        "SELECT {COLUMNS}, delivery.destination AS destination, delivery.attempts AS delivery_attempts,
                delivery.failing_since AS delivery_failing_since, delivery.failing_for AS delivery_failing_for,
                delivery.changed_at AS delivery_changed_at, delivery.due_at AS delivery_due_at,
                delivery.failure AS delivery_failure,
                (SELECT json FROM document_metadata WHERE document_metadata.document = document.id) AS metadata
         {PENDING} {which}"
    )
}

/// The documents of up to `limit` deliveries to the destination that are due, the longest due first; and whether each failed
/// before.
///
/// # Errors
/// Any SQLite error.
pub fn due(db: &Connection, destination: &str, now: Millis, limit: usize) -> QueryResult<Vec<(i64, bool)>> {
    db.prepare_cached(&format!(
        "SELECT document.id, delivery.attempts > 0 {PENDING} AND delivery.due_at <= ?2 ORDER BY delivery.due_at LIMIT ?3"
    ))?
    .query_map(params![destination, now, limit], |row| Ok((row.get(0)?, row.get(1)?)))?
    .collect()
}

/// The delivery of the document to the destination that waits for its turn.
///
/// # Errors
/// Any SQLite error.
pub fn pending(db: &Connection, destination: &str, document: i64) -> QueryResult<Option<Delivery>> {
    one(db, &select("AND document.id = ?2"), params![destination, document])
}

/// As [`documents::probe`], of what is due at the destination.
///
/// # Errors
/// Any SQLite error.
pub fn probe(
    db: &Connection,
    destination: &str,
    now: Millis,
    fresh: bool,
    candidate: Option<i64>,
) -> QueryResult<Option<Delivery>> {
    let which = "AND delivery.due_at <= ?2 ORDER BY (delivery.failure IS NULL) IS NOT ?5, document.id IS ?4 DESC,
                 delivery.changed_at, document.id LIMIT ?3";
    one(db, &select(which), params![destination, now, 1, candidate, fresh])
}

/// The next time after `now` at which a delivery to the destination becomes due.
///
/// # Errors
/// Any SQLite error.
pub fn next_due(db: &Connection, destination: &str, now: Millis) -> QueryResult<Option<Millis>> {
    db.prepare_cached(&format!(
        "SELECT delivery.due_at {PENDING} AND delivery.due_at > ?2 ORDER BY delivery.due_at LIMIT 1"
    ))?
    .query_row(params![destination, now], |row| row.get(0))
    .optional()
}

// A plus sign before a column keeps SQLite from using an index on it: by `state` alone it would read every delivery that
// ever was. `plans` looks for such statements.

/// The destinations that have this version of the document.
///
/// # Errors
/// Any SQLite error.
pub fn delivered_to(db: &Connection, document: i64, pdf: &str) -> QueryResult<Vec<String>> {
    db.prepare_cached("SELECT destination FROM delivery WHERE document = ?1 AND pdf = ?2 AND +state = 'delivered'")?
        .query_map(params![document, pdf], |row| row.get(0))?
        .collect()
}

/// Makes the rows of this version be those of `destinations`, keeps what was delivered and by what failure others were
/// refused, and returns how many are pending. That one may have arrived is still known by its intent.
pub(super) fn plan(
    db: &Connection,
    document: i64,
    pdf: &str,
    destinations: &[String],
    now: Millis,
) -> QueryResult<usize> {
    let refused: Vec<(String, String)> = db
        .prepare_cached(
            "DELETE FROM delivery WHERE document = ?1 AND state <> 'delivered'
             RETURNING destination, CASE WHEN pdf = ?2 AND state = 'failed' THEN failure END",
        )?
        .query_map(params![document, pdf], |row| Ok((row.get(0)?, row.get::<_, Option<String>>(1)?)))?
        .filter_map(|row| row.map(|(name, failure)| Some((name, failure?))).transpose())
        .collect::<QueryResult<_>>()?;
    let mut pending = 0;
    for destination in destinations {
        let failure = refused.iter().find(|(name, _)| name == destination).map(|(_, failure)| failure);
        pending += db
            .prepare_cached(
                "INSERT INTO delivery (document, pdf, destination, state, due_at, changed_at, failure)
                 VALUES (?1, ?2, ?3, 'pending', ?4, ?4, ?5) ON CONFLICT DO NOTHING",
            )?
            .execute(params![document, pdf, destination, now, failure])?;
    }
    Ok(pending)
}

/// What became of one delivery.
pub enum Ended<'a> {
    /// The destination has it, there.
    Delivered(&'a str),
    /// It will never take it.
    Failed {
        /// Why.
        reason: &'a str,
        /// The same as data.
        code: &'a str,
        /// The failure, if others may turn out to share it.
        failure: Option<&'a str>,
    },
}

/// Records the end of a delivery, and moves the document on when it was the last one. Returns the document's new
/// state, if it changed.
///
/// # Errors
/// Any SQLite error.
pub fn end(db: &Connection, delivery: &Delivery, ended: &Ended<'_>, now: Millis) -> QueryResult<Option<State>> {
    let document = &delivery.document;
    let (word, place, reason, code, failure) = match ended {
        Ended::Delivered(place) => ("delivered", Some(*place), None, None, None),
        Ended::Failed { reason, code, failure } => ("failed", None, Some(*reason), Some(*code), *failure),
    };
    let updated = db
        .prepare_cached(
            "UPDATE delivery SET state = ?4, place = ?5, reason = ?6, due_at = NULL, changed_at = ?7, failure = ?9,
                    reason_code = ?10
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
            document.round,
            failure,
            code
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
    let (pending, failed): (i64, i64) = db
        .prepare_cached(
            "SELECT count(*) FILTER (WHERE state = 'pending'), count(*) FILTER (WHERE state = 'failed')
             FROM delivery WHERE document = ?1 AND pdf = ?2",
        )?
        .query_row(params![document.id, document.version.pdf], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if pending > 0 {
        return Ok(None);
    }
    if failed == 0 {
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

/// As [`failures::due_again`], of what waits for this destination.
///
/// # Errors
/// Any SQLite error.
pub fn due_again(db: &Connection, destination: &str, failure: &str, now: Millis) -> QueryResult<()> {
    db.prepare_cached(
        "UPDATE delivery SET due_at = ?3
         WHERE state = 'pending' AND destination = ?1 AND due_at > ?3 AND failure = ?2",
    )?
    .execute(params![destination, failure, now])
    .map(|_| ())
}

/// Leaves the delivery pending.
///
/// # Errors
/// Any SQLite error.
pub fn postpone(
    db: &Connection,
    delivery: &Delivery,
    postponed: &failures::Postponed<'_>,
    now: Millis,
) -> QueryResult<()> {
    let document = &delivery.document;
    let charge = postponed.charge.as_ref();
    let updated = db
        .prepare_cached(
            "UPDATE delivery SET due_at = coalesce(?4, due_at), reason = ?5, attempts = attempts + ?6, changed_at = ?7,
                    failure = coalesce(?9, failure), failing_for = failing_for + ?10, reason_code = ?12,
                    failing_since = CASE WHEN ?6 THEN coalesce(failing_since, ?11) ELSE failing_since END
             WHERE document = ?1 AND pdf = ?2 AND destination = ?3 AND state = 'pending'
               AND EXISTS (SELECT 1 FROM document WHERE id = ?1 AND round = ?8 AND state = 'fetched')",
        )?
        .execute(params![
            document.id,
            document.version.pdf,
            delivery.destination,
            postponed.due_at,
            postponed.reason,
            i64::from(charge.is_some()),
            now,
            document.round,
            postponed.failure,
            charge.map_or(0, |charge| charge.failing_for),
            charge.map(|charge| charge.began),
            postponed.code
        ])?;
    let attempt = delivery.attempts + 1;
    if updated > 0 && charge.is_some() && postponed.is_news(attempt, delivery.failure.as_deref()) {
        let to = Some(delivery.destination.as_str());
        history::append(db, document.id, now, "postponed", State::Fetched, attempt, to, Some(postponed.reason))?;
    }
    Ok(())
}

/// Leaves the delivery to a person: it may have arrived, and nobody but a person can look.
///
/// # Errors
/// Any SQLite error.
pub fn leave_unconfirmed(
    db: &Connection,
    delivery: &Delivery,
    reason: &str,
    failure: Option<&str>,
    now: Millis,
) -> QueryResult<()> {
    let document = &delivery.document;
    let updated = db
        .prepare_cached(
            "UPDATE delivery SET due_at = NULL, unconfirmed_at = ?5, reason = ?4, changed_at = ?5,
                    failure = coalesce(?7, failure), reason_code = coalesce(?7, 'deliver unconfirmed cut_off')
             WHERE document = ?1 AND pdf = ?2 AND destination = ?3 AND state = 'pending'
               AND EXISTS (SELECT 1 FROM document WHERE id = ?1 AND round = ?6 AND state = 'fetched')",
        )?
        .execute(params![
            document.id,
            document.version.pdf,
            delivery.destination,
            reason,
            now,
            document.round,
            failure
        ])?;
    if updated > 0 {
        let to = Some(delivery.destination.as_str());
        history::append(db, document.id, now, "unconfirmed", State::Fetched, delivery.attempts, to, Some(reason))?;
    }
    Ok(())
}

/// A person looked, and wants what may have arrived to be sent again. Returns how many deliveries that are.
fn send_unconfirmed_again(db: &Connection, document: i64, now: Millis) -> QueryResult<usize> {
    db.prepare_cached(
        "UPDATE file_reservation SET path = NULL, temporary = NULL
         WHERE uuid = (SELECT uuid FROM document WHERE id = ?1) AND EXISTS (
             SELECT 1 FROM delivery WHERE document = ?1 AND unconfirmed_at IS NOT NULL
             AND destination = file_reservation.destination AND pdf = file_reservation.pdf)",
    )?
    .execute([document])?;
    db.prepare_cached(
        "UPDATE delivery SET unconfirmed_at = NULL, due_at = ?2, reason = NULL, reason_code = NULL
         WHERE document = ?1 AND unconfirmed_at IS NOT NULL",
    )?
    .execute(params![document, now])
}

/// What [`retract`] made due again.
pub(super) struct Reopened {
    /// Documents that still waited for another destination.
    pub(super) still_fetched: usize,
    /// Number and round of those that had failed.
    pub(super) failing: Vec<(i64, i64)>,
}

/// The deliveries that this destination refused by this failure turned out to be none of the documents' own: they are due
/// again, unless the API may know of the failure.
pub(super) fn retract(
    db: &Connection,
    destination: &str,
    failure: &str,
    reason: &str,
    now: Millis,
) -> QueryResult<Reopened> {
    let held: Vec<(i64, i64, String, bool)> = db
        .prepare_cached(
            "SELECT document.id, document.round, delivery.pdf, document.state = 'fetched'
             FROM delivery INDEXED BY delivery_held JOIN document ON document.id = delivery.document
             WHERE delivery.state = 'failed' AND delivery.destination = ?1 AND delivery.failure = ?2
               AND delivery.pdf = document.pdf
               AND (document.state = 'fetched' OR (document.state = 'failing' AND document.failure_sent = 0))",
        )?
        .query_map([destination, failure], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?
        .collect::<QueryResult<_>>()?;
    let mut reopened = Reopened { still_fetched: 0, failing: Vec::new() };
    for (id, round, pdf, still_fetched) in held {
        if !still_fetched {
            reopened.failing.push((id, round));
            continue;
        }
        reopened.still_fetched += 1;
        db.prepare_cached(
            "UPDATE delivery SET state = 'pending', due_at = ?4, reason = ?5, reason_code = ?6, changed_at = ?4
             WHERE document = ?1 AND pdf = ?2 AND destination = ?3",
        )?
        .execute(params![id, pdf, destination, now, reason, failure])?;
        let event = Event::Retracted.as_str();
        history::append(db, id, now, event, State::Fetched, 0, Some(destination), Some(reason))?;
    }
    Ok(reopened)
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

/// Makes the pending deliveries of a fetched document due, with those that may have arrived.
pub(super) fn due_now(db: &Connection, document: i64, now: Millis) -> QueryResult<usize> {
    send_unconfirmed_again(db, document, now)?;
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
/// Any SQLite error.
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

#[cfg(test)]
mod tests;
