//! The promises across stages: reports are repeated without repeating deliveries, and a kill at any moment loses and
//! doubles nothing.

use std::time::Duration;

use docsyncd_sandbox::{ApiKey, Fault, FaultKind, NewDocument, Options, Route};

use crate::dictated::*;
use crate::harness::{PATIENCE, Practice};

fn downloads(practice: &Practice) -> usize {
    practice.sandbox.look(|view| view.requests().filter(|request| is_download(request)).count())
}

fn reports_tried(practice: &Practice) -> usize {
    practice.sandbox.look(|view| view.requests().filter(|request| request.method == "POST").count())
}

/// How often the history says that the document was delivered.
async fn deliveries_of(practice: &Practice, uuid: &str) -> usize {
    let shown = practice.show(uuid).await;
    shown["history"].as_array().unwrap().iter().filter(|row| row["event"] == "delivered").count()
}

#[tokio::test]
async fn a_report_that_fails_is_repeated_and_the_delivery_is_not() {
    let (practice, uuids) = practice_with_small(4).await;
    practice.sandbox.inject(Fault::always(Route::Status, FaultKind::status(500)).for_document(&uuids[1]).times(2));
    practice.sandbox.inject(Fault::always(Route::Status, FaultKind::Reset).for_document(&uuids[2]).times(1));
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert_each_reported_once(&practice, &uuids);
    assert_eq!((downloads(&practice), reports_tried(&practice)), (4, 7));
    for uuid in &uuids {
        assert_eq!(deliveries_of(&practice, uuid).await, 1);
    }
    practice.assert_all_filed().await;
}

#[tokio::test]
async fn a_report_of_which_the_answer_is_lost_is_repeated_and_the_delivery_is_not() {
    let (practice, uuids) = practice_with_small(3).await;
    practice.sandbox.inject(Fault::always(Route::Status, FaultKind::LostReply).for_document(&uuids[0]).times(1));
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert_eq!(posts_of(&practice.sandbox, &uuids[0]), [(Some(true), None), (Some(true), None)]);
    assert_eq!(downloads(&practice), 3);
    assert_eq!(deliveries_of(&practice, &uuids[0]).await, 1);
    practice.assert_all_filed().await;
    // Nothing is left to be done, although the document left the list before its report was known to be accepted.
    practice.sandbox.forget_requests();
    assert_eq!(practice.sync().await.code, 0);
    assert_only_lists(&practice);
}

/// A server may refuse to be told twice. The list of synchronized documents says that the first report arrived.
#[tokio::test]
async fn a_report_that_is_refused_since_an_earlier_one_arrived_is_no_failure() {
    for code in [409, 422] {
        let (practice, uuids) = practice_with_small(2).await;
        practice.sandbox.inject(Fault::once(Route::Status, FaultKind::LostReply).for_document(&uuids[0]));
        practice.sandbox.inject(Fault::always(Route::Status, FaultKind::status(code)).for_document(&uuids[0]));
        let synced = practice.sync().await;
        assert_eq!(synced.code, 0, "{synced:?}");
        assert_eq!(practice.state(&uuids[0]).await, "reported");
        assert_each_reported_once(&practice, &uuids);
    }
}

#[tokio::test]
async fn a_report_that_is_refused_is_kept_as_unreported_until_someone_retries_it() {
    for code in [403, 422, 400] {
        let (practice, uuids) = practice_with_small(4).await;
        practice.sandbox.inject(Fault::always(Route::Status, FaultKind::status(code)).for_document(&uuids[3]));
        for _ in 0..2 {
            let synced = practice.sync().await;
            assert_eq!(synced.code, 3, "{synced:?}");
            assert_eq!(practice.state(&uuids[3]).await, "unreported");
        }
        assert_eq!(reports_tried(&practice), 4, "once for each document");
        practice.sandbox.clear_faults();
        assert_eq!(practice.docsyncd(&["retry", "--yes", &uuids[3]]).await.code, 0);
        let synced = practice.sync().await;
        assert_eq!(synced.code, 0, "{synced:?}");
        assert_each_reported_once(&practice, &uuids);
        assert_eq!(downloads(&practice), 4);
        practice.assert_all_filed().await;
    }
}

