//! The API's routes. Each file answers for one resource of the description's "Endpoints".

mod access;
mod documents;
mod files;
mod people;
mod problem;
mod query;
mod render;
mod status;

use std::sync::Arc;

use axum::Router;
use axum::http::{Method, Uri};
use axum::routing::{get, post};

use crate::shared::Shared;

pub(crate) use problem::Problem;

/// Everything under `{base_url}`.
pub(crate) fn routes(shared: &Arc<Shared>) -> Router {
    Router::new()
        .route("/documents", get(documents::list))
        .route("/documents/{uuid}", get(documents::read))
        .route("/documents/{uuid}/status", post(status::report))
        .route("/patients/{uuid}", get(people::patient))
        .route("/users/{uuid}", get(people::user))
        .route("/me", get(people::me))
        .route("/files/{uuid}/{file_name}", get(files::with_token))
        .route("/downloads/{uuid}/{file_name}", get(files::redirect))
        .fallback(no_route)
        .method_not_allowed_fallback(wrong_method)
        .layer(axum::middleware::from_fn_with_state(Arc::clone(shared), access::require_key))
        .with_state(Arc::clone(shared))
}

/// The files origin: the same files, no token.
pub(crate) fn file_routes(shared: &Arc<Shared>) -> Router {
    Router::new()
        .route("/files/{uuid}/{file_name}", get(files::without_token))
        .fallback(no_route)
        .with_state(Arc::clone(shared))
}

async fn no_route(method: Method, uri: Uri) -> Problem {
    Problem::not_found(format!("No route found for \"{method} {}\"", uri.path()))
}

async fn wrong_method(method: Method, uri: Uri) -> Problem {
    Problem::new(405, format!("No route found for \"{method} {}\": Method Not Allowed", uri.path()))
}
