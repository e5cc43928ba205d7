//! Failures that several documents share are the origin's or the account's: they are paused and resume by themselves.

use std::time::Duration;

use docsyncd_sandbox::{Fault, FaultKind, NewDocument, NewPdf, Route};

use super::assert_syncs;
use crate::dictated::*;
use crate::harness::{PATIENCE, Practice};

#[tokio::test]
async fn html_for_every_download_fails_no_document() {
    let (practice, uuids) = practice_with_small(40).await;
    practice.sandbox.inject(Fault::always(Route::Pdf, FaultKind::Html200));
    let synced = practice.sync().await;
    assert_eq!(synced.code, 3, "{synced:?}");
    assert_eq!(practice.sandbox.status_posts(), []);
    assert_eq!(paused(&practice).await, ["fetch:main"]);
    assert_eq!(status(&practice).await["waiting"], 40);
    practice.sandbox.clear_faults();
    assert_syncs(&practice, &uuids).await;
    assert!(paused(&practice).await.is_empty());
}

#[tokio::test]
async fn a_running_daemon_resumes_by_itself_when_downloads_work_again() {
    let (practice, uuids) = practice_with_small(40).await;
    practice.sandbox.inject(Fault::always(Route::Pdf, FaultKind::status(502)));
    let mut running = practice.run().await;
    running.wait_for_log("fetch:main is paused").await;
    practice.sandbox.wait_for(|view| view.requests().filter(|r| is_download(r)).count() > 25, PATIENCE).await.unwrap();
    practice.sandbox.clear_faults();
    practice.wait_for_posts(40).await;
    assert_each_reported_once(&practice, &uuids);
    running.wait_for_log("fetch:main works again").await;
}

/// Eight that fail alike look like an outage. Each good one that gets through shows that it is none: with those that
/// come one after the other, each bad one ends in this state.
async fn assert_each_bad_one_ends(route: Route, fault: FaultKind, state: &str) {
    let (mut practice, bad) = practice_with_small(8).await;
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "20ms".into());
    for uuid in &bad {
        practice.sandbox.inject(Fault::always(route, fault.clone()).for_document(uuid));
    }
    let _running = practice.run().await;
    for number in 0.. {
        let good = practice.sandbox.add(small(&format!("good {number}"))).await.unwrap();
        let done = |view: &docsyncd_sandbox::View| view.status_posts().any(|post| post.document == good);
        practice.sandbox.wait_for(done, PATIENCE).await.expect("its report");
        assert_eq!(posts_of(&practice.sandbox, &good), [(Some(true), None)]);
        let ended = status(&practice).await["documents"][state].as_u64();
        if ended == Some(8) {
            break;
        }
        assert!(number < 300, "{ended:?} of the bad ones have ended");
    }
    for uuid in &bad {
        let posts = posts_of(&practice.sandbox, uuid);
        match state {
            "failed" => assert!(matches!(posts.as_slice(), [(Some(false), Some(_))]), "{posts:?}"),
            _ => assert_eq!(posts.as_slice(), [], "none was accepted"),
        }
    }
}

#[tokio::test]
async fn many_bad_documents_hold_no_good_one_back_and_each_ends_failed() {
    assert_each_bad_one_ends(Route::Pdf, FaultKind::Html200, "failed").await;
}

#[tokio::test]
async fn many_documents_that_the_service_refuses_are_told_when_good_ones_pass() {
    assert_each_bad_one_ends(Route::Document, FaultKind::status(403), "failed").await;
}

#[tokio::test]
async fn many_reports_that_the_service_refuses_are_believed_when_others_pass() {
    assert_each_bad_one_ends(Route::Status, FaultKind::status(422), "unreported").await;
}

#[tokio::test]
async fn a_new_document_is_not_kept_waiting_behind_old_ones_that_hold_the_origin_paused() {
    let (mut practice, bad) = practice_with_small(12).await;
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "20ms".into());
    for uuid in &bad {
        practice.sandbox.inject(Fault::always(Route::Pdf, FaultKind::Html200).for_document(uuid));
    }
    let mut running = practice.run().await;
    running.wait_for_log("fetch:main is paused").await;
    let probed = |view: &docsyncd_sandbox::View| view.requests().filter(|request| is_download(request)).count();
    practice.sandbox.wait_for(|view| probed(view) >= 30, PATIENCE).await.expect("probes");
    let good = practice.sandbox.add(small("a good one")).await.unwrap();
    running.wait_for_log(&good).await;
    let before = practice.sandbox.look(probed);
    let done = |view: &docsyncd_sandbox::View| view.status_posts().any(|post| post.document == good);
    practice.sandbox.wait_for(done, PATIENCE).await.expect("its report");
    let read = format!("/documents/{good}");
    let reads = practice.sandbox.look(|view| {
        let until: Vec<_> =
            view.requests().map(|request| request.path.clone()).take_while(|path| *path != read).collect();
        until.iter().filter(|path| path.starts_with("/files/")).count()
    });
    assert!(reads <= before + 2, "{reads} {before}");
}

