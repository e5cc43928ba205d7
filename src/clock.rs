//! The wall clock, chance, and threads that may hang: what the simulation of the pipeline (tests/simulation) takes the
//! place of, and the only place in the sources that knows of it.

use std::time::Duration;

#[cfg(test)]
use crate::simulation::clock as simulated;

/// Outside the unit tests nothing is simulated.
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

/// The present time of the wall clock. Due times survive restarts, so they cannot be of the monotonic clock; a clock
/// that jumped is caught by [`crate::ledger::documents::clamp_due`].
pub fn now() -> Millis {
    simulated::wall().unwrap_or_else(|| jiff::Timestamp::now().as_millisecond())
}

/// A delay of at most `bound`: what the simulation draws, else what `drawn` does.
pub fn jitter(bound: Duration, drawn: impl FnOnce() -> Duration) -> Duration {
    simulated::jitter(bound).unwrap_or_else(drawn)
}

/// Runs what may hang on a thread of its own; in a simulation at once, since no thread takes part in a run that has to
/// be repeated.
pub fn aside(work: impl FnOnce() + Send + 'static) {
    match simulated::wall() {
        Some(_) => work(),
        None => drop(tokio::task::spawn_blocking(work)),
    }
}
