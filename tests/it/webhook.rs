//! Webhooks of the API as nudges: registered once, heard only when they are genuine, and never needed.

use std::time::{Duration, Instant};

use docsyncd_sandbox::{ApiKey, Fault, FaultKind, NewDocument, Options, Route};
use rusqlite::Connection;
use serde_json::Value;

use crate::dictated::small;
use crate::harness::{Practice, Running};
use crate::status_page::Page;

/// A port that is free just now.
fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn section(port: u16) -> String {
    format!("[webhook]\npublic_url = \"http://127.0.0.1:{port}/hook\"\nlisten = \"127.0.0.1:{port}\"\n")
}

/// A practice that polls once an hour and hears webhooks on this port.
async fn practice() -> (Practice, u16) {
    let (practice, port) = (Practice::with_documents(0).await, free_port());
    practice.configure(&section(port));
    (practice, port)
}

async fn hears(practice: &Practice) -> Running {
    let mut running = practice.run().await;
    running.wait_for_log("event=\"webhook_registered\"").await;
    running.wait_for_log("event=\"webhook\"").await;
    running
}

/// What is registered at the API.
async fn registered(practice: &Practice) -> Vec<Value> {
    let answer = practice.docsyncd(&["api", "GET", "/webhooks"]).await;
    assert_eq!(answer.code, 0, "{answer:?}");
    serde_json::from_str(&answer.stdout).unwrap()
}

fn polls(practice: &Practice) -> usize {
    practice.sandbox.requests().iter().filter(|request| request.path == "/documents").count()
}

#[tokio::test]
async fn a_letter_is_filed_at_once_and_one_webhook_is_registered_whatever_is_repeated() {
    let (practice, port) = practice().await;
    let mut running = hears(&practice).await;
    for count in 1..=3 {
        // Polls come once an hour.
        practice.sandbox.add(small("letter")).await.unwrap();
        practice.wait_for_posts(count).await;
        assert_eq!(practice.filed().len(), count);
        if count == 2 {
            // The report of a letter is a nudge, too, and the next letter must not wait for what it holds up.
            tokio::time::sleep(Duration::from_millis(60)).await;
        }
    }
    running.end().await;
    let there = registered(&practice).await;
    assert_eq!((there.len(), there[0]["url"].as_str()), (1, Some(&*format!("http://127.0.0.1:{port}/hook/main"))));
    // The one that is there stays; without the section it goes.
    let mut running = practice.run().await;
    running.wait_for_log("event=\"webhook\"").await;
    practice.sandbox.add(small("letter")).await.unwrap();
    practice.wait_for_posts(4).await;
    assert_eq!(registered(&practice).await, there);
    practice.configure("");
    running.wait_for_log("event=\"webhook_removed\"").await;
    assert!(registered(&practice).await.is_empty());
    running.end().await;
}

#[tokio::test]
async fn each_of_two_accounts_has_a_webhook_of_its_own_and_is_polled_alone() {
    let colleague = ApiKey::of_user("second-key", "paul.martin@cabinet-martin.example");
    let api_keys = vec![ApiKey::new("first-key"), colleague];
    let practice = Practice::with_options(Options { api_keys, ..Options::default() }).await;
    practice.write_secret("second-key", "second-key");
    let port = free_port();
    practice.configure(&format!("[accounts.second]\napi_key_file = 'second-key'\n{}", section(port)));
    let mut running = practice.run().await;
    running.wait_for_logs("event=\"webhook_registered\"", 2).await;
    running.wait_for_log("event=\"webhook\"").await;
    for (account, place) in [("main", "/hook/main"), ("second", "/hook/second")] {
        let answer = practice.docsyncd(&["api", "--account", account, "GET", "/webhooks"]).await;
        let there: Vec<Value> = serde_json::from_str(&answer.stdout).unwrap();
        assert_eq!((there.len(), there[0]["url"].as_str()), (1, Some(&*format!("http://127.0.0.1:{port}{place}"))));
    }
    // Polls come once an hour: only the webhook of its own account brings a letter in.
    practice.sandbox.add(NewDocument { owner: Some("second-key".into()), ..small("letter") }).await.unwrap();
    practice.wait_for_posts(1).await;
    // Its report is a nudge as well.
    tokio::time::sleep(Duration::from_secs(1)).await;
    practice.sandbox.forget_requests();
    practice.sandbox.add(small("letter")).await.unwrap();
    practice.wait_for_posts(2).await;
    let second = practice.sandbox.requests().into_iter().filter(|request| {
        request.path == "/documents" && request.authorization.as_deref() == Some("Bearer second-key")
    });
    assert_eq!(second.count(), 0, "the other account was left alone");
    running.end().await;
}

#[tokio::test]
async fn an_account_that_has_another_name_takes_the_webhook_of_the_old_one_away() {
    let (practice, port) = practice().await;
    hears(&practice).await.end().await;
    let file = practice.config_path();
    let renamed = std::fs::read_to_string(&file).unwrap().replace("[accounts.main]", "[accounts.praxis]");
    std::fs::write(&file, renamed).unwrap();
    let mut running = practice.run().await;
    running.wait_for_log("event=\"webhook_removed\"").await;
    running.wait_for_log("event=\"webhook_registered\"").await;
    running.end().await;
    let there = registered(&practice).await;
    assert_eq!((there.len(), there[0]["url"].as_str()), (1, Some(&*format!("http://127.0.0.1:{port}/hook/praxis"))));
}