#[tokio::test]
async fn a_document_that_is_gone_when_it_is_reported_counts_as_withdrawn() {
    let (mut practice, uuids) = practice_with_small(2).await;
    practice.without_patience();
    std::fs::remove_dir(practice.inbox()).unwrap();
    assert_eq!(practice.sync().await.code, 3);
    practice.sandbox.remove(&uuids[0]).await.unwrap();
    std::fs::create_dir(practice.inbox()).unwrap();
    // A 404 and one look at the list are no proof.
    assert_eq!(practice.sync().await.code, 3);
    assert_eq!(practice.state(&uuids[0]).await, "delivered");
    // The second look is a poll later.
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "20ms".into());
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert_eq!(practice.state(&uuids[0]).await, "withdrawn");
    assert_eq!(practice.state(&uuids[1]).await, "reported");
    assert_each_reported_once(&practice, &uuids[1..]);
}

#[tokio::test]
async fn a_report_that_is_not_found_is_repeated_while_the_document_is_there() {
    let (practice, uuids) = practice_with_small(3).await;
    practice.sandbox.inject(Fault::always(Route::Status, FaultKind::status(404)).for_document(&uuids[0]).times(2));
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert_each_reported_once(&practice, &uuids);
    assert_eq!(downloads(&practice), 3);
}

#[tokio::test]
async fn reports_that_the_api_refuses_for_every_document_hold_the_rest_back() {
    let (mut practice, uuids) = practice_with_small(30).await;
    practice.sandbox.inject(Fault::always(Route::Status, FaultKind::status(403)));
    practice.without_patience();
    let synced = practice.sync().await;
    assert_eq!(synced.code, 3, "{synced:?}");
    assert_eq!(paused(&practice).await, ["report:main"]);
    practice.assert_all_filed().await;

    practice.sandbox.clear_faults();
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "also those that were refused before that was seen to be a pattern: {synced:?}");
    assert_each_reported_once(&practice, &uuids);
    assert_eq!(downloads(&practice), 30);
}

#[tokio::test]
async fn kills_at_any_moment_lose_nothing_and_double_nothing() {
    const DOCUMENTS: usize = 100;
    let (mut practice, uuids) = practice_with_small(DOCUMENTS).await;
    practice.configure("sidecar = \"{{ document.uuid }}\"\nfile_name = \"{{ document.type }}/letter.pdf\"");
    practice.env.insert("DOCSYNCD__SYNC__MAX_CONCURRENCY".into(), "8".into());
    // Every request is a little slow, so that each kill comes while much is under way.
    practice.sandbox.inject(Fault::always(Route::Any, FaultKind::Delay(Duration::from_millis(15))));
    for step in [3, 9, 1, 25, 14, 2, 30] {
        let before = practice.sandbox.look(|view| view.requests().count());
        let mut running = practice.start();
        // Requests, not reports: some kills come before the first report of a run.
        let wanted = before + step * 3;
        practice.sandbox.wait_for(|view| view.requests().count() >= wanted, PATIENCE).await.expect("requests");
        running.kill().await;
    }
    practice.sandbox.clear_faults();
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    for uuid in &uuids {
        let posts = posts_of(&practice.sandbox, uuid);
        assert!(!posts.is_empty() && posts.iter().all(|post| *post == (Some(true), None)), "{posts:?}");
        assert_eq!(practice.state(uuid).await, "reported");
    }
    practice.assert_spool_empty();
    let (pdfs, others): (Vec<_>, Vec<_>) = practice.filed().into_iter().partition(|(name, _)| name.ends_with(".pdf"));
    assert_eq!((pdfs.len(), others.len()), (DOCUMENTS, DOCUMENTS), "{others:?}");
    let mut found: Vec<String> = pdfs.into_iter().map(|(_, sha)| sha).collect();
    let mut expected: Vec<String> =
        (0..DOCUMENTS).map(|number| crate::harness::sha256(&pdf(&format!("letter {number}")))).collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
    assert!(others.iter().all(|(name, _)| name.ends_with(".txt")), "{others:?}");

    practice.sandbox.forget_requests();
    assert_eq!(practice.sync().await.code, 0);
    assert_only_lists(&practice);
}

