//! `docsyncd find` and `docsyncd forget`: where is my letter, and what is kept for that question.

use docsyncd_sandbox::{Fault, FaultKind, NewDocument, Route};
use serde_json::{Value, json};

use crate::filled::open;
use crate::harness::{PATIENCE, Practice};

/// A letter for a patient with these names.
fn letter(first: &str, last: &str, kind: &str) -> NewDocument {
    NewDocument {
        document_type: Some(Some(kind.to_owned())),
        patient: Some(json!({"firstName": first, "lastName": last})),
        ..NewDocument::default()
    }
}

/// Letters for four patients, all filed.
async fn with_letters() -> (Practice, Vec<String>) {
    let practice = Practice::with_documents(0).await;
    let mut uuids = Vec::new();
    for (first, last, kind) in [
        ("Zoé", "Lefèvre", "referral_letter"),
        ("Søren", "Œuvray-Weiß", "lab_slip"),
        ("Zoé", "Durand", "lab_slip"),
        ("An", "Ng", "referral_letter"),
    ] {
        uuids.push(practice.sandbox.add(letter(first, last, kind)).await.unwrap());
    }
    assert_eq!(practice.sync().await.code, 0);
    (practice, uuids)
}

/// The uuids that `find` prints, sorted.
async fn found(practice: &Practice, words: &[&str]) -> Vec<String> {
    let ended = practice.docsyncd(&[&["find", "--json"], words].concat()).await;
    let documents: Vec<Value> =
        serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
    assert_eq!(ended.code, i32::from(documents.is_empty()), "{ended:?}");
    let mut uuids: Vec<String> = documents.iter().map(|one| one["uuid"].as_str().unwrap().to_owned()).collect();
    uuids.sort();
    uuids
}

#[tokio::test]
async fn a_letter_that_cannot_be_downloaded_is_found_by_its_name() {
    let mut practice = Practice::with_documents(0).await;
    practice.without_patience();
    let uuid = practice.sandbox.add(letter("Zoé", "Lefèvre", "referral_letter")).await.unwrap();
    practice.sandbox.inject(Fault::always(Route::Pdf, FaultKind::status(404)));
    practice.sync().await;
    let shown = practice.docsyncd(&["list"]).await;
    assert!(shown.stdout.contains(&uuid) && !shown.stdout.contains("Lef"), "a pipe gets no names: {shown:?}");
    assert_eq!(found(&practice, &["lefevre", "zoe"]).await, [uuid]);
}

#[tokio::test]
async fn all_words_must_match_whatever_their_case_and_accents() {
    let (practice, uuids) = with_letters().await;
    for (words, expected) in [
        (&["lefevre"][..], &[0][..]),
        (&["LEFÈVRE", "zoe"], &[0]),
        (&["zoé"], &[0, 2]),
        (&["zoe durand"], &[2]),
        (&["zoe", "lab_slip"], &[2]),
        (&["lab"], &[1, 2]),
        (&["oeuvray", "soren"], &[1]),
        (&["weiss"], &[1]),
        (&["ng"], &[3]),
        (&["Ng_An"], &[3]),
        // The middle of a word, where nothing begins so.
        (&["uran"], &[2]),
        (&["zoe", "nobody"], &[]),
        (&["\"zoe\" OR durand"], &[]),
        (&["%"], &[]),
    ] {
        if words == ["%"] {
            assert_eq!(practice.docsyncd(&["find", "%"]).await.code, 2, "nothing to find");
            continue;
        }
        let mut expected: Vec<String> = expected.iter().map(|index: &usize| uuids[*index].clone()).collect();
        expected.sort();
        assert_eq!(found(&practice, words).await, expected, "{words:?}");
    }
    for part in [&uuids[1][..], &uuids[1][..8], &uuids[1].to_uppercase()[..13]] {
        assert_eq!(found(&practice, &[part]).await, [uuids[1].clone()], "{part}");
    }
    assert_eq!(found(&practice, &["zoe", "--limit", "1"]).await, [uuids[2].clone()], "the newest");
    assert_eq!(found(&practice, &["zoe", "--since", "1h"]).await.len(), 2);
    assert!(found(&practice, &["zoe", "--since", "9999-01-01"]).await.is_empty());
    // The short uuid of a file's name, with its names and without.
    let short = crate::dictated::short(&uuids[3]);
    assert_eq!(found(&practice, &[short]).await, [uuids[3].clone()]);
    assert!(found(&practice, &[short, "--since", "9999-01-01"]).await.is_empty(), "nor by its uuid");
    assert_eq!(practice.docsyncd(&["forget", &uuids[3]]).await.code, 0);
    assert_eq!(found(&practice, &[short]).await, [uuids[3].clone()]);
    assert!(found(&practice, &["ng"]).await.is_empty());
}

