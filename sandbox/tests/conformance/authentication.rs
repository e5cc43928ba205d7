//! "Authentication": its endpoints, flow, token requests and responses, and "Errors", table Token endpoint errors. (The
//! pages that a person sees are tested in a browser; here the sandbox approves or refuses by itself.)

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use docsyncd_sandbox::{Consent, Options};
use reqwest::{Response, header};
use serde_json::{Value, json};
use url::Url;

use crate::harness::{Practice, members, status_and_body, text};

const CALLBACK: &str = "http://127.0.0.1:8976/callback";
/// Exactly as long as it must be.
const STATE: &str = "0123456789abcdef";

async fn started(consent: Consent) -> Practice {
    let app_listen = Some("127.0.0.1:0".parse().unwrap());
    Practice::start(Options { consent, documents: 1, app_listen, ..Options::default() }).await
}

/// Opens the authorization page with these parameters in place of the usual ones; an empty value leaves one out.
async fn open(practice: &Practice, page: &str, changes: &[(&str, &str)]) -> Response {
    let mut parameters = vec![
        ("response_type", "code"),
        ("client_id", "sandbox-client"),
        ("redirect_uri", CALLBACK),
        ("scope", "profile organization"),
        ("state", STATE),
    ];
    parameters.retain(|(name, _)| !changes.iter().any(|(changed, _)| changed == name));
    parameters.extend(changes.iter().filter(|(_, value)| !value.is_empty()));
    practice.client.get(page).query(&parameters).send().await.unwrap()
}

/// The parameters that an answer sends back to the application.
fn told(response: &Response) -> Vec<(String, String)> {
    let location = response.headers().get(header::LOCATION).unwrap_or_else(|| panic!("no redirect: {response:?}"));
    let location = Url::parse(location.to_str().unwrap()).unwrap();
    assert!(location.as_str().starts_with(&format!("{CALLBACK}?")), "{location}");
    location.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect()
}

fn value(told: &[(String, String)], name: &str) -> Option<String> {
    told.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
}

async fn code(practice: &Practice) -> String {
    let page = format!("{}/authorize", practice.sandbox.app_url());
    value(&told(&open(practice, &page, &[]).await), "code").unwrap()
}

async fn post_token(practice: &Practice, body: &Value) -> (u16, Value) {
    let response = practice.client.post(practice.address("/oauth2/token")).json(body).send().await.unwrap();
    assert!(response.headers()[header::CONTENT_TYPE].to_str().unwrap().starts_with("application/json"));
    status_and_body(response).await
}

fn exchange(code: &str) -> Value {
    json!({
        "grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK, "client_id": "sandbox-client",
        "client_secret": "sandbox-secret",
    })
}

fn refresh(token: &str) -> Value {
    json!({
        "grant_type": "refresh_token", "refresh_token": token, "client_id": "sandbox-client",
        "client_secret": "sandbox-secret",
    })
}

async fn tokens(practice: &Practice, body: &Value) -> Value {
    let (status, tokens) = post_token(practice, body).await;
    assert_eq!(status, 200, "{tokens}");
    assert_eq!(members(&tokens), ["access_token", "expires_in", "refresh_token", "token_type"]);
    assert_eq!(tokens["token_type"], "Bearer");
    assert!(tokens["expires_in"].as_i64().is_some_and(|seconds| seconds > 0), "{tokens}");
    assert!(tokens["access_token"].is_string() && tokens["refresh_token"].is_string());
    tokens
}

async fn assert_token_error(practice: &Practice, body: &Value, error: &str) {
    let (status, answer) = post_token(practice, body).await;
    assert!((400..500).contains(&status), "{status} for {body}");
    assert_eq!(members(&answer), ["error", "error_description"], "{answer}");
    assert_eq!(answer["error"], error, "{answer} for {body}");
    assert!(!text(&answer, "error_description").is_empty());
}

async fn status_of_me(practice: &Practice, token: &str) -> u16 {
    practice.client.get(practice.address("/me")).bearer_auth(token).send().await.unwrap().status().as_u16()
}

#[tokio::test]
async fn scheme_bearer_auth_takes_an_api_key_in_the_authorization_header() {
    let practice = started(Consent::Ask).await;
    assert_eq!(status_of_me(&practice, practice.sandbox.api_key()).await, 200);
    assert_eq!(status_of_me(&practice, "another-key").await, 401);
}

