//! Signs of life. Every loop of the daemon says by when it will show itself again. A loop that does not has hung, and
//! the watchdog of the system restarts the service.
//!
//! Everything that a loop waits for has a bound of its own (a call's time-out, a delivery's), so only a bug in docsyncd
//! makes a loop overdue. Times are of the monotonic clock: a computer that slept, or a clock that was set, is no sign
//! of death.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The longest time between two pages of a poll. The time-outs of calls are far shorter.
const PAGE_LIMIT: Duration = Duration::from_secs(10 * 60);

/// For each loop, by when it shows itself again.
#[derive(Debug, Default)]
pub struct Heartbeats(Mutex<BTreeMap<String, Instant>>);

impl Heartbeats {
    /// The loop is alive, and shows itself again within this time.
    pub fn within(&self, name: &str, limit: Duration) {
        let at = Instant::now() + limit;
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), at);
    }

    /// The poll of the account is alive. It waits for `waits`, and shows itself again soon after.
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
