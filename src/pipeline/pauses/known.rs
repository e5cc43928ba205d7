//! What is known of one scope, and of its pause.

use std::collections::{HashMap, HashSet};

use crate::failure::{self, Failure, Kind};
use crate::ledger::{Millis, now, pauses};

use super::{CANDIDATE_PART, CANDIDATE_TRIES};

/// What is known of a scope.
#[derive(Default)]
pub(super) struct Known {
    /// The last failure, and the documents that failed so for the first time since the last success.
    pub(super) failure: Option<Failure>,
    pub(super) alike: HashSet<i64>,
    /// When the first of these documents failed.
    pub(super) alike_since: Millis,
    /// When the last success began. It says nothing of failures during that work.
    pub(super) last_good_at: Option<Millis>,
    /// When the last pause ended.
    pub(super) resumed_at: Option<Millis>,
    /// When each origin was last asked for a PDF that turned out to be good.
    pub(super) good_origins: HashMap<String, Millis>,
    /// When the present outage began, if a person was told of it and its pause ended with no success since.
    pub(super) untold: Option<Millis>,
    pub(super) pause: Option<Pause>,
}

impl Known {
    /// The document failed so; `first` as in [`Subject`].
    pub(super) fn failed_so(&mut self, failure: &Failure, document: i64, first: bool) {
        if self.failure.as_ref() != Some(failure) {
            self.alike.clear();
            self.failure = Some(failure.clone());
        }
        if self.alike.is_empty() {
            self.alike_since = now();
        }
        // More documents would not change the decision.
        if first && self.alike.len() < failure::ALIKE_PERMANENT {
            self.alike.insert(document);
        }
    }
}

#[derive(Default)]
pub(super) struct Pause {
    /// The part that the ledger keeps.
    pub(super) kept: pauses::Pause,
    /// While a probe is under way: its document, if it has one.
    pub(super) probing: Option<Option<i64>>,
    /// Whether a person asked for a probe while one was under way. That probe may have begun before the person mended
    /// the fault.
    pub(super) probe_again: bool,
    /// When a log line last told of the pause; `None` while another scope of the account tells of the same failure.
    pub(super) told_at: Option<Millis>,
    /// How many probes since the last failed one neither failed nor succeeded, such as a PDF that is not rendered yet.
    pub(super) silent: u32,
    /// Until when the server asked to be left alone. Work that was already under way may succeed, and does not end the
    /// pause.
    pub(super) asked_until: Option<Millis>,
}

impl Pause {
    /// Makes the pause be probed now, and once more if a probe is under way.
    pub(super) fn probe_now(&mut self) {
        self.kept.probe_at = 0;
        // Whoever asks now believes that the server works again, so the server's request does not count any more.
        self.asked_until = None;
        self.probe_again = self.probing.is_some();
    }

    /// The document that the pause is probed with until it has had its tries.
    pub(super) fn candidate(&self) -> Option<i64> {
        let tries = CANDIDATE_TRIES.max(self.kept.attempts / CANDIDATE_PART);
        self.kept.candidate.filter(|_| self.kept.candidate_tries < tries)
    }

    fn turn(&self) -> u32 {
        self.kept.attempts.saturating_add(self.silent)
    }

    /// Whether the next probe is to be work that was never tried. A server that tells its callers to wait says so for
    /// any document, and the document that was told so first shows the least.
    pub(super) fn wants_fresh(&self) -> bool {
        self.turn().is_multiple_of(2) || (self.is_down() && self.silent == 0)
    }

    /// Whether the next probe is to be the newest such work: those that have waited longest may be many bad ones.
    pub(super) fn wants_newest(&self) -> bool {
        self.turn() % 4 >= 2 && self.wants_fresh()
    }

    /// Whether the other side said that it is down as a whole, and not just several documents failed.
    pub(super) fn is_down(&self) -> bool {
        matches!(&self.kept.failure, Some(Failure { kind: Kind::Down(_), .. }))
    }
}
