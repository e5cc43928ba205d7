//! `docsyncd retry`

use std::time::{Duration, Instant};

use docsyncd_sandbox::{Fault, FaultKind, NewDocument, NewPdf, Route};

use crate::harness::{PATIENCE, Practice};

const PDF: &[u8] = b"%PDF-1.7\n% a letter\n%%EOF\n";

/// A practice with documents that failed because the API refused to show them, and shows them since.
async fn with_failed(count: usize) -> (Practice, Vec<String>) {
    let practice = Practice::with_documents(0).await;
    let mut uuids = Vec::new();
    for _ in 0..count {
        let bad = NewDocument { pdf: NewPdf::Bytes(PDF.to_vec()), ..NewDocument::default() };
        let uuid = practice.sandbox.add(bad).await.unwrap();
        practice.sandbox.inject(Fault::always(Route::Document, FaultKind::status(403)).for_document(&uuid));
        uuids.push(uuid);
        // One at a time: several in a row would be taken for the origin's fault.
        let ended = practice.sync().await;
        assert_eq!(ended.code, 3, "{ended:?}");
    }
    for uuid in &uuids {
        assert_eq!(practice.state(uuid).await, "failed");
    }
    practice.sandbox.clear_faults();
    (practice, uuids)
}

#[tokio::test]
async fn a_failed_document_is_tried_again_by_the_next_sync() {
    let (practice, uuids) = with_failed(2).await;
    let ended = practice.docsyncd(&["retry", &uuids[0]]).await;
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended:?}");
    assert!(ended.stdout.contains(&uuids[0]) && ended.stdout.contains("now discovered"), "{ended:?}");
    assert!(ended.stdout.contains("1 document to try again") && ended.stdout.contains("not running"), "{ended:?}");
    assert_eq!(practice.sync().await.code, 3, "the other one is failed still");
    assert_eq!(practice.state(&uuids[0]).await, "reported");
    assert_eq!(practice.state(&uuids[1]).await, "failed");
    assert_eq!(practice.filed().len(), 1);
}

#[tokio::test]
async fn all_failed_documents_are_tried_again_at_once() {
    let (practice, uuids) = with_failed(3).await;
    let ended = practice.docsyncd(&["retry", "--failed"]).await;
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended:?}");
    assert!(ended.stdout.contains("3 documents to try again"), "{ended:?}");
    assert_eq!(practice.sync().await.code, 0);
    for uuid in &uuids {
        assert_eq!(practice.state(uuid).await, "reported");
    }
    let ended = practice.docsyncd(&["retry", "--failed"]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(ended.stdout, "no document has failed: there is nothing to try again\n", "{ended:?}");
    // Where nothing had failed there is nothing to hold against whoever asked.
    let db = crate::filled::open(&practice);
    let rows = "SELECT group_concat(reason) FROM history WHERE event = 'retry' AND document IS NULL";
    assert_eq!(db.query_row(rows, [], |row| row.get::<_, String>(0)).unwrap(), "all that failed");
}

#[tokio::test]
async fn an_unknown_document_is_named_and_the_known_ones_are_tried_all_the_same() {
    let (practice, uuids) = with_failed(1).await;
    let ended = practice.docsyncd(&["retry", "no-such-document", &uuids[0]]).await;
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(ended.stderr.contains("no document no-such-document"), "{ended:?}");
    assert!(ended.stdout.contains("1 document to try again"), "{ended:?}");
    assert_eq!(practice.sync().await.code, 0);
    assert_eq!(practice.state(&uuids[0]).await, "reported");
}

#[tokio::test]
async fn a_running_daemon_takes_it_up_at_once() {
    let (practice, uuids) = with_failed(1).await;
    let mut running = practice.run().await;
    // The first poll is over: nothing but the retry can make the daemon ask for the document.
    practice
        .sandbox
        .wait_for(|view| view.requests().any(|request| request.path == "/documents"), PATIENCE)
        .await
        .unwrap();
    running.wait_for_log("event=\"started\"").await;
    let path = format!("/documents/{}", uuids[0]);
    for round in 0..3 {
        practice.sandbox.forget_requests();
        let ended = practice.docsyncd(&["retry", "--yes", &uuids[0]]).await;
        assert_eq!(ended.code, 0, "{ended:?}");
        assert!(ended.stdout.contains("the running daemon takes it up"), "{ended:?}");
        practice.sandbox.wait_for(|view| view.requests().any(|request| request.path == path), PATIENCE).await.unwrap();
        running.wait_for_logs("event=\"reported\"", round + 1).await;
    }
    running.kill().await;
    assert_eq!(practice.filed().len(), 1, "the same content is not filed twice");
}

