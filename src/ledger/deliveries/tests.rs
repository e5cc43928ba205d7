use super::*;
use crate::domain::failure::{Failure, HOLD, Scope};
use crate::domain::reservation::{Intent, Place, Wanted};
use crate::domain::state::State;
use crate::ledger::pauses::ProbeChoice;
use crate::ledger::work::{self, Work};
use crate::ledger::{failures, history, listed, names, prune, reservations, restored, retry, testing};
use crate::views;

fn ledger() -> (tempfile::TempDir, Connection) {
    let (folder, db) = testing::empty();
    listed::see(&db, &testing::reader("main"), &testing::shown("a-document", Some("p")), 1).unwrap();
    (folder, db)
}

fn engine() -> Scope {
    Scope::Destination("engine".to_owned())
}

fn due(db: &Connection, limit: usize) -> Vec<(i64, bool)> {
    work::due(db, &engine(), 1000, limit).unwrap()
}

fn the_due(db: &Connection) -> Delivery {
    pending(db, "engine", due(db, 9)[0].0).unwrap().unwrap()
}

/// Fetches the document in this version for these destinations.
fn fetch_for(db: &Connection, pdf: &str, destinations: &[&str], now: Millis) {
    let row = documents::by_number(db, 1).unwrap().unwrap();
    let destinations: Vec<String> = destinations.iter().map(|name| (*name).to_owned()).collect();
    documents::fetched(db, &row, &testing::fetched(pdf), &destinations, now).unwrap();
}

/// Fetches the document for one destination. Returns its delivery.
fn fetch(db: &Connection) -> Delivery {
    fetch_for(db, "p", &["engine"], 1);
    the_due(db)
}

/// Fetches a new version for that destination. Returns its delivery.
fn fetch_anew(db: &Connection, pdf: &str, now: Millis) -> Delivery {
    let round = documents::by_number(db, 1).unwrap().unwrap().round;
    documents::revise(db, 1, round, Some(pdf), now).unwrap();
    fetch_for(db, pdf, &["engine"], now);
    the_due(db)
}

fn delivered(place: &str) -> Ended<'_> {
    Ended::Delivered { place, proof: crate::domain::proof::Proof::Durable }
}

/// The intent of a delivery without a name.
fn commit(db: &Connection, delivery: &Delivery) {
    let owner = delivery.owner();
    let place = Place::of("delivery key");
    let wanted = Wanted { place: place.clone(), family: place.clone() };
    let intent = Intent { place, path: "key".into(), temporary: "key".into() };
    assert!(reservations::reserve(db, &owner, 1, &wanted, Some(&intent)).unwrap());
}

#[test]
fn an_intent_makes_the_next_attempt_uncertain_also_when_the_document_starts_over() {
    let (_folder, db) = ledger();
    let delivery = fetch(&db);
    assert!(!delivery.is_uncertain());
    commit(&db, &delivery);
    assert!(the_due(&db).is_uncertain());
    let document = &delivery.document;
    documents::start_over(&db, document.id, document.round, 1, 1, "the spooled PDF is lost").unwrap();
    assert!(fetch(&db).is_uncertain());
    reservations::settle(&db, &Place::of("delivery key"), false).unwrap();
    assert!(!the_due(&db).is_uncertain());
}

/// Pending deliveries of a replaced version stay known until the new version is delivered, but are not due.
#[test]
fn what_a_new_version_replaces_is_known_until_that_is_delivered() {
    let (_folder, db) = ledger();
    let first = fetch(&db);
    commit(&db, &first);
    leave_unconfirmed(&db, &first, "may have arrived", None, 1).unwrap();
    let second = fetch_anew(&db, "q", 2);
    let key = |delivery: &Delivery| delivery.document.version.delivery_key("engine");
    assert_eq!(second.replaced, [key(&first)]);
    assert_eq!(fetch_anew(&db, "p", 2).replaced, [key(&second)], "the first is shown again");
    let third = fetch_anew(&db, "r", 2);
    assert_eq!(third.replaced, [key(&first), key(&second)]);
    assert_eq!(views::show(&db, 1).unwrap().deliveries.len(), 1);
    end(&db, &third, &delivered("/x"), 3).unwrap();
    let rows: u32 = db.query_row("SELECT count(*) FROM delivery", [], |row| row.get(0)).unwrap();
    assert_eq!(rows, 1);
}

