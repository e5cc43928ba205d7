//! Faults as JSON: a flat object whose `kind` says what happens. Each kind has its own members.
//!
//! serde reads and writes the private twins below, because the public types are made for Rust code. serde neither
//! refuses unknown members of a flattened object, nor names the wrong member of an internally tagged enumeration. So
//! the flat object is split first, into the common members and `{KIND: {members}}`.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::{Fault, FaultKind, Habit, Route};
use crate::json::understood;

/// The common members of every fault. `kind` and its members stand beside them.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Aim {
    route: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    document: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bearer: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    times: Option<u32>,
    #[serde(default = "certain")]
    probability: f64,
}

const AIM: &[&str] = &["route", "document", "bearer", "times", "probability"];

const KIND: &str = "kind";

fn certain() -> f64 {
    1.0
}

/// `302 Found`.
const FOUND: u16 = 302;

fn found() -> u16 {
    FOUND
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_found(code: &u16) -> bool {
    *code == FOUND
}

/// [`FaultKind`]. Kinds without members are empty structs, so that they are objects, too.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Kind {
    Status {
        code: u16,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after: Option<RetryAfter>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        body: Option<String>,
    },
    Reset {},
    Abort {},
    AbortHead {},
    AbortBody {
        after_bytes: usize,
    },
    CutBody {
        after_bytes: usize,
    },
    Stall {},
    StallBody {
        after_bytes: usize,
    },
    Drip {
        bytes: usize,
        #[serde(with = "crate::duration_text::required")]
        every: Duration,
    },
    Html {},
    Bytes {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        base64: Option<String>,
    },
    WrongSize {},
    LostReply {},
    Delay {
        #[serde(with = "crate::duration_text::required")]
        by: Duration,
    },
    Redirect {
        to: String,
        #[serde(default = "found", skip_serializing_if = "is_found")]
        code: u16,
    },
    PdfNotRendered {},
    PdfElsewhere {},
    PdfUrlExpires {
        #[serde(with = "crate::duration_text::required")]
        after: Duration,
    },
    TokensExpired {},
    PageShift {
        items: i64,
    },
    TouchUpdatedAt {},
    StaysListed {},
    Quirks {
        set: Map<String, Value>,
    },
}

/// `"7"`, a date, or for convenience 7.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum RetryAfter {
    Text(String),
    Seconds(u64),
}

impl TryFrom<Kind> for FaultKind {
    type Error = String;

    fn try_from(kind: Kind) -> Result<Self, String> {
        Ok(match kind {
            Kind::Status { code, retry_after, body } => {
                if !(200..=999).contains(&code) {
                    return Err(format!("code must be a status code from 200 to 999, not {code}"));
                }
                let retry_after = retry_after.map(|value| match value {
                    RetryAfter::Text(text) => text,
                    RetryAfter::Seconds(seconds) => seconds.to_string(),
                });
                Self::Status { code, retry_after, body }
            }
            Kind::Reset {} => Self::Reset,
            Kind::Abort {} => Self::Abort,
            Kind::AbortHead {} => Self::AbortHead,
            Kind::AbortBody { after_bytes } => Self::AbortBody(after_bytes),
            Kind::CutBody { after_bytes } => Self::CutBody(after_bytes),
            Kind::Stall {} => Self::Stall,
            Kind::StallBody { after_bytes } => Self::StallBody(after_bytes),
            Kind::Drip { bytes: 0, .. } => return Err("bytes must be at least 1".to_owned()),
            Kind::Drip { bytes, every } => Self::Drip { bytes, every },
            Kind::Html {} => Self::Html200,
            Kind::Bytes { text: Some(text), base64: None } => Self::Bytes(text.into_bytes()),
            Kind::Bytes { text: None, base64: Some(text) } => {
                Self::Bytes(BASE64.decode(text).map_err(|error| format!("base64 cannot be decoded: {error}"))?)
            }
            Kind::Bytes { .. } => return Err("kind bytes wants either text or base64".to_owned()),
            Kind::WrongSize {} => Self::WrongSize,
            Kind::LostReply {} => Self::LostReply,
            Kind::Delay { by } => Self::Delay(by),
            Kind::Redirect { code, .. } if !matches!(code, 301..=303 | 307 | 308) => {
                return Err(format!("code must be 301, 302, 303, 307 or 308, not {code}"));
            }
            Kind::Redirect { to, code } => {
                if axum::http::HeaderValue::from_str(&to).is_err() {
                    return Err("to must be an address of visible ASCII characters".to_owned());
                }
                if code == FOUND { Self::Redirect(to) } else { Self::RedirectAs { code, to } }
            }
            Kind::PdfNotRendered {} => Self::Habit(Habit::PdfNotRendered),
            Kind::PdfElsewhere {} => Self::Habit(Habit::PdfElsewhere),
            Kind::PdfUrlExpires { after } => Self::Habit(Habit::PdfUrlExpires(after)),
            Kind::TokensExpired {} => Self::Habit(Habit::TokensExpired),
            Kind::PageShift { items } => Self::Habit(Habit::PageShift(items)),
            Kind::TouchUpdatedAt {} => Self::Habit(Habit::TouchUpdatedAt),
            Kind::StaysListed {} => Self::Habit(Habit::StaysListed),
            Kind::Quirks { set } => Self::Habit(Habit::quirks(set)?),
        })
    }
}

