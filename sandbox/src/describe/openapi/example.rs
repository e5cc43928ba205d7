//! An example of every answer, made from the same tables as its schema.

use serde_json::{Map, Value, json};

use super::super::field::{Field, Kind, Record};
use super::super::version::Version;
use crate::problem::Problem;

const UUID: &str = "0f0c7a44-6c9b-4a4e-9b66-0f3d6f1e2a10";
const MOMENT: &str = "2026-03-01T09:30:00+00:00";

/// A record, as plain JSON or as JSON-LD.
pub(super) fn record(record: &Record, linked: bool, version: Version) -> Map<String, Value> {
    let mut shown = Map::new();
    if linked {
        if let Some(home) = record.home {
            shown.insert("@id".into(), json!(format!("/{home}/{UUID}")));
        }
        shown.insert("@type".into(), json!(record.resource));
    }
    for field in record.fields(version) {
        let value = match field.leads_to().filter(|_| linked) {
            Some(home) => address(home, field),
            None => value(field.name, field.kind, linked, version),
        };
        shown.insert(field.name.to_owned(), value);
    }
    shown
}

/// The outermost record of an answer. In JSON-LD it names its context.
pub(super) fn item(of: &Record, linked: bool, version: Version) -> Value {
    let mut shown = Map::new();
    if linked {
        shown.insert("@context".into(), json!(format!("/contexts/{}", of.resource)));
    }
    shown.extend(record(of, linked, version));
    Value::Object(shown)
}

/// A page of a list in Hydra's form.
pub(super) fn collection(of: &Record, path: &str, version: Version) -> Value {
    let page = format!("{path}?page=1");
    json!({
        "@context": format!("/contexts/{}", of.resource),
        "@id": path,
        "@type": "Collection",
        "totalItems": 1,
        "member": [record(of, true, version)],
        "view": { "@id": page, "@type": "PartialCollectionView", "first": page, "last": page },
    })
}

/// The body of an error of this status.
pub(super) fn problem(status: u16, description: &str) -> Value {
    match status {
        401 => Problem::Unauthorized("Expired JWT Token").body(),
        422 => Problem::Violations(vec![("success".into(), "This field is missing.".into())]).body(),
        status => Problem::new(status, description).body(),
    }
}

fn address(home: &str, field: &Field) -> Value {
    let address = json!(format!("/{home}/{UUID}"));
    if matches!(field.kind, Kind::ListOf(_)) { json!([address]) } else { address }
}

fn value(name: &str, kind: Kind, linked: bool, version: Version) -> Value {
    match kind {
        Kind::Uuid | Kind::UuidOr(_) => json!(UUID),
        Kind::DateTime => json!(MOMENT),
        Kind::Date => json!("1984-02-29"),
        Kind::Email => json!("claire.delaunay@cabinet-delaunay.example"),
        Kind::Country => json!("FR"),
        Kind::HttpAddress => json!("http://127.0.0.1:8080/hook"),
        Kind::Uri => json!(format!("http://127.0.0.1:8080/files/{UUID}/lab-slip.pdf")),
        Kind::Integer => json!(48_213),
        Kind::Number => json!(45.2),
        Kind::Boolean => json!(true),
        Kind::Digits(count) => json!("9".repeat(count)),
        Kind::OneOf(values) | Kind::OneOfIn1_0(values) => json!(values.first()),
        Kind::Record(of) => Value::Object(record(of, linked, version)),
        Kind::ListOf(kind) => json!([value(name, *kind, linked, version)]),
        Kind::Text | Kind::TextUpTo(_) => json!(text(name)),
    }
}

/// An example for a member of this name.
fn text(name: &str) -> &'static str {
    match name {
        "uuid" | "pdf" | "patient" | "audio" => UUID,
        "firstName" => "Adèle",
        "lastName" => "Fontaine",
        "legalName" | "name" => "Cabinet dentaire Delaunay",
        "language" | "languageSpoken" | "languageDocument" => "fr",
        "phone" => "+33 1 99 00 12 34",
        "email" | "secretariatEmail" => "accueil@cabinet.example",
        "streetAddress" => "12 rue des Tilleuls",
        "postalCode" => "38999",
        "city" => "Valmorel-sur-Isère",
        "country" => "FR",
        "timezone" => "Europe/Paris",
        "website" => "https://cabinet.example",
        "fileName" => "lab_slip-2026-03-01-0f0c7a44.pdf",
        "genericContactSpecialty" | "specialty" => "oral_surgeon",
        "anonymousCode" => "P-004711",
        "mediaRecorderType" => "audio/webm;codecs=opus",
        "secret" => "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        _ => "As somebody wrote it.",
    }
}
