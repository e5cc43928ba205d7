//! `docsyncd poll`

use docsyncd_sandbox::NewDocument;

use crate::harness::Practice;

#[tokio::test]
async fn a_running_daemon_looks_at_once() {
    // Polls by itself once an hour only.
    let practice = Practice::with_documents(1).await;
    let mut running = practice.run().await;
    practice.wait_for_posts(1).await;
    for round in 0..3 {
        practice.sandbox.add(NewDocument::default()).await.unwrap();
        let ended = practice.docsyncd(&["poll"]).await;
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended:?}");
        assert!(ended.stdout.contains("looks now"), "{ended:?}");
        practice.wait_for_posts(round + 2).await;
    }
    running.kill().await;
    practice.assert_all_filed().await;
}

#[tokio::test]
async fn what_is_paused_is_tried_at_once() {
    let mut practice = Practice::with_documents(1).await;
    practice.without_patience();
    std::fs::remove_dir(practice.inbox()).unwrap();
    let mut running = practice.run().await;
    running.wait_for_log("event=\"paused\"").await;
    std::fs::create_dir(practice.inbox()).unwrap();
    let ended = practice.docsyncd(&["poll"]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    practice.wait_for_posts(1).await;
    running.kill().await;
}

/// As root without the right to pass over permissions, which an ordinary user has not either.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn whoever_may_not_look_at_the_ledger_is_told_that_and_not_that_nothing_runs() {
    use std::os::unix::fs::PermissionsExt as _;
    let practice = Practice::with_documents(1).await;
    practice.configure("[status_page]\nlisten = \"127.0.0.1:8977\"\n");
    let sync = practice.sync().await;
    assert_eq!(sync.code, 0, "{sync:?}");
    let may_look = |mode| {
        for file in [practice.ledger(), practice.path("state/ledger.sqlite3.lock")] {
            std::fs::set_permissions(file, std::fs::Permissions::from_mode(mode)).unwrap();
        }
    };
    may_look(0);
    for arguments in [&["open", "--print"][..], &["poll"]] {
        let mut command = practice.command(arguments);
        if std::fs::File::open(practice.ledger()).is_ok() {
            let mut limited = tokio::process::Command::new("setpriv");
            limited.args(["--bounding-set", "-dac_override,-dac_read_search"]).arg(crate::harness::program());
            limited.arg("--config").arg(practice.config_path()).args(arguments).envs(&practice.env);
            command = limited;
        }
        let ended = crate::harness::Ended::of(command).await;
        assert!(ended.code == 1 && ended.stderr.contains("Permission denied"), "{arguments:?}: {ended:?}");
        assert!(!ended.stderr.contains("not running"), "{arguments:?}: {ended:?}");
    }
    may_look(0o600);
    for arguments in [&["open", "--print"][..], &["poll"]] {
        let ended = practice.docsyncd(arguments).await;
        assert!(ended.code == 1 && ended.stderr.contains("not running"), "{arguments:?}: {ended:?}");
    }
}

#[tokio::test]
async fn nobody_runs_is_said_with_what_to_do() {
    let practice = Practice::with_documents(1).await;
    for _ in ["before any ledger", "after a sync"] {
        let ended = practice.docsyncd(&["poll"]).await;
        assert_eq!((ended.code, ended.stdout.as_str()), (1, ""), "{ended:?}");
        let config = practice.config_path().display().to_string();
        assert!(
            ended.stderr.contains("not running") && ended.stderr.contains(&format!("docsyncd --config {config} sync")),
            "{ended:?}"
        );
        practice.sync().await;
    }
}
