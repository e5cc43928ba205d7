//! `state.keep_history`: what goes, what stays for ever, and that nothing is doubled for it.

use std::path::Path;

use docsyncd_sandbox::Quirks;
use rusqlite::Connection;

use crate::dictated::{posts_of, practice_with_small};
use crate::filled::{DAY, fill, now, number, open};
use crate::harness::{PATIENCE, Practice, Running};

/// Beside them is what administrators did, and how much was removed.
const OF_DOCUMENTS: &str = "SELECT count(*) FROM history WHERE document IS NOT NULL";

fn assert_sound(db: &Connection) {
    let said: String = db.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(said, "ok");
}

/// Documents whose history is gone although it should be there, or there although it should be gone.
fn half_pruned(db: &Connection) -> i64 {
    number(
        db,
        "SELECT count(*) FROM document WHERE history_removed = EXISTS (SELECT 1 FROM history WHERE document = document.id)
           OR history_removed = EXISTS (SELECT 1 FROM delivery WHERE document = document.id AND place IS NOT NULL)",
    )
}

fn size(path: &Path) -> u64 {
    std::fs::metadata(path).unwrap().len()
}

async fn until_pruned(running: &mut Running) {
    running.wait_for_log("event=\"pruned\"").await;
}

#[tokio::test]
async fn old_history_goes_and_the_file_becomes_smaller_while_identity_and_failures_stay() {
    let practice = Practice::with_documents(3).await;
    assert_eq!(practice.sync().await.code, 0);
    let empty = size(&practice.ledger());
    fill(&practice, 2000, now() - 800 * DAY);
    fill(&practice, 100, now() - 700 * DAY);
    let full = size(&practice.ledger());
    let mut running = practice.run().await;
    until_pruned(&mut running).await;
    let db = open(&practice);
    let spare = || number(&db, "PRAGMA freelist_count");
    let deadline = std::time::Instant::now() + PATIENCE;
    while spare() > 64 {
        assert!(std::time::Instant::now() < deadline, "{} pages are not given back", spare());
        tokio::task::yield_now().await;
    }
    assert_eq!(practice.docsyncd(&["status"]).await.code, 0);
    running.kill().await;
    assert_eq!(practice.sync().await.code, 3, "some of them failed long ago");

    assert_eq!(number(&db, "SELECT count(*) FROM document"), 2103);
    assert_eq!(number(&db, "SELECT count(*) FROM delivery"), 2103);
    assert_eq!(number(&db, "SELECT count(*) FROM document WHERE history_removed = 1"), 1998, "two failed");
    let kept = (2 + 100 + 3) * 5;
    assert_eq!(number(&db, OF_DOCUMENTS), kept, "of those that failed, and of those that are not old enough");
    assert_eq!(half_pruned(&db), 0);
    assert_sound(&db);
    drop(db);
    let pruned = size(&practice.ledger());
    println!("{empty} bytes, with 2,100 documents {full}, without the history of 1,998 of them {pruned}");
    // Two hundred bytes for each; some empty pages are kept for what comes next.
    assert!(pruned + 250_000 < full, "{empty} {full} {pruned}");
    let uuid = format!("{:08x}-0000-4000-8000-{:012x}", 10, 10);
    let shown = practice.docsyncd(&["show", &uuid]).await;
    assert!(shown.stdout.contains("older history was removed (state.keep_history)"), "{shown:?}");
    assert!(shown.stdout.contains("pms: delivered") && !shown.stdout.contains("Durand"), "{shown:?}");
}

/// As if everything had ended three years ago.
fn age(practice: &Practice) {
    open(practice).execute("UPDATE document SET changed_at = changed_at - ?1", [1100 * DAY]).unwrap();
}

async fn prune(practice: &Practice) {
    let mut running = practice.run().await;
    until_pruned(&mut running).await;
    running.kill().await;
}

#[tokio::test]
async fn a_document_that_stays_listed_is_left_alone_after_its_history_went() {
    let (practice, uuids) = practice_with_small(5).await;
    practice.sandbox.set_quirks(Quirks { stays_listed: true, ..Quirks::default() });
    assert_eq!(practice.sync().await.code, 0);
    age(&practice);
    prune(&practice).await;
    assert_eq!(number(&open(&practice), OF_DOCUMENTS), 0);
    assert_eq!(practice.sync().await.code, 0);
    for uuid in &uuids {
        assert_eq!(posts_of(&practice.sandbox, uuid).len(), 1, "{uuid}");
    }
    practice.assert_all_filed().await;
}

#[tokio::test]
async fn a_document_that_comes_back_after_its_history_went_is_recognised() {
    let (practice, uuids) = practice_with_small(3).await;
    assert_eq!(practice.sync().await.code, 0);
    age(&practice);
    prune(&practice).await;
    practice.sandbox.set_listed(&uuids[0], true).await.unwrap();
    assert_eq!(practice.sync().await.code, 0);
    assert_eq!(posts_of(&practice.sandbox, &uuids[0]).len(), 2);
    let shown = practice.show(&uuids[0]).await;
    assert_eq!(shown["history"][0]["event"], "relisted", "known, not new: {shown}");
    practice.assert_all_filed().await;
    // What happened since is history again, and goes in its turn.
    age(&practice);
    prune(&practice).await;
    assert_eq!(number(&open(&practice), OF_DOCUMENTS), 0);
    let verified = practice.docsyncd(&["export", "--verify"]).await;
    assert!(verified.code == 0 && verified.stdout.contains("rows of history as they were written"), "{verified:?}");
}

#[tokio::test]
async fn killed_while_it_prunes_it_has_lost_nothing_and_goes_on() {
    let practice = Practice::with_documents(1).await;
    assert_eq!(practice.sync().await.code, 0);
    fill(&practice, 3000, now() - 800 * DAY);
    for _ in 0..3 {
        let before = number(&open(&practice), "SELECT count(*) FROM document WHERE history_removed = 1");
        let mut running = practice.run().await;
        let db = open(&practice);
        let deadline = std::time::Instant::now() + PATIENCE;
        while number(&db, "SELECT count(*) FROM document WHERE history_removed = 1") == before {
            assert!(std::time::Instant::now() < deadline, "{}", running.log());
            tokio::task::yield_now().await;
        }
        running.kill().await;
        assert_eq!(half_pruned(&db), 0);
        assert_sound(&db);
    }
    prune(&practice).await;
    let db = open(&practice);
    assert_eq!(number(&db, "SELECT count(*) FROM document WHERE history_removed = 1"), 2997);
    assert_eq!((half_pruned(&db), number(&db, "SELECT count(*) FROM document")), (0, 3001));
}
