//! Where an answer leads, if it is a redirect (RFC 9110, section 15.4). Whether that place may be asked, and with the
//! token, is decided by `transport`.

use reqwest::Method;
use reqwest::header::HeaderMap;
use url::Url;

use super::ApiError;
use crate::http::location;

/// The address that an answer to `method url` sends to; `None` when it is no redirect.
///
/// # Errors
/// [`ApiError::Redirect`]: without an address, or one that would make another request of this one.
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
