//! The log lines of a pause: an error when it begins, a warning each hour, and its length when it ends. Each is logged
//! once the ledger holds the change, so that whoever reads the log line finds the pause in the ledger.

use super::super::outages::{between, for_so_long};
use super::Scope;
use crate::ledger::{Millis, now, pauses};

/// The line of a pause that begins or goes on.
#[must_use = "it is to be said once the change is written"]
pub(in crate::pipeline) struct Line {
    pub(super) kept: pauses::Pause,
    pub(super) begins: bool,
    /// `Some` if people are to read it, with whether it is the pause's first such line.
    pub(super) tells: Option<bool>,
    pub(super) at: Millis,
}

impl Line {
    /// Writes the line to the log.
    pub(in crate::pipeline) fn say(&self) {
        let Self { kept, begins, tells, at } = self;
        let (scope, attempt, probe_in_ms, reason) = (&kept.scope, kept.attempts, kept.probe_at - at, &kept.reason);
        match tells {
            Some(true) => {
                tracing::error!(event = "paused", %scope, attempt, probe_in_ms, reason, "{scope} is paused: {reason}");
            }
            Some(false) => {
                let long = for_so_long(between(kept.since, *at));
                tracing::warn!(event = "still_paused", %scope, attempt, probe_in_ms, reason, "{scope} has been paused for {long}: {reason}");
            }
            None => {
                let event = if *begins { "paused" } else { "still_paused" };
                tracing::debug!(event, %scope, attempt, probe_in_ms, reason, "{scope} is paused: {reason}");
            }
        }
    }
}

/// The scope works again after a pause. `is_told`: a person was told of the failure, and is told of its end.
pub(super) fn say_that_it_works(scope: &Scope, since: Millis, is_told: bool) {
    let paused_ms = now().saturating_sub(since);
    let long = for_so_long(between(since, now()));
    if is_told {
        tracing::info!(event = "resumed", %scope, paused_ms, "{scope} works again after {long}");
    } else {
        tracing::debug!(event = "resumed", %scope, paused_ms, "{scope} works again after {long}");
    }
}
