//! When an account's list is read, and what is recorded of each reading ([`super::discover`]).

use std::ops::ControlFlow;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::time::Instant;

use super::discover::{PollError, Polled, poll};
use super::failures::{Failed, Scope, Tell, after, for_so_long};
use super::{Context, Pauses, Shared, Signals, stage};
use crate::api::ApiError;
use crate::domain::failure::Call;
use crate::domain::retry;
use crate::ledger::{LedgerError, Millis, accounts, documents, now, polls, process};

/// After a poll that panicked, the next poll waits as after this many failed polls.
const PANICKED: u32 = 6;

/// The name of an account's polls among the parts that tell of its failures.
const POLLS: &str = "polls";

/// Polls the account at its interval until the daemon stops. The first poll comes after `turn`.
pub async fn run(context: Shared, account: String, turn: Duration) {
    let Context { edges, rules, signals } = &*context;
    let scope = Scope::Account(account.clone());
    if !turn.is_zero() && wait_for_turn(&edges.pauses, signals, &account, &scope, turn).await.is_break() {
        return;
    }
    loop {
        signals.heartbeats.poll(&account, Duration::ZERO);
        let (began, began_at) = (Instant::now(), now());
        let polling = AssertUnwindSafe(Box::pin(poll(&context, &account, false))).catch_unwind();
        // A poll that is dropped loses nothing: each page is recorded whole, and the next poll begins at the cursor.
        // The poll is boxed, so that its memory is freed between polls: some 500 accounts rest most of the time.
        let Some(result) = signals.stop.run_until_cancelled(polling).await else { return };
        signals.counters.tried("discover", began.elapsed());
        signals.counters.polled(&account, matches!(result, Ok(Ok(_))));
        let settled = match result {
            Ok(result) => settle(&context, &account, began_at, result).await,
            // A bug. The panic hook has logged where it happened.
            Err(_) => {
                tracing::error!(event = "internal_error", stage = "discover", "a poll of {account} panicked");
                Ok(rules.retry.delay(PANICKED, None))
            }
        };
        let wait = match settled {
            Ok(wait) => wait,
            Err(error) => {
                stage::ledger_failed(signals, "discover", &error);
                rules.retry.delay(3, None)
            }
        };
        if wait_for_turn(&edges.pauses, signals, &account, &scope, wait).await.is_break() {
            return;
        }
        if edges.pauses.paused_until(&scope).is_some() {
            edges.pauses.probe_begins(&scope, None);
            let Some(client) = edges.clients.get(&account) else { return };
            if signals.stop.run_until_cancelled(client.read_credentials_again()).await.is_none() {
                return;
            }
        }
    }
}

/// Waits this long, or until a poll is asked for. Breaks when the daemon stops.
async fn wait_for_turn(
    pauses: &Pauses,
    signals: &Signals,
    account: &str,
    scope: &Scope,
    wait: Duration,
) -> ControlFlow<()> {
    let nudges = (signals.nudges.poll.get(account), signals.nudges.reconsider.get(account));
    let (Some(poll_now), Some(reconsider)) = nudges else { return ControlFlow::Break(()) };
    // This clock is monotonic, so changes of the wall clock do not matter.
    let mut due = Instant::now() + wait;
    loop {
        signals.heartbeats.poll(account, due.saturating_duration_since(Instant::now()));
        tokio::select! {
            biased;
            () = signals.stop.cancelled() => return ControlFlow::Break(()),
            () = tokio::time::sleep_until(due) => return ControlFlow::Continue(()),
            () = poll_now.notified() => return ControlFlow::Continue(()),
            () = reconsider.notified() => {
                // A stage found that the API refuses the account: its pause says when to try.
                due = pauses.probed_in(scope).map_or(due, |wait| due.min(Instant::now() + wait));
            }
        }
    }
}

/// Records the result of a poll that began at `began`. Returns how long to wait for the next one.
///
/// # Errors
/// Any error of the ledger.
pub async fn settle(
    context: &Context,
    account: &str,
    began: Millis,
    result: Result<Polled, PollError>,
) -> Result<Duration, LedgerError> {
    match result {
        Ok(polled) => succeeded(context, account, polled).await,
        Err(PollError::Ledger(error)) => Err(error),
        Err(PollError::Api(error)) => failed(context, account, began, &error).await,
    }
}

async fn succeeded(context: &Context, account: &str, Polled { found, swept }: Polled) -> Result<Duration, LedgerError> {
    let Context { edges, rules, signals } = context;
    let (scope, name) = (Scope::Account(account.to_owned()), account.to_owned());
    let (longest, longest_draft) = rules.longest_waits();
    let wait = retry::spread(rules.limits.poll_interval);
    let next = after(now(), wait);
    let ahead = edges.clients.get(account).and_then(|client| client.clock_ahead());
    edges
        .ledger
        .write(move |db| {
            documents::clamp_due(db, &name, now(), after(now(), longest), after(now(), longest_draft))?;
            process::note_clock(db, ahead, now())?;
            polls::succeeded(db, &name, swept, next, now())
        })
        .await?;
    edges.pauses.succeeded(&scope, now()).await?;
    signals.ledger_works();
    signals.nudges.stages();
    edges.pauses.speakers.works(account, POLLS);
    if let Some(long) = signals.outages.ended(&format!("poll:{account}"), now()) {
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

async fn failed(context: &Context, account: &str, began: Millis, error: &ApiError) -> Result<Duration, LedgerError> {
    let Context { edges, rules, signals } = context;
    let (scope, name) = (Scope::Account(account.to_owned()), account.to_owned());
    let what = error.to_string();
    let reason = format!("reading the list of documents: {what}");
    let failure = Failed::of_call(Call::List, "", error).failure;
    let (stored, code) = (reason.clone(), failure.to_string());
    // The clock may have been set back meanwhile.
    let since = began.min(now());
    let failed = edges
        .ledger
        .write(move |db| {
            polls::failed(db, &name, &stored, &code, since)?;
            accounts::progress(db, &name).map(|progress| progress.poll_failed)
        })
        .await?;
    if error.pauses_account() {
        return edges.pauses.close(&scope, &failure, &reason, error.retry_after()).await;
    }
    edges.pauses.probe_ends(&scope);
    let delay = rules.retry.delay(failed, error.retry_after());
    let retry_in_ms = u64::try_from(delay.as_millis()).ok().filter(|ms| *ms > 0);
    // The word "poll" in the line says already that this was a reading of the list.
    let (outage, reason) = (format!("poll:{account}"), what);
    let attempt = failed;
    let tells = edges.pauses.speakers.tells(account, POLLS, &failure.kind);
    let says = match tells.then(|| signals.outages.failed(&outage, &error.class(), now())) {
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
    edges.ledger.write(move |db| polls::next(db, &name, next)).await?;
    Ok(delay)
}
