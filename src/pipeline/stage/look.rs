//! One look at the ledger: finds due work, and starts as much of it as there is room for.

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::Connection;
use tokio::task::{Id, JoinSet};

use super::super::pauses::{Admission, ProbeChoice, Scope};
use super::super::{Context, Shared};
use super::room::{Load, beside};
use super::{Flight, Lane, Stage, start};
use crate::ledger::work::{self, Work};
use crate::ledger::{LedgerError, Millis, QueryResult, now};

/// Starts the due work that fits, and returns when to look again.
pub(super) async fn look<S: Stage>(
    context: &Shared,
    stage: &Arc<S>,
    tasks: &mut JoinSet<Result<(), LedgerError>>,
    flights: &mut HashMap<Id, Flight>,
) -> Result<Option<Millis>, LedgerError> {
    let in_lane = stage.room(context);
    if flights.len() >= stage.lanes().len() * (in_lane + beside(in_lane)) {
        return Ok(None);
    }
    let at = now();
    let (asks, gate_opens) = ask(context, stage.lanes(), flights, in_lane, at);
    let found = context.ledger.read(move |db| {
        asks.into_iter()
            .map(|(lane, scope, mut wanted)| {
                let rows = match wanted.probe {
                    None => wanted.rows(db, &scope, at)?,
                    Some(by) => work::probe(db, &scope, at, by, &wanted.in_flight)?.into_iter().collect(),
                };
                let nothing = wanted.probe.is_some() && rows.is_empty() && wanted.in_flight.is_empty();
                Ok((lane, wanted.probe.is_some(), nothing, rows, work::next_due(db, &scope, at)?))
            })
            .collect::<QueryResult<Vec<_>>>()
    });
    let mut wake_at = gate_opens;
    for (lane, probe, nothing, jobs, next_due) in found.await? {
        wake_at = [wake_at, next_due].into_iter().flatten().min();
        let Some(Lane { scope, limit }) = stage.lanes().get(lane) else { continue };
        if nothing && next_due.is_none() {
            context.pauses.nothing_left(scope).await?;
        }
        let mut load = Load::of(flights, lane);
        for job in jobs {
            let key = (job.document().id, job.destination().map(str::to_owned));
            let again = job.tries().attempts > 0;
            let mut with_it = load;
            with_it.add(again);
            let fits = with_it.taken(in_lane) <= in_lane && with_it.is_within(*limit);
            if !fits || flights.values().any(|flight| flight.key == key) {
                continue;
            }
            load = with_it;
            start(context, stage, tasks, flights, Flight { key, lane, probe, again }, job);
        }
    }
    Ok(wake_at)
}

/// What to ask the ledger for, lane by lane, and when the first pause is due for a probe.
fn ask(
    context: &Context,
    lanes: &[Lane],
    flights: &HashMap<Id, Flight>,
    in_lane: usize,
    at: Millis,
) -> (Vec<(usize, Scope, Wanted)>, Option<Millis>) {
    let mut asks = Vec::new();
    let mut opens: Option<Millis> = None;
    for (index, lane) in lanes.iter().enumerate() {
        // The poll of a paused account ends the pause and then wakes the stages.
        let account = lane.scope.account().map(|name| Scope::Account(name.to_owned()));
        if account.is_some_and(|scope| context.pauses.paused_until(&scope).is_some()) {
            continue;
        }
        let probe = match context.pauses.admission(&lane.scope, at) {
            Admission::Open => None,
            Admission::Probe(wanted) => Some(wanted),
            Admission::Paused(until) => {
                opens = Some(opens.map_or(until, |earliest| earliest.min(until)));
                continue;
            }
        };
        let (load, all) = (Load::of(flights, index), in_lane + beside(in_lane));
        let in_flight = flights.values().filter(|flight| flight.lane == index).map(|flight| flight.key.0);
        let wanted = Wanted {
            probe,
            first: in_lane.saturating_sub(load.taken(in_lane)),
            again: all.saturating_sub(load.in_all()),
            in_flight: in_flight.collect(),
        };
        asks.push((index, lane.scope.clone(), wanted));
    }
    (asks, opens)
}

/// What a lane has room for. Only so much is read in full. Work in flight is still due, but is not read again.
struct Wanted {
    /// If set, one job to probe a pause with, and nothing else.
    probe: Option<ProbeChoice>,
    /// The most jobs that never failed.
    first: usize,
    /// The most jobs that failed before.
    again: usize,
    in_flight: Vec<i64>,
}

impl Wanted {
    fn rows(&mut self, db: &Connection, scope: &Scope, now: Millis) -> QueryResult<Vec<Work>> {
        let mut rows = Vec::new();
        if self.first + self.again == 0 {
            return Ok(rows);
        }
        for (document, failed) in work::due(db, scope, now, self.first + self.again + self.in_flight.len())? {
            let left = if failed { &mut self.again } else { &mut self.first };
            if *left > 0
                && !self.in_flight.contains(&document)
                && let Some(job) = work::of(db, scope, document)?
            {
                *left -= 1;
                rows.push(job);
            }
        }
        Ok(rows)
    }
}
