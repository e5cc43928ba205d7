//! The effects of a list on known documents.

use super::*;

use crate::ledger::{documents, prune, retry, testing, work};

const POLL: Millis = 60_000;
const NOTHING: Absence = Absence { synchronized: false, others: false, apart: POLL };
const OTHERS: Absence = Absence { others: true, ..NOTHING };

mod accounts;
mod passed_round;

struct One {
    _folder: tempfile::TempDir,
    db: Connection,
}

impl One {
    fn found() -> Self {
        let (folder, db) = testing::empty();
        let one = Self { _folder: folder, db };
        assert_eq!(one.seen("main", false), Seen::New);
        one.set("read_at = 1");
        one
    }

    fn seen_among(&self, working: &[&str], account: &str, confirmed: bool) -> Seen {
        self.seen_where(working, working, account, confirmed)
    }

    fn seen_where(&self, working: &[&str], healthy: &[&str], account: &str, confirmed: bool) -> Seen {
        self.seen_at(0, working, healthy, account, confirmed)
    }

    fn seen_with_pdf(&self, pdf: Option<&str>, now: Millis, account: &str) -> Seen {
        let working = ["main", "other"].map(str::to_owned).to_vec();
        let reader = Reader { working, confirmed: true, ..testing::reader(account) };
        see(&self.db, &reader, &testing::shown("a", pdf), now).unwrap()
    }

    fn seen_at(&self, now: Millis, working: &[&str], healthy: &[&str], account: &str, confirmed: bool) -> Seen {
        let names = |names: &[&str]| -> Vec<String> { names.iter().map(|name| (*name).to_owned()).collect() };
        let (working, healthy) = (names(working), names(healthy));
        let paused = working.iter().filter(|name| !healthy.contains(name));
        let paused = paused.flat_map(|name| [Scope::Fetch(name.clone()), Scope::Report(name.clone())]).collect();
        let reader = Reader { working, paused, confirmed, ..testing::reader(account) };
        see(&self.db, &reader, &testing::shown("a", Some("p")), now).unwrap()
    }

    fn seen_with(&self, pdf: &str, poll: i64) -> Seen {
        let reader = Reader { poll, confirmed: true, ..testing::reader("main") };
        see(&self.db, &reader, &testing::shown("a", Some(pdf)), 0).unwrap()
    }

    fn seen(&self, account: &str, confirmed: bool) -> Seen {
        self.seen_among(&["main", "other"], account, confirmed)
    }

    fn row(&self) -> Document {
        documents::by_number(&self.db, 1).unwrap().unwrap()
    }

    fn end(&self) {
        for event in [Event::AllDelivered, Event::ReportAccepted] {
            assert!(transition(&self.db, 1, 0, event, 0, None).unwrap().is_some());
        }
    }

    fn set(&self, change: &str) {
        testing::set(&self.db, 1, change);
    }

    /// Whether the account was refused, and how often it lost the document.
    fn lost(&self, account: &str) -> Option<(bool, u32)> {
        lost(&self.db, 1, account).unwrap().map(|lost| (lost.was_refused, lost.times))
    }

    fn whose(&self) -> (String, String) {
        let row = self.db.query_row("SELECT account, state FROM document", [], |row| Ok((row.get(0)?, row.get(1)?)));
        row.unwrap()
    }

    fn absent(&self, absence: Absence, now: Millis) -> Left {
        absent(&self.db, 1, absence, now).unwrap()
    }
}

