//! What a bundle shows of the ledger: types of numbers, times, words and substitutes for names.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use super::words::{Alias, Document, Names, Scope, Version, Why, Word};
use crate::api::auth::SignInStatus;
use crate::config::Loaded;
use crate::domain::health::{Cause, Facts, Health, assess};
use crate::ledger::Millis;
use crate::ledger::pauses::Pause;
use crate::views::{DocumentHistory, Summary, in_json};

/// The most events of a document, the newest ones.
const MOST_EVENTS: usize = 500;

#[derive(Serialize)]
pub(super) struct Status {
    running: bool,
    light: &'static str,
    problems: Vec<Problem>,
    today: u64,
    waiting: u64,
    failed: u64,
    may_have_arrived: u64,
    needs_person: u64,
    to_confirm: u64,
    #[serde(serialize_with = "in_json")]
    last_success: Option<Millis>,
    accounts: Vec<Account>,
    sign_ins: Vec<SignIn>,
    #[serde(serialize_with = "in_json")]
    started_at: Option<Millis>,
    version: Option<Version>,
}

#[derive(Serialize)]
struct Problem {
    cause: &'static str,
    of: Option<Alias>,
    documents: u64,
    #[serde(serialize_with = "in_json")]
    since: Option<Millis>,
    needs_person: bool,
}

#[derive(Serialize)]
struct Account {
    account: Alias,
    configured: bool,
    waiting: u64,
    #[serde(serialize_with = "in_json")]
    last_poll: Option<Millis>,
    #[serde(serialize_with = "in_json")]
    last_sweep: Option<Millis>,
    poll_failure: Option<Why>,
}

#[derive(Serialize)]
struct SignIn {
    account: Alias,
    auth: &'static str,
    has_problem: bool,
}

#[derive(Serialize)]
pub(super) struct Ledger {
    pub(super) layout: i64,
    pub(super) bytes: Option<u64>,
    pub(super) log_bytes: Option<u64>,
    pub(super) spool_files: u64,
    pub(super) spool_bytes: u64,
    pub(super) free_bytes: Option<u64>,
    pub(super) documents: BTreeMap<Word, u64>,
    pub(super) deliveries: BTreeMap<Word, u64>,
    pub(super) pauses: Vec<Paused>,
    pub(super) quick_check: Option<Soundness>,
}

#[derive(Serialize)]
pub(super) struct Soundness {
    pub(super) ok: bool,
    pub(super) findings: u64,
}

#[derive(Serialize)]
pub(super) struct Paused {
    scope: Option<Scope>,
    failure: Option<Why>,
    attempts: u32,
    #[serde(serialize_with = "in_json")]
    since: Millis,
    #[serde(serialize_with = "in_json")]
    next_probe: Millis,
}

#[derive(Serialize)]
pub(super) struct History {
    document: Document,
    account: Alias,
    state: &'static str,
    attempts: u32,
    why: Option<Why>,
    size: Option<u64>,
    #[serde(serialize_with = "in_json")]
    found_at: Millis,
    #[serde(serialize_with = "in_json")]
    changed_at: Millis,
    #[serde(serialize_with = "in_json")]
    next_attempt: Option<Millis>,
    deliveries: Vec<Delivery>,
    events: Vec<HistoryEvent>,
}

#[derive(Serialize)]
struct Delivery {
    destination: Alias,
    state: Option<Word>,
    attempts: u32,
    may_have_arrived: bool,
    is_proved: bool,
    why: Option<Why>,
    #[serde(serialize_with = "in_json")]
    changed_at: Millis,
}

#[derive(Serialize)]
struct HistoryEvent {
    #[serde(serialize_with = "in_json")]
    at: Millis,
    event: Option<Word>,
    state: Option<Word>,
    attempt: u32,
    destination: Option<Alias>,
    why: Option<Why>,
}

