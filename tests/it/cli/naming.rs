//! A document is named by its uuid or any unambiguous part of it of 6 characters or more; and hints name the
//! configuration.

use docsyncd_sandbox::{Fault, FaultKind, NewDocument, Route};
use rusqlite::Connection;

use crate::harness::Practice;

/// Three synchronized documents with these uuids in the ledger.
async fn with_uuids(uuids: [&str; 3]) -> Practice {
    let practice = Practice::with_documents(3).await;
    assert_eq!(practice.sync().await.code, 0);
    let db = Connection::open(practice.ledger()).unwrap();
    for (id, uuid) in uuids.iter().enumerate() {
        let changed =
            db.execute("UPDATE document SET uuid = ?1 WHERE id = ?2", rusqlite::params![uuid, id + 1]).unwrap();
        assert_eq!(changed, 1);
    }
    practice
}

const UUIDS: [&str; 3] = [
    "aaaaaa11-0000-4000-8000-000000000001",
    "aaaaaa12-0000-4000-8000-0000000000ab",
    "bbbbbb11-0000-4000-8000-aaaaaa110000",
];

#[tokio::test]
async fn a_part_that_fits_one_document_names_it() {
    let practice = with_uuids(UUIDS).await;
    for (part, uuid) in [
        ("aaaaaa12", 1),
        ("AAAAAA12-0000", 1),
        ("bbbbbb", 2),
        ("0000000000aB", 1),
        ("11-0000-4000-8000-aaaa", 2),
        // The beginning of one goes before the middle of another.
        ("aaaaaa11", 0),
    ] {
        let shown = practice.show(part).await;
        assert_eq!(shown["uuid"], UUIDS[uuid], "{part}");
    }
    let retried = practice.docsyncd(&["retry", "--yes", "bbbbbb11"]).await;
    assert_eq!(retried.code, 0, "{retried:?}");
    assert!(retried.stdout.contains("1 document to try again"), "{retried:?}");
}

#[tokio::test]
async fn a_part_that_fits_several_is_refused_with_their_number_and_nothing_is_done() {
    let practice = with_uuids(UUIDS).await;
    for args in [&["show", "aaaaaa"][..], &["show", "AAAAAA1", "--json"], &["retry", "bbbbbb", "aaaaaa"]] {
        let ended = practice.docsyncd(args).await;
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{args:?}: {ended:?}");
        for says in ["part of 2 uuids", UUIDS[0], UUIDS[1]] {
            assert!(ended.stderr.contains(says), "{args:?}: {ended:?}");
        }
    }
    // What is the beginning of one and the end of another is shown, and nothing is done to it.
    for command in ["retry", "forget"] {
        let ended = practice.docsyncd(&[command, "aaaaaa11"]).await;
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{command}: {ended:?}");
        assert!(ended.stderr.contains(UUIDS[0]) && ended.stderr.contains(UUIDS[2]), "{command}: {ended:?}");
    }
    let ended = practice.docsyncd(&["show", "0-4000-8000"]).await;
    assert!(ended.code == 2 && ended.stderr.contains("part of 3 uuids"), "{ended:?}");
    for uuid in UUIDS {
        assert_eq!(practice.state(uuid).await, "reported");
    }
}

#[tokio::test]
async fn a_part_that_is_too_short_or_fits_none_is_unknown() {
    let practice = with_uuids(UUIDS).await;
    for part in ["aaaaa", "cccccc", "%%%%%%", "______", "' OR 1=1"] {
        for command in ["show", "retry"] {
            let ended = practice.docsyncd(&[command, part]).await;
            assert_eq!(ended.code, 1, "{part}: {ended:?}");
            assert!(ended.stderr.contains(&format!("no document {part} is known")), "{part}: {ended:?}");
        }
    }
    let ended = practice.docsyncd(&["show", "aaaaa"]).await;
    assert!(ended.stderr.contains("6 characters or more"), "{ended:?}");
}

#[tokio::test]
async fn retry_without_arguments_shows_what_it_could_do() {
    let practice = Practice::with_documents(0).await;
    let uuid = practice.sandbox.add(NewDocument::default()).await.unwrap();
    practice.sandbox.inject(Fault::always(Route::Document, FaultKind::status(403)));
    assert_eq!(practice.sync().await.code, 3);
    let ended = practice.docsyncd(&["retry"]).await;
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{ended:?}");
    let config = practice.config_path().display().to_string();
    for says in
        [&format!("docsyncd --config {config} retry --failed"), "retry UUID", "1 document failed:", &uuid, "HTTP 403"]
    {
        assert!(ended.stderr.contains(says), "{says}: {ended:?}");
    }
}

/// A hint that is typed as it stands must work.
#[tokio::test]
async fn hints_repeat_the_configuration_also_in_a_folder_with_a_space() {
    let practice = Practice::with_documents(1).await;
    practice.sandbox.inject(Fault::always(Route::Status, FaultKind::status(422)));
    assert_eq!(practice.sync().await.code, 3);
    std::fs::create_dir(practice.path("a folder")).unwrap();
    let moved = practice.path("a folder/it.toml");
    let absolute = std::fs::read_to_string(practice.config_path()).unwrap();
    let absolute = absolute.replace("'state/", &format!("'{}/state/", practice.dir.path().display()));
    std::fs::write(&moved, absolute).unwrap();
    let mut command = tokio::process::Command::new(crate::harness::program());
    command.arg("--config").arg(&moved).arg("status");
    let ended = crate::harness::Ended::of(command).await;
    let quote = if cfg!(windows) { '"' } else { '\'' };
    let hint = format!("docsyncd --config {quote}{}{quote} list --state unreported", moved.display());
    assert!(ended.code == 4 && ended.stdout.contains(&hint), "{hint}: {ended:?}");
}
