//! `/admin/webhook-deliveries`: what was sent to webhooks, and what will be. Secrets are not shown.

use std::sync::Arc;

use axum::extract::State;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};

use super::Entry;
use super::refusal::Refusal;
use crate::hooks::{self, WebhookDelivery};
use crate::shared::Shared;

pub(super) const INDEX: &[Entry] = &[
    ("GET", "/admin/webhook-deliveries", "the newest deliveries to webhooks, sent and waiting"),
    ("POST", "/admin/webhook-deliveries/retry", "makes all that wait due now"),
];

pub(super) fn routes() -> Router<Arc<Shared>> {
    Router::new().route("/admin/webhook-deliveries", get(all)).route("/admin/webhook-deliveries/retry", post(retry))
}

async fn all(State(shared): State<Arc<Shared>>) -> Result<Json<Vec<WebhookDelivery>>, Refusal> {
    Ok(Json(hooks::newest(&shared).await?))
}

async fn retry(State(shared): State<Arc<Shared>>) -> Result<Json<Value>, Refusal> {
    Ok(Json(json!({"retried": hooks::retry(&shared).await?})))
}
