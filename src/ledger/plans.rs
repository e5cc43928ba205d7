//! No statement of the ledger reads a big table from end to end. Every statement is run here once, SQLite's trace gathers
//! them, and the sources are searched for one that was forgotten; then SQLite is asked how it would carry out each.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::Path;

use rusqlite::Connection;
use rusqlite::trace::{TraceEvent, TraceEventCodes};

use super::documents::{Fetched, Postponed};
use super::listed::Listed;
use super::pauses::Pause;
use super::{accounts, deliveries, documents, filed, listed, open, pauses, process, prune, verdicts, view};
use crate::document::DocumentUuid;
use crate::state::{Event, State};

/// Tables that grow with every document.
const BIG: [&str; 3] = ["document", "delivery", "history"];
/// What an index is asked for when that leaves most of a big table: hardly better than reading it whole. Indexes that hold
/// few rows by themselves are named in [`SMALL`].
const WIDE: [&str; 5] =
    ["(state=?)", "(account=?)", "(state=? AND account=?)", "(state=? AND destination=?)", "(state=? AND rowid>?)"];
/// Partial indexes: of documents that ended and are still listed.
const SMALL: [&str; 2] = ["document_still_listed", "document_to_look_for"];
/// Statements that may read as many rows as a state or an account has, with the reason.
const MAY_SCAN: [(&str, &str); 6] = [
    ("SELECT DISTINCT destination FROM delivery WHERE state = 'pending'", "at a start: what is open"),
    ("UPDATE delivery SET due_at = ?1 WHERE state = 'pending' AND due_at > ?2", "what is open"),
    ("SET failing_since = failing_since + max(0,", "what waited behind a pause that ended"),
    ("WHERE delivery.state = 'pending' AND delivery.destination = ?1 AND document.state", "stops at its LIMIT"),
    ("WHERE state IN ('failed', 'unreported') AND id > ?1", "what failed, when a person asks to retry it"),
    ("ORDER BY changed_at DESC, id DESC", "docsyncd list shows them all, in the order of the index"),
];
/// Statements that may sort, because what they sort is little whatever the ledger holds.
const MAY_SORT: [(&str, &str); 5] = [
    ("SELECT id FROM document WHERE uuid = ", "one document for each account"),
    ("FROM delivery WHERE document = ?1 ORDER BY changed_at", "the deliveries of one document"),
    (
        "ORDER BY attempts, reason IS NOT NULL, due_at LIMIT 1",
        "the best probe of what is due in one lane: keeps one row",
    ),
    ("ORDER BY delivery.attempts, delivery.reason IS NOT NULL", "the best probe of what is due: keeps one row"),
    ("WHERE state IN ('failed', 'unreported')", "merges two states that a person asked to retry"),
];
/// Statements about the file and not about its tables.
const OF_THE_FILE: [&str; 2] = ["SELECT count(*) FROM sqlite_master", "SELECT scope, probe_at FROM pause"];

thread_local! {
    static TRACED: RefCell<BTreeSet<String>> = const { RefCell::new(BTreeSet::new()) };
}

fn gather(event: TraceEvent<'_>) {
    if let TraceEvent::Stmt(statement, _) = event {
        TRACED.with_borrow_mut(|traced| traced.insert(statement.sql().into_owned()));
    }
}

