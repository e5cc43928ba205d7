//! "Endpoints", table Webhook. The fields of the record are "not shown": these tests use the sandbox's choice of them
//! and judge only what the table promises.

use serde_json::{Value, json};

use crate::client::JSON;
use crate::harness::{Practice, text};
use crate::samples;
use crate::walk::own;

const PATH: &str = "/webhooks";

fn webhook(number: usize) -> Value {
    json!({"url": format!("http://127.0.0.1:9/hook/{number}"), "events": ["document.created"], "isActive": false})
}

async fn created(practice: &Practice) -> (String, Value) {
    let created = practice.post(PATH, &webhook(1)).await.fine();
    (format!("{PATH}/{}", text(&created, "uuid")), created)
}

#[tokio::test]
async fn get_webhooks_retrieves_the_collection_of_webhooks() {
    let practice = samples::practice(1).await;
    assert!(practice.all(PATH).await.is_empty());
    for number in 0..3 {
        practice.post(PATH, &webhook(number)).await.fine();
    }
    let theirs = samples::create_as(&practice, samples::STRANGER, PATH, &webhook(9)).await;
    let items = practice.all(PATH).await;
    assert_eq!(items.len(), 3);
    assert!(items.iter().all(|item| item["uuid"] != theirs["uuid"]));
    for item in items {
        assert_eq!(practice.json(&format!("{PATH}/{}", text(&item, "uuid"))).await, item);
    }
}

#[tokio::test]
async fn post_webhooks_creates_a_webhook() {
    let practice = Practice::with_documents(1).await;
    let (path, created) = created(&practice).await;
    for name in ["url", "events", "isActive"] {
        assert_eq!(created[name], webhook(1)[name]);
    }
    assert_eq!(practice.json(&path).await["url"], created["url"]);
    assert_eq!(practice.all(PATH).await.len(), 1);
}

#[tokio::test]
async fn post_webhooks_names_every_wrong_field_at_once() {
    let practice = Practice::with_documents(1).await;
    practice.post(PATH, &json!({})).await.assert_violations(&["url", "events"]);
    let wrong = json!({"url": 1, "events": "all", "isActive": "yes"});
    practice.post(PATH, &wrong).await.assert_violations(&["url", "events", "isActive"]);
    assert!(practice.all(PATH).await.is_empty());
}

#[tokio::test]
async fn get_webhooks_uuid_retrieves_a_webhook() {
    let practice = Practice::with_documents(1).await;
    let (path, created) = created(&practice).await;
    assert_eq!(practice.json(&path).await["uuid"], created["uuid"]);
    practice.ask("GET", "/webhooks/b3f6f1f8-0000-4000-8000-000000000000").await.assert_problem(404);
}

#[tokio::test]
async fn patch_webhooks_uuid_updates_a_webhook() {
    let practice = Practice::with_documents(1).await;
    let (path, _) = created(&practice).await;
    let before = practice.json(&path).await;
    let patched = practice.patch(&path, &json!({"url": "http://localhost:9/other"})).await.fine();
    assert_eq!((&patched["url"], &patched["events"]), (&json!("http://localhost:9/other"), &before["events"]));
    assert_eq!(practice.json(&path).await, patched);
    practice.send_as("PATCH", &path, JSON, "{}").await.assert_problem(415);
    practice.patch(&path, &json!({"url": 5, "events": null})).await.assert_violations(&["url", "events"]);
    assert_eq!(practice.json(&path).await, patched);
}

#[tokio::test]
async fn delete_webhooks_uuid_deletes_a_webhook() {
    let practice = Practice::with_documents(1).await;
    let (path, _) = created(&practice).await;
    let answer = practice.ask("DELETE", &path).await;
    assert!((200..300).contains(&answer.status), "{answer:?}");
    practice.ask("GET", &path).await.assert_problem(404);
    practice.ask("DELETE", &path).await.assert_problem(404);
    assert!(practice.all(PATH).await.is_empty());
}

#[tokio::test]
async fn get_webhooks_filters_by_the_very_dates_that_its_items_show() {
    let practice = Practice::with_documents(1).await;
    let (_, created) = created(&practice).await;
    let shown = text(&created, "createdAt");
    assert!(own(&created, "createdAt").is_some());
    for (comparison, expected) in [("gte", 1), ("lte", 1), ("gt", 0), ("lt", 0)] {
        let found = practice.list(PATH, &[(&format!("createdAt[{comparison}]"), &shown)]).await;
        assert_eq!(found.len(), expected, "{comparison} {shown}");
    }
}
