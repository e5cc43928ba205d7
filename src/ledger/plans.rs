//! No statement of the ledger reads a big table from end to end. The test runs every statement once, and SQLite's trace
//! collects them; a search of the sources finds forgotten ones. Then SQLite explains how it would run each.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::trace::{TraceEvent, TraceEventCodes};

use super::failures::Postponed;
use super::listed::{Absence, Left, Read, Reader};
use super::patients as kept;
use super::pauses::Pause;
use super::reservations::Owner;
use super::work::Work;
use super::{
    Millis, accounts, alerts, away, deliveries, documents, failures, held, history, listed, names, page_keys, pauses,
    polls, process, prune, reservations, restored, retry, testing, webhooks, work,
};
use crate::domain::document::{DocumentUuid, Version};
use crate::domain::failure::{Failure, Scope};
use crate::domain::proof::Proof;
use crate::domain::reservation::{Intent, Place, Wanted};
use crate::domain::state::{Event, STATES, State};
use crate::views::facts::Present;
use crate::views::{self, chain, events, facts, letters, measures, named, reconcile, search};

/// Tables that grow with every document.
const BIG: [&str; 9] = [
    "document",
    "document_metadata",
    "delivery",
    "history",
    "file_reservation",
    "sidecar_reservation",
    "handover",
    "retry_state",
    "name",
];
/// Index conditions that leave most of a big table: hardly better than reading it whole. [`SMALL`] names indexes that
/// hold few rows by themselves.
const WIDE: [&str; 4] = ["(state=?)", "(account=?)", "(state=? AND destination=?)", "(state=? AND rowid>?)"];
/// Partial indexes that may be read whole: documents that are listed, open, or failed and not looked at; what waits for its
/// proof or for a person; what failed. A join has to begin with them (CROSS JOIN), or SQLite may begin with all documents.
const SMALL: [&str; 10] = [
    "document_in_list",
    "document_to_look_for",
    "document_open",
    "document_unseen",
    "delivery_filed",
    "delivery_not_replaced",
    "delivery_unconfirmed",
    "delivery_unmatched",
    "retry_state_failing",
    "retry_state_failure",
];
/// Statements that may read as many rows as a state or an account has, each with the reason.
const MAY_SCAN: [(&str, &str); 30] = [
    ("SELECT 1 FROM patient WHERE number = ?1 AND uuid <> ?2", "a person gives a number: a partial index, once"),
    ("SELECT id FROM document WHERE patient = ?1 AND state = 'fetched'", "the letters of one patient"),
    ("INDEXED BY document_ended WHERE due_at IS NULL AND state = ?1", "docsyncd status of one account: what failed"),
    ("UPDATE document SET in_doubt = 1 WHERE NOT in_doubt", "once, at a restore"),
    ("temporary = NULL WHERE path IS NOT NULL AND NOT", "the same"),
    ("WHERE document.sha256 = ?2 AND delivery.destination = ?1", "an importer changed what it took"),
    (
        "state = 'discovered' AND due_at > ?1 AND EXISTS",
        "at the end of a destination's pause: what waits to be downloaded",
    ),
    ("state = 'failing' AND failure_sent = 0 AND", "what is to be told"),
    ("SELECT account, failure, id FROM document JOIN", "at a start: what is to be told"),
    ("SELECT id FROM document INDEXED BY document_open", "a partial index: what is open, for docsyncd reconcile"),
    ("FROM delivery WHERE state = 'delivered' GROUP BY destination", "docsyncd reconcile reads the whole ledger once"),
    ("WHERE delivery.document > ?2 AND delivery.destination = ?1", "the same, in batches"),
    ("INDEXED BY delivery_number WHERE number IS NOT NULL", "a new list of patients: a partial index, once"),
    ("NOT IN (SELECT value FROM json_each(?1)) ORDER BY random()", "what waits for accounts that are gone"),
    ("(SELECT min(changed_at) FROM document WHERE due_at IS NULL AND", "reads both ends of an index"),
    ("SELECT max(changed_at) FROM document WHERE due_at IS NULL AND state = 'reported'", "reads one end of an index"),
    ("FROM name ORDER BY document DESC LIMIT ?1", "stops at its LIMIT"),
    ("SELECT DISTINCT destination FROM delivery WHERE state = 'pending'", "at a start: what is open"),
    ("UPDATE delivery SET due_at = ?1 WHERE state = 'pending' AND due_at > ?1", "what is open"),
    ("WHERE delivery.state = 'pending' AND delivery.destination = ?1 AND document.state", "at a start: what is open"),
    (
        "WHERE state IN ('failed', 'unreported') AND due_at IS NULL AND id",
        "what failed, when a person asks to retry it",
    ),
    ("(SELECT hash FROM history ORDER BY id DESC LIMIT 1)", "reads one end of the table"),
    ("SELECT id, hash FROM history ORDER BY id DESC LIMIT 1", "the same"),
    ("seal, previous, hash FROM history ORDER BY id", "docsyncd export --verify reads the whole history once"),
    ("SELECT uuid FROM document LEFT JOIN history AS newest", "and all documents"),
    ("WHERE history.at BETWEEN ?1 AND ?2 ORDER BY history.id", "docsyncd export reads the whole history once"),
    ("WHERE name.indexed = 0 AND document.found_at BETWEEN", "a partial index: the last thousand or so"),
    ("WHERE name.indexed = 0 AND document.state NOT IN", "the same, and what waits for its destination"),
    ("instr(lower(uuid), lower(?1)) > 0", "a person typed the middle of a uuid: reads the index over uuid once"),
    ("ORDER BY changed_at DESC, id DESC", "docsyncd list shows them all, in the order of the index"),
];
/// Statements that may sort, because they sort few rows whatever the ledger holds.
const MAY_SORT: [(&str, &str); 18] = [
    ("CROSS JOIN document INDEXED BY document_patient", "the patients that persons named within the hour"),
    ("FROM alert WHERE over_at IS NULL AND audience = ?1", "what lasts: one alert for each cause at most"),
    ("INDEXED BY document_open WHERE state IN", "what is open, once after a restore"),
    ("FROM delivery WHERE document = ?1 AND +state <>", "the deliveries of one letter"),
    ("INDEXED BY delivery_not_replaced", "what a person has to remove"),
    ("INDEXED BY delivery_filed", "what waits for its proof"),
    ("INDEXED BY delivery_unmatched CROSS JOIN document", "what a person has to decide"),
    ("INDEXED BY delivery_unconfirmed CROSS JOIN document", "what a person has to look at"),
    ("NOT IN (SELECT value FROM json_each(?1)) ORDER BY random()", "what waits for accounts that are gone"),
    ("DELETE FROM page_link WHERE digest NOT IN", "a few links"),
    ("DELETE FROM page_session WHERE digest NOT IN", "a few sessions"),
    ("FROM retry_state INDEXED BY retry_state_failing JOIN", "those that failed in a way that may pass"),
    ("SELECT id FROM document WHERE uuid = ", "one document for each account"),
    ("IS NOT ?4, CASE WHEN ?4 AND", "the probe of what is due: keeps one row"),
    (
        "WHERE state IN ('failed', 'unreported') AND due_at IS NULL AND id",
        "merges the states that a person asked to retry",
    ),
    ("AND state IN (SELECT value FROM json_each(?1)) AND changed_at >= ?2", "what is open, by its numbers alone"),
    ("document_count", "the counts of what is open"),
    ("account_count", "the same"),
];
/// Whether the statement is about the file and not about its tables.
const OF_THE_FILE: &str = "SELECT user_version, application_id, (SELECT count(*) FROM sqlite_master) AS tables FROM \
     pragma_user_version, pragma_application_id";

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
    let due = work::due(db, &Scope::of(state, "main").unwrap(), 100, 9).unwrap();
    let mut documents = due.into_iter().filter_map(|(id, _)| documents::by_number(db, id).unwrap());
    documents.find(|document| document.state == state).unwrap()
}

