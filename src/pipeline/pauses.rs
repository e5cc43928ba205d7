//! Pauses: an account, a source of PDFs or a destination that fails as a whole is left alone for a while, and its
//! documents spend no attempts meanwhile.
//!
//! What begins and ends a pause is decided by [`crate::failure::decide`]; this keeps what it has to know of each scope, and
//! the schedule on which a pause is probed: one piece of work at a time, by the backoff. Every second probe (every one, where the
//! scope as a whole was down) is something that was never tried, if there is such; the others are a candidate, three times, and
//! then whatever was not tried for longest.
//! So neither a bad document keeps a pause up, nor does a server that fails the first tries of each document, and what is
//! new does not wait for all that is old.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::MutexGuard as AsyncGuard;

use crate::failure::{self, Call, Evidence, Failure, Kind, MIN_ATTEMPTS, Paused};
use crate::ledger::{Ledger, LedgerError, Millis, QueryResult, deliveries, failures, held, now, pauses};
use crate::retry::RetryPolicy;

use super::outages::{REMIND_MS, Speakers, between, for_so_long};
pub use crate::failure::Scope;

/// Tries of one candidate before the next one's turn.
const CANDIDATE_TRIES: u32 = 3;

/// The longest wait for the next probe where no more is known than that several documents failed alike: each of them may be bad, and
/// good ones wait behind them.
const LONGEST_DOUBT: Duration = Duration::from_secs(30);

/// How often what is new is tried at once: a whole backlog may be new.
const NEWS_MS: Millis = 10_000;

/// Origins of PDFs that are remembered.
const MAX_ORIGINS: usize = 1000;

/// Whether work may pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// Yes.
    Open,
    /// One piece of work, to find out.
    Probe(ProbeChoice),
    /// No; ask again at this time. `Millis::MAX` while a probe is under way.
    Paused(Millis),
}

/// What a pause is to be probed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbeChoice {
    /// Something that was never tried comes first; else something that was.
    pub fresh: bool,
    /// Among these this document, if it is still due; else what was not tried for longest.
    pub candidate: Option<i64>,
}

/// What is known of a scope.
#[derive(Default)]
struct Known {
    /// The last failure, and the documents that failed so for the first time since anything last worked.
    failure: Option<Failure>,
    alike: HashSet<i64>,
    last_good_at: Option<Millis>,
    /// When the last pause ended.
    resumed_at: Option<Millis>,
    /// When each origin last gave a good PDF.
    good_origins: HashMap<String, Millis>,
    pause: Option<Pause>,
}

impl Known {
    /// The document failed so; `first` as in [`Subject`].
    fn failed_so(&mut self, failure: &Failure, document: i64, first: bool) {
        if self.failure.as_ref() != Some(failure) {
            self.alike.clear();
            self.failure = Some(failure.clone());
        }
        // More would decide nothing.
        if first && self.alike.len() < failure::ALIKE_PERMANENT {
            self.alike.insert(document);
        }
    }
}

struct Pause {
    /// What began it; `None` if an earlier version did.
    failure: Option<Failure>,
    reason: String,
    since: Millis,
    /// Probes that failed, and the failure that began it.
    attempts: u32,
    probe_at: Millis,
    /// While a probe is under way: with which document, if it is one.
    probing: Option<Option<i64>>,
    candidate: Option<i64>,
    candidate_tries: u32,
    /// When a log line last spoke of it; `None` while another scope of the account speaks of the same.
    told_at: Option<Millis>,
    /// Until then the server asked to be left alone: what was under way when it did so may succeed, and ends nothing.
    asked_until: Option<Millis>,
    /// Whether something new came, which is to be the next probe; and when that was last so.
    news: bool,
    news_at: Millis,
}

impl Pause {
    /// Whether something that was never tried is to be the next probe. Who is told to wait hears it of any document: the one that
    /// was told so first says the least.
    fn wants_fresh(&self) -> bool {
        self.news || self.attempts.is_multiple_of(2) || self.is_down()
    }

