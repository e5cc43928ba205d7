//! `GET /organizations` and `GET /organizations/{uuid}`: the signed-in user's practice.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;

use super::render::Shape;
use super::request_context::{PathParams, RequestContext};
use crate::problem::Problem;
use crate::shared::Shared;
use crate::store::OrganizationRow;
use crate::store::collection::ORGANIZATIONS;

pub(super) async fn list(State(shared): State<Arc<Shared>>, context: RequestContext) -> Result<Response, Problem> {
    let show = |shape: &Shape, row: &OrganizationRow| shape.known_by_all(row.record.clone());
    context.list(&shared, &ORGANIZATIONS, OrganizationRow::by_id, show).await
}

pub(super) async fn read(
    State(shared): State<Arc<Shared>>,
    PathParams(uuid): PathParams<String>,
    context: RequestContext,
) -> Result<Response, Problem> {
    let found = shared.store.run(move |transaction| OrganizationRow::by_uuid(transaction, &uuid)).await?;
    let row = found.ok_or_else(Problem::nothing_here)?;
    if row.id != context.user.organization_id {
        return Err(Problem::forbidden());
    }
    Ok(context.item(context.shape(&shared).known_by_all(row.record)))
}
