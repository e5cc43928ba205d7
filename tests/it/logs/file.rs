//! `log.file`: private, rotated, bounded, and never a reason for the daemon to fall over.

use std::path::PathBuf;

use crate::harness::Practice;

/// A practice whose log goes into a file of its own folder; rotated at 1 KiB, two old ones kept.
async fn logging_to_a_file(documents: usize) -> Practice {
    let mut practice = Practice::with_documents(documents).await;
    std::fs::create_dir(practice.path("log")).unwrap();
    for (key, value) in
        [("FILE", "log/docsyncd.log"), ("MAX_SIZE", "1KiB"), ("MAX_FILES", "2"), ("FORMAT", "json"), ("LEVEL", "debug")]
    {
        practice.env.insert(format!("DOCSYNCD__LOG__{key}"), value.into());
    }
    practice
}

fn files(practice: &Practice) -> Vec<(String, PathBuf)> {
    let entries = std::fs::read_dir(practice.path("log")).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        entries.map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), path)).collect();
    files.sort();
    files
}

#[tokio::test]
async fn the_log_goes_into_the_file_alone() {
    let mut practice = logging_to_a_file(2).await;
    practice.env.remove("DOCSYNCD__LOG__MAX_SIZE");
    for round in 1..=2 {
        let ended = practice.sync().await;
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended:?}");
        let text = std::fs::read_to_string(practice.path("log/docsyncd.log")).unwrap();
        assert_eq!(
            super::parsed(&text).iter().filter(|line| line["event"] == "reported").count(),
            2,
            "{round}: {text}"
        );
    }
    assert_eq!(files(&practice).len(), 1);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(practice.path("log/docsyncd.log")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[tokio::test]
async fn old_files_are_kept_up_to_their_number_and_none_is_larger_than_allowed() {
    let practice = logging_to_a_file(40).await;
    let ended = practice.sync().await;
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended:?}");
    let files = files(&practice);
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["docsyncd.log", "docsyncd.log.1", "docsyncd.log.2"]);
    let mut newest_first = Vec::new();
    for (name, path) in &files {
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.len() <= 1024, "{name} has {} bytes", text.len());
        assert!(text.ends_with('\n'), "whole lines: {text}");
        let lines = super::parsed(&text);
        newest_first.extend(lines.iter().map(|line| line["timestamp"].as_str().unwrap().to_owned()).min());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600, "{name}");
        }
    }
    // Of each file the oldest line: two threads may write what they say in one moment in either order.
    assert!(newest_first.len() == 3 && newest_first.is_sorted_by(|a, b| a >= b), "{newest_first:?}");
}

/// logrotate, an administrator, a second docsyncd: others touch the folder of the log as well.
#[tokio::test]
async fn files_that_others_put_in_the_way_do_not_disturb_the_daemon() {
    let mut practice = logging_to_a_file(1).await;
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "50ms".into());
    let mut running = practice.start();
    practice.wait_for_posts(1).await;
    let mut posts = 1;
    let disturb: [&dyn Fn(); 5] = [
        &|| std::fs::write(practice.path("log/docsyncd.log.1"), "somebody else's\n").unwrap(),
        &|| std::fs::write(practice.path("log/docsyncd.log.2"), "somebody else's\n").unwrap(),
        &|| std::fs::rename(practice.path("log/docsyncd.log"), practice.path("log/moved-by-logrotate")).unwrap(),
        &|| files(&practice).iter().for_each(|(_, path)| drop(std::fs::remove_file(path))),
        &|| {
            let removed = std::fs::remove_dir_all(practice.path("log"));
            // Windows keeps a folder as long as somebody has a file in it open.
            assert!(cfg!(windows) || removed.is_ok(), "{removed:?}");
        },
    ];
    for disturb in disturb {
        disturb();
        // Enough lines for several rotations.
        practice.sandbox.add_documents(8).await.unwrap();
        posts += 8;
        practice.wait_for_posts(posts).await;
    }
    std::fs::create_dir_all(practice.path("log")).unwrap();
    practice.sandbox.add_documents(8).await.unwrap();
    practice.wait_for_posts(posts + 8).await;
    running.end().await;
    running.whole_log().await;
    assert_eq!(running.log(), "", "nothing on standard error");
    assert!(practice.path("log/docsyncd.log").exists(), "it logs again once it can: {:?}", files(&practice));
    practice.assert_all_filed().await;
}

#[tokio::test]
async fn a_log_that_cannot_be_written_is_said_at_the_start() {
    let mut practice = logging_to_a_file(1).await;
    practice.env.insert("DOCSYNCD__LOG__FILE".into(), "api-key/docsyncd.log".into());
    let log = practice.path("api-key/docsyncd.log").display().to_string();
    for command in ["run", "sync"] {
        let ended = practice.docsyncd(&[command]).await;
        assert_eq!(ended.code, 1, "{ended:?}");
        assert!(ended.stderr.contains("log.file") && ended.stderr.contains(&log), "{ended:?}");
    }
    assert!(practice.sandbox.requests().is_empty());
}

#[tokio::test]
async fn what_ends_the_daemon_is_also_said_on_standard_error() {
    let practice = logging_to_a_file(1).await;
    let mut first = practice.start();
    practice.wait_for_posts(1).await;
    let second = practice.docsyncd(&["run"]).await;
    assert_eq!(second.code, 1, "{second:?}");
    assert!(second.stderr.contains("in use by another docsyncd"), "{second:?}");
    first.kill().await;
}
