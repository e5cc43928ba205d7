//! A message: what is told, as data, and in the words of a language. Of all that docsyncd knows only a cause, the names
//! of accounts and destinations, a number and times get into it.

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use serde::{Deserialize, Serialize};

use super::decide::Kind;
use crate::health::{Cause, Disks};
use crate::language::{Group, Language};
use crate::ledger::Millis;
use crate::views::in_json;

/// What is told, as the outbox keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// Why it is told.
    pub kind: Kind,
    /// When it was decided.
    pub at: Millis,
    /// `health::Cause` as a word; none in a test.
    pub cause: Option<String>,
    /// The accounts or destinations.
    pub names: Vec<String>,
    /// The documents that it is about.
    pub documents: u64,
    /// Since when it is so.
    pub since: Option<Millis>,
}

impl Content {
    /// About problems of one cause.
    pub fn new(kind: Kind, group: &Group, at: Millis) -> Self {
        let Group { cause, names, count, since } = group.clone();
        Self { kind, at, cause: Some(cause.as_str().to_owned()), names, documents: count, since }
    }

    /// That this is a test.
    pub fn test(at: Millis) -> Self {
        Self { kind: Kind::Test, at, cause: None, names: Vec::new(), documents: 0, since: None }
    }
}

/// One message, as it is sent. docs/json.md describes it; the names are stable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Message {
    /// Its identifier: a repetition has the same.
    pub id: String,
    /// `problem`, `reminder`, `over` or `test`.
    pub kind: Kind,
    /// When it was decided.
    #[serde(serialize_with = "in_json")]
    pub at: Millis,
    /// The computer that docsyncd runs on.
    pub computer: String,
    /// What it is about, as a word; null in a test.
    pub cause: Option<String>,
    /// The accounts or destinations.
    pub names: Vec<String>,
    /// The documents that it is about.
    pub documents: u64,
    /// Since when it is so.
    #[serde(serialize_with = "in_json")]
    pub since: Option<Millis>,
    /// The language of the texts.
    pub language: &'static str,
    /// One line.
    pub subject: String,
    /// A sentence or two.
    pub text: String,
    /// What to do; null when there is nothing to do.
    pub advice: Option<String>,
}

fn zoned(at: Millis) -> Zoned {
    Timestamp::from_millisecond(at).unwrap_or(Timestamp::UNIX_EPOCH).to_zoned(TimeZone::system())
}

impl Message {
    /// The message in the words of a language.
    pub fn new(id: String, content: &Content, language: Language, disks: &Disks, computer: &str) -> Self {
        let now = zoned(content.at);
        let group = content.cause.as_deref().and_then(Cause::parse).map(|cause| Group {
            cause,
            names: content.names.clone(),
            count: content.documents,
            since: content.since,
        });
        let subject = match content.kind {
            Kind::Problem => "alarm-subject-problem",
            Kind::Reminder => "alarm-subject-reminder",
            Kind::Over => "alarm-subject-over",
            Kind::Test => "alarm-subject-test",
        };
        let text = match (&group, content.kind) {
            (None, _) | (_, Kind::Test) => language.text("alarm-test"),
            (Some(group), Kind::Problem) => language.group(group, &now),
            (Some(group), Kind::Reminder) => {
                language.fill("alarm-reminder", &[("problem", (&language.group(group, &now)).into())])
            }
            (Some(group), Kind::Over) => {
                let over = language.over(group);
                match group.since.map(|since| language.at(&zoned(since), &now)) {
                    Some(began) => language.fill("alarm-over", &[("over", (&over).into()), ("began", (&began).into())]),
                    None => over,
                }
            }
        };
        let advice = group.filter(|_| matches!(content.kind, Kind::Problem | Kind::Reminder));
        Self {
            id,
            kind: content.kind,
            at: content.at,
            computer: computer.to_owned(),
            cause: content.cause.clone(),
            names: content.names.clone(),
            documents: content.documents,
            since: content.since,
            language: language.as_str(),
            subject: language.fill(subject, &[("computer", computer.into())]),
            text,
            advice: advice
                .map(|group| language.fill("alarm-do", &[("advice", (&language.advice(&group, disks)).into())])),
        }
    }

    /// The text with what to do, as lines.
    pub fn body(&self) -> String {
        match &self.advice {
            Some(advice) => format!("{}\n{advice}", self.text),
            None => self.text.clone(),
        }
    }
}

/// An identifier that no other message has, also of another ledger.
pub fn new_id() -> String {
    let mut bytes = [0_u8; 12];
    if getrandom::fill(&mut bytes).is_err() {
        // Without chance the time has to do: one alarm in a nanosecond.
        let nanos = Timestamp::now().as_nanosecond().to_le_bytes();
        bytes.iter_mut().zip(nanos).for_each(|(byte, nano)| *byte = nano);
    }
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("msg_{digits}")
}

/// The name of this computer, so that whoever looks after several knows which one it is.
pub fn computer() -> String {
    #[cfg(unix)]
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    #[cfg(windows)]
    let name = std::env::var("COMPUTERNAME").unwrap_or_default();
    // It stands in headers of mails.
    let plain: String = name.chars().filter(|c| c.is_alphanumeric() || "-._".contains(*c)).take(MOST_NAME).collect();
    if plain.is_empty() { "localhost".to_owned() } else { plain }
}

/// The longest name of a computer (RFC 1035, section 2.3.4).
const MOST_NAME: usize = 253;
