//! Files that are no ledger of ours, or none any more: they are refused with words that help, and never touched.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::Connection;

use crate::harness::{Ended, Practice, sha256};

/// Name, digest and permissions of everything in the folder but the locks, which are ours, and the index of the
/// write-ahead log, in which every reader leaves its marks. It looks at a copy that another process made: to open and
/// close a database here would give back the locks that this process has on it (POSIX, fcntl).
fn inventory(folder: &Path) -> BTreeMap<String, (String, u32)> {
    let copy = tempfile::tempdir().unwrap();
    let folder = if cfg!(unix) {
        let copied = std::process::Command::new("cp").arg("-Rp").arg(folder).arg(copy.path()).status().unwrap();
        assert!(copied.success());
        copy.path().join(folder.file_name().unwrap())
    } else {
        folder.to_path_buf()
    };
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap).filter(|entry| entry.path().is_file());
    let described = entries.map(|entry| {
        #[cfg(unix)]
        let mode = std::os::unix::fs::PermissionsExt::mode(&entry.metadata().unwrap().permissions());
        #[cfg(not(unix))]
        let mode = 0;
        (entry.file_name().into_string().unwrap(), (sha256(&std::fs::read(entry.path()).unwrap()), mode))
    });
    described.filter(|(name, _)| !name.ends_with(".lock") && !name.ends_with("-shm")).collect()
}

/// Every command refuses the file with exit code 1 and these words, and changes nothing.
async fn assert_refused(practice: &Practice, signs: &[&str]) -> Ended {
    let before = inventory(&practice.path("state"));
    let mut last = None;
    for command in [&["run"][..], &["sync"], &["status"], &["list"], &["show", "u"], &["retry", "--failed"]] {
        let ended = practice.docsyncd(command).await;
        assert_eq!((ended.code, ended.stdout.as_str()), (1, ""), "{command:?}: {ended:?}");
        for sign in signs {
            assert!(ended.stderr.contains(sign), "{command:?}, {sign}: {ended:?}");
        }
        assert_eq!(inventory(&practice.path("state")), before, "{command:?} touched it");
        last = Some(ended);
    }
    let check = practice.docsyncd(&["check"]).await;
    assert_eq!(check.code, 1, "{check:?}");
    assert!(check.stdout.contains("FAIL  ledger"), "{check:?}");
    assert_eq!(inventory(&practice.path("state")), before, "check touched it");
    last.unwrap()
}

/// The command that the message gives to a person.
#[cfg(unix)]
fn command_in(ended: &Ended) -> String {
    let line = ended.stderr.lines().find(|line| line.starts_with("    mkdir")).unwrap_or_else(|| panic!("{ended:?}"));
    line.trim().to_owned()
}

/// Does what the message says, in a shell, and synchronizes again.
#[cfg(unix)]
async fn follow_the_advice(practice: &Practice, ended: &Ended) {
    let moved = std::process::Command::new("sh").args(["-c", &command_in(ended)]).output().unwrap();
    assert!(moved.status.success() && moved.stderr.is_empty(), "{moved:?}");
    assert!(!practice.ledger().exists());
    let sync = practice.sync().await;
    assert_eq!(sync.code, 0, "{sync:?}");
}

