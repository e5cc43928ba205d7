//! What a FHIR server answers. Pure; its words are passed on nowhere.

use serde_json::Value;

use super::resource::{Content, URI_SYSTEM};

/// What a resource shows of its content.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// The letter's.
    Same,
    /// Another one.
    Other,
    /// Nothing that can be compared; where it lies, if it was moved out.
    Unsaid(Option<String>),
}

/// The resources of this type that a search found, as far as they answer it; `None` where it is no bundle of a search.
pub(super) fn matches<'a>(bundle: &'a Value, kind: &str) -> Option<Vec<&'a Value>> {
    if text(bundle, "resourceType") != Some("Bundle") || text(bundle, "type") != Some("searchset") {
        return None;
    }
    let entries = match bundle.get("entry") {
        None => return Some(Vec::new()),
        Some(entries) => entries.as_array()?,
    };
    // A server may send what was not asked for along (`include`), or what went wrong (`outcome`).
    let is_match = |entry: &&Value| {
        let mode = entry.get("search").and_then(|search| text(search, "mode"));
        mode.is_none_or(|mode| mode == "match")
    };
    let resources = entries.iter().filter(is_match).filter_map(|entry| entry.get("resource"));
    Some(resources.filter(|resource| text(resource, "resourceType") == Some(kind)).collect())
}

fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name).and_then(Value::as_str)
}

/// The id of a resource; `None` for what cannot be one (FHIR R4, "id").
pub(super) fn id_of(resource: &Value) -> Option<String> {
    text(resource, "id").and_then(an_id)
}

fn an_id(id: &str) -> Option<String> {
    let is_id = (1..=64).contains(&id.len()) && id.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-' || c == b'.');
    // A segment of dots alone names another place.
    (is_id && id.bytes().any(|c| c != b'.')).then(|| id.to_owned())
}

/// The id of a letter in the answer to its creation.
pub(super) fn created(body: &Value) -> Option<String> {
    id_of(body).filter(|_| text(body, "resourceType") == Some("DocumentReference"))
}

/// The id of a letter in the address of its creation (`Location`): `…/DocumentReference/ID/_history/1`.
pub(super) fn id_in(location: &str) -> Option<String> {
    let (_, rest) = location.rsplit_once("DocumentReference/")?;
    an_id(rest.split(['/', '?', '#']).next()?)
}

/// Whether it is known by this identifier, and current.
pub(super) fn has_identifier(resource: &Value, value: &str) -> bool {
    let is_it = |identifier: &Value| {
        text(identifier, "system") == Some(URI_SYSTEM)
            && text(identifier, "value").is_some_and(|shown| shown.eq_ignore_ascii_case(value))
    };
    let listed = resource.get("identifier").and_then(Value::as_array);
    let is_known =
        resource.get("masterIdentifier").is_some_and(is_it) || listed.is_some_and(|all| all.iter().any(is_it));
    is_known && text(resource, "status") != Some("entered-in-error")
}

/// Whether a patient has this id, or an identifier of this value.
pub(super) fn is_known_by(patient: &Value, id: &str) -> bool {
    let identifiers = patient.get("identifier").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    text(patient, "id") == Some(id)
        || identifiers.iter().any(|identifier| text(identifier, "value").map(str::trim) == Some(id))
}

/// Whether what it says of its content is what was sent: `expected` by its hash, and the length.
pub(super) fn contradicts(resource: &Value, size: u64, expected: Option<&Content>) -> Shown {
    let content = resource.get("content").and_then(Value::as_array).map(Vec::as_slice);
    let Some([part]) = content else {
        return if content.is_some_and(|all| !all.is_empty()) { Shown::Other } else { Shown::Unsaid(None) };
    };
    let Some(attachment) = part.get("attachment") else { return Shown::Other };
    // A length is a number, which some servers print as a text.
    let shown_size = attachment.get("size").and_then(|size| size.as_u64().or_else(|| size.as_str()?.parse().ok()));
    if shown_size.is_some_and(|shown| shown != size) {
        return Shown::Other;
    }
    let same = match (text(attachment, "hash"), expected) {
        (Some(hash), Some(expected)) => Some(hash.trim() == expected.hash),
        _ => None,
    };
    match same {
        Some(true) => Shown::Same,
        Some(false) => Shown::Other,
        None => Shown::Unsaid(text(attachment, "url").map(str::to_owned)),
    }
}

/// Whether it says that a letter was filed beside the one that it replaces (IHE MHD 4.2, ITI-105: `PartialReplaceContentNotProcessed`).
pub(super) fn partial_replace(body: &Value) -> bool {
    let says = |issue: &Value| {
        let codings = issue.get("details").and_then(|details| details.get("coding")).and_then(Value::as_array);
        codings.is_some_and(|all| {
            all.iter().any(|coding| text(coding, "code") == Some("PartialReplaceContentNotProcessed"))
        })
    };
    let issues =
        |outcome: &Value| outcome.get("issue").and_then(Value::as_array).is_some_and(|all| all.iter().any(says));
    issues(body) || body.get("contained").and_then(Value::as_array).is_some_and(|all| all.iter().any(issues))
}

/// Whether the server says that it creates a letter only where there is none yet.
pub(super) fn creates_on_condition(statement: &Value) -> bool {
    let rest = statement.get("rest").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let resources = rest.iter().filter_map(|rest| rest.get("resource").and_then(Value::as_array)).flatten();
    resources
        .filter(|resource| text(resource, "type") == Some("DocumentReference"))
        .any(|resource| resource.get("conditionalCreate").and_then(Value::as_bool) == Some(true))
}