/// It is asked for once more before it is filed, and only PDFs cannot be had.
#[tokio::test]
async fn a_letter_that_waited_for_its_destination_is_filed_although_no_pdf_can_be_downloaded() {
    let (mut practice, _) = practice_with_small(1).await;
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "20ms".into());
    let away = practice.path("away");
    std::fs::rename(practice.inbox(), &away).unwrap();
    let mut running = practice.run().await;
    running.wait_for_log("destination:pms is paused").await;
    practice.sandbox.inject(Fault::always(Route::Pdf, FaultKind::Html200));
    add_small(&practice, 8, |_, document| document).await;
    running.wait_for_log("fetch:main is paused").await;
    std::fs::rename(&away, practice.inbox()).unwrap();
    practice.wait_for_posts(1).await;
    assert_eq!(paused(&practice).await, ["fetch:main"]);
}

/// Those that cannot be read keep no other letter from its destination.
#[tokio::test]
async fn a_letter_that_waited_for_its_destination_is_filed_although_others_cannot_be_read() {
    let (mut practice, _) = practice_with_small(1).await;
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "20ms".into());
    let away = practice.path("away");
    std::fs::rename(practice.inbox(), &away).unwrap();
    let mut running = practice.run().await;
    running.wait_for_log("destination:pms is paused").await;
    for uuid in add_small(&practice, 8, |_, document| document).await {
        practice.sandbox.inject(Fault::always(Route::Document, FaultKind::status(500)).for_document(uuid));
    }
    running.wait_for_log("fetch:main is paused").await;
    std::fs::rename(&away, practice.inbox()).unwrap();
    practice.wait_for_posts(1).await;
    assert_eq!(paused(&practice).await, ["fetch:main"]);
}

/// Most of a large number of bad ones were never tried when the pause began, and are older.
#[tokio::test]
async fn a_good_document_is_found_behind_a_hundred_bad_ones_and_so_is_a_new_one() {
    let (mut practice, bad) = practice_with_small(100).await;
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "20ms".into());
    for uuid in &bad {
        practice.sandbox.inject(Fault::always(Route::Document, FaultKind::status(500)).for_document(uuid));
    }
    let behind = practice.sandbox.add(small("a good one")).await.unwrap();
    let _running = practice.run().await;
    let is_read = |view: &docsyncd_sandbox::View, uuid: &String| {
        view.requests().any(|request| request.path == format!("/documents/{uuid}"))
    };
    let tried = |view: &docsyncd_sandbox::View| bad.iter().filter(|uuid| is_read(view, uuid)).count();
    let done = |uuid: &str| {
        let uuid = uuid.to_owned();
        move |view: &docsyncd_sandbox::View| view.status_posts().any(|post| post.document == uuid)
    };
    practice.sandbox.wait_for(done(&behind), PATIENCE).await.expect("its report");
    assert!(practice.sandbox.look(tried) < 60, "{}", practice.sandbox.look(tried));
    let new = practice.sandbox.add(small("a new one")).await.unwrap();
    practice.sandbox.wait_for(done(&new), PATIENCE).await.expect("its report");
    assert!(practice.sandbox.look(tried) < 90, "{}", practice.sandbox.look(tried));
}

/// The oldest document takes long to download, and is what a pause would be probed with: it is under way, so another
/// one is.
#[tokio::test]
async fn a_pause_that_begins_during_a_long_download_is_over_before_that_is() {
    let (practice, uuids) = practice_with_small(1).await;
    let drip = FaultKind::Drip { bytes: 10, every: Duration::from_secs(5) };
    practice.sandbox.inject(Fault::once(Route::Pdf, drip).for_document(&uuids[0]));
    let mut running = practice.run().await;
    practice.sandbox.wait_for(|view| view.requests().any(is_download), PATIENCE).await.expect("its download");
    practice.sandbox.inject(Fault::once(Route::Document, FaultKind::status(429)));
    let another = practice.sandbox.add(small("another")).await.unwrap();
    assert_eq!(practice.docsyncd(&["poll"]).await.code, 0);
    running.wait_for_log("fetch:main is paused").await;
    practice.wait_for_posts(1).await;
    assert_eq!(posts_of(&practice.sandbox, &another), [(Some(true), None)], "{}", running.log());
}

