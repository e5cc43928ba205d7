//! fetch: only a whole, right PDF comes into the spool. Here: one document's own failures; what may pass is tried
//! again, what will not is reported once.

mod origins;
mod shared;

use docsyncd_sandbox::{Fault, FaultKind, NewDocument, Route};

use crate::dictated::*;
use crate::harness::{PATIENCE, Practice};

/// One sync files everything and reports each document once.
async fn assert_syncs(practice: &Practice, uuids: &[String]) {
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert_each_reported_once(practice, uuids);
    practice.assert_all_filed().await;
}

/// Everything but this document is filed and reported as synchronized; this one is reported as failed, once, with an
/// error that contains these words.
async fn assert_only_this_one_failed(practice: &Practice, uuids: &[String], bad: &str, words: &str) {
    assert_eq!(practice.state(bad).await, "failed");
    let posts = posts_of(&practice.sandbox, bad);
    let [(success, Some(error))] = posts.as_slice() else { panic!("{posts:?}") };
    assert_eq!(*success, Some(false));
    assert!(error.contains(words), "{error}");
    for uuid in uuids.iter().filter(|uuid| *uuid != bad) {
        assert_eq!(posts_of(&practice.sandbox, uuid), [(Some(true), None)], "{uuid}");
    }
    assert_eq!(practice.filed().len(), uuids.len() - 1, "{:?}", practice.filed());
    practice.assert_spool_empty();
}

#[tokio::test]
async fn html_instead_of_a_pdf_is_asked_for_again() {
    let (practice, uuids) = practice_with_small(4).await;
    practice.sandbox.inject(Fault::always(Route::Pdf, FaultKind::Html200).for_document(&uuids[0]).times(1));
    practice.sandbox.inject(Fault::always(Route::Pdf, FaultKind::Html200).for_document(&uuids[1]).times(2));
    assert_syncs(&practice, &uuids).await;
    assert_eq!(downloads_of(&practice, &uuids[0]).await, 2);
    assert_eq!(downloads_of(&practice, &uuids[1]).await, 3);
}

#[tokio::test]
async fn html_for_one_document_among_good_ones_is_fetched_three_times_and_reported_once() {
    let (practice, uuids) = practice_with_small(30).await;
    let bad = &uuids[7];
    practice.sandbox.inject(Fault::always(Route::Pdf, FaultKind::Html200).for_document(bad));
    let synced = practice.sync().await;
    assert_eq!(synced.code, 3, "{synced:?}");
    assert_eq!(downloads_of(&practice, bad).await, 3);
    assert_only_this_one_failed(&practice, &uuids, bad, "HTML").await;

    practice.sandbox.forget_requests();
    assert_eq!(practice.sync().await.code, 3, "it stays failed until someone retries it");
    assert_only_lists(&practice);

    practice.sandbox.clear_faults();
    assert_eq!(practice.docsyncd(&["retry", "--failed"]).await.code, 0);
    assert_eq!(practice.sync().await.code, 0);
    practice.assert_all_filed().await;
}

/// What a store answers for a PDF that it has some seconds after its letter is listed: each of these was seen. Other
/// letters flow meanwhile, which says nothing of these.
#[tokio::test]
async fn a_pdf_that_comes_later_than_its_letter_is_waited_for_whatever_is_answered_until_then() {
    let mut practice = Practice::with_documents(0).await;
    practice.env.insert("DOCSYNCD__SYNC__PDF_GRACE".into(), "1h".into());
    let nothing = FaultKind::Bytes(Vec::new());
    let kinds = [202, 204, 403, 404, 409].map(FaultKind::status).into_iter().chain([nothing, FaultKind::WrongSize]);
    let mut late = Vec::new();
    for kind in kinds {
        let uuid = practice.sandbox.add(small(&format!("late: {kind:?}"))).await.unwrap();
        practice.sandbox.inject(Fault::always(Route::Pdf, kind).for_document(&uuid));
        late.push(uuid);
    }
    let mut all = add_small(&practice, 9, |_, document| document).await;
    let synced = practice.sync().await;
    assert_eq!(synced.code, 3, "{synced:?}");
    for uuid in &late {
        let downloads = downloads_of(&practice, uuid).await;
        assert!(downloads > 3 && posts_of(&practice.sandbox, uuid).is_empty(), "{uuid}: {downloads}");
    }
    practice.sandbox.clear_faults();
    all.extend(late);
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert_each_reported_once(&practice, &all);
    practice.assert_all_filed().await;
}

