//! Work: a document to be fetched or reported, or a delivery. Which work of each scope is due.

use rusqlite::{Connection, params};

use super::columns::{Statements as _, as_json};
use super::deliveries::{self, Delivery};
use super::documents::{self, Document};
use super::failures::{self, Postponed};
use super::pauses::ProbeChoice;
use super::restored::if_read;
use super::{Millis, QueryResult};
use crate::domain::document::Version;
use crate::domain::failure::{Failure, Scope};

/// What is known of the failed attempts at a piece of work.
#[derive(Clone)]
pub struct Tries {
    /// Failed attempts that counted.
    pub attempts: u32,
    /// When the first of them failed or began.
    pub failing_since: Option<Millis>,
    /// How long it was tried; milliseconds. Pauses and the time that the machine was off do not count.
    pub failing_for: Millis,
    /// The last failure.
    pub failure: Option<Failure>,
    /// How often it was refused in the same way, with a success of other work before each time but the first.
    pub refusals: u32,
    /// When anything about the work last changed.
    pub changed_at: Millis,
    /// When it was due, if it was.
    pub due_at: Option<Millis>,
}

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

    /// Records how often it was refused in the same way, with a success of other work before each time but the first.
    /// The time of the last change stays.
    pub fn refused(&self, db: &Connection, refusals: u32) -> QueryResult<()> {
        let document = self.document();
        match self.destination() {
            None => db.run(
                "UPDATE document SET refusals = ?3 WHERE id = ?1 AND round = ?2",
                params![document.id, document.round, refusals],
            ),
            Some(destination) => db.run(
                "UPDATE delivery SET refusals = ?4 WHERE document = ?1 AND pdf = ?2 AND destination = ?3",
                params![document.id, document.version.pdf, destination, refusals],
            ),
        }
    }

    /// Leaves the work to be tried again.
    pub fn postpone(&self, db: &Connection, postponed: &Postponed<'_>, now: Millis) -> QueryResult<()> {
        match self {
            Work::Document(document) => failures::postpone(db, document, postponed, now),
            Work::Delivery(delivery) => deliveries::postpone(db, delivery, postponed, now),
        }
    }
}

/// Where the open work of a scope lies, as SQL.
struct Lane {
    /// The table that says how the work stands.
    table: &'static str,
    /// Which of its rows. `?1` is NAME of the account or destination.
    which: &'static str,
    /// Joins the document in the version that the work is for, if it is in another table.
    join: &'static str,
    /// The last failure of the work.
    failure: &'static str,
    /// Why the work waits or failed; NULL if it was never tried.
    tried: &'static str,
}

/// `None` for an account as a whole, which only its polls work on.
fn lane(scope: &Scope) -> Option<Lane> {
    match scope {
        Scope::Account(_) => None,
        Scope::Fetch(_) => Some(Lane {
            table: "document",
            which: if_read!("document.state = 'discovered' AND document.account = ?1"),
            join: "",
            failure: "document.failure",
            tried: "coalesce(document.failure, document.reason_code)",
        }),
        Scope::Report(_) => Some(Lane {
            table: "document",
            which: if_read!("document.state IN ('delivered', 'failing') AND document.account = ?1"),
            join: "",
            failure: "document.report_failure",
            tried: "document.report_failure",
        }),
        Scope::Destination(_) => Some(Lane {
            table: "delivery",
            which: "delivery.state = 'pending' AND delivery.destination = ?1",
            join: if_read!(
                "JOIN document ON document.id = delivery.document AND document.pdf = delivery.pdf
                 AND document.state = 'fetched'"
            ),
            failure: "delivery.failure",
            tried: "coalesce(delivery.failure, delivery.reason_code)",
        }),
    }
}

/// The documents of up to `limit` pieces of work that are due in the scope, and whether each failed before. The one
/// that is due longest comes first; documents that were last seen without a PDF come last. If there are `limit` of them,
/// up to as many that never failed follow: a place is kept for those.
pub fn due(db: &Connection, scope: &Scope, now: Millis, limit: usize) -> QueryResult<Vec<(i64, bool)>> {
    let Some(Lane { table, which, join, .. }) = lane(scope) else { return Ok(Vec::new()) };
    let due = |more: &str, limit: usize| -> QueryResult<Vec<(i64, bool)>> {
        db.rows(
            &format!(
                "SELECT document.id, {table}.attempts > 0 FROM {table} {join}
                 WHERE {which} AND {table}.due_at <= ?2 AND {more} ORDER BY {table}.due_at LIMIT ?3"
            ),
            params![scope.name(), now, limit],
        )
    };
    let mut found = due("document.reason_code IS NOT 'not_rendered'", limit)?;
    if found.len() < limit {
        found.extend(due("document.reason_code IS 'not_rendered'", limit - found.len())?);
    } else if found.iter().any(|(_, has_failed)| *has_failed) {
        let never_failed = format!("document.reason_code IS NOT 'not_rendered' AND {table}.attempts = 0");
        let mut others = due(&never_failed, limit)?;
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
    let Some(Lane { table, which, join, tried, .. }) = lane(scope) else { return Ok(None) };
    let (fresh, same) = (by == ProbeChoice::Fresh, by == ProbeChoice::Same);
    let chosen: Option<i64> = db.perhaps(
        &format!(
            "SELECT document.id FROM {table} {join}
             WHERE {which} AND {table}.due_at <= ?2 AND document.id NOT IN (SELECT value FROM json_each(?3))
             ORDER BY ({tried} IS NULL) IS NOT ?4,
                      CASE WHEN ?4 AND {tried} IS NULL THEN -document.id WHEN ?5 THEN {table}.attempts
                           ELSE {table}.changed_at END, document.id
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
    let Some(Lane { table, which, failure: last, .. }) = lane(scope) else { return Ok(()) };
    db.run(
        &format!("UPDATE {table} SET due_at = ?2 WHERE {which} AND {table}.due_at > ?2 AND {last} = ?3"),
        params![scope.name(), now, failure],
    )
}