/// Long downloads that began before a sign-in page came in the way end well: that is no sign that those who get the
/// page are bad.
#[tokio::test]
async fn downloads_that_were_under_way_are_no_evidence_against_those_that_fail() {
    let (mut practice, mut uuids) = practice_with_small(4).await;
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "20ms".into());
    practice.env.insert("DOCSYNCD__SYNC__MAX_CONCURRENCY".into(), "12".into());
    for (uuid, millis) in uuids.iter().zip([300, 350, 400, 450]) {
        let drip = FaultKind::Drip { bytes: 20, every: Duration::from_millis(millis) };
        practice.sandbox.inject(Fault::once(Route::Pdf, drip).for_document(uuid));
    }
    let _running = practice.run().await;
    let under_way = |view: &docsyncd_sandbox::View| view.requests().filter(|request| is_download(request)).count() >= 4;
    practice.sandbox.wait_for(under_way, PATIENCE).await.expect("four downloads");
    let bad = add_small(&practice, 6, |_, document| document).await;
    let page =
        |uuid: &String| practice.sandbox.inject(Fault::always(Route::Pdf, FaultKind::Html200).for_document(uuid));
    let pages: Vec<_> = bad.iter().map(page).collect();
    practice.wait_for_posts(4).await;
    tokio::time::sleep(Duration::from_secs(4)).await;
    assert_eq!(practice.sandbox.status_posts().len(), 4, "{:?}", practice.sandbox.status_posts());
    pages.into_iter().for_each(|page| practice.sandbox.remove_fault(page));
    practice.wait_for_posts(10).await;
    uuids.extend(bad);
    assert_each_reported_once(&practice, &uuids);
}

#[tokio::test]
async fn a_request_for_fewer_requests_is_honoured() {
    let (mut practice, uuids) = practice_with_small(10).await;
    practice.env.insert("DOCSYNCD__RETRY__MAX".into(), "1h".into());
    practice.sandbox.inject(Fault::once(Route::Document, FaultKind::status_retry_after(429, 3600)));
    let synced = practice.sync().await;
    // Without the wish, ten milliseconds would have been the longest wait.
    assert_eq!(synced.code, 3, "{synced:?}");
    assert!(synced.stderr.contains("fetch:main is paused"), "{synced:?}");
    // A person who starts it again has a reason to.
    assert_syncs(&practice, &uuids).await;
}

#[tokio::test]
async fn refused_credentials_raise_one_alarm_and_fail_nothing() {
    let (practice, uuids) = practice_with_small(10).await;
    practice.sandbox.inject(Fault::always(Route::Any, FaultKind::status(401)));
    let synced = practice.sync().await;
    assert_eq!(synced.code, 1, "{synced:?}");
    assert_eq!(synced.stderr.matches("ERROR").count(), 1, "{synced:?}");
    assert!(synced.stderr.contains("401"), "{synced:?}");
    practice.sandbox.clear_faults();
    assert_syncs(&practice, &uuids).await;
    assert!(paused(&practice).await.is_empty());
}

#[tokio::test]
async fn a_running_daemon_resumes_by_itself_when_the_key_works_again() {
    let (practice, uuids) = practice_with_small(10).await;
    practice.sandbox.inject(Fault::always(Route::Any, FaultKind::status(401)));
    let mut running = practice.run().await;
    running.wait_for_log("account:main is paused").await;
    practice.sandbox.wait_for(|view| view.requests().count() >= 6, PATIENCE).await.expect("probes");
    practice.sandbox.clear_faults();
    practice.wait_for_posts(10).await;
    assert_each_reported_once(&practice, &uuids);
    let log = running.log();
    assert_eq!(log.matches("ERROR").count(), 1, "{log}");
}

#[tokio::test]
async fn a_key_that_stops_working_between_two_polls_is_probed_without_waiting_for_the_next() {
    let practice = Practice::with_documents(0).await;
    let uuids = add_small(&practice, 3, |_, document| NewDocument { pdf: NewPdf::None, ..document }).await;
    // The next poll would be in an hour.
    let mut running = practice.run().await;
    running.wait_for_log("3 documents to synchronize").await;
    practice.sandbox.inject(Fault::always(Route::Any, FaultKind::status(401)));
    for uuid in &uuids {
        practice.sandbox.set_pdf(uuid, pdf(uuid)).await.unwrap();
    }
    let retried = practice.docsyncd(&["retry", "--yes", &uuids[0], &uuids[1], &uuids[2]]).await;
    assert_eq!(retried.code, 0, "{retried:?}");
    running.wait_for_log("account:main is paused").await;
    practice.sandbox.clear_faults();
    practice.wait_for_posts(3).await;
    assert_each_reported_once(&practice, &uuids);
}

#[tokio::test]
async fn one_document_that_answers_401_alone_does_not_pause_the_account() {
    let (mut practice, uuids) = practice_with_small(6).await;
    practice.without_patience();
    practice.sandbox.inject(Fault::always(Route::Document, FaultKind::status(401)).for_document(&uuids[2]));
    practice.sync().await;
    assert_eq!(practice.sandbox.status_posts().len(), 5);
    assert_eq!(practice.filed().len(), 5);
    assert!(!paused(&practice).await.contains(&"account:main".to_owned()));
}
