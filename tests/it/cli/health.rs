//! `docsyncd status --health`: the line and the exit code that a monitor gets, whatever hangs.

use std::time::{Duration, Instant};

use docsyncd_sandbox::{Fault, FaultKind, Options, Route};
use serde_json::Value;

use crate::harness::{Ended, PATIENCE, Practice};

/// Far below what anything that hangs is waited for elsewhere (5 s and 10 s), and above what a busy machine needs.
const SOON: Duration = Duration::from_secs(4);

/// The line and the exit code; it has the form of a monitor, and names nobody.
async fn health(practice: &Practice, args: &[&str]) -> (String, i32) {
    let began = Instant::now();
    let Ended { code, stdout, .. } = practice.docsyncd(&[&["status", "--health"], args].concat()).await;
    assert!(began.elapsed() < SOON, "{:?}: {stdout}", began.elapsed());
    let level =
        ["OK", "WARNING", "CRITICAL", "UNKNOWN"].iter().position(|level| stdout.starts_with(&format!("{level} - ")));
    assert_eq!(level, usize::try_from(code).ok(), "{stdout}");
    let (_, numbers) = stdout.split_once(" | ").unwrap_or_else(|| panic!("{stdout}"));
    let names: Vec<&str> = numbers.split(' ').filter_map(|one| Some(one.split_once('=')?.0)).collect();
    assert_eq!(names, ["waiting", "failed", "needs_person", "oldest"], "{stdout}");
    assert!(stdout.ends_with(";;;\n") && stdout.matches('\n').count() == 1, "{stdout}");
    for document in practice.sandbox.documents().await.unwrap() {
        assert!(!stdout.contains(&document.uuid), "{stdout}");
    }
    assert!(!stdout.contains(practice.dir.path().to_str().unwrap()), "no path: {stdout}");
    (stdout, code)
}

