//! A sign-in that succeeds.

use std::time::Duration;

use docsyncd_sandbox::{ApiKey, Consent, Fault, FaultKind, Options, Route};
use secrecy::ExposeSecret as _;

use super::{CLAIRE, Clinic, browser, get, parameter, sent_back};
use crate::harness::PATIENCE;

#[tokio::test]
async fn whoever_approves_is_signed_in_and_named() {
    let clinic = Clinic::with(Consent::Approve).await;
    let login = clinic.login().await;
    let page = get(&sent_back(&login.address).await, "en").await;
    assert_eq!(page.status, 200, "{page:?}");
    for text in ["You are signed in", "Claire Delaunay", CLAIRE, "You can close this window."] {
        assert!(page.body.contains(text), "{text}: {page:?}");
    }
    let ended = login.ended().await;
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended:?}");
    let registered = format!("http://127.0.0.1:{}/callback, which the operator has to have registered", clinic.port);
    assert!(ended.stdout.contains(&registered), "{ended:?}");
    let said = format!("signed in as Claire Delaunay <{CLAIRE}>, practice Cabinet dentaire Delaunay (account main)");
    assert!(ended.stdout.contains(&said), "{ended:?}");
    let tokens = clinic.tokens("main").expect("they are saved");
    assert_eq!(tokens.user.as_deref(), Some(CLAIRE));
    let me = browser().get(format!("{}/me", clinic.practice.sandbox.url()));
    let me = me.bearer_auth(tokens.access_token.expose_secret()).send().await.unwrap();
    assert_eq!(me.status(), 200, "the tokens are those of the server");
    let all = format!("{}{}", ended.stdout, ended.stderr);
    for secret in [&tokens.access_token, &tokens.refresh_token] {
        assert!(!all.contains(secret.expose_secret()), "no secret is printed");
    }
}

/// API, "Flow", step 1, and RFC 7636.
#[tokio::test]
async fn the_address_asks_for_all_that_the_description_wants() {
    let clinic = Clinic::with(Consent::Approve).await;
    let mut one = clinic.login().await;
    let value = |name| parameter(one.address.as_str(), name).unwrap_or_default();
    assert_eq!(one.address.path(), "/authorize");
    assert_eq!(value("response_type"), "code");
    assert_eq!(value("client_id"), "sandbox-client");
    assert_eq!(value("redirect_uri"), clinic.callback("").trim_end_matches('?'));
    assert_eq!(value("scope"), "profile organization read:documents write:documents read:patients");
    assert_eq!((value("state").len(), value("code_challenge").len()), (43, 43), "256 bits each");
    assert_eq!(value("code_challenge_method"), "S256");
    let state = value("state");
    // The second one needs the port of the first.
    one.child.kill().await.unwrap();
    let two = clinic.login().await;
    assert_ne!(parameter(two.address.as_str(), "state").unwrap(), state, "each sign-in has a state of its own");
}

#[tokio::test]
async fn the_other_address_of_the_page_and_another_path_back_can_be_chosen() {
    let mut clinic = Clinic::with(Consent::Approve).await;
    clinic.practice.env.insert("DOCSYNCD__API__AUTHORIZATION_PATH".into(), "/oauth/authorize".into());
    let login = clinic.login().await;
    assert_eq!(login.address.path(), "/oauth/authorize");
    assert_eq!(get(&sent_back(&login.address).await, "en").await.status, 200);
    assert_eq!(login.ended().await.code, 0);
    clinic.practice.env.insert("DOCSYNCD__ACCOUNTS__MAIN__REDIRECT_PATH".into(), "/back/here".into());
    let login = clinic.login().await;
    let uri = parameter(login.address.as_str(), "redirect_uri").unwrap();
    assert_eq!(uri, format!("http://127.0.0.1:{}/back/here", clinic.port));
    assert_eq!(get(&clinic.callback("code=x&state=y"), "en").await.status, 404);
    clinic.practice.env.insert("DOCSYNCD__ACCOUNTS__MAIN__REDIRECT_PATH".into(), "back?here".into());
    let ended = clinic.practice.docsyncd(&["login", "--no-browser"]).await;
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.stderr.contains("redirect_path"), "{ended:?}");
}

