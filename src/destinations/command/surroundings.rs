//! What the program gets besides its arguments: variables, and one JSON object on standard input.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use heck::ToShoutySnakeCase as _;
use serde_json::{Value, json};

use super::output::REASON_FILE;
use crate::destinations::Item;
use crate::domain::document::Record;

/// Longer values are only in the JSON: systems bound the size of a variable and of all together.
const MAX_VALUE_BYTES: usize = 8 * 1024;

/// The most variables one record makes.
const MAX_FIELDS: usize = 100;

const PREFIX: &str = "DOCSYNCD_";

/// Variables of the service manager for the daemon only: the socket to report its state, the folder with its
/// credentials.
const DAEMONS_OWN: &[&str] = &["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "CREDENTIALS_DIRECTORY"];

/// The object on standard input, with a line feed so that a shell's `read` takes it.
pub(super) fn input(destination: &str, item: &Item, file: &str) -> Vec<u8> {
    let object = json!({
        "document": item.metadata.document,
        "patient": item.metadata.patient,
        "user": item.metadata.user,
        "account": item.metadata.account,
        "file": file,
        "key": item.key,
        "sha256": item.pdf.sha256,
        "size": item.pdf.size,
        "destination": destination,
    });
    format!("{object}\n").into_bytes()
}

/// The whole environment: the inherited one (see [`inherited`]), and `DOCSYNCD_*` of this document.
///
/// The daemon's own variables with that prefix are settings, including secrets (`DOCSYNCD__ACCOUNTS__…__API_KEY`): none
/// is passed on.
pub(super) fn environment(destination: &str, item: &Item, file: &str, reason: &Path) -> Vec<(OsString, OsString)> {
    let told = variables(destination, item, file).into_iter().map(|(name, value)| (name.into(), value.into()));
    inherited().chain(told).chain([(REASON_FILE.into(), reason.into())]).collect()
}

/// The daemon's environment without the variables that are only for the daemon.
pub(in crate::destinations) fn inherited() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os().filter(|(name, _)| is_handed_on(&name.to_string_lossy()))
}

fn is_handed_on(name: &str) -> bool {
    // Windows ignores letter case in names of variables.
    let name = name.to_ascii_uppercase();
    !name.starts_with(PREFIX) && !DAEMONS_OWN.contains(&name.as_str())
}

pub(super) fn variables(destination: &str, item: &Item, file: &str) -> BTreeMap<String, String> {
    let metadata = &item.metadata;
    let mut all = BTreeMap::new();
    let pdf = metadata.document.get("pdf").and_then(Value::as_object);
    let sections = [
        ("DOCUMENT", Some(&metadata.document)),
        ("DOCUMENT_PDF", pdf),
        ("PATIENT", Some(&metadata.patient)),
        ("USER", Some(&metadata.user)),
    ];
    for (section, record) in sections {
        add_scalars(&mut all, section, record);
    }
    let size = item.pdf.size.to_string();
    for (name, value) in [
        ("FILE", file),
        ("KEY", &item.key),
        ("SHA256", &item.pdf.sha256),
        ("SIZE", &size),
        ("DESTINATION", destination),
        ("ACCOUNT", &metadata.account),
    ] {
        all.insert(format!("{PREFIX}{name}"), value.to_owned());
    }
    all.retain(|_, value| !value.contains('\0'));
    all
}

fn add_scalars(all: &mut BTreeMap<String, String>, section: &str, record: Option<&Record>) {
    for (field, value) in record.into_iter().flatten().take(MAX_FIELDS) {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(_) | Value::Bool(_) => value.to_string(),
            Value::Null | Value::Array(_) | Value::Object(_) => continue,
        };
        let name = upper_snake(field);
        if !name.is_empty() && text.len() <= MAX_VALUE_BYTES {
            all.entry(format!("{PREFIX}{section}_{name}")).or_insert(text);
        }
    }
}

/// `lastName` becomes `LAST_NAME`, `patientURLPath` becomes `PATIENT_URL_PATH`; characters that are invalid in a
/// variable's name separate words.
fn upper_snake(field: &str) -> String {
    field.replace(|c: char| !c.is_ascii_alphanumeric(), " ").to_shouty_snake_case()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_names_become_names_of_variables() {
        for (field, expected) in [
            ("lastName", "LAST_NAME"),
            ("uuid", "UUID"),
            ("dateOfBirth", "DATE_OF_BIRTH"),
            ("patientURLPath", "PATIENT_URL_PATH"),
            ("audioWorkflowStepV3", "AUDIO_WORKFLOW_STEP_V3"),
            ("@id", "ID"),
            ("a=b c", "A_B_C"),
            ("é", ""),
        ] {
            assert_eq!(upper_snake(field), expected);
        }
    }

    #[test]
    fn settings_and_the_service_managers_variables_are_not_handed_on() {
        for name in ["DOCSYNCD__ACCOUNTS__MAIN__API_KEY", "docsyncd_x", "NOTIFY_SOCKET", "CREDENTIALS_DIRECTORY"] {
            assert!(!is_handed_on(name), "{name}");
        }
        assert!(is_handed_on("PATH") && is_handed_on("DOCSYNC"));
    }
}
