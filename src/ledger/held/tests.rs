//! Retracted documents are tried again, and their earlier attempts stay known.

use super::*;
use crate::ledger::documents::{self, Document};
use crate::ledger::failures::{self, Postponed};
use crate::ledger::pauses::ProbeChoice;
use crate::ledger::work::{self, Work};
use crate::ledger::{listed, testing};

const READ: &str = "read permanent status_403";
const DELIVER: &str = "deliver permanent exit_2";
const REPORT: &str = "report permanent status_422";
const REPORT_LATER: &str = "report passing status_500";

fn failure(text: &str) -> Failure {
    Failure::parse(text).unwrap()
}

struct Two {
    _folder: tempfile::TempDir,
    db: Connection,
}

fn choice(fresh: bool) -> ProbeChoice {
    if fresh { ProbeChoice::Fresh } else { ProbeChoice::Longest }
}

impl Two {
    /// Two documents; the first was found earlier.
    fn found() -> Self {
        let (folder, db) = testing::empty();
        for (uuid, at) in [("a", 1), ("b", 2)] {
            listed::see(&db, &testing::reader("main"), &testing::shown(uuid, None), at).unwrap();
        }
        Self { _folder: folder, db }
    }

    fn row(&self, id: i64) -> Document {
        documents::by_number(&self.db, id).unwrap().unwrap()
    }

    fn fetch(&self, id: i64) {
        documents::fetched(&self.db, &self.row(id), &testing::fetched("p"), &["pms".to_owned()], 3).unwrap();
    }

    fn probe(&self, state: State, fresh: bool) -> i64 {
        let scope = Scope::of(state, "main").unwrap();
        work::probe(&self.db, &scope, 99, choice(fresh), &[]).unwrap().unwrap().document().id
    }

    fn refuse_report(&self, failure: &Failure) {
        let refused = Postponed { due_at: Some(9), reason: "no", code: None, failure: Some(failure), charge: None };
        Work::from(&self.row(1)).postpone(&self.db, &refused, 4).unwrap();
    }
}

/// Another account took the document over while the first account's failure was being reported, and the report was not
/// heard: the new account asks the API itself.
#[test]
fn what_one_account_was_answered_is_not_told_by_another_that_took_the_document_over_meanwhile() {
    for (failure, taken_over, state) in [
        ("read permanent status_403", true, State::Discovered),
        ("read permanent status_403", false, State::Failing),
        ("deliver permanent exit_65", true, State::Failing),
        // A document that was given up.
        ("read passing status_403", true, State::Discovered),
    ] {
        let two = Two::found();
        let column = if failure.contains("passing") { "reason_code" } else { "failure" };
        testing::set(&two.db, 1, &format!("state = 'failing', {column} = '{failure}'"));
        let told = two.row(1);
        assert_eq!(sending(&two.db, 1, told.round).unwrap(), Some(false));
        if taken_over {
            two.db.execute("UPDATE document SET account = 'other' WHERE id = 1", []).unwrap();
        }
        was_not_sent(&two.db, &told, 5).unwrap();
        assert_eq!(two.row(1).state, state, "{failure} {taken_over}");
    }
}

#[test]
fn a_read_that_was_taken_back_is_no_fresh_one() {
    let two = Two::found();
    Work::from(&two.row(1)).refused(&two.db, 2).unwrap();
    failures::fail(&two.db, &two.row(1), "no", READ, Some(&failure(READ)), 9, 1).unwrap();
    let scope = Scope::Fetch("main".to_owned());
    assert_eq!(retract(&two.db, &scope, &failure(READ), "shared", 1).unwrap(), [State::Discovered]);
    assert_eq!([true, false].map(|fresh| two.probe(State::Discovered, fresh)), [2, 1]);
    assert_eq!(two.row(1).tries.refusals, 2, "as often as before");
}

#[test]
fn what_came_last_is_first_among_what_was_never_tried_and_nowhere_else() {
    let two = Two::found();
    let scope = Scope::Fetch("main".to_owned());
    let probe = |by, but: &[i64]| work::probe(&two.db, &scope, 99, by, but).unwrap().map(|work| work.document().id);
    let fresh = ProbeChoice::Fresh;
    assert_eq!([probe(fresh, &[]), probe(fresh, &[2]), probe(fresh, &[1, 2])], [Some(2), Some(1), None], "in flight");
    let fail = |id, at| {
        let postponed =
            Postponed { due_at: Some(9), reason: "no", code: None, failure: Some(&failure(READ)), charge: None };
        Work::from(&two.row(id)).postpone(&two.db, &postponed, at).unwrap();
    };
    fail(1, 4);
    fail(2, 5);
    assert_eq!(probe(fresh, &[]), Some(1), "none was never tried");
    for (failed, longest) in [(1, 2), (2, 1)] {
        fail(failed, failed + 6);
        assert_eq!([ProbeChoice::Same, ProbeChoice::Longest].map(|by| probe(by, &[])), [Some(1), Some(longest)]);
    }
}

/// Otherwise hundreds of drafts would be read again and again before failed documents have their turn.
#[test]
fn a_draft_that_was_looked_at_is_no_fresh_one() {
    let two = Two::found();
    let code = Some("not_rendered");
    let waits = Postponed { due_at: Some(9), reason: "not yet", code, failure: None, charge: None };
    Work::from(&two.row(1)).postpone(&two.db, &waits, 4).unwrap();
    assert_eq!([true, false].map(|fresh| two.probe(State::Discovered, fresh)), [2, 1]);
}