#[tokio::test]
async fn the_pages_are_french_for_a_french_browser() {
    let clinic = Clinic::with(Consent::Approve).await;
    let login = clinic.login().await;
    let stranger = get(&clinic.callback("code=x&state=y"), "fr-FR,fr;q=0.9,en;q=0.8").await;
    assert!(stranger.body.contains("Ce n'est pas la connexion"), "{stranger:?}");
    let page = get(&sent_back(&login.address).await, "fr-FR,fr;q=0.9,en;q=0.8").await;
    assert_eq!((page.status, page.header("content-language")), (200, "fr"), "{page:?}");
    for text in ["lang=\"fr\"", "Vous êtes connecté", "Vous pouvez fermer cette fenêtre."] {
        assert!(page.body.contains(text), "{text}: {page:?}");
    }
    assert_eq!(login.ended().await.code, 0);
}

#[tokio::test]
async fn a_page_may_do_nothing_but_be_shown() {
    let clinic = Clinic::with(Consent::Approve).await;
    let login = clinic.login().await;
    let page = get(&sent_back(&login.address).await, "en").await;
    let policy = page.header("content-security-policy");
    for part in ["default-src 'none'", "style-src 'sha256-", "frame-ancestors 'none'", "form-action 'none'"] {
        assert!(policy.contains(part), "{part}: {policy}");
    }
    assert_eq!((page.header("cache-control"), page.header("referrer-policy")), ("no-store", "no-referrer"));
    assert_eq!(login.ended().await.code, 0);
}

#[tokio::test]
async fn who_that_is_may_stay_unknown() {
    let clinic = Clinic::with(Consent::Approve).await;
    clinic.practice.sandbox.inject(Fault::always(Route::Endpoint("GET /me"), FaultKind::status(500)));
    let login = clinic.login().await;
    let page = get(&sent_back(&login.address).await, "en").await;
    assert_eq!(page.status, 200, "{page:?}");
    assert!(page.body.contains("You are signed in"), "{page:?}");
    let ended = login.ended().await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stdout.contains("account main is signed in"), "{ended:?}");
    assert!(ended.stderr.contains("warning") && ended.stderr.contains("HTTP 500"), "{ended:?}");
    assert!(clinic.tokens("main").is_some());
}

#[tokio::test]
async fn the_tokens_are_saved_before_anything_else_can_go_wrong() {
    let clinic = Clinic::with(Consent::Approve).await;
    clinic.practice.sandbox.inject(Fault::always(Route::Endpoint("GET /me"), FaultKind::Stall));
    let mut login = clinic.login().await;
    let callback = sent_back(&login.address).await;
    let browser = tokio::spawn(async move { browser().get(callback).send().await });
    let asked = |view: &docsyncd_sandbox::View| view.requests().any(|request| request.path == "/me");
    let seen = clinic.practice.sandbox.wait_for(asked, PATIENCE).await;
    seen.expect("it asks who that is");
    login.child.kill().await.unwrap();
    assert!(clinic.tokens("main").is_some());
    browser.abort();
}

#[tokio::test]
async fn another_person_than_before_is_signed_in_with_a_warning() {
    let marc = "marc@cabinet-delaunay.example";
    let api_keys = vec![ApiKey::new("key-a"), ApiKey::of_user("key-b", marc)];
    let clinic = Clinic::with_options(Options { consent: Consent::Approve, api_keys, ..Options::default() }).await;
    for (hint, warned) in [(CLAIRE, false), (CLAIRE, false), (marc, true), (marc, false)] {
        let login = clinic.login().await;
        let mut address = login.address.clone();
        address.query_pairs_mut().append_pair("login_hint", hint);
        assert_eq!(get(&sent_back(&address).await, "en").await.status, 200);
        let ended = login.ended().await;
        assert_eq!(ended.code, 0, "{ended:?}");
        assert!(ended.stdout.contains(&format!("<{hint}>")), "{ended:?}");
        let warning = ended.stderr.contains(&format!("was signed in as {CLAIRE} before"));
        assert_eq!(warning, warned, "{hint}: {ended:?}");
        assert_eq!(clinic.tokens("main").unwrap().user.as_deref(), Some(hint));
    }
}

#[tokio::test]
async fn two_answers_at_once_are_one_sign_in() {
    let clinic = Clinic::with(Consent::Approve).await;
    // Long enough that the second arrives while the first is being exchanged.
    let slow = FaultKind::Delay(Duration::from_secs(3));
    clinic.practice.sandbox.inject(Fault::once(Route::Token, slow));
    let login = clinic.login().await;
    let callback = sent_back(&login.address).await;
    let (one, two) = tokio::join!(get(&callback, "en"), get(&callback, "en"));
    let mut statuses = [one.status, two.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 410], "{one:?} {two:?}");
    let second = if one.status == 410 { one } else { two };
    assert!(second.body.contains("already used"), "{second:?}");
    assert_eq!(login.ended().await.code, 0);
    assert_eq!(clinic.exchanges(), 1, "a code is never sent twice");
}
