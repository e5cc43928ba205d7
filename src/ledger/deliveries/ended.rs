//! The outcomes of attempts at deliveries.

use rusqlite::{Connection, ToSql, params};

use super::super::columns::Statements as _;
use super::super::documents::{self, Document};
use super::super::history::{self, Because};
use super::super::tries::{self, Key};
use super::super::{Millis, QueryResult};
use super::Delivery;
use crate::domain::failure::{Failure, HOLD};
use crate::domain::proof::{Filed, Proof};
use crate::domain::state::{Event, State};

/// The end of a delivery.
pub enum Ended<'a> {
    /// The destination has it.
    Delivered {
        /// Where it lies.
        place: &'a str,
        /// The proof.
        proof: Proof,
    },
    /// The file lies there, and counts once the destination's software has it.
    Filed {
        /// Where it lies.
        place: &'a str,
        /// What a later look for it needs.
        filed: &'a Filed,
        /// When a person is told that nothing took it.
        told_at: Millis,
    },
    /// The destination will never take it.
    Failed {
        /// Why.
        reason: &'a str,
        /// The same as a code.
        code: &'a str,
        /// The failure, if others may turn out to share it.
        failure: Option<&'a Failure>,
    },
}

/// Records the end of a delivery, and moves the document on if it was the last one. Returns the document's new state,
/// if it changed.
pub fn end(db: &Connection, delivery: &Delivery, ended: &Ended<'_>, now: Millis) -> QueryResult<Option<State>> {
    let document = &delivery.document;
    let mut filed_json = None;
    let (word, place, reason, code, failure, proof, told_at) = match ended {
        Ended::Delivered { place, proof } => ("delivered", Some(*place), None, None, None, Some(proof.as_str()), None),
        Ended::Filed { place, filed, told_at } => {
            let pdf = document.size.zip(document.sha256.clone());
            filed_json = serde_json::to_string(&Filed { pdf, ..(*filed).clone() }).ok();
            ("filed", Some(*place), None, None, None, None, Some(*told_at))
        }
        Ended::Failed { reason, code, failure } => ("failed", None, Some(*reason), Some(*code), *failure, None, None),
    };
    let set = "state = ?6, place = ?7, due_at = ?8, proof = ?9, filed = ?10, unmatched = NULL";
    if !update(db, delivery, now, "('pending', 'filed')", set, &[&word, &place, &told_at, &proof, &filed_json])? {
        return Ok(None);
    }
    tries::change(db, delivery.key(), |row| {
        row.failure = failure.cloned();
        (row.reason, row.reason_code) = (reason.map(str::to_owned), code.map(str::to_owned));
        row.failing_since = row.failing_since.filter(|_| word == "failed");
    })?;
    if word != "failed" {
        db.run(
            "DELETE FROM delivery WHERE document = ?1 AND pdf <> ?2 AND destination = ?3 AND +state = 'pending'
               AND to_remove IS NULL",
            params![document.id, document.version.pdf, delivery.destination],
        )?;
    }
    if word != "failed"
        && let Some(number) = &delivery.number
    {
        db.run(
            "UPDATE document SET number = ?2, number_pdf = pdf WHERE id = ?1 AND number_pdf IS NOT pdf",
            params![document.id, number],
        )?;
    }
    history::append(
        db,
        (document.id, Some(&delivery.destination)),
        now,
        if word == "failed" { "delivery_failed" } else { word },
        State::Fetched,
        delivery.tries.attempts,
        reason.map(|reason| Because::coded(reason, code)),
    )?;
    moves_on(db, document, now)
}