#[test]
fn a_delivery_that_was_taken_back_is_no_fresh_one() {
    let two = Two::found();
    two.fetch(1);
    let pending = || deliveries::pending(&two.db, "pms", 1).unwrap().unwrap();
    let delivery = pending();
    Work::from(&delivery).refused(&two.db, 2).unwrap();
    deliveries::end(
        &two.db,
        &delivery,
        &deliveries::Ended::Failed { reason: "no", code: DELIVER, failure: Some(&failure(DELIVER)) },
        2,
    )
    .unwrap();
    let scope = Scope::Destination("pms".to_owned());
    assert_eq!(retract(&two.db, &scope, &failure(DELIVER), "shared", 4).unwrap(), [State::Discovered]);
    two.fetch(1);
    assert_eq!(
        (pending().tries.refusals, pending().tries.changed_at),
        (2, 2),
        "as often as before, the last time then"
    );
    two.fetch(2);
    let probe = |fresh, but: &[i64]| {
        work::probe(&two.db, &scope, 99, choice(fresh), but).unwrap().map(|work| work.document().id)
    };
    assert_eq!([true, false].map(|fresh| probe(fresh, &[])), [Some(2), Some(1)]);
    assert_eq!(probe(true, &[1, 2]), None, "in flight");
}

#[test]
fn a_report_that_was_taken_back_is_no_fresh_one_and_its_refusal_is_not_believed() {
    for (refused, after) in [(REPORT, "report passing status_422"), (REPORT_LATER, REPORT_LATER)] {
        let two = Two::found();
        for id in [1, 2] {
            transition(&two.db, id, 0, Event::AllDelivered, id, None).unwrap();
        }
        two.refuse_report(&failure(refused));
        assert_eq!(retract(&two.db, &Scope::Report("main".to_owned()), &failure(refused), "shared", 5).unwrap(), []);
        assert_eq!(two.row(1).tries.failure, Some(failure(after)));
        assert_eq!([true, false].map(|fresh| two.probe(State::Delivered, fresh)), [2, 1]);
    }
}

#[test]
fn what_is_held_is_held_anew_and_what_was_told_is_not() {
    let two = Two::found();
    failures::fail(&two.db, &two.row(1), "no", READ, Some(&failure(READ)), 9, 1).unwrap();
    failures::fail(&two.db, &two.row(2), "no", READ, Some(&failure(READ)), 9, 1).unwrap();
    assert_eq!(sending(&two.db, 2, 0).unwrap(), Some(false));
    let held = hold_anew(&two.db, 50).unwrap();
    assert_eq!(held.iter().map(|(.., document)| *document).collect::<Vec<_>>(), [1]);
    assert_eq!([1, 2].map(|id| two.row(id).tries.due_at), [Some(50), Some(9)]);
}

/// A destination belongs to every account; an answer of the API belongs to one account.
#[test]
fn what_fails_alike_at_a_destination_is_held_whichever_account_lists_it() {
    for (account, due) in [(None, [50, 50]), (Some("other"), [9, 50])] {
        let two = Two::found();
        two.db.execute_batch("INSERT OR IGNORE INTO account (name) VALUES ('main'), ('other'); UPDATE document SET account = 'other' WHERE id = 2").unwrap();
        for id in [1, 2] {
            failures::fail(&two.db, &two.row(id), "no", DELIVER, Some(&failure(DELIVER)), 9, 1).unwrap();
        }
        hold(&two.db, account, &failure(DELIVER), 50).unwrap();
        assert_eq!([1, 2].map(|id| two.row(id).tries.due_at), due.map(Some));
    }
}

/// A PDF was lost from the spool twice: earlier successes are no evidence about later downloads.
#[test]
fn the_first_failure_of_a_download_is_the_first_since_it_was_last_downloaded() {
    let two = Two::found();
    testing::set(&two.db, 1, "lost = 2, failing_since = 5");
    for began in [70, 80] {
        let charge = Some(failures::Charge { doubtful: true, failing_for: 1, began });
        let failed = Postponed { due_at: Some(99), reason: "no", code: None, failure: Some(&failure(READ)), charge };
        Work::from(&two.row(1)).postpone(&two.db, &failed, began).unwrap();
        assert_eq!(two.row(1).tries.failing_since, Some(70));
    }
}

/// Nights and weekends would add up to `sync.give_up_after`.
#[test]
fn while_the_computer_was_off_no_report_was_tried() {
    let (two, week) = (Two::found(), 7 * 24 * 3_600_000);
    testing::set(&two.db, 1, "state = 'delivered', attempts = 3, changed_at = 10, due_at = 30, failing_for = 100");
    testing::set(&two.db, 1, "report_failure = 'report passing status_500'");
    for start in [week, 2 * week] {
        hold_anew(&two.db, start).unwrap();
        let tries = two.row(1).tries;
        let waited = tries.due_at.unwrap() - tries.changed_at;
        assert_eq!((tries.due_at, tries.failing_for + waited), (Some(start), 100 + 20));
    }
}
