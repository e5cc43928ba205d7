//! The log: one line for each transition, with field names that stay, in two formats, of bounded size.

mod canaries;
mod file;
#[cfg(target_os = "linux")]
mod unread;

use std::collections::BTreeSet;

use docsyncd_sandbox::{Fault, FaultKind, NewDocument, NewPdf, Route};
use serde_json::Value;

use crate::dictated::add_refused;
use crate::harness::Practice;

/// Every line parsed; a line that is no JSON object fails.
fn parsed(log: &str) -> Vec<Value> {
    let parse = |line: &str| -> Value {
        let value: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert!(value.is_object(), "{line}");
        value
    };
    log.lines().map(parse).collect()
}

/// The one line about this event of this document.
fn only<'a>(lines: &'a [Value], event: &str, document: &str) -> &'a Value {
    let found: Vec<&Value> =
        lines.iter().filter(|line| line["event"] == event && line["document"] == document).collect();
    assert_eq!(found.len(), 1, "{event} of {document}: {found:#?}");
    found[0]
}

fn fields(line: &Value) -> BTreeSet<&str> {
    line.as_object().unwrap().keys().map(String::as_str).collect()
}

/// What every line has, and these.
fn with(more: &[&'static str]) -> BTreeSet<&'static str> {
    ["timestamp", "level", "message", "event"].into_iter().chain(more.iter().copied()).collect()
}

/// What a pause holds back is not told letter by letter.
#[tokio::test]
async fn an_outage_is_one_line_when_it_begins_and_one_when_it_is_over() {
    let mut practice = Practice::with_documents(30).await;
    practice.env.insert("DOCSYNCD__LOG__FORMAT".into(), "json".into());
    std::fs::rename(practice.inbox(), practice.path("away")).unwrap();
    let mut running = practice.run().await;
    running.wait_for_logs("\"fetched\"", 30).await;
    running.wait_for_log("\"paused\"").await;
    std::fs::rename(practice.path("away"), practice.inbox()).unwrap();
    practice.wait_for_posts(30).await;
    running.end().await;
    let lines = parsed(&running.log());
    let count = |event: &str| lines.iter().filter(|line| line["event"] == event).count();
    assert_eq!(["paused", "resumed", "waiting", "postponed"].map(count), [1, 1, 0, 0], "{lines:#?}");
}

/// Failures that may pass, and clear answers to each document: three and five of them show that it is none of their
/// own.
#[tokio::test]
async fn an_outage_that_only_several_documents_show_is_one_error_after_few_warnings() {
    for (status, warnings) in [(500, 2), (403, 4)] {
        let mut practice = Practice::with_documents(30).await;
        practice.env.insert("DOCSYNCD__LOG__FORMAT".into(), "json".into());
        practice.sandbox.inject(Fault::always(Route::Document, FaultKind::status(status)));
        let mut running = practice.run().await;
        running.wait_for_log("\"paused\"").await;
        practice.sandbox.clear_faults();
        practice.wait_for_posts(30).await;
        running.end().await;
        let lines = parsed(&running.log());
        let of = |level: &str| lines.iter().filter(|line| line["level"] == level).collect::<Vec<_>>();
        let (errors, warned) = (of("ERROR"), of("WARN"));
        assert!(errors.len() == 1 && errors[0]["event"] == "paused", "{status}: {errors:#?}");
        assert!(warned.len() <= warnings, "{status}: {warned:#?}");
    }
}

/// Polls, downloads and reports of an account that fail alike are one outage, whichever of them finds it.
#[tokio::test]
async fn an_outage_of_the_whole_api_is_one_line_for_a_person_when_it_begins_and_one_when_it_is_over() {
    let mut practice = Practice::with_documents(3).await;
    practice.env.insert("DOCSYNCD__LOG__FORMAT".into(), "json".into());
    practice.env.insert("DOCSYNCD__LOG__LEVEL".into(), "debug".into());
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "100ms".into());
    let down = |route| practice.sandbox.inject(Fault::always(route, FaultKind::status_retry_after(503, 1)));
    down(Route::Status);
    let mut running = practice.run().await;
    running.wait_for_log("report:main is paused").await;
    down(Route::Document);
    practice.sandbox.add_documents(3).await.unwrap();
    running.wait_for_log("fetch:main is paused").await;
    down(Route::List);
    running.wait_for_log("poll failed").await;
    practice.sandbox.clear_faults();
    practice.wait_for_posts(6).await;
    running.wait_for_log("fetch:main works again").await;
    running.end().await;
    let lines = parsed(&running.log());
    let of = |levels: &[&str], events: &[&str]| {
        let is_it = |value: &Value, among: &[&str]| value.as_str().is_some_and(|value| among.contains(&value));
        lines.iter().filter(|line| is_it(&line["level"], levels) && is_it(&line["event"], events)).count()
    };
    let begun = ["paused", "still_paused", "poll_failed", "postponed", "waiting"];
    assert_eq!(of(&["WARN", "ERROR"], &begun), 1, "{lines:#?}");
    assert!(of(&["INFO"], &["resumed", "polls_again"]) <= 1, "{lines:#?}");
}

#[tokio::test]
async fn each_transition_is_one_json_line_with_stable_fields() {
    let mut practice = Practice::with_documents(3).await;
    practice.env.insert("DOCSYNCD__LOG__FORMAT".into(), "json".into());
    let ended = practice.sync().await;
    assert_eq!(ended.code, 0, "{ended:?}");
    let lines = parsed(&ended.stderr);
    for document in practice.sandbox.documents().await.unwrap() {
        let uuid = document.uuid.as_str();
        assert_eq!(lines.iter().filter(|line| line["document"] == uuid).count(), 4, "{uuid}: {}", ended.stderr);
        let discovered = only(&lines, "discovered", uuid);
        assert_eq!(fields(discovered), with(&["account", "document"]));
        let fetched = only(&lines, "fetched", uuid);
        assert_eq!(fields(fetched), with(&["account", "document", "attempt", "bytes", "elapsed_ms"]));
        let delivered = only(&lines, "delivered", uuid);
        assert_eq!(fields(delivered), with(&["account", "document", "destination", "attempt", "bytes", "elapsed_ms"]));
        let reported = only(&lines, "reported", uuid);
        assert_eq!(fields(reported), with(&["account", "document", "attempt", "elapsed_ms"]));

        let size = practice.sandbox.pdf_bytes(uuid).await.unwrap().len();
        for line in [fetched, delivered] {
            assert_eq!((&line["bytes"], &line["attempt"]), (&size.into(), &1.into()), "{line}");
        }
        for line in [discovered, fetched, delivered, reported] {
            assert_eq!((&line["account"], &line["level"]), (&"main".into(), &"INFO".into()), "{line}");
            assert!(line["elapsed_ms"].is_null() || line["elapsed_ms"].is_u64(), "{line}");
            assert!(line["timestamp"].as_str().unwrap().ends_with('Z'), "{line}");
        }
        assert_eq!(delivered["destination"], "pms");
    }
}

#[tokio::test]
async fn failures_waits_and_ends_have_the_same_fields_and_a_reason() {
    let mut practice = Practice::with_documents(0).await;
    practice.env.insert("DOCSYNCD__LOG__FORMAT".into(), "json".into());
    // A wait of less than a millisecond is none.
    for key in ["INITIAL", "MAX"] {
        practice.env.insert(format!("DOCSYNCD__RETRY__{key}"), "500ms".into());
    }
    let add = |pdf: NewPdf| practice.sandbox.add(NewDocument { pdf, ..NewDocument::default() });
    let bad = add(NewPdf::Generated).await.unwrap();
    practice.sandbox.inject(Fault::always(Route::Document, FaultKind::status(403)).for_document(&bad));
    let late = add(NewPdf::Generated).await.unwrap();
    practice.sandbox.inject(Fault::always(Route::Pdf, FaultKind::status(202)).for_document(&late));
    let shaky = add(NewPdf::Generated).await.unwrap();
    let gone = add(NewPdf::None).await.unwrap();
    practice.sandbox.inject(Fault::once(Route::Pdf, FaultKind::status(500)).for_document(&shaky));
    let ended = practice.sync().await;
    assert_eq!(ended.code, 3, "{ended:?}");
    let lines = parsed(&ended.stderr);

    let postponed = only(&lines, "postponed", &shaky);
    assert_eq!(fields(postponed), with(&["account", "document", "attempt", "retry_in_ms", "reason"]));
    assert_eq!((&postponed["level"], &postponed["attempt"]), (&"WARN".into(), &1.into()));
    assert_eq!(only(&lines, "fetched", &shaky)["attempt"], 2);

    let refused = only(&lines, "refused", &bad);
    assert_eq!(fields(refused), with(&["account", "document", "attempt", "failed_at", "reason"]));
    assert_eq!((&refused["level"], &refused["attempt"]), (&"ERROR".into(), &1.into()));
    let reported = only(&lines, "failure_reported", &bad);
    assert_eq!(fields(reported), with(&["account", "document", "attempt", "elapsed_ms", "failed_at", "reason"]));
    // Told when the failure is believed, with the time when it happened, and which attempt it was.
    for line in [refused, reported] {
        let [failed, told] = ["failed_at", "timestamp"].map(|key| line[key].as_str().unwrap());
        assert!(failed < told, "{line}");
        let says = line["message"].as_str().unwrap();
        assert!(says.contains(&format!(", attempt 1, failed at {failed})")), "{line}");
    }

    assert_eq!(fields(only(&lines, "waiting", &late)), with(&["account", "document", "retry_in_ms", "reason"]));
    practice.sandbox.remove(&gone).await.unwrap();
    assert_eq!(practice.docsyncd(&["retry", "--yes", &gone]).await.code, 0);
    // That it is gone takes two looks, a poll apart.
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "20ms".into());
    let afterwards = [practice.sync().await, practice.sync().await];
    assert!(afterwards.iter().all(|ended| ended.code == 3), "{afterwards:?}");
    let afterwards = parsed(&afterwards.map(|ended| ended.stderr).concat());
    assert_eq!(fields(only(&afterwards, "withdrawn", &gone)), with(&["account", "document", "reason"]));
    for line in &lines {
        assert!(line["event"].is_string(), "every line has an event: {line}");
    }
}

