//! A small surface for whoever runs the sandbox as a program: add documents, see what happened. No authentication.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::api::Problem;
use crate::control;
use crate::shared::Shared;

/// The most documents that one request may add.
const MOST_AT_ONCE: usize = 100_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Addition {
    count: usize,
}

pub(crate) fn routes(shared: &Arc<Shared>) -> Router {
    Router::new()
        .route("/admin/documents", post(add_documents))
        .route("/admin/status-posts", get(status_posts))
        .route("/admin/requests", get(requests))
        .with_state(Arc::clone(shared))
}

async fn add_documents(State(shared): State<Arc<Shared>>, Json(addition): Json<Addition>) -> Result<Response, Problem> {
    if addition.count > MOST_AT_ONCE {
        return Err(Problem::bad_request(format!("At most {MOST_AT_ONCE} documents can be added at once.")));
    }
    let uuids = control::add_documents(&shared, addition.count).await?;
    Ok(Json(json!({ "uuids": uuids })).into_response())
}

async fn status_posts(State(shared): State<Arc<Shared>>) -> Json<Value> {
    let posts: Vec<Value> = shared.journal.read(|view| {
        view.status_posts()
            .map(|post| json!({"document": post.document, "success": post.success, "error": post.error, "at": post.at}))
            .collect()
    });
    Json(Value::Array(posts))
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
                        crate::Listener::Api => "api",
                        crate::Listener::Files => "files",
                        crate::Listener::App => "app",
                    },
                    "status": request.status,
                })
            })
            .collect()
    });
    Json(Value::Array(requests))
}
