//! Whether what a service shows of a document, with a status of success, says that it is not there, or not yet.
//!
//! Whatever depth it stands at: a letter that waits is seen by a person, and one that counts as filed by nobody.

use serde_json::Value;

use super::words::{WAITING, is_not_yet};
use super::{
    CLAIMS, DEEPEST, Says, WRAPPERS, decoded, in_text, is_message, is_no, is_status, plain, said_in_json, trimmed,
};

/// Fields that say whether the document is there, or is done with, beside [`CLAIMS`].
const SHOWN: [&str; 22] = [
    "archived",
    "complete",
    "completed",
    "done",
    "exists",
    "filed",
    "finished",
    "found",
    "imported",
    "known",
    "present",
    "processed",
    "ready",
    "bekannt",
    "fertig",
    "gefunden",
    "importiert",
    "verarbeitet",
    "vorhanden",
    "existe",
    "importe",
    "traite",
];

/// Fields that hold the document, or the list in which it should be, beside [`WRAPPERS`].
const HOLDING: [&str; 6] = ["document", "documents", "entries", "entry", "hits", "items"];
/// Fields that count the documents.
const COUNTING: [&str; 5] = ["count", "numfound", "total", "totalcount", "totalresults"];

/// `{"status": "pending"}`, `{"found": false}`, "not found", `[]`, `<status>pending</status>`. An empty answer says
/// nothing beside its status.
pub(in super::super) fn says_not_yet(body: &[u8]) -> bool {
    let text = decoded(body);
    let text = trimmed(&text);
    match serde_json::from_str(text) {
        Ok(Value::String(text)) => is_not_yet(&text),
        Ok(shown) => said_in_json(&shown) == Says::Doubt || is_nothing(&shown) || below(&shown, 0),
        Err(_) if text.starts_with('<') => text.split('<').filter_map(|piece| piece.split_once('>')).any(in_element),
        Err(_) => in_text(text) == Says::Doubt || is_not_yet(text) || text.split(['\n', '&', ';']).any(in_pair),
    }
}

/// The same of one entry of a list, and of whatever is in it.
pub(in super::super) fn is_waiting(shown: &Value) -> bool {
    below(shown, 1)
}

fn below(shown: &Value, level: usize) -> bool {
    match shown {
        _ if level > DEEPEST => false,
        Value::Array(entries) => entries.iter().any(|entry| below(entry, level + 1)),
        Value::Object(fields) => {
            // Within a document they are about its parts.
            let is_empty = |name: &str, field: &Value| level == 0 && holds_nothing(&plain(name), field);
            let says = |(name, field): (&String, &Value)| is_empty(name, field) || of_field(name, field);
            fields.iter().any(says) || fields.values().any(|field| below(field, level + 1))
        }
        _ => false,
    }
}

fn of_field(name: &str, field: &Value) -> bool {
    let name = plain(name);
    let name = name.as_str();
    match field {
        Value::String(text) if is_status(name) || is_message(name) || name.ends_with("state") => is_not_yet(text),
        field => match is_no(field) {
            Some(true) => SHOWN.contains(&name) || CLAIMS.contains(&name),
            Some(false) => WAITING.contains(&name),
            None => false,
        },
    }
}

/// `{"items": []}`, `{"total": 0}`
fn holds_nothing(name: &str, field: &Value) -> bool {
    match field {
        Value::Number(number) => COUNTING.contains(&name) && number.as_u64() == Some(0),
        field => is_nothing(field) && (WRAPPERS.contains(&name) || HOLDING.contains(&name)),
    }
}

fn is_nothing(shown: &Value) -> bool {
    shown.is_null() || shown.as_array().is_some_and(Vec::is_empty)
}

/// `status: pending`, `found=false`
fn in_pair(pair: &str) -> bool {
    let bare = |text: &str| text.trim_matches(|c: char| c.is_whitespace() || "\"'".contains(c)).to_owned();
    pair.split_once([':', '=']).is_some_and(|(name, value)| of_field(&bare(name), &bare(value).into()))
}

/// The inside of a tag, and the text behind it.
fn in_element((tag, text): (&str, &str)) -> bool {
    let (name, attributes) = tag.split_once(char::is_whitespace).unwrap_or((tag, ""));
    let name = name.rsplit(':').next().unwrap_or_default();
    let mut pairs = attributes.trim_end_matches('/').split_inclusive(['"', '\'']).collect::<Vec<_>>();
    // `name="` and `value"` stand behind one another.
    let mut in_attributes = pairs.chunks_mut(2).map(|pair| pair.concat());
    of_field(name, &text.trim().into()) || in_attributes.any(|pair| in_pair(&pair))
}
