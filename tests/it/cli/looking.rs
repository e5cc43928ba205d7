//! `docsyncd status`, `list` and `show`, as a person reads them.

use docsyncd_sandbox::{Fault, FaultKind, NewDocument, NewPdf, Route};

use crate::dictated::add_refused;
use crate::harness::Practice;

#[tokio::test]
async fn before_any_ledger_status_and_list_say_so_and_show_and_retry_fail() {
    let practice = Practice::with_documents(1).await;
    let status = practice.docsyncd(&["status"]).await;
    assert_eq!((status.code, status.stderr.as_str()), (4, ""), "not running: {status:?}");
    let ledger = practice.ledger().display().to_string();
    assert!(status.stdout.contains("not running") && status.stdout.contains(&ledger), "{status:?}");
    let list = practice.docsyncd(&["list"]).await;
    assert_eq!((list.code, list.stdout.as_str()), (0, "no documents\n"), "{list:?}");
    for args in [&["show", "5f0c"][..], &["show", "5f0c", "--json"], &["retry", "5f0c"], &["retry", "--failed"]] {
        let ended = practice.docsyncd(args).await;
        assert_eq!((ended.code, ended.stdout.as_str()), (1, ""), "{args:?}: {ended:?}");
        assert!(ended.stderr.contains("no ledger at") && ended.stderr.contains(&ledger), "{args:?}: {ended:?}");
    }
    assert!(!practice.path("state").exists(), "looking creates nothing");
}

#[tokio::test]
async fn status_answers_what_a_person_asks_first() {
    let practice = Practice::with_documents(3).await;
    add_refused(&practice).await;
    practice.sandbox.add(NewDocument { pdf: NewPdf::None, ..NewDocument::default() }).await.unwrap();
    let ended = practice.sync().await;
    assert_eq!(ended.code, 3, "{ended:?}");
    let status = practice.docsyncd(&["status"]).await;
    assert_eq!((status.code, status.stderr.as_str()), (4, ""), "not running: {status:?}");
    let line = |start: &str| {
        let found = status.stdout.lines().find(|line| line.starts_with(start));
        found.unwrap_or_else(|| panic!("no {start}: {status:?}")).to_owned()
    };
    line("NOT RUNNING");
    assert!(!line("last success").ends_with('-'), "{status:?}");
    assert!(line("reported").ends_with(" 3"), "{status:?}");
    assert!(line("waiting").contains(" 1 (1 to fetch, 0 to deliver, 0 to report)"), "{status:?}");
    assert!(line("failed").contains(" 1 ") && line("failed").contains("retry --failed"), "{status:?}");
    assert!(line("account").contains("main: last polled"), "{status:?}");
}

/// What writes is refused by a full disk, in the moment in which a person asks.
#[tokio::test]
async fn looking_writes_nothing() {
    let practice = Practice::with_documents(3).await;
    assert_eq!(practice.sync().await.code, 0);
    // Open beside them as a daemon has it: the log stays.
    let beside = rusqlite::Connection::open(practice.ledger()).unwrap();
    beside.execute_batch("INSERT INTO process VALUES ('beside', 'x'); BEGIN IMMEDIATE").unwrap();
    let mut log = practice.ledger().into_os_string();
    log.push("-wal");
    // Only the log is read: to close the ledger itself would give back the locks that `beside` has on it (POSIX,
    // fcntl).
    let before = std::fs::read(&log).unwrap();
    assert!(!before.is_empty());
    let uuid = practice.sandbox.documents().await.unwrap().remove(0).uuid;
    for args in [&["status"][..], &["status", "--json"], &["list"], &["show", &uuid]] {
        let ended = practice.docsyncd(args).await;
        assert_eq!(ended.code, if args[0] == "status" { 4 } else { 0 }, "{args:?}: {ended:?}");
        let after = std::fs::read(&log).unwrap();
        assert!(before == after, "{args:?} wrote: {} and {} bytes of log", before.len(), after.len());
    }
    drop(beside);
}

#[tokio::test]
async fn status_names_the_list_that_shows_what_failed() {
    let practice = Practice::with_documents(1).await;
    practice.sandbox.inject(Fault::always(Route::Status, FaultKind::status(422)));
    assert_eq!(practice.sync().await.code, 3);
    let status = practice.docsyncd(&["status"]).await.stdout;
    let failed = status.lines().find(|line| line.starts_with("failed")).unwrap();
    assert!(failed.contains(" list --state unreported;"), "{status}");
}

