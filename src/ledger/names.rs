//! Names: whose letter a document is and what its files are called, so that a person finds it. Patient data: it is shown to
//! whoever asks at this computer, never logged, kept for `state.keep_names`, and erased by `docsyncd forget`.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use rusqlite::{Connection, OptionalExtension as _, params};
use serde::Serialize;
use serde_json::Value;

use super::view::time;
use super::{Millis, QueryResult, history};
use crate::document::{DocumentUuid, Metadata};
use crate::search::{folded, has_beginning};
use crate::state::State;

/// The parts of a place, from its end, that belong to the document: the file and its folder. The rest is the destination's.
const PLACE_PARTS: usize = 2;

/// Whether a document was first seen in this time.
const IS_SEEN: &str = "SELECT 1 FROM document WHERE id = ?1 AND found_at BETWEEN ?2 AND ?3";

/// Documents whose words are brought into the index together.
const INDEXED_AT_ONCE: i64 = 512;

fn field<'a>(record: &'a crate::document::Record, name: &str) -> Option<&'a str> {
    record.get(name).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty())
}

/// What is searched of a place.
fn words_of(place: &str) -> String {
    let mut parts: Vec<&str> = place.rsplit(['/', '\\']).take(PLACE_PARTS).collect();
    parts.reverse();
    folded(&parts.join(" "))
}

/// What is kept of a document's names when it was fetched.
pub struct Kept {
    shown: String,
    words: String,
}

impl Kept {
    /// From what the API showed.
    pub fn of(uuid: &DocumentUuid, metadata: &Metadata) -> Self {
        let patient = ["lastName", "firstName"].map(|name| field(&metadata.patient, name));
        let shown: Vec<&str> = match patient.into_iter().flatten().collect::<Vec<_>>() {
            none if none.is_empty() => field(&metadata.patient, "anonymousCode").into_iter().collect(),
            names => names,
        };
        let shown = shown.join(" ");
        let mut words = vec![folded(&shown), uuid.short()];
        words.extend(metadata.document_type().map(folded));
        Self { shown, words: words.join(" ") }
    }
}

/// Keeps the names of a document, with the places where it was filed before.
///
/// # Errors
/// Any SQLite error.
pub fn keep(db: &Connection, document: i64, kept: &Kept, now: Millis) -> QueryResult<()> {
    let mut words = vec![kept.words.clone()];
    let places = db
        .prepare_cached("SELECT place FROM delivery WHERE document = ?1 AND place IS NOT NULL")?
        .query_map([document], |row| row.get::<_, String>(0))?
        .map(|place| place.map(|place| words_of(&place)))
        .collect::<QueryResult<Vec<_>>>()?;
    words.extend(places);
    db.prepare_cached(
        "INSERT INTO name (document, kept_at, shown, words) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (document) DO UPDATE SET kept_at = ?2, shown = ?3, words = ?4, indexed = 0",
    )?
    .execute(params![document, now, kept.shown, words.join(" ")])?;
    if document % INDEXED_AT_ONCE == 0 { index(db, document - INDEXED_AT_ONCE) } else { Ok(()) }
}

/// Brings the index up to date for documents before this one, most of which are filed by now.
pub(super) fn index(db: &Connection, before: i64) -> QueryResult<()> {
    db.prepare_cached(
        "UPDATE name SET indexed = 1 WHERE document IN
             (SELECT document FROM name WHERE indexed = 0 AND document < ?1 ORDER BY document LIMIT ?2)",
    )?
    .execute([before, 2 * INDEXED_AT_ONCE])
    .map(drop)
}

/// Makes the document be found by the name of its file, if its names are kept at all.
///
/// # Errors
/// Any SQLite error.
pub fn filed_at(db: &Connection, document: i64, place: &str) -> QueryResult<()> {
    db.prepare_cached(
        "UPDATE name SET words = words || ' ' || ?2, indexed = 0 WHERE document = ?1 AND instr(words, ?2) = 0",
    )?
    .execute(params![document, words_of(place)])
    .map(drop)
}

