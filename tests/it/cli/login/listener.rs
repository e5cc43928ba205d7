//! The address on this computer: who may say something there, and what is heard.

use docsyncd_sandbox::Consent;
use reqwest::header::HOST;

use super::{Clinic, browser, get, read, sent_back};

#[tokio::test]
async fn an_answer_with_another_state_changes_nothing_and_the_right_one_still_counts() {
    let clinic = Clinic::with(Consent::Approve).await;
    let login = clinic.login().await;
    let wrong = get(&clinic.callback("code=abc&state=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"), "en").await;
    assert_eq!(wrong.status, 400);
    assert!(wrong.body.contains("not the sign-in that docsyncd waits for"), "{wrong:?}");
    let empty = get(&clinic.callback(""), "en").await;
    assert!(empty.status == 400 && empty.body.contains("says nothing"), "{empty:?}");
    assert_eq!(clinic.exchanges(), 0, "a code of somebody else is never exchanged");
    assert_eq!(get(&sent_back(&login.address).await, "en").await.status, 200);
    let ended = login.ended().await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stderr.contains("wrong state") && ended.stderr.contains("Still waiting"), "{ended:?}");
}

#[tokio::test]
async fn forged_answers_however_many_do_not_end_it() {
    let clinic = Clinic::with(Consent::Approve).await;
    let login = clinic.login().await;
    for number in 0..50 {
        let forged = ["code=abc&state=made-up", "error=access_denied&state=made-up", "error=access_denied", "x"];
        assert_eq!(get(&clinic.callback(forged[number % forged.len()]), "en").await.status, 400);
    }
    assert_eq!(clinic.exchanges(), 0);
    assert_eq!(get(&sent_back(&login.address).await, "en").await.status, 200);
    let ended = login.ended().await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(ended.stderr.matches("Still waiting").count(), 10, "the terminal is not flooded: {ended:?}");
    assert!(ended.stderr.contains("ten answers came"), "{ended:?}");
    assert!(clinic.tokens("main").is_some());
}

#[tokio::test]
async fn only_one_address_and_method_are_answered_and_only_under_its_own_name() {
    let clinic = Clinic::with(Consent::Approve).await;
    let login = clinic.login().await;
    let callback = sent_back(&login.address).await;
    let root = format!("http://127.0.0.1:{}", clinic.port);
    for path in ["/", "/favicon.ico", "/callback/", "/CALLBACK"] {
        assert_eq!(get(&format!("{root}{path}"), "en").await.status, 404, "{path}");
    }
    let posted = read(browser().post(&callback).send().await.unwrap()).await;
    assert_eq!((posted.status, posted.header("allow")), (405, "GET"));
    let head = read(browser().head(&callback).send().await.unwrap()).await;
    assert_eq!(head.status, 405, "a look ahead uses nothing up");
    for host in ["evil.example", "127.0.0.1", "127.0.0.1.evil.example:80", ""] {
        let foreign = read(browser().get(&callback).header(HOST, host).send().await.unwrap()).await;
        assert_eq!(foreign.status, 421, "{host}");
    }
    let long = get(&clinic.callback(&"x".repeat(32 * 1024)), "en").await;
    assert!(long.status == 431 || long.status == 414, "{long:?}");
    assert_eq!(get(&callback, "en").await.status, 200, "the answer is unused");
    let ended = login.ended().await;
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended:?}");
}

#[tokio::test]
async fn a_port_that_is_taken_is_said_with_the_setting() {
    let clinic = Clinic::with(Consent::Approve).await;
    let first = clinic.login().await;
    let ended = clinic.practice.docsyncd(&["login", "--no-browser"]).await;
    assert_eq!((ended.code, ended.stdout.as_str()), (1, ""), "{ended:?}");
    for text in [&format!("port {}", clinic.port), "accounts.main.redirect_port", "another docsyncd login"] {
        assert!(ended.stderr.contains(text), "{text}: {ended:?}");
    }
    assert_eq!(get(&sent_back(&first.address).await, "en").await.status, 200, "the first goes on");
    assert_eq!(first.ended().await.code, 0);
}
