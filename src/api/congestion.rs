//! How many requests of an account run at once: no limit until the API answers 429 for the first time. From then on a
//! congestion window limits them, as in TCP (RFC 5681, section 3.1): it halves after a refusal, and grows by one after
//! each window of answers. Nothing sleeps here: the pipeline waits as long as Retry-After says.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::time::Instant;

/// The smallest window. If one request hangs, there is room for another.
const SMALLEST: usize = 2;
/// The largest window. It limits nothing, since no account has more requests in progress.
const LARGEST: usize = 256;

/// The congestion window of one account.
#[derive(Debug)]
pub(super) struct CongestionWindow {
    state: Mutex<Window>,
    /// Signals that there may be room for one more.
    room: Notify,
}

#[derive(Debug)]
struct Window {
    /// The most requests that may run at once.
    window: usize,
    under_way: usize,
    /// Answers since the window last changed.
    answered: usize,
    /// When the window was last halved. A refusal of a request that was sent before is no new information.
    halved_at: Instant,
}

impl CongestionWindow {
    /// A window that limits nothing.
    pub(super) fn new() -> Self {
        let state = Window { window: LARGEST, under_way: 0, answered: 0, halved_at: Instant::now() };
        Self { state: Mutex::new(state), room: Notify::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Window> {
        // A panic cannot have left it inconsistent: it holds only numbers.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until one more request may run. The request counts until the result is dropped.
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

/// A request in progress.
pub(super) struct UnderWay<'a> {
    window: &'a CongestionWindow,
    began: Instant,
}

impl UnderWay<'_> {
    /// The answer was anything but 429.
    pub(super) fn answered(&self) {
        let mut state = self.window.lock();
        state.answered += 1;
        if state.answered >= state.window && state.window < LARGEST {
            (state.window, state.answered) = (state.window + 1, 0);
            self.window.room.notify_one();
        }
    }

    /// The answer was 429.
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

    /// Sends `requests` requests, 16 at a time, each until it is answered. After a refusal all wait for a second, as in
    /// a pause of the scope. Returns the number of refusals, and the total time.
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

    /// A server that accepts this many requests a second, and as many at once.
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
            // Two requests run at once even where the server takes only one of them.
            assert!(refused < 900 * 2, "{rate} a second: {refused} were refused");
        }
    }

    /// A refusal costs the second that it asks for, and little else: this server does not limit requests per second.
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
