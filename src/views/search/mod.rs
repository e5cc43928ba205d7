//! `docsyncd find` and the search of the status page: from words to documents.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use rusqlite::{Connection, Row, params};
use serde::Serialize;

use super::{DeliveryView, DocumentView, documents, in_json, named};
use crate::domain::search::{has_beginning, parts};
use crate::domain::state::State;
use crate::ledger::columns::Statements as _;
use crate::ledger::{Millis, QueryResult};

/// Whether a document was first seen in this period.
const IS_SEEN: &str = "SELECT 1 FROM document WHERE id = ?1 AND found_at BETWEEN ?2 AND ?3";
/// The names of the newest documents between these numbers.
const WORDS: &str = "SELECT document, words FROM name WHERE document BETWEEN ?2 AND ?3 ORDER BY document DESC LIMIT ?1";

/// One document in `find --json`. Holds patient data.
#[derive(Serialize)]
pub struct FoundView {
    uuid: String,
    account: String,
    #[serde(rename = "type")]
    kind: Option<String>,
    state: State,
    created_at: String,
    #[serde(serialize_with = "in_json")]
    found_at: Millis,
    #[serde(serialize_with = "in_json")]
    changed_at: Millis,
    /// Null if it is not kept.
    name: Option<String>,
    /// Where it was filed, as far as that is kept.
    places: Vec<PlaceView>,
}

/// A place where a found document lies.
#[derive(Serialize)]
struct PlaceView {
    destination: String,
    /// Null of another patient's copy: its name may be that patient's.
    place: Option<String>,
    for_another: bool,
}

impl From<DocumentView> for FoundView {
    fn from(document: DocumentView) -> Self {
        let DocumentView { uuid, account, kind, state, created_at, found_at, changed_at, name, deliveries, .. } =
            document;
        let place = |delivery: DeliveryView| {
            let (place, for_another) = (delivery.place_to_find(), delivery.is_anothers);
            Some(PlaceView { destination: delivery.destination, place: place?, for_another })
        };
        let places = deliveries.into_iter().filter_map(place).collect();
        Self { uuid, account, kind, state, created_at, found_at, changed_at, name, places }
    }
}

/// The result of a search.
pub struct Found {
    /// The newest first.
    pub letters: Vec<DocumentView>,
    /// Whether there may be older ones: every word is in very many letters, and only the newest were searched.
    pub newest_only: bool,
}

/// The newest `limit` documents, first seen in this period, that match all of these words: as prefixes of words in the
/// patient's name, the type, the name of a file, and the uuid. Only if that finds none, any part of these is searched
/// among the newest 100,000. If every word is very common, only the newest letters with each of them are searched.
/// `words` are folded; without words, every document of the period matches.
///
/// # Errors
/// Any SQLite error.
pub fn find(db: &Connection, words: &[String], seen: RangeInclusive<Millis>, limit: usize) -> QueryResult<Found> {
    let mut found = Found { letters: Vec::new(), newest_only: false };
    if words.is_empty() {
        found.letters = documents::of(db, of_time(db, &seen, limit)?)?;
        return Ok(found);
    }
    let Some(numbers) = numbers(db, &seen)? else { return Ok(found) };
    let search = Search { db, words, seen, numbers, limit };
    let mut ids = search.by_uuid()?;
    ids.extend(search.not_indexed()?);
    match search.common(&BOUNDS)? {
        Some(common) => {
            found.newest_only = common.len() < limit;
            ids.extend(common);
        }
        None => {
            ids.extend(search.by_beginnings()?);
            if ids.is_empty() {
                ids.extend(search.by_parts()?);
            }
        }
    }
    // The short uuid in a file's name is the end of a uuid, and known even if no names are kept.
    if let (true, [short]) = (ids.is_empty(), words) {
        let mut of_short = db.prepare_cached(
            "SELECT id FROM document WHERE substr(uuid, -8) = ?1 COLLATE NOCASE AND +found_at BETWEEN ?2 AND ?3 LIMIT ?4",
        )?;
        let mut rows = of_short.query(params![short, search.seen.start(), search.seen.end(), limit])?;
        while let Some(row) = rows.next()? {
            ids.insert(row.get(0)?);
        }
    }
    found.letters = documents::of(db, ids.into_iter().rev().take(limit))?;
    Ok(found)
}

/// The number of documents whose order a changed clock may have mixed up.
const MIXED_UP: usize = 1000;

/// The range of numbers that holds the documents of this period, and few others: numbers increase with time. If the
/// clock was set meanwhile, some documents are out of order, so several are read at each end. `None`: there are none.
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

/// The newest documents of this period.
fn of_time(db: &Connection, seen: &RangeInclusive<Millis>, limit: usize) -> QueryResult<Vec<i64>> {
    db.values(
        "SELECT id FROM document INDEXED BY document_found WHERE found_at BETWEEN ?1 AND ?2
         ORDER BY found_at DESC, id DESC LIMIT ?3",
        params![seen.start(), seen.end(), limit],
    )
}

/// How much is searched if every word is common. For several words, the index goes through all letters that have one of
/// them, even if the requested period is long past.
struct Bounds {
    /// A word is common if it is in this many letters; this many of its newest letters are searched.
    common: usize,
    /// The number of letters whose words are compared.
    compared: usize,
    /// A search for more results than this has time to wait for all of them.
    wanted: usize,
}

const BOUNDS: Bounds = Bounds { common: 50_000, compared: 5_000, wanted: 1_000 };

/// The number of newest names that are searched for parts of words, without an index: years of a practice, in some
/// hundredths of a second.
const MOST_PARTS: usize = 100_000;