#[tokio::test]
async fn scheme_oauth_auth_code_takes_the_access_token_of_the_grant_in_the_authorization_header() {
    let practice = started(Consent::Approve).await;
    let tokens = tokens(&practice, &exchange(&code(&practice).await)).await;
    assert_eq!(status_of_me(&practice, &text(&tokens, "access_token")).await, 200);
}

#[tokio::test]
async fn authorization_page_is_at_app_url_authorize_and_at_app_url_oauth_authorize() {
    let practice = started(Consent::Ask).await;
    for path in ["/authorize", "/oauth/authorize"] {
        let page = open(&practice, &format!("{}{path}", practice.sandbox.app_url()), &[]).await;
        assert_eq!(page.status(), 200, "{path}");
        assert!(page.headers()[header::CONTENT_TYPE].to_str().unwrap().starts_with("text/html"), "{path}");
        assert!(page.text().await.unwrap().contains("<form"), "{path}");
    }
}

#[tokio::test]
async fn token_endpoint_is_post_oauth2_token_with_a_json_body() {
    let practice = started(Consent::Approve).await;
    tokens(&practice, &exchange(&code(&practice).await)).await;
    let get = practice.client.get(practice.address("/oauth2/token")).send().await.unwrap();
    assert_eq!(get.status(), 405);
    let form = practice.client.post(practice.address("/oauth2/token"));
    let form = form.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded").body("grant_type=refresh_token");
    assert!(form.send().await.unwrap().status().is_client_error());
}

#[tokio::test]
async fn flow_step_1_needs_response_type_code_the_registered_redirect_uri_and_a_state_of_16_characters() {
    let practice = started(Consent::Approve).await;
    let page = format!("{}/authorize", practice.sandbox.app_url());
    for change in [("response_type", "token"), ("response_type", ""), ("state", "fifteen letters"), ("state", "")] {
        let told = told(&open(&practice, &page, &[change]).await);
        assert_eq!(value(&told, "error").as_deref(), Some("invalid_request"), "{change:?}");
        assert_eq!(value(&told, "code"), None);
    }
    for uri in ["http://127.0.0.1:8976/callback/", "http://127.0.0.1:8976/other", "https://127.0.0.1:8976/callback", ""]
    {
        let answer = open(&practice, &page, &[("redirect_uri", uri)]).await;
        assert!(answer.status().is_client_error() && !answer.headers().contains_key(header::LOCATION), "{uri}");
    }
}

#[tokio::test]
async fn flow_step_3_redirects_to_redirect_uri_with_code_and_state() {
    let practice = started(Consent::Approve).await;
    for path in ["/authorize", "/oauth/authorize"] {
        let state = "a state with spaces, & and =";
        let page = format!("{}{path}", practice.sandbox.app_url());
        let told = told(&open(&practice, &page, &[("state", state)]).await);
        assert_eq!(value(&told, "state").as_deref(), Some(state));
        tokens(&practice, &exchange(&value(&told, "code").unwrap())).await;
    }
}

#[tokio::test]
async fn flow_step_4_the_code_is_single_use_and_valid_for_60_seconds() {
    let practice = started(Consent::Approve).await;
    let (once, early, late) = (code(&practice).await, code(&practice).await, code(&practice).await);
    tokens(&practice, &exchange(&once)).await;
    assert_token_error(&practice, &exchange(&once), "invalid_grant").await;
    practice.sandbox.advance_clock(Duration::from_secs(50));
    tokens(&practice, &exchange(&early)).await;
    practice.sandbox.advance_clock(Duration::from_secs(11));
    assert_token_error(&practice, &exchange(&late), "invalid_grant").await;
}

#[tokio::test]
async fn flow_step_5_denial_redirects_with_access_denied_and_state() {
    let practice = started(Consent::Deny).await;
    let page = format!("{}/authorize", practice.sandbox.app_url());
    let told = told(&open(&practice, &page, &[]).await);
    assert_eq!(value(&told, "error").as_deref(), Some("access_denied"));
    assert_eq!((value(&told, "state").as_deref(), value(&told, "code")), (Some(STATE), None));
}

