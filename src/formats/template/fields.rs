//! The fields that the API describes ("Resources and their fields"), to find a misspelt one before a document is filed
//! under `unknown`. A server may have more: a template that names one says what stands there without it, by `default`.

use std::fmt;
use std::path::PathBuf;

use serde_json::Value;

use super::Context;
use crate::domain::document::{Metadata, Record, Spooled};

/// A document of `GET /documents/{uuid}`.
const DOCUMENT: &[&str] = &[
    "uuid",
    "createdAt",
    "updatedAt",
    "encounteredAt",
    "user",
    "patient",
    "audio",
    "type",
    "pdf",
    "isAnonymized",
    "genericContactSpecialty",
    "documentIntegrations",
];

/// The `pdf` of a document.
const PDF: &[&str] = &["uuid", "name", "size", "createdAt", "updatedAt", "url", "fileName"];

/// A patient in responses, and the practice's own number.
const PATIENT: &[&str] = &[
    "uuid",
    "firstName",
    "lastName",
    "languageSpoken",
    "createdAt",
    "updatedAt",
    "synchronizedAt",
    "dateOfBirth",
    "gender",
    "user",
    "visibilityOption",
    "email",
    "phone",
    "anonymousCode",
    "number",
];

/// Accepted when a patient is created or changed, but never returned.
const WRITE_ONLY: &[&str] = &["externalId", "externalCreatedAt", "customPrompt"];

/// A user in a document.
const USER: &[&str] =
    &["uuid", "email", "createdAt", "updatedAt", "firstName", "lastName", "gender", "phone", "rpps", "am"];

/// The names of all fields.
#[cfg(test)]
pub(super) fn all() -> impl Iterator<Item = &'static str> {
    [DOCUMENT, PDF, PATIENT, USER].concat().into_iter()
}

/// A document that has every field. The value of a text field is its own name; the uuids of the document and its PDF
/// are `identity`.
pub(super) fn sample(pdf_name: &str, identity: &str, number: &str) -> Context {
    let record = |fields: &[&str]| -> Record {
        let value = |field: &str| match field {
            "createdAt" | "updatedAt" | "encounteredAt" | "synchronizedAt" => "2026-11-21T10:00:00+00:00".into(),
            "size" => 1.into(),
            "isAnonymized" => false.into(),
            "documentIntegrations" => Value::Array(Vec::new()),
            field => field.into(),
        };
        fields.iter().map(|field| ((*field).to_owned(), value(field))).collect()
    };
    let (mut document, mut patient, user) = (record(DOCUMENT), record(PATIENT), record(USER));
    patient.insert("user".to_owned(), user.clone().into());
    let mut of_pdf = record(PDF);
    for record in [&mut document, &mut of_pdf] {
        record.insert("uuid".to_owned(), identity.into());
    }
    document.extend(
        [("pdf", of_pdf), ("patient", patient.clone()), ("user", user.clone())]
            .map(|(name, record)| (name.to_owned(), record.into())),
    );
    let pdf = Spooled { path: PathBuf::new(), in_memory: None, size: 1, sha256: "sha256".to_owned() };
    let metadata = Metadata { account: "account".to_owned(), document, patient, user, number: Some(number.to_owned()) };
    Context::new(&metadata)
        .with_file("file")
        .with_pdf(pdf_name, &pdf, "key")
        .with_pdf_in_base64()
        .with_visible_file("visible_file")
        .with_number3(1)
        .with_lookup(&1.into())
        .with_patient_id(number)
        .with_offset(0)
}

/// From this similarity on, between 0 and 1, a known field was probably meant.
const MISSPELT: f64 = 0.5;

/// A field that the API does not describe.
pub(super) struct Unknown {
    /// What stands before the field: `patient`, `document.pdf`.
    parent: &'static str,
    /// The known fields, the nearest alone if one is similar.
    meant: Vec<&'static str>,
}

/// What was meant, or what there is.
impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self.meant.as_slice() {
            [nearest] => write!(f, "did you mean `{}.{nearest}`?", self.parent),
            ref all => {
                let all = all.join(", ");
                write!(f, "`{}` has {all}; one that your service has beyond these needs `| default(\"\")`", self.parent)
            }
        }
    }
}

/// What is doubtful about a field; continues a sentence that begins with the template.
///
/// # Errors
/// The API does not describe the field.
pub(super) fn doubt(path: &str) -> Result<Option<String>, Unknown> {
    let parts: Vec<&str> = path.split('.').collect();
    let (parent, field, known) = match *parts.as_slice() {
        ["document", "pdf", field, ..] => ("document.pdf", field, PDF),
        // The service knows no such number.
        ["document", "patient", "number", ..] => return Err(Unknown { parent: "patient", meant: vec!["number"] }),
        ["document", field, ..] => ("document", field, DOCUMENT),
        ["patient", field, ..] => ("patient", field, PATIENT),
        ["user", field, ..] => ("user", field, USER),
        _ => return Ok(None),
    };
    if known.contains(&field) {
        return Ok(None);
    }
    if parent == "patient" && WRITE_ONLY.contains(&field) {
        return Ok(Some(format!("uses `{parent}.{field}`, which the API takes and never gives back")));
    }
    let nearest = known
        .iter()
        .map(|known| (strsim::normalized_damerau_levenshtein(&known.to_lowercase(), &field.to_lowercase()), *known))
        .filter(|(likeness, _)| *likeness > MISSPELT)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    Err(Unknown { parent, meant: nearest.map_or_else(|| known.to_vec(), |(_, nearest)| vec![nearest]) })
}
