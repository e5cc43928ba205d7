//! "Endpoints", table Document, row `POST /documents/{uuid}/status`.

use serde_json::{Value, json};

use crate::client::{JSON, MERGE_PATCH};
use crate::harness::{Practice, text};
use crate::records::DOCUMENT;
use crate::samples;
use crate::shape::assert_record;

async fn one() -> (Practice, String) {
    let practice = Practice::with_documents(1).await;
    let path = format!("/documents/{}/status", text(&practice.all("/documents").await[0], "uuid"));
    (practice, path)
}

#[tokio::test]
async fn post_documents_uuid_status_returns_the_document_with_status_200() {
    let (practice, path) = one().await;
    for success in [json!(true), json!(false), json!(null)] {
        let answer = practice.post(&path, &json!({ "success": success })).await;
        assert_eq!(answer.status, 200);
        let document = answer.fine();
        assert_record("answer", &document, DOCUMENT);
        assert_eq!(practice.json(path.strip_suffix("/status").unwrap()).await, document);
    }
}

#[tokio::test]
async fn post_documents_uuid_status_takes_success_as_boolean_or_null_and_requires_it() {
    let (practice, path) = one().await;
    for body in [json!({}), json!({"error": "x"}), json!({"Success": true})] {
        practice.post(&path, &body).await.assert_violations(&["success"]);
    }
    for success in [json!("true"), json!(1), json!([]), json!({})] {
        practice.post(&path, &json!({ "success": success })).await.assert_violations(&["success"]);
    }
    assert!(practice.sandbox.status_posts().is_empty());
}

#[tokio::test]
async fn post_documents_uuid_status_takes_error_as_string_or_null_or_not_at_all() {
    let (practice, path) = one().await;
    for error in [json!("the share is full"), json!(null), json!("")] {
        practice.post(&path, &json!({"success": false, "error": error})).await.fine();
    }
    practice.post(&path, &json!({"success": false})).await.fine();
    let errors: Vec<Option<String>> = practice.sandbox.status_posts().into_iter().map(|post| post.error).collect();
    assert_eq!(errors, [Some("the share is full".into()), None, Some(String::new()), None]);
    for error in [json!(1), json!(true), json!(["x"]), json!({})] {
        practice.post(&path, &json!({"success": false, "error": error})).await.assert_violations(&["error"]);
    }
}

#[tokio::test]
async fn post_documents_uuid_status_answers_400_to_what_is_no_json_object() {
    let (practice, path) = one().await;
    for body in ["", "{", "[]", "true", "null", "{\"success\": tru}"] {
        practice.send_as("POST", &path, JSON, body).await.assert_problem(400);
    }
    practice.send_as("POST", &path, MERGE_PATCH, "{\"success\": true}").await.assert_problem(415);
    assert!(practice.sandbox.status_posts().is_empty());
}

#[tokio::test]
async fn post_documents_uuid_status_answers_403_for_a_document_of_somebody_else() {
    let practice = samples::practice(1).await;
    let path = format!("/documents/{}/status", samples::document_of_stranger(&practice).await);
    practice.post(&path, &json!({"success": true})).await.assert_problem(403);
    assert!(practice.sandbox.status_posts().is_empty());
}

#[tokio::test]
async fn post_documents_uuid_status_answers_422_with_every_wrong_field_at_once() {
    let (practice, path) = one().await;
    let wrong: Value = json!({"success": "yes", "error": 7});
    practice.post(&path, &wrong).await.assert_violations(&["success", "error"]);
}
