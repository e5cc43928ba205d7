//! Who is calling: the bearer key of the request, and the user it belongs to.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::Problem;
use crate::scope::Scopes;
use crate::shared::Shared;
use crate::store::UserRow;

/// The signed-in user and what the credentials allow, for handlers to extract as an extension.
#[derive(Clone)]
pub(super) struct Caller {
    pub user: UserRow,
    pub scopes: Scopes,
}

/// Lets a request in that carries a known key; everything else is 401, unknown paths too.
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
    let user = shared.store.run(move |transaction| UserRow::by_key(transaction, &key)).await;
    match user {
        Ok(Some(user)) => {
            request.extensions_mut().insert(Caller { user, scopes: Scopes::all() });
            next.run(request).await
        }
        Ok(None) => Problem::Unauthorized("Invalid JWT Token").into_response(),
        Err(error) => Problem::from(error).into_response(),
    }
}

/// The credentials of a `Bearer` header; the scheme's case does not matter (RFC 9110, section 11.1).
fn bearer(value: &str) -> Option<&str> {
    let (scheme, credentials) = value.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then(|| credentials.trim_start())
        .filter(|credentials| !credentials.is_empty())
}
