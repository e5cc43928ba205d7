//! Patients' numbers: which of them a spreadsheet, a report or a statistics program has spoiled.

use super::super::refused::NoNumber;
use crate::name::{is_bidirectional, is_invisible};

/// What stands between thousands. Other spaces are no part of any number.
const GROUPERS: [char; 5] = ['.', ',', ' ', '\'', '’'];

fn digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
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
    if number.chars().any(|letter| letter != ' ' && letter.is_whitespace()) {
        return Some(NoNumber::Grouped);
    }
    if let Some((mantissa, exponent)) = number.split_once(['E', 'e'])
        && is_decimal(mantissa)
        && exponent.strip_prefix(['+', '-']).is_some_and(digits)
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
