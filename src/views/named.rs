//! Which document a person means by a uuid or a part of it.

use rusqlite::{Connection, params};

use crate::domain::document::DocumentUuid;
use crate::ledger::QueryResult;
use crate::ledger::columns::Statements as _;

/// The shortest part of a uuid that names a document; characters.
pub const SHORTEST_PART: usize = 6;
/// The most uuids that are shown if a part matches several.
const SHOWN: usize = 5;

/// What a text names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Named {
    /// One document, with its numbers in the ledger: several if uuids differ only in letter case.
    One(Vec<i64>),
    /// No document.
    Nothing,
    /// This many documents, with the uuids of the first of them.
    Several(usize, Vec<String>),
}

/// Like [`named`], for actions on the document: if a beginning of one uuid is also another part of a second one, it
/// names both, because nobody can tell which of them the person is looking at.
///
/// # Errors
/// Any SQLite error.
pub fn named_for_sure(db: &Connection, text: &str) -> QueryResult<Named> {
    match named(db, text)? {
        Named::One(ids) if !is_whole(db, text)? => match parts(db, ANY_PART, text)? {
            several @ Named::Several(..) => Ok(several),
            _ => Ok(Named::One(ids)),
        },
        named => Ok(named),
    }
}

fn is_whole(db: &Connection, text: &str) -> QueryResult<bool> {
    db.prepare_cached("SELECT 1 FROM document WHERE uuid = ?1 COLLATE NOCASE")?.exists([text])
}

/// The documents whose uuid contains the text.
const ANY_PART: &str = "SELECT id, uuid FROM document INDEXED BY document_uuid
         WHERE instr(lower(uuid), lower(?1)) > 0 ORDER BY uuid COLLATE NOCASE, id";

/// The document that `text` names: by its whole uuid, else by its beginning, else by any part of it. Letter case does
/// not matter. A beginning takes precedence over other parts, because file names and `docsyncd list` show it: among a
/// million documents, almost any six digits occur in some uuid.
///
/// # Errors
/// Any SQLite error.
pub fn named(db: &Connection, text: &str) -> QueryResult<Named> {
    let exact: Vec<i64> =
        db.values("SELECT id FROM document WHERE uuid = ?1 COLLATE NOCASE ORDER BY account, id", [text])?;
    if !exact.is_empty() {
        return Ok(Named::One(exact));
    }
    if text.chars().count() < SHORTEST_PART || DocumentUuid::parse(text).is_none() {
        return Ok(Named::Nothing);
    }
    let beginning = parts(
        db,
        "SELECT id, uuid FROM document
         WHERE uuid COLLATE NOCASE >= ?1 AND uuid COLLATE NOCASE < ?1 || char(127) ORDER BY uuid COLLATE NOCASE, id",
        text,
    )?;
    if beginning != Named::Nothing {
        return Ok(beginning);
    }
    parts(db, ANY_PART, text)
}

/// What the rows of a query name. Rows with the same uuid must be adjacent.
fn parts(db: &Connection, sql: &str, text: &str) -> QueryResult<Named> {
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query(params![text])?;
    let (mut ids, mut shown, mut last, mut count) = (Vec::new(), Vec::new(), String::new(), 0);
    while let Some(row) = rows.next()? {
        let uuid: String = row.get("uuid")?;
        if count == 0 || !uuid.eq_ignore_ascii_case(&last) {
            count += 1;
            if count <= SHOWN {
                shown.push(uuid.clone());
            }
            last = uuid;
        }
        if count == 1 {
            ids.push(row.get("id")?);
        }
    }
    Ok(match count {
        0 => Named::Nothing,
        1 => Named::One(ids),
        _ => Named::Several(count, shown),
    })
}