/// A practice with a second account.
async fn practice_with_accounts(first: ApiKey, second: ApiKey) -> Practice {
    let key = second.key.clone();
    let practice = Practice::with_options(Options { api_keys: vec![first, second], ..Options::default() }).await;
    practice.write_secret("second-key", &key);
    practice.configure("[accounts.second]\napi_key_file = 'second-key'");
    practice
}

#[tokio::test]
async fn an_account_of_which_every_document_hangs_delays_no_other() {
    let (first, second) = (ApiKey::new("first"), ApiKey::of_user("second", "dr.martin@practice.example"));
    let mut practice = practice_with_accounts(first, second).await;
    practice.env.insert("DOCSYNCD__API__TIMEOUT".into(), "1h".into());
    practice.env.insert("DOCSYNCD__SYNC__MAX_CONCURRENCY".into(), "4".into());
    let hanging = add_small(&practice, 20, |_, document| document).await;
    for uuid in &hanging {
        practice.sandbox.inject(Fault::always(Route::Document, FaultKind::Stall).for_document(uuid));
    }
    let of_second = |_, document| NewDocument { owner: Some("second".into()), ..document };
    let good = add_small(&practice, 20, of_second).await;
    let _running = practice.run().await;
    practice.wait_for_posts(20).await;
    assert_each_reported_once(&practice, &good);
}

#[tokio::test]
async fn an_account_that_is_refused_delays_no_other() {
    let (first, second) = (ApiKey::new("first"), ApiKey::of_user("second", "dr.martin@practice.example"));
    let practice = practice_with_accounts(first, second).await;
    practice.write_secret("second-key", "an-old-key");
    let good = add_small(&practice, 10, |_, document| document).await;
    add_small(&practice, 10, |_, document| NewDocument { owner: Some("second".into()), ..document }).await;
    let synced = practice.sync().await;
    assert_eq!(synced.code, 1, "{synced:?}");
    assert_eq!(synced.stderr.matches("ERROR").count(), 1, "{synced:?}");
    assert_eq!(paused(&practice).await, ["account:second"]);
    assert_each_reported_once(&practice, &good);

    practice.write_secret("second-key", "second");
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert_eq!(practice.sandbox.status_posts().len(), 20);
    practice.assert_all_filed().await;
}

#[tokio::test]
async fn a_document_that_two_accounts_list_is_filed_once() {
    let practice = practice_with_accounts(ApiKey::new("first"), ApiKey::new("second")).await;
    let uuids = add_small(&practice, 12, |_, document| document).await;
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    practice.assert_all_filed().await;
    for uuid in &uuids {
        assert!(posts_of(&practice.sandbox, uuid).iter().all(|post| *post == (Some(true), None)));
    }
}

#[tokio::test]
async fn a_spooled_pdf_that_was_damaged_or_lost_is_fetched_again() {
    let (mut practice, uuids) = practice_with_small(4).await;
    practice.without_patience();
    std::fs::remove_dir(practice.inbox()).unwrap();
    assert_eq!(practice.sync().await.code, 3);
    let spooled = || std::fs::read_dir(practice.spool()).unwrap().map(|entry| entry.unwrap().path());
    assert_eq!(spooled().count(), 4);
    for (number, path) in spooled().enumerate() {
        match number {
            0 => std::fs::remove_file(path).unwrap(),
            1 => std::fs::write(path, b"%PDF-").unwrap(),
            2 => std::fs::write(&path, vec![b'x'; std::fs::read(&path).unwrap().len()]).unwrap(),
            _ => {}
        }
    }
    std::fs::create_dir(practice.inbox()).unwrap();
    patient(&mut practice);
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert_each_reported_once(&practice, &uuids);
    assert_eq!(downloads(&practice), 7);
    practice.assert_all_filed().await;
}