/// The data kept about patients.
fn patients(db: &Connection, document: i64) {
    let (patient, number) = ("a".to_owned(), "1".to_owned());
    let assigned = kept::Assigned {
        patient,
        number,
        fingerprint: "f".into(),
        listed: true,
        who: None,
        at: 1,
        to_refile: true,
        refiled: false,
    };
    kept::assign(db, &assigned).unwrap();
    kept::assigned(db, "a").unwrap();
    kept::all(db).unwrap();
    kept::to_refile(db).unwrap();
    kept::refiled(db, "a").unwrap();
    kept::used(db).unwrap();
    assert!(!kept::is_anothers(db, "1", "a").unwrap());
    kept::waiting_of(db, "a").unwrap();
    kept::filed_otherwise(db, "a", "2").unwrap();
    kept::is_filed_by(db, "a", "2").unwrap();
    history::decided(db, document, history::ASSIGNED, &assigned, 1).unwrap();
    deliveries::is_numbered(db, document).unwrap();
    deliveries::ask_anew(db, document, &["none".to_owned()], "nobody", "nobody", 1).unwrap();
    kept::remove(db, "a").unwrap();
    kept::of_document(db, document).unwrap();
    kept::metadata(db, document).unwrap();
    documents::shown(db, document, 0, 1).unwrap();
    db.execute_batch("SAVEPOINT wrong").unwrap();
    assert!(documents::numbered_wrongly(db, document, 1).unwrap());
    let before = documents::by_number(db, document).unwrap().unwrap();
    db.execute(
        "INSERT INTO delivery (document, pdf, destination, state, changed_at) VALUES (?1, ?2, 'archive', 'delivered', 1)",
        (document, &before.version.pdf),
    )
    .unwrap();
    deliveries::void(db, &before, ("p/1", "-"), 1).unwrap();
    db.execute_batch("ROLLBACK TO wrong; RELEASE wrong").unwrap();
    kept::newest_document(db, "a").unwrap();
    kept::push(db, "a", "main", "1", 1).unwrap();
    let (due, _) = kept::due_push(db, 1).unwrap();
    kept::pushed(db, &due.unwrap(), None).unwrap();
}

