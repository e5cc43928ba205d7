//! Which account a document belongs to is no part of what it is.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use docsyncd_sandbox::{ApiKey, Fault, FaultKind, Options, Quirks, Route, SingleShape, View};
use docsyncd_test_support::scripted;

use super::frequent;
use crate::dictated::*;
use crate::harness::{Ended, PATIENCE, Practice};

/// Two keys of one user, so that both see the same list; the account `main` has the first.
async fn two_keys() -> (Practice, Vec<String>) {
    let keys = vec![ApiKey::new("first-key"), ApiKey::new("second-key")];
    let practice = Practice::with_options(Options { documents: 0, api_keys: keys, ..Options::default() }).await;
    practice.write_secret("key-b", "second-key");
    let uuids = add_small(&practice, 5, |_, document| document).await;
    (practice, uuids)
}

fn rename_account(practice: &Practice) {
    let config = std::fs::read_to_string(practice.config_path()).unwrap();
    practice.configure_wholly(&config.replace("[accounts.main]", "[accounts.renamed]"));
}

#[tokio::test]
async fn a_document_that_two_accounts_list_is_delivered_and_reported_once() {
    let (mut practice, uuids) = two_keys().await;
    practice.configure("[accounts.second]\napi_key_file = 'key-b'");
    frequent(&mut practice);
    let preview = practice.docsyncd(&["preview", "--json"]).await;
    let waiting: Vec<serde_json::Value> = serde_json::from_str(&preview.stdout).unwrap();
    let taken = waiting.iter().filter(|letter| letter["destinations"][0]["taken"] == true).count();
    assert_eq!((waiting.len(), taken), (5, 0), "{preview:?}");
    let mut running = practice.run().await;
    practice.wait_for_posts(5).await;
    wait_for_walks(&practice, 10).await;
    running.kill().await;
    assert_eq!(practice.sync().await.code, 0);
    assert_each_reported_once(&practice, &uuids);
    practice.assert_all_filed().await;
}

/// Who found them cannot sign in any more: whoever else lists them files them.
#[tokio::test]
async fn documents_of_an_account_that_cannot_sign_in_are_filed_by_another_that_lists_them() {
    let (mut practice, uuids) = two_keys().await;
    practice.without_patience();
    let broken = practice.sandbox.inject(Fault::always(Route::Document, FaultKind::status(503)));
    assert_eq!(practice.sync().await.code, 3);
    practice.sandbox.remove_fault(broken);
    patient(&mut practice);
    practice.configure("[accounts.second]\napi_key_file = 'key-b'");
    for route in [Route::List, Route::Document] {
        practice.sandbox.inject(Fault::always(route, FaultKind::status(401)).for_bearer("first-key"));
    }
    for uuid in &uuids {
        practice.docsyncd(&["retry", "--yes", uuid]).await;
    }
    // The first one finds that the account is refused.
    practice.sync().await;
    practice.sync().await;
    assert_each_reported_once(&practice, &uuids);
    practice.assert_all_filed().await;
}

/// Another account that lists them takes over what one cannot read for a while. That it may not read them, their PDFs
/// or their patients is no failure of theirs, and files none without a name: the first gets them back.
#[tokio::test]
async fn what_one_account_cannot_read_for_a_while_and_another_may_not_read_is_no_failure() {
    for (route, status, refused) in [
        (Route::Document, 500, Route::Document),
        (Route::Pdf, 429, Route::Document),
        (Route::Document, 500, Route::Pdf),
        (Route::Document, 500, Route::Patient),
    ] {
        let (mut practice, uuids) = two_keys().await;
        practice.sandbox.set_quirks(Quirks { single_shows: SingleShape::Identifiers, ..Quirks::default() });
        practice.configure("[accounts.second]\napi_key_file = 'key-b'");
        frequent(&mut practice);
        let passing = practice.sandbox.inject(Fault::always(route, FaultKind::status(status)).for_bearer("first-key"));
        practice.sandbox.inject(Fault::always(refused, FaultKind::status(403)).for_bearer("second-key"));
        let found_by_first =
            practice.sandbox.inject(Fault::always(Route::List, FaultKind::status(503)).for_bearer("second-key"));
        let mut running = practice.run().await;
        running.wait_for_log("event=\"discovered\"").await;
        practice.sandbox.remove_fault(found_by_first);
        let refused = |view: &View| view.requests().filter(|request| request.status == Some(403)).count() >= 2;
        practice.sandbox.wait_for(refused, PATIENCE).await.unwrap();
        // Longer than a failure is kept back.
        tokio::time::sleep(Duration::from_secs(5)).await;
        assert_eq!(practice.sandbox.status_posts(), [], "{}", running.log());
        practice.sandbox.remove_fault(passing);
        practice.wait_for_posts(5).await;
        assert_each_reported_once(&practice, &uuids);
        practice.assert_all_filed().await;
        assert!(!practice.filed().keys().any(|name| name.contains("unknown")), "{:?}", practice.filed());
    }
}

