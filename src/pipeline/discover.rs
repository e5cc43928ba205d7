//! discover: reads an account's list of unsynchronized documents into the ledger.
//!
//! What is reported leaves that list, so it is short, and every poll reads all of it, by page numbers. A list of more than
//! five pages is walked by key: oldest first, each request beginning at the last `createdAt` exactly as the server printed
//! it, because page numbers shift while documents are reported; each poll reads what is new, and five more pages of the rest.
//! Where the date filter does not work, the whole list is read by page numbers, again and again until nothing new appears.
//!
//! Reading only adds. What the list does not show although it should, it is asked for: twice, a poll apart. The same before
//! a document that has ended begins anew.

mod absence;
mod dates;
mod halves;
mod walk;

use std::ops::ControlFlow;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::time::Instant;

use super::failure::Failed;
use super::outages::{Tell, for_so_long};
use super::pauses::{Scope, after};
use super::{Context, Shared, stage};
use crate::api::{Api, ApiError};
use crate::failure::Call;
use crate::ledger::accounts::{self, Progress as AccountProgress, Walk};
use crate::ledger::listed::Read;
use crate::ledger::{LedgerError, documents, now, polls};
use crate::retry;
use absence::look_for_absent;
pub use absence::{LOOK_SIZE, Shown, look};
use walk::{Walked, Walker};

/// The longest time between two pages of a poll: calls have limits of their own, which are far shorter.
const PAGE_LIMIT: Duration = Duration::from_secs(10 * 60);

/// A list of so many pages is read whole by every poll; of a longer one each poll rereads as many.
const FEW_PAGES: usize = 5;

/// A poll lives; see [`Heartbeats`](super::Heartbeats).
fn alive(context: &Context, account: &str, waits: Duration) {
    context.heartbeats.within(&format!("poll of {account}"), waits.saturating_add(PAGE_LIMIT));
}