fn one_line(sql: &str) -> String {
    sql.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn document(db: &Connection, state: State) -> documents::Document {
    documents::due(db, state, "main", 100, 1).unwrap().remove(0)
}

/// Calls every function of the ledger, so that every statement runs.
fn scenario(db: &Connection) {
    let uuid = |text: &str| DocumentUuid::parse(text).unwrap();
    let shown = |name: &str, pdf: Option<&str>| Listed {
        uuid: uuid(name),
        created_at: "2026-11-21".into(),
        kind: None,
        pdf: pdf.map(str::to_owned),
    };
    accounts::progress(db, "main").unwrap();
    accounts::begin_sweep(db, "main").unwrap();
    accounts::save_cursor(db, "main", "2026-11-21").unwrap();
    accounts::save_walk(db, "main", accounts::Walk::Pages).unwrap();
    accounts::polled(db, "main", None, 1).unwrap();
    accounts::end_sweep(db, "main", 1).unwrap();
    for (name, pdf) in [("a", None), ("a", Some("p")), ("b", Some("p")), ("c", Some("p"))] {
        listed::see(db, "main", &shown(name, pdf), 1, 1).unwrap();
    }
    let postponed = Postponed { due_at: 1, charged: true, strike: true, reason: "later", failing_since: 1 };
    documents::postpone(db, &document(db, State::Discovered), &postponed, 1).unwrap();
    documents::probe(db, State::Discovered, "main", 9).unwrap();
    documents::next_due(db, State::Discovered, "main", 0).unwrap();
    documents::clamp_due(db, "main", 1, 10).unwrap();
    let fetch = |destinations: &[&str]| {
        let row = document(db, State::Discovered);
        let what = Fetched { pdf: "p".into(), kind: None, metadata: "{}".into(), spooled: Some(("x".into(), 1)) };
        let destinations: Vec<String> = destinations.iter().map(|name| (*name).to_owned()).collect();
        documents::fetched(db, &row, &what, &destinations, 1).unwrap();
        row
    };
    let first = fetch(&["pms", "scan"]);
    deliveries::next_due(db, "pms", 0).unwrap();
    deliveries::probe(db, "pms", 9).unwrap();
    let due = |name: &str| deliveries::due(db, name, 9, 5).unwrap().remove(0);
    deliveries::postpone(db, &due("pms"), &postponed, 1).unwrap();
    deliveries::failing_since(db, &due("pms")).unwrap();
    deliveries::leave_out_time(db, "pms", 1, 2).unwrap();
    documents::failing_since(db, first.id).unwrap();
    documents::leave_out_time(db, "main", &[State::Discovered], 1, 2).unwrap();
    verdicts::hold_report(db, first.id, 1).unwrap();
    let shared = verdicts::Verdict::Delivery("scan".to_owned());
    verdicts::take_back(db, &[first.id], &shared, "shared", 1).unwrap();
    documents::retry(db, first.id, 1).unwrap();
    view::list(db, Some(State::Fetched), |_| std::ops::ControlFlow::Continue(())).unwrap();
    let file = crate::filed::FileDigest::of("x", Path::new("/x"));
    assert!(filed::claim(db, "x", &uuid("a"), &file, true).unwrap());
    assert!(!filed::claim(db, "x", &uuid("b"), &file, true).unwrap());
    assert!(filed::of(db, "x", &uuid("b")).unwrap().is_anothers(&file));
    assert!(filed::claim(db, "x", &uuid("b"), &file, false).unwrap());
    assert!(filed::of(db, "x", &uuid("b")).unwrap().is_own(&file));
    deliveries::end(db, &due("pms"), &deliveries::Ended::Delivered("/x"), 1).unwrap();
    deliveries::end(db, &due("scan"), &deliveries::Ended::Failed("no"), 1).unwrap();
    deliveries::delivered_to(db, first.id, "p").unwrap();
    assert!(!documents::is_spooled(db, first.id, 0).unwrap());
    let second = fetch(&["gone"]);
    assert_eq!(deliveries::reroute_unknown(db, &["pms".to_owned()], 1).unwrap(), 1);
    fetch(&["pms"]);
    fetch(&["pms"]);
    documents::start_over(db, second.id, second.round + 1, 5, 1, "lost").unwrap();
    deliveries::end(db, &due("pms"), &deliveries::Ended::Delivered("/y"), 1).unwrap();
    let done = document(db, State::Delivered);
    documents::transition(db, done.id, done.round, Event::ReportAccepted, 1, None).unwrap();
    listed::still_listed(db, "main", 0, 5).unwrap();
    listed::looked(db, "main", &done.version.uuid, true).unwrap();
    listed::mark_unlisted(db, "main", 9, 9).unwrap();
    assert_eq!(prune::remove_history(db, 9, 5).unwrap(), 1);
    prune::give_back(db, 1, 0).unwrap();
    documents::retry(db, done.id, 1).unwrap();
    documents::failed(db, 0, 5).unwrap();
    let failing = document(db, State::Failing);
    assert_eq!(verdicts::sending(db, failing.id, failing.round).unwrap(), Some(false));
    assert_eq!(verdicts::take_back(db, &[failing.id], &shared, "shared", 1).unwrap().sent, 1);
    assert!(verdicts::not_taken(db, failing.id, failing.round, "shared", 1).unwrap().is_some());
    let pause = Pause { scope: "x".into(), class: "y".into(), reason: "z".into(), since: 1, attempts: 1, probe_at: 99 };
    pauses::save(db, &pause).unwrap();
    pauses::all(db).unwrap();
    pauses::clear(db, "x").unwrap();
    process::set(db, "pid", "1").unwrap();
    view::summary(db).unwrap();
    view::in_words(db).unwrap();
    view::longest_account(db).unwrap();
    for state in [None, Some(State::Failed)] {
        view::list(db, state, |_| ControlFlow::Continue(())).unwrap();
    }
    for id in documents::find(db, "A").unwrap() {
        view::show(db, id).unwrap();
    }
}

/// The statements that stand in the ledger's sources, as the pieces between what is filled in.
fn written() -> Vec<Vec<String>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/ledger");
    let mut written = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let source = std::fs::read_to_string(&path).unwrap();
        // These two belong to the tests.
        let of_tests = path.ends_with("plans.rs") || path.ends_with("inline.rs");
        if path.extension().is_none_or(|end| end != "rs") || of_tests {
            continue;
        }
        for text in source.split('"') {
            let text = one_line(&text.replace("\\\n", " "));
            if ["SELECT ", "INSERT ", "UPDATE ", "DELETE "].iter().any(|verb| text.starts_with(verb)) {
                let pieces = text.split('{').map(|piece| piece.split_once('}').map_or(piece, |(_, rest)| rest));
                written.push(pieces.map(|piece| piece.trim().to_owned()).collect());
            }
        }
    }
    assert!(written.len() > 40, "{} statements: are they still found?", written.len());
    written
}

