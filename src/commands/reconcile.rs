//! `docsyncd reconcile`: compares what the API, the ledger and the destinations say of each letter (docs/reconcile.md).
//! Changes nothing without `--repair`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;
use tokio::runtime::Runtime;

use super::output::{agreed, can_ask, complain, docsyncd, ledger_to_list, print, print_json, progress_bar};
use super::{Exit, Outcome, clients, interruptible, ready_clients, record, retry, runtime, told};
use crate::api::{Api, Client};
use crate::commands::cli::ReconcileArgs;
use crate::config::Loaded;
use crate::daemon::reconcile::{Difference, KINDS, Kind, Pace, Place, Report, Sides, compare};
use crate::destinations::{self, Adapter};
use crate::domain::failure::Scope;
use crate::formats::language::{Language, Value};
use crate::ledger::history::{Action, signed};
use crate::ledger::process::{self, Agreement};
use crate::ledger::retry::repeat;
use crate::ledger::{Ledger, Millis, now};
use crate::system::readers::person;
use crate::views;

/// The output for programs. No patient data.
#[derive(Serialize)]
struct Printed<'a> {
    agrees: bool,
    counts: BTreeMap<&'static str, u64>,
    differences: Vec<PrintedDifference<'a>>,
    looked_at: u64,
    not_looked_at: u64,
    new: u64,
    failed: Vec<PrintedFailure<'a>>,
}

#[derive(Serialize)]
struct PrintedDifference<'a> {
    uuid: &'a str,
    account: &'a str,
    destination: Option<&'a str>,
    kind: &'static str,
    repaired: bool,
}

#[derive(Serialize)]
struct PrintedFailure<'a> {
    scope: String,
    reason: &'a str,
}

pub(super) fn reconcile(loaded: &Loaded, args: &ReconcileArgs, language: Language) -> Outcome {
    let ledger = ledger_to_list(loaded, language)?;
    let report = match &ledger {
        Some(ledger) => report_of(loaded, ledger, args, language)?,
        None => Report::default(),
    };
    if !args.json {
        let not_taken = match &ledger {
            Some(ledger) if report.looked_at == 0 => runtime()?.block_on(ledger.read(views::summary))?.to_confirm,
            _ => 0,
        };
        print(&text(&report, not_taken, language))?;
    }
    for (scope, reason) in &report.failed {
        let exact = format!("{scope} could not be compared: {reason}");
        let scope = scope.to_string();
        let what = told::because(language, "reconcile-not-compared", &[("scope", (&scope).into())], &exact);
        complain(&format!("docsyncd: {what}"));
    }
    let mut repaired = Vec::new();
    if let (Some(ledger), true) = (&ledger, args.repair) {
        let runtime = runtime()?;
        let mut repair = Repair { loaded, ledger, runtime: &runtime, args, language, repaired: &mut repaired };
        repair.all(&report)?;
        if !repaired.is_empty() {
            let when = retry::when(loaded, language);
            let values = [("count", of(repaired.len())), ("when", Value::from(&when))];
            say(args, &language.fill("reconcile-repaired", &values))?;
        }
    }
    if args.json {
        print_json(&printed(&report, &repaired))?;
    }
    Ok(match (report.is_whole(), report.differing()) {
        (_, 1..) => Exit::Unfinished,
        (true, 0) => Exit::Done,
        (false, 0) => Exit::Failed,
    })
}

fn report_of(loaded: &Loaded, ledger: &Ledger, args: &ReconcileArgs, language: Language) -> anyhow::Result<Report> {
    let config = &loaded.config;
    let clients = ready_clients(config)?;
    let places: Vec<(&String, Box<dyn Adapter>, bool)> = config
        .destinations
        .iter()
        .map(|(name, to)| (name, destinations::build(to, &config.state.path), to.is_emptied()))
        .collect();
    let bar = progress_bar(&language.text("reconcile-letters"));
    let progress = |scope: &Scope, done: u64, total: u64| {
        if let Some(bar) = &bar {
            bar.set_length(total);
            bar.set_position(done);
            bar.set_message(scope.to_string());
        }
    };
    let sides = Sides {
        ledger,
        clients: clients.iter().map(|(name, client)| (*name, client as &dyn Api)).collect(),
        destinations: places
            .iter()
            .map(|(name, adapter, is_emptied)| {
                (name.as_str(), Place { adapter: adapter.as_ref(), is_emptied: *is_emptied })
            })
            .collect(),
        pace: Pace::ASKED,
        progress: &progress,
    };
    let since = args.since.map_or(Millis::MIN, |since| since.begins);
    let compared = runtime()?.block_on(async {
        let report = interruptible(clients.iter().map(|(_, client)| client), compare(&sides, since)).await?;
        // A run that looked at everything replaces what was found before; another one may add to it.
        let (count, is_all) = (report.differing(), report.is_whole() && args.since.is_none());
        let known = Agreement::of(&ledger.read(process::all).await?).count;
        if count > known || is_all && known > 0 {
            ledger.write(move |db| Agreement::found(db, count, now())).await?;
        }
        Ok(report)
    });
    if let Some(bar) = &bar {
        bar.finish_and_clear();
    }
    compared
}

