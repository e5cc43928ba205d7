//! One look at the ledger: finds due work, and starts as much of it as there is room for.

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::Connection;
use tokio::task::{Id, JoinSet};

use super::super::failures::{Admission, ProbeChoice, Scope};
use super::super::{Pauses, Shared};
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
    let in_lane = stage.room(&context.rules.limits);
    if flights.len() >= stage.lanes().len() * (in_lane + beside(in_lane)) {
        return Ok(None);
    }
    let at = now();
    let (asks, gate_opens) = ask(&context.edges.pauses, stage.lanes(), flights, in_lane, at);
    let found = context.edges.ledger.read(move |db| {
        asks.into_iter()
            .map(|(lane, scope, wanted)| {
                let rows = wanted.rows(db, &scope, at)?;
                let nothing = wanted.probe.is_some() && rows.is_empty() && wanted.in_flight.is_empty();
                Ok((lane, wanted.probe.is_some(), nothing, rows, work::next_due(db, &scope, at)?))
            })
            .collect::<QueryResult<Vec<_>>>()
    });
    let mut wake_at = gate_opens;
    for (lane, probe, nothing, jobs, next_due) in found.await? {
        wake_at = [wake_at, next_due].into_iter().flatten().min();
        if nothing
            && next_due.is_none()
            && let Some(Lane { scope, .. }) = stage.lanes().get(lane)
        {
            context.edges.pauses.nothing_left(scope).await?;
        }
        for job in jobs {
            let key = (job.document().id, job.destination().map(str::to_owned));
            if flights.values().all(|flight| flight.key != key) {
                let again = job.tries().attempts > 0;
                start(context, stage, tasks, flights, Flight { key, lane, probe, again }, job);
            }
        }
    }
    Ok(wake_at)
}

/// What to ask the ledger for, lane by lane, and when the first pause is due for a probe.
fn ask(
    pauses: &Pauses,
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
        if account.is_some_and(|scope| pauses.paused_until(&scope).is_some()) {
            continue;
        }
        let probe = match pauses.admission(&lane.scope, at) {
            Admission::Open => None,
            Admission::Probe(wanted) => Some(wanted),
            Admission::Paused(until) => {
                opens = Some(opens.map_or(until, |earliest| earliest.min(until)));
                continue;
            }
        };
        let in_flight = flights.values().filter(|flight| flight.lane == index).map(|flight| flight.key.0).collect();
        let wanted = Wanted { probe, load: Load::of(flights, index), in_lane, limit: lane.limit, in_flight };
        asks.push((index, lane.scope.clone(), wanted));
    }
    (asks, opens)
}

/// What a lane wants, and what it has room for. Only so much is read in full. Work in flight is still due, but is not
/// read again.
struct Wanted {
    /// If set, one job to probe a pause with, and nothing else.
    probe: Option<ProbeChoice>,
    load: Load,
    in_lane: usize,
    /// As in [`Lane`].
    limit: Option<usize>,
    in_flight: Vec<i64>,
}

impl Wanted {
    fn rows(&self, db: &Connection, scope: &Scope, now: Millis) -> QueryResult<Vec<Work>> {
        let with = |load: Load, again| Some(load.and(again)).filter(|load| load.fits(self.in_lane, self.limit));
        if let Some(by) = self.probe {
            let probe = work::probe(db, scope, now, by, &self.in_flight)?;
            return Ok(probe.into_iter().filter(|job| with(self.load, job.tries().attempts > 0).is_some()).collect());
        }
        let (mut load, mut rows) = (self.load, Vec::new());
        if with(load, true).is_none() && with(load, false).is_none() {
            return Ok(rows);
        }
        for (document, failed) in work::due(db, scope, now, self.in_lane + beside(self.in_lane))? {
            if !self.in_flight.contains(&document)
                && let Some(with_it) = with(load, failed)
                && let Some(job) = work::of(db, scope, document)?
            {
                load = with_it;
                rows.push(job);
            }
        }
        Ok(rows)
    }
}
