//! A ledger as years of work leave it, without the years: rows are written into the one that the program has created.

use rusqlite::{Connection, params};

use crate::harness::Practice;

pub const DAY: i64 = 24 * 60 * 60 * 1000;

pub fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

pub fn open(practice: &Practice) -> Connection {
    let db = Connection::open(practice.ledger()).unwrap();
    db.busy_timeout(std::time::Duration::from_secs(30)).unwrap();
    db
}

/// One number out of the ledger.
pub fn number(db: &Connection, query: &str) -> i64 {
    db.query_row(query, [], |row| row.get(0)).unwrap_or_else(|error| panic!("{query}: {error}"))
}

/// Adds this many documents, of which one was found in each minute until `ended` and all were reported then, one in a
/// thousand failed instead, each with its delivery and five rows of history.
pub fn fill(practice: &Practice, documents: i64, ended: i64) {
    let db = open(practice);
    // Not the test's subject; nothing is lost but time.
    db.execute_batch("PRAGMA synchronous = OFF; BEGIN").unwrap();
    let first = number(&db, "SELECT coalesce(max(id), 0) + 1 FROM document");
    let last = first + documents - 1;
    let numbers = "WITH RECURSIVE n(i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)";
    db.execute(
        &format!(
            "{numbers} INSERT INTO document (id, account, uuid, created_at, kind, state, pdf, sha256, size, listed, found_at,
                 changed_at)
             SELECT i, 'main', printf('%08x-0000-4000-8000-%012x', i, i), '2026-01-01T00:00:00+00:00', 'referral_letter',
                 iif(i % 1000 = 7, 'failed', 'reported'), printf('%08x', i), printf('%064x', i), 61440, 0, ?3 - (?2 - i) * 60000, ?3 + i FROM n"
        ),
        params![first, last, ended],
    )
    .unwrap();
    db.execute(
        "INSERT INTO retry_state (document, work, pdf, reason) SELECT id, 'fetch:', '', 'not a PDF' FROM document
         WHERE id >= ?1 AND state = 'failed'",
        [first],
    )
    .unwrap();
    db.execute(
        &format!(
            "{numbers} INSERT INTO delivery (document, pdf, destination, state, place, changed_at)
             SELECT i, printf('%08x', i), 'pms', 'delivered', '/srv/pms/import/Durand_Louise/' || i || '.pdf', ?3 FROM n"
        ),
        params![first, last, ended],
    )
    .unwrap();
    db.execute(
        &format!(
            "{numbers}, event(word, state) AS (VALUES ('discovered', 'discovered'), ('fetched', 'fetched'),
                 ('delivered', 'fetched'), ('all_delivered', 'delivered'), ('report_accepted', 'reported'))
             INSERT INTO history (document, at, event, state, attempt, hash)
             SELECT i, ?3, word, state, 0, randomblob(32) FROM n, event"
        ),
        params![first, last, ended],
    )
    .unwrap();
    db.execute_batch("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
}

/// Gives each document that has no name yet one of 1000 surnames and 100 first names, and one of two types; and indexes
/// them as the daemon does.
pub fn fill_names(practice: &Practice) {
    let db = open(practice);
    db.execute_batch(
        "PRAGMA synchronous = OFF; BEGIN;
         INSERT INTO name (document, kept_at, shown, words)
             SELECT id, found_at, printf('Surname%03d First%02d', id % 1000, id % 97),
                 printf('surname%03d first%02d %s %s 2026-11-22 pdf', id % 1000, id % 97,
                     iif(id % 2, 'lab slip', 'referral letter'), substr(uuid, -8))
             FROM document WHERE id NOT IN (SELECT document FROM name);
         UPDATE name SET indexed = 1 WHERE indexed = 0;
         COMMIT; PRAGMA wal_checkpoint(TRUNCATE)",
    )
    .unwrap();
}
