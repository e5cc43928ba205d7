//! What is known of a scope, and its pause. When an account, a source of PDFs or a destination fails as a whole, it is
//! left alone for a while, and its documents spend no attempts meanwhile.
//!
//! [`failure::decide`] rules when a pause begins and ends. This module keeps what the ruling has to know of each scope,
//! and the schedule of the probes: one piece of work at a time, by the backoff.
//!
//! Every second probe is the newest work that was never tried, if there is any: a good document may lie behind a
//! hundred bad ones. The other probes are by turns always the same document, and the work that was not tried for
//! longest. A probe that neither succeeds nor fails, such as a PDF that is not rendered yet, takes its turn like any
//! other. So no bad document keeps a pause up, and neither does a server that fails the first tries of each document.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

use super::failed::{Line, REMIND_MS, Speakers, Subject, say_that_it_works};
use crate::domain::failure::{self, Call, Evidence, Failure, Kind, MIN_ATTEMPTS, Paused, TRIES};
use crate::domain::retry::RetryPolicy;
use crate::ledger::{Ledger, LedgerError, Millis, QueryResult, deliveries, held, now, pauses, work};

pub use crate::domain::failure::Scope;
pub use crate::ledger::pauses::ProbeChoice;

/// The longest wait for the next probe if all that is known is that several documents failed alike: each of them may be
/// bad, and good ones wait behind them. As every second probe is new work, something new is tried within twice this
/// wait. Nor is the wait longer than this part of the pause so far. So a cause that takes many probes to find (a server
/// that fails the first tries of each document, a good document among many bad ones) is found in about the time that
/// the pause has lasted.
const LONGEST_DOUBT: Duration = Duration::from_secs(15);
const DOUBT_PART: u32 = 8;

/// The time between two looks that fail, whatever the number of letters that wait.
const BETWEEN_LOOKS: Duration = Duration::from_secs(5);

/// A success of work that took no longer than this counts as of its end, as the documents of a batch begin together.
const LONG: Duration = Duration::from_secs(1);

/// The most origins of PDFs that are remembered.
const MAX_ORIGINS: usize = 1000;

/// Whether work may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// Yes.
    Open,
    /// One piece of work, to find out.
    Probe(ProbeChoice),
    /// No; ask again at this time. `Millis::MAX` while a probe is under way.
    Paused(Millis),
}

/// All scopes of a daemon. The ledger keeps the pauses, so that the daemon does not call a paused scope at full speed
/// after a restart.
pub struct Pauses {
    ledger: Ledger,
    policy: RetryPolicy,
    scopes: Mutex<HashMap<Scope, Known>>,
    /// Which part of an account has told of its failures.
    pub(crate) speakers: Speakers,
    /// Held from a decision about a scope until it is written, so that the next decision about it knows of it. Those
    /// about other scopes share its commit.
    deciding: Mutex<HashMap<Scope, Arc<AsyncMutex<()>>>>,
}

