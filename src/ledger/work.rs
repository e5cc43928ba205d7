//! Work: a document to be fetched or reported, or a delivery. Which work of each scope is due.

use rusqlite::{Connection, params};

use super::columns::{Statements as _, as_json};
use super::deliveries::{self, Delivery};
use super::documents::{self, Document};
use super::failures::{self, Postponed};
use super::history::{self, Because};
use super::pauses::ProbeChoice;
use super::restored::if_read;
use super::tries::{self, Key};
use super::{Millis, QueryResult};
use crate::domain::document::Version;
use crate::domain::failure::{Failure, Scope};
use crate::domain::state::State;

pub use super::tries::Tries;

/// The work of a stage.
#[derive(Clone)]
pub enum Work {
    /// A document to be fetched or reported.
    Document(Box<Document>),
    /// A delivery.
    Delivery(Box<Delivery>),
}

impl From<&Document> for Work {
    fn from(document: &Document) -> Self {
        Work::Document(Box::new(document.clone()))
    }
}

impl From<&Delivery> for Work {
    fn from(delivery: &Delivery) -> Self {
        Work::Delivery(Box::new(delivery.clone()))
    }
}

impl Work {
    /// The document of the work.
    pub fn document(&self) -> &Document {
        match self {
            Work::Document(document) => document,
            Work::Delivery(delivery) => &delivery.document,
        }
    }

    /// The failed attempts.
    pub fn tries(&self) -> &Tries {
        match self {
            Work::Document(document) => &document.tries,
            Work::Delivery(delivery) => &delivery.tries,
        }
    }

    /// The version of the document.
    pub fn version(&self) -> &Version {
        &self.document().version
    }

    /// NAME of the destination; `None` for a document.
    pub fn destination(&self) -> Option<&str> {
        match self {
            Work::Document(_) => None,
            Work::Delivery(delivery) => Some(&delivery.destination),
        }
    }

    /// Whether another account took the document over during the call: the answer then says nothing about the new
    /// account.
    pub fn is_anothers(&self, db: &Connection) -> QueryResult<bool> {
        match self {
            Work::Document(document) => failures::is_anothers(db, document),
            Work::Delivery(_) => Ok(false),
        }
    }

    fn key(&self) -> Key<'_> {
        match self {
            Work::Document(document) => Key::tried(document.id, document.state),
            Work::Delivery(delivery) => delivery.key(),
        }
    }

    /// Records how often it was refused in the same way, with a success of other work before each time but the first.
    /// The time of the last change stays.
    pub fn refused(&self, db: &Connection, refusals: u32) -> QueryResult<()> {
        let Document { id, round, state, .. } = self.document();
        let is_as_before = documents::of_round(db, *id, *round, *state)?.is_some();
        if is_as_before { tries::change(db, self.key(), |row| row.refusals = refusals) } else { Ok(()) }
    }

    /// Leaves the work to be tried again.
    pub fn postpone(&self, db: &Connection, postponed: &Postponed<'_>, now: Millis) -> QueryResult<()> {
        let Postponed { due_at, reason, code, failure, charge } = postponed;
        let (document, tries) = (self.document(), self.tries());
        let (id, state) = (document.id, document.state);
        // What was due stays due, whatever the clock says now.
        let updated = match self {
            Work::Document(_) => db.change(
                "UPDATE document SET due_at = coalesce(?4, min(due_at, ?5)), changed_at = ?5
                 WHERE id = ?1 AND round = ?2 AND state = ?3",
                params![id, document.round, state, due_at, now],
            )?,
            Work::Delivery(delivery) => deliveries::put_off(db, delivery, *due_at, now)?,
        };
        // What a report waits for is not told where the API is told of a failure, or refused to hear.
        let is_refused = || state == State::Delivered && tries.failure.as_ref().is_some_and(Failure::is_permanent);
        let is_told = charge.is_some() || failure.is_some() || state != State::Failing && !is_refused();
        if updated == 0 || !is_told {
            return Ok(());
        }
        tries::change(db, self.key(), |row| row.postpone(postponed, now))?;
        let (event, attempt, is_news) = match (charge, self) {
            (Some(_), _) => {
                let attempt = tries.attempts + 1;
                ("postponed", attempt, postponed.is_news(attempt, tries.failure.as_ref()))
            }
            // A wait that repeats itself every minute is no news.
            (None, Work::Document(_)) => ("waiting", tries.attempts, tries.reason_code.as_deref() != *code),
            (None, Work::Delivery(_)) => return Ok(()),
        };
        if is_news {
            let because = Some(Because::coded(reason, *code));
            history::append(db, (id, self.destination()), now, event, state, attempt, because)?;
        }
        Ok(())
    }
}

/// Where the open work of a scope lies, as SQL.
struct Lane {
    /// The table that says when the work is due.
    table: &'static str,
    /// Which of its rows. `?1` is NAME of the account or destination.
    which: &'static str,
    /// Joins the document in the version that the work is for, if it is in another table.
    join: &'static str,
    /// The row of `retry_state` for the work, if it failed or waited before.
    tried: &'static str,
}