/// Everything that lies in a folder beside the ledger, however deep.
#[cfg(unix)]
fn kept_aside(practice: &Practice) -> Vec<String> {
    let mut kept = Vec::new();
    for entry in std::fs::read_dir(practice.path("state")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && path.file_name().unwrap() != "spool" {
            for file in std::fs::read_dir(path).unwrap() {
                kept.push(sha256(&std::fs::read(file.unwrap().path()).unwrap()));
            }
        }
    }
    kept
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused_and_the_advice_works() {
    for content in ["This is a letter, not a ledger.\n".repeat(500), "x".to_owned()] {
        let practice = Practice::with_documents(2).await;
        std::fs::create_dir(practice.path("state")).unwrap();
        std::fs::write(practice.ledger(), &content).unwrap();
        let path = practice.ledger().display().to_string();
        let ended =
            assert_refused(&practice, &[&path, "is damaged", "not a SQLite database", "Keep the damaged file"]).await;
        assert_eq!(std::fs::read_to_string(practice.ledger()).unwrap(), content);
        #[cfg(unix)]
        {
            follow_the_advice(&practice, &ended).await;
            assert!(kept_aside(&practice).contains(&sha256(content.as_bytes())));
            practice.assert_all_filed().await;
        }
        let _ = ended;
    }
}

/// Overwrites the second half of the database, without its first page, with garbage.
fn damage(ledger: &Path) {
    let mut bytes = std::fs::read(ledger).unwrap();
    let middle = bytes.len() / 3;
    for (index, byte) in bytes.iter_mut().enumerate().skip(middle.max(4096)) {
        *byte = u8::try_from((index * 31 + 7) % 251).unwrap();
    }
    std::fs::write(ledger, bytes).unwrap();
}

#[tokio::test]
async fn a_damaged_database_is_refused_and_the_advice_works() {
    let practice = Practice::with_documents(5).await;
    assert_eq!(practice.sync().await.code, 0);
    let filed = practice.filed();
    damage(&practice.ledger());
    let damaged = sha256(&std::fs::read(practice.ledger()).unwrap());
    let ended = assert_refused(&practice, &["is damaged", "Keep the damaged file"]).await;
    #[cfg(unix)]
    {
        follow_the_advice(&practice, &ended).await;
        assert!(kept_aside(&practice).contains(&damaged));
        assert_eq!(practice.filed(), filed, "what was delivered already is recognised");
    }
    let _ = (damaged, filed, ended);
}

/// What a power cut left in the write-ahead log is evidence, too.
#[tokio::test]
async fn a_damaged_database_with_a_write_ahead_log_is_refused_untouched() {
    let practice = Practice::with_documents(5).await;
    assert_eq!(practice.sync().await.code, 0);
    practice.sandbox.add_documents(1).await.unwrap();
    let mut running = practice.run().await;
    practice.wait_for_posts(6).await;
    running.kill().await;
    assert!(std::fs::metadata(practice.path("state/ledger.sqlite3-wal")).unwrap().len() > 0);
    damage(&practice.ledger());
    assert_refused(&practice, &["is damaged"]).await;
}

/// The record of what went where must survive that it happens again.
#[cfg(unix)]
#[tokio::test]
async fn the_advice_can_be_followed_twice_and_nothing_is_lost() {
    let practice = Practice::with_documents(1).await;
    std::fs::create_dir(practice.path("state")).unwrap();
    let mut digests = Vec::new();
    for content in ["first", "second"] {
        std::fs::write(practice.ledger(), content).unwrap();
        digests.push(sha256(content.as_bytes()));
        let ended = practice.sync().await;
        assert_eq!(ended.code, 1, "{ended:?}");
        follow_the_advice(&practice, &ended).await;
    }
    let kept = kept_aside(&practice);
    assert!(digests.iter().all(|digest| kept.contains(digest)), "{kept:?}");
}

#[cfg(unix)]
#[tokio::test]
async fn the_advice_works_for_a_path_with_every_kind_of_character() {
    let mut practice = Practice::with_documents(1).await;
    let folder = practice.path("Dr. O'Brien & \"Söhne\" $HOME `x` (2)");
    std::fs::create_dir(&folder).unwrap();
    let ledger = folder.join("the ledger.sqlite3");
    std::fs::write(&ledger, "no database").unwrap();
    practice.env.insert("DOCSYNCD__STATE__PATH".into(), ledger.display().to_string());
    let ended = practice.sync().await;
    assert_eq!(ended.code, 1, "{ended:?}");
    let moved = std::process::Command::new("sh").args(["-c", &command_in(&ended)]).output().unwrap();
    assert!(moved.status.success() && moved.stderr.is_empty(), "{}: {moved:?}", command_in(&ended));
    assert!(!ledger.exists());
    assert_eq!(practice.sync().await.code, 0);
}

#[tokio::test]
async fn a_database_of_another_program_is_refused_untouched() {
    for pragmas in ["", "PRAGMA journal_mode = WAL;", "PRAGMA application_id = 7; PRAGMA user_version = 1;"] {
        let practice = Practice::with_documents(1).await;
        std::fs::create_dir(practice.path("state")).unwrap();
        let other = Connection::open(practice.ledger()).unwrap();
        other.execute_batch(pragmas).unwrap();
        other.execute_batch("CREATE TABLE invoice (id INTEGER); INSERT INTO invoice VALUES (1);").unwrap();
        drop(other);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            std::fs::set_permissions(practice.ledger(), std::fs::Permissions::from_mode(0o664)).unwrap();
        }
        assert_refused(&practice, &["not a ledger of docsyncd", "set state.path"]).await;
        let other = Connection::open(practice.ledger()).unwrap();
        assert_eq!(other.query_row("SELECT id FROM invoice", [], |row| row.get::<_, i64>(0)).unwrap(), 1);
    }
}