/// A search.
struct Search<'a> {
    db: &'a Connection,
    words: &'a [String],
    seen: RangeInclusive<Millis>,
    /// The range of the ledger's numbers to search.
    numbers: RangeInclusive<i64>,
    limit: usize,
}

impl Search<'_> {
    /// A single word may be a uuid, which is known of every document, even if its names are not kept.
    fn by_uuid(&self) -> QueryResult<BTreeSet<i64>> {
        let Self { db, words, seen, limit, .. } = self;
        match words {
            [uuid] if uuid.len() >= named::SHORTEST_PART => db.values(
                "SELECT id FROM document WHERE uuid COLLATE NOCASE >= ?1 AND uuid COLLATE NOCASE < ?1 || char(127)
                 AND +found_at BETWEEN ?2 AND ?4 LIMIT ?3",
                params![uuid, seen.start(), limit, seen.end()],
            ),
            _ => Ok(BTreeSet::new()),
        }
    }

    fn by_beginnings(&self) -> QueryResult<BTreeSet<i64>> {
        let Self { db, words, seen, numbers, limit } = self;
        // A quoted word is no search operator, and its punctuation splits it into words that must follow one another.
        let query: Vec<String> = words.iter().map(|word| format!("\"{}\"*", word.replace('"', "\"\""))).collect();
        let mut statement = db.prepare_cached(
            "SELECT name_word.rowid FROM name_word CROSS JOIN document ON document.id = name_word.rowid
             WHERE name_word MATCH ?1 AND name_word.rowid BETWEEN ?5 AND ?6 AND document.found_at BETWEEN ?2 AND ?4
             ORDER BY name_word.rowid DESC LIMIT ?3",
        )?;
        let (first, last) = (numbers.start(), numbers.end());
        statement
            .query_map(params![query.join(" "), seen.start(), limit, seen.end(), first, last], |row| row.get(0))?
            .collect()
    }

    /// The newest documents with all of these words, among the newest with each of them. `None`: one of the words is
    /// not common, so the index answers quickly.
    fn common(&self, bounds: &Bounds) -> QueryResult<Option<BTreeSet<i64>>> {
        let Self { db, words, seen, numbers, .. } = self;
        let mut queries: Vec<String> = words.iter().flat_map(|word| each_alone(word)).collect();
        // The longest first: it is usually the rarest.
        queries.sort_by_key(|query| std::cmp::Reverse(query.len()));
        queries.dedup();
        if queries.len() < 2 || self.limit > bounds.wanted {
            return Ok(None);
        }
        let mut newest = db.prepare_cached(
            "SELECT rowid FROM name_word WHERE name_word MATCH ?1 AND rowid BETWEEN ?2 AND ?3
             ORDER BY rowid DESC LIMIT ?4",
        )?;
        let mut common: Option<Vec<i64>> = None;
        for query in queries {
            let rows =
                newest.query_map(params![query, numbers.start(), numbers.end(), bounds.common], |row| row.get(0))?;
            let have: Vec<i64> = rows.collect::<QueryResult<_>>()?;
            if have.len() < bounds.common {
                return Ok(None);
            }
            common = Some(match common {
                // Both lists have the newest first.
                Some(mut both) => {
                    both.retain(|id| have.binary_search_by(|other| id.cmp(other)).is_ok());
                    both
                }
                None => have,
            });
        }
        let mut is_seen = db.prepare_cached(IS_SEEN)?;
        let mut kept = db.prepare_cached(WORDS)?;
        // The parts of a word with punctuation must follow one another.
        let whole: Vec<&String> = words.iter().filter(|word| parts(word).len() > 1).collect();
        let most = if whole.is_empty() { usize::MAX } else { bounds.compared };
        let mut found = BTreeSet::new();
        for id in common.unwrap_or_default().into_iter().take(most) {
            let has = |row: &Row<'_>| {
                Ok(row.get_ref(1)?.as_str().is_ok_and(|kept| whole.iter().all(|word| has_beginning(kept, word))))
            };
            if found.len() >= self.limit {
                break;
            }
            if is_seen.exists(params![id, seen.start(), seen.end()])?
                && (whole.is_empty() || kept.query_row(params![1, id, id], has)?)
            {
                found.insert(id);
            }
        }
        Ok(Some(found))
    }

    /// Searches the few documents that the index does not have yet.
    fn not_indexed(&self) -> QueryResult<BTreeSet<i64>> {
        let Self { db, words, seen, .. } = self;
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

    fn by_parts(&self) -> QueryResult<Vec<i64>> {
        let Self { db, words, seen, numbers, .. } = self;
        let mut statement = db.prepare_cached(WORDS)?;
        let mut is_seen = db.prepare_cached(IS_SEEN)?;
        let mut rows = statement.query(params![MOST_PARTS, numbers.start(), numbers.end()])?;
        let mut ids = Vec::new();
        while let Some(row) = rows.next()? {
            let kept = row.get_ref(1)?.as_str()?;
            if words.iter().all(|word| kept.contains(word.as_str()))
                && is_seen.exists(params![row.get::<_, i64>(0)?, seen.start(), seen.end()])?
            {
                ids.push(row.get(0)?);
                if ids.len() >= self.limit {
                    break;
                }
            }
        }
        Ok(ids)
    }
}

/// A query of the index for each part of a word.
fn each_alone(word: &str) -> Vec<String> {
    let parts = parts(word);
    let last = parts.len().saturating_sub(1);
    parts
        .iter()
        .enumerate()
        .map(|(at, part)| if at == last { format!("\"{part}\"*") } else { format!("\"{part}\"") })
        .collect()
}

#[cfg(test)]
mod tests;