/// One daemon for two practices: a letter that another account takes over stays with the one whose list first showed it.
#[tokio::test]
async fn what_another_account_takes_over_goes_only_where_the_routes_of_the_first_one_allow() {
    let (mut practice, _) = two_keys().await;
    std::fs::create_dir(practice.path("south")).unwrap();
    practice.configure(
        "[accounts.second]\napi_key_file = 'key-b'\n[destinations.south]\ntype = \"folder\"\npath = 'south'\n\
         [[routes]]\naccounts = [\"main\"]\nto = [\"pms\"]\n[[routes]]\naccounts = [\"second\"]\nto = [\"south\"]",
    );
    frequent(&mut practice);
    practice.sandbox.inject(Fault::always(Route::Document, FaultKind::status(403)).for_bearer("first-key"));
    let found_by_first =
        practice.sandbox.inject(Fault::always(Route::List, FaultKind::status(503)).for_bearer("second-key"));
    let mut running = practice.run().await;
    running.wait_for_log("event=\"discovered\"").await;
    practice.sandbox.remove_fault(found_by_first);
    practice.wait_for_posts(5).await;
    practice.assert_all_filed().await;
    assert_eq!(std::fs::read_dir(practice.path("south")).unwrap().count(), 0);
    running.end().await;
    let listed = async |account: &str| practice.docsyncd(&["list", "--json", "--account", account]).await;
    let count = |ended: &Ended| serde_json::from_str::<Vec<serde_json::Value>>(&ended.stdout).unwrap().len();
    assert_eq!([count(&listed("main").await), count(&listed("second").await)], [0, 5], "they were taken over");
    for command in [&["list"][..], &["find", "a"], &["status"], &["export"]] {
        let ended = practice.docsyncd(&[command, &["--account", "secnd"]].concat()).await;
        assert!(ended.code == 2 && ended.stderr.contains("the nearest is \"second\""), "{command:?}: {ended:?}");
    }
    let status = practice.docsyncd(&["status", "--json", "--account", "main"]).await;
    let status: serde_json::Value = serde_json::from_str(&status.stdout).unwrap();
    assert_eq!((&status["documents"]["reported"], status["accounts"].as_array().unwrap().len()), (&0.into(), 1));
}

/// What an account asks the API for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    List,
    Synchronized,
    Document,
    Patient,
    Pdf,
    Report,
}

/// What the API knows of one letter: what it was asked for, whether by the second account, and what it was told.
#[derive(Default)]
struct Letter {
    asked: Vec<(Asked, bool)>,
    told: Vec<bool>,
}

impl Letter {
    fn times(&self, asked: Asked, by_second: bool) -> usize {
        self.asked.iter().filter(|one| **one == (asked, by_second)).count()
    }
}

