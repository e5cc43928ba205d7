//! Ledgers of earlier versions.

use super::*;
use crate::ledger::{deliveries, documents};
use crate::state::Event;

/// A ledger as the version before migration 006 left it, in which two accounts list the same document.
fn with_twins(path: &Path) {
    let mut db = Connection::open(path).unwrap();
    Migrations::from_slice(&MIGRATIONS[..5]).to_latest(&mut db).unwrap();
    db.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
    let document = |id: i64, account: &str, uuid: &str, state: &str| {
        db.execute(
            "INSERT INTO document (id, account, uuid, created_at, state, pdf, due_at, found_at, changed_at)
             VALUES (?1, ?2, ?3, '2026', ?4, 'p', 7, 5, 5)",
            rusqlite::params![id, account, uuid, state],
        )
        .unwrap();
    };
    let delivery = |document: i64, destination: &str, state: &str| {
        db.execute(
            "INSERT INTO delivery (document, pdf, destination, state, changed_at) VALUES (?1, 'p', ?2, ?3, 5)",
            rusqlite::params![document, destination, state],
        )
        .unwrap();
    };
    document(1, "a", "one", "discovered");
    document(2, "b", "one", "reported");
    delivery(2, "pms", "delivered");
    document(3, "a", "two", "fetched");
    delivery(3, "pms", "pending");
    delivery(3, "scan", "pending");
    document(4, "b", "two", "withdrawn");
    delivery(4, "pms", "delivered");
    document(5, "a", "three", "fetched");
    db.execute(
        "INSERT INTO history (document, at, event, state, attempt) VALUES (1, 5, 'discovered', 'discovered', 0)",
        [],
    )
    .unwrap();
}

#[test]
fn of_a_document_that_two_accounts_listed_the_row_that_came_farthest_stays_with_all_that_was_delivered() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.sqlite3");
    with_twins(&path);
    let db = open_or_create(&path).unwrap();
    let rows = |sql: &str| -> Vec<String> {
        let mut query = db.prepare(sql).unwrap();
        query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let documents = rows("SELECT id || account || uuid || state || key_account FROM document ORDER BY id");
    assert_eq!(documents, ["2bonereportedb", "3atwodiscovereda", "5athreefetcheda"]);
    let deliveries = rows("SELECT document || destination || state FROM delivery ORDER BY document, destination");
    assert_eq!(deliveries, ["2pmsdelivered", "3pmsdelivered", "3scanpending"]);
    assert_eq!(rows("SELECT state FROM document_count WHERE documents > 0 ORDER BY state").len(), 3);
    assert!(db.execute("UPDATE document SET uuid = 'one'", []).is_err(), "a document is its uuid");
}

#[test]
fn what_templates_need_of_an_open_document_is_kept_when_it_gets_a_table_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.sqlite3");
    let mut db = Connection::open(&path).unwrap();
    chain::register(&db).unwrap();
    // Before 020_metadata.sql.
    Migrations::from_slice(&MIGRATIONS[..16]).to_latest(&mut db).unwrap();
    db.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
    db.execute_batch(
        "INSERT INTO document (id, account, uuid, created_at, state, pdf, metadata, due_at, found_at, changed_at)
             VALUES (1, 'main', 'a', '2026', 'fetched', 'p', '{\"zqxcanary\": 1}', 1, 1, 1),
                    (2, 'main', 'b', '2026', 'reported', 'p', NULL, NULL, 1, 1);
         INSERT INTO delivery (document, pdf, destination, state, due_at, changed_at)
             VALUES (1, 'p', 'pms', 'pending', 1, 1)",
    )
    .unwrap();
    drop(db);
    let db = open_or_create(&path).unwrap();
    let metadata = |document| deliveries::pending(&db, "pms", document).unwrap().and_then(|delivery| delivery.metadata);
    assert_eq!(metadata(1).as_deref(), Some("{\"zqxcanary\": 1}"));
    documents::transition(&db, 1, 0, Event::AllDelivered, 2, None).unwrap();
    documents::transition(&db, 1, 0, Event::ReportAccepted, 3, None).unwrap();
    drop(db);
    assert!(!fs::read(&path).unwrap().windows(9).any(|window| window == b"zqxcanary"));
}

/// What the migrations make of an empty file, as the statements that make it, and the rows that are in it from the beginning.
fn migrated() -> (Connection, String) {
    let mut db = Connection::open_in_memory().unwrap();
    chain::register(&db).unwrap();
    Migrations::from_slice(MIGRATIONS).to_latest(&mut db).unwrap();
    let mut schema = "-- What all migrations make of an empty file. Written by a test: \
                      `DOCSYNCD_TEST_WRITE=1 cargo test --lib ledger::open`.\n"
        .to_owned();
    // FTS5 makes the tables of its own index.
    let statements =
        "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT GLOB 'name_word_*' ORDER BY rowid";
    for sql in db.prepare(statements).unwrap().query_map([], |row| row.get::<_, String>(0)).unwrap() {
        schema += &format!("\n{};\n", sql.unwrap());
    }
    schema += "\nINSERT INTO name_word (name_word, rank) VALUES ('secure-delete', 1);\n";
    (db, schema)
}

/// Everything that the file holds.
fn content(db: &Connection) -> Vec<String> {
    let list = |sql: &str| -> Vec<String> {
        db.prepare(sql).unwrap().query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let mut content = list("SELECT type || name || coalesce(sql, '') FROM sqlite_master ORDER BY 1");
    for table in list("SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'name_word' ORDER BY 1") {
        let mut statement = db.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            content.push(format!("{table} {:?}", (0..columns).map(|at| row.get_ref(at).unwrap()).collect::<Vec<_>>()));
        }
    }
    content
}

#[test]
fn a_new_ledger_is_what_all_migrations_make() {
    let (migrated, schema) = migrated();
    if std::env::var_os("DOCSYNCD_TEST_WRITE").is_some() {
        fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/ledger/schema.sql"), &schema).unwrap();
        return;
    }
    assert_eq!(SCHEMA, schema);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.sqlite3");
    let db = open_or_create(&path).unwrap();
    assert_eq!(content(&db), content(&migrated));
    assert_eq!(pragma(&path, &db, "user_version").unwrap(), i64::try_from(MIGRATIONS.len()).unwrap());
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

/// Names that are kept and erased, a few in each transaction; which ones lie together decides where SQLite moves them.
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

/// What SQLite moved within its pages is not overwritten by `secure_delete` alone: the first assertion of the last two.
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
    // The index as it was before 019_find.sql: in that of today a trace is ten times as rare.
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
    assert!(traces > 0, "the names never left a trace: the test shows nothing");
}
