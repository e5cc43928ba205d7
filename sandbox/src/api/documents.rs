//! `GET /documents` and `GET /documents/{uuid}`.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use serde_json::Value;

use super::access::Caller;
use super::query::ListRequest;
use super::{Problem, render};
use crate::quirks::ListShape;
use crate::shared::Shared;
use crate::store::DocumentRow;

pub(super) async fn list(
    State(shared): State<Arc<Shared>>,
    Extension(caller): Extension<Caller>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let shape = render::Shape::of(&shared);
    let request = ListRequest::parse(query.as_deref().unwrap_or_default(), shape.quirks())?;
    let expand_user = request.expand_user;
    let listing = request.listing(caller.user.id, shape.quirks());
    let mut rows = shared.store.run(move |transaction| listing.rows(transaction)).await?;
    if shape.quirks().lists_show == ListShape::Objects {
        for row in &mut rows {
            let size = size_of(&shared, row).await?;
            if let Some(file) = &mut row.file {
                file.size = size;
            }
        }
    }
    let mut items = Vec::with_capacity(rows.len());
    for row in &rows {
        items.push(shape.list_item(row, expand_user));
    }
    Ok(render::answer(Value::Array(items)))
}

pub(super) async fn read(
    State(shared): State<Arc<Shared>>,
    Extension(caller): Extension<Caller>,
    Path(uuid): Path<String>,
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
        .ok_or_else(|| Problem::not_found("Not Found"))?;
    if row.owner_id != caller.user.id {
        return Err(Problem::forbidden());
    }
    let size = size_of(&shared, &row).await?;
    let shape = render::Shape::of(&shared);
    Ok(render::answer(shape.full(&row, size, last.as_ref())))
}

/// The size of a document's file; a letter that nobody read yet is written for it.
pub(super) async fn size_of(shared: &Shared, row: &DocumentRow) -> Result<Option<u64>, Problem> {
    match &row.file {
        Some(file) => Ok(Some(shared.file_size(file).await?)),
        None => Ok(None),
    }
}
