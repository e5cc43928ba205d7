//! The API's routes. Each file answers for one resource of the description's "Endpoints".

mod about;
mod access;
mod audios;
mod documents;
mod files;
mod input;
mod notes;
mod organizations;
mod people;
mod query;
mod records;
mod render;
mod reply;
mod request_context;
mod shift;
mod status;
mod webhooks;

use std::sync::Arc;

use axum::Router;
use axum::http::{Method, Uri};
use axum::routing::{get, post};

use crate::oauth;
use crate::problem::Problem;
use crate::shared::Shared;

use request_context::wrong_method;

/// Everything under `{base_url}`. Everything but the descriptions and the token endpoint needs a token.
pub(crate) fn routes(shared: &Arc<Shared>) -> Router {
    Router::new()
        .route("/audios", get(audios::list))
        .route("/audios/{uuid}", get(audios::read))
        .route("/contacts", get(records::list).post(records::create))
        .route("/contacts/{uuid}", get(records::read).patch(records::change))
        .route("/documents", get(documents::list))
        .route("/documents/{uuid}", get(documents::read))
        .route("/documents/{uuid}/status", post(status::report))
        .route("/me", get(people::me))
        .route("/notes", get(notes::list))
        .route("/notes/{uuid}", get(notes::read))
        .route("/organizations", get(organizations::list))
        .route("/organizations/{uuid}", get(organizations::read))
        .route("/patients", get(records::list).post(records::create))
        .route("/patients/{uuid}", get(records::read).patch(records::change))
        .route("/users/{uuid}", get(people::user))
        .route("/webhooks", get(webhooks::list).post(webhooks::create))
        .route("/webhooks/{uuid}", get(webhooks::read).patch(webhooks::change).delete(webhooks::delete))
        .route("/files/{uuid}/{file_name}", get(files::with_token))
        .route("/downloads/{uuid}/{file_name}", get(files::redirect))
        .fallback(no_route)
        .method_not_allowed_fallback(wrong_method)
        .layer(axum::middleware::from_fn_with_state(Arc::clone(shared), access::require_key))
        .merge(about::routes())
        .layer(axum::middleware::map_response_with_state(Arc::clone(shared), about::link_to_documentation))
        .merge(crate::docs::routes())
        .merge(oauth::token_routes().method_not_allowed_fallback(wrong_method))
        .with_state(Arc::clone(shared))
        .merge(page_routes(shared))
}

/// The page on which a person signs in.
pub(crate) fn page_routes(shared: &Arc<Shared>) -> Router {
    oauth::page_routes().method_not_allowed_fallback(wrong_method).with_state(Arc::clone(shared))
}

/// The files origin: the same files, no token.
pub(crate) fn file_routes(shared: &Arc<Shared>) -> Router {
    Router::new()
        .route("/files/{uuid}/{file_name}", get(files::without_token))
        .fallback(no_route)
        .method_not_allowed_fallback(wrong_method)
        .with_state(Arc::clone(shared))
}

async fn no_route(method: Method, uri: Uri) -> Problem {
    Problem::no_route(&method, &uri)
}
