//! What is known of the earlier attempts at the work that failed.

use std::time::Duration;

use crate::domain::failure::{Failure, Kind, Tried};
use crate::ledger::Millis;
use crate::ledger::work::{Tries, Work};
use crate::pipeline::pauses::Subject;
use crate::pipeline::transition_log::TransitionLog;

impl Tries {
    /// Whether the last failure was like this one, even if that one was retracted.
    fn failed_alike(&self, failure: &Failure) -> bool {
        self.failure.as_ref().is_some_and(|last| last == failure || Some(last) == failure.taken_back().as_ref())
    }

    /// As in [`Subject::refusals`].
    fn refusals(&self, failure: &Failure) -> u32 {
        if self.failed_alike(failure) { self.refusals } else { 0 }
    }

    /// The number of refusals, this failure included; `None` if it is no refusal.
    pub(super) fn refused(&self, failure: &Failure, good_since: bool) -> Option<u32> {
        let refusals = match self.refusals(failure) {
            0 => 1,
            before => before + u32::from(good_since),
        };
        failure.is_permanent().then_some(refusals)
    }

    /// The wait before this attempt and the attempt itself (`took`), in milliseconds. The wait counts only up to the
    /// due time: a pause, the time for which the machine was off, and a jump of the clock do not count.
    pub(in crate::pipeline) fn spent(&self, took: Millis, at: Millis) -> Millis {
        let until = self.due_at.map_or(self.changed_at, |due_at| due_at.min(at.saturating_sub(took)));
        let waited = if self.attempts == 0 { 0 } else { until.saturating_sub(self.changed_at).max(0) };
        waited.saturating_add(took)
    }
}

impl Work {
    /// Whether an earlier attempt may have delivered the document.
    pub(super) fn may_have_arrived(&self) -> bool {
        matches!(self, Work::Delivery(delivery) if delivery.is_uncertain())
    }

    pub(super) fn line(&self) -> TransitionLog<'_> {
        match self {
            Work::Document(document) => TransitionLog::of(&document.version),
            Work::Delivery(delivery) => TransitionLog::to(&delivery.document.version, &delivery.destination),
        }
    }

    pub(super) fn tried(&self, spent: Millis) -> Tried {
        let failing_for = self.tries().failing_for.saturating_add(spent);
        Tried {
            attempts: self.tries().attempts,
            doubtful: self.tries().doubtful,
            failing_for: Duration::from_millis(u64::try_from(failing_for).unwrap_or(0)),
            another_may: false,
        }
    }

    pub(super) fn subject(&self, failure: &Failure, origin: Option<String>, at: Millis) -> Subject {
        let (document, tries) = (self.document(), self.tries());
        let alike = tries.failed_alike(failure);
        let is_clear = matches!(failure.kind, Kind::Down(_) | Kind::Permanent(_));
        let known_for = u64::try_from(at.saturating_sub(document.found_at)).unwrap_or(0);
        Subject {
            document: document.id,
            // If the document had this permanent failure before, that one was retracted.
            first: is_clear || !alike,
            failed_at: match failure.kind {
                Kind::Down(_) => alike.then_some(document.found_at),
                Kind::Permanent(_) => alike.then_some(tries.changed_at),
                _ => tries.failing_since,
            },
            refusals: tries.refusals(failure),
            known_for: Duration::from_millis(known_for),
            origin,
        }
    }
}
