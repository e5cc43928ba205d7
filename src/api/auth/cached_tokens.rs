//! Tokens in memory, and their lifetime by the monotonic clock, which nobody can set.

use std::time::{Duration, SystemTime};

use tokio::time::Instant;

use super::Tokens;

/// An access token is renewed this long before its end.
const MARGIN: Duration = Duration::from_secs(60);
/// The margin is at most the lifetime divided by this, in whole seconds, since a JWT ends with a whole second (RFC
/// 7519, "NumericDate"). So tokens that live for seconds are also renewed about once per lifetime. If a call still
/// meets an expired token, the 401 leads to a renewal.
const MARGIN_PART: u64 = 40;
/// Keeps docsyncd from renewing without a pause when the server gives tokens no lifetime at all.
const LEAST_LIFETIME: Duration = Duration::from_secs(1);

/// Tokens in use.
#[derive(Debug, Clone)]
pub(super) struct CachedTokens {
    pub tokens: Tokens,
    /// The number of these tokens among the account's tokens.
    pub serial: u64,
    /// When the access token ends.
    pub expires: Instant,
    /// When the access token is to be renewed.
    pub due: Instant,
    /// When this process asked for them; `None` if they were read from the file.
    pub renewed: Option<Instant>,
}

impl CachedTokens {
    /// Tokens that this process asked for at `asked`.
    pub fn renewed(tokens: Tokens, serial: u64, asked: Instant) -> Self {
        Self { renewed: Some(asked), ..Self::with(tokens, serial, asked.elapsed()) }
    }

    /// Tokens from the file. If the clock is before their time, their age is unknown: they count as new, and a 401
    /// shows if they are not. If the clock is far ahead, they are renewed once; after that the monotonic clock counts.
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

    /// Whether calls can still use the access token.
    pub fn is_good(&self) -> bool {
        Instant::now() < self.expires
    }

    /// Whether this process got the token so recently that it cannot have expired. Asks both clocks, since the
    /// monotonic clock may stand still while the machine sleeps.
    pub fn is_young(&self) -> bool {
        let half = self.tokens.expires_in / 2;
        let by_the_wall = SystemTime::now().duration_since(self.tokens.obtained_at).unwrap_or_default();
        by_the_wall < half && self.renewed.is_some_and(|at| at.elapsed() < half)
    }

    /// Whether the access token is to be renewed.
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
        // For tokens that this process got itself, the monotonic clock counts, however wrong the wall clock is.
        let held = CachedTokens::renewed(tokens(3600, now - years), 1, Instant::now());
        assert!(!held.is_due());
        assert!(!held.is_young(), "the machine may have slept for years");
        assert!(CachedTokens::renewed(tokens(3600, now), 1, Instant::now()).is_young());
        tokio::time::advance(hour).await;
        assert!(held.is_due() && !held.is_good());
    }
}