/// It never fails by that, and a person is told of it: all may seem well while no letter comes.
#[tokio::test]
async fn a_pdf_that_its_server_does_not_have_for_long_is_told_as_what_fails_again_and_again() {
    for kind in [FaultKind::status(202), FaultKind::Bytes(Vec::new())] {
        let (practice, uuids) = practice_with_small(2).await;
        practice.sandbox.inject(Fault::always(Route::Pdf, kind).for_document(&uuids[0]));
        assert_eq!(practice.sync().await.code, 3);
        let shown = practice.show(&uuids[0]).await;
        assert_eq!(shown["reason"], "the API shows a PDF, and its server has nothing there yet", "{shown}");
        let status = practice.docsyncd(&["status", "--json"]).await;
        let status: serde_json::Value = serde_json::from_str(&status.stdout).unwrap();
        assert_eq!(status["problems"][0]["cause"], "stalled", "{status:#}");
        practice.sandbox.clear_faults();
        assert_syncs(&practice, &uuids).await;
    }
}

/// A fault of one document that may pass: it is filed in the end, and nothing is ever reported as failed.
async fn assert_passes(route: Route, kind: FaultKind) {
    let (practice, uuids) = practice_with_small(5).await;
    practice.sandbox.inject(Fault::always(route, kind.clone()).for_document(&uuids[2]).times(2));
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{kind:?} {synced:?}");
    assert_each_reported_once(&practice, &uuids);
    practice.assert_all_filed().await;
}

#[tokio::test]
async fn a_wrong_declared_size_is_asked_for_again() {
    assert_passes(Route::Document, FaultKind::WrongSize).await;
}

#[tokio::test]
async fn half_a_pdf_is_asked_for_again() {
    assert_passes(Route::Pdf, FaultKind::WrongSize).await;
}

#[tokio::test]
async fn a_download_that_breaks_off_is_tried_again() {
    assert_passes(Route::Pdf, FaultKind::CutBody(9)).await;
}

#[tokio::test]
async fn a_connection_that_is_reset_is_tried_again() {
    assert_passes(Route::Document, FaultKind::Reset).await;
    assert_passes(Route::Pdf, FaultKind::Reset).await;
}

#[tokio::test]
async fn server_errors_are_tried_again() {
    assert_passes(Route::Document, FaultKind::status(500)).await;
    assert_passes(Route::Document, FaultKind::status(503)).await;
    assert_passes(Route::Pdf, FaultKind::status(502)).await;
    assert_passes(Route::Document, FaultKind::status(408)).await;
}

#[tokio::test]
async fn an_answer_that_cannot_be_understood_is_asked_for_again() {
    assert_passes(Route::Document, FaultKind::Html200).await;
    assert_passes(Route::Document, FaultKind::Bytes(b"{\"uuid\": ".to_vec())).await;
    assert_passes(Route::Document, FaultKind::CutBody(20)).await;
}

#[tokio::test]
async fn a_refused_download_is_tried_again_with_the_address_of_a_new_read() {
    assert_passes(Route::Pdf, FaultKind::status(403)).await;
    assert_passes(Route::Pdf, FaultKind::status(404)).await;
}

