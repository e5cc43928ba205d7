//! How docsyncd is, for people: what is wrong, since when, and whether it needs a person.
//!
//! [`assess`] is pure: from facts that were read elsewhere it derives the light, the first sentence, and a list of
//! problems, the most urgent first. Alarms, `docsyncd status` and the status page all begin here, and say it in the
//! words of [`crate::language`]. A problem is data without text: nothing that a server, a program or a file said can
//! get into it.

mod cause;

use std::collections::BTreeMap;
use std::time::Duration;

use crate::failure::{Failure, Scope};

pub use cause::{CAUSES, Cause};

/// Milliseconds since 1970-01-01T00:00:00Z.
type Millis = i64;

/// What was read from the ledger, the configuration and the system.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// The present time.
    pub now: Millis,
    /// Whether a daemon works on the ledger.
    pub running: bool,
    /// Documents that were reported today, by the calendar of this machine.
    pub today: u64,
    /// When a document was last reported.
    pub last_done_at: Option<Millis>,
    /// Documents that docsyncd still has to work on.
    pub open: u64,
    /// The accounts, also those that are not configured any more.
    pub accounts: Vec<AccountFacts>,
    /// What is paused.
    pub pauses: Vec<PauseFacts>,
    /// Documents that wait for a fault of their own to pass.
    pub stalled: Vec<Stalled>,
    /// Documents that failed.
    pub failed: Ended,
    /// Documents that were delivered, and whose report was refused.
    pub unreported: Ended,
    /// Documents that may have arrived, and wait for a person to look.
    pub unconfirmed: Ended,
    /// Documents of which a person has to say whose they are.
    pub unmatched: Ended,
    /// Documents that were filed, and that no software took for too long, by destination.
    pub not_taken: Vec<(String, Ended)>,
    /// Documents that were filed beside the version that they replace.
    pub not_replaced: Ended,
    /// What did not agree when all sides were last compared (`docsyncd reconcile`).
    pub not_agreeing: Ended,
    /// Since when the practice's list of patients cannot be used, if it cannot.
    pub patients_file_since: Option<Millis>,
    /// Since when the ledger cannot be written, if it cannot.
    pub ledger_fails_since: Option<Millis>,
    /// Whether the disk of the ledger, which is that of the downloads, has no room left.
    pub no_room: bool,
    /// Since when this process can have polled: its start, or the end of the machine's sleep.
    pub awake_since: Option<Millis>,
    /// When the machine fell asleep, if it slept since the last good poll for longer than [`Rules::silence`].
    pub slept_since: Option<Millis>,
}

/// What is known of an account.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccountFacts {
    /// Its NAME.
    pub name: String,
    /// Whether it is in the configuration.
    pub configured: bool,
    /// Whether it signs in (`oauth`), rather than having a key.
    pub signs_in: bool,
    /// Whether its files alone show that a person has to sign in or to mend the key.
    pub needs_sign_in: bool,
    /// When its list was last read without an error.
    pub polled_at: Option<Millis>,
    /// When the first poll failed since then.
    pub poll_failing_since: Option<Millis>,
    /// How the last poll failed, if it did.
    pub poll_failure: Option<Failure>,
    /// When it is polled next.
    pub next_poll_at: Option<Millis>,
    /// Its documents that docsyncd still has to work on.
    pub open: u64,
}

/// A pause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PauseFacts {
    /// What is paused.
    pub scope: Scope,
    /// What it is paused for; `None` if the ledger does not say it in words that this program has.
    pub failure: Option<Failure>,
    /// Since when.
    pub since: Millis,
    /// When it is tried again.
    pub probe_at: Millis,
    /// The documents that it holds back.
    pub count: u64,
}

/// Documents that failed in a way that may pass, with nothing paused for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stalled {
    /// Whose it is: downloads or reports of an account, or a destination.
    pub scope: Scope,
    /// Whether the destination had no room for them.
    pub no_room: bool,
    /// How many.
    pub count: u64,
    /// When the first of them first failed.
    pub since: Millis,
}

/// Documents that ended badly.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ended {
    /// How many.
    pub count: u64,
    /// When the first of them did.
    pub first: Option<Millis>,
    /// When the last of them did.
    pub last: Option<Millis>,
}

/// Where on this machine a disk can become full, or a key is to be mended: configured paths only, so that no patient's
/// folder is named.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Disks {
    /// The folder of the ledger, which is that of the downloads.
    pub ledger: String,
    /// The folders of the destinations that have one here, by their NAMEs.
    pub folders: BTreeMap<String, String>,
    /// The files of the accounts' keys, by the accounts' NAMEs.
    pub keys: BTreeMap<String, String>,
}

