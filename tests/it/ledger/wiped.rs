//! What the ledger forgets: once a document has ended, nothing of the patient stays in the file but the place and the
//! names that `docsyncd find` needs, and these go when they are not wanted.

use docsyncd_sandbox::{Fault, FaultKind, NewDocument, NewPdf, Route};
use serde_json::json;

use crate::harness::Practice;

/// Names that stand nowhere else.
const CANARY: &str = "Zqxcanary";

fn letter(number: usize) -> NewDocument {
    // Of different lengths, so that rows move between the pages of the database.
    let long = "long ".repeat(number % 7 * 40);
    NewDocument {
        patient: Some(json!({
            "firstName": format!("{CANARY}First{number}"), "lastName": format!("{CANARY}Last{number}{long}"),
            "email": format!("{CANARY}{number}@mail.test"), "phone": format!("{CANARY}Phone{number}"),
            "dateOfBirth": format!("{CANARY}Born{number}"), "anonymousCode": format!("{CANARY}Code{number}"),
        })),
        pdf: NewPdf::Bytes(format!("%PDF-1.7\n% {number}\n%%EOF\n").into_bytes()),
        pdf_name: Some(format!("{CANARY}Name{number}.pdf")),
        file_name: Some(format!("{CANARY}File{number}.pdf")),
        ..NewDocument::default()
    }
}

fn holds_canary(bytes: &[u8]) -> bool {
    bytes.windows(CANARY.len()).any(|window| window.eq_ignore_ascii_case(CANARY.as_bytes()))
}

/// The ledger with everything that SQLite has beside it, and whether a canary is in it.
fn files_with_canary(practice: &Practice) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![practice.path("state")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if holds_canary(&std::fs::read(&path).unwrap()) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

/// A practice with documents that ended in every way, and the uuids of those.
async fn with_every_end(keep_names: &str) -> (Practice, Vec<String>) {
    let mut practice = Practice::with_documents(0).await;
    practice.env.insert("DOCSYNCD__STATE__KEEP_NAMES".into(), keep_names.into());
    practice.env.insert("DOCSYNCD__DESTINATIONS__PMS__FILE_NAME".into(), "{{ document.uuid }}.pdf".into());
    let mut uuids = Vec::new();
    for number in 0..60 {
        uuids.push(practice.sandbox.add(letter(number)).await.unwrap());
    }
    // Ends of every kind: withdrawn, failed, unreported, reported late.
    practice.sandbox.inject(Fault::always(Route::Document, FaultKind::status(404)).for_document(&uuids[3]));
    practice.sandbox.inject(Fault::always(Route::Pdf, FaultKind::Html200).for_document(&uuids[13]));
    practice.sandbox.inject(Fault::always(Route::Status, FaultKind::status(422)).for_document(&uuids[23]));
    practice.sandbox.inject(Fault::once(Route::Status, FaultKind::status(500)).for_document(&uuids[33]));
    let mut waiting = letter(60);
    waiting.pdf = NewPdf::None;
    practice.sandbox.add(waiting).await.unwrap();
    let ended = practice.sync().await;
    assert_eq!(ended.code, 3, "{ended:?}");
    practice.sandbox.set_listed(&uuids[3], false).await.unwrap();
    assert_eq!(practice.sync().await.code, 3);
    let states = practice.docsyncd(&["list", "--json"]).await.stdout;
    for state in ["withdrawn", "failed", "unreported", "reported", "discovered"] {
        assert!(states.contains(&format!("\"{state}\"")), "{state}: {states}");
    }
    (practice, uuids)
}

#[tokio::test]
async fn documents_that_ended_leave_no_patient_data_in_the_ledger() {
    let (practice, _) = with_every_end("0").await;
    assert_eq!(files_with_canary(&practice), Vec::<String>::new());
}

#[tokio::test]
async fn names_that_were_kept_and_forgotten_leave_nothing_in_the_ledger_and_its_index() {
    let (practice, uuids) = with_every_end("730d").await;
    assert_eq!(files_with_canary(&practice), [practice.ledger().display().to_string()]);
    let arguments: Vec<&str> = ["forget"].into_iter().chain(uuids.iter().map(String::as_str)).collect();
    let ended = practice.docsyncd(&arguments).await;
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended:?}");
    assert_eq!(files_with_canary(&practice), Vec::<String>::new());
}

/// The reverse, or the test above would be worth nothing: while a document waits for its destination, it is all there.
#[tokio::test]
async fn documents_that_wait_for_a_destination_keep_what_the_templates_need() {
    let mut practice = Practice::with_documents(0).await;
    practice.without_patience();
    std::fs::remove_dir(practice.inbox()).unwrap();
    practice.sandbox.add(letter(1)).await.unwrap();
    let ended = practice.sync().await;
    assert_eq!(ended.code, 3, "{ended:?}");
    assert_eq!(files_with_canary(&practice), [practice.ledger().display().to_string()]);
}
