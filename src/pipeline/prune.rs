//! prune: while the stages are idle, removes the history that is older than `state.keep_history` and the names that are
//! older than `state.keep_names`, and gives their space back. Also removes PDFs from the spool that could not be
//! removed before.
//!
//! Every batch is a small transaction of its own, followed by a rest several times as long. So the stages, which write
//! through the same thread, hardly wait. After a crash, the next pass simply goes on.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::failures::after;
use super::{Context, Edges, Shared, Signals, stage};
use crate::ledger::{Ledger, LedgerError, QueryResult, names, now, prune};

/// How many documents lose their history in one transaction.
const DOCUMENTS_AT_ONCE: usize = 50;
/// How many pages are given back in one transaction: one MiB.
const PAGES_AT_ONCE: u32 = 256;
/// How many empty pages are kept for the next writes.
const RESERVE_PAGES: u32 = 64;
/// How many times as long as the batch the rest after it is.
const RESTS: u32 = 4;
/// The time between two passes.
const INTERVAL: Duration = Duration::from_secs(3600);
/// How long a batch waits for idle stages: a program that never ends must not make the ledger grow for ever.
const MOST_WAITING: Duration = Duration::from_secs(60);
/// How long to wait until the next look whether the stages are idle.
const LOOK_INTERVAL: Duration = Duration::from_millis(250);
/// A write-ahead log longer than this means that somebody reads an old state of the ledger (a `docsyncd list` into a
/// pager). Each write would make it longer, so the rest is left to the next pass; bytes.
const LONGEST_LOG: u64 = 64 * 1024 * 1024;

/// Prunes at intervals, beginning now, until the daemon stops.
pub async fn run(context: Shared) {
    loop {
        context.edges.spool.remove_left().await;
        match pass(&context).await {
            Ok(0) => {}
            Ok(documents) => {
                let what = if documents == 1 { "document" } else { "documents" };
                tracing::info!(event = "pruned", documents, "the history of {documents} {what} was removed");
            }
            Err(error) => stage::ledger_failed(&context.signals, "prune", &error),
        }
        if context.signals.stop.run_until_cancelled(sleep(INTERVAL)).await.is_none() {
            return;
        }
    }
}

/// Removes everything that is old enough. Returns the number of documents whose history was removed.
async fn pass(Context { edges: Edges { ledger, .. }, rules, signals }: &Context) -> Result<usize, LedgerError> {
    let before = now().saturating_sub(after(0, rules.limits.keep_history));
    let mut documents = 0;
    while let Some(removed) =
        batch(ledger, signals, move |db| prune::remove_history(db, before, DOCUMENTS_AT_ONCE, now()))
            .await?
            .filter(|count| *count > 0)
    {
        documents += removed;
    }
    let before = now().saturating_sub(after(0, rules.limits.keep_names));
    while batch(ledger, signals, move |db| names::prune(db, before, DOCUMENTS_AT_ONCE))
        .await?
        .is_some_and(|count| count > 0)
    {}
    while batch(ledger, signals, |db| prune::give_back(db, PAGES_AT_ONCE, RESERVE_PAGES)).await? == Some(true) {}
    Ok(documents)
}

/// Does one batch in a quiet moment, and rests after it. `None`: not now.
async fn batch<T, F>(ledger: &Ledger, signals: &Signals, work: F) -> Result<Option<T>, LedgerError>
where
    T: Send + 'static,
    F: FnOnce(&rusqlite::Connection) -> QueryResult<T> + Send + 'static,
{
    let waiting_since = Instant::now();
    while signals.in_flight.load(Ordering::Relaxed) > 0 && waiting_since.elapsed() < MOST_WAITING {
        // The check below sees that the daemon stops.
        if signals.stop.run_until_cancelled(sleep(LOOK_INTERVAL)).await.is_none() {
            break;
        }
    }
    if signals.stop.is_cancelled() || ledger.log_bytes() > LONGEST_LOG {
        return Ok(None);
    }
    let began = Instant::now();
    let done = ledger.write(work).await?;
    signals.stop.run_until_cancelled(sleep(began.elapsed() * RESTS)).await;
    Ok(Some(done))
}
