//! The sandbox's own time: the machine's time, moved as its owner asked.
//!
//! Everything that expires or becomes due uses this clock, so that a test can skip an hour instead of waiting.

use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::watch;

use crate::moment::Moment;

/// How long a sleep lasts at most before it checks again, in case the machine's clock was set.
const LONGEST_NAP: Duration = Duration::from_secs(60);

/// A clock that can be moved while the sandbox runs.
pub(crate) struct Clock {
    /// Microseconds by which this clock is ahead of the machine's.
    ahead: watch::Sender<i64>,
}

impl Default for Clock {
    fn default() -> Self {
        Self { ahead: watch::Sender::new(0) }
    }
}

impl Clock {
    /// Now, in microseconds since 1970.
    pub fn key(&self) -> i64 {
        Timestamp::now().as_microsecond().saturating_add(*self.ahead.borrow())
    }

    pub fn now(&self) -> Moment {
        Moment::from_key(self.key())
    }

    /// Moves the clock by this many microseconds, back if negative. Everybody who waits for a time notices at once.
    pub fn advance(&self, microseconds: i64) {
        self.ahead.send_modify(|ahead| *ahead = ahead.saturating_add(microseconds));
    }

    /// Sets the clock to this time. It continues from there.
    pub fn set(&self, key: i64) {
        self.ahead.send_modify(|ahead| *ahead = key.saturating_sub(Timestamp::now().as_microsecond()));
    }

    /// Shows the machine's time again.
    pub fn reset(&self) {
        self.ahead.send_modify(|ahead| *ahead = 0);
    }

    /// Microseconds by which this clock is ahead of the machine's.
    pub fn ahead(&self) -> i64 {
        *self.ahead.borrow()
    }

    /// Returns once this clock shows `key` or later.
    pub async fn until(&self, key: i64) {
        let mut moved = self.ahead.subscribe();
        loop {
            moved.mark_unchanged();
            let missing = key.saturating_sub(self.key());
            let Some(missing) = u64::try_from(missing).ok().filter(|missing| *missing > 0) else {
                return;
            };
            let nap = Duration::from_micros(missing).min(LONGEST_NAP);
            tokio::select! {
                () = tokio::time::sleep(nap) => {}
                changed = moved.changed() => if changed.is_err() {
                    return; // cannot be: the sender lives in self
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000_000;

    #[tokio::test]
    async fn who_waits_for_a_point_in_time_wakes_when_the_clock_is_moved_there() {
        let clock = Clock::default();
        let due = clock.key() + HOUR;
        let move_on = async {
            tokio::task::yield_now().await;
            clock.advance(HOUR);
        };
        tokio::join!(clock.until(due), move_on);
        assert!(clock.key() >= due);
        clock.until(due).await;
    }

    #[test]
    fn it_can_be_set_and_goes_back() {
        let clock = Clock::default();
        clock.set(0);
        assert!((0..1_000_000).contains(&clock.key()));
        clock.advance(-HOUR);
        assert!(clock.key() < 0);
        clock.reset();
        assert_eq!(clock.ahead(), 0);
    }
}
