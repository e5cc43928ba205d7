//! `POST /oauth2/token`: a JSON body in, tokens or an error out ("Token request and response", "Token endpoint
//! errors").

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::grants::{self, CodeExchange};
use super::secret::same;
use super::{Client, TokenPair};
use crate::error::SandboxError;
use crate::quirks::Quirks;
use crate::shared::Shared;

/// Tokens must not stay in any cache (RFC 6749, section 5.1).
const UNCACHED: [(header::HeaderName, &str); 2] = [(header::CACHE_CONTROL, "no-store"), (header::PRAGMA, "no-cache")];

/// Why no tokens were given. The description shows three of these errors without a status; the statuses are those of
/// RFC 6749, section 5.2.
#[derive(Debug)]
pub(super) struct TokenError {
    status: StatusCode,
    error: &'static str,
    description: String,
}

impl TokenError {
    pub fn request(description: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, error: "invalid_request", description: description.into() }
    }

    pub fn grant(description: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, error: "invalid_grant", description: description.into() }
    }

    /// Does not say which half of the pair is wrong.
    fn client() -> Self {
        Self {
            status: StatusCode::UNAUTHORIZED,
            error: "invalid_client",
            description: "client_id or client_secret is wrong.".to_owned(),
        }
    }

    fn unsupported(grant_type: &str) -> Self {
        Self {
            status: StatusCode::BAD_REQUEST,
            error: "unsupported_grant_type",
            description: format!(
                "grant_type must be \"authorization_code\" or \"refresh_token\", not \"{}\".",
                grant_type.escape_debug()
            ),
        }
    }
}

impl From<SandboxError> for TokenError {
    fn from(error: SandboxError) -> Self {
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        Self { status, error: "server_error", description: error.to_string() }
    }
}

impl IntoResponse for TokenError {
    fn into_response(self) -> Response {
        let body = json!({"error": self.error, "error_description": self.description});
        (self.status, UNCACHED, axum::Json(body)).into_response()
    }
}

impl IntoResponse for TokenPair {
    fn into_response(self) -> Response {
        let mut body = json!({
            "token_type": "Bearer",
            "expires_in": self.expires_in.as_secs(),
            "access_token": self.access_token,
            "refresh_token": self.refresh_token,
        });
        if let (Some(scope), Some(members)) = (self.narrowed_to, body.as_object_mut()) {
            members.insert("scope".to_owned(), scope.into());
        }
        (UNCACHED, axum::Json(body)).into_response()
    }
}

pub(super) async fn exchange(
    State(shared): State<Arc<Shared>>,
    Extension(quirks): Extension<Arc<Quirks>>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<TokenPair, TokenError> {
    let body = body.map_err(|rejection| TokenError::request(rejection.body_text()))?;
    let fields = Fields::parse(&headers, &body)?;
    match fields.required("grant_type")? {
        "authorization_code" => {
            let [code, redirect_uri, client_id, client_secret] =
                fields.all_required(["code", "redirect_uri", "client_id", "client_secret"])?;
            let client = authenticate(&shared, client_id, client_secret)?;
            let code_verifier = fields.optional("code_verifier")?.map(str::to_owned);
            let exchange = CodeExchange { code: code.to_owned(), redirect_uri: redirect_uri.to_owned(), code_verifier };
            grants::redeem_code(&shared, &quirks, client, exchange).await
        }
        "refresh_token" => {
            let [refresh_token, client_id, client_secret] =
                fields.all_required(["refresh_token", "client_id", "client_secret"])?;
            let client = authenticate(&shared, client_id, client_secret)?;
            grants::refresh(&shared, &quirks, client, refresh_token).await
        }
        other => Err(TokenError::unsupported(other)),
    }
}

fn authenticate<'a>(shared: &'a Shared, client_id: &str, client_secret: &str) -> Result<&'a Client, TokenError> {
    let client = shared.oauth.client(client_id).ok_or_else(TokenError::client)?;
    if same(&client.client_secret, client_secret) { Ok(client) } else { Err(TokenError::client()) }
}

/// The members of the body. Unknown ones are ignored (RFC 6749, section 3.2).
struct Fields(Map<String, Value>);

impl Fields {
    fn parse(headers: &HeaderMap, body: &[u8]) -> Result<Self, TokenError> {
        let must_be_json = "The body must be JSON, with Content-Type: application/json.";
        let media_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let essence = media_type.split(';').next().unwrap_or_default().trim();
        if !essence.eq_ignore_ascii_case("application/json") {
            let sent = if essence.is_empty() { "none".to_owned() } else { essence.escape_debug().to_string() };
            return Err(TokenError::request(format!("{must_be_json} The Content-Type sent: {sent}.")));
        }
        match serde_json::from_slice(body) {
            Ok(Value::Object(members)) => Ok(Self(members)),
            Ok(_) => Err(TokenError::request("The body must be a JSON object.")),
            Err(error) => Err(TokenError::request(format!("{must_be_json} What was sent is none: {error}."))),
        }
    }

    /// A field without a value counts as missing (RFC 6749, section 3.2).
    fn optional(&self, name: &str) -> Result<Option<&str>, TokenError> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.as_str()).filter(|text| !text.is_empty())),
            Some(_) => Err(TokenError::request(format!("{name} must be a string."))),
        }
    }

    fn required(&self, name: &str) -> Result<&str, TokenError> {
        self.all_required([name]).map(|[value]| value)
    }

    /// These fields, or an error that names all missing ones.
    fn all_required<const N: usize>(&self, names: [&str; N]) -> Result<[&str; N], TokenError> {
        let mut values = [""; N];
        let mut missing = Vec::new();
        for (name, value) in names.iter().zip(values.iter_mut()) {
            match self.optional(name)? {
                Some(text) => *value = text,
                None => missing.push(*name),
            }
        }
        match missing.as_slice() {
            [] => Ok(values),
            [one] => Err(TokenError::request(format!("Missing parameter: {one}."))),
            several => Err(TokenError::request(format!("Missing parameters: {}.", several.join(", ")))),
        }
    }
}
