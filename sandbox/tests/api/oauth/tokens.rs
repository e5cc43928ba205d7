//! The token endpoint: codes, PKCE, and every error.

use std::time::Duration;

use docsyncd_sandbox::{Client, Consent, Fault, FaultKind, Options, Route};
use reqwest::header;
use serde_json::{Value, json};

use super::{CALLBACK, approving, exchange, refresh, token_error, with, without};
use crate::harness::{Practice, members, text};

const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const S256: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

#[tokio::test]
async fn the_answer_has_four_members_and_must_not_stay_in_a_cache() {
    let practice = approving().await;
    let response = practice.post_token(&exchange(&practice.code(&[]).await)).await;
    assert_eq!(response.headers()[header::CACHE_CONTROL], "no-store");
    assert_eq!(response.headers()[header::CONTENT_TYPE], "application/json");
    let body: Value = response.json().await.unwrap();
    assert_eq!(members(&body), ["access_token", "expires_in", "refresh_token", "token_type"]);
    assert_eq!((&body["token_type"], &body["expires_in"]), (&json!("Bearer"), &json!(3600)));
}

#[tokio::test]
async fn a_code_used_twice_is_invalid_grant_and_takes_its_refresh_tokens_with_it() {
    let practice = approving().await;
    let code = practice.code(&[]).await;
    let first = practice.tokens(&exchange(&code)).await;
    let second = practice.tokens(&refresh(&text(&first, "refresh_token"))).await;
    let other = practice.tokens(&exchange(&practice.code(&[]).await)).await;

    let (status, error, description) = practice.refused_tokens(&exchange(&code)).await;
    assert_eq!((status, error.as_str()), (400, "invalid_grant"));
    assert!(description.contains("used before"), "{description}");
    let (_, error, description) = practice.refused_tokens(&refresh(&text(&second, "refresh_token"))).await;
    assert_eq!(error, "invalid_grant");
    assert!(description.contains("revoked"), "{description}");
    practice.tokens(&refresh(&text(&other, "refresh_token"))).await;
}

#[tokio::test]
async fn of_many_who_redeem_a_code_at_once_one_succeeds() {
    let practice = approving().await;
    let body = exchange(&practice.code(&[]).await);
    let answers = futures_util::future::join_all((0..8).map(|_| practice.post_token(&body))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status() == 200).count(), 1);
}

#[tokio::test]
async fn a_code_is_valid_for_sixty_seconds() {
    let practice = approving().await;
    let (early, late) = (practice.code(&[]).await, practice.code(&[]).await);
    practice.sandbox.advance_clock(Duration::from_secs(50));
    practice.tokens(&exchange(&early)).await;
    practice.sandbox.advance_clock(Duration::from_secs(10));
    let (status, error, description) = practice.refused_tokens(&exchange(&late)).await;
    assert_eq!((status, error.as_str()), (400, "invalid_grant"));
    assert!(description.contains("expired"), "{description}");
}

#[tokio::test]
async fn a_code_is_bound_to_its_client_and_redirect_uri() {
    let other = Client { client_id: "other".into(), client_secret: "secret".into(), ..Client::default() };
    let clients = vec![Client::default(), other];
    let practice = Practice::start(Options { clients, consent: Consent::Approve, ..Options::default() }).await;
    let code = practice.code(&[]).await;
    let of_other = with(with(exchange(&code), "client_id", json!("other")), "client_secret", json!("secret"));
    let elsewhere = with(exchange(&code), "redirect_uri", json!(format!("{CALLBACK}/")));
    for (body, named) in [(of_other, "another client"), (elsewhere, "redirect_uri")] {
        let (status, error, description) = practice.refused_tokens(&body).await;
        assert_eq!((status, error.as_str()), (400, "invalid_grant"), "{named}");
        assert!(description.contains(named), "{description}");
    }
    practice.tokens(&exchange(&code)).await;
}

#[tokio::test]
async fn a_code_asked_for_with_a_challenge_needs_its_verifier() {
    let practice = approving().await;
    for (challenge, method) in [(S256, Some("S256")), (VERIFIER, Some("plain")), (VERIFIER, None)] {
        let code = practice.code(&[("code_challenge", Some(challenge)), ("code_challenge_method", method)]).await;
        let (status, error, description) = practice.refused_tokens(&exchange(&code)).await;
        assert_eq!((status, error.as_str()), (400, "invalid_request"), "{method:?}");
        assert!(description.contains("code_verifier"), "{description}");
        let wrong = with(exchange(&code), "code_verifier", json!(VERIFIER.to_lowercase()));
        assert_eq!(practice.refused_tokens(&wrong).await.1, "invalid_grant", "{method:?}");
        practice.tokens(&with(exchange(&code), "code_verifier", json!(VERIFIER))).await;
    }
    let unasked = with(exchange(&practice.code(&[]).await), "code_verifier", json!(VERIFIER));
    assert_eq!(practice.refused_tokens(&unasked).await.1, "invalid_grant");
}

