//! A message, as data and in the words of a language. It contains only a cause, the names of accounts and destinations,
//! a number and times.

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use serde::{Deserialize, Serialize};

use super::decide::AlertKind;
use crate::config::{Config, PracticeConfig, default_path};
use crate::domain::health::{Cause, Disks};
use crate::formats::language::{Group, Language};
use crate::ledger::Millis;
use crate::views::in_json;

/// The content of a message, as the outbox keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// Why it is told.
    pub kind: AlertKind,
    /// When it was decided.
    pub at: Millis,
    /// `health::Cause` as a word; none in a test.
    pub cause: Option<String>,
    /// The accounts or destinations.
    pub names: Vec<String>,
    /// The number of documents that it is about.
    pub documents: u64,
    /// Since when it is so.
    pub since: Option<Millis>,
    /// For the end of an alert: the number of other problems then; `None`: not known.
    #[serde(default)]
    pub others: Option<u64>,
    /// For each of those problems: the cause, the accounts or destinations, and the number of documents.
    #[serde(default)]
    pub left: Vec<(String, Vec<String>, u64)>,
}

impl Content {
    /// A message about problems of one cause.
    pub fn new(kind: AlertKind, group: &Group, at: Millis) -> Self {
        let Group { cause, names, count, since } = group.clone();
        let cause = Some(cause.as_str().to_owned());
        Self { kind, at, cause, names, documents: count, since, others: None, left: Vec::new() }
    }

    /// A message that problems of one cause are over, while `others` problems of the causes in `left` go on.
    pub fn over(group: &Group, at: Millis, others: u64, left: &[Group]) -> Self {
        let of_group = |group: &Group| (group.cause.as_str().to_owned(), group.names.clone(), group.count);
        let left = left.iter().map(of_group).collect();
        Self { others: Some(others), left, ..Self::new(AlertKind::Over, group, at) }
    }

    /// A test message.
    pub fn test(at: Millis) -> Self {
        let (names, left) = (Vec::new(), Vec::new());
        Self { kind: AlertKind::Test, at, cause: None, names, documents: 0, since: None, others: None, left }
    }
}

/// What all messages of a configuration share: who sends them, and from where.
#[derive(Debug, Clone, Default)]
pub struct Letterhead {
    /// The language of the texts.
    pub language: Language,
    /// The name and the contact of the practice.
    pub practice: PracticeConfig,
    /// Where disks can fill up.
    pub disks: Disks,
    /// The computer that docsyncd runs on.
    pub computer: String,
    /// Where the status page is.
    pub page: Page,
    /// The configuration's file, if commands need to be told.
    pub file: Option<String>,
}

/// Where the reader of a message finds the status page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Page {
    /// There is no page.
    #[default]
    Off,
    /// An address that other computers reach.
    At(String),
    /// An entry of the Start menu of docsyncd's computer.
    Menu,
    /// A command on docsyncd's computer.
    Command,
}

impl Page {
    fn of(config: &Config) -> Self {
        let Some(page) = &config.status_page else { return Self::Off };
        match page.seen_elsewhere(page.listen) {
            Some(address) => Self::At(address.into()),
            None if cfg!(windows) => Self::Menu,
            None => Self::Command,
        }
    }
}

impl Letterhead {
    /// The letterhead of this configuration on this computer.
    pub fn of(config: &Config) -> Self {
        Self {
            language: config.alerts.language,
            practice: config.practice.clone(),
            disks: config.disks(),
            page: Page::of(config),
            computer: computer(),
            file: (config.file != default_path()).then(|| config.file.display().to_string()),
        }
    }

    /// Where the page is, in words.
    fn page(&self) -> String {
        let computer = ("computer", (&self.computer).into());
        match &self.page {
            Page::Off => self.language.text("alarm-page-off"),
            Page::At(address) => self.language.fill("alarm-page-at", &[("address", address.into())]),
            Page::Menu => self.language.fill("alarm-page-menu", &[computer]),
            Page::Command => self.language.fill("alarm-page-command", &[computer]),
        }
    }

