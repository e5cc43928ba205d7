//! Accounts: how far each one's list was read.

use rusqlite::{Connection, params};

use super::{Millis, QueryResult};

/// How the list can be walked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Walk {
    /// By key: `createdAt[gte]` works.
    Key,
    /// By page numbers, again and again: it does not.
    Pages,
}

/// What the ledger knows of an account's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// `createdAt` of the last document that a walk by key has covered, as the server printed it.
    pub cursor: Option<String>,
    /// How to walk.
    pub walk: Walk,
    /// The number of the last sweep that was begun.
    pub sweep: i64,
    /// When a sweep last ended.
    pub swept_at: Option<Millis>,
    /// Polls that failed since the last good one.
    pub poll_failed: u32,
}

/// Reads, and if need be creates, the account's row.
///
/// # Errors
/// Those of SQLite.
pub fn progress(db: &Connection, account: &str) -> QueryResult<Progress> {
    db.prepare_cached("INSERT INTO account (name) VALUES (?1) ON CONFLICT DO NOTHING")?.execute([account])?;
    db.prepare_cached("SELECT cursor, walk, sweep, swept_at, poll_failed FROM account WHERE name = ?1")?.query_row(
        [account],
        |row| {
            Ok(Progress {
                cursor: row.get(0)?,
                walk: if row.get::<_, String>(1)? == "pages" { Walk::Pages } else { Walk::Key },
                sweep: row.get(2)?,
                swept_at: row.get(3)?,
                poll_failed: row.get(4)?,
            })
        },
    )
}

/// Begins a sweep and returns its number.
///
/// # Errors
/// Those of SQLite.
pub fn begin_sweep(db: &Connection, account: &str) -> QueryResult<i64> {
    db.prepare_cached("UPDATE account SET sweep = sweep + 1 WHERE name = ?1 RETURNING sweep")?
        .query_row([account], |row| row.get(0))
}

/// Records that a sweep has ended.
///
/// # Errors
/// Those of SQLite.
pub fn end_sweep(db: &Connection, account: &str, now: Millis) -> QueryResult<()> {
    db.prepare_cached("UPDATE account SET swept_at = ?2 WHERE name = ?1")?.execute(params![account, now]).map(|_| ())
}

/// Saves the cursor; meant to share a transaction with the rows it covers.
///
/// # Errors
/// Those of SQLite.
pub fn save_cursor(db: &Connection, account: &str, cursor: &str) -> QueryResult<()> {
    db.prepare_cached("UPDATE account SET cursor = ?2 WHERE name = ?1")?.execute(params![account, cursor]).map(|_| ())
}

/// Remembers how the list can be walked. Returns whether that is news.
///
/// # Errors
/// Those of SQLite.
pub fn save_walk(db: &Connection, account: &str, walk: Walk) -> QueryResult<bool> {
    let word = if walk == Walk::Pages { "pages" } else { "key" };
    db.prepare_cached("UPDATE account SET walk = ?2 WHERE name = ?1 AND walk <> ?2")?
        .execute(params![account, word])
        .map(|changed| changed > 0)
}

/// Records how a poll ended.
///
/// # Errors
/// Those of SQLite.
pub fn polled(db: &Connection, account: &str, error: Option<&str>, now: Millis) -> QueryResult<()> {
    db.prepare_cached(
        "UPDATE account SET polled_at = CASE WHEN ?2 IS NULL THEN ?3 ELSE polled_at END,
                poll_failed = CASE WHEN ?2 IS NULL THEN 0 ELSE poll_failed + 1 END, poll_error = ?2
         WHERE name = ?1",
    )?
    .execute(params![account, error, now])
    .map(|_| ())
}