/// A report takes the document off the list, even if its answer was lost. A new version is still to be filed, however
/// it was noticed and however long fetching takes. A later listing is a new request, which may be withdrawn.
#[test]
fn a_version_that_waits_when_a_report_may_have_been_told_is_not_gone_because_the_list_does_not_show_it() {
    for told in [true, false] {
        for revised_at in [0, 9] {
            let one = One::found();
            assert!(transition(&one.db, 1, 0, Event::AllDelivered, 0, None).unwrap().is_some());
            if told {
                assert!(transition(&one.db, 1, 0, Event::ReportAccepted, 0, None).unwrap().is_some());
            }
            assert_eq!(documents::revise(&one.db, 1, 0, Some("q"), revised_at).unwrap(), Some((State::Discovered, 0)));
            let looks = || [one.absent(OTHERS, 10), one.absent(OTHERS, 10 + POLL)];
            assert_eq!(looks(), [Left::Undecided, Left::Ended], "{told} {revised_at}");
            // It also returned 404: the API is asked once more whether it has the document, unless another list shows
            // that.
            missing(&one.db, &one.row(), 0).unwrap();
            assert_eq!(looks(), [Left::Undecided, Left::Doubtful]);
            let synchronized = Absence { synchronized: true, ..NOTHING };
            assert_eq!(one.absent(synchronized, 11 + POLL), Left::Ended);
            assert_eq!(is_gone(&one.db, 1, 11).unwrap(), Left::Undecided, "nothing is held against it any more");
            missing(&one.db, &one.row(), 0).unwrap();
            assert_eq!(looks(), [Left::Undecided, Left::Doubtful]);
            assert_eq!(is_gone(&one.db, 1, 11 + POLL).unwrap(), Left::Withdrawn, "it answers 404");
        }
    }
    let one = One::found();
    one.end();
    assert_eq!([one.absent(OTHERS, 10), one.absent(OTHERS, 10 + POLL)], [Left::Undecided, Left::Ended]);
    assert!(matches!(one.seen("main", true), Seen::Reopened { event: Event::Relisted, .. }));
    assert_eq!([one.absent(OTHERS, 10), one.absent(OTHERS, 10 + POLL)], [Left::Undecided, Left::Withdrawn]);
}

/// Seed 500064: the list does not show a reported document, however long ago the report was.
#[test]
fn what_a_person_retries_after_its_history_was_removed_is_not_gone_because_the_list_does_not_show_it() {
    let one = One::found();
    one.end();
    assert_eq!(prune::remove_history(&one.db, 1, 10, 1).unwrap(), 1);
    assert!(retry::retry(&one.db, 1, 2).unwrap().is_some());
    assert_eq!([one.absent(OTHERS, 10), one.absent(OTHERS, 10 + POLL)], [Left::Undecided, Left::Ended]);
}

#[test]
fn a_document_left_when_the_list_was_asked_twice_a_poll_apart_and_showed_others() {
    let one = One::found();
    one.end();
    assert_eq!(one.absent(OTHERS, 0), Left::Undecided);
    assert_eq!(one.absent(OTHERS, POLL - 1), Left::Undecided);
    assert_eq!(one.absent(OTHERS, POLL), Left::Ended);
    assert_eq!(one.seen("main", false), Seen::Doubtful);
    assert!(matches!(one.seen("main", true), Seen::Reopened { event: Event::Relisted, .. }));
}

#[test]
fn an_empty_list_proves_nothing_unless_the_document_answers_404_or_is_shown_as_synchronized() {
    let one = One::found();
    for minute in 0..100 {
        assert_eq!(one.absent(NOTHING, minute * POLL), Left::Undecided);
    }
    missing(&one.db, &one.row(), 0).unwrap();
    assert_eq!(one.absent(NOTHING, 100 * POLL), Left::Undecided);
    assert_eq!(one.absent(NOTHING, 101 * POLL), Left::Withdrawn);

    let one = One::found();
    one.end();
    let synchronized = Absence { synchronized: true, ..NOTHING };
    assert_eq!([one.absent(synchronized, 0), one.absent(synchronized, 0)], [Left::Undecided, Left::Ended]);
}

/// Nothing else would end the question whose it is.
#[test]
fn a_letter_that_waits_for_a_person_is_withdrawn_as_any_other_once_it_answers_404() {
    let one = One::found();
    assert!(transition(&one.db, 1, 0, Event::Fetched, 0, None).unwrap().is_some());
    missing(&one.db, &one.row(), 0).unwrap();
    assert_eq!([one.absent(NOTHING, 1), one.absent(NOTHING, 1 + POLL)], [Left::Undecided, Left::Withdrawn]);
    assert_eq!(one.row().state, State::Withdrawn);
}

#[test]
fn a_document_that_a_person_tries_again_after_its_report_is_gone_only_when_it_answers_404() {
    let one = One::found();
    one.end();
    retry::retry(&one.db, 1, 0).unwrap().unwrap();
    assert_eq!([one.absent(OTHERS, 0), one.absent(OTHERS, POLL)], [Left::Undecided, Left::Ended]);
    assert_eq!(work::due(&one.db, &Scope::Fetch("main".to_owned()), 1, 5).unwrap().len(), 1, "it is still tried");
    missing(&one.db, &one.row(), POLL).unwrap();
    assert_eq!([one.absent(OTHERS, 2 * POLL), one.absent(OTHERS, 3 * POLL)], [Left::Undecided, Left::Doubtful]);
    assert_eq!(is_gone(&one.db, 1, 3 * POLL).unwrap(), Left::Withdrawn);
}

