//! The loop of a stage: take as much due work as there is room for, and sleep until something changes.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt as _;
use tokio::sync::Notify;
use tokio::task::{Id, JoinSet};
use tokio::time::Instant;

use self::look::look;
use self::room::shared_room;
use super::failures::{Failed, Scope, after, record_failure};
use super::{Context, Edges, Limits, Nudges, Shared, Signals};
use crate::domain::failure::{Call, Code, Kind};
use crate::domain::state::State;
use crate::ledger::work::Work;
use crate::ledger::{LedgerError, Millis, now};

mod look;
mod room;

/// How long a stage waits after the ledger failed in a way that may pass, such as a full disk.
pub(super) const LEDGER_PAUSE: Duration = Duration::from_secs(2);
/// From one look at the ledger to the next: under load, one look serves all work that ended meanwhile.
const BETWEEN_LOOKS: Duration = Duration::from_millis(1);
/// The longest sleep. Due times are of the wall clock, which can be set back.
const MAX_SLEEP: Duration = Duration::from_secs(30);
/// The longest time for one turn of a stage's loop: a sleep, a look at the ledger, and the pause if that look failed.
const TURN_LIMIT: Duration = Duration::from_secs(30 + 30);

tokio::task_local! {
    static BEGAN: Instant;
}

/// How long this task's work has taken so far.
pub(super) fn took() -> Duration {
    BEGAN.try_with(Instant::elapsed).unwrap_or_default()
}

/// When this task's work began.
pub(super) fn began() -> Millis {
    now().saturating_sub(after(0, took()))
}

/// A queue within a stage: an account's documents, or a destination's deliveries.
#[derive(Debug, Clone)]
pub struct Lane {
    /// The scope whose pause holds the lane back. The pause of an account holds its lanes back as well.
    pub scope: Scope,
    /// The most jobs of the lane at a time, those that failed before included.
    pub limit: Option<usize>,
}

impl Lane {
    /// One lane for each account.
    pub fn of_accounts<'a>(accounts: impl Iterator<Item = &'a String>, scope: fn(String) -> Scope) -> Vec<Self> {
        accounts.map(|name| Self { scope: scope(name.clone()), limit: None }).collect()
    }
}

/// One of the stages that read the ledger.
#[async_trait]
pub trait Stage: Send + Sync + 'static {
    /// The name of the stage in log lines.
    const NAME: &'static str;

    /// The queues of the stage.
    fn lanes(&self) -> &[Lane];
    /// How many jobs may be in flight in one lane.
    fn room(&self, limits: &Limits) -> usize {
        shared_room(limits, self.lanes())
    }
    /// The nudge that wakes the stage.
    fn nudge<'a>(&self, nudges: &'a Nudges) -> &'a Notify;
    /// Does the work and writes its result to the ledger.
    async fn run(&self, context: &Context, work: Work) -> Result<(), LedgerError>;
}

/// Runs a stage until it is told to stop, and then waits for the work in flight.
pub async fn run_stage<S: Stage>(context: Shared, stage: Arc<S>) {
    let Context { edges, signals, .. } = &*context;
    let mut tasks: JoinSet<Result<(), LedgerError>> = JoinSet::new();
    let mut flights: HashMap<Id, Flight> = HashMap::new();
    while !signals.stop.is_cancelled() {
        signals.heartbeats.within(S::NAME, TURN_LIMIT);
        fault_point!("stage.turn.before");
        let look_again_at = Instant::now() + BETWEEN_LOOKS;
        let wake_at = match look(&context, &stage, &mut tasks, &mut flights).await {
            Ok(wake_at) => wake_at,
            Err(error) => {
                ledger_failed(signals, S::NAME, &error);
                Some(after(now(), LEDGER_PAUSE))
            }
        };
        // The order is fixed, whatever is ready first, so that the simulation can repeat a run.
        let mut failed = false;
        tokio::select! {
            biased;
            () = signals.stop.cancelled() => break,
            Some(ended) = tasks.join_next_with_id(), if !tasks.is_empty() => {
                failed = land(edges, signals, &stage, &mut flights, ended);
            }
            () = stage.nudge(&signals.nudges).notified() => {}
            () = tokio::time::sleep(sleep_for(wake_at)) => {}
        }
        tokio::time::sleep_until(look_again_at).await;
        while let Some(ended) = tasks.try_join_next_with_id() {
            failed |= land(edges, signals, &stage, &mut flights, ended);
        }
        if failed {
            tokio::time::sleep(LEDGER_PAUSE).await;
        }
    }
    // Each job in flight has a time limit, and the daemon has one for the whole drain.
    signals.heartbeats.ended(S::NAME);
    while let Some(ended) = tasks.join_next_with_id().await {
        land(edges, signals, &stage, &mut flights, ended);
    }
}

