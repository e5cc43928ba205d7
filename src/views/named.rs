//! Which document a person means who types its uuid or a part of it.

use rusqlite::{Connection, params};

use crate::document::DocumentUuid;
use crate::ledger::QueryResult;
use crate::ledger::columns::Statements as _;

/// The shortest part of a uuid that names a document; characters.
pub const SHORTEST_PART: usize = 6;
/// Uuids that are shown when a part fits several.
const SHOWN: usize = 5;

/// What a text names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Named {
    /// One document, with its numbers in the ledger: one for each account that lists it.
    One(Vec<i64>),
    /// No document.
    Nothing,
    /// So many documents; the uuids of the first of them.
    Several(usize, Vec<String>),
}

/// As [`named`], where something is done to the document: a beginning of one uuid that is also another part of a second
/// one names both, because nobody can tell which of them the person has before their eyes.
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

/// The documents of whose uuid it is a part.
const ANY_PART: &str = "SELECT id, uuid FROM document INDEXED BY document_uuid
         WHERE instr(lower(uuid), lower(?1)) > 0 ORDER BY uuid COLLATE NOCASE, id";

/// The document that `text` names: by its whole uuid, else as the beginning of one, else as any part of one. Letter
/// case does not matter. A beginning goes before any other part, because that is what file names and `docsyncd list`
/// show: of a million documents some has almost any six digits somewhere.
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

/// What the rows of a query name, whose equal uuids follow one another.
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