/// An API with one letter and two accounts, until success is told. The script may give another status, and how long
/// that takes; a list with another one than 200 is an empty list with 204.
async fn two_accounts_and_a_letter(
    script: impl Fn(&Letter, Asked, bool) -> (u16, Duration) + Send + Sync + 'static,
) -> (Practice, Arc<Mutex<Letter>>, String) {
    let mut practice = Practice::with_documents(0).await;
    practice.write_secret("key-b", "second-key");
    practice.configure("[accounts.second]\napi_key_file = 'key-b'");
    frequent(&mut practice);
    let letter = Arc::new(Mutex::new(Letter::default()));
    let kept = letter.clone();
    let address = scripted::serve(move |head, body| {
        let by_second = head.contains("bearer second-key");
        let host = head.split("host: ").nth(1).and_then(|rest| rest.split("\r\n").next()).unwrap();
        let shown = r#"{"uuid": "01950001-0000-7000-8000-0abc00000001", "createdAt": "2026-11-20T10:00:00+00:00", "type": "lab_slip",
            "patient": {"uuid": "patient-1"}, "pdf": {"uuid": "pdf-1", "url": "http://HOST/files/1"}}"#
            .replace("HOST", host);
        let asked = match head.split(' ').nth(1).unwrap() {
            path if path.starts_with("/documents?") && path.contains("synchronized=true") => Asked::Synchronized,
            path if path.starts_with("/documents?") => Asked::List,
            path if path.starts_with("/files/") => Asked::Pdf,
            path if path.starts_with("/patients/") => Asked::Patient,
            path if path.ends_with("/status") => Asked::Report,
            _ => Asked::Document,
        };
        let mut letter = kept.lock().unwrap();
        letter.asked.push((asked, by_second));
        let (status, after) = script(&letter, asked, by_second);
        let is_listed = letter.told.is_empty() != (asked == Asked::Synchronized);
        if asked == Asked::Report {
            letter.told.push(String::from_utf8_lossy(body).contains("true"));
        }
        drop(letter);
        std::thread::sleep(after);
        let (status, body) = match asked {
            Asked::List | Asked::Synchronized if status == 204 || !is_listed => (200, b"[]".to_vec()),
            Asked::List | Asked::Synchronized if status == 200 => (200, format!("[{shown}]").into_bytes()),
            _ if status != 200 => (status, b"{}".to_vec()),
            Asked::Pdf => (200, pdf("a letter")),
            Asked::Patient => (200, br#"{"uuid": "patient-1", "lastName": "Durand", "firstName": "Chloe"}"#.to_vec()),
            _ => (200, shown.into_bytes()),
        };
        let head = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
        [head.into_bytes(), body].concat()
    });
    practice.env.insert("DOCSYNCD__API__BASE_URL".into(), format!("http://{address}"));
    let mut running = practice.run().await;
    running.wait_for_log("event=\"reported\"").await;
    let log = running.log();
    assert_eq!(letter.lock().unwrap().told, [true], "{log}");
    assert!(!log.contains("event=\"refused\""), "{log}");
    assert_eq!(practice.filed().len(), 1, "{log}");
    (practice, letter, log)
}

const AT_ONCE: Duration = Duration::ZERO;

/// The first account is answered 500, and then, while the second takes the letter over, 403. That is not said of the
/// second one.
#[tokio::test]
async fn an_answer_that_comes_when_another_account_has_the_document_is_not_said_of_that() {
    two_accounts_and_a_letter(|letter, asked, by_second| match (asked, by_second) {
        (Asked::List | Asked::Synchronized, true) if letter.times(Asked::Document, false) < 2 => (204, AT_ONCE),
        (Asked::Document, true) => (200, Duration::from_secs(2)),
        (Asked::Document, false) if letter.times(asked, false) == 1 => (500, AT_ONCE),
        (Asked::Document, false) => (403, Duration::from_secs(1)),
        _ => (200, AT_ONCE),
    })
    .await;
}

/// The second account may not read the patient, and downloads the PDF while the first takes the letter over, which may.
#[tokio::test]
async fn what_is_downloaded_without_the_patient_is_not_filed_when_another_account_has_the_document_by_then() {
    let (practice, letter, log) = two_accounts_and_a_letter(|letter, asked, by_second| match (asked, by_second) {
        (Asked::List | Asked::Synchronized, false) if letter.times(Asked::Pdf, true) == 0 => (204, AT_ONCE),
        (Asked::Document, true) if letter.times(asked, true) == 1 => (500, AT_ONCE),
        (Asked::Patient, true) => (403, AT_ONCE),
        (Asked::Pdf, true) => (200, Duration::from_secs(3)),
        _ => (200, AT_ONCE),
    })
    .await;
    assert_eq!(letter.lock().unwrap().times(Asked::Pdf, true), 1, "this shows nothing: {log}");
    assert!(practice.filed().keys().all(|name| name.contains("Durand")), "{:?}: {log}", practice.filed().keys());
}

/// For a moment the first account is refused everything. The second, which takes the letter over, may never read it:
/// that is no failure.
#[tokio::test]
async fn what_is_refused_with_the_whole_account_and_to_another_is_no_failure() {
    let (_practice, letter, log) = two_accounts_and_a_letter(|letter, asked, by_second| {
        let is_refused = letter.times(Asked::Document, false) > 0 && letter.times(Asked::Document, true) < 3;
        match (asked, by_second) {
            (Asked::List | Asked::Synchronized, true) if !is_refused && letter.times(Asked::Document, true) == 0 => {
                (204, AT_ONCE)
            }
            (_, false) if is_refused => (403, AT_ONCE),
            (Asked::Document, true) => (403, AT_ONCE),
            _ => (200, AT_ONCE),
        }
    })
    .await;
    assert!(letter.lock().unwrap().times(Asked::Document, true) > 0, "this shows nothing: {log}");
}

