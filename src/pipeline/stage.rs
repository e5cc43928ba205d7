//! The loop of a stage: take what is due, as much as there is room for, and sleep until something changes.

use std::collections::{HashMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt as _;
use rusqlite::Connection;
use tokio::sync::Notify;
use tokio::task::{Id, JoinSet};
use tokio::time::Instant;

use super::failure::{Failed, Work, record_failure};
use super::pauses::{Admission, ProbeChoice, Scope, after};
use super::{Context, Shared};
use crate::failure::{Call, Code, Kind};
use crate::ledger::{LedgerError, Millis, QueryResult, now};
use crate::state::State;

/// How long a stage waits after the ledger failed in a way that may pass, such as a full disk.
pub(super) const LEDGER_PAUSE: Duration = Duration::from_secs(2);
/// From one look at the ledger to the next: under load one look then serves all that ended meanwhile.
const BETWEEN_LOOKS: Duration = Duration::from_millis(3);
/// The longest sleep: due times are of the wall clock, and that can be set back.
const MAX_SLEEP: Duration = Duration::from_secs(30);
/// The longest time for one turn of a stage's loop: a sleep, a look at the ledger, and the pause when that failed.
const TURN_LIMIT: Duration = Duration::from_secs(30 + 30);

tokio::task_local! {
    static BEGAN: Instant;
}

/// How long the work that this task does has taken so far.
pub(super) fn took() -> Duration {
    BEGAN.try_with(Instant::elapsed).unwrap_or_default()
}

/// A queue within a stage: an account's documents, or a destination's deliveries.
#[derive(Debug, Clone)]
pub struct Lane {
    /// NAME of the account or destination.
    pub name: String,
    /// What may be paused before it.
    pub scope: Scope,
    /// A second one: the account's, where the lane calls the API.
    pub account: Option<Scope>,
    /// The most jobs of the lane at a time, also of those that failed before.
    pub limit: Option<usize>,
}

impl Lane {
    /// One for each account, behind the account's own pause and that of the stage.
    pub fn of_accounts<'a>(accounts: impl Iterator<Item = &'a String>, scope: fn(String) -> Scope) -> Vec<Self> {
        let lane = |name: &String| Self {
            name: name.clone(),
            scope: scope(name.clone()),
            account: Some(Scope::Account(name.clone())),
            limit: None,
        };
        accounts.map(lane).collect()
    }
}

/// `sync.max_concurrency` shared out among the lanes, at least one for each: an account whose answers hang takes nothing
/// from the others.
pub fn shared_room(context: &Context, lanes: &[Lane]) -> (usize, usize) {
    let each = (context.limits.max_concurrency / lanes.len().max(1)).max(1);
    (each * lanes.len(), each)
}

/// What makes one piece of work: the document and, for deliveries, the destination.
pub type Key = (i64, String);

/// One of the stages that read the ledger.
#[async_trait]
pub trait Stage: Send + Sync + 'static {
    /// A row to work on.
    type Job: Clone + Send + Sync + 'static;

    /// For the log.
    const NAME: &'static str;

    /// The queues.
    fn lanes(&self) -> &[Lane];
    /// How much may be in flight: in all, and in one lane.
    fn room(&self, context: &Context) -> (usize, usize);
    /// What wakes it.
    fn nudge<'a>(&self, context: &'a Context) -> &'a Notify;
    /// Identifies a job while it is in flight.
    fn key(job: &Self::Job) -> Key;
    /// A job as failures are booked on it.
    fn work(job: &Self::Job) -> Work<'_>;

    /// The documents of a lane that are due, the longest due first; and whether each failed before.
    fn due(db: &Connection, lane: &str, now: Millis, limit: usize) -> QueryResult<Vec<(i64, bool)>>;
    /// The row of one of them; `None` when there is nothing to do for it.
    fn row(db: &Connection, lane: &str, document: i64) -> QueryResult<Option<Self::Job>>;
    /// The row of a lane to probe a pause with.
    fn probe(db: &Connection, lane: &str, now: Millis, wanted: ProbeChoice) -> QueryResult<Option<Self::Job>>;
    /// When the next row of a lane becomes due.
    fn next_due(db: &Connection, lane: &str, now: Millis) -> QueryResult<Option<Millis>>;

    /// Does the work and writes its result to the ledger.
    async fn run(&self, context: &Context, job: Self::Job) -> Result<(), LedgerError>;
}

