//! Whether an answer says that the request failed, whatever its status: `{"success": false}`, `ERROR: …`,
//! `<error>…</error>`.
//!
//! Pure. The words that tell it are the same for a list and for the answer to a document, whatever the form of the
//! answer. Below its first level, where it may repeat what it was sent, only a field counts that speaks of nothing else:
//! `success`, `error`, and those like them.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// The service says that it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Failed {
    /// The status of HTTP that it names for it.
    pub(super) status: Option<u16>,
}

/// Levels of JSON that are looked at.
const DEEPEST: usize = 8;

/// Fields whose content belongs to the answer itself.
const WRAPPERS: [&str; 9] = ["answer", "body", "d", "data", "output", "response", "result", "results", "return"];

/// Fields of an error that tell whether there is one.
const TELLING: [&str; 10] =
    ["code", "description", "detail", "details", "errorcode", "message", "msg", "status", "statuscode", "text"];

/// Texts that tell of no error.
const NONE: [&str; 12] =
    ["", "-", "false", "n/a", "nil", "no error", "no errors", "none", "null", "ok", "success", "undefined"];

/// What an answer says; `None` if it tells of no failure.
pub(super) fn failed(body: &[u8]) -> Option<Failed> {
    let text = decoded(body);
    match serde_json::from_str(trimmed(&text)) {
        Ok(value) => in_json(&value),
        Err(_) => in_text(trimmed(&text)).then_some(Failed { status: None }),
    }
}

/// Whether these first bytes are JSON that was cut off.
pub(super) fn is_cut(body: &[u8]) -> bool {
    let text = decoded(body);
    let text = trimmed(&text);
    text.starts_with(['{', '[']) && serde_json::from_str::<Value>(text).is_err_and(|error| error.is_eof())
}

/// The same of an answer in JSON.
pub(super) fn in_json(answer: &Value) -> Option<Failed> {
    match answer {
        Value::String(text) => in_text(text).then_some(Failed { status: None }),
        answer => below(answer, true, 0),
    }
}

/// UTF-8, or UTF-16 in either order, with its mark or without.
fn decoded(body: &[u8]) -> Cow<'_, str> {
    let wide = |unit: fn([u8; 2]) -> u16| {
        let units = body.chunks_exact(2).filter_map(|pair| pair.try_into().ok().map(unit));
        char::decode_utf16(units).map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER)).collect::<String>().into()
    };
    match body {
        [0xff, 0xfe, ..] | [1..=255, 0, ..] => wide(u16::from_le_bytes),
        [0xfe, 0xff, ..] | [0, 1..=255, ..] => wide(u16::from_be_bytes),
        _ => String::from_utf8_lossy(body),
    }
}

fn trimmed(text: &str) -> &str {
    text.trim_start_matches('\u{feff}').trim()
}

/// `is_own`: what it says is about the answer itself.
fn below(value: &Value, is_own: bool, level: usize) -> Option<Failed> {
    match value {
        _ if level > DEEPEST => None,
        // Some engines answer with the list of what they did.
        Value::Array(entries) => {
            let all = entries.iter().map(|entry| below(entry, is_own, level + 1)).collect::<Option<Vec<_>>>()?;
            all.into_iter().next()
        }
        Value::Object(fields) => {
            let says = |(name, field): (&String, &Value)| match is_own {
                true => says_error(name, field),
                false => says_nothing_else(&plain(name), field) == Some(true),
            };
            if fields.iter().any(says) {
                return Some(Failed { status: status_in(fields) });
            }
            let is_own = |name: &str| is_own && WRAPPERS.contains(&plain(name).as_str());
            fields.iter().find_map(|(name, field)| below(field, is_own(name), level + 1))
        }
        _ => None,
    }
}

/// Whether a field says that the answer is an error.
pub(super) fn says_error(name: &str, field: &Value) -> bool {
    let name = plain(name);
    says_nothing_else(&name, field)
        .unwrap_or_else(|| (is_of_status(&name) && status(field).is_some()) || field.as_str().is_some_and(is_word))
}

