//! `docsyncd export` and `docsyncd export --verify`.

use docsyncd_sandbox::NewDocument;
use serde_json::{Value, json};

use crate::dictated::add_refused;
use crate::harness::{Ended, Practice};

async fn exported(practice: &Practice, args: &[&str]) -> String {
    let ended = practice.docsyncd(&[&["export", "--from", "2020-01-01", "--to", "2999-12-31"], args].concat()).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stderr.contains("events; the last hash is "), "{ended:?}");
    ended.stdout
}

/// `export --verify` of this text; works without a configuration.
async fn verified(practice: &Practice, text: &str) -> Ended {
    std::fs::write(practice.path("export"), text).unwrap();
    let mut command = tokio::process::Command::new(crate::harness::program());
    command.arg("export").arg("--verify").arg(practice.path("export"));
    Ended::of(command).await
}

async fn with_history() -> (Practice, String) {
    let practice = Practice::with_documents(2).await;
    let named = NewDocument {
        patient: Some(json!({"firstName": "Zoé", "lastName": "Durand, \"Z\""})),
        ..NewDocument::default()
    };
    let named = practice.sandbox.add(named).await.unwrap();
    add_refused(&practice).await;
    assert_eq!(practice.sync().await.code, 3);
    (practice, named)
}

#[tokio::test]
async fn every_event_is_a_line_and_a_line_that_was_changed_removed_or_moved_is_found() {
    let (practice, _) = with_history().await;
    let db = crate::filled::open(&practice);
    let events = crate::filled::number(&db, "SELECT count(*) FROM history");
    for (format, header) in [("jsonl", 0), ("csv", 1)] {
        let text = exported(&practice, &["--format", format]).await;
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let end = lines.len() - 1;
        assert_eq!(i64::try_from(end - header).unwrap(), events, "{text}");
        assert!(lines[end].contains(&format!("{events} events")), "{text}");
        let ended = verified(&practice, &text).await;
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended:?}");
        assert!(ended.stdout.contains(&format!("{events} events as they were written")), "{ended:?}");
        let finds = async |changed: Vec<String>, line: usize, what: &str| {
            let ended = verified(&practice, &changed.concat()).await;
            assert_eq!(ended.code, 1, "{ended:?}");
            assert!(ended.stderr.contains(&format!("line {line}: ")) && ended.stderr.contains(what), "{ended:?}");
        };
        let owned = || lines.iter().map(|line| (*line).to_owned()).collect::<Vec<String>>();
        for at in [header, header + 3, end - 1] {
            let mut changed = owned();
            changed[at] = changed[at].replacen("T", "t", 1);
            finds(changed, at + 1, "was changed").await;
            let mut removed = owned();
            removed.remove(at);
            finds(removed, at + 1, "missing").await;
            let mut moved = owned();
            moved.swap(at, at + 1);
            finds(moved, at + 1, "missing").await;
        }
        for left in [header + 1, end - 1, end] {
            let ended = verified(&practice, &lines[..left].concat()).await;
            assert!(ended.code == 1 && ended.stderr.contains("its end is missing"), "{left}: {ended:?}");
        }
        let mut cut = owned();
        let last = cut.len() - 1;
        cut[last].truncate(20);
        finds(cut, last + 1, "no hash").await;
        let mut twice = owned();
        twice.insert(header + 1, lines[header].to_owned());
        finds(twice, header + 2, "missing").await;
    }
    let ended = verified(&practice, "something else\n").await;
    assert!(ended.code == 1 && ended.stderr.contains("no export"), "{ended:?}");
}

#[tokio::test]
async fn names_are_in_it_only_when_they_are_asked_for() {
    let (practice, named) = with_history().await;
    for format in ["jsonl", "csv"] {
        assert!(!exported(&practice, &["--format", format]).await.contains("Durand"));
    }
    let text = exported(&practice, &["--format", "jsonl", "--names"]).await;
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let delivered = events.iter().find(|one| one["document"] == named && one["event"] == "delivered").unwrap();
    assert_eq!(delivered["name"], "Durand, \"Z\" Zoé");
    assert!(delivered["place"].as_str().unwrap().contains("Durand"), "{delivered}");
    let csv = exported(&practice, &["--names"]).await;
    assert!(csv.contains("\"Durand, \"\"Z\"\" Zoé\""), "{csv}");
    assert_eq!(verified(&practice, &csv).await.code, 0);
    assert_eq!(practice.docsyncd(&["forget", &named]).await.code, 0);
    assert!(!exported(&practice, &["--names"]).await.contains("Durand"));
}

#[tokio::test]
async fn the_time_is_kept_to_and_wrong_usage_is_said() {
    let (practice, _) = with_history().await;
    let past = practice.docsyncd(&["export", "--from", "2001-01-01", "--to", "2001-12-31"]).await;
    assert!(past.code == 0 && past.stdout.lines().count() == 2 && past.stderr.contains("0 events"), "{past:?}");
    let empty = Practice::with_documents(0).await;
    let none = empty.docsyncd(&["export", "--from", "1d", "--to", "0s", "--format", "jsonl"]).await;
    assert!(
        none.code == 0
            && none.stdout.contains("0 events")
            && none.stdout.lines().count() == 1
            && !empty.path("state").exists(),
        "{none:?}"
    );
    // Without a time: the last 30 days, and not what is older.
    let all = exported(&practice, &[]).await;
    crate::filled::open(&practice)
        .execute_batch("DROP TRIGGER history_is_append_only; UPDATE history SET at = 1000 WHERE id = 1")
        .unwrap();
    let lately = practice.docsyncd(&["export"]).await;
    assert_eq!((lately.code, lately.stdout.lines().count()), (0, all.lines().count() - 1), "{lately:?}");
    for (args, hint) in [
        (&["export", "--from", "2026-01-02", "--to", "2026-01-01"][..], "later"),
        (&["export", "--from", "noon", "--to", "2026-01-01"], "write a day"),
        (&["export", "--from", "1d", "--to", "0s", "--format", "xml"], "jsonl"),
    ] {
        let ended = practice.docsyncd(args).await;
        assert!(ended.code == 2 && ended.stderr.contains(hint) && ended.stdout.is_empty(), "{args:?}: {ended:?}");
    }
    assert_eq!(verified(&practice, &none.stdout).await.code, 0);
    assert_eq!(verified(&practice, &past.stdout).await.code, 0);
    let nothing = verified(&practice, "").await;
    assert!(nothing.code == 1 && nothing.stderr.contains("nothing is left"), "{nothing:?}");
    let ended = practice.docsyncd(&["export", "--verify", "no-such-file"]).await;
    assert!(ended.code == 1 && ended.stderr.contains("no-such-file"), "{ended:?}");
}