/// Erases up to `limit` names that were kept before `before`. Returns how many there were.
///
/// # Errors
/// Any SQLite error.
pub fn prune(db: &Connection, before: Millis, limit: usize) -> QueryResult<usize> {
    db.prepare_cached(
        "DELETE FROM name WHERE document IN
             (SELECT document FROM name INDEXED BY name_kept WHERE kept_at < ?1 ORDER BY kept_at LIMIT ?2)",
    )?
    .execute(params![before, limit])
}

/// What became of a document that a person wants forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forgotten {
    /// Its names are gone.
    Done,
    /// Nothing was done: it is still being worked on, and needs its names for that.
    Open(State),
}

/// Erases the names and places that are kept of a document, and the reasons, which could quote one. That it was delivered,
/// when, where to, and its digest stay.
///
/// # Errors
/// Any SQLite error.
pub fn forget(db: &Connection, id: i64, now: Millis) -> QueryResult<Option<Forgotten>> {
    let state: Option<String> =
        db.prepare_cached("SELECT state FROM document WHERE id = ?1")?.query_row([id], |row| row.get(0)).optional()?;
    let Some(state) = state.and_then(|state| State::parse(&state)) else { return Ok(None) };
    if state.is_open() {
        return Ok(Some(Forgotten::Open(state)));
    }
    for erase in [
        "DELETE FROM name WHERE document = ?1",
        "UPDATE delivery SET place = NULL, reason = NULL, reason_code = NULL WHERE document = ?1",
        "UPDATE document SET metadata = NULL, reason = NULL, reason_code = NULL WHERE id = ?1",
    ] {
        db.prepare_cached(erase)?.execute([id])?;
    }
    history::erase_reasons(db, id)?;
    history::append(db, id, now, "forgotten", state, 0, None, None)?;
    Ok(Some(Forgotten::Done))
}

/// Where a found document lies.
#[derive(Debug, Clone, Serialize)]
pub struct PlaceView {
    /// NAME of the destination.
    pub destination: String,
    /// The file.
    pub place: String,
}

/// One document in `find`. Holds patient data.
#[derive(Debug, Serialize)]
pub struct FoundView {
    /// Its identifier.
    pub uuid: String,
    /// The account that lists it.
    pub account: String,
    /// `document.type`
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Where it stands.
    pub state: String,
    /// `createdAt` as the API printed it.
    pub created_at: String,
    /// When docsyncd first saw it.
    pub found_at: Option<String>,
    /// When anything about it last changed.
    pub changed_at: Option<String>,
    /// The patient's name; null when it is not kept.
    pub name: Option<String>,
    /// Where it was filed, as far as it is kept.
    pub places: Vec<PlaceView>,
}

/// The newest `limit` documents, first seen in this time, in which all of these words are found: the beginnings of words in the patient's
/// name, the type, the name of a file, and the uuid; only when that finds none, any part of these, among the newest
/// 100,000. `words` are folded.
///
/// # Errors
/// Any SQLite error.
pub fn find(
    db: &Connection,
    words: &[String],
    seen: RangeInclusive<Millis>,
    limit: usize,
) -> QueryResult<Vec<FoundView>> {
    let Some(numbers) = numbers(db, &seen)? else { return Ok(Vec::new()) };
    let mut ids = by_uuid(db, words, &seen, limit)?;
    ids.extend(by_beginnings(db, words, &seen, &numbers, limit)?);
    if ids.is_empty() {
        ids.extend(by_parts(db, words, &seen, &numbers, limit)?);
    }
    // The short uuid of a file's name is the end of one, and known also where no names are kept.
    if let (true, [short]) = (ids.is_empty(), words) {
        let mut of_short = db.prepare_cached(
            "SELECT id FROM document WHERE substr(uuid, -8) = ?1 COLLATE NOCASE AND +found_at BETWEEN ?2 AND ?3 LIMIT ?4",
        )?;
        let mut rows = of_short.query(params![short, seen.start(), seen.end(), limit])?;
        while let Some(row) = rows.next()? {
            ids.insert(row.get(0)?);
        }
    }
    ids.into_iter().rev().take(limit).map(|id| found(db, id)).collect()
}

/// Documents that a clock may have mixed up.
const MIXED_UP: usize = 1000;

