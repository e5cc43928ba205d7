use super::*;
use crate::domain::failure::{Call, Code, Failure, Kind};
use crate::ledger::failures::{self, Charge, Postponed};
use crate::ledger::work::{self, Work};
use crate::ledger::{accounts, documents, listed, pauses, polls, testing};

fn present() -> Present {
    Present { now: 1_000, midnight: 500, running: true, accounts: vec![("main".to_owned(), true)], only: None }
}

/// A ledger with `count` documents of this account.
fn ledger(account: &str, count: usize) -> (tempfile::TempDir, Connection) {
    let (folder, db) = testing::empty();
    accounts::progress(&db, account).unwrap();
    for n in 0..count {
        let shown = testing::shown(&format!("document-{n}"), Some("p"));
        listed::see(&db, &testing::reader(account), &shown, 10).unwrap();
    }
    (folder, db)
}

#[test]
fn polls_pauses_and_documents_that_wait_are_counted() {
    let (_folder, db) = ledger("main", 3);
    polls::succeeded(&db, "main", false, 700, 600).unwrap();
    let first = facts(&db, &present()).unwrap();
    assert_eq!((first.open, first.today, first.stalled.len()), (3, 0, 0));
    let account = &first.accounts[0];
    assert_eq!((account.polled_at, account.next_poll_at, account.open), (Some(600), Some(700), 3));
    assert_eq!(account.poll_failing_since, None);

    for at in [800, 900] {
        polls::failed(&db, "main", "unreachable", "list down unreachable", at).unwrap();
    }
    let failure = Failure { call: Call::Download, kind: Kind::Down(Code::word("unreachable")) };
    let scope = Scope::Fetch("main".into());
    let pause = Pause {
        scope: scope.to_string(),
        failure: Some(failure.clone()),
        reason: "CANARY".into(),
        since: 850,
        attempts: 1,
        probe_at: 950,
    };
    pauses::save(&db, &pause).unwrap();
    let document = documents::by_number(&db, work::due(&db, &Scope::Fetch("main".into()), 1_000, 1).unwrap()[0].0)
        .unwrap()
        .unwrap();
    let charge = Some(Charge { doubtful: false, failing_for: 1, began: 870 });
    let postponed = Postponed { due_at: Some(2_000), reason: "CANARY", code: None, failure: Some(&failure), charge };
    Work::from(&document).postpone(&db, &postponed, 880).unwrap();
    let second = facts(&db, &present()).unwrap();
    assert_eq!(second.accounts[0].poll_failing_since, Some(800));
    assert_eq!(second.accounts[0].poll_failure.as_ref().map(|f| &f.kind), Some(&failure.kind));
    assert_eq!(
        second.pauses,
        [PauseFacts { scope: scope.clone(), failure: Some(failure), since: 850, probe_at: 950, count: 3 }]
    );
    assert_eq!(second.stalled, [Stalled { scope, no_room: false, count: 1, since: 870 }]);
    assert!(!format!("{second:?}").contains("CANARY"), "no reason gets into the facts");
    // Either it was downloaded again because its file is gone each time, or it waits for an unreachable destination.
    for (changed_at, count) in [(second.now, 1), (second.now - JUST_MS, 0)] {
        testing::set(&db, document.id, &format!("state = 'fetched', changed_at = {changed_at}"));
        assert_eq!(facts(&db, &present()).unwrap().stalled.len(), count, "{changed_at}");
    }
    polls::succeeded(&db, "main", false, 1_090, 990).unwrap();
    assert_eq!(facts(&db, &present()).unwrap().accounts[0].poll_failing_since, None);
}

#[test]
fn a_letter_that_becomes_due_while_its_destination_is_away_begins_nothing_new() {
    let (_folder, db) = ledger("main", 1);
    let away =
        |since| away::Away { since, failure: "deliver down x".to_owned(), reason: "gone".into(), looked_at: 900 };
    let seen = || {
        let found = facts(&db, &present()).unwrap();
        (found.pauses.iter().map(|pause| pause.since).collect::<Vec<_>>(), found.is_shut)
    };
    away::begin(&db, "pms", &away(300)).unwrap();
    assert_eq!(seen(), (vec![300], true));
    let scope = Scope::Destination("pms".into()).to_string();
    let failure = Some(Failure { call: Call::Deliver, kind: Kind::Down(Code::word("unreachable")) });
    pauses::save(&db, &Pause { scope, failure, since: 800, probe_at: 950, ..Pause::default() }).unwrap();
    assert_eq!(seen(), (vec![300], true), "one cause, one beginning");
    away::begin(&db, "pms", &away(850)).unwrap();
    assert_eq!(seen(), (vec![800], true));
    away::worked(&db, "scan", 700).unwrap();
    assert!(!seen().1, "another one takes letters");
}

#[test]
fn documents_that_failed_are_counted_with_the_first_and_the_last_of_them() {
    let (_folder, db) = ledger("old", 3);
    for at in [610, 620] {
        let document = documents::by_number(&db, work::due(&db, &Scope::Fetch("old".into()), 1_000, 1).unwrap()[0].0)
            .unwrap()
            .unwrap();
        failures::fail(&db, &document, "no", "read own", None, at, at).unwrap();
        documents::transition(&db, document.id, document.round, crate::domain::state::Event::ReportAccepted, at, None)
            .unwrap();
    }
    let found = facts(&db, &present()).unwrap();
    assert_eq!(found.failed, Ended { count: 2, first: Some(610), last: Some(620) });
    assert_eq!(found.unreported, Ended::default());
    let names: Vec<_> =
        found.accounts.iter().map(|known| (known.name.as_str(), known.configured, known.open)).collect();
    assert_eq!(names, [("main", true, 0), ("old", false, 1)], "what waits for an account that is gone is told");
}

