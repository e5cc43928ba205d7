//! An fsync or a close that fails for real (strace puts EIO in its place): the system tells of it once and drops what
//! it could not write, so nothing is ever forced to the disk a second time. It is written anew.

use std::path::PathBuf;

use tokio::process::Command;

use super::tools::needs;
use crate::dictated::*;
use crate::harness::Practice;

/// Two real EIOs: a file whose fsync failed is never forced to the disk again, but removed, and written anew.
#[tokio::test]
async fn a_file_whose_fsync_fails_is_removed_and_written_anew() {
    needs!("strace");
    let (practice, uuids, temporary) = one_letter().await;
    let trace = Trace::of(&practice, &[&temporary], "fsync", 1).await;
    let calls = trace.calls();
    let failures = calls.iter().filter(|call| **call == "EIO").count();
    assert!(failures >= 1, "{}", trace.0);
    let expected = [&["write", "EIO"].repeat(failures)[..], &["write", "fsync"]].concat();
    assert_eq!(calls, expected, "{}", trace.0);
    assert_each_reported_once(&practice, &uuids);
    practice.assert_all_filed().await;
}

/// The same for the folder: a name whose fsync failed is taken back, and the document is written anew under it.
#[tokio::test]
async fn a_name_whose_fsync_fails_is_taken_back_and_given_anew() {
    needs!("strace");
    let (practice, uuids, temporary) = one_letter().await;
    // The first one is for the bytes, the second for the temporary name.
    let trace = Trace::of(&practice, &[&temporary, &practice.inbox()], "fsync", 3).await;
    let calls = trace.calls();
    let failures = calls.iter().filter(|call| **call == "EIO").count();
    assert!(failures >= 1, "{}", trace.0);
    let attempt = ["write", "fsync", "fsync"];
    // The name is taken back, and that is made durable.
    let failed = [&attempt[..], &["EIO", "fsync"]].concat().repeat(failures);
    assert_eq!(calls, [&failed[..], &attempt, &["fsync"]].concat(), "{}", trace.0);
    assert_each_reported_once(&practice, &uuids);
    practice.assert_all_filed().await;
}

/// A mount may send a file only when it is closed, and say only then that it could not (rclone, AFS): its fsync means
/// nothing.
#[tokio::test]
async fn a_file_whose_close_fails_is_removed_and_written_anew() {
    needs!("strace");
    let (practice, uuids, temporary) = one_letter().await;
    let trace = Trace::of(&practice, &[&temporary], "close", 1).await;
    let calls = trace.calls();
    let failures = calls.iter().filter(|call| **call == "EIO").count();
    assert!(failures >= 1, "{}", trace.0);
    let expected = [&["write", "fsync", "EIO"].repeat(failures)[..], &["write", "fsync", "close"]].concat();
    assert_eq!(calls, expected, "{}", trace.0);
    assert_each_reported_once(&practice, &uuids);
    practice.assert_all_filed().await;
}

/// A practice with one letter, which gets the name `letter.pdf`, and the path of its temporary file.
async fn one_letter() -> (Practice, Vec<String>, PathBuf) {
    let (practice, uuids) = practice_with_small(1).await;
    let pdf = practice.sandbox.documents().await.unwrap().remove(0).pdf.unwrap();
    let uuid = docsyncd::domain::document::DocumentUuid::parse(&uuids[0]).unwrap();
    let version = docsyncd::domain::document::Version { account: "main".into(), uuid, pdf };
    practice.configure("file_name = \"letter.pdf\"");
    let temporary = practice.inbox().join(format!(".docsyncd-{}.part", version.delivery_key("pms")));
    (practice, uuids, temporary)
}

/// What `docsyncd sync` does with open files and folders, as strace prints it. What it does with paths cannot be asked
/// for by path: they begin at the number of the open folder.
struct Trace(String);

impl Trace {
    /// The call of this name with this number is answered with EIO. Counted for each thread: that of another one as
    /// well, should the next attempt run there.
    async fn of(practice: &Practice, paths: &[&PathBuf], failing: &str, number: usize) -> Self {
        let trace = practice.path("trace");
        let mut command = Command::new("strace");
        let traced = if failing == "close" { "trace=fsync,write,close" } else { "trace=fsync,write" };
        command.args(["-f", "-y", "-e", traced, "-o"]).arg(&trace);
        for path in paths {
            command.arg("-P").arg(path);
        }
        command.arg("-e").arg(format!("inject={failing}:error=EIO:when={number}"));
        command.arg(env!("CARGO_BIN_EXE_docsyncd")).arg("--config").arg(practice.config_path()).arg("sync");
        let ended = crate::harness::Ended::of(command).await;
        assert_eq!(ended.code, 0, "{ended:?}");
        assert!(ended.stderr.contains("cannot bring a file to the disk"), "{ended:?}");
        Self(std::fs::read_to_string(trace).unwrap())
    }

    /// Each call by its name, or `EIO`.
    fn calls(&self) -> Vec<&str> {
        let calls = self.0.lines().filter_map(|line| line.split_once(' ').map(|(_, call)| call.trim_start()));
        let named =
            calls.filter_map(|call| if call.contains("EIO") { Some("EIO") } else { Some(call.split_once('(')?.0) });
        let mut calls: Vec<&str> = named.collect();
        calls.dedup_by(|next, last| next == last && *next == "write");
        calls
    }
}