/// The report of its failure was received, but the answer was lost.
#[test]
fn a_document_that_a_person_tries_again_while_its_failure_is_told_is_gone_only_when_it_answers_404() {
    let one = One::found();
    transition(&one.db, 1, 0, Event::Refused, 0, Some("no good".into())).unwrap();
    history::append(&one.db, (1, None), 0, "postponed", State::Failing, 1, Some("HTTP 503".into())).unwrap();
    assert!(retry::retry(&one.db, 1, 0).unwrap().is_some());
    assert_eq!(one.absent(OTHERS, 0), Left::Undecided);
    assert_eq!(one.absent(OTHERS, POLL), Left::Ended);
    one.db.execute("UPDATE document SET missing_at = 1", []).unwrap();
    assert_eq!(one.absent(OTHERS, POLL), Left::Undecided);
    assert_eq!(one.absent(OTHERS, 2 * POLL), Left::Doubtful);
    assert_eq!(is_gone(&one.db, 1, 2 * POLL).unwrap(), Left::Withdrawn);
}

/// A document that has not started since is not put off by every poll whose list shows yet another PDF.
#[test]
fn a_document_whose_pdf_changes_at_every_poll_becomes_due_all_the_same() {
    let one = One::found();
    one.end();
    let revise = |round, at| documents::revise(&one.db, 1, round, Some("q"), at).unwrap().map(|(_, wait)| wait);
    assert_eq!([0, 1, 2].map(|round| revise(round, 0)), [Some(0); 3]);
    one.set("state = 'reported'");
    assert_eq!(revise(3, 0), Some(2000));
    assert_eq!([(4, 100), (5, 1900), (6, 2500)].map(|(round, at)| revise(round, at)), [Some(1900), Some(100), Some(0)]);
    assert_eq!(work::due(&one.db, &Scope::Fetch("main".to_owned()), 2500, 5).unwrap().len(), 1);
}

/// Whatever took it off the list, the API shows another PDF than the one that was filed.
#[test]
fn a_document_that_is_shown_as_synchronized_with_another_pdf_begins_anew() {
    let one = One::found();
    one.set("pdf = 'p'");
    let another = |pdf: &str| ended_with_another(&one.db, 1, pdf, 5).unwrap().map(|(_, state, wait)| (state, wait));
    assert_eq!(another("q"), None, "it has not ended");
    one.end();
    assert_eq!(another("P"), None, "it is the same one");
    let delivered =
        "INSERT INTO delivery (document, pdf, destination, state, changed_at) VALUES (1, 'old', 'pms', 'delivered', 0)";
    one.db.execute(delivered, []).unwrap();
    assert_eq!(another("old"), None, "a list that lags behind");
    documents::accept(&one.db, 1, "two").unwrap();
    assert_eq!(another("two"), None, "a service that names its PDFs in two ways");
    assert_eq!(another("q"), Some((State::Discovered, 0)));
    assert_eq!(another("r"), None);
}

#[test]
fn one_look_that_shows_it_and_a_clock_that_was_set_back_begin_anew() {
    let one = One::found();
    assert_eq!(one.absent(OTHERS, 5 * POLL), Left::Undecided);
    present(&one.db, 1).unwrap();
    assert_eq!(one.absent(OTHERS, 6 * POLL), Left::Undecided);
    assert_eq!(one.absent(OTHERS, POLL), Left::Undecided);
    assert_eq!(one.absent(OTHERS, 2 * POLL), Left::Withdrawn);
}

