//! The health of docsyncd, for people: what is wrong, since when, and whether it needs a person.
//!
//! [`assess`] is pure: from given facts it derives the light, the first sentence, and a list of problems, the most
//! urgent first. Alerts, `docsyncd status` and the status page use it, with the words of [`crate::formats::language`].
//! A problem is data without text, so it contains no text of a server, a program or a file.

mod cause;
mod level;
mod list;
mod quiet;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use jiff::civil::Date;

use crate::domain::failure::{Failure, Scope};

pub use cause::{CAUSES, Cause};
pub use level::{Judged, Level, NOT_RUNNING, judge};
pub use list::ListWrong;
pub use quiet::{Came, QuietAfter, WINDOW};

/// Milliseconds since 1970-01-01T00:00:00Z.
type Millis = i64;

/// The facts from the ledger, the configuration and the system.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// The present time.
    pub now: Millis,
    /// Whether a daemon works on the ledger.
    pub running: bool,
    /// Documents that were reported today, by this machine's calendar.
    pub today: u64,
    /// When a document was last reported.
    pub last_done_at: Option<Millis>,
    /// Documents that docsyncd still has to work on, without those that are filed and not yet taken.
    pub open: u64,
    /// The accounts, including those that are no longer configured.
    pub accounts: Vec<AccountFacts>,
    /// The pauses.
    pub pauses: Vec<PauseFacts>,
    /// Documents with failures of their own that may pass.
    pub stalled: Vec<Stalled>,
    /// Documents that failed.
    pub failed: Ended,
    /// Documents that were delivered and whose report was refused.
    pub unreported: Ended,
    /// Documents that may have arrived, which a person must check.
    pub unconfirmed: Ended,
    /// Documents whose patient a person must name.
    pub unmatched: Ended,
    /// Documents whose patients the practice's list does not have, without one in between whose patient it has.
    pub strangers: Ended,
    /// Documents that were filed and that the destination's software has not taken for too long, by destination.
    pub not_taken: Vec<(String, Ended)>,
    /// Documents that were filed beside the version that they replace.
    pub not_replaced: Ended,
    /// Differences that the last comparison of all sides (`docsyncd reconcile`) found.
    pub not_agreeing: Ended,
    /// Of [`Self::failed`], those that failed since a person last looked at them.
    pub failed_unseen: u64,
    /// Of [`Self::unreported`], those whose report was refused since a person last looked at them.
    pub unreported_unseen: u64,
    /// A configuration that is refused: since when, and what is wrong, in docsyncd's own words.
    pub refused: Option<(Option<Millis>, String)>,
    /// Since when the clock of this computer differs from the service's; `None` if they agree.
    pub clock_since: Option<Millis>,
    /// Since when the practice's list of patients cannot be used; `None` if it can.
    pub patients_file_since: Option<Millis>,
    /// What is wrong with it, in a word ([`ListWrong`]).
    pub patients_file_wrong: String,
    /// Since when browsers do not believe the certificate of the status page, or soon will not; `None` if they do.
    pub certificate_since: Option<Millis>,
    /// Whether no destination that was seen to work takes letters now, so that nothing at all is filed.
    pub is_shut: bool,
    /// The letters that came; `None` if the last one came a short time ago, or if only those of one account count.
    pub came: Option<Came>,
    /// Since when the ledger cannot be written; `None` if it can.
    pub ledger_fails_since: Option<Millis>,
    /// Whether the disk of the ledger, which also holds the downloads, is full.
    pub no_room: bool,
    /// Since when this process could poll: its start, or the end of the machine's sleep.
    pub awake_since: Option<Millis>,
    /// When the machine fell asleep, if it slept for longer than [`Rules::silence`] since the last good poll.
    pub slept_since: Option<Millis>,
    /// When the ledger moved to another machine, if it did.
    pub moved_at: Option<Millis>,
}

