//! "Endpoints", table Webhook. The fields of the record are "not shown": these tests use the sandbox's choice of them
//! and judge only what the table promises.

use serde_json::{Value, json};

use crate::harness::{Practice, text};
use crate::samples;
use crate::walk::own;

const PATH: &str = "/webhooks";

fn webhook(number: usize) -> Value {
    json!({"url": format!("http://127.0.0.1:9/hook/{number}"), "events": ["document.created"], "isActive": false})
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
async fn get_webhooks_filters_by_the_very_dates_that_its_items_show() {
    let practice = Practice::with_documents(1).await;
    let created = practice.post(PATH, &webhook(1)).await.fine();
    let shown = text(&created, "createdAt");
    assert!(own(&created, "createdAt").is_some());
    for (comparison, expected) in [("gte", 1), ("lte", 1), ("gt", 0), ("lt", 0)] {
        let found = practice.list(PATH, &[(&format!("createdAt[{comparison}]"), &shown)]).await;
        assert_eq!(found.len(), expected, "{comparison} {shown}");
    }
}