#[tokio::test]
async fn the_daemon_s_own_lines_are_json_as_well() {
    let mut practice = Practice::with_documents(2).await;
    practice.env.insert("DOCSYNCD__LOG__FORMAT".into(), "json".into());
    practice.env.insert("DOCSYNCD__LOG__LEVEL".into(), "trace".into());
    let mut running = practice.run().await;
    practice.wait_for_posts(2).await;
    running.wait_for_logs("\"reported\"", 2).await;
    running.end().await;
    running.whole_log().await;
    let lines = parsed(&running.log());
    for event in ["started", "polled"] {
        assert!(lines.iter().any(|line| line["event"] == event), "{event}: {}", running.log());
    }
    assert!(cfg!(windows) || lines.last().unwrap()["event"] == "stopped");
}

#[tokio::test]
async fn text_is_one_line_for_each_transition_without_colours() {
    let practice = Practice::with_documents(3).await;
    let ended = practice.sync().await;
    for line in ended.stderr.lines() {
        let mut words = line.split_whitespace();
        assert!(words.next().unwrap().parse::<jiff::Timestamp>().is_ok(), "{line}");
        assert!(["ERROR", "WARN", "INFO"].contains(&words.next().unwrap()), "{line}");
    }
    assert!(!ended.stderr.contains('\u{1b}'), "no colours in a file or pipe");
    for document in practice.sandbox.documents().await.unwrap() {
        for event in ["discovered", "fetched", "delivered", "reported"] {
            let event = format!("event=\"{event}\"");
            let about = |line: &&str| line.contains(&event) && line.contains(&document.uuid);
            assert_eq!(ended.stderr.lines().filter(about).count(), 1, "{event}: {}", ended.stderr);
        }
    }
}

#[tokio::test]
async fn the_level_leaves_out_what_is_less_severe() {
    for (level, levels) in
        [("error", &["ERROR"][..]), ("warn", &["ERROR", "WARN"]), ("info", &["ERROR", "WARN", "INFO"])]
    {
        let mut practice = Practice::with_documents(1).await;
        practice.env.insert("DOCSYNCD__LOG__FORMAT".into(), "json".into());
        practice.env.insert("DOCSYNCD__LOG__LEVEL".into(), level.into());
        add_refused(&practice).await;
        let ended = practice.sync().await;
        let lines = parsed(&ended.stderr);
        let seen: BTreeSet<&str> = lines.iter().map(|line| line["level"].as_str().unwrap()).collect();
        assert_eq!(seen, levels.iter().copied().collect(), "{level}: {}", ended.stderr);
    }
}
