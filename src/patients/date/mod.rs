//! Dates of birth: which texts stand for no date, and which day the others mean.

use jiff::civil::{Date, Time};
use jiff::fmt::strtime;
use jiff::fmt::temporal::Pieces;

/// Days that programs write for an unknown date: Access and Excel, SQL Server, and Open Dental.
const NO_DAYS: [(i16, i8, i8); 3] = [(1899, 12, 30), (1900, 1, 1), (1, 1, 1)];

/// The years that eight digits without separators may have, so that 20021980 is not read as a day in the year 2002.
const YEARS: std::ops::RangeInclusive<i16> = 1850..=2150;

/// The meaning of a text while it is unknown whether the day or the month comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    /// No date, also if the day or the month is unknown (00.00.1980).
    Nothing,
    /// A day that does not depend on the order.
    Day(Date),
    /// Two numbers and a year.
    Numbers {
        /// The day or the month.
        first: i8,
        /// The other one.
        second: i8,
        /// Four digits.
        year: i16,
    },
}

/// Why a text is no reliable date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoDate {
    /// 17.02.26 may mean 1926 or 2026.
    TwoDigitYear,
    /// A number of days, as spreadsheets store dates.
    Serial,
    /// 1980-02-28T23:00:00Z: the first moment of the day after, as another time zone calls it.
    EveningBefore,
    /// Anything else, for example the 31st of February.
    Unknown,
}

/// The meaning of the number at the beginning of a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    DayFirst,
    MonthFirst,
}

impl Written {
    /// Reads a text in an unknown format.
    pub(super) fn read(text: &str) -> Result<Self, NoDate> {
        if is_nothing(text) {
            return Ok(Self::Nothing);
        }
        let text = day_of(text)?;
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Self::of_digits(text);
        }
        let Some(separator) = text.chars().find(|c| !c.is_ascii_digit()).filter(|c| "-./ ".contains(*c)) else {
            return Err(NoDate::Unknown);
        };
        let parts: Vec<&str> = text.split(separator).map(str::trim).collect();
        let is_number = |part: &&str| (1..=4).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
        if parts.len() == 2 && parts.iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit())) {
            return Err(NoDate::Serial);
        }
        if parts.len() != 3 || !parts.iter().all(is_number) {
            return Err(NoDate::Unknown);
        }
        match *parts.as_slice() {
            [year, month, day] if year.len() == 4 && month.len() < 3 && day.len() < 3 => {
                of_numbers(number(year)?, narrow(month)?, narrow(day)?)
            }
            [first, second, year] if year.len() == 4 && first.len() < 3 && second.len() < 3 => {
                Ok(Self::in_some_order(narrow(first)?, narrow(second)?, number(year)?))
            }
            [first, second, year] if [first, second, year].iter().all(|part| part.len() < 3) => {
                Err(NoDate::TwoDigitYear)
            }
            _ => Err(NoDate::Unknown),
        }
    }

    fn of_digits(digits: &str) -> Result<Self, NoDate> {
        match digits.len() {
            8 => {
                let (head, tail) = digits.split_at(4);
                let [(month, day), (first, second)] = [tail.split_at(2), head.split_at(2)];
                let year = number(head)?;
                if YEARS.contains(&year)
                    && let Ok(written) = of_numbers(year, narrow(month)?, narrow(day)?)
                {
                    return Ok(written);
                }
                match number(tail)? {
                    year if YEARS.contains(&year) => Ok(Self::in_some_order(narrow(first)?, narrow(second)?, year)),
                    _ => Err(NoDate::Unknown),
                }
            }
            6 => Err(NoDate::TwoDigitYear),
            0..=5 => Err(NoDate::Serial),
            _ => Err(NoDate::Unknown),
        }
    }

    fn in_some_order(first: i8, second: i8, year: i16) -> Self {
        if first == 0 || second == 0 { Self::Nothing } else { Self::Numbers { first, second, year } }
    }

    /// The day, given the order. `None` if there is no date.
    pub(super) fn day(self, order: Order) -> Result<Option<Date>, NoDate> {
        let day = match self {
            Self::Nothing => return Ok(None),
            Self::Day(day) => day,
            Self::Numbers { first, second, year } => {
                let (day, month) = match order {
                    Order::DayFirst => (first, second),
                    Order::MonthFirst => (second, first),
                };
                Date::new(year, month, day).map_err(|_| NoDate::Unknown)?
            }
        };
        Ok(known(day))
    }
}

