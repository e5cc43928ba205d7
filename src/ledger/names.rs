//! Names: whose letter a document is and what its files are called, so that a person finds it. This is patient data:
//! people at this computer may see it, it is never logged, it is kept for `state.keep_names`, and `docsyncd forget`
//! erases it.

use rusqlite::{Connection, params};
use serde_json::Value;

use super::columns::Statements as _;
use super::{Millis, QueryResult, documents, history, reservations};
use crate::domain::document::{DocumentUuid, Record};
use crate::domain::search::folded;
use crate::domain::state::State;

/// How many parts at the end of a place belong to the document: the file and its folder. The rest is the destination's.
const PLACE_PARTS: usize = 2;

/// Documents whose words enter the index together.
const INDEXED_AT_ONCE: i64 = 512;

fn field<'a>(record: &'a Record, name: &str) -> Option<&'a str> {
    record.get(name).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty())
}

/// The searched words of a place.
fn words_of(place: &str) -> String {
    let mut parts: Vec<&str> = place.rsplit(['/', '\\']).take(PLACE_PARTS).collect();
    parts.reverse();
    folded(&parts.join(" "))
}

/// The names that are kept of a document.
pub struct Kept {
    shown: String,
    words: String,
}

impl Kept {
    /// Takes them from what the API showed of the document and its patient.
    pub fn of(uuid: &DocumentUuid, document: &Record, patient: &Record) -> Self {
        let names = ["lastName", "firstName"].map(|name| field(patient, name));
        let shown: Vec<&str> = match names.into_iter().flatten().collect::<Vec<_>>() {
            none if none.is_empty() => field(patient, "anonymousCode").into_iter().collect(),
            names => names,
        };
        let shown = shown.join(" ");
        let mut words = vec![folded(&shown), uuid.short()];
        words.extend(field(document, "type").map(folded));
        Self { shown, words: words.join(" ") }
    }
}

/// Keeps the names of a document, and the places where it was filed before.
pub fn keep(db: &Connection, document: i64, kept: &Kept, now: Millis) -> QueryResult<()> {
    let mut words = vec![kept.words.clone()];
    let places = db
        .prepare_cached("SELECT place FROM delivery WHERE document = ?1 AND place IS NOT NULL")?
        .query_map([document], |row| row.get::<_, String>(0))?
        .map(|place| place.map(|place| words_of(&place)))
        .collect::<QueryResult<Vec<_>>>()?;
    words.extend(places);
    db.run(
        "INSERT INTO name (document, kept_at, shown, words) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (document) DO UPDATE SET kept_at = ?2, shown = ?3, words = ?4, indexed = 0",
        params![document, now, kept.shown, words.join(" ")],
    )?;
    index_now_and_then(db, document)
}

/// Keeps the names of a document that was read and waits, or failed, unless it already has names.
pub fn keep_first(db: &Connection, document: i64, kept: &Kept, now: Millis) -> QueryResult<()> {
    if kept.shown.is_empty() {
        return Ok(());
    }
    db.run(
        "INSERT INTO name (document, kept_at, shown, words) SELECT id, ?2, ?3, ?4 FROM document WHERE id = ?1
         ON CONFLICT (document) DO NOTHING",
        params![document, now, kept.shown, kept.words],
    )
}

fn index_now_and_then(db: &Connection, document: i64) -> QueryResult<()> {
    if document % INDEXED_AT_ONCE == 0 { index(db) } else { Ok(()) }
}

/// Updates the index for filed documents only: removing a document from it again costs as much as its longest list is
/// long.
pub(crate) fn index(db: &Connection) -> QueryResult<()> {
    db.run(
        "UPDATE name SET indexed = 1 WHERE document IN
         (SELECT name.document FROM name CROSS JOIN document ON document.id = name.document
          WHERE name.indexed = 0 AND document.state NOT IN ('discovered', 'fetched')
          ORDER BY name.document LIMIT ?1)",
        [2 * INDEXED_AT_ONCE],
    )
}

/// Lets a search find the document by the name of its file, if its names are kept at all.
pub fn filed_at(db: &Connection, document: i64, place: &str) -> QueryResult<()> {
    let more = "UPDATE name SET words = words || ' ' || ?2 WHERE document = ?1 AND instr(words, ?2) = 0";
    if db.change(more, params![document, words_of(place)])? > 0 {
        // Only where it changes: it is in an index.
        db.run("UPDATE name SET indexed = 0 WHERE document = ?1 AND indexed = 1", [document])?;
    }
    index_now_and_then(db, document)
}

/// Erases up to `limit` names that were kept before `before`. Returns how many there were.
pub fn prune(db: &Connection, before: Millis, limit: usize) -> QueryResult<usize> {
    db.change(
        "DELETE FROM name WHERE document IN
         (SELECT document FROM name INDEXED BY name_kept WHERE kept_at < ?1 ORDER BY kept_at LIMIT ?2)",
        params![before, limit],
    )
}

/// What became of a request to forget a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forgotten {
    /// Its names are gone.
    Done,
    /// Nothing was done: the document is still open, and needs its names.
    Open(State),
}

/// Erases the names and places of a document, and the reasons, which could quote one. Kept are its digest and that,
/// when and where it was delivered. A person's word on its patient counts for other letters, and stays.
pub fn forget(db: &Connection, id: i64, now: Millis) -> QueryResult<Option<Forgotten>> {
    let Some(state) = documents::state(db, id)? else { return Ok(None) };
    if state.is_open() {
        return Ok(Some(Forgotten::Open(state)));
    }
    for erase in [
        "DELETE FROM name WHERE document = ?1",
        "UPDATE delivery SET place = NULL, filed = NULL, number = NULL, number_refused = NULL, to_remove = NULL
         WHERE document = ?1",
        "UPDATE retry_state SET reason = NULL, reason_code = NULL WHERE document = ?1",
        "UPDATE document SET number = NULL, number_pdf = NULL,
                -- The digest of the identifier stays, and not that of the name.
                person = substr(person, 1, instr(person, '-')) WHERE id = ?1",
    ] {
        db.run(erase, [id])?;
    }
    reservations::forget(db, id)?;
    history::erase_reasons(db, id)?;
    history::append(db, (id, None), now, "forgotten", state, 0, None)?;
    Ok(Some(Forgotten::Done))
}
