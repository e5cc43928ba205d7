//! Pauses: scopes that docsyncd leaves alone for a while. They survive a restart.

use rusqlite::{Connection, params};

use super::columns::{Statements as _, from_row};
use super::{Millis, QueryResult};
use crate::domain::failure::{Failure, Scope};
use crate::formats::language::Reason;

/// One pause.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pause {
    /// The paused scope.
    pub scope: String,
    /// The failure that caused it.
    pub failure: Option<Failure>,
    /// Why.
    pub reason: String,
    /// Since when.
    pub since: Millis,
    /// The failure that began the pause, plus the failed probes.
    pub attempts: u32,
    /// When the next probe is due.
    pub probe_at: Millis,
}

impl Pause {
    /// The reason, for people of any language.
    pub fn told(&self) -> Reason {
        let name = self.scope.split_once(':').map_or("", |(_, name)| name).to_owned();
        Reason { text: self.reason.clone(), code: self.failure.as_ref().map(Failure::to_string), name, ended: false }
    }
}

/// Which due work probes a pause. If there is none of that kind, any other work does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbeChoice {
    /// The newest work that was never tried, nor found waiting: the oldest may be many bad documents.
    Fresh,
    /// The oldest of those with the fewest attempts among the others, which is the same each time, as a pause spends no
    /// attempts: a server may fail the first tries of each document.
    Same,
    /// What was not tried for longest.
    Longest,
}

/// All pauses.
pub fn all(db: &Connection) -> QueryResult<Vec<Pause>> {
    db.prepare_cached("SELECT scope, failure, reason, since, attempts, probe_at FROM pause ORDER BY scope")?
        .query_map([], |row| Ok(from_row!(row => Pause { scope, failure, reason, since, attempts, probe_at })))?
        .collect()
}

/// Begins or prolongs a pause.
pub fn save(db: &Connection, pause: &Pause) -> QueryResult<()> {
    db.run(
        "INSERT INTO pause (scope, reason, since, attempts, probe_at, failure) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (scope) DO UPDATE SET reason = ?2, since = ?3, attempts = ?4, probe_at = ?5, failure = ?6",
        params![pause.scope, pause.reason, pause.since, pause.attempts, pause.probe_at, pause.failure],
    )
}

/// Ends a pause. What works is not away either; the next look says so if it is.
pub fn clear(db: &Connection, scope: &str) -> QueryResult<()> {
    if let Some(Scope::Destination(name)) = Scope::parse(scope) {
        super::away::forget(db, &name)?;
    }
    db.run("DELETE FROM pause WHERE scope = ?1", [scope])
}
