//! `GET /documents`: nothing is known of documents yet, so it is the account that waits, alone. What is known already
//! goes on unless the account itself is refused.

use docsyncd_sandbox::{Fault, FaultKind, Quirks, Route};

use super::cell::*;
use crate::dictated::{add_small, posts_of, small};
use crate::harness::Practice;

/// What a list that fails gives.
#[derive(Clone, Copy)]
enum Gives {
    /// The poll is repeated, with these words in `status`; nothing is paused.
    Waits(&'static str),
    /// The account is paused, for this reason.
    PausesAccount(&'static str),
}

impl Gives {
    fn shown(self) -> String {
        match self {
            Self::Waits(words) => format!("waits: “{words}”"),
            Self::PausesAccount(words) => format!("pauses `account:main`: “{words}”"),
        }
    }
}

async fn cell(kind: FaultKind, gives: Gives) {
    timed_cell(kind, "10s", gives).await;
}

async fn timed_cell(kind: FaultKind, timeout: &str, gives: Gives) {
    let (practice, of_second) = two_accounts().await;
    let mine = add_small(&practice, 3, |number, _| small(&format!("mine {number}"))).await;
    practice.sandbox.inject(Fault::always(Route::List, kind).for_bearer("main-key"));
    let cell = Cell::start(practice, timeout).await;
    let words = match gives {
        Gives::Waits(words) | Gives::PausesAccount(words) => words,
    };
    let failed = |seen: &Seen| seen.poll_errors.get("main").is_some_and(|reason| reason.contains(words));
    let seen = cell.until(words, failed).await;
    match gives {
        Gives::Waits(_) => assert!(seen.pauses.is_empty(), "{:?}", seen.pauses),
        Gives::PausesAccount(words) => {
            let seen = cell.until("it is paused", |seen| seen.pauses.contains_key("account:main")).await;
            assert!(seen.pauses["account:main"].contains(words) && seen.pauses.len() == 1, "{:?}", seen.pauses);
        }
    }
    // The other account does its work, and the list is asked for again and again.
    cell.until("the other account works", |seen| of_second.iter().all(|uuid| seen.state(uuid) == "reported")).await;
    cell.until_met(2).await;
    assert!(cell.seen().await.poll_errors.keys().eq(["main"]));
    cell.practice.sandbox.clear_faults();
    cell.until("the account works", |seen| mine.iter().all(|uuid| seen.state(uuid) == "reported")).await;
    cell.until("its error is gone", |seen| seen.poll_errors.is_empty()).await;
    cell.ends_well(&[of_second, mine].concat(), false).await;
}

cells! {
    cell;
    status_401_pauses_the_account = "status 401": status(401) => Gives::PausesAccount("the API refuses the credentials (HTTP 401)");
    status_403_pauses_the_account = "status 403": status(403) => Gives::PausesAccount("HTTP 403: the account may not do this");
    status_404_waits = "status 404, 410": status(404) => Gives::Waits("reading the list of documents: HTTP 404");
    status_429_waits = "status 429": status(429) => Gives::Waits("HTTP 429: the API asks for fewer requests");
    status_500_waits = "status 400, 408, 409, 422, 500, 502, 503, 504": status(500) => Gives::Waits("HTTP 500: the API has a fault of its own");
    a_connection_reset_in_the_headers_waits = "reset in the headers": FaultKind::AbortHead => Gives::Waits("broke off");
    a_body_cut_short_waits = "body cut short": FaultKind::CutBody(20) => Gives::Waits("broke off");
    a_page_of_html_waits = "HTML with 200": FaultKind::Html200 => Gives::Waits("it is HTML (a proxy's page?)");
    invalid_json_waits = "invalid JSON": bytes("[{\"uuid\": ") => Gives::Waits("it is not JSON, line 1");
    a_wrong_shape_waits = "JSON of a wrong shape": bytes("{\"documents\": 7}") => Gives::Waits("a list was expected");
    ten_megabytes_of_json_wait = "10 MB of JSON": ten_megabytes() => Gives::Waits("it has more than 8388608 bytes");
    a_redirect_loop_waits = "redirect loop": FaultKind::Redirect("?again".into()) => Gives::Waits("redirect refused: more than 5 in a row");
}

#[tokio::test]
async fn a_stall_without_end_waits() {
    timed_cell(FaultKind::Stall, "700ms", Gives::Waits("api.timeout")).await;
}

/// It accepts and never answers. That shows when the wait is over, and is told since the wait began.
#[tokio::test]
async fn a_service_that_hangs_is_told_since_it_began_to() {
    let mut practice = Practice::with_documents(0).await;
    practice.env.insert("DOCSYNCD__API__TIMEOUT".into(), "3s".into());
    practice.sandbox.inject(Fault::always(Route::List, FaultKind::Stall));
    let mut running = practice.start();
    running.wait_for_log("event=\"poll_failed\"").await;
    let seen = jiff::Timestamp::now();
    let status = crate::dictated::status(&practice).await;
    let since = status["problems"][0]["since"].as_str().unwrap_or_else(|| panic!("{status}"));
    let took = seen.duration_since(since.parse().unwrap());
    assert!(took >= jiff::SignedDuration::from_secs(3), "{took:?}: {status}");
    running.end().await;
}

#[tokio::test]
async fn a_slow_drip_waits() {
    timed_cell(slow_drip(), "700ms", Gives::Waits("api.timeout")).await;
}

#[tokio::test]
async fn a_redirect_to_another_host_waits_and_the_token_stays_home() {
    let elsewhere = docsyncd_sandbox::Sandbox::start(docsyncd_sandbox::Options::default()).await.unwrap();
    let away = FaultKind::Redirect(format!("{}/documents", elsewhere.url()));
    cell(away, Gives::Waits("redirect refused: it leads away from the API")).await;
    assert_eq!(elsewhere.requests(), [], "nobody was asked there");
}

/// Elements that cannot be told apart are no end of the list: what stands behind a page of them is found.
#[tokio::test]
async fn a_page_of_elements_without_an_identifier_hides_nothing_behind_it() {
    let practice = Practice::with_documents(0).await;
    practice.sandbox.set_quirks(Quirks { max_page_size: Some(2), ..Quirks::default() });
    let uuids = add_small(&practice, 7, |_, document| document).await;
    let nameless = bytes("[{\"createdAt\": \"2026-01-01T00:00:00+00:00\"}, {}]");
    // The first page of the walk by key, and the first of the reading by pages that takes its place.
    practice.sandbox.inject(Fault::always(Route::List, nameless).times(2));
    let cell = Cell::start(practice, "10s").await;
    cell.until_met(2).await;
    cell.until("what stood behind is found", |seen| seen.documents.len() >= 5).await;
    cell.until("all are reported", |seen| uuids.iter().all(|uuid| seen.state(uuid) == "reported")).await;
    assert!(uuids.iter().all(|uuid| posts_of(&cell.practice.sandbox, uuid).len() == 1));
    cell.ends_well(&uuids, false).await;
}
