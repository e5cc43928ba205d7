//! Lists at which the server fails, or that change while they are read. A small proxy before the sandbox does what the
//! sandbox does not.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use docsyncd_sandbox::{NewDocument, PdfUrl, Quirks};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::frequent;
use crate::dictated::*;
use crate::harness::Practice;

/// In place of a status: the answer breaks off.
const CUT: u16 = 0;
/// In place of a status: the answer is not JSON.
const GARBLED: u16 = 200;

/// What the proxy makes of an answer to a request of this address.
type Change = dyn Fn(&str, &str) -> Option<u16> + Send + Sync;

/// Puts a proxy before the sandbox. `change` sees the address and the answer's body, and may put a status in its place.
async fn behind_proxy(practice: &mut Practice, change: Arc<Change>) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    practice.env.insert("DOCSYNCD__API__BASE_URL".into(), format!("http://{}", listener.local_addr().unwrap()));
    let (to, client) = (practice.sandbox.url().to_string(), reqwest::Client::new());
    tokio::spawn(async move {
        while let Ok((near, _)) = listener.accept().await {
            tokio::spawn(pass_on(near, client.clone(), to.clone(), change.clone()));
        }
    });
}

/// One request, and the end of the connection.
async fn pass_on(mut near: TcpStream, client: reqwest::Client, to: String, change: Arc<Change>) {
    let mut said = Vec::new();
    let (head, body) = loop {
        let text = String::from_utf8_lossy(&said).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = header(head, "content-length").map_or(0, |length| length.parse().unwrap());
            if body.len() >= length {
                break (head.to_owned(), body.to_owned());
            }
        }
        let mut buffer = [0; 4096];
        match near.read(&mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(read) => said.extend_from_slice(&buffer[..read]),
        }
    };
    let mut line = head.lines().next().unwrap().split(' ');
    let (method, address) = (line.next().unwrap(), line.next().unwrap());
    let method = reqwest::Method::from_bytes(method.as_bytes()).unwrap();
    let mut request = client.request(method, format!("{}{address}", to.trim_end_matches('/')));
    for name in ["authorization", "content-type", "accept"] {
        if let Some(value) = header(&head, name) {
            request = request.header(name, value);
        }
    }
    let Ok(answer) = request.body(body).send().await else { return };
    let (mut status, bytes) = (answer.status().as_u16(), answer.bytes().await.unwrap());
    let mut bytes = bytes.to_vec();
    match change(address, &String::from_utf8_lossy(&bytes)) {
        Some(CUT) => return,
        Some(GARBLED) => bytes = b"<b>Warning</b>".to_vec(),
        Some(other) => (status, bytes) = (other, b"{}".to_vec()),
        None if status != 200 => bytes = b"{}".to_vec(),
        None => {}
    }
    let head = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", bytes.len());
    let _ = near.write_all(&[head.into_bytes(), bytes].concat()).await;
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines()
        .filter_map(|line| line.split_once(": "))
        .find_map(|(key, value)| key.eq_ignore_ascii_case(name).then_some(value))
}

fn relative(practice: &Practice, quirks: Quirks) {
    practice.sandbox.set_quirks(Quirks { pdf_url: PdfUrl::Relative, ..quirks });
}

async fn items_at_which_the_server_fails_are_stepped_over(count: usize, bad: &[usize], how: u16) {
    let (mut practice, uuids) = practice_with_small(count).await;
    relative(&practice, Quirks::default());
    let bad: BTreeSet<String> = bad.iter().map(|index| uuids[*index].clone()).collect();
    let (fails, broken) = (bad.clone(), Arc::new(Mutex::new(true)));
    let still = broken.clone();
    let fail = move |address: &str, body: &str| {
        let is_list = address.starts_with("/documents?");
        (is_list && *still.lock().unwrap() && fails.iter().any(|uuid| body.contains(uuid))).then_some(how)
    };
    behind_proxy(&mut practice, Arc::new(fail)).await;
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    let good: Vec<String> = uuids.iter().filter(|uuid| !bad.contains(*uuid)).cloned().collect();
    assert_each_reported_once(&practice, &good);
    assert!(status(&practice).await["accounts"][0]["poll_error"].is_null());
    *broken.lock().unwrap() = false;
    assert_eq!(practice.sync().await.code, 0);
    assert_each_reported_once(&practice, &uuids);
    practice.assert_all_filed().await;
}

#[tokio::test]
async fn one_item_at_which_the_server_fails_is_stepped_over() {
    items_at_which_the_server_fails_are_stepped_over(13, &[3], 500).await;
}

#[tokio::test]
async fn several_items_at_which_the_server_fails_are_stepped_over_on_every_page() {
    items_at_which_the_server_fails_are_stepped_over(112, &[0, 1, 57, 105, 111], 500).await;
}

#[tokio::test]
async fn items_at_which_the_server_fails_on_every_small_page_are_stepped_over() {
    items_at_which_the_server_fails_are_stepped_over(60, &[5, 15, 25, 35, 45, 55], 500).await;
}

#[tokio::test]
async fn an_item_at_which_the_answer_breaks_off_is_stepped_over() {
    items_at_which_the_server_fails_are_stepped_over(13, &[3], CUT).await;
}

