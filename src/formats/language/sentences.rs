//! Sentences about the state of docsyncd, built from the texts of a language.

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use super::Language;
use crate::domain::health::{Cause, Disks, Headline, ListWrong, Problem};

/// The most names in a sentence.
const MOST_NAMES: usize = 5;

/// The problems of one cause, for one sentence and one message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The cause.
    pub cause: Cause,
    /// The accounts or destinations.
    pub names: Vec<String>,
    /// The number of documents.
    pub count: u64,
    /// The earliest time.
    pub since: Option<i64>,
}

/// The problems by their causes, in their order.
pub fn groups<'a>(problems: impl IntoIterator<Item = &'a Problem>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for problem in problems {
        let name = Some(problem.name.clone()).filter(|name| !name.is_empty());
        match groups.iter_mut().find(|group| group.cause == problem.cause) {
            Some(group) => {
                group.names.extend(name);
                group.count = group.count.saturating_add(problem.count);
                group.since = [group.since, problem.since].into_iter().flatten().min();
            }
            None => groups.push(Group {
                cause: problem.cause,
                names: name.into_iter().collect(),
                count: problem.count,
                since: problem.since,
            }),
        }
    }
    groups
}

impl Language {
    /// The first one or two sentences: the state of docsyncd.
    pub fn headline(self, headline: &Headline, now: &Zoned) -> String {
        match headline {
            Headline::NotRunning { last: None } => self.text("not-running"),
            Headline::NotRunning { last: Some(last) } => {
                self.fill("not-running-last", &[("last", (&self.at(&zoned(*last, now), now)).into())])
            }
            Headline::Moved { at } => self.fill("moved", &[("at", (&self.at(&zoned(*at, now), now)).into())]),
            Headline::Well { today, open, last } => {
                let last = last.map(|last| self.at(&zoned(last, now), now));
                let sentence = match (today, &last) {
                    (0, None) => self.text("well-none"),
                    (0, Some(last)) => self.fill("well-last", &[("last", last.into())]),
                    (today, last) => {
                        let last = last.as_deref().unwrap_or_default();
                        self.fill("well-some", &[("count", (*today).into()), ("last", last.into())])
                    }
                };
                match open {
                    0 => sentence,
                    open => format!("{sentence} {}", self.fill("well-open", &[("count", (*open).into())])),
                }
            }
            Headline::Wrong { problem, others } => {
                let sentence = self.problem(problem, now);
                match u64::try_from(*others).unwrap_or(u64::MAX) {
                    0 => sentence,
                    others => format!("{sentence} {}", self.fill("others", &[("count", others.into())])),
                }
            }
        }
    }

    /// One problem in a sentence: "3 letters wait since 10:12: the destination pms cannot be reached."
    pub fn problem(self, problem: &Problem, now: &Zoned) -> String {
        groups([problem]).first().map(|group| self.group(group, now)).unwrap_or_default()
    }

    /// Problems of one cause in a sentence.
    pub fn group(self, group: &Group, now: &Zoned) -> String {
        let since = group.since.map_or_else(String::new, |since| self.since(&zoned(since, now), now));
        let (name, names) = self.concerned(group);
        let cause = group.cause.as_str();
        let (reason, _) = self.list_wrong(group);
        let values = [
            ("name", (&name).into()),
            ("names", names.into()),
            ("count", group.count.into()),
            ("since", (&since).into()),
            ("reason", (&reason).into()),
        ];
        if self.has(&format!("problem-{cause}")) {
            return self.fill(&format!("problem-{cause}"), &values);
        }
        let why = self.fill(&format!("why-{cause}"), &values);
        if group.count > 0 && group.cause.holds_documents() && !since.is_empty() {
            return self
                .fill("waiting", &[("count", group.count.into()), ("since", (&since).into()), ("why", (&why).into())]);
        }
        match since.is_empty() {
            true => capital(&format!("{why}.")),
            false => capital(&self.fill("waiting-none", &[("since", (&since).into()), ("why", (&why).into())])),
        }
    }