/// Calls every function of the ledger, so that every statement runs.
fn scenario(db: &Connection) {
    accounts::progress(db, "main").unwrap();
    accounts::save_poll(db, "main", 1).unwrap();
    accounts::save_cursor(db, "main", Some((6, 1))).unwrap();
    polls::begin(db, Some(&Path::new(db.path().unwrap()).with_file_name("polls.json"))).unwrap();
    for at in [1, 2] {
        polls::succeeded(db, "main", true, 3, at).unwrap();
    }
    polls::failed(db, "main", "no answer", "list down no_answer", 1).unwrap();
    polls::next(db, "main", 1).unwrap();
    polls::end(db).unwrap();
    let main = || "main".to_owned();
    let reader = testing::reader("main");
    for (name, pdf) in [("a", None), ("a", Some("p")), ("b", Some("p")), ("c", Some("p"))] {
        listed::see(db, &reader, &testing::shown(name, pdf), 1).unwrap();
    }
    documents::unless_anothers(db, 1, Some("0c1f4a52-00aa-7000-8000-00000000000b")).unwrap();
    let failure = &Failure::parse("deliver permanent exit_3").unwrap();
    let charge = Some(failures::Charge { doubtful: true, failing_for: 1, began: 1 });
    let postponed = Postponed { due_at: Some(1), reason: "later", code: None, failure: Some(failure), charge };
    Work::from(&document(db, State::Discovered)).postpone(db, &postponed, 1).unwrap();
    let scopes = [Scope::Fetch(main()), Scope::Report(main()), Scope::Destination("pms".to_owned())];
    for scope in &scopes {
        work::probe(db, scope, 9, pauses::ProbeChoice::Fresh, &[1]).unwrap();
        work::next_due(db, scope, 0).unwrap();
        work::due_again(db, scope, failure, 1).unwrap();
    }
    let another = Reader {
        account: "other".to_owned(),
        working: vec![main(), "other".to_owned()],
        paused: vec![Scope::Fetch(main())],
        ..reader.clone()
    };
    listed::see(db, &another, &testing::shown("a", Some("p")), 1).unwrap();
    listed::another_may(db, 1, "other", &another.working).unwrap();
    listed::see(
        db,
        &Reader { paused: vec![Scope::Fetch("other".to_owned())], working: another.working, ..reader.clone() },
        &testing::shown("a", Some("p")),
        1,
    )
    .unwrap();
    db.execute("UPDATE document SET account = 'main' WHERE id = 1", []).unwrap();
    documents::clamp_due(db, "main", 1, 10, 10).unwrap();
    let fetch = |destinations: &[&str]| {
        let row = document(db, State::Discovered);
        let destinations: Vec<String> = destinations.iter().map(|name| (*name).to_owned()).collect();
        documents::fetched(db, &row, &testing::fetched("p"), &destinations, 1).unwrap();
        row
    };
    let first = fetch(&["pms", "scan"]);
    let zoe = r#"{"account": "", "document": {"type": "x"}, "patient": {"firstName": "Zoé"}, "user": {}}"#;
    let zoe: crate::domain::document::Metadata = serde_json::from_str(zoe).unwrap();
    let zoe = names::Kept::of(&first.version.uuid, &zoe.document, &zoe.patient);
    names::keep_first(db, first.id, &zoe, 1).unwrap();
    names::keep(db, first.id, &zoe, 1).unwrap();
    names::filed_at(db, first.id, "/srv/zoe/letter.pdf").unwrap();
    let found = |word: &str| search::find(db, &[word.to_owned()], 1..=Millis::MAX, 5).unwrap().letters.len();
    assert_eq!([found("zo"), found("etter"), found("letter.p"), found("letter x"), found("abcdef01")], [1, 1, 1, 0, 0]);
    assert_eq!(search::find(db, &[], 1..=1, 5).unwrap().letters.len(), 3);
    names::index(db).unwrap();
    assert_eq!([found("zo"), found("etter"), found("letter.p"), found("letter x"), found("abcdef01")], [1, 1, 1, 0, 0]);
    assert_eq!(names::prune(db, 2, 5).unwrap(), 1);
    assert_eq!(found("zo"), 0);
    assert_eq!(names::forget(db, first.id, 1).unwrap(), Some(names::Forgotten::Open(State::Fetched)));
    deliveries::spool_empties(db, 1).unwrap();
    let due = |name: &str| {
        let (document, _) = work::due(db, &Scope::Destination(name.to_owned()), 9, 5).unwrap()[0];
        let delivery = deliveries::pending(db, name, document).unwrap().unwrap();
        assert!(deliveries::is_pending(db, &delivery).unwrap());
        delivery
    };
    Work::from(&due("pms")).postpone(db, &postponed, 1).unwrap();
    assert_eq!(deliveries::arrived(db, first.id, 1).unwrap(), 0, "nobody was asked");
    deliveries::leave_unconfirmed(db, &due("pms"), "lost", Some(failure), 1).unwrap();
    assert_eq!(views::summary(db).unwrap().may_have_arrived, 1);
    retry::named(db, first.id, 1).unwrap();
    deliveries::any_pending(db, first.id, "p").unwrap();
    deliveries::send_with(db, &due("pms"), "1").unwrap();
    deliveries::sent_nothing(db, &due("pms")).unwrap();
    deliveries::needs_none(db, &["pms".to_owned()], 1).unwrap();
    let named = format!("document {}", due("pms").document.version.uuid);
    history::act(db, 1, history::Action::Assign, &named, None).unwrap();
    deliveries::leave_unmatched(db, &due("pms"), "nobody", "who?", 1).unwrap();
    deliveries::unmatched(db).unwrap();
    views::patients::unmatched(db, 1, 10).unwrap();
    views::patients::asks(db, 1, 1).unwrap();
    views::patients::decided(db, 1, 5).unwrap();
    views::patients::decisions(db, 1, 5).unwrap();
    deliveries::matched(db, &[(first.id, "pms".to_owned())], 1).unwrap();
    let filed = crate::domain::proof::Filed { path: "x".into(), ..Default::default() };
    deliveries::send_with(db, &due("pms"), "1").unwrap();
    let ended = deliveries::Ended::Filed { place: "/x", filed: &filed, told_at: 2 };
    deliveries::end(db, &due("pms"), &ended, 1).unwrap();
    let mut unproved = deliveries::unproved(db, "pms").unwrap();
    deliveries::with_metadata(db, &mut unproved).unwrap();
    deliveries::lies_at(db, "pms", "/y").unwrap();
    away::waiting(db, "pms").unwrap();
    deliveries::was_sent(db, "pms", "x").unwrap();
    deliveries::not_asked_for(db, &["scan".to_owned()], &[("pms".to_owned(), Duration::from_secs(1))], 1).unwrap();
    let before = deliveries::Unproved {
        version: Version { pdf: "q".into(), ..unproved[0].version.clone() },
        ..unproved[0].clone()
    };
    before.proved(db, "pms", Proof::Taken, None, 1).unwrap();
    db.execute_batch("SAVEPOINT refused").unwrap();
    assert!(before.refused(db, "pms", "no", "no", 1).unwrap().is_none());
    assert!(unproved[0].refused(db, "pms", "no", "no", 1).unwrap().is_some());
    db.execute_batch("ROLLBACK TO refused; RELEASE refused").unwrap();
    patients(db, first.id);
    db.execute_batch("UPDATE delivery SET state = 'pending', due_at = 1 WHERE document = 1").unwrap();
    views::list(db, Some(State::Fetched), |_| std::ops::ControlFlow::Continue(())).unwrap();
    let refuse = |name: &str| {
        deliveries::end(
            db,
            &due(name),
            &deliveries::Ended::Failed { reason: "no", code: "no", failure: Some(failure) },
            1,
        )
        .unwrap()
    };
    let scan = Scope::Destination("scan".to_owned());
    Work::from(&due("scan")).refused(db, 1).unwrap();
    assert_eq!(refuse("scan"), None);
    assert_eq!(held::retract(db, &scan, failure, "shared", 1).unwrap(), [State::Fetched]);
    let owner = reserved_names(db, &due("pms"));
    let beside = due("pms");
    deliveries::end(
        db,
        &beside,
        &deliveries::Ended::Delivered { place: "/x", proof: crate::domain::proof::Proof::Durable },
        1,
    )
    .unwrap();
    deliveries::not_replaced(db, &beside, 1).unwrap();
    assert_eq!(deliveries::beside(db, 5).unwrap().len(), 1);
    assert!(deliveries::has_old(db, first.id).unwrap() && !deliveries::waits_for_word(db, first.id).unwrap());
    assert_eq!(deliveries::removed(db, first.id).unwrap(), 1);
    reservations::delivered(db, &owner).unwrap();
    assert_eq!(refuse("scan"), Some(State::Failing));
    held::hold(db, Some("main"), failure, 1).unwrap();
    assert_eq!(held::hold_anew(db, 1).unwrap().len(), 1);
    deliveries::delivered_to(db, first.id, "p").unwrap();
    db.execute("UPDATE document SET due_at = 1 WHERE id = ?1", [first.id]).unwrap();
    assert_eq!(documents::spooled(db, first.id, 0).unwrap(), None);
    let second = fetch(&["gone"]);
    assert_eq!(deliveries::reroute_unknown(db, &["pms".to_owned()], 1).unwrap(), 1);
    fetch(&["pms"]);
    fetch(&["pms"]);
    documents::accept(db, second.id, "r").unwrap();
    documents::disagree(db, second.id, Some(1)).unwrap();
    documents::start_over(db, second.id, second.round + 1, 5, 1, "lost").unwrap();
    deliveries::end(
        db,
        &due("pms"),
        &deliveries::Ended::Delivered { place: "/y", proof: crate::domain::proof::Proof::Durable },
        1,
    )
    .unwrap();
    let done = document(db, State::Delivered);
    documents::transition(db, done.id, done.round, Event::ReportAccepted, 1, None).unwrap();
    for read in [Read::Whole(9), Read::Part(9)] {
        assert!(!listed::not_shown(db, "main", read, 0, 5).unwrap().is_empty(), "{read:?}");
    }
    assert_eq!(
        ["a", "b", "c"].map(|name| listed::could_not_ask(db, &testing::shown(name, None).uuid).unwrap()),
        [1, 1, 1]
    );
    listed::present(db, done.id).unwrap();
    listed::missing(db, &done, 1).unwrap();
    listed::is_there(db, done.id).unwrap();
    listed::missing(db, &done, 1).unwrap();
    let absence = Absence { synchronized: true, others: true, apart: 1 };
    let looks = [1, 2].map(|at| listed::absent(db, done.id, absence, at).unwrap());
    assert_eq!(looks, [Left::Undecided, Left::Ended]);
    assert_eq!(prune::remove_history(db, 9, 5, 9).unwrap(), 1);
    prune::give_back(db, 1, 0).unwrap();
    names::keep(db, done.id, &zoe, 1).unwrap();
    names::index(db).unwrap();
    assert_eq!(found("zo"), 1);
    assert_eq!(names::forget(db, done.id, 1).unwrap(), Some(names::Forgotten::Done));
    retry::retry(db, done.id, 1).unwrap();
    let absence = Absence { synchronized: false, ..absence };
    let looks = || [3, 4].map(|at| listed::absent(db, done.id, absence, at).unwrap());
    assert_eq!(looks(), [Left::Undecided, Left::Ended], "the list does not show what was reported");
    listed::missing(db, &documents::by_number(db, done.id).unwrap().unwrap(), 2).unwrap();
    assert_eq!(looks(), [Left::Undecided, Left::Doubtful], "it answered 404");
    assert!(listed::ended_with_another(db, done.id, "another", 4).unwrap().is_none(), "it is open");
    assert_eq!(listed::is_gone(db, done.id, 4).unwrap(), Left::Withdrawn);
    retry::retry(db, done.id, 4).unwrap();
    retry::failed(db, 0, 5).unwrap();
    retry::stalled(db, 4).unwrap();
    let failing = document(db, State::Failing);
    let sending = || held::sending(db, failing.id, failing.round).unwrap();
    assert_eq!((sending(), sending()), (Some(false), Some(true)));
    let fetch = Scope::Fetch("main".to_owned());
    assert_eq!(held::retract(db, &fetch, failure, "shared", 1).unwrap(), [], "the API may know of it");
    held::was_not_sent(db, &failing, 1).unwrap();
    assert_eq!(held::retract(db, &fetch, failure, "shared", 1).unwrap(), [State::Discovered]);
    let again = document(db, State::Discovered);
    Work::from(&again).refused(db, 1).unwrap();
    assert!(!failures::is_anothers(db, &again).unwrap());
    failures::fail(db, &again, "no", "read own", None, 1, 1).unwrap();
    let failing = document(db, State::Failing);
    held::retract(db, &Scope::Report("main".to_owned()), failure, "shared", 1).unwrap();
    let refused = Postponed { due_at: Some(1), reason: "refused", code: None, failure: Some(failure), charge: None };
    Work::from(&failing).postpone(db, &refused, 1).unwrap();
    let refused = document(db, State::Failing);
    assert_eq!(failures::believe_refusal(db, &refused, 1).unwrap(), Some((State::Failed, "refused".to_owned())));
    let pause = Pause {
        scope: "x".into(),
        failure: Some(failure.clone()),
        reason: "z".into(),
        since: 1,
        attempts: 1,
        probe_at: 99,
    };
    let scopes = [Scope::Account, Scope::Fetch, Scope::Report, Scope::Destination].map(|of| of("main".to_owned()));
    for scope in &scopes {
        pauses::save(db, &Pause { scope: scope.to_string(), ..pause.clone() }).unwrap();
    }
    let accounts = vec![("main".to_owned(), true)];
    let present = Present { now: 9, midnight: 0, running: true, accounts, only: None };
    facts::facts(db, &Present { only: Some(vec![main()]), ..present.clone() }).unwrap();
    let facts = facts::facts(db, &present).unwrap();
    assert!(facts.failed.count > 0 && facts.pauses.len() == 4, "{facts:?}");
    scopes.iter().for_each(|scope| pauses::clear(db, &scope.to_string()).unwrap());
    documents::revise(db, again.id, again.round, Some("q"), 1).unwrap();
    pauses::save(db, &pause).unwrap();
    pauses::all(db).unwrap();
    pauses::clear(db, "x").unwrap();
    process::set(db, "pid", "1").unwrap();
    process::note_clock(db, Some(Millis::MAX), 1).unwrap();
    process::Refused::note(db, Some("x"), 1).unwrap();
    history::failed_at(db, 1).unwrap();
    history::told_as_failed(db, 1).unwrap();
    history::act(db, 1, history::Action::Login, "account main", None).unwrap();
    history::configuration(db, 1, "x").unwrap();
    let (row, hash) = chain::newest(db).unwrap().unwrap();
    assert_eq!(chain::anchor(db, row, &hash).unwrap(), chain::Anchor::There);
    assert!(chain::verify(db).unwrap().is_ok_and(|sound| sound.removed > 0));
    events::events(db, 0, 9, |_| ControlFlow::Continue(())).unwrap();
    views::summary(db).unwrap();
    alarms(db);
    process::remove(db, "pid").unwrap();
    assert_eq!(process::begin(db).unwrap(), (false, Vec::new()));
    process::mark(db, first.id, first.round).unwrap();
    process::unmark(db, first.id).unwrap();
    process::end(db).unwrap();
    documents::of_round(db, first.id, first.round, State::Discovered).unwrap();
    assert!(!listed::orphans(db, &[], 5).unwrap().is_empty());
    listed::adopt(db, first.id, &Reader { working: Vec::new(), ..reader }, 1).unwrap();
    assert!(retry::if_failed(db, first.id, 1).is_ok());
    reconciled(db, done.id);
    measures::read(db).unwrap();
    letters::list(db, &STATES, 0, views::Order::Newest, 5).unwrap();
    letters::list(db, &[State::Fetched], 0, views::Order::Oldest, 5).unwrap();
    letters::days(db, &[0, 1, 2]).unwrap();
    letters::waiting(db, &[State::Fetched], 5).unwrap();
    assert!(views::came(db, Millis::MAX, &jiff::tz::TimeZone::UTC).unwrap().is_some());
    assert!(views::letter::of(db, &DocumentUuid::parse("a").unwrap(), views::letter::read).is_ok());
    page_keys::add_link(db, page_keys::Link { digest: "link", expires_at: 5, known_for: 4 }, 1).unwrap();
    assert_eq!(page_keys::links(db, 1).unwrap(), ["link"]);
    assert_eq!(page_keys::exchange(db, "link", "session", "", 1).unwrap(), Some(4));
    assert_eq!(page_keys::sessions(db, 1).unwrap()[0].expires_at, 5);
    page_keys::renew(db, "session", 6, 1).unwrap();
    page_keys::end_session(db, "session").unwrap();
    webhooks::begin(db, "main", "https://h.test/main").unwrap();
    webhooks::registered(db, "main", "https://h.test/main", "w", "s").unwrap();
    assert!(webhooks::all(db).unwrap().iter().all(|one| one.uuid.as_deref() == Some("w")));
    webhooks::removed(db, "main", "https://h.test/main").unwrap();
    assert!(views::known(db, &DocumentUuid::parse("a").unwrap(), Some("p")).unwrap().is_some());
    for state in [None, Some(State::Failed)] {
        views::list(db, state, |_| ControlFlow::Continue(())).unwrap();
    }
    let named::Named::One(ids) = named::named(db, "A").unwrap() else { panic!("it is one") };
    for id in ids {
        views::show(db, id).unwrap();
        documents::seen(db, &[id], 1).unwrap();
    }
    assert_eq!(named::named_for_sure(db, "A").unwrap(), named::named(db, "A").unwrap());
    assert_eq!(named::named(db, "unknown").unwrap(), named::Named::Nothing);
    assert_eq!(process::take_up(db).unwrap(), process::Asked::default());
    process::request_poll(db).unwrap();
    process::request_probes(db).unwrap();
    assert_eq!(process::take_up(db).unwrap(), process::Asked { poll: true, probes: true });
    assert_eq!(process::asked(db).unwrap(), process::Asked::default());
    webhooks::forget_secrets(db).unwrap();
    after_a_restore(db);
}

