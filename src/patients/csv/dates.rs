//! The dates of birth of a whole file. Its rows together show the date format.

use super::super::date::{self, NoDate, Order, Written};
use super::super::refused::Refused;
use super::row_of;

/// A date, as far as its own row tells.
pub(super) enum Read {
    Born(Option<jiff::civil::Date>),
    Written(Written),
}

/// The dates of all rows. Together they show whether the day or the month comes first.
pub(super) struct Dates<'a> {
    format: Option<&'a str>,
    pub(super) written: Vec<Read>,
    /// The byte at which each row begins.
    pub(super) places: Vec<u32>,
    day_first: Option<usize>,
    month_first: Option<usize>,
    ambiguous: Option<usize>,
    /// Whether the first date begins with the year, and its separator; to be shown.
    separator: Option<(bool, char)>,
}

impl<'a> Dates<'a> {
    pub(super) fn new(format: Option<&'a str>) -> Self {
        Self {
            format,
            written: Vec::new(),
            places: Vec::new(),
            day_first: None,
            month_first: None,
            ambiguous: None,
            separator: None,
        }
    }

    pub(super) fn take(&mut self, text: &str) -> Result<(), NoDate> {
        let row = self.written.len();
        if let Some(format) = self.format {
            self.written.push(Read::Born(date::in_format(text, format)?));
            return Ok(());
        }
        let written = Written::read(text)?;
        let first = |place: &mut Option<usize>| {
            place.get_or_insert(row);
        };
        match written {
            Written::Nothing => {}
            Written::Day(_) => {
                self.separator.get_or_insert((true, separator(text)));
            }
            Written::Numbers { first: a, second: b, .. } => {
                self.separator.get_or_insert((false, separator(text)));
                match (a > 12, b > 12) {
                    (true, true) => return Err(NoDate::Unknown),
                    (true, false) => first(&mut self.day_first),
                    (false, true) => first(&mut self.month_first),
                    (false, false) if a != b => first(&mut self.ambiguous),
                    (false, false) => {}
                }
            }
        }
        self.written.push(Read::Written(written));
        Ok(())
    }

    pub(super) fn order(&self) -> Result<Order, Unordered> {
        let place =
            |row: usize| self.places.get(row).and_then(|place| usize::try_from(*place).ok()).unwrap_or_default();
        match (self.day_first, self.month_first, self.ambiguous) {
            (Some(day), Some(month), _) => Err(Unordered::Both(place(day), place(month))),
            (None, None, Some(row)) => Err(Unordered::Neither(place(row))),
            (None, Some(_), _) => Ok(Order::MonthFirst),
            (_, None, _) => Ok(Order::DayFirst),
        }
    }

    pub(super) fn in_words(&self, order: Order) -> String {
        match (self.format, self.separator, order) {
            (Some(format), ..) => format.to_owned(),
            (None, None, _) => String::new(),
            (None, Some((true, '\0')), _) => "%Y%m%d".to_owned(),
            (None, Some((false, '\0')), Order::DayFirst) => "%d%m%Y".to_owned(),
            (None, Some((false, '\0')), Order::MonthFirst) => "%m%d%Y".to_owned(),
            (None, Some((true, c)), _) => format!("%Y{c}%m{c}%d"),
            (None, Some((false, c)), Order::DayFirst) => format!("%d{c}%m{c}%Y"),
            (None, Some((false, c)), Order::MonthFirst) => format!("%m{c}%d{c}%Y"),
        }
    }
}

/// Whether this may be a date of birth, or a missing one.
pub(super) fn is_date(text: &str, format: Option<&str>) -> bool {
    match format {
        Some(format) => date::in_format(text, format).is_ok(),
        None => Written::read(text).is_ok(),
    }
}

fn separator(text: &str) -> char {
    text.chars().find(|c| "-./".contains(*c)).unwrap_or('\0')
}

/// The rows that leave the order open, or contradict each other about it.
pub(super) enum Unordered {
    Neither(usize),
    Both(usize, usize),
}

impl Unordered {
    pub(super) fn in_rows(self, text: &str) -> Refused {
        match self {
            Self::Neither(at) => Refused::Ambiguous { row: row_of(text, at) },
            Self::Both(day, month) => {
                Refused::TwoOrders { day_first: row_of(text, day), month_first: row_of(text, month) }
            }
        }
    }
}
