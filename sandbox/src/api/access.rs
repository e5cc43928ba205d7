//! Who calls: the request's API key or access token, and its user.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::request_context::Caller;
use crate::error::SandboxError;
use crate::oauth::Rejected;
use crate::problem::Problem;
use crate::scope::Scopes;
use crate::shared::Shared;
use crate::store::UserRow;

/// Accepts a request with a known key or a valid access token. Any other request gets 401, even on unknown paths.
pub(super) async fn require_key(State(shared): State<Arc<Shared>>, mut request: Request, next: Next) -> Response {
    let key = request
        .headers()
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(bearer)
        .map(str::to_owned);
    let Some(key) = key else {
        return Problem::Unauthorized("JWT Token not found").into_response();
    };
    match caller(&shared, key).await {
        Ok(Ok(caller)) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Ok(Err(Rejected::Invalid)) => Problem::Unauthorized("Invalid JWT Token").into_response(),
        Ok(Err(Rejected::Expired)) => Problem::Unauthorized("Expired JWT Token").into_response(),
        Err(error) => Problem::from(error).into_response(),
    }
}

/// The user of an API key, who may do everything, or of an access token, who may use its scopes.
async fn caller(shared: &Shared, key: String) -> Result<Result<Caller, Rejected>, SandboxError> {
    let wanted = key.clone();
    if let Some(user) = shared.store.run(move |transaction| UserRow::by_key(transaction, &wanted)).await? {
        return Ok(Ok(Caller { user, scopes: Scopes::all() }));
    }
    let bearer = match shared.oauth.access_tokens.verify(&key, shared.clock.key()) {
        Ok(bearer) => bearer,
        Err(rejected) => return Ok(Err(rejected)),
    };
    let user = shared.store.run(move |transaction| UserRow::by_uuid(transaction, &bearer.user)).await?;
    Ok(user.map(|user| Caller { user, scopes: bearer.scopes }).ok_or(Rejected::Invalid))
}

/// The credentials of a `Bearer` header; the scheme's case does not matter (RFC 9110, section 11.1).
fn bearer(value: &str) -> Option<&str> {
    let (scheme, credentials) = value.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then(|| credentials.trim_start())
        .filter(|credentials| !credentials.is_empty())
}
