//! Gates: an account, a source of PDFs or a destination that fails as a whole is left alone for a while, and its
//! documents spend no attempts meanwhile.
//!
//! A gate closes at once when the failure is clearly not a document's own (connection refused, share offline, 401), or
//! when several documents in a row fail in the same way. While it is closed one document at a time is let through as a
//! probe, on the backoff schedule; its success opens the gate. The time of the pause counts towards no document's
//! `sync.give_up_after`.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::Connection;

use crate::ledger::{Ledger, LedgerError, Millis, QueryResult, deliveries, documents, now, pauses};
use crate::retry::RetryPolicy;
use crate::state::State;

/// Probes before the age of a pause counts.
const MIN_PROBES: u32 = 5;

/// What a gate stands before.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Scope {
    /// All calls of an account: it has to sign in.
    Account(String),
    /// An account's downloads.
    Fetch(String),
    /// An account's status reports.
    Report(String),
    /// A destination.
    Destination(String),
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scope::Account(name) => write!(f, "account:{name}"),
            Scope::Fetch(name) => write!(f, "fetch:{name}"),
            Scope::Report(name) => write!(f, "report:{name}"),
            Scope::Destination(name) => write!(f, "destination:{name}"),
        }
    }
}

impl Scope {
    /// What was held back spends no attempts by it, nor does it come nearer to being given up.
    fn leave_out_time(&self, db: &Connection, since: Millis, at: Millis) -> QueryResult<()> {
        let documents = |account: &str, states: &[State]| documents::leave_out_time(db, account, states, since, at);
        match self {
            Scope::Account(account) => documents(account, &[State::Discovered, State::Delivered, State::Failing]),
            Scope::Fetch(account) => documents(account, &[State::Discovered]),
            Scope::Report(account) => documents(account, &[State::Delivered, State::Failing]),
            Scope::Destination(name) => deliveries::leave_out_time(db, name, since, at),
        }
    }
}

/// Whether work may pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// Yes.
    Open,
    /// One piece of work, to find out.
    Probe,
    /// No; ask again at this time. `Millis::MAX` while a probe is under way.
    Closed(Millis),
}

/// Who is to blame for a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Blame {
    /// The document: it spends an attempt.
    Document,
    /// What the gate stands before: the document waits until then and spends nothing.
    Gate(Millis),
    /// What the gate stands before, as is known only now: these documents were blamed for the same before this one.
    NowGate(Vec<i64>),
    /// The document, after all: the gate has been closed by failures of documents for longer than one is given.
    GivenUp,
}

/// One failure as a gate sees it.
pub struct Sign<'a> {
    /// The document that failed.
    pub document: i64,
    /// Whether it had not failed before: one that is known to be bad says nothing about the others.
    pub first: bool,
    /// Failures of one kind share this word.
    pub class: &'a str,
    /// How many documents in a row must fail in the same way before the gate closes.
    pub several: usize,
    /// For the log and `status`; no patient data.
    pub reason: &'a str,
    /// What the server asked for.
    pub retry_after: Option<Duration>,
    /// How long failures of documents may keep the gate closed before they count as the documents' own after all; `None`:
    /// never.
    pub give_up_after: Option<Duration>,
}

#[derive(Default)]
struct Gate {
    /// Documents that failed in this class for the first time, since anything last worked.
    streak: HashSet<i64>,
    /// Those that had failed before: they prove nothing, and share what the others prove.
    again: HashSet<i64>,
    class: String,
    closed: Option<Closed>,
}

impl Gate {
    fn remember(&mut self, sign: &Sign<'_>) {
        if self.class != sign.class {
            self.streak.clear();
            self.again.clear();
            sign.class.clone_into(&mut self.class);
        }
        if sign.first {
            self.streak.insert(sign.document);
        } else if !self.streak.contains(&sign.document) {
            self.again.insert(sign.document);
        }
    }

    fn failed_alike(&self) -> impl Iterator<Item = i64> {
        self.streak.iter().chain(&self.again).copied()
    }
}

struct Closed {
    /// What closed it: a probe that fails in another way has got past it.
    class: String,
    since: Millis,
    attempts: u32,
    probe_at: Millis,
    probing: bool,
    /// Until then the server asked to be left alone: what was under way when it did so may succeed, and opens nothing.
    asked_until: Option<Millis>,
}

/// All gates of a daemon. They are kept in the ledger, so that a restart does not run into a closed one at full speed.
pub struct Gates {
    ledger: Ledger,
    policy: RetryPolicy,
    gates: Mutex<HashMap<String, Gate>>,
    /// Held while a change goes into the map and the ledger, so that both see changes in one order.
    change: tokio::sync::Mutex<()>,
}

