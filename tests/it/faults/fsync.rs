//! An fsync that fails for real (strace puts EIO in its place): the system tells of it once and drops what it could not
//! write, so nothing is ever forced to the disk a second time. It is written anew.

use tokio::process::Command;

use super::tools::needs;
use crate::dictated::*;

/// Two real EIOs: a file whose fsync failed is never forced to the disk again, but removed, and written anew.
#[tokio::test]
async fn a_file_whose_fsync_fails_is_removed_and_written_anew() {
    needs!("strace");
    let (practice, uuids) = practice_with_small(1).await;
    let pdf = practice.sandbox.documents().await.unwrap().remove(0).pdf.unwrap();
    let uuid = docsyncd::document::DocumentUuid::parse(&uuids[0]).unwrap();
    let version = docsyncd::document::Version { account: "main".into(), uuid, pdf };
    practice.configure("file_name = \"letter.pdf\"");
    let temporary = practice.inbox().join(format!(".docsyncd-{}.part", version.delivery_key("pms")));
    let trace = practice.path("trace");
    let mut command = Command::new("strace");
    command.args(["-f", "-y", "-e", "trace=openat,fsync,unlink,renameat2", "-o"]).arg(&trace).arg("-P").arg(&temporary);
    // Counted for each thread: the first of all, and that of another thread should the next attempt run there.
    command.args(["-e", "inject=fsync:error=EIO:when=1"]);
    command.arg(env!("CARGO_BIN_EXE_docsyncd")).arg("--config").arg(practice.config_path()).arg("sync");
    let ended = crate::harness::Ended::of(command).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stderr.contains("cannot bring a file to the disk"), "{ended:?}");

    let trace = std::fs::read_to_string(trace).unwrap();
    let calls: Vec<&str> = trace
        .lines()
        .filter_map(|line| line.split_once(' ').map(|(_, call)| call.trim_start()))
        .filter(|call| call.contains(".part") && !call.contains("ENOENT"))
        .map(|call| if call.contains("EIO") { "EIO" } else { call.split_once('(').unwrap().0 })
        .collect();
    let failures = calls.iter().filter(|call| **call == "EIO").count();
    assert!(failures >= 1, "{trace}");
    let expected = [&["openat", "EIO", "unlink"].repeat(failures)[..], &["openat", "fsync", "renameat2"]].concat();
    assert_eq!(calls, expected, "{trace}");
    assert_each_reported_once(&practice, &uuids);
    practice.assert_all_filed().await;
}

/// The same for the folder: a name whose fsync failed is taken back, and the document is written anew under it.
#[tokio::test]
async fn a_name_whose_fsync_fails_is_taken_back_and_given_anew() {
    needs!("strace");
    let (practice, uuids) = practice_with_small(1).await;
    practice.configure("file_name = \"letter.pdf\"");
    let (trace, inbox) = (practice.path("trace"), practice.inbox());
    let mut command = Command::new("strace");
    command.args(["-f", "-y", "-e", "trace=fsync,renameat2", "-e", "inject=fsync:error=EIO:when=1", "-o"]).arg(&trace);
    command.arg("-P").arg(&inbox).arg("-P").arg(inbox.join("letter.pdf"));
    command.arg(env!("CARGO_BIN_EXE_docsyncd")).arg("--config").arg(practice.config_path()).arg("sync");
    let ended = crate::harness::Ended::of(command).await;
    assert_eq!(ended.code, 0, "{ended:?}");

    let trace = std::fs::read_to_string(trace).unwrap();
    let mut threads: std::collections::BTreeMap<&str, Vec<&str>> = std::collections::BTreeMap::new();
    for (thread, call) in trace.lines().filter_map(|line| line.split_once(' ')) {
        threads.entry(thread).or_default().push(call.trim_start());
    }
    let gives = |call: &str| {
        call.starts_with("renameat2") && call.contains(".part\", AT_FDCWD") && call.contains("letter.pdf\"")
    };
    let takes_back = |call: &str| call.starts_with("renameat2") && call.contains("letter.pdf\", AT_FDCWD");
    let (mut taken_back, mut given) = (0, 0);
    for calls in threads.values() {
        for three in calls.windows(2).enumerate().filter(|(_, two)| gives(two[0])).map(|(at, _)| &calls[at..]) {
            given += 1;
            if three[1].contains("EIO") {
                taken_back += 1;
                assert!(takes_back(three[2]), "{trace}");
            }
        }
    }
    assert!(taken_back >= 1 && given == taken_back + 1, "{taken_back} of {given}: {trace}");
    assert_each_reported_once(&practice, &uuids);
    practice.assert_all_filed().await;
}
