//! Who answers at `api.base_url`, and which user the credentials belong to: for a person who sets up or checks
//! docsyncd.

use std::time::SystemTime;

use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, DATE};

use super::transport::{MAX_JSON_BYTES, Reach};
use super::{ApiError, Client, Me, Transport, json};

/// The owner of an account's credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Introduced {
    /// The user.
    pub me: Me,
    /// The server's clock (RFC 9110, section 6.6.1), to the second.
    pub date: Option<SystemTime>,
}

/// Asks for the list without credentials. An API refuses that with 401 or 403, and does not answer with a page for
/// people.
///
/// # Errors
/// Nobody answers, or a server that is not the API; [`hint`] explains the latter.
pub async fn greet(transport: &Transport) -> Result<(), ApiError> {
    let url = transport.endpoint(&["documents"]);
    let response = transport.get_once(&url).await?;
    let media_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is_page = media_type.to_ascii_lowercase().starts_with("text/html");
    match response.status().as_u16() {
        300..=399 => Err(ApiError::Redirect("the address leads elsewhere".to_owned())),
        _ if is_page => Err(ApiError::NotJson("it is HTML, not JSON".to_owned())),
        200 | 401 | 403 => Ok(()),
        status => Err(ApiError::Status { status, retry_after: None }),
    }
}

/// Checks that the address also has the API's sign-in, which needs no key. The list says nothing of a wrong path,
/// because the API refuses everybody without a key there. An unclear answer counts as the API.
///
/// # Errors
/// Another server, or another path; [`hint`] explains it.
pub async fn has_sign_in(transport: &Transport) -> Result<(), ApiError> {
    const MAX_ANSWER_BYTES: usize = 64 * 1024;
    let url = transport.endpoint(&["oauth2", "token"]);
    let asked = transport.post_once(&url, b"{}".to_vec(), MAX_ANSWER_BYTES);
    let Ok(answer) = transport.in_time(&url, asked).await else { return Ok(()) };
    // A token endpoint names what is wrong in `error` (RFC 6749, section 5.2).
    let body: Option<serde_json::Value> = serde_json::from_slice(&answer.body).ok();
    let is_one = body.is_some_and(|body| body.get("error").is_some_and(serde_json::Value::is_string));
    match answer.status {
        status @ (401 | 403..=405 | 410) if !is_one => Err(ApiError::NotHere { status, url: url.to_string() }),
        _ => Ok(()),
    }
}

/// What may be wrong with `api.base_url`, if a server answers there that is not the API.
pub fn hint(transport: &Transport, error: &ApiError) -> Option<String> {
    let answered = match error {
        ApiError::NotJson(what) => what.clone(),
        ApiError::Status { status: status @ (404 | 405 | 410), .. } | ApiError::NotHere { status, .. } => {
            format!("HTTP {status}")
        }
        ApiError::Redirect(_) => "a redirect to another address".to_owned(),
        _ => return None,
    };
    let url = transport.endpoint(&["documents"]);
    Some(format!("GET {url} was answered with: {answered}. Is api.base_url right, with its path?"))
}

impl Client {
    /// `GET /me`: the user that the API knows the account as.
    ///
    /// # Errors
    /// [`ApiError`]; 403 if the account may not make this call.
    pub async fn introduced(&self) -> Result<Introduced, ApiError> {
        let url = self.transport.endpoint(&["me"]);
        let response = self.send_ok(Method::GET, &url, Reach::Api, None).await?;
        let date = response.headers().get(DATE).and_then(|value| value.to_str().ok());
        let date = date.and_then(|date| httpdate::parse_http_date(date).ok());
        let body = self.transport.read_bounded(&url, response, MAX_JSON_BYTES);
        let bytes = self.transport.in_time(&url, body).await?;
        Ok(Introduced { me: Me::read(&json::parse(&bytes)?), date })
    }
}
