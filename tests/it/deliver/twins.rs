//! Documents with the same content that want the same name, as when a form is filled in twice: each gets a file
//! (promise 3).

use std::collections::BTreeSet;
use std::path::PathBuf;

use docsyncd_sandbox::{Fault, FaultKind, NewDocument, Route};

use crate::dictated::*;
use crate::harness::Practice;

const PATH: &str = "letters/lab_slip.pdf";

fn twin() -> NewDocument {
    NewDocument { document_type: Some(Some("lab_slip".into())), ..small("the same letter") }
}

/// All want one name.
async fn practice_with_twins(count: usize, more: &str) -> (Practice, Vec<String>) {
    let practice = Practice::with_documents(0).await;
    practice.configure(&format!("file_name = \"letters/{{{{ document.type }}}}.pdf\"\n{more}"));
    let mut uuids = Vec::new();
    for _ in 0..count {
        uuids.push(practice.sandbox.add(twin()).await.unwrap());
    }
    (practice, uuids)
}

async fn add(practice: &Practice) -> String {
    practice.sandbox.add(twin()).await.unwrap()
}

async fn synced(practice: &Practice) {
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
}

async fn again(practice: &Practice, uuid: &str) {
    assert_eq!(practice.docsyncd(&["retry", "--yes", uuid]).await.code, 0);
    synced(practice).await;
}

fn files(practice: &Practice) -> Vec<String> {
    practice.filed().into_keys().collect()
}

/// What the sidecars say.
fn told(practice: &Practice) -> BTreeSet<String> {
    let sidecars = files(practice).into_iter().filter(|name| name.ends_with("txt"));
    sidecars.map(|name| std::fs::read_to_string(practice.inbox().join(name)).unwrap()).collect()
}

const SIDECAR: &str = "sidecar = \"{{ document.uuid }}\"";

async fn places(practice: &Practice, uuids: &[String]) -> BTreeSet<PathBuf> {
    let mut places = BTreeSet::new();
    for uuid in uuids {
        let place = PathBuf::from(practice.show(uuid).await["deliveries"][0]["place"].as_str().unwrap());
        assert_eq!(std::fs::read(&place).unwrap(), pdf("the same letter"));
        places.insert(place);
    }
    places
}

#[tokio::test]
async fn documents_of_the_same_content_and_name_each_get_a_file_and_a_sidecar() {
    let (practice, uuids) = practice_with_twins(12, "sidecar = \"{{ document.uuid }}\"").await;
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert_each_reported_once(&practice, &uuids);
    let places = places(&practice, &uuids).await;
    assert_eq!((places.len(), super::files_in(&practice.inbox())), (12, 24));
    let told: BTreeSet<String> =
        places.iter().map(|place| std::fs::read_to_string(place.with_extension("txt")).unwrap()).collect();
    assert_eq!(told, uuids.into_iter().collect());
}

#[tokio::test]
async fn one_that_comes_later_gets_a_file_of_its_own_and_each_finds_its_own_again() {
    let (practice, mut uuids) = practice_with_twins(1, "").await;
    assert_eq!(practice.sync().await.code, 0);
    uuids.push(practice.sandbox.add(twin()).await.unwrap());
    assert_eq!(practice.sync().await.code, 0);
    let first = places(&practice, &uuids).await;
    assert_eq!(first.len(), 2);
    for order in [[0, 1], [1, 0]] {
        for number in order {
            assert_eq!(practice.docsyncd(&["retry", "--yes", &uuids[number]]).await.code, 0);
            assert_eq!(practice.sync().await.code, 0);
        }
        assert_eq!((places(&practice, &uuids).await, super::files_in(&practice.inbox())), (first.clone(), 2));
    }
}

/// What a crash between the rename and the ledger leaves is the delivery of one of them, not of all.
#[tokio::test]
async fn a_file_that_nobody_is_known_to_have_filed_is_that_of_one_of_them() {
    let (practice, uuids) = practice_with_twins(6, "").await;
    let left = practice.inbox().join(PATH);
    std::fs::create_dir(left.parent().unwrap()).unwrap();
    std::fs::write(&left, pdf("the same letter")).unwrap();
    assert_eq!(practice.sync().await.code, 0);
    let places = places(&practice, &uuids).await;
    assert_eq!((places.len(), super::files_in(&practice.inbox())), (6, 6));
    assert!(places.contains(&left));
}

#[tokio::test]
async fn without_a_ledger_they_are_found_again() {
    let (mut practice, uuids) = practice_with_twins(6, "").await;
    practice.without_patience();
    practice.sandbox.inject(Fault::always(Route::Status, FaultKind::status(503)));
    assert_eq!(practice.sync().await.code, 3);
    let first = places(&practice, &uuids).await;
    assert_eq!(first.len(), 6);
    std::fs::remove_dir_all(practice.path("state")).unwrap();
    practice.sandbox.clear_faults();
    assert_eq!(practice.sync().await.code, 0);
    assert_eq!((places(&practice, &uuids).await, super::files_in(&practice.inbox())), (first, 6));
}

