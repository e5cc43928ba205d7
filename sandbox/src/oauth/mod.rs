//! The OAuth 2.0 authorization server ("Authentication" of the API description; RFC 6749 where it is silent).
//!
//! On the page of `authorize` a person signs in and approves. `token` exchanges the result for tokens, which
//! `access_token` verifies for the API. There is no client registration and no other grant, because the description has
//! none.

mod access_token;
mod authorize;
mod grants;
mod pages;
mod parameters;
mod parties;
mod redirect;
mod request;
mod secret;
mod session;
mod token;
mod words;

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};

use crate::shared::Shared;

pub(crate) use access_token::{AccessTokens, Rejected};
pub use grants::TokenPair;
pub(crate) use grants::issue_pair;
pub use parties::{Account, Client, Consent, DEFAULT_PASSWORD};

/// Bodies here are a handful of short texts.
const MOST_BODY_BYTES: usize = 64 * 1024;

/// The authorization server's options.
pub(crate) struct Oauth {
    pub clients: Vec<Client>,
    /// The accounts with a password of their own. Every other user has [`DEFAULT_PASSWORD`].
    pub accounts: Mutex<Vec<Account>>,
    /// Who signs in if nobody is asked or named: the first API key's user.
    pub first_user: String,
    /// Seconds.
    pub access_token_lifetime: i64,
    pub consent: Consent,
    pub access_tokens: AccessTokens,
}

impl Oauth {
    fn client(&self, client_id: &str) -> Option<&Client> {
        self.clients.iter().find(|client| client.client_id == client_id)
    }
}

/// The token endpoint.
pub(crate) fn token_routes() -> Router<Arc<Shared>> {
    Router::new().route("/oauth2/token", post(token::exchange)).layer(DefaultBodyLimit::max(MOST_BODY_BYTES))
}

/// The authorization page, at both addresses that the description gives.
pub(crate) fn page_routes() -> Router<Arc<Shared>> {
    let page = get(authorize::show).post(authorize::submit);
    Router::new()
        .route("/authorize", page.clone())
        .route("/oauth/authorize", page)
        .layer(DefaultBodyLimit::max(MOST_BODY_BYTES))
}
