//! A surface for the person who runs the sandbox: documents, faults, habits, time, and what was seen.
//!
//! It listens on an address of its own and has no authentication, so `guard` keeps web pages out. It speaks JSON; every
//! error is `{"error": "..."}` for a person. It is no part of the API that the sandbox imitates.
//!
//! Each file answers for one subject with a `routes()` and an `INDEX` of them.

mod audios;
mod clock;
mod deliveries;
mod documents;
mod faults;
mod guard;
mod people;
mod quirks;
mod refusal;
mod seen;
mod taken;

use std::sync::Arc;

use axum::extract::DefaultBodyLimit;
use axum::http::{Method, Uri};
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};

use crate::shared::Shared;
use refusal::Refusal;

/// The largest body in bytes, unless a route says otherwise.
const BODY_LIMIT: usize = 1024 * 1024;

/// The methods, the path, and the purpose.
type Entry = (&'static str, &'static str, &'static str);

/// All entries, by subject.
const INDEX: &[&[Entry]] = &[
    documents::INDEX,
    faults::INDEX,
    quirks::INDEX,
    clock::INDEX,
    seen::INDEX,
    people::INDEX,
    audios::INDEX,
    deliveries::INDEX,
];

pub(crate) fn routes(shared: &Arc<Shared>) -> Router {
    Router::new()
        .route("/admin", get(index))
        .merge(documents::routes())
        .merge(faults::routes())
        .merge(quirks::routes())
        .merge(clock::routes())
        .merge(seen::routes())
        .merge(audios::routes())
        .merge(deliveries::routes())
        .merge(people::routes())
        .fallback(no_route)
        .method_not_allowed_fallback(wrong_method)
        .layer(DefaultBodyLimit::max(BODY_LIMIT))
        .layer(axum::middleware::from_fn(guard::keep_web_pages_out))
        .with_state(Arc::clone(shared))
}

/// `GET /admin`
async fn index() -> Json<Value> {
    let entries = INDEX.iter().flat_map(|subject| subject.iter());
    Json(entries.map(|(method, path, what)| json!({"method": method, "path": path, "what": what})).collect())
}

async fn no_route(method: Method, uri: Uri) -> Refusal {
    Refusal::not_found(format!("there is no {method} {}; GET /admin lists what there is", uri.path()))
}

async fn wrong_method(method: Method, uri: Uri) -> Refusal {
    Refusal::new(405, format!("{} does not take {method}; GET /admin lists what there is", uri.path()))
}
