//! `POST {base_url}/oauth2/token`: exchanges a code or a refresh token for new tokens (API, "Token request and
//! response").
//!
//! The body holds secrets, so it goes only to this address and follows no redirect. Messages never hold the server's
//! text, which may quote the request.

use std::time::{Duration, SystemTime};

use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Map, Value, json};
use thiserror::Error;

use super::secret::{CredentialError, client_secret, is_plausible};
use super::tokens::Tokens;
use crate::api::transport::{TokenAnswer, Transport};
use crate::api::{ApiError, json as wire};
use crate::config::OAuthConfig;

/// The lifetime if `expires_in` is missing: the shorter one of the API's examples.
const USUAL_LIFETIME: Duration = Duration::from_secs(3600);
/// docsyncd lets no access token live longer, whatever the server says.
pub(super) const LONGEST_LIFETIME: Duration = Duration::from_secs(366 * 24 * 3600);
/// The longest answer that is read; bytes.
const MAX_ANSWER_BYTES: usize = 64 * 1024;
/// The most scopes that are kept from an answer; the API describes about fifty.
const MAX_SCOPES: usize = 100;
/// The longest scope that is kept; bytes.
const MAX_SCOPE_BYTES: usize = 100;
/// Errors of a token endpoint that only a person can resolve (RFC 6749, sections 4.1.2.1 and 5.2).
const REFUSALS: [&str; 7] = [
    "invalid_grant",
    "invalid_client",
    "invalid_request",
    "invalid_scope",
    "unauthorized_client",
    "unsupported_grant_type",
    "access_denied",
];

/// Why there are no new tokens.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum TokenError {
    /// The server understood the request and refuses.
    #[error("the API refuses it: {error}")]
    Refused {
        /// An error code of RFC 6749: `invalid_grant`, `invalid_client`, …
        error: String,
    },
    /// There was no answer, or none from a token endpoint. A later attempt may succeed.
    #[error(transparent)]
    Network(ApiError),
    /// The client secret cannot be used.
    #[error(transparent)]
    Secret(#[from] CredentialError),
    /// A success with a body that docsyncd does not understand.
    #[error("the answer of the API's token endpoint cannot be understood: {0}")]
    Shape(String),
}

impl TokenError {
    /// Whether the server may have used up the code or the refresh token although no tokens came back.
    pub(super) fn is_reply_lost(&self) -> bool {
        match self {
            TokenError::Network(ApiError::Unreachable { .. } | ApiError::Insecure(_) | ApiError::Redirect(_)) => false,
            // A gateway may answer 5xx in the server's place. With a 4xx the server did not use it up.
            TokenError::Network(ApiError::Status { status, .. }) => *status >= 500,
            TokenError::Network(_) | TokenError::Shape(_) => true,
            TokenError::Refused { .. } | TokenError::Secret(_) => false,
        }
    }

    /// Whether the request was sent and the connection, or a gateway's, ended before the answer came. Nobody asked for
    /// a pause, so one repetition may follow at once.
    pub(super) fn is_broken_off(&self) -> bool {
        matches!(
            self,
            TokenError::Network(ApiError::BrokenOff { .. } | ApiError::Status { status: 502 | 504, retry_after: None })
        )
    }
}

/// The authorization page's code, with what the request to the page contained.
pub struct CodeExchange<'a> {
    /// The authorization code: valid once, for 60 seconds.
    pub code: &'a str,
    /// The redirect address in the request to the page.
    pub redirect_uri: &'a str,
    /// The secret behind the challenge in the request to the page (RFC 7636).
    pub code_verifier: &'a str,
}

/// Exchanges a code for the first tokens.
///
/// # Errors
/// [`TokenError`] if there are no tokens.
pub async fn exchange(
    transport: &Transport,
    account: &str,
    oauth: &OAuthConfig,
    exchange: &CodeExchange<'_>,
) -> Result<Tokens, TokenError> {
    let request = json!({
        "grant_type": "authorization_code",
        "code": exchange.code,
        "redirect_uri": exchange.redirect_uri,
        "code_verifier": exchange.code_verifier,
        "client_id": oauth.client_id,
        "client_secret": secret(account, oauth).await?.expose_secret(),
    });
    let mut tokens = ask(transport, &request, None).await?;
    if tokens.scopes.is_empty() {
        tokens.scopes.clone_from(&oauth.scopes);
    }
    Ok(tokens)
}

/// Exchanges a refresh token for the next tokens. `scopes` is empty if the server does not mention them, and `user` is
/// always `None`: both stay as they were.
///
/// # Errors
/// [`TokenError`] if there are no tokens.
pub async fn refresh(
    transport: &Transport,
    account: &str,
    oauth: &OAuthConfig,
    refresh_token: &SecretString,
) -> Result<Tokens, TokenError> {
    let request = json!({
        "grant_type": "refresh_token",
        "refresh_token": refresh_token.expose_secret(),
        "client_id": oauth.client_id,
        "client_secret": secret(account, oauth).await?.expose_secret(),
    });
    ask(transport, &request, Some(refresh_token)).await
}

/// The client secret, read on a thread that may block on the disk.
async fn secret(account: &str, oauth: &OAuthConfig) -> Result<SecretString, CredentialError> {
    let (name, oauth) = (account.to_owned(), oauth.clone());
    let read = tokio::task::spawn_blocking(move || client_secret(&name, &oauth)).await;
    read.unwrap_or_else(|error| {
        Err(CredentialError { account: account.to_owned(), what: format!("internal error: {error}") })
    })
}