#[tokio::test]
async fn an_item_at_which_the_answer_is_garbled_is_stepped_over() {
    items_at_which_the_server_fails_are_stepped_over(13, &[3], GARBLED).await;
}

#[tokio::test]
async fn an_item_for_which_the_server_refuses_the_list_is_stepped_over() {
    items_at_which_the_server_fails_are_stepped_over(13, &[3], 400).await;
}

/// An outage ends a poll after few requests.
#[tokio::test]
async fn a_list_that_fails_at_everything_is_asked_little() {
    for how in [500, CUT] {
        let (mut practice, _) = practice_with_small(13).await;
        relative(&practice, Quirks::default());
        let asked = Arc::new(Mutex::new(0));
        let count = asked.clone();
        let fail = move |address: &str, _: &str| {
            address.starts_with("/documents?").then(|| *count.lock().unwrap() += 1).map(|()| how)
        };
        behind_proxy(&mut practice, Arc::new(fail)).await;
        practice.without_patience();
        assert_ne!(practice.sync().await.code, 0);
        let asked = *asked.lock().unwrap();
        assert!(asked <= 8, "{how}: {asked} requests");
    }
}

/// A server that answers the list, and not the question for some of its documents.
#[tokio::test]
async fn a_new_version_is_filed_where_the_list_cannot_be_asked_for_it() {
    for how in [403, 404, 414, 500, 501, CUT] {
        let (mut practice, uuids) = practice_with_small(3).await;
        relative(&practice, Quirks { stays_listed: true, ..Quirks::default() });
        let fail = move |address: &str, _: &str| address.contains("uuid").then_some(how);
        behind_proxy(&mut practice, Arc::new(fail)).await;
        frequent(&mut practice);
        let mut running = practice.run().await;
        practice.wait_for_posts(3).await;
        practice.sandbox.set_pdf(&uuids[1], pdf("another")).await.unwrap();
        practice.wait_for_posts(4).await;
        running.kill().await;
        assert_eq!(posts_of(&practice.sandbox, &uuids[1]).len(), 2);
        assert!(!running.log().contains("event=\"paused\""), "{how}: {}", running.log());
    }
}

/// From the first read on everything is refused for a while, as by a proxy on the way: no document is blamed for it.
#[tokio::test]
async fn a_refusal_of_everything_fails_no_document() {
    for how in [400, 403, 405] {
        let (mut practice, uuids) = practice_with_small(1).await;
        relative(&practice, Quirks::default());
        let (begun, open, over) = (AtomicBool::new(false), AtomicBool::new(false), Arc::new(AtomicBool::new(false)));
        let ended = over.clone();
        let block = move |address: &str, _: &str| {
            let reads = address.starts_with("/documents/");
            begun.fetch_or(reads, Ordering::SeqCst);
            // It ends with a read, not between a read that is refused and the look at the list. A 403 pauses the
            // account, and ends with its poll.
            open.fetch_or(ended.load(Ordering::SeqCst) && (reads || how == 403), Ordering::SeqCst);
            (begun.load(Ordering::SeqCst) && !open.load(Ordering::SeqCst)).then_some(how)
        };
        behind_proxy(&mut practice, Arc::new(block)).await;
        frequent(&mut practice);
        let mut running = practice.run().await;
        running.wait_for_log("event=\"paused\"").await;
        // Longer than a failure is kept from the API.
        tokio::time::sleep(Duration::from_secs(5)).await;
        assert_eq!(practice.sandbox.status_posts(), []);
        over.store(true, Ordering::SeqCst);
        practice.wait_for_posts(1).await;
        running.kill().await;
        assert_each_reported_once(&practice, &uuids);
    }
}

#[tokio::test]
async fn a_page_beyond_the_last_that_is_not_there_is_the_end_of_the_list() {
    let (mut practice, uuids) = practice_with_small(20).await;
    relative(&practice, Quirks { max_page_size: Some(10), ..Quirks::default() });
    let beyond = |address: &str, _: &str| {
        let is_list = address.starts_with("/documents?");
        (is_list && !["page=1", "page=2"].iter().any(|page| address.ends_with(page))).then_some(404)
    };
    behind_proxy(&mut practice, Arc::new(beyond)).await;
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert_each_reported_once(&practice, &uuids);
}

/// The order is refused from the second page on: what was read in order and what is not are two different lists.
#[tokio::test]
async fn an_order_that_is_refused_in_the_middle_of_a_list_hides_none() {
    let (mut practice, uuids) = practice_with_small(30).await;
    let quirks = Quirks { max_page_size: Some(10), stays_listed: true, ..Quirks::default() };
    relative(&practice, quirks);
    let refuse = |address: &str, _: &str| {
        let later = address.starts_with("/documents?") && !address.contains("uuid") && !address.contains("page=1&");
        let ordered = address.contains("order");
        (later && ordered && !address.ends_with("page=1")).then_some(400)
    };
    behind_proxy(&mut practice, Arc::new(refuse)).await;
    frequent(&mut practice);
    let mut running = practice.run().await;
    practice.wait_for_posts(30).await;
    let late = practice
        .sandbox
        .add(NewDocument { created_at: Some("2020-01-01T00:00:00Z".into()), ..small("late") })
        .await
        .unwrap();
    practice.wait_for_posts(31).await;
    running.kill().await;
    assert_each_reported_once(&practice, &[uuids, vec![late]].concat());
}
