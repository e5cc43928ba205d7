//! `/admin/documents`: adding, changing, withdrawing.

use docsyncd_sandbox::{ApiKey, Options};
use reqwest::Method;
use serde_json::{Value, json};

use super::Run;
use crate::harness::text;

async fn added(run: &Run, body: Value) -> Vec<String> {
    let (status, answer) = run.post("/admin/documents", body).await;
    assert_eq!(status, 201, "{answer}");
    serde_json::from_value(answer["uuids"].clone()).unwrap()
}

#[tokio::test]
async fn invented_documents_are_added_and_all_are_listed() {
    let run = Run::with_documents(2).await;
    let new = added(&run, json!({"count": 3})).await;
    assert_eq!(new.len(), 3);
    let all = run.get("/admin/documents").await;
    assert_eq!(all.as_array().unwrap().len(), 5);
    let uuids = run.uuids().await;
    assert!(all.as_array().unwrap().iter().all(|document| uuids.contains(&text(document, "uuid"))));
    assert!(new.iter().all(|uuid| uuids.contains(uuid)));
}

#[tokio::test]
async fn every_dictated_member_is_shown_as_it_was_given() {
    let keys = vec![ApiKey::new("sandbox-key"), ApiKey::of_user("other", "other@cabinet.example")];
    let run = Run::start(Options { api_keys: keys, ..Options::default() }).await;
    let uuid = added(
        &run,
        json!({
            "uuid": "9b2d3c70-0000-4000-8000-000000000001",
            "createdAt": "2026-02-03T04:05:06.789+01:00",
            "updatedAt": "2026-02-04T04:05:06Z",
            "encounteredAt": "2026-02-01",
            "type": "lab_slip",
            "patient": {"firstName": "Zoë", "lastName": null},
            "user": {"firstName": "Noé"},
            "isAnonymized": true,
            "genericContactSpecialty": "orthodontist",
            "pdf": {"uuid": "9b2d3c70-0000-4000-8000-000000000002", "name": "a.pdf", "fileName": "b é.pdf", "size": 7},
            "pdf_base64": "JVBERi0xLjcK",
            "synchronized": true,
        }),
    )
    .await
    .remove(0);
    assert!(run.practice.uuids("synchronized=false").await.is_empty());
    let document = run.document(&uuid).await;
    for (pointer, value) in [
        ("/uuid", "9b2d3c70-0000-4000-8000-000000000001"),
        ("/createdAt", "2026-02-03T04:05:06.789+01:00"),
        ("/updatedAt", "2026-02-04T04:05:06Z"),
        ("/encounteredAt", "2026-02-01"),
        ("/type", "lab_slip"),
        ("/patient/firstName", "Zoë"),
        ("/user/firstName", "Noé"),
        ("/genericContactSpecialty", "orthodontist"),
        ("/pdf/uuid", "9b2d3c70-0000-4000-8000-000000000002"),
        ("/pdf/name", "a.pdf"),
        ("/pdf/fileName", "b é.pdf"),
    ] {
        assert_eq!(document.pointer(pointer).unwrap(), value, "{pointer}");
    }
    assert_eq!(document["patient"]["lastName"], json!(null));
    assert_eq!((&document["isAnonymized"], &document["pdf"]["size"]), (&json!(true), &json!(7)));
    let file = run.practice.get(&text(&document["pdf"], "url")).send().await.unwrap();
    assert_eq!(file.bytes().await.unwrap(), "%PDF-1.7\n");

    let foreign = added(&run, json!({"owner": "other", "type": null, "patient": null})).await.remove(0);
    assert_eq!(run.practice.refused(&format!("/documents/{foreign}")).await.0, 403);
    let address = format!("{}/documents/{foreign}", run.practice.sandbox.url());
    let theirs: Value =
        run.practice.client.get(address).bearer_auth("other").send().await.unwrap().json().await.unwrap();
    assert_eq!((&theirs["type"], &theirs["patient"]), (&json!(null), &json!(null)));
}

#[tokio::test]
async fn a_document_can_wait_for_its_file_and_get_it() {
    let run = Run::with_documents(0).await;
    for nothing in [json!({"pdf": null}), json!({"pdf_base64": null}), json!({"pdf": null, "pdf_base64": null})] {
        let uuid = added(&run, nothing).await.remove(0);
        assert!(run.document(&uuid).await["pdf"].is_null());
        let put = run.practice.client.put(format!("{}/admin/documents/{uuid}/pdf", run.admin));
        let put = put.header("content-type", "application/pdf").body("%PDF-1.7 late").send().await.unwrap();
        assert_eq!(put.status(), 200);
        let answer: Value = put.json().await.unwrap();
        let document = run.document(&uuid).await;
        assert_eq!((&document["pdf"]["uuid"], &document["pdf"]["size"]), (&answer["pdf"], &json!(13)));
    }
}

#[tokio::test]
async fn a_document_is_listed_again_and_withdrawn() {
    let run = Run::with_documents(1).await;
    let uuid = run.uuids().await.remove(0);
    run.practice.report_success(&uuid).await;
    for (listed, count) in [(true, 1), (false, 0)] {
        let (status, _) = run.post(&format!("/admin/documents/{uuid}/listed"), json!({"listed": listed})).await;
        assert_eq!((status, run.practice.uuids("synchronized=false").await.len()), (200, count));
    }
    assert_eq!(run.delete(&format!("/admin/documents/{uuid}")).await, 204);
    assert_eq!(run.status_of(&format!("/documents/{uuid}")).await, 404);
    assert_eq!(run.delete(&format!("/admin/documents/{uuid}")).await, 404);
}

#[tokio::test]
async fn what_is_wrong_with_a_document_is_said() {
    let run = Run::with_documents(1).await;
    let uuid = run.uuids().await.remove(0);
    for (body, said) in [
        (json!({"count": 1, "type": "lab_slip"}), "type"),
        (json!({"count": -1}), "count"),
        (json!({"count": 100_001}), "100000"),
        (json!({"colour": "red"}), "colour"),
        (json!({"patient": "somebody"}), "patient"),
        (json!({"pdf": {"pages": 3}}), "pages"),
        (json!({"pdf_base64": "%%%"}), "pdf_base64"),
        (json!({"pdf": null, "pdf_base64": "AAAA"}), "pdf_base64"),
        (json!({"owner": "nobody"}), "nobody"),
        (json!({"uuid": uuid}), "exists already"),
    ] {
        let error = run.refused(Method::POST, "/admin/documents", Some(body.clone()), 422).await;
        assert!(error.contains(said), "{body}: {error}");
    }
    assert_eq!(run.uuids().await, std::slice::from_ref(&uuid));
    let put = run.practice.client.put(format!("{}/admin/documents/{uuid}/pdf", run.admin)).body("x");
    assert_eq!(put.send().await.unwrap().status(), 415);
}