/// A lane as one look at the ledger sees it: what to ask for.
enum Ask {
    Rows(Wanted),
    Probe(ProbeChoice),
}

/// What a lane has room for. Only that is read whole, and what is in flight, which is still due, is not read again.
struct Wanted {
    /// Jobs that never failed, at most.
    first: usize,
    /// Jobs that failed before, at most.
    again: usize,
    in_flight: HashSet<i64>,
}

impl Wanted {
    fn rows<S: Stage>(&mut self, db: &Connection, lane: &str, now: Millis) -> QueryResult<Vec<S::Job>> {
        let mut rows = Vec::new();
        if self.first + self.again == 0 {
            return Ok(rows);
        }
        for (document, failed) in S::due(db, lane, now, self.first + self.again + self.in_flight.len())? {
            let left = if failed { &mut self.again } else { &mut self.first };
            if *left > 0
                && !self.in_flight.contains(&document)
                && let Some(job) = S::row(db, lane, document)?
            {
                *left -= 1;
                rows.push(job);
            }
        }
        Ok(rows)
    }
}

struct Flight {
    key: Key,
    lane: usize,
    probe: bool,
    again: bool,
}

/// What is in flight in one lane. A quarter as much again as the lane has room for, and at least one, is for jobs that
/// failed before, and counts apart: a document whose download hangs until the limit of time, again and again, takes no room
/// from those that are good.
#[derive(Default, Clone, Copy)]
struct Load {
    first: usize,
    again: usize,
}

impl Load {
    fn of(flights: &HashMap<Id, Flight>, lane: usize) -> Self {
        let mut load = Self::default();
        flights.values().filter(|flight| flight.lane == lane).for_each(|flight| load.add(flight.again));
        load
    }

    fn add(&mut self, again: bool) {
        if again {
            self.again += 1;
        } else {
            self.first += 1;
        }
    }

    /// What counts as room that is taken.
    fn taken(self, in_lane: usize) -> usize {
        self.first + self.again.saturating_sub(beside(in_lane))
    }

    fn in_all(self) -> usize {
        self.first + self.again
    }

    /// Whether a lane with a limit of its own may have so much in flight. Jobs that failed before leave one place to the others.
    fn is_within(self, limit: Option<usize>) -> bool {
        limit.is_none_or(|limit| self.in_all() <= limit && self.again <= limit.saturating_sub(1).max(1))
    }
}

/// How many jobs that failed before may be in flight beside the others.
fn beside(in_lane: usize) -> usize {
    in_lane.div_ceil(4)
}

/// Runs a stage until it is told to stop; then waits for what is in flight.
pub async fn run_stage<S: Stage>(context: Shared, stage: std::sync::Arc<S>) {
    let mut tasks: JoinSet<Result<(), LedgerError>> = JoinSet::new();
    let mut flights: HashMap<Id, Flight> = HashMap::new();
    while !context.stop.is_cancelled() {
        context.heartbeats.within(S::NAME, TURN_LIMIT);
        fault_point!("stage.turn.before");
        let look_again_at = Instant::now() + BETWEEN_LOOKS;
        let wake_at = match look(&context, &stage, &mut tasks, &mut flights).await {
            Ok(wake_at) => wake_at,
            Err(error) => {
                ledger_failed(&context, S::NAME, &error);
                Some(after(now(), LEDGER_PAUSE))
            }
        };
        // In this order, whatever is ready: the simulation can then repeat what it saw.
        let mut failed = false;
        tokio::select! {
            biased;
            () = context.stop.cancelled() => break,
            Some(ended) = tasks.join_next_with_id(), if !tasks.is_empty() => {
                failed = land(&context, &stage, &mut flights, ended);
            }
            () = stage.nudge(&context).notified() => {}
            () = tokio::time::sleep(sleep_for(wake_at)) => {}
        }
        tokio::time::sleep_until(look_again_at).await;
        while let Some(ended) = tasks.try_join_next_with_id() {
            failed |= land(&context, &stage, &mut flights, ended);
        }
        if failed {
            tokio::time::sleep(LEDGER_PAUSE).await;
        }
    }
    // What is in flight has limits of its own, and the daemon one for the whole drain.
    context.heartbeats.ended(S::NAME);
    while let Some(ended) = tasks.join_next_with_id().await {
        land(&context, &stage, &mut flights, ended);
    }
    context.pauses.say_lines_until(Millis::MAX);
}

