//! What became of an attempt at a delivery.

use rusqlite::{Connection, params};

use super::super::{Millis, QueryResult, documents, failures, history};
use super::Delivery;
use crate::state::{Event, State};

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
