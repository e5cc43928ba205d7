//! Approving, refusing, and what the application is told.

use docsyncd_sandbox::{Client, Consent, Options};
use reqwest::StatusCode;
use serde_json::{Value, json};

use super::browser::{Browser, Shown};
use super::{CALLBACK, CLAIRE, STATE, authorize, exchange, location, parameter};
use crate::harness::{Practice, members};

/// The consent page for these scopes, with Claire signed in.
async fn asked(practice: &Practice, browser: &Browser, scope: &str) -> Shown {
    let page = browser.open(authorize(&practice.sandbox.url(), &[("scope", Some(scope))])).await;
    browser.sign_in(&page, CLAIRE, "sandbox").await
}

#[tokio::test]
async fn the_whole_flow_from_sign_in_to_a_call_with_the_token() {
    let practice = Practice::with_documents(1).await;
    let browser = Browser::new("en");
    let consent = asked(&practice, &browser, "profile read:documents").await;
    assert_eq!(consent.boxes(), ["profile", "read:documents"]);
    let back = browser.submit(&consent, &[("do", "approve"), ("scope", "read:documents")]).await;
    assert_eq!(back.status, StatusCode::SEE_OTHER);
    assert!(back.location().as_str().starts_with(&format!("{CALLBACK}?code=")));
    assert_eq!(back.told("state").as_deref(), Some(STATE));

    let tokens = practice.tokens(&exchange(&back.told("code").unwrap())).await;
    assert_eq!(crate::harness::members(&tokens), ["access_token", "expires_in", "refresh_token", "token_type"]);
    assert_eq!((&tokens["token_type"], &tokens["expires_in"]), (&json!("Bearer"), &json!(3600)));
    let (status, me) = practice.me(tokens["access_token"].as_str().unwrap()).await;
    assert_eq!((status, &me["email"]), (200, &json!(CLAIRE)));
}

#[tokio::test]
async fn refusing_sends_access_denied_and_the_state() {
    let practice = Practice::with_documents(0).await;
    let browser = Browser::new("en");
    let consent = asked(&practice, &browser, "profile").await;
    let back = browser.submit(&consent, &[("do", "refuse"), ("scope", "profile")]).await;
    assert_eq!(back.status, StatusCode::SEE_OTHER);
    assert_eq!(back.told("error").as_deref(), Some("access_denied"));
    assert_eq!(back.told("error_description").as_deref(), Some("The user refused the request."));
    assert_eq!(back.told("state").as_deref(), Some(STATE));
    assert_eq!(back.told("code"), None);
}

#[tokio::test]
async fn single_scopes_can_be_refused_but_not_the_profile() {
    let practice = Practice::with_documents(0).await;
    let browser = Browser::new("en");
    let consent = asked(&practice, &browser, "profile read:documents read:patients").await;
    let fields = [("do", "approve"), ("scope", "read:documents"), ("scope", "write:documents")];
    let back = browser.submit(&consent, &fields).await;
    let tokens = practice.tokens(&exchange(&back.told("code").unwrap())).await;
    assert_eq!(tokens["scope"], "profile read:documents", "RFC 6749, section 5.1: fewer than asked for are named");
    let described = practice.json("/openapi.json").await;
    let answer =
        described.pointer("/paths/~1oauth2~1token/post/responses/200/content/application~1json/schema").unwrap();
    assert!(members(&tokens).iter().all(|name| answer["properties"].get(name).is_some()), "{answer}");
    let token = tokens["access_token"].as_str().unwrap();
    assert_eq!(super::access::claims(token)["scopes"], json!(["profile", "read:documents"]));
}

#[tokio::test]
async fn approving_nothing_asks_again() {
    let practice = Practice::with_documents(0).await;
    let browser = Browser::new("en");
    let consent = asked(&practice, &browser, "read:documents").await;
    let again = browser.submit(&consent, &[("do", "approve")]).await;
    assert_eq!(again.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(again.html.contains("Tick at least one permission"));
}

#[tokio::test]
async fn code_and_state_follow_the_query_that_the_address_has() {
    let uri = "http://127.0.0.1:8976/callback?tenant=a%20b";
    let client = Client { redirect_uris: vec![uri.to_owned()], ..Client::default() };
    let practice =
        Practice::start(Options { clients: vec![client], consent: Consent::Approve, ..Options::default() }).await;
    let changes = [("redirect_uri", Some(uri)), ("state", Some("with & and = and é, 16"))];
    let response = practice.client.get(authorize(&practice.sandbox.url(), &changes)).send().await.unwrap();
    let back = location(&response);
    assert!(back.as_str().starts_with(&format!("{uri}&code=")), "{back}");
    assert_eq!(parameter(&back, "state").as_deref(), Some("with & and = and é, 16"));
}

#[tokio::test]
async fn a_sandbox_that_asks_nobody_approves_or_refuses_at_once() {
    for (consent, granted) in [(Consent::Approve, true), (Consent::Deny, false)] {
        let practice = Practice::start(Options { consent, ..Options::default() }).await;
        let response = practice.client.get(authorize(&practice.sandbox.url(), &[])).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::FOUND);
        let back = location(&response);
        assert_eq!(parameter(&back, "code").is_some(), granted);
        assert_eq!(parameter(&back, "error").as_deref(), (!granted).then_some("access_denied"));
        assert_eq!(parameter(&back, "state").as_deref(), Some(STATE));
    }
}

#[tokio::test]
async fn where_nobody_is_asked_the_login_hint_names_the_user() {
    let options = Options {
        consent: Consent::Approve,
        users: vec![docsyncd_sandbox::Account::new("marc.petit@autre.example")],
        ..Options::default()
    };
    let practice = Practice::start(options).await;
    for (hint, email) in [(None, CLAIRE), (Some("marc.petit@autre.example"), "marc.petit@autre.example")] {
        let code = practice.code(&[("login_hint", hint)]).await;
        let tokens: Value = practice.tokens(&exchange(&code)).await;
        let (_, me) = practice.me(tokens["access_token"].as_str().unwrap()).await;
        assert_eq!(me["email"], email);
    }
    let nobody = authorize(&practice.sandbox.url(), &[("login_hint", Some("nobody@else.example"))]);
    let response = practice.client.get(nobody).send().await.unwrap();
    assert_eq!(parameter(&location(&response), "error").as_deref(), Some("access_denied"));
}