fn after_a_restore(db: &Connection) {
    restored::set_moved(db, None, 5).unwrap();
    assert_eq!(restored::moved_at(db).unwrap(), Some(5));
    restored::begin(db, restored::Restored { at: 1, in_doubt: true }, None, 1).unwrap();
    let unread = restored::unread(db, "main").unwrap().unwrap();
    restored::was_empty(db, "main", &unread, 1).unwrap();
    restored::unseen(db, &["pms".to_owned()]).unwrap();
    assert!(super::backup::documents(db).unwrap() > 0);
    db.execute("UPDATE document SET account = 'main', state = 'discovered' WHERE id = 1", []).unwrap();
    let (id, _) = restored::not_shown(db, "main", 99, 0, 5).unwrap()[0];
    assert!(restored::settle(db, id, 1).unwrap().is_some());
    restored::was_read(db, "main", &unread).unwrap();
}

/// What `docsyncd reconcile` reads and does.
fn reconciled(db: &Connection, document: i64) {
    let letter = reconcile::by_number(db, document).unwrap().unwrap();
    assert_eq!(reconcile::letter(db, &letter.uuid).unwrap().unwrap().id, document);
    reconcile::open(db, 0).unwrap();
    reconcile::counts(db).unwrap();
    reconcile::delivered(db, "pms", 0, 0, 5).unwrap();
    db.execute("UPDATE document SET state = 'reported' WHERE id = ?1", [document]).unwrap();
    assert!(retry::repeat(db, document, &["pms".to_owned()], 1).unwrap());
    assert!(!retry::repeat(db, document, &[], 1).unwrap(), "it is on its way");
    for count in [1, 0] {
        process::Agreement::found(db, count, 1).unwrap();
    }
}

