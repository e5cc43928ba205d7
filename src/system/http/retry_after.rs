//! Retry-After: how long a server asks clients to wait (RFC 9110, section 10.2.3), in both of its forms.
//!
//! Nothing is capped here: [`crate::domain::retry::RetryPolicy::delay`] caps it.

use std::time::{Duration, SystemTime};

use reqwest::header::{DATE, HeaderMap, HeaderName, RETRY_AFTER};

/// The wait that these headers ask for, at the time `now`; `None` if there is none, it cannot be understood, or it is
/// over.
pub fn asked_to_wait(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = text(headers, &RETRY_AFTER)?;
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // Too many seconds for a number still mean a long wait.
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)));
    }
    let until = httpdate::parse_http_date(text).ok()?;
    // The server's own Date, if there is one: this machine's clock may be wrong by hours.
    let now = self::text(headers, &DATE).and_then(|date| httpdate::parse_http_date(date).ok()).unwrap_or(now);
    until.duration_since(now).ok()
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    fn asked(retry_after: &str, date: Option<&str>, now: SystemTime) -> Option<Duration> {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, retry_after.parse().unwrap());
        if let Some(date) = date {
            headers.insert(DATE, date.parse().unwrap());
        }
        asked_to_wait(&headers, now)
    }

    #[test]
    fn seconds_are_read_and_what_is_none_asks_for_nothing() {
        let now = SystemTime::now();
        assert_eq!(asked_to_wait(&HeaderMap::new(), now), None);
        for (text, seconds) in [
            ("120", Some(120)),
            (" 0 ", Some(0)),
            ("31536000", Some(31_536_000)),
            ("18446744073709551616000", Some(u64::MAX)),
            ("-5", None),
            ("1.5", None),
            ("soon", None),
            ("", None),
        ] {
            assert_eq!(asked(text, None, now), seconds.map(Duration::from_secs), "{text:?}");
        }
    }

    #[test]
    fn a_date_counts_from_now_in_each_of_its_forms() {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:48:37 GMT").unwrap();
        for text in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
            assert_eq!(asked(text, None, now), Some(MINUTE), "{text}");
            assert_eq!(asked(text, None, now + 2 * MINUTE), None, "{text}: that is over");
        }
        let year = asked("Mon, 06 Nov 1995 08:48:37 GMT", None, now).unwrap();
        assert_eq!(year, Duration::from_secs(365 * 24 * 3600));
    }

    #[test]
    fn a_date_is_held_against_the_clock_of_the_server_that_gives_it() {
        let date = Some("Sun, 06 Nov 1994 08:48:37 GMT");
        let until = "Sun, 06 Nov 1994 08:49:37 GMT";
        let server = httpdate::parse_http_date("Sun, 06 Nov 1994 08:48:37 GMT").unwrap();
        for now in [server, server - 120 * MINUTE, server + 120 * MINUTE] {
            assert_eq!(asked(until, date, now), Some(MINUTE));
        }
        assert_eq!(asked(until, Some("yesterday"), server), Some(MINUTE), "an invalid Date is ignored");
    }
}
