//! How many requests of an account are under way at once: as many as there is work for, until the API asks to wait
//! (429). From then on a window limits them, as congestion control does for TCP (RFC 5681, section 3.1): half as many
//! after a refusal, one more after each window that was answered. A request that is refused with Retry-After is waited
//! for elsewhere; here nothing sleeps.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::time::Instant;

/// The smallest window. A request that hangs leaves room for another.
const SMALLEST: usize = 2;
/// A window of so many limits nothing: no account has more under way.
const LARGEST: usize = 256;

/// The congestion window of one account.
#[derive(Debug)]
pub(super) struct CongestionWindow {
    state: Mutex<State>,
    /// There may be room for one more.
    room: Notify,
}

#[derive(Debug)]
struct State {
    /// The most requests that may be under way.
    window: usize,
    under_way: usize,
    /// Answers since the window last changed.
    answered: usize,
    /// When it was last halved: what was under way then and is refused as well says nothing new.
    halved_at: Instant,
}

impl CongestionWindow {
    /// One that limits nothing.
    pub(super) fn new() -> Self {
        let state = State { window: LARGEST, under_way: 0, answered: 0, halved_at: Instant::now() };
        Self { state: Mutex::new(state), room: Notify::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic while it was held left it whole: all of it are numbers.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until one more request may be under way. It is until what this returns is dropped.
    pub(super) async fn enter(&self) -> UnderWay<'_> {
        loop {
            let room = self.room.notified();
            {
                let mut state = self.lock();
                if state.under_way < state.window {
                    state.under_way += 1;
                    return UnderWay { window: self, began: Instant::now() };
                }
            }
            room.await;
        }
    }
}

/// A request that is under way.
pub(super) struct UnderWay<'a> {
    window: &'a CongestionWindow,
    began: Instant,
}

impl UnderWay<'_> {
    /// It was answered with anything but 429.
    pub(super) fn answered(&self) {
        let mut state = self.window.lock();
        state.answered += 1;
        if state.answered >= state.window && state.window < LARGEST {
            (state.window, state.answered) = (state.window + 1, 0);
            self.window.room.notify_one();
        }
    }

    /// It was answered with 429.
    pub(super) fn refused(&self) {
        let mut state = self.window.lock();
        if self.began > state.halved_at {
            (state.window, state.answered) = ((state.window.min(state.under_way) / 2).max(SMALLEST), 0);
            state.halved_at = Instant::now();
        }
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.window.lock().under_way -= 1;
        self.window.room.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::sleep_until;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// So many requests by 16 at a time, each again and again until it is answered; after a refusal all wait for a
    /// second, as the pause of a scope makes them. Returns how many were refused, and how long all took.
    async fn work(requests: u32, takes: impl FnMut() -> bool) -> (u32, Duration) {
        let (window, began) = (CongestionWindow::new(), Instant::now());
        let (left, refused, paused_until) = (Mutex::new(requests), Mutex::new(0), Mutex::new(began));
        let takes = Mutex::new(takes);
        let worker = async || {
            while *left.lock().unwrap() > 0 {
                let until = *paused_until.lock().unwrap();
                sleep_until(until).await;
                let request = window.enter().await;
                if *paused_until.lock().unwrap() > Instant::now() {
                    continue;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
                if (takes.lock().unwrap())() {
                    request.answered();
                    let mut left = left.lock().unwrap();
                    *left = left.saturating_sub(1);
                } else {
                    request.refused();
                    *refused.lock().unwrap() += 1;
                    *paused_until.lock().unwrap() = Instant::now() + SECOND;
                }
            }
        };
        futures_util::future::join_all((0..16).map(|_| worker())).await;
        let refused = *refused.lock().unwrap();
        (refused, began.elapsed())
    }

    /// A server that takes so many requests a second, and as many at once.
    #[tokio::test(start_paused = true)]
    async fn a_server_with_a_limit_is_asked_about_as_often_as_it_likes() {
        for rate in [2.0_f64, 3.0, 20.0, 100.0] {
            let (mut left, mut at) = (rate, Instant::now());
            let bucket = || {
                left = (left + at.elapsed().as_secs_f64() * rate).min(rate);
                at = Instant::now();
                let takes = left >= 1.0;
                left -= f64::from(u8::from(takes));
                takes
            };
            let (refused, took) = work(900, bucket).await;
            let ideal = Duration::from_secs_f64(900.0 / rate);
            assert!(took < ideal * 3 / 2, "{rate} a second: {took:?} instead of {ideal:?}");
            // Two are under way at least, of which one is too many.
            assert!(refused < 900 * 2, "{rate} a second: {refused} were refused");
        }
    }

    /// Each refusal costs the second that it asks for, and little else: it says nothing about how many a second are
    /// taken.
    #[tokio::test(start_paused = true)]
    async fn a_server_that_refuses_one_request_of_many_is_asked_no_more_slowly_for_it() {
        let mut number = 0;
        let each_25th = || {
            number += 1;
            number % 25 != 0
        };
        let (refused, took) = work(750, each_25th).await;
        assert!((30..=33).contains(&refused), "{refused}");
        assert!(took < SECOND * (refused + 5), "{took:?} for {refused} refusals");
    }

    #[tokio::test(start_paused = true)]
    async fn a_window_halves_once_for_what_is_under_way_together_and_grows_by_one_a_window() {
        let window = CongestionWindow::new();
        let size = || window.lock().window;
        let enter = async |count: usize| {
            tokio::time::advance(SECOND).await;
            let mut under_way = Vec::new();
            for _ in 0..count {
                under_way.push(window.enter().await);
            }
            under_way
        };
        let first = enter(16).await;
        first.iter().for_each(UnderWay::refused);
        assert_eq!(size(), 8);
        drop(first);
        let second = enter(8).await;
        second.iter().for_each(UnderWay::answered);
        assert_eq!(size(), 9);
        drop(second);
        for smaller in [4, 2, 2] {
            enter(size()).await[0].refused();
            assert_eq!(size(), smaller);
        }
        let both = enter(2).await;
        let waits = tokio::time::timeout(SECOND, window.enter()).await;
        assert!(waits.is_err(), "a third has no room");
        drop(both);
        for _ in 0..LARGEST * LARGEST {
            window.enter().await.answered();
        }
        assert_eq!(size(), LARGEST, "in the end nothing is limited");
    }
}