#[tokio::test]
async fn every_missing_parameter_is_named() {
    let practice = approving().await;
    for (body, fields) in [
        (exchange("c"), ["code", "redirect_uri", "client_id", "client_secret"].as_slice()),
        (refresh("r"), &["refresh_token", "client_id", "client_secret"]),
    ] {
        for field in fields.iter().chain(&["grant_type"]) {
            for lacking in [without(body.clone(), field), with(body.clone(), field, json!(""))] {
                let (status, error, description) = practice.refused_tokens(&lacking).await;
                assert_eq!((status, error.as_str()), (400, "invalid_request"), "{lacking}");
                assert_eq!(description, format!("Missing parameter: {field}."));
            }
            let (_, error, description) = practice.refused_tokens(&with(body.clone(), field, json!(7))).await;
            assert_eq!((error.as_str(), description), ("invalid_request", format!("{field} must be a string.")));
        }
    }
    let (_, _, description) = practice.refused_tokens(&json!({"grant_type": "refresh_token"})).await;
    assert_eq!(description, "Missing parameters: refresh_token, client_id, client_secret.");
}

#[tokio::test]
async fn wrong_credentials_are_invalid_client_whatever_else_is_wrong() {
    let practice = approving().await;
    for (field, value) in [("client_id", "nobody"), ("client_secret", "wrong")] {
        for body in [exchange("no such code"), refresh("no such token"), exchange(&practice.code(&[]).await)] {
            let (status, error, _) = practice.refused_tokens(&with(body, field, json!(value))).await;
            assert_eq!((status, error.as_str()), (401, "invalid_client"), "{field}");
        }
    }
}

#[tokio::test]
async fn unknown_codes_and_tokens_are_invalid_grant() {
    let practice = approving().await;
    let code = practice.code(&[]).await;
    let tokens = practice.tokens(&exchange(&code)).await;
    let of_the_other_kind = [exchange(&text(&tokens, "refresh_token")), refresh(&text(&tokens, "access_token"))];
    for body in of_the_other_kind.into_iter().chain([exchange("none"), refresh("none")]) {
        let (status, error, _) = practice.refused_tokens(&body).await;
        assert_eq!((status, error.as_str()), (400, "invalid_grant"), "{body}");
    }
}

#[tokio::test]
async fn other_grants_are_unsupported() {
    let practice = approving().await;
    for grant in ["password", "client_credentials", "Authorization_Code"] {
        let (status, error, description) = practice.refused_tokens(&json!({"grant_type": grant})).await;
        assert_eq!((status, error.as_str()), (400, "unsupported_grant_type"));
        assert!(description.contains(grant), "{description}");
    }
}

#[tokio::test]
async fn a_body_that_is_no_json_object_is_invalid_request_and_says_so() {
    let practice = approving().await;
    let address = format!("{}/oauth2/token", practice.sandbox.url());
    let code = practice.code(&[]).await;
    let form = format!("grant_type=authorization_code&code={code}");
    let proper = exchange(&code).to_string();
    for (media_type, body, said) in [
        (Some("application/x-www-form-urlencoded"), form, "must be JSON"),
        (Some("text/plain"), proper.clone(), "text/plain"),
        (None, proper, "must be JSON"),
        (Some("application/json"), "{\"grant_type\":".to_owned(), "must be JSON"),
        (Some("application/json"), "[]".to_owned(), "JSON object"),
        (Some("application/json"), " ".repeat(100_000), "limit"),
    ] {
        let mut request = practice.client.post(&address).body(body);
        if let Some(media_type) = media_type {
            request = request.header(header::CONTENT_TYPE, media_type);
        }
        let (status, error, description) = token_error(request.send().await.unwrap()).await;
        assert_eq!((status, error.as_str()), (400, "invalid_request"), "{media_type:?}");
        assert!(description.contains(said), "{description}");
    }
    let address = practice.client.post(&address).body(exchange(&code).to_string());
    let granted = address.header(header::CONTENT_TYPE, "Application/JSON; charset=utf-8").send().await.unwrap();
    assert_eq!(granted.status(), 200);
}

#[tokio::test]
async fn the_lifetime_is_what_the_sandbox_was_started_with() {
    let lifetime = Duration::from_secs(86_400);
    let options = Options { access_token_lifetime: lifetime, consent: Consent::Approve, ..Options::default() };
    let practice = Practice::start(options).await;
    let tokens: Value = practice.tokens(&exchange(&practice.code(&[]).await)).await;
    assert_eq!(tokens["expires_in"], 86_400);
    practice.sandbox.advance_clock(Duration::from_secs(86_390));
    assert_eq!(practice.me(&text(&tokens, "access_token")).await.0, 200);
    practice.sandbox.advance_clock(Duration::from_secs(10));
    assert_eq!(practice.me(&text(&tokens, "access_token")).await.0, 401);
}

#[tokio::test]
async fn faults_tell_the_page_and_the_token_endpoint_apart() {
    let practice = approving().await;
    practice.sandbox.inject(Fault::once(Route::Token, FaultKind::status(503)));
    let code = practice.code(&[]).await;
    assert_eq!(practice.post_token(&exchange(&code)).await.status(), 503);
    practice.tokens(&exchange(&code)).await;
    practice.sandbox.inject(Fault::once(Route::Authorize, FaultKind::status(500)));
    let response = practice.client.get(super::authorize(&practice.sandbox.url(), &[])).send().await.unwrap();
    assert_eq!(response.status(), 500);
}
