//! When to try again: capped exponential backoff with full jitter. Pure: returns delays and does not sleep.
//!
//! The `backoff` crate does the arithmetic. It is unmaintained (RUSTSEC-2025-0012), so only this module uses it.

use std::time::Duration;

use backoff::ExponentialBackoff;
use backoff::backoff::Backoff as _;

use crate::system::clock;

/// `[retry]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Upper bound of the first delay.
    pub initial: Duration,
    /// Upper bound of every delay, unless a server asks for more.
    pub max: Duration,
}

/// The longest delay that a server can ask for, whatever [`RetryPolicy::max`] is (promise 5).
const LONGEST_ASKED: Duration = Duration::from_secs(3600);

impl RetryPolicy {
    /// The delay after failed attempt number `attempt` (1 for the first): uniform between zero and `initial` ×
    /// 2^(attempt - 1), capped at `max`; but at least the delay that the server asked for with Retry-After (RFC 9110,
    /// section 10.2.3), up to an hour.
    pub fn delay(&self, attempt: u32, retry_after: Option<Duration>) -> Duration {
        let jittered = jittered(self.bound(attempt));
        retry_after.map_or(jittered, |asked| asked.min(LONGEST_ASKED).max(jittered))
    }

    /// The longest possible delay.
    pub fn longest(&self) -> Duration {
        self.max.max(LONGEST_ASKED)
    }

    /// The largest delay that [`Self::delay`] draws for this attempt.
    pub fn bound(&self, attempt: u32) -> Duration {
        let factor = 2u32.checked_pow(attempt.saturating_sub(1)).unwrap_or(u32::MAX);
        self.initial.saturating_mul(factor).min(self.max)
    }

    /// The longest total delay of this many failed attempts: the sum of [`Self::bound`].
    pub fn total_bound(&self, attempts: u32) -> Duration {
        // The bound doubles, so it reaches the cap within as many attempts as the number has bits.
        let doubling = attempts.min(u32::BITS);
        let doubled = (1..=doubling).fold(Duration::ZERO, |sum, attempt| sum.saturating_add(self.bound(attempt)));
        doubled.saturating_add(self.max.saturating_mul(attempts - doubling))
    }
}

/// Full jitter. The crate draws from `interval × (1 ± factor)`, so half the bound with factor 1 gives a uniform draw
/// from zero to the bound.
fn jittered(bound: Duration) -> Duration {
    clock::jitter(bound, || {
        let mut backoff = ExponentialBackoff {
            current_interval: bound / 2,
            initial_interval: bound / 2,
            randomization_factor: 1.0,
            max_elapsed_time: None,
            ..ExponentialBackoff::default()
        };
        backoff.next_backoff().unwrap_or(bound)
    })
}

/// `interval` plus or minus a tenth, so that the daemons of many practices do not poll in step.
pub fn spread(interval: Duration) -> Duration {
    interval.mul_f64(0.9) + jittered(interval / 5)
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: RetryPolicy = RetryPolicy { initial: Duration::from_secs(1), max: Duration::from_secs(900) };

    #[test]
    fn the_bound_doubles_up_to_the_cap() {
        let bounds: Vec<u64> = (1..=12).map(|attempt| POLICY.bound(attempt).as_secs()).collect();
        assert_eq!(bounds, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
        assert_eq!(POLICY.bound(u32::MAX).as_secs(), 900);
    }

    #[test]
    fn the_bounds_of_many_attempts_add_up() {
        let total = |attempts| POLICY.total_bound(attempts).as_secs();
        assert_eq!((total(0), total(1), total(4), total(11)), (0, 1, 15, 1023 + 900));
        assert_eq!(total(1000), 1023 + 990 * 900);
        assert!(POLICY.total_bound(u32::MAX) > Duration::from_secs(1 << 40));
    }

    #[test]
    fn delays_fill_the_whole_range_and_never_leave_it() {
        let delays: Vec<Duration> = (0..2000).map(|_| POLICY.delay(4, None)).collect();
        assert!(delays.iter().all(|delay| *delay <= Duration::from_secs(8)));
        assert!(delays.iter().any(|delay| *delay < Duration::from_secs(1)));
        assert!(delays.iter().any(|delay| *delay > Duration::from_secs(7)));
    }

    /// "Full jitter" (AWS Architecture Blog, "Exponential Backoff And Jitter"): `random_between(0, min(cap, base * 2 **
    /// attempt))`. All delays are equally likely, so that attempts that failed together are not repeated together.
    #[test]
    fn every_delay_within_the_bound_is_as_likely_as_any_other() {
        const DRAWS: usize = 8000;
        for attempt in [1, 5, 40] {
            let bound = POLICY.bound(attempt).as_secs_f64();
            let mut tenths = [0_usize; 10];
            for _ in 0..DRAWS {
                let part = POLICY.delay(attempt, None).as_secs_f64() / bound;
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 9")]
                let tenth = (part * 10.0).min(9.0) as usize;
                tenths[tenth] += 1;
            }
            // 800 are expected in each, with a standard deviation of 27.
            assert!(tenths.iter().all(|count| (600..=1000).contains(count)), "{attempt}: {tenths:?}");
        }
    }

    #[test]
    fn a_server_that_asks_for_more_time_gets_it_up_to_an_hour_whatever_the_longest_delay_is() {
        let hour = Duration::from_secs(3600);
        for max in [Duration::from_secs(2), POLICY.max, 6 * hour] {
            let policy = RetryPolicy { max, ..POLICY };
            for asked in [Duration::from_secs(6), Duration::from_secs(1800), hour] {
                assert_eq!(policy.delay(1, Some(asked)), asked);
            }
            assert_eq!(policy.delay(1, Some(24 * hour)), hour);
            assert_eq!(policy.longest(), hour.max(max));
        }
        assert!((0..100).any(|_| POLICY.delay(8, Some(Duration::from_secs(1))) > Duration::from_secs(20)));
    }

    #[test]
    fn spread_stays_within_a_tenth() {
        let minute = Duration::from_secs(60);
        assert!((0..500).map(|_| spread(minute)).all(|d| d >= minute.mul_f64(0.9) && d <= minute.mul_f64(1.1)));
    }
}