#[test]
fn a_version_knows_which_one_came_there_before() {
    let (_folder, db) = ledger();
    let first = fetch(&db);
    assert_eq!(first.arrived_before, None);
    end(&db, &first, &delivered("/x"), 2).unwrap();
    let key = first.document.version.delivery_key("engine");
    assert_eq!(fetch_anew(&db, "q", 3).arrived_before.as_ref(), Some(&key));
    // A version that never arrived there is not replaced.
    assert_eq!(fetch_anew(&db, "r", 4).arrived_before, Some(key));
}

/// Others may turn out to share the failure, even if another destination was the last to end.
#[test]
fn a_refusal_is_kept_from_the_api_for_a_while_whichever_delivery_ends_last() {
    let refused = |failure| Ended::Failed { reason: "no", code: "deliver permanent exit_9", failure };
    let hold = Millis::try_from(HOLD.as_millis()).unwrap();
    let shared = Failure::parse("deliver permanent exit_9").unwrap();
    for (failure, last_at, due_at) in [(Some(&shared), 60, 50 + hold), (Some(&shared), 60_000, 60_000), (None, 60, 60)]
    {
        let (_folder, db) = ledger();
        fetch_for(&db, "p", &["engine", "folder"], 1);
        let delivery = |destination| pending(&db, destination, 1).unwrap().unwrap();
        assert!(end(&db, &delivery("engine"), &refused(failure), 50).unwrap().is_none());
        let state = end(&db, &delivery("folder"), &delivered("there"), last_at).unwrap();
        assert_eq!(state, Some(State::Failing));
        let document = documents::by_number(&db, 1).unwrap().unwrap();
        assert_eq!((document.tries.due_at, document.failure.as_ref()), (Some(due_at), failure));
    }
}

/// While a delivery to another destination is pending, a person may retry a failed one.
#[test]
fn what_one_destination_refused_is_tried_again_by_a_person_while_another_waits() {
    let (_folder, db) = ledger();
    fetch_for(&db, "p", &["engine", "folder"], 1);
    let delivery = |destination| pending(&db, destination, 1).unwrap();
    let refused = Ended::Failed { reason: "no", code: "deliver permanent exit_9", failure: None };
    end(&db, &delivery("engine").unwrap(), &refused, 50).unwrap();
    assert!(delivery("engine").is_none());
    retry::retry(&db, 1, 60).unwrap();
    end(&db, &delivery("engine").unwrap(), &delivered("there"), 70).unwrap();
    let state = end(&db, &delivery("folder").unwrap(), &delivered("there"), 80).unwrap();
    assert_eq!(state, Some(State::Delivered));
}

fn cut() -> Failure {
    Failure::parse("deliver unconfirmed cut").unwrap()
}

#[test]
fn what_may_have_arrived_is_shown_waits_for_a_person_and_is_sent_again_when_one_says_so() {
    let (_folder, db) = ledger();
    let delivery = fetch(&db);
    commit(&db, &delivery);
    leave_unconfirmed(&db, &delivery, "may have arrived: the answer was lost", Some(&cut()), 2).unwrap();
    assert!(due(&db, 9).is_empty());
    assert_eq!(work::next_due(&db, &engine(), 0).unwrap(), None);
    assert!(work::probe(&db, &engine(), 100, ProbeChoice::Same, &[]).unwrap().is_none());
    let shown = views::show(&db, delivery.document.id).unwrap();
    assert!(shown.deliveries[0].may_have_arrived && shown.deliveries[0].state == "pending");
    assert_eq!(shown.document.reason.as_deref(), Some("may have arrived: the answer was lost"), "as in list");
    assert_eq!(shown.document.next_attempt, None);
    assert_eq!(shown.history.last().unwrap().event, "unconfirmed");
    assert_eq!(views::summary(&db).unwrap().may_have_arrived, 1);
    // The end of a pause makes equal failures due; this failure differs.
    work::due_again(&db, &engine(), &cut(), 3).unwrap();
    assert!(due(&db, 9).is_empty());

    retry::retry(&db, delivery.document.id, 5).unwrap();
    let again = the_due(&db);
    assert!(!again.is_uncertain(), "a person has looked");
    assert_eq!(views::summary(&db).unwrap().may_have_arrived, 0);
}

