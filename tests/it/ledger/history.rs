//! The history: a row for every transition, with time, attempt and reason, that nobody changes afterwards.

use docsyncd_sandbox::{Fault, FaultKind, NewDocument, NewPdf, Route};
use rusqlite::Connection;
use serde_json::Value;

use crate::harness::Practice;

/// Event, state, attempt and reason of each row of a document's history.
async fn rows(practice: &Practice, uuid: &str) -> Vec<(String, String, i64, Option<String>)> {
    let shown = practice.show(uuid).await;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let history = shown["history"].as_array().unwrap().clone();
    let times: Vec<String> = history.iter().map(|row| text(&row["at"]).unwrap()).collect();
    assert!(times.is_sorted(), "{times:?}");
    history
        .iter()
        .map(|row| {
            (
                text(&row["event"]).unwrap(),
                text(&row["state"]).unwrap(),
                row["attempt"].as_i64().unwrap(),
                text(&row["reason"]),
            )
        })
        .collect()
}

fn words(rows: &[(String, String, i64, Option<String>)]) -> Vec<(&str, &str, i64)> {
    rows.iter().map(|(event, state, attempt, _)| (event.as_str(), state.as_str(), *attempt)).collect()
}

#[tokio::test]
async fn a_good_life_has_a_row_for_every_transition() {
    let practice = Practice::with_documents(1).await;
    practice.sync().await;
    let uuid = practice.sandbox.documents().await.unwrap().remove(0).uuid;
    let rows = rows(&practice, &uuid).await;
    let expected = [
        ("discovered", "discovered", 0),
        ("fetched", "fetched", 0),
        ("delivered", "fetched", 0),
        ("all_delivered", "delivered", 0),
        ("report_accepted", "reported", 0),
    ];
    assert_eq!(words(&rows), expected);
    assert!(rows.iter().all(|(.., reason)| reason.is_none()), "{rows:?}");
}

#[tokio::test]
async fn every_failed_attempt_is_counted_and_has_its_reason() {
    let practice = Practice::with_documents(0).await;
    let uuid = practice.sandbox.add(NewDocument::default()).await.unwrap();
    practice.sandbox.inject(Fault::once(Route::Document, FaultKind::status(500)));
    practice.sandbox.inject(Fault::once(Route::Pdf, FaultKind::CutBody(10)));
    practice.sandbox.inject(Fault::once(Route::Status, FaultKind::status(502)));
    assert_eq!(practice.sync().await.code, 0);
    let rows = rows(&practice, &uuid).await;
    let expected = [
        ("discovered", "discovered", 0),
        ("postponed", "discovered", 1),
        ("postponed", "discovered", 2),
        ("fetched", "fetched", 2),
        ("delivered", "fetched", 0),
        ("all_delivered", "delivered", 0),
        ("postponed", "delivered", 1),
        ("report_accepted", "reported", 1),
    ];
    assert_eq!(words(&rows), expected);
    let reasons: Vec<&str> = rows.iter().filter_map(|(.., reason)| reason.as_deref()).collect();
    assert_eq!(reasons.len(), 3, "{reasons:?}");
    for (reason, sign) in reasons.iter().zip(["HTTP 500", "broke off", "HTTP 502"]) {
        assert!(reason.contains(sign), "{reasons:?}");
    }
}

#[tokio::test]
async fn a_failure_and_its_retry_are_both_there() {
    let practice = Practice::with_documents(0).await;
    let bad = NewDocument { pdf: NewPdf::Bytes(b"no PDF".to_vec()), ..NewDocument::default() };
    let uuid = practice.sandbox.add(bad).await.unwrap();
    practice.sync().await;
    practice.docsyncd(&["retry", &uuid]).await;
    let rows = rows(&practice, &uuid).await;
    let expected = [
        ("discovered", "discovered", 0),
        ("postponed", "discovered", 1),
        ("postponed", "discovered", 2),
        ("refused", "failing", 2),
        ("report_accepted", "failed", 0),
        ("retry_requested", "discovered", 0),
    ];
    assert_eq!(words(&rows), expected);
    assert!(rows[3].3.as_deref().unwrap().contains("not a PDF"), "{rows:?}");
}

#[tokio::test]
async fn rows_cannot_be_changed() {
    let practice = Practice::with_documents(1).await;
    practice.sync().await;
    let db = Connection::open(practice.ledger()).unwrap();
    for change in ["UPDATE history SET reason = 'never happened'", "UPDATE history SET at = 0 WHERE id = 1"] {
        let refused = db.execute(change, []).unwrap_err();
        assert!(refused.to_string().contains("append-only"), "{refused}");
    }
    let incomplete: i64 = db
        .query_row("SELECT count(*) FROM history WHERE at < 1600000000000 OR event = '' OR state = ''", [], |row| {
            row.get(0)
        })
        .unwrap();
    assert_eq!(incomplete, 0);
}