#[tokio::test]
async fn an_account_that_is_renamed_takes_its_documents_over_and_files_none_twice() {
    let (mut practice, uuids) = two_keys().await;
    practice.without_patience();
    let refused = practice.sandbox.inject(docsyncd_sandbox::Fault::always(
        docsyncd_sandbox::Route::Status,
        docsyncd_sandbox::FaultKind::status(503),
    ));
    assert_eq!(practice.sync().await.code, 3);
    practice.sandbox.remove_fault(refused);
    patient(&mut practice);
    std::fs::remove_dir_all(practice.inbox()).unwrap();
    std::fs::create_dir(practice.inbox()).unwrap();
    rename_account(&practice);

    let said = practice.docsyncd(&["status"]).await.stdout;
    assert!(said.contains("NOT CONFIGURED: 5 documents wait") && said.contains("[accounts.main]"), "{said}");
    let account = &status(&practice).await["accounts"][0];
    assert_eq!((&account["waiting"], &account["configured"]), (&5.into(), &false.into()), "{account}");
    practice.docsyncd(&["retry", "--yes", &uuids[0], &uuids[1], &uuids[2], &uuids[3], &uuids[4]]).await;
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert_each_reported_once(&practice, &uuids);
    assert!(practice.filed().is_empty(), "{:?}", practice.filed());
    assert!(!practice.docsyncd(&["status"]).await.stdout.contains("NOT CONFIGURED"));
}

#[tokio::test]
async fn documents_that_have_ended_are_not_delivered_again_by_a_renamed_account() {
    let (practice, uuids) = two_keys().await;
    practice.sandbox.set_quirks(docsyncd_sandbox::Quirks { stays_listed: true, ..Default::default() });
    assert_eq!(practice.sync().await.code, 0);
    rename_account(&practice);
    assert_eq!(practice.sync().await.code, 0);
    assert_each_reported_once(&practice, &uuids);
    practice.assert_all_filed().await;
}

/// The report had its effect, and the process died before it read the answer: the list does not show the document any
/// more.
#[tokio::test]
async fn a_renamed_account_takes_over_documents_whose_report_was_not_answered() {
    let (mut practice, uuids) = two_keys().await;
    practice.without_patience();
    let lost = practice.sandbox.inject(docsyncd_sandbox::Fault::always(
        docsyncd_sandbox::Route::Status,
        docsyncd_sandbox::FaultKind::LostReply,
    ));
    assert_eq!(practice.sync().await.code, 3);
    assert_eq!(status(&practice).await["documents"]["delivered"], 5);
    practice.sandbox.remove_fault(lost);
    patient(&mut practice);
    rename_account(&practice);
    let retry: Vec<&str> = ["retry", "--yes"].into_iter().chain(uuids.iter().map(String::as_str)).collect();
    practice.docsyncd(&retry).await;
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert_eq!(status(&practice).await["documents"]["reported"], 5);
    practice.assert_all_filed().await;
}

/// The same, but nothing was delivered: somebody else has synchronized it meanwhile. Whether it is read before the
/// second look finds it gone, and so filed here too, is chance; nothing waits for ever.
#[tokio::test]
async fn a_renamed_account_ends_what_was_synchronized_by_somebody_else() {
    let (mut practice, uuids) = two_keys().await;
    practice.without_patience();
    let broken = practice.sandbox.inject(docsyncd_sandbox::Fault::always(
        docsyncd_sandbox::Route::Document,
        docsyncd_sandbox::FaultKind::status(503),
    ));
    assert_eq!(practice.sync().await.code, 3);
    practice.sandbox.remove_fault(broken);
    patient(&mut practice);
    rename_account(&practice);
    for uuid in &uuids {
        let path = format!("/documents/{uuid}/status");
        let told = practice.docsyncd(&["api", "POST", &path, "--body", r#"{"success":true}"#]).await;
        assert_eq!(told.code, 0, "{told:?}");
    }
    for _ in 0..4 {
        practice.sync().await;
    }
    assert_eq!(practice.sync().await.code, 0);
    let counts = &status(&practice).await["documents"];
    let ended = ["withdrawn", "reported"].map(|state| counts[state].as_u64().unwrap_or(0));
    assert_eq!(ended.iter().sum::<u64>(), 5, "{counts}");
    assert_eq!(practice.filed().len() as u64, ended[1]);
}