#[tokio::test]
async fn status_shows_what_is_paused_and_why() {
    let mut practice = Practice::with_documents(1).await;
    practice.without_patience();
    std::fs::remove_dir(practice.inbox()).unwrap();
    practice.sync().await;
    let status = practice.docsyncd(&["status"]).await.stdout;
    let paused = status.lines().find(|line| line.starts_with("PAUSED")).unwrap_or_else(|| panic!("{status}"));
    assert!(paused.contains("destination:pms") && paused.contains("does not exist"), "{status}");

    let json = practice.docsyncd(&["status", "--json"]).await.stdout;
    let status: serde_json::Value = serde_json::from_str(&json).unwrap();
    let json = practice.docsyncd(&["list", "--json"]).await.stdout;
    let list: Vec<serde_json::Value> = serde_json::from_str(&json).unwrap();
    let shown = practice.show(list[0]["uuid"].as_str().unwrap()).await;
    for document in [&list[0], &shown] {
        assert!(document["reason"].as_str().unwrap().contains("does not exist"), "{document}");
        assert_eq!(document["next_attempt"], status["pauses"][0]["next_probe"]);
        assert_eq!(document["attempts"], 0);
    }

    let mut practice = Practice::with_documents(1).await;
    practice.without_patience();
    practice.sandbox.inject(Fault::always(Route::List, FaultKind::status(503)));
    practice.sync().await;
    let status = practice.docsyncd(&["status"]).await.stdout;
    assert!(status.contains("LAST POLL FAILED") && status.contains("HTTP 503"), "{status}");
}

#[tokio::test]
async fn status_says_whether_the_daemon_runs() {
    let practice = Practice::with_documents(1).await;
    let mut running = practice.run().await;
    practice.wait_for_posts(1).await;
    let status = practice.docsyncd(&["status"]).await;
    assert!(status.code == 0 && status.stdout.starts_with("All is well: "), "{status:?}");
    assert!(
        status.stdout.contains("\nrunning ") && status.stdout.contains("asks for new letters again "),
        "{status:?}"
    );
    assert!(status.stdout.contains(&format!("process {},", running.id())), "{status:?}");
    assert!(status.stdout.contains(&format!("version {},", env!("CARGO_PKG_VERSION"))), "{status:?}");
    running.kill().await;
    // After a power cut as well.
    let status = practice.docsyncd(&["status"]).await;
    assert!(status.stdout.starts_with("docsyncd is not running: "), "{status:?}");
    assert!(status.stdout.contains("\nNOT RUNNING\n"), "{status:?}");
    let french = practice.docsyncd(&["status", "--lang", "fr"]).await;
    assert!(french.stdout.starts_with("docsyncd est arrêté\u{a0}: ") && french.code == 4, "{french:?}");
    assert_eq!(status.code, 4);
}

#[tokio::test]
async fn a_wrong_key_is_told_once_with_its_file_and_once_with_what_the_service_said() {
    let mut practice = Practice::with_documents(0).await;
    practice.without_patience();
    practice.write_secret("api-key", "a-wrong-key");
    let mut running = practice.run().await;
    running.wait_for_log("event=\"paused\"").await;
    let status = practice.docsyncd(&["status"]).await.stdout;
    let key = practice.path("api-key").display().to_string();
    assert!(status.contains(&format!("What to do: Put a valid key into {key}, then run: docsyncd ")), "{status}");
    assert!(status.contains("\nPAUSED ") && status.contains("\nSIGN-IN "), "{status}");
    for (words, times) in [("HTTP 401", 1), ("is refused or cannot be read", 1), ("LAST POLL FAILED", 0)] {
        assert_eq!(status.matches(words).count(), times, "{words}: {status}");
    }
    running.kill().await;
}

