//! The practice's list of patients, and the search for a person in it.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use jiff::civil::Date;

use super::csv::Facts;
use super::doubt::Before;
use super::fold::Folded;
use super::person::Person;
use super::whose::Unmatched;
use crate::domain::reservation::caseless;

/// The whole list, kept only in memory. Rows are ranges of one text, as there may be 200,000.
pub struct List {
    text: String,
    rows: Vec<Span>,
    /// Hashes of names ([`Folded::letters`]) with their rows, sorted. A row with a former name is in it twice.
    by_name: Vec<(u64, u32)>,
    /// Rows sorted by their numbers.
    by_number: Vec<u32>,
    patients: usize,
    facts: Facts,
    sha256: String,
    /// By their lines the rows that others are like, with every further column of the file.
    further: HashMap<u32, Vec<(String, String)>>,
}

/// The place of a row's values in the text. They follow one another; these are their lengths.
struct Span {
    start: usize,
    number: u16,
    last_name: u16,
    first_name: u16,
    former_name: u16,
    born: Option<Date>,
    /// Whether another person has the same number.
    is_shared: bool,
    line: u32,
}

/// Does not print the patients.
impl fmt::Debug for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "List of {} patients", self.patients)
    }
}

/// One row of the list.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    /// The patient's number in the practice's software: a text, never empty.
    pub number: &'a str,
    /// As in the file; may be empty.
    pub last_name: &'a str,
    /// As in the file; may be empty.
    pub first_name: &'a str,
    /// Another last name that also counts; mostly empty.
    pub former_name: &'a str,
    /// The date of birth, if there is one.
    pub born: Option<Date>,
    /// Whether the list has another person with the same number. Then the number counts for neither. Numbers are the
    /// same if they differ in letter case only, or in how a letter is composed: many shares make one folder of them.
    pub is_shared: bool,
    /// The line of the file, counted from 1.
    pub line: u32,
}

/// Does not print the patient.
impl fmt::Debug for Row<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Row(…)")
    }
}

impl Row<'_> {
    /// The person of this row, for [`Person::canonical`].
    pub fn person(&self) -> Person {
        Person::new(self.last_name, self.first_name, self.born)
    }

    /// Last and first name in one line, for people.
    pub fn named(&self) -> String {
        format!("{} {}", self.last_name, self.first_name).trim().to_owned()
    }

    /// The last name as shown to people, with the former one.
    pub fn last_names_shown(&self) -> String {
        match self.former_name {
            "" => self.last_name.to_owned(),
            former => format!("{} ({former})", self.last_name),
        }
    }

    /// Which values the row shares with this person, for somebody who compares them.
    pub fn compared(&self, person: &Person) -> Compared {
        let (last, first) = person.folded();
        Compared {
            last_name: self.last_names().any(|name| name.is(&last)),
            first_name: Folded::new(self.first_name).is(&first),
            born: self.born == person.born(),
        }
    }

    /// The last name, and the former name if there is one.
    fn last_names(&self) -> impl Iterator<Item = Folded> {
        [self.last_name, self.former_name].into_iter().map(Folded::new).filter(|name| !name.is_empty())
    }

    /// Whether both rows are alike in all that is compared.
    pub fn is_same_person(&self, other: &Row<'_>) -> bool {
        let theirs: Vec<Folded> = other.last_names().collect();
        let has_last_name = self.last_names().any(|ours| theirs.iter().any(|name| ours.is(name)));
        let has_none = theirs.is_empty() && self.last_names().next().is_none();
        self.born == other.born
            && Folded::new(self.first_name).is(&Folded::new(other.first_name))
            && (has_last_name || has_none)
    }
}

/// Which values are the same on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compared {
    /// The last name, or the former one.
    pub last_name: bool,
    /// The first name.
    pub first_name: bool,
    /// The date of birth.
    pub born: bool,
}

