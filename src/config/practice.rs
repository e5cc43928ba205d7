//! `[practice]`: what alarms and the page say of the practice, and when it is closed.

use std::ops::RangeInclusive;

use jiff::civil::Date;

use super::build::Builder;
use super::settings;

/// `[practice]`
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PracticeConfig {
    /// The name of the practice, in one line.
    pub name: Option<String>,
    /// Whom to call, in one line: a name, a telephone number.
    pub contact: Option<String>,
    /// The days on which it is closed, besides Saturdays and Sundays.
    pub closed: Vec<RangeInclusive<Date>>,
}

/// The practice. What is wrong was reported, and then left out.
pub fn build(raw: settings::Practice, builder: &mut Builder<'_>) -> PracticeConfig {
    let at = &mut builder.section("practice");
    let mut line = |key: &str, text: Option<String>| {
        let text = text?.trim().to_owned();
        // It stands in the subject of a mail.
        if text.chars().any(char::is_control) || text.chars().count() > MOST_LETTERS {
            let fix = format!("Write one line of at most {MOST_LETTERS} characters.");
            return at.refuse(key, "is more than one line, or too long", fix);
        }
        Some(text)
    };
    let (name, contact) = (line("name", raw.name), line("contact", raw.contact));
    let closed: Option<Vec<_>> = raw.closed.iter().map(|text| days(text)).collect();
    if closed.is_none() {
        let fix = "Write days and ranges as year-month-day: [\"2026-11-11\", \"2026-12-24..2027-01-02\"].";
        at.error("closed", "holds something that is not a day, or a range whose end is not before its start", fix);
    }
    PracticeConfig { name, contact, closed: closed.unwrap_or_default() }
}

/// The longest name or contact; characters.
const MOST_LETTERS: usize = 100;

/// `2026-12-24`, or with the last day `2026-12-24..2027-01-02`.
fn days(text: &str) -> Option<RangeInclusive<Date>> {
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    let (first, last) = (day(first)?, day(last)?);
    (first <= last).then_some(first..=last)
}

/// A day of ISO 8601, in the form that has only one reading.
fn day(text: &str) -> Option<Date> {
    let text = text.trim();
    let day: Date = text.parse().ok()?;
    (day.to_string() == text).then_some(day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_days_are_days_and_ranges_of_the_calendar() {
        for (text, read) in [
            ("2026-12-24", Some("2026-12-24..=2026-12-24")),
            (" 2026-12-24 .. 2027-01-02 ", Some("2026-12-24..=2027-01-02")),
            ("2026-12-24..2026-12-24", Some("2026-12-24..=2026-12-24")),
            ("2028-02-29", Some("2028-02-29..=2028-02-29")),
            ("2027-02-29", None),
            ("2027-01-02..2026-12-24", None),
            ("2026-12-24..", None),
            ("2026-12-24...2026-12-26", None),
            ("24.12.2026", None),
            ("20261224", None),
            ("2026-12-24T10:00:00", None),
            ("every Friday", None),
            ("", None),
        ] {
            assert_eq!(days(text).map(|days| format!("{days:?}")).as_deref(), read, "{text:?}");
        }
    }
}