fn sleep_for(wake_at: Option<Millis>) -> Duration {
    let wait = wake_at.map_or(MAX_SLEEP, |at| Duration::from_millis(u64::try_from(at - now()).unwrap_or(0)));
    // A row that became due this very millisecond is found by the next look.
    wait.clamp(Duration::from_millis(1), MAX_SLEEP)
}

/// Starts what is due and fits, and returns when to look again.
async fn look<S: Stage>(
    context: &Shared,
    stage: &std::sync::Arc<S>,
    tasks: &mut JoinSet<Result<(), LedgerError>>,
    flights: &mut HashMap<Id, Flight>,
) -> Result<Option<Millis>, LedgerError> {
    let (in_all, in_lane) = stage.room(context);
    let lanes = stage.lanes().len();
    if flights.len() >= in_all + lanes * beside(in_lane) {
        return Ok(None);
    }
    let mut taken: usize = (0..lanes).map(|lane| Load::of(flights, lane).taken(in_lane)).sum();
    let at = now();
    let (asks, gate_opens) = ask(context, stage.lanes(), flights, in_lane, at);
    let found = context.ledger.read(move |db| {
        asks.into_iter()
            .map(|(lane, name, ask)| {
                let probing = matches!(ask, Ask::Probe(_));
                let rows = match ask {
                    Ask::Rows(mut wanted) => wanted.rows::<S>(db, &name, at)?,
                    Ask::Probe(wanted) => S::probe(db, &name, at, wanted)?.into_iter().collect(),
                };
                Ok((lane, probing, rows, S::next_due(db, &name, at)?))
            })
            .collect::<QueryResult<Vec<_>>>()
    });
    let mut wake_at = [gate_opens, context.pauses.say_lines_until(at)].into_iter().flatten().min();
    for (lane, probe, jobs, next_due) in found.await? {
        wake_at = [wake_at, next_due].into_iter().flatten().min();
        if probe
            && jobs.is_empty()
            && next_due.is_none()
            && let Some(lane) = stage.lanes().get(lane)
        {
            context.pauses.nothing_left(&lane.scope).await?;
        }
        let mut load = Load::of(flights, lane);
        for job in jobs {
            let (key, again) = (S::key(&job), S::work(&job).attempts() > 0);
            let mut with_it = load;
            with_it.add(again);
            let needs = with_it.taken(in_lane) - load.taken(in_lane);
            let limit = stage.lanes().get(lane).and_then(|lane| lane.limit);
            let fits = with_it.taken(in_lane) <= in_lane && taken + needs <= in_all && with_it.is_within(limit);
            if !fits || flights.values().any(|flight| flight.key == key) {
                continue;
            }
            (load, taken) = (with_it, taken + needs);
            if probe && let Some(lane) = stage.lanes().get(lane) {
                context.pauses.probe_begins(&lane.scope, Some(key.0));
            }
            let (shared, stage) = (context.clone(), stage.clone());
            context.in_flight.fetch_add(1, Ordering::Relaxed);
            let scope = stage.lanes().get(lane).map(|lane| lane.scope.clone());
            let run = async move {
                let ended = match AssertUnwindSafe(stage.run(&shared, job.clone())).catch_unwind().await {
                    Ok(result) => result,
                    Err(_) => panicked::<S>(&shared, scope.as_ref(), &job).await,
                };
                shared.counters.tried(S::NAME, took());
                ended
            };
            let handle = tasks.spawn(BEGAN.scope(Instant::now(), run));
            flights.insert(handle.id(), Flight { key, lane, probe, again });
        }
    }
    Ok(wake_at)
}

/// A bug, which may lie in wait for this document at every attempt: it spends one, and backs off, as for any failure of
/// its own. The panic hook has said where.
async fn panicked<S: Stage>(context: &Context, scope: Option<&Scope>, job: &S::Job) -> Result<(), LedgerError> {
    tracing::error!(event = "internal_error", stage = S::NAME, "a task panicked");
    let Some(scope) = scope else { return Ok(()) };
    let reason = "an internal fault of docsyncd: please report it".to_owned();
    let call = match S::work(job) {
        Work::Delivery(_) => Call::Deliver,
        Work::Document(document) if document.state == State::Discovered => Call::Read,
        Work::Document(_) => Call::Report,
    };
    let failed = Failed::new(call, Kind::Passing(Code::word("internal_fault")), reason);
    record_failure(context, scope, S::work(job), failed).await
}

