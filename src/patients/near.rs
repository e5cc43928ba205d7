//! The rows that a person could be, for somebody to decide. No letter is filed by this.

use std::collections::HashSet;
use std::fmt;

use jiff::civil::Date;

use super::fold::{Folded, is_separator};
use super::list::{List, Row};
use super::person::Person;

/// The most rows that are shown: more would be a list to search, not a question.
const MOST: usize = 10;

/// A row that could be the person.
#[derive(Clone)]
pub struct Near<'a> {
    /// The row.
    pub row: Row<'a>,
    /// The differences. Empty if only the number leaves a doubt: several rows fit exactly.
    pub differences: Vec<Difference>,
}

/// Does not print the patient.
impl fmt::Debug for Near<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Near({:?})", self.differences)
    }
}

/// What differs between a person and a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Difference {
    /// One last name is a part of the other: of a double name, or without a particle, a suffix or an initial.
    PartOfLastName,
    /// The same for first names; also an initial.
    PartOfFirstName,
    /// The last name is the first name and the other way round.
    SwappedNames,
    /// Day and month are swapped.
    DayAndMonth,
    /// One digit of the date of birth differs.
    OneDigit,
    /// The row or the cloud service has no date of birth.
    NoDateOfBirth,
    /// The first name differs, as with twins.
    FirstName,
    /// The last name differs, as after a wedding.
    LastName,
    /// The date of birth differs.
    DateOfBirth,
    /// Another person in the list has the same number.
    SharedNumber,
}

impl Difference {
    /// The weight of this difference. Two of the heaviest mean strangers.
    fn weight(self) -> u32 {
        match self {
            Self::SharedNumber => 0,
            Self::PartOfLastName
            | Self::PartOfFirstName
            | Self::SwappedNames
            | Self::DayAndMonth
            | Self::OneDigit
            | Self::NoDateOfBirth => 1,
            Self::FirstName | Self::LastName | Self::DateOfBirth => 3,
        }
    }
}

/// From this total weight on, two people are strangers.
const STRANGERS: u32 = 6;

impl List {
    /// The rows that this person could be, the likeliest first; at most ten. Searches the whole list.
    pub fn near(&self, person: &Person) -> Vec<Near<'_>> {
        let wanted = Wanted::new(person);
        let mut near: Vec<(u32, Near<'_>)> = Vec::new();
        let of_that_name: HashSet<u32> = self.places_of(&wanted.last.whole, &wanted.first.whole).collect();
        for (place, row) in (0u32..).zip(self.rows()) {
            let date = wanted.date(row.born);
            // With another date of birth, only a row with exactly these names is considered.
            if date == Some(Difference::DateOfBirth) && !of_that_name.contains(&place) {
                continue;
            }
            let mut differences = wanted.names(&row);
            differences.extend(date);
            if row.is_shared {
                differences.push(Difference::SharedNumber);
            }
            let weight = differences.iter().map(|difference| difference.weight()).sum();
            let is_known = near.iter().any(|(_, known)| known.row.number == row.number && known.row.is_alike(&row));
            if weight < STRANGERS && !is_known {
                near.push((weight, Near { row, differences }));
                // The sort is stable, so equal rows keep the order of the file.
                near.sort_by_key(|(weight, _)| *weight);
                near.truncate(MOST);
            }
        }
        near.into_iter().map(|(_, near)| near).collect()
    }
}

impl Row<'_> {
    /// Whether two rows look the same to a reader.
    fn is_alike(&self, other: &Row<'_>) -> bool {
        (self.last_name, self.first_name, self.born) == (other.last_name, other.first_name, other.born)
    }
}

/// `19800217`
fn digits(day: Date) -> u32 {
    u32::from(day.year().unsigned_abs()) * 10_000
        + u32::from(day.month().unsigned_abs()) * 100
        + u32::from(day.day().unsigned_abs())
}

/// A person, folded once for the comparison with all rows.
struct Wanted {
    last: Name,
    first: Name,
    born: Option<Date>,
}

struct Name {
    whole: Folded,
    parts: Vec<Folded>,
}

impl Name {
    fn new(name: &str) -> Self {
        let parts = name.split(is_separator).map(Folded::new).filter(|part| !part.is_empty()).collect();
        Self { whole: Folded::new(name), parts }
    }

    fn is(&self, other: &Self) -> bool {
        !self.whole.is_empty() && self.whole.is(&other.whole)
    }

    /// Whether each part of the shorter name is a part of the longer one, or an initial of one.
    fn is_part(&self, other: &Self) -> bool {
        let (short, long) = if self.parts.len() > other.parts.len() { (other, self) } else { (self, other) };
        let mut left: Vec<&Folded> = long.parts.iter().collect();
        let mut takes = |part: &Folded| {
            let at = left.iter().position(|other| part.is(other) || is_initial(part, other) || is_initial(other, part));
            at.map(|at| left.remove(at)).is_some()
        };
        !short.parts.is_empty() && short.parts.iter().all(&mut takes)
    }
}

fn is_initial(one: &Folded, of: &Folded) -> bool {
    one.as_str().chars().count() == 1 && of.as_str().starts_with(one.as_str())
}

impl Wanted {
    fn new(person: &Person) -> Self {
        Self { last: Name::new(person.last_name()), first: Name::new(person.first_name()), born: person.born() }
    }

    /// The differences between the names.
    fn names(&self, row: &Row<'_>) -> Vec<Difference> {
        let mut differences = Vec::new();
        let first = Name::new(row.first_name);
        let lasts: Vec<Name> =
            [row.last_name, row.former_name].into_iter().filter(|name| !name.is_empty()).map(Name::new).collect();
        let has_first = self.first.is(&first);
        let is_swapped = |last: &Name| self.last.is(&first) && self.first.is(last);
        if !has_first && lasts.iter().any(is_swapped) {
            differences.push(Difference::SwappedNames);
            return differences;
        }
        if !has_first {
            let is_part = self.first.is_part(&first);
            differences.push(if is_part { Difference::PartOfFirstName } else { Difference::FirstName });
        }
        if !lasts.iter().any(|last| self.last.is(last)) {
            let is_part = lasts.iter().any(|last| self.last.is_part(last));
            differences.push(if is_part { Difference::PartOfLastName } else { Difference::LastName });
        }
        differences
    }

    fn date(&self, born: Option<Date>) -> Option<Difference> {
        let (Some(ours), Some(theirs)) = (self.born, born) else { return Some(Difference::NoDateOfBirth) };
        if ours == theirs {
            return None;
        }
        let swapped = Date::new(theirs.year(), theirs.day(), theirs.month());
        if swapped.is_ok_and(|swapped| swapped == ours) {
            return Some(Difference::DayAndMonth);
        }
        let (ours, theirs) = (digits(ours), digits(theirs));
        let differing = (0..8).filter(|at| ours / 10u32.pow(*at) % 10 != theirs / 10u32.pow(*at) % 10).count();
        Some(if differing == 1 { Difference::OneDigit } else { Difference::DateOfBirth })
    }
}
