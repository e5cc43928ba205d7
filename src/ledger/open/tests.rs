//! What opening leaves in the file.

use super::super::{Ledger, process};
use super::*;

#[test]
fn a_ledger_of_an_older_layout_gets_the_steps_that_it_lacks_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let mut db = open_or_create(&folder.path().join("ledger.sqlite3")).unwrap();
    let steps = [
        "ALTER TABLE pause ADD COLUMN first INTEGER; UPDATE process SET value = value || ' first'",
        "ALTER TABLE pause ADD COLUMN second INTEGER; UPDATE process SET value = value || ' second'",
        "ALTER TABLE pause ADD COLUMN third INTEGER; this is no statement",
    ];
    db.execute("INSERT INTO process VALUES ('kept', 'row')", []).unwrap();
    let kept = |db: &Connection| db.query_row("SELECT value FROM process", [], |row| row.get::<_, String>(0)).unwrap();
    for (count, expected) in [(0, "row"), (1, "row first"), (2, "row first second"), (2, "row first second")] {
        lay_out(&mut db, &steps[..count]).unwrap();
        assert_eq!(kept(&db), expected);
    }
    lay_out(&mut db, &steps).unwrap_err();
    assert!(db.prepare("SELECT second FROM pause").is_ok() && db.prepare("SELECT third FROM pause").is_err());
    lay_out(&mut db, &steps[..2]).unwrap();
}

/// `docsyncd status` while a new daemon makes its ledger.
#[test]
fn a_ledger_that_several_bring_up_to_date_at_once_is_sound_for_all() {
    for _ in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.sqlite3");
        let barrier = std::sync::Barrier::new(6);
        let open = |daemon: bool| {
            barrier.wait();
            let opened = if daemon { open_or_create(&path) } else { open_existing(&path) };
            opened.map(drop)
        };
        std::thread::scope(|scope| {
            let others: Vec<_> = (0..5).map(|_| scope.spawn(|| open(false))).collect();
            open(true).unwrap();
            for other in others {
                let opened = other.join().unwrap();
                assert!(matches!(opened, Ok(()) | Err(LedgerError::Missing(_))), "{opened:?}");
            }
        });
    }
}

/// Inserts and erases names, a few in each transaction. Which names lie together decides where SQLite moves them.
fn keep_and_erase(db: &Connection, chance: &mut impl FnMut(u64) -> u64) {
    let mut names: Vec<(i64, bool)> = (0..60).map(|id| (id, false)).collect();
    while !names.is_empty() {
        db.execute_batch("BEGIN IMMEDIATE").unwrap();
        for _ in 0..=chance(8) {
            if names.is_empty() {
                break;
            }
            let at = usize::try_from(chance(names.len() as u64)).unwrap();
            let (id, kept) = names[at];
            if kept {
                let file = format!(" zqxcanaryfile{id} pdf");
                db.execute(
                    "UPDATE name SET words = words || ?2, indexed = 0 WHERE document = ?1",
                    rusqlite::params![id, file],
                )
                .unwrap();
                names.swap_remove(at);
            } else {
                let long = "long ".repeat(usize::try_from(id).unwrap() % 7 * 40);
                let words = format!("zqxcanarylast{id}{long} zqxcanaryfirst{id} {:08x} other", chance(u64::MAX));
                db.execute("INSERT INTO name VALUES (?1, 1, ?2, ?2, 0)", rusqlite::params![id, words]).unwrap();
                names[at].1 = true;
            }
        }
        db.execute_batch("UPDATE name SET indexed = 1; COMMIT").unwrap();
    }
    db.execute("DELETE FROM name", []).unwrap();
    db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
}

/// `secure_delete` alone does not overwrite what SQLite moved within its pages: `holds_canary` shows that before
/// `rewrite`.
#[test]
fn a_ledger_that_is_written_anew_holds_nothing_of_what_was_erased() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.sqlite3");
    let holds_canary = || fs::read(&path).unwrap().windows(9).any(|window| window == b"zqxcanary");
    let mut seed = 7_u64;
    let mut chance = |bound: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % bound.max(1)
    };
    // Without an index entry for each prefix of a word, a trace is ten times as frequent.
    let index = "DROP TABLE name_word; CREATE VIRTUAL TABLE name_word USING fts5 (
            words, content = 'name', content_rowid = 'document', tokenize = 'unicode61 remove_diacritics 0');
        INSERT INTO name_word (name_word, rank) VALUES ('secure-delete', 1)";
    open_or_create(&path).unwrap().execute_batch(index).unwrap();
    let mut traces = 0;
    for _ in 0..120 {
        let db = open_or_create(&path).unwrap();
        db.execute_batch("PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF").unwrap();
        keep_and_erase(&db, &mut chance);
        drop(db);
        if holds_canary() {
            traces += 1;
            rewrite(&path).unwrap();
        }
        assert!(!holds_canary());
    }
    assert!(traces > 0, "no erased name ever left a trace, so the test shows nothing");
}

/// Looks at the file come by no timer then, so only an event can show it.
#[cfg(unix)]
#[tokio::test]
async fn a_daemon_is_woken_by_what_another_process_writes_and_not_by_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.sqlite3");
    let (daemon, _lock) = Ledger::open_exclusive(&path).unwrap();
    let is_woken = async |seconds: u64| {
        tokio::time::timeout(Duration::from_secs(seconds), daemon.changed_elsewhere()).await.is_ok()
    };
    daemon.write(process::request_poll).await.unwrap();
    assert!(!is_woken(1).await);
    Ledger::open_beside(&path).unwrap().write(process::request_poll).await.unwrap();
    assert!(is_woken(5).await);
}
