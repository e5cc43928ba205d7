//! The target of an answer that is a redirect (RFC 9110, section 15.4). `transport` decides whether to follow it, and
//! whether to send the token there.

use reqwest::Method;
use reqwest::header::HeaderMap;
use url::Url;

use super::ApiError;
use crate::system::http::location;

/// The target that an answer to `method url` names; `None` if it is no redirect.
///
/// # Errors
/// [`ApiError::Redirect`] without a valid target, or if following it would change the request.
pub fn redirect_target(method: &Method, url: &Url, status: u16, headers: &HeaderMap) -> Result<Option<Url>, ApiError> {
    match status {
        301..=303 if *method == Method::GET => {}
        307 | 308 => {}
        301..=303 => return Err(ApiError::Redirect("it would turn the request into another one".to_owned())),
        _ => return Ok(None),
    }
    match location(url, headers) {
        Some(target) if matches!(target.scheme(), "http" | "https") => Ok(Some(target)),
        Some(_) => Err(ApiError::Redirect("it leads to something else than an http or https address".to_owned())),
        None => Err(ApiError::Redirect("it names no target".to_owned())),
    }
}
