//! Whatever the API shows in place of what its description says, documents are found and filed.

use docsyncd_sandbox::{DateFormat, Fault, FaultKind, ListShape, NewDocument, NewPdf, Quirks, Route, SingleShape};

use super::{SAME_TIME, frequent};
use crate::dictated::*;
use crate::harness::Practice;

#[tokio::test]
async fn a_server_with_an_order_of_its_own_is_read_whole() {
    let (practice, mut uuids) = practice_with_small(130).await;
    practice.sandbox.set_quirks(Quirks { ignore_order: true, ..Quirks::default() });
    assert_eq!(practice.sync().await.code, 0);
    uuids.extend(add_small(&practice, 3, |_, document| document).await);
    assert_eq!(practice.sync().await.code, 0);
    assert_each_reported_once(&practice, &uuids);
    practice.assert_all_filed().await;
}

/// Newest first, and each page is too short to show that.
#[tokio::test]
async fn a_server_with_an_order_of_its_own_hides_nothing_behind_a_short_page() {
    let (mut practice, uuids) = practice_with_small(3).await;
    let quirks = Quirks { ignore_order: true, max_page_size: Some(1), stays_listed: true, ..Quirks::default() };
    practice.sandbox.set_quirks(quirks);
    frequent(&mut practice);
    let _running = practice.run().await;
    practice.wait_for_posts(3).await;
    assert_each_reported_once(&practice, &uuids);
}

/// What PHP makes of arrays with gaps and of empty ones.
#[tokio::test]
async fn a_list_that_is_an_object_with_numbers_for_names_is_read_and_said_once() {
    let (mut practice, uuids) = practice_with_small(2).await;
    frequent(&mut practice);
    let documents = practice.sandbox.documents().await.unwrap();
    let item = |at: usize| serde_json::json!({"uuid": documents[at].uuid, "pdf": documents[at].pdf});
    let numbered = serde_json::json!({"0": item(0), "3": item(1)}).to_string().into_bytes();
    let lists = |kind| practice.sandbox.inject(Fault::always(Route::List, kind));
    let numbered = lists(FaultKind::Bytes(numbered));
    let mut running = practice.run().await;
    practice.wait_for_posts(2).await;
    let empty = lists(FaultKind::Bytes(b"{}".to_vec()));
    practice.sandbox.remove_fault(numbered);
    wait_for_walks(&practice, 3).await;
    lists(FaultKind::Status { code: 204, retry_after: None, body: Some(String::new()) });
    practice.sandbox.remove_fault(empty);
    wait_for_walks(&practice, 3).await;
    running.kill().await;
    let log = running.log();
    assert_eq!(log.matches("event=\"odd_lists\"").count(), 1, "{log}");
    assert!(!log.contains("poll_failed"), "{log}");
    assert_each_reported_once(&practice, &uuids);
}

#[tokio::test]
async fn another_way_to_show_related_records_is_no_new_version() {
    let (practice, uuids) = practice_with_small(12).await;
    for lists_show in [ListShape::Objects, ListShape::Iris, ListShape::Identifiers] {
        practice.sandbox.set_quirks(Quirks { lists_show, stays_listed: true, ..Quirks::default() });
        let synced = practice.sync().await;
        assert_eq!(synced.code, 0, "{synced:?}");
    }
    assert_each_reported_once(&practice, &uuids);
    practice.assert_all_filed().await;
}

#[tokio::test]
async fn related_records_that_the_document_shows_as_identifiers_are_read() {
    let practice = Practice::with_documents(0).await;
    practice.configure(
        "file_name = \"{{ patient.lastName }} {{ patient.firstName }}/{{ user.lastName }}.pdf\"\n\
         [[routes]]\nusers = [\"anne.moreau@practice.test\"]\nto = [\"pms\"]",
    );
    practice.sandbox.set_quirks(Quirks { single_shows: SingleShape::Identifiers, ..Quirks::default() });
    let user = serde_json::json!({"email": "anne.moreau@practice.test", "lastName": "Moreau"});
    let document = NewDocument {
        patient: Some(serde_json::json!({"firstName": "Zoé", "lastName": "Dupont"})),
        user: user.as_object().cloned(),
        ..small("letter")
    };
    practice.sandbox.add(document).await.unwrap();
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?} {:?}", practice.sandbox.status_posts());
    assert_eq!(practice.filed().into_keys().collect::<Vec<_>>(), ["Dupont Zoé/Moreau.pdf"]);
    let read = |request: &docsyncd_sandbox::RequestRecord| request.path.starts_with("/patients/");
    assert_eq!(practice.sandbox.look(|view| view.requests().filter(|request| read(request)).count()), 1);
}

/// One refusal may be a slip, and the letter would be filed without its names; where it is meant, that is told.
#[tokio::test]
async fn a_patient_that_is_refused_is_asked_for_once_more() {
    for (times, filed, told) in [(1, "Dupont.pdf", false), (2, "unknown.pdf", true)] {
        let practice = Practice::with_documents(0).await;
        practice.configure("file_name = \"{{ patient.lastName }}.pdf\"");
        practice.sandbox.set_quirks(Quirks { single_shows: SingleShape::Identifiers, ..Quirks::default() });
        let patient = Some(serde_json::json!({"firstName": "Zoé", "lastName": "Dupont"}));
        practice.sandbox.add(NewDocument { patient, ..small("letter") }).await.unwrap();
        practice.sandbox.inject(Fault { times: Some(times), ..Fault::once(Route::Patient, FaultKind::status(404)) });
        let synced = practice.sync().await;
        assert_eq!(synced.code, 0, "{synced:?}");
        assert_eq!(practice.filed().into_keys().collect::<Vec<_>>(), [filed]);
        assert_eq!(synced.stderr.contains("does not give the patient"), told, "{synced:?}");
    }
}

