//! Sign-ins that come to nothing, each with what to do about it.

use std::time::Duration;

use docsyncd_sandbox::{Consent, Fault, FaultKind, Route};

#[cfg(unix)]
use super::browser;
use super::{Clinic, get, parameter, sent_back};
use crate::harness::Ended;
#[cfg(unix)]
use crate::harness::PATIENCE;

/// Nobody is signed in, and it was said why.
fn assert_nothing_changed(clinic: &Clinic, ended: &Ended, says: &[&str]) {
    assert_eq!(ended.code, 1, "{ended:?}");
    for text in says {
        assert!(ended.stderr.contains(text), "{text}: {ended:?}");
    }
    assert!(clinic.tokens("main").is_none());
}

#[tokio::test]
async fn whoever_refuses_is_not_signed_in() {
    let clinic = Clinic::with(Consent::Deny).await;
    for (language, headline) in
        [("en", "Access was refused"), ("fr", "L'accès a été refusé"), ("de", "Der Zugriff wurde")]
    {
        let login = clinic.login().await;
        let page = get(&sent_back(&login.address).await, language).await;
        assert_eq!(page.status, 400);
        assert!(page.body.contains(headline), "{page:?}");
        let says = ["Access was refused on the sign-in page", "access_denied", "login again and approve"];
        assert_nothing_changed(&clinic, &login.ended().await, &says);
    }
    assert_eq!(clinic.exchanges(), 0);
}

/// API, "Flow", step 5, and RFC 6749, section 4.1.2.1.
#[tokio::test]
async fn every_error_on_the_way_back_is_explained() {
    let clinic = Clinic::with(Consent::Approve).await;
    for (error, says) in [
        ("invalid_request", "redirect address http://127.0.0.1"),
        ("unauthorized_client", "Ask the operator to allow it"),
        ("invalid_scope", "Compare the account's scopes"),
        ("temporarily_unavailable", "in a few minutes"),
        ("strange_thing", "strange_thing: said <so>"),
    ] {
        let login = clinic.login().await;
        let state = parameter(login.address.as_str(), "state").unwrap();
        let query = format!("error={error}&error_description=said+%3Cso%3E%1B%5B2J&state={state}");
        let page = get(&clinic.callback(&query), "en").await;
        assert_eq!(page.status, 400, "{error}");
        assert!(page.body.contains("said &lt;so&gt;") && !page.body.contains("<so>"), "{page:?}");
        let ended = login.ended().await;
        assert!(!ended.stderr.contains('\u{1b}'), "{ended:?}");
        assert_nothing_changed(&clinic, &ended, &[says]);
    }
}

/// API, "Flow", step 4.
#[tokio::test]
async fn a_code_older_than_a_minute_is_refused_and_the_person_told() {
    let clinic = Clinic::with(Consent::Approve).await;
    let login = clinic.login().await;
    let callback = sent_back(&login.address).await;
    clinic.practice.sandbox.advance_clock(Duration::from_secs(61));
    let page = get(&callback, "en").await;
    assert_eq!(page.status, 400, "{page:?}");
    assert!(page.body.contains("no longer accepts this sign-in") && page.body.contains("60 seconds"), "{page:?}");
    let says = ["no longer accepts this sign-in", "invalid_grant", "login again"];
    assert_nothing_changed(&clinic, &login.ended().await, &says);
}

#[tokio::test]
async fn a_wrong_client_secret_is_named() {
    let clinic = Clinic::with(Consent::Approve).await;
    clinic.practice.write_secret("client-secret", "another-secret");
    let login = clinic.login().await;
    let page = get(&sent_back(&login.address).await, "en").await;
    assert!(page.body.contains("does not accept the application"), "{page:?}");
    let says = ["invalid_client", "client_id and client_secret_file"];
    assert_nothing_changed(&clinic, &login.ended().await, &says);
}

#[tokio::test]
async fn a_client_secret_that_is_missing_is_said_before_anybody_types_a_password() {
    let clinic = Clinic::with(Consent::Approve).await;
    std::fs::remove_file(clinic.practice.path("client-secret")).unwrap();
    let ended = clinic.practice.docsyncd(&["login", "--no-browser"]).await;
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{ended:?}");
    assert!(ended.stderr.contains("client_secret_file"), "{ended:?}");
}

#[tokio::test]
async fn a_server_that_goes_away_or_fails_leaves_nobody_signed_in() {
    let clinic = Clinic::with(Consent::Approve).await;
    for (fault, says) in [
        (FaultKind::Reset, "127.0.0.1"),
        (FaultKind::LostReply, "127.0.0.1"),
        (FaultKind::status(503), "HTTP 503"),
        (FaultKind::Html200, "proxy"),
    ] {
        clinic.practice.sandbox.inject(Fault::once(Route::Token, fault));
        let login = clinic.login().await;
        let page = get(&sent_back(&login.address).await, "en").await;
        assert_eq!(page.status, 400, "{page:?}");
        assert!(page.body.contains("could not be finished"), "{page:?}");
        assert_nothing_changed(&clinic, &login.ended().await, &["could not be finished", says]);
    }
    // And the next one works.
    let login = clinic.login().await;
    assert_eq!(get(&sent_back(&login.address).await, "en").await.status, 200);
    assert_eq!(login.ended().await.code, 0);
}

#[tokio::test]
async fn a_failure_leaves_an_earlier_sign_in_as_it_was() {
    let clinic = Clinic::with(Consent::Approve).await;
    let login = clinic.login().await;
    assert_eq!(get(&sent_back(&login.address).await, "en").await.status, 200);
    assert_eq!(login.ended().await.code, 0);
    let file = docsyncd::api::auth::TokenStore::new(&clinic.practice.ledger(), "main").path();
    let before = std::fs::read(&file).unwrap();
    let login = clinic.login().await;
    let state = parameter(login.address.as_str(), "state").unwrap();
    get(&clinic.callback(&format!("error=access_denied&state={state}")), "en").await;
    assert_eq!(login.ended().await.code, 1);
    assert_eq!(std::fs::read(&file).unwrap(), before);
}

/// The server cannot send the browser back, so that only the person can end it.
#[cfg(unix)]
#[tokio::test]
async fn a_redirect_address_that_is_not_registered_is_shown_by_the_server_and_ctrl_c_ends_the_wait() {
    let mut clinic = Clinic::with(Consent::Approve).await;
    clinic.practice.env.insert("DOCSYNCD__ACCOUNTS__MAIN__REDIRECT_PORT".into(), "0".into());
    let login = clinic.login().await;
    let page = read_page(login.address.as_str()).await;
    assert_eq!(page.0, 400);
    assert!(page.1.contains("redirect_uri"), "{page:?}");
    let id = login.child.id().unwrap().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let ended = login.ended().await;
    assert!(ended.stdout.contains("the operator has to have registered"), "{ended:?}");
    assert_nothing_changed(&clinic, &ended, &["interrupted: nothing was changed"]);
}

#[cfg(unix)]
async fn read_page(address: &str) -> (u16, String) {
    let answer = tokio::time::timeout(PATIENCE, browser().get(address).send()).await.unwrap().unwrap();
    (answer.status().as_u16(), answer.text().await.unwrap())
}