#[tokio::test]
async fn flow_step_5_failure_redirects_with_invalid_request_and_state() {
    let practice = started(Consent::Approve).await;
    let page = format!("{}/authorize", practice.sandbox.app_url());
    let told = told(&open(&practice, &page, &[("scope", "read:teeth")]).await);
    assert_eq!(value(&told, "error").as_deref(), Some("invalid_request"));
    assert_eq!(value(&told, "state").as_deref(), Some(STATE));
}

#[tokio::test]
async fn code_exchange_takes_five_strings_and_returns_a_bearer_token_its_lifetime_and_a_refresh_token() {
    let practice = started(Consent::Approve).await;
    let body = exchange(&code(&practice).await);
    for name in ["grant_type", "code", "redirect_uri", "client_id", "client_secret"] {
        let mut lacking = body.clone();
        lacking.as_object_mut().unwrap().remove(name);
        assert_token_error(&practice, &lacking, "invalid_request").await;
        let mut number = body.clone();
        number[name] = json!(7);
        assert_token_error(&practice, &number, "invalid_request").await;
    }
    tokens(&practice, &body).await;
}

#[tokio::test]
async fn refresh_takes_four_strings_returns_a_new_refresh_token_and_the_previous_one_stops_being_valid() {
    let practice = started(Consent::Approve).await;
    let first = tokens(&practice, &exchange(&code(&practice).await)).await;
    let body = refresh(&text(&first, "refresh_token"));
    for name in ["grant_type", "refresh_token", "client_id", "client_secret"] {
        let mut lacking = body.clone();
        lacking.as_object_mut().unwrap().remove(name);
        assert_token_error(&practice, &lacking, "invalid_request").await;
    }
    let second = tokens(&practice, &body).await;
    assert_ne!(first["refresh_token"], second["refresh_token"]);
    assert_eq!(status_of_me(&practice, &text(&second, "access_token")).await, 200);
    let (status, answer) = post_token(&practice, &body).await;
    assert!((400..500).contains(&status) && members(&answer) == ["error", "error_description"], "{answer}");
}

#[tokio::test]
async fn access_token_is_a_jwt_that_expires_after_expires_in() {
    let practice = started(Consent::Approve).await;
    let tokens = tokens(&practice, &exchange(&code(&practice).await)).await;
    let access_token = text(&tokens, "access_token");
    let parts: Vec<&str> = access_token.split('.').collect();
    assert_eq!(parts.len(), 3);
    for part in &parts[..2] {
        let part: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap();
        assert!(part.is_object());
    }
    let lifetime = Duration::from_secs(tokens["expires_in"].as_u64().unwrap());
    practice.sandbox.advance_clock(lifetime - Duration::from_secs(10));
    assert_eq!(status_of_me(&practice, &access_token).await, 200);
    practice.sandbox.advance_clock(Duration::from_secs(11));
    assert_eq!(status_of_me(&practice, &access_token).await, 401);
    let forged = format!("{}.{}.{}", parts[0], parts[1], "A".repeat(parts[2].len()));
    assert_eq!(status_of_me(&practice, &forged).await, 401);
}

#[tokio::test]
async fn token_error_invalid_grant_tells_of_an_expired_or_used_code() {
    let practice = started(Consent::Approve).await;
    let (used, expired) = (exchange(&code(&practice).await), exchange(&code(&practice).await));
    tokens(&practice, &used).await;
    assert_token_error(&practice, &used, "invalid_grant").await;
    practice.sandbox.advance_clock(Duration::from_secs(61));
    assert_token_error(&practice, &expired, "invalid_grant").await;
    assert_token_error(&practice, &exchange("no such code"), "invalid_grant").await;
}

#[tokio::test]
async fn token_error_invalid_client_tells_of_invalid_client_credentials() {
    let practice = started(Consent::Approve).await;
    let body = exchange(&code(&practice).await);
    for name in ["client_id", "client_secret"] {
        let mut wrong = body.clone();
        wrong[name] = json!("wrong");
        assert_token_error(&practice, &wrong, "invalid_client").await;
    }
    tokens(&practice, &body).await;
}

#[tokio::test]
async fn token_error_invalid_request_tells_of_missing_required_parameters() {
    let practice = started(Consent::Approve).await;
    for body in [json!({}), json!({"grant_type": "authorization_code"}), json!({"grant_type": "refresh_token"})] {
        assert_token_error(&practice, &body, "invalid_request").await;
    }
}