/// The letter would be filed under another patient's names.
#[tokio::test]
async fn a_patient_or_user_that_was_not_asked_for_is_asked_for_again() {
    let others = [
        r#"{"uuid": "3f0c8a52-0000-7000-8000-000000000000", "firstName": "Eve", "lastName": "Other"}"#,
        r#"{"firstName": "Eve", "lastName": "Other"}"#,
    ];
    let routes = [Route::Patient, Route::Endpoint("GET /users/{uuid}")];
    for (route, other) in routes.into_iter().flat_map(|route| others.map(|other| (route, other))) {
        let practice = Practice::with_documents(0).await;
        practice.configure("file_name = \"{{ patient.lastName }}_{{ user.lastName }}.pdf\"");
        practice.sandbox.set_quirks(Quirks { single_shows: SingleShape::Identifiers, ..Quirks::default() });
        let named = |first: &str, last: &str| serde_json::json!({"firstName": first, "lastName": last});
        let (patient, user) = (named("Zoé", "Dupont"), named("Luc", "Moreau"));
        let document = NewDocument { patient: Some(patient), user: user.as_object().cloned(), ..small("letter") };
        practice.sandbox.add(document).await.unwrap();
        practice.sandbox.inject(Fault::once(route, FaultKind::Bytes(other.into())));
        let synced = practice.sync().await;
        assert_eq!(synced.code, 0, "{other} {synced:?}");
        assert_eq!(practice.filed().into_keys().collect::<Vec<_>>(), ["Dupont_Moreau.pdf"], "{other}");
        assert!(synced.stderr.contains("something else than was asked for"), "{synced:?}");
    }
}

/// Of a patient who is given, and is too much, the letter is not filed as an unknown one's.
#[tokio::test]
async fn a_patient_of_more_values_than_are_kept_fails_the_letter() {
    let practice = Practice::with_documents(0).await;
    practice.sandbox.set_quirks(Quirks { single_shows: SingleShape::Identifiers, ..Quirks::default() });
    let patient = Some(serde_json::json!({"firstName": "Zoé", "lastName": "Dupont"}));
    let uuid = practice.sandbox.add(NewDocument { patient, ..small("letter") }).await.unwrap();
    let record = format!("{{\"lastName\": \"Dupont\", \"visits\": [{}7]}}", "7,".repeat(30_000));
    practice.sandbox.inject(Fault::always(Route::Patient, FaultKind::Bytes(record.into_bytes())));
    let synced = practice.sync().await;
    assert_eq!((synced.code, practice.filed().len()), (3, 0), "{synced:?}");
    let [(Some(false), Some(error))] = &posts_of(&practice.sandbox, &uuid)[..] else { panic!("{synced:?}") };
    assert!(error.contains("holds more than 20000 values"), "{error}");
}

#[tokio::test]
async fn members_and_values_that_nobody_knows_do_no_harm() {
    let (practice, uuids) = practice_with_small(12).await;
    practice.configure("file_name = \"{{ document.type }}.pdf\"");
    practice.sandbox.set_quirks(Quirks { unknown_fields: true, ..Quirks::default() });
    assert_eq!(practice.sync().await.code, 0);
    assert_each_reported_once(&practice, &uuids);
    practice.assert_all_filed().await;
    assert!(practice.filed().into_keys().all(|name| name.starts_with("future_report")), "{:?}", practice.filed());
}

#[tokio::test]
async fn dates_in_every_notation_are_read() {
    let formats =
        [DateFormat::Offset, DateFormat::OffsetMillis, DateFormat::Zulu, DateFormat::ZuluMillis, DateFormat::PlusTwo];
    let practice = Practice::with_documents(0).await;
    practice.configure("file_name = \"{{ document.createdAt | date }}.pdf\"");
    let mut uuids = Vec::new();
    for date_format in formats {
        practice.sandbox.set_quirks(Quirks { date_format, max_page_size: Some(5), ..Quirks::default() });
        uuids.extend(
            add_small(&practice, 12, |number, document| {
                let text = format!("{number} {date_format:?}");
                NewDocument { pdf: NewPdf::Bytes(pdf(&text)), ..document }
            })
            .await,
        );
        let synced = practice.sync().await;
        assert_eq!(synced.code, 0, "{date_format:?} {synced:?}");
    }
    assert_each_reported_once(&practice, &uuids);
    practice.assert_all_filed().await;
    assert!(practice.filed().into_keys().all(|name| name.starts_with("2025-01-06")), "{:?}", practice.filed());
}

#[tokio::test]
async fn documents_with_dates_that_are_none_are_found_as_well() {
    let practice = Practice::with_documents(0).await;
    practice.sandbox.set_quirks(Quirks { max_page_size: Some(5), ..Quirks::default() });
    let dates = ["", "yesterday", "2026-03-01", "01.03.2026 09:30", SAME_TIME, "2026-03-01 09:30:00"];
    let dated = |number: usize, document| NewDocument {
        created_at: dates.get(number % dates.len()).map(|date| (*date).to_owned()),
        ..document
    };
    let uuids = add_small(&practice, 24, dated).await;
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert_each_reported_once(&practice, &uuids);
    practice.assert_all_filed().await;
}
