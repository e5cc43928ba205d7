//! The browser runs on another computer, and a person carries its address over.

use std::process::Stdio;

use docsyncd_sandbox::Consent;

use super::{Clinic, Login, get, sent_back};

#[tokio::test]
async fn the_redirected_address_can_be_pasted() {
    let clinic = Clinic::with(Consent::Approve).await;
    let mut login = clinic.login().await;
    let callback = sent_back(&login.address).await;
    login.paste("").await;
    login.paste("https://app.example.test/").await;
    login.paste(&clinic.callback("code=abc&state=of-another-sign-in")).await;
    login.paste(&format!("  \"{callback}\"  ")).await;
    let ended = login.ended().await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stdout.contains("paste it here"), "{ended:?}");
    assert!(ended.stderr.contains("that is not the address"), "{ended:?}");
    assert!(ended.stderr.contains("belongs to another sign-in"), "{ended:?}");
    assert!(ended.stdout.contains("signed in as Claire Delaunay"), "{ended:?}");
    assert!(clinic.tokens("main").is_some());
}

#[tokio::test]
async fn its_query_is_enough() {
    let clinic = Clinic::with(Consent::Approve).await;
    let mut login = clinic.login().await;
    let callback = sent_back(&login.address).await;
    login.paste(callback.split_once('?').unwrap().1).await;
    let ended = login.ended().await;
    assert_eq!(ended.code, 0, "{ended:?}");
}

#[tokio::test]
async fn a_refusal_can_be_pasted_too() {
    let clinic = Clinic::with(Consent::Deny).await;
    let mut login = clinic.login().await;
    let callback = sent_back(&login.address).await;
    login.paste(&callback).await;
    let ended = login.ended().await;
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(ended.stderr.contains("access_denied"), "{ended:?}");
}

#[tokio::test]
async fn without_standard_input_it_waits_for_the_browser() {
    let clinic = Clinic::with(Consent::Approve).await;
    let login = Login::start(clinic.practice.command(&["login", "--no-browser"]), Stdio::null()).await;
    assert_eq!(get(&sent_back(&login.address).await, "en").await.status, 200);
    assert_eq!(login.ended().await.code, 0);
    let mut login = clinic.login().await;
    login.stdin = None;
    assert_eq!(get(&sent_back(&login.address).await, "en").await.status, 200);
    assert_eq!(login.ended().await.code, 0);
}
