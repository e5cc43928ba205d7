//! Points in time as the sandbox keeps and prints them.
//!
//! A document's dates are stored twice: as microseconds, which filters and orders compare, and, when a test dictated
//! the text, as exactly that text. A client has to cope with every ISO 8601 spelling, so the sandbox must be able to
//! show one.

use jiff::civil;
use jiff::tz::{Offset, TimeZone};
use jiff::{Timestamp, Zoned};

use crate::quirks::DateFormat;

const SECOND: i64 = 1_000_000;

/// A point in time in microseconds since 1970, with the text it was given as, if someone dictated it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    pub key: i64,
    pub verbatim: Option<String>,
}

impl Moment {
    pub fn from_key(key: i64) -> Self {
        Self { key, verbatim: None }
    }

    /// Keeps this text. A text that is no date sorts before everything.
    pub fn verbatim(text: &str) -> Self {
        Self { key: parse(text).unwrap_or(i64::MIN), verbatim: Some(text.to_owned()) }
    }

    /// The time that a record keeps: the whole second that it shows, so that a filter by a shown date finds the item. A
    /// dictated text is kept completely.
    pub fn kept_key(&self) -> i64 {
        match self.verbatim {
            Some(_) => self.key,
            None => to_the_second(self.key),
        }
    }

    pub fn show(&self, format: DateFormat) -> String {
        match &self.verbatim {
            Some(text) => text.clone(),
            None => show_key(self.key, format),
        }
    }
}

/// The start of the second.
pub(crate) fn to_the_second(key: i64) -> i64 {
    key.div_euclid(SECOND) * SECOND
}

fn show_key(key: i64, format: DateFormat) -> String {
    let instant = Timestamp::from_microsecond(key).unwrap_or(Timestamp::UNIX_EPOCH);
    let offset = match format {
        DateFormat::PlusTwo => Offset::constant(2),
        DateFormat::Offset | DateFormat::OffsetMillis | DateFormat::Zulu | DateFormat::ZuluMillis => Offset::UTC,
    };
    let zoned: Zoned = instant.to_zoned(TimeZone::fixed(offset));
    let pattern = match format {
        DateFormat::Offset | DateFormat::PlusTwo => "%Y-%m-%dT%H:%M:%S%:z",
        DateFormat::OffsetMillis => "%Y-%m-%dT%H:%M:%S%.3f%:z",
        DateFormat::Zulu => "%Y-%m-%dT%H:%M:%SZ",
        DateFormat::ZuluMillis => "%Y-%m-%dT%H:%M:%S%.3fZ",
    };
    zoned.strftime(pattern).to_string()
}

/// Microseconds since 1970 of an ISO 8601 date or date-time. Without an offset it is UTC, like on a server whose clock
/// runs in UTC. `None` for any other text, such as one with the common mistake of a `+00:00` whose plus sign was not
/// percent-encoded and became a space.
pub(crate) fn parse(text: &str) -> Option<i64> {
    // A time zone in brackets is RFC 9557's, not ISO 8601's.
    if text.contains('[') {
        return None;
    }
    let text = &shortened(text);
    if let Ok(instant) = text.parse::<Timestamp>() {
        return Some(instant.as_microsecond());
    }
    if text.contains("T") && text.contains(' ') {
        return None;
    }
    let local = match text.parse::<civil::DateTime>() {
        Ok(date_time) => date_time,
        Err(_) => text.parse::<civil::Date>().ok()?.to_datetime(civil::Time::midnight()),
    };
    let instant = local.to_zoned(TimeZone::UTC).ok()?.timestamp();
    Some(instant.as_microsecond())
}

/// RFC 3339 allows a fraction of any length. Digits below a nanosecond are cut off.
fn shortened(text: &str) -> String {
    let Some((whole, rest)) = text.split_once('.') else {
        return text.to_owned();
    };
    let digits = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
    let (fraction, end) = rest.split_at(digits);
    let kept = fraction.get(..9).unwrap_or(fraction);
    format!("{whole}.{kept}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_the_same_second_has_the_same_key() {
        let key = parse("2026-03-01T09:30:00+00:00").unwrap();
        for text in [
            "2026-03-01T09:30:00Z",
            "2026-03-01T10:30:00+01:00",
            "2026-03-01T09:30:00",
            "2026-03-01 09:30:00",
            "2026-03-01T09:30:00.000Z",
        ] {
            assert_eq!(parse(text), Some(key), "{text}");
        }
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for text in ["", "yesterday", "2026-03-01T09:30:00 00:00", "2026-13-01", "2026-03-01[Europe/Paris]"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn formats_print_the_same_moment() {
        let moment = Moment::from_key(parse("2026-03-01T09:30:00.250Z").unwrap());
        assert_eq!(moment.show(DateFormat::Offset), "2026-03-01T09:30:00+00:00");
        assert_eq!(moment.show(DateFormat::PlusTwo), "2026-03-01T11:30:00+02:00");
        assert_eq!(moment.show(DateFormat::ZuluMillis), "2026-03-01T09:30:00.250Z");
    }
}
