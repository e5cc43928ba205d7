//! Accounts: how far each account's list was read.

use rusqlite::{Connection, params};

use super::QueryResult;
use super::columns::Statements as _;

/// Where the reading of a list that is too long for one poll continues: the number of the page, and the number of the
/// poll that began the reading.
pub type Cursor = (usize, i64);

/// What the ledger knows of an account's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// `None`: the next poll begins at the first page.
    pub cursor: Option<Cursor>,
    /// The number of the last poll that found a document in the list.
    pub poll: i64,
    /// Failed polls since the last good one.
    pub poll_failed: u32,
}

/// Reads the account's row. Creates it if there is none.
pub fn progress(db: &Connection, account: &str) -> QueryResult<Progress> {
    db.run("INSERT INTO account (name) VALUES (?1) ON CONFLICT DO NOTHING", [account])?;
    db.prepare_cached("SELECT cursor, cursor_since, sweep, poll_failed FROM account WHERE name = ?1")?.query_row(
        [account],
        |row| {
            let page: Option<u32> = row.get("cursor")?;
            let page = page.and_then(|page| usize::try_from(page).ok()).filter(|page| *page > 0);
            Ok(Progress {
                cursor: page.zip(row.get("cursor_since")?),
                poll: row.get("sweep")?,
                poll_failed: row.get("poll_failed")?,
            })
        },
    )
}

/// Saves the number of a poll; meant to share a transaction with the first rows that are marked with it.
pub fn save_poll(db: &Connection, account: &str, number: i64) -> QueryResult<()> {
    db.run("UPDATE account SET sweep = ?2 WHERE name = ?1 AND sweep < ?2", params![account, number])
}

/// Saves the cursor; meant to share a transaction with the rows that it covers. `None`: the end of the list was
/// reached.
pub fn save_cursor(db: &Connection, account: &str, cursor: Option<Cursor>) -> QueryResult<()> {
    let (page, since) = cursor.unzip();
    db.run(
        "UPDATE account SET cursor = ?2, cursor_since = ?3 WHERE name = ?1 AND cursor IS NOT ?2",
        params![account, page, since],
    )
}
