//! What the daemon concludes from a failure: about the document, about the others, and when it looks once more.

use docsyncd_sandbox::{Fault, FaultKind, Route};

use crate::dictated::*;
use crate::harness::{PATIENCE, Practice};

/// The share is there and the status endpoint is not: the letter is rendered anew while its first version waits for
/// that.
#[tokio::test]
async fn a_letter_that_is_rendered_anew_while_its_report_waits_is_filed_in_both_versions_and_reported_in_the_last() {
    let (practice, uuids) = practice_with_small(1).await;
    practice.sandbox.inject(Fault::always(Route::Status, FaultKind::status(500)));
    assert_eq!(practice.sync().await.code, 3);
    assert_eq!(practice.state(&uuids[0]).await, "delivered");
    practice.sandbox.replace_pdf(&uuids[0], pdf("the second version")).await.unwrap();
    practice.sandbox.clear_faults();
    // The list fails, so that only a look at the document itself shows the new version.
    let unlisted = practice.sandbox.inject(Fault::always(Route::List, FaultKind::status(400)));
    practice.sync().await;
    practice.sandbox.remove_fault(unlisted);
    assert_eq!(practice.sync().await.code, 0);
    assert_eq!(practice.filed().len(), 2, "{:?}", practice.filed());
    assert_eq!(posts_of(&practice.sandbox, &uuids[0]).last(), Some(&(Some(true), None)));
}

/// A captive portal answers for a while, and there is one letter only.
#[tokio::test]
async fn one_letter_in_a_quiet_practice_survives_a_portal_that_answers_in_place_of_the_server() {
    let (practice, uuids) = practice_with_small(1).await;
    practice.sandbox.inject(Fault::always(Route::Pdf, FaultKind::Html200).times(12));
    let _running = practice.run().await;
    practice.wait_for_posts(1).await;
    assert_each_reported_once(&practice, &uuids);
}

/// The same bytes count against the document when the way is known to be good.
#[tokio::test]
async fn a_download_that_is_no_pdf_counts_when_another_document_was_good_in_between() {
    let (practice, bad) = practice_with_small(1).await;
    practice.sandbox.inject(Fault::always(Route::Pdf, FaultKind::Html200).for_document(&bad[0]));
    let mut running = practice.run().await;
    running.wait_for_logs("event=\"postponed\"", 3).await;
    assert_eq!(practice.sandbox.status_posts(), []);
    let good = practice.sandbox.add(small("a good one")).await.unwrap();
    assert_eq!(practice.docsyncd(&["poll"]).await.code, 0);
    practice.wait_for_posts(2).await;
    assert_eq!(posts_of(&practice.sandbox, &good), [(Some(true), None)]);
    let posts = posts_of(&practice.sandbox, &bad[0]);
    assert!(matches!(posts.as_slice(), [(Some(false), Some(error))] if error.contains("not a PDF")), "{posts:?}");
}

/// Three documents meet an outage, and one of them stays bad: it must not be the one that the pause is probed with for
/// ever.
#[tokio::test]
async fn a_document_that_stays_bad_holds_up_none_that_met_the_same_outage() {
    let (practice, uuids) = practice_with_small(3).await;
    let outage = practice.sandbox.inject(Fault::always(Route::Document, FaultKind::status(500)));
    let mut running = practice.run().await;
    running.wait_for_log("fetch:main is paused").await;
    practice.sandbox.inject(Fault::always(Route::Document, FaultKind::status(500)).for_document(&uuids[0]));
    practice.sandbox.remove_fault(outage);
    practice.wait_for_posts(2).await;
    assert_each_reported_once(&practice, &uuids[1..]);
}

/// Every document fails its first three tries: the pauses that come of it end, and all are reported.
#[tokio::test]
async fn a_server_that_fails_the_first_tries_of_each_document_gets_all_reports() {
    let (practice, uuids) = practice_with_small(40).await;
    for uuid in &uuids {
        practice.sandbox.inject(Fault::always(Route::Status, FaultKind::status(500)).for_document(uuid).times(3));
    }
    let _running = practice.run().await;
    let all = |view: &docsyncd_sandbox::View| view.status_posts().count() >= 40;
    practice.sandbox.wait_for(all, PATIENCE).await.expect("every report");
    assert_each_reported_once(&practice, &uuids);
}