/// The facts about an account.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccountFacts {
    /// Its NAME.
    pub name: String,
    /// Whether it is in the configuration.
    pub configured: bool,
    /// Whether it signs in (`oauth`) instead of using a key.
    pub signs_in: bool,
    /// Whether its files alone show that a person must sign in or mend the key.
    pub needs_sign_in: bool,
    /// When its list was last read without an error.
    pub polled_at: Option<Millis>,
    /// When the first poll after that failed.
    pub poll_failing_since: Option<Millis>,
    /// The failure of the last poll, if it failed.
    pub poll_failure: Option<Failure>,
    /// When it is polled next.
    pub next_poll_at: Option<Millis>,
    /// Its documents that docsyncd still has to work on.
    pub open: u64,
}

/// A pause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PauseFacts {
    /// The scope that is paused.
    pub scope: Scope,
    /// The failure that it is paused for; `None` if this version cannot read it from the ledger.
    pub failure: Option<Failure>,
    /// When it began.
    pub since: Millis,
    /// When the next probe is due.
    pub probe_at: Millis,
    /// The number of documents that it holds back.
    pub count: u64,
}

/// Documents with failures that may pass and that caused no pause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stalled {
    /// The scope of the failures: downloads or reports of an account, or a destination.
    pub scope: Scope,
    /// Whether the destination had no room for them.
    pub no_room: bool,
    /// The number of documents.
    pub count: u64,
    /// When the first of them failed first.
    pub since: Millis,
}

/// Documents that ended badly.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ended {
    /// Their number.
    pub count: u64,
    /// When the first of them ended.
    pub first: Option<Millis>,
    /// When the last of them ended.
    pub last: Option<Millis>,
}

/// Where on this machine a disk can become full, or a key is to be mended: configured paths only, so that no patient's
/// folder is named.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Disks {
    /// The folder of the ledger and the downloads.
    pub ledger: String,
    /// The folders of destinations on this machine, by their NAMEs.
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// `alerts.after`: a problem that lasts for this long needs a person.
    pub after: Duration,
    /// `alerts.silence`
    pub silence: Duration,
    /// `alerts.quiet_after`
    pub quiet_after: QuietAfter,
    /// `practice.closed`
    pub closed: Vec<RangeInclusive<Date>>,
}

impl Default for Rules {
    /// The values without a configuration. A test compares them with the table of settings.
    fn default() -> Self {
        Self {
            after: Duration::from_secs(15 * 60),
            silence: Duration::from_secs(24 * 60 * 60),
            quiet_after: QuietAfter::Auto,
            closed: Vec::new(),
        }
    }
}

/// The state at a glance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Light {
    /// All is well.
    Well,
    /// Something waits, but may resolve itself.
    Waiting,
    /// A person must act.
    NeedsPerson,
    /// No daemon runs.
    NotRunning,
}

impl Health {
    /// Whether documents cannot be filed, or failed. What else needs a person is a decision.
    pub fn is_red(&self) -> bool {
        self.light == Light::NotRunning || self.problems.iter().any(|problem| problem.is_red)
    }
}

impl Light {
    /// The word in JSON and in the page's classes.
    pub fn as_str(self) -> &'static str {
        match self {
            Light::Well => "well",
            Light::Waiting => "waiting",
            Light::NeedsPerson => "needs_person",
            Light::NotRunning => "not_running",
        }
    }
}

/// One problem. Its cause decides the remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The cause.
    pub cause: Cause,
    /// NAME of the account or destination; of [`Cause::Configuration`] what is wrong with it, of
    /// [`Cause::PatientsFile`] the same in a word ([`ListWrong`]); empty if there is none.
    pub name: String,
    /// The number of its documents; zero if there are none. Of [`Cause::Quiet`] how many usually come in a day.
    pub count: u64,
    /// When it began.
    pub since: Option<Millis>,
    /// When it last got worse, that is, when the last document failed. `None` if it cannot get worse.
    pub latest: Option<Millis>,
    /// Whether it needs a person now: at once, or because it has lasted longer than [`Rules::after`].
    pub needs_person: bool,
    /// Whether documents cannot be filed because of it, or failed.
    pub is_red: bool,
}

/// The first sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Headline {
    /// No daemon runs.
    NotRunning {
        /// When a document was last reported.
        last: Option<Millis>,
    },
    /// No daemon runs, since the ledger moved to another machine.
    Moved {
        /// When.
        at: Millis,
    },
    /// All is well.
    Well {
        /// Documents that were reported today.
        today: u64,
        /// Documents in progress.
        open: u64,
        /// When a document was last reported.
        last: Option<Millis>,
    },
    /// Something is wrong.
    Wrong {
        /// The first of the problems.
        problem: Problem,
        /// The number of other problems.
        others: usize,
    },
}

