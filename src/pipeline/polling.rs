//! When an account's list is read, and what is recorded of each reading ([`super::discover`]).

use std::ops::ControlFlow;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::time::Instant;

use super::discover::{PollError, Polled, poll};
use super::failures::{Failed, Scope, Tell, after, for_so_long};
use super::{Context, Shared, stage};
use crate::api::ApiError;
use crate::domain::failure::Call;
use crate::domain::retry;
use crate::ledger::{LedgerError, accounts, documents, now, polls, process};

/// After a poll that panicked, the next poll waits as after this many failed polls.
const PANICKED: u32 = 6;

/// The name of an account's polls among the parts that tell of its failures.
const POLLS: &str = "polls";

/// Polls the account at its interval until the daemon stops. The first poll comes after `turn`.
pub async fn run(context: Shared, account: String, turn: Duration) {
    let scope = Scope::Account(account.clone());
    if !turn.is_zero() && wait_for_turn(&context, &account, &scope, turn).await.is_break() {
        return;
    }
    loop {
        context.heartbeats.poll(&account, Duration::ZERO);
        let began = Instant::now();
        let polling = AssertUnwindSafe(Box::pin(poll(&context, &account, false))).catch_unwind();
        // A poll that is dropped loses nothing: each page is recorded whole, and the next poll begins at the cursor.
        // The poll is boxed, so that its memory is freed between polls: some 500 accounts rest most of the time.
        let Some(result) = context.stop.run_until_cancelled(polling).await else { return };
        context.counters.tried("discover", began.elapsed());
        context.counters.polled(&account, matches!(result, Ok(Ok(_))));
        let settled = match result {
            Ok(result) => settle(&context, &account, result).await,
            // A bug. The panic hook has logged where it happened.
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

/// Waits this long, or until a poll is asked for. Breaks when the daemon stops.
async fn wait_for_turn(context: &Context, account: &str, scope: &Scope, wait: Duration) -> ControlFlow<()> {
    let nudges = (context.nudges.poll.get(account), context.nudges.reconsider.get(account));
    let (Some(poll_now), Some(reconsider)) = nudges else { return ControlFlow::Break(()) };
    // This clock is monotonic, so changes of the wall clock do not matter.
    let mut due = Instant::now() + wait;
    loop {
        context.heartbeats.poll(account, due.saturating_duration_since(Instant::now()));
        tokio::select! {
            biased;
            () = context.stop.cancelled() => return ControlFlow::Break(()),
            () = tokio::time::sleep_until(due) => return ControlFlow::Continue(()),
            () = poll_now.notified() => return ControlFlow::Continue(()),
            () = reconsider.notified() => {
                // A stage found that the API refuses the account: its pause says when to try.
                due = context.pauses.probed_in(scope).map_or(due, |wait| due.min(Instant::now() + wait));
            }
        }
    }
}

/// Records the result of a poll. Returns how long to wait for the next one.
///
/// # Errors
/// Any error of the ledger.
pub async fn settle(
    context: &Context,
    account: &str,
    result: Result<Polled, PollError>,
) -> Result<Duration, LedgerError> {
    match result {
        Ok(polled) => succeeded(context, account, polled).await,
        Err(PollError::Ledger(error)) => Err(error),
        Err(PollError::Api(error)) => failed(context, account, &error).await,
    }
}

async fn succeeded(context: &Context, account: &str, Polled { found, swept }: Polled) -> Result<Duration, LedgerError> {
    let (scope, name) = (Scope::Account(account.to_owned()), account.to_owned());
    let (longest, longest_draft) = context.limits.longest_waits(&context.retry);
    let wait = retry::spread(context.limits.poll_interval);
    let next = after(now(), wait);
    let ahead = context.clients.get(account).and_then(|client| client.clock_ahead());
    context
        .ledger
        .write(move |db| {
            documents::clamp_due(db, &name, now(), after(now(), longest), after(now(), longest_draft))?;
            process::note_clock(db, ahead, now())?;
            polls::succeeded(db, &name, swept, next, now())
        })
        .await?;
    context.pauses.succeeded(&scope, now()).await?;
    context.ledger_works();
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

async fn failed(context: &Context, account: &str, error: &ApiError) -> Result<Duration, LedgerError> {
    let (scope, name) = (Scope::Account(account.to_owned()), account.to_owned());
    let what = error.to_string();
    let reason = format!("reading the list of documents: {what}");
    let failure = Failed::of_call(Call::List, "", error).failure;
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
    // The word "poll" in the line says already that this was a reading of the list.
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
