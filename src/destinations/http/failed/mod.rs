//! What an answer says of the document, whatever its status: `{"success": false}`, `ERROR: …`, `<error>…</error>`.
//!
//! Pure. [`Says`] is what one part of an answer says; the strongest part decides for the whole. The tables below hold
//! the words, which are the same for a list and for the answer to a document, whatever the form of the answer. Below
//! its first level, where it may repeat what it was sent, only a field counts that speaks of nothing else: `success`,
//! `error`, and those like them. [`shown`] is about the answer to the question whether a document is there.

use std::borrow::Cow;

use serde_json::{Map, Value};

pub(super) use shown::{is_waiting, says_not_yet};
use words::{code, folded, in_status, in_words, is_failing};

mod shown;
mod words;

#[cfg(test)]
mod tests;

/// The service says that it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Failed {
    /// The status of HTTP that it names for it.
    pub(super) status: Option<u16>,
}

/// What an answer, or a part of it, says. What stands later beats what stands before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Says {
    /// Nothing that contradicts its status.
    Nothing,
    /// Something that sounds like a failure, and may be none.
    Doubt,
    /// That the document was taken, in so many words.
    Yes,
    /// That it failed.
    No(Option<u16>),
}

/// Levels of JSON that are looked at.
const DEEPEST: usize = 8;
/// Answers in JSON behind one another that are read.
const MOST_VALUES: usize = 100;

/// Fields whose content belongs to the answer itself.
const WRAPPERS: [&str; 9] = ["answer", "body", "d", "data", "output", "response", "result", "results", "return"];

/// Fields of an error that tell whether there is one.
const TELLING: [&str; 10] =
    ["code", "description", "detail", "details", "errorcode", "message", "msg", "status", "statuscode", "text"];

/// Texts that tell of no error.
const NONE: [&str; 18] = [
    "",
    "-",
    "false",
    "n/a",
    "nil",
    "no error",
    "no errors",
    "none",
    "null",
    "ok",
    "success",
    "undefined",
    "keine",
    "keiner",
    "kein fehler",
    "aucun",
    "aucune",
    "aucune erreur",
];

/// Fields that say whether the document was taken, and of which a document has none of its own.
const CLAIMS: [&str; 15] = [
    "accepted",
    "received",
    "saved",
    "stored",
    "uploaded",
    "akzeptiert",
    "angenommen",
    "empfangen",
    "erfolg",
    "erfolgreich",
    "gespeichert",
    "accepte",
    "enregistre",
    "recu",
    "succes",
];

/// Fields that say what became of the request, in a word or with more behind it.
const STATUSES: [&str; 19] = [
    "ack",
    "acknowledgement",
    "acknowledgment",
    "answer",
    "code",
    "d",
    "ergebnis",
    "etat",
    "outcome",
    "response",
    "result",
    "resultat",
    "return",
    "returncode",
    "resultcode",
    "state",
    "status",
    "statut",
    "zustand",
];

/// Numbers that say what became of the request: zero is a success.
const CODES: [&str; 9] =
    ["exitcode", "rc", "resultcode", "ret", "retcode", "returncode", "returnvalue", "rueckgabecode", "coderetour"];

/// Identifiers that a document gets when it is kept.
const GIVEN: [&str; 5] = ["docid", "docnum", "documentid", "dokumentid", "fileid"];

/// What an answer says.
pub(super) fn said(body: &[u8]) -> Says {
    let text = decoded(body);
    match serde_json::from_str(trimmed(&text)) {
        Ok(value) => said_in_json(&value),
        Err(_) => in_text(trimmed(&text)),
    }
}

/// The failure that an answer tells of; `None` if it tells of none for sure.
pub(super) fn failed(body: &[u8]) -> Option<Failed> {
    match said(body) {
        Says::No(status) => Some(Failed { status }),
        _ => None,
    }
}

