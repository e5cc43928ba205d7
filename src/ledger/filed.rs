//! Where documents were filed: kept for ever, as digests, beside what `delivery` tells people of it.

use rusqlite::{Connection, params};

use super::QueryResult;
use crate::document::DocumentUuid;
use crate::filed::{FileDigest, Filed};

/// The part of the content's SHA-256 by which rows are found; hexadecimal digits.
const CONTENT: usize = 16;

fn content(sha256: &str) -> &str {
    sha256.get(..CONTENT).unwrap_or(sha256)
}

/// What is known of files with this content, for the document with this identifier.
///
/// # Errors
/// Those of SQLite.
pub fn of(db: &Connection, sha256: &str, uuid: &DocumentUuid) -> QueryResult<Filed> {
    let mut filed = Filed::default();
    let mut statement = db.prepare_cached("SELECT file, uuid FROM filed WHERE content = ?1")?;
    let mut rows = statement.query([content(sha256)])?;
    while let Some(row) = rows.next()? {
        filed.add(FileDigest::kept(row.get(0)?), row.get_ref(1)?.as_str()? == uuid.as_str());
    }
    filed.another_waits = db
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM document WHERE sha256 = ?1 AND uuid <> ?2 AND state = 'fetched')",
        )?
        .query_row(params![sha256, uuid.as_str()], |row| row.get(0))?;
    Ok(filed)
}

/// Writes down that the document lies in this file. One that was found there, and where only other documents are known to
/// have been filed, stays theirs: then it returns false.
///
/// # Errors
/// Those of SQLite.
pub fn claim(db: &Connection, sha256: &str, uuid: &DocumentUuid, file: &FileDigest, found: bool) -> QueryResult<bool> {
    let claimed = db
        .prepare_cached(
            "INSERT INTO filed (content, file, uuid) SELECT ?1, ?2, ?3
             WHERE NOT ?4 OR NOT EXISTS (SELECT 1 FROM filed WHERE content = ?1 AND file = ?2)
                OR EXISTS (SELECT 1 FROM filed WHERE content = ?1 AND file = ?2 AND uuid = ?3)
             ON CONFLICT DO UPDATE SET uuid = ?3",
        )?
        .execute(params![content(sha256), file.as_str(), uuid.as_str(), found])?;
    Ok(claimed > 0)
}