pub(super) fn status(loaded: &Loaded, path: &Path, summary: Summary, found: &Facts, names: &mut Names) -> Status {
    let Health { light, problems, .. } = assess(found, &loaded.config.alerts.rules);
    let is_destination = |name: &str| loaded.config.destinations.contains_key(name);
    let of = |cause: Cause, name: &str, names: &mut Names| match name {
        "" => None,
        _ if cause == Cause::PatientsFile => None,
        name if loaded.config.accounts.contains_key(name) && !(is_destination(name) && is_of_destination(cause)) => {
            Some(names.account(name))
        }
        name if is_destination(name) || is_of_destination(cause) => Some(names.destination(name)),
        name => Some(names.account(name)),
    };
    let problems = problems.iter().map(|problem| Problem {
        cause: problem.cause.as_str(),
        of: of(problem.cause, &problem.name, names),
        documents: problem.count,
        since: problem.since,
        needs_person: problem.needs_person,
    });
    let problems = problems.collect();
    let accounts = summary.accounts.iter().map(|account| Account {
        configured: loaded.config.accounts.contains_key(&account.account),
        account: names.account(&account.account),
        waiting: account.waiting,
        last_poll: account.last_poll,
        last_sweep: account.last_sweep,
        poll_failure: Why::of(account.poll_error.as_ref()),
    });
    let accounts = accounts.collect();
    let sign_ins = loaded.config.accounts.values().map(|account| SignInStatus::of(account, path));
    let sign_ins = sign_ins.map(|status| SignIn {
        account: names.account(&status.account),
        auth: status.auth,
        has_problem: status.problem.is_some(),
    });
    Status {
        running: found.running,
        light: light.as_str(),
        problems,
        today: found.today,
        waiting: summary.waiting,
        failed: summary.failed,
        may_have_arrived: summary.may_have_arrived,
        needs_person: summary.needs_person,
        to_confirm: summary.to_confirm,
        last_success: summary.last_success,
        accounts,
        sign_ins: sign_ins.collect(),
        started_at: summary.process.started_at,
        version: summary.process.version.as_deref().and_then(Version::parse),
    }
}

/// Whether its names are destinations.
fn is_of_destination(cause: Cause) -> bool {
    use Cause::{HostKey, NotTaken, StalledDelivery};
    cause.as_str().starts_with("destination") || [HostKey, NotTaken, StalledDelivery].contains(&cause)
}

pub(super) fn paused(pause: &Pause, names: &mut Names) -> Paused {
    Paused {
        scope: names.scope(&pause.scope),
        failure: pause.failure.clone().map(Why::failure),
        attempts: pause.attempts,
        since: pause.since,
        next_probe: pause.probe_at,
    }
}

pub(super) fn history(shown: &DocumentHistory, names: &mut Names) -> History {
    let document = &shown.document;
    let deliveries = shown.deliveries.iter().map(|delivery| Delivery {
        destination: names.destination(&delivery.destination),
        state: Word::other(&delivery.state),
        attempts: delivery.attempts,
        may_have_arrived: delivery.may_have_arrived,
        is_proved: delivery.proof.is_some(),
        why: Why::of(delivery.reason.as_ref()),
        changed_at: delivery.changed_at,
    });
    let deliveries = deliveries.collect();
    let newest = shown.history.len().saturating_sub(MOST_EVENTS);
    let events = shown.history.iter().skip(newest).map(|row| HistoryEvent {
        at: row.at,
        event: Word::event(&row.event),
        state: Word::other(&row.state),
        attempt: row.attempt,
        destination: row.destination.as_deref().map(|name| names.destination(name)),
        why: Why::of(row.reason.as_ref()),
    });
    let events = events.collect();
    History {
        document: names.document(&document.uuid),
        account: names.account(&document.account),
        state: document.state.as_str(),
        attempts: document.attempts,
        why: Why::of(document.reasons.first()),
        size: document.size,
        found_at: document.found_at,
        changed_at: document.changed_at,
        next_attempt: document.next_attempt,
        deliveries,
        events,
    }
}