    /// One line: the cause, and how many letters wait.
    fn subject(&self, content: &Content, group: Option<&Group>) -> String {
        let language = self.language;
        let about = match (group, content.kind) {
            (None, _) | (_, AlertKind::Test) => language.text("alarm-subject-test"),
            (Some(group), AlertKind::Problem) => language.subject(group),
            (Some(group), AlertKind::Reminder) => {
                let subject = language.within(&language.subject(group));
                language.fill("alarm-subject-reminder", &[("subject", (&subject).into())])
            }
            (Some(group), AlertKind::Over) => {
                let over = language.within(&language.over(group));
                let key = if content.others == Some(0) { "alarm-subject-all-well" } else { "alarm-subject-over" };
                language.fill(key, &[("over", (&over).into())])
            }
        };
        match &self.practice.name {
            Some(practice) => {
                language.fill("alarm-of-practice", &[("subject", (&about).into()), ("practice", practice.into())])
            }
            None => about,
        }
    }

    /// What goes on besides the problem that is over.
    fn what_is_left(&self, content: &Content) -> String {
        let subject = |(cause, names, count): &(String, Vec<String>, u64)| {
            let cause = Cause::parse(cause)?;
            let group = Group { cause, names: names.clone(), count: *count, since: None };
            let said = self.language.subject(&group);
            Some(if said.ends_with('?') { said } else { format!("{said}.") })
        };
        let left = content.left.iter().filter_map(subject).collect::<Vec<_>>().join(" ");
        self.language.fill("alarm-left", &[("what", (&left).into())])
    }

    /// The cause, and since when.
    fn text(&self, content: &Content, group: Option<&Group>, now: &Zoned) -> String {
        let language = self.language;
        match (group, content.kind) {
            (None, _) | (_, AlertKind::Test) => language.text("alarm-test"),
            (Some(group), AlertKind::Problem) => language.group(group, now),
            (Some(group), AlertKind::Reminder) => {
                let problem = language.group(group, now);
                language.fill("alarm-reminder", &[("problem", (&problem).into())])
            }
            (Some(group), AlertKind::Over) => {
                let over = language.over(group);
                let began = group.since.map(|since| language.at(&zoned(since), now));
                let over = began.map_or(over.clone(), |began| {
                    language.fill("alarm-over", &[("over", (&over).into()), ("began", (&began).into())])
                });
                match content.others {
                    None => over,
                    Some(0) => format!("{over} {}", language.text("alarm-all-well")),
                    Some(others) if content.left.is_empty() => {
                        format!("{over} {}", language.fill("others", &[("count", others.into())]))
                    }
                    Some(_) => format!("{over} {}", self.what_is_left(content)),
                }
            }
        }
    }
}

/// A message as it is sent. docs/json.md describes it; the names are stable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Message {
    /// Its identifier. A repetition has the same.
    pub id: String,
    /// `problem`, `reminder`, `over` or `test`.
    pub kind: AlertKind,
    /// When it was decided.
    #[serde(serialize_with = "in_json")]
    pub at: Millis,
    /// The practice, if the configuration names it.
    pub practice: Option<String>,
    /// The computer that docsyncd runs on.
    pub computer: String,
    /// What it is about, as a word; null in a test.
    pub cause: Option<String>,
    /// The accounts or destinations.
    pub names: Vec<String>,
    /// The number of documents that it is about.
    pub documents: u64,
    /// Since when it is so.
    #[serde(serialize_with = "in_json")]
    pub since: Option<Millis>,
    /// The language of the texts.
    pub language: &'static str,
    /// The headline.
    pub subject: String,
    /// A sentence or two.
    pub text: String,
    /// What to do; null when there is nothing to do.
    pub advice: Option<String>,
    /// Where the page is; null when nothing is to do there.
    pub page: Option<String>,
    /// Whom to call; null if the configuration names nobody, or when there is nothing to do.
    pub contact: Option<String>,
    /// Commands for whoever looks after the computer; null when there is nothing to do.
    pub commands: Option<String>,
}

