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
    /// The number of the last poll that found anything in the list.
    pub poll: i64,
    /// Where the rereading of a list that is too long for one poll goes on; `None`: at its start.
    pub reread: Option<String>,
    /// The number of the poll at which that rereading began.
    pub reread_since: i64,
    /// When the whole list was last read.
    pub swept_at: Option<Millis>,
    /// Polls that failed since the last good one.
    pub poll_failed: u32,
}

/// Reads, and if need be creates, the account's row.
///
/// # Errors
/// Any SQLite error.
pub fn progress(db: &Connection, account: &str) -> QueryResult<Progress> {
    db.prepare_cached("INSERT INTO account (name) VALUES (?1) ON CONFLICT DO NOTHING")?.execute([account])?;
    db.prepare_cached(
        "SELECT cursor, walk, sweep, swept_at, poll_failed, reread, reread_since FROM account WHERE name = ?1",
    )?
    .query_row([account], |row| {
        Ok(Progress {
            cursor: row.get(0)?,
            walk: if row.get::<_, String>(1)? == "pages" { Walk::Pages } else { Walk::Key },
            poll: row.get(2)?,
            swept_at: row.get(3)?,
            poll_failed: row.get(4)?,
            reread: row.get(5)?,
            reread_since: row.get(6)?,
        })
    })
}

/// Keeps the number of a poll; meant to share a transaction with the first rows that are marked with it.
///
/// # Errors
/// Any SQLite error.
pub fn save_poll(db: &Connection, account: &str, number: i64) -> QueryResult<()> {
    db.prepare_cached("UPDATE account SET sweep = ?2 WHERE name = ?1 AND sweep < ?2")?
        .execute(params![account, number])
        .map(|_| ())
}

/// Saves where the rereading of a long list goes on, and the poll at which it began.
///
/// # Errors
/// Any SQLite error.
pub fn save_reread(db: &Connection, account: &str, reread: Option<&str>, since: i64) -> QueryResult<()> {
    db.prepare_cached(
        "UPDATE account SET reread = ?2, reread_since = ?3
         WHERE name = ?1 AND (reread IS NOT ?2 OR ?2 IS NOT NULL AND reread_since <> ?3)",
    )?
    .execute(params![account, reread, since])
    .map(|_| ())
}

/// Records that the whole list was read.
///
/// # Errors
/// Any SQLite error.
pub fn whole_list_read(db: &Connection, account: &str, now: Millis) -> QueryResult<()> {
    db.prepare_cached("UPDATE account SET swept_at = ?2 WHERE name = ?1")?.execute(params![account, now]).map(|_| ())
}

/// Saves the cursor; meant to share a transaction with the rows it covers.
///
/// # Errors
/// Any SQLite error.
pub fn save_cursor(db: &Connection, account: &str, cursor: &str) -> QueryResult<()> {
    db.prepare_cached("UPDATE account SET cursor = ?2 WHERE name = ?1")?.execute(params![account, cursor]).map(|_| ())
}

/// Remembers how the list can be walked. Returns whether that is news.
///
/// # Errors
/// Any SQLite error.
pub fn save_walk(db: &Connection, account: &str, walk: Walk) -> QueryResult<bool> {
    let word = if walk == Walk::Pages { "pages" } else { "key" };
    db.prepare_cached("UPDATE account SET walk = ?2 WHERE name = ?1 AND walk <> ?2")?
        .execute(params![account, word])
        .map(|changed| changed > 0)
}

/// Records how a poll ended: with an error, in words and as data, or without.
///
/// # Errors
/// Any SQLite error.
pub fn polled(db: &Connection, account: &str, error: Option<(&str, &str)>, now: Millis) -> QueryResult<()> {
    db.prepare_cached(
        "UPDATE account SET polled_at = CASE WHEN ?2 IS NULL THEN ?3 ELSE polled_at END,
                poll_failed = CASE WHEN ?2 IS NULL THEN 0 ELSE poll_failed + 1 END, poll_error = ?2, poll_code = ?4,
                poll_failing_since = CASE WHEN ?2 IS NULL THEN NULL ELSE coalesce(poll_failing_since, ?3) END
         WHERE name = ?1",
    )?
    .execute(params![account, error.map(|(text, _)| text), now, error.map(|(_, code)| code)])
    .map(|_| ())
}

/// Records when the account is polled next, for whoever looks.
///
/// # Errors
/// Any SQLite error.
pub fn next_poll(db: &Connection, account: &str, at: Millis) -> QueryResult<()> {
    db.prepare_cached("UPDATE account SET next_poll_at = ?2 WHERE name = ?1")?.execute(params![account, at]).map(|_| ())
}