/// Alerts and the outbox.
fn alarms(db: &Connection) {
    let about = alerts::About { names: vec!["main".into()], documents: 1, since: None };
    alerts::begin(db, "", "service", &about, 1).unwrap();
    let id = alerts::open(db, "").unwrap().remove(0).id;
    alerts::told(db, id, &about, None, 2).unwrap();
    assert_eq!(alerts::untold(db, "", &["mail".to_owned()]).unwrap().len(), 1);
    assert_eq!(alerts::last_told(db, "", 1).unwrap(), [("service".to_owned(), 2, 1)]);
    let waiting = || alerts::waiting(db, "mail").unwrap();
    assert!(!alerts::is_known(db, "service").unwrap());
    for message in ["msg_1", "msg_2"] {
        alerts::post(db, id, message, "mail", "{}", 2).unwrap();
    }
    let second = waiting().unwrap();
    assert_eq!(second.message, "msg_2", "the first was certainly not received, and the second says it all");
    assert!(alerts::sending(db, second.id).unwrap());
    alerts::not_sent(db, second.id, true, 3).unwrap();
    let channels = ["mail".to_owned(), "webhook".to_owned()];
    assert_eq!(alerts::over(db, id, &channels, 4).unwrap(), ["mail"], "it may know of it");
    assert_eq!(waiting().map(|waiting| waiting.id), Some(second.id), "and gets the whole of it");
    alerts::sent(db, second.id, 5).unwrap();
    assert!(
        waiting().is_none() && !alerts::sending(db, second.id).unwrap() && alerts::open(db, "").unwrap().is_empty()
    );
    alerts::begin(db, "", "disk", &about, 6).unwrap();
    let next = alerts::open(db, "").unwrap().remove(0).id;
    alerts::post(db, next, "msg_3", "webhook", "{}", 6).unwrap();
    assert_eq!(alerts::over(db, next, &channels, 7).unwrap(), [""; 0], "over before anybody knew");
    alerts::begin(db, "", "ledger", &about, 7).unwrap();
    let tried = alerts::open(db, "").unwrap().remove(0).id;
    alerts::post(db, tried, "msg_5", "mail", "{}", 7).unwrap();
    let on_its_way = waiting().unwrap().id;
    assert!(alerts::sending(db, on_its_way).unwrap());
    assert_eq!(alerts::over(db, tried, &channels, 8).unwrap(), ["mail"]);
    alerts::not_sent(db, on_its_way, false, 8).unwrap();
    assert!(waiting().is_none(), "it was over before anybody surely heard of it");
    alerts::prune(db, &[String::new()], &channels, 9).unwrap();
    assert_eq!(alerts::last_told(db, "", 1).unwrap(), []);
    alerts::begin(db, "", "disk", &about, 10).unwrap();
    let last = alerts::open(db, "").unwrap().remove(0).id;
    alerts::post(db, last, "msg_4", "mail", "{}", 10).unwrap();
    alerts::give_up(db, waiting().unwrap().id).unwrap();
    assert!(waiting().is_none());
}

