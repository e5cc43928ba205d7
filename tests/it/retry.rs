//! Trying again: when, for how long, and what a person sees of it. The arithmetic has its tests in
//! `src/domain/retry.rs`, the two forms of Retry-After in `src/api/retry_after.rs`.

use std::time::{Duration, Instant, SystemTime};

use docsyncd_sandbox::{Fault, FaultKind, Route};
use rusqlite::Connection;
use serde_json::Value;

use crate::dictated::*;
use crate::harness::Practice;

const DAY_MS: i64 = 24 * 3600 * 1000;

fn asking(code: u16, retry_after: impl ToString) -> FaultKind {
    FaultKind::Status { code, retry_after: Some(retry_after.to_string()), body: None }
}

#[tokio::test]
async fn a_time_that_a_server_asks_to_be_left_alone_until_is_honoured() {
    // `retry.max` is a fifth of a second.
    let (practice, uuids) = practice_with_small(3).await;
    // Whole seconds: between two and three are left.
    let until = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(3));
    practice.sandbox.inject(Fault::once(Route::Document, asking(503, until)).for_document(&uuids[0]));
    let began = Instant::now();
    assert_eq!(practice.sync().await.code, 0);
    // Without the wish, ten milliseconds would have been the longest wait.
    assert!(began.elapsed() >= Duration::from_secs(1), "{:?}", began.elapsed());
    practice.assert_all_filed().await;
}

#[tokio::test]
async fn a_server_that_asks_for_a_year_gets_an_hour_whatever_the_longest_wait_is() {
    const YEAR: u64 = 365 * 24 * 3600;
    let next_year = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(YEAR));
    for (route, code) in
        [(Route::Document, 429), (Route::Document, 503), (Route::Status, 429), (Route::List, 429), (Route::List, 503)]
    {
        for wish in [YEAR.to_string(), next_year.clone(), "9".repeat(30)] {
            let practice = Practice::with_documents(0).await;
            add_small(&practice, 2, |_, document| document).await;
            practice.sandbox.inject(Fault::once(route, asking(code, &wish)));
            let ended = practice.sync().await;
            assert_eq!(ended.code, if route == Route::List { 1 } else { 3 }, "{code} {wish}: {ended:?}");
            assert!(!ended.stderr.contains("internal"), "{code} {wish}: {ended:?}");
            let pauses = status(&practice).await["pauses"].clone();
            let pauses = pauses.as_array().unwrap();
            assert_eq!(pauses.len(), usize::from(route != Route::List), "{code} {wish}: {ended:?}");
            for pause in pauses {
                let next: jiff::Timestamp = pause["next_probe"].as_str().unwrap().parse().unwrap();
                let wait = next.duration_since(jiff::Timestamp::now()).as_secs();
                assert!((3500..=3600).contains(&wait), "{code} {wish}: {wait} s");
            }
            // A person who starts it again has a reason to.
            assert_eq!(practice.sync().await.code, 0);
            practice.assert_all_filed().await;
        }
    }
}

#[tokio::test]
async fn the_next_time_survives_a_restart_and_show_tells_it_with_the_attempts() {
    let (mut practice, uuids) = practice_with_small(2).await;
    practice.without_patience();
    practice.sandbox.inject(Fault::always(Route::Document, FaultKind::status(500)).for_document(&uuids[0]));
    assert_eq!(practice.sync().await.code, 3);
    let first = practice.show(&uuids[0]).await;
    assert_eq!((first["state"].as_str(), first["attempts"].as_u64()), (Some("discovered"), Some(1)), "{first}");
    let next: jiff::Timestamp = first["next_attempt"].as_str().expect("a time").parse().unwrap();
    assert!(next > jiff::Timestamp::now(), "{first}");
    let text = practice.docsyncd(&["show", &uuids[0]]).await.stdout;
    let value = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim).map(str::to_owned);
    assert_eq!(value("attempts").as_deref(), Some("1"), "{text}");
    let shown = next.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string();
    assert_eq!(value("next attempt"), Some(shown), "{text}");
    // Neither another start nor the daemon comes back to it before its time, nor puts that off.
    practice.sandbox.forget_requests();
    assert_eq!(practice.sync().await.code, 3);
    let mut running = practice.run().await;
    let new = practice.sandbox.add(small("new")).await.unwrap();
    let polled = practice.sync().await;
    assert_eq!(polled.code, 1, "the daemon has the ledger: {polled:?}");
    running.kill().await;
    assert_eq!(practice.sync().await.code, 3);
    assert_eq!(practice.state(&new).await, "reported");
    assert!(practice.sandbox.requests().iter().all(|request| !request.path.contains(&uuids[0])));
    let later = practice.show(&uuids[0]).await;
    assert_eq!((&later["attempts"], &later["next_attempt"]), (&first["attempts"], &first["next_attempt"]));
}

