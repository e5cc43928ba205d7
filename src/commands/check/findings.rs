//! The findings of a check: lines for a person, or one JSON object for a program.

use std::fmt::Write as _;

use serde::Serialize;

use super::super::output::{completed, print_json, say};
use super::super::{Exit, Outcome};
use crate::formats::language::Language;

/// One line.
#[derive(Debug, Clone, Serialize)]
struct Finding {
    /// `ok`, `warn` or `fail`
    verdict: &'static str,
    what: String,
    says: String,
}

/// What an account sees at the API.
#[derive(Debug, Clone, Serialize)]
pub(super) struct AccountSeen {
    pub(super) account: String,
    /// The account's user at the API.
    pub(super) user: Option<String>,
    pub(super) practice: Option<String>,
    /// The number of unsynchronized documents on the first page.
    pub(super) waiting: usize,
    /// Whether there may be more.
    pub(super) more: bool,
    /// About how many bytes their PDFs have; 0 if unknown.
    pub(super) bytes: u64,
}

impl AccountSeen {
    pub(super) fn in_words(&self, language: Language) -> String {
        let waiting = if self.more { "check-waiting-many" } else { "check-waiting" };
        let waiting = language.fill(waiting, &[("count", (self.waiting as u64).into())]);
        let [user, practice] = [&self.user, &self.practice].map(|known| known.as_deref().unwrap_or_default());
        let text = match (user, practice) {
            ("", "") => "check-answers",
            ("", _) => "check-answers-practice",
            (_, "") => "check-answers-as",
            _ => "check-answers-as-practice",
        };
        language.fill(text, &[("waiting", (&waiting).into()), ("user", user.into()), ("practice", practice.into())])
    }
}

/// The lines, and whether one of them is a failure.
#[derive(Debug, Default)]
pub(super) struct Findings {
    lines: Vec<Finding>,
    failed: bool,
    /// Whether the configuration itself is at fault.
    usage: bool,
    pub(super) seen: Vec<AccountSeen>,
}

/// The begin of a line, if the rest is said elsewhere.
pub(super) fn head(language: Language, verdict: &str, what: &str) -> Outcome {
    say(&format!("{}\n", begin(language, verdict, what).trim_end()))
}

fn begin(language: Language, verdict: &str, what: &str) -> String {
    let verdict = if verdict == "fail" { "FAIL" } else { verdict };
    format!("{verdict:<5} {:<22}", label(language, what))
}

/// What a line is about, for a person: a word, perhaps with a name.
fn label(language: Language, what: &str) -> String {
    let key = |word: &str| format!("check-what-{}", word.replace(' ', "-"));
    if language.has(&key(what)) {
        return language.text(&key(what));
    }
    match what.rsplit_once(' ') {
        Some((word, name)) if language.has(&key(word)) => language.fill(&key(word), &[("name", name.into())]),
        _ => what.to_owned(),
    }
}

impl Findings {
    pub(super) fn ok(&mut self, what: &str, says: &str) {
        self.line("ok", what, says);
    }

    pub(super) fn warn(&mut self, what: &str, says: &str) {
        self.line("warn", what, says);
    }

    pub(super) fn fail(&mut self, what: &str, says: &str) {
        self.failed = true;
        self.line("fail", what, says);
    }

    /// Adds a failure that a person mends in the configuration.
    pub(super) fn usage(&mut self, what: &str, says: &str) {
        self.usage = true;
        self.fail(what, says);
    }

    pub(super) fn add(&mut self, parts: Vec<Self>) {
        for part in parts {
            self.lines.extend(part.lines);
            self.seen.extend(part.seen);
            self.failed |= part.failed;
            self.usage |= part.usage;
        }
    }

    /// The finding for something that gave no answer in time.
    pub(super) fn silent(what: &str) -> Self {
        let mut findings = Self::default();
        findings.fail(what, "");
        findings
    }

    /// The verdict and the subject of each line.
    pub(super) fn verdicts(self) -> Vec<(&'static str, String)> {
        self.lines.into_iter().map(|finding| (finding.verdict, finding.what)).collect()
    }

    fn line(&mut self, verdict: &'static str, what: &str, says: &str) {
        // The log and other commands recommend this check, which is running now.
        let says = says.replace("`docsyncd check`", "this check");
        self.lines.push(Finding { verdict, what: what.to_owned(), says: completed(&says) });
    }

    pub(super) fn print(&self, language: Language) -> Outcome {
        let mut text = String::new();
        for Finding { verdict, what, says } in &self.lines {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{} {says}", begin(language, verdict, what));
        }
        say(&text)
    }

    pub(super) fn print_json(&self) -> Outcome {
        print_json(&serde_json::json!({"ok": !self.failed, "checks": self.lines, "accounts": self.seen}))
    }

    pub(super) fn exit(&self) -> Exit {
        match (self.usage, self.failed) {
            (true, _) => Exit::Usage,
            (false, true) => Exit::Failed,
            (false, false) => Exit::Done,
        }
    }
}
