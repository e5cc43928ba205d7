//! `/admin/audios`: recordings and their way through the workflow.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Entry;
use super::refusal::Refusal;
use super::taken::{Invented, Taken, known_members, understood};
use crate::describe::records::PATIENT;
use crate::new_audio::NewAudio;
use crate::shared::Shared;
use crate::workflow;

/// The most audios that one request may record.
const MOST_AT_ONCE: usize = 10_000;

pub(super) const INDEX: &[Entry] = &[
    ("POST", "/admin/audios", "records audios: a count of invented ones, or one dictated"),
    ("DELETE", "/admin/audios/{uuid}", "deletes an audio"),
    ("POST", "/admin/audios/{uuid}/advance", "moves an audio to its next step"),
    ("POST", "/admin/audios/{uuid}/fail", "lets its workflow fail"),
    ("POST", "/admin/audios/{uuid}/archived", "puts an audio into the archive, or takes it out"),
];

pub(super) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/admin/audios", post(record))
        .route("/admin/audios/{uuid}", delete(remove))
        .route("/admin/audios/{uuid}/advance", post(advance))
        .route("/admin/audios/{uuid}/fail", post(fail))
        .route("/admin/audios/{uuid}/archived", post(archive))
}

async fn record(
    State(shared): State<Arc<Shared>>,
    Taken(wish): Taken<Map<String, Value>>,
) -> Result<Response, Refusal> {
    let uuids = if wish.contains_key("count") {
        let Invented { count } = understood(wish)?;
        if count > MOST_AT_ONCE {
            return Err(Refusal::unprocessable(format!("At most {MOST_AT_ONCE} audios can be recorded at once.")));
        }
        workflow::record_invented(&shared, count).await?
    } else {
        let wish: NewAudio = understood(wish)?;
        if let Some(Value::Object(patient)) = &wish.patient {
            known_members("patient.", patient, &PATIENT)?;
        }
        vec![workflow::record(&shared, wish).await?]
    };
    Ok((StatusCode::CREATED, Json(json!({ "uuids": uuids }))).into_response())
}

async fn advance(State(shared): State<Arc<Shared>>, Path(uuid): Path<String>) -> Result<Json<Value>, Refusal> {
    let step = workflow::advance(&shared, &uuid).await?;
    Ok(Json(json!({"uuid": uuid, "audioWorkflowStepV3": step})))
}

async fn fail(State(shared): State<Arc<Shared>>, Path(uuid): Path<String>) -> Result<Json<Value>, Refusal> {
    let step = workflow::fail(&shared, &uuid).await?;
    Ok(Json(json!({"uuid": uuid, "audioWorkflowStepV3": step})))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Archival {
    archived: bool,
}

async fn archive(
    State(shared): State<Arc<Shared>>,
    Path(uuid): Path<String>,
    Taken(Archival { archived }): Taken<Archival>,
) -> Result<Json<Value>, Refusal> {
    workflow::archive(&shared, &uuid, archived).await?;
    Ok(Json(json!({"uuid": uuid, "archived": archived})))
}

async fn remove(State(shared): State<Arc<Shared>>, Path(uuid): Path<String>) -> Result<StatusCode, Refusal> {
    workflow::remove(&shared, &uuid).await?;
    Ok(StatusCode::NO_CONTENT)
}
