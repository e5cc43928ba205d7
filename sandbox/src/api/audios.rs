//! `GET /audios` and `GET /audios/{uuid}`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use rusqlite::Transaction;

use super::query::ListRequest;
use super::request_context::{PathParams, RequestContext};
use crate::problem::Problem;
use crate::shared::Shared;
use crate::store::collection::AUDIOS;
use crate::store::{AudioRow, DocumentRow};

pub(super) async fn list(State(shared): State<Arc<Shared>>, context: RequestContext) -> Result<Response, Problem> {
    let request = ListRequest::parse(&context, &AUDIOS)?;
    let (read, list) = (request.expands("patient.read"), request.expands("patient.list"));
    let load = move |transaction: &Transaction<'_>, id| {
        let row = AudioRow::by_id(transaction, id)?;
        let patient = if read || list { row.patient(transaction)? } else { None };
        Ok((row, patient))
    };
    let page = shared.store.run(move |transaction| request.read(transaction, load)).await?;
    let shape = context.shape(&shared);
    // A request for both shapes gets the fuller one.
    let shown = page.rows.iter().map(|(row, patient)| shape.audio_item(row, patient.as_ref(), read)).collect();
    Ok(context.page(&page, shown))
}

pub(super) async fn read(
    State(shared): State<Arc<Shared>>,
    PathParams(uuid): PathParams<String>,
    context: RequestContext,
) -> Result<Response, Problem> {
    let (row, patient, documents, images) = shared
        .store
        .run(move |transaction| {
            let Some(row) = AudioRow::by_uuid(transaction, &uuid)? else {
                return Ok(None);
            };
            let patient = row.patient(transaction)?;
            let documents: Vec<DocumentRow> = row
                .document_ids(transaction)?
                .into_iter()
                .map(|id| DocumentRow::by_id(transaction, id))
                .collect::<Result<_, _>>()?;
            let images = row.images(transaction)?;
            Ok(Some((row, patient, documents, images)))
        })
        .await?
        .ok_or_else(Problem::nothing_here)?;
    if row.owner_id != context.user.id {
        return Err(Problem::forbidden());
    }
    Ok(context.item(context.shape(&shared).audio(&row, patient.as_ref(), &documents, &images)))
}
