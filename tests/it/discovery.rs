//! discover: everything in the list is found, however the list behaves, and nothing is taken for new twice. Here:
//! the walks over the list.

mod absence;
mod accounts;
mod broken;
mod polls;
mod shapes;
mod versions;

use std::time::Duration;

use docsyncd_sandbox::{Fault, FaultKind, NewDocument, Quirks, Route};

use crate::dictated::*;
#[cfg(unix)]
use crate::harness::PATIENCE;
use crate::harness::Practice;

const SAME_TIME: &str = "2026-03-01T09:30:00+00:00";

fn frequent(practice: &mut Practice) {
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "20ms".into());
}

/// 250 documents of one timestamp and some later ones.
async fn one_timestamp_over_whole_pages(quirks: Quirks) -> (Practice, Vec<String>) {
    let practice = Practice::with_documents(0).await;
    practice.sandbox.set_quirks(quirks);
    let at = |_, document| NewDocument { created_at: Some(SAME_TIME.into()), ..document };
    let mut uuids = add_small(&practice, 250, at).await;
    let later = |number, document| NewDocument {
        created_at: Some(format!("2026-03-01T10:{:02}:00+00:00", number % 60)),
        ..document
    };
    uuids.extend(add_small(&practice, 60, later).await);
    (practice, uuids)
}

/// The first poll of a daemon finds all of them; there is no second one.
async fn assert_one_poll_finds_all(practice: &Practice, uuids: &[String]) {
    let mut running = practice.run().await;
    practice.wait_for_posts(uuids.len()).await;
    assert_each_reported_once(practice, uuids);
    running.wait_for_logs("event=\"reported\"", uuids.len()).await;
    running.kill().await;
    practice.assert_all_filed().await;
}

#[tokio::test]
async fn documents_of_one_timestamp_over_several_pages_are_all_found() {
    let (practice, uuids) = one_timestamp_over_whole_pages(Quirks::default()).await;
    assert_one_poll_finds_all(&practice, &uuids).await;
}

#[tokio::test]
async fn documents_of_one_timestamp_are_all_found_when_the_server_gives_smaller_pages() {
    let (practice, uuids) =
        one_timestamp_over_whole_pages(Quirks { max_page_size: Some(20), ..Quirks::default() }).await;
    assert_one_poll_finds_all(&practice, &uuids).await;
}

#[tokio::test]
async fn documents_of_one_timestamp_are_all_found_while_others_of_it_leave_the_list() {
    let (practice, uuids) =
        one_timestamp_over_whole_pages(Quirks { max_page_size: Some(50), ..Quirks::default() }).await;
    // Slow lists: documents of the first pages are reported, and leave, before the next one is read.
    practice.sandbox.inject(Fault::always(Route::List, FaultKind::Delay(Duration::from_millis(100))));
    assert_one_poll_finds_all(&practice, &uuids).await;
}

/// Three known documents fill the first page; they are reported, and leave, between the reading of that page and of the
/// next, so that the three behind them come to stand on the first.
#[cfg(unix)]
#[tokio::test]
async fn none_slips_to_a_page_that_was_read() {
    let practice = Practice::with_documents(0).await;
    practice.sandbox.set_quirks(Quirks { max_page_size: Some(3), ..Quirks::default() });
    let named = |prefix: char| {
        move |number, document| NewDocument {
            uuid: Some(format!("{prefix}{number}")),
            created_at: Some(SAME_TIME.into()),
            ..document
        }
    };
    let refused = practice.sandbox.inject(Fault::always(Route::Status, FaultKind::status(503)));
    let mut uuids = add_small(&practice, 3, named('a')).await;
    let mut running = practice.run().await;
    running.wait_for_logs("event=\"delivered\"", 3).await;
    running.wait_for_log("3 documents to synchronize").await;

    uuids.extend(add_small(&practice, 3, named('b')).await);
    practice.sandbox.forget_requests();
    practice.sandbox.inject(Fault::once(Route::List, FaultKind::Delay(Duration::from_millis(1))));
    practice.sandbox.inject(Fault::once(Route::List, FaultKind::Delay(Duration::from_millis(1500))));
    running.signal("USR1");
    practice.sandbox.wait_for(|view| view.requests().any(is_list), PATIENCE).await.expect("the first page");
    practice.sandbox.remove_fault(refused);
    practice.wait_for_posts(6).await;
    assert_each_reported_once(&practice, &uuids);
}

#[tokio::test]
async fn documents_of_one_timestamp_are_all_found_when_the_server_ignores_page_numbers() {
    let (practice, uuids) = one_timestamp_over_whole_pages(Quirks { ignore_page: true, ..Quirks::default() }).await;
    // It shows more only when the first ones have left, so this takes several polls.
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert_each_reported_once(&practice, &uuids);
    practice.assert_all_filed().await;
}

#[tokio::test]
async fn none_is_missed_when_documents_leave_the_list_while_it_is_read_by_pages() {
    let (practice, uuids) = practice_with_small(320).await;
    practice.sandbox.set_quirks(Quirks { max_page_size: Some(20), ..Quirks::default() });
    practice.sandbox.inject(Fault::always(Route::List, FaultKind::Delay(Duration::from_millis(40))));
    assert_one_poll_finds_all(&practice, &uuids).await;
}