fn is_of(pieces: &[String], sql: &str) -> bool {
    let mut rest = sql;
    pieces.iter().all(|piece| match rest.split_once(piece.as_str()) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    })
}

fn plan(db: &Connection, sql: &str) -> Vec<String> {
    let mut explained = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let mut rows = explained.raw_query();
    let mut plan = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        plan.push(row.get::<_, String>("detail").unwrap());
    }
    plan
}

#[test]
fn no_statement_reads_or_sorts_a_table_that_grows() {
    let folder = tempfile::tempdir().unwrap();
    let db = open::open_or_create(&folder.path().join("ledger.sqlite3")).unwrap();
    db.trace_v2(TraceEventCodes::SQLITE_TRACE_STMT, Some(gather));
    scenario(&db);
    db.trace_v2(TraceEventCodes::empty(), None);
    let traced = TRACED.take();

    let forgotten: Vec<String> = written()
        .into_iter()
        .filter(|pieces| !traced.iter().any(|sql| is_of(pieces, &one_line(sql))))
        .map(|pieces| pieces.join(" … "))
        .filter(|sql| !OF_THE_FILE.contains(&sql.as_str()))
        .collect();
    assert!(forgotten.is_empty(), "run them in the scenario: {forgotten:#?}");

    let mut wrong = Vec::new();
    let excused = |list: &[(&str, &str)], sql: &str| list.iter().any(|(part, _)| one_line(sql).contains(part));
    for sql in traced.iter().filter(|sql| !sql.starts_with("--") && !sql.starts_with("PRAGMA")) {
        for step in plan(&db, sql) {
            let scans = BIG.iter().any(|table| {
                step.split_once("SCAN ")
                    .is_some_and(|(_, rest)| rest == *table || rest.starts_with(&format!("{table} ")))
            });
            let wide = WIDE.iter().any(|what| step.ends_with(what)) && !SMALL.iter().any(|index| step.contains(index));
            let sorts = step.contains("TEMP B-TREE");
            if ((scans || wide) && !excused(&MAY_SCAN, sql)) || (sorts && !excused(&MAY_SORT, sql)) {
                wrong.push(format!("{step}: {sql}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_counts_are_those_of_the_documents() {
    let folder = tempfile::tempdir().unwrap();
    let db = open::open_or_create(&folder.path().join("ledger.sqlite3")).unwrap();
    scenario(&db);
    db.execute("DELETE FROM document WHERE uuid = 'c'", []).unwrap();
    let counted: i64 = db.query_row("SELECT count(*) FROM document", [], |row| row.get(0)).unwrap();
    let summary = view::summary(&db).unwrap();
    assert_eq!(summary.documents.values().sum::<i64>(), counted);
    for (state, documents) in summary.documents {
        let counted: i64 =
            db.query_row("SELECT count(*) FROM document WHERE state = ?1", [state], |row| row.get(0)).unwrap();
        assert_eq!(documents, counted, "{state}");
    }
}
