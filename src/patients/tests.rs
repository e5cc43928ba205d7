//! Which persons are found, and which are not.

mod cases;
mod damaged;
mod near;
mod random;

use std::path::PathBuf;

use super::*;
use crate::config::{PatientsConfig, PatientsEncoding};

/// The configuration for a list as Open Dental exports it.
pub(super) fn config() -> PatientsConfig {
    PatientsConfig {
        file: PathBuf::from("patients.csv"),
        number: "PatNum".to_owned(),
        last_name: "LName".to_owned(),
        first_name: "FName".to_owned(),
        date_of_birth: "Birthdate".to_owned(),
        former_name: None,
        date_format: None,
        encoding: PatientsEncoding::Auto,
        delimiter: None,
        push: false,
    }
}

/// A list with a column of former names, which a row may leave out. `rows` has no first line.
pub(super) fn list(rows: &[&str]) -> List {
    let whole = |row: &&str| if row.matches(';').count() < 4 { format!("{row};") } else { (*row).to_owned() };
    let rows: Vec<String> = rows.iter().map(whole).collect();
    let text = format!("PatNum;LName;FName;Birthdate;BirthName\n{}\n", rows.join("\n"));
    let config = PatientsConfig { former_name: Some("BirthName".to_owned()), ..config() };
    parse(text.as_bytes(), &config).unwrap_or_else(|error| panic!("{error}"))
}

/// `Müller, Jörg, 1980-02-17`
pub(super) fn person(text: &str) -> Person {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let [last, first, born] = parts.as_slice() else { panic!("{text}") };
    let record = serde_json::json!({"lastName": last, "firstName": first, "dateOfBirth": born});
    let patient = record.as_object().cloned().unwrap();
    Person::of(&crate::document::Metadata { patient, ..Default::default() })
}
