//! The clock of a server, by the Date of its answer (RFC 9110, section 6.6.1).

use std::time::SystemTime;

use reqwest::header::{AGE, DATE, HeaderMap};

/// How much later the time `now` is than the server's; milliseconds. `None` if the answer has no date, or comes from a
/// cache, whose date is old (RFC 9111, section 5.1).
pub fn ahead_of_server(headers: &HeaderMap, now: SystemTime) -> Option<i64> {
    if headers.contains_key(AGE) {
        return None;
    }
    let date = httpdate::parse_http_date(headers.get(DATE)?.to_str().ok()?.trim()).ok()?;
    let millis = |time: std::time::Duration| i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
    Some(match now.duration_since(date) {
        Ok(ahead) => millis(ahead),
        Err(behind) => -millis(behind.duration()),
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_clock_is_compared_with_an_answer_of_the_server_itself() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        let ahead = |date: Option<&str>, age: Option<&str>| {
            let mut headers = HeaderMap::new();
            date.map(|date| headers.insert(DATE, date.parse().unwrap()));
            age.map(|age| headers.insert(AGE, age.parse().unwrap()));
            ahead_of_server(&headers, now)
        };
        let at = |seconds: i64| {
            httpdate::fmt_http_date(
                now + Duration::from_secs(600) - Duration::from_secs(u64::try_from(600 + seconds).unwrap()),
            )
        };
        assert_eq!(ahead(Some(&at(0)), None), Some(0));
        assert_eq!(ahead(Some(&at(301)), None), Some(301_000));
        assert_eq!(ahead(Some(&at(-301)), None), Some(-301_000));
        assert_eq!(ahead(Some(&at(301)), Some("10")), None);
        assert_eq!(ahead(Some("soon"), None), None);
        assert_eq!(ahead(None, None), None);
    }
}
