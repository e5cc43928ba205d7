//! Pauses: accounts, sources and destinations that are left alone for a while, kept over a restart.

use rusqlite::{Connection, params};

use super::{Millis, QueryResult};

/// One pause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pause {
    /// What is paused.
    pub scope: String,
    /// The kind of failure that caused it.
    pub class: String,
    /// Why.
    pub reason: String,
    /// Since when.
    pub since: Millis,
    /// Probes that failed, and the failure that began it.
    pub attempts: u32,
    /// When it is tried again.
    pub probe_at: Millis,
}

/// All pauses.
///
/// # Errors
/// Those of SQLite.
pub fn all(db: &Connection) -> QueryResult<Vec<Pause>> {
    db.prepare_cached("SELECT scope, reason, since, attempts, probe_at, class FROM pause ORDER BY scope")?
        .query_map([], |row| {
            Ok(Pause {
                scope: row.get(0)?,
                reason: row.get(1)?,
                since: row.get(2)?,
                attempts: row.get(3)?,
                probe_at: row.get(4)?,
                class: row.get(5)?,
            })
        })?
        .collect()
}

/// Begins or prolongs a pause.
///
/// # Errors
/// Those of SQLite.
pub fn save(db: &Connection, pause: &Pause) -> QueryResult<()> {
    db.prepare_cached(
        "INSERT INTO pause (scope, reason, since, attempts, probe_at, class) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (scope) DO UPDATE SET reason = ?2, attempts = ?4, probe_at = ?5, class = ?6",
    )?
    .execute(params![pause.scope, pause.reason, pause.since, pause.attempts, pause.probe_at, pause.class])
    .map(|_| ())
}

/// Ends a pause.
///
/// # Errors
/// Those of SQLite.
pub fn clear(db: &Connection, scope: &str) -> QueryResult<()> {
    db.prepare_cached("DELETE FROM pause WHERE scope = ?1")?.execute([scope]).map(|_| ())
}
