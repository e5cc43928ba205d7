//! Values in a JSON sidecar. A value is written as a JSON value, strings with their quotes; within a string of the
//! template, as in `"{{ patient.lastName }}"`, as the content of that string (RFC 8259, section 7).
//!
//! The position of a value is known only once the text is complete, so a value is first written between two marks.

use std::fmt;
use std::sync::Arc;

use minijinja::filters::tojson;
use minijinja::value::{Kwargs, Object};
use minijinja::{Error, Output, Value};

use super::{BEGIN, END};

/// The place of the PDF until it is sent; another noncharacter that no written value contains.
pub(super) const PDF: char = '\u{fdd2}';

/// `file_base64`
#[derive(Debug)]
struct PdfInBase64;

impl Object for PdfInBase64 {
    /// Applying a filter or `~` gives no PDF any more.
    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("")
    }
}

pub(super) fn pdf_in_base64() -> Value {
    Value::from_object(PdfInBase64)
}

/// Writes a value between its marks. A safe value already is JSON: the result of `tojson`, of a macro or of a block.
pub(super) fn write(out: &mut Output<'_>, value: &Value) -> Result<(), Error> {
    if value.downcast_object_ref::<PdfInBase64>().is_some() {
        return out.write_str(&format!("{BEGIN}\"{PDF}\"{END}")).map_err(Error::from);
    }
    if value.is_safe() {
        return out.write_str(&value.to_string().replace(PDF, "\\ufdd2")).map_err(Error::from);
    }
    let printed = tojson(value, None, Kwargs::from_iter(Vec::<(&str, Value)>::new()))?;
    let printed = printed.to_string().replace(BEGIN, "\\ufdd0").replace(END, "\\ufdd1").replace(PDF, "\\ufdd2");
    out.write_str(&format!("{BEGIN}{printed}{END}")).map_err(Error::from)
}

/// The final text, with each value adapted to its position.
pub(super) fn settle(marked: &str) -> String {
    let mut text = String::with_capacity(marked.len());
    let (mut in_string, mut escaped) = (false, false);
    let mut parts = marked.split(BEGIN);
    let mut literal = parts.next().unwrap_or_default();
    loop {
        for c in literal.chars() {
            match c {
                '"' if !escaped => in_string = !in_string,
                _ => {}
            }
            escaped = in_string && c == '\\' && !escaped;
        }
        text.push_str(literal);
        let Some(part) = parts.next() else { return text };
        let (value, rest) = part.split_once(END).unwrap_or((part, ""));
        if in_string {
            text.push_str(&within_string(value))
        } else {
            text.push_str(value)
        }
        literal = rest;
    }
}

/// The part of a JSON value that belongs into a JSON string.
fn within_string(value: &str) -> String {
    match serde_json::from_str(value) {
        Ok(serde_json::Value::Null) => String::new(),
        // The text itself may end in an escaped quote, so only one is removed.
        Ok(serde_json::Value::String(_)) => value.get(1..value.len() - 1).unwrap_or_default().to_owned(),
        _ => value.replace('\\', "\\\\").replace('"', "\\\""),
    }
}

/// Why a text is invalid JSON; `None` if it is valid.
pub(super) fn fault(text: &str) -> Option<String> {
    serde_json::from_str::<serde::de::IgnoredAny>(text).err().map(|error| error.to_string())
}
