//! What is known of one scope, and of its pause.

use std::collections::{HashMap, HashSet};

use crate::failure::{self, Failure, Kind};
use crate::ledger::{Millis, now, pauses};

use super::{CANDIDATE_PART, CANDIDATE_TRIES};

/// What is known of a scope.
#[derive(Default)]
pub(super) struct Known {
    /// The last failure, and the documents that failed so for the first time since anything last worked.
    pub(super) failure: Option<Failure>,
    pub(super) alike: HashSet<i64>,
    /// When the first of these failed.
    pub(super) alike_since: Millis,
    /// When what last worked had begun: of what failed while it was under way it says nothing.
    pub(super) last_good_at: Option<Millis>,
    /// When the last pause ended.
    pub(super) resumed_at: Option<Millis>,
    /// When each origin was last asked for a PDF that was good.
    pub(super) good_origins: HashMap<String, Millis>,
    /// Since when it failed, where a person was told so, and its pause ended though nothing has worked since.
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
        // More would decide nothing.
        if first && self.alike.len() < failure::ALIKE_PERMANENT {
            self.alike.insert(document);
        }
    }
}

#[derive(Default)]
pub(super) struct Pause {
    /// What the ledger is told of it.
    pub(super) kept: pauses::Pause,
    /// While a probe is under way: with which document, if it is one.
    pub(super) probing: Option<Option<i64>>,
    /// Whether a person asked for a probe while this one was under way: it may have begun before what they mended.
    pub(super) probe_again: bool,
    /// When a log line last spoke of it; `None` while another scope of the account speaks of the same.
    pub(super) told_at: Option<Millis>,
    /// Probes since the last one that failed, which neither failed nor worked: a PDF that is not rendered yet.
    pub(super) silent: u32,
    /// Until then the server asked to be left alone: what was under way when it did so may succeed, and ends nothing.
    pub(super) asked_until: Option<Millis>,
}

impl Pause {
    /// It is probed now, and once more where a probe is under way.
    pub(super) fn probe_now(&mut self) {
        self.kept.probe_at = 0;
        // Whoever asks now believes that it works again: then it does.
        self.asked_until = None;
        self.probe_again = self.probing.is_some();
    }

    /// The document that it is probed with until it has had its tries.
    pub(super) fn candidate(&self) -> Option<i64> {
        let tries = CANDIDATE_TRIES.max(self.kept.attempts / CANDIDATE_PART);
        self.kept.candidate.filter(|_| self.kept.candidate_tries < tries)
    }

    fn turn(&self) -> u32 {
        self.kept.attempts.saturating_add(self.silent)
    }

    /// Whether something that was never tried is to be the next probe. Who is told to wait hears it of any document:
    /// the one that was told so first says the least.
    pub(super) fn wants_fresh(&self) -> bool {
        self.turn().is_multiple_of(2) || (self.is_down() && self.silent == 0)
    }

    /// Whether that is what came last: what waits for longest may be many bad ones.
    pub(super) fn wants_newest(&self) -> bool {
        self.turn() % 4 >= 2 && self.wants_fresh()
    }

    /// Whether the other side as a whole said so, and not several documents.
    pub(super) fn is_down(&self) -> bool {
        matches!(&self.kept.failure, Some(Failure { kind: Kind::Down(_), .. }))
    }
}
