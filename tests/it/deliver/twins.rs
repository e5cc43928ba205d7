//! Documents with the same content that want the same name, as when a form is filled in twice: each gets a file (promise 3).

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
            assert_eq!(practice.docsyncd(&["retry", &uuids[number]]).await.code, 0);
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