    /// The problem and the number of letters, in a line without a full stop.
    pub fn subject(self, group: &Group) -> String {
        let (name, names) = self.concerned(group);
        let (reason, _) = self.list_wrong(group);
        let values = [
            ("name", (&name).into()),
            ("names", names.into()),
            ("count", group.count.into()),
            ("reason", (&reason).into()),
        ];
        let own = format!("subject-{}", group.cause.as_str());
        if self.has(&own) {
            return self.fill(&own, &values);
        }
        let why = self.fill(&format!("why-{}", group.cause.as_str()), &values);
        match group.count > 0 && group.cause.holds_documents() {
            true => self.fill("subject-waiting", &[("count", group.count.into()), ("why", (&why).into())]),
            false => capital(&why),
        }
    }

    /// A sentence to stand after a colon, without its full stop.
    pub fn within(self, sentence: &str) -> String {
        let mut letters = sentence.trim_end_matches('.').chars();
        match letters.next().filter(|_| self != Language::German) {
            Some(first) => first.to_lowercase().chain(letters).collect(),
            None => sentence.trim_end_matches('.').to_owned(),
        }
    }

    /// What a person with the status page should do. It names buttons, not commands.
    pub fn advice(self, group: &Group, disks: &Disks) -> String {
        self.to_do("do", group, disks).unwrap_or_default()
    }

    /// What the administrator should do, with commands; `None` if nothing more.
    pub fn commands(self, group: &Group, disks: &Disks) -> Option<String> {
        let commands = self.to_do("it", group, disks)?;
        Some(self.exact(group).map_or(commands.clone(), |exact| format!("{commands} {exact}")))
    }

    /// What is wrong with the settings, in the English words that only whoever mends it needs; `None` if the sentence
    /// about the problem says it, as it does in English.
    pub fn exact(self, group: &Group) -> Option<String> {
        let what = group.names.first().filter(|_| group.cause == Cause::Configuration && self != Language::English);
        what.map(|what| self.fill("mistake-exact", &[("what", what.into())]))
    }

    /// Where a mistake in the settings is (`ConfigError::in_short`): line, column and key. If a name was mistyped, also
    /// which one, and which is probably meant.
    pub fn mistake(self, what: &str) -> String {
        let number = |rest: &str| rest.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default().to_owned();
        let after = |word: &str| what.split_once(word).map(|(_, rest)| number(rest)).filter(|found| !found.is_empty());
        let numbers = [("mistake-line", after(", line ")), ("mistake-column", after(" TOML, column "))];
        let key = what.split_once(": `").and_then(|(_, rest)| rest.split_once('`')).map(|(key, _)| key.to_owned());
        let place = |(text, number): (&str, Option<String>)| Some(self.fill(text, &[("number", (&number?).into())]));
        let parts: Vec<String> = numbers.into_iter().filter_map(place).chain(key).collect();
        let place = if parts.is_empty() { self.text("mistake-other") } else { parts.join(", ") };
        let named = |before: &str| Some(what.split_once(before)?.1.split_once('`')?.0);
        let (field, key) = (named("there is no field `"), named("unknown key `"));
        let mistyped = field.map(|name| ("mistake-no-field", name)).or(key.map(|name| ("mistake-no-key", name)));
        let Some((text, name)) = mistyped else { return place };
        let said = self.fill(text, &[("place", (&place).into()), ("name", name.into())]);
        match named("did you mean `").or(named("nearest known key is `")) {
            Some(meant) => self.fill("mistake-meant", &[("what", (&said).into()), ("meant", meant.into())]),
            None => said,
        }
    }

    /// The accounts or destinations of a group, and their number; of a mistake in the settings, where it is. In English
    /// its exact words stand alone.
    fn concerned(self, group: &Group) -> (String, u64) {
        match group.names.first() {
            Some(what) if group.cause == Cause::Configuration && self != Language::English => (self.mistake(what), 1),
            _ => self.names(&group.names),
        }
    }

    fn to_do(self, whose: &str, group: &Group, disks: &Disks) -> Option<String> {
        let key = format!("{whose}-{}", group.cause.as_str());
        let (name, names) = self.names(&group.names);
        let (reason, goes_on) = self.list_wrong(group);
        let (place, places) = self.names(&disks.of(group.cause, &group.names));
        let values = [
            ("name", (&name).into()),
            ("names", names.into()),
            ("place", (&place).into()),
            ("places", places.into()),
            ("count", group.count.into()),
            ("reason", (&reason).into()),
            ("goes", u64::from(goes_on).into()),
        ];
        self.has(&key).then(|| self.fill(&key, &values))
    }

