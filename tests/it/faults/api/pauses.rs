//! Connections that are refused, on each of the four calls, and what becomes of verdicts that turn out to be shared.

use std::net::SocketAddr;

use docsyncd_sandbox::{Fault, FaultKind, NewDocument, NewPdf, PdfUrl, Quirks, Route, SingleShape};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use super::cell::*;
use crate::dictated::{add_small, posts_of, practice_with_small, small};
use crate::harness::{PATIENCE, Practice, unused_address};

/// The way to the sandbox, which can be closed so that connections are refused: no HTTP server can do that to its own.
struct Way {
    address: SocketAddr,
    to: SocketAddr,
    open: Option<(CancellationToken, JoinHandle<()>)>,
}

impl Way {
    async fn open_to(practice: &mut Practice) -> Self {
        let to = practice.sandbox.url().trim_start_matches("http://").parse().unwrap();
        let mut way = Self { address: unused_address().address, to, open: None };
        way.open().await;
        practice.sandbox.set_quirks(Quirks { pdf_url: PdfUrl::Relative, ..Quirks::default() });
        practice.env.insert("DOCSYNCD__API__BASE_URL".into(), format!("http://{}", way.address));
        way
    }

    async fn open(&mut self) {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.set_reuseaddr(true).unwrap();
        socket.bind(self.address).unwrap();
        let (listener, to): (TcpListener, _) = (socket.listen(64).unwrap(), self.to);
        let closing = CancellationToken::new();
        let closed = closing.clone();
        let task = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Some(Ok((near, _))) = closed.run_until_cancelled(listener.accept()).await {
                connections.spawn(carry(near, to, closed.clone()));
            }
            drop(listener);
            connections.join_all().await;
        });
        self.open = Some((closing, task));
    }

    /// Returns when nobody listens any more, and whoever had a connection knows that it is gone.
    async fn close(&mut self) {
        let (closing, task) = self.open.take().unwrap();
        closing.cancel();
        task.await.unwrap();
    }
}

/// Carries what is said both ways until the way is closed. A connection that is kept for later must not take the next
/// request, which would break off and not be refused: so its other end is waited for.
async fn carry(mut near: TcpStream, to: SocketAddr, closing: CancellationToken) {
    let Ok(mut far) = TcpStream::connect(to).await else { return };
    let _ = closing.run_until_cancelled(copy_bidirectional(&mut near, &mut far)).await;
    let _ = near.shutdown().await;
    let _ = tokio::time::timeout(PATIENCE, near.read_to_end(&mut Vec::new())).await;
}

#[tokio::test]
async fn a_refused_connection_of_the_list_waits() {
    let (mut practice, uuids) = practice_with_small(3).await;
    let mut way = Way::open_to(&mut practice).await;
    way.close().await;
    let cell = Cell::start(practice, "10s").await;
    let refused = |seen: &Seen| seen.poll_errors.get("main").is_some_and(|reason| reason.contains("cannot be reached"));
    let seen = cell.until("the poll fails", refused).await;
    assert!(seen.pauses.is_empty() && seen.documents.is_empty());
    way.open().await;
    cell.ends_well_after(&uuids).await;
}

#[tokio::test]
async fn a_refused_connection_of_a_read_pauses_at_once_and_costs_nothing() {
    let mut practice = Practice::with_documents(0).await;
    let uuids = add_small(&practice, 4, |_, document| NewDocument { pdf: NewPdf::None, ..document }).await;
    let mut way = Way::open_to(&mut practice).await;
    // Nothing is tried by itself, so no read is cut off in its midst by the closing of the way.
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "24h".into());
    let cell = Cell::start(practice, "10s").await;
    cell.until("they wait for their PDFs", |seen| {
        uuids.iter().all(|uuid| seen.documents.get(uuid).is_some_and(|document| document.reason.is_some()))
    })
    .await;
    way.close().await;
    cell.retry(&[]).await;
    cell.until("none of the connections that were kept is left", |seen| seen.poll_errors.contains_key("main")).await;
    for uuid in &uuids {
        cell.practice.sandbox.set_pdf(uuid, crate::dictated::pdf(uuid)).await.unwrap();
    }
    cell.retry(&uuids).await;
    assert_paused_for_nothing(&cell, "fetch:main", &uuids, "discovered").await;
    way.open().await;
    cell.retry(&uuids).await;
    cell.ends_well_after(&uuids).await;
}

