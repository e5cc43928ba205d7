//! Accounts: how far each one's list was read.

use rusqlite::{Connection, params};

use super::columns::Statements as _;
use super::polls::{Latest, Polls};
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
    db.run("INSERT INTO account (name) VALUES (?1) ON CONFLICT DO NOTHING", [account])?;
    let latest = Latest::read(db)?;
    db.prepare_cached(
        "SELECT cursor, walk, sweep, swept_at, poll_failed, reread, reread_since, polled_at FROM account WHERE name = ?1",
    )?
    .query_row([account], |row| {
        let recorded = Polls { polled_at: row.get("polled_at")?, next_poll_at: None, swept_at: row.get("swept_at")? };
        Ok(Progress {
            cursor: row.get("cursor")?,
            walk: if row.get::<_, String>("walk")? == "pages" { Walk::Pages } else { Walk::Key },
            poll: row.get("sweep")?,
            swept_at: latest.of(account, recorded).swept_at,
            poll_failed: row.get("poll_failed")?,
            reread: row.get("reread")?,
            reread_since: row.get("reread_since")?,
        })
    })
}

/// Keeps the number of a poll; meant to share a transaction with the first rows that are marked with it.
///
/// # Errors
/// Any SQLite error.
pub fn save_poll(db: &Connection, account: &str, number: i64) -> QueryResult<()> {
    db.run("UPDATE account SET sweep = ?2 WHERE name = ?1 AND sweep < ?2", params![account, number])
}

/// Saves where the rereading of a long list goes on, and the poll at which it began.
///
/// # Errors
/// Any SQLite error.
pub fn save_reread(db: &Connection, account: &str, reread: Option<&str>, since: i64) -> QueryResult<()> {
    db.run(
        "UPDATE account SET reread = ?2, reread_since = ?3
         WHERE name = ?1 AND (reread IS NOT ?2 OR ?2 IS NOT NULL AND reread_since <> ?3)",
        params![account, reread, since],
    )
}

/// Saves the cursor; meant to share a transaction with the rows it covers.
///
/// # Errors
/// Any SQLite error.
pub fn save_cursor(db: &Connection, account: &str, cursor: &str) -> QueryResult<()> {
    db.run("UPDATE account SET cursor = ?2 WHERE name = ?1", params![account, cursor])
}

/// Remembers how the list can be walked. Returns whether that is news.
///
/// # Errors
/// Any SQLite error.
pub fn save_walk(db: &Connection, account: &str, walk: Walk) -> QueryResult<bool> {
    let word = if walk == Walk::Pages { "pages" } else { "key" };
    db.change("UPDATE account SET walk = ?2 WHERE name = ?1 AND walk <> ?2", params![account, word])
        .map(|changed| changed > 0)
}