    /// What is wrong with the list of patients, and whether the previous list is still used.
    fn list_wrong(self, group: &Group) -> (String, bool) {
        let words = group.names.first().filter(|_| group.cause == Cause::PatientsFile);
        let ListWrong { kind, row, goes_on } = ListWrong::parse(words.map_or("", String::as_str));
        let key = format!("list-wrong-{kind}");
        let key = if self.has(&key) { key.as_str() } else { "list-wrong-content" };
        (self.fill(key, &[("row", row.into())]), goes_on)
    }

    /// The sentence that problems of one cause are over.
    pub fn over(self, group: &Group) -> String {
        let (name, names) = self.names(&group.names);
        let values = [("name", (&name).into()), ("names", names.into()), ("count", group.count.into())];
        self.fill(&format!("over-{}", group.cause.as_str()), &values)
    }

    /// A title or label within a line. German nouns always begin with a capital.
    pub fn label(self, key: &str) -> String {
        let text = self.text(key);
        let mut letters = text.chars();
        match letters.next().filter(|_| self != Language::German) {
            Some(first) => first.to_lowercase().chain(letters).collect(),
            None => text,
        }
    }

    /// A document's state in a word or two; in English, that of `--json` if it has one.
    pub fn state(self, state: &str) -> String {
        let short = format!("state-{state}-short");
        match self {
            Language::English if state != "filed" => state.to_owned(),
            _ if self.has(&short) => self.text(&short),
            _ => self.text(&format!("state-{state}")),
        }
    }

    /// A document's type; in English, that of `--json`. A new type is shown as the service names it.
    pub fn kind(self, word: &str) -> String {
        let known = if self == Language::English { None } else { self.document_type(word) };
        known.unwrap_or_else(|| word.to_owned())
    }

    /// The state of a delivery; in English, that of `--json` if it has one.
    pub fn delivery(self, state: &str, may_have_arrived: bool) -> String {
        let key = match state {
            _ if may_have_arrived => "letter-may-have-arrived",
            "filed" => "page-not-taken",
            _ if self == Language::English => return state.to_owned(),
            "delivered" => "letter-there",
            "failed" => "state-failed",
            _ => "letter-to-come",
        };
        self.text(key)
    }

    /// The proof that a letter is there (`proof::Proof`).
    pub fn proof(self, proof: &str) -> Option<String> {
        let key = format!("proof-{}", proof.replace('_', "-"));
        self.has(&key).then(|| self.text(&key))
    }

    /// What is paused, from `account:main` on; what is new here by its own name.
    pub fn scope(self, scope: &str) -> String {
        let (kind, name) = scope.split_once(':').unwrap_or((scope, ""));
        let key = format!("table-scope-{kind}");
        if self.has(&key) { self.fill(&key, &[("name", name.into())]) } else { scope.to_owned() }
    }

    /// An event of a document in words. A new event is shown by its own name.
    pub fn event(self, event: &str, destination: Option<&str>) -> String {
        let key = format!("event-{}", event.replace('_', "-"));
        let places = u64::from(destination.is_some());
        match self.has(&key) {
            true => self.fill(&key, &[("name", destination.unwrap_or_default().into()), ("places", places.into())]),
            false => event.replace('_', " "),
        }
    }

    /// "a, b and 3 more", and the number of names.
    fn names(self, names: &[String]) -> (String, u64) {
        let shown = names.iter().take(MOST_NAMES).map(String::as_str).collect::<Vec<_>>().join(", ");
        let count = |length: usize| u64::try_from(length).unwrap_or(u64::MAX);
        let text = match names.len().saturating_sub(MOST_NAMES) {
            0 => shown,
            more => self.fill("and-more", &[("names", (&shown).into()), ("more", count(more).into())]),
        };
        (text, count(names.len()))
    }
}

/// This time of the ledger, in the time zone of `now`.
pub fn zoned(at: i64, now: &Zoned) -> Zoned {
    let zone: &TimeZone = now.time_zone();
    Timestamp::from_millisecond(at).unwrap_or(Timestamp::UNIX_EPOCH).to_zoned(zone.clone())
}

/// The sentence with a capital first letter, unless it begins with docsyncd.
pub fn capital(sentence: &str) -> String {
    if sentence.starts_with("docsyncd") {
        return sentence.to_owned();
    }
    let mut letters = sentence.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
