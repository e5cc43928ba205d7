//! What the running daemon says of itself, for `docsyncd status` in another process.

use std::collections::BTreeMap;

use rusqlite::{Connection, params};

use super::QueryResult;

/// Writes a value.
///
/// # Errors
/// Those of SQLite.
pub fn set(db: &Connection, key: &str, value: &str) -> QueryResult<()> {
    db.prepare_cached("INSERT INTO process (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2")?
        .execute(params![key, value])
        .map(|_| ())
}

/// All values.
///
/// # Errors
/// Those of SQLite.
pub fn all(db: &Connection) -> QueryResult<BTreeMap<String, String>> {
    db.prepare_cached("SELECT key, value FROM process")?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}
