//! Requests that no person is asked about.

use docsyncd_sandbox::{Client, Options, Sandbox, SandboxError};
use reqwest::{StatusCode, header};
use url::Url;

use super::browser::Browser;
use super::{CALLBACK, STATE, authorize, location, parameter};
use crate::harness::Practice;

#[tokio::test]
async fn where_the_way_back_is_uncertain_the_person_is_told_and_nobody_is_redirected() {
    let practice = Practice::with_documents(0).await;
    for (name, value) in [
        ("client_id", Some("somebody-else")),
        ("client_id", None),
        ("redirect_uri", None),
        ("redirect_uri", Some("https://evil.example/callback")),
        ("redirect_uri", Some("http://127.0.0.1:8976/callback/")),
        ("redirect_uri", Some("http://127.0.0.1:8976/callback?x=1")),
        ("redirect_uri", Some("http://127.0.0.1:8977/callback")),
        ("redirect_uri", Some("http://127.0.0.1:8976/Callback")),
        ("redirect_uri", Some("<script>alert(1)</script>")),
    ] {
        // Even where something else is wrong as well, which would be told to an application that is known.
        for state in [STATE, "short"] {
            let address = authorize(&practice.sandbox.url(), &[(name, value), ("state", Some(state))]);
            let page = Browser::new("en").open(address).await;
            assert_eq!(page.status, StatusCode::BAD_REQUEST, "{name} {value:?}");
            assert!(!page.headers.contains_key(header::LOCATION));
            assert!(page.html.contains("This request cannot be followed") && page.html.contains(name), "{}", page.html);
            assert!(!page.html.contains("<script"));
        }
    }
}

#[tokio::test]
async fn a_redirect_uri_that_comes_twice_is_no_way_back() {
    let practice = Practice::with_documents(0).await;
    let mut address = authorize(&practice.sandbox.url(), &[]);
    address.query_pairs_mut().append_pair("redirect_uri", CALLBACK);
    assert_eq!(Browser::new("en").open(address).await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn every_other_mistake_is_invalid_request_and_told_to_the_application() {
    let practice = Practice::with_documents(0).await;
    for (name, value) in [
        ("response_type", Some("token")),
        ("response_type", None),
        ("state", None),
        ("state", Some("fifteen letters")),
        ("scope", None),
        ("scope", Some(" ")),
        ("scope", Some("profile read:teeth")),
        ("code_challenge", Some("short")),
        ("code_challenge_method", Some("S256")),
    ] {
        let response = practice.client.get(authorize(&practice.sandbox.url(), &[(name, value)])).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::FOUND, "{name} {value:?}");
        let back = location(&response);
        assert!(back.as_str().starts_with(CALLBACK));
        assert_eq!(parameter(&back, "error").as_deref(), Some("invalid_request"), "{name} {value:?}");
        let description = parameter(&back, "error_description").unwrap();
        assert!(description.starts_with(name), "{name}: {description}");
        let state = if name == "state" { value } else { Some(STATE) };
        assert_eq!(parameter(&back, "state").as_deref(), state, "{name} {value:?}");
    }
}

#[tokio::test]
async fn a_parameter_that_comes_twice_is_invalid_request() {
    let practice = Practice::with_documents(0).await;
    let mut address = authorize(&practice.sandbox.url(), &[]);
    address.query_pairs_mut().append_pair("scope", "profile");
    let back = location(&practice.client.get(address).send().await.unwrap());
    assert_eq!(parameter(&back, "error_description").as_deref(), Some("scope was sent more than once."));
}

#[tokio::test]
async fn a_form_is_held_against_the_request_in_its_address() {
    let practice = Practice::with_documents(0).await;
    let browser = Browser::new("en");
    let mut page = browser.open(authorize(&practice.sandbox.url(), &[])).await;
    page.html = page.html.replace("8976", "8977");
    let answer = browser.submit(&page, &[("do", "sign-in"), ("email", super::CLAIRE), ("password", "sandbox")]).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn other_methods_are_405_with_the_body_of_the_api() {
    let practice = Practice::with_documents(0).await;
    let address = Url::parse(&practice.sandbox.url()).unwrap();
    for path in ["/oauth2/token", "/authorize", "/oauth/authorize"] {
        let response = practice.client.delete(address.join(path).unwrap()).send().await.unwrap();
        let (status, body) = crate::harness::status_and_body(response).await;
        assert_eq!((status, crate::harness::members(&body)), (405, crate::harness::PROBLEM.to_vec()), "{path}");
    }
}

#[tokio::test]
async fn a_redirect_address_that_no_browser_could_be_sent_to_ends_the_start() {
    for uri in ["/callback", "http://127.0.0.1/#fragment"] {
        let client = Client { redirect_uris: vec![uri.to_owned()], ..Client::default() };
        let started = Sandbox::start(Options { clients: vec![client], ..Options::default() }).await;
        assert!(matches!(started, Err(SandboxError::RedirectUri { .. })), "{uri}");
    }
}

#[tokio::test]
async fn an_application_that_may_not_ask_is_told_so() {
    let quirks = docsyncd_sandbox::Quirks { unauthorized_client: true, ..docsyncd_sandbox::Quirks::default() };
    let practice = Practice::start(Options { quirks, ..Options::default() }).await;
    let answer = practice.client.get(authorize(&practice.sandbox.url(), &[])).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::FOUND);
    let back = location(&answer);
    assert!(back.as_str().starts_with(CALLBACK), "{back}");
    assert_eq!(parameter(&back, "error").as_deref(), Some("unauthorized_client"));
    assert_eq!(parameter(&back, "state").as_deref(), Some(STATE));
}
