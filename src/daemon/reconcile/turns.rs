//! Compares all sides every `reconcile.every`, slowly and beside all other work. A difference is a problem until a
//! later comparison finds none.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use super::{KINDS, Pace, Place, Report, Sides, compare};
use crate::destinations::Adapter;
use crate::ledger::process::{self, Agreement};
use crate::ledger::{Ledger, LedgerError, Millis, now};
use crate::pipeline::{Edges, Shared};

/// The time from a start to the first comparison ever. Letters that waited are filed and reported first.
const FIRST: Duration = Duration::from_secs(60);
/// The longest sleep. A machine that was asleep notices soon that a comparison is due.
const LONGEST: Duration = Duration::from_secs(60);

/// Compares until the daemon stops.
pub async fn run(
    context: Shared,
    adapters: BTreeMap<String, Arc<dyn Adapter>>,
    emptied: BTreeSet<String>,
    every: Duration,
) {
    let stop = context.signals.stop.clone();
    let compared = async {
        tokio::time::sleep(every.min(FIRST)).await;
        loop {
            match left(&context.edges.ledger, every).await {
                Ok(left) if left.is_zero() => {
                    if let Err(error) = turn(&context.edges, &adapters, &emptied).await {
                        tracing::warn!(event = "reconcile_failed", "the sides could not be compared: {error}");
                        tokio::time::sleep(LONGEST).await;
                    }
                }
                Ok(left) => tokio::time::sleep(left.min(LONGEST)).await,
                Err(error) => {
                    tracing::debug!(event = "reconcile_failed", "{error}");
                    tokio::time::sleep(LONGEST).await;
                }
            }
        }
    };
    stop.run_until_cancelled(compared).await;
}

/// The time until the next comparison. If a clock was set back, at most one interval.
async fn left(ledger: &Ledger, every: Duration) -> Result<Duration, LedgerError> {
    let last: Option<Millis> =
        ledger.read(process::all).await?.get(process::RECONCILED_AT).and_then(|at| at.parse().ok());
    let Some(last) = last else { return Ok(Duration::ZERO) };
    let since = Duration::from_millis(u64::try_from(now().saturating_sub(last)).unwrap_or(0));
    Ok(every.saturating_sub(since))
}

async fn turn(
    edges: &Edges,
    adapters: &BTreeMap<String, Arc<dyn Adapter>>,
    emptied: &BTreeSet<String>,
) -> Result<(), LedgerError> {
    let place = |name: &String, adapter| Place { adapter, is_emptied: emptied.contains(name) };
    let sides = Sides {
        ledger: &edges.ledger,
        clients: edges.clients.iter().map(|(name, client)| (name.as_str(), client.as_ref())).collect(),
        destinations: adapters.iter().map(|(name, to)| (name.as_str(), place(name, to.as_ref()))).collect(),
        pace: Pace::BESIDE,
        progress: &|_, _, _| {},
    };
    let report = compare(&sides, Millis::MIN).await?;
    tell(&report);
    let (count, is_whole) = (report.differing(), report.is_whole());
    let written = edges.ledger.write(move |db| {
        // A side that could not be checked may be the one that differed before.
        if is_whole || count > 0 {
            Agreement::found(db, count, now())?;
        }
        process::set(db, process::RECONCILED_AT, &now().to_string())
    });
    written.await
}

fn tell(report: &Report) {
    for (scope, reason) in &report.failed {
        tracing::warn!(event = "not_compared", reason, "{scope} could not be compared: {reason}");
    }
    let count = |kind| report.counts.get(&kind).copied().unwrap_or(0);
    let [missing, other_content, not_synchronized, ended_at_api] = KINDS.map(count);
    let (looked_at, not_looked_at) = (report.looked_at, report.not_looked_at);
    match report.differing() {
        0 => tracing::info!(event = "reconciled", looked_at, not_looked_at, "nothing differs"),
        differing => tracing::warn!(
            event = "reconciled",
            looked_at,
            not_looked_at,
            missing,
            other_content,
            not_synchronized,
            ended_at_api,
            "the service, docsyncd and the destinations disagree ({differing}): run docsyncd reconcile"
        ),
    }
}