/// Whether these first bytes are JSON that was cut off.
pub(super) fn is_cut(body: &[u8]) -> bool {
    let text = decoded(body);
    let text = trimmed(&text);
    text.starts_with(['{', '[']) && serde_json::from_str::<Value>(text).is_err_and(|error| error.is_eof())
}

/// What an answer in JSON says.
pub(super) fn said_in_json(answer: &Value) -> Says {
    match answer {
        Value::Bool(false) => Says::No(None),
        Value::Number(number) if number.as_f64().is_some_and(|number| number < 0.0) => Says::No(None),
        // A number of documents, or the exit code of a program.
        Value::Number(number) if number.as_u64() == Some(0) => Says::Doubt,
        Value::String(text) => in_text(text),
        answer => below(answer, true, 0),
    }
}

/// UTF-8, or UTF-16 in either order, with its mark or without; else the code page of Western Europe.
fn decoded(body: &[u8]) -> Cow<'_, str> {
    let wide = |unit: fn([u8; 2]) -> u16| {
        let units = body.chunks_exact(2).filter_map(|pair| pair.try_into().ok().map(unit));
        char::decode_utf16(units).map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER)).collect::<String>().into()
    };
    match body {
        [0xff, 0xfe, ..] | [1..=255, 0, ..] => wide(u16::from_le_bytes),
        [0xfe, 0xff, ..] | [0, 1..=255, ..] => wide(u16::from_be_bytes),
        _ if std::str::from_utf8(body).is_err_and(|error| error.error_len().is_some()) => {
            body.iter().map(|byte| char::from(*byte)).collect::<String>().into()
        }
        _ => String::from_utf8_lossy(body),
    }
}

fn trimmed(text: &str) -> &str {
    text.trim_start_matches('\u{feff}').trim()
}

/// `is_own`: what it says is about the answer itself.
fn below(value: &Value, is_own: bool, level: usize) -> Says {
    match value {
        _ if level > DEEPEST => Says::Nothing,
        // Some engines answer with the list of what they did.
        Value::Array(entries) => {
            let all: Vec<Says> = entries.iter().map(|entry| below(entry, is_own, level + 1)).collect();
            let all_failed = all.iter().all(|says| matches!(says, Says::No(_)));
            all.first().copied().filter(|_| all_failed).unwrap_or(Says::Nothing)
        }
        Value::Object(fields) => {
            let of_field = |(name, field): (&String, &Value)| match is_own {
                true => of_own(name, field),
                false => match says_nothing_else(&plain(name), field) {
                    Some(true) => Says::No(None),
                    _ => Says::Nothing,
                },
            };
            let own = fields.iter().map(of_field).chain([is_outcome(fields)]).max().unwrap_or(Says::Nothing);
            if matches!(own, Says::No(_)) {
                return Says::No(status_in(fields));
            }
            let is_own = |name: &str| is_own && WRAPPERS.contains(&plain(name).as_str());
            let deeper = fields.iter().map(|(name, field)| below(field, is_own(name), level + 1));
            deeper.chain([own]).max().unwrap_or(own)
        }
        _ => Says::Nothing,
    }
}

/// The answer of a FHIR server.
fn is_outcome(fields: &Map<String, Value>) -> Says {
    let is_it = fields.get("resourceType").and_then(Value::as_str) == Some("OperationOutcome");
    let mut issues = fields.get("issue").and_then(Value::as_array).into_iter().flatten();
    let is_bad = |issue: &Value| matches!(issue.get("severity").and_then(Value::as_str), Some("error" | "fatal"));
    if is_it && issues.any(is_bad) { Says::No(None) } else { Says::Nothing }
}

/// Whether a field says that the answer is an error.
pub(super) fn says_error(name: &str, field: &Value) -> bool {
    matches!(of_own(name, field), Says::No(_))
}