#[tokio::test]
async fn a_pdf_of_the_wrong_size_is_refused_after_three_downloads() {
    let practice = Practice::with_documents(0).await;
    let declare = |number, document| NewDocument { declared_size: (number == 3).then_some(5), ..document };
    let uuids = add_small(&practice, 6, declare).await;
    assert_eq!(practice.sync().await.code, 3);
    assert_eq!(downloads_of(&practice, &uuids[3]).await, 3);
    assert_only_this_one_failed(&practice, &uuids, &uuids[3], "pdf.size").await;
}

#[tokio::test]
async fn documents_that_hang_keep_no_other_from_being_filed() {
    let (mut practice, uuids) = practice_with_small(20).await;
    practice.env.insert("DOCSYNCD__SYNC__MAX_CONCURRENCY".into(), "3".into());
    practice.without_patience();
    practice.sandbox.inject(Fault::always(Route::Document, FaultKind::Stall).for_document(&uuids[0]));
    practice.sandbox.inject(Fault::always(Route::Pdf, FaultKind::StallBody(9)).for_document(&uuids[1]));
    // Far longer than all the others take: it is not the end of the wait that lets them pass.
    practice.env.insert("DOCSYNCD__API__TIMEOUT".into(), "10m".into());
    let mut running = practice.run().await;
    running.wait_for_logs("event=\"reported\"", 18).await;
    assert_eq!((practice.filed().len(), practice.sandbox.status_posts().len()), (18, 18));
    running.kill().await;

    // Time enough for the answers that come, on a machine that is busy.
    practice.env.insert("DOCSYNCD__API__TIMEOUT".into(), "4s".into());
    let synced = practice.sync().await;
    assert_eq!(synced.code, 3, "{synced:?}");
    for uuid in &uuids[..2] {
        let shown = practice.show(uuid).await;
        assert!(shown["state"] == "discovered" && shown["attempts"].as_u64() > Some(0), "{shown}");
        assert!(posts_of(&practice.sandbox, uuid).is_empty());
    }
    practice.sandbox.clear_faults();
    patient(&mut practice);
    practice.docsyncd(&["retry", "--yes", &uuids[0], &uuids[1]]).await;
    assert_syncs(&practice, &uuids).await;
}

#[tokio::test]
async fn a_pdf_over_the_limit_is_refused_and_no_part_of_it_is_kept() {
    for declared_size in [None, Some(500)] {
        let mut practice = Practice::with_documents(0).await;
        practice.env.insert("DOCSYNCD__SYNC__MAX_PDF_BYTES".into(), "1000".into());
        let with = |number, document: NewDocument| {
            if number == 1 { NewDocument { declared_size, ..small(&"x".repeat(2000)) } } else { document }
        };
        let uuids = add_small(&practice, 3, with).await;
        let synced = practice.sync().await;
        assert_eq!(synced.code, 3, "{synced:?}");
        assert_only_this_one_failed(&practice, &uuids, &uuids[1], "sync.max_pdf_bytes").await;
    }
}

#[tokio::test]
async fn many_pdfs_over_the_limit_are_each_refused_and_hold_nobody_back() {
    let mut practice = Practice::with_documents(0).await;
    practice.env.insert("DOCSYNCD__SYNC__MAX_PDF_BYTES".into(), "1000".into());
    add_small(&practice, 12, |number, _| small(&format!("{number}{}", "x".repeat(2000)))).await;
    practice.sandbox.add(small("a small one")).await.unwrap();
    let synced = practice.sync().await;
    assert_eq!(synced.code, 3, "{synced:?}");
    let posts = practice.sandbox.status_posts();
    assert_eq!(posts.iter().filter(|post| post.success == Some(false)).count(), 12, "{posts:#?}");
    assert_eq!(posts.iter().filter(|post| post.success == Some(true)).count(), 1);
    assert!(paused(&practice).await.is_empty());
}

