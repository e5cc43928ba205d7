use std::path::PathBuf;

use super::*;
use crate::domain::state::State;
use crate::ledger::history::{self, Action, Because};
use crate::ledger::{Ledger, Millis, names, open, prune};

/// A ledger with ended documents, with three rows of history each, and administrators' actions between them.
fn ledger(documents: i64) -> (tempfile::TempDir, PathBuf, Connection) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.sqlite3");
    let db = open::open_or_create(&path).unwrap();
    for id in 1..=documents {
        add(&db, id, id);
        history::act(&db, id, Action::Retry, "document x", Some("anna")).unwrap();
    }
    (folder, path, db)
}

fn add(db: &Connection, id: i64, at: Millis) {
    db.execute(
        "INSERT INTO document (id, account, uuid, created_at, state, found_at, changed_at)
         VALUES (?1, 'main', 'uuid-' || ?1, '2026-11-21', 'reported', ?2, ?2)",
        [id, at],
    )
    .unwrap();
    for (state, reason) in [(State::Discovered, None), (State::Fetched, Some("HTTP 500")), (State::Reported, None)] {
        history::append(
            db,
            (id, Some("pms")),
            at,
            "event",
            state,
            1,
            reason.map(|reason: &str| Because::coded(reason, Some("deliver passing status_500"))),
        )
        .unwrap();
    }
}

/// Changes the file as somebody with an SQLite tool could.
fn tampered(db: &Connection, change: &str) {
    db.execute_batch(&format!("DROP TRIGGER IF EXISTS history_is_append_only; {change}")).unwrap();
}

fn sound(db: &Connection) -> Sound {
    verify(db).unwrap().unwrap()
}

fn wrong(db: &Connection) -> String {
    verify(db).unwrap().unwrap_err()
}

#[test]
fn a_row_that_was_changed_is_found_whatever_was_changed_in_it() {
    for column in [
        "document = 1",
        "at = 7",
        "event = 'x'",
        "state = 'failed'",
        "attempt = 9",
        "destination = 'x'",
        "destination = NULL",
        "reason = 'x'",
        "code = 'x'",
        "who = 'berta'",
        "seal = randomblob(16)",
        "previous = randomblob(32)",
        "hash = randomblob(32)",
        "hash = randomblob(31)",
        "hash = x''",
        "previous = randomblob(1)",
    ] {
        let (_folder, _, db) = ledger(3);
        assert_eq!(sound(&db).rows, 12);
        tampered(&db, &format!("UPDATE history SET {column} WHERE id = 6"));
        assert!(wrong(&db).starts_with("row 6 of the history"), "{column}: {}", wrong(&db));
    }
    let (_folder, _, db) = ledger(3);
    tampered(&db, "UPDATE history SET id = id + 100 WHERE id = 4; UPDATE history SET id = 4 WHERE id = 8");
    assert!(wrong(&db).contains("row 4 of"), "moved: {}", wrong(&db));
    let (_folder, _, db) = ledger(3);
    let row = "(document, at, event, state, attempt, hash) VALUES (3, 9, 'x', 'reported', 0, randomblob(32))";
    tampered(&db, &format!("INSERT INTO history {row}"));
    assert!(wrong(&db).starts_with("row 13 of the history was changed"), "added: {}", wrong(&db));
}

#[test]
fn a_row_that_was_removed_is_found_also_when_the_chain_was_closed_over_it() {
    let (_folder, _, db) = ledger(3);
    tampered(&db, "DELETE FROM history WHERE id = 4");
    assert_eq!(wrong(&db), "row 5 of the history was changed, or what stood before it");
    let (_folder, _, db) = ledger(3);
    tampered(
        &db,
        "UPDATE history SET previous = (SELECT hash FROM history WHERE id = 4) WHERE id = 5;
         DELETE FROM history WHERE id = 4",
    );
    assert!(wrong(&db).starts_with("1 rows of the history are missing, of which docsyncd removed 0"), "{}", wrong(&db));
    // An attacker who gives a changed row a new hash presents the old hash as that of a removed row.
    let (_folder, _, db) = ledger(3);
    tampered(
        &db,
        "UPDATE history SET previous = (SELECT hash FROM history WHERE id = 4) WHERE id = 5;
         UPDATE history SET who = 'berta', hash = history_hash((SELECT hash FROM history WHERE id = 3), document, at, event, state,
             attempt, destination, history_hash(seal, reason), 'berta', code) WHERE id = 4",
    );
    assert_eq!(wrong(&db), "row 5 of the history says that the row before it was removed, which is there");
    // The oldest and the newest rows.
    let (_folder, _, db) = ledger(3);
    tampered(&db, "DELETE FROM history WHERE id = 1");
    assert!(wrong(&db).starts_with("row 2 "), "{}", wrong(&db));
    let (_folder, _, db) = ledger(3);
    tampered(&db, "DELETE FROM history WHERE id > 10");
    assert!(wrong(&db).contains("ends before what became of document uuid-3"), "{}", wrong(&db));
}

#[test]
fn what_an_administrator_did_last_is_missed_by_whoever_kept_the_hash_of_the_newest_row() {
    let (_folder, _, db) = ledger(3);
    let (row, hash) = newest(&db).unwrap().unwrap();
    assert_eq!((row, anchor(&db, row, &hash).unwrap()), (12, Anchor::There));
    tampered(&db, "DELETE FROM history WHERE id = 12");
    assert_eq!(sound(&db).rows, 11, "nothing in the file tells of it");
    assert_eq!(anchor(&db, row, &hash).unwrap(), Anchor::Gone);
    history::act(&db, 9, Action::Login, "account main", None).unwrap();
    assert_eq!((sound(&db).rows, anchor(&db, row, &hash).unwrap()), (12, Anchor::Gone), "another has its number");
}

