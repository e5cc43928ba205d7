//! What a 404, an empty list or a stale page proves: nothing. What two looks prove, a poll apart.

use docsyncd_sandbox::{Fault, FaultKind, NewDocument, NewPdf, Route};

use super::frequent;
use crate::dictated::*;
use crate::harness::{PATIENCE, Practice};

/// A list as the server printed it.
async fn list_as_printed(practice: &Practice) -> Vec<u8> {
    let printed = practice.docsyncd(&["api", "GET", "/documents?synchronized=false&order[createdAt]=asc"]).await;
    assert_eq!(printed.code, 0, "{printed:?}");
    printed.stdout.into_bytes()
}

/// An importer takes the files away, so that a second one would be a second letter.
fn empty_inbox(practice: &Practice) {
    std::fs::remove_dir_all(practice.inbox()).unwrap();
    std::fs::create_dir(practice.inbox()).unwrap();
}

#[tokio::test]
async fn a_404_for_everything_withdraws_nothing_and_files_nothing_twice() {
    let (mut practice, uuids) = practice_with_small(3).await;
    frequent(&mut practice);
    let refused = practice.sandbox.inject(Fault::always(Route::Status, FaultKind::status(503)));
    let mut running = practice.run().await;
    running.wait_for_logs("event=\"delivered\"", 3).await;
    empty_inbox(&practice);
    for route in [Route::Document, Route::Status, Route::Pdf] {
        practice.sandbox.inject(Fault::always(route, FaultKind::status(404)));
    }
    practice.sandbox.remove_fault(refused);
    let late = practice.sandbox.add(small("late")).await.unwrap();
    wait_for_walks(&practice, 10).await;
    running.kill().await;
    practice.without_patience();
    let synced = practice.sync().await;
    assert_eq!(synced.code, 3, "{synced:?}");
    assert_eq!(status(&practice).await["waiting"], 4);
    patient(&mut practice);
    practice.sandbox.clear_faults();
    // What the last pass tried waits for hours otherwise.
    for uuid in uuids.iter().chain([&late]) {
        practice.docsyncd(&["retry", "--yes", uuid]).await;
    }
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    let log = running.log() + &synced.stderr;
    assert!(!log.contains("event=\"withdrawn\""), "{log}");
    assert_each_reported_once(&practice, &[uuids, vec![late]].concat());
    assert_eq!(practice.filed().len(), 1, "only the late one: {:?}", practice.filed());
}

#[tokio::test]
async fn a_document_that_is_gone_is_withdrawn_after_two_looks_of_a_running_daemon() {
    let mut practice = Practice::with_documents(0).await;
    frequent(&mut practice);
    let draft = NewDocument { pdf: NewPdf::None, ..NewDocument::default() };
    let uuid = practice.sandbox.add(draft).await.unwrap();
    let mut running = practice.run().await;
    running.wait_for_log("event=\"discovered\"").await;
    practice.sandbox.remove(&uuid).await.unwrap();
    assert_eq!(practice.docsyncd(&["retry", "--yes", &uuid]).await.code, 0);
    running.wait_for_log("event=\"withdrawn\"").await;
    running.kill().await;
    assert_eq!(practice.sync().await.code, 0);
}

#[tokio::test]
async fn a_withdrawn_document_that_is_listed_again_is_reported_and_not_filed_again() {
    let (mut practice, uuids) = practice_with_small(2).await;
    frequent(&mut practice);
    practice.sandbox.inject(Fault::always(Route::Status, FaultKind::status(404)).for_document(&uuids[0]));
    let mut running = practice.run().await;
    practice.wait_for_posts(1).await;
    practice.sandbox.set_listed(&uuids[0], false).await.unwrap();
    running.wait_for_log("event=\"withdrawn\"").await;
    empty_inbox(&practice);
    practice.sandbox.clear_faults();
    practice.sandbox.set_listed(&uuids[0], true).await.unwrap();
    practice.wait_for_posts(2).await;
    running.wait_for_logs("event=\"reported\"", 2).await;
    running.kill().await;
    assert_each_reported_once(&practice, &uuids);
    assert_eq!(practice.filed().len(), 0, "{:?}", practice.filed());
}

#[tokio::test]
async fn one_stale_page_refiles_no_letter_and_reports_no_failure_again() {
    let (mut practice, uuids) = practice_with_small(3).await;
    let bad = add_refused(&practice).await;
    frequent(&mut practice);
    let stale = list_as_printed(&practice).await;
    let mut running = practice.run().await;
    practice.wait_for_posts(4).await;
    let stays = practice.sandbox.add(NewDocument { pdf: NewPdf::None, ..NewDocument::default() }).await.unwrap();
    wait_for_walks(&practice, 8).await;
    empty_inbox(&practice);
    practice.sandbox.inject(Fault::once(Route::List, FaultKind::Bytes(stale)));
    wait_for_walks(&practice, 12).await;
    running.kill().await;
    assert_eq!(practice.sandbox.status_posts().len(), 4, "{:#?}", practice.sandbox.status_posts());
    assert_eq!(practice.filed().len(), 0, "{:?}", practice.filed());
    assert_eq!([&uuids[0], &bad].map(|uuid| posts_of(&practice.sandbox, uuid).len()), [1, 1]);
    // Somebody asks for them again, while another one stays listed.
    let _running = practice.run().await;
    practice.sandbox.set_listed(&uuids[1], true).await.unwrap();
    practice.sandbox.set_listed(&bad, true).await.unwrap();
    practice.wait_for_posts(6).await;
    assert_eq!([&uuids[1], &bad].map(|uuid| posts_of(&practice.sandbox, uuid).len()), [2, 2]);
    assert!(posts_of(&practice.sandbox, &stays).is_empty());
}