impl Gates {
    /// Reads the gates that are closed. With `probe_now` each is tried at once: a person started or changed something.
    ///
    /// # Errors
    /// Those of the ledger.
    pub async fn load(ledger: Ledger, policy: RetryPolicy, probe_now: bool) -> Result<Self, LedgerError> {
        let mut gates = HashMap::new();
        for pause in ledger.read(pauses::all).await? {
            let probe_at = if probe_now { 0 } else { pause.probe_at };
            let class = pause.class;
            let (since, attempts) = (pause.since, pause.attempts);
            let closed = Closed { class, since, attempts, probe_at, probing: false, asked_until: None };
            gates.insert(pause.scope, Gate { closed: Some(closed), ..Gate::default() });
        }
        Ok(Self { ledger, policy, gates: Mutex::new(gates), change: tokio::sync::Mutex::new(()) })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Gate>> {
        // A panic while the map was held left it whole: every change is a single assignment.
        self.gates.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether work may pass at `now`.
    pub fn admission(&self, scope: &Scope, now: Millis) -> Admission {
        match self.lock().get(&scope.to_string()).and_then(|gate| gate.closed.as_ref()) {
            None => Admission::Open,
            Some(closed) if closed.probing => Admission::Closed(Millis::MAX),
            // No delay is that long: the clock was set back.
            Some(closed) if closed.probe_at > after(now, self.policy.max * 2) => Admission::Probe,
            Some(closed) if closed.probe_at > now => Admission::Closed(closed.probe_at),
            Some(_) => Admission::Probe,
        }
    }

    /// When the gate will be probed; `None` while it is open.
    pub fn closed_until(&self, scope: &Scope) -> Option<Millis> {
        self.lock().get(&scope.to_string())?.closed.as_ref().map(|closed| closed.probe_at)
    }

    /// A probe was let through.
    pub fn probe_begins(&self, scope: &Scope) {
        if let Some(closed) = self.lock().get_mut(&scope.to_string()).and_then(|gate| gate.closed.as_mut()) {
            closed.probing = true;
        }
    }

    /// The probe ended, whatever it found.
    pub fn probe_ends(&self, scope: &Scope) {
        if let Some(closed) = self.lock().get_mut(&scope.to_string()).and_then(|gate| gate.closed.as_mut()) {
            closed.probing = false;
        }
    }

    /// Makes every closed gate be probed now.
    pub fn probe_all_now(&self) {
        for closed in self.lock().values_mut().filter_map(|gate| gate.closed.as_mut()) {
            closed.probe_at = 0;
        }
    }

    /// Makes a closed gate be probed now.
    pub fn probe_now(&self, scope: &Scope) {
        if let Some(closed) = self.lock().get_mut(&scope.to_string()).and_then(|gate| gate.closed.as_mut()) {
            closed.probe_at = 0;
        }
    }

    /// Something worked: opens the gate.
    ///
    /// # Errors
    /// Those of the ledger.
    pub async fn succeeded(&self, scope: &Scope) -> Result<(), LedgerError> {
        let name = scope.to_string();
        let asked_to_wait = match self.lock().get(&name) {
            None => return Ok(()),
            Some(gate) => {
                let until = gate.closed.as_ref().and_then(|closed| closed.asked_until);
                // No wait is that long: the clock was set back.
                until.is_some_and(|until| until > now() && until <= after(now(), self.policy.max * 2))
            }
        };
        if asked_to_wait {
            return Ok(());
        }
        let _change = self.change.lock().await;
        // With the gate goes the streak: documents that failed in a row are no longer in a row.
        let Some(closed) = self.lock().remove(&name).and_then(|gate| gate.closed) else { return Ok(()) };
        let (since, at) = (closed.since, now());
        let paused_ms = at.saturating_sub(since);
        tracing::info!(event = "resumed", scope = %name, paused_ms, "{name} works again");
        let scope = scope.clone();
        self.ledger
            .write(move |db| {
                scope.leave_out_time(db, since, at)?;
                pauses::clear(db, &name)
            })
            .await
    }

    /// A part of the work succeeded, though the whole may still fail: opens the gate if this part is what closed it.
    ///
    /// # Errors
    /// Those of the ledger.
    pub async fn answered(&self, scope: &Scope, part: &str) -> Result<(), LedgerError> {
        let closed_by_it = {
            let gates = self.lock();
            let closed = gates.get(&scope.to_string()).and_then(|gate| gate.closed.as_ref());
            closed.is_some_and(|closed| closed.class.starts_with(part))
        };
        if closed_by_it { self.succeeded(scope).await } else { Ok(()) }
    }

    /// Something failed that may be the document's own fault: decides who is to blame.
    ///
    /// # Errors
    /// Those of the ledger.
    pub async fn failed(&self, scope: &Scope, sign: &Sign<'_>) -> Result<Blame, LedgerError> {
        let (several, past_it, given_up, before) = {
            let mut gates = self.lock();
            let gate = gates.entry(scope.to_string()).or_default();
            gate.remember(sign);
            match &gate.closed {
                // Work that was under way when the gate closed, or the probe.
                Some(closed) if !closed.probing => return Ok(Blame::Gate(closed.probe_at)),
                Some(closed) => (true, closed.class != sign.class, self.is_given_up(closed, sign), Vec::new()),
                None => {
                    let before = gate.failed_alike().filter(|id| *id != sign.document).collect();
                    (gate.streak.len() >= sign.several, false, false, before)
                }
            }
        };
        if past_it {
            // The probe got further than what closed the gate: that is over, and this failure is the document's own.
            self.succeeded(scope).await?;
            self.lock().entry(scope.to_string()).or_default().remember(sign);
            return Ok(Blame::Document);
        }
        if !several {
            return Ok(Blame::Document);
        }
        let probe_at = match self.close(scope, sign.class, sign.reason, sign.retry_after).await {
            // The gate is closed all the same, and what came before it must not be forgotten: the next probe writes it down.
            Err(error) if error.is_transient() && !before.is_empty() => now(),
            other => other?,
        };
        Ok(match before.as_slice() {
            _ if given_up => Blame::GivenUp,
            [] => Blame::Gate(probe_at),
            _ => Blame::NowGate(before),
        })
    }

    /// Three bad documents and no good one look like an outage, and nothing that ever happens may show that it is none.
    /// So an outage is believed in for as long as one document's own failures are. The probes must have been so many
    /// that the time is real: a clock that jumps ahead gives nobody up.
    fn is_given_up(&self, closed: &Closed, sign: &Sign<'_>) -> bool {
        let Some(limit) = sign.give_up_after else { return false };
        let elapsed = Duration::from_millis(u64::try_from(now().saturating_sub(closed.since)).unwrap_or(0));
        closed.class == sign.class
            && closed.attempts >= MIN_PROBES
            && elapsed >= limit
            && self.policy.total_bound(closed.attempts) >= limit / 4
    }

    /// Whether the gate is closed because of this class of failures.
    pub fn is_closed_by(&self, scope: &Scope, class: &str) -> bool {
        self.lock()
            .get(&scope.to_string())
            .and_then(|gate| gate.closed.as_ref())
            .is_some_and(|closed| closed.class == class)
    }

    /// The documents that failed in a row with this class, while the gate is open.
    pub fn failed_alike(&self, scope: &Scope, class: &str) -> Vec<i64> {
        match self.lock().get(&scope.to_string()) {
            Some(gate) if gate.class == class && gate.closed.is_none() => gate.failed_alike().collect(),
            _ => Vec::new(),
        }
    }

    /// Closes the gate, or keeps it closed for longer after a probe. Returns when it is probed next.
    ///
    /// # Errors
    /// Those of the ledger.
    pub async fn close(
        &self,
        scope: &Scope,
        class: &str,
        reason: &str,
        retry_after: Option<Duration>,
    ) -> Result<Millis, LedgerError> {
        let _change = self.change.lock().await;
        let (name, at) = (scope.to_string(), now());
        let (pause, is_new) = {
            let mut gates = self.lock();
            let gate = gates.entry(name.clone()).or_default();
            let before = gate.closed.take();
            let is_new = before.is_none();
            let waits = before.as_ref().filter(|closed| !closed.probing && closed.probe_at > at);
            let (attempts, probe_at, asked_until) = match waits {
                // Others that were under way fail as well: one failure, one alarm.
                Some(closed) => (closed.attempts, closed.probe_at, closed.asked_until),
                None => {
                    let attempts = before.as_ref().map_or(1, |closed| closed.attempts.saturating_add(1));
                    let probe_at = after(at, self.policy.delay(attempts, retry_after));
                    (attempts, probe_at, retry_after.map(|_| probe_at))
                }
            };
            let since = before.map_or(at, |closed| closed.since);
            let class = class.to_owned();
            gate.closed = Some(Closed { class: class.clone(), since, attempts, probe_at, probing: false, asked_until });
            let reason = reason.to_owned();
            (pauses::Pause { scope: name.clone(), class, reason, since, attempts, probe_at }, is_new)
        };
        let (probe_at, attempt) = (pause.probe_at, pause.attempts);
        let probe_in_ms = probe_at - at;
        if is_new {
            tracing::error!(event = "paused", scope = %name, attempt, probe_in_ms, reason, "{name} is paused: {reason}");
        } else {
            tracing::debug!(event = "still_paused", scope = %name, attempt, probe_in_ms, reason, "{name} stays paused");
        }
        self.ledger.write(move |db| pauses::save(db, &pause)).await?;
        Ok(probe_at)
    }
}

/// `at` plus `delay`.
pub fn after(at: Millis, delay: Duration) -> Millis {
    at.saturating_add(Millis::try_from(delay.as_millis()).unwrap_or(Millis::MAX))
}

#[cfg(test)]
mod tests;
