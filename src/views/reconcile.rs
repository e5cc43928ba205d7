//! What `docsyncd reconcile` compares: the ledger's letters, in batches.

use std::collections::{BTreeMap, HashSet};

use rusqlite::{Connection, Row, params};

use crate::domain::document::{DocumentUuid, Version};
use crate::domain::state::State;
use crate::ledger::columns::{Statements as _, from_row};
use crate::ledger::{Millis, QueryResult};

/// A letter.
pub struct Letter {
    /// The ledger's number of it.
    pub id: i64,
    /// Its identifier.
    pub uuid: DocumentUuid,
    /// The account that lists it.
    pub account: String,
    /// Its state.
    pub state: State,
    /// The PDF of the current version.
    pub pdf: String,
    /// When docsyncd first saw it.
    pub found_at: Millis,
    /// When anything about it last changed.
    pub changed_at: Millis,
}

impl TryFrom<&Row<'_>> for Letter {
    type Error = rusqlite::Error;

    fn try_from(row: &Row<'_>) -> QueryResult<Self> {
        Ok(from_row!(row => Letter { id, uuid, account, state, pdf, found_at, changed_at }))
    }
}

/// A letter at a destination. Holds patient data, so it has no `Debug`.
pub struct Delivered {
    /// The ledger's number of the letter.
    pub document: i64,
    /// Its current version.
    pub version: Version,
    /// The letter's place; `None` if that was erased, or if the destination's software took the letter away.
    pub place: Option<String>,
    /// Bytes of its PDF.
    pub size: u64,
    /// SHA-256 of its PDF.
    pub sha256: String,
}

impl TryFrom<&Row<'_>> for Delivered {
    type Error = rusqlite::Error;

    fn try_from(row: &Row<'_>) -> QueryResult<Self> {
        let version = Version { account: row.get("account")?, uuid: row.get("uuid")?, pdf: row.get("pdf")? };
        Ok(from_row!(row => Delivered { document, place, size, sha256; version: version }))
    }
}

/// The numbers of the open letters that were found at or after `since`.
///
/// # Errors
/// Any SQLite error.
pub fn open(db: &Connection, since: Millis) -> QueryResult<HashSet<i64>> {
    db.values(
        "SELECT id FROM document INDEXED BY document_open
         WHERE due_at IS NOT NULL AND found_at >= ?1",
        [since],
    )
}

/// The letter with this uuid.
///
/// # Errors
/// Any SQLite error.
pub fn letter(db: &Connection, uuid: &DocumentUuid) -> QueryResult<Option<Letter>> {
    let found: Vec<Letter> = db.rows(
        "SELECT id, uuid, account, state, pdf, found_at, changed_at FROM document WHERE uuid = ?1 COLLATE NOCASE",
        [uuid.as_str()],
    )?;
    Ok(found.into_iter().find(|letter| letter.uuid == *uuid))
}

/// The letter with this number.
///
/// # Errors
/// Any SQLite error.
pub fn by_number(db: &Connection, id: i64) -> QueryResult<Option<Letter>> {
    db.maybe("SELECT id, uuid, account, state, pdf, found_at, changed_at FROM document WHERE id = ?1", [id])
}

/// The number of letters that each destination has; every version counts.
///
/// # Errors
/// Any SQLite error.
pub fn counts(db: &Connection) -> QueryResult<BTreeMap<String, u64>> {
    db.rows("SELECT destination, count(*) FROM delivery WHERE state = 'delivered' GROUP BY destination", [])
}

/// Up to `limit` letters whose current version the destination has, with numbers above `after`, the lowest first. Only
/// letters that were found at or after `since`.
///
/// # Errors
/// Any SQLite error.
pub fn delivered(
    db: &Connection,
    destination: &str,
    after: i64,
    since: Millis,
    limit: usize,
) -> QueryResult<Vec<Delivered>> {
    db.rows(
        "SELECT delivery.document AS document, document.account AS account, document.uuid AS uuid, document.pdf AS pdf,
                CASE WHEN delivery.proof IN ('taken', 'moved') THEN NULL ELSE delivery.place END AS place,
                document.size AS size, document.sha256 AS sha256
         FROM delivery JOIN document ON document.id = delivery.document AND document.pdf = delivery.pdf
         WHERE delivery.document > ?2 AND delivery.destination = ?1 AND +delivery.state = 'delivered'
           AND document.found_at >= ?3 AND document.size IS NOT NULL AND document.sha256 IS NOT NULL
         ORDER BY delivery.document LIMIT ?4",
        params![destination, after, since, limit],
    )
}
