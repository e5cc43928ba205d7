//! The wall clock, randomness, and threads that may hang. The simulation of the pipeline (tests/simulation) replaces
//! them; no other source file knows of it.

use std::time::Duration;

#[cfg(test)]
use crate::simulation::clock as simulated;

/// Outside of the unit tests nothing is simulated.
#[cfg(not(test))]
mod simulated {
    pub(super) fn wall() -> Option<super::Millis> {
        None
    }

    pub(super) fn jitter(_bound: std::time::Duration) -> Option<std::time::Duration> {
        None
    }
}

/// Milliseconds since 1970-01-01T00:00:00Z, as the ledger stores times.
pub type Millis = i64;

/// The present time of the wall clock. Due times survive restarts, so they cannot use the monotonic clock.
/// [`crate::ledger::documents::clamp_due`] corrects them after a jump of the clock.
pub fn now() -> Millis {
    simulated::wall().unwrap_or_else(|| jiff::Timestamp::now().as_millisecond())
}

/// A delay of at most `bound`: from the simulation, else from `drawn`.
pub fn jitter(bound: Duration, drawn: impl FnOnce() -> Duration) -> Duration {
    simulated::jitter(bound).unwrap_or_else(drawn)
}

/// Runs work that may hang on a separate thread. A simulation runs it at once, since a repeatable run uses no threads.
pub fn aside(work: impl FnOnce() + Send + 'static) {
    match simulated::wall() {
        Some(_) => work(),
        None => drop(tokio::task::spawn_blocking(work)),
    }
}
