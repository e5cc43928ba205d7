//! The values: converted from the API's JSON to minijinja's values, and written into the text by one formatter.

use std::collections::BTreeSet;

use minijinja::value::ValueKind;
use minijinja::{Error, ErrorKind, Output, Value};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use unicode_normalization::UnicodeNormalization as _;

use super::identifier::{self, Changed, Identifier};
use super::{BEGIN, END, TemplateKind, TextFormat};
use crate::domain::document::Record;
use crate::domain::name;

pub(super) fn from_record(record: &Record) -> Value {
    Value::from_pairs(record.iter().map(|(field, value)| (field.as_str(), from_json(value))))
}

/// Converts a value. Null becomes undefined, since templates treat null and missing fields alike.
pub(super) fn from_json(value: &serde_json::Value) -> Value {
    use serde_json::Value as Json;
    match value {
        Json::Null => Value::UNDEFINED,
        Json::Bool(value) => Value::from(*value),
        Json::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(number), _, _) => Value::from(number),
            (_, Some(number), _) => Value::from(number),
            (_, _, Some(number)) => Value::from(number),
            _ => Value::UNDEFINED,
        },
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(items) => items.iter().map(from_json).collect(),
        Json::Object(record) => from_record(record),
    }
}

/// Whether there is nothing to print: missing, null, or a string of only white space.
pub(super) fn is_missing(value: &Value) -> bool {
    value.is_undefined() || value.is_none() || value.as_str().is_some_and(|text| text.trim().is_empty())
}

/// The value as text. `None` if it is missing, or is a list or an object, which has no sensible text form.
pub(super) fn text(value: &Value) -> Option<String> {
    match value.kind() {
        _ if is_missing(value) => None,
        ValueKind::Seq | ValueKind::Map | ValueKind::Iterable => None,
        // minijinja writes `True`, as Python does; JSON, XML Schema and the API write `true`.
        ValueKind::Bool => Some(value.is_true().to_string()),
        _ => Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned)),
    }
}

/// Collects the paths of texts in a value for which `is_meant` is true. `path` is the value's own path.
pub(super) fn paths_with(path: &str, value: &Value, is_meant: &impl Fn(&str) -> bool, found: &mut BTreeSet<String>) {
    if let Some(text) = value.as_str() {
        if is_meant(text) {
            found.insert(path.to_owned());
        }
    } else if matches!(value.kind(), ValueKind::Map | ValueKind::Seq) {
        for key in value.try_iter().into_iter().flatten() {
            match (value.kind(), key.as_str()) {
                (ValueKind::Map, Some(name)) => {
                    let of_field = value.get_item(&key).unwrap_or_default();
                    paths_with(&format!("{path}.{name}"), &of_field, is_meant, found);
                }
                _ => paths_with(path, &key, is_meant, found),
            }
        }
    }
}

/// Writes a value into the text. Every value passes through here, except in JSON, which has [`super::json`].
///
/// `is_file` tells whether it is the variable `file`, a path that must stay unchanged.
///
/// # Errors
/// The text cannot take more, or an identifier in the value cannot stand there as it is ([`Changed`]).
pub(super) fn write(
    kind: TemplateKind,
    out: &mut Output<'_>,
    value: &Value,
    is_file: impl FnOnce() -> bool,
    identifiers: &[Identifier],
) -> Result<(), Error> {
    let Some(text) = text(value) else { return out.write_str(missing(kind)).map_err(Error::from) };
    // First what cannot be had back, then what every reader takes away again.
    let kept = match kind {
        TemplateKind::FileName | TemplateKind::RemoteName | TemplateKind::SidecarName => name::value(&text),
        TemplateKind::Argument => argument(&text, is_file()),
        TemplateKind::Url | TemplateKind::Search => for_url(&text),
        TemplateKind::Text(TextFormat::Xml) => text.chars().filter(in_xml).collect(),
        TemplateKind::Text(TextFormat::Gdt | TextFormat::Csv) => plain(&text).replace([BEGIN, END], ""),
        TemplateKind::Text(_) | TemplateKind::JsonBody | TemplateKind::Field => plain(&text),
    };
    identifier::unchanged(identifiers, &text, &kept).map_err(changed)?;
    let safe = match kind {
        TemplateKind::FileName | TemplateKind::RemoteName | TemplateKind::SidecarName => kept,
        // Only the complete text shows whether the argument begins with it.
        TemplateKind::Argument if kept.starts_with('-') => format!("{BEGIN}{kept}"),
        TemplateKind::Search => {
            let is_one = |identifier: &str| !identifier.contains(SEPARATORS);
            identifier::held(identifiers, &kept, is_one).map_err(changed)?;
            utf8_percent_encode(&kept, RESERVED).to_string()
        }
        TemplateKind::Url => utf8_percent_encode(&kept, RESERVED).to_string(),
        TemplateKind::Text(TextFormat::Gdt) => format!("{BEGIN}{kept}"),
        TemplateKind::Text(TextFormat::Csv) => format!("{BEGIN}{kept}{END}"),
        TemplateKind::Text(TextFormat::Xml) => xml(&kept, value.is_safe()),
        TemplateKind::Argument | TemplateKind::Text(_) | TemplateKind::JsonBody | TemplateKind::Field => kept,
    };
    out.write_str(&safe).map_err(Error::from)
}