fn sleep_for(wake_at: Option<Millis>) -> Duration {
    let wait = wake_at.map_or(MAX_SLEEP, |at| Duration::from_millis(u64::try_from(at - now()).unwrap_or(0)));
    // The next look finds a row that became due in this very millisecond.
    wait.clamp(Duration::from_millis(1), MAX_SLEEP)
}

struct Flight {
    /// What identifies the work: the document and, for a delivery, the destination.
    key: (i64, Option<String>),
    lane: usize,
    probe: bool,
    again: bool,
}

/// Starts a job.
fn start<S: Stage>(
    context: &Shared,
    stage: &Arc<S>,
    tasks: &mut JoinSet<Result<(), LedgerError>>,
    flights: &mut HashMap<Id, Flight>,
    flight: Flight,
    work: Work,
) {
    let scope = stage.lanes().get(flight.lane).map(|lane| lane.scope.clone());
    if flight.probe
        && let Some(scope) = &scope
    {
        context.edges.pauses.probe_begins(scope, Some(flight.key.0));
    }
    let (shared, stage) = (context.clone(), stage.clone());
    context.signals.in_flight.fetch_add(1, Ordering::Relaxed);
    let run = async move {
        let ended = match AssertUnwindSafe(stage.run(&shared, work.clone())).catch_unwind().await {
            Ok(Err(error)) if error.is_fault() => {
                at_fault::<S>(&shared, scope.as_ref(), &work, &error.to_string()).await
            }
            Ok(result) => result,
            Err(_) => at_fault::<S>(&shared, scope.as_ref(), &work, "a task panicked").await,
        };
        shared.signals.counters.tried(S::NAME, took());
        ended
    };
    let handle = tasks.spawn(BEGAN.scope(Instant::now(), run));
    flights.insert(handle.id(), flight);
}

/// A bug that this document may meet at every attempt: a panic, or something that the ledger refuses. So it counts as
/// an attempt and backs off, like any failure of the document's own. The panic hook has logged where it happened.
async fn at_fault<S: Stage>(
    context: &Context,
    scope: Option<&Scope>,
    work: &Work,
    what: &str,
) -> Result<(), LedgerError> {
    tracing::error!(event = "internal_error", stage = S::NAME, "{what}");
    let Some(scope) = scope else { return Ok(()) };
    let reason = "an internal fault of docsyncd: please report it".to_owned();
    let call = match work {
        Work::Delivery(_) => Call::Deliver,
        Work::Document(document) if document.state == State::Discovered => Call::Read,
        Work::Document(_) => Call::Report,
    };
    let failed = Failed::new(call, Kind::Passing(Code::word("internal_fault")), reason);
    record_failure(context, scope, work, failed).await
}

/// Handles a job that ended. Returns whether the ledger failed.
fn land<S: Stage>(
    edges: &Edges,
    signals: &Signals,
    stage: &Arc<S>,
    flights: &mut HashMap<Id, Flight>,
    ended: Result<(Id, Result<(), LedgerError>), tokio::task::JoinError>,
) -> bool {
    let (id, result) = match ended {
        Ok((id, result)) => (id, result),
        Err(error) => {
            // A panic outside of the work itself. The row is still due; the wait after a failure keeps the loop from
            // spinning.
            tracing::error!(event = "internal_error", stage = S::NAME, "a task ended unexpectedly: {error}");
            (error.id(), Err(LedgerError::Sqlite("a task ended unexpectedly".to_owned())))
        }
    };
    signals.in_flight.fetch_sub(1, Ordering::Relaxed);
    if let Some(flight) = flights.remove(&id)
        && flight.probe
        && let Some(lane) = stage.lanes().get(flight.lane)
    {
        edges.pauses.probe_ends(&lane.scope);
    }
    match result {
        Ok(()) => false,
        Err(error) => {
            ledger_failed(signals, S::NAME, &error);
            true
        }
    }
}

/// The ledger failed. If that may pass, logs it; if a person has to mend it, ends the daemon.
pub(super) fn ledger_failed(signals: &Signals, stage: &str, error: &LedgerError) {
    if error.is_transient() || error.is_fault() {
        signals.ledger_error(Some(stage), error);
    } else {
        // Only the first error is read.
        let _ = signals.fatal.send(error.clone());
    }
}
