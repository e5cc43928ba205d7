//! Web pages in the developer's browser are kept out, and so are deliveries to webhooks.

use std::time::Duration;

use docsyncd_sandbox::WebhookDelivery;
use reqwest::header::{HOST, ORIGIN};
use serde_json::json;

use super::Run;
use crate::harness::text;

#[tokio::test]
async fn requests_of_web_pages_are_refused() {
    let run = Run::with_documents(1).await;
    let address = format!("{}/admin/faults", run.admin);
    for (name, value) in [
        (ORIGIN, "https://page.example"),
        (ORIGIN, "null"),
        (ORIGIN, run.admin.as_str()),
        (HOST, "rebound.example"),
        (HOST, "localhost.rebound.example:80"),
    ] {
        for request in [run.practice.client.get(&address), run.practice.client.delete(&address)] {
            let response = request.header(name.clone(), value).send().await.unwrap();
            assert_eq!(response.status(), 403, "{name}: {value}");
            text(&response.json().await.unwrap(), "error");
        }
    }
    let port = run.admin.rsplit(':').next().unwrap();
    for host in [format!("localhost:{port}"), format!("127.0.0.1:{port}"), "[::1]".to_owned()] {
        let response = run.practice.client.get(&address).header(HOST, &host).send().await.unwrap();
        assert_eq!(response.status(), 200, "{host}");
    }
}

#[tokio::test]
async fn webhooks_cannot_be_pointed_at_the_admin_surface() {
    let run = Run::with_documents(1).await;
    let uuid = run.practice.uuids("").await.remove(0);
    let wish = json!({
        "url": format!("{}/admin/webhook-deliveries/retry", run.admin),
        "events": ["document.updated"],
    });
    let address = run.practice.address("/webhooks");
    let created =
        run.practice.client.post(address).bearer_auth(run.practice.sandbox.api_key()).json(&wish).send().await;
    assert_eq!(created.unwrap().status(), 201);
    run.practice.report_success(&uuid).await;
    let attempted = |all: &[WebhookDelivery]| all.iter().any(|one| one.attempts > 0);
    run.practice.sandbox.wait_for_deliveries(attempted, Duration::from_secs(20)).await.unwrap();
    let deliveries = run.practice.sandbox.webhook_deliveries().await.unwrap();
    assert_eq!(deliveries.iter().map(|one| one.last_status).collect::<Vec<_>>(), [Some(403)]);
}