#[tokio::test]
async fn a_document_that_the_api_refuses_is_reported_once_and_kept_as_failed() {
    for code in [403, 422, 400] {
        let (practice, uuids) = practice_with_small(3).await;
        practice.sandbox.inject(Fault::always(Route::Document, FaultKind::status(code)).for_document(&uuids[1]));
        let synced = practice.sync().await;
        assert_eq!(synced.code, 3, "{synced:?}");
        assert_only_this_one_failed(&practice, &uuids, &uuids[1], &format!("HTTP {code}")).await;
        assert_eq!(practice.sync().await.code, 3);
        assert_eq!(posts_of(&practice.sandbox, &uuids[1]).len(), 1);
    }
}

/// The document as the single read shows it.
async fn single_read(practice: &Practice, uuid: &str) -> serde_json::Value {
    let shown = practice.docsyncd(&["api", "GET", &format!("/documents/{uuid}")]).await;
    serde_json::from_str(&shown.stdout).unwrap()
}

fn shown_as(document: &serde_json::Value) -> FaultKind {
    FaultKind::Bytes(document.to_string().into_bytes())
}

#[tokio::test]
async fn a_document_of_which_the_pdf_lies_on_a_dead_server_delays_no_other() {
    let (mut practice, uuids) = practice_with_small(10).await;
    practice.without_patience();
    let dead = crate::harness::unused_address();
    let mut document = single_read(&practice, &uuids[0]).await;
    document["pdf"]["url"] = format!("http://{}/letter.pdf", dead.address).into();
    practice.sandbox.inject(Fault::always(Route::Document, shown_as(&document)).for_document(&uuids[0]));
    let synced = practice.sync().await;
    assert_eq!(synced.code, 3, "{synced:?}");
    assert_eq!(practice.filed().len(), 9, "{synced:?}");
    assert!(paused(&practice).await.is_empty());
    assert!(practice.show(&uuids[0]).await["attempts"].as_u64() > Some(0));
}

#[tokio::test]
async fn a_read_that_shows_no_address_or_another_document_is_repeated() {
    let (practice, uuids) = practice_with_small(4).await;
    let mut document = single_read(&practice, &uuids[0]).await;
    document["pdf"]["url"] = serde_json::Value::Null;
    practice.sandbox.inject(Fault::once(Route::Document, shown_as(&document)).for_document(&uuids[0]));
    let other = single_read(&practice, &uuids[2]).await;
    practice.sandbox.inject(Fault::once(Route::Document, shown_as(&other)).for_document(&uuids[1]));
    assert_syncs(&practice, &uuids).await;
}

/// The right letter, by its uuid, with what belongs to another one.
#[tokio::test]
async fn a_letter_that_is_shown_with_anothers_patient_or_pdf_is_asked_for_again() {
    for what in ["patient", "pdf"] {
        let (practice, uuids) = practice_with_small(3).await;
        practice.configure("file_name = \"{{ patient.uuid }}/{{ document.uuid }}.pdf\"");
        let (mut document, other) = (single_read(&practice, &uuids[0]).await, single_read(&practice, &uuids[2]).await);
        document[what] = other[what].clone();
        practice.sandbox.inject(Fault::once(Route::Document, shown_as(&document)).for_document(&uuids[0]));
        let synced = practice.sync().await;
        assert_eq!(synced.code, 0, "{synced:?}");
        assert!(synced.stderr.contains("postponed"), "{what}: {synced:?}");
        assert_each_reported_once(&practice, &uuids);
        practice.assert_all_filed().await;
        let filed = practice.filed();
        for uuid in &uuids {
            let patient = single_read(&practice, uuid).await["patient"]["uuid"].as_str().unwrap().to_owned();
            assert!(filed.contains_key(&format!("{patient}/{uuid}.pdf")), "{what}: {:?}", filed.keys());
        }
        assert_eq!(filed.len(), 3, "{:?}", filed.keys());
    }
}

