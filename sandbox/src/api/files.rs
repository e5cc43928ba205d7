//! A PDF's content.
//!
//! On the API's origin a file needs the bearer token. On the files origin it needs none, as in storage behind
//! unguessable addresses. The journal records whether a client sent the token there nevertheless.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::render;
use super::request_context::{Caller, PathParams};
use crate::problem::Problem;
use crate::quirks::{PdfUrl, Quirks, RedirectTarget};
use crate::shared::Shared;
use crate::store::FileRow;

/// The scopes that a token needs for a file: those of the document.
const SCOPES: &[&str] = &["read:documents"];

pub(super) async fn with_token(
    State(shared): State<Arc<Shared>>,
    Extension(caller): Extension<Caller>,
    PathParams((uuid, file_name)): PathParams<(String, String)>,
) -> Result<Response, Problem> {
    if shared.enforce_scopes && !caller.scopes.allow(SCOPES) {
        return Err(Problem::missing_scope(SCOPES));
    }
    serve(&shared, uuid, file_name, Some(&caller)).await
}

pub(super) async fn without_token(
    State(shared): State<Arc<Shared>>,
    Extension(quirks): Extension<Arc<Quirks>>,
    PathParams((uuid, file_name)): PathParams<(String, String)>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let wanted = quirks.pdf_url_expires.is_some();
    if let Err(refused) = shared.signer.check(&uuid, &file_name, query.as_deref(), shared.clock.key(), wanted) {
        return Ok(refused.into_response());
    }
    serve(&shared, uuid, file_name, None).await
}

/// What `pdf.url` leads to under [`PdfUrl::Redirect`].
pub(super) async fn redirect(
    State(shared): State<Arc<Shared>>,
    Extension(quirks): Extension<Arc<Quirks>>,
    PathParams((uuid, file_name)): PathParams<(String, String)>,
) -> Response {
    let elsewhere = quirks.pdf_url == PdfUrl::Redirect(RedirectTarget::CrossOrigin);
    let origin = if elsewhere { shared.files_url() } else { shared.api_url() };
    let mut address = render::file_address(&origin, "files", &uuid, &file_name);
    if let Some(lifetime) = quirks.pdf_url_expires.filter(|_| elsewhere) {
        let query = shared.signer.query(&uuid, &file_name, shared.clock.key(), lifetime);
        address.push_str(&format!("?{query}"));
    }
    (StatusCode::FOUND, [(header::LOCATION, address)]).into_response()
}

async fn serve(shared: &Shared, uuid: String, file_name: String, caller: Option<&Caller>) -> Result<Response, Problem> {
    let wanted = uuid.clone();
    let owner = shared
        .store
        .run(move |transaction| FileRow::owner(transaction, &wanted))
        .await?
        .filter(|owner| owner.file_name == file_name)
        .ok_or_else(Problem::nothing_here)?;
    if caller.is_some_and(|caller| caller.user.id != owner.owner_id) {
        return Err(Problem::forbidden());
    }
    let bytes = shared.file_bytes(&uuid).await?.ok_or_else(Problem::nothing_here)?;
    let headers =
        [(header::CONTENT_TYPE, "application/pdf".to_owned()), (header::CONTENT_LENGTH, bytes.len().to_string())];
    Ok((headers, bytes).into_response())
}
