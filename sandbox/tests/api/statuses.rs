//! `POST /documents/{uuid}/status`.

use std::time::Duration;

use docsyncd_sandbox::{ApiKey, NewDocument, Options};
use serde_json::{Value, json};

use crate::harness::{PROBLEM, Practice, members, status_and_body, text};

#[tokio::test]
async fn success_takes_the_document_out_of_the_unsynchronized_and_answers_with_it() {
    let practice = Practice::with_documents(2).await;
    let uuid = practice.uuids("synchronized=false").await.remove(0);
    let (status, body) = status_and_body(practice.report(&uuid, json!({"success": true})).await).await;
    assert_eq!((status, text(&body, "uuid")), (200, uuid.clone()));
    assert_eq!(body["documentIntegrations"][0]["success"], true);
    assert_eq!(practice.uuids("synchronized=false").await.len(), 1);
    assert_eq!(practice.uuids("synchronized=true").await, std::slice::from_ref(&uuid));
    let read = practice.json(&format!("/documents/{uuid}")).await;
    assert_eq!(read, body);
}

#[tokio::test]
async fn failure_is_an_answer_too_and_null_takes_it_back() {
    let practice = Practice::with_documents(1).await;
    let uuid = practice.uuids("").await.remove(0);
    let failed = json!({"success": false, "error": "the share refuses the name"});
    assert_eq!(practice.report(&uuid, failed).await.status(), 200);
    assert_eq!(practice.uuids("synchronized=false").await.len(), 0);
    assert_eq!(practice.report(&uuid, json!({"success": null})).await.status(), 200);
    assert_eq!(practice.uuids("synchronized=false").await.len(), 1);
    let posts = practice.sandbox.status_posts();
    let said: Vec<_> = posts.iter().map(|post| (post.success, post.error.as_deref())).collect();
    assert_eq!(said, [(Some(false), Some("the share refuses the name")), (None, None)]);
}

#[tokio::test]
async fn json_ld_is_taken_too_and_other_media_types_are_415() {
    let practice = Practice::with_documents(1).await;
    let uuid = practice.uuids("").await.remove(0);
    let post = |body: &'static str, media_type: &'static str| {
        practice
            .client
            .post(format!("{}/documents/{uuid}/status", practice.sandbox.url()))
            .bearer_auth("sandbox-key")
            .header("content-type", media_type)
            .body(body)
            .send()
    };
    assert_eq!(post("success=true", "application/x-www-form-urlencoded").await.unwrap().status(), 415);
    assert_eq!(post("{\"success\": true}", "application/ld+json; charset=utf-8").await.unwrap().status(), 200);
}

#[tokio::test]
async fn unknown_documents_are_404_and_those_of_others_403_before_the_body_is_judged() {
    let keys = vec![ApiKey::new("mine"), ApiKey::of_user("theirs", "paul.autre@elsewhere.example")];
    let practice = Practice::start(Options { api_keys: keys, ..Options::default() }).await;
    let other = NewDocument { owner: Some("theirs".into()), ..NewDocument::default() };
    let uuid = practice.sandbox.add(other).await.unwrap();
    for (uuid, expected) in [("none", 404), (uuid.as_str(), 403)] {
        let (status, body) = status_and_body(practice.report(uuid, json!({"success": "?"})).await).await;
        assert_eq!((status, members(&body)), (expected, PROBLEM.to_vec()));
    }
    assert!(practice.sandbox.status_posts().is_empty());
}

#[tokio::test]
async fn a_report_can_be_waited_for() {
    let practice = Practice::with_documents(1).await;
    let uuid = practice.uuids("").await.remove(0);
    let waiting = practice.sandbox.wait_for(|view| view.status_posts().count() == 1, Duration::from_secs(60));
    let (waited, ()) = tokio::join!(waiting, practice.report_success(&uuid));
    waited.unwrap();
    let never = practice.sandbox.wait_for(|view| view.status_posts().count() == 2, Duration::from_millis(10));
    assert!(never.await.is_err());
}

#[tokio::test]
async fn a_store_keeps_documents_states_and_history_over_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { store: Some(folder.path().join("sandbox.sqlite3")), documents: 3, ..Options::default() };
    let first = Practice::start(options.clone()).await;
    let uuids = first.uuids("").await;
    first.report_success(&uuids[0]).await;
    let bytes = first.sandbox.pdf_bytes(&uuids[1]).await.unwrap();
    first.sandbox.shutdown().await;

    let second = Practice::start(Options { documents: 4, ..options }).await;
    assert_eq!(second.uuids("").await[..3], uuids);
    assert_eq!(second.uuids("synchronized=false").await.len(), 3);
    assert_eq!(second.sandbox.status_posts().len(), 1);
    assert_eq!(second.sandbox.pdf_bytes(&uuids[1]).await.unwrap(), bytes);
    let read: Value = second.json(&format!("/documents/{}", uuids[0])).await;
    assert_eq!(read["documentIntegrations"][0]["success"], true);
}
