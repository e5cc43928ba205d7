//! What needs no token: the OpenAPI description, Hydra's documentation, the contexts of JSON-LD, the kinds of errors,
//! and the entrypoint.

use std::sync::Arc;

use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde_json::Value;
use url::form_urlencoded;

use super::request_context::{self, PathParams, wrong_method};
use crate::describe::{self, Served};
use crate::docs;
use crate::problem::Problem;
use crate::shared::Shared;

pub(super) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/", get(root))
        .route("/index.jsonld", get(entrypoint))
        .route("/docs.jsonld", get(documentation))
        .route("/openapi.json", get(openapi))
        .route("/contexts/{resource}", get(context))
        .route("/errors/{status}", get(kind_of_error))
        .method_not_allowed_fallback(wrong_method)
}

/// Tells every client where Hydra's documentation is.
pub(super) async fn link_to_documentation(State(shared): State<Arc<Shared>>, mut response: Response) -> Response {
    let link = format!("<{}/docs.jsonld>; rel=\"{}\"", shared.api_url(), describe::API_DOCUMENTATION);
    if let Ok(link) = HeaderValue::from_str(&link) {
        response.headers_mut().append(header::LINK, link);
    }
    response
}

/// For a browser, where to look. For other clients, the entrypoint, like the family's answer without a preference.
async fn root(shared: State<Arc<Shared>>, headers: HeaderMap) -> Result<Response, Problem> {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if accept.to_ascii_lowercase().contains("text/") {
        return Ok(docs::ROOT.into_response());
    }
    entrypoint(shared, headers).await
}

async fn entrypoint(State(shared): State<Arc<Shared>>, headers: HeaderMap) -> Result<Response, Problem> {
    let version = request_context::version(&headers, shared.api_version)?;
    Ok(json(&describe::entrypoint(version), "application/ld+json"))
}

async fn documentation(State(shared): State<Arc<Shared>>, headers: HeaderMap) -> Result<Response, Problem> {
    let version = request_context::version(&headers, shared.api_version)?;
    Ok(json(&describe::documentation(version, &shared.api_url()), "application/ld+json"))
}

/// A browser cannot send the version's header, so a parameter can give it, too.
async fn openapi(
    State(shared): State<Arc<Shared>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let query = query.unwrap_or_default();
    let parameter = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "version");
    let parameter = parameter.map(|(_, text)| text.into_owned());
    let version = match &parameter {
        Some(text) => text.parse().map_err(Problem::bad_request)?,
        None => request_context::version(&headers, shared.api_version)?,
    };
    let header = headers.get(&request_context::VERSION_HEADER);
    let header = header.map(|value| String::from_utf8_lossy(value.as_bytes()).trim().to_owned());
    let api = shared.api_url();
    let served = Served {
        label: parameter.or(header).unwrap_or_else(|| version.described_as().to_owned()),
        authorize: format!("{api}/oauth/authorize"),
        token: format!("{api}/oauth2/token"),
        usual: shared.api_version,
        api,
    };
    Ok(json(&describe::openapi(version, &served), "application/json"))
}

async fn context(
    State(shared): State<Arc<Shared>>,
    PathParams(resource): PathParams<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let version = request_context::version(&headers, shared.api_version)?;
    let context = describe::context(&resource, version, &shared.api_url()).ok_or_else(Problem::nothing_here)?;
    Ok(json(&context, "application/ld+json"))
}

/// What the `type` of an error leads to: the kind of the error, not the single error.
async fn kind_of_error(PathParams(status): PathParams<String>) -> Result<Response, Problem> {
    let status = status.parse().ok().and_then(|code: u16| StatusCode::from_u16(code).ok());
    let kind = status.filter(|status| status.is_client_error() || status.is_server_error());
    let reason = kind.and_then(|kind| kind.canonical_reason().map(|reason| (kind, reason)));
    let (kind, reason) = reason.ok_or_else(Problem::nothing_here)?;
    Ok(json(&Problem::kind(kind.as_u16(), reason), "application/ld+json; charset=utf-8"))
}

fn json(body: &Value, media_type: &'static str) -> Response {
    // Pages of other origins may read the description, which contains nothing about anybody.
    let headers = [(header::CONTENT_TYPE, media_type), (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*")];
    (headers, body.to_string()).into_response()
}