/// Everything that the table has to say, in a language of which no word is English but names and commands.
#[tokio::test]
async fn a_service_that_asks_to_wait_is_told_as_that_and_the_table_has_one_language() {
    let mut practice = Practice::with_documents(1).await;
    practice.without_patience();
    // The pause has told of the same: that the poll fails, too, is there for who looks closely.
    practice.env.insert("DOCSYNCD__LOG__LEVEL".into(), "debug".into());
    add_refused(&practice).await;
    assert_eq!(practice.sync().await.code, 3);
    practice.sandbox.inject(Fault::always(Route::Document, FaultKind::status(429)));
    practice.sandbox.add(NewDocument::default()).await.unwrap();
    let mut running = practice.run().await;
    running.wait_for_log("event=\"paused\"").await;
    practice.sandbox.inject(Fault::always(Route::List, FaultKind::status(429)));
    practice.docsyncd(&["poll"]).await;
    running.wait_for_log("event=\"poll_failed\"").await;
    rusqlite::Connection::open(practice.ledger())
        .unwrap()
        .execute_batch(
            "INSERT INTO account (name) VALUES ('gone');
             INSERT INTO document (account, uuid, created_at, state, due_at, found_at, changed_at)
                 VALUES ('gone', 'left', '2026', 'discovered', 1, 1, 1);
             INSERT INTO pause (scope, failure, reason, since, attempts, probe_at)
                 VALUES ('report:main', 'report down status_429', 'x', 1, 1, 1),
                        ('destination:pms', 'deliver no_room', 'x', 1, 1, 1);
             UPDATE delivery SET state = 'pending', unconfirmed_at = 1;
             UPDATE document SET state = 'fetched' WHERE id IN (SELECT document FROM delivery)",
        )
        .unwrap();
    let english = practice.docsyncd(&["status"]).await.stdout;
    assert!(english.contains("the service asks the account main to wait."), "{english}");
    let french = practice.docsyncd(&["status", "--lang", "fr"]).await.stdout;
    assert!(french.contains("le service demande au compte main d'attendre."), "{french}");
    assert!(!english.contains("cannot be reached") && !french.contains("inaccessible"), "{english}\n{french}");
    for label in ["running", "UNCERTAIN", "PAUSED", "account", "LAST POLL FAILED", "NOT CONFIGURED", "sign-in"] {
        assert!(english.contains(label), "{label}: {english}");
    }
    let words = |text: &str| -> std::collections::BTreeSet<String> {
        let [ledger, inbox] = [practice.ledger(), practice.inbox()].map(|path| path.display().to_string());
        let text = text.replace(&ledger, "").replace(&inbox, "").replace(" --state ", " ").replace(" --config ", " ");
        let words = text.split(|c: char| !c.is_alphabetic() && c != '-' && c != '\'').filter(|word| word.len() > 2);
        words.map(str::to_lowercase).collect()
    };
    // Names, commands, and words that both languages have.
    let both = [
        "configuration",
        "document",
        "docsyncd",
        "main",
        "pms",
        "gone",
        "list",
        "retry",
        "failed",
        "fetched",
        "uuid",
        "--failed",
        "accounts",
        "version",
        "destination",
        "utc",
        "gmt",
        "--arrived",
        "check",
        "service",
        "toml",
        "code",
        "instances",
    ];
    let config = practice.path("docsyncd.toml").display().to_string();
    let shared: Vec<String> = words(&english.replace(&config, ""))
        .intersection(&words(&french.replace(&config, "")))
        .filter(|word| !both.contains(&word.as_str()))
        .cloned()
        .collect();
    assert!(shared.is_empty(), "{shared:?}\n{french}");
    let labels = |text: &str| text.lines().skip_while(|line| !line.is_empty()).count();
    assert_eq!(labels(&english), labels(&french), "{english}\n{french}");
    running.kill().await;
}

#[tokio::test]
async fn list_takes_a_state_and_shows_a_line_for_each_document() {
    let practice = Practice::with_documents(3).await;
    let bad = add_refused(&practice).await;
    practice.sync().await;
    let all = practice.docsyncd(&["list"]).await;
    assert_eq!((all.code, all.stdout.lines().count()), (0, 5), "a header and four documents: {all:?}");
    let header = all.stdout.lines().next().unwrap();
    let columns: Vec<&str> = header.split_whitespace().collect();
    assert!(
        columns.starts_with(&["state", "when", "type", "destination", "document", "reason", "account"]),
        "{header}"
    );
    let at = header.find("document");
    for line in all.stdout.lines().skip(1) {
        let uuid = line.split("  ").map(str::trim).find(|word| word.len() == 36 && word.matches('-').count() == 4);
        assert_eq!(uuid.and_then(|uuid| line.find(uuid)), at, "columns stand below each other: {}", all.stdout);
    }
    let failed = practice.docsyncd(&["list", "--state", "failed"]).await;
    assert_eq!((failed.code, failed.stdout.lines().count()), (0, 2), "{failed:?}");
    let line = failed.stdout.lines().nth(1).unwrap();
    assert!(line.contains(&bad) && line.contains("failed") && line.contains("HTTP 403"), "{line}");
    for (state, count) in [("reported", 3), ("failed", 1), ("discovered", 0), ("withdrawn", 0)] {
        let ended = practice.docsyncd(&["list", "--state", state, "--json"]).await;
        let list: Vec<serde_json::Value> = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!(list.len(), count, "{state}");
        assert!(list.iter().all(|document| document["state"] == state), "{state}");
    }
    let json = practice.docsyncd(&["list", "--json"]).await.stdout;
    let list: Vec<serde_json::Value> = serde_json::from_str(&json).unwrap();
    let changes: Vec<&str> = list.iter().map(|document| document["changed_at"].as_str().unwrap()).collect();
    assert!(changes.is_sorted_by(|a, b| a >= b), "the newest change first: {changes:?}");
}

