//! `GET /notes` and `GET /notes/{uuid}`, since version 1.1.0.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;

use super::render::Shape;
use super::request_context::{PathParams, RequestContext};
use crate::problem::Problem;
use crate::shared::Shared;
use crate::store::NoteRow;
use crate::store::collection::NOTES;

pub(super) async fn list(State(shared): State<Arc<Shared>>, context: RequestContext) -> Result<Response, Problem> {
    context.list(&shared, &NOTES, NoteRow::by_id, Shape::note_item).await
}

pub(super) async fn read(
    State(shared): State<Arc<Shared>>,
    PathParams(uuid): PathParams<String>,
    context: RequestContext,
) -> Result<Response, Problem> {
    let (row, patient) = shared
        .store
        .run(move |transaction| {
            let Some(row) = NoteRow::by_uuid(transaction, &uuid)? else {
                return Ok(None);
            };
            let patient = row.patient(transaction)?;
            Ok(Some((row, patient)))
        })
        .await?
        .ok_or_else(Problem::nothing_here)?;
    if row.owner_id != context.user.id {
        return Err(Problem::forbidden());
    }
    Ok(context.item(context.shape(&shared).note(&row, patient.as_ref())))
}