/// Why a poll ended early.
#[derive(Debug, thiserror::Error)]
pub enum PollError {
    /// The API.
    #[error(transparent)]
    Api(#[from] ApiError),
    /// The ledger.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

/// After a poll that ended by a bug the next one waits as after so many that failed.
const PANICKED: u32 = 6;

/// What the polls of an account are called among what tells of its failures.
const POLLS: &str = "polls";

/// Polls the account at its intervals until the daemon stops, for the first time after `turn`.
pub async fn run(context: Shared, account: String, turn: Duration) {
    let scope = Scope::Account(account.clone());
    if !turn.is_zero() && wait_for_turn(&context, &account, &scope, turn).await.is_break() {
        return;
    }
    loop {
        alive(&context, &account, Duration::ZERO);
        let began = Instant::now();
        let polling = AssertUnwindSafe(Box::pin(poll(&context, &account, false))).catch_unwind();
        // Nothing of a poll is lost when it is left: pages are written whole, and the next one begins at the cursor. Some 500 accounts
        // rest most of the time: what a poll takes is given back after it.
        let Some(result) = context.stop.run_until_cancelled(polling).await else { return };
        context.counters.tried("discover", began.elapsed());
        context.counters.polled(&account, matches!(result, Ok(Ok(_))));
        let settled = match result {
            Ok(result) => settle(&context, &account, result).await,
            // A bug. The panic hook has said where.
            Err(_) => {
                tracing::error!(event = "internal_error", stage = "discover", "a poll of {account} panicked");
                Ok(context.retry.delay(PANICKED, None))
            }
        };
        let wait = match settled {
            Ok(wait) => wait,
            Err(error) => {
                stage::ledger_failed(&context, "discover", &error);
                context.retry.delay(3, None)
            }
        };
        if wait_for_turn(&context, &account, &scope, wait).await.is_break() {
            return;
        }
        if context.pauses.paused_until(&scope).is_some() {
            context.pauses.probe_begins(&scope, None);
            let Some(client) = context.clients.get(&account) else { return };
            if context.stop.run_until_cancelled(client.read_credentials_again()).await.is_none() {
                return;
            }
        }
    }
}

/// Waits for so long, or until a poll is asked for. Breaks when the daemon stops.
async fn wait_for_turn(context: &Context, account: &str, scope: &Scope, wait: Duration) -> ControlFlow<()> {
    let nudges = (context.nudges.poll.get(account), context.nudges.reconsider.get(account));
    let (Some(poll_now), Some(reconsider)) = nudges else { return ControlFlow::Break(()) };
    // Whatever is done to the wall clock meanwhile.
    let mut due = Instant::now() + wait;
    loop {
        alive(context, account, due.saturating_duration_since(Instant::now()));
        tokio::select! {
            biased;
            () = context.stop.cancelled() => return ControlFlow::Break(()),
            () = tokio::time::sleep_until(due) => return ControlFlow::Continue(()),
            () = poll_now.notified() => return ControlFlow::Continue(()),
            () = reconsider.notified() => {
                // A stage found the account refused: its pause says when to try.
                due = context.pauses.probed_in(scope).map_or(due, |wait| due.min(Instant::now() + wait));
            }
        }
    }
}

/// Books the result of a poll and returns how long to wait for the next one.
///
/// # Errors
/// Any error of the ledger.
pub async fn settle(
    context: &Context,
    account: &str,
    result: Result<Polled, PollError>,
) -> Result<Duration, LedgerError> {
    let scope = Scope::Account(account.to_owned());
    let name = account.to_owned();
    match result {
        Ok(Polled { found, swept }) => {
            let (longest, longest_draft) = context.limits.longest_waits(&context.retry);
            let wait = retry::spread(context.limits.poll_interval);
            let next = after(now(), wait);
            context
                .ledger
                .write(move |db| {
                    documents::clamp_due(db, &name, now(), after(now(), longest), after(now(), longest_draft))?;
                    polls::succeeded(db, &name, swept, next, now())
                })
                .await?;
            context.pauses.succeeded(&scope, now()).await?;
            context.ledger_works();
            if found > 0 {
                context.pauses.something_new(&Scope::Fetch(account.to_owned()));
            }
            context.nudges.stages();
            context.pauses.speakers.works(account, POLLS);
            if let Some(long) = context.outages.ended(&format!("poll:{account}"), now()) {
                let long = for_so_long(long);
                tracing::info!(event = "polls_again", account, "polls of {account} work again after {long}");
            }
            if found > 0 {
                let documents = if found == 1 { "document" } else { "documents" };
                tracing::info!(event = "polled", account, found, "{found} {documents} to synchronize");
            } else {
                tracing::debug!(event = "polled", account, found, "nothing new");
            }
            Ok(wait)
        }
        Err(PollError::Ledger(error)) => Err(error),
        Err(PollError::Api(error)) => {
            let what = error.to_string();
            let reason = format!("reading the list of documents: {what}");
            let failure = Failed::of_call(Call::List, "", &error).failure;
            let (stored, code) = (reason.clone(), failure.to_string());
            let failed = context
                .ledger
                .write(move |db| {
                    polls::failed(db, &name, &stored, &code, now())?;
                    accounts::progress(db, &name).map(|progress| progress.poll_failed)
                })
                .await?;
            if error.pauses_account() {
                return context.pauses.close(&scope, &failure, &reason, error.retry_after()).await;
            }
            context.pauses.probe_ends(&scope);
            let delay = context.retry.delay(failed, error.retry_after());
            let retry_in_ms = u64::try_from(delay.as_millis()).ok().filter(|ms| *ms > 0);
            // That the list was read is said by "poll".
            let (outage, reason) = (format!("poll:{account}"), what);
            let attempt = failed;
            let tells = context.pauses.speakers.tells(account, POLLS, &failure.kind);
            let says = match tells.then(|| context.outages.failed(&outage, &error.class(), now())) {
                None | Some(Tell::Nothing) => None,
                Some(Tell::Begun) => Some(format!("poll failed: {reason}")),
                Some(Tell::GoesOn(long)) => Some(format!("polls have failed for {}: {reason}", for_so_long(long))),
            };
            match says {
                Some(says) => {
                    tracing::warn!(event = "poll_failed", account, attempt, retry_in_ms, reason, "{says}");
                }
                None => tracing::debug!(event = "poll_failed", account, attempt, retry_in_ms, reason, "poll failed"),
            }
            let (next, name) = (after(now(), delay), account.to_owned());
            context.ledger.write(move |db| polls::next(db, &name, next)).await?;
            Ok(delay)
        }
    }
}

/// What a poll found.
#[derive(Debug, Clone, Copy, Default)]
pub struct Polled {
    /// How many documents came in.
    pub found: u64,
    /// Whether the whole list was read as it should be: whether the walk by key works again is tried at the usual interval.
    pub swept: bool,
}

/// Reads the account's list: all of it while it is short or `whole` is asked for, else what is new and a part of the rest.
/// Then asks for what it did not show. A poll that finds nothing new writes nothing.
///
/// # Errors
/// Any error of the API or of the ledger.
pub async fn poll(context: &Context, account: &str, whole: bool) -> Result<Polled, PollError> {
    let Some(client) = context.clients.get(account) else { return Ok(Polled::default()) };
    let name = account.to_owned();
    let progress = context.ledger.write(move |db| accounts::progress(db, &name)).await?;
    let mut walker = Walker::new(context, client.as_ref(), account, progress.poll + 1);
    let read = read_list(context, &mut walker, account, &progress, whole).await?;
    walker.confirm().await?;
    let looked = look_for_absent(context, client.as_ref(), account, read, walker.any).await;
    quietly(account, looked)?;
    let adopted = walker.adopt().await;
    quietly(account, adopted)?;
    Ok(Polled { found: walker.found, swept: walker.swept })
}

async fn read_list(
    context: &Context,
    walker: &mut Walker<'_>,
    account: &str,
    progress: &AccountProgress,
    whole: bool,
) -> Result<Read, PollError> {
    let number = progress.poll + 1;
    let interval = after(0, context.limits.reconcile_interval);
    // A time in the future: the clock was set back.
    let try_key = whole
        || progress.walk == Walk::Key
        || progress.swept_at.is_none_or(|at| at > now() || now().saturating_sub(at) >= interval);
    let mut reread = progress.reread.clone().filter(|_| !whole && progress.walk == Walk::Key);
    // Tried anew it begins at the start: from the cursor it may prove nothing, and would pass over all that is older for ever.
    let (mut from, mut impossible) = (progress.cursor.clone().filter(|_| !whole && progress.walk == Walk::Key), None);
    let mut since = progress.reread_since;
    if reread.is_none() {
        let read = walker.by_pages(FEW_PAGES).await?;
        if !read.more {
            return whole_list(walker, number, true).await;
        }
        (reread, impossible, since) = (read.next, read.unsuitable, number);
        // Documents that were reported meanwhile may have moved others to a page that was read.
        from = from.filter(|_| read.quiet);
    }
    if !try_key {
        walker.by_pages(usize::MAX).await?;
        return whole_list(walker, number, false).await;
    }
    let from_start = from.is_none();
    let walked = match impossible {
        Some(why) => Walked::Impossible(why),
        None => walker.by_key(from, usize::MAX).await?,
    };
    walker.remember(&walked).await?;
    if let Walked::Impossible(_) = walked {
        walker.by_pages(usize::MAX).await?;
        return whole_list(walker, number, true).await;
    }
    if from_start {
        return whole_list(walker, number, true).await;
    }
    // The first pages of a rereading were read above.
    let next = if since == number {
        reread
    } else {
        match walker.by_key(reread, FEW_PAGES).await? {
            Walked::Stopped(next) => Some(next),
            Walked::Whole { .. } => return whole_list(walker, since, true).await,
            impossible @ Walked::Impossible(_) => {
                walker.remember(&impossible).await?;
                None
            }
        }
    };
    let name = account.to_owned();
    context.ledger.write(move |db| accounts::save_reread(db, &name, next.as_deref(), since)).await?;
    Ok(Read::Part(number))
}

/// The whole list was read, in polls from this one on.
async fn whole_list(walker: &mut Walker<'_>, since: i64, regular: bool) -> Result<Read, PollError> {
    walker.swept = regular;
    walker.read_from_start().await?;
    Ok(Read::Whole(since))
}

/// Looks once for what was reported: whether it has left the list.
///
/// # Errors
/// Any error of the API or of the ledger.
pub async fn look_for_ended(context: &Context, client: &dyn Api, account: &str) -> Result<(), PollError> {
    look_for_absent(context, client, account, Read::Part(i64::MAX), false).await
}

/// Looks beyond the list are a help: the API failing at one costs the poll nothing.
fn quietly(account: &str, looked: Result<(), PollError>) -> Result<(), LedgerError> {
    match looked {
        Err(PollError::Ledger(error)) => Err(error),
        Err(PollError::Api(error)) => {
            tracing::debug!(event = "look_failed", account, "{error}");
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}