/// Five that are refused alike, however slowly one after the other: nobody is told, and they go on when that is over.
#[tokio::test]
async fn documents_that_are_all_refused_are_told_to_nobody() {
    let practice: Practice = Practice::with_documents(0).await;
    let uuids = add_small(&practice, 6, |_, document| document).await;
    practice.sandbox.inject(Fault::always(Route::Document, FaultKind::status(403)));
    let mut running = practice.run().await;
    running.wait_for_log("fetch:main is paused").await;
    practice.sandbox.clear_faults();
    practice.wait_for_posts(6).await;
    assert_each_reported_once(&practice, &uuids);
}

/// The spool holds what it may: nothing more is fetched for a destination that is away, and everything when it is back.
#[tokio::test]
async fn what_lies_downloaded_for_a_destination_that_is_away_has_a_bound() {
    let (mut practice, _) = practice_with_small(0).await;
    practice.env.insert("DOCSYNCD__STATE__SPOOL_LIMIT".into(), "1B".into());
    let first = practice.sandbox.add(small("the first")).await.unwrap();
    std::fs::rename(practice.inbox(), practice.path("away")).unwrap();
    let mut running = practice.run().await;
    running.wait_for_log("destination:pms is paused").await;
    let mut uuids = add_small(&practice, 30, |_, document| document).await;
    assert_eq!(practice.docsyncd(&["poll"]).await.code, 0);
    running.wait_for_logs("state.spool_limit", 30).await;
    assert_eq!(std::fs::read_dir(practice.spool()).unwrap().count(), 1);
    std::fs::rename(practice.path("away"), practice.inbox()).unwrap();
    practice.wait_for_posts(31).await;
    uuids.push(first);
    assert_each_reported_once(&practice, &uuids);
}

/// A pause that nothing is left to be probed with ends: it would stand in `status` for ever.
#[tokio::test]
async fn a_pause_of_what_is_gone_ends() {
    let (mut practice, uuids) = practice_with_small(1).await;
    practice.env.insert("DOCSYNCD__LOG__LEVEL".into(), "debug".into());
    practice.sandbox.inject(Fault::always(Route::Document, FaultKind::status(429)));
    let mut running = practice.run().await;
    running.wait_for_log("fetch:main is paused").await;
    practice.sandbox.clear_faults();
    practice.sandbox.remove(&uuids[0]).await.unwrap();
    running.wait_for_log("fetch:main is tried again").await;
    // Whether it works is known when something does.
    assert!(!running.log().contains("event=\"resumed\""), "{}", running.log());
    add_small(&practice, 1, |_, document| document).await;
    assert_eq!(practice.docsyncd(&["poll"]).await.code, 0);
    running.wait_for_log("fetch:main works again").await;
}

/// The process ends while it reads a document, and again: after that the document waits, and the others go on.
#[tokio::test]
async fn a_document_whose_answer_ends_the_process_is_set_aside_at_the_next_start() {
    let (mut practice, bad) = practice_with_small(1).await;
    practice.without_patience();
    practice.sandbox.inject(Fault::always(Route::Document, FaultKind::Stall).for_document(&bad[0]));
    let reads = |view: &docsyncd_sandbox::View| {
        view.requests().filter(|request| request.path == format!("/documents/{}", bad[0])).count()
    };
    for cut_off in 1..=2 {
        let mut running = practice.run().await;
        practice.sandbox.wait_for(|view| reads(view) == cut_off, PATIENCE).await.expect("it is read");
        running.kill().await;
        assert_eq!(practice.show(&bad[0]).await["attempts"], 0);
    }
    let good = add_small(&practice, 3, |_, document| document).await;
    let mut running = practice.run().await;
    practice.wait_for_posts(3).await;
    let shown = practice.show(&bad[0]).await;
    assert_eq!((&shown["attempts"], &shown["state"]), (&1.into(), &"discovered".into()), "{shown}");
    assert!(shown["reason"].as_str().unwrap().contains("cut off"), "{shown}");
    running.end().await;
    assert_each_reported_once(&practice, &good);

    // What ended in good order leaves no marks.
    assert_eq!(practice.sync().await.code, 3);
    assert_eq!(practice.show(&bad[0]).await["attempts"], 1);
    assert_eq!(practice.sandbox.requests().iter().filter(|request| request.path.ends_with(&bad[0])).count(), 2);
}