/// The health of docsyncd.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// The state at a glance.
    pub light: Light,
    /// The first sentence.
    pub headline: Headline,
    /// The problems: what stops everything first, then documents that failed or need a person, then the rest; of each
    /// kind the most urgent first. Each pair of cause and name occurs once.
    pub problems: Vec<Problem>,
}

/// Assesses these facts.
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
    match facts.patients_file_since {
        Some(since) => found.add(Cause::PatientsFile, &facts.patients_file_wrong, 0, Some(since)),
        None if facts.strangers.count >= STRANGERS => {
            found.add(Cause::PatientsFile, "", facts.strangers.count, facts.strangers.first);
        }
        None => {}
    }
    if let Some((since, what)) = &facts.refused {
        found.add(Cause::Configuration, what, 0, *since);
    }
    if let Some(since) = facts.clock_since {
        found.add(Cause::Clock, "", 0, Some(since));
    }
    if let Some(since) = facts.certificate_since {
        found.add(Cause::Certificate, "", 0, Some(since));
    }
    found.silence();
    found.quiet();
    if let Some(since) = facts.ledger_fails_since {
        found.add(Cause::Ledger, "", 0, Some(since));
    }
    if facts.no_room {
        found.add(Cause::Disk, "", 0, None);
    }
    let mut problems = found.problems;
    let shuts = |problem: &Problem| facts.is_shut && problem.cause.is_of_destination();
    for problem in &mut problems {
        let goes_on = problem.cause == Cause::PatientsFile && ListWrong::parse(&problem.name).goes_on;
        problem.is_red = problem.cause.is_red() && !goes_on && (problem.needs_person || shuts(problem));
    }
    problems.sort_by(|a, b| {
        let rank = |problem: &Problem| {
            let stops = problem.cause.stops_all() && (problem.needs_person || problem.count > 0 || shuts(problem));
            let place = (!stops, !problem.cause.is_of_documents());
            (place, !problem.needs_person, problem.cause, problem.since, problem.name.clone())
        };
        rank(a).cmp(&rank(b))
    });
    let light = match problems.first() {
        _ if !facts.running => Light::NotRunning,
        None => Light::Well,
        Some(_) if problems.iter().any(|problem| problem.needs_person) => Light::NeedsPerson,
        Some(_) => Light::Waiting,
    };
    let headline = match problems.split_first() {
        _ if !facts.running => match facts.moved_at {
            Some(at) => Headline::Moved { at },
            None => Headline::NotRunning { last: facts.last_done_at },
        },
        None => Headline::Well { today: facts.today, open: facts.open, last: facts.last_done_at },
        Some((first, others)) => Headline::Wrong { problem: first.clone(), others: others.len() },
    };
    Health { light, headline, problems }
}

/// So many letters in a row whose patients the list does not have show that something is wrong with the list.
const STRANGERS: u64 = 20;

struct Found<'a> {
    facts: &'a Facts,
    rules: &'a Rules,
    problems: Vec<Problem>,
}

impl Found<'_> {
    /// Adds a problem. The same cause at the same name is one problem, however many facts show it.
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
                is_red: false,
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
                // The problem of its pause says enough.
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
            // Nothing of an account that must sign in is tried, so its other pauses say nothing new.
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
            // The pause is already a problem, and counts these documents.
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

    /// An account without a good poll for too long, although this process was awake and had time for one. If another
    /// problem explains it, that problem needs a person, and there is no second one.
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

    fn quiet(&mut self) {
        if let Some(quiet) = self.facts.came.as_ref().and_then(|came| quiet::quiet(came, self.rules)) {
            self.problems.push(Problem {
                cause: Cause::Quiet,
                name: String::new(),
                count: quiet.usual,
                since: Some(quiet.since),
                latest: None,
                needs_person: quiet.needs_person,
                is_red: false,
            });
        }
    }
}

/// How long a machine that has just started or woken up may take until the first good poll; milliseconds.
const WAKING: Millis = 2 * 60 * 1000;

#[cfg(test)]
mod tests;