/// `not_taken`: how many letters no look could have been at yet, if there was none.
fn text(report: &Report, not_taken: u64, language: Language) -> String {
    let mut text = String::new();
    for difference in &report.differences {
        let (whose, name) = match &difference.destination {
            Some(destination) => ("reconcile-of-destination", destination),
            None => ("reconcile-of-account", &difference.account),
        };
        let what = language.text(&format!("reconcile-{}", difference.kind.as_str().replace('_', "-")));
        let whose = language.fill(whose, &[("name", name.into()), ("what", Value::from(&what))]);
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}  {whose}", difference.uuid);
    }
    let left_out = report.differing().saturating_sub(report.differences.len() as u64);
    if left_out > 0 {
        let _ = writeln!(text, "{}", language.fill("reconcile-more", &[("count", left_out.into())]));
    }
    let differing = match report.differing() {
        0 if report.is_whole() => language.text("reconcile-agrees"),
        0 => language.text("reconcile-agrees-as-far"),
        several => language.fill("reconcile-differences", &[("count", several.into())]),
    };
    let looked_at = report.looked_at.to_string();
    let values = [("differing", Value::from(&differing)), ("count", (&looked_at).into())];
    text.push_str(&match report.is_whole() && report.differing() == 0 && not_taken > 0 {
        true => language.fill("reconcile-not-taken", &[("count", not_taken.into())]),
        false => language.fill("reconcile-looked-at", &values),
    });
    for (count, what) in [(report.not_looked_at, "reconcile-cannot"), (report.new, "reconcile-new")] {
        if count > 0 {
            text.push_str(&language.fill(what, &[("count", (&count.to_string()).into())]));
        }
    }
    text + "\n"
}

fn printed<'a>(report: &'a Report, repaired: &[(i64, Kind)]) -> Printed<'a> {
    let of = |difference: &'a Difference| PrintedDifference {
        uuid: difference.uuid.as_str(),
        account: &difference.account,
        destination: difference.destination.as_deref(),
        kind: difference.kind.as_str(),
        repaired: repaired.contains(&(difference.document, difference.kind)),
    };
    Printed {
        agrees: report.is_whole() && report.differing() == 0,
        counts: KINDS.map(|kind| (kind.as_str(), report.counts.get(&kind).copied().unwrap_or(0))).into(),
        differences: report.differences.iter().map(of).collect(),
        looked_at: report.looked_at,
        not_looked_at: report.not_looked_at,
        new: report.new,
        failed: report
            .failed
            .iter()
            .map(|(scope, reason)| PrintedFailure { scope: scope.to_string(), reason })
            .collect(),
    }
}

/// If standard output is for a program, people read standard error.
fn say(args: &ReconcileArgs, line: &str) -> anyhow::Result<()> {
    if args.json {
        complain(line);
    } else {
        print(&format!("{line}\n"))?;
    }
    Ok(())
}

fn of(number: usize) -> Value<'static> {
    Value::Count(u64::try_from(number).unwrap_or(u64::MAX))
}

/// What is safe: to report again, and to file again what a person wants filed again. Never removes or overwrites
/// anything.
struct Repair<'a> {
    loaded: &'a Loaded,
    ledger: &'a Ledger,
    runtime: &'a Runtime,
    args: &'a ReconcileArgs,
    language: Language,
    /// The letters, and what was repaired.
    repaired: &'a mut Vec<(i64, Kind)>,
}