impl Disks {
    /// The places that a problem of this cause and these names is about: folders without room, files of keys.
    pub fn of(&self, cause: Cause, names: &[String]) -> Vec<String> {
        match cause {
            Cause::Ledger | Cause::Disk => vec![self.ledger.clone()],
            Cause::DestinationFull => names.iter().filter_map(|name| self.folders.get(name).cloned()).collect(),
            Cause::ApiKey => names.iter().filter_map(|name| self.keys.get(name).cloned()).collect(),
            _ => Vec::new(),
        }
    }
}

/// The times of `[alerts]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// `alerts.after`: what lasts so long needs a person.
    pub after: Duration,
    /// `alerts.silence`
    pub silence: Duration,
}

impl Default for Rules {
    /// Those that hold where nobody configured any; a test compares them with the table of settings.
    fn default() -> Self {
        Self { after: Duration::from_secs(15 * 60), silence: Duration::from_secs(24 * 60 * 60) }
    }
}

/// What a glance shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Light {
    /// All is well.
    Well,
    /// Something waits, and may go on by itself.
    Waiting,
    /// A person has to do something.
    NeedsPerson,
    /// No daemon runs.
    NotRunning,
}

impl Light {
    /// The word that stands in JSON and in the page's classes.
    pub fn as_str(self) -> &'static str {
        match self {
            Light::Well => "well",
            Light::Waiting => "waiting",
            Light::NeedsPerson => "needs_person",
            Light::NotRunning => "not_running",
        }
    }
}

/// One thing that is wrong. What to do about it goes with the cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Why.
    pub cause: Cause,
    /// NAME of the account or destination; empty where it is of none.
    pub name: String,
    /// The documents that it is about; zero where it is about none.
    pub count: u64,
    /// Since when.
    pub since: Option<Millis>,
    /// When it last got worse: the last document that failed. `None` where it cannot.
    pub latest: Option<Millis>,
    /// Whether it needs a person now: at once, or because it lasts for longer than [`Rules::after`].
    pub needs_person: bool,
}

/// What the first sentence says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Headline {
    /// No daemon runs; when a document was last reported.
    NotRunning {
        /// When a document was last reported.
        last: Option<Millis>,
    },
    /// All is well.
    Well {
        /// Documents that were reported today.
        today: u64,
        /// Documents that are on their way.
        open: u64,
        /// When a document was last reported.
        last: Option<Millis>,
    },
    /// The first of the problems, and how many more there are.
    Wrong {
        /// The most urgent one.
        problem: Problem,
        /// How many others there are.
        others: usize,
    },
}

/// How docsyncd is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// What a glance shows.
    pub light: Light,
    /// What the first sentence says.
    pub headline: Headline,
    /// What is wrong, the most urgent first. Of each cause and name there is one.
    pub problems: Vec<Problem>,
}

/// How docsyncd is, by these facts.
pub fn assess(facts: &Facts, rules: &Rules) -> Health {
    let mut found = Found { facts, rules, problems: Vec::new() };
    found.accounts();
    found.pauses();
    found.stalled();
    found.ended(Cause::Failed, "", &facts.failed);
    found.ended(Cause::Unreported, "", &facts.unreported);
    found.ended(Cause::Unconfirmed, "", &facts.unconfirmed);
    found.ended(Cause::PatientUnknown, "", &facts.unmatched);
    for (destination, letters) in &facts.not_taken {
        found.ended(Cause::NotTaken, destination, letters);
    }
    found.ended(Cause::NotReplaced, "", &facts.not_replaced);
    found.ended(Cause::NotAgreeing, "", &facts.not_agreeing);
    if let Some(since) = facts.patients_file_since {
        found.add(Cause::PatientsFile, "", 0, Some(since));
    }
    found.silence();
    if let Some(since) = facts.ledger_fails_since {
        found.add(Cause::Ledger, "", 0, Some(since));
    }
    if facts.no_room {
        found.add(Cause::Disk, "", 0, None);
    }
    let mut problems = found.problems;
    problems.sort_by(|a, b| {
        let rank = |problem: &Problem| (!problem.needs_person, problem.cause, problem.since, problem.name.clone());
        rank(a).cmp(&rank(b))
    });
    let light = match problems.first() {
        _ if !facts.running => Light::NotRunning,
        None => Light::Well,
        Some(first) if first.needs_person => Light::NeedsPerson,
        Some(_) => Light::Waiting,
    };
    let headline = match problems.split_first() {
        _ if !facts.running => Headline::NotRunning { last: facts.last_done_at },
        None => Headline::Well { today: facts.today, open: facts.open, last: facts.last_done_at },
        Some((first, others)) => Headline::Wrong { problem: first.clone(), others: others.len() },
    };
    Health { light, headline, problems }
}

struct Found<'a> {
    facts: &'a Facts,
    rules: &'a Rules,
    problems: Vec<Problem>,
}

