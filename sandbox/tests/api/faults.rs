//! Faults given in Rust. What each kind does to a client is in `admin::fault_kinds`.

use std::time::Duration;

use docsyncd_sandbox::{Fault, FaultKind, Route};
use serde_json::{Value, json};

use crate::harness::{Practice, text};

async fn pdf_address(practice: &Practice, uuid: &str) -> String {
    let document: Value = practice.json(&format!("/documents/{uuid}")).await;
    text(&document["pdf"], "url")
}

#[tokio::test]
async fn faults_for_ever_end_when_they_are_cleared() {
    let practice = Practice::with_documents(1).await;
    let id = practice.sandbox.inject(Fault::always(Route::Any, FaultKind::status(503)));
    for _ in 0..3 {
        assert_eq!(practice.get("/me").send().await.unwrap().status(), 503);
    }
    practice.sandbox.remove_fault(id);
    assert_eq!(practice.get("/me").send().await.unwrap().status(), 200);
    practice.sandbox.inject(Fault::always(Route::Any, FaultKind::Reset));
    practice.sandbox.clear_faults();
    assert_eq!(practice.get("/me").send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn a_reset_connection_has_no_answer_and_no_effect_but_a_lost_reply_has_one() {
    let practice = Practice::with_documents(1).await;
    let uuid = practice.uuids("").await.remove(0);
    let post = || {
        practice
            .client
            .post(format!("{}/documents/{uuid}/status", practice.sandbox.url()))
            .bearer_auth("sandbox-key")
            .json(&json!({"success": true}))
            .send()
    };
    practice.sandbox.inject(Fault::once(Route::Status, FaultKind::Reset));
    assert!(post().await.is_err());
    assert!(practice.sandbox.status_posts().is_empty());
    practice.sandbox.inject(Fault::once(Route::Status, FaultKind::LostReply));
    assert!(post().await.is_err());
    assert_eq!(practice.sandbox.status_posts().len(), 1);
    assert!(practice.uuids("synchronized=false").await.is_empty());
    let statuses: Vec<Option<u16>> = practice.sandbox.look(|view| {
        view.requests().filter(|request| request.method == "POST").map(|request| request.status).collect()
    });
    assert_eq!(statuses, [None, None]);
}

#[tokio::test]
async fn a_stalled_request_waits_until_the_client_gives_up_and_never_holds_the_shutdown() {
    let practice = Practice::with_documents(1).await;
    let uuid = practice.uuids("").await.remove(0);
    let address = pdf_address(&practice, &uuid).await;
    practice.sandbox.inject(Fault::once(Route::List, FaultKind::Stall));
    practice.sandbox.inject(Fault::once(Route::Pdf, FaultKind::StallBody(10)));
    let brief = Duration::from_millis(100);
    let silent = practice.get("/documents").timeout(brief).send().await.unwrap_err();
    assert!(silent.is_timeout());
    let half = practice.get(&address).timeout(20 * brief).send().await.unwrap();
    assert!(half.bytes().await.unwrap_err().is_timeout());

    practice.sandbox.inject(Fault::once(Route::List, FaultKind::Stall));
    let stalled = tokio::spawn(practice.get("/documents").send());
    let seen = |view: &docsyncd_sandbox::View| view.requests().filter(|request| request.status.is_none()).count() == 2;
    practice.sandbox.wait_for(seen, Duration::from_secs(60)).await.unwrap();
    practice.sandbox.shutdown().await;
    assert!(stalled.await.unwrap().is_err());
}

/// A client that keeps its connection sends the next request behind the body of the one that was refused.
#[tokio::test]
async fn an_early_refusal_leaves_the_connection_usable_or_says_that_it_closes() {
    use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};

    let practice = Practice::with_documents(1).await;
    let address = practice.sandbox.url();
    let connect = || tokio::net::TcpStream::connect(address.strip_prefix("http://").unwrap().to_owned());
    for (length, stays) in [(40, true), (100_000, true), (2_000_000, false)] {
        let stream = connect().await.unwrap();
        stream.set_nodelay(true).unwrap();
        let mut stream = BufReader::new(stream);
        for (method, path) in [("POST", "/documents/x/status"), ("POST", "/nowhere"), ("PUT", "/documents")].repeat(5) {
            let head = format!(
                "{method} {path} HTTP/1.1\r\nHost: sandbox\r\nAuthorization: Bearer wrong\r\nContent-Type: \
                 application/json\r\nContent-Length: {length}\r\n\r\n"
            );
            stream.write_all(head.as_bytes()).await.unwrap();
            tokio::task::yield_now().await;
            // Of one that closes the rest may no longer be taken.
            let _ = stream.write_all(&vec![b' '; length]).await;
            let (mut close, mut body, mut line) = (false, 0, String::new());
            loop {
                line.clear();
                let read = stream.read_line(&mut line).await;
                // There a connection that is reset may take the answer along.
                close |= cfg!(windows) && read.is_err();
                if read.unwrap_or(0) <= 2 {
                    break;
                }
                let line = line.to_ascii_lowercase();
                close |= line.starts_with("connection: close");
                body = line.strip_prefix("content-length: ").map_or(body, |length| length.trim().parse().unwrap());
            }
            assert_eq!(close, !stays, "{method} {path} {length}");
            if close {
                break;
            }
            stream.read_exact(&mut vec![0; body]).await.unwrap();
        }
    }
}
