//! Pauses. When an account, a source of PDFs or a destination fails as a whole, it is left alone for a while, and its
//! documents spend no attempts meanwhile.
//!
//! [`crate::domain::failure::decide`] rules when a pause begins and ends. This module keeps what the ruling has to know
//! of each scope, and the schedule of the probes: one piece of work at a time, by the backoff.
//!
//! Every second probe is the newest work that was never tried, if there is any: a good document may lie behind a
//! hundred bad ones. The other probes are by turns always the same document, and the work that was not tried for
//! longest. A probe that neither succeeds nor fails, such as a PDF that is not rendered yet, takes its turn like any
//! other. So no bad document keeps a pause up, and neither does a server that fails the first tries of each document.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Mutex as AsyncMutex;

use crate::domain::failure::{self, Call};
use crate::domain::retry::RetryPolicy;
use crate::ledger::{Ledger, LedgerError, Millis, held, now, pauses};

use self::known::{Known, Pause};
pub(super) use self::lines::Line;
pub(super) use self::rulings::{Change, Ends, Subject};
use super::outages::Speakers;
pub use crate::domain::failure::Scope;
pub use crate::ledger::pauses::ProbeChoice;

mod known;
mod lines;
mod rulings;

/// The longest wait for the next probe if all that is known is that several documents failed alike: each of them may be
/// bad, and good ones wait behind them. As every second probe is new work, something new is tried within twice this
/// wait. Nor is the wait longer than this part of the pause so far. So a cause that takes many probes to find (a server
/// that fails the first tries of each document, a good document among many bad ones) is found in about the time that
/// the pause has lasted.
const LONGEST_DOUBT: Duration = Duration::from_secs(15);
const DOUBT_PART: u32 = 8;

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
    pub(in crate::pipeline) speakers: Speakers,
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
                lines::say_that_it_works(scope, since, true);
            }
        }
        self.end_if(scope, Ends::Works, |_| true).await
    }

    /// This origin gave a good PDF, which was asked for at `asked_at`.
    pub(in crate::pipeline) fn good_pdf(&self, scope: &Scope, origin: String, asked_at: Millis) {
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
}

/// The later of two times. If `before` is in the future, the clock was set back, and `at` counts.
fn later(before: Option<Millis>, at: Millis) -> Millis {
    before.filter(|before| *before <= now()).map_or(at, |before| before.max(at))
}

/// `at` plus `delay`.
pub fn after(at: Millis, delay: Duration) -> Millis {
    at.saturating_add(Millis::try_from(delay.as_millis()).unwrap_or(Millis::MAX))
}

#[cfg(test)]
mod tests;