#[tokio::test]
async fn empty_lists_for_a_while_report_nothing_again() {
    let mut practice = Practice::with_documents(0).await;
    practice.sandbox.set_quirks(docsyncd_sandbox::Quirks { stays_listed: true, ..Default::default() });
    let mut uuids = add_small(&practice, 3, |_, document| document).await;
    uuids.push(add_refused(&practice).await);
    frequent(&mut practice);
    let mut running = practice.run().await;
    practice.wait_for_posts(4).await;
    wait_for_walks(&practice, 4).await;
    let empty = practice.sandbox.inject(Fault::always(Route::List, FaultKind::Bytes(b"[]".to_vec())));
    wait_for_walks(&practice, 30).await;
    practice.sandbox.remove_fault(empty);
    wait_for_walks(&practice, 10).await;
    running.kill().await;
    assert_eq!(practice.sync().await.code, 3, "the failed one");
    for uuid in &uuids {
        assert_eq!(posts_of(&practice.sandbox, uuid).len(), 1, "{uuid}");
    }
}

/// The document is there and listed; only its own calls go astray for as long as a proxy's cache holds.
#[tokio::test]
async fn a_404_while_the_list_shows_the_document_is_waited_for() {
    let (mut practice, uuids) = practice_with_small(2).await;
    frequent(&mut practice);
    let fault = Fault::always(Route::Document, FaultKind::status(404)).for_document(&uuids[0]);
    let fault = practice.sandbox.inject(fault);
    let mut running = practice.run().await;
    practice.wait_for_posts(1).await;
    wait_for_walks(&practice, 10).await;
    assert_eq!(practice.state(&uuids[0]).await, "discovered");
    practice.sandbox.remove_fault(fault);
    practice.wait_for_posts(2).await;
    running.kill().await;
    assert_each_reported_once(&practice, &uuids);
    practice.assert_all_filed().await;
}

#[tokio::test]
async fn what_is_listed_again_or_with_another_pdf_is_found_by_the_next_poll() {
    let (mut practice, uuids) = practice_with_small(4).await;
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "100ms".into());
    let mut running = practice.run().await;
    practice.wait_for_posts(4).await;
    // The reconcile_interval is hours.
    wait_for_walks(&practice, 8).await;
    practice.sandbox.set_listed(&uuids[1], true).await.unwrap();
    practice.wait_for_posts(5).await;
    practice.sandbox.replace_pdf(&uuids[0], pdf("rendered anew")).await.unwrap();
    practice.sandbox.set_listed(&uuids[0], true).await.unwrap();
    practice.wait_for_posts(6).await;
    running.wait_for_logs("event=\"reported\"", 6).await;
    running.kill().await;
    assert_eq!([&uuids[0], &uuids[1]].map(|uuid| posts_of(&practice.sandbox, uuid).len()), [2, 2]);
    assert_eq!(practice.filed().len(), 5, "{:?}", practice.filed());
}

#[tokio::test]
async fn drafts_cost_no_request_of_their_own_until_the_list_shows_a_pdf() {
    let mut practice = Practice::with_documents(0).await;
    let draft = |_, document| NewDocument { pdf: NewPdf::None, ..document };
    let uuids = add_small(&practice, 20, draft).await;
    frequent(&mut practice);
    let mut running = practice.run().await;
    running.wait_for_logs("event=\"discovered\"", 20).await;
    wait_for_walks(&practice, 60).await;
    let read = || -> Vec<String> {
        let paths: Vec<String> = practice.sandbox.look(|view| view.requests().map(|one| one.path.clone()).collect());
        paths.into_iter().filter(|path| path.starts_with("/documents/")).collect()
    };
    assert_eq!(read(), [""; 0]);
    practice.sandbox.set_pdf(&uuids[7], pdf("rendered at last")).await.unwrap();
    practice.sandbox.wait_for(|view| view.status_posts().count() == 1, PATIENCE).await.unwrap();
    running.kill().await;
    let of_the_rendered = |path: &String| path.contains(uuids[7].as_str());
    assert!(read().iter().all(of_the_rendered), "its PDF and its report, and no other letter: {:?}", read());
    let shown = practice.show(&uuids[0]).await;
    assert_eq!((shown["state"].as_str(), shown["attempts"].as_u64()), (Some("discovered"), Some(0)), "{shown}");
    assert_eq!(shown["reason"], "the PDF is not rendered yet");
}
