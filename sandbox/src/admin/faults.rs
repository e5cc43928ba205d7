//! `/admin/faults`: what goes wrong on demand.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde::Serialize;

use super::Entry;
use super::refusal::Refusal;
use super::taken::Taken;
use crate::fault::{Fault, FaultId, InForce};
use crate::shared::Shared;

/// The most faults in force, because every request is compared with each.
const MOST_IN_FORCE: usize = 10_000;

pub(super) const INDEX: &[Entry] = &[
    ("GET", "/admin/faults", "the faults in force, in the order in which they are tried"),
    ("POST", "/admin/faults", "puts a fault in force"),
    ("DELETE", "/admin/faults", "ends all faults"),
    ("GET", "/admin/faults/{id}", "one fault in force, with how often it hit"),
    ("DELETE", "/admin/faults/{id}", "ends one fault"),
];

/// A fault as it was given, with the `times` that are left.
#[derive(Serialize)]
struct Shown {
    id: u64,
    #[serde(flatten)]
    fault: Fault,
    hits: u64,
}

impl From<InForce> for Shown {
    fn from(active: InForce) -> Self {
        Self { id: active.id.0, fault: active.fault, hits: active.hits }
    }
}

pub(super) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/admin/faults", get(all).post(inject).delete(clear))
        .route("/admin/faults/{id}", get(one).delete(remove))
}

async fn all(State(shared): State<Arc<Shared>>) -> Json<Vec<Shown>> {
    Json(shared.faults.all().into_iter().map(Shown::from).collect())
}

async fn inject(State(shared): State<Arc<Shared>>, Taken(fault): Taken<Fault>) -> Result<Response, Refusal> {
    if shared.faults.all().len() >= MOST_IN_FORCE {
        return Err(Refusal::unprocessable(format!("{MOST_IN_FORCE} faults are in force already; end some first")));
    }
    let id = shared.faults.inject(fault.clone());
    let place = [(header::LOCATION, format!("/admin/faults/{}", id.0))];
    Ok((StatusCode::CREATED, place, Json(Shown { id: id.0, fault, hits: 0 })).into_response())
}

async fn clear(State(shared): State<Arc<Shared>>) -> StatusCode {
    shared.faults.clear();
    StatusCode::NO_CONTENT
}

async fn one(State(shared): State<Arc<Shared>>, Path(id): Path<String>) -> Result<Json<Shown>, Refusal> {
    let found = number(&id).and_then(|id| shared.faults.get(id));
    found.map(|active| Json(active.into())).ok_or_else(|| unknown(&id))
}

async fn remove(State(shared): State<Arc<Shared>>, Path(id): Path<String>) -> Result<StatusCode, Refusal> {
    let removed = number(&id).is_some_and(|id| shared.faults.remove(id));
    if removed { Ok(StatusCode::NO_CONTENT) } else { Err(unknown(&id)) }
}

fn number(id: &str) -> Option<FaultId> {
    id.parse().ok().map(FaultId)
}

fn unknown(id: &str) -> Refusal {
    Refusal::not_found(format!("no fault {id} is in force: it was used up, ended, or never there"))
}
