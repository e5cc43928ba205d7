//! What an open document waits for when its own row does not say it: a pause, or one of its destinations.

use std::collections::BTreeMap;

use rusqlite::{Connection, params};

use super::pauses::{self, Pause};
use super::{Millis, QueryResult};
use crate::state::State;

/// The pauses of one moment.
pub(super) struct Waits(BTreeMap<String, Pause>);

/// Why a document waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wait {
    pub(super) reason: String,
    /// Failed attempts.
    pub(super) attempts: u32,
    /// When it is tried next.
    pub(super) until: Millis,
}

impl Waits {
    pub(super) fn read(db: &Connection) -> QueryResult<Self> {
        Ok(Self(pauses::all(db)?.into_iter().map(|pause| (pause.scope.clone(), pause)).collect()))
    }

    /// Of several things what takes longest.
    pub(super) fn of(&self, db: &Connection, id: i64, account: &str, state: &str) -> QueryResult<Option<Wait>> {
        let kind = match State::parse(state) {
            Some(State::Discovered) => "fetch",
            Some(State::Delivered | State::Failing) => "report",
            Some(State::Fetched) => return self.of_deliveries(db, id),
            _ => return Ok(None),
        };
        let paused = ["account", kind].into_iter().filter_map(|kind| self.pause(kind, account));
        Ok(paused.max_by_key(|wait| wait.until))
    }

    fn of_deliveries(&self, db: &Connection, id: i64) -> QueryResult<Option<Wait>> {
        let mut pending = db.prepare_cached(
            "SELECT destination, attempts, due_at, reason FROM delivery
             WHERE document = ?1 AND pdf = (SELECT pdf FROM document WHERE id = ?1) AND +state = 'pending'",
        )?;
        let mut rows = pending.query(params![id])?;
        let mut longest: Option<Wait> = None;
        while let Some(row) = rows.next()? {
            let (destination, attempts): (String, u32) = (row.get(0)?, row.get(1)?);
            let (due_at, reason): (Option<Millis>, Option<String>) = (row.get(2)?, row.get(3)?);
            let own = reason.zip(due_at).map(|(reason, until)| Wait { reason, attempts, until });
            let paused = self.pause("destination", &destination).map(|wait| Wait { attempts, ..wait });
            let wait = paused.or(own);
            longest = [longest, wait].into_iter().flatten().max_by_key(|wait| wait.until);
        }
        Ok(longest)
    }

    fn pause(&self, kind: &str, name: &str) -> Option<Wait> {
        let pause = self.0.get(&format!("{kind}:{name}"))?;
        Some(Wait { reason: pause.reason.clone(), attempts: 0, until: pause.probe_at })
    }
}