#[tokio::test]
async fn a_person_reads_the_name_and_where_the_letter_lies() {
    let (practice, uuids) = with_letters().await;
    let ended = practice.docsyncd(&["find", "durand"]).await;
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended:?}");
    for says in ["Durand Zoé", "reported", "lab_slip", &uuids[2], "pms: ", "inbox"] {
        assert!(ended.stdout.contains(says), "{says}: {ended:?}");
    }
    let ended = practice.docsyncd(&["find", "nobody"]).await;
    assert_eq!((ended.code, ended.stdout.as_str()), (1, ""), "{ended:?}");
    for (args, hint) in [
        (&["find"][..], "<WORD>"),
        (&["find", "x", "--since", "soon"], "2026-11-21"),
        (&["find", "x", "--limit", "0"], "from 1"),
    ] {
        let ended = practice.docsyncd(args).await;
        assert!(ended.code == 2 && ended.stderr.contains(hint), "{ended:?}");
    }
    let empty = Practice::with_documents(0).await;
    let ended = empty.docsyncd(&["find", "durand"]).await;
    assert!(ended.code == 1 && !empty.path("state").exists(), "{ended:?}");
    for command in [&["find", "durand"][..], &["list"], &["list", "--json"], &["export", "--from", "1d", "--to", "0s"]]
    {
        let ended = empty.docsyncd(command).await;
        assert!(
            ended.stderr.contains("there is no ledger yet at") && ended.stderr.contains("ledger.sqlite3"),
            "{ended:?}"
        );
    }
}

/// Every file of the state folder has the text, in some letter case, somewhere.
fn is_on_disk(practice: &Practice, text: &str) -> bool {
    let files = std::fs::read_dir(practice.path("state")).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.is_file()).any(|path| {
        // A lock of Windows keeps its file to itself, and holds nothing.
        let bytes = std::fs::read(path).unwrap_or_default();
        String::from_utf8_lossy(&bytes).to_lowercase().contains(text)
    })
}

#[tokio::test]
async fn what_is_forgotten_is_gone_from_the_disk_and_its_delivery_stays_known() {
    let (practice, uuids) = with_letters().await;
    assert!(is_on_disk(&practice, "durand"));
    let before = practice.show(&uuids[2]).await;
    let ended = practice.docsyncd(&["forget", &uuids[2][..12]]).await;
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended:?}");
    assert!(!is_on_disk(&practice, "durand"));
    assert!(is_on_disk(&practice, "lefevre"), "the others stay");
    assert!(found(&practice, &["durand"]).await.is_empty());
    assert_eq!(found(&practice, &["zoe"]).await, [uuids[0].clone()]);
    let after = practice.show(&uuids[2]).await;
    for same in ["uuid", "state", "sha256", "size", "created_at", "type"] {
        assert_eq!(before[same], after[same], "{same}");
    }
    assert_eq!(
        (&after["deliveries"][0]["state"], &after["deliveries"][0]["place"]),
        (&json!("delivered"), &Value::Null)
    );
    let events = |shown: &Value| shown["history"].as_array().unwrap().len();
    assert_eq!(events(&after), events(&before) + 1);
    assert_eq!(after["history"].as_array().unwrap().last().unwrap()["event"], "forgotten");
    // Nothing is filed or reported again for it.
    let (filed, posts) = (practice.filed(), practice.sandbox.status_posts().len());
    assert_eq!(practice.sync().await.code, 0);
    assert_eq!((practice.filed(), practice.sandbox.status_posts().len()), (filed, posts));
}

