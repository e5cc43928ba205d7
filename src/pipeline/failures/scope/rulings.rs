//! Carries out the rulings of [`crate::domain::failure::decide`] over a pause: collects the evidence, and begins,
//! extends and ends pauses.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::OwnedMutexGuard;

use super::super::outages::REMIND_MS;
use super::known::Pause;
use super::lines::say_that_it_works;
use super::{DOUBT_PART, LONGEST_DOUBT, Line, Pauses, Scope, after};
use crate::domain::failure::{Evidence, Failure, Kind, MIN_ATTEMPTS, Paused, TRIES};
use crate::ledger::{LedgerError, Millis, QueryResult, deliveries, now, pauses, work};

/// A document that failed, as its scope sees it.
pub(in crate::pipeline) struct Subject {
    /// The ledger's number for it.
    pub(in crate::pipeline) document: i64,
    /// Whether the document counts among those that fail alike. One that is known to be bad says nothing about the
    /// others.
    pub(in crate::pipeline) first: bool,
    /// The moment that a success has to be later than, as in [`Evidence::good_since`].
    pub(in crate::pipeline) failed_at: Option<Millis>,
    /// How many permanent failures alike came before this one. Each but the first counts only if something succeeded
    /// since the one before it.
    pub(in crate::pipeline) refusals: u32,
    /// How long ago the document was found.
    pub(in crate::pipeline) known_for: Duration,
    /// The origin of its PDF, if the download failed.
    pub(in crate::pipeline) origin: Option<String>,
}

/// Why a pause ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::pipeline) enum Ends {
    /// Something succeeded.
    Works,
    /// A probe failed in another way, or nothing is left to probe with. People are told of the end when something
    /// succeeds.
    Untold,
}

/// A change of a pause, to be written in the same transaction as its cause.
pub(in crate::pipeline) enum Change {
    None,
    Extend(pauses::Pause),
    End { scope: Scope, why: Ends, failure: Option<Failure> },
}

impl Change {
    /// Writes the change.
    ///
    /// # Errors
    /// Any SQLite error.
    pub(in crate::pipeline) fn write(&self, db: &Connection, at: Millis) -> QueryResult<()> {
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

impl Pauses {
    /// Waits until no other decision about the scope is being written.
    pub(in crate::pipeline) async fn decide_next(&self, scope: &Scope) -> OwnedMutexGuard<()> {
        let of_scope = || {
            Arc::clone(self.deciding.lock().unwrap_or_else(PoisonError::into_inner).entry(scope.clone()).or_default())
        };
        of_scope().lock_owned().await
    }

    /// What is known of the scope, this failure of the document included.
    pub(in crate::pipeline) fn evidence(
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
    pub(in crate::pipeline) fn ending(&self, scope: &Scope, why: Ends) -> Change {
        let failure = self.with_pause(scope, |pause| pause.kept.failure.clone()).flatten();
        Change::End { scope: scope.clone(), why, failure }
    }

    /// Ends the pause, and logs that.
    pub(in crate::pipeline) fn end(&self, scope: &Scope, why: Ends) {
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
    pub(in crate::pipeline) fn extend(
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
