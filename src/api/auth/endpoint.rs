//! `POST {base_url}/oauth2/token`: a code or a refresh token becomes new tokens (API, "Token request and response").
//!
//! The body holds secrets, so it goes to that very address and follows no redirect. Messages never hold text of the
//! server's: it may quote what was sent.

use std::time::{Duration, SystemTime};

use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Map, Value, json};
use thiserror::Error;

use super::secret::{CredentialError, client_secret, is_plausible};
use super::tokens::Tokens;
use crate::api::transport::{TokenAnswer, Transport};
use crate::api::{ApiError, json as wire};
use crate::config::OAuthConfig;

/// What is assumed when `expires_in` is missing; the shorter one of the API's examples.
const USUAL_LIFETIME: Duration = Duration::from_secs(3600);
/// No access token lives longer than this for docsyncd, whatever the server says.
pub(super) const LONGEST_LIFETIME: Duration = Duration::from_secs(366 * 24 * 3600);
/// The longest answer that is read; bytes.
const MAX_ANSWER_BYTES: usize = 64 * 1024;
/// Scopes that are kept of an answer; the API describes some fifty.
const MAX_SCOPES: usize = 100;
/// The longest scope that is kept; bytes.
const MAX_SCOPE_BYTES: usize = 100;
/// What a token endpoint may answer that only a person can change (RFC 6749, sections 4.1.2.1 and 5.2).
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
    /// The server understood and refuses.
    #[error("the API refuses it: {error}")]
    Refused {
        /// One of RFC 6749's words: `invalid_grant`, `invalid_client`, …
        error: String,
    },
    /// There was no answer, or none that comes from a token endpoint: it may work the next time.
    #[error(transparent)]
    Network(ApiError),
    /// The client secret.
    #[error(transparent)]
    Secret(#[from] CredentialError),
    /// A success that cannot be understood.
    #[error("the answer of the API's token endpoint cannot be understood: {0}")]
    Shape(String),
}

impl TokenError {
    /// Whether the server may have taken the code or the refresh token although no tokens came back.
    pub(super) fn is_reply_lost(&self) -> bool {
        match self {
            TokenError::Network(ApiError::Unreachable { .. } | ApiError::Insecure(_) | ApiError::Redirect(_)) => false,
            // A gateway answers 5xx in the server's place; what is refused with 4xx was not taken.
            TokenError::Network(ApiError::Status { status, .. }) => *status >= 500,
            TokenError::Network(_) | TokenError::Shape(_) => true,
            TokenError::Refused { .. } | TokenError::Secret(_) => false,
        }
    }

    /// Whether the request went out and the connection, or a gateway's, ended before the answer was there: nobody asked
    /// for a pause, so the same may be asked once more at once.
    pub(super) fn is_broken_off(&self) -> bool {
        matches!(
            self,
            TokenError::Network(ApiError::BrokenOff { .. } | ApiError::Status { status: 502 | 504, retry_after: None })
        )
    }
}

/// What the authorization page gave, with what it was asked for.
pub struct CodeExchange<'a> {
    /// `code`: good for once and for 60 seconds.
    pub code: &'a str,
    /// The very address that the page was given.
    pub redirect_uri: &'a str,
    /// The secret behind the challenge that the page was given (RFC 7636).
    pub code_verifier: &'a str,
}

/// Exchanges a code for the first tokens.
///
/// # Errors
/// [`TokenError`]
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

/// Exchanges a refresh token for the next tokens. `scopes` is empty when the server said nothing about them, and `user`
/// is always `None`: both are as before.
///
/// # Errors
/// [`TokenError`]
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

/// The client secret, read on a thread that may wait for its disk.
async fn secret(account: &str, oauth: &OAuthConfig) -> Result<SecretString, CredentialError> {
    let (name, oauth) = (account.to_owned(), oauth.clone());
    let read = tokio::task::spawn_blocking(move || client_secret(&name, &oauth)).await;
    read.unwrap_or_else(|error| {
        Err(CredentialError { account: account.to_owned(), what: format!("internal error: {error}") })
    })
}

async fn ask(transport: &Transport, request: &Value, old: Option<&SecretString>) -> Result<Tokens, TokenError> {
    let url = transport.endpoint(&["oauth2", "token"]);
    // Counted from before the request: by then the server's clock for the token has not begun to run.
    let asked_at = SystemTime::now();
    let call = transport.post_once(&url, request.to_string().into_bytes(), MAX_ANSWER_BYTES);
    let answer = transport.in_time(&url, call).await.map_err(TokenError::Network)?;
    understand(&answer, asked_at, old)
}

/// What an answer of the token endpoint means. `old` is the refresh token that was sent, if one was.
///
/// # Errors
/// [`TokenError`], in words of our own.
pub fn understand(
    answer: &TokenAnswer,
    asked_at: SystemTime,
    old: Option<&SecretString>,
) -> Result<Tokens, TokenError> {
    let body = match wire::parse(&answer.body) {
        Ok(Value::Object(body)) => Some(body),
        _ => None,
    };
    // By `error` and not by the status: which status comes with it is not shown.
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
        // RFC 6749, section 6: without a new one the old one stays.
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

/// Whether people can be shown it: visible ASCII (RFC 6749, appendix A.4), and not too long.
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
        assert_eq!(read(&body, Some("old")).unwrap().refresh_token.expose_secret(), "old");
        assert!(read(&body, None).is_err());
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