/// Which rows to ask the ledger for, lane by lane, and when the first pause is to be probed.
fn ask(
    context: &Context,
    lanes: &[Lane],
    flights: &HashMap<Id, Flight>,
    in_lane: usize,
    at: Millis,
) -> (Vec<(usize, String, Ask)>, Option<Millis>) {
    let mut asks = Vec::new();
    let mut opens: Option<Millis> = None;
    for (index, lane) in lanes.iter().enumerate() {
        // A closed account is opened by its poll, which then wakes the stages.
        if lane.account.as_ref().is_some_and(|scope| context.pauses.paused_until(scope).is_some()) {
            continue;
        }
        let ask = match context.pauses.admission(&lane.scope, at) {
            Admission::Open => {
                let (load, all) = (Load::of(flights, index), in_lane + beside(in_lane));
                let in_flight = flights.values().filter(|flight| flight.lane == index).map(|flight| flight.key.0);
                Ask::Rows(Wanted {
                    first: in_lane.saturating_sub(load.taken(in_lane)),
                    again: all.saturating_sub(load.in_all()),
                    in_flight: in_flight.collect(),
                })
            }
            Admission::Probe(wanted) => Ask::Probe(wanted),
            Admission::Paused(until) => {
                opens = Some(opens.map_or(until, |earliest| earliest.min(until)));
                continue;
            }
        };
        asks.push((index, lane.name.clone(), ask));
    }
    (asks, opens)
}

/// Takes in a job that ended. Returns whether the ledger failed.
fn land<S: Stage>(
    context: &Context,
    stage: &std::sync::Arc<S>,
    flights: &mut HashMap<Id, Flight>,
    ended: Result<(Id, Result<(), LedgerError>), tokio::task::JoinError>,
) -> bool {
    let (id, result) = match ended {
        Ok((id, result)) => (id, result),
        Err(error) => {
            // A panic outside of the work itself. The row is still due; the pause keeps that from spinning.
            tracing::error!(event = "internal_error", stage = S::NAME, "a task ended unexpectedly: {error}");
            (error.id(), Err(LedgerError::Sqlite("a task ended unexpectedly".to_owned())))
        }
    };
    context.in_flight.fetch_sub(1, Ordering::Relaxed);
    if let Some(flight) = flights.remove(&id)
        && flight.probe
        && let Some(lane) = stage.lanes().get(flight.lane)
    {
        context.pauses.probe_ends(&lane.scope);
    }
    match result {
        Ok(()) => false,
        Err(error) => {
            ledger_failed(context, S::NAME, &error);
            true
        }
    }
}

/// The ledger failed: wait when that may pass, end the daemon when a person has to mend it.
pub(super) fn ledger_failed(context: &Context, stage: &str, error: &LedgerError) {
    if error.is_transient() {
        context.ledger_error(Some(stage), error);
    } else {
        // Only the first one is read.
        let _ = context.fatal.send(error.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_of_a_lane_holds_for_all_and_leaves_a_place_to_what_never_failed() {
        for (first, again, limit, fits) in [
            (9, 9, None, true),
            (4, 0, Some(4), true),
            (1, 3, Some(4), true),
            (0, 4, Some(4), false),
            (4, 1, Some(4), false),
            (0, 1, Some(1), true),
            (1, 1, Some(1), false),
        ] {
            assert_eq!(Load { first, again }.is_within(limit), fits, "{first} {again} of {limit:?}");
        }
    }

    #[test]
    fn jobs_that_failed_before_take_no_room_from_the_others_until_there_are_too_many() {
        for (first, again, in_lane, taken) in [
            (0, 0, 8, 0),
            (8, 0, 8, 8),
            (8, 2, 8, 8),
            (8, 3, 8, 9),
            (0, 10, 8, 8),
            (1, 1, 1, 1),
            (1, 2, 1, 2),
            (16, 4, 16, 16),
        ] {
            assert_eq!(Load { first, again }.taken(in_lane), taken, "{first} {again} of {in_lane}");
        }
    }
}
