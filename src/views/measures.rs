//! What `/metrics` reads from the ledger: nothing that takes longer as the ledger grows, and nothing about a patient.

use rusqlite::{Connection, params};

use super::facts;
use crate::domain::state::State;
use crate::ledger::away;
use crate::ledger::columns::{Statements as _, as_json};
use crate::ledger::pauses::Pause;
use crate::ledger::polls::{Latest, Polls};
use crate::ledger::{Millis, QueryResult, now};

/// An account's list and backlog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountMeasure {
    /// NAME.
    pub account: String,
    /// When its list was last read without an error.
    pub polled_at: Option<Millis>,
    /// When the open document that waits longest was found; `None` if none waits.
    pub oldest_at: Option<Millis>,
    /// Documents whose patient a person has to assign.
    pub needs_person: u64,
    /// Documents that count once a destination's software has them.
    pub to_confirm: u64,
}

/// Measures of the ledger, all from one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measures {
    /// The number of documents by account and state.
    pub counts: Vec<(String, State, u64)>,
    /// By account.
    pub accounts: Vec<AccountMeasure>,
    /// The pauses.
    pub pauses: Vec<Pause>,
    /// The length of the ledger's file; bytes.
    pub ledger_bytes: u64,
}

/// Reads the measures.
///
/// # Errors
/// Any SQLite error.
pub fn read(db: &Connection) -> QueryResult<Measures> {
    let counts = db.rows("SELECT account, state, documents FROM account_count", [])?;
    let polled: Vec<(String, Option<Millis>)> = db.rows("SELECT name, polled_at FROM account ORDER BY name", [])?;
    let latest = Latest::read(db)?;
    let accounts = polled
        .into_iter()
        .map(|(account, polled_at)| {
            let Polls { polled_at, .. } = latest.of(&account, Polls { polled_at, ..Polls::default() });
            let oldest_at = oldest(db, &account)?;
            let only = as_json(std::slice::from_ref(&account));
            let needs_person = facts::unmatched(db, Some(&only), now())?.count;
            let to_confirm = facts::to_confirm(db, Some(&only))?;
            Ok(AccountMeasure { account, polled_at, oldest_at, needs_person, to_confirm })
        })
        .collect::<QueryResult<_>>()?;
    let ledger_bytes = db
        .prepare_cached("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()")?
        .query_row([], |row| row.get(0))?;
    Ok(Measures { counts, accounts, pauses: away::pauses(db)?, ledger_bytes })
}

/// When the account's open document that waits longest was found.
///
/// # Errors
/// Any SQLite error.
pub fn oldest(db: &Connection, account: &str) -> QueryResult<Option<Millis>> {
    db.prepare_cached(
        "SELECT min(found_at) FROM document INDEXED BY document_open
         WHERE account = ?1 AND state IN ('discovered', 'fetched', 'delivered', 'failing') AND due_at IS NOT NULL",
    )?
    .query_row(params![account], |row| row.get(0))
}

/// A number that changes with every write (SQLite, "PRAGMA data_version"). It costs nothing, and another connection
/// must not compare it with its own.
///
/// # Errors
/// Any SQLite error.
pub fn version(db: &Connection) -> QueryResult<i64> {
    db.pragma_query_value(None, "data_version", |row| row.get(0))
}