/// As by an antivirus program that takes every PDF away: told in the end.
#[cfg(unix)]
#[tokio::test]
async fn a_pdf_that_is_lost_again_and_again_is_given_up_in_the_end() {
    let (mut practice, uuids) = practice_with_small(1).await;
    practice.env.insert("DOCSYNCD__SYNC__GIVE_UP_AFTER".into(), "1s".into());
    practice.configure_wholly(&format!(
        "{}[destinations.scan]\ntype = \"command\"\nprogram = \"sh\"\nargs = [\"-c\", 'rm \"$0\"; exit 75', '{{{{ file }}}}']\n",
        practice.base_config()
    ));
    let mut running = practice.run().await;
    practice.wait_for_posts(1).await;
    let posts = posts_of(&practice.sandbox, &uuids[0]);
    let [(Some(false), Some(error))] = posts.as_slice() else { panic!("{posts:?}") };
    assert!(error.contains("gave up after 1s") && error.contains("antivirus"), "{error}");
    running.stop().await;
    assert!(downloads(&practice) > 4, "{}", downloads(&practice));
}

/// The patient was renamed between two attempts, of which the first was cut off.
#[tokio::test]
async fn an_attempt_that_was_cut_off_leaves_nothing_in_a_folder_that_is_no_longer_the_documents() {
    let (mut practice, uuids) = practice_with_small(1).await;
    practice.without_patience();
    practice.configure_wholly(&format!(
        "{}[destinations.pms]\ntype = \"folder\"\npath = 'inbox'\nfile_name = \"{{{{ patient.lastName }}}}/a.pdf\"\n",
        practice.base_config()
    ));
    std::fs::remove_dir(practice.inbox()).unwrap();
    assert_eq!(practice.sync().await.code, 3);
    let document = practice.sandbox.documents().await.unwrap().remove(0);
    let uuid = docsyncd::domain::document::DocumentUuid::parse(&uuids[0]).unwrap();
    let version = docsyncd::domain::document::Version { account: "main".to_owned(), uuid, pdf: document.pdf.unwrap() };
    let folder = practice.inbox().join(document.patient_last_name.unwrap());
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(format!(".docsyncd-{}.part", version.delivery_key("pms"))), "%PDF-1.7 le").unwrap();
    for entry in std::fs::read_dir(practice.spool()).unwrap() {
        std::fs::remove_file(entry.unwrap().path()).unwrap();
    }
    let address = format!("patients/{}", document.patient.unwrap());
    let renamed = practice.docsyncd(&["api", "PATCH", &address, "--body", r#"{"lastName": "Anders"}"#]).await;
    assert_eq!(renamed.code, 0, "{renamed:?}");
    patient(&mut practice);
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert_eq!(practice.filed().into_keys().collect::<Vec<_>>(), ["Anders/a.pdf"]);
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 0, "the temporary file is gone");
}

#[tokio::test]
async fn what_waits_for_a_destination_that_is_no_longer_configured_goes_where_the_routes_say_now() {
    let (mut practice, uuids) = practice_with_small(4).await;
    practice.without_patience();
    practice.configure("[destinations.archive]\ntype = \"folder\"\npath = 'nowhere'\n[[routes]]\nto = [\"archive\"]");
    assert_eq!(practice.sync().await.code, 3);
    assert!(practice.filed().is_empty());
    practice.configure("");
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert_each_reported_once(&practice, &uuids);
    practice.assert_all_filed().await;
}
