//! What the log says of a pause: an error when it begins, a warning an hour, and when it is over with its length. Each
//! is said once it stands in the ledger: who reads the one finds the other.

use super::Scope;
use crate::ledger::{Millis, now, pauses};
use crate::pipeline::outages::{between, for_so_long};

/// A line of the log.
#[must_use = "it is to be said once the change is written"]
pub(in crate::pipeline) enum Line {
    None,
    /// It begins or goes on. `tells` is of the lines that a person reads: whether it is the first of this pause.
    Paused {
        kept: pauses::Pause,
        begins: bool,
        tells: Option<bool>,
        at: Millis,
    },
    /// It works again. A person is told so who was told that it failed.
    WorksAgain {
        scope: Scope,
        since: Millis,
        is_told: bool,
    },
    /// The pause is over, and whether it works is not known.
    TriedAgain {
        scope: Scope,
    },
}

impl Line {
    /// Says it.
    pub(in crate::pipeline) fn say(&self) {
        match self {
            Line::None => {}
            Line::Paused { kept, begins, tells, at } => say_paused(kept, *begins, *tells, *at),
            Line::WorksAgain { scope, since, is_told } => {
                let paused_ms = now().saturating_sub(*since);
                let long = for_so_long(between(*since, now()));
                if *is_told {
                    tracing::info!(event = "resumed", %scope, paused_ms, "{scope} works again after {long}");
                } else {
                    tracing::debug!(event = "resumed", %scope, paused_ms, "{scope} works again after {long}");
                }
            }
            Line::TriedAgain { scope } => tracing::debug!(event = "tried_again", %scope, "{scope} is tried again"),
        }
    }
}

fn say_paused(kept: &pauses::Pause, begins: bool, tells: Option<bool>, at: Millis) {
    let (scope, attempt, probe_in_ms, reason) = (&kept.scope, kept.attempts, kept.probe_at - at, &kept.reason);
    match tells {
        Some(true) => {
            tracing::error!(event = "paused", %scope, attempt, probe_in_ms, reason, "{scope} is paused: {reason}");
        }
        Some(false) => {
            let long = for_so_long(between(kept.since, at));
            tracing::warn!(event = "still_paused", %scope, attempt, probe_in_ms, reason, "{scope} has been paused for {long}: {reason}");
        }
        None => {
            let event = if begins { "paused" } else { "still_paused" };
            tracing::debug!(event, %scope, attempt, probe_in_ms, reason, "{scope} is paused: {reason}");
        }
    }
}
