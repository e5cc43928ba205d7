//! Times in a person's input: a day, a moment, or how long ago.

use std::str::FromStr;
use std::time::Duration;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};

use crate::ledger::{Millis, now};

/// The first and the last millisecond of a time that a person typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    pub(crate) begins: Millis,
    pub(crate) ends: Millis,
}

impl FromStr for Moment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if let Ok(at) = text.parse::<Timestamp>() {
            return Ok(Self { begins: at.as_millisecond(), ends: at.as_millisecond() });
        }
        if let Ok(day) = text.parse::<Date>() {
            let day_begins =
                |day: Date| day.to_zoned(TimeZone::system()).map(|zoned| zoned.timestamp().as_millisecond());
            let next = day.checked_add(1.day()).and_then(day_begins);
            if let (Ok(begins), Ok(next)) = (day_begins(day), next) {
                return Ok(Self { begins, ends: next - 1 });
            }
        }
        let ago = humantime::parse_duration(text).ok().and_then(|ago: Duration| Millis::try_from(ago.as_millis()).ok());
        match ago {
            Some(ago) => Ok(Self { begins: now().saturating_sub(ago), ends: now().saturating_sub(ago) }),
            None => Err("write a day (2026-11-21), a time (2026-11-21T09:30:00Z), or how long ago (30d)".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_times_and_durations_are_understood() {
        let parse = |text: &str| text.parse::<Moment>();
        let day = parse("2026-11-21").unwrap();
        assert_eq!(day.ends - day.begins, 24 * 60 * 60 * 1000 - 1);
        assert_eq!(parse("2026-11-21T09:30:00Z").unwrap().begins, 1_795_253_400_000);
        let begins = parse("2h").unwrap().begins;
        let ago = now() - begins;
        assert!((7_200_000..7_260_000).contains(&ago), "{ago}");
        for wrong in ["", "yesterday", "2026-13-01", "21.11.2026", "9999999999y"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