async fn ask(transport: &Transport, request: &Value, old: Option<&SecretString>) -> Result<Tokens, TokenError> {
    let url = transport.endpoint(&["oauth2", "token"]);
    // The time before the request, since the token's lifetime at the server begins later.
    let asked_at = SystemTime::now();
    let call = transport.post_once(&url, request.to_string().into_bytes(), MAX_ANSWER_BYTES);
    let answer = transport.in_time(&url, call).await.map_err(TokenError::Network)?;
    understand(&answer, asked_at, old)
}

/// Interprets an answer of the token endpoint. `old` is the refresh token that was sent, if one was.
///
/// # Errors
/// [`TokenError`] if the answer holds no tokens; in docsyncd's own words.
pub fn understand(
    answer: &TokenAnswer,
    asked_at: SystemTime,
    old: Option<&SecretString>,
) -> Result<Tokens, TokenError> {
    let body = match wire::parse(&answer.body) {
        Ok(Value::Object(body)) => Some(body),
        _ => None,
    };
    // The `error` field decides, since the API does not document the status that comes with it.
    let error = body.as_ref().and_then(|body| body.get("error")).and_then(Value::as_str);
    if let Some(refusal) = REFUSALS.into_iter().find(|word| error == Some(*word)) {
        return Err(TokenError::Refused { error: refusal.to_owned() });
    }
    match (answer.status, body) {
        (200..=299, Some(body)) => tokens(&body, asked_at, old).map_err(TokenError::Shape),
        (200..=299, None) => Err(TokenError::Network(ApiError::Shape(
            "its token endpoint did not answer with JSON (a proxy's page?)".to_owned(),
        ))),
        (401, _) => Err(TokenError::Refused { error: "invalid_client".to_owned() }),
        (300..=399, _) => {
            Err(TokenError::Network(ApiError::Redirect("the token endpoint must not lead on".to_owned())))
        }
        (status, _) => Err(TokenError::Network(ApiError::Status { status, retry_after: answer.retry_after })),
    }
}

fn tokens(body: &Map<String, Value>, obtained_at: SystemTime, old: Option<&SecretString>) -> Result<Tokens, String> {
    if let Some(kind) = body.get("token_type").and_then(Value::as_str)
        && !kind.eq_ignore_ascii_case("bearer")
    {
        return Err("its token_type is not Bearer".to_owned());
    }
    let token = |name: &str| match body.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.is_empty() => Ok(None),
        Some(Value::String(text)) if is_plausible(text) => Ok(Some(SecretString::from(text.as_str()))),
        Some(_) => Err(format!("its {name} cannot be a token")),
    };
    let seconds = body.get("expires_in").and_then(|value| match value {
        // A fraction is cut off.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates; a NaN becomes 0")]
        Value::Number(number) => number.as_u64().or_else(|| number.as_f64().map(|number| number as u64)),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    });
    Ok(Tokens {
        access_token: token("access_token")?.ok_or("it has no access_token")?,
        // Without a new refresh token the old one stays valid (RFC 6749, section 6).
        refresh_token: token("refresh_token")?.or_else(|| old.cloned()).ok_or("it has no refresh_token")?,
        expires_in: seconds.map_or(USUAL_LIFETIME, Duration::from_secs).min(LONGEST_LIFETIME),
        obtained_at,
        scopes: body
            .get("scope")
            .and_then(Value::as_str)
            .map(|scopes| {
                scopes.split_whitespace().filter(|scope| is_scope(scope)).take(MAX_SCOPES).map(str::to_owned).collect()
            })
            .unwrap_or_default(),
        user: None,
    })
}

/// Whether the scope can be shown to people: visible ASCII (RFC 6749, appendix A.4), and not too long.
fn is_scope(text: &str) -> bool {
    text.len() <= MAX_SCOPE_BYTES && text.bytes().all(|byte| byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &Value, old: Option<&str>) -> Result<Tokens, String> {
        tokens(body.as_object().unwrap(), SystemTime::UNIX_EPOCH, old.map(SecretString::from).as_ref())
    }

    #[test]
    fn lifetimes_are_read_with_tolerance() {
        for (value, seconds) in [
            (json!(86400), 86400),
            (json!("3600"), 3600),
            (json!(12.7), 12),
            (json!(0), 0),
            (json!(-5), 0),
            (json!(null), 3600),
            (json!("soon"), 3600),
            (json!(u64::MAX), LONGEST_LIFETIME.as_secs()),
        ] {
            let body = json!({"access_token": "a", "refresh_token": "r", "expires_in": value});
            assert_eq!(read(&body, None).unwrap().expires_in.as_secs(), seconds, "{value}");
        }
    }

    #[test]
    fn a_refresh_without_a_new_refresh_token_keeps_the_old_one_and_a_sign_in_needs_one() {
        let body = json!({"access_token": "a", "token_type": "bearer"});
        let empty = json!({"access_token": "a", "token_type": "bearer", "refresh_token": ""});
        for body in [body, empty] {
            assert_eq!(read(&body, Some("old")).unwrap().refresh_token.expose_secret(), "old");
            assert!(read(&body, None).is_err());
        }
        for wrong in [
            json!({"refresh_token": "r"}),
            json!({"access_token": "", "refresh_token": "r"}),
            json!({"access_token": "a b", "refresh_token": "r"}),
            json!({"access_token": "a", "refresh_token": 7}),
            json!({"access_token": "a", "refresh_token": "r", "token_type": "mac"}),
        ] {
            assert!(read(&wrong, Some("old")).is_err(), "{wrong}");
        }
    }
}