/// Asks until the line begins so.
async fn until(practice: &Practice, begins: &str) -> String {
    let began = Instant::now();
    loop {
        let (line, _) = health(practice, &[]).await;
        if line.starts_with(begins) {
            return line;
        }
        assert!(began.elapsed() < PATIENCE, "not {begins}: {line}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn json(practice: &Practice) -> (String, Value) {
    let began = Instant::now();
    let status: Value = serde_json::from_str(&practice.docsyncd(&["status", "--json"]).await.stdout).unwrap();
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    (status["health"].as_str().unwrap().to_owned(), status["causes"].clone())
}

#[tokio::test]
async fn a_monitor_hears_how_it_is_in_one_line_and_a_code() {
    let practice = Practice::with_documents(2).await;
    let (line, code) = health(&practice, &[]).await;
    assert!(code == 2 && line.starts_with("CRITICAL - docsyncd is not running: no letters are filed."), "{line}");
    let mut running = practice.run().await;
    practice.wait_for_posts(2).await;
    let line = until(&practice, "OK - 2 letters today, the last at ").await;
    assert!(line.ends_with(" | waiting=0;;; failed=0;;; needs_person=0;;; oldest=0s;;;\n"), "{line}");
    assert_eq!(json(&practice).await, ("ok".to_owned(), serde_json::json!([])));
    assert!(health(&practice, &["--lang", "de"]).await.0.starts_with("OK - heute 2 Briefe, der letzte um "));
    let (line, _) = health(&practice, &["--lang", "fr"]).await;
    assert!(line.starts_with("OK - 2 courriers aujourd'hui, le dernier à "), "{line}");
    running.end().await;
    assert_eq!(json(&practice).await, ("critical".to_owned(), serde_json::json!(["not-running"])));
    assert_eq!(practice.docsyncd(&["status", "--json"]).await.code, 4, "plain status keeps its codes");
    std::fs::remove_file(practice.config_path()).unwrap();
    let (line, code) = health(&practice, &[]).await;
    assert!(code == 3 && line.starts_with("UNKNOWN - not configured: "), "{line}");
}

#[tokio::test]
async fn what_is_installed_and_not_configured_is_unknown_with_what_went_wrong() {
    let practice = Practice::with_documents(1).await;
    let key = practice.path("api-key");
    std::fs::remove_file(&key).unwrap();
    let (line, code) = health(&practice, &[]).await;
    assert!(code == 3 && line.starts_with("UNKNOWN - not configured: no account has its key"), "{line}");
    assert_eq!(json(&practice).await, ("unknown".to_owned(), serde_json::json!(["not-running", "configuration"])));
    // As the installation leaves it whose answers did not work.
    std::fs::write(practice.path("docsyncd.toml.answers-failed"), "answers.toml: `base_url`: no\u{1b} answer\n")
        .unwrap();
    let (line, code) = health(&practice, &["--lang", "de"]).await;
    let told = "UNKNOWN - nicht eingerichtet: answers.toml: `base_url`: no  answer | ";
    assert!(code == 3 && line.starts_with(told), "{line}");
    practice.write_secret("api-key", practice.sandbox.api_key());
    let (line, code) = health(&practice, &[]).await;
    assert!(code == 2 && line.starts_with("CRITICAL - docsyncd is not running"), "{line}");
    let mut running = practice.run().await;
    practice.wait_for_posts(1).await;
    running.end().await;
    std::fs::remove_file(&key).unwrap();
    let (line, code) = health(&practice, &[]).await;
    assert!(code == 2 && line.starts_with("CRITICAL - docsyncd is not running"), "it was configured: {line}");
}

#[tokio::test]
async fn a_folder_that_is_away_is_never_ok_and_critical_once_it_has_lasted() {
    let mut practice = Practice::with_documents(1).await;
    practice.env.insert("DOCSYNCD__ALERTS__AFTER".into(), "1h".into());
    std::fs::remove_dir(practice.inbox()).unwrap();
    let mut running = practice.run().await;
    running.wait_for_log("event=\"paused\"").await;
    let line = until(&practice, "WARNING - ").await;
    assert!(line.contains("the destination pms cannot be reached | waiting=1;;; "), "{line}");
    practice.env.insert("DOCSYNCD__ALERTS__AFTER".into(), "1s".into());
    until(&practice, "CRITICAL - ").await;
    assert_eq!(json(&practice).await, ("critical".to_owned(), serde_json::json!(["destination"])));
    std::fs::create_dir(practice.inbox()).unwrap();
    practice.wait_for_posts(1).await;
    until(&practice, "OK - 1 letter today").await;
    running.end().await;
}

#[tokio::test]
async fn what_failed_counts_until_somebody_has_looked_at_it_and_a_monitor_is_nobody() {
    let practice = Practice::with_documents(2).await;
    let failing = practice.sandbox.documents().await.unwrap().remove(0).uuid;
    practice.sandbox.inject(Fault::always(Route::Document, FaultKind::status(403)).for_document(&failing));
    let mut running = practice.run().await;
    practice.wait_for_posts(2).await;
    until(&practice, "WARNING - 1 letter could not be filed").await;
    for args in [&["list"][..], &["status"], &["status", "--json"]] {
        practice.docsyncd(args).await;
    }
    let (line, _) = health(&practice, &[]).await;
    assert!(line.starts_with("WARNING - ") && line.contains(" failed=1;;; "), "{line}");
    assert_eq!(json(&practice).await, ("warning".to_owned(), serde_json::json!(["failed"])));
    assert_eq!(practice.docsyncd(&["show", &failing]).await.code, 0);
    let (line, _) = health(&practice, &[]).await;
    assert!(line.starts_with("OK - 1 letter today") && line.contains(" failed=1;;; "), "{line}");
    let status = practice.docsyncd(&["status"]).await;
    assert!(status.stdout.starts_with("1 letter could not be filed"), "it still failed: {status:?}");
    assert_eq!(practice.docsyncd(&["retry", "--yes", &failing]).await.code, 0);
    practice.wait_for_posts(3).await;
    until(&practice, "WARNING - 1 letter could not be filed").await;
    running.end().await;
}

#[tokio::test]
async fn another_program_that_has_locked_the_ledger_is_unknown_at_once() {
    let practice = Practice::with_documents(1).await;
    let mut running = practice.run().await;
    practice.wait_for_posts(1).await;
    until(&practice, "OK - ").await;
    let other = rusqlite::Connection::open(practice.ledger()).unwrap();
    other.busy_timeout(PATIENCE).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let (line, code) = health(&practice, &[]).await;
    assert!(code == 3 && line.starts_with("UNKNOWN - another program keeps the ledger locked"), "{line}");
    let agreed = ("unknown".to_owned(), serde_json::json!(["ledger"]));
    assert_eq!(json(&practice).await, agreed);
    assert_eq!(practice.docsyncd(&["status", "--json"]).await.code, 0);
    // The daemon notices it, too, and for how long: what it could not write for half a minute is critical.
    let mark = practice.path("state/ledger.sqlite3.unwritable");
    let began = Instant::now();
    while !mark.exists() {
        assert!(began.elapsed() < PATIENCE);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let since: i64 = std::fs::read_to_string(&mark).unwrap().trim().parse().unwrap();
    std::fs::write(&mark, format!("{}\n", since - 30_000)).unwrap();
    let (line, code) = health(&practice, &[]).await;
    assert!(code == 2 && line.contains("docsyncd cannot write its ledger"), "{line}");
    other.execute_batch("ROLLBACK").unwrap();
    until(&practice, "OK - ").await;
    running.end().await;
    assert!(!mark.exists());
    other.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE").unwrap();
    let (line, code) = health(&practice, &[]).await;
    assert!(code == 3 && line.starts_with("UNKNOWN - another program keeps the ledger locked"), "{line}");
    let (said, causes) = json(&practice).await;
    assert_eq!((said.as_str(), &causes[0]), ("unknown", &serde_json::json!("ledger")));
    assert_eq!(practice.docsyncd(&["status", "--json"]).await.code, 4);
}

/// A named pipe, which nobody writes to, answers as little as a share that is away.
#[cfg(unix)]
#[tokio::test]
async fn a_share_that_hangs_delays_no_answer() {
    let practice = Practice::with_documents(1).await;
    let mut running = practice.run().await;
    practice.wait_for_posts(1).await;
    let pipe = |path: std::path::PathBuf| {
        std::fs::remove_file(&path).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    };
    pipe(practice.path("api-key"));
    until(&practice, "OK - ").await;
    running.end().await;
    pipe(practice.config_path());
    assert_eq!(health(&practice, &[]).await.1, 3);
}

#[cfg(unix)]
#[tokio::test]
async fn a_ledger_that_may_not_be_read_is_unknown() {
    use std::os::unix::fs::PermissionsExt as _;
    let practice = Practice::with_documents(1).await;
    assert_eq!(practice.sync().await.code, 0);
    let ledger = practice.ledger();
    std::fs::write(&ledger, "this is no ledger at all").unwrap();
    let (line, code) = health(&practice, &[]).await;
    assert!(code == 3 && line.starts_with("UNKNOWN - the ledger cannot be read: it is damaged | "), "{line}");
    assert_eq!(json(&practice).await.0, "unknown");
    assert_eq!(practice.docsyncd(&["status", "--json"]).await.code, 1, "and standard error says what is wrong");
    std::fs::set_permissions(&ledger, std::fs::Permissions::from_mode(0o000)).unwrap();
    assert_eq!(health(&practice, &[]).await.1, 3);
}

#[tokio::test]
async fn a_refused_configuration_is_told_everywhere_until_it_is_mended() {
    let practice = Practice::with_documents(1).await;
    let good = std::fs::read_to_string(practice.config_path()).unwrap();
    let mut running = practice.run().await;
    practice.wait_for_posts(1).await;
    until(&practice, "OK - ").await;
    let broken = [good.replace("poll_interval", "pol_interval"), format!("{good}\n[[[ 'canary'")];
    for (index, broken) in broken.iter().enumerate() {
        practice.configure_wholly(broken);
        running.wait_for_logs("event=\"reload_refused\"", index + 1).await;
        let line = until(&practice, "WARNING - ").await;
        // Until the daemon has written down since when, the sentence begins with it.
        let line = line.replace("The configuration", "the configuration");
        assert!(line.contains("the configuration cannot be used (docsyncd check says why)"), "{line}");
        assert!(!line.contains("canary"), "{line}");
        assert_eq!(json(&practice).await, ("warning".to_owned(), serde_json::json!(["configuration"])));
        let status = practice.docsyncd(&["status"]).await;
        assert_eq!(status.code, 0, "{status:?}");
        assert!(status.stdout.contains("he configuration cannot be used ("), "{status:?}");
        let ledger = practice.ledger().display().to_string();
        assert!(status.stdout.contains(" check says what is wrong") && status.stderr.contains(&ledger), "{status:?}");
        for args in [&["list", "--json"][..], &["find", "a", "--json"], &["export"]] {
            let ended = practice.docsyncd(args).await;
            assert!(ended.code == 0 && ended.stderr.contains(&ledger), "{args:?}: {ended:?}");
        }
    }
    practice.configure_wholly(&good);
    running.wait_for_log("event=\"reloaded\"").await;
    until(&practice, "OK - ").await;
    assert!(!practice.docsyncd(&["status"]).await.stdout.contains("configuration"));
    // Whatever becomes of the file, there is no moment without an answer.
    let file = &practice.config_path();
    let cases: [&dyn Fn(); 3] =
        [&|| practice.configure_wholly(&broken[1]), &|| std::fs::remove_file(file).unwrap(), &|| {
            std::fs::create_dir(file).unwrap()
        }];
    for (index, case) in cases.iter().enumerate() {
        case();
        for args in [&["status", "--json"][..], &["list", "--json"], &["find", "a", "--json"]] {
            let ended = practice.docsyncd(args).await;
            assert!(ended.code == 0 && !ended.stdout.is_empty(), "{index} {args:?}: {ended:?}");
        }
        let (line, code) = health(&practice, &[]).await;
        assert!(code == 1 && line.contains("he configuration cannot be used ("), "{index}: {line}");
        assert_eq!(json(&practice).await, ("warning".to_owned(), serde_json::json!(["configuration"])), "{index}");
    }
    std::fs::remove_dir(file).unwrap();
    running.end().await;
    assert!(!practice.path("docsyncd.toml.in-use").exists());
    assert_eq!(practice.docsyncd(&["status"]).await.code, 2, "no file, and nothing runs");
    // What is refused for something else names its ledger nevertheless.
    for broken in &broken {
        practice.configure_wholly(broken);
        let (line, code) = health(&practice, &[]).await;
        assert!(code == 3 && line.contains("he configuration cannot be used ("), "{line}");
        let (status, listed) = (practice.docsyncd(&["status"]).await, practice.docsyncd(&["list"]).await);
        assert!(status.code == 4 && status.stderr.contains(&practice.ledger().display().to_string()), "{status:?}");
        assert!(listed.code == 0 && listed.stdout.lines().count() > 1, "{listed:?}");
    }
}

#[tokio::test]
async fn of_all_instances_the_worst_decides_and_its_name_stands_in_front() {
    let practice = Practice::with_options(Options { documents: 1, ..Options::default() }).await;
    let mut running = practice.run().await;
    practice.wait_for_posts(1).await;
    until(&practice, "OK - ").await;
    assert!(health(&practice, &["--all"]).await.0.starts_with("OK - docsyncd: 1 letter today"));
    let north = std::fs::read_to_string(practice.config_path()).unwrap().replace("state/", "north/");
    std::fs::write(practice.path("north.toml"), &north).unwrap();
    std::fs::write(practice.path("answers.toml"), "language = \"en\"\n").unwrap();
    let (line, code) = health(&practice, &["--all"]).await;
    assert!(code == 2 && line.starts_with("CRITICAL - north: docsyncd is not running"), "{line}");
    std::fs::write(practice.path("north.toml"), format!("{north}\n[nonsense]\n")).unwrap();
    let (line, code) = health(&practice, &["--all"]).await;
    assert!(code == 3 && line.starts_with("UNKNOWN - north: not configured: "), "{line}");
    running.end().await;
}

#[tokio::test]
async fn a_practice_that_gets_no_letters_any_more_is_a_warning() {
    let practice = Practice::with_documents(28).await;
    let mut running = practice.run().await;
    practice.wait_for_posts(28).await;
    until(&practice, "OK - ").await;
    // One came on each day of four weeks, and none since.
    let ledger = rusqlite::Connection::open(practice.ledger()).unwrap();
    ledger.busy_timeout(PATIENCE).unwrap();
    ledger.execute("UPDATE document SET found_at = found_at - (9 + id % 28) * 86400000", []).unwrap();
    let (line, code) = health(&practice, &[]).await;
    assert!(code == 1 && line.contains("no letter since ") && line.contains("; usually 1 a day |"), "{line}");
    assert_eq!(json(&practice).await, ("warning".to_owned(), serde_json::json!(["quiet"])));
    practice.configure("[alerts]\nquiet_after = \"off\"\n");
    assert_eq!(health(&practice, &[]).await.1, 0);
    running.end().await;
}