/// `None` for an account as a whole, which only its polls work on.
fn lane(scope: &Scope) -> Option<Lane> {
    match scope {
        Scope::Account(_) => None,
        Scope::Fetch(_) => Some(Lane {
            table: "document",
            which: if_read!("document.lane = 'fetch' AND document.account = ?1"),
            join: "",
            tried: "retry_state.document = document.id AND work = 'fetch:' AND retry_state.pdf = ''",
        }),
        Scope::Report(_) => Some(Lane {
            table: "document",
            which: if_read!("document.lane = 'report' AND document.account = ?1"),
            join: "",
            tried: "retry_state.document = document.id AND work = 'report:' AND retry_state.pdf = ''",
        }),
        Scope::Destination(_) => Some(Lane {
            table: "delivery",
            which: "delivery.state = 'pending' AND delivery.destination = ?1",
            join: if_read!(
                "JOIN document ON document.id = delivery.document AND document.pdf = delivery.pdf
                 AND document.state = 'fetched'"
            ),
            tried: "retry_state.document = delivery.document AND work = destination AND retry_state.pdf = delivery.pdf",
        }),
    }
}

/// The documents of up to `limit` pieces of work that are due in the scope, and whether each failed before. The one
/// that is due longest comes first; documents that were last seen without a PDF come last. If there are `limit` of them,
/// up to as many that never failed follow: a place is kept for those.
pub fn due(db: &Connection, scope: &Scope, now: Millis, limit: usize) -> QueryResult<Vec<(i64, bool)>> {
    let Some(Lane { table, which, join, tried }) = lane(scope) else { return Ok(Vec::new()) };
    let due = |more: &str, limit: usize| -> QueryResult<Vec<(i64, bool)>> {
        db.rows(
            &format!(
                "SELECT document.id, ifnull(attempts, 0) > 0 FROM {table} {join} LEFT JOIN retry_state ON {tried}
                 WHERE {which} AND {table}.due_at <= ?2 AND {more} ORDER BY {table}.due_at LIMIT ?3"
            ),
            params![scope.name(), now, limit],
        )
    };
    let mut found = due("reason_code IS NOT 'not_rendered'", limit)?;
    if found.len() < limit {
        found.extend(due("reason_code IS 'not_rendered'", limit - found.len())?);
    } else if found.iter().any(|(_, has_failed)| *has_failed) {
        let mut others = due("reason_code IS NOT 'not_rendered' AND ifnull(attempts, 0) = 0", limit)?;
        others.retain(|other| !found.contains(other));
        found.extend(others);
    }
    Ok(found)
}

/// The work of the scope on this document; `None` if there is nothing to do.
pub fn of(db: &Connection, scope: &Scope, document: i64) -> QueryResult<Option<Work>> {
    match scope {
        Scope::Destination(name) => {
            Ok(deliveries::pending(db, name, document)?.map(|delivery| Work::Delivery(Box::new(delivery))))
        }
        _ => Ok(documents::by_number(db, document)?.map(|document| Work::Document(Box::new(document)))),
    }
}

/// The due work to probe the pause of the scope with, chosen by [`ProbeChoice`], except `but`, which is in flight.
pub fn probe(db: &Connection, scope: &Scope, now: Millis, by: ProbeChoice, but: &[i64]) -> QueryResult<Option<Work>> {
    let Some(Lane { table, which, join, tried }) = lane(scope) else { return Ok(None) };
    let (fresh, same) = (by == ProbeChoice::Fresh, by == ProbeChoice::Same);
    let chosen: Option<i64> = db.perhaps(
        &format!(
            "SELECT document.id FROM {table} {join} LEFT JOIN retry_state ON {tried}
             WHERE {which} AND {table}.due_at <= ?2 AND document.id NOT IN (SELECT value FROM json_each(?3))
             ORDER BY (coalesce(failure, reason_code) IS NULL) IS NOT ?4,
                      CASE WHEN ?4 AND coalesce(failure, reason_code) IS NULL THEN -document.id
                           WHEN ?5 THEN ifnull(attempts, 0) ELSE {table}.changed_at END, document.id
             LIMIT 1"
        ),
        params![scope.name(), now, as_json(but), fresh, same],
    )?;
    chosen.map_or(Ok(None), |document| of(db, scope, document))
}

/// The next time after `now` at which work of the scope becomes due.
pub fn next_due(db: &Connection, scope: &Scope, now: Millis) -> QueryResult<Option<Millis>> {
    let Some(Lane { table, which, join, .. }) = lane(scope) else { return Ok(None) };
    db.perhaps(
        &format!(
            "SELECT {table}.due_at FROM {table} {join} WHERE {which} AND {table}.due_at > ?2
             ORDER BY {table}.due_at LIMIT 1"
        ),
        params![scope.name(), now],
    )
}

/// Makes due what failed in the same way before the pause of the scope, which has ended.
pub fn due_again(db: &Connection, scope: &Scope, failure: &Failure, now: Millis) -> QueryResult<()> {
    let Some(Lane { table, which, tried, .. }) = lane(scope) else { return Ok(()) };
    db.run(
        &format!(
            "UPDATE {table} SET due_at = ?2 WHERE {which} AND {table}.due_at > ?2
               AND EXISTS (SELECT 1 FROM retry_state WHERE {tried} AND failure = ?3)"
        ),
        params![scope.name(), now, failure],
    )
}