impl From<&FaultKind> for Kind {
    fn from(kind: &FaultKind) -> Self {
        match kind.clone() {
            FaultKind::Status { code, retry_after, body } => {
                Self::Status { code, retry_after: retry_after.map(RetryAfter::Text), body }
            }
            FaultKind::Reset => Self::Reset {},
            FaultKind::Abort => Self::Abort {},
            FaultKind::AbortHead => Self::AbortHead {},
            FaultKind::AbortBody(after_bytes) => Self::AbortBody { after_bytes },
            FaultKind::CutBody(after_bytes) => Self::CutBody { after_bytes },
            FaultKind::Stall => Self::Stall {},
            FaultKind::StallBody(after_bytes) => Self::StallBody { after_bytes },
            FaultKind::Drip { bytes, every } => Self::Drip { bytes, every },
            FaultKind::Html200 => Self::Html {},
            FaultKind::Bytes(bytes) => match String::from_utf8(bytes) {
                Ok(text) => Self::Bytes { text: Some(text), base64: None },
                Err(error) => Self::Bytes { text: None, base64: Some(BASE64.encode(error.as_bytes())) },
            },
            FaultKind::WrongSize => Self::WrongSize {},
            FaultKind::LostReply => Self::LostReply {},
            FaultKind::Delay(by) => Self::Delay { by },
            FaultKind::Redirect(to) => Self::Redirect { to, code: FOUND },
            FaultKind::RedirectAs { code, to } => Self::Redirect { to, code },
            FaultKind::Habit(habit) => match habit {
                Habit::PdfNotRendered => Self::PdfNotRendered {},
                Habit::PdfElsewhere => Self::PdfElsewhere {},
                Habit::PdfUrlExpires(after) => Self::PdfUrlExpires { after },
                Habit::TokensExpired => Self::TokensExpired {},
                Habit::PageShift(items) => Self::PageShift { items },
                Habit::TouchUpdatedAt => Self::TouchUpdatedAt {},
                Habit::StaysListed => Self::StaysListed {},
                Habit::Quirks(patch) => Self::Quirks { set: patch.members().clone() },
            },
        }
    }
}

impl Aim {
    fn with(self, kind: FaultKind) -> Result<Fault, String> {
        let route = Route::by_name(&self.route)?;
        if !(0.0..=1.0).contains(&self.probability) {
            return Err(format!("probability must be from 0 to 1, not {}", self.probability));
        }
        if self.times == Some(0) {
            return Err("times must be at least 1; leave it out for a fault without end".to_owned());
        }
        if self.document.is_some() && !route.knows_documents() {
            return Err(format!(
                "a request of the route \"{}\" is about no one document; leave document out",
                self.route
            ));
        }
        Ok(Fault {
            route,
            document: self.document,
            bearer: self.bearer,
            times: self.times,
            probability: self.probability,
            kind,
        })
    }
}

impl<'de> Deserialize<'de> for Fault {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members = Map::deserialize(deserializer)?;
        let mut aim = Map::new();
        for name in AIM {
            if let Some(value) = members.remove(*name) {
                aim.insert((*name).to_owned(), value);
            }
        }
        let kind = match members.remove(KIND) {
            Some(Value::String(kind)) => kind,
            Some(_) => return Err(D::Error::custom("kind: a text is expected")),
            None => return Err(D::Error::missing_field(KIND)),
        };
        let kind: Kind = understood(Map::from_iter([(kind, Value::Object(members))])).map_err(D::Error::custom)?;
        let aim: Aim = understood(aim).map_err(D::Error::custom)?;
        FaultKind::try_from(kind).and_then(|kind| aim.with(kind)).map_err(D::Error::custom)
    }
}

impl Serialize for Fault {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let aim = Aim {
            route: self.route.name().to_owned(),
            document: self.document.clone(),
            bearer: self.bearer.clone(),
            times: self.times,
            probability: self.probability,
        };
        let mut members = object(&aim).map_err(S::Error::custom)?;
        for (kind, of_kind) in object(&Kind::from(&self.kind)).map_err(S::Error::custom)? {
            members.insert(KIND.to_owned(), Value::String(kind));
            if let Value::Object(of_kind) = of_kind {
                members.extend(of_kind);
            }
        }
        members.serialize(serializer)
    }
}