#[tokio::test]
async fn what_a_program_printed_about_a_letter_is_forgotten_with_it() {
    let (practice, uuids) = with_letters().await;
    let output = |uuid: &str| practice.path("state/output").join(format!("pms-{uuid}.log"));
    std::fs::create_dir(practice.path("state/output")).unwrap();
    for uuid in &uuids[..2] {
        std::fs::write(output(uuid), "cannot import Durand").unwrap();
    }
    let ended = practice.docsyncd(&["forget", &uuids[0]]).await;
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended:?}");
    assert!(!output(&uuids[0]).exists() && output(&uuids[1]).exists());
    // Something that cannot be removed as a file.
    std::fs::create_dir(output(&uuids[2])).unwrap();
    let ended = practice.docsyncd(&["forget", &uuids[2]]).await;
    assert!(ended.code == 1 && ended.stderr.contains("cannot be removed"), "{ended:?}");
    assert!(found(&practice, &["durand"]).await.is_empty(), "the names are gone all the same");
}

#[tokio::test]
async fn an_open_or_unknown_document_is_not_forgotten() {
    let practice = Practice::with_documents(0).await;
    let uuid = practice.sandbox.add(letter("Zoé", "Durand", "lab_slip")).await.unwrap();
    std::fs::remove_dir(practice.inbox()).unwrap();
    assert_eq!(practice.sync().await.code, 3);
    assert_eq!(found(&practice, &["durand"]).await.concat(), uuid, "it is found as soon as it is fetched");
    let ended = practice.docsyncd(&["forget", &uuid, "no-such-document"]).await;
    assert_eq!((ended.code, ended.stdout.as_str()), (1, ""), "{ended:?}");
    assert!(
        ended.stderr.contains("still being worked on") && ended.stderr.contains("no document no-such-document"),
        "{ended:?}"
    );
    std::fs::create_dir(practice.inbox()).unwrap();
    assert_eq!(practice.sync().await.code, 0);
    assert_eq!(practice.docsyncd(&["forget", &uuid]).await.code, 0);
}

#[tokio::test]
async fn names_are_kept_as_long_as_the_configuration_says() {
    let mut practice = Practice::with_documents(0).await;
    practice.env.insert("DOCSYNCD__STATE__KEEP_NAMES".into(), "0".into());
    let uuid = practice.sandbox.add(letter("Zoé", "Durand", "lab_slip")).await.unwrap();
    assert_eq!(practice.sync().await.code, 0);
    let db = open(&practice);
    let kept = || db.query_row("SELECT count(*) FROM name", [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(kept(), 0, "never");
    assert!(found(&practice, &["durand"]).await.is_empty());
    assert_eq!(found(&practice, &[&uuid[..8]]).await.concat(), uuid, "uuids are always known");
    practice.env.insert("DOCSYNCD__STATE__KEEP_NAMES".into(), "30d".into());
    practice.sandbox.add(letter("Zoé", "Lefèvre", "lab_slip")).await.unwrap();
    practice.sandbox.add(letter("Anne", "Martin", "lab_slip")).await.unwrap();
    assert_eq!(practice.sync().await.code, 0);
    assert_eq!(kept(), 2);
    db.execute("UPDATE name SET kept_at = kept_at - 31 * 86400000 WHERE shown LIKE 'Martin%'", []).unwrap();
    let mut running = practice.run().await;
    let deadline = std::time::Instant::now() + PATIENCE;
    while kept() > 1 {
        assert!(std::time::Instant::now() < deadline, "what is old is not erased");
        tokio::task::yield_now().await;
    }
    running.kill().await;
    assert_eq!(found(&practice, &["lefevre"]).await.len(), 1);
    assert!(found(&practice, &["martin"]).await.is_empty());
}

#[tokio::test]
async fn a_new_version_and_a_new_name_replace_the_old_one() {
    let (practice, uuids) = with_letters().await;
    practice.sandbox.replace_pdf(&uuids[2], b"%PDF-1.7\n% new\n%%EOF\n".to_vec()).await.unwrap();
    assert_eq!(practice.docsyncd(&["retry", "--yes", &uuids[2]]).await.code, 0);
    assert_eq!(practice.sync().await.code, 0);
    assert_eq!(found(&practice, &["durand", "zoe"]).await, [uuids[2].clone()]);
}