#[test]
fn the_chain_outlasts_what_is_pruned_from_its_end_and_from_its_middle() {
    let (_folder, _, db) = ledger(6);
    let (row, hash) = newest(&db).unwrap().unwrap();
    assert_eq!(prune::remove_history(&db, 3, 5, 9).unwrap(), 2);
    assert_eq!((sound(&db).rows, sound(&db).removed), (24 - 8 + 1, 8));
    // A document in the middle, whose neighbours failed.
    db.execute("UPDATE document SET changed_at = 0 WHERE id = 5", []).unwrap();
    assert_eq!(prune::remove_history(&db, 1, 5, 9).unwrap(), 1);
    assert_eq!((sound(&db).rows, sound(&db).removed), (16 - 3 + 1, 8 + 3 + 1), "the row about the first removal, too");
    assert_eq!(prune::remove_history(&db, 1, 5, 9).unwrap(), 0);
    assert_eq!(sound(&db).removed, 12);
    assert_eq!(anchor(&db, row, &hash).unwrap(), Anchor::There);
    // All of the history, and it continues.
    assert_eq!(prune::remove_history(&db, 100, 100, 9).unwrap(), 3);
    assert_eq!((sound(&db).rows, anchor(&db, row, &hash).unwrap()), (1, Anchor::Removed));
    add(&db, 7, 200);
    assert_eq!(prune::remove_history(&db, 300, 100, 9).unwrap(), 1);
    history::act(&db, 400, Action::Login, "account main", None).unwrap();
    assert_eq!((sound(&db).rows, sound(&db).newest.unwrap().0), (2, 32));
    tampered(&db, "UPDATE history SET attempt = attempt + 1 WHERE event = 'history_removed'");
    assert!(wrong(&db).contains("was changed"), "{}", wrong(&db));
}

#[test]
fn the_chain_outlasts_gaps_that_grow_towards_either_end_or_meet() {
    let (_folder, _, db) = ledger(4);
    db.execute("UPDATE document SET history_removed = 1", []).unwrap();
    let mut removed = 0;
    for rows in [vec![6], vec![5], vec![7], vec![9, 10], vec![8], vec![1, 3], vec![2]] {
        removed += rows.len() as u64;
        history::remove(&db, 9, rows.clone()).unwrap();
        // And the row about the earlier removal.
        let so_far = sound(&db);
        assert_eq!(so_far.rows, 16 - removed + 1, "{rows:?}");
    }
}

#[test]
fn what_is_cut_off_before_it_is_committed_leaves_the_chain_as_it_was() {
    let (_folder, path, mut db) = ledger(3);
    let before = sound(&db);
    let cut_off = db.transaction().unwrap();
    prune::remove_history(&cut_off, 3, 5, 9).unwrap();
    names::forget(&cut_off, 3, 9).unwrap();
    drop(cut_off);
    assert_eq!(sound(&db), before);
    drop(db);
    let db = open::open_or_create(&path).unwrap();
    add(&db, 4, 4);
    assert_eq!(sound(&db).rows, 15);
}

#[test]
fn an_erased_reason_leaves_the_chain_whole_and_one_that_nobody_wanted_erased_is_missed() {
    let (_folder, _, db) = ledger(3);
    names::forget(&db, 2, 9).unwrap();
    let kept = |id: i64| -> (Option<String>, Option<Vec<u8>>) {
        db.query_row("SELECT reason, seal FROM history WHERE id = ?1", [id], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
    };
    let (reason, seal) = kept(6);
    assert_eq!((reason, seal.map(|seal| seal.len())), (None, Some(32)), "without the random bytes nobody can guess it");
    assert_eq!(sound(&db).rows, 13);
    names::forget(&db, 2, 9).unwrap();
    assert_eq!(sound(&db).rows, 14);
    tampered(&db, "UPDATE history SET seal = history_hash(seal, reason), reason = NULL WHERE id = 2");
    assert!(wrong(&db).starts_with("row 2 of the history has lost its reason"), "{}", wrong(&db));
    tampered(&db, "UPDATE history SET seal = NULL WHERE id = 6");
    assert!(wrong(&db).starts_with("row 6 of the history was changed"), "{}", wrong(&db));
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_that_write_at_the_same_time_make_one_chain() {
    const EACH: i64 = 200;
    let (_folder, path, db) = ledger(1);
    let (anna, berta) = (Ledger::open_beside(&path).unwrap(), Ledger::open_beside(&path).unwrap());
    let write = async |ledger: &Ledger, at: i64, name: &'static str| {
        let written = ledger.write(move |db| history::act(db, at, Action::Retry, "document x", Some(name)));
        written.await.unwrap();
    };
    for at in 0..EACH {
        tokio::join!(write(&anna, at, "anna"), write(&berta, at, "berta"));
    }
    assert_eq!(sound(&db).rows, u64::try_from(4 + 2 * EACH).unwrap());
    let turns: i64 = db
        .query_row(
            "SELECT count(*) FROM history AS one JOIN history AS next ON next.id = one.id + 1 WHERE one.who <> next.who",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert!(turns > 1, "they did not take turns");
}
