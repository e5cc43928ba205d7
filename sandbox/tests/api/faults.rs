//! Faults on demand.

use std::time::{Duration, Instant};

use docsyncd_sandbox::{Fault, FaultKind, Route};
use serde_json::{Value, json};

use crate::harness::{Practice, status_and_body, text};

async fn pdf_address(practice: &Practice, uuid: &str) -> String {
    let document: Value = practice.json(&format!("/documents/{uuid}")).await;
    text(&document["pdf"], "url")
}

#[tokio::test]
async fn a_status_with_retry_after_comes_as_often_as_asked() {
    let practice = Practice::with_documents(1).await;
    practice.sandbox.inject(Fault::once(Route::List, FaultKind::status_retry_after(429, 7)).times(2));
    for _ in 0..2 {
        let response = practice.get("/documents").send().await.unwrap();
        assert_eq!(response.headers()["retry-after"], "7");
        let (status, body) = status_and_body(response).await;
        assert_eq!((status, &body["status"]), (429, &json!(429)));
    }
    assert_eq!(practice.uuids("").await.len(), 1);
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
async fn a_fault_for_one_document_leaves_the_others_alone() {
    let practice = Practice::with_documents(2).await;
    let uuids = practice.uuids("").await;
    let (bad, good) = (pdf_address(&practice, &uuids[0]).await, pdf_address(&practice, &uuids[1]).await);
    for route in [Route::Document, Route::Pdf, Route::Status] {
        practice.sandbox.inject(Fault::always(route, FaultKind::status(500)).for_document(&uuids[0]));
    }
    assert_eq!(practice.get(&bad).send().await.unwrap().status(), 500);
    assert_eq!(practice.get(&good).send().await.unwrap().status(), 200);
    assert_eq!(practice.refused(&format!("/documents/{}", uuids[0])).await.0, 500);
    assert_eq!(practice.report(&uuids[0], json!({"success": true})).await.status(), 500);
    practice.report_success(&uuids[1]).await;
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
async fn a_cut_body_breaks_off_after_its_first_bytes() {
    let practice = Practice::with_documents(1).await;
    let uuid = practice.uuids("").await.remove(0);
    let address = pdf_address(&practice, &uuid).await;
    practice.sandbox.inject(Fault::once(Route::Pdf, FaultKind::CutBody(1000)));
    let mut response = practice.get(&address).send().await.unwrap();
    assert_eq!(response.status(), 200);
    let promised = response.content_length().unwrap();
    let mut received = 0;
    let broken = loop {
        match response.chunk().await {
            Ok(Some(part)) => received += part.len(),
            Ok(None) => break false,
            Err(_) => break true,
        }
    };
    assert!(broken);
    assert_eq!(received, 1000);
    assert_eq!(promised, practice.sandbox.pdf_bytes(&uuid).await.unwrap().len() as u64);
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

#[tokio::test]
async fn other_content_can_stand_in_for_the_answer() {
    let practice = Practice::with_documents(1).await;
    let uuid = practice.uuids("").await.remove(0);
    let address = pdf_address(&practice, &uuid).await;

    practice.sandbox.inject(Fault::once(Route::Pdf, FaultKind::Html200));
    let portal = practice.get(&address).send().await.unwrap();
    assert!(portal.headers()["content-type"].to_str().unwrap().starts_with("text/html"));

    practice.sandbox.inject(Fault::once(Route::Pdf, FaultKind::Bytes(b"not a pdf".to_vec())));
    let other = practice.get(&address).send().await.unwrap();
    assert_eq!(other.headers()["content-type"], "application/pdf");
    assert_eq!(other.bytes().await.unwrap(), "not a pdf");

    practice.sandbox.inject(Fault::once(Route::Pdf, FaultKind::Redirect("http://elsewhere.example/".into())));
    let away = practice.get(&address).send().await.unwrap();
    assert_eq!(
        (away.status().as_u16(), &away.headers()["location"]),
        (302, &"http://elsewhere.example/".parse().unwrap())
    );
}

#[tokio::test]
async fn a_wrong_size_is_declared_or_sent() {
    let practice = Practice::with_documents(1).await;
    let uuid = practice.uuids("").await.remove(0);
    let address = pdf_address(&practice, &uuid).await;
    let real = practice.sandbox.pdf_bytes(&uuid).await.unwrap().len();
    practice.sandbox.inject(Fault::once(Route::Document, FaultKind::WrongSize));
    let document = practice.json(&format!("/documents/{uuid}")).await;
    assert_eq!(document["pdf"]["size"], json!(real + 1));
    practice.sandbox.inject(Fault::once(Route::Pdf, FaultKind::WrongSize));
    let half = practice.get(&address).send().await.unwrap().bytes().await.unwrap();
    assert_eq!(half.len(), real / 2);
}

#[tokio::test]
async fn a_delay_answers_properly_but_late() {
    let practice = Practice::with_documents(1).await;
    let delay = Duration::from_millis(150);
    practice.sandbox.inject(Fault::once(Route::List, FaultKind::Delay(delay)));
    let start = Instant::now();
    assert_eq!(practice.uuids("").await.len(), 1);
    assert!(start.elapsed() >= delay);
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