/// The documents of this time lie between these numbers, and few others do: numbers are given as time passes, and what a clock mixed up that
/// was set is looked for at both ends. `None`: there are none.
fn numbers(db: &Connection, seen: &RangeInclusive<Millis>) -> QueryResult<Option<RangeInclusive<i64>>> {
    if *seen.start() <= 0 && *seen.end() == Millis::MAX {
        return Ok(Some(0..=i64::MAX));
    }
    let end = |first_or_last: &str, order: &str| {
        db.prepare_cached(&format!(
            "SELECT {first_or_last}(id) FROM (SELECT id FROM document INDEXED BY document_found
             WHERE found_at BETWEEN ?1 AND ?2 ORDER BY found_at {order} LIMIT {MIXED_UP})"
        ))?
        .query_row([seen.start(), seen.end()], |row| row.get::<_, Option<i64>>(0))
    };
    Ok(end("min", "ASC")?.zip(end("max", "DESC")?).map(|(first, last)| first..=last))
}

/// A single word may be a uuid, which is known of every document, whatever is kept of its names.
fn by_uuid(
    db: &Connection,
    words: &[String],
    seen: &RangeInclusive<Millis>,
    limit: usize,
) -> QueryResult<BTreeSet<i64>> {
    match words {
        [uuid] if uuid.len() >= super::named::SHORTEST_PART => db
            .prepare_cached(
                "SELECT id FROM document WHERE uuid COLLATE NOCASE >= ?1 AND uuid COLLATE NOCASE < ?1 || char(127)
                   AND +found_at BETWEEN ?2 AND ?4 LIMIT ?3",
            )?
            .query_map(params![uuid, seen.start(), limit, seen.end()], |row| row.get(0))?
            .collect(),
        _ => Ok(BTreeSet::new()),
    }
}

fn by_beginnings(
    db: &Connection,
    words: &[String],
    seen: &RangeInclusive<Millis>,
    numbers: &RangeInclusive<i64>,
    limit: usize,
) -> QueryResult<BTreeSet<i64>> {
    let mut found = not_indexed(db, words, seen)?;
    // In quotes a word is no operator of the search, and its punctuation parts it into words that follow one another.
    let query: Vec<String> = words.iter().map(|word| format!("\"{}\"*", word.replace('"', "\"\""))).collect();
    let mut statement = db.prepare_cached(
        "SELECT name_word.rowid FROM name_word CROSS JOIN document ON document.id = name_word.rowid
         WHERE name_word MATCH ?1 AND name_word.rowid BETWEEN ?5 AND ?6 AND document.found_at BETWEEN ?2 AND ?4
         ORDER BY name_word.rowid DESC LIMIT ?3",
    )?;
    let (first, last) = (numbers.start(), numbers.end());
    let mut rows = statement.query(params![query.join(" "), seen.start(), limit, seen.end(), first, last])?;
    while let Some(row) = rows.next()? {
        found.insert(row.get(0)?);
    }
    Ok(found)
}

/// Of the few that the index does not have yet.
fn not_indexed(db: &Connection, words: &[String], seen: &RangeInclusive<Millis>) -> QueryResult<BTreeSet<i64>> {
    let mut statement = db.prepare_cached(
        "SELECT name.document, name.words FROM name CROSS JOIN document ON document.id = name.document
         WHERE name.indexed = 0 AND document.found_at BETWEEN ?1 AND ?2",
    )?;
    let mut rows = statement.query([seen.start(), seen.end()])?;
    let mut found = BTreeSet::new();
    while let Some(row) = rows.next()? {
        let kept = row.get_ref(1)?.as_str()?;
        if words.iter().all(|word| has_beginning(kept, word)) {
            found.insert(row.get(0)?);
        }
    }
    Ok(found)
}

/// The newest names in which parts of words are looked for, which no index knows: years of a practice, and some hundredths of a second.
const MOST_PARTS: usize = 100_000;

