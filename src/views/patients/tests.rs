use super::*;
use crate::ledger::patients::{self as kept, Assigned};
use crate::ledger::{history, listed, testing};
use crate::views::facts;

/// A letter of this patient that waits for a person, for this reason, since 1,000.
fn waiting(why: &str) -> (tempfile::TempDir, Connection, String) {
    let (folder, db) = testing::empty();
    let shown = testing::shown("document-1", Some("p"));
    listed::see(&db, &testing::reader("main"), &shown, 10).unwrap();
    db.execute_batch(&format!(
        "UPDATE document SET state = 'fetched', pdf = 'p', patient = 'anna';
         INSERT INTO delivery (document, pdf, destination, state, due_at, changed_at, unmatched)
             SELECT id, 'p', 'pms', 'pending', NULL, 1000, '{why}' FROM document;"
    ))
    .unwrap();
    let uuid = db.query_row("SELECT uuid FROM document", [], |row| row.get(0)).unwrap();
    (folder, db, uuid)
}

fn assigned(at: Millis) -> Assigned {
    let [patient, number, fingerprint] = ["anna", "0042", "f"].map(ToOwned::to_owned);
    Assigned {
        patient,
        number,
        fingerprint,
        listed: true,
        who: Some("status page, browser ab12cd".into()),
        at,
        to_refile: false,
        refiled: false,
    }
}

#[test]
fn a_letter_is_not_asked_about_while_a_decision_is_carried_out_and_again_if_that_comes_to_nothing() {
    for (why, settles) in [("nobody", true), ("several", true), ("not_there", false), ("given_away", false)] {
        let (_folder, db, _) = waiting(why);
        let asked = |now| (unmatched(&db, now, 9).unwrap().len(), facts::unmatched(&db, None, now).unwrap().count);
        assert_eq!(asked(2_000), (1, 1));
        kept::assign(&db, &assigned(2_000)).unwrap();
        let meanwhile = if settles { (0, 0) } else { (1, 1) };
        assert_eq!(asked(2_001), meanwhile, "{why}");
        assert_eq!(asks(&db, 1, 2_001).unwrap(), !settles);
        assert_eq!(decided(&db, 1_500, 9).unwrap(), [1]);
        assert_eq!(asked(2_001 + DECIDED_FOR), (1, 1), "{why}");
        // The clock was a day ahead.
        kept::assign(&db, &assigned(86_400_000)).unwrap();
        assert_eq!(asked(2_001), (1, 1), "{why}");
    }
}

#[test]
fn decisions_are_told_with_who_when_which_letter_and_which_number() {
    let (_folder, db, uuid) = waiting("nobody");
    let by = assigned(2_000);
    kept::assign(&db, &by).unwrap();
    let record = |event, action, at| {
        history::decided(&db, 1, event, &by, at).unwrap();
        history::act(&db, at, action, &format!("document {uuid}"), by.who.as_deref()).unwrap();
    };
    record(ASSIGNED, Action::Assign, 2_000);
    record(UNASSIGNED, Action::Unassign, 3_000);
    record(ASSIGNED, Action::Assign, 4_000);
    history::act(&db, 3_500, Action::Unassign, "a patient who left the practice's list", None).unwrap();
    let told = |since| {
        let told = decisions(&db, since, 9).unwrap().into_iter();
        told.map(|one| (one.at, one.is_taken_back, one.number, one.who, one.uuid)).collect::<Vec<_>>()
    };
    let row = |at, back| (at, back, Some("0042".to_owned()), by.who.clone(), uuid.clone());
    let (last, undo) = (row(4_000, false), row(3_000, true));
    assert_eq!(told(0), [last.clone(), undo.clone(), row(2_000, true)], "the first is no more in force");
    assert_eq!(told(2_500), [last, undo]);
}
