//! discover: reads an account's list of unsynchronized documents into the ledger.
//!
//! Reported documents leave that list while it is read, so page numbers shift. The list is therefore walked by key:
//! oldest first, each request beginning at the last `createdAt` exactly as the server printed it; page numbers are used
//! only inside one equal timestamp. Where the date filter does not work, the whole list is read by pages, again and
//! again until nothing new appears. A sweep reads the list both ways: what neither of them shows has left it.

mod dates;
mod ended;
mod walk;

use std::ops::ControlFlow;
use std::time::Duration;

use super::gates::{Scope, after};
use super::{Context, Shared, stage};
use crate::api::{Api, ApiError};
use crate::ledger::accounts::{self, Walk};
use crate::ledger::{LedgerError, Millis, documents, now};
use crate::retry;
pub use ended::look_for_ended;
use walk::{Walked, Walker};

/// The longest time between two pages of a poll: calls have limits of their own, which are far shorter.
const PAGE_LIMIT: Duration = Duration::from_secs(10 * 60);

/// A poll lives; see [`Vitals`](super::Vitals).
fn alive(context: &Context, account: &str, waits: Duration) {
    context.vitals.within(&format!("poll of {account}"), waits.saturating_add(PAGE_LIMIT));
}

/// Why a poll ended early.
#[derive(Debug)]
pub enum PollError {
    /// The API.
    Api(ApiError),
    /// The ledger.
    Ledger(LedgerError),
}

impl From<ApiError> for PollError {
    fn from(error: ApiError) -> Self {
        PollError::Api(error)
    }
}

impl From<LedgerError> for PollError {
    fn from(error: LedgerError) -> Self {
        PollError::Ledger(error)
    }
}

/// Polls the account at its intervals until the daemon stops.
pub async fn run(context: Shared, account: String) {
    let scope = Scope::Account(account.clone());
    loop {
        alive(&context, &account, Duration::ZERO);
        let result = tokio::select! {
            biased;
            result = poll(&context, &account, false) => result,
            // Nothing of a poll is lost when it is left: pages are written whole, and the next one begins at the cursor.
            () = context.stop.cancelled() => return,
        };
        let next = match settle(&context, &account, result).await {
            Ok(next) => next,
            Err(error) => {
                stage::ledger_failed(&context, "discover", &error);
                after(now(), context.retry.delay(3, None))
            }
        };
        if wait_for_turn(&context, &account, &scope, next).await.is_break() {
            return;
        }
        if context.gates.closed_until(&scope).is_some() {
            context.gates.probe_begins(&scope);
            if let Some(client) = context.clients.get(&account) {
                tokio::select! {
                    biased;
                    () = client.read_credentials_again() => {}
                    // A share that hangs keeps nobody from stopping.
                    () = context.stop.cancelled() => return,
                }
            }
        }
    }
}

/// Waits until the next poll is due, or asked for. Breaks when the daemon stops.
async fn wait_for_turn(context: &Context, account: &str, scope: &Scope, mut next: Millis) -> ControlFlow<()> {
    let nudges = (context.nudges.poll.get(account), context.nudges.reconsider.get(account));
    let (Some(poll_now), Some(reconsider)) = nudges else { return ControlFlow::Break(()) };
    loop {
        let wait = Duration::from_millis(u64::try_from(next.saturating_sub(now())).unwrap_or(0));
        alive(context, account, wait);
        tokio::select! {
            biased;
            () = context.stop.cancelled() => return ControlFlow::Break(()),
            () = tokio::time::sleep(wait) => return ControlFlow::Continue(()),
            () = poll_now.notified() => return ControlFlow::Continue(()),
            () = reconsider.notified() => {
                // A stage found the account refused: its gate says when to try.
                next = context.gates.closed_until(scope).map_or(next, |probe_at| probe_at.min(next));
            }
        }
    }
}