/// What a field of the answer itself says.
fn of_own(name: &str, field: &Value) -> Says {
    let name = plain(name);
    let name = name.as_str();
    if let Some(fails) = says_nothing_else(name, field) {
        let is_asked = matches!(name, "success" | "successful" | "succeeded" | "ok");
        return match fails {
            true => Says::No(None),
            false if is_asked && field.is_null() => Says::Doubt,
            false => if_yes(is_asked && is_no(field) == Some(false)),
        };
    }
    let number = code(field);
    let is_status = is_status(name);
    match field {
        _ if number.is_some_and(|number| (400..600).contains(&number)) && is_of_status(name) => Says::No(None),
        _ if number.is_some_and(|number| number < 0) && (is_status || CODES.contains(&name)) => Says::No(None),
        _ if CODES.contains(&name) && number.is_some_and(|number| number != 0 && !(200..300).contains(&number)) => {
            Says::Doubt
        }
        // It was asked, and the answer is neither yes nor no.
        Value::Null if CLAIMS.contains(&name) => Says::Doubt,
        _ if CLAIMS.contains(&name) => {
            is_no(field).map_or(Says::Nothing, |no| if no { Says::No(None) } else { Says::Yes })
        }
        // A document may have a field of this name, too.
        _ if name == "valid" && is_no(field) == Some(true) => Says::Doubt,
        _ if counts_failures(name) && !tells_of_none(field) => Says::Doubt,
        Value::Bool(is_true) if is_status => {
            if *is_true {
                Says::Yes
            } else {
                Says::No(None)
            }
        }
        Value::String(text) if is_status => in_status(text),
        Value::String(text) if is_message(name) => in_words(text).min(Says::Doubt),
        Value::String(text) if matches!(name, "type" | "level" | "severity") && is_failing(&folded(text)) => {
            Says::No(None)
        }
        Value::String(text) if matches!(&*folded(text), "error" | "exception" | "failed" | "failure") => Says::Doubt,
        _ if GIVEN.contains(&name) => if_yes(!is_empty(field)),
        _ => Says::Nothing,
    }
}

fn is_status(name: &str) -> bool {
    STATUSES.contains(&name) || name.ends_with("status") || name.ends_with("result")
}

fn is_message(name: &str) -> bool {
    matches!(name, "message" | "msg" | "meldung" | "nachricht")
}

fn if_yes(is_yes: bool) -> Says {
    if is_yes { Says::Yes } else { Says::Nothing }
}

