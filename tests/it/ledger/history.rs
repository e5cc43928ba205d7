//! The history: a row for every transition, with time, attempt and reason, that nobody changes afterwards.

use docsyncd_sandbox::{Fault, FaultKind, NewDocument, Route};
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
    let uuid = practice.sandbox.add(NewDocument::default()).await.unwrap();
    practice.sandbox.inject(Fault::once(Route::Document, FaultKind::status(500)));
    practice.sandbox.inject(Fault::always(Route::Document, FaultKind::status(403)));
    practice.sync().await;
    practice.docsyncd(&["retry", "--yes", &uuid]).await;
    let rows = rows(&practice, &uuid).await;
    let expected = [
        ("discovered", "discovered", 0),
        ("postponed", "discovered", 1),
        ("refused", "failing", 1),
        ("report_accepted", "failed", 0),
        ("retry_requested", "discovered", 0),
    ];
    assert_eq!(words(&rows), expected);
    assert!(rows[2].3.as_deref().unwrap().contains("HTTP 403"), "{rows:?}");
}

#[tokio::test]
async fn rows_cannot_be_changed() {
    let practice = Practice::with_documents(1).await;
    practice.sync().await;
    let db = Connection::open(practice.ledger()).unwrap();
    for change in [
        "UPDATE history SET reason = 'never happened'",
        "UPDATE history SET at = 0 WHERE id = 1",
        "UPDATE history SET hash = NULL",
    ] {
        let refused = db.execute(change, []).unwrap_err();
        assert!(refused.to_string().contains("append-only"), "{refused}");
    }
    let incomplete: i64 = db
        .query_row(
            "SELECT count(*) FROM history WHERE at < 1600000000000 OR event = ''
                OR (state = '' AND document IS NOT NULL)",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(incomplete, 0);
}

/// What administrators did: event, what it was done to, and whether it is known who.
fn actions(practice: &Practice) -> Vec<(String, String)> {
    let db = crate::filled::open(practice);
    let mut rows = db
        .prepare("SELECT event, reason, who IS NOT NULL FROM history WHERE document IS NULL AND reason IS NOT NULL ORDER BY id")
        .unwrap();
    let rows = rows.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get(1)?, row.get(2)?))).unwrap();
    let rows = rows.map(Result::unwrap).map(|(event, what, known): (String, String, bool)| {
        assert_eq!(known, event != "configuration_changed", "{event}");
        (event, what)
    });
    rows.collect()
}

#[tokio::test]
async fn what_administrators_did_is_in_it_and_whoever_changes_that_in_the_file_is_found_out() {
    let practice = Practice::with_documents(1).await;
    let uuid = practice.sandbox.add(NewDocument::default()).await.unwrap();
    assert_eq!(practice.sync().await.code, 0);
    let first = crate::harness::sha256(&std::fs::read(practice.config_path()).unwrap());
    let changed = format!("{}\n# Another one.\n", std::fs::read_to_string(practice.config_path()).unwrap());
    std::fs::write(practice.config_path(), &changed).unwrap();
    let second = crate::harness::sha256(changed.as_bytes());
    let mut running = practice.run().await;
    // Two processes write in turn.
    assert_eq!(practice.docsyncd(&["retry", "--yes", &uuid]).await.code, 0);
    assert_eq!(practice.docsyncd(&["retry", "--failed"]).await.code, 0);
    practice.sandbox.add(NewDocument::default()).await.unwrap();
    practice.docsyncd(&["poll"]).await;
    practice.wait_for_posts(4).await;
    running.kill().await;
    assert_eq!(practice.sync().await.code, 0);
    assert_eq!(practice.docsyncd(&["forget", &uuid]).await.code, 0);
    let expected = [
        ("configuration_changed", format!("sha256 before unknown, now {first}")),
        ("configuration_changed", format!("sha256 before {first}, now {second}")),
        ("retry", format!("document {uuid}")),
        ("forget", format!("document {uuid}")),
    ];
    assert_eq!(actions(&practice), expected.map(|(event, what)| (event.to_owned(), what)));

    let verified = practice.docsyncd(&["export", "--verify"]).await;
    assert!(
        verified.code == 0 && verified.stdout.contains("as they were written; the ledger's newest row is"),
        "{verified:?}"
    );
    let exported = practice.docsyncd(&["export", "--from", "2020-01-01", "--to", "2999-12-31"]).await;
    assert!(exported.stdout.contains(&format!("retry,,0,,document {uuid},")), "{exported:?}");
    std::fs::write(practice.path("export"), &exported.stdout).unwrap();
    let file = practice.path("export").to_str().unwrap().to_owned();
    let against = practice.docsyncd(&["export", "--verify", &file]).await;
    assert!(
        against.code == 0 && against.stdout.contains("the ledger of this computer goes on from there"),
        "{against:?}"
    );

    let db = Connection::open(practice.ledger()).unwrap();
    // A row in the middle. Whoever writes the file is not kept from it by a trigger, which is in the file, too.
    db.execute("DROP TRIGGER history_is_append_only", []).unwrap();
    let say =
        |event: &str| format!("UPDATE history SET event = '{event}' WHERE id = (SELECT max(id) - 3 FROM history)");
    let event: String = db
        .query_row("SELECT event FROM history WHERE id = (SELECT max(id) - 3 FROM history)", [], |row| row.get(0))
        .unwrap();
    db.execute(&say("never"), []).unwrap();
    let found_out = practice.docsyncd(&["export", "--verify"]).await;
    assert!(found_out.code == 1 && found_out.stderr.contains("of the history was changed"), "{found_out:?}");
    db.execute(&say(&event), []).unwrap();
    // The newest row: nothing in the ledger itself tells of it.
    db.execute("DELETE FROM history WHERE event = 'forget'", []).unwrap();
    assert_eq!(practice.docsyncd(&["export", "--verify"]).await.code, 0);
    let against = practice.docsyncd(&["export", "--verify", &file]).await;
    assert!(against.code == 1 && against.stderr.contains("somebody has changed it"), "{against:?}");
    db.execute("DELETE FROM history WHERE event = 'retry'", []).unwrap();
    let found_out = practice.docsyncd(&["export", "--verify"]).await;
    assert!(found_out.code == 1 && found_out.stderr.contains("Somebody has changed this file"), "{found_out:?}");
}