fn object(twin: &impl Serialize) -> Result<Map<String, Value>, serde_json::Error> {
    Map::deserialize(serde_json::to_value(twin)?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn kinds() -> Vec<Value> {
        vec![
            json!({"kind": "status", "code": 429, "retry_after": "7", "body": "later"}),
            json!({"kind": "reset"}),
            json!({"kind": "abort"}),
            json!({"kind": "abort_head"}),
            json!({"kind": "abort_body", "after_bytes": 5}),
            json!({"kind": "cut_body", "after_bytes": 5}),
            json!({"kind": "stall"}),
            json!({"kind": "stall_body", "after_bytes": 5}),
            json!({"kind": "drip", "bytes": 100, "every": "250ms"}),
            json!({"kind": "html"}),
            json!({"kind": "bytes", "text": "no"}),
            json!({"kind": "bytes", "base64": "//8="}),
            json!({"kind": "wrong_size"}),
            json!({"kind": "lost_reply"}),
            json!({"kind": "delay", "by": "1m30s"}),
            json!({"kind": "redirect", "to": "http://elsewhere.example/"}),
            json!({"kind": "redirect", "to": "/elsewhere", "code": 307}),
            json!({"kind": "pdf_not_rendered"}),
            json!({"kind": "pdf_elsewhere"}),
            json!({"kind": "pdf_url_expires", "after": "30s"}),
            json!({"kind": "tokens_expired"}),
            json!({"kind": "page_shift", "items": -2}),
            json!({"kind": "touch_updated_at"}),
            json!({"kind": "stays_listed"}),
            json!({"kind": "quirks", "set": {"max_page_size": 5, "date_filter": "refused"}}),
        ]
    }

    #[test]
    fn every_kind_is_read_as_it_is_written() {
        for kind in kinds() {
            let mut whole = json!({"route": "GET /me", "bearer": "a-key", "times": 3, "probability": 0.5});
            whole.as_object_mut().unwrap().extend(kind.as_object().unwrap().clone());
            let fault: Fault = serde_json::from_value(whole.clone()).unwrap_or_else(|error| panic!("{whole}: {error}"));
            assert_eq!(serde_json::to_value(&fault).unwrap(), whole);
        }
    }

    #[test]
    fn the_readme_shows_every_kind_as_it_is() {
        let readme = include_str!("../../README.md");
        let section = readme.split("\n## ").find(|section| section.starts_with("Faults")).unwrap();
        let mut shown = std::collections::BTreeSet::new();
        for example in section.split('`').filter(|part| part.starts_with("{\"route\"")) {
            let fault: Fault = serde_json::from_str(example).unwrap_or_else(|error| panic!("{example}: {error}"));
            let written = serde_json::to_value(fault).unwrap();
            shown.insert(written["kind"].as_str().unwrap().to_owned());
        }
        let kinds: Vec<_> = kinds().iter().map(|kind| kind["kind"].as_str().unwrap().to_owned()).collect();
        assert!(kinds.iter().all(|kind| shown.contains(kind)), "{shown:?}");
        for route in ["`list`", "`document`", "`pdf`", "`status`", "`patient`", "`token`", "`authorize`", "`any`"] {
            assert!(section.contains(route), "{route}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, said) in [
            (json!({"route": "pdf"}), "kind"),
            (json!({"kind": "reset"}), "route"),
            (json!({"route": "pdf", "kind": "explode"}), "explode"),
            (json!({"route": "teeth", "kind": "reset"}), "GET /contacts/{uuid}"),
            (json!({"route": "pdf", "kind": "reset", "code": 4}), "unknown field `code`"),
            (json!({"route": "pdf", "kind": "status"}), "code"),
            (json!({"route": "pdf", "kind": "status", "code": "x"}), "status.code: "),
            (json!({"route": "pdf", "kind": "status", "code": 99}), "99"),
            (json!({"route": "pdf", "kind": "reset", "times": -1}), "times"),
            (json!({"route": "pdf", "kind": "reset", "times": 0}), "times"),
            (json!({"route": "pdf", "kind": "reset", "probability": 1.5}), "probability"),
            (json!({"route": "list", "kind": "reset", "document": "x"}), "document"),
            (json!({"route": "any", "kind": "delay", "by": "soon"}), "soon"),
            (json!({"route": "any", "kind": "drip", "bytes": 0, "every": "1s"}), "bytes"),
            (json!({"route": "any", "kind": "bytes"}), "base64"),
            (json!({"route": "any", "kind": "redirect", "to": "a\nb"}), "to must"),
            (json!({"route": "any", "kind": "redirect", "to": "/", "code": 304}), "304"),
            (json!({"route": "any", "kind": "quirks", "set": {}}), "quirk"),
            (json!({"route": "any", "kind": "quirks", "set": {"humour": 1}}), "humour"),
            (json!({"route": "any", "kind": "quirks", "set": {"max_page_size": "x"}}), "max_page_size"),
        ] {
            let error = serde_json::from_value::<Fault>(text.clone()).unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
