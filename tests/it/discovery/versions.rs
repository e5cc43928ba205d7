//! Documents that are seen again: what is left alone, what is a new version, what a person asked for once more.

use std::time::Duration;

use docsyncd_sandbox::{Fault, FaultKind, NewDocument, NewPdf, Quirks, Route, SingleShape};

use super::frequent;
use crate::dictated::*;
use crate::harness::{PATIENCE, Practice};

#[tokio::test]
async fn documents_that_stay_listed_after_the_report_are_left_alone() {
    let (mut practice, uuids) = practice_with_small(130).await;
    let stays = Quirks { stays_listed: true, touch_updated_at: true, ..Quirks::default() };
    practice.sandbox.set_quirks(stays.clone());
    let first = practice.sync().await;
    assert_eq!(first.code, 0, "{first:?}");
    // Each is read once more: it might have been corrected and listed again.
    for _ in 0..4 {
        assert_eq!(practice.sync().await.code, 0);
    }
    practice.sandbox.forget_requests();
    for max_page_size in [None, Some(20), Some(7)] {
        practice.sandbox.set_quirks(Quirks { max_page_size, ..stays.clone() });
        let again = practice.sync().await;
        assert_eq!(again.code, 0, "{again:?}");
    }
    frequent(&mut practice);
    let mut running = practice.run().await;
    wait_for_walks(&practice, 60).await;
    running.kill().await;
    assert_only_lists(&practice);
    assert_each_reported_once(&practice, &uuids);
    practice.assert_all_filed().await;
}

#[tokio::test]
async fn documents_that_stay_listed_in_an_order_of_the_server_are_left_alone_too() {
    let (practice, uuids) = practice_with_small(50).await;
    let quirks = Quirks {
        stays_listed: true,
        touch_updated_at: true,
        ignore_order: true,
        max_page_size: Some(20),
        ..Quirks::default()
    };
    practice.sandbox.set_quirks(quirks);
    for _ in 0..3 {
        let synced = practice.sync().await;
        assert_eq!(synced.code, 0, "{synced:?}");
    }
    assert_each_reported_once(&practice, &uuids);
    let downloads = practice.sandbox.look(|view| view.requests().filter(|request| is_download(request)).count());
    assert_eq!(downloads, 50);
    practice.assert_all_filed().await;
}

#[tokio::test]
async fn a_document_that_is_listed_again_is_reported_again_and_not_filed_again() {
    // More than one page of them: each has to be seen to leave before it can come back.
    let (practice, uuids) = practice_with_small(130).await;
    assert_eq!(practice.sync().await.code, 0);
    let again = [0, 64, 99, 100, 129].map(|index: usize| uuids[index].clone());
    for uuid in &again {
        practice.sandbox.set_listed(uuid, true).await.unwrap();
    }
    // The practice system has taken one of the files. It has that letter.
    let gone = practice.show(&again[0]).await["deliveries"][0]["place"].as_str().unwrap().to_owned();
    std::fs::remove_file(gone).unwrap();
    practice.sandbox.forget_requests();
    assert_eq!(practice.sync().await.code, 0);
    let downloads = practice.sandbox.look(|view| view.requests().filter(|request| is_download(request)).count());
    assert_eq!(downloads, 0);
    for uuid in &again {
        assert_eq!(posts_of(&practice.sandbox, uuid), [(Some(true), None), (Some(true), None)]);
    }
    assert_eq!(practice.sandbox.status_posts().len(), 135);
    assert_eq!(practice.filed().len(), 129);
}

#[tokio::test]
async fn a_running_daemon_reports_again_what_is_listed_again() {
    let (mut practice, uuids) = practice_with_small(3).await;
    frequent(&mut practice);
    let mut running = practice.run().await;
    running.wait_for_logs("event=\"reported\"", 3).await;
    // Enough for a whole poll after the last report, by which they are seen to have left the list.
    wait_for_walks(&practice, 8).await;
    practice.sandbox.set_listed(&uuids[0], true).await.unwrap();
    practice.wait_for_posts(4).await;
    assert_eq!(posts_of(&practice.sandbox, &uuids[0]).len(), 2);
    running.kill().await;
    assert_eq!(practice.sync().await.code, 0);
    practice.assert_all_filed().await;
}