fn of_numbers(year: i16, month: i8, day: i8) -> Result<Written, NoDate> {
    if month == 0 || day == 0 {
        return Ok(Written::Nothing);
    }
    Date::new(year, month, day).map(Written::Day).map_err(|_| NoDate::Unknown)
}

/// Reads a text in a strftime format, possibly with a time behind it.
pub(super) fn in_format(text: &str, format: &str) -> Result<Option<Date>, NoDate> {
    let generic = Written::read(text);
    if generic == Ok(Written::Nothing) {
        return Ok(None);
    }
    let parsed = |text: &str| strtime::parse(format, text).and_then(|broken| broken.to_date()).ok();
    let day = day_of(text)?;
    match parsed(text.trim()).or_else(|| parsed(day)) {
        // `%Y` reads two digits as the year 80.
        Some(day) if day.year() >= 1000 || NO_DAYS.contains(&numbers(day)) => Ok(known(day)),
        Some(_) => Err(NoDate::TwoDigitYear),
        None => Err(generic.err().unwrap_or(NoDate::Unknown)),
    }
}

/// The date of birth of a patient of the cloud service: an ISO 8601 date, or the date-time at which that day begins.
/// The printed day counts; it is never moved to another time zone. Another moment of a day is no date: where the
/// patient was born, it may be another day.
pub(super) fn of_api(text: &str) -> Option<Date> {
    if is_nothing(text) {
        return None;
    }
    let pieces = Pieces::parse(text.trim()).ok()?;
    pieces.time().is_none_or(|time| time == Time::midnight()).then(|| known(pieces.date())).flatten()
}

/// `None` for a day that stands for no date.
fn known(day: Date) -> Option<Date> {
    (!NO_DAYS.contains(&numbers(day))).then_some(day)
}

fn numbers(day: Date) -> (i16, i8, i8) {
    (day.year(), day.month(), day.day())
}

/// Empty, only zeros, or a database's null.
fn is_nothing(text: &str) -> bool {
    let text = without_time(text);
    text.chars().all(|c| "0-./ ".contains(c)) || text.eq_ignore_ascii_case("null") || text == r"\N"
}

/// The part before a time: `1980-02-17T00:00:00`, `2/17/1980 12:00:00 AM`.
fn without_time(text: &str) -> &str {
    with_time(text).0
}

fn with_time(text: &str) -> (&str, Option<&str>) {
    let text = text.trim();
    let is_border = |c: char| c.is_whitespace() || c == 'T';
    match text.split_once(is_border) {
        Some((day, time)) if time.contains(':') && day.ends_with(|c: char| c.is_ascii_digit()) => (day, Some(time)),
        _ => (text, None),
    }
}

/// The part before a time of day. A program that takes a date of birth for a moment, and writes it in another time
/// zone, names the evening of the day before; where clocks are behind, it names the morning of the same day.
fn day_of(text: &str) -> Result<&str, NoDate> {
    let (day, time) = with_time(text);
    let Some((hour, rest)) = time.and_then(|time| time.split_once(':')) else { return Ok(day) };
    let hour: u8 = hour.trim().parse().map_err(|_| NoDate::Unknown)?;
    let is_afternoon = rest.contains(['p', 'P']) && hour != 12;
    if hour > 12 || is_afternoon { Err(NoDate::EveningBefore) } else { Ok(day) }
}

fn number(digits: &str) -> Result<i16, NoDate> {
    digits.parse().map_err(|_| NoDate::Unknown)
}

fn narrow(digits: &str) -> Result<i8, NoDate> {
    digits.parse().map_err(|_| NoDate::Unknown)
}

#[cfg(test)]
mod tests;
