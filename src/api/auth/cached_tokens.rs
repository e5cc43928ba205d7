//! Tokens in memory, and until when they are good by a clock that nobody sets.

use std::time::{Duration, SystemTime};

use tokio::time::Instant;

use super::Tokens;

/// How long before its end an access token is renewed.
const MARGIN: Duration = Duration::from_secs(60);
/// The part of its life that the margin takes at most, in whole seconds, since a JWT ends with a whole second (RFC
/// 7519, "NumericDate"). Tokens that live for seconds are so renewed once in their life as well, and not half as often
/// again; what a call meets of their end, the 401 mends.
const MARGIN_PART: u64 = 40;
/// A server that gives tokens no time at all is not asked for others without a pause.
const LEAST_LIFETIME: Duration = Duration::from_secs(1);

/// Tokens in use.
#[derive(Debug, Clone)]
pub(super) struct CachedTokens {
    pub tokens: Tokens,
    /// Which of the account's tokens these are.
    pub serial: u64,
    /// When the access token ends.
    pub expires: Instant,
    /// When it is to be renewed.
    pub due: Instant,
    /// When this process asked for them; `None`: they were read from the file.
    pub renewed: Option<Instant>,
}

impl CachedTokens {
    /// Tokens that this process asked for at `asked`.
    pub fn renewed(tokens: Tokens, serial: u64, asked: Instant) -> Self {
        Self { renewed: Some(asked), ..Self::with(tokens, serial, asked.elapsed()) }
    }

    /// Tokens of the file. A clock that stands before their time says nothing about their age: they count as new, and a
    /// 401 tells otherwise. One that is far ahead makes them be renewed once, since then this machine's monotonic clock
    /// counts.
    pub fn of_file(tokens: Tokens, serial: u64) -> Self {
        let age = SystemTime::now().duration_since(tokens.obtained_at).unwrap_or_default();
        Self::with(tokens, serial, age)
    }

    fn with(tokens: Tokens, serial: u64, age: Duration) -> Self {
        let now = Instant::now();
        let lifetime = tokens.expires_in.max(LEAST_LIFETIME);
        let left = lifetime.saturating_sub(age);
        let margin = MARGIN.min(Duration::from_secs(lifetime.as_secs() / MARGIN_PART));
        Self { serial, expires: now + left, due: now + left.saturating_sub(margin), renewed: None, tokens }
    }

    /// Whether calls can still be made with it.
    pub fn is_good(&self) -> bool {
        Instant::now() < self.expires
    }

    /// Whether this process asked for it so lately that it cannot have come to its end: by both clocks, since the
    /// monotonic one stands still while the machine sleeps.
    pub fn is_young(&self) -> bool {
        let half = self.tokens.expires_in / 2;
        let by_the_wall = SystemTime::now().duration_since(self.tokens.obtained_at).unwrap_or_default();
        by_the_wall < half && self.renewed.is_some_and(|at| at.elapsed() < half)
    }

    /// Whether it is time for another.
    pub fn is_due(&self) -> bool {
        Instant::now() >= self.due
    }
}

#[cfg(test)]
mod tests {
    use secrecy::SecretString;

    use super::*;

    fn tokens(expires_in: u64, obtained_at: SystemTime) -> Tokens {
        Tokens {
            access_token: SecretString::from("a"),
            refresh_token: SecretString::from("r"),
            expires_in: Duration::from_secs(expires_in),
            obtained_at,
            scopes: Vec::new(),
            user: None,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_token_is_renewed_a_margin_before_its_end() {
        for (lifetime, due, end) in [(3600, 3540, 3600), (86400, 86340, 86400), (400, 390, 400), (2, 2, 2), (0, 1, 1)] {
            let held = CachedTokens::renewed(tokens(lifetime, SystemTime::now()), 1, Instant::now());
            assert!(!held.is_due() && held.is_good());
            let [until_due, until_end] = [held.due, held.expires].map(|at| at - Instant::now());
            assert_eq!((until_due.as_secs(), until_end.as_secs()), (due, end), "{lifetime}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_that_is_wrong_gives_no_token_more_time_than_it_has() {
        let hour = Duration::from_secs(3600);
        let years = Duration::from_secs(10 * 365 * 24 * 3600);
        let now = SystemTime::now();
        for (obtained_at, least, most) in [
            (now, hour - Duration::from_secs(2), hour),
            (now - hour / 2, hour / 2 - Duration::from_secs(2), hour / 2),
            (now - hour, Duration::ZERO, Duration::ZERO),
            (now - years, Duration::ZERO, Duration::ZERO),
            (now + years, hour, hour),
        ] {
            let held = CachedTokens::of_file(tokens(3600, obtained_at), 1);
            let left = held.expires.duration_since(Instant::now());
            assert!(least <= left && left <= most, "{left:?}");
        }
        // What this process asked for itself counts by its own clock, however wrong the other one is.
        let held = CachedTokens::renewed(tokens(3600, now - years), 1, Instant::now());
        assert!(!held.is_due());
        assert!(!held.is_young(), "the machine may have slept for years");
        assert!(CachedTokens::renewed(tokens(3600, now), 1, Instant::now()).is_young());
        tokio::time::advance(hour).await;
        assert!(held.is_due() && !held.is_good());
    }
}