fn zoned(at: Millis) -> Zoned {
    Timestamp::from_millisecond(at).unwrap_or(Timestamp::UNIX_EPOCH).to_zoned(TimeZone::system())
}

impl Message {
    /// The message in words.
    pub fn new(id: String, content: &Content, head: &Letterhead) -> Self {
        let (language, now) = (head.language, zoned(content.at));
        let group = content.cause.as_deref().and_then(Cause::parse).map(|cause| Group {
            cause,
            names: content.names.clone(),
            count: content.documents,
            since: content.since,
        });
        let is_over = content.kind == AlertKind::Over;
        // Without anything to do, nobody needs the page.
        let to_do = group.as_ref().filter(|_| matches!(content.kind, AlertKind::Problem | AlertKind::Reminder));
        let contact = head.practice.contact.as_ref().filter(|_| !is_over);
        let advice = |group: &Group| {
            let advice = language.advice(group, &head.disks);
            language.fill("alarm-do", &[("advice", (&advice).into())])
        };
        let commands = |group: &Group| {
            let commands = language.commands(group, &head.disks).unwrap_or_else(|| "docsyncd status".to_owned());
            let values = [("computer", (&head.computer).into()), ("commands", (&commands).into())];
            let commands = language.fill("alarm-it", &values);
            let file = head.file.as_ref();
            file.map_or(commands.clone(), |file| {
                language.fill("alarm-it-file", &[("it", (&commands).into()), ("file", file.into())])
            })
        };
        Self {
            id,
            kind: content.kind,
            at: content.at,
            practice: head.practice.name.clone(),
            computer: head.computer.clone(),
            cause: content.cause.clone(),
            names: content.names.clone(),
            documents: content.documents,
            since: content.since,
            language: language.as_str(),
            subject: head.subject(content, group.as_ref()),
            text: head.text(content, group.as_ref(), &now),
            advice: to_do.map(advice),
            page: (to_do.is_some() || !is_over && head.page != Page::Off).then(|| head.page()),
            contact: contact.map(|contact| language.fill("page-contact", &[("contact", contact.into())])),
            commands: to_do.map(commands),
        }
    }

    /// The text, what to do, where the page is, whom to call, and the commands.
    pub fn paragraphs(&self) -> impl Iterator<Item = &str> {
        let rest = [&self.advice, &self.page, &self.contact, &self.commands];
        std::iter::once(self.text.as_str()).chain(rest.into_iter().filter_map(Option::as_deref))
    }

    /// [`Self::paragraphs`], as one text.
    pub fn body(&self) -> String {
        self.paragraphs().collect::<Vec<_>>().join("\n")
    }
}

/// An identifier that no other message has, in any ledger.
pub fn new_id() -> String {
    let mut bytes = [0_u8; 12];
    if getrandom::fill(&mut bytes).is_err() {
        // Without random numbers the time has to do: there is never more than one alarm in a nanosecond.
        let nanos = Timestamp::now().as_nanosecond().to_le_bytes();
        bytes.iter_mut().zip(nanos).for_each(|(byte, nano)| *byte = nano);
    }
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("msg_{digits}")
}

/// The name of this computer, so that a person who looks after several knows which one it is.
pub fn computer() -> String {
    #[cfg(unix)]
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    #[cfg(windows)]
    let name = std::env::var("COMPUTERNAME").unwrap_or_default();
    // The headers of mails contain it.
    let plain: String = name.chars().filter(|c| c.is_alphanumeric() || "-._".contains(*c)).take(MOST_NAME).collect();
    if plain.is_empty() { "localhost".to_owned() } else { plain }
}

/// The longest name of a computer (RFC 1035, section 2.3.4).
const MOST_NAME: usize = 253;

#[cfg(test)]
mod tests;