#[tokio::test]
async fn show_tells_the_whole_history_of_one_document() {
    let practice = Practice::with_documents(1).await;
    practice.sync().await;
    let uuid = practice.sandbox.documents().await.unwrap().remove(0).uuid;
    for spelled in [uuid.clone(), uuid.to_uppercase()] {
        let shown = practice.docsyncd(&["show", &spelled]).await;
        assert_eq!((shown.code, shown.stderr.as_str()), (0, ""), "{shown:?}");
        let file = practice.filed().into_iter().next().unwrap();
        let place = practice.inbox().canonicalize().unwrap().join(file.0.replace('/', std::path::MAIN_SEPARATOR_STR));
        // Windows writes resolved paths in a form that no person would type.
        let place = place.display().to_string().trim_start_matches(r"\\?\").to_owned();
        let words =
            [&uuid, "main", "reported", &file.1, "pms: delivered", &place, "discovered", "fetched", "report_accepted"];
        for word in words {
            assert!(shown.stdout.contains(word), "{word}: {}", shown.stdout);
        }
    }
}

#[tokio::test]
async fn an_unknown_document_ends_with_1_and_says_where_to_look() {
    let practice = Practice::with_documents(1).await;
    practice.sync().await;
    for args in [&["show", "no-such-document"][..], &["show", "no-such-document", "--json"]] {
        let ended = practice.docsyncd(args).await;
        assert_eq!((ended.code, ended.stdout.as_str()), (1, ""), "{ended:?}");
        assert!(ended.stderr.contains("no-such-document") && ended.stderr.contains(" list shows"), "{ended:?}");
    }
}

#[tokio::test]
async fn looking_beside_a_running_daemon_disturbs_nothing() {
    let practice = Practice::with_documents(30).await;
    let mut running = practice.run().await;
    for _ in 0..5 {
        for args in [&["status"][..], &["list", "--json"], &["status", "--json"]] {
            let ended = practice.docsyncd(args).await;
            assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended:?}");
        }
    }
    practice.wait_for_posts(30).await;
    running.wait_for_logs("event=\"reported\"", 30).await;
    assert!(!running.log().contains("ERROR") && !running.log().contains("WARN"), "{}", running.log());
    running.kill().await;
    practice.assert_all_filed().await;
}

/// Into a pipe a line each time that something changes; it ends with its reader, or when it is told to.
#[cfg(unix)]
#[tokio::test]
async fn status_that_is_watched_says_what_changes() {
    use tokio::io::{AsyncBufReadExt as _, BufReader};
    let practice = Practice::with_documents(1).await;
    let mut watching = practice.command(&["status", "--watch", "--lang", "fr"]);
    let mut watching = watching.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    let mut next =
        async || tokio::time::timeout(crate::harness::PATIENCE, lines.next_line()).await.unwrap().unwrap().unwrap();
    let first = next().await;
    assert!(first.contains("docsyncd est arrêté") && !first.contains('\u{1b}'), "{first}");
    let mut running = practice.run().await;
    let mut said = first;
    while !said.contains("Tout va bien\u{a0}: 1 courrier aujourd'hui") {
        said = next().await;
    }
    running.kill().await;
    while !said.contains("docsyncd est arrêté") {
        said = next().await;
    }
    let ended = std::process::Command::new("kill").arg(watching.id().unwrap().to_string()).status().unwrap();
    assert!(ended.success());
    let code = tokio::time::timeout(crate::harness::PATIENCE, watching.wait()).await.unwrap().unwrap().code();
    assert_eq!(code, Some(0));
}

#[tokio::test]
async fn status_of_all_instances_is_a_line_each_and_their_sum() {
    let practice = Practice::with_documents(2).await;
    assert_eq!(practice.sync().await.code, 0);
    let second = std::fs::read_to_string(practice.config_path()).unwrap().replace("state/", "other/");
    std::fs::write(practice.path("north.toml"), second).unwrap();
    std::fs::write(practice.path("answers.toml"), "base_url = \"https://api.example.test\"\ntype = \"folder\"\n")
        .unwrap();
    let broken = practice.path("broken.toml");
    std::fs::write(&broken, "[api]\nbase_url = 7\n[state]\npath = \"none\"\n").unwrap();
    let all = practice.docsyncd(&["status", "--all"]).await;
    assert!(all.code == 2 && all.stdout.starts_with("Instances: 3. Letters today: 2."), "{all:?}");
    std::fs::remove_file(&broken).unwrap();
    let all = practice.docsyncd(&["status", "--all"]).await;
    assert_eq!(all.code, 4, "{all:?}");
    assert!(all.stderr.contains("answers.toml is no configuration") && !all.stderr.contains("unknown"), "{all:?}");
    let lines: Vec<&str> = all.stdout.lines().collect();
    assert_eq!(lines[0], "Instances: 2. Letters today: 2. Waiting: 0. Failed: 0.", "{all:?}");
    assert!(lines[1].starts_with("docsyncd  docsyncd is not running") && lines[2].starts_with("north     "), "{all:?}");
}