    /// Whether the other side as a whole said so, and not several documents.
    fn is_down(&self) -> bool {
        matches!(&self.failure, Some(Failure { kind: Kind::Down(_), .. }))
    }
}

/// A document that failed, as a scope sees it.
pub(super) struct Subject {
    /// The ledger's number for it.
    pub(super) document: i64,
    /// Whether it counts among those that fail alike: one that is known to be bad says nothing about the others.
    pub(super) first: bool,
    /// When it failed before, as in [`Evidence::good_since`].
    pub(super) failed_at: Option<Millis>,
    /// Since it was found.
    pub(super) known_for: Duration,
    /// Where its PDF lies, if it is the download that failed.
    pub(super) origin: Option<String>,
}

/// All scopes of a daemon. Pauses are kept in the ledger, so that a restart does not run into one at full speed.
pub struct Pauses {
    ledger: Ledger,
    policy: RetryPolicy,
    scopes: Mutex<HashMap<Scope, Known>>,
    /// Who has told of an account's failures.
    pub(super) speakers: Speakers,
    /// Held from a decision until it is written: what is decided next knows of it.
    change: tokio::sync::Mutex<()>,
}

/// A change of a pause, to be written in the transaction of what brought it about.
pub(super) enum Change {
    None,
    Extend(pauses::Pause),
    End { scope: Scope, failure: Option<Failure> },
}

impl Change {
    /// Writes it.
    ///
    /// # Errors
    /// Any SQLite error.
    pub(super) fn write(&self, db: &Connection, at: Millis) -> QueryResult<()> {
        match self {
            Change::None => Ok(()),
            Change::Extend(pause) => pauses::save(db, pause),
            Change::End { scope, failure } => {
                pauses::clear(db, &scope.to_string())?;
                // Those that failed alike before it began need not wait any longer.
                let Some(failure) = failure.as_ref().map(Failure::to_string) else { return Ok(()) };
                match scope {
                    Scope::Destination(name) => deliveries::due_again(db, name, &failure, at),
                    Scope::Fetch(account) | Scope::Report(account) => failures::due_again(db, account, &failure, at),
                    Scope::Account(_) => Ok(()),
                }
            }
        }
    }
}

