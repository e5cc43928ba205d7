//! The pace of an account's requests: as fast as the API answers, until it asks to wait (429). A server that takes so many
//! requests in a time refuses whatever comes beyond, and each refusal is one of them. So from the first one on requests are
//! spread as the server has shown that it takes them, closer again with each that it answers: the sooner, the fewer answers showed it.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use url::Url;

/// The wait that a refusal without Retry-After is taken to ask for. One that asks for more is waited for, and says no more about the
/// pace: it may be about a single document.
const USUAL_WAIT: Duration = Duration::from_secs(1);
/// The longest that refusals say nothing new, whatever one asked for.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// The longest time between two requests: a server that takes fewer refuses some, and is left alone for as long as it asks.
const LONGEST: Duration = Duration::from_secs(1);
/// Requests closer to one another than this need not be spread.
const SHORTEST: Duration = Duration::from_millis(1);
/// What rests on so many answers is sure: about as many more bring requests twice as close, so that a limit is met again soon enough, and
/// rarely. What rests on few, as on the list before the first refusal, is forgotten after as few.
const SURE: u32 = 127;
/// Fewer answers than that are few.
const FEW: u32 = 4;
/// A silence after which what was answered before says nothing about what is taken now.
const SILENCE: Duration = Duration::from_secs(1);

/// The pace of one account.
#[derive(Debug)]
pub(super) struct Pace(Mutex<State>);

#[derive(Debug)]
struct State {
    /// Between the beginnings of two requests.
    interval: Duration,
    /// On how many answers it rests: from [`FEW`] at once on, it is as good as on [`SURE`].
    sure: u32,
    /// When the last request began, or will begin.
    last: Instant,
    /// Since when `answered` counts: the end of what the last refusal asked for.
    since: Instant,
    answered: u32,
    /// What was refused last.
    refused: Option<Url>,
}

