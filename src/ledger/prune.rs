//! Pruning: the history of documents that ended long ago is removed, their identity stays.
//!
//! Removed is what only people read: the rows of history, and the places of the files, whose names may hold patient
//! data. What promise 3 needs stays for ever: that the document is known and how it ended, whether it is still listed,
//! which PDF it had, and which destinations hold it. So a document that merely stays listed is still left alone, and
//! one that comes back is still recognised. Failed documents keep everything, for a person to read.

use rusqlite::{Connection, params};

use super::columns::Statements as _;
use super::{Millis, QueryResult, history, reservations};

/// Removes the history of up to `limit` documents that ended before `before`, and up to as many rows about
/// administrators' actions before then. Returns the number of documents.
pub fn remove_history(db: &Connection, before: Millis, limit: usize, now: Millis) -> QueryResult<usize> {
    let ended: Vec<i64> = db.values(
        "SELECT id FROM document INDEXED BY document_to_prune
         WHERE state IN ('reported', 'withdrawn') AND history_removed = 0 AND changed_at < ?1
         ORDER BY changed_at LIMIT ?2",
        params![before, limit],
    )?;
    let mut rows = history::actions(db, before, limit)?;
    for id in &ended {
        rows.extend(history::of_document(db, *id)?);
        db.run("UPDATE delivery SET place = NULL, filed = NULL, number = NULL WHERE document = ?1", [id])?;
        reservations::forget(db, *id)?;
        db.run("UPDATE document SET history_removed = 1, number = NULL, number_pdf = NULL WHERE id = ?1", [id])?;
    }
    history::remove(db, now, rows)?;
    Ok(ended.len())
}

/// Gives up to `pages` empty pages back to the file system, but keeps `reserve` of them for the next writes. Returns
/// whether there are more; always false if the ledger's file cannot shrink.
pub fn give_back(db: &Connection, pages: u32, reserve: u32) -> QueryResult<bool> {
    let number = |pragma: &str| db.pragma_query_value(None, pragma, |row| row.get::<_, u32>(0));
    let spare = number("freelist_count")?.saturating_sub(reserve);
    if spare == 0 || number("auto_vacuum")? != INCREMENTAL {
        return Ok(false);
    }
    // Each step frees a page.
    let mut vacuum = db.prepare(&format!("PRAGMA incremental_vacuum({})", spare.min(pages)))?;
    let mut steps = vacuum.query([])?;
    while steps.next()?.is_some() {}
    Ok(spare > pages)
}

/// The value of `PRAGMA auto_vacuum` that lets a file shrink on request (SQLite, "PRAGMA auto_vacuum").
pub(super) const INCREMENTAL: u32 = 2;
