//! What is known of one scope, and of its pause.

use std::collections::{HashMap, HashSet};

use crate::domain::failure::{self, Failure};
use crate::ledger::pauses::{self, ProbeChoice};
use crate::ledger::{Millis, now};

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
    /// The number of the next probe. After a restart the turns go on about where they stood.
    pub(super) probes: u32,
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

    /// Which work the next probe is to be.
    pub(super) fn next_probe(&self) -> ProbeChoice {
        match self.probes % 4 {
            1 => ProbeChoice::Same,
            3 => ProbeChoice::Longest,
            _ => ProbeChoice::Fresh,
        }
    }
}
