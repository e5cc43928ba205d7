//! Whether an answer says that the request failed, whatever its status: `{"success": false}`, `{"error": "…"}`.
//!
//! Pure. The words that tell it are the same for a list and for the answer to a document.

use serde_json::{Map, Value};

/// The service says that it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Failed {
    /// The status of HTTP that it names for it.
    pub(super) status: Option<u16>,
}

/// What a whole answer says; `None` if it tells of no failure. A text that is no JSON tells of one as a single word.
pub(super) fn failed(body: &[u8]) -> Option<Failed> {
    let text = String::from_utf8_lossy(body);
    let text = text.trim_start_matches('\u{feff}').trim();
    match serde_json::from_str(text).unwrap_or_else(|_| text.into()) {
        // Some engines answer with the list of what they did.
        Value::Array(entries) if entries.len() == 1 => of_one(entries.first()?),
        value => of_one(&value),
    }
}

fn of_one(value: &Value) -> Option<Failed> {
    match value {
        Value::String(text) => is_word(text).then_some(Failed { status: None }),
        Value::Object(fields) => {
            let fails = fields.iter().any(|(name, field)| says_error(name, field));
            fails.then(|| Failed { status: status_in(fields) })
        }
        _ => None,
    }
}

/// Whether a field says that the answer is an error.
pub(super) fn says_error(name: &str, field: &Value) -> bool {
    match name.to_ascii_lowercase().as_str() {
        "error" | "errors" => !is_empty(field),
        "success" | "ok" => match field {
            Value::String(text) => text.eq_ignore_ascii_case("false") || is_word(text),
            field => !field.is_null() && is_empty(field),
        },
        "status" | "statuscode" if status(field).is_some() => true,
        _ => field.as_str().is_some_and(is_word),
    }
}

fn is_word(text: &str) -> bool {
    matches!(text.to_ascii_lowercase().as_str(), "error" | "fail" | "failed" | "failure")
}

/// Whether the field holds nothing.
pub(super) fn is_empty(field: &Value) -> bool {
    match field {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty() || text == "0",
        Value::Number(number) => number.as_u64() == Some(0),
        Value::Object(fields) => fields.is_empty(),
        Value::Array(entries) => entries.is_empty(),
        Value::Bool(true) => false,
    }
}

/// The status that an answer names, or the first error in it.
fn status_in(fields: &Map<String, Value>) -> Option<u16> {
    let named = |fields: &Map<String, Value>, names: &[&str]| names.iter().find_map(|name| status(fields.get(*name)?));
    named(fields, &["status", "statusCode"]).or_else(|| {
        let error = fields.get("error").or_else(|| fields.get("errors")?.get(0))?.as_object()?;
        named(error, &["status", "statusCode", "code"])
    })
}

/// A status of HTTP that is a failure.
fn status(field: &Value) -> Option<u16> {
    let number = field.as_u64().or_else(|| field.as_str()?.parse().ok())?;
    u16::try_from(number).ok().filter(|status| (400..600).contains(status))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_says_that_it_failed_is_told_from_every_other() {
        for (body, expected) in [
            (r#"{"success": false}"#, Some(None)),
            (r#"{"success": "false", "message": "no"}"#, Some(None)),
            (r#"{"success": 0}"#, Some(None)),
            (r#"{"ok": false}"#, Some(None)),
            (r#"{"Error": {"text": "no"}}"#, Some(None)),
            (r#"{"error": "database is locked"}"#, Some(None)),
            (r#"{"errors": ["x"]}"#, Some(None)),
            ("\u{feff} {\"status\": \"Error\"}\n", Some(None)),
            (r#"{"result": "failed"}"#, Some(None)),
            (r#"[{"success": false}]"#, Some(None)),
            ("ERROR\r\n", Some(None)),
            (r#""failure""#, Some(None)),
            (r#"{"error": {"code": 503}}"#, Some(Some(503))),
            (r#"{"errors": [{"status": "422"}]}"#, Some(Some(422))),
            (r#"{"error": {"code": "E_1"}}"#, Some(None)),
            (r#"{"status": 404, "title": "Not Found"}"#, Some(Some(404))),
            (r#"{"success": false, "statusCode": 401}"#, Some(Some(401))),
            (r#"{"error": null, "errors": [], "success": true}"#, None),
            (r#"{"error": "", "errors": {}, "ok": 1}"#, None),
            (r#"{"error": false, "errors": 0, "status": "ok"}"#, None),
            (r#"{"success": null, "id": 500}"#, None),
            (r#"{"status": 200, "error": "0"}"#, None),
            (r#"{"message": "no error", "name": "failure.pdf"}"#, None),
            (r#"[{"status": "failed"}, {"status": "ok"}]"#, None),
            ("{}", None),
            ("[]", None),
            ("OK", None),
            ("", None),
            ("null", None),
            ("<error/>", None),
            (r#"{"success": fal"#, None),
        ] {
            assert_eq!(failed(body.as_bytes()).map(|failed| failed.status), expected, "{body}");
        }
    }
}