#[tokio::test]
async fn a_lost_reply_leaves_one_registration_whose_secret_is_known() {
    let (practice, _) = practice().await;
    practice.sandbox.inject(Fault::always(Route::Endpoint("POST /webhooks"), FaultKind::LostReply).times(2));
    let mut running = hears(&practice).await;
    assert!(running.log().contains("webhook_not_registered"), "{}", running.log());
    assert_eq!(registered(&practice).await.len(), 1);
    practice.sandbox.add(small("letter")).await.unwrap();
    practice.wait_for_posts(1).await;
    running.end().await;
}

#[tokio::test]
async fn only_what_is_signed_now_with_the_secret_makes_it_poll_and_a_flood_no_more_than_four_times_a_second() {
    let (practice, port) = practice().await;
    let mut page = Page { running: hears(&practice).await, address: ([127, 0, 0, 1], port).into() };
    let db = Connection::open(practice.ledger()).unwrap();
    let secret: String = db.query_row("SELECT secret FROM webhook", [], |row| row.get(0)).unwrap();
    let signer = standardwebhooks::Webhook::new(&secret).unwrap();
    let now = || jiff::Timestamp::now().as_second();
    let body = r#"{"type":"document.created","data":{"uuid":"never-heard-of"}}"#;
    let signed = |body: &str, at: i64| {
        let signature = signer.sign("msg_1", at, body.as_bytes()).unwrap();
        [("webhook-id", "msg_1".to_owned()), ("webhook-timestamp", at.to_string()), ("webhook-signature", signature)]
    };
    let before = polls(&practice);
    let good = signed(body, now());
    let large = "x".repeat(70 * 1024);
    for (method, path, headers, body, status) in [
        ("POST", "/hook/main", &good[..2], body, 401),
        ("POST", "/hook/main", &good[..], "{}", 401),
        ("POST", "/hook/main", &signed(body, now() - 400)[..], body, 401),
        ("POST", "/hook/main", &signed(body, now() + 400)[..], body, 401),
        ("POST", "/hook/other", &good[..], body, 404),
        ("POST", "/", &good[..], body, 404),
        ("GET", "/hook/main", &good[..], "", 405),
        ("POST", "/hook/main", &signed(&large, now())[..], &large, 413),
        ("POST", "/hook/main", &signed(r#"{"type":"audio.created"}"#, now())[..], r#"{"type":"audio.created"}"#, 204),
        ("POST", "/hook/main", &signed("no json", now())[..], "no json", 204),
    ] {
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let answer = page.ask(method, path, &headers, body).await;
        assert_eq!((answer.status, answer.body.as_str()), (status, ""), "{method} {path} {headers:?}: {answer:?}");
    }
    assert_eq!(polls(&practice), before, "nothing of that made it look");
    let (began, mut sent) = (Instant::now(), 0);
    while began.elapsed() < Duration::from_secs(3) || sent <= 20 {
        let headers = signed(body, now());
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        assert_eq!(page.ask("POST", "/hook/main", &headers, body).await.status, 204);
        sent += 1;
    }
    let (polled, took) = (polls(&practice) - before, began.elapsed());
    let most = usize::try_from(took.as_millis() / 250).unwrap() + 2;
    assert!((1..=most).contains(&polled), "{polled} polls for {sent} nudges in {took:?}");
    page.running.end().await;
}

#[tokio::test]
async fn a_port_that_is_taken_is_said_by_check_and_once_by_the_daemon_which_goes_on() {
    let (practice, port) = practice().await;
    let checked = practice.docsyncd(&["check"]).await;
    assert_eq!(checked.code, 0, "{checked:?}");
    for sign in ["is free; the daemon will listen there", "the account may register one"] {
        assert!(checked.stdout.contains(sign), "{checked:?}");
    }
    assert!(registered(&practice).await.is_empty(), "what check tried is taken back");
    let other = std::net::TcpListener::bind(("127.0.0.1", port)).unwrap();
    let checked = practice.docsyncd(&["check"]).await;
    assert!(checked.code == 1 && checked.stdout.contains("(webhook.listen): another program uses it"), "{checked:?}");
    practice.sandbox.add(small("letter")).await.unwrap();
    let mut running = practice.run().await;
    running.wait_for_log("event=\"webhook_unavailable\"").await;
    practice.wait_for_posts(1).await;
    drop(other);
    running.end().await;
    practice.configure("[webhook]\nlisten = \"127.0.0.1:1\"\n");
    let wrong = practice.docsyncd(&["check"]).await;
    assert!(
        wrong.code == 2 && wrong.stderr.contains("`webhook.listen` stands without `webhook.public_url`"),
        "{wrong:?}"
    );
    let odd = "[webhook]\npublic_url = \"ftp://docsyncd.practice.test/\"\nlisten = \"127.0.0.1:1\"\n";
    practice.configure(odd);
    let wrong = practice.docsyncd(&["check"]).await;
    assert!(wrong.code == 2 && !wrong.stderr.contains("stands without"), "one mistake, one message: {wrong:?}");
}