impl Found<'_> {
    /// One cause at one name is one problem, however many things show it.
    fn add(&mut self, cause: Cause, name: &str, count: u64, since: Option<Millis>) {
        let needs_person = |since: Option<Millis>| {
            let limit = Millis::try_from(self.rules.after.as_millis()).unwrap_or(Millis::MAX);
            cause.is_urgent() || since.is_some_and(|since| self.facts.now.saturating_sub(since) >= limit)
        };
        match self.problems.iter_mut().find(|known| known.cause == cause && known.name == name) {
            Some(known) => {
                known.count = known.count.saturating_add(count);
                known.since = [known.since, since].into_iter().flatten().min();
                known.needs_person = needs_person(known.since);
            }
            None => self.problems.push(Problem {
                cause,
                name: name.to_owned(),
                count,
                since,
                latest: None,
                needs_person: needs_person(since),
            }),
        }
    }

    fn accounts(&mut self) {
        for account in &self.facts.accounts {
            let paused = |pause: &PauseFacts| pause.scope == Scope::Account(account.name.clone());
            if !account.configured {
                if account.open > 0 {
                    self.add(Cause::NotConfigured, &account.name, account.open, self.facts.awake_since);
                }
            } else if self.facts.pauses.iter().any(paused) {
                // What its pause says is said there.
            } else if account.needs_sign_in {
                self.add(cause::of_sign_in(account.signs_in), &account.name, account.open, None);
            } else if let Some(since) = account.poll_failing_since {
                self.add(cause::of_poll(account.poll_failure.as_ref()), &account.name, 0, Some(since));
            }
        }
    }

    fn pauses(&mut self) {
        let is_paused = |name: &String| {
            let scope = Scope::Account(name.clone());
            self.facts.pauses.iter().any(|pause| pause.scope == scope)
        };
        for pause in &self.facts.pauses {
            // Nothing of an account that has to sign in is tried, so nothing else is known of it.
            if matches!(&pause.scope, Scope::Fetch(name) | Scope::Report(name) if is_paused(name)) {
                continue;
            }
            let (cause, name) = match &pause.scope {
                Scope::Account(name) => {
                    let account = self.facts.accounts.iter().find(|account| account.name == *name);
                    (cause::of_account(pause.failure.as_ref(), account.is_none_or(|account| account.signs_in)), name)
                }
                Scope::Fetch(name) => (cause::of_fetch(pause.failure.as_ref()), name),
                Scope::Report(name) => (cause::of_report(pause.failure.as_ref()), name),
                Scope::Destination(name) => (cause::of_destination(pause.failure.as_ref()), name),
            };
            self.add(cause, name, pause.count, Some(pause.since));
        }
    }

    fn stalled(&mut self) {
        for stalled in &self.facts.stalled {
            // What is paused is told as that; these documents are among those that it holds back.
            if self.facts.pauses.iter().any(|pause| pause.scope == stalled.scope) {
                continue;
            }
            let (cause, name) = match &stalled.scope {
                Scope::Destination(name) if stalled.no_room => (Cause::DestinationFull, name),
                Scope::Destination(name) => (Cause::StalledDelivery, name),
                Scope::Account(name) | Scope::Fetch(name) | Scope::Report(name) => (Cause::Stalled, name),
            };
            self.add(cause, name, stalled.count, Some(stalled.since));
        }
    }

    fn ended(&mut self, cause: Cause, name: &str, ended: &Ended) {
        if ended.count > 0 {
            self.add(cause, name, ended.count, ended.first);
            if let Some(problem) = self.problems.last_mut() {
                problem.latest = ended.last;
            }
        }
    }

    /// No poll of an account ended well for so long, although this process was awake and had the time for one. Where it
    /// is known why, that is said, and this is no second problem.
    fn silence(&mut self) {
        let (facts, limit) = (self.facts, Millis::try_from(self.rules.silence.as_millis()).unwrap_or(Millis::MAX));
        if let Some(since) = facts.slept_since {
            self.add(Cause::Slept, "", 0, Some(since));
            return;
        }
        let Some(awake) = facts.awake_since.filter(|_| facts.running) else { return };
        for account in facts.accounts.iter().filter(|account| account.configured) {
            let since = account.polled_at.unwrap_or(awake);
            let had_time = facts.now.saturating_sub(awake) >= WAKING;
            if !had_time || facts.now.saturating_sub(since) < limit {
                continue;
            }
            let explains = |problem: &&mut Problem| {
                problem.name == account.name
                    && (problem.cause.is_sign_in() || matches!(problem.cause, Cause::Service | Cause::ServiceBusy))
            };
            match self.problems.iter_mut().find(explains) {
                Some(known) => known.needs_person = true,
                None => self.add(Cause::Silence, &account.name, 0, Some(since)),
            }
        }
    }
}

/// What a machine that has just started or woken up may take until a poll ends well; milliseconds.
const WAKING: Millis = 2 * 60 * 1000;

#[cfg(test)]
mod tests;
