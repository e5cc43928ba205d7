//! What failed: a document or its delivery to one destination.

use std::time::Duration;

use rusqlite::Connection;

use crate::document::Version;
use crate::failure::{Failure, Kind, Tried};
use crate::ledger::deliveries::{self, Delivery};
use crate::ledger::documents::Document;
use crate::ledger::failures::{self, Postponed};
use crate::ledger::{Millis, QueryResult};
use crate::pipeline::pauses::Subject;
use crate::pipeline::transition_log::TransitionLog;
use crate::state::State;

/// What failed.
#[derive(Clone, Copy)]
pub enum Work<'a> {
    Document(&'a Document),
    Delivery(&'a Delivery),
}

impl Work<'_> {
    pub(in crate::pipeline) fn document(&self) -> &Document {
        match self {
            Work::Document(document) => document,
            Work::Delivery(delivery) => &delivery.document,
        }
    }

    pub(in crate::pipeline) fn attempts(&self) -> u32 {
        match self {
            Work::Document(document) => document.attempts,
            Work::Delivery(delivery) => delivery.attempts,
        }
    }

    /// Whether an attempt before this one may have delivered it.
    pub(super) fn may_have_arrived(&self) -> bool {
        matches!(self, Work::Delivery(delivery) if delivery.is_uncertain())
    }

    pub(super) fn line(&self) -> TransitionLog<'_> {
        TransitionLog::of(self.version()).to(self.destination())
    }

    pub(in crate::pipeline) fn destination(&self) -> Option<&str> {
        match self {
            Work::Document(_) => None,
            Work::Delivery(delivery) => Some(&delivery.destination),
        }
    }

    pub(super) fn version(&self) -> &Version {
        &self.document().version
    }

    /// The failure before this one.
    fn last_failure(&self) -> Option<&Failure> {
        match self {
            Work::Delivery(delivery) => delivery.failure.as_ref(),
            Work::Document(document) if document.state == State::Discovered => document.failure.as_ref(),
            Work::Document(document) => document.report_failure.as_ref(),
        }
    }

    /// Whether it failed so before, also where that was taken back.
    fn failed_alike(&self, failure: &Failure) -> bool {
        self.last_failure().is_some_and(|last| last == failure || Some(last) == failure.taken_back().as_ref())
    }

    /// As in [`Subject::refusals`].
    fn refusals(&self, failure: &Failure) -> u32 {
        let refusals = match self {
            Work::Document(document) => document.refusals,
            Work::Delivery(delivery) => delivery.refusals,
        };
        if self.failed_alike(failure) { refusals } else { 0 }
    }

    /// The same with this failure; `None` for one that is no refusal.
    pub(super) fn refused(&self, failure: &Failure, good_since: bool) -> Option<u32> {
        let refusals = match self.refusals(failure) {
            0 => 1,
            before => before + u32::from(good_since),
        };
        failure.is_permanent().then_some(refusals)
    }

    /// The wait before this attempt, which took so long, and the attempt itself; milliseconds. No more than was to be waited
    /// for counts: not a pause, not the time for which the machine was off, nor what a clock jumped.
    pub(in crate::pipeline) fn spent(&self, took: Millis, at: Millis) -> Millis {
        let (changed_at, due_at) = match self {
            Work::Document(document) => (document.changed_at, document.due_at),
            Work::Delivery(delivery) => (delivery.changed_at, delivery.due_at),
        };
        let until = due_at.map_or(changed_at, |due_at| due_at.min(at.saturating_sub(took)));
        let waited = if self.attempts() == 0 { 0 } else { until.saturating_sub(changed_at).max(0) };
        waited.saturating_add(took)
    }

    pub(super) fn tried(&self, spent: Millis) -> Tried {
        let before = match self {
            Work::Document(document) => document.failing_for,
            Work::Delivery(delivery) => delivery.failing_for,
        };
        let failing_for = before.saturating_add(spent);
        Tried {
            attempts: self.attempts(),
            doubtful: self.document().strikes,
            failing_for: Duration::from_millis(u64::try_from(failing_for).unwrap_or(0)),
            another_may: false,
        }
    }

    pub(super) fn subject(&self, failure: &Failure, origin: Option<String>, at: Millis) -> Subject {
        let alike = self.failed_alike(failure);
        let failing_since = match self {
            Work::Document(document) => document.failing_since,
            Work::Delivery(delivery) => delivery.failing_since,
        };
        let is_clear = matches!(failure.kind, Kind::Down(_) | Kind::Permanent(_));
        let changed_at = match self {
            Work::Document(document) => document.changed_at,
            Work::Delivery(delivery) => delivery.changed_at,
        };
        let known_for = u64::try_from(at.saturating_sub(self.document().found_at)).unwrap_or(0);
        Subject {
            document: self.document().id,
            // A permanent failure that it had before was taken back.
            first: is_clear || !alike,
            failed_at: match failure.kind {
                Kind::Down(_) => alike.then_some(self.document().found_at),
                Kind::Permanent(_) => alike.then_some(changed_at),
                _ => failing_since,
            },
            refusals: self.refusals(failure),
            known_for: Duration::from_millis(known_for),
            origin,
        }
    }

    pub(super) fn owned(&self) -> Owned {
        match self {
            Work::Document(document) => Owned::Document(Box::new((*document).clone())),
            Work::Delivery(delivery) => Owned::Delivery(Box::new((*delivery).clone())),
        }
    }
}

/// The work, as a query takes it along.
pub(super) enum Owned {
    Document(Box<Document>),
    Delivery(Box<Delivery>),
}

impl Owned {
    /// Whether another account took the document over while this one's was asked: what that was answered is not said of it.
    pub(super) fn is_anothers(&self, db: &Connection) -> QueryResult<bool> {
        match self {
            Owned::Document(document) => failures::is_anothers(db, document),
            Owned::Delivery(_) => Ok(false),
        }
    }

    /// Notes how often it was refused, as in [`Subject::refusals`].
    pub(super) fn refused(&self, db: &Connection, refusals: u32) -> QueryResult<()> {
        match self {
            Owned::Document(document) => failures::refused(db, document.id, document.round, refusals),
            Owned::Delivery(delivery) => deliveries::refused(db, delivery, refusals),
        }
    }

    pub(super) fn postpone(&self, db: &Connection, postponed: &Postponed<'_>, at: Millis) -> QueryResult<()> {
        match self {
            Owned::Document(document) => failures::postpone(db, document, postponed, at),
            Owned::Delivery(delivery) => deliveries::postpone(db, delivery, postponed, at),
        }
    }
}
