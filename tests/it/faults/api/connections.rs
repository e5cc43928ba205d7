//! Connections that end without a word, and answers that are compressed although nobody asked for that.

use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use docsyncd_sandbox::{Fault, FaultKind, PdfUrl, Quirks, Route};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::dictated::{assert_each_reported_once, pdf, practice_with_small};
use crate::harness::Practice;
use docsyncd_test_support::scripted;

/// How a server ends a connection on which it has answered.
#[derive(Debug, Clone, Copy)]
enum Ends {
    AtOnce,
    /// When the next request has come.
    Closed,
    /// When the next request comes.
    Reset,
}

/// Puts a server before the sandbox that answers one request on each connection, and does not say so. Returns how many
/// it was sent.
async fn answers_once(practice: &mut Practice, ends: Ends) -> Arc<AtomicUsize> {
    let to: SocketAddr = practice.sandbox.url().trim_start_matches("http://").parse().unwrap();
    practice.sandbox.set_quirks(Quirks { pdf_url: PdfUrl::Relative, ..Quirks::default() });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    practice.env.insert("DOCSYNCD__API__BASE_URL".into(), format!("http://{}", listener.local_addr().unwrap()));
    let sent = Arc::new(AtomicUsize::new(0));
    let counted = sent.clone();
    tokio::spawn(async move {
        while let Ok((near, _)) = listener.accept().await {
            tokio::spawn(answer_once(near, to, ends, counted.clone()));
        }
    });
    sent
}

async fn answer_once(mut near: TcpStream, to: SocketAddr, ends: Ends, sent: Arc<AtomicUsize>) {
    let Some(request) = request(&mut near).await else { return };
    sent.fetch_add(1, Ordering::Relaxed);
    let mut far = TcpStream::connect(to).await.unwrap();
    far.write_all(request.replacen("\r\n", "\r\nconnection: close\r\n", 1).as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    far.read_to_end(&mut answer).await.unwrap();
    let silence = b"connection: close\r\n";
    let said = answer.windows(silence.len()).position(|bytes| bytes == silence).expect("the sandbox says so");
    answer.drain(said..said + silence.len());
    near.write_all(&answer).await.unwrap();
    let mut next = match ends {
        Ends::AtOnce => return,
        Ends::Closed => vec![0; 1 << 16],
        // What is left unread makes it a reset.
        Ends::Reset => vec![0; 1],
    };
    if matches!(near.read(&mut next).await, Ok(1..)) {
        sent.fetch_add(1, Ordering::Relaxed);
    }
}

/// A request with its body; `None` where none comes.
async fn request(near: &mut TcpStream) -> Option<String> {
    let mut said = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&said).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return Some(text);
            }
        }
        match near.read_buf(&mut said).await {
            Ok(0) | Err(_) => return None,
            Ok(_) => {}
        }
    }
}

#[tokio::test]
async fn a_server_that_ends_each_connection_after_its_answer_without_saying_so_costs_seconds() {
    for ends in [Ends::AtOnce, Ends::Closed, Ends::Reset] {
        let (mut practice, uuids) = practice_with_small(20).await;
        let sent = answers_once(&mut practice, ends).await;
        // As it is installed: what is charged an attempt waits for a second and more.
        practice.env.insert("DOCSYNCD__RETRY__INITIAL".into(), "1s".into());
        practice.env.insert("DOCSYNCD__RETRY__MAX".into(), "15m".into());
        let synced = practice.sync().await;
        assert_eq!(synced.code, 0, "{ends:?} {synced:?}");
        assert!(!synced.stderr.contains("postponed"), "no attempt was spent: {ends:?} {synced:?}");
        assert_each_reported_once(&practice, &uuids);
        practice.assert_all_filed().await;
        let (sent, answered) = (sent.load(Ordering::Relaxed), practice.sandbox.requests().len());
        assert!(answered < 100 && sent <= 2 * answered, "{ends:?}: {sent} for {answered}");
    }
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

/// A practice with one letter whose PDF comes in this encoding, and whose size the API does not tell.
async fn practice_with_encoded(encoding: &'static str, body: Vec<u8>) -> (Practice, String) {
    let (practice, mut uuids) = practice_with_small(1).await;
    let address = scripted::serve(move |head, _| {
        assert!(head.contains("accept-encoding: identity\r\n"), "{head}");
        let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: {encoding}\r\nContent-Length: {}\r\n", body.len());
        [head.as_bytes(), b"Connection: close\r\n\r\n", &body].concat()
    });
    let uuid = uuids.remove(0);
    let listed = practice.sandbox.documents().await.unwrap().remove(0).pdf;
    let shown = json!({"uuid": uuid, "pdf": {"uuid": listed, "url": format!("http://{address}/p"), "size": null}});
    let shown = FaultKind::Bytes(shown.to_string().into_bytes());
    practice.sandbox.inject(Fault::always(Route::Document, shown));
    (practice, uuid)
}

#[tokio::test]
async fn a_pdf_that_comes_compressed_is_filed_whole_however_many_parts_it_has() {
    let letter = pdf("letter 0");
    let (begin, end) = letter.split_at(9);
    let two = [packed(begin), packed(end)].concat();
    for (encoding, body) in [("gzip", packed(&letter)), ("gzip", two.clone()), ("GZIP", two.clone()), ("x-gzip", two)] {
        let (practice, uuid) = practice_with_encoded(encoding, body).await;
        let synced = practice.sync().await;
        assert_eq!(synced.code, 0, "{encoding} {synced:?}");
        assert_each_reported_once(&practice, &[uuid]);
        practice.assert_all_filed().await;
    }
}

#[tokio::test]
async fn a_pdf_whose_compression_breaks_off_or_was_not_asked_for_is_not_filed() {
    let letter = pdf("letter 0");
    let (begin, end) = letter.split_at(9);
    let mut cut = [packed(begin), packed(end)].concat();
    cut.truncate(cut.len() - 3);
    for (encoding, body, says) in [
        ("gzip", cut, "its compression is broken"),
        ("br", letter.clone(), "it is compressed in a way that was not asked for"),
    ] {
        let (practice, uuid) = practice_with_encoded(encoding, body).await;
        let synced = practice.sync().await;
        assert_eq!(synced.code, 3, "{encoding} {synced:?}");
        let shown = practice.show(&uuid).await;
        assert!(shown["state"] == "discovered" && shown["reason"].as_str().unwrap().contains(says), "{shown}");
        assert!(practice.filed().is_empty() && practice.sandbox.status_posts().is_empty());
    }
}