impl Pauses {
    /// Reads the pauses from the ledger. With `probe_now` each is probed at once, because a person started docsyncd or
    /// changed something.
    ///
    /// # Errors
    /// Any error of the ledger.
    pub async fn load(ledger: Ledger, policy: RetryPolicy, probe_now: bool) -> Result<Self, LedgerError> {
        let mut scopes = HashMap::new();
        for kept in ledger.read(pauses::all).await? {
            let Some(scope) = Scope::parse(&kept.scope) else { continue };
            // The previous daemon told of it. The first failure after a start is told.
            let told_at = Some(0);
            let kept = pauses::Pause { probe_at: if probe_now { 0 } else { kept.probe_at }, ..kept };
            let probes = kept.attempts;
            let pause = Pause { kept, told_at, probes, ..Pause::default() };
            scopes.insert(scope, Known { pause: Some(pause), ..Known::default() });
        }
        let until = after(now(), failure::HOLD);
        for (scope, failure, document) in ledger.write(move |db| held::hold_anew(db, until)).await? {
            scopes.entry(scope).or_default().failed_so(&failure, document, true);
        }
        let (scopes, deciding) = (Mutex::new(scopes), Mutex::default());
        Ok(Self { ledger, policy, scopes, speakers: Speakers::default(), deciding })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Scope, Known>> {
        // A panic while the map was locked left it whole: every change is a single assignment.
        self.scopes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with_pause<T>(&self, scope: &Scope, change: impl FnOnce(&mut Pause) -> T) -> Option<T> {
        self.lock().get_mut(scope)?.pause.as_mut().map(change)
    }

    /// Whether work may start at `now`.
    pub fn admission(&self, scope: &Scope, now: Millis) -> Admission {
        let admission = self.with_pause(scope, |pause| match pause.kept.probe_at {
            _ if pause.probing.is_some() => Admission::Paused(Millis::MAX),
            at if self.is_to_come(pause, at, now) => Admission::Paused(at),
            _ => Admission::Probe(pause.next_probe()),
        });
        admission.unwrap_or(Admission::Open)
    }

    /// Whether a time of the pause is in the future. If it is further away than any delay, or if the pause began after
    /// `now`, the clock was set back.
    fn is_to_come(&self, pause: &Pause, at: Millis, now: Millis) -> bool {
        at > now && at <= after(now, self.policy.longest() * 2) && pause.kept.since <= now
    }

    /// When the pause will be probed; `None` while there is none.
    pub fn paused_until(&self, scope: &Scope) -> Option<Millis> {
        self.with_pause(scope, |pause| pause.kept.probe_at)
    }

    /// Whether the scope is paused, by a failure of another call than this one.
    pub fn is_paused_but_for(&self, scope: &Scope, call: Call) -> bool {
        let is_of = |pause: &mut Pause| pause.kept.failure.as_ref().is_some_and(|failure| failure.call == call);
        self.with_pause(scope, is_of) == Some(false)
    }

    /// The same, if the failure is one of the whole service, or was just seen again by [`Self::look_failed`].
    pub fn is_down_but_for(&self, scope: &Scope, call: Call) -> bool {
        let is_whole = |pause: &mut Pause| {
            let was_seen = pause.looked_at.is_some_and(|at| now() < after(at, BETWEEN_LOOKS) && at <= now());
            was_seen || pause.kept.failure.as_ref().is_none_or(|failure| matches!(failure.kind, Kind::Down(_)))
        };
        self.is_paused_but_for(scope, call) && self.with_pause(scope, is_whole) == Some(true)
    }

    /// A letter of another scope could not be read either: for a while no other one is asked for.
    pub fn look_failed(&self, scope: &Scope) {
        self.with_pause(scope, |pause| pause.looked_at = Some(now()));
    }

    /// How long it takes until the pause will be probed; `None` while there is none.
    pub fn probed_in(&self, scope: &Scope) -> Option<Duration> {
        let now = now();
        self.with_pause(scope, |pause| match pause.kept.probe_at {
            at if self.is_to_come(pause, at, now) => Duration::from_millis(at.abs_diff(now)),
            _ => Duration::ZERO,
        })
    }

    /// When the newest work began that succeeded in this process.
    pub fn last_good_at(&self, scope: &Scope) -> Option<Millis> {
        self.lock().get(scope)?.last_good_at
    }

    /// The scopes that are paused, or were at this time or later, as far as this process knows.
    pub fn paused_since(&self, at: Millis) -> Vec<Scope> {
        let scopes = self.lock();
        let was_paused = |known: &Known| known.pause.is_some() || known.resumed_at.is_some_and(|resumed| resumed >= at);
        scopes.iter().filter(|(_, known)| was_paused(known)).map(|(scope, _)| scope.clone()).collect()
    }

    /// A probe starts, with this document if there is one.
    pub fn probe_begins(&self, scope: &Scope, document: Option<i64>) {
        self.with_pause(scope, |pause| {
            pause.probing = Some(document);
            pause.probes = pause.probes.wrapping_add(1);
        });
    }

    /// The probe ended, with whatever result.
    pub fn probe_ends(&self, scope: &Scope) {
        self.with_pause(scope, |pause| {
            pause.probing = None;
            if std::mem::take(&mut pause.probe_again) {
                pause.kept.probe_at = 0;
            }
        });
    }

    /// Makes every pause be probed now.
    pub fn probe_all_now(&self) {
        self.lock().values_mut().filter_map(|known| known.pause.as_mut()).for_each(Pause::probe_now);
    }

    /// Makes a pause be probed now.
    pub fn probe_now(&self, scope: &Scope) {
        self.with_pause(scope, Pause::probe_now);
    }

    /// Work that began at `began` succeeded: ends the pause.
    ///
    /// # Errors
    /// Any error of the ledger.
    pub async fn succeeded(&self, scope: &Scope, began: Millis) -> Result<(), LedgerError> {
        {
            let mut scopes = self.lock();
            let known = scopes.entry(scope.clone()).or_default();
            known.last_good_at = Some(later(known.last_good_at, began));
            // Documents that failed one after another are no longer in a row, unless the successful work began long
            // before the first of them.
            if !(after(began, LONG)..=now()).contains(&known.alike_since) {
                known.alike.clear();
            }
            if known.pause.is_none()
                && let Some(since) = known.untold.take()
            {
                say_that_it_works(scope, since, true);
            }
        }
        self.end_if(scope, Ends::Works, |_| true).await
    }

    /// This origin gave a good PDF, which was asked for at `asked_at`.
    pub(crate) fn good_pdf(&self, scope: &Scope, origin: String, asked_at: Millis) {
        let mut scopes = self.lock();
        let origins = &mut scopes.entry(scope.clone()).or_default().good_origins;
        if origins.len() >= MAX_ORIGINS {
            // A server that names ever new origins must not fill the memory. A forgotten origin is merely unknown.
            origins.clear();
        }
        let good_at = later(origins.get(&origin).copied(), asked_at);
        origins.insert(origin, good_at);
    }

    /// Nothing is left to probe the pause with, so it ends: whatever comes next finds out for itself.
    ///
    /// # Errors
    /// Any error of the ledger.
    pub async fn nothing_left(&self, scope: &Scope) -> Result<(), LedgerError> {
        self.end_if(scope, Ends::Untold, |pause| pause.probing.is_none()).await
    }

    async fn end_if(&self, scope: &Scope, why: Ends, ended: impl Fn(&Pause) -> bool) -> Result<(), LedgerError> {
        let at = now();
        let is_asked = |pause: &Pause| pause.asked_until.is_some_and(|until| self.is_to_come(pause, until, at));
        let ends = |pause: &mut Pause| !is_asked(pause) && ended(pause);
        if self.with_pause(scope, ends) != Some(true) {
            return Ok(());
        }
        let _deciding = self.decide_next(scope).await;
        // The pause may have been extended meanwhile.
        if self.with_pause(scope, ends) == Some(true) {
            let change = self.ending(scope, why);
            self.ledger.write(move |db| change.write(db, at)).await?;
            self.end(scope, why);
        }
        Ok(())
    }

    /// A document was read, whatever comes after that. Ends the pause if its last failure was of such a read.
    ///
    /// # Errors
    /// Any error of the ledger.
    pub async fn was_read(&self, scope: &Scope) -> Result<(), LedgerError> {
        let is_of_read = |pause: &Pause| pause.kept.failure.as_ref().is_some_and(|failure| failure.call == Call::Read);
        self.end_if(scope, Ends::Works, is_of_read).await
    }

    /// Waits until no other decision about the scope is being written.
    pub(super) async fn decide_next(&self, scope: &Scope) -> OwnedMutexGuard<()> {
        let of_scope = || {
            Arc::clone(self.deciding.lock().unwrap_or_else(PoisonError::into_inner).entry(scope.clone()).or_default())
        };
        of_scope().lock_owned().await
    }

    /// What is known of the scope, this failure of the document included.
    pub(super) fn evidence(
        &self,
        scope: &Scope,
        failure: &Failure,
        subject: Subject,
        give_up_after: Duration,
    ) -> Evidence {
        let Subject { document, first, failed_at, refusals, known_for, origin } = subject;
        let mut scopes = self.lock();
        let known = scopes.entry(scope.clone()).or_default();
        let last_good_at = match origin {
            // A success of another origin says nothing about this one.
            Some(origin) => known.good_origins.get(&origin).copied(),
            None => known.last_good_at,
        };
        let good_since = match (last_good_at, failed_at) {
            // A time in the future means that the clock was set back.
            (Some(good), Some(failed)) => failed <= good && good <= now(),
            _ => false,
        };
        let is_its_own = failure.is_permanent() && refusals + u32::from(good_since) >= TRIES;
        known.failed_so(failure, document, first && !is_its_own && !failure.is_alone());
        let pause = known.pause.as_ref().map(|pause| Paused {
            probe: pause.probing.is_some_and(|probe| probe.is_none_or(|probe| probe == document)),
            alike: pause.kept.failure.as_ref() == Some(failure),
            too_old: known_for >= give_up_after && self.is_too_old(pause, give_up_after),
        });
        Evidence { alike: known.alike.len(), good_since, pause }
    }

    /// There must have been enough probes to fill the time: neither a clock that jumps ahead nor a machine that was off
    /// makes a pause too old.
    fn is_too_old(&self, pause: &Pause, limit: Duration) -> bool {
        let elapsed = Duration::from_millis(u64::try_from(now().saturating_sub(pause.kept.since)).unwrap_or(0));
        pause.kept.attempts >= MIN_ATTEMPTS
            && elapsed >= limit
            && LONGEST_DOUBT.min(self.policy.max).saturating_mul(pause.kept.attempts) >= limit / 4
    }

    /// The change to write before the pause ends. The pause goes on until that is done and [`Self::end`] is called, or
    /// until its next probe.
    pub(super) fn ending(&self, scope: &Scope, why: Ends) -> Change {
        let failure = self.with_pause(scope, |pause| pause.kept.failure.clone()).flatten();
        Change::End { scope: scope.clone(), why, failure }
    }

    /// Ends the pause, and logs that.
    pub(super) fn end(&self, scope: &Scope, why: Ends) {
        let ended = self.lock().get_mut(scope).and_then(|known| {
            let pause = known.pause.take()?;
            known.resumed_at = Some(now());
            let told_since = known.untold.take().or_else(|| pause.told_at.map(|_| pause.kept.since));
            if why == Ends::Untold {
                known.untold = told_since;
            }
            Some((pause, told_since))
        });
        let Some((pause, told_since)) = ended else { return };
        if let Some(account) = scope.account() {
            self.speakers.works(account, &scope.to_string());
        }
        match why {
            Ends::Works => say_that_it_works(scope, told_since.unwrap_or(pause.kept.since), told_since.is_some()),
            Ends::Untold => tracing::debug!(event = "tried_again", %scope, "{scope} is tried again"),
        }
    }

    /// Begins the pause, or extends it after a probe. The caller writes the change, and then logs the line.
    pub(super) fn extend(
        &self,
        scope: &Scope,
        failure: &Failure,
        reason: &str,
        retry_after: Option<Duration>,
    ) -> (Change, Line) {
        let at = now();
        let speaks =
            scope.account().is_none_or(|account| self.speakers.tells(account, &scope.to_string(), &failure.kind));
        let (kept, begins, is_first, is_told) = {
            let mut scopes = self.lock();
            let known = scopes.entry(scope.clone()).or_default();
            let begins = known.pause.is_none();
            let pause = known.pause.get_or_insert_with(|| Pause {
                kept: pauses::Pause { scope: scope.to_string(), since: at, probe_at: at, ..pauses::Pause::default() },
                ..Pause::default()
            });
            let kept = &mut pause.kept;
            // If the clock was set back, `since` would be in the future, and all its times would count as past.
            kept.since = kept.since.min(at);
            // One failure, one alarm: other work that was under way fails as well.
            if begins || pause.probing.is_some() || kept.probe_at <= at {
                kept.attempts = kept.attempts.saturating_add(1);
                let delay = self.policy.delay(kept.attempts, retry_after);
                // If no server said that it is down, the reason may be just several bad documents.
                let is_said = matches!(failure.kind, Kind::Down(_))
                    || matches!(scope, Scope::Account(_))
                    || retry_after.is_some();
                let lasted = Duration::from_millis(u64::try_from(at.saturating_sub(kept.since)).unwrap_or(0));
                let doubt = (lasted / DOUBT_PART).max(self.policy.initial).min(LONGEST_DOUBT);
                kept.probe_at = after(at, if is_said { delay } else { delay.min(doubt) });
                pause.asked_until = retry_after.map(|_| kept.probe_at);
                pause.probing = None;
            }
            let is_first = pause.told_at.is_none();
            let is_due = |told: Millis| !(0..REMIND_MS).contains(&at.saturating_sub(told));
            let is_told = speaks && pause.told_at.is_none_or(is_due);
            if is_told {
                pause.told_at = Some(at);
            }
            (kept.failure, kept.reason) = (Some(failure.clone()), reason.to_owned());
            (kept.clone(), begins, is_first, is_told)
        };
        let tells = is_told.then_some(is_first);
        let line = Line { kept: kept.clone(), begins, tells, at };
        (Change::Extend(kept), line)
    }

    /// Begins the pause, or extends it after a probe, and writes that at once. Returns how long it is until the next
    /// probe.
    ///
    /// # Errors
    /// Any error of the ledger.
    pub async fn close(
        &self,
        scope: &Scope,
        failure: &Failure,
        reason: &str,
        retry_after: Option<Duration>,
    ) -> Result<Duration, LedgerError> {
        let _deciding = self.decide_next(scope).await;
        let (change, line) = self.extend(scope, failure, reason, retry_after);
        let written = self.ledger.write(move |db| change.write(db, now())).await;
        // The pause holds even if it could not be written.
        line.say();
        written.map(|()| self.probed_in(scope).unwrap_or_default())
    }
}

/// The later of two times. If `before` is in the future, the clock was set back, and `at` counts.
fn later(before: Option<Millis>, at: Millis) -> Millis {
    before.filter(|before| *before <= now()).map_or(at, |before| before.max(at))
}

/// `at` plus `delay`.
pub fn after(at: Millis, delay: Duration) -> Millis {
    at.saturating_add(Millis::try_from(delay.as_millis()).unwrap_or(Millis::MAX))
}

/// What is known of a scope.
#[derive(Default)]
struct Known {
    /// The last failure, and the documents that failed so for the first time since the last success.
    failure: Option<Failure>,
    alike: HashSet<i64>,
    /// When the first of these documents failed.
    alike_since: Millis,
    /// When the last success began. It says nothing of failures during that work.
    last_good_at: Option<Millis>,
    /// When the last pause ended.
    resumed_at: Option<Millis>,
    /// When each origin was last asked for a PDF that turned out to be good.
    good_origins: HashMap<String, Millis>,
    /// When the present outage began, if a person was told of it and its pause ended with no success since.
    untold: Option<Millis>,
    pause: Option<Pause>,
}

impl Known {
    /// The document failed so; `first` as in [`Subject`].
    fn failed_so(&mut self, failure: &Failure, document: i64, first: bool) {
        if self.failure.as_ref() != Some(failure) {
            self.alike.clear();
            self.failure = Some(failure.clone());
        }
        if self.alike.is_empty() {
            self.alike_since = now();
        }
        // More documents would not change the decision.
        if first && self.alike.len() < failure::ALIKE_PERMANENT {
            self.alike.insert(document);
        }
    }
}

#[derive(Default)]
struct Pause {
    /// The part that the ledger keeps.
    kept: pauses::Pause,
    /// While a probe is under way: its document, if it has one.
    probing: Option<Option<i64>>,
    /// Whether a person asked for a probe while one was under way. That probe may have begun before the person mended
    /// the fault.
    probe_again: bool,
    /// When a log line last told of the pause; `None` while another scope of the account tells of the same failure.
    told_at: Option<Millis>,
    /// The number of the next probe. After a restart the turns go on about where they stood.
    probes: u32,
    /// Until when the server asked to be left alone. Work that was already under way may succeed, and does not end the
    /// pause.
    asked_until: Option<Millis>,
    /// When work of other scopes last looked whether its own document can be read, and it could not.
    looked_at: Option<Millis>,
}

impl Pause {
    /// Makes the pause be probed now, and once more if a probe is under way.
    fn probe_now(&mut self) {
        self.kept.probe_at = 0;
        // Whoever asks now believes that the server works again, so the server's request does not count any more.
        self.asked_until = None;
        self.probe_again = self.probing.is_some();
    }

    /// Which work the next probe is to be.
    fn next_probe(&self) -> ProbeChoice {
        match self.probes % 4 {
            1 => ProbeChoice::Same,
            3 => ProbeChoice::Longest,
            _ => ProbeChoice::Fresh,
        }
    }
}

/// Why a pause ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ends {
    /// Something succeeded.
    Works,
    /// A probe failed in another way, or nothing is left to probe with. People are told of the end when something
    /// succeeds.
    Untold,
}

/// A change of a pause, to be written in the same transaction as its cause.
pub(super) enum Change {
    None,
    Extend(pauses::Pause),
    End { scope: Scope, why: Ends, failure: Option<Failure> },
}

impl Change {
    /// Writes the change.
    ///
    /// # Errors
    /// Any SQLite error.
    pub(super) fn write(&self, db: &Connection, at: Millis) -> QueryResult<()> {
        match self {
            Change::None => Ok(()),
            Change::Extend(pause) => pauses::save(db, pause),
            Change::End { scope, why, failure } => {
                pauses::clear(db, &scope.to_string())?;
                if let (Scope::Destination(_), Ends::Works) = (scope, why) {
                    deliveries::spool_empties(db, at)?;
                }
                // Work that failed alike before the pause began need not wait any longer.
                let Some(failure) = failure else { return Ok(()) };
                work::due_again(db, scope, failure, at)
            }
        }
    }
}

#[cfg(test)]
mod tests;
