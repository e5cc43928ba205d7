//! Signing in, and how the page protects itself.

use std::time::Duration;

use docsyncd_sandbox::{Account, ApiKey, Options};
use reqwest::StatusCode;

use super::browser::Browser;
use super::{CLAIRE, authorize};
use crate::harness::Practice;

const HOUR: Duration = Duration::from_secs(3600);

#[tokio::test]
async fn the_page_is_at_both_addresses_and_on_the_origin_of_the_application() {
    let options = Options { app_listen: Some("127.0.0.1:0".parse().unwrap()), ..Options::default() };
    let practice = Practice::start(options).await;
    assert_ne!(practice.sandbox.app_url(), practice.sandbox.url());
    for origin in [practice.sandbox.url(), practice.sandbox.app_url()] {
        for path in ["/authorize", "/oauth/authorize"] {
            let mut address = authorize(&origin, &[]);
            address.set_path(path);
            let browser = Browser::new("en");
            let page = browser.open(address).await;
            assert_eq!(page.status, StatusCode::OK, "{origin}{path}");
            let consent = browser.sign_in(&page, CLAIRE, "sandbox").await;
            assert_eq!(consent.address.path(), path);
            assert_eq!(consent.boxes(), ["organization", "profile"], "{origin}{path}");
        }
    }
    let elsewhere = practice.client.get(format!("{}/documents", practice.sandbox.app_url())).send().await.unwrap();
    assert_eq!(elsewhere.status(), StatusCode::NOT_FOUND, "the application's origin has nothing else");
}

#[tokio::test]
async fn without_an_origin_of_its_own_the_application_is_at_the_api() {
    let practice = Practice::with_documents(0).await;
    assert_eq!(practice.sandbox.app_url(), practice.sandbox.url());
}

#[tokio::test]
async fn a_wrong_password_shows_the_form_again_with_what_was_typed() {
    let practice = Practice::with_documents(0).await;
    let browser = Browser::new("en");
    let page = browser.open(authorize(&practice.sandbox.url(), &[])).await;
    for (email, password) in [(CLAIRE, "wrong"), ("nobody@else.example", "sandbox"), (CLAIRE, "")] {
        let again = browser.submit(&page, &[("do", "sign-in"), ("email", email), ("password", password)]).await;
        assert_eq!(again.status, StatusCode::UNPROCESSABLE_ENTITY, "{email} {password}");
        assert!(again.html.contains("The email address or the password is wrong."));
        assert!(again.html.contains(&format!("value=\"{email}\"")));
        assert!(!again.html.contains("id=\"approve\""));
    }
    let consent = browser.sign_in(&page, &CLAIRE.to_uppercase(), "sandbox").await;
    assert!(consent.html.contains("Claire Delaunay"), "capital letters in the address do not matter");
}

#[tokio::test]
async fn people_sign_in_with_their_own_password_and_see_their_own_name() {
    let options = Options {
        api_keys: vec![ApiKey::new("one"), ApiKey::of_user("two", "marc.petit@autre.example")],
        users: vec![Account::new("zoe.martin@autre.example").with_password("her own")],
        ..Options::default()
    };
    let practice = Practice::start(options).await;
    let address = authorize(&practice.sandbox.url(), &[]);
    for (email, password, name) in [
        (CLAIRE, "sandbox", "Claire Delaunay"),
        ("marc.petit@autre.example", "sandbox", "Marc Petit"),
        ("zoe.martin@autre.example", "her own", "Zoe Martin"),
    ] {
        let browser = Browser::new("en");
        let page = browser.open(address.clone()).await;
        assert!(page.html.contains(email), "the page says who is there");
        assert!(browser.sign_in(&page, email, password).await.html.contains(name));
    }
    let browser = Browser::new("en");
    let page = browser.open(address).await;
    let fields = [("do", "sign-in"), ("email", "zoe.martin@autre.example"), ("password", "sandbox")];
    assert_eq!(browser.submit(&page, &fields).await.status, StatusCode::UNPROCESSABLE_ENTITY);
}

#[tokio::test]
async fn the_page_speaks_the_language_of_the_browser() {
    let practice = Practice::with_documents(0).await;
    let address = authorize(&practice.sandbox.url(), &[]);
    for (wish, lang, sign_in, consent) in [
        ("fr-FR,fr;q=0.9,en;q=0.5", "fr", "Mot de passe", "Voir les informations de votre cabinet"),
        ("en-GB", "en", "Password", "See your practice’s information"),
    ] {
        let browser = Browser::new(wish);
        let page = browser.open(address.clone()).await;
        assert_eq!(page.headers["content-language"], lang);
        assert!(page.html.contains(&format!("<html lang=\"{lang}\">")) && page.html.contains(sign_in), "{}", page.html);
        assert!(browser.sign_in(&page, CLAIRE, "sandbox").await.html.contains(consent));
    }
}