/// The service may have corrected the patient, and have left everything else as it is.
#[test]
fn what_is_listed_for_another_patient_or_comes_back_is_read_once_more_and_then_left_alone() {
    let see_as = |one: &One, patient: Option<&str>, confirmed: bool| {
        let reader = Reader { confirmed, ..testing::reader("main") };
        let shown = Listed { patient: patient.map(str::to_owned), ..testing::shown("a", Some("p")) };
        see(&one.db, &reader, &shown, 9).unwrap()
    };
    let unread = |one: &One, patient: Option<&str>| {
        let first = see_as(one, patient, false);
        let was_asked = first == Seen::Doubtful && see_as(one, patient, true) == Seen::Unread(1);
        assert!(was_asked || first == Seen::Known, "{first:?}");
        // Until it was read, each poll says so.
        assert!(!was_asked || see_as(one, patient, false) == Seen::Doubtful);
        was_asked
    };
    let of = |state: &str| {
        let one = One::found();
        one.set(&format!("state = '{state}', pdf = 'p', patient = 'p1', listed_patient = 'p1', read_at = 3"));
        one
    };
    for (state, patient, expected) in [
        ("reported", Some("p1"), false),
        ("reported", None, false),
        ("reported", Some("p2"), true),
        ("fetched", Some("p2"), true), // it may wait for its proof
        ("delivered", Some("p2"), true),
        ("fetched", Some("p1"), false),
        ("fetched", None, false),
        ("discovered", Some("p2"), false), // it is read anyway
        ("failed", Some("p2"), false),
    ] {
        assert_eq!(unread(&of(state), patient), expected, "{state} {patient:?}");
    }
    let one = of("reported");
    assert!(unread(&one, Some("p2")));
    documents::shown(&one.db, 1, 0, 7).unwrap();
    assert!(!unread(&one, Some("p2")), "what merely stays in the list is read once");
    assert_eq!(one.absent(OTHERS, 8), Left::Undecided);
    assert!(unread(&one, Some("p2")), "it was away");
}

/// After a person's retry, or a failure, the document was read before the list showed the PDF.
#[test]
fn what_the_list_shows_after_it_was_read_with_that_pdf_is_no_new_version() {
    for ends in [false, true] {
        let one = One::found();
        assert_eq!(one.seen_with("p", 1), Seen::Known);
        one.db.execute("UPDATE document SET pdf = 'q'", []).unwrap();
        if ends {
            one.end();
        }
        assert_eq!(one.seen_with("q", 2), Seen::Known);
        assert_eq!(one.seen_with("r", 2), Seen::Known, "what a list shows twice begins once a poll");
        assert!(matches!(one.seen_with("r", 3), Seen::Reopened { event: Event::Revised, .. }));
    }
}

#[test]
fn a_uuid_in_other_letter_case_is_the_same_document() {
    let one = One::found();
    let upper = "019AA5C0-7D1E-7000-8000-0123456789AB";
    let see = |uuid: &str| see(&one.db, &testing::reader("main"), &testing::shown(uuid, None), 0).unwrap();
    assert_eq!([see(upper), see(&upper.to_lowercase())], [Seen::New, Seen::Known]);
    assert_eq!(see("A"), Seen::New, "of another identifier nobody knows");
}

#[test]
fn a_pdf_that_is_known_as_another_documents_is_not_this_ones() {
    let [of_a, of_b, new] = [1, 2, 3].map(|number| format!("0c1f4a52-00aa-7000-8000-00000000000{number}"));
    let (_folder, db) = testing::empty();
    let reader = Reader { confirmed: true, ..testing::reader("main") };
    let listed_as = |id: i64| documents::by_number(&db, id).unwrap().unwrap().listed_pdf;
    let see = |poll: i64, uuid: &str, pdf: &str| {
        see(&db, &Reader { poll, ..reader.clone() }, &testing::shown(uuid, Some(pdf)), 0).unwrap()
    };
    assert_eq!((see(1, "a", &of_a), see(1, "b", &of_b)), (Seen::New, Seen::New));
    // A list, the answer to a report, and the list of what is synchronized.
    assert_eq!(see(2, "a", &of_b), Seen::Known);
    assert_eq!(see(2, "c", &of_b), Seen::New);
    assert_eq!((listed_as(1).as_ref(), listed_as(3)), (Some(&of_a), None));
    documents::revise(&db, 1, 0, Some(&of_b), 0).unwrap().unwrap();
    assert_eq!(listed_as(1).as_ref(), Some(&of_a));
    assert_eq!(documents::unless_anothers(&db, 1, Some(&of_b)).unwrap(), None);
    for own in [&of_a, &new] {
        assert_eq!(documents::unless_anothers(&db, 1, Some(own)).unwrap(), Some(own.as_str()));
    }
    assert!(matches!(see(3, "a", &new), Seen::Reopened { event: Event::Revised, .. }));
    // Other words than uuids may stand for the PDFs of several documents.
    assert_eq!((see(1, "d", "pdf"), see(1, "e", "pdf")), (Seen::New, Seen::New));
    assert_eq!(listed_as(5).as_deref(), Some("pdf"));
}
