//! Patients' numbers: which of them a spreadsheet, a report or a statistics program has spoiled.

use std::collections::HashMap;

use super::super::date::Written;
use super::super::fold::{Folded, is_hyphen};
use super::super::refused::NoNumber;
use crate::domain::name::{is_bidirectional, is_invisible};

/// What stands between thousands. Other spaces are no part of any number.
const GROUPERS: [char; 5] = ['.', ',', ' ', '\'', '’'];

fn digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// What databases, statistics programs and scripts write for a missing value, without the brackets that some put around
/// it.
const MISSING: [&str; 8] = ["", "null", "none", "nil", "nan", "na", "n/a", "undefined"];

/// Whether this stands for no number.
pub(super) fn is_missing(number: &str) -> bool {
    let plain = number.trim_matches(['(', ')', '<', '>', '[', ']']);
    number == r"\N" || MISSING.iter().any(|missing| plain.eq_ignore_ascii_case(missing))
}

/// Why this number, by itself, is spoiled.
pub(super) fn no_number(number: &str) -> Option<NoNumber> {
    let is_decimal =
        |text: &str| digits(text) || text.split_once([',', '.']).is_some_and(|(a, b)| digits(a) && digits(b));
    if number.starts_with('=') {
        return Some(NoNumber::Formula);
    }
    if number.starts_with('#') {
        return Some(NoNumber::Placeholder);
    }
    if number.starts_with(['\'', '’', '‘', '`']) || number.contains('"') {
        return Some(NoNumber::Quoted);
    }
    // Two numbers that look the same may differ in characters that are invisible or change the direction of text.
    if number.chars().any(|letter| letter.is_control() || is_bidirectional(letter) || is_invisible(letter)) {
        return Some(NoNumber::Unseen);
    }
    if number.chars().any(|letter| letter != '-' && is_hyphen(letter)) {
        return Some(NoNumber::Dash);
    }
    if number.chars().any(|letter| letter != ' ' && letter.is_whitespace()) {
        return Some(NoNumber::Grouped);
    }
    if let Some((mantissa, exponent)) = number.split_once(['E', 'e'])
        && is_decimal(mantissa)
        // 12E5 may be a number as it stands.
        && exponent.strip_prefix(['+', '-']).map_or(!digits(mantissa) && digits(exponent), digits)
    {
        return Some(NoNumber::Rounded);
    }
    match number.rsplit_once(['.', ',']) {
        Some((whole, zeros)) if zeros.bytes().all(|byte| byte == b'0') && !zeros.is_empty() => {
            (digits(whole) || grouper(whole).is_some()).then_some(NoNumber::Decimal)
        }
        _ => None,
    }
}

/// What stands between the thousands of this number, if it is written in such groups: `1.471`, `12 345`.
fn grouper(number: &str) -> Option<char> {
    let grouper = number.chars().find(|letter| !letter.is_ascii_digit()).filter(|found| GROUPERS.contains(found))?;
    let mut groups = number.split(grouper);
    let is_first = groups.next().is_some_and(|first| digits(first) && first.len() <= 3 && !first.starts_with('0'));
    (is_first && groups.all(|group| group.len() == 3 && digits(group))).then_some(grouper)
}

/// Whether the numbers of the column are written in groups of thousands. A practice may well number its patients
/// `12.345`. But whoever writes thousands in groups does so with every number, and with nothing else. So one number
/// that shows the contrary is enough to take all of them as they stand.
#[derive(Default)]
pub(super) struct Groups {
    /// The grouper of the first such number, and the byte of its row.
    first: Option<(char, usize)>,
    is_as_it_stands: bool,
}

impl Groups {
    /// Takes the number of the row that begins at this byte.
    pub(super) fn take(&mut self, number: &str, at: usize) {
        match (grouper(number), self.first) {
            (Some(grouper), None) => self.first = Some((grouper, at)),
            (Some(grouper), Some((first, _))) => self.is_as_it_stands |= grouper != first,
            (None, _) => {
                let is_ungrouped = number.bytes().filter(u8::is_ascii_digit).count() > 3;
                let is_padded = number.len() > 1 && number.starts_with('0');
                let has_letters = number.chars().any(char::is_alphabetic);
                self.is_as_it_stands |= (is_ungrouped || is_padded || !digits(number)) && !has_letters;
            }
        }
    }

    /// The byte of the first row with a number in groups, if the column is written so.
    pub(super) fn found(&self) -> Option<usize> {
        self.first.filter(|_| !self.is_as_it_stands).map(|(_, at)| at)
    }
}

/// The months as spreadsheets write them, or longer, folded.
const MONTHS: [&str; 29] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "januar",
    "februar",
    "mrz",
    "märz",
    "mai",
    "juni",
    "juli",
    "oktober",
    "dezember",
    "janvier",
    "fevrier",
    "mars",
    "avril",
    "juin",
    "juillet",
    "aout",
    "decembre",
];
/// The days that a spreadsheet makes of numbers are of these years.
const YEARS: std::ops::RangeInclusive<i16> = 1900..=2099;
/// The most forms of numbers that are told apart.
const MOST_FORMS: usize = 1000;

/// Whether this is a day, or the beginning of one, that has more than digits: `12-Mrz`, `Jan-12`, `2012-03-01`.
fn is_day(number: &str) -> bool {
    let folded = Folded::new(number);
    let word = folded.as_str().trim_matches(|letter: char| letter.is_ascii_digit());
    let is_month = word.len() >= 3 && word != folded.as_str() && MONTHS.iter().any(|month| month.starts_with(word));
    let year = match Written::read(number) {
        Ok(Written::Day(day)) => Some(day.year()),
        Ok(Written::Numbers { year, .. }) => Some(year),
        Ok(Written::Nothing) | Err(_) => None,
    };
    let is_written_apart = !number.chars().all(char::is_alphanumeric);
    is_written_apart && (is_month || year.is_some_and(|year| YEARS.contains(&year)))
}

/// Whether a spreadsheet took numbers of the column for days: it makes `12-Mrz` of `12-3`. A practice may number its
/// patients so; then other numbers of the same form are no days.
#[derive(Default)]
pub(super) struct Days {
    /// By the form of numbers: the byte of the first row with a day, if all numbers of this form are days.
    forms: HashMap<String, Option<usize>>,
}

impl Days {
    /// Takes the number of the row that begins at this byte.
    pub(super) fn take(&mut self, number: &str, at: usize) {
        if number.chars().all(char::is_alphanumeric) {
            return;
        }
        let mut form: Vec<char> = number.chars().map(form_of).collect();
        form.dedup_by(|next, before| next == before && next.is_alphanumeric());
        let form: String = form.into_iter().collect();
        if self.forms.len() < MOST_FORMS || self.forms.contains_key(&form) {
            let day = is_day(number).then_some(at);
            self.forms.entry(form).and_modify(|first| *first = first.and(day).and(*first)).or_insert(day);
        }
    }

    /// The byte of the first row with a day in place of its number.
    pub(super) fn found(&self) -> Option<usize> {
        self.forms.values().copied().flatten().min()
    }
}

/// The same for all digits, and for all letters.
fn form_of(letter: char) -> char {
    match letter {
        letter if letter.is_numeric() => '0',
        letter if letter.is_alphabetic() => 'a',
        letter => letter,
    }
}
