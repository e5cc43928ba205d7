//! The webhooks that docsyncd registers at the API, one for each account.

use rusqlite::{Connection, params};

use super::QueryResult;
use super::columns::{Statements as _, from_row};

/// A webhook that is registered, or is about to be.
#[derive(Clone, PartialEq, Eq)]
pub struct Registration {
    /// NAME of the account.
    pub account: String,
    /// The address that the API sends to.
    pub url: String,
    /// Its identifier at the API; `None`: unknown whether the API has it.
    pub uuid: Option<String>,
    /// The secret that signs its deliveries.
    pub secret: Option<String>,
}

/// All webhooks.
pub fn all(db: &Connection) -> QueryResult<Vec<Registration>> {
    db.prepare_cached("SELECT account, url, uuid, secret FROM webhook ORDER BY account, url")?
        .query_map([], |row| Ok(from_row!(row => Registration { account, url, uuid, secret })))?
        .collect()
}

/// Forgets the secrets: the webhooks will be registered anew.
pub fn forget_secrets(db: &Connection) -> QueryResult<()> {
    db.run("UPDATE webhook SET secret = NULL WHERE secret IS NOT NULL", [])
}

/// A webhook is about to be registered: what was known of it is void.
pub fn begin(db: &Connection, account: &str, url: &str) -> QueryResult<()> {
    db.run(
        "INSERT INTO webhook (account, url) VALUES (?1, ?2)
         ON CONFLICT (account, url) DO UPDATE SET uuid = NULL, secret = NULL",
        params![account, url],
    )
}

/// The webhook is registered.
pub fn registered(db: &Connection, account: &str, url: &str, uuid: &str, secret: &str) -> QueryResult<()> {
    db.run(
        "UPDATE webhook SET uuid = ?3, secret = ?4 WHERE account = ?1 AND url = ?2",
        params![account, url, uuid, secret],
    )
}

/// The webhook is gone from the API.
pub fn removed(db: &Connection, account: &str, url: &str) -> QueryResult<()> {
    db.run("DELETE FROM webhook WHERE account = ?1 AND url = ?2", params![account, url])
}