impl Repair<'_> {
    fn all(&mut self, report: &Report) -> anyhow::Result<()> {
        let of_kind = |kind| report.differences.iter().filter(move |difference| difference.kind == kind);
        for (destination, letters) in &report.emptied {
            let letters = letters.to_string();
            let values = [("destination", Value::from(destination)), ("letters", (&letters).into())];
            complain(&format!("docsyncd: {}", self.language.fill("reconcile-emptied", &values)));
        }
        let is_emptied = |of: &&Difference| of.destination.as_ref().is_some_and(|to| report.emptied.contains_key(to));
        let mut missing: BTreeMap<i64, Vec<&Difference>> = BTreeMap::new();
        for difference in of_kind(Kind::Missing).filter(|difference| !is_emptied(difference)) {
            missing.entry(difference.document).or_default().push(difference);
        }
        for difference in missing.values().flatten() {
            let to = difference.destination.as_deref().unwrap_or_default();
            let values = [("uuid", difference.uuid.as_str().into()), ("destination", Value::from(to))];
            say(self.args, &self.language.fill("reconcile-file-again", &values))?;
        }
        if !missing.is_empty() && self.agreed(missing.len())? {
            let clients = clients(&self.loaded.config)?.into_iter().collect();
            for (document, differences) in missing {
                let destinations = differences.iter().filter_map(|difference| difference.destination.clone()).collect();
                if let Some(first) = differences.first()
                    && self.is_there(&clients, first)?
                {
                    self.repeat(document, first, destinations)?;
                }
            }
        }
        for difference in of_kind(Kind::NotSynchronized) {
            // A letter that is filed again is reported again, too.
            if !self.repaired.contains(&(difference.document, Kind::Missing)) {
                let values = [("uuid", difference.uuid.as_str().into())];
                say(self.args, &self.language.fill("reconcile-report-again", &values))?;
                self.repeat(difference.document, difference, Vec::new())?;
            } else {
                self.repaired.push((difference.document, difference.kind));
            }
        }
        let ended = of_kind(Kind::EndedAtApi).count();
        if ended > 0 {
            say(self.args, &self.language.fill("reconcile-open", &[("count", of(ended))]))?;
        }
        Ok(())
    }

    /// Whether the service still has the letter. One that it does not have cannot be fetched, and would end as
    /// withdrawn.
    fn is_there(&self, clients: &BTreeMap<&str, Client>, difference: &Difference) -> anyhow::Result<bool> {
        let Some(client) = clients.get(&*difference.account) else {
            let values = [("uuid", difference.uuid.as_str().into()), ("account", Value::from(&difference.account))];
            complain(&format!("docsyncd: {}", self.language.fill("reconcile-no-account", &values)));
            return Ok(false);
        };
        let answer = self.runtime.block_on(interruptible([client], client.document(&difference.uuid)));
        if let Err(error) = &answer {
            let exact = format!("{} cannot be filed again: the service does not give it: {error}", difference.uuid);
            let values = [("uuid", difference.uuid.as_str().into())];
            let what = told::because(self.language, "reconcile-not-given", &values, &exact);
            complain(&format!("docsyncd: {what}"));
        }
        Ok(answer.is_ok())
    }

    /// Asks whether this many letters are to be filed again.
    fn agreed(&self, letters: usize) -> anyhow::Result<bool> {
        if self.args.yes {
            return Ok(true);
        }
        if !can_ask() {
            let command = docsyncd("reconcile --repair --yes");
            let text = self.language.fill("reconcile-nobody-asked", &[("command", (&command).into())]);
            complain(&format!("docsyncd: {text}"));
            return Ok(false);
        }
        agreed(&self.language.fill("reconcile-question", &[("count", of(letters))]), self.language)
    }

    fn repeat(&mut self, document: i64, difference: &Difference, destinations: Vec<String>) -> anyhow::Result<()> {
        let uuid = difference.uuid.to_string();
        let is_done = self.runtime.block_on(self.ledger.write(move |db| {
            if !signed(person().as_deref(), || repeat(db, document, &destinations, now()))? {
                return Ok(false);
            }
            let (action, what) = match destinations.as_slice() {
                [] => (Action::ReportAgain, record::documents(&[&uuid])),
                to => (Action::FileAgain, format!("{} at {}", record::documents(&[&uuid]), to.join(", "))),
            };
            record::record(db, action, &what)?;
            process::request_probes(db)?;
            Ok(true)
        }))?;
        if is_done {
            self.repaired.push((document, difference.kind));
        } else {
            let values = [("uuid", difference.uuid.as_str().into())];
            complain(&format!("docsyncd: {}", self.language.fill("reconcile-left", &values)));
        }
        Ok(())
    }
}