/// Paused because nobody answers, and no attempt was spent.
async fn assert_paused_for_nothing(cell: &Cell, scope: &str, uuids: &[String], state: &str) {
    let seen = cell.until("it is paused", |seen| seen.pauses.contains_key(scope)).await;
    assert!(seen.pauses[scope].contains("cannot be reached"), "{:?}", seen.pauses);
    for uuid in uuids {
        assert_eq!((seen.state(uuid), seen.attempts(uuid)), (state, 0));
    }
    assert_eq!(cell.practice.sandbox.status_posts(), []);
}

/// The PDFs lie on a server of their own, which is down: of one document that is its own misfortune, of several the
/// server's.
#[tokio::test]
async fn a_refused_connection_of_a_download_waits_and_pauses_when_shared() {
    let (practice, uuids) = practice_with_small(6).await;
    let nobody = unused_address();
    let elsewhere = PdfUrl::Verbatim(format!("http://{}/letter.pdf", nobody.address));
    practice.sandbox.set_quirks(Quirks { pdf_url: elsewhere, ..Quirks::default() });
    let cell = Cell::start(practice, "10s").await;
    let seen = cell.until("it is paused", |seen| seen.pauses.contains_key("fetch:main")).await;
    assert!(seen.pauses["fetch:main"].contains("cannot be reached"), "{:?}", seen.pauses);
    let seen = cell.seen().await;
    assert!(uuids.iter().map(|uuid| seen.attempts(uuid)).sum::<u32>() <= 2);
    cell.practice.sandbox.set_quirks(Quirks::default());
    cell.ends_well_after(&uuids).await;
}

#[tokio::test]
async fn a_refused_connection_of_a_report_pauses_at_once_and_costs_nothing() {
    let (mut practice, uuids) = practice_with_small(4).await;
    let mut way = Way::open_to(&mut practice).await;
    std::fs::remove_dir(practice.inbox()).unwrap();
    // What was read so recently is not read again before it is delivered.
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "1m".into());
    let cell = Cell::start(practice, "10s").await;
    cell.until("they are fetched", |seen| uuids.iter().all(|uuid| seen.state(uuid) == "fetched")).await;
    way.close().await;
    std::fs::create_dir(cell.practice.inbox()).unwrap();
    assert_paused_for_nothing(&cell, "report:main", &[], "delivered").await;
    way.open().await;
    cell.ends_well_after(&uuids).await;
}

/// The first verdicts fall before anybody can know that they are shared. They are taken back, and those that the API
/// was to be told of are told no more.
#[tokio::test]
async fn verdicts_that_turn_out_to_be_shared_are_taken_back() {
    for (call, code) in [(Call::Report, 403), (Call::Document, 422)] {
        let (practice, uuids) = practice_with_small(9).await;
        practice.sandbox.inject(Fault::always(call.route(), FaultKind::status(code)));
        let cell = Cell::start(practice, "10s").await;
        cell.until("it is paused", |seen| seen.pauses.contains_key(call.scope())).await;
        cell.until("none has ended", |seen| {
            seen.documents.len() == 9
                && seen
                    .documents
                    .values()
                    .all(|document| ["discovered", "delivered"].contains(&document.state.as_str()))
        })
        .await;
        assert_eq!(cell.practice.sandbox.status_posts(), []);
        cell.ends_well_after(&uuids).await;
    }
}

/// A server that asks to be left alone pauses the scope. One that says so of the same document again and again, while
/// others pass, speaks of that document.
#[tokio::test]
async fn a_document_that_alone_is_always_asked_to_wait_pauses_the_others_no_more() {
    for call in [Call::Document, Call::Report] {
        let (practice, bad) = practice_with_small(1).await;
        practice.sandbox.inject(Fault::always(call.route(), FaultKind::status(429)).for_document(&bad[0]));
        let cell = Cell::start(practice, "10s").await;
        cell.until("it is paused first", |seen| seen.pauses.contains_key(call.scope())).await;
        assert_eq!(cell.seen().await.attempts(&bad[0]), 0);
        let good = add_small(&cell.practice, 1, |_, document| document).await;
        let charged = |seen: &Seen| seen.attempts(&bad[0]) >= 2 && seen.state(&good[0]) == "reported";
        let seen = cell.until("the attempts are its own", charged).await;
        assert!(!seen.pauses.contains_key(call.scope()), "{call:?}: {:?}", seen.pauses);
        cell.practice.sandbox.clear_faults();
        cell.until("it is reported", |seen| seen.state(&bad[0]) == "reported").await;
    }
}

