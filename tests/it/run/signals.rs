//! SIGTERM, SIGINT, SIGHUP and SIGUSR1; on Windows Ctrl-Break. What Windows has no event for (poll now, read again) is
//! tried on Unix only.

use std::time::{Duration, Instant};

use docsyncd_sandbox::{Fault, FaultKind, Route};

#[cfg(unix)]
use crate::harness::Running;
use crate::harness::{Held, PATIENCE, Practice, STOPS};

/// A practice whose only destination is a held program.
pub async fn with_held_program(documents: usize) -> (Practice, Held) {
    let practice = Practice::with_documents(documents).await;
    let held = Held::new(&practice);
    practice.configure_wholly(&format!("{}\n{}", practice.base_config(), held.destination("scan")));
    (practice, held)
}

#[cfg(unix)]
async fn wait_for_poll(practice: &Practice, running: &mut Running) {
    let polled =
        practice.sandbox.wait_for(|view| view.requests().any(|request| request.path == "/documents"), PATIENCE);
    polled.await.unwrap();
    running.wait_for_log("event=\"started\"").await;
}

#[cfg_attr(windows, ignore = "wine brings Ctrl-Break to no group of processes; the installer's test stops the service")]
#[tokio::test]
async fn what_tells_it_to_end_ends_it_with_0_and_leave_one_file_of_the_ledger() {
    for signal in STOPS {
        let practice = Practice::with_documents(2).await;
        let mut running = practice.run().await;
        practice.wait_for_posts(2).await;
        running.wait_for_logs("event=\"reported\"", 2).await;
        running.signal(signal);
        assert_eq!(running.ended().await, 0, "{}", running.log());
        running.wait_for_log("event=\"stopped\"").await;
        let state = practice.path("state");
        let mut names: Vec<_> =
            std::fs::read_dir(state).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        assert_eq!(names, ["ledger.sqlite3", "ledger.sqlite3.lock", "spool", "spool.lock"], "{signal}");
    }
}

#[cfg_attr(windows, ignore = "wine brings Ctrl-Break to no group of processes; the installer's test stops the service")]
#[tokio::test]
async fn a_download_in_flight_is_finished_first() {
    for signal in STOPS {
        let practice = Practice::with_documents(1).await;
        let uuid = practice.sandbox.documents().await.unwrap().remove(0).uuid;
        practice.sandbox.inject(Fault::once(Route::Pdf, FaultKind::Delay(Duration::from_secs(3))));
        let mut running = practice.run().await;
        let path = format!("/documents/{uuid}");
        practice.sandbox.wait_for(|view| view.requests().any(|request| request.path == path), PATIENCE).await.unwrap();
        running.signal(signal);
        assert_eq!(running.ended().await, 0, "{}", running.log());
        running.wait_for_log("event=\"stopped\"").await;
        let log = running.log();
        let at = |text: &str| log.find(text).unwrap_or_else(|| panic!("no {text}: {log}"));
        assert!(
            at("event=\"stopping\"") < at("event=\"fetched\"") && at("event=\"fetched\"") < at("event=\"stopped\""),
            "{log}"
        );
        assert_eq!(practice.state(&uuid).await, "fetched");

        practice.sandbox.forget_requests();
        let ended = practice.sync().await;
        assert_eq!(ended.code, 0, "{ended:?}");
        let requests = practice.sandbox.requests();
        assert!(!requests.iter().any(|request| request.path.starts_with("/files")), "downloaded once: {requests:?}");
        practice.assert_all_filed().await;
        assert_eq!(practice.sandbox.status_posts().len(), 1);
    }
}

#[cfg_attr(windows, ignore = "wine brings Ctrl-Break to no group of processes; the installer's test stops the service")]
#[tokio::test]
async fn a_delivery_in_flight_is_finished_first() {
    let (practice, held) = with_held_program(1).await;
    let uuid = practice.sandbox.documents().await.unwrap().remove(0).uuid;
    let mut running = practice.run().await;
    held.until_begun().await;
    running.signal(STOPS[0]);
    running.wait_for_log("event=\"stopping\"").await;
    held.go_on().await;
    assert_eq!(running.ended().await, 0, "{}", running.log());
    assert_eq!(practice.state(&uuid).await, "delivered", "{}", running.log());
    assert_eq!(practice.sync().await.code, 0);
    assert_eq!(held.handed_over(), 1, "it was not handed over again");
    assert_eq!(practice.sandbox.status_posts().len(), 1);
}

#[cfg_attr(windows, ignore = "wine brings Ctrl-Break to no group of processes; the installer's test stops the service")]
#[tokio::test]
async fn a_download_that_hangs_holds_the_end_up_no_longer_than_the_timeout() {
    let mut practice = Practice::with_documents(1).await;
    practice.env.insert("DOCSYNCD__API__TIMEOUT".into(), "1s".into());
    practice.sandbox.inject(Fault::once(Route::Pdf, FaultKind::StallBody(100)));
    let mut running = practice.run().await;
    let download = |path: &str| path.starts_with("/files");
    practice.sandbox.wait_for(|view| view.requests().any(|request| download(&request.path)), PATIENCE).await.unwrap();
    running.signal(STOPS[0]);
    assert_eq!(running.ended().await, 0, "{}", running.log());
    running.wait_for_log("event=\"stopped\"").await;
    assert!(!running.log().contains("event=\"drain_timeout\""), "{}", running.log());
    assert_eq!(practice.sync().await.code, 0);
    practice.assert_all_filed().await;
}

