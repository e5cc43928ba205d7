//! What clients send: JSON bodies, checked against the description's records.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{StatusCode, header};
use serde_json::{Map, Value};
use url::{Host, Url};

use crate::describe::countries::COUNTRIES;
use crate::describe::{Field, Kind, Record, Version};
use crate::moment;
use crate::problem::Problem;
use crate::shared::Shared;

/// The media types for a new resource. The description names the first; the family takes both.
const JSON: &[&str] = &["application/json", "application/ld+json"];
/// The media type of a change (RFC 7396, section 4).
const MERGE_PATCH: &[&str] = &["application/merge-patch+json"];

/// A body as it was sent.
pub(super) struct InputBody {
    media_type: String,
    bytes: Bytes,
}

impl FromRequest<Arc<Shared>> for InputBody {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &Arc<Shared>) -> Result<Self, Problem> {
        let given = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let media_type = given.and_then(|given| given.split(';').next()).unwrap_or_default().trim().to_owned();
        let bytes = Bytes::from_request(request, state).await.map_err(|refusal| {
            let status = refusal.status();
            match status {
                StatusCode::PAYLOAD_TOO_LARGE => Problem::new(status.as_u16(), "The body is larger than 2 MB."),
                _ => Problem::bad_request("The body could not be read."),
            }
        })?;
        Ok(Self { media_type, bytes })
    }
}

impl InputBody {
    /// A new resource or a report: a JSON object with all required members of the record.
    pub fn whole(&self, record: &Record, version: Version) -> Result<Map<String, Value>, Problem> {
        self.media_type(JSON)?;
        self.members(record, version, true)
    }

    /// A merge patch: only the members that change.
    pub fn patch(&self, record: &Record, version: Version) -> Result<Map<String, Value>, Problem> {
        self.media_type(MERGE_PATCH)?;
        self.members(record, version, false)
    }

    fn media_type(&self, known: &[&str]) -> Result<(), Problem> {
        if known.iter().any(|known| self.media_type.eq_ignore_ascii_case(known)) {
            return Ok(());
        }
        Err(Problem::new(
            415,
            format!(
                "The content-type \"{}\" is not supported. Supported MIME types are \"{}\".",
                self.media_type,
                known.join("\", \"")
            ),
        ))
    }

    /// The known members, all of them valid. Unknown members are ignored, as the family does.
    fn members(&self, record: &Record, version: Version, whole: bool) -> Result<Map<String, Value>, Problem> {
        let value: Value = serde_json::from_slice(&self.bytes).map_err(|_| Problem::bad_request("Syntax error"))?;
        let Value::Object(mut sent) = value else {
            return Err(Problem::bad_request("The body must be a JSON object."));
        };
        let mut members = Map::new();
        let mut violations = Vec::new();
        for field in record.fields(version) {
            match sent.shift_remove(field.name) {
                Some(value) => {
                    check(field, &value, version, &mut violations);
                    members.insert(field.name.to_owned(), value);
                }
                None if whole && field.required => {
                    violations.push((field.name.to_owned(), "This field is missing.".to_owned()));
                }
                None => {}
            }
        }
        if violations.is_empty() { Ok(members) } else { Err(Problem::Violations(violations)) }
    }
}

fn check(field: &Field, value: &Value, version: Version, violations: &mut Vec<(String, String)>) {
    if value.is_null() && field.nullable {
        return;
    }
    if let Err(reason) = fits(field.kind, field.nullable, value, version) {
        violations.push((field.name.to_owned(), reason));
        return;
    }
    if let (Kind::ListOf(kind), Some(elements)) = (field.kind, value.as_array()) {
        for (index, element) in elements.iter().enumerate() {
            if let Err(reason) = fits(*kind, false, element, version) {
                violations.push((format!("{}[{index}]", field.name), reason));
            }
        }
    }
}

fn fits(kind: Kind, nullable: bool, value: &Value, version: Version) -> Result<(), String> {
    let (right, name) = match kind {
        Kind::Integer => (value.is_i64(), "int"),
        Kind::Number => (value.is_number(), "float"),
        Kind::Boolean => (value.is_boolean(), "bool"),
        Kind::Record(_) => (value.is_object(), "object"),
        Kind::ListOf(_) => (value.is_array(), "array"),
        _ => (value.is_string(), "string"),
    };
    if !right {
        return Err(format!("This value should be of type {name}{}.", if nullable { "|null" } else { "" }));
    }
    value.as_str().map_or(Ok(()), |text| text_fits(kind, text, version))
}

/// Longest text of a field that is any text in version 1.1.0.
const LONGEST_FREE_TEXT: usize = 255;

fn text_fits(kind: Kind, text: &str, version: Version) -> Result<(), String> {
    match kind {
        Kind::TextUpTo(most) => up_to(text, most),
        Kind::OneOfIn1_0(values) if version == Version::V1_0 => one_of(text, values),
        Kind::OneOfIn1_0(_) => up_to(text, LONGEST_FREE_TEXT),
        Kind::OneOf(values) => one_of(text, values),
        Kind::Digits(count) => {
            let right = text.len() == count && text.bytes().all(|letter| letter.is_ascii_digit());
            right.then_some(()).ok_or_else(|| format!("This value should have exactly {count} digits."))
        }
        Kind::Uuid => uuid::Uuid::try_parse(text).map(drop).map_err(|_| "This value is not a valid UUID.".to_owned()),
        Kind::Date | Kind::DateTime => {
            moment::parse(text).map(drop).ok_or_else(|| "This value is not a valid ISO 8601 date.".to_owned())
        }
        Kind::Email => {
            is_email(text).then_some(()).ok_or_else(|| "This value is not a valid email address.".to_owned())
        }
        Kind::Country => {
            let known = COUNTRIES.contains(&text);
            known.then_some(()).ok_or_else(|| "This value is not a valid country (ISO 3166-1 alpha-2).".to_owned())
        }
        Kind::HttpAddress => http_address(text),
        Kind::Uri => Url::parse(text).map(drop).map_err(|_| "This value is not a valid URL.".to_owned()),
        Kind::Text
        | Kind::UuidOr(_)
        | Kind::Integer
        | Kind::Number
        | Kind::Boolean
        | Kind::Record(_)
        | Kind::ListOf(_) => Ok(()),
    }
}

