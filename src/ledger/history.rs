//! The history: a row for every transition, never changed afterwards.

use rusqlite::{Connection, params};

use super::{Millis, QueryResult};
use crate::state::State;

/// Appends a row. `attempt` counts the failed attempts so far; `reason` must be free of patient data, as everywhere.
///
/// # Errors
/// Those of SQLite.
#[expect(clippy::too_many_arguments, reason = "a row of seven columns; a struct would only repeat their names")]
pub(super) fn append(
    db: &Connection,
    document: i64,
    now: Millis,
    event: &str,
    state: State,
    attempt: u32,
    destination: Option<&str>,
    reason: Option<&str>,
) -> QueryResult<()> {
    db.prepare_cached(
        "INSERT INTO history (document, at, event, state, attempt, destination, reason) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute(params![document, now, event, state.as_str(), attempt, destination, reason])
    .map(|_| ())
}