#[tokio::test]
#[ignore = "takes 25 s, the limit of the drain: cargo test --test it -- --ignored"]
async fn whatever_hangs_the_end_comes_within_thirty_seconds() {
    let (practice, held) = with_held_program(1).await;
    let mut running = practice.run().await;
    held.until_begun().await;
    let began = Instant::now();
    running.signal(STOPS[0]);
    assert_eq!(running.ended().await, 0, "{}", running.log());
    let took = began.elapsed();
    println!("ended after {took:?}");
    assert!((Duration::from_secs(24)..Duration::from_secs(30)).contains(&took), "{took:?}");
    running.wait_for_log("event=\"drain_timeout\"").await;
    assert_eq!(held.handed_over(), 0);
}

#[cfg_attr(windows, ignore = "wine brings Ctrl-Break to no group of processes; the installer's test stops the service")]
#[tokio::test]
async fn a_second_signal_does_not_wait() {
    let (practice, held) = with_held_program(1).await;
    let mut running = practice.run().await;
    held.until_begun().await;
    running.signal(STOPS[0]);
    running.wait_for_log("event=\"stopping\"").await;
    running.signal(STOPS.last().unwrap());
    assert_eq!(running.ended().await, 1, "{}", running.log());
    held.go_on().await;
    // What was in flight is taken up by the next start.
    let next = practice.sync();
    let helper = async {
        held.until_begun().await;
        held.go_on().await;
    };
    let (ended, ()) = tokio::join!(next, helper);
    assert_eq!(ended.code, 0, "{ended:?}");
}

#[cfg(unix)]
#[tokio::test]
async fn sigusr1_polls_now() {
    let practice = Practice::with_documents(0).await;
    let mut running = practice.run().await;
    wait_for_poll(&practice, &mut running).await;
    for round in 1..=3 {
        practice.sandbox.add_documents(1).await.unwrap();
        running.signal("USR1");
        practice.wait_for_posts(round).await;
    }
    assert_eq!(running.stop().await, 0);
    practice.assert_all_filed().await;
}

#[cfg(unix)]
#[tokio::test]
async fn sigusr1_tries_at_once_what_is_paused_for_long() {
    let mut practice = Practice::with_documents(2).await;
    practice.env.insert("DOCSYNCD__RETRY__INITIAL".into(), "1d".into());
    practice.env.insert("DOCSYNCD__RETRY__MAX".into(), "7d".into());
    std::fs::remove_dir(practice.inbox()).unwrap();
    let mut running = practice.run().await;
    running.wait_for_log("event=\"paused\"").await;
    std::fs::create_dir(practice.inbox()).unwrap();
    running.signal("USR1");
    practice.wait_for_posts(2).await;
    assert_eq!(running.stop().await, 0);
    practice.assert_all_filed().await;
}

#[cfg(unix)]
#[tokio::test]
async fn sighup_reads_the_key_again() {
    let mut practice = Practice::with_documents(2).await;
    practice.env.insert("DOCSYNCD__RETRY__INITIAL".into(), "1d".into());
    practice.env.insert("DOCSYNCD__RETRY__MAX".into(), "7d".into());
    practice.write_secret("api-key", "wrong");
    let mut running = practice.run().await;
    running.wait_for_log("event=\"paused\"").await;
    practice.write_secret("api-key", practice.sandbox.api_key());
    running.signal("HUP");
    practice.wait_for_posts(2).await;
    running.wait_for_log("event=\"reloaded\"").await;
    assert_eq!(running.stop().await, 0);
    practice.assert_all_filed().await;
}

#[cfg(unix)]
#[tokio::test]
async fn signals_end_a_sync_as_well() {
    let (practice, held) = with_held_program(1).await;
    let mut sync = Running::spawn(practice.command(&["sync"]));
    held.until_begun().await;
    // The others mean nothing to it and do not end it.
    sync.signal("USR1");
    sync.signal("HUP");
    sync.signal("TERM");
    held.go_on().await;
    assert_eq!(sync.ended().await, 1, "{}", sync.log());
    let uuid = practice.sandbox.documents().await.unwrap().remove(0).uuid;
    assert_eq!(practice.state(&uuid).await, "delivered");
}

// Windows limits a program's files by quotas of the disk only, which are a disk that is full.
#[cfg(unix)]
#[tokio::test]
async fn a_limit_on_the_size_of_files_is_an_error_of_the_file_that_is_too_large_and_not_the_end() {
    let practice = Practice::with_documents(3).await;
    let large = docsyncd_sandbox::NewPdf::Bytes([b"%PDF-1.7\n".as_slice(), &[b'x'; 3_000_000]].concat());
    let large = docsyncd_sandbox::NewDocument { pdf: large, ..docsyncd_sandbox::NewDocument::default() };
    let uuid = practice.sandbox.add(large).await.unwrap();
    let shell = |limit: &str| {
        let mut command = tokio::process::Command::new("sh");
        command.args(["-c", &format!("ulimit -f {limit}; exec \"$@\""), "sh", env!("CARGO_BIN_EXE_docsyncd")]);
        command.arg("--config").arg(practice.config_path()).arg("sync").envs([("DOCSYNCD__RETRY__INITIAL", "6h")]);
        command.envs([("DOCSYNCD__RETRY__MAX", "6h")]);
        command
    };
    // In blocks of 512 or 1024 bytes, as the shell likes.
    let synced = crate::harness::Ended::of(shell("2000")).await;
    assert_eq!((synced.code, practice.filed().len()), (3, 3), "{synced:?}");
    let shown = practice.show(&uuid).await;
    assert!(shown["state"] == "discovered" && shown.to_string().contains("ulimit -f"), "{shown}");
    assert_eq!(practice.docsyncd(&["retry", "--yes", &uuid]).await.code, 0);
    let synced = crate::harness::Ended::of(shell("unlimited")).await;
    assert_eq!(synced.code, 0, "{synced:?}");
    practice.assert_all_filed().await;
}