#[tokio::test]
async fn another_pdf_is_a_new_version_with_a_file_and_a_report_of_its_own() {
    let (practice, uuids) = practice_with_small(2).await;
    practice.configure("file_name = \"letter.pdf\"");
    practice.sandbox.set_quirks(Quirks { stays_listed: true, ..Quirks::default() });
    // The two share a name already.
    assert_eq!(practice.sync().await.code, 0);
    assert_eq!(practice.filed().len(), 2);

    practice.sandbox.replace_pdf(&uuids[0], pdf("second version")).await.unwrap();
    assert_eq!(practice.sync().await.code, 0);
    let filed = practice.filed();
    assert_eq!(filed.len(), 3, "{filed:?}");
    let versions = ["letter_v2.pdf".to_owned(), format!("letter_{}_v2.pdf", short(&uuids[0]))];
    assert!(filed.keys().any(|name| versions.contains(name)), "{filed:?}");
    assert!(filed.values().any(|sha| *sha == crate::harness::sha256(&pdf("second version"))));
    assert_eq!(posts_of(&practice.sandbox, &uuids[0]).len(), 2);

    practice.sandbox.set_quirks(Quirks::default());
    practice.sandbox.set_listed(&uuids[0], false).await.unwrap();
    practice.sandbox.set_listed(&uuids[1], false).await.unwrap();
    assert_eq!(practice.sync().await.code, 0);
    practice.sandbox.replace_pdf(&uuids[1], pdf("changed while away")).await.unwrap();
    practice.sandbox.set_listed(&uuids[1], true).await.unwrap();
    assert_eq!(practice.sync().await.code, 0);
    assert_eq!(practice.filed().len(), 4);
    assert_eq!(posts_of(&practice.sandbox, &uuids[1]).len(), 2);
    assert_eq!(practice.sandbox.status_posts().len(), 4);
    practice.assert_spool_empty();
}

#[tokio::test]
async fn a_new_version_that_appears_while_the_old_one_is_fetched_is_not_missed() {
    let mut practice = Practice::with_documents(0).await;
    // The single read is followed by a slow one of the patient, then by the download of what it showed.
    let quirks = Quirks { stays_listed: true, single_shows: SingleShape::Identifiers, ..Quirks::default() };
    practice.sandbox.set_quirks(quirks);
    practice.sandbox.inject(Fault::once(Route::Patient, FaultKind::Delay(Duration::from_millis(800))));
    practice.sandbox.inject(Fault::once(Route::Pdf, FaultKind::Bytes(pdf("letter 0"))));
    let uuid = add_small(&practice, 1, |_, document| document).await.remove(0);
    frequent(&mut practice);
    let _running = practice.run().await;
    let read = format!("/documents/{uuid}");
    practice.sandbox.wait_for(|view| view.requests().any(|request| request.path == read), PATIENCE).await.unwrap();
    practice.sandbox.replace_pdf(&uuid, pdf("second version")).await.unwrap();
    let second = crate::harness::sha256(&pdf("second version"));
    practice
        .sandbox
        .wait_for(
            |view| view.status_posts().count() > 0 && practice.filed().values().any(|sha| *sha == second),
            PATIENCE,
        )
        .await
        .expect("the second version");
}

#[tokio::test]
async fn a_version_that_was_never_delivered_leaves_nothing_in_the_spool() {
    let (mut practice, uuids) = practice_with_small(1).await;
    frequent(&mut practice);
    std::fs::remove_dir(practice.inbox()).unwrap();
    let mut running = practice.run().await;
    running.wait_for_log("destination:pms is paused").await;
    practice.sandbox.replace_pdf(&uuids[0], pdf("second version")).await.unwrap();
    running.wait_for_log("event=\"revised\"").await;
    std::fs::create_dir(practice.inbox()).unwrap();
    practice.wait_for_posts(1).await;
    running.wait_for_log("event=\"reported\"").await;
    practice.assert_all_filed().await;
}

#[tokio::test]
async fn a_document_without_a_pdf_waits_for_it_without_failing() {
    let (practice, _) = practice_with_small(2).await;
    let uuid = practice.sandbox.add(NewDocument { pdf: NewPdf::None, ..NewDocument::default() }).await.unwrap();
    for _ in 0..2 {
        let synced = practice.sync().await;
        assert_eq!(synced.code, 3, "{synced:?}");
        let shown = practice.show(&uuid).await;
        assert_eq!((shown["state"].as_str(), shown["attempts"].as_u64()), (Some("discovered"), Some(0)), "{shown}");
    }
    assert!(posts_of(&practice.sandbox, &uuid).is_empty());
    practice.sandbox.set_pdf(&uuid, pdf("rendered at last")).await.unwrap();
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert_eq!(posts_of(&practice.sandbox, &uuid), [(Some(true), None)]);
    practice.assert_all_filed().await;
}

#[tokio::test]
async fn a_document_that_is_gone_when_it_is_fetched_counts_as_withdrawn() {
    let (mut practice, _) = practice_with_small(2).await;
    let uuid = practice.sandbox.add(NewDocument { pdf: NewPdf::None, ..NewDocument::default() }).await.unwrap();
    assert_eq!(practice.sync().await.code, 3);
    practice.sandbox.remove(&uuid).await.unwrap();
    assert_eq!(practice.docsyncd(&["retry", "--yes", &uuid]).await.code, 0);
    // A 404 and one look at the list are no proof, and looks in quick succession are one, whichever process makes them.
    for _ in 0..2 {
        assert_eq!(practice.sync().await.code, 3);
        assert_eq!(practice.state(&uuid).await, "discovered");
    }
    frequent(&mut practice);
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert_eq!(practice.state(&uuid).await, "withdrawn");
    assert!(posts_of(&practice.sandbox, &uuid).is_empty());
    practice.assert_all_filed().await;
}