/// Another one was filed under that name once, but what lies there now is its own.
#[tokio::test]
async fn one_that_is_asked_for_again_is_found_where_an_importer_took_anothers_file() {
    let (practice, _) = practice_with_twins(1, "").await;
    synced(&practice).await;
    for _ in 0..2 {
        std::fs::remove_dir_all(practice.inbox().join("letters")).unwrap();
        let last = add(&practice).await;
        synced(&practice).await;
        let before = files(&practice);
        assert_eq!(before.len(), 1);
        again(&practice, &last).await;
        practice.sandbox.set_listed(&last, false).await.unwrap();
        synced(&practice).await;
        practice.sandbox.set_listed(&last, true).await.unwrap();
        synced(&practice).await;
        assert_eq!(files(&practice), before);
    }
}

#[tokio::test]
async fn one_that_comes_while_the_other_is_asked_for_again_takes_no_file_of_it() {
    let (mut practice, mut uuids) = practice_with_twins(1, SIDECAR).await;
    synced(&practice).await;
    practice.without_patience();
    practice.sandbox.inject(Fault::always(Route::Document, FaultKind::status(503)).for_document(&uuids[0]));
    assert_eq!(practice.docsyncd(&["retry", "--yes", &uuids[0]]).await.code, 0);
    uuids.push(add(&practice).await);
    assert_eq!(practice.sync().await.code, 3);
    practice.sandbox.clear_faults();
    again(&practice, &uuids[0]).await;
    assert_eq!((files(&practice).len(), told(&practice)), (4, uuids.into_iter().collect()));
}

#[tokio::test]
async fn one_that_is_what_the_other_was_before_its_new_version_takes_no_file_of_it() {
    let (practice, uuids) = practice_with_twins(1, SIDECAR).await;
    synced(&practice).await;
    practice.sandbox.replace_pdf(&uuids[0], pdf("another letter")).await.unwrap();
    practice.sandbox.set_listed(&uuids[0], true).await.unwrap();
    synced(&practice).await;
    let two = add(&practice).await;
    synced(&practice).await;
    assert_eq!((files(&practice).len(), told(&practice)), (6, BTreeSet::from([uuids[0].clone(), two])));
}

/// Nothing but the digest is kept of a file for ever.
#[tokio::test]
async fn one_that_comes_when_the_history_of_the_other_was_removed_takes_no_file_of_it() {
    let (mut practice, _) = practice_with_twins(1, SIDECAR).await;
    synced(&practice).await;
    let ledger = rusqlite::Connection::open(practice.ledger()).unwrap();
    ledger.execute("UPDATE document SET changed_at = 1", []).unwrap();
    practice.env.insert("DOCSYNCD__STATE__KEEP_HISTORY".into(), "1d".into());
    let mut running = practice.run().await;
    let deadline = tokio::time::Instant::now() + crate::harness::PATIENCE;
    while ledger.query_row("SELECT count(place) FROM delivery", [], |row| row.get::<_, i64>(0)).unwrap() > 0 {
        assert!(tokio::time::Instant::now() < deadline, "the place is never removed");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    running.end().await;
    let kept = "SELECT place || family || uuid || pdf, path, temporary FROM file_reservation";
    let kept: (String, Option<String>, Option<String>) =
        ledger.query_row(kept, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    assert!(!kept.0.contains("lab_slip") && !kept.0.contains("letters") && (kept.1, kept.2) == (None, None));
    add(&practice).await;
    synced(&practice).await;
    assert_eq!(files(&practice).len(), 4, "{:?}", files(&practice));
}

/// What its sidecar says has changed since; that is not another document's.
#[tokio::test]
async fn one_that_is_asked_for_again_is_found_although_its_sidecar_would_be_another() {
    let (practice, uuids) = practice_with_twins(2, SIDECAR).await;
    synced(&practice).await;
    let before = files(&practice);
    practice.configure("file_name = \"letters/{{ document.type }}.pdf\"\nsidecar = \"two {{ document.uuid }}\"");
    for uuid in &uuids {
        again(&practice, uuid).await;
    }
    assert_eq!(files(&practice), before);
}

#[cfg(unix)]
#[tokio::test]
async fn two_ways_to_one_folder_are_one_folder() {
    let practice = Practice::with_documents(0).await;
    std::os::unix::fs::symlink(practice.inbox(), practice.path("other")).unwrap();
    let more = format!("file_name = \"letter.pdf\"\n{SIDECAR}\n");
    practice.configure(&format!(
        "{more}[destinations.two]\ntype = \"folder\"\npath = 'other'\n{more}\
         [[routes]]\ntypes = [\"lab_slip\"]\nto = [\"pms\"]\n[[routes]]\nto = [\"two\"]\n"
    ));
    let one = add(&practice).await;
    synced(&practice).await;
    let two = NewDocument { document_type: Some(Some("prescription".into())), ..twin() };
    let two = practice.sandbox.add(two).await.unwrap();
    synced(&practice).await;
    assert_eq!((files(&practice).len(), told(&practice)), (4, BTreeSet::from([one, two])));
}

/// A disk that minds letter case has both names.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn names_that_differ_in_letter_case_only_are_found_again() {
    let (practice, mut uuids) = practice_with_twins(1, "").await;
    for kind in ["LAB_SLIP", "Lab_Slip", "lab_SLIP"] {
        let document = NewDocument { document_type: Some(Some(kind.into())), ..twin() };
        uuids.push(practice.sandbox.add(document).await.unwrap());
    }
    synced(&practice).await;
    let before = files(&practice);
    assert_eq!(before.len(), 4);
    for uuid in &uuids {
        again(&practice, uuid).await;
        assert_eq!(files(&practice), before);
    }
}