/// Moves the document on, unless deliveries of its version have not ended. Returns its new state.
fn moves_on(db: &Connection, document: &Document, now: Millis) -> QueryResult<Option<State>> {
    let (pending, filed, reasons): (i64, i64, Option<String>) = db
        .prepare_cached(
            "SELECT count(*) FILTER (WHERE state = 'pending'), count(*) FILTER (WHERE state = 'filed'),
                    group_concat(destination || ': ' || coalesce(reason, ''), '; ') FILTER (WHERE state = 'failed')
             FROM delivery LEFT JOIN retry_state ON retry_state.document = ?1 AND work = destination AND retry_state.pdf = ?2
             WHERE delivery.document = ?1 AND delivery.pdf = ?2",
        )?
        .query_row(params![document.id, document.version.pdf], |row| row.try_into())?;
    if pending > 0 {
        return Ok(None);
    }
    let Some(reasons) = reasons else {
        if filed > 0 {
            return Ok(None);
        }
        return documents::transition(db, document.id, document.round, Event::AllDelivered, now, None);
    };
    let because = Some(reasons.as_str().into());
    let state = documents::transition(db, document.id, document.round, Event::Refused, now, because)?;
    let shared = db
        .prepare_cached(
            "SELECT failure, max(changed_at) FROM delivery
             JOIN retry_state ON retry_state.document = ?1 AND work = destination AND retry_state.pdf = ?2
             WHERE delivery.document = ?1 AND delivery.pdf = ?2 AND +state = 'failed' AND failure IS NOT NULL",
        )?
        .query_row(params![document.id, document.version.pdf], |row| {
            Ok(row.get::<_, Option<Failure>>(0)?.zip(row.get::<_, Option<Millis>>(1)?))
        })?;
    if let (Some(State::Failing), Some((failure, failed_at))) = (state, shared) {
        // Set whichever delivery was the last: others may turn out to share the failure.
        let hold = Millis::try_from(HOLD.as_millis()).unwrap_or(Millis::MAX);
        let told_at = failed_at.min(now).saturating_add(hold).max(now);
        tries::change(db, Key::fetch(document.id), |row| row.failure = Some(failure))?;
        db.run("UPDATE document SET due_at = ?2 WHERE id = ?1", params![document.id, told_at])?;
    }
    Ok(state)
}

/// Leaves the delivery pending, until `due_at` or as before. Returns the number of deliveries.
pub(in crate::ledger) fn put_off(
    db: &Connection,
    delivery: &Delivery,
    due_at: Option<Millis>,
    now: Millis,
) -> QueryResult<usize> {
    update(db, delivery, now, PENDING, "due_at = coalesce(?6, min(due_at, ?5))", &[&due_at]).map(usize::from)
}

/// The code of an attempt that was cut off.
const CUT_OFF: &str = "deliver unconfirmed cut_off";

/// Leaves the delivery to a person: it may have arrived, and nobody but a person can look.
pub fn leave_unconfirmed(
    db: &Connection,
    delivery: &Delivery,
    reason: &str,
    failure: Option<&Failure>,
    now: Millis,
) -> QueryResult<()> {
    if update(db, delivery, now, PENDING, "due_at = NULL, unconfirmed_at = ?5", &[])? {
        let of = (delivery.document.id, Some(delivery.destination.as_str()));
        let code = failure.map(Failure::to_string).unwrap_or_else(|| CUT_OFF.to_owned());
        tries::change(db, delivery.key(), |row| {
            row.failure = failure.cloned().or(row.failure.take());
            (row.reason, row.reason_code) = (Some(reason.to_owned()), Some(code.clone()));
        })?;
        let because = Some(Because::coded(reason, Some(&code)));
        history::append(db, of, now, "unconfirmed", State::Fetched, delivery.tries.attempts, because)?;
    }
    Ok(())
}

/// The states of a pending delivery, as SQL.
pub(super) const PENDING: &str = "('pending')";

/// Whether it is still to be made: its document has not moved on since it was read.
pub fn is_pending(db: &Connection, of: &Delivery) -> QueryResult<bool> {
    db.prepare_cached(
        "SELECT 1 FROM delivery WHERE document = ?1 AND pdf = ?2 AND destination = ?3 AND +state = 'pending'
           AND EXISTS (SELECT 1 FROM document WHERE id = ?1 AND round = ?4 AND state = 'fetched')",
    )?
    .exists(params![of.document.id, of.document.version.pdf, of.destination, of.document.round])
}

/// Changes the delivery, if it is in one of `states` and its document has not moved on. The parameters in `set` begin
/// at 6.
pub(super) fn update(
    db: &Connection,
    of: &Delivery,
    now: Millis,
    states: &str,
    set: &str,
    values: &[&dyn ToSql],
) -> QueryResult<bool> {
    let document = &of.document;
    let mut all: Vec<&dyn ToSql> = vec![&document.id, &document.version.pdf, &of.destination, &document.round, &now];
    all.extend(values);
    db.change(
        &format!(
            "UPDATE delivery SET {set}, changed_at = ?5
         WHERE document = ?1 AND pdf = ?2 AND destination = ?3 AND state IN {states}
           AND EXISTS (SELECT 1 FROM document WHERE id = ?1 AND round = ?4 AND state = 'fetched')"
        ),
        all.as_slice(),
    )
    .map(|updated| updated > 0)
}