impl Pauses {
    /// Reads the pauses. With `probe_now` each is probed at once: a person started or changed something.
    ///
    /// # Errors
    /// Any error of the ledger.
    pub async fn load(ledger: Ledger, policy: RetryPolicy, probe_now: bool) -> Result<Self, LedgerError> {
        let mut scopes = HashMap::new();
        for kept in ledger.read(pauses::all).await? {
            let Some(scope) = Scope::parse(&kept.scope) else { continue };
            let pause = Pause {
                failure: Failure::parse(&kept.failure),
                reason: kept.reason,
                since: kept.since,
                attempts: kept.attempts,
                probe_at: if probe_now { 0 } else { kept.probe_at },
                probing: None,
                candidate: kept.candidate,
                candidate_tries: kept.candidate_tries,
                // By the daemon before: the first failure after a start is told.
                told_at: Some(0),
                asked_until: None,
                news: false,
                news_at: 0,
            };
            scopes.insert(scope, Known { pause: Some(pause), ..Known::default() });
        }
        let until = after(now(), failure::HOLD);
        for held in ledger.write(move |db| held::hold_anew(db, until)).await? {
            scopes.entry(held.scope).or_default().failed_so(&held.failure, held.document, true);
        }
        let change = tokio::sync::Mutex::new(());
        Ok(Self { ledger, policy, scopes: Mutex::new(scopes), speakers: Speakers::default(), change })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Scope, Known>> {
        // A panic while the map was held left it whole: every change is a single assignment.
        self.scopes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with_pause<T>(&self, scope: &Scope, change: impl FnOnce(&mut Pause) -> T) -> Option<T> {
        self.lock().get_mut(scope)?.pause.as_mut().map(change)
    }

    /// Whether work may pass at `now`.
    pub fn admission(&self, scope: &Scope, now: Millis) -> Admission {
        let admission = self.with_pause(scope, |pause| match pause.probe_at {
            _ if pause.probing.is_some() => Admission::Paused(Millis::MAX),
            // No delay is longer: the clock was set back.
            at if at > now && at <= after(now, self.policy.max * 2) => Admission::Paused(at),
            _ => Admission::Probe(ProbeChoice {
                fresh: pause.wants_fresh(),
                candidate: pause.candidate.filter(|_| pause.candidate_tries < CANDIDATE_TRIES),
            }),
        });
        admission.unwrap_or(Admission::Open)
    }

    /// When the pause will be probed; `None` while there is none.
    pub fn paused_until(&self, scope: &Scope) -> Option<Millis> {
        self.with_pause(scope, |pause| pause.probe_at)
    }

    /// What is paused, or was at this time or later, as far as this process knows.
    pub fn paused_since(&self, at: Millis) -> Vec<Scope> {
        let scopes = self.lock();
        let was_paused = |known: &Known| known.pause.is_some() || known.resumed_at.is_some_and(|resumed| resumed >= at);
        scopes.iter().filter(|(_, known)| was_paused(known)).map(|(scope, _)| scope.clone()).collect()
    }

    /// A probe was let through, with this document if there is one.
    pub fn probe_begins(&self, scope: &Scope, document: Option<i64>) {
        self.with_pause(scope, |pause| {
            pause.probing = Some(document);
            let wanted_fresh = pause.wants_fresh();
            pause.news = false;
            let stays = pause.candidate.is_some() && pause.candidate_tries < CANDIDATE_TRIES;
            if pause.candidate == document {
                pause.candidate_tries = pause.candidate_tries.saturating_add(1);
            } else if !(stays && wanted_fresh) {
                (pause.candidate, pause.candidate_tries) = (document, 1);
            }
        });
    }

    /// The probe ended, whatever it found.
    pub fn probe_ends(&self, scope: &Scope) {
        self.with_pause(scope, |pause| pause.probing = None);
    }

    /// Documents came that were never tried. Where several bad ones are all that a pause is about, one of these is the next probe, at
    /// once: what is new does not wait for what is old.
    pub fn something_new(&self, scope: &Scope) {
        let at = now();
        self.with_pause(scope, |pause| {
            let is_soon = (0..NEWS_MS).contains(&at.saturating_sub(pause.news_at));
            if !pause.is_down() && pause.asked_until.is_none() && !is_soon {
                (pause.news, pause.news_at, pause.probe_at) = (true, at, 0);
            }
        });
    }

    /// Makes every pause be probed now.
    pub fn probe_all_now(&self) {
        self.lock().values_mut().filter_map(|known| known.pause.as_mut()).for_each(|pause| pause.probe_at = 0);
    }

    /// Makes a pause be probed now.
    pub fn probe_now(&self, scope: &Scope) {
        self.with_pause(scope, |pause| pause.probe_at = 0);
    }

    /// Something worked: ends the pause.
    ///
    /// # Errors
    /// Any error of the ledger.
    pub async fn succeeded(&self, scope: &Scope) -> Result<(), LedgerError> {
        {
            let mut scopes = self.lock();
            let known = scopes.entry(scope.clone()).or_default();
            known.last_good_at = Some(now());
            // Documents that failed one after another are no longer in a row.
            known.alike.clear();
        }
        self.end_if(scope, |_| true).await
    }

    /// This origin gave a good PDF.
    pub(super) fn good_pdf(&self, scope: &Scope, origin: String) {
        let mut scopes = self.lock();
        let origins = &mut scopes.entry(scope.clone()).or_default().good_origins;
        if origins.len() >= MAX_ORIGINS {
            // A server that names ever new ones must not fill the memory. What is forgotten is only not known.
            origins.clear();
        }
        origins.insert(origin, now());
    }

    /// Nothing is left that the pause could be probed with: whatever comes next finds out for itself.
    ///
    /// # Errors
    /// Any error of the ledger.
    pub async fn nothing_left(&self, scope: &Scope) -> Result<(), LedgerError> {
        self.end_if(scope, |pause| pause.probing.is_none()).await
    }

    async fn end_if(&self, scope: &Scope, ended: impl FnOnce(&Pause) -> bool) -> Result<(), LedgerError> {
        let at = now();
        // No wait is that long: the clock was set back.
        let asked = |until: Millis| until > at && until <= after(at, self.policy.max * 2);
        let ends = self.with_pause(scope, |pause| !pause.asked_until.is_some_and(asked) && ended(pause));
        if ends != Some(true) {
            return Ok(());
        }
        let _change = self.change.lock().await;
        let change = self.end(scope);
        self.ledger.write(move |db| change.write(db, at)).await
    }

    /// A part of the work succeeded, though the whole may still fail: ends the pause if this part is what began it.
    ///
    /// # Errors
    /// Any error of the ledger.
    pub async fn answered(&self, scope: &Scope, call: Call) -> Result<(), LedgerError> {
        self.end_if(scope, |pause| pause.failure.as_ref().is_some_and(|failure| failure.call == call)).await
    }

    /// Waits until no other decision is being written.
    pub(super) async fn decide_next(&self) -> AsyncGuard<'_, ()> {
        self.change.lock().await
    }

    /// What is known of the scope, now that this document failed there.
    pub(super) fn evidence(
        &self,
        scope: &Scope,
        failure: &Failure,
        subject: Subject,
        give_up_after: Duration,
    ) -> Evidence {
        let Subject { document, first, failed_at, known_for, origin } = subject;
        let mut scopes = self.lock();
        let known = scopes.entry(scope.clone()).or_default();
        known.failed_so(failure, document, first);
        let last_good_at = match origin {
            // What another origin gives says nothing about this one.
            Some(origin) => known.good_origins.get(&origin).copied(),
            None => known.last_good_at,
        };
        let good_since = match (last_good_at, failed_at) {
            // A time to come is of a clock that was set back since.
            (Some(good), Some(failed)) => failed <= good && good <= now(),
            _ => false,
        };
        let pause = known.pause.as_ref().map(|pause| Paused {
            probe: pause.probing.is_some_and(|probe| probe.is_none_or(|probe| probe == document)),
            alike: pause.failure.as_ref() == Some(failure),
            too_old: known_for >= give_up_after && self.is_too_old(pause, give_up_after),
        });
        Evidence { alike: known.alike.len(), good_since, pause }
    }

    /// The probes must have been so many that the time is real: a clock that jumps ahead gives nobody up.
    fn is_too_old(&self, pause: &Pause, limit: Duration) -> bool {
        let elapsed = Duration::from_millis(u64::try_from(now().saturating_sub(pause.since)).unwrap_or(0));
        pause.attempts >= MIN_ATTEMPTS && elapsed >= limit && self.policy.total_bound(pause.attempts) >= limit / 4
    }

    /// Ends the pause. What comes back is to be written.
    pub(super) fn end(&self, scope: &Scope) -> Change {
        let ended = self.lock().get_mut(scope).and_then(|known| {
            let pause = known.pause.take()?;
            known.resumed_at = Some(now());
            Some(pause)
        });
        let Some(pause) = ended else { return Change::None };
        let paused_ms = now().saturating_sub(pause.since);
        let long = for_so_long(between(pause.since, now()));
        if pause.told_at.is_some() {
            tracing::info!(event = "resumed", scope = %scope, paused_ms, "{scope} works again after {long}");
        } else {
            tracing::debug!(event = "resumed", scope = %scope, paused_ms, "{scope} works again after {long}");
        }
        if let Some(account) = scope.account() {
            self.speakers.works(account, &scope.to_string());
        }
        Change::End { scope: scope.clone(), failure: pause.failure }
    }

    /// Begins the pause, or keeps it for longer after a probe. What comes back is to be written.
    pub(super) fn extend(
        &self,
        scope: &Scope,
        failure: &Failure,
        reason: &str,
        retry_after: Option<Duration>,
    ) -> (Change, Millis) {
        let at = now();
        let speaks =
            scope.account().is_none_or(|account| self.speakers.tells(account, &scope.to_string(), &failure.kind));
        let (kept, begins, is_first, is_told) = {
            let mut scopes = self.lock();
            let known = scopes.entry(scope.clone()).or_default();
            let begins = known.pause.is_none();
            let pause = known.pause.get_or_insert_with(|| Pause {
                failure: None,
                reason: String::new(),
                since: at,
                attempts: 0,
                probe_at: at,
                probing: None,
                candidate: None,
                candidate_tries: 0,
                told_at: None,
                asked_until: None,
                news: false,
                news_at: 0,
            });
            // Others that were under way fail as well: one failure, one alarm.
            if begins || pause.probing.is_some() || pause.probe_at <= at {
                pause.attempts = pause.attempts.saturating_add(1);
                let delay = self.policy.delay(pause.attempts, retry_after);
                // Several bad documents may be all that is behind it.
                let is_said = matches!(failure.kind, Kind::Down(_))
                    || matches!(scope, Scope::Account(_))
                    || retry_after.is_some();
                let longest = if is_said { delay } else { LONGEST_DOUBT };
                pause.probe_at = if pause.news { at } else { after(at, delay.min(longest)) };
                pause.asked_until = retry_after.map(|_| pause.probe_at);
                pause.probing = None;
            }
            let is_first = pause.told_at.is_none();
            let is_due = |told: Millis| !(0..REMIND_MS).contains(&at.saturating_sub(told));
            let is_told = speaks && pause.told_at.is_none_or(is_due);
            if is_told {
                pause.told_at = Some(at);
            }
            pause.failure = Some(failure.clone());
            reason.clone_into(&mut pause.reason);
            let kept = pauses::Pause {
                scope: scope.to_string(),
                failure: failure.to_string(),
                reason: pause.reason.clone(),
                since: pause.since,
                attempts: pause.attempts,
                probe_at: pause.probe_at,
                candidate: pause.candidate,
                candidate_tries: pause.candidate_tries,
            };
            (kept, begins, is_first, is_told)
        };
        let (probe_at, attempt) = (kept.probe_at, kept.attempts);
        let probe_in_ms = probe_at - at;
        if is_told && is_first {
            tracing::error!(event = "paused", scope = %scope, attempt, probe_in_ms, reason, "{scope} is paused: {reason}");
        } else if is_told {
            let long = for_so_long(between(kept.since, at));
            tracing::warn!(event = "still_paused", scope = %scope, attempt, probe_in_ms, reason, "{scope} has been paused for {long}: {reason}");
        } else {
            let event = if begins { "paused" } else { "still_paused" };
            tracing::debug!(event, scope = %scope, attempt, probe_in_ms, reason, "{scope} is paused: {reason}");
        }
        (Change::Extend(kept), probe_at)
    }

    /// Begins the pause, or keeps it for longer after a probe; written at once. Returns when the pause is probed next.
    ///
    /// # Errors
    /// Any error of the ledger.
    pub async fn close(
        &self,
        scope: &Scope,
        failure: &Failure,
        reason: &str,
        retry_after: Option<Duration>,
    ) -> Result<Millis, LedgerError> {
        let _change = self.change.lock().await;
        let (change, probe_at) = self.extend(scope, failure, reason, retry_after);
        self.ledger.write(move |db| change.write(db, now())).await?;
        Ok(probe_at)
    }
}

/// `at` plus `delay`.
pub fn after(at: Millis, delay: Duration) -> Millis {
    at.saturating_add(Millis::try_from(delay.as_millis()).unwrap_or(Millis::MAX))
}

#[cfg(test)]
mod tests;