#[test]
fn a_letter_that_waits_for_several_things_is_counted_once() {
    let (_folder, db) = ledger("main", 3);
    // Two are fetched and wait for both destinations; one still waits for the account.
    db.execute_batch(
        "UPDATE document SET state = 'fetched', pdf = 'p' WHERE id < 3;
         INSERT INTO delivery (document, pdf, destination, state, due_at, changed_at)
             SELECT id, 'p', name, 'pending', 1, 1 FROM document
             JOIN (SELECT 'pms' AS name UNION SELECT 'scan') WHERE state = 'fetched';",
    )
    .unwrap();
    for (document, name) in [(1, "pms"), (1, "scan"), (2, "pms"), (2, "scan")] {
        testing::set_delivery(&db, document, name, "failing_since = 900");
    }
    let counted = |db: &Connection| {
        let found = facts(db, &present()).unwrap();
        let of_pauses = found.pauses.iter().map(|pause| (pause.scope.to_string(), pause.count));
        let of_stalled = found.stalled.iter().map(|stalled| (format!("stalled {}", stalled.scope), stalled.count));
        (found.accounts[0].open, of_pauses.chain(of_stalled).filter(|(_, count)| *count > 0).collect::<Vec<_>>())
    };
    let of = |scope: &str, count| (scope.to_owned(), count);
    assert_eq!(counted(&db), (1, vec![of("stalled destination:pms", 2)]));
    let pause = |scope: &str| {
        let sql = "INSERT INTO pause (scope, failure, reason, since, attempts, probe_at)
                   VALUES (?1, 'deliver down x', '', 1, 1, 1)";
        db.execute(sql, [scope]).unwrap();
    };
    // A document that is stalled at a paused destination counts as paused.
    pause("destination:scan");
    assert_eq!(counted(&db), (1, vec![of("destination:scan", 2)]));
    pause("destination:pms");
    assert_eq!(counted(&db), (1, vec![of("destination:pms", 2)]));
}

#[test]
fn letters_without_a_patient_in_the_list_count_since_one_had_its_patient_there() {
    let (_folder, db) = ledger("main", 4);
    db.execute("UPDATE document SET state = 'fetched', pdf = 'p'", []).unwrap();
    let deliver = |document: i64, changed_at: i64, number: Option<&str>, unmatched: Option<&str>| {
        db.execute(
            "INSERT INTO delivery (document, pdf, destination, state, changed_at, number, unmatched)
             VALUES (?1, 'p', 'pms', 'pending', ?2, ?3, ?4)",
            params![document, changed_at, number, unmatched],
        )
        .unwrap();
        let found = facts(&db, &present()).unwrap().strangers;
        (found.count, found.first)
    };
    assert_eq!(deliver(1, 100, None, Some("nobody")), (1, Some(100)));
    assert_eq!(deliver(2, 200, None, Some("no_date_of_birth")), (1, Some(100)), "that is no fault of the list");
    assert_eq!(deliver(3, 300, Some("471"), None), (0, None));
    assert_eq!(deliver(4, 400, None, Some("nobody")), (1, Some(400)));
}

#[test]
fn of_some_accounts_only_their_letters_are_counted_wherever_they_wait() {
    let (_folder, db) = ledger("north", 1);
    accounts::progress(&db, "south").unwrap();
    for n in 0..2 {
        let shown = testing::shown(&format!("other-{n}"), Some("p"));
        listed::see(&db, &testing::reader("south"), &shown, 10).unwrap();
    }
    db.execute_batch(
        "UPDATE document SET state = 'fetched', pdf = 'p';
         INSERT INTO delivery (document, pdf, destination, state, due_at, changed_at)
             SELECT id, 'p', 'pms', 'pending', 1, 1 FROM document;
         INSERT INTO delivery (document, pdf, destination, state, due_at, changed_at)
             SELECT id, 'p', 'scan', 'filed', 1, 1 FROM document;
         INSERT INTO delivery (document, pdf, destination, state, changed_at)
             SELECT id, 'p', 'lab', 'delivered', 1 FROM document;",
    )
    .unwrap();
    for document in 1..=3 {
        testing::set_delivery(&db, document, "pms", "failing_since = 900");
        testing::set_delivery(&db, document, "lab", "to_remove = 'the old one'");
    }
    let counted = |only: Option<&[&str]>| {
        let only = only.map(|only| only.iter().map(ToString::to_string).collect());
        let found = facts(&db, &Present { only, ..present() }).unwrap();
        let of = |ended: &[(String, Ended)]| ended.iter().map(|(_, ended)| ended.count).sum::<u64>();
        let stalled = found.stalled.iter().map(|stalled| stalled.count).sum::<u64>();
        (stalled, of(&found.not_taken), found.not_replaced.count)
    };
    let failure = Failure { call: Call::Deliver, kind: Kind::Down(Code::word("unreachable")) };
    let pause = Pause {
        scope: "destination:pms".to_owned(),
        failure: Some(failure),
        reason: String::new(),
        since: 1,
        attempts: 1,
        probe_at: 2,
    };
    let held = |only: &[&str]| {
        let only = Some(only.iter().map(ToString::to_string).collect());
        facts(&db, &Present { only, ..present() }).unwrap().pauses[0].count
    };
    for (only, count) in [(None, 3), (Some(&["north"][..]), 1), (Some(&["south"]), 2), (Some(&["north", "south"]), 3)] {
        assert_eq!(counted(only), (count, count, count), "{only:?}");
    }
    pauses::save(&db, &pause).unwrap();
    assert_eq!((held(&["north"]), held(&["south"]), held(&["nobody"])), (1, 2, 0));
}
