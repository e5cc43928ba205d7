//! Checks whether somebody changed or removed a row of the history in the file itself, by the chain of hashes through
//! it ([`crate::ledger::history`]).
//!
//! The chain is no signature: whoever can write the file can also make a new chain, or cut off the newest rows with
//! their effects. So an export holds the hash of the newest row, to be kept elsewhere.

use std::collections::BTreeMap;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _, Row};

use crate::domain::document::hex;
use crate::ledger::QueryResult;
use crate::ledger::history::{REMOVED, hash};

/// The newest row of the history: its number and hash.
///
/// # Errors
/// Any SQLite error.
pub fn newest(db: &Connection) -> QueryResult<Option<(i64, String)>> {
    db.query_row("SELECT id, hash FROM history ORDER BY id DESC LIMIT 1", [], |row| {
        Ok((row.get("id")?, hex(&row.get::<_, Vec<u8>>("hash")?)))
    })
    .optional()
}

/// What became of the row that an export ended with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// The row is there.
    There,
    /// The row was removed: later rows are there.
    Removed,
    /// Another row has its number, or the history ends before it.
    Gone,
}

/// Whether the history still holds the row that it once ended with.
///
/// # Errors
/// Any SQLite error.
pub fn anchor(db: &Connection, id: i64, hash: &str) -> QueryResult<Anchor> {
    let found: Option<Vec<u8>> =
        db.query_row("SELECT hash FROM history WHERE id = ?1", [id], |row| row.get(0)).optional()?;
    let newest = newest(db)?.map_or(0, |(newest, _)| newest);
    Ok(match found {
        Some(found) if hex(&found) == hash => Anchor::There,
        None if newest > id => Anchor::Removed,
        _ => Anchor::Gone,
    })
}

/// An unchanged history.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Sound {
    /// The number of existing rows.
    pub rows: u64,
    /// The number of rows that docsyncd removed itself.
    pub removed: u64,
    /// The number and the hash of the newest row.
    pub newest: Option<(i64, String)>,
}

/// The state of the check after the rows so far.
#[derive(Default)]
struct Walk {
    sound: Sound,
    last: i64,
    hash: Option<Vec<u8>>,
    missing: u64,
    /// Documents with an erased reason, each with the row that had it. The row about the request to forget comes later.
    erased: BTreeMap<Option<i64>, i64>,
}

/// Checks whether the history is unchanged. If not, says what is wrong.
///
/// # Errors
/// Any SQLite error.
pub fn verify(db: &Connection) -> QueryResult<Result<Sound, String>> {
    let mut walk = Walk::default();
    let mut statement = db.prepare(
        "SELECT id, document, at, event, state, attempt, destination, reason, code, who, seal, previous, hash
         FROM history ORDER BY id",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if let Err(wrong) = walk.step(row)? {
            return Ok(Err(wrong));
        }
    }
    if let Some(row) = walk.erased.values().next() {
        return Ok(Err(format!(
            "row {row} of the history has lost its reason, and nobody asked docsyncd to forget it"
        )));
    }
    let (missing, removed) = (walk.missing, walk.sound.removed);
    if missing != removed {
        return Ok(Err(format!(
            "{missing} rows of the history are missing, of which docsyncd removed {removed} itself (state.keep_history)"
        )));
    }
    if let Some(uuid) = ahead_of_its_history(db)? {
        return Ok(Err(format!("the history ends before what became of document {uuid}: its newest rows are missing")));
    }
    Ok(Ok(walk.sound))
}

impl Walk {
    fn step(&mut self, row: &Row<'_>) -> QueryResult<Result<(), String>> {
        let id: i64 = row.get("id")?;
        let missing = u64::try_from(id - self.last - 1).unwrap_or(0);
        self.missing += missing;
        self.last = id;
        self.sound.rows += 1;
        let expected: Vec<u8> = row.get("hash")?;
        self.sound.newest = Some((id, hex(&expected)));
        let (document, reason): (Option<i64>, Option<String>) = (row.get("document")?, row.get("reason")?);
        let seal = row.get_ref("seal")?;
        let sealed = reason.as_ref().map(|reason| hash([seal, reason.as_str().into()]));
        let said = match (&sealed, seal) {
            (Some(sealed), _) => ValueRef::Blob(sealed),
            (None, ValueRef::Null) => ValueRef::Null,
            (None, erased) => {
                self.erased.entry(document).or_insert(id);
                erased
            }
        };
        let removed: Option<Vec<u8>> = row.get("previous")?;
        if removed.is_some() && missing == 0 {
            return Ok(Err(format!("row {id} of the history says that the row before it was removed, which is there")));
        }
        let before = removed.or_else(|| self.hash.take());
        let mut values = vec![before.as_ref().map_or(ValueRef::Null, |hash| ValueRef::Blob(hash))];
        for column in ["document", "at", "event", "state", "attempt", "destination"] {
            values.push(row.get_ref(column)?);
        }
        values.extend([said, row.get_ref("who")?, row.get_ref("code")?]);
        if hash(values) != *expected {
            return Ok(Err(format!("row {id} of the history was changed, or what stood before it")));
        }
        self.hash = Some(expected);
        let event: String = row.get("event")?;
        match document {
            Some(_) if event == "forgotten" => {
                self.erased.remove(&document);
            }
            None if event == REMOVED => self.sound.removed = row.get("attempt")?,
            _ => {}
        }
        Ok(Ok(()))
    }
}

/// A document whose state differs from that of the newest row of its history.
fn ahead_of_its_history(db: &Connection) -> QueryResult<Option<String>> {
    db.query_row(
        "SELECT uuid FROM document LEFT JOIN history AS newest
             ON newest.id = (SELECT max(id) FROM history WHERE history.document = document.id)
         WHERE history_removed = 0 AND newest.state IS NOT document.state LIMIT 1",
        [],
        |row| row.get(0),
    )
    .optional()
}

#[cfg(test)]
mod tests;
