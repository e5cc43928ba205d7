//! Polls over time: where they begin, what they find late, and how they get over failures.

use docsyncd_sandbox::{Fault, FaultKind, NewDocument, Quirks, Route};

use super::frequent;
use crate::dictated::*;
use crate::harness::Practice;

#[tokio::test]
async fn a_document_that_arrives_late_with_an_older_date_is_found() {
    let (mut practice, mut uuids) = practice_with_small(3).await;
    frequent(&mut practice);
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
    running.wait_for_logs("event=\"poll_failed\"", 3).await;
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
    running.wait_for_logs("event=\"reported\"", 5).await;
    practice.sandbox.forget_requests();
    wait_for_walks(&practice, 20).await;
    running.kill().await;
    let walks: Vec<_> = practice.sandbox.requests().into_iter().filter(is_walk).map(|walk| query(&walk)).collect();
    let pages: Vec<_> = walks.iter().flatten().filter(|(name, _)| name == "page").map(|(_, page)| page).collect();
    assert!(["1", "2", "3", "4", "5"].iter().all(|page| pages.iter().any(|read| *read == page)), "{pages:?}");
}

/// One of more than five pages: its two ends by every poll, and five of the others, on from where the poll before
/// ended.
#[tokio::test]
async fn a_long_list_is_read_at_both_ends_and_on_from_the_cursor_also_after_a_restart() {
    let (mut practice, uuids) = practice_with_small(40).await;
    practice.sandbox.set_quirks(Quirks { max_page_size: Some(1), stays_listed: true, ..Quirks::default() });
    frequent(&mut practice);
    let mut running = practice.run().await;
    running.wait_for_logs("event=\"reported\"", 40).await;
    // Each is read once more after its report: it might have been corrected and listed again.
    for _ in 0..20 {
        practice.sandbox.forget_requests();
        wait_for_walks(&practice, 100).await;
        if practice.sandbox.requests().iter().all(is_list) {
            break;
        }
    }
    practice.sandbox.forget_requests();
    for _ in 0..4 {
        wait_for_walks(&practice, 60).await;
        running.kill().await;
        running = practice.run().await;
    }
    running.kill().await;
    let asked: Vec<(bool, usize)> =
        practice.sandbox.requests().iter().filter(|request| is_walk(request)).map(order_and_page).collect();
    let polls = asked.iter().filter(|(is_newest_first, _)| *is_newest_first).count();
    assert!(polls > 12 && asked.len() < (polls + 5) * 12, "{asked:?}");
    let others: Vec<usize> =
        asked.iter().filter(|(newest, page)| !newest && *page > 6).map(|(_, page)| *page).collect();
    assert!((7..=41).all(|page| others.contains(&page)), "{others:?}");
    for pair in others.windows(2) {
        // What was read when the daemon ended may be read again.
        let [before, next] = *pair else { unreachable!() };
        assert!(next == before || next == if before == 41 { 7 } else { before + 1 }, "{others:?}");
    }
    assert_only_lists(&practice);
    let _running = practice.run().await;
    practice.sandbox.replace_pdf(&uuids[23], pdf("in the middle")).await.unwrap();
    practice.wait_for_posts(41).await;
    practice.sandbox.add(small("one more")).await.unwrap();
    practice.wait_for_posts(42).await;
}

/// Whether it asks for the newest first, and for which page.
fn order_and_page(request: &docsyncd_sandbox::RequestRecord) -> (bool, usize) {
    let asked = query(request);
    let value = |name: &str| asked.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value);
    (value("order[createdAt]") == "desc", value("page").parse().unwrap())
}