/// The service corrected the patient, and its list with it, since the list was read.
#[tokio::test]
async fn a_patient_that_the_list_names_as_well_is_believed() {
    let (practice, uuids) = practice_with_small(3).await;
    practice.configure("file_name = \"{{ patient.uuid }}/{{ document.uuid }}.pdf\"");
    let (document, other) = (single_read(&practice, &uuids[0]).await, single_read(&practice, &uuids[2]).await);
    assert_ne!(document["patient"]["uuid"], other["patient"]["uuid"]);
    let stale =
        serde_json::json!([{"uuid": uuids[0], "pdf": document["pdf"]["uuid"], "patient": other["patient"]["uuid"]}]);
    practice.sandbox.inject(Fault::once(Route::List, shown_as(&stale)));
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert!(!synced.stderr.contains("postponed"), "{synced:?}");
    practice.assert_all_filed().await;
    let own = format!("{}/{}.pdf", document["patient"]["uuid"].as_str().unwrap(), uuids[0]);
    assert!(practice.filed().contains_key(&own), "{:?}", practice.filed().keys());
}

/// It was filed for the patient whom the document named, and then the document names another one.
#[tokio::test]
async fn a_letter_that_became_anothers_is_not_reported_as_filed() {
    let (mut practice, uuids) = practice_with_small(3).await;
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "1s".into());
    let (mut document, other) = (single_read(&practice, &uuids[0]).await, single_read(&practice, &uuids[2]).await);
    assert_ne!(document["patient"]["uuid"], other["patient"]["uuid"]);
    let outage = practice.sandbox.inject(Fault::always(Route::Status, FaultKind::status(500)).for_document(&uuids[0]));
    let running = practice.run().await;
    let path = format!("/documents/{}", uuids[0]);
    let asked = |view: &docsyncd_sandbox::View, end: &str| {
        view.requests().filter(|request| request.path.ends_with(&format!("{path}{end}"))).count()
    };
    practice.sandbox.wait_for(|view| asked(view, "/status") > 0, PATIENCE).await.unwrap();
    document["patient"] = other["patient"].clone();
    let wrong = practice.sandbox.inject(Fault::always(Route::Document, shown_as(&document)).for_document(&uuids[0]));
    let before = practice.sandbox.look(|view| asked(view, ""));
    // The second read that is seen began after that.
    practice.sandbox.wait_for(|view| asked(view, "") >= before + 2, PATIENCE).await.unwrap();
    practice.sandbox.remove_fault(outage);
    practice.sandbox.wait_for(|view| asked(view, "") >= before + 5, PATIENCE).await.unwrap();
    assert_eq!(posts_of(&practice.sandbox, &uuids[0]), []);
    practice.sandbox.remove_fault(wrong);
    let is_told = |view: &docsyncd_sandbox::View| view.status_posts().any(|post| post.document == uuids[0]);
    practice.sandbox.wait_for(is_told, PATIENCE).await.unwrap();
    assert_eq!(posts_of(&practice.sandbox, &uuids[0]), [(Some(true), None)]);
    drop(running);
    practice.assert_all_filed().await;
}

#[tokio::test]
async fn the_digest_that_show_prints_is_that_of_the_file() {
    let practice = Practice::with_documents(3).await;
    assert_eq!(practice.sync().await.code, 0);
    for document in practice.sandbox.documents().await.unwrap() {
        let shown = practice.show(&document.uuid).await;
        let place = shown["deliveries"][0]["place"].as_str().unwrap();
        let file = std::fs::read(place).unwrap();
        assert_eq!(shown["sha256"], crate::harness::sha256(&file));
        assert_eq!(shown["size"], file.len());
    }
}

#[tokio::test]
async fn a_document_whose_own_failures_go_on_for_too_long_is_given_up() {
    let (mut practice, uuids) = practice_with_small(4).await;
    practice.env.insert("DOCSYNCD__SYNC__GIVE_UP_AFTER".into(), "1ms".into());
    practice.sandbox.inject(Fault::always(Route::Document, FaultKind::status(500)).for_document(&uuids[0]));
    assert_eq!(practice.sync().await.code, 3);
    assert_only_this_one_failed(&practice, &uuids, &uuids[0], "gave up").await;
}