#[tokio::test]
async fn a_login_hint_fills_in_the_email_address() {
    let practice = Practice::with_documents(0).await;
    let hint = [("login_hint", Some("\"><b>x"))];
    let page = Browser::new("en").open(authorize(&practice.sandbox.url(), &hint)).await;
    assert!(page.html.contains("value=\"&quot;&gt;&lt;b&gt;x\""), "and is escaped: {}", page.html);
}

#[tokio::test]
async fn no_page_runs_scripts_is_framed_or_stays_in_a_cache() {
    let practice = Practice::with_documents(0).await;
    let browser = Browser::new("en");
    let sign_in = browser.open(authorize(&practice.sandbox.url(), &[])).await;
    let consent = browser.sign_in(&sign_in, CLAIRE, "sandbox").await;
    let trouble = browser.open(authorize(&practice.sandbox.url(), &[("client_id", None)])).await;
    for page in [&sign_in, &consent, &trouble] {
        let policy = page.headers["content-security-policy"].to_str().unwrap();
        assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{policy}");
        assert!(!policy.contains("unsafe") && !page.html.contains("<script"));
        assert_eq!(page.headers["x-frame-options"], "DENY");
        assert_eq!(page.headers["cache-control"], "no-store");
        assert_eq!(page.headers["referrer-policy"], "no-referrer");
        assert!(page.headers["content-type"].to_str().unwrap().starts_with("text/html"));
    }
    let cookies: Vec<&str> =
        sign_in.headers.get_all("set-cookie").iter().map(|value| value.to_str().unwrap()).collect();
    assert!(!cookies.is_empty());
    assert!(cookies.iter().all(|cookie| cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax")), "{cookies:?}");
}

#[tokio::test]
async fn a_form_that_does_not_come_from_the_page_does_nothing() {
    let practice = Practice::with_documents(0).await;
    let browser = Browser::new("en");
    let page = browser.open(authorize(&practice.sandbox.url(), &[])).await;
    let credentials = [("do", "sign-in"), ("email", CLAIRE), ("password", "sandbox")];
    let foreign = browser.submit_exactly(&page, &credentials).await;
    assert_eq!(foreign.status, StatusCode::FORBIDDEN);
    assert!(foreign.html.contains("not sent from this page"));
    let stranger = Browser::new("en").submit(&page, &credentials).await;
    assert_eq!(stranger.status, StatusCode::FORBIDDEN, "another browser does not have the cookie");

    let consent = browser.sign_in(&page, CLAIRE, "sandbox").await;
    for action in ["approve", "refuse", "switch-account"] {
        for csrf in [None, Some("guessed")] {
            let mut fields = vec![("do", action), ("scope", "profile")];
            fields.extend(csrf.map(|csrf| ("csrf", csrf)));
            let foreign = browser.submit_exactly(&consent, &fields).await;
            assert_eq!(foreign.status, StatusCode::FORBIDDEN, "{action} {csrf:?}");
            assert!(!foreign.headers.contains_key("location"));
        }
    }
    let still = browser.open(consent.address.clone()).await;
    assert!(still.html.contains("Claire Delaunay"), "and she is still signed in");
    let nonsense = browser.submit(&consent, &[("do", "dance")]).await;
    assert_eq!(nonsense.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_session_ends_after_twelve_hours_and_when_another_account_is_wanted() {
    let practice = Practice::with_documents(0).await;
    let browser = Browser::new("en");
    let address = authorize(&practice.sandbox.url(), &[]);
    let page = browser.open(address.clone()).await;
    let consent = browser.sign_in(&page, CLAIRE, "sandbox").await;
    assert!(browser.open(address.clone()).await.html.contains("id=\"approve\""), "she need not sign in twice");

    let copy = browser.copy();
    let answer = browser.submit(&consent, &[("do", "switch-account")]).await;
    let page = browser.follow(&answer).await;
    assert!(page.html.contains("id=\"sign-in\""));
    assert!(copy.open(address).await.html.contains("id=\"sign-in\""), "the old cookie is worth nothing any more");

    let consent = browser.sign_in(&page, CLAIRE, "sandbox").await;
    practice.sandbox.advance_clock(12 * HOUR);
    let late = browser.submit(&consent, &[("do", "approve"), ("scope", "profile")]).await;
    assert!(browser.follow(&late).await.html.contains("id=\"sign-in\""));
}
