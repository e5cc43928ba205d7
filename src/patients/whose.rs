//! The number of a letter's patient in the practice's list, or why a person must say it.

use std::fmt;

use sha2::{Digest as _, Sha256};

use super::list::{Compared, List, Row};
use super::person::Person;
use crate::domain::document::hex;

/// Why the number of a letter's patient is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unmatched {
    /// The list has nobody with this name and date of birth.
    Nobody,
    /// The list has several such patients, or another patient with the same number.
    Several,
    /// The cloud service does not tell the date of birth.
    NoDateOfBirth,
    /// The cloud service does not tell the last or the first name.
    NoName,
    /// The destination has another number for the patient than the list.
    OtherNumber,
    /// The destination has no patient with this number.
    NotThere,
    /// The destination has several patients with this number.
    SeveralThere,
    /// The destination, or its language, cannot hold the number as it is.
    NotHeld,
    /// The letter was delivered elsewhere by a number that the list gives to somebody else now.
    GivenAway,
    /// No list has been read yet. The remedy is the file, not a decision about this letter.
    NoList,
}

impl Unmatched {
    /// Whether this word says that the destination does not take the letter by this number.
    pub fn is_of_destination(word: &str) -> bool {
        [Self::OtherNumber, Self::NotThere, Self::SeveralThere, Self::NotHeld].iter().any(|why| why.as_str() == word)
    }

    /// The word in the ledger.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Nobody => "nobody",
            Self::Several => "several",
            Self::NoDateOfBirth => "no_date_of_birth",
            Self::NoName => "no_name",
            Self::OtherNumber => "other_number",
            Self::NotThere => "not_there",
            Self::SeveralThere => "several_there",
            Self::NotHeld => "not_held",
            Self::GivenAway => "given_away",
            Self::NoList => "no_list",
        }
    }
}

/// The message for people; without the patient's name.
impl fmt::Display for Unmatched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nobody => {
                "needs a person: nobody in the practice's list has the patient's last name, first name and date of birth"
            }
            Self::Several => "needs a person: several patients in the practice's list may be meant",
            Self::NoDateOfBirth => "needs a person: the service does not tell the patient's date of birth (no date of birth)",
            Self::NoName => "needs a person: the service does not tell the patient's last or first name",
            Self::OtherNumber => {
                "needs a person: the patient at the destination has another number than the letter's"
            }
            Self::NotThere => {
                "needs a person: the destination has no patient of this number: enter the patient there, then run `docsyncd retry`"
            }
            Self::SeveralThere => {
                "needs a person: the destination has several patients of this number: merge them there, then run `docsyncd retry`"
            }
            Self::NotHeld => {
                "needs a person: the patient's number has a character, a length or an end that this destination cannot keep as \
                 it is (as / or a full stop at the end in a file's name), and a number is never changed: give the patient \
                 another number, or change the destination's template or encoding, then run `docsyncd retry`"
            }
            Self::GivenAway => {
                "needs a person: the letter was delivered elsewhere with a number that the practice's list gives to somebody else now"
            }
            Self::NoList => "the practice's list of patients cannot be read yet: `docsyncd check` says why",
        })
    }
}

/// The number of the patient in the practice's list. A person's decision in `assigned` (the number and its
/// [`fingerprint`]) counts as long as name and date of birth are unchanged in both places. Otherwise the list decides.
///
/// # Errors
/// Why the number is unknown.
pub fn whose(
    list: Option<&List>,
    patient: &str,
    person: &Person,
    assigned: Option<(&str, &str)>,
) -> Result<String, Unmatched> {
    let list = list.ok_or(Unmatched::NoList)?;
    decided(list, patient, person, assigned).map_or_else(|| list.find(person), Ok)
}

/// The same for a letter that was delivered elsewhere by the number `frozen`, which stays its number as long as the
/// list does not give it to somebody else.
///
/// # Errors
/// Why a person has to say the number.
pub fn whose_still(
    list: Option<&List>,
    patient: &str,
    person: &Person,
    assigned: Option<(&str, &str)>,
    frozen: Option<&str>,
) -> Result<String, Unmatched> {
    let (Some(frozen), Some(list)) = (frozen, list) else { return whose(list, patient, person, assigned) };
    let same = Compared { last_name: true, first_name: true, born: true };
    let is_theirs = |row: Row<'_>| !row.is_shared && row.compared(person) == same;
    let is_free = list.row(frozen).is_none() && !list.has_twin(frozen);
    if is_free || list.rows_of(frozen).any(is_theirs) {
        return Ok(frozen.to_owned());
    }
    decided(list, patient, person, assigned).ok_or(Unmatched::GivenAway)
}

/// A person's decision that still holds: nobody else has got the number meanwhile, nor one that many shares take for
/// it.
fn decided(list: &List, patient: &str, person: &Person, assigned: Option<(&str, &str)>) -> Option<String> {
    let (number, then) = assigned?;
    let is_shared = match list.row(number) {
        Some(_) => list.rows_of(number).any(|row| row.is_shared),
        None => list.has_twin(number),
    };
    if is_shared {
        return None;
    }
    (fingerprint(patient, number, person, list) == then).then(|| number.to_owned())
}

/// A digest of the patient's identity in both places: 64 hexadecimal digits. It changes if a name, a date of birth or
/// the row of the list changes.
pub fn fingerprint(patient: &str, number: &str, person: &Person, list: &List) -> String {
    let mut rows: Vec<String> = list.rows_of(number).map(|row| row.person().canonical()).collect();
    rows.sort_unstable();
    rows.dedup();
    let mut hash = Sha256::new();
    for part in [patient, number, &person.canonical()].into_iter().chain(rows.iter().map(String::as_str)) {
        hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        hash.update(part);
    }
    hex(&hash.finalize())
}
