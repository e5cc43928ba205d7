//! The parties of an authorization: applications, people, and who decides.

use axum::http::HeaderValue;
use serde::Serialize;
use url::Url;

use crate::error::SandboxError;

/// The password of every user without one. It is no secret, since it gives access to invented documents only.
pub const DEFAULT_PASSWORD: &str = "sandbox";

/// An application that may ask for authorization ("Authentication": the pair and the redirect addresses are agreed with
/// the operator).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Client {
    /// Names the application.
    pub client_id: String,
    /// Its secret at the token endpoint.
    pub client_secret: String,
    /// The redirect addresses. A request must name one of them, character for character.
    pub redirect_uris: Vec<String>,
}

impl Default for Client {
    /// The application if no other is named.
    fn default() -> Self {
        Self {
            client_id: "sandbox-client".to_owned(),
            client_secret: "sandbox-secret".to_owned(),
            redirect_uris: vec!["http://127.0.0.1:8976/callback".to_owned()],
        }
    }
}

impl Client {
    /// Refuses redirect addresses that no browser can follow.
    pub(crate) fn check(&self) -> Result<(), SandboxError> {
        self.redirect_uris.iter().try_for_each(|uri| {
            check_redirect_uri(uri).map_err(|reason| SandboxError::RedirectUri { uri: uri.clone(), reason })
        })
    }
}

/// An absolute address without a fragment (RFC 6749, section 3.1.2) that fits into a header.
fn check_redirect_uri(uri: &str) -> Result<(), String> {
    let parsed = Url::parse(uri).map_err(|error| format!("it is no absolute address ({error})"))?;
    if parsed.fragment().is_some() {
        return Err("it must not have a fragment (#)".to_owned());
    }
    if !uri.is_ascii() || HeaderValue::from_str(uri).is_err() || uri.contains(char::is_whitespace) {
        return Err("it must be visible ASCII characters only; percent-encode the others".to_owned());
    }
    Ok(())
}

/// Someone who can sign in on the authorization page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// The user's email address. An API key with the same address belongs to the same user.
    pub email: String,
    /// The password.
    pub password: String,
}

impl Account {
    /// Someone with [`DEFAULT_PASSWORD`].
    pub fn new(email: impl Into<String>) -> Self {
        Self { email: email.into(), password: DEFAULT_PASSWORD.to_owned() }
    }

    /// Someone with this password.
    #[must_use]
    pub fn with_password(self, password: impl Into<String>) -> Self {
        Self { password: password.into(), ..self }
    }
}

/// Who decides on the authorization page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Consent {
    /// The person who signs in and reads the page.
    #[default]
    Ask,
    /// Nobody: every valid request is approved at once, with everything it asks for. The user is the one of
    /// `login_hint`, or the first.
    Approve,
    /// Nobody: every valid request is refused at once.
    Deny,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirect_address_is_absolute_and_has_no_fragment() {
        for good in ["http://127.0.0.1:8976/callback?tenant=1", "com.example.app:/done", "http://[::1]:80/"] {
            assert_eq!(check_redirect_uri(good), Ok(()), "{good}");
        }
        for bad in ["/callback", "http://127.0.0.1/#done", "http://127.0.0.1/a b", "http://127.0.0.1/é", ""] {
            assert!(check_redirect_uri(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_application_that_is_there_unasked_passes_the_check() {
        assert!(Client::default().check().is_ok());
    }
}