/// Reserves names of the delivery's document and of another one.
fn reserved_names(db: &Connection, delivery: &deliveries::Delivery) -> Owner {
    let owner = delivery.owner();
    let other = Owner { uuid: DocumentUuid::parse("other").unwrap(), ..owner.clone() };
    let place = Place::of("/inbox/letter.pdf");
    let wanted = Wanted { place: place.clone(), family: place.clone() };
    let intent = Intent { place: place.clone(), path: "letter.pdf".into(), temporary: ".t".into() };
    assert_eq!(reservations::known(db, &owner).unwrap().version, 1);
    assert!(reservations::reserve(db, &owner, 1, &wanted, Some(&intent)).unwrap());
    assert!(!reservations::reserve(db, &other, 1, &wanted, None).unwrap());
    assert_eq!(reservations::known(db, &owner).unwrap().intent, Some(intent));
    reservations::settle(db, &place, false).unwrap();
    assert_eq!(reservations::known(db, &owner).unwrap().intent, None);
    assert!(reservations::reserve_sidecar(db, &owner, &place).unwrap());
    assert!(!reservations::reserve_sidecar(db, &other, &place).unwrap(), "it is on its way");
    owner
}

/// The statements in the sources of the ledger and of the views, as the pieces between the interpolated parts.
fn written() -> Vec<Vec<String>> {
    let mut folders: Vec<_> =
        ["src/ledger", "src/views"].map(|folder| Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).into();
    let mut written = Vec::new();
    while let Some(path) = folders.pop() {
        if path.is_dir() {
            folders.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        // These files are tests.
        let of_tests =
            ["plans.rs", "inline.rs", "testing.rs", "tests.rs", "tests/mod.rs"].iter().any(|name| path.ends_with(name));
        if path.extension().is_none_or(|end| end != "rs") || of_tests {
            continue;
        }
        let source = std::fs::read_to_string(&path).unwrap();
        let source = source.split("#[cfg(test)]\nmod tests {").next().unwrap();
        for text in source.split('"') {
            let text = one_line(&text.replace("\\\n", " "));
            if ["SELECT ", "INSERT ", "UPDATE ", "DELETE "].iter().any(|verb| text.starts_with(verb)) {
                let pieces = text.split('{').map(|piece| piece.split_once('}').map_or(piece, |(_, rest)| rest));
                written.push(pieces.map(|piece| piece.trim().to_owned()).collect());
            }
        }
    }
    assert!(written.len() > 120, "{} statements: are they still found?", written.len());
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
    let (_folder, db) = testing::empty();
    db.trace_v2(TraceEventCodes::SQLITE_TRACE_STMT, Some(gather));
    scenario(&db);
    db.trace_v2(TraceEventCodes::empty(), None);
    let traced = TRACED.take();

    let forgotten: Vec<String> = written()
        .into_iter()
        .filter(|pieces| !traced.iter().any(|sql| is_of(pieces, &one_line(sql))))
        .map(|pieces| pieces.join(" … "))
        .filter(|sql| sql != OF_THE_FILE)
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
            let is_small = SMALL.iter().any(|index| step.contains(index));
            let wide = WIDE.iter().any(|what| step.ends_with(what));
            let sorts = step.contains("TEMP B-TREE");
            if ((scans || wide) && !is_small && !excused(&MAY_SCAN, sql)) || (sorts && !excused(&MAY_SORT, sql)) {
                wrong.push(format!("{step}: {sql}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Otherwise each letter would cost pages of the log for failures that it never had.
#[test]
fn what_never_fails_is_done_without_a_write_to_what_failed() {
    let (_folder, db) = testing::empty();
    accounts::progress(&db, "main").unwrap();
    db.trace_v2(TraceEventCodes::SQLITE_TRACE_STMT, Some(gather));
    listed::see(&db, &testing::reader("main"), &testing::shown("a", Some("p")), 1).unwrap();
    let row = document(&db, State::Discovered);
    documents::fetched(&db, &row, &testing::fetched("p"), &["pms".to_owned()], 1).unwrap();
    let delivery = deliveries::pending(&db, "pms", row.id).unwrap().unwrap();
    let ended = deliveries::Ended::Delivered { place: "/x", proof: Proof::Durable };
    deliveries::end(&db, &delivery, &ended, 1).unwrap();
    documents::transition(&db, row.id, row.round, Event::ReportAccepted, 1, None).unwrap();
    db.trace_v2(TraceEventCodes::empty(), None);
    assert_eq!(documents::state(&db, row.id).unwrap(), Some(State::Reported));
    let writes = |sql: &String| sql.contains("retry_state") && !sql.starts_with("SELECT ");
    assert_eq!(TRACED.take().into_iter().filter(writes).collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn the_counts_are_those_of_the_documents() {
    let (_folder, db) = testing::empty();
    scenario(&db);
    db.execute("DELETE FROM document WHERE uuid = 'c'", []).unwrap();
    let counted: u64 = db.query_row("SELECT count(*) FROM document", [], |row| row.get(0)).unwrap();
    let summary = views::summary(&db).unwrap();
    assert_eq!(summary.documents.values().sum::<u64>(), counted);
    for (state, documents) in summary.documents {
        let counted: u64 =
            db.query_row("SELECT count(*) FROM document WHERE state = ?1", [state], |row| row.get(0)).unwrap();
        assert_eq!(documents, counted, "{state}");
    }
}