/// While the other program runs, its write-ahead log is there and is its own.
#[cfg(unix)]
#[tokio::test]
async fn a_database_that_another_program_works_on_is_refused_untouched() {
    let practice = Practice::with_documents(1).await;
    std::fs::create_dir(practice.path("state")).unwrap();
    let other = Connection::open(practice.ledger()).unwrap();
    other.pragma_update(None, "journal_mode", "WAL").unwrap();
    other.execute_batch("CREATE TABLE invoice (id INTEGER); INSERT INTO invoice VALUES (1);").unwrap();
    assert_refused(&practice, &["not a ledger of docsyncd"]).await;
    other.execute_batch("INSERT INTO invoice VALUES (2);").unwrap();
}

#[tokio::test]
async fn a_ledger_of_another_layout_is_refused_untouched() {
    let practice = Practice::with_documents(2).await;
    assert_eq!(practice.sync().await.code, 0);
    let db = || Connection::open(practice.ledger()).unwrap();
    let version: i64 = db().pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    let path = practice.ledger().display().to_string();
    let newer = ["newer docsyncd", "schema version is 99", "was not touched", "install the newer version"];
    let former = version - 1;
    let found = format!("schema version is {former}, this program reads {version} and later");
    let older = ["older docsyncd", &found, "was not touched", &path, "move the ledger aside", "Keep the older file"];
    for (number, signs) in [(99, &newer[..]), (former, &older[..])] {
        db().pragma_update(None, "user_version", number).unwrap();
        let ended = assert_refused(&practice, signs).await;
        // With the program that wrote it, or here the number as it was, everything is still there.
        db().pragma_update(None, "user_version", version).unwrap();
        practice.sandbox.forget_requests();
        assert_eq!(practice.sync().await.code, 0);
        assert!(practice.sandbox.requests().iter().all(|request| request.path == "/documents"));
        #[cfg(unix)]
        if number == former {
            follow_the_advice(&practice, &ended).await;
            practice.assert_all_filed().await;
        }
        let _ = ended;
    }
}

#[tokio::test]
async fn a_folder_that_cannot_be_made_is_an_error_with_a_way_out() {
    let mut practice = Practice::with_documents(1).await;
    for path in ["api-key/ledger.sqlite3", "api-key/below/ledger.sqlite3", "inbox"] {
        let path = practice.path(path).display().to_string();
        practice.env.insert("DOCSYNCD__STATE__PATH".into(), path.clone());
        for command in ["run", "sync"] {
            let ended = practice.docsyncd(&[command]).await;
            assert_eq!((ended.code, ended.stdout.as_str()), (1, ""), "{ended:?}");
            assert!(ended.stderr.contains(&path) && ended.stderr.contains("cannot be opened"), "{ended:?}");
        }
        assert!(practice.sandbox.requests().is_empty());
    }
}

#[tokio::test]
async fn an_empty_file_becomes_a_ledger() {
    let practice = Practice::with_documents(1).await;
    std::fs::create_dir(practice.path("state")).unwrap();
    std::fs::write(practice.ledger(), "").unwrap();
    assert_eq!(practice.sync().await.code, 0);
    practice.assert_all_filed().await;
}

/// A device such as /dev/null would have been closed to the whole machine; a pipe needs no root to try it with.
#[cfg(unix)]
#[tokio::test]
async fn what_is_no_regular_file_is_refused_and_keeps_its_permissions() {
    use std::os::unix::fs::PermissionsExt as _;

    let practice = Practice::with_documents(0).await;
    std::fs::create_dir(practice.path("state")).unwrap();
    let made = std::process::Command::new("mkfifo").args(["-m", "666"]).arg(practice.ledger()).status().unwrap();
    assert!(made.success());
    for command in [&["sync"][..], &["status"], &["run"]] {
        let ended = practice.docsyncd(command).await;
        assert_eq!(ended.code, 1, "{command:?}: {ended:?}");
        assert!(ended.stderr.contains("it is not a regular file"), "{command:?}: {ended:?}");
    }
    let mode = std::fs::metadata(practice.ledger()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o666);
}