/// Books the result of a poll and returns the time of the next one.
///
/// # Errors
/// Those of the ledger.
pub async fn settle(context: &Context, account: &str, result: Result<u64, PollError>) -> Result<Millis, LedgerError> {
    let scope = Scope::Account(account.to_owned());
    let name = account.to_owned();
    match result {
        Ok(found) => {
            let longest = context.retry.max.max(context.limits.poll_interval) * 2;
            context
                .ledger
                .write(move |db| {
                    documents::clamp_due(db, &name, now(), after(now(), longest))?;
                    accounts::polled(db, &name, None, now())
                })
                .await?;
            context.gates.succeeded(&scope).await?;
            context.nudges.stages();
            if found > 0 {
                tracing::info!(event = "polled", account, found, "{found} documents to synchronize");
            } else {
                tracing::debug!(event = "polled", account, found, "nothing new");
            }
            Ok(after(now(), retry::spread(context.limits.poll_interval)))
        }
        Err(PollError::Ledger(error)) => Err(error),
        Err(PollError::Api(error)) => {
            let reason = format!("reading the list of documents: {error}");
            let stored = reason.clone();
            let failed = context
                .ledger
                .write(move |db| {
                    accounts::polled(db, &name, Some(&stored), now())?;
                    accounts::progress(db, &name).map(|progress| progress.poll_failed)
                })
                .await?;
            if error.pauses_account() {
                return context.gates.close(&scope, &error.class(), &reason, error.retry_after()).await;
            }
            context.gates.probe_ends(&scope);
            let delay = context.retry.delay(failed, error.retry_after());
            let retry_in_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
            tracing::warn!(
                event = "poll_failed",
                account,
                attempt = failed,
                retry_in_ms,
                reason,
                "poll failed: {reason}"
            );
            Ok(after(now(), delay))
        }
    }
}

/// Reads what is new in the account's list, or the whole list when a sweep is due or asked for. Returns how many
/// documents came in.
///
/// # Errors
/// Those of the API and of the ledger.
pub async fn poll(context: &Context, account: &str, sweep_now: bool) -> Result<u64, PollError> {
    let Some(client) = context.clients.get(account) else { return Ok(0) };
    let name = account.to_owned();
    let progress = context.ledger.write(move |db| accounts::progress(db, &name)).await?;
    let began = now();
    let interval = after(0, context.limits.reconcile_interval);
    // A sweep in the future: the clock was set back.
    let sweep_due = progress.swept_at.is_none_or(|at| at > began || began.saturating_sub(at) >= interval);
    let sweeping = sweep_now || sweep_due || progress.walk == Walk::Pages;
    let mut sweep = progress.sweep;
    if sweeping {
        let name = account.to_owned();
        sweep = context.ledger.write(move |db| accounts::begin_sweep(db, &name)).await?;
    }
    let mut walker = Walker::new(context, client.as_ref(), account, sweep);
    if sweeping && progress.walk == Walk::Key && progress.cursor.is_some() {
        // What is new comes first: a sweep that fails on an old page must not hide it.
        walker.by_key(progress.cursor.clone()).await?;
    }
    let mark = context.reports.mark();
    let quiet = if progress.walk == Walk::Key || sweep_due || sweep_now {
        let from = if sweeping { None } else { progress.cursor };
        let walked = walker.by_key(from).await?;
        walker.remember(&walked).await?;
        if let Walked::Impossible(_) = walked {
            if !sweeping {
                let name = account.to_owned();
                walker.sweep = context.ledger.write(move |db| accounts::begin_sweep(db, &name)).await?;
            }
            walker.by_pages().await?
        } else if sweeping && progress.sweep > 0 {
            // Pages that happen to be in order may come from a server that orders by something else, and then what stands
            // between them was never shown: only page numbers show the whole list, whatever its order. They alone would
            // not do, since others than this daemon shift them.
            walker.by_pages().await?
        } else if sweeping {
            // Nothing was known, so nothing can have left. What the order may have hidden comes with the next sweep.
            context.reports.none_since(mark)
        } else {
            look_quietly(context, client.as_ref(), account).await?;
            return Ok(walker.found);
        }
    } else {
        walker.by_pages().await?
    };
    // Reading by pages is a sweep at every poll; whether the walk by key works again is tried at the usual interval.
    let regular = sweep_due || sweep_now || progress.walk == Walk::Key;
    walker.end_sweep(began, quiet, regular).await?;
    look_quietly(context, client.as_ref(), account).await?;
    Ok(walker.found)
}

/// [`look_for_ended`] is a help: the API failing at it costs the poll nothing.
async fn look_quietly(context: &Context, client: &dyn Api, account: &str) -> Result<(), LedgerError> {
    match look_for_ended(context, client, account).await {
        Err(PollError::Ledger(error)) => Err(error),
        Err(PollError::Api(error)) => {
            tracing::debug!(event = "look_failed", account, "{error}");
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}
