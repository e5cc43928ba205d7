//! The authorization server, as an application, a browser and an API client see it.

mod access;
mod browser;
mod consent;
mod errors;
mod page;
mod refresh;
mod tokens;

use docsyncd_sandbox::{Consent, Options};
use reqwest::{Response, StatusCode, header};
use serde_json::{Value, json};
use url::Url;

use crate::harness::Practice;

const CLAIRE: &str = "claire.delaunay@cabinet-delaunay.example";
const CALLBACK: &str = "http://127.0.0.1:8976/callback";
const STATE: &str = "0123456789abcdef";

/// What a well-behaved application asks for; `None` leaves a parameter out.
fn authorize(origin: &str, changes: &[(&str, Option<&str>)]) -> Url {
    let usual = [
        ("response_type", "code"),
        ("client_id", "sandbox-client"),
        ("redirect_uri", CALLBACK),
        ("scope", "profile organization"),
        ("state", STATE),
    ];
    let mut address = Url::parse(&format!("{origin}/authorize")).unwrap();
    let mut query = address.query_pairs_mut();
    let changed = |name: &str| changes.iter().any(|(known, _)| *known == name);
    query.extend_pairs(usual.into_iter().filter(|(name, _)| !changed(name)));
    query.extend_pairs(changes.iter().filter_map(|(name, value)| value.map(|value| (*name, value))));
    drop(query);
    address
}

/// Where an answer sends the browser.
fn location(response: &Response) -> Url {
    let location = response.headers().get(header::LOCATION).unwrap_or_else(|| panic!("no redirect: {response:?}"));
    Url::parse(location.to_str().unwrap()).unwrap()
}

/// A query parameter of an address.
fn parameter(address: &Url, name: &str) -> Option<String> {
    address.query_pairs().find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
}

/// A sandbox in which nobody is asked, for everything that comes after the page.
async fn approving() -> Practice {
    Practice::start(Options { consent: Consent::Approve, documents: 2, ..Options::default() }).await
}

impl Practice {
    /// A fresh code, asked for with these changes to the usual request.
    async fn code(&self, changes: &[(&str, Option<&str>)]) -> String {
        let response = self.client.get(authorize(&self.sandbox.url(), changes)).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::FOUND);
        parameter(&location(&response), "code").unwrap()
    }

    async fn post_token(&self, body: &Value) -> Response {
        self.client.post(format!("{}/oauth2/token", self.sandbox.url())).json(body).send().await.unwrap()
    }

    /// The answer to a token request that has to be granted.
    async fn tokens(&self, body: &Value) -> Value {
        let response = self.post_token(body).await;
        assert_eq!(response.status(), StatusCode::OK, "{body}");
        response.json().await.unwrap()
    }

    /// Status, `error` and `error_description` of a token request that has to be refused.
    async fn refused_tokens(&self, body: &Value) -> (u16, String, String) {
        token_error(self.post_token(body).await).await
    }

    /// The status of `GET /me` with this bearer, and its body.
    async fn me(&self, bearer: &str) -> (u16, Value) {
        let response = self.client.get(format!("{}/me", self.sandbox.url())).bearer_auth(bearer).send().await.unwrap();
        crate::harness::status_and_body(response).await
    }
}

async fn token_error(response: Response) -> (u16, String, String) {
    assert_eq!(response.headers()[header::CACHE_CONTROL], "no-store");
    let status = response.status().as_u16();
    let body: Value = response.json().await.unwrap();
    assert_eq!(crate::harness::members(&body), ["error", "error_description"]);
    (status, crate::harness::text(&body, "error"), crate::harness::text(&body, "error_description"))
}

/// The body that exchanges this code.
fn exchange(code: &str) -> Value {
    json!({
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": CALLBACK,
        "client_id": "sandbox-client",
        "client_secret": "sandbox-secret",
    })
}

/// The body that exchanges this refresh token.
fn refresh(token: &str) -> Value {
    json!({
        "grant_type": "refresh_token",
        "refresh_token": token,
        "client_id": "sandbox-client",
        "client_secret": "sandbox-secret",
    })
}

/// The object with one member changed.
fn with(mut body: Value, name: &str, value: Value) -> Value {
    body[name] = value;
    body
}

/// The object without one member.
fn without(mut body: Value, name: &str) -> Value {
    body.as_object_mut().unwrap().remove(name);
    body
}
