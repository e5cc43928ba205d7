//! `GET /documents` and `GET /documents/{uuid}`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;

use super::query::ListRequest;
use super::request_context::{PathParams, RequestContext};
use crate::problem::Problem;
use crate::quirks::ListShape;
use crate::shared::Shared;
use crate::store::DocumentRow;
use crate::store::collection::DOCUMENTS;

pub(super) async fn list(State(shared): State<Arc<Shared>>, context: RequestContext) -> Result<Response, Problem> {
    let request = ListRequest::parse(&context, &DOCUMENTS)?;
    let expand_user = request.expands("user.read");
    let mut page = shared.store.run(move |transaction| request.read(transaction, DocumentRow::by_id)).await?;
    if context.quirks.lists_show == ListShape::Objects {
        for row in &mut page.rows {
            let size = size_of(&shared, row).await?;
            if let Some(file) = &mut row.file {
                file.size = size;
            }
        }
    }
    let shape = context.shape(&shared);
    let shown = page.rows.iter().map(|row| shape.document_item(row, expand_user)).collect();
    Ok(context.page(&page, shown))
}

pub(super) async fn read(
    State(shared): State<Arc<Shared>>,
    PathParams(uuid): PathParams<String>,
    context: RequestContext,
) -> Result<Response, Problem> {
    let (row, last) = shared
        .store
        .run(move |transaction| {
            let Some(row) = DocumentRow::by_uuid(transaction, &uuid)? else {
                return Ok(None);
            };
            let last = row.last_status(transaction)?;
            Ok(Some((row, last)))
        })
        .await?
        .ok_or_else(Problem::nothing_here)?;
    if row.owner_id != context.user.id {
        return Err(Problem::forbidden());
    }
    let size = size_of(&shared, &row).await?;
    Ok(context.item(context.shape(&shared).document(&row, size, last.as_ref())))
}

/// The size of a document's file. Writes the letter if nobody has read it yet.
pub(super) async fn size_of(shared: &Shared, row: &DocumentRow) -> Result<Option<u64>, Problem> {
    match &row.file {
        Some(file) => Ok(Some(shared.file_size(file).await?)),
        None => Ok(None),
    }
}
