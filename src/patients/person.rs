//! A patient as the cloud service knows it.

use std::fmt;

use jiff::civil::Date;
use serde_json::Value;

use super::date;
use super::fold::Folded;
use crate::document::Metadata;

/// Last name, first name and date of birth. What is missing is empty.
#[derive(Clone, PartialEq, Eq)]
pub struct Person {
    last_name: String,
    first_name: String,
    born: Option<Date>,
}

/// It is a patient.
impl fmt::Debug for Person {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Person(…)")
    }
}

impl Person {
    /// Somebody of these names.
    pub fn new(last_name: &str, first_name: &str, born: Option<Date>) -> Self {
        Self { last_name: last_name.trim().to_owned(), first_name: first_name.trim().to_owned(), born }
    }

    /// The patient of a document, by `lastName`, `firstName` and `dateOfBirth` (API, "Patient").
    pub fn of(metadata: &Metadata) -> Self {
        let text = |field: &str| metadata.patient.get(field).and_then(Value::as_str).unwrap_or_default();
        Self::new(text("lastName"), text("firstName"), date::of_api(text("dateOfBirth")))
    }

    /// As the cloud service writes it.
    pub fn last_name(&self) -> &str {
        &self.last_name
    }

    /// As the cloud service writes it.
    pub fn first_name(&self) -> &str {
        &self.first_name
    }

    /// The date of birth, if there is one.
    pub fn born(&self) -> Option<Date> {
        self.born
    }

    /// Whether both names have something that can be compared.
    pub fn has_names(&self) -> bool {
        let (last, first) = self.folded();
        !last.is_empty() && !first.is_empty()
    }

    /// Name and date of birth in the form in which they are compared: a text that stays the same as long as they do,
    /// whatever the letter case or accents. A digest of it tells whether a person's word on this patient still holds.
    /// An umlaut that is written in another way makes another text, as two ways may be two names.
    pub fn canonical(&self) -> String {
        let (last, first) = self.folded();
        let born = self.born.map(|born| born.to_string()).unwrap_or_default();
        format!("{}\n{}\n{born}\n", last.as_str(), first.as_str())
    }

    /// Last and first name.
    pub(super) fn folded(&self) -> (Folded, Folded) {
        (Folded::new(&self.last_name), Folded::new(&self.first_name))
    }
}