impl List {
    /// The number of this person, found by last name, first name and date of birth together. A row without a date of
    /// birth matches nobody, and does not prevent the match of a namesake.
    ///
    /// # Errors
    /// Why there is not exactly one.
    pub fn find(&self, person: &Person) -> Result<String, Unmatched> {
        if !person.has_names() {
            return Err(Unmatched::NoName);
        }
        let Some(born) = person.born() else { return Err(Unmatched::NoDateOfBirth) };
        let (last, first) = person.folded();
        let is_meant = |row: &Row<'_>| {
            row.born == Some(born)
                && Folded::new(row.first_name).is(&first)
                && row.last_names().any(|name| name.is(&last))
        };
        let mut left: Option<&str> = None;
        let mut is_shared = false;
        for row in self.with_names(&last, &first).filter(is_meant) {
            match left {
                _ if row.is_shared => is_shared = true,
                Some(number) if number != row.number => return Err(Unmatched::Several),
                _ => left = Some(row.number),
            }
        }
        match left {
            Some(number) => Ok(number.to_owned()),
            None if is_shared => Err(Unmatched::Several),
            None => Err(Unmatched::Nobody),
        }
    }

    /// The row with this number; the first of several.
    pub fn row(&self, number: &str) -> Option<Row<'_>> {
        self.rows_of(number).next()
    }

    /// The rows with this number. They are one person's, unless the number is shared.
    pub fn rows_of(&self, number: &str) -> impl Iterator<Item = Row<'_>> {
        let at = self.by_number.partition_point(|row| self.at(*row).is_some_and(|row| row.number < number));
        let rest = self.by_number.get(at..).unwrap_or_default().iter().filter_map(|row| self.at(*row));
        rest.take_while(move |row| row.number == number)
    }

    /// Whether the list has a number that differs from this one in letter case only, or in how a letter is composed.
    pub fn has_twin(&self, number: &str) -> bool {
        let folded = caseless(number);
        self.rows().any(|row| row.number != number && caseless(row.number) == folded)
    }

    /// All rows, in the order of the file.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().filter_map(|place| self.row_at(place))
    }

    /// What the file says of a row in the columns that are not compared, with their names: only of rows that others are
    /// like, as somebody has to tell them apart.
    pub fn further(&self, row: &Row<'_>) -> &[(String, String)] {
        self.further.get(&row.line).map(Vec::as_slice).unwrap_or_default()
    }

    /// The indexes of rows, with their lines, that other rows with other numbers may be like: at most [`MOST_ALIKE`].
    pub(super) fn alike(&self) -> Vec<(usize, u32)> {
        let mut groups: HashMap<(u64, Option<Date>), Vec<u32>> = HashMap::new();
        for (name, row) in &self.by_name {
            if let Some(born) = self.at(*row).map(|found| found.born) {
                groups.entry((*name, born)).or_default().push(*row);
            }
        }
        groups.retain(|_, rows| {
            let mut numbers = rows.iter().filter_map(|row| self.at(*row)).map(|row| row.number);
            numbers.next().is_some_and(|first| numbers.any(|other| other != first))
        });
        let rows: BTreeSet<u32> = groups.into_values().flatten().collect();
        let found = rows.into_iter().filter_map(|row| Some((usize::try_from(row).ok()?, self.at(row)?.line)));
        found.take(MOST_ALIKE).collect()
    }

    pub(super) fn set_further(&mut self, further: HashMap<u32, Vec<(String, String)>>) {
        self.further = further;
    }

    /// The number of patients: of different numbers.
    pub fn patients(&self) -> usize {
        self.patients
    }

    /// The number of rows with a number.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether the list has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How the file was read.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// SHA-256 of the file's bytes; 64 hexadecimal digits.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// What is kept of it for the next list.
    pub fn as_before(&self) -> Before {
        Before { sha256: self.sha256.clone(), rows: self.len(), is_open: self.facts.is_open }
    }

    /// The rows with these names, and possibly some others.
    fn with_names(&self, last: &Folded, first: &Folded) -> impl Iterator<Item = Row<'_>> {
        self.places_of(last, first).filter_map(|row| self.at(row))
    }

    /// The indexes of the rows of [`Self::with_names`].
    pub(super) fn places_of(&self, last: &Folded, first: &Folded) -> impl Iterator<Item = u32> {
        let wanted = hash(last, first);
        let start = self.by_name.partition_point(|(hash, _)| *hash < wanted);
        let rest = self.by_name.get(start..).unwrap_or_default();
        rest.iter().take_while(move |(hash, _)| *hash == wanted).map(|(_, row)| *row)
    }

    fn at(&self, row: u32) -> Option<Row<'_>> {
        self.row_at(self.rows.get(usize::try_from(row).ok()?)?)
    }

    fn row_at(&self, place: &Span) -> Option<Row<'_>> {
        let mut rest = self.text.get(place.start..)?;
        let mut next = |length: u16| {
            let (value, behind) = rest.split_at_checked(usize::from(length))?;
            rest = behind;
            Some(value)
        };
        Some(Row {
            number: next(place.number)?,
            last_name: next(place.last_name)?,
            first_name: next(place.first_name)?,
            former_name: next(place.former_name)?,
            born: place.born,
            is_shared: place.is_shared,
            line: place.line,
        })
    }
}