#[test]
fn what_a_person_saw_to_have_arrived_is_delivered_and_says_nothing_of_the_next_version() {
    let (_folder, db) = ledger();
    let delivery = fetch(&db);
    commit(&db, &delivery);
    let id = delivery.document.id;
    assert_eq!(again::arrived(&db, id, 2).unwrap(), 0, "nobody was asked");
    leave_unconfirmed(&db, &delivery, "the answer was lost", Some(&cut()), 2).unwrap();
    assert_eq!(history::signed(Some("anna"), || again::arrived(&db, id, 3)).unwrap(), 1);
    let by = |event: &str, who: Option<&str>| {
        let history = views::show(&db, id).unwrap().history;
        assert_eq!(history.iter().rfind(|row| row.event == event).unwrap().who.as_deref(), who, "{event}");
    };
    by("delivered", Some("anna"));
    by("fetched", None);
    assert_eq!(documents::state(&db, id).unwrap(), Some(State::Delivered));
    assert_eq!(reservations::known(&db, &delivery.owner()).unwrap().intent, None);
    assert_eq!(again::arrived(&db, id, 4).unwrap(), 0);
    fetch_anew(&db, "q", 5);
    assert_eq!(again::arrived(&db, id, 6).unwrap(), 0, "of that nothing is known");
    assert_eq!(views::summary(&db).unwrap().may_have_arrived, 0);
}

/// The person was asked of the other one (seed 16087).
#[test]
fn what_waits_for_its_proof_has_not_arrived_by_a_word_about_another_destination() {
    let (_folder, db) = ledger();
    fetch_for(&db, "p", &["engine", "folder"], 1);
    let delivery = |destination| pending(&db, destination, 1).unwrap().unwrap();
    let filed = Ended::Filed { place: "there", filed: &crate::domain::proof::Filed::default(), told_at: 99 };
    end(&db, &delivery("folder"), &filed, 2).unwrap();
    leave_unconfirmed(&db, &delivery("engine"), "the answer was lost", Some(&cut()), 3).unwrap();
    for state in [State::Fetched, State::Delivered] {
        assert_eq!(again::arrived(&db, 1, 4).unwrap(), 1);
        assert_eq!(documents::state(&db, 1).unwrap(), Some(state));
    }
}

#[test]
fn what_waits_because_the_spool_is_full_is_due_when_a_destination_is_back() {
    let (_folder, db) = ledger();
    let due_at = || documents::by_number(&db, 1).unwrap().unwrap().tries.due_at;
    for (code, due) in [("not_rendered", 900), ("spool_full", 50)] {
        testing::set(&db, 1, &format!("due_at = 900, reason_code = '{code}'"));
        spool_empties(&db, 50).unwrap();
        assert_eq!(due_at(), Some(due), "{code}");
    }
}

#[test]
fn what_never_failed_is_found_behind_however_many_that_did() {
    let (_folder, db) = ledger();
    fetch(&db);
    db.execute_batch(
        "INSERT INTO document (id, account, uuid, created_at, state, pdf, due_at, found_at, changed_at)
             SELECT value, 'main', 'f' || value, '', 'fetched', 'p', 1, 1, 1 FROM json_each('[2, 3, 4, 5, 6, 7, 8, 9]');
         INSERT INTO delivery (document, pdf, destination, state, due_at, changed_at)
             SELECT id, 'p', 'engine', 'pending', id - 9, 1 FROM document WHERE id > 1",
    )
    .unwrap();
    (2..8).for_each(|id| testing::set_delivery(&db, id, "engine", "attempts = 1"));
    let found = |limit| due(&db, limit);
    assert_eq!(found(2), [(2, true), (3, true), (8, false), (9, false)]);
    assert_eq!(
        found(7)[5..],
        [(7, true), (8, false), (9, false), (1, false)],
        "one that is under way may be among the first"
    );
    assert_eq!(found(20).len(), 9);
}