/// `sync.give_up_after` is about a document's own faults: what it waited while everything was paused counts no
/// attempts, and no time.
#[tokio::test]
async fn the_time_of_a_pause_counts_towards_no_document_that_fails() {
    let (practice, uuids) = practice_with_small(2).await;
    practice.sandbox.inject(Fault::always(Route::Document, FaultKind::status(500)).for_document(&uuids[0]));
    assert_eq!(practice.sync().await.code, 3);
    let attempts = |shown: &Value| shown["attempts"].as_u64().unwrap();
    let failing = practice.show(&uuids[0]).await;
    assert!(failing["state"] == "discovered" && attempts(&failing) > 5, "{failing}");
    // It began to fail eight days ago, and was not tried for so long.
    let age = |days: i64| format!("UPDATE retry_state SET failing_since = failing_since - {}", days * DAY_MS);
    let db = Connection::open(practice.ledger()).unwrap();
    let now = jiff::Timestamp::now().as_millisecond();
    db.execute_batch(&age(8)).unwrap();
    db.execute(
        "INSERT INTO pause (scope, reason, since, attempts, probe_at, failure) VALUES ('fetch:main', 'too many', ?1, 9, ?2, 'download down x')",
        [now - 8 * DAY_MS + DAY_MS / 24, now],
    )
    .unwrap();
    drop(db);
    // A good one is there to end the pause.
    practice.sandbox.add(small("new")).await.unwrap();
    let ended = practice.sync().await;
    assert!(ended.code == 3 && !ended.stderr.contains("gave up"), "{ended:?}");
    let still = practice.show(&uuids[0]).await;
    assert!(still["state"] == "discovered" && attempts(&still) > attempts(&failing), "{still}");
    // And what was tried for eight days.
    let tried = format!("UPDATE retry_state SET failing_for = failing_for + {}", 8 * DAY_MS);
    Connection::open(practice.ledger()).unwrap().execute_batch(&tried).unwrap();
    practice.sync().await;
    let given_up = practice.show(&uuids[0]).await;
    assert!(given_up["state"] == "failed" && given_up["reason"].as_str().unwrap().contains("gave up"), "{given_up}");
}

/// As the one before, of a destination.
#[tokio::test]
async fn the_time_for_which_a_destination_is_paused_counts_towards_no_delivery() {
    let practice = Practice::with_documents(0).await;
    let uuids = add_small(&practice, 2, |_, document| document).await;
    // Puts one document off, always; files no other.
    let script = format!("test \"$0\" != {}  || exit 75", uuids[0]);
    practice.configure_wholly(&format!(
        "{}[destinations.scan]\ntype = \"command\"\nprogram = \"sh\"\nargs = [\"-c\", '{script}', '{{{{ document.uuid }}}}']\n",
        practice.base_config()
    ));
    if cfg!(windows) {
        // There is no sh.
        return;
    }
    assert_eq!(practice.sync().await.code, 3);
    let attempts = |shown: &Value| shown["deliveries"][0]["attempts"].as_u64().unwrap();
    let failing = practice.show(&uuids[0]).await;
    assert!(failing["state"] == "fetched" && attempts(&failing) > 5, "{failing}");
    let age = format!("UPDATE retry_state SET failing_since = failing_since - {}", 8 * DAY_MS);
    let db = Connection::open(practice.ledger()).unwrap();
    let now = jiff::Timestamp::now().as_millisecond();
    db.execute_batch(&age).unwrap();
    db.execute(
        "INSERT INTO pause (scope, reason, since, attempts, probe_at, failure) \
         VALUES ('destination:scan', 'offline', ?1, 9, ?2, 'deliver down check')",
        [now - 8 * DAY_MS + DAY_MS / 24, now],
    )
    .unwrap();
    drop(db);
    practice.sandbox.add(small("new")).await.unwrap();
    practice.sync().await;
    let still = practice.show(&uuids[0]).await;
    assert!(still["state"] == "fetched" && attempts(&still) > attempts(&failing), "{still}");
    let tried = format!("UPDATE retry_state SET failing_for = failing_for + {}", 8 * DAY_MS);
    Connection::open(practice.ledger()).unwrap().execute_batch(&tried).unwrap();
    practice.sync().await;
    let given_up = practice.show(&uuids[0]).await;
    assert!(given_up["state"] == "failed" && given_up["reason"].as_str().unwrap().contains("gave up"), "{given_up}");
}