/// The same of a field that always speaks of success or failure; `None` for any other.
fn says_nothing_else(plain: &str, field: &Value) -> Option<bool> {
    match plain {
        "success" | "successful" | "succeeded" | "ok" => Some(match field {
            Value::String(text) => {
                is_word(text) || ["false", "no", "0"].contains(&text.trim().to_ascii_lowercase().as_str())
            }
            field => !field.is_null() && is_empty(field),
        }),
        "error" | "errors" | "errorcode" | "errorcodes" | "errormessage" | "errormessages" | "errormsg"
        | "errortext" | "exception" | "exceptions" | "failed" | "failure" | "failures" | "fault" | "faultcode"
        | "faultstring" => Some(!tells_of_none(field)),
        _ => None,
    }
}

/// The name of a field, whatever its style: `isSuccess`, `is_success`, `Success`.
fn plain(name: &str) -> String {
    let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    ["is", "has", "was"].iter().find_map(|verb| name.strip_prefix(verb)).map(str::to_owned).unwrap_or(name)
}

fn is_word(text: &str) -> bool {
    let text = text.trim().to_ascii_lowercase();
    matches!(text.as_str(), "error" | "exception" | "fail" | "failed" | "failure" | "fault" | "nok" | "ko")
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

/// Whether what stands where an error would stand is none: nothing, a zero, "none", a status of success.
fn tells_of_none(error: &Value) -> bool {
    match error {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => number.as_u64().is_some_and(|number| matches!(number, 0 | 200..=299)),
        Value::String(text) => {
            let text = text.trim().to_ascii_lowercase();
            text.bytes().all(|byte| byte == b'0') || NONE.contains(&text.trim_end_matches('.'))
        }
        Value::Array(entries) => entries.iter().all(tells_of_none),
        Value::Object(fields) => {
            let is_telling = |name: &str| TELLING.contains(&plain(name).as_str());
            let has_telling = fields.keys().any(|name| is_telling(name));
            fields.iter().all(|(name, field)| (has_telling && !is_telling(name)) || tells_of_none(field))
        }
    }
}

/// A text, or XML: of lines such as `ERROR: …` and `success=false`, and of elements and their attributes.
fn in_text(text: &str) -> bool {
    if text.starts_with('<') {
        return in_xml(text);
    }
    let first = text.split_whitespace().next().unwrap_or_default();
    is_word(first.trim_end_matches(['.', '!', ',', '-'])) || text.split(['\n', '&', ';']).any(in_pair)
}

/// `name=value` or `name: value`
fn in_pair(pair: &str) -> bool {
    let Some((name, value)) = pair.split_once([':', '=']) else { return false };
    let name = name.trim();
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'));
    is_name && says_error(name, &value.trim().trim_matches('"').into())
}

/// Walks through the tags: an element counts by the text in it, or, of an error, by any text below it.
fn in_xml(text: &str) -> bool {
    let (mut rest, mut errors) = (text, 0_usize);
    while let Some((_, after)) = rest.split_once('<') {
        let Some((tag, behind)) = after.split_once('>') else { break };
        rest = behind;
        let tag = tag.trim();
        let value = match behind.strip_prefix("<![CDATA[") {
            Some(data) => data.split("]]>").next(),
            None => behind.split('<').next(),
        };
        let value = Value::from(value.unwrap_or_default().trim());
        let (is_end, inner) = tag.strip_prefix('/').map_or((false, tag), |name| (true, name));
        let (name, attributes) = inner.split_once(char::is_whitespace).unwrap_or((inner, ""));
        let (name, is_whole) = (name.trim_end_matches('/'), tag.ends_with('/'));
        let name = name.rsplit(':').next().unwrap_or_default();
        if name.starts_with(['!', '?']) {
            continue;
        }
        if ["html", "head", "meta", "script", "title"].contains(&name.to_ascii_lowercase().as_str()) {
            return false;
        }
        let is_error = says_nothing_else(&plain(name), &Value::Bool(true)) == Some(true);
        if is_end {
            errors = errors.saturating_sub(usize::from(is_error));
            continue;
        }
        let mut pairs = attributes.split_whitespace().map(|pair| pair.trim_end_matches('/'));
        let says = || says_error(name, &value) || (errors > 0 && !tells_of_none(&value));
        if pairs.any(in_pair) || (!is_whole && says()) {
            return true;
        }
        errors += usize::from(is_error && !is_whole);
    }
    false
}

/// The status that an answer names, or the first error in it.
fn status_in(fields: &Map<String, Value>) -> Option<u16> {
    let named = |fields: &Map<String, Value>| {
        fields.iter().find_map(|(name, field)| is_of_status(&plain(name)).then(|| status(field)).flatten())
    };
    named(fields).or_else(|| {
        let error = fields.get("error").or_else(|| fields.get("errors")?.get(0))?.as_object()?;
        named(error)
    })
}

fn is_of_status(plain: &str) -> bool {
    matches!(plain, "status" | "statuscode" | "code" | "httpstatus" | "httpcode" | "responsecode" | "resultcode")
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
            // What it says may stand deeper, in another style, or in another form.
            (r#"{"result": {"success": false}}"#, Some(None)),
            (r#"{"data": {"upload": {"isSuccess": false, "fileName": "a.pdf"}}}"#, Some(None)),
            (r#"{"is_success": "no"}"#, Some(None)),
            (r#"{"hasErrors": true}"#, Some(None)),
            (r#"{"results": [{"ok": false}, {"ok": false}]}"#, Some(None)),
            (r#"{"code": 422, "message": "no"}"#, Some(Some(422))),
            (r#"{"response": {"httpStatus": "503"}}"#, Some(Some(503))),
            (r#"{"error": {"code": 0, "message": "the disk is full"}}"#, Some(None)),
            (r#""ERROR: the disk is full""#, Some(None)),
            ("ERROR: the disk is full", Some(None)),
            ("Failed to store the document", Some(None)),
            ("stored: no\r\nerror=17\r\n", Some(None)),
            ("success=false&message=no", Some(None)),
            ("<?xml version=\"1.0\"?><r><success>false</success></r>", Some(None)),
            ("<Error><Code>SlowDown</Code></Error>", Some(None)),
            (
                "<s:Envelope><s:Body><s:Fault><faultcode>s:Server</faultcode></s:Fault></s:Body></s:Envelope>",
                Some(None),
            ),
            ("<response><status>error</status></response>", Some(None)),
            ("<response status=\"failed\"/>", Some(None)),
            ("<r><error><![CDATA[the disk is full]]></error></r>", Some(None)),
            // And what stands where an error would stand may be none.
            (r#"{"error": {"code": 0, "message": ""}}"#, None),
            (r#"{"error": {"code": 200, "message": "OK", "time": "10:00"}}"#, None),
            (r#"{"errors": [null], "failed": 0, "errorMessage": "No error."}"#, None),
            (r#"{"error": "none"}"#, None),
            (r#"{"error": "OK", "errorCode": "0000"}"#, None),
            (r#"{"document": {"status": "failed", "code": 422}}"#, None),
            (r#"{"results": [{"ok": false}, {"ok": true}]}"#, None),
            ("OK: 0 errors", None),
            ("error=0\nid=500", None),
            ("No errors: all is well", None),
            ("<r><error></error><errors><count>0</count></errors><success>true</success></r>", None),
            ("<html><h1>error</h1></html>", None),
        ] {
            assert_eq!(failed(body.as_bytes()).map(|failed| failed.status), expected, "{body}");
            // The same in UTF-16.
            for mark in ["", "\u{feff}"].into_iter().filter(|_| body.len() > 1 && !body.starts_with('\u{feff}')) {
                let units = || mark.encode_utf16().chain(body.encode_utf16());
                let (le, be): (Vec<u8>, Vec<u8>) =
                    (units().flat_map(u16::to_le_bytes).collect(), units().flat_map(u16::to_be_bytes).collect());
                assert_eq!(
                    [failed(&le), failed(&be)].map(|found| found.map(|failed| failed.status)),
                    [expected; 2],
                    "{body}"
                );
            }
        }
    }

    #[test]
    fn json_that_ends_too_early_was_cut() {
        let whole = r#" {"id": 5, "name": "a", "list": [1, {"b": null}]}"#;
        for end in 2..whole.len() {
            assert!(is_cut(&whole.as_bytes()[..end]), "{end}");
        }
        for whole in [whole, "", "OK", "{'id': 5}", "[]", "\u{feff}{}", "{} {"] {
            assert!(!is_cut(whole.as_bytes()), "{whole}");
        }
    }
}
