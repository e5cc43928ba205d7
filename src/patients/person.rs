//! A patient of the cloud service.

use std::{fmt, iter};

use jiff::civil::Date;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::date;
use super::fold::Folded;
use crate::domain::document::edition::INCOMPLETE;
use crate::domain::document::{DocumentUuid, Metadata, hex, without_case};

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

    /// Last name, first name and date of birth, and both names in either order; empty if not known.
    fn parts(&self) -> [String; 4] {
        let ((last, first), born) = (self.folded(), self.born.map(|born| born.to_string()).unwrap_or_default());
        let (last, first) = (last.as_str(), first.as_str());
        let both = match last.is_empty() || first.is_empty() {
            true => String::new(),
            false => format!("{}\n{}", last.min(first), last.max(first)),
        };
        [last.to_owned(), first.to_owned(), born, both]
    }

    fn is_whole(&self) -> bool {
        self.has_names() && self.born.is_some()
    }

    /// The last and the first name, folded.
    pub(super) fn folded(&self) -> (Folded, Folded) {
        (Folded::new(&self.last_name), Folded::new(&self.first_name))
    }
}

/// For whom the letter is, in the form of [`edition`](crate::domain::document::edition): digests of the patient's
/// identifier, of name and date of birth as [`Person::canonical`] has them, and of each part. All go with the letter's
/// identifier, so that two letters do not show that they are of one patient.
pub fn whom(metadata: &Metadata, letter: &DocumentUuid) -> String {
    let digest = |text: &str| {
        let mut digits = hex(&Sha256::digest(format!("{} {text}", without_case(letter.as_str()))));
        digits.truncate(32);
        digits
    };
    let uuid = metadata.patient_uuid().map(|uuid| digest(&without_case(uuid))).unwrap_or_default();
    // A mere identifier says nothing of who it is.
    let is_shown = metadata.patient.keys().any(|field| field != "uuid");
    let person = Person::of(metadata);
    if !is_shown {
        return format!("{uuid}-");
    }
    let mut shown = if person.is_whole() { String::new() } else { INCOMPLETE.to_string() };
    shown.push_str(&digest(&person.canonical()));
    for (name, part) in iter::zip(["last", "first", "born", "both"], person.parts()) {
        shown.push(':');
        if !part.is_empty() {
            shown.push_str(digest(&format!("{name} {part}")).get(..8).unwrap_or_default());
        }
    }
    format!("{uuid}-{shown}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::document::edition::merged;

    #[test]
    fn a_letter_is_for_another_patient_by_identifier_name_or_date_of_birth_and_by_nothing_else() {
        let letter = DocumentUuid::parse("L-1").unwrap();
        let of = |patient: Value| {
            let patient = patient.as_object().unwrap().clone();
            whom(&Metadata { patient, ..Metadata::default() }, &letter)
        };
        let zoe = of(json!({"uuid": "p1", "lastName": "Müller", "firstName": "Zoé", "dateOfBirth": "1980-02-17"}));
        let is_zoe = |patient| merged(&zoe, &of(patient)).is_some();
        for same in [
            json!({"uuid": "p1", "lastName": "MÜLLER ", "firstName": "Zoe", "dateOfBirth": "1980-02-17", "phone": "1"}),
            json!({"uuid": "p1"}),
            json!({}),
            json!({"uuid": "p2", "lastName": "Müller", "firstName": "Zoé", "dateOfBirth": "1980-02-17"}),
            // Corrected, or married.
            json!({"uuid": "p1", "lastName": "Meier", "firstName": "Zoé", "dateOfBirth": "1980-02-17"}),
            json!({"uuid": "p1", "lastName": "Müller", "firstName": "Zora", "dateOfBirth": "1980-02-17"}),
            json!({"uuid": "p1", "lastName": "Müller", "firstName": "Zoé", "dateOfBirth": "1980-02-18"}),
            json!({"uuid": "p1", "lastName": "Zoé", "firstName": "Müller", "dateOfBirth": "1980-02-17"}),
            // Completed, or the other way round.
            json!({"uuid": "p1", "lastName": "Müller", "firstName": "Zoé", "dateOfBirth": null}),
            json!({"uuid": "p1", "lastName": "Müller", "firstName": "", "dateOfBirth": "1980-02-17"}),
            json!({"uuid": "p1", "lastName": "Müller"}),
            json!({"uuid": "p1", "lastName": null, "firstName": "", "dateOfBirth": null}),
        ] {
            assert!(is_zoe(same.clone()), "{same}");
        }
        for other in [
            json!({"uuid": "p2", "lastName": "Meier", "firstName": "Zoé", "dateOfBirth": "1980-02-17"}),
            json!({"uuid": "p1", "lastName": "Meier", "firstName": "Zoé", "dateOfBirth": "1980-02-18"}),
            json!({"uuid": "p2", "lastName": "Müller", "firstName": "Zoé", "dateOfBirth": null}),
            json!({"uuid": "p1", "lastName": "Müller", "firstName": "Zora", "dateOfBirth": null}),
            json!({"uuid": "p2", "lastName": "Müller"}),
            json!({"uuid": "p2"}),
        ] {
            assert!(!is_zoe(other.clone()), "{other}");
        }
        assert!(!zoe.contains("p1") && zoe.len() == 65 + 36, "digests only");
    }
}