/// An error that [`super::Template::render`] recognises.
fn changed(changed: Changed) -> Error {
    Error::new(ErrorKind::InvalidOperation, "an identifier would be changed").with_source(changed)
}

/// The characters that separate in a value of a FHIR search (FHIR R4, "Search", 3.1.1.4.0.1). Not every server knows
/// how they are escaped.
const SEPARATORS: [char; 4] = [',', '|', '$', '\\'];

fn missing(kind: TemplateKind) -> &'static str {
    match kind {
        TemplateKind::FileName
        | TemplateKind::RemoteName
        | TemplateKind::SidecarName
        | TemplateKind::Argument
        | TemplateKind::Url
        | TemplateKind::Search => name::UNKNOWN,
        // An empty field still is one.
        TemplateKind::Text(TextFormat::Gdt) => "\u{fdd0}",
        TemplateKind::Text(TextFormat::Csv) => "\u{fdd0}\u{fdd1}",
        TemplateKind::Text(_) | TemplateKind::JsonBody | TemplateKind::Field => "",
    }
}

fn unknown() -> String {
    name::UNKNOWN.to_owned()
}

fn argument(text: &str, is_file: bool) -> String {
    // No argument can contain a NUL.
    let kept = |c: &char| if is_file { *c != '\0' } else { !c.is_control() && !name::is_bidirectional(*c) };
    let text: String = text.chars().filter(|c| kept(c) && *c != BEGIN).collect();
    if text.trim().is_empty() { unknown() } else { text }
}

/// All characters except those that are unreserved in every part of an address (RFC 3986, section 2.3).
pub(crate) const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A value for an address, before it is encoded. A part that consists of dots would lead to another folder, however it
/// is encoded; also between slashes, at servers that decode those first.
fn for_url(text: &str) -> String {
    let text: String = text.nfc().filter(|c| !c.is_control() && !name::is_bidirectional(*c)).collect();
    let (text, is_dots) = (text.trim(), |part: &str| part.chars().all(|c| c == '.'));
    if is_dots(text) {
        return unknown();
    }
    let leads_away = text.split(['/', '\\']).any(|part| !part.is_empty() && is_dots(part));
    if leads_away { text.replace(['/', '\\'], "_") } else { text.to_owned() }
}

fn plain(text: &str) -> String {
    text.chars()
        .filter(|c| !name::is_bidirectional(*c))
        .map(|c| if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') { ' ' } else { c })
        .collect()
}

/// Whether XML 1.0 allows and recommends the character (section 2.2).
fn in_xml(c: &char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..) && !('\u{7f}'..'\u{a0}').contains(c)
}

/// A `safe` text is already markup: the result of `escape`, of a macro or of a block.
fn xml(text: &str, safe: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' if !safe => out.push_str("&amp;"),
            '<' if !safe => out.push_str("&lt;"),
            '>' if !safe => out.push_str("&gt;"),
            '"' if !safe => out.push_str("&quot;"),
            '\'' if !safe => out.push_str("&#39;"),
            // XML reads a bare carriage return as a line feed (XML 1.0, section 2.11).
            '\r' if !safe => out.push_str("&#13;"),
            c => out.push(c),
        }
    }
    out
}