/// Promise 5: reported once, and kept as `failed` until someone retries it.
#[tokio::test]
async fn a_failure_that_the_api_was_told_of_stands_although_others_share_it() {
    let (practice, bad) = practice_with_small(1).await;
    practice.sandbox.inject(Fault::always(Route::Document, FaultKind::status(422)));
    let cell = Cell::start(practice, "10s").await;
    cell.until("it has failed", |seen| seen.state(&bad[0]) == "failed").await;
    let others = add_small(&cell.practice, 6, |number, _| small(&format!("another {number}"))).await;
    cell.until("the others are paused", |seen| seen.pauses.contains_key("fetch:main")).await;
    cell.practice.sandbox.clear_faults();
    let reported = |seen: &Seen| others.iter().all(|uuid| seen.state(uuid) == "reported");
    let seen = cell.until("the others are reported", reported).await;
    assert_eq!(seen.state(&bad[0]), "failed");
    let posts = posts_of(&cell.practice.sandbox, &bad[0]);
    assert!(matches!(posts.as_slice(), [(Some(false), Some(_))]), "{posts:?}");
    cell.retry(&bad).await;
    cell.until("a person's retry is obeyed", |seen| seen.state(&bad[0]) == "reported").await;
}

/// Each probe gets the document, and never its patient: that is one pause, and none that ends with each probe, or with
/// each draft or document without a patient, of which nothing else is read.
#[tokio::test]
async fn documents_that_are_read_and_whose_patients_are_not_are_paused_once() {
    let (mut practice, uuids) = practice_with_small(4).await;
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "50ms".into());
    add_small(&practice, 6, |_, document| NewDocument { pdf: NewPdf::None, ..document }).await;
    let alone = practice
        .sandbox
        .add(NewDocument { patient: Some(serde_json::Value::Null), ..small("nobody's") })
        .await
        .unwrap();
    practice.sandbox.inject(Fault::always(Route::Pdf, FaultKind::status(500)).for_document(&alone));
    practice.sandbox.set_quirks(Quirks { single_shows: SingleShape::Identifiers, ..Quirks::default() });
    practice.sandbox.inject(Fault::always(Route::Patient, FaultKind::status(500)));
    let mut running = practice.run().await;
    running.wait_for_log("fetch:main is paused").await;
    tokio::time::sleep(std::time::Duration::from_secs(3)).await;
    assert_eq!(running.log().matches("event=\"resumed\"").count(), 0, "{}", running.log());
    practice.sandbox.clear_faults();
    practice.wait_for_posts(uuids.len()).await;
    running.end().await;
}

/// Three bad documents and no good one look like an outage for ever: no longer than `sync.give_up_after`.
#[tokio::test]
async fn bad_documents_without_a_good_one_are_given_up_one_by_one_in_the_end() {
    let (mut practice, uuids) = practice_with_small(3).await;
    practice.env.insert("DOCSYNCD__SYNC__GIVE_UP_AFTER".into(), "300ms".into());
    practice.sandbox.inject(Fault::always(Route::Pdf, FaultKind::Html200));
    let cell = Cell::start(practice, "10s").await;
    cell.until("it is paused first", |seen| seen.pauses.contains_key("fetch:main")).await;
    assert_eq!(cell.practice.sandbox.status_posts(), []);
    cell.until("all have failed", |seen| uuids.iter().all(|uuid| seen.state(uuid) == "failed")).await;
    for uuid in &uuids {
        let posts = posts_of(&cell.practice.sandbox, uuid);
        let [(Some(false), Some(error))] = posts.as_slice() else { panic!("{posts:?}") };
        assert!(error.contains("gave up after 300ms (sync.give_up_after): the download is not a PDF"), "{error}");
    }
    cell.practice.sandbox.clear_faults();
    cell.retry(&uuids).await;
    cell.ends_well_after(&uuids).await;
}
