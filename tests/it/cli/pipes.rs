//! Readers that go away (`docsyncd list | head -1`) end nothing but the printing.

use std::process::Stdio;

use crate::harness::{PATIENCE, Practice};

/// Runs the command with nobody at the other end of these pipes, and returns its exit code and what else it wrote.
async fn without_readers(practice: &Practice, args: &[&str], both: bool) -> (i32, String) {
    let mut command = practice.command(args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    if both {
        drop(child.stderr.take());
    }
    let output = tokio::time::timeout(PATIENCE, child.wait_with_output()).await.expect("it ends").unwrap();
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[tokio::test]
async fn a_reader_that_went_away_is_no_error_of_any_command() {
    let practice = Practice::with_documents(3).await;
    practice.sync().await;
    for args in [
        &["list"][..],
        &["list", "--json"],
        &["status"],
        &["config", "show"],
        &["man"],
        &["completions", "zsh"],
        &["--help"],
        &["check"],
        &["api", "GET", "/me"],
        &["retry", "--failed"],
    ] {
        let (code, stderr) = without_readers(&practice, args, false).await;
        // Nothing runs.
        let good = if args == ["status"] { 4 } else { 0 };
        assert_eq!((code, stderr.as_str()), (good, ""), "{args:?}");
        let (code, _) = without_readers(&practice, args, true).await;
        assert_eq!(code, good, "{args:?}");
    }
}

#[tokio::test]
async fn a_sync_whose_output_nobody_reads_files_everything() {
    let practice = Practice::with_documents(12).await;
    let (code, _) = without_readers(&practice, &["sync"], true).await;
    assert_eq!(code, 0);
    practice.assert_all_filed().await;
    assert_eq!(practice.sandbox.status_posts().len(), 12);
}

#[cfg(unix)]
#[tokio::test]
async fn a_daemon_whose_log_nobody_reads_goes_on() {
    let practice = Practice::with_documents(5).await;
    let mut child = practice.command(&["run"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop((child.stdout.take(), child.stderr.take()));
    practice.wait_for_posts(5).await;
    practice.sandbox.add_documents(2).await.unwrap();
    let id = child.id().unwrap().to_string();
    assert!(std::process::Command::new("kill").args(["-USR1", &id]).status().unwrap().success());
    practice.wait_for_posts(7).await;
    assert!(std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    let status = tokio::time::timeout(PATIENCE, child.wait()).await.expect("it ends").unwrap();
    assert_eq!(status.code(), Some(0));
    practice.assert_all_filed().await;
}
