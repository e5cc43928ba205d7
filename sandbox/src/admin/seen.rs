//! `/admin/requests` and `/admin/status-posts`: what the sandbox saw.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};

use super::Entry;
use crate::journal::{Listener, StatusPost};
use crate::shared::Shared;

pub(super) const INDEX: &[Entry] = &[
    ("GET", "/admin/requests", "the requests so far, oldest first"),
    ("DELETE", "/admin/requests", "forgets them"),
    ("GET", "/admin/status-posts", "every accepted status post, oldest first"),
];

pub(super) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/admin/requests", get(requests).delete(forget_requests))
        .route("/admin/status-posts", get(status_posts))
}

/// Keys are not shown, only whether one was sent.
async fn requests(State(shared): State<Arc<Shared>>) -> Json<Value> {
    let requests: Vec<Value> = shared.journal.read(|view| {
        view.requests()
            .map(|request| {
                json!({
                    "method": request.method,
                    "path": request.path,
                    "query": request.query,
                    "authorization": request.authorization.is_some(),
                    "listener": match request.listener {
                        Listener::Api => "api",
                        Listener::Files => "files",
                        Listener::App => "app",
                    },
                    "status": request.status,
                    "fault": request.fault,
                })
            })
            .collect()
    });
    Json(Value::Array(requests))
}

async fn forget_requests(State(shared): State<Arc<Shared>>) -> StatusCode {
    shared.journal.forget_requests();
    StatusCode::NO_CONTENT
}

async fn status_posts(State(shared): State<Arc<Shared>>) -> Json<Vec<StatusPost>> {
    Json(shared.journal.read(|view| view.status_posts().cloned().collect()))
}
