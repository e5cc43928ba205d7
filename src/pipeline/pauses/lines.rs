//! What the log says of a pause: an error when it begins, a warning an hour, and when it is over with its length.

use super::Scope;
use super::known::Pause;
use crate::ledger::{Millis, now, pauses};
use crate::pipeline::outages::{between, for_so_long};

/// It is over.
pub(super) fn works_again(scope: &Scope, pause: &Pause) {
    let paused_ms = now().saturating_sub(pause.since);
    let long = for_so_long(between(pause.since, now()));
    if pause.told_at.is_some() {
        tracing::info!(event = "resumed", scope = %scope, paused_ms, "{scope} works again after {long}");
    } else {
        tracing::debug!(event = "resumed", scope = %scope, paused_ms, "{scope} works again after {long}");
    }
}

/// It begins or goes on. `tells` is of the lines that a person reads: whether it is the first of this pause.
pub(super) fn paused(scope: &Scope, kept: &pauses::Pause, begins: bool, tells: Option<bool>, at: Millis) {
    let (attempt, probe_in_ms, reason) = (kept.attempts, kept.probe_at - at, &kept.reason);
    match tells {
        Some(true) => {
            tracing::error!(event = "paused", scope = %scope, attempt, probe_in_ms, reason, "{scope} is paused: {reason}");
        }
        Some(false) => {
            let long = for_so_long(between(kept.since, at));
            tracing::warn!(event = "still_paused", scope = %scope, attempt, probe_in_ms, reason, "{scope} has been paused for {long}: {reason}");
        }
        None => {
            let event = if begins { "paused" } else { "still_paused" };
            tracing::debug!(event, scope = %scope, attempt, probe_in_ms, reason, "{scope} is paused: {reason}");
        }
    }
}
