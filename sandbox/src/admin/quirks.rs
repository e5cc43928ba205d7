//! `/admin/quirks`: the habits of the server.

use std::sync::{Arc, PoisonError};

use axum::extract::State;
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Map, Value};

use super::Entry;
use super::refusal::Refusal;
use super::taken::Taken;
use crate::quirks::Quirks;
use crate::shared::Shared;

pub(super) const INDEX: &[Entry] = &[
    ("GET", "/admin/quirks", "the habits in force"),
    ("PUT", "/admin/quirks", "replaces them; what is left out gets its default"),
    ("PATCH", "/admin/quirks", "changes those that are named; null means the default"),
];

pub(super) fn routes() -> Router<Arc<Shared>> {
    Router::new().route("/admin/quirks", get(show).put(replace).patch(merge))
}

async fn show(State(shared): State<Arc<Shared>>) -> Json<Quirks> {
    Json(shared.quirks())
}

async fn replace(State(shared): State<Arc<Shared>>, Taken(quirks): Taken<Quirks>) -> Json<Quirks> {
    *shared.quirks.lock().unwrap_or_else(PoisonError::into_inner) = quirks.clone();
    Json(quirks)
}

async fn merge(
    State(shared): State<Arc<Shared>>,
    Taken(changes): Taken<Map<String, Value>>,
) -> Result<Json<Quirks>, Refusal> {
    let mut quirks = shared.quirks.lock().unwrap_or_else(PoisonError::into_inner);
    *quirks = quirks.merged(&changes).map_err(Refusal::unprocessable)?;
    Ok(Json(quirks.clone()))
}