fn by_parts(
    db: &Connection,
    words: &[String],
    seen: &RangeInclusive<Millis>,
    numbers: &RangeInclusive<i64>,
    limit: usize,
) -> QueryResult<Vec<i64>> {
    let mut statement = db.prepare_cached(
        "SELECT document, words FROM name WHERE document BETWEEN ?2 AND ?3 ORDER BY document DESC LIMIT ?1",
    )?;
    let mut is_seen = db.prepare_cached(IS_SEEN)?;
    let mut rows = statement.query(params![MOST_PARTS, numbers.start(), numbers.end()])?;
    let mut ids = Vec::new();
    while let Some(row) = rows.next()? {
        let kept = row.get_ref(1)?.as_str()?;
        if words.iter().all(|word| kept.contains(word.as_str()))
            && is_seen.exists(params![row.get::<_, i64>(0)?, seen.start(), seen.end()])?
        {
            ids.push(row.get(0)?);
            if ids.len() >= limit {
                break;
            }
        }
    }
    Ok(ids)
}

fn found(db: &Connection, id: i64) -> QueryResult<FoundView> {
    let places = db
        .prepare_cached(
            "SELECT destination, place FROM delivery WHERE document = ?1 AND place IS NOT NULL
             ORDER BY changed_at, destination",
        )?
        .query_map([id], |row| Ok(PlaceView { destination: row.get(0)?, place: row.get(1)? }))?
        .collect::<QueryResult<_>>()?;
    db.prepare_cached(
        "SELECT uuid, account, kind, state, created_at, found_at, changed_at,
                (SELECT nullif(shown, '') FROM name WHERE name.document = document.id)
         FROM document WHERE id = ?1",
    )?
    .query_row([id], |row| {
        Ok(FoundView {
            uuid: row.get(0)?,
            account: row.get(1)?,
            kind: row.get(2)?,
            state: row.get(3)?,
            created_at: row.get(4)?,
            found_at: time(row.get(5)?),
            changed_at: time(row.get(6)?),
            name: row.get(7)?,
            places,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What finds nothing costs the same whatever the ledger holds.
    #[test]
    fn parts_of_words_are_looked_for_in_the_newest_names_and_beginnings_in_all() {
        let db = crate::ledger::open::bring_up_to_date(
            std::path::Path::new(":memory:"),
            Connection::open_in_memory().unwrap(),
        )
        .unwrap();
        let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)";
        let count = i64::try_from(MOST_PARTS).unwrap() + 1;
        for insert in [
            "INSERT INTO document (id, account, uuid, created_at, state, found_at, changed_at)
             SELECT i, 'main', 'document-' || i, '2026', 'reported', 1, 1 FROM n",
            "INSERT INTO name (document, kept_at, shown, words, indexed)
             SELECT i, 1, '', CASE i WHEN 1 THEN 'durand' WHEN 2 THEN 'martin' ELSE 'x' END, 0 FROM n",
        ] {
            db.execute(&format!("{numbers} {insert}"), [count]).unwrap();
        }
        let found = |word: &str| find(&db, &[word.to_owned()], 0..=Millis::MAX, 9).unwrap().len();
        assert_eq!([found("durand"), found("martin"), found("urand"), found("artin")], [1, 1, 0, 1]);
        db.execute("UPDATE document SET uuid = 'letters-0000-4000-8000-00000000cafe' WHERE id = 1", []).unwrap();
        assert_eq!([found("letters-0000"), found("0000cafe"), found("tters-00")], [1, 1, 0]);
    }

    #[test]
    fn what_is_in_the_index_hides_nothing_that_is_not_there_yet() {
        let db = crate::ledger::open::bring_up_to_date(
            std::path::Path::new(":memory:"),
            Connection::open_in_memory().unwrap(),
        )
        .unwrap();
        for (id, words) in [(1, "durand zoe letter"), (2, "durand paul letter"), (3, "martin zoe letter")] {
            db.execute(
                "INSERT INTO document (id, account, uuid, created_at, state, found_at, changed_at)
                 VALUES (?1, 'main', 'document-' || ?1, '2026', 'reported', 1, 1)",
                [id],
            )
            .unwrap();
            db.execute("INSERT INTO name (document, kept_at, shown, words) VALUES (?1, 1, ?2, ?2)", params![id, words])
                .unwrap();
        }
        index(&db, 2).unwrap();
        let found = |word: &str| find(&db, &[word.to_owned()], 0..=Millis::MAX, 9).unwrap().len();
        assert_eq!([found("dur"), found("zoe"), found("paul"), found("martin")], [2, 2, 1, 1]);
    }
}
