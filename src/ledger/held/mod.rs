//! Documents that failed, and whose failure is not reported yet. They are kept back for a moment, and retracted if
//! others turn out to share the failure. What the API may know of stands (promise 5).

use rusqlite::{Connection, params};

use super::columns::Statements as _;
use super::documents::{self, Document, transition};
use super::history::Because;
use super::tries::{self, Key};
use super::{Millis, QueryResult, deliveries, failures};
use crate::domain::failure::{Call, Failure, Scope};
use crate::domain::state::{Event, State};

/// Keeps documents that failed in this way from being reported before `until`: those of the account, or with `None`
/// those of all accounts, as a destination belongs to every account.
pub fn hold(db: &Connection, account: Option<&str>, failure: &Failure, until: Millis) -> QueryResult<()> {
    db.run(
        "UPDATE document SET due_at = max(due_at, ?3)
         WHERE lane = 'report' AND state = 'failing' AND due_at IS NOT NULL AND failure_sent = 0
           AND account IN (SELECT name FROM account WHERE ?1 IS NULL OR name = ?1)
           AND EXISTS (SELECT 1 FROM retry_state WHERE document = id AND work = 'fetch:' AND failure = ?2)",
        params![account, failure, until],
    )
}

/// The daemon starts, and has forgotten what it knew of its scopes. All held failures are held until `until`, so that
/// equal failures from now on still count with them. Returns those that others may share, each with its scope and the
/// ledger's number of the document.
pub fn hold_anew(db: &Connection, until: Millis) -> QueryResult<Vec<(Scope, Failure, i64)>> {
    let documents: Vec<(String, Failure, i64)> = db.rows(
        "SELECT account, failure, id FROM document JOIN retry_state ON document = id AND work = 'fetch:'
         WHERE state = 'failing' AND due_at IS NOT NULL AND failure_sent = 0 AND failure IS NOT NULL",
        [],
    )?;
    let reports: Vec<(String, Failure, i64)> = db.rows(
        "SELECT account, failure, id FROM document JOIN retry_state ON document = id AND work = 'report:'
         WHERE state IN ('delivered', 'failing') AND due_at IS NOT NULL AND failure IS NOT NULL",
        [],
    )?;
    // The time until now was no wait of the report's: the computer may have been off for a week.
    for (.., id) in &reports {
        let due_at = documents::by_number(db, *id)?.and_then(|document| document.tries.due_at).unwrap_or(until);
        tries::change(db, Key::report(*id), |row| row.failing_for -= until.saturating_sub(due_at).max(0))?;
    }
    for (.., id) in documents.iter().chain(&reports) {
        db.run("UPDATE document SET due_at = max(due_at, ?2) WHERE id = ?1", params![id, until])?;
    }
    let deliveries: Vec<(String, Failure, i64)> = db.rows(
        "SELECT destination, failure, document.id FROM retry_state INDEXED BY retry_state_failure
         CROSS JOIN delivery ON delivery.document = retry_state.document AND delivery.pdf = retry_state.pdf
              AND delivery.destination = work
         CROSS JOIN document ON document.id = delivery.document
         WHERE failure IS NOT NULL AND +delivery.state = 'failed' AND delivery.pdf = document.pdf
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
    let failure = tries::of(db, Key::fetch(document.id))?.last_failure();
    if !failures::is_anothers(db, document)? || !failure.is_some_and(|failure| failure.is_of_account()) {
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
    let (work, account) = match scope {
        // The account's sign-in is checked before any of its documents can fail.
        Scope::Account(_) => return Ok(states),
        // A refused report ends nothing at once: it is sent again. The refusal stays known.
        Scope::Report(account) => {
            let Some(shared) = failure.taken_back() else { return Ok(states) };
            db.run(
                "UPDATE retry_state SET failure = ?4 WHERE work = 'report:' AND failure = ?2 AND document IN (
                     SELECT id FROM document
                     WHERE lane = 'report' AND account = ?1 AND due_at > ?3)",
                params![account, failure, now, shared],
            )?;
            return Ok(states);
        }
        Scope::Fetch(account) => ("fetch:", Some(account)),
        Scope::Destination(name) => (name.as_str(), None),
    };
    let held: Vec<i64> = db.values(
        "SELECT id FROM retry_state INDEXED BY retry_state_failure JOIN document ON id = retry_state.document
         LEFT JOIN delivery ON delivery.document = id AND delivery.pdf = document.pdf AND destination = work
         WHERE work = ?1 AND failure = ?2 AND account = ifnull(?3, account)
           AND retry_state.pdf = ifnull(delivery.pdf, '') AND ifnull(delivery.state, 'failed') = 'failed'
           AND (document.state = 'fetched' OR (document.state = 'failing' AND failure_sent = 0))",
        params![work, failure, account],
    )?;
    let code = failure.to_string();
    for id in held {
        let Some(document) = documents::by_number(db, id)? else { continue };
        if document.state == State::Fetched {
            deliveries::retract(db, &document, work, (reason, &code), now)?;
            states.push(State::Fetched);
            continue;
        }
        let because = Some(Because::coded(reason, Some(&code)));
        states.extend(transition(db, id, document.round, Event::Retracted, now, because)?);
        if account.is_some() {
            // Kept, so that the document counts only once among those with equal failures.
            tries::change(db, Key::fetch(id), |row| row.failure = Some(failure.clone()))?;
        }
    }
    Ok(states)
}

#[cfg(test)]
mod tests;