impl Pace {
    /// One that holds nothing back.
    pub(super) fn new() -> Self {
        let now = Instant::now();
        Self(Mutex::new(State { interval: Duration::ZERO, sure: 0, last: now, since: now, answered: 0, refused: None }))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic while it was held left it whole: all of it are numbers.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a request's turn, and returns when that is.
    pub(super) async fn turn(&self) -> Instant {
        let at = {
            let mut state = self.lock();
            let now = Instant::now();
            let at = now.max(state.last + state.interval);
            if at.duration_since(state.last) > SILENCE.max(2 * state.interval) {
                (state.since, state.answered) = (at, 0);
            }
            state.last = at;
            at
        };
        if at > Instant::now() {
            sleep_until(at).await;
        }
        at
    }

    /// A request was answered with anything but 429.
    pub(super) fn answered(&self) {
        let mut state = self.lock();
        if Instant::now() >= state.since {
            state.answered = state.answered.saturating_add(1);
        }
        state.interval = state.interval * state.sure / (state.sure + 1);
        if state.interval < SHORTEST {
            (state.interval, state.sure) = (Duration::ZERO, 0);
        }
    }

    /// A request of `url` that began at `began` was answered with 429. Those that were under way with it say nothing new, and what is
    /// refused again and again is refused for its own sake.
    pub(super) fn refused(&self, url: &Url, began: Instant, retry_after: Option<Duration>) {
        let mut state = self.lock();
        let again = state.refused.as_ref() == Some(url);
        if began < state.since || again {
            return;
        }
        let (now, wait) = (Instant::now(), retry_after.unwrap_or(USUAL_WAIT).min(LONGEST_WAIT));
        state.refused = Some(url.clone());
        // A server that answers nothing shows no pace.
        if let Some(taken) = std::num::NonZeroU32::new(state.answered) {
            let time = now.duration_since(state.since) + wait.min(USUAL_WAIT);
            // What was measured in a moment says less than the pace so far.
            let slowest = if state.interval.is_zero() { LONGEST } else { state.interval * 3 / 2 };
            let (longest, sure) =
                if taken.get() < FEW { (LONGEST / 2, state.sure + taken.get()) } else { (LONGEST, SURE) };
            state.interval = (time / taken.get()).clamp(SHORTEST, slowest.clamp(SHORTEST, longest));
            state.sure = sure.min(SURE);
        }
        // Those that wait for their turns keep them.
        (state.last, state.since, state.answered) = (now.max(state.last), now + wait, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that takes `rate` requests a second, and as many at once.
    struct Bucket {
        rate: f64,
        left: f64,
        at: Instant,
    }

    impl Bucket {
        fn takes(&mut self) -> bool {
            let now = Instant::now();
            self.left = (self.left + now.duration_since(self.at).as_secs_f64() * self.rate).min(self.rate);
            self.at = now;
            let takes = self.left >= 1.0;
            self.left -= f64::from(u8::from(takes));
            takes
        }
    }

    fn number(of: u32) -> Url {
        format!("https://api.example.test/documents/{of}").parse().unwrap()
    }

    /// So many requests by 16 at a time, each again and again until it is answered; after a refusal all wait for a second, as the
    /// pause of a scope makes them. Returns how many were refused, and how long all took.
    async fn work(rate: f64, requests: u32) -> (u32, Duration) {
        let pace = Pace::new();
        let began = Instant::now();
        let bucket = Mutex::new(Bucket { rate, left: rate, at: began });
        let (left, refused, paused_until) = (Mutex::new(requests), Mutex::new(0), Mutex::new(began));
        let worker = async || {
            while *left.lock().unwrap() > 0 {
                let until = *paused_until.lock().unwrap();
                sleep_until(until).await;
                let began = pace.turn().await;
                let url = number(*left.lock().unwrap());
                tokio::time::sleep(Duration::from_millis(10)).await;
                if bucket.lock().unwrap().takes() {
                    pace.answered();
                    let mut left = left.lock().unwrap();
                    *left = left.saturating_sub(1);
                } else {
                    pace.refused(&url, began, Some(Duration::from_secs(1)));
                    *refused.lock().unwrap() += 1;
                    *paused_until.lock().unwrap() = Instant::now() + Duration::from_secs(1);
                }
            }
        };
        futures_util::future::join_all((0..16).map(|_| worker())).await;
        let refused = *refused.lock().unwrap();
        (refused, began.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_with_a_limit_is_asked_about_as_often_as_it_likes() {
        for rate in [2.0, 3.0, 20.0, 100.0] {
            let (refused, took) = work(rate, 900).await;
            let ideal = Duration::from_secs_f64(900.0 / rate);
            assert!(took < ideal * 3 / 2, "{rate} a second: {took:?} instead of {ideal:?}");
            assert!(refused < 300, "{rate} a second: {refused} were refused");
        }
    }

    /// The list is answered and the first document is not: that says nothing of how many a second are taken.
    #[tokio::test(start_paused = true)]
    async fn a_refusal_after_few_answers_holds_little_back() {
        for refusals in 1..=4 {
            let pace = Pace::new();
            for of in 0..refusals {
                pace.turn().await;
                pace.answered();
                let began = pace.turn().await;
                pace.refused(&number(of), began, Some(Duration::from_secs(1)));
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
            let begin = Instant::now();
            for _ in 0..100 {
                pace.turn().await;
                pace.answered();
            }
            let most = Duration::from_secs(u64::from(refusals));
            assert!(begin.elapsed() <= most, "{refusals}: {:?}", begin.elapsed());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_held_back_before_a_refusal_nor_long_after_one() {
        let pace = Pace::new();
        let began = Instant::now();
        for _ in 0..1000 {
            pace.turn().await;
            pace.answered();
        }
        assert_eq!(began.elapsed(), Duration::ZERO);
        let began = pace.turn().await;
        pace.refused(&number(1), began, Some(Duration::from_secs(60)));
        for _ in 0..1000 {
            pace.turn().await;
            pace.answered();
        }
        let after = Instant::now();
        pace.turn().await;
        assert_eq!(after.elapsed(), Duration::ZERO, "{:?}", pace.lock().interval);
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_refuses_everything_shows_no_pace() {
        let pace = Pace::new();
        for of in 0..100 {
            let began = pace.turn().await;
            pace.refused(&number(of), began, Some(Duration::from_secs(60)));
            tokio::time::sleep(Duration::from_secs(60)).await;
        }
        assert_eq!(pace.lock().interval, Duration::ZERO);
        // Nor does one that was asked once a minute, whatever it says then.
        for of in 0..100 {
            let began = pace.turn().await;
            pace.answered();
            pace.refused(&number(of), began, None);
            assert!(pace.lock().interval <= USUAL_WAIT, "{:?}", pace.lock().interval);
            tokio::time::sleep(Duration::from_secs(60)).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_document_that_is_always_refused_slows_the_others_down_once() {
        let pace = Pace::new();
        pace.answered();
        let began = pace.turn().await;
        pace.refused(&number(1), began, Some(Duration::from_secs(60)));
        let begin = Instant::now();
        for _ in 0..100 {
            for _ in 0..100 {
                pace.turn().await;
                pace.answered();
            }
            let began = pace.turn().await;
            pace.refused(&number(1), began, Some(Duration::from_secs(60)));
        }
        assert!(begin.elapsed() < Duration::from_secs(140), "{:?}", begin.elapsed());
    }
}