/// Collects rows, and builds the list from them.
#[derive(Default)]
pub(super) struct Builder {
    text: String,
    rows: Vec<Span>,
}

/// The most rows whose further columns are kept: a list of nothing but namesakes fills no memory.
const MOST_ALIKE: usize = 1000;
/// The longest value of a row; bytes. The parser refuses longer ones.
pub(super) const MAX_VALUE_BYTES: usize = 1000;

impl Builder {
    /// Adds the row of a line. Its values have at most [`MAX_VALUE_BYTES`] bytes.
    pub(super) fn add(&mut self, [number, last_name, first_name, former_name]: [&str; 4], line: u32) {
        let start = self.text.len();
        let mut push = |value: &str| {
            let length = u16::try_from(value.len()).unwrap_or_default();
            self.text.push_str(if length == 0 { "" } else { value });
            length
        };
        let [number, last_name, first_name, former_name] = [number, last_name, first_name, former_name].map(&mut push);
        self.rows.push(Span { start, number, last_name, first_name, former_name, born: None, is_shared: false, line });
    }

    /// Sets the date of birth of a row, once it is known how dates are written.
    pub(super) fn set_born(&mut self, row: usize, born: Option<Date>) {
        if let Some(place) = self.rows.get_mut(row) {
            place.born = born;
        }
    }

    pub(super) fn finish(mut self, facts: Facts, sha256: String) -> List {
        self.text.shrink_to_fit();
        let mut list = List {
            text: self.text,
            rows: self.rows,
            by_name: Vec::new(),
            by_number: Vec::new(),
            patients: 0,
            facts,
            sha256,
            further: HashMap::new(),
        };
        let mut by_name = Vec::with_capacity(list.rows.len());
        for (index, row) in (0u32..).zip(list.rows()) {
            let first = Folded::new(row.first_name);
            by_name.extend(row.last_names().map(|last| (hash(&last, &first), index)));
        }
        by_name.sort_unstable();
        by_name.dedup();
        let mut by_number: Vec<u32> = (0u32..).zip(&list.rows).map(|(index, _)| index).collect();
        by_number.sort_by_cached_key(|row| list.at(*row).map(|row| row.number));
        let same_number = |a: &u32, b: &u32| list.at(*a).map(|row| row.number) == list.at(*b).map(|row| row.number);
        let patients = by_number.chunk_by(same_number).count();
        let mut by_folder: Vec<(String, u32)> =
            by_number.iter().filter_map(|row| Some((caseless(list.at(*row)?.number), *row))).collect();
        by_folder.sort();
        let groups = by_folder.chunk_by(|a, b| a.0 == b.0).map(|group| group.iter().map(|(_, row)| *row).collect());
        let shared: Vec<u32> = groups.filter(|group: &Vec<u32>| list.are_several(group)).flatten().collect();
        for row in shared {
            if let Some(place) = usize::try_from(row).ok().and_then(|row| list.rows.get_mut(row)) {
                place.is_shared = true;
            }
        }
        List { by_name, by_number, patients, ..list }
    }
}

/// The most spellings of one person. With more, a number is taken for that of several.
const MOST_SPELLINGS: usize = 16;

impl List {
    /// Whether any two of these rows are different persons. Compares each spelling with all before it, since equality
    /// of names is not transitive.
    fn are_several(&self, rows: &[u32]) -> bool {
        if rows.len() == 1 {
            return false;
        }
        let mut spellings = HashSet::new();
        let mut known: Vec<Row<'_>> = Vec::new();
        for row in rows.iter().filter_map(|row| self.at(*row)) {
            if !spellings.insert(row.person().canonical() + Folded::new(row.former_name).as_str()) {
                continue;
            }
            if known.len() == MOST_SPELLINGS || known.iter().any(|known| !known.is_same_person(&row)) {
                return true;
            }
            known.push(row);
        }
        false
    }
}

fn hash(last: &Folded, first: &Folded) -> u64 {
    let mut hasher = DefaultHasher::new();
    (last.letters(), first.letters()).hash(&mut hasher);
    hasher.finish()
}
