//! The table of `docsyncd status`, with one line for each thing, for the person who administers docsyncd.

use std::fmt::Write as _;

use super::super::output::{docsyncd, local_with_zone as local};
use super::{Status, in_commands};
use crate::domain::failure::Scope;
use crate::domain::health::{Cause, Disks};
use crate::formats::language::{Group, Language, Reason, Value};

/// The lines, each with its label. The column fits the labels of all languages.
struct Lines {
    language: Language,
    text: String,
}

impl Lines {
    fn add(&mut self, label: &str, what: &str) {
        let label = if label.is_empty() { String::new() } else { self.language.text(label) };
        let width = if self.language == Language::English { 14 } else { 16 };
        // Writing to a String cannot fail.
        let _ = writeln!(self.text, "{}", format!("{label:width$}{what}").trim_end());
    }

    /// The reason. A person who administers docsyncd reads the exact one, if it is in the right language.
    fn reason(&self, told: &Reason) -> String {
        if self.language == Language::English { told.text.clone() } else { self.language.reason(told) }
    }

    fn say(&mut self, label: &str, key: &str, values: &[(&str, &str)]) {
        let values: Vec<(&str, Value<'_>)> = values.iter().map(|(name, text)| (*name, Value::Text(text))).collect();
        let what = self.language.fill(key, &values);
        self.add(label, &what);
    }

    fn sign_ins(&mut self, status: &Status) {
        for sign_in in &status.sign_ins {
            let name = ("name", sign_in.account.as_str());
            let problem = sign_in.problem.as_ref().map(|problem| match self.language {
                Language::English => problem.clone(),
                other => {
                    let cause = if sign_in.auth == "oauth" { Cause::SignIn } else { Cause::ApiKey };
                    let group = Group { cause, names: vec![sign_in.account.clone()], count: 0, since: None };
                    format!(
                        "{} {}",
                        other.group(&group, &jiff::Zoned::now()),
                        in_commands(other, &group, &Disks::default())
                    )
                }
            });
            match (&problem, &sign_in.user, sign_in.auth) {
                (Some(why), ..) => self.say("table-sign-in-problem", "table-sign-in-why", &[name, ("why", why)]),
                (None, Some(user), _) => self.say("table-sign-in", "table-signed-in-as", &[name, ("user", user)]),
                (None, None, "oauth") => self.say("table-sign-in", "table-signed-in", &[name]),
                (None, None, _) => self.say("table-sign-in", "table-by-key", &[name]),
            }
        }
    }

    fn accounts(&mut self, status: &Status) {
        for account in &status.summary.accounts {
            let name = ("name", account.account.as_str());
            self.say("table-account", "table-polled", &[name, ("at", &local(account.last_poll))]);
            // The line of its pause says the rest.
            let paused = status
                .summary
                .pauses
                .iter()
                .find(|pause| pause.scope == Scope::Account(account.account.clone()).to_string());
            let is_said =
                paused.zip(account.poll_error.as_ref()).is_some_and(|(pause, error)| pause.reason.text == error.text);
            if let Some(why) = account.poll_error.as_ref().filter(|_| !is_said).map(|error| self.reason(error)) {
                self.say("", "table-poll-failed", &[("why", &why)]);
            }
            if !account.configured && account.waiting > 0 {
                let count = Value::Count(account.waiting);
                let values = [("name", Value::Text(name.1)), ("count", count)];
                self.add("", &self.language.fill("table-not-configured", &values));
            }
        }
    }

    fn pauses(&mut self, status: &Status) {
        for pause in &status.summary.pauses {
            let scope = self.language.scope(&pause.scope);
            let (since, next) = (local(pause.since), local(pause.next_probe));
            let values = [("scope", scope.as_str()), ("since", &since), ("next", &next)];
            // The line of the account's sign-in says the same.
            if status.sign_ins.iter().any(|sign_in| sign_in.problem.as_ref() == Some(&pause.reason.text)) {
                self.say("table-paused", "table-paused-since", &values);
            } else {
                let why = self.reason(&pause.reason);
                self.say("table-paused", "table-paused-why", &[&values[..], &[("why", &why)]].concat());
            }
        }
    }
}

/// The table.
pub(super) fn text(status: &Status, language: Language) -> String {
    let mut lines = Lines { language, text: String::new() };
    if !status.begun {
        // Before the first run a person who sets docsyncd up wants to know whether the accounts are signed in.
        let none = language.fill("table-no-ledger", &[("path", (&status.ledger).into())]);
        lines.text = format!("{none}\n");
        lines.sign_ins(status);
        return lines.text;
    }
    let summary = &status.summary;
    let process = &summary.process;
    if status.running {
        let since = local(process.started_at);
        let version = process.version.as_deref().unwrap_or("?");
        let pid = process.pid.map_or_else(|| "?".to_owned(), |pid| pid.to_string());
        let values = [("version", version), ("process", &pid), ("since", &since)];
        lines.say("table-running", "table-running-as", &values);
    } else {
        lines.add("table-not-running", "");
    }
    lines.add("table-last-success", &local(summary.last_success));
    let count = |state: &str| summary.documents.get(state).copied().unwrap_or(0);
    lines.add("table-reported", &count("reported").to_string());
    let report = count("delivered") + count("failing");
    // Letters that are filed but not yet taken have their own line.
    let to_file = |count: u64| count.saturating_sub(summary.to_confirm);
    let waiting = [to_file(summary.waiting), count("discovered"), to_file(count("fetched")), report];
    let waiting = waiting.map(|count| count.to_string());
    let [waiting, fetch, deliver, report] = waiting.each_ref().map(String::as_str);
    let values = [("waiting", waiting), ("fetch", fetch), ("deliver", deliver), ("report", report)];
    lines.say("table-waiting", "table-waiting-for", &values);
    let failed = summary.failed;
    let hint = ["failed", "unreported"].into_iter().find(|state| failed > 0 && count(state) == failed);
    let hint = match (failed, hint) {
        (0, _) => String::new(),
        (_, Some(state)) => {
            format!("   ({}; {})", docsyncd(&format!("list --state {state}")), docsyncd("retry --failed"))
        }
        (_, None) => {
            format!("   ({}, --state unreported; {})", docsyncd("list --state failed"), docsyncd("retry --failed"))
        }
    };
    lines.add("table-failed", &format!("{failed}{hint}"));
    if summary.may_have_arrived > 0 {
        let (count, list) = (summary.may_have_arrived.to_string(), docsyncd("list --state fetched"));
        let values = [("count", count.as_str()), ("list", &list), ("retry", &docsyncd("retry UUID"))];
        lines.say("table-uncertain", "table-uncertain-how", &values);
    }
    let deliveries = [
        ("table-person", summary.needs_person, "assign UUID"),
        ("table-to-confirm", summary.to_confirm, "list --state fetched"),
    ];
    for (name, count, command) in deliveries.into_iter().filter(|(_, count, _)| *count > 0) {
        let command = docsyncd(command);
        let values = [("count", Value::Count(count)), ("command", (&command).into())];
        let what = language.fill(&format!("{name}-how"), &values);
        lines.add(name, &what);
    }
    lines.add("table-withdrawn", &count("withdrawn").to_string());
    lines.accounts(status);
    lines.sign_ins(status);
    lines.pauses(status);
    lines.add("table-ledger", &status.ledger);
    lines.text
}