/// Otherwise it would wait for ever for a person, who could no longer say anything about it.
#[test]
fn what_may_have_arrived_is_for_nobody_to_look_for_when_its_document_is_gone() {
    let (_folder, db) = ledger();
    let delivery = fetch(&db);
    commit(&db, &delivery);
    leave_unconfirmed(&db, &delivery, "may have arrived", Some(&cut()), 2).unwrap();
    let waiting = || views::summary(&db).unwrap().may_have_arrived;
    assert_eq!(waiting(), 1);
    documents::revise(&db, 1, delivery.document.round, Some("another"), 3).unwrap();
    assert_eq!(waiting(), 0);
}

/// The place where a document was about to be filed when it was given up, or when its destination was removed.
#[test]
fn no_patient_is_kept_of_what_is_forgotten_or_pruned_though_its_intent_stands() {
    let place = Place::of("delivery key");
    for (path, temporary, is_kept, pruned) in [
        ("Durand/letter.pdf", ".t", false, false),
        ("Durand/letter.pdf", ".t", false, true),
        (r#"key {"at":7,"patient":"Durand"}"#, "key", true, false),
        (r#"key {"at":7,"patient":"Durand"}"#, "key", true, true),
    ] {
        let (_folder, db) = ledger();
        let delivery = fetch(&db);
        let wanted = Wanted { place: place.clone(), family: place.clone() };
        let intent = Intent { place: place.clone(), path: path.into(), temporary: temporary.into() };
        assert!(reservations::reserve(&db, &delivery.owner(), 1, &wanted, Some(&intent)).unwrap());
        db.execute("UPDATE document SET state = 'withdrawn', changed_at = 5", []).unwrap();
        if pruned {
            assert_eq!(prune::remove_history(&db, 9, 9, 9).unwrap(), 1);
        } else {
            assert_eq!(names::forget(&db, 1, 9).unwrap(), Some(names::Forgotten::Done));
        }
        let known = reservations::known(&db, &delivery.owner()).unwrap();
        assert!(known.own.contains(&place), "the name stays its own");
        // A delivery that may have arrived is not repeated automatically.
        let kept = known.intent.map(|intent| intent.path);
        assert_eq!(kept.as_deref(), is_kept.then_some(r#"key {"at":7,"patient":null}"#), "{path}");
    }
}

/// Otherwise a letter that failed before its patient became unknown would be given up at the next failure.
#[test]
fn the_time_for_which_a_letter_waited_for_its_patient_was_no_attempt() {
    let (_folder, db) = ledger();
    let delivery = fetch(&db);
    let week = 7 * 24 * 3_600_000;
    for ends in ["a person says whose it is", "the daemon starts without a list"] {
        leave_unmatched(&db, &delivery, "nobody", "who?", 20).unwrap();
        match ends {
            "a person says whose it is" => matched(&db, &[(1, "engine".to_owned())], week).unwrap(),
            _ => needs_none(&db, &[], week).unwrap(),
        }
        let tries = pending(&db, "engine", 1).unwrap().unwrap().tries;
        assert_eq!((tries.due_at, tries.changed_at), (Some(week), week), "{ends}");
    }
}

#[test]
fn a_number_that_a_destination_does_not_take_is_known_and_freezes_nothing() {
    let (_folder, db) = ledger();
    let delivery = fetch(&db);
    assert_eq!(send_with(&db, &delivery, "12/345").unwrap(), "12/345");
    sent_nothing(&db, &delivery).unwrap();
    let delivery = Delivery { number: Some("12/345".to_owned()), ..delivery };
    leave_unmatched(&db, &delivery, "not_held", "why", 20).unwrap();
    let waiting = unmatched(&db).unwrap().pop().unwrap();
    assert_eq!((waiting.number.as_deref(), waiting.frozen), (Some("12/345"), None));
    matched(&db, &[(1, "engine".to_owned())], 30).unwrap();
    assert_eq!(the_due(&db).frozen, None);
}

#[test]
fn a_frozen_number_gives_way_only_to_whoever_has_seen_it() {
    let (_folder, db) = ledger();
    fetch_for(&db, "p", &["engine", "scan"], 1);
    let unseen = pending(&db, "scan", 1).unwrap().unwrap();
    send_with(&db, &the_due(&db), "7").unwrap();
    end(&db, &Delivery { number: Some("7".to_owned()), ..the_due(&db) }, &delivered("x"), 2).unwrap();
    assert_eq!(send_with(&db, &unseen, "9").unwrap(), "7", "it was delivered meanwhile");
    let seen = pending(&db, "scan", 1).unwrap().unwrap();
    assert_eq!(seen.frozen.as_deref(), Some("7"));
    assert_eq!(send_with(&db, &seen, "9").unwrap(), "9", "a person decided");
}

/// A letter waits for its proof while its document has failed elsewhere: the refusal is told once, and it is sent again
/// when a person asks for it.
#[test]
fn what_is_refused_after_its_document_ended_is_looked_at_no_more() {
    let (_folder, db) = ledger();
    fetch_for(&db, "p", &["engine", "folder"], 1);
    let delivery = |destination| pending(&db, destination, 1).unwrap().unwrap();
    let filed = Ended::Filed { place: "there", filed: &crate::domain::proof::Filed::default(), told_at: 99 };
    end(&db, &delivery("engine"), &filed, 2).unwrap();
    let refused = Ended::Failed { reason: "no", code: "deliver permanent exit_9", failure: None };
    end(&db, &delivery("folder"), &refused, 3).unwrap();
    db.execute("UPDATE document SET state = 'failed'", []).unwrap();
    let letter = unproved(&db, "engine").unwrap().remove(0);
    assert!(letter.refused(&db, "engine", "no", "deliver own refused_there", 4).unwrap().is_none());
    assert!(unproved(&db, "engine").unwrap().is_empty());
    retry::retry(&db, 1, 5).unwrap();
    fetch_for(&db, "p", &["engine", "folder"], 6);
    assert!(pending(&db, "engine", 1).unwrap().is_some());
}

/// The backup has a letter that waits for its proof, which was refused before the restore.
#[test]
fn what_ended_elsewhere_without_its_proof_is_not_delivered() {
    let (_folder, db) = ledger();
    let filed = Ended::Filed { place: "there", filed: &crate::domain::proof::Filed::default(), told_at: 99 };
    end(&db, &fetch(&db), &filed, 2).unwrap();
    restored::begin(&db, restored::Restored { at: 2, in_doubt: true }, None, 3).unwrap();
    assert!(restored::settle(&db, 1, 4).unwrap().is_some());
    assert_eq!(unproved(&db, "engine").unwrap().len(), 1);
    let delivered = "SELECT count(*) FROM delivery WHERE state = 'delivered'";
    assert_eq!(db.query_row(delivered, [], |row| row.get::<_, u8>(0)).unwrap(), 0);
}

/// The clock was set back while it was tried, and a pause holds it now.
#[test]
fn what_waits_for_a_pause_is_due_whatever_the_clock_said_when_it_became_so() {
    let (_folder, db) = ledger();
    let waits = failures::Postponed { due_at: None, reason: "later", code: None, failure: None, charge: None };
    let at = |now| {
        let row = documents::by_number(&db, 1).unwrap().unwrap();
        Work::from(&row).postpone(&db, &waits, now).unwrap();
        documents::by_number(&db, 1).unwrap().unwrap().tries.due_at
    };
    db.execute("UPDATE document SET due_at = 900", []).unwrap();
    assert_eq!((at(1000), at(500)), (Some(900), Some(500)));
    let delivery = fetch(&db);
    db.execute("UPDATE delivery SET due_at = 900", []).unwrap();
    Work::from(&delivery).postpone(&db, &waits, 500).unwrap();
    assert_eq!(the_due(&db).tries.due_at, Some(500));
}

/// The service shows the document anew, and it is fetched for this patient.
fn fetch_of(db: &Connection, whom: &str, destinations: &[String]) {
    let read = || documents::by_number(db, 1).unwrap().unwrap();
    documents::revise(db, 1, read().round, Some("p"), 20).unwrap();
    let fetched = documents::Fetched { whom: whom.to_owned(), ..testing::fetched("p") };
    documents::fetched(db, &read(), &fetched, destinations, 20).unwrap();
}

fn told_of_others(db: &Connection) -> Vec<String> {
    let history = views::show(db, 1).unwrap().history;
    let told = history.into_iter().filter(|row| row.event == "filed_for_another");
    told.filter_map(|row| row.reason.map(|reason| reason.text)).collect()
}

#[test]
fn what_was_filed_for_another_patient_counts_for_nothing_and_is_told() {
    let (_folder, db) = ledger();
    let to = ["engine".to_owned()];
    fetch_of(&db, "a-1", &to);
    let first = the_due(&db);
    end(&db, &first, &delivered("/srv/1.pdf"), 30).unwrap();
    for same in ["a-1", "a-"] {
        fetch_of(&db, same, &to);
        assert_eq!(documents::state(&db, 1).unwrap(), Some(State::Delivered), "{same}");
    }
    assert_eq!(told_of_others(&db), <[String; 0]>::default());
    fetch_of(&db, "a-2", &to);
    let second = the_due(&db);
    assert_eq!(second.document.version.pdf, "p/1");
    let key = |delivery: &Delivery| delivery.document.version.delivery_key("engine");
    assert!(key(&first) != key(&second) && second.arrived_before.is_none(), "it replaces nobody's letter");
    assert!(told_of_others(&db).iter().all(|reason| reason.ends_with(": /srv/1.pdf")));
    assert_eq!((told_of_others(&db).len(), beside(&db, 5).unwrap().len()), (1, 1));
    assert_eq!(removed(&db, 1).unwrap(), 1);
    // An attempt that was cut off may have filed it.
    commit(&db, &second);
    fetch_of(&db, "a-1", &to);
    assert!(!the_due(&db).is_uncertain(), "what was attempted for another patient says nothing of this one");
    assert_eq!(the_due(&db).document.version.pdf, "p/2", "the first may have been removed there since");
    assert_eq!(told_of_others(&db).len(), 2);
    // Whatever becomes of the new one, a person has to look.
    assert_eq!(beside(&db, 5).unwrap().len(), 1);
    end(&db, &the_due(&db), &delivered("/srv/2.pdf"), 30).unwrap();
    assert!(has_old(&db, 1).unwrap() && removed(&db, 1).unwrap() == 1);
}

/// Whatever becomes of its file is its own proof.
#[test]
fn what_waits_for_its_proof_for_another_patient_gives_the_name_of_its_sidecar_back() {
    let (_folder, db) = ledger();
    let to = ["engine".to_owned()];
    fetch_of(&db, "a-1", &to);
    let (first, sidecar) = (the_due(&db), Place::of("letter.ini"));
    assert!(reservations::reserve_sidecar(&db, &first.owner(), &sidecar).unwrap());
    let filed = Ended::Filed { place: "/srv/1.pdf", filed: &crate::domain::proof::Filed::default(), told_at: 99 };
    end(&db, &first, &filed, 30).unwrap();
    fetch_of(&db, "b-2", &to);
    assert!(unproved(&db, "engine").unwrap().iter().all(|letter| letter.has_editions) && has_old(&db, 1).unwrap());
    assert!(reservations::reserve_sidecar(&db, &the_due(&db).owner(), &sidecar).unwrap());
    assert_eq!(unproved(&db, "engine").unwrap().len(), 1);
    assert_eq!(
        (removed(&db, 1).unwrap(), unproved(&db, "engine").unwrap().len()),
        (1, 0),
        "nobody looks for it any more"
    );
}

#[test]
fn a_letter_that_waits_for_its_proof_is_looked_for_by_its_own_content_whatever_the_document_has_by_now() {
    let (_folder, db) = ledger();
    let to = ["engine".to_owned()];
    let read = || documents::by_number(&db, 1).unwrap().unwrap();
    for (pdf, spooled) in [("p", ("aa".to_owned(), 1)), ("q", ("bb".to_owned(), 2))] {
        documents::revise(&db, 1, read().round, Some(pdf), 20).unwrap();
        let fetched = documents::Fetched { spooled: Some(spooled), ..testing::fetched(pdf) };
        documents::fetched(&db, &read(), &fetched, &to, 20).unwrap();
        let filed = Ended::Filed { place: "there", filed: &crate::domain::proof::Filed::default(), told_at: 99 };
        end(&db, &the_due(&db), &filed, 30).unwrap();
    }
    let of = |letter: &Unproved| (letter.version.pdf.clone(), letter.sha256.clone(), letter.size, letter.is_first);
    let mut found: Vec<_> = unproved(&db, "engine").unwrap().iter().map(of).collect();
    found.sort();
    assert_eq!(found, [("p".into(), "aa".into(), 1, false), ("q".into(), "bb".into(), 2, false)]);
}

/// Two records of one person are merged, or a name is corrected and the list gives the same number.
#[test]
fn what_lies_there_by_the_patients_number_is_the_patients_whatever_the_service_shows() {
    let (_folder, db) = ledger();
    let to = ["engine".to_owned()];
    fetch_of(&db, "a-1", &to);
    send_with(&db, &the_due(&db), "7").unwrap();
    end(&db, &the_due(&db), &delivered("/srv/7.pdf"), 30).unwrap();
    let read = || documents::by_number(&db, 1).unwrap().unwrap();
    assert_eq!(read().filed_by.as_deref(), Some("7"));
    let steps = [("b-1", None, "p"), ("b-2", Some(true), "p"), ("b-3", None, "p/1"), ("c-3", Some(false), "p/2")];
    for (whom, has_number, version) in steps {
        documents::revise(&db, 1, read().round, Some("p"), 20).unwrap();
        let fetched = documents::Fetched { whom: whom.to_owned(), has_number, ..testing::fetched("p") };
        documents::fetched(&db, &read(), &fetched, &to, 20).unwrap();
        assert_eq!((read().version.pdf.as_str(), read().person.as_deref()), (version, Some(whom)));
    }
    assert_eq!(told_of_others(&db).len(), 1);
}

#[test]
fn a_letter_of_a_wrong_number_is_filed_anew_where_it_had_one() {
    for (whom, is_there) in [("a-1", true), ("b-2", false)] {
        let (_folder, db) = ledger();
        let to = ["engine".to_owned(), "archive".to_owned()];
        fetch_of(&db, "a-1", &to);
        let archived = pending(&db, "archive", 1).unwrap().unwrap();
        commit(&db, &archived);
        let filed = Ended::Filed { place: "there", filed: &crate::domain::proof::Filed::default(), told_at: 99 };
        end(&db, &archived, &filed, 30).unwrap();
        send_with(&db, &the_due(&db), "7").unwrap();
        end(&db, &the_due(&db), &delivered("/srv/7.pdf"), 30).unwrap();
        assert!(documents::numbered_wrongly(&db, 1, 40).unwrap());
        fetch_of(&db, whom, &to);
        assert_eq!(the_due(&db).frozen, None);
        assert_eq!(pending(&db, "archive", 1).unwrap().is_none(), is_there, "{whom}");
        // With its name, by which it is found when a person asks for it again.
        let owner = Owner { pdf: "p/1".to_owned(), ..archived.owner() };
        assert_eq!(reservations::known(&db, &owner).unwrap().intent.is_some(), is_there, "{whom}");
        assert_eq!(told_of_others(&db).len(), if is_there { 1 } else { 2 });
        // Once is enough.
        fetch_of(&db, whom, &to);
        assert_eq!(the_due(&db).document.version.pdf, "p/1");
    }
}
