//! The daemon over time: its start, what it waits for, what it is told, its end.

mod accounts;
mod beside;
#[cfg(unix)]
mod idle;
mod reload;
#[cfg(unix)]
mod root;
mod signals;
#[cfg(target_os = "linux")]
pub mod systemd;

use docsyncd_sandbox::{Options, Sandbox};

use crate::harness::{PATIENCE, Practice, unused_address};

#[tokio::test]
async fn documents_that_appear_between_two_polls_are_found() {
    let mut practice = Practice::with_documents(2).await;
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "200ms".into());
    let mut running = practice.run().await;
    practice.wait_for_posts(2).await;
    for round in 1..=3 {
        practice.sandbox.add_documents(2).await.unwrap();
        practice.wait_for_posts(2 + 2 * round).await;
    }
    running.wait_for_logs("event=\"reported\"", 8).await;
    running.kill().await;
    practice.assert_all_filed().await;
    assert_eq!(practice.sandbox.status_posts().len(), 8);
}

#[tokio::test]
async fn an_api_that_is_down_at_the_start_is_waited_for() {
    let mut practice = Practice::with_documents(0).await;
    let nobody = unused_address();
    let address = nobody.address;
    practice.env.insert("DOCSYNCD__API__BASE_URL".into(), format!("http://{address}"));
    practice.env.insert("DOCSYNCD__LOG__LEVEL".into(), "debug".into());
    let mut running = practice.run().await;
    // Only the first one is told; the rest are there for who looks closely.
    running.wait_for_logs("event=\"poll_failed\"", 3).await;
    assert_eq!(running.log().matches(" WARN poll failed").count(), 1, "{}", running.log());
    assert!(running.log().contains("cannot be reached"), "{}", running.log());
    drop(nobody);
    practice.sandbox = Sandbox::start(Options { listen: address, documents: 3, ..Options::default() }).await.unwrap();
    practice.wait_for_posts(3).await;
    running.wait_for_logs("event=\"reported\"", 3).await;
    running.wait_for_log("event=\"polls_again\"").await;
    running.kill().await;
    practice.assert_all_filed().await;
}

#[tokio::test]
async fn a_destination_whose_folder_is_missing_at_the_start_is_waited_for() {
    let mut practice = Practice::with_documents(6).await;
    // One after the other: the alarm's words are then those of the first.
    practice.env.insert("DOCSYNCD__SYNC__MAX_CONCURRENCY".into(), "1".into());
    std::fs::remove_dir(practice.inbox()).unwrap();
    let mut running = practice.run().await;
    running.wait_for_log("event=\"paused\"").await;
    assert!(running.log().contains("does not exist"), "{}", running.log());
    assert!(!practice.inbox().exists());
    std::fs::create_dir(practice.inbox()).unwrap();
    practice.wait_for_posts(6).await;
    running.wait_for_logs("event=\"reported\"", 6).await;
    assert!(running.log().contains("event=\"resumed\""), "{}", running.log());
    assert_eq!(running.log().matches("event=\"paused\"").count(), 1, "one alarm: {}", running.log());
    running.kill().await;
    practice.assert_all_filed().await;
    let posts = practice.sandbox.status_posts();
    assert!(posts.len() == 6 && posts.iter().all(|post| post.success == Some(true)), "{posts:?}");
}

#[tokio::test]
async fn what_a_person_must_mend_ends_the_start_at_once() {
    let mut practice = Practice::with_documents(0).await;
    std::fs::remove_file(practice.path("api-key")).unwrap();
    for command in ["run", "sync"] {
        let ended = practice.docsyncd(&[command]).await;
        assert_eq!(ended.code, 2, "{ended:?}");
        assert!(ended.stderr.contains("account main") && ended.stderr.contains("api-key"), "{ended:?}");
    }
    practice.write_secret("api-key", practice.sandbox.api_key());
    let log = practice.path("no/such/folder/log").display().to_string();
    practice.env.insert("DOCSYNCD__LOG__FILE".into(), log.clone());
    let ended = practice.docsyncd(&["run"]).await;
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(ended.stderr.contains("log.file") && ended.stderr.contains(&log), "{ended:?}");
}

/// Promise 5: a refused key is one alarm, and its end is noticed without anybody's doing.
#[tokio::test]
async fn a_key_that_is_refused_for_a_while_is_one_alarm() {
    use docsyncd_sandbox::{Fault, FaultKind, Route};
    let practice = Practice::with_documents(4).await;
    let fault = practice.sandbox.inject(Fault::always(Route::Any, FaultKind::status(401)));
    let mut running = practice.run().await;
    practice.sandbox.wait_for(|view| view.requests().count() >= 4, PATIENCE).await.unwrap();
    practice.sandbox.remove_fault(fault);
    practice.wait_for_posts(4).await;
    running.wait_for_logs("event=\"reported\"", 4).await;
    let log = running.log();
    assert_eq!(log.matches("event=\"paused\"").count(), 1, "{log}");
    assert!(log.contains("account:main is paused") && log.contains("account:main works again after "), "{log}");
    running.kill().await;
    practice.assert_all_filed().await;
}
