//! Documents that failed, and whose failure is not reported yet. They are kept back for a moment, and retracted if
//! others turn out to share the failure. What the API may know of stands (promise 5).

use rusqlite::{Connection, params};

use super::columns::Statements as _;
use super::documents::{Document, transition};
use super::history::Because;
use super::{Millis, QueryResult, deliveries};
use crate::domain::failure::{Call, Failure, Scope};
use crate::domain::state::{Event, State};

/// Keeps documents that failed in this way from being reported before `until`: those of the account, or with `None`
/// those of all accounts, as a destination belongs to every account.
pub fn hold(db: &Connection, account: Option<&str>, failure: &Failure, until: Millis) -> QueryResult<()> {
    db.run(
        "UPDATE document SET due_at = max(due_at, ?3)
         WHERE state = 'failing' AND failure_sent = 0 AND failure = ?2
           AND account IN (SELECT name FROM account WHERE ?1 IS NULL OR name = ?1)",
        params![account, failure, until],
    )
}

/// The daemon starts, and has forgotten what it knew of its scopes. All held failures are held until `until`, so that
/// equal failures from now on still count with them. Returns those that others may share, each with its scope and the
/// ledger's number of the document.
pub fn hold_anew(db: &Connection, until: Millis) -> QueryResult<Vec<(Scope, Failure, i64)>> {
    let documents: Vec<(String, Failure, i64)> = db.rows(
        "UPDATE document SET due_at = max(due_at, ?1)
         WHERE state = 'failing' AND failure_sent = 0 AND failure IS NOT NULL RETURNING account, failure, id",
        [until],
    )?;
    let reports: Vec<(String, Failure, i64)> = db.rows(
        // The time until now was no wait of the report's: the computer may have been off for a week.
        "UPDATE document SET failing_for = failing_for - max(0, ?1 - due_at), due_at = max(due_at, ?1)
         WHERE state IN ('delivered', 'failing') AND report_failure IS NOT NULL
         RETURNING account, report_failure, id",
        [until],
    )?;
    let deliveries: Vec<(String, Failure, i64)> = db.rows(
        "SELECT delivery.destination, delivery.failure, document.id
         FROM delivery INDEXED BY delivery_held JOIN document ON document.id = delivery.document
         WHERE delivery.state = 'failed' AND delivery.failure IS NOT NULL AND delivery.pdf = document.pdf
           AND (document.state = 'fetched' OR (document.state = 'failing' AND document.failure_sent = 0))",
        [],
    )?;
    // A document that failed by a delivery is among the deliveries.
    let documents = documents.into_iter().filter(|(_, failure, _)| failure.call != Call::Deliver);
    let of = |scope: fn(String) -> Scope| move |(name, failure, id)| (scope(name), failure, id);
    let held = documents.map(of(Scope::Fetch)).chain(reports.into_iter().map(of(Scope::Report)));
    let held = held.chain(deliveries.into_iter().map(of(Scope::Destination)));
    Ok(held.filter(|(_, failure, _)| failure.is_permanent()).collect())
}

/// To be called right before a failure is reported: from now on the API may know of it, whatever the answer, and the
/// failure stands. Returns whether it was sent before; `None` if there is nothing to report any more.
pub fn sending(db: &Connection, id: i64, round: i64) -> QueryResult<Option<bool>> {
    let before: Option<bool> = db.perhaps(
        "SELECT failure_sent <> 0 FROM document WHERE id = ?1 AND round = ?2 AND state = 'failing'",
        params![id, round],
    )?;
    if before == Some(false) {
        set_sent(db, id, true)?;
    }
    Ok(before)
}

/// The API has certainly not taken the report of the failure. If another account has the document now, a failure of the
/// first account is not reported: the new account asks the API itself. Returns the document's new state, if it changed.
pub fn was_not_sent(db: &Connection, document: &Document, now: Millis) -> QueryResult<Option<State>> {
    set_sent(db, document.id, false)?;
    let of_another: Option<Option<String>> = db.perhaps(
        "SELECT coalesce(failure, reason_code) FROM document WHERE id = ?1 AND account <> ?2",
        params![document.id, document.version.account],
    )?;
    let failure = of_another.flatten().as_deref().and_then(Failure::parse);
    if !failure.is_some_and(|failure| failure.is_of_account()) {
        return Ok(None);
    }
    transition(db, document.id, document.round, Event::Retracted, now, None)
}

fn set_sent(db: &Connection, id: i64, sent: bool) -> QueryResult<()> {
    db.run("UPDATE document SET failure_sent = ?2 WHERE id = ?1 AND state = 'failing'", params![id, sent])
}

/// The documents that ended by this failure are tried again, because the failure is the scope's, unless the API may
/// know of it. Returns the new states of the documents.
pub fn retract(
    db: &Connection,
    scope: &Scope,
    failure: &Failure,
    reason: &str,
    now: Millis,
) -> QueryResult<Vec<State>> {
    let mut states = Vec::new();
    let failing: Vec<(i64, i64)> = match scope {
        // The account's sign-in is checked before any of its documents can fail.
        Scope::Account(_) => return Ok(states),
        // A refused report ends nothing at once: it is sent again. The refusal stays known.
        Scope::Report(account) => {
            let Some(shared) = failure.taken_back() else { return Ok(states) };
            db.run(
                "UPDATE document SET report_failure = ?4, report_reason = NULL
                 WHERE state IN ('delivered', 'failing') AND account = ?1 AND due_at > ?3 AND report_failure = ?2",
                params![account, failure, now, shared],
            )?;
            return Ok(states);
        }
        Scope::Fetch(account) => db.rows(
            "SELECT id, round FROM document
             WHERE state = 'failing' AND failure_sent = 0 AND account = ?1 AND failure = ?2",
            params![account, failure],
        )?,
        Scope::Destination(name) => {
            let (fetched, failing) = deliveries::retract(db, name, failure, reason, now)?;
            states.resize(fetched, State::Fetched);
            failing
        }
    };
    for (id, round) in failing {
        let state =
            transition(db, id, round, Event::Retracted, now, Some(Because::coded(reason, Some(&failure.to_string()))))?;
        if state.is_some() {
            // Kept, so that the document counts only once among those with equal failures.
            let of_document = matches!(scope, Scope::Fetch(_)).then_some(failure);
            db.run(
                "UPDATE document SET reason_code = ?2, failure = ?3 WHERE id = ?1",
                params![id, failure, of_document],
            )?;
        }
        states.extend(state);
    }
    Ok(states)
}

#[cfg(test)]
mod tests;
