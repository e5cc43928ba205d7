//! Pauses: scopes that docsyncd leaves alone for a while. They survive a restart.

use rusqlite::{Connection, params};

use super::columns::{Statements as _, from_row};
use super::{Millis, QueryResult};
use crate::failure::Failure;
use crate::language::Reason;

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
    /// The document that probes the pause.
    pub candidate: Option<i64>,
    /// How often that document was tried.
    pub candidate_tries: u32,
}

impl Pause {
    /// The reason, for people of any language.
    pub fn told(&self) -> Reason {
        let name = self.scope.split_once(':').map_or("", |(_, name)| name).to_owned();
        Reason { text: self.reason.clone(), code: self.failure.as_ref().map(Failure::to_string), name, ended: false }
    }
}

/// Which work probes a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbeChoice {
    /// Work that was never tried, nor found waiting, comes first. If false, other work comes first.
    pub fresh: bool,
    /// Among fresh work, the newest comes first, not the one that waits longest.
    pub newest: bool,
    /// Among these, this document comes first if it is still due; then the one that was not tried for longest.
    pub candidate: Option<i64>,
}

/// All pauses.
///
/// # Errors
/// Any SQLite error.
pub fn all(db: &Connection) -> QueryResult<Vec<Pause>> {
    db.prepare_cached(
        "SELECT scope, failure, reason, since, attempts, probe_at, candidate, candidate_tries FROM pause ORDER BY scope",
    )?
    .query_map([], |row| {
        Ok(from_row!(row => Pause { scope, failure, reason, since, attempts, probe_at, candidate, candidate_tries }))
    })?
    .collect()
}

/// Begins or prolongs a pause.
///
/// # Errors
/// Any SQLite error.
pub fn save(db: &Connection, pause: &Pause) -> QueryResult<()> {
    db.run(
        "INSERT INTO pause (scope, reason, since, attempts, probe_at, failure, candidate, candidate_tries)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
         ON CONFLICT (scope) DO UPDATE SET reason = ?2, since = ?3, attempts = ?4, probe_at = ?5, failure = ?6,
                candidate = ?7, candidate_tries = ?8",
        params![
            pause.scope,
            pause.reason,
            pause.since,
            pause.attempts,
            pause.probe_at,
            pause.failure,
            pause.candidate,
            pause.candidate_tries
        ],
    )
}

/// Ends a pause.
///
/// # Errors
/// Any SQLite error.
pub fn clear(db: &Connection, scope: &str) -> QueryResult<()> {
    db.run("DELETE FROM pause WHERE scope = ?1", [scope])
}
