//! Work: a document to be fetched or reported, or a delivery. Which work is due in each scope.

use rusqlite::Connection;

use super::deliveries::{self, Delivery};
use super::documents::{self, Document};
use super::failures::{self, Postponed};
use super::pauses::ProbeChoice;
use super::{Millis, QueryResult};
use crate::document::Version;
use crate::failure::{Failure, Scope};
use crate::state::State;

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

impl From<Document> for Work {
    fn from(document: Document) -> Self {
        Work::Document(Box::new(document))
    }
}

impl From<&Document> for Work {
    fn from(document: &Document) -> Self {
        document.clone().into()
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
    ///
    /// # Errors
    /// Any SQLite error.
    pub fn is_anothers(&self, db: &Connection) -> QueryResult<bool> {
        match self {
            Work::Document(document) => failures::is_anothers(db, document),
            Work::Delivery(_) => Ok(false),
        }
    }

    /// Records how often it was refused in the same way, with a success of other work before each time but the first.
    ///
    /// # Errors
    /// Any SQLite error.
    pub fn refused(&self, db: &Connection, refusals: u32) -> QueryResult<()> {
        match self {
            Work::Document(document) => failures::refused(db, document.id, document.round, refusals),
            Work::Delivery(delivery) => deliveries::refused(db, delivery, refusals),
        }
    }

    /// Leaves the work to be tried again.
    ///
    /// # Errors
    /// Any SQLite error.
    pub fn postpone(&self, db: &Connection, postponed: &Postponed<'_>, now: Millis) -> QueryResult<()> {
        match self {
            Work::Document(document) => failures::postpone(db, document, postponed, now),
            Work::Delivery(delivery) => deliveries::postpone(db, delivery, postponed, now),
        }
    }
}

/// The states of the documents that the scope works on; none for a destination.
fn states(scope: &Scope) -> &'static [State] {
    match scope {
        Scope::Fetch(_) => &[State::Discovered],
        Scope::Report(_) => &[State::Delivered, State::Failing],
        Scope::Account(_) | Scope::Destination(_) => &[],
    }
}

/// The documents of the work that is due in the scope, and whether each failed before. The one that is due longest
/// comes first.
///
/// # Errors
/// Any SQLite error.
pub fn due(db: &Connection, scope: &Scope, now: Millis, limit: usize) -> QueryResult<Vec<(i64, bool)>> {
    if let Scope::Destination(name) = scope {
        return deliveries::due(db, name, now, limit);
    }
    let mut due = Vec::new();
    for state in states(scope) {
        due.extend(documents::due(db, *state, scope.name(), now, limit)?);
    }
    Ok(due)
}

/// The work of the scope on this document; `None` if there is nothing to do.
///
/// # Errors
/// Any SQLite error.
pub fn of(db: &Connection, scope: &Scope, document: i64) -> QueryResult<Option<Work>> {
    match scope {
        Scope::Destination(name) => Ok(deliveries::pending(db, name, document)?.as_ref().map(Work::from)),
        _ => Ok(documents::by_number(db, document)?.map(Work::from)),
    }
}

/// The work to probe the pause of the scope with, except `but`, which is in flight.
///
/// # Errors
/// Any SQLite error.
pub fn probe(db: &Connection, scope: &Scope, now: Millis, by: ProbeChoice, but: &[i64]) -> QueryResult<Option<Work>> {
    match (scope, states(scope)) {
        (Scope::Destination(name), _) => Ok(deliveries::probe(db, name, now, by, but)?.as_ref().map(Work::from)),
        (_, [state, others @ ..]) => {
            let states = [*state, *others.last().unwrap_or(state)];
            Ok(documents::probe(db, states, scope.name(), now, by, but)?.map(Work::from))
        }
        _ => Ok(None),
    }
}

/// The next time after `now` at which work of the scope becomes due.
///
/// # Errors
/// Any SQLite error.
pub fn next_due(db: &Connection, scope: &Scope, now: Millis) -> QueryResult<Option<Millis>> {
    if let Scope::Destination(name) = scope {
        return deliveries::next_due(db, name, now);
    }
    let mut earliest = None;
    for state in states(scope) {
        earliest = earliest.into_iter().chain(documents::next_due(db, *state, scope.name(), now)?).min();
    }
    Ok(earliest)
}
