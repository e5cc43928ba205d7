//! A patient of the cloud service.

use std::fmt;

use jiff::civil::Date;
use serde_json::Value;

use super::date;
use super::fold::Folded;
use crate::domain::document::Metadata;

/// Last name, first name and date of birth. Missing names are empty.
#[derive(Clone, PartialEq, Eq)]
pub struct Person {
    last_name: String,
    first_name: String,
    born: Option<Date>,
}

/// Does not print the patient.
impl fmt::Debug for Person {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Person(…)")
    }
}

impl Person {
    /// The person with these values.
    pub fn new(last_name: &str, first_name: &str, born: Option<Date>) -> Self {
        Self { last_name: last_name.trim().to_owned(), first_name: first_name.trim().to_owned(), born }
    }

    /// The patient of a document, by `lastName`, `firstName` and `dateOfBirth` (API, "Patient").
    pub fn of(metadata: &Metadata) -> Self {
        let text = |field: &str| metadata.patient.get(field).and_then(Value::as_str).unwrap_or_default();
        Self::new(text("lastName"), text("firstName"), date::of_api(text("dateOfBirth")))
    }

    /// The last name, as the cloud service writes it.
    pub fn last_name(&self) -> &str {
        &self.last_name
    }

    /// The first name, as the cloud service writes it.
    pub fn first_name(&self) -> &str {
        &self.first_name
    }

    /// The date of birth, if there is one.
    pub fn born(&self) -> Option<Date> {
        self.born
    }

    /// Whether both names are non-empty after folding.
    pub fn has_names(&self) -> bool {
        let (last, first) = self.folded();
        !last.is_empty() && !first.is_empty()
    }

    /// The values in the form for comparisons. The text stays the same while letter case and accents change. A digest
    /// of it shows whether a person's decision about this patient still holds. Another spelling of an umlaut makes
    /// another text, since the two spellings may be two names.
    pub fn canonical(&self) -> String {
        let (last, first) = self.folded();
        let born = self.born.map(|born| born.to_string()).unwrap_or_default();
        format!("{}\n{}\n{born}\n", last.as_str(), first.as_str())
    }

    /// The last and the first name, folded.
    pub(super) fn folded(&self) -> (Folded, Folded) {
        (Folded::new(&self.last_name), Folded::new(&self.first_name))
    }
}