/// Whether a field that answers a question says no; `None` if it says neither.
fn is_no(field: &Value) -> Option<bool> {
    match field {
        Value::Bool(yes) => Some(!yes),
        Value::Number(number) => Some(number.as_f64().is_none_or(|number| number <= 0.0)),
        Value::String(text) => match &*folded(text) {
            "false" | "no" | "0" | "nein" | "non" | "n" => Some(true),
            "true" | "yes" | "1" | "ja" | "oui" | "ok" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// The same of a field that always speaks of success or failure; `None` for any other.
fn says_nothing_else(plain: &str, field: &Value) -> Option<bool> {
    match plain {
        "success" | "successful" | "succeeded" | "ok" => Some(match field {
            Value::String(text) => is_failing(&folded(text)) || is_no(field) == Some(true),
            field => !field.is_null() && is_empty(field),
        }),
        "error" | "errors" | "errorcode" | "errorcodes" | "errormessage" | "errormessages" | "errormsg"
        | "errortext" | "exception" | "exceptions" | "failed" | "failure" | "failures" | "fault" | "faultcode"
        | "faultstring" | "fehler" | "fehlercode" | "fehlermeldung" | "fehlertext" | "erreur" | "erreurs"
        | "codeerreur" | "messageerreur" | "echec" | "echecs" => Some(!tells_of_none(field)),
        _ => None,
    }
}

/// Whether the field counts or lists what failed: `errorCount`, `validationErrors`, `rejected`.
fn counts_failures(plain: &str) -> bool {
    let of = plain.trim_start_matches("num").trim_end_matches("count").trim_end_matches("list");
    matches!(of, "error" | "errors" | "failed" | "failure" | "rejected" | "refused" | "validationerrors")
}

/// The name of a field, whatever its style: `isSuccess`, `is_success`, `Success`.
fn plain(name: &str) -> String {
    let name: String = folded(name).chars().filter(char::is_ascii_alphanumeric).collect();
    ["is", "has", "was"].iter().find_map(|verb| name.strip_prefix(verb)).map(str::to_owned).unwrap_or(name)
}

/// Whether the field holds nothing.
pub(super) fn is_empty(field: &Value) -> bool {
    match field {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty() || text == "0",
        Value::Number(number) => number.as_f64() == Some(0.0),
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
        Value::Number(number) => {
            number.as_f64().is_some_and(|number| number == 0.0 || (200.0..300.0).contains(&number))
        }
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

/// A text, or XML: of lines such as `ERROR: …` and `success=false`, and of elements and their attributes. PHP and
/// others put warnings before their JSON, and some services answer with several values.
fn in_text(text: &str) -> Says {
    // `<b>Warning</b>: …`, as PHP writes it.
    let bare = text.trim_start_matches(|c: char| "<br/> >\r\n".contains(c));
    let begins = |with: &[&str]| with.iter().any(|word| bare.starts_with(word) && text.contains(" on line "));
    let php = match () {
        () if begins(&["Fatal error", "Parse error"]) => Says::No(None),
        () if begins(&["Warning"]) => Says::Doubt,
        () if begins(&["Notice", "Deprecated", "Strict Standards"]) => Says::Nothing,
        () if text.starts_with('<') => return in_xml(text),
        // An engine's acknowledgment in HL7 (v2, table 0008).
        () if ["MSA|AE", "MSA|AR", "MSA|CE", "MSA|CR"].iter().any(|nak| text.contains(nak)) => Says::No(None),
        () => in_words(text).max(text.split(['\n', '&', ';']).map(in_pair).max().unwrap_or(Says::Nothing)),
    };
    let json = text.find('{').and_then(|at| text.get(at..)).unwrap_or_default();
    let values = serde_json::Deserializer::from_str(json).into_iter::<Value>().map_while(Result::ok);
    values.take(MOST_VALUES).map(|value| said_in_json(&value)).chain([php]).max().unwrap_or(php)
}

/// `name=value` or `name: value`
fn in_pair(pair: &str) -> Says {
    let Some((name, value)) = pair.split_once([':', '=']) else { return Says::Nothing };
    let around = |c: char| c.is_whitespace() || "{}\"'".contains(c);
    let name = folded(name.trim_matches(around));
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'));
    if is_name { of_own(&name, &value.trim_matches(around).into()) } else { Says::Nothing }
}

/// Walks through the tags: an element counts by the text in it, or, of an error, by any text below it. It may be part
/// of the document that the answer repeats.
fn in_xml(text: &str) -> Says {
    let (mut rest, mut errors, mut says) = (text, 0_usize, Says::Nothing);
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
            return Says::Nothing;
        }
        let is_error = says_nothing_else(&plain(name), &Value::Bool(true)) == Some(true);
        if is_end {
            errors = errors.saturating_sub(usize::from(is_error));
            continue;
        }
        let is_claim = CLAIMS.contains(&plain(name).as_str());
        let of_text = match of_own(name, &value) {
            Says::No(_) if is_claim => Says::Doubt,
            _ if errors > 0 && !tells_of_none(&value) => Says::No(None),
            says => says,
        };
        let pairs = attributes.split_whitespace().map(|pair| pair.trim_end_matches('/'));
        // FHIR writes `<severity value="error"/>`.
        let of_pair = |pair: &str| match pair.strip_prefix("value=") {
            Some(value) => of_own(name, &value.trim_matches('"').into()),
            None => in_pair(pair),
        };
        says = pairs.map(of_pair).chain((!is_whole).then_some(of_text)).chain([says]).max().unwrap_or(says);
        if matches!(says, Says::No(_)) {
            return says;
        }
        errors += usize::from(is_error && !is_whole);
    }
    says
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
    u16::try_from(code(field)?).ok().filter(|status| (400..600).contains(status))
}