fn up_to(text: &str, most: usize) -> Result<(), String> {
    let short = text.chars().count() <= most;
    short.then_some(()).ok_or_else(|| format!("This value is too long. It should have {most} characters or less."))
}

fn one_of(text: &str, values: &[&str]) -> Result<(), String> {
    let known = values.contains(&text);
    known.then_some(()).ok_or_else(|| {
        format!("The value you selected is not a valid choice. Choices are \"{}\".", values.join("\", \""))
    })
}

/// As in HTML's email fields, and with the length limit of RFC 5321.
fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else {
        return false;
    };
    let atom = |letter: u8| letter.is_ascii_alphanumeric() || b".!#$%&'*+/=?^_`{|}~-".contains(&letter);
    text.len() <= 254 && !local.is_empty() && local.bytes().all(atom) && domain.split('.').all(is_label)
}

/// The sandbox delivers only over plain HTTP to this machine, so that its inventions never reach anybody else.
fn http_address(text: &str) -> Result<(), String> {
    let url = Url::parse(text).ok().filter(|_| is_written_properly(text));
    let url = url.ok_or_else(|| "This value is not a valid URL.".to_owned())?;
    let here = match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    if text.starts_with("http://") && here && is_named_plainly(text, &url) {
        return Ok(());
    }
    Err("The sandbox delivers only to http addresses of this machine, such as http://127.0.0.1:8080/hook.".to_owned())
}

/// Whether host and port are written plainly, without a user and without port 0, like the description's pattern.
fn is_named_plainly(text: &str, url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let rest = text.strip_prefix("http://").and_then(|rest| rest.strip_prefix(host));
    let port = rest.map(|rest| rest.split(['/', '?']).next().unwrap_or_default());
    let labels = matches!(url.host(), Some(Host::Domain(_)));
    (!labels || host.split('.').all(is_label))
        && port.is_some_and(|port| {
            port.is_empty() || port.strip_prefix(':').is_some_and(|port| !port.is_empty() && !port.starts_with('0'))
        })
}

/// Whether this can be one part of a name between dots.
fn is_label(label: &str) -> bool {
    (1..=63).contains(&label.len())
        && label.bytes().all(|letter| letter.is_ascii_alphanumeric() || letter == b'-')
        && !label.starts_with('-')
        && !label.ends_with('-')
}

/// Whether an address has only characters of RFC 3986, and brackets only around an IPv6 address. A browser's parser
/// accepts others, and drops line breaks.
fn is_written_properly(text: &str) -> bool {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let path = rest.strip_prefix("[::1]").unwrap_or(rest);
    let mut letters = path.bytes();
    while let Some(letter) = letters.next() {
        let proper = match letter {
            b'%' => [letters.next(), letters.next()]
                .iter()
                .all(|digit| digit.is_some_and(|digit| digit.is_ascii_hexdigit())),
            _ => letter.is_ascii_alphanumeric() || b"-._~:/?@!$&'()*+,;=".contains(&letter),
        };
        if !proper {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn email_addresses_are_judged_as_browsers_do() {
        for right in ["a@b", "o'brien+tag@mail.example", "x.y@sub-domain.example"] {
            assert!(is_email(right), "{right}");
        }
        for wrong in ["", "a", "@b", "a@", "a b@c", "a@b..c", "a@-b", "é@b", "a@b c"] {
            assert!(!is_email(wrong), "{wrong}");
        }
    }

    #[test]
    fn webhooks_stay_on_this_machine() {
        for right in [
            "http://127.0.0.1:9/x",
            "http://127.1.2.3?a",
            "http://localhost/",
            "http://[::1]:80/a?b=c",
            "http://hook.localhost:1",
            "http://a-b.hook.localhost:65535/%C3%A4",
        ] {
            assert!(http_address(right).is_ok(), "{right}");
        }
        for wrong in ["https://127.0.0.1/", "http://example.test/", "http://10.0.0.1/", "ftp://localhost/", "localhost"]
        {
            assert!(http_address(wrong).is_err(), "{wrong}");
        }
        for wrong in [
            "http://user:secret@localhost/",
            "http://localhost/#part",
            "http://localhost/a\n",
            "http://localhost/ä",
            "http://localhost/%4",
            "http://localhost/[8",
            "http://127.0.0.1:0/a",
            "http://127.0.0.1:080/a",
            "http://127.0.0.1:65536/a",
            "http://127.0.0.1:/a",
            "http://127.1/",
            "http://a..localhost/",
            "http://-a.localhost/",
            "http://@localhost/",
            "http:localhost/",
        ] {
            assert!(http_address(wrong).is_err(), "{wrong}");
        }
    }
}
