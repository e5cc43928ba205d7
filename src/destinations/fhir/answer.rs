//! The answers of a FHIR server. Pure; no words of the server are passed on.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::super::web_client::{DIGEST, Shortened};
use super::resource::URI_SYSTEM;
use crate::domain::document::{Spooled, hex};

/// What a resource shows about its content.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ContentShown {
    /// The letter's content.
    Same,
    /// Another content, or none.
    Other,
    /// Only the address of the content.
    LiesAt(String),
    /// Nothing that can be compared.
    Unsaid,
}

/// The resources of this type that match a search; `None` if the answer is no search bundle.
pub(super) fn matches<'a>(bundle: &'a Value, kind: &str) -> Option<Vec<&'a Value>> {
    if text(bundle, "resourceType") != Some("Bundle") || text(bundle, "type") != Some("searchset") {
        return None;
    }
    let entries = match bundle.get("entry") {
        None => return Some(Vec::new()),
        Some(entries) => entries.as_array()?,
    };
    // A server may include other resources (`include`), or report problems (`outcome`).
    let is_match = |entry: &&Value| {
        let mode = entry.get("search").and_then(|search| text(search, "mode"));
        mode.is_none_or(|mode| mode == "match")
    };
    let resources = entries.iter().filter(is_match).filter_map(|entry| entry.get("resource"));
    Some(resources.filter(|resource| text(resource, "resourceType") == Some(kind)).collect())
}

/// The letters that a search found under this identifier; `None` if the answer is no search bundle. A server that
/// ignores the search parameters shows other letters, and may show this one on a later page; a missing letter then
/// proves nothing.
pub(super) fn letters<'a>(bundle: &'a Value, identity: &str) -> Option<Vec<&'a Value>> {
    let found = matches(bundle, "DocumentReference")?;
    let ours: Vec<&Value> = found.into_iter().filter(|shown| has_identifier(shown, identity)).collect();
    (!ours.is_empty() || !has_more(bundle)).then_some(ours)
}

/// The letters under this identifier in the answer to a search, which comes in pieces: the id of each, and whether its
/// content is the PDF, whose `Attachment.hash` is `hash`. `None` if it is no valid answer.
pub fn shown_letters<'a>(
    pieces: impl Iterator<Item = &'a [u8]>,
    identity: &str,
    pdf: &Spooled,
    hash: &str,
) -> Option<Vec<(Option<String>, bool)>> {
    let mut kept = Shortened::default();
    pieces.for_each(|piece| kept.push(piece));
    let bundle = kept.value()?;
    let shown = |letter: &&Value| (id_of(letter), compare(letter, pdf, Some(hash)) == ContentShown::Same);
    Some(letters(&bundle, identity)?.iter().map(shown).collect())
}

fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name).and_then(Value::as_str)
}

/// The id of a resource; `None` if it is invalid.
pub(super) fn id_of(resource: &Value) -> Option<String> {
    text(resource, "id").and_then(an_id)
}

/// More characters than FHIR R4 allows in an id, because servers use them; none that would lead to another place.
fn an_id(id: &str) -> Option<String> {
    let is_sign = |c: u8| c.is_ascii_graphic() && !b"/\\?#%".contains(&c);
    let is_id = (1..=128).contains(&id.len()) && id.bytes().all(is_sign) && id.bytes().any(|c| c != b'.');
    is_id.then(|| id.to_owned())
}

/// The id of a letter in the answer to its creation.
pub(super) fn created(body: &Value) -> Option<String> {
    id_of(body).filter(|_| text(body, "resourceType") == Some("DocumentReference"))
}

/// The id of a letter in the URL of its creation (`Location`): `…/DocumentReference/ID/_history/1`.
pub(super) fn id_in(location: &str) -> Option<String> {
    let (_, rest) = location.rsplit_once("DocumentReference/")?;
    an_id(rest.split(['/', '?', '#']).next()?)
}

/// Whether the resource has this identifier, and is current.
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

/// Whether a bundle shows only a part of the matches.
pub(super) fn has_more(bundle: &Value) -> bool {
    let links = bundle.get("link").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let shown = bundle.get("entry").and_then(Value::as_array).map_or(0, Vec::len) as u64;
    links.iter().any(|link| text(link, "relation") == Some("next"))
        || bundle.get("total").and_then(Value::as_u64).is_some_and(|total| total > shown)
}

/// Whether a patient is active, and has the identifier and the id of the search, if given.
pub(super) fn is_asked_for(patient: &Value, asked: &[(String, String)]) -> bool {
    let identifiers = patient.get("identifier").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let has = |token: &str| {
        let (system, value) = token.split_once('|').unwrap_or(("", token));
        let is_it = |one: &Value| {
            text(one, "value").map(str::trim) == Some(value)
                && (system.is_empty() || text(one, "system") == Some(system))
        };
        identifiers.iter().any(is_it)
    };
    let is_met = |(name, value): &(String, String)| match name.as_str() {
        "identifier" => has(value),
        "_id" => text(patient, "id") == Some(value),
        _ => true,
    };
    patient.get("active").and_then(Value::as_bool) != Some(false) && asked.iter().all(is_met)
}

/// The patient that a letter is filed for: `Patient/7`.
pub(super) fn patient_of(letter: &Value) -> Option<String> {
    let (_, rest) = text(letter.get("subject")?, "reference")?.rsplit_once("Patient/")?;
    Some(format!("Patient/{}", rest.split(['/', '?', '#']).next()?))
}

/// Whether the content that it shows is the PDF: by the content itself, its length, or `hash`, if known.
pub(super) fn compare(resource: &Value, pdf: &Spooled, hash: Option<&str>) -> ContentShown {
    let content = resource.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let [part] = content else { return ContentShown::Other };
    let Some(attachment) = part.get("attachment") else { return ContentShown::Other };
    // A length is a number, which some servers write as a text.
    let size = attachment.get("size").and_then(|size| size.as_u64().or_else(|| size.as_str()?.parse().ok()));
    let data = text(attachment, "data").filter(|data| !data.is_empty());
    let told = text(attachment, "hash").zip(hash).map(|(shown, hash)| shown.trim() == hash);
    match (size.map(|size| size == pdf.size), data.map(|data| is_content(data, pdf)), told) {
        (Some(false), ..) | (_, Some(false), _) | (.., Some(false)) => ContentShown::Other,
        (_, Some(true), _) | (.., Some(true)) => ContentShown::Same,
        (_, None, None) => {
            text(attachment, "url").map_or(ContentShown::Unsaid, |url| ContentShown::LiesAt(url.to_owned()))
        }
    }
}

/// Whether a text is the PDF in base64; a digest replaces a long text.
fn is_content(data: &str, pdf: &Spooled) -> bool {
    match data.strip_prefix(DIGEST) {
        Some(digest) => digest.eq_ignore_ascii_case(&pdf.sha256),
        None => {
            STANDARD.decode(data).is_ok_and(|content| hex(&Sha256::digest(content)).eq_ignore_ascii_case(&pdf.sha256))
        }
    }
}

/// Whether the answer says that a letter was filed beside the one that it replaces (IHE MHD 4.2, ITI-105:
/// `PartialReplaceContentNotProcessed`).
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

/// Whether the server claims to support conditional create for letters.
pub(super) fn creates_on_condition(statement: &Value) -> bool {
    let rest = statement.get("rest").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let resources = rest.iter().filter_map(|rest| rest.get("resource").and_then(Value::as_array)).flatten();
    resources
        .filter(|resource| text(resource, "type") == Some("DocumentReference"))
        .any(|resource| resource.get("conditionalCreate").and_then(Value::as_bool) == Some(true))
}
