//! Signs of life: every loop of the daemon says when it will show itself again at the latest. One that does not hangs,
//! and the watchdog of the system restarts the service.
//!
//! What a loop waits for is bounded by limits of its own (a call's time-out, a delivery's); only a fault of ours lets a
//! loop be overdue. Times are of the monotonic clock: a computer that slept, or a clock that was set, is no sign of
//! death.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The longest time between two pages of a poll: calls have limits of their own, which are far shorter.
const PAGE_LIMIT: Duration = Duration::from_secs(10 * 60);

/// By loop, when it shows itself again at the latest.
#[derive(Debug, Default)]
pub struct Heartbeats(Mutex<BTreeMap<String, Instant>>);

impl Heartbeats {
    /// The loop is alive, and shows itself again within this time.
    pub fn within(&self, name: &str, limit: Duration) {
        let at = Instant::now() + limit;
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), at);
    }

    /// The poll of the account is alive, and shows itself again soon after it `waits` for so long.
    pub fn poll(&self, account: &str, waits: Duration) {
        self.within(&format!("poll of {account}"), waits.saturating_add(PAGE_LIMIT));
    }

    /// The loop has ended.
    pub fn ended(&self, name: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
    }

    /// A loop that has not shown itself in time.
    pub fn overdue(&self) -> Option<String> {
        let now = Instant::now();
        let expected = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        expected.iter().find(|(_, at)| **at < now).map(|(name, _)| name.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_loop_that_does_not_show_itself_in_time_is_overdue_until_it_does() {
        let heartbeats = Heartbeats::default();
        heartbeats.within("fetch", Duration::from_secs(45));
        heartbeats.within("deliver", Duration::from_secs(90));
        tokio::time::advance(Duration::from_secs(44)).await;
        assert_eq!(heartbeats.overdue(), None);
        tokio::time::advance(Duration::from_secs(2)).await;
        assert_eq!(heartbeats.overdue(), Some("fetch".to_owned()));
        heartbeats.within("fetch", Duration::from_secs(45));
        assert_eq!(heartbeats.overdue(), None);
        tokio::time::advance(Duration::from_secs(46)).await;
        heartbeats.ended("fetch");
        assert_eq!(heartbeats.overdue(), Some("deliver".to_owned()), "one that ended is not missed");
    }
}