#[tokio::test]
async fn a_document_that_waits_for_its_next_attempt_is_due_at_once() {
    let mut practice = Practice::with_documents(0).await;
    practice.env.insert("DOCSYNCD__RETRY__INITIAL".into(), "1d".into());
    practice.env.insert("DOCSYNCD__RETRY__MAX".into(), "7d".into());
    let uuid = practice.sandbox.add(NewDocument::default()).await.unwrap();
    practice.sandbox.inject(Fault::once(Route::Pdf, FaultKind::status(500)));
    let ended = practice.sync().await;
    assert_eq!(ended.code, 3, "{ended:?}");
    assert_eq!(practice.show(&uuid).await["attempts"], 1);
    let mut running = practice.run().await;
    let ended = practice.docsyncd(&["retry", &uuid]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stdout.contains("was waiting (discovered), due now"), "{ended:?}");
    practice.wait_for_posts(1).await;
    running.wait_for_log("event=\"reported\"").await;
    running.kill().await;
    assert_eq!(practice.filed().len(), 1);
}

#[tokio::test]
async fn what_was_reported_is_delivered_again_and_filed_once() {
    let practice = Practice::with_documents(1).await;
    assert_eq!(practice.sync().await.code, 0);
    let uuid = practice.sandbox.documents().await.unwrap().remove(0).uuid;
    let before = practice.filed();
    // A script cannot be asked: it does not file a letter again by naming it alone.
    let ended = practice.docsyncd(&["retry", &uuid]).await;
    assert!(ended.code == 2 && ended.stderr.contains("--yes") && ended.stdout.is_empty(), "{ended:?}");
    assert_eq!(practice.state(&uuid).await, "reported");
    let ended = practice.docsyncd(&["retry", "--yes", &uuid]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(practice.sync().await.code, 0);
    assert_eq!(practice.filed(), before);
    assert_eq!(practice.sandbox.status_posts().len(), 2);
}

/// A practice with so many letters that wait behind a pause, and nothing that failed.
async fn behind_a_pause(count: usize) -> Practice {
    let mut practice = Practice::with_documents(count).await;
    practice.without_patience();
    std::fs::remove_dir(practice.inbox()).unwrap();
    assert_eq!(practice.sync().await.code, 3);
    practice
}

#[tokio::test]
async fn without_arguments_it_says_what_waits_and_why_and_what_can_be_tried() {
    let practice = behind_a_pause(12).await;
    let ended = practice.docsyncd(&["retry"]).await;
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{ended:?}");
    assert!(!ended.stderr.contains("--failed") && ended.stderr.contains("none has failed"), "{ended:?}");
    for says in ["12 documents wait", "destination:pms is paused: ", "does not exist", " list ", " check ", " sync "] {
        assert!(ended.stderr.contains(says), "{says}: {ended:?}");
    }
    let config = format!("docsyncd --config {} ", practice.config_path().display());
    assert!(ended.stderr.contains(&format!("{config}retry UUID")), "{ended:?}");
    std::fs::create_dir(practice.inbox()).unwrap();
    assert_eq!(practice.sync().await.code, 0, "what it says can be tried helps");
    let ended = practice.docsyncd(&["retry"]).await;
    assert!(ended.stderr.contains("none has failed, and none waits"), "{ended:?}");
}

#[tokio::test]
async fn without_arguments_it_shows_what_failed() {
    let (practice, uuids) = with_failed(2).await;
    let ended = practice.docsyncd(&["retry"]).await;
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{ended:?}");
    assert!(ended.stderr.contains("2 documents failed") && ended.stderr.contains("retry --failed"), "{ended:?}");
    assert!(uuids.iter().all(|uuid| ended.stderr.contains(uuid)), "{ended:?}");
}

#[tokio::test]
async fn of_a_document_that_is_not_known_only_that_is_said() {
    let (practice, _) = with_failed(1).await;
    let ended = practice.docsyncd(&["retry", "zzzzzz"]).await;
    assert_eq!((ended.code, ended.stdout.as_str()), (1, ""), "{ended:?}");
    assert!(ended.stderr.contains("no document zzzzzz") && ended.stderr.lines().count() == 1, "{ended:?}");
}

/// The destination works again, and would be tried only when its pause is to be probed next: who asks is not made to
/// wait for that.
#[tokio::test]
async fn what_waits_behind_a_pause_is_tried_at_once_when_a_person_asks() {
    for failed in [false, true] {
        let (practice, uuids) = if failed { with_failed(1).await } else { with_failed(0).await };
        let mut practice = practice;
        for (key, value) in [("RETRY__INITIAL", "10m"), ("RETRY__MAX", "10m"), ("SYNC__POLL_INTERVAL", "1h")] {
            practice.env.insert(format!("DOCSYNCD__{key}"), value.to_owned());
        }
        let away = practice.path("away");
        std::fs::rename(practice.inbox(), &away).unwrap();
        let new = NewDocument { pdf: NewPdf::Bytes(PDF.to_vec()), ..NewDocument::default() };
        let new = practice.sandbox.add(new).await.unwrap();
        let mut running = practice.run().await;
        running.wait_for_log("destination:pms is paused").await;
        std::fs::rename(&away, practice.inbox()).unwrap();
        let began = Instant::now();
        let (uuid, args) = if failed { (&uuids[0], ["retry", "--failed"]) } else { (&new, ["retry", new.as_str()]) };
        let ended = practice.docsyncd(&args).await;
        assert_eq!(ended.code, 0, "{ended:?}");
        while practice.state(uuid).await != "reported" {
            assert!(began.elapsed() < PATIENCE, "{}", running.log());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        running.end().await;
    }
}
