//! Polls over time: where they begin, what they find late, and how they get over failures.

use docsyncd_sandbox::{Fault, FaultKind, NewDocument, Quirks, Route};

use super::{frequent, sweeping};
use crate::dictated::*;
use crate::harness::Practice;

#[tokio::test]
async fn a_document_that_arrives_late_with_an_older_date_is_found_by_the_sweep() {
    let (mut practice, mut uuids) = practice_with_small(3).await;
    sweeping(&mut practice);
    let _running = practice.run().await;
    practice.wait_for_posts(3).await;
    let late = NewDocument { created_at: Some("2020-01-01T08:00:00+00:00".into()), ..small("late") };
    uuids.push(practice.sandbox.add(late).await.unwrap());
    practice.wait_for_posts(4).await;
    assert_each_reported_once(&practice, &uuids);
}

#[tokio::test]
async fn a_document_with_a_date_in_the_future_hides_no_later_one() {
    let mut practice = Practice::with_documents(0).await;
    let ahead = NewDocument { created_at: Some("2099-12-31T23:59:59+00:00".into()), ..small("ahead of its time") };
    let mut uuids = vec![practice.sandbox.add(ahead).await.unwrap()];
    uuids.push(practice.sandbox.add(small("of today")).await.unwrap());
    frequent(&mut practice);
    let _running = practice.run().await;
    practice.wait_for_posts(2).await;
    uuids.push(practice.sandbox.add(small("of tomorrow")).await.unwrap());
    practice.wait_for_posts(3).await;
    assert_each_reported_once(&practice, &uuids);
}

#[tokio::test]
async fn a_list_that_fails_for_a_moment_is_asked_for_again_by_the_same_sync() {
    for kind in [FaultKind::status(503), FaultKind::Reset, FaultKind::Html200, FaultKind::CutBody(30)] {
        let (practice, uuids) = practice_with_small(12).await;
        practice.sandbox.set_quirks(Quirks { max_page_size: Some(5), ..Quirks::default() });
        practice.sandbox.inject(Fault::once(Route::List, kind.clone()));
        let synced = practice.sync().await;
        assert_eq!(synced.code, 0, "{kind:?} {synced:?}");
        assert_each_reported_once(&practice, &uuids);
    }
}

#[tokio::test]
async fn a_list_that_goes_on_failing_is_an_error_and_a_running_daemon_gets_over_it() {
    let (mut practice, uuids) = practice_with_small(12).await;
    practice.env.insert("DOCSYNCD__LOG__LEVEL".into(), "debug".into());
    practice.sandbox.inject(Fault::always(Route::List, FaultKind::status(500)));
    let synced = practice.sync().await;
    assert_eq!(synced.code, 1, "{synced:?}");
    assert!(synced.stderr.contains("HTTP 500"), "{synced:?}");
    let mut running = practice.run().await;
    running.wait_for_logs("poll failed", 3).await;
    practice.sandbox.clear_faults();
    practice.wait_for_posts(12).await;
    assert_each_reported_once(&practice, &uuids);
}

#[tokio::test]
async fn a_short_list_is_read_whole_by_every_poll() {
    let (mut practice, _) = practice_with_small(5).await;
    practice.sandbox.set_quirks(Quirks { max_page_size: Some(1), stays_listed: true, ..Quirks::default() });
    frequent(&mut practice);
    let mut running = practice.run().await;
    running.wait_for_logs(" reported ", 5).await;
    practice.sandbox.forget_requests();
    wait_for_walks(&practice, 20).await;
    running.kill().await;
    let walks: Vec<_> = practice.sandbox.requests().into_iter().filter(is_walk).map(|walk| query(&walk)).collect();
    let pages: Vec<_> = walks.iter().flatten().filter(|(name, _)| name == "page").map(|(_, page)| page).collect();
    assert!(walks.iter().flatten().all(|(name, _)| name != "createdAt[gte]"), "{walks:?}");
    assert!(["1", "2", "3", "4", "5"].iter().all(|page| pages.iter().any(|read| *read == page)), "{pages:?}");
}

/// One of more than five pages: its beginning by page numbers, then from the last document on.
#[tokio::test]
async fn a_long_list_is_read_from_the_last_document_on_also_after_a_restart() {
    let (mut practice, _) = practice_with_small(12).await;
    practice.sandbox.set_quirks(Quirks { max_page_size: Some(1), stays_listed: true, ..Quirks::default() });
    frequent(&mut practice);
    let asks_from = |practice: &Practice| -> Vec<Option<String>> {
        let walks = practice.sandbox.requests().into_iter().filter(is_walk);
        let since = |(name, value): (String, String)| (name == "createdAt[gte]").then_some(value);
        walks.map(|request| query(&request).into_iter().find_map(since)).collect()
    };
    for new in [12, 1] {
        let mut running = practice.run().await;
        running.wait_for_logs(" reported ", new).await;
        wait_for_walks(&practice, 60).await;
        let last = practice.sandbox.documents().await.unwrap().pop().unwrap().created_at;
        for _ in 0..2 {
            practice.sandbox.forget_requests();
            wait_for_walks(&practice, 60).await;
            running.kill().await;
            assert_most_are_not_asked_for(&practice, &last, &asks_from(&practice));
            running = practice.run().await;
        }
        running.kill().await;
        practice.sandbox.add(small("one more")).await.unwrap();
    }
}

/// Each poll asks from the last document on, and reads not much more than five pages of the others.
fn assert_most_are_not_asked_for(practice: &Practice, last: &str, asked: &[Option<String>]) {
    let polls = asked.iter().filter(|since| since.as_deref() == Some(last)).count();
    assert!(polls > 3 && asked.len() < polls * 12, "{asked:?} for {last}");
    assert_only_lists(practice);
}
