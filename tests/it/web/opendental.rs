//! Open Dental, set up by its preset and played by a double of its API: there is no real one to try.

use docsyncd_sandbox::NewDocument;
use hyper::Method;
use serde_json::json;

use crate::dictated::*;
use crate::harness::Practice;
use crate::open_dental::OpenDental;
use crate::peer::{Fault, Peer};

const KEYS: &str = "ODFHIR developer/customer";
const BORN: &str = "1980-03-12";

/// A letter for each of these patients, who were born on one day; Open Dental knows Zoé.
async fn practice(peer: &Peer, patients: &[&str]) -> (Practice, Vec<String>) {
    peer.state().authorization = Some(KEYS.to_owned());
    peer.state().open_dental = Some(OpenDental::default().patient(7, "Canaryworth", "Zoé", BORN));
    let practice = Practice::with_documents(0).await;
    let of = |first: &str| json!({"lastName": "Canaryworth", "firstName": first, "dateOfBirth": BORN});
    let uuids = add_small(&practice, patients.len(), |number, document| NewDocument {
        patient: Some(of(patients[number])),
        ..document
    });
    let uuids = uuids.await;
    practice.write_secret("keys", KEYS);
    let at = peer.url("/api/v1");
    let answers = format!(
        "base_url = \"{}\"\napi_key_from = \"api-key\"\nstate_path = \"state/ledger.sqlite3\"\npreset = \"opendental\"\n\
         header_files_from = \"keys\"\nurl = \"{at}/documents/Upload\"\n\
         probe_url = \"{at}/documents?PatNum={{{{ lookup }}}}&Offset={{{{ offset }}}}\"\n\
         lookup_url = \"{at}/patients/Simple?LName={{{{ patient.lastName }}}}&FName={{{{ patient.firstName }}}}\"\n",
        practice.sandbox.url()
    );
    std::fs::write(practice.path("answers.toml"), answers).unwrap();
    let answers = practice.path("answers.toml").display().to_string();
    let ended =
        practice.docsyncd_without_config(&["--config", &config(&practice), "setup", "--answers", &answers]).await;
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended:?}");
    assert!(ended.stdout.contains("tried: it works; it answers when it is asked for a patient"), "{ended:?}");
    let kept = std::fs::read_to_string(practice.path("etc/opendental-key")).unwrap();
    let written = std::fs::read_to_string(config(&practice)).unwrap();
    assert!(kept.trim() == KEYS && !written.contains(KEYS) && !ended.stdout.contains(KEYS));
    practice.configure_wholly(&written);
    practice.write_secret("opendental-key", KEYS);
    (practice, uuids)
}

fn config(practice: &Practice) -> String {
    practice.path("etc/docsyncd.toml").display().to_string()
}

fn descriptions(peer: &Peer, patient: u64) -> Vec<String> {
    peer.state().open_dental.as_ref().unwrap().descriptions(patient)
}

#[tokio::test]
async fn the_preset_files_with_the_one_patient_and_tells_of_the_other_until_he_is_entered() {
    let peer = Peer::start().await;
    let (practice, uuids) = practice(&peer, &["Zoé", "Léo"]).await;
    let synced = practice.sync().await;
    assert_eq!((synced.code, descriptions(&peer, 7).len()), (3, 1), "{synced:?}");
    let posts = posts_of(&practice.sandbox, &uuids[1]);
    let [(Some(false), Some(error))] = posts.as_slice() else { panic!("{posts:?}") };
    assert!(error.contains("no patient there is the letter's"), "{error}");
    let logged = format!("{}{}{error}", synced.stderr, synced.stdout);
    assert!(!["Canaryworth", "Zoé", "Léo", BORN, "developer"].iter().any(|word| logged.contains(word)), "{logged}");
    {
        let mut state = peer.state();
        let open_dental = state.open_dental.take().unwrap();
        state.open_dental = Some(open_dental.patient(8, "CANARYWORTH", "Léo", BORN));
    }
    assert_eq!(practice.docsyncd(&["retry", "--yes", &uuids[1]]).await.code, 0);
    assert_eq!(practice.sync().await.code, 0);
    assert_eq!((descriptions(&peer, 7).len(), descriptions(&peer, 8).len()), (1, 1));
    assert_eq!(peer.received(&Method::POST).len(), 2);
}

#[tokio::test]
async fn letters_of_patients_who_are_not_there_are_told_at_once_and_hold_up_no_other() {
    let peer = Peer::start().await;
    let (practice, uuids) = practice(&peer, &["Léo", "Noé", "Eva", "Ida", "Uma", "Ava", "Zoé"]).await;
    let synced = practice.sync().await;
    assert_eq!((synced.code, descriptions(&peer, 7).len()), (3, 1), "{synced:?}");
    assert!(!synced.stderr.contains("paused"), "{synced:?}");
    for (number, uuid) in uuids.iter().enumerate() {
        let told: Vec<_> = posts_of(&practice.sandbox, uuid).into_iter().map(|(success, _)| success).collect();
        assert_eq!(told, [Some(number == 6)], "{synced:?}");
    }
}

#[tokio::test]
async fn a_letter_is_there_once_although_docsyncd_was_killed_and_the_patient_merged_meanwhile() {
    let peer = Peer::start().await;
    let (practice, _) = practice(&peer, &["Zoé"]).await;
    peer.inject(Fault::Silence);
    let mut running = practice.start();
    peer.wait_for(|state| state.open_dental.as_ref().is_some_and(|there| !there.documents.is_empty())).await;
    running.kill().await;
    {
        let mut state = peer.state();
        let mut open_dental = state.open_dental.take().unwrap();
        open_dental.patients[0]["PatStatus"] = "Archived".into();
        state.open_dental = Some(open_dental.patient(8, "Canaryworth", "Zoé", BORN));
    }
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert_eq!((descriptions(&peer, 7).len(), descriptions(&peer, 8).len()), (1, 0));
    assert_eq!(peer.received(&Method::POST).len(), 1, "nothing is sent twice");
}
