//! What a list does to what is known.

use super::*;
use crate::ledger::failures::{self, Postponed};
use crate::ledger::{documents, open, prune, retry};

const POLL: Millis = 60_000;
const NOTHING: Absence = Absence { synchronized: false, others: false, apart: POLL };
const OTHERS: Absence = Absence { others: true, ..NOTHING };

struct One {
    _folder: tempfile::TempDir,
    db: Connection,
}

impl One {
    fn found() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let db = open::open_or_create(&folder.path().join("ledger.sqlite3")).unwrap();
        let one = Self { _folder: folder, db };
        assert_eq!(one.seen("main", false), Seen::New);
        one
    }

    fn seen_among(&self, working: &[&str], account: &str, confirmed: bool) -> Seen {
        self.seen_where(working, working, account, confirmed)
    }

    fn seen_where(&self, working: &[&str], healthy: &[&str], account: &str, confirmed: bool) -> Seen {
        self.seen_at(0, working, healthy, account, confirmed)
    }

    fn seen_at(&self, now: Millis, working: &[&str], healthy: &[&str], account: &str, confirmed: bool) -> Seen {
        let names = |names: &[&str]| -> Vec<String> { names.iter().map(|name| (*name).to_owned()).collect() };
        let shown = Listed {
            uuid: DocumentUuid::parse("a").unwrap(),
            created_at: "2026-11-21".to_owned(),
            kind: None,
            pdf: Some("p".to_owned()),
        };
        let (working, healthy) = (names(working), names(healthy));
        let paused = working.iter().filter(|name| !healthy.contains(name));
        let paused = paused.flat_map(|name| [Scope::Fetch(name.clone()), Scope::Report(name.clone())]).collect();
        let reader = Reader { account: account.to_owned(), working, paused, poll: 1, confirmed };
        see(&self.db, &reader, &shown, now).unwrap()
    }

    fn seen_with(&self, pdf: &str, poll: i64) -> Seen {
        let shown = Listed {
            uuid: DocumentUuid::parse("a").unwrap(),
            created_at: "2026-11-21".to_owned(),
            kind: None,
            pdf: Some(pdf.to_owned()),
        };
        let working = vec!["main".to_owned()];
        let reader = Reader { account: "main".to_owned(), working, paused: Vec::new(), poll, confirmed: true };
        see(&self.db, &reader, &shown, 0).unwrap()
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

    fn absent(&self, absence: Absence, now: Millis) -> Left {
        absent(&self.db, 1, absence, now).unwrap()
    }
}

/// A report takes the document off the list, also one whose answer was lost; a new version of it is still to be filed, however it was
/// noticed, and however long it takes to fetch. What the list shows again after that was asked for, and may be withdrawn.
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
            // A 404 is held against it: whether the API has it is asked once more, unless another list shows that.
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

/// Seed 500064: the list does not show what was reported, however long ago that was.
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

#[test]
fn a_document_that_a_person_tries_again_after_its_report_is_gone_only_when_it_answers_404() {
    let one = One::found();
    one.end();
    retry::retry(&one.db, 1, 0).unwrap().unwrap();
    assert_eq!([one.absent(OTHERS, 0), one.absent(OTHERS, POLL)], [Left::Undecided, Left::Ended]);
    assert_eq!(documents::due(&one.db, State::Discovered, "main", 1, 5).unwrap().len(), 1, "it is still tried");
    missing(&one.db, &one.row(), POLL).unwrap();
    assert_eq!([one.absent(OTHERS, 2 * POLL), one.absent(OTHERS, 3 * POLL)], [Left::Undecided, Left::Doubtful]);
    assert_eq!(is_gone(&one.db, 1, 3 * POLL).unwrap(), Left::Withdrawn);
}

/// The report that it failed was heard, and its answer lost.
#[test]
fn a_document_that_a_person_tries_again_while_its_failure_is_told_is_gone_only_when_it_answers_404() {
    let one = One::found();
    transition(&one.db, 1, 0, Event::Refused, 0, Some("no good")).unwrap();
    history::append(&one.db, 1, 0, "postponed", State::Failing, 1, None, Some("HTTP 503")).unwrap();
    assert!(retry::retry(&one.db, 1, 0).unwrap().is_some());
    assert_eq!(one.absent(OTHERS, 0), Left::Undecided);
    assert_eq!(one.absent(OTHERS, POLL), Left::Ended);
    one.db.execute("UPDATE document SET missing_at = 1", []).unwrap();
    assert_eq!(one.absent(OTHERS, POLL), Left::Undecided);
    assert_eq!(one.absent(OTHERS, 2 * POLL), Left::Doubtful);
    assert_eq!(is_gone(&one.db, 1, 2 * POLL).unwrap(), Left::Withdrawn);
}

/// What has not begun since is not put off by every poll whose list shows yet another PDF.
#[test]
fn a_document_whose_pdf_changes_at_every_poll_becomes_due_all_the_same() {
    let one = One::found();
    one.end();
    let revise = |round, at| documents::revise(&one.db, 1, round, Some("q"), at).unwrap().map(|(_, wait)| wait);
    assert_eq!([0, 1, 2].map(|round| revise(round, 0)), [Some(0); 3]);
    one.set("state = 'reported'");
    assert_eq!(revise(3, 0), Some(2000));
    assert_eq!([(4, 100), (5, 1900), (6, 2500)].map(|(round, at)| revise(round, at)), [Some(1900), Some(100), Some(0)]);
    assert_eq!(documents::due(&one.db, State::Discovered, "main", 2500, 5).unwrap().len(), 1);
}

/// Whatever took it off the list: what the API shows of it is not what was filed.
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
    documents::in_conflict(&one.db, 1, "two", -documents::CONFLICT_LIMIT).unwrap();
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

#[test]
fn another_account_takes_over_only_what_nobody_reads() {
    let one = One::found();
    assert_eq!(one.seen("other", false), Seen::Known);
    let due = |account: &str| documents::due(&one.db, State::Discovered, account, 1, 5).unwrap().len();
    assert_eq!((due("main"), due("other")), (1, 0));
    assert_eq!(one.seen_among(&["other"], "other", false), Seen::Known);
    assert_eq!((due("main"), due("other")), (0, 1));
}

impl One {
    fn set(&self, change: &str) {
        self.db.execute(&format!("UPDATE document SET {change}"), []).unwrap();
    }

    fn lender(&self) -> Option<String> {
        loan(&self.db, 1).unwrap().map(|(lender, _)| lender)
    }

    fn whose(&self) -> (String, String) {
        let row = self.db.query_row("SELECT account, state FROM document", [], |row| Ok((row.get(0)?, row.get(1)?)));
        row.unwrap()
    }
}

#[test]
fn what_the_api_refuses_to_one_account_another_that_lists_it_gets_once() {
    for (state, change) in [
        ("discovered", "failure = 'read passing status_500'"),
        ("discovered", "failure = 'record passing status_500'"),
        ("discovered", "state = 'failing', failure = 'download doubtful status_403'"),
        ("delivered", "state = 'delivered', report_failure = 'report permanent status_403'"),
        ("discovered", "state = 'failing', failure = 'read permanent status_403'"),
        ("discovered", "state = 'failed', reason_code = 'read permanent status_403'"),
        ("discovered", "state = 'unreported', reason_code = 'report permanent status_403'"),
    ] {
        let one = One::found();
        one.set(change);
        let has_ended = change.contains("'failed'") || change.contains("unreported");
        if has_ended {
            assert_eq!(one.seen("other", false), Seen::Doubtful, "{change}: one page may be stale");
        }
        one.seen("other", true);
        assert_eq!(one.whose(), ("other".to_owned(), state.to_owned()), "{change}");
        // What may pass is no refusal: the other is not left with it for ever, nor is it passed round.
        let lent = change.contains("passing");
        assert_eq!(one.lender(), lent.then(|| "main".to_owned()), "{change}");
        let looks = |account: &str, change: Option<&str>| {
            change.into_iter().for_each(|change| one.set(change));
            one.seen(account, true);
            one.whose().0
        };
        assert_eq!(looks("main", None), "other", "{change}: what the lender was told is not said of the other");
        assert_eq!(looks("main", Some(change)), "other", "{change}: nor is it given back for what may pass");
        let refused = "state = 'discovered', report_failure = NULL, failure = 'read passing status_403'";
        assert_eq!(looks("main", Some(refused)), if lent { "main" } else { "other" }, "{change}");
        assert_eq!(one.lender(), None, "{change}: it has it back");
        assert_eq!(
            looks("other", Some(refused)),
            if lent { "main" } else { "other" },
            "{change}: it is not passed round"
        );
        // A third one was not asked yet.
        one.seen_among(&["main", "other", "third"], "third", true);
        let last = if lent { "main" } else { "other" };
        assert_eq!(one.lender(), Some(last.to_owned()), "{change}");
        // Where the one is gone from the configuration, who takes it over must be able to ask; what was told was told.
        let gone = One::found();
        gone.set(change);
        gone.seen_where(&["other"], &[], "other", true);
        assert_eq!(gone.whose().0, if has_ended { "other" } else { "main" }, "{change}");
        gone.seen_among(&["other"], "other", true);
        let before = if has_ended { change.split('\'').nth(1).unwrap() } else { state };
        assert_eq!(gone.whose(), ("other".to_owned(), before.to_owned()), "{change}");
        let told = One::found();
        told.set(change);
        told.set("state = 'failing', failure_sent = 1");
        told.seen("other", true);
        assert_eq!(told.whose(), ("main".to_owned(), "failing".to_owned()), "{change}: it is being told");
    }
    // Refused, and told of only when the API is not asked too often: that is no failure that may pass.
    let refused = One::found();
    refused
        .set("state = 'failing', failure = 'read permanent status_403', report_failure = 'report passing status_429'");
    refused.seen("other", true);
    assert_eq!((refused.whose().0.as_str(), refused.lender()), ("other", None));
    // The borrower may read it, and not its PDF.
    let lent = One::found();
    lent.set("failure = 'read passing status_500'");
    lent.seen("other", true);
    for (failure, whose) in [("download passing status_500", "other"), ("download doubtful status_403", "main")] {
        lent.set(&format!("failure = '{failure}'"));
        lent.seen("main", true);
        assert_eq!(lent.whose().0, whose, "{failure}");
    }
    let not_found = One::found();
    not_found.set("failure = 'read passing status_404', reason_code = 'read passing status_404'");
    assert_eq!((not_found.seen("other", true), not_found.whose().0.as_str()), (Seen::Known, "other"));
    not_found.seen("main", true);
    assert_eq!(not_found.whose().0, "other", "it was not the other that was told so");
    for change in [
        "failure = 'download doubtful not_a_pdf'",
        "state = 'failed', reason_code = 'deliver permanent exit_65'",
        "state = 'failed', reason_code = 'read own no_route'",
    ] {
        let one = One::found();
        one.set(change);
        assert_eq!(one.seen("other", true), Seen::Known);
        assert_eq!(one.whose().0, "main", "{change}: that is no account's doing");
        assert_eq!(one.seen_among(&["other"], "other", true), Seen::Known, "{change}");
    }
}

/// Who lent it and can go on again has it back: at once where the other cannot, and after a while whatever comes of it there.
#[test]
fn what_was_lent_goes_back_when_the_lender_can_go_on_and_the_other_does_not() {
    let (both, minute) = (["main", "other"], 60_000);
    let lent = || {
        let one = One::found();
        one.set("failure = 'read passing status_500'");
        one.seen("other", true);
        assert_eq!((one.whose().0, one.lender()), ("other".to_owned(), Some("main".to_owned())));
        one
    };
    for change in ["failure = 'read passing status_500'", "reason_code = 'not_rendered'", "due_at = 9999999"] {
        let one = lent();
        one.set(change);
        one.seen_at(minute, &both, &both, "main", true);
        assert_eq!(one.whose().0, "other", "{change}: not yet");
        one.seen_at(2 * minute, &both, &["other"], "main", true);
        assert_eq!(one.whose().0, "other", "{change}: the lender cannot go on");
        one.seen_at(2 * minute, &both, &both, "main", true);
        assert_eq!((one.whose().0, one.lender()), ("main".to_owned(), None), "{change}");
        // It is not passed round, but may be lent again after an hour.
        one.set("failure = 'read passing status_500'");
        one.seen_at(61 * minute, &both, &both, "other", true);
        assert_eq!(one.whose().0, "main", "{change}");
        one.seen_at(63 * minute, &both, &both, "other", true);
        assert_eq!((one.whose().0, one.lender()), ("other".to_owned(), Some("main".to_owned())), "{change}");
    }
    let fetched = lent();
    fetched.set("state = 'fetched'");
    fetched.seen_at(9 * minute, &both, &both, "main", true);
    assert_eq!(fetched.whose().0, "other", "it is on its way to its destinations");
    let paused = lent();
    paused.seen_where(&both, &["main"], "main", true);
    assert_eq!(paused.whose().0, "main", "the other was not asked, and will not be");
}

/// Who takes it over from the one that it was lent to and was refused it has it in the lender's name.
#[test]
fn what_was_lent_and_refused_is_asked_for_by_a_third_account_and_still_goes_back() {
    let all = ["main", "other", "third"];
    let one = One::found();
    let seen = |account: &str, change: &str| {
        one.set(change);
        one.seen_where(&all, &["other", "third"], account, true);
        (one.whose().0, one.lender())
    };
    let (main, refused) = (Some("main".to_owned()), "failure = 'read passing status_403'");
    assert_eq!(seen("other", "failure = 'read passing status_500'"), ("other".to_owned(), main.clone()));
    assert_eq!(seen("third", refused), ("third".to_owned(), main.clone()));
    assert_eq!(seen("other", refused), ("third".to_owned(), main.clone()), "it is not passed round");
    one.seen_where(&all, &all, "main", true);
    assert_eq!((one.whose().0, one.lender()), ("main".to_owned(), None));
}

/// What has only to be reported waits for nothing but reports.
#[test]
fn a_document_is_lent_and_given_back_for_what_it_waits_for() {
    let seen = |one: &One, paused: &[Scope], account: &str| {
        let shown = Listed {
            uuid: DocumentUuid::parse("a").unwrap(),
            created_at: "2026-11-21".to_owned(),
            kind: None,
            pdf: Some("p".to_owned()),
        };
        let working = ["main", "other"].map(str::to_owned).to_vec();
        let paused = paused.to_vec();
        see(&one.db, &Reader { account: account.to_owned(), working, paused, poll: 1, confirmed: true }, &shown, 0)
            .unwrap();
        one.whose().0
    };
    let fetch = |account: &str| Scope::Fetch(account.to_owned());
    let report = |account: &str| Scope::Report(account.to_owned());
    let one = One::found();
    one.set("state = 'delivered'");
    assert_eq!(seen(&one, &[fetch("main")], "other"), "main");
    assert_eq!(seen(&one, &[report("main"), fetch("other")], "other"), "other");
    one.set("report_failure = 'report passing status_403'");
    assert_eq!(seen(&one, &[report("main")], "main"), "other");
    assert_eq!(seen(&one, &[fetch("main")], "main"), "main");
    let one = One::found();
    assert_eq!(seen(&one, &[report("main")], "other"), "main");
    assert_eq!(seen(&one, &[fetch("main"), report("other")], "other"), "main", "what it reads it has to report");
    assert_eq!(seen(&one, &[fetch("main")], "other"), "other");
}

/// A second that one of two machines lagged behind is no wait in vain, however long the delivery took after that.
#[test]
fn a_pdf_that_was_waited_for_only_until_another_was_fetched_is_a_new_version() {
    let limit = documents::CONFLICT_LIMIT;
    for (read_at, is_new) in [(2_000, true), (1_000 + limit, false)] {
        let one = One::found();
        one.set(&format!(
            "state = 'reported', pdf = 'p', conflict_pdf = 'q', conflict_since = 1000, read_at = {read_at}"
        ));
        assert_eq!(ended_with_another(&one.db, 1, "q", 10 * limit).unwrap().is_some(), is_new, "{read_at}");
    }
}

#[test]
fn a_pdf_that_is_shown_elsewhere_is_waited_for_until_one_was_fetched_and_not_for_ever() {
    let (one, limit) = (One::found(), documents::CONFLICT_LIMIT);
    // The last clock was set back.
    for (read_at, now, waits_since, has_waited) in [
        ("NULL", 1_000, Some(1_000), false),
        ("999", 999 + limit, Some(1_000), false),
        ("999", 1_000 + limit, Some(1_000), true),
        ("1000", 1_000 + limit, None, false),
        ("1001", 2_000, None, false),
        ("NULL", 10, Some(10), false),
    ] {
        one.set(&format!("conflict_pdf = 'q', conflict_since = 1000, read_at = {read_at}"));
        let row = documents::by_number(&one.db, 1).unwrap().unwrap();
        assert_eq!((row.waits_since(now), row.has_waited(now)), (waits_since, has_waited), "{read_at} {now}");
    }
}

#[test]
fn the_time_before_a_look_that_failed_is_no_part_of_the_wait_and_a_pdf_that_does_not_come_is_no_look() {
    for (read_at, failure, since) in [
        ("NULL", "read passing status_503", 61_000),
        ("999", "read passing status_503", 61_000),
        ("1000", "read passing status_503", 1_000),
        ("NULL", "download passing status_503", 1_000),
    ] {
        let one = One::found();
        one.set(&format!("conflict_pdf = 'q', conflict_since = 1000, changed_at = 1000, read_at = {read_at}"));
        let look = || documents::by_number(&one.db, 1).unwrap().unwrap();
        let failed = Postponed { due_at: None, reason: "", code: None, failure: Some(failure), charge: None };
        failures::postpone(&one.db, &look(), &failed, 61_000).unwrap();
        assert_eq!(look().conflict, Some(("q".to_owned(), since)), "{read_at} {failure}");
    }
}

/// Who takes it over, or asks for it anew, is answered anew.
#[test]
fn a_refusal_that_another_account_got_or_a_person_questions_is_not_believed() {
    let refused = |one: &One| {
        one.set("state = 'delivered', report_failure = 'report permanent status_403', report_reason = 'HTTP 403', due_at = 90, refusals = 2");
        documents::by_number(&one.db, 1).unwrap().unwrap()
    };
    let believed = |one: &One| {
        let now = documents::by_number(&one.db, 1).unwrap().unwrap();
        assert_eq!((now.state, now.due_at.is_some()), (State::Delivered, true));
        assert_eq!(now.refusals == 0, now.report_failure.is_none());
        now.report_failure
    };
    let one = One::found();
    refused(&one);
    one.seen("other", true);
    assert_eq!((one.whose().0.as_str(), believed(&one)), ("other", None));
    let one = One::found();
    refused(&one);
    let reader =
        Reader { account: "b".to_owned(), working: vec!["b".to_owned()], paused: Vec::new(), poll: 1, confirmed: true };
    adopt(&one.db, 1, &reader, 5).unwrap();
    assert_eq!((one.whose().0.as_str(), believed(&one)), ("b", None));
    let one = One::found();
    refused(&one);
    assert_eq!(one.seen("main", true), Seen::Known);
    assert!(believed(&one).is_some(), "the account that was answered so");
    retry::retry(&one.db, 1, 5).unwrap();
    assert_eq!(believed(&one), None);
}

/// A person asked for it again, or it failed before, so that it was read before the list showed the PDF.
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
fn what_waits_while_an_account_is_paused_is_taken_over_by_one_that_is_not() {
    let one = One::found();
    one.seen_where(&["main", "other"], &[], "other", false);
    assert_eq!(one.whose().0, "main", "both are paused");
    one.seen_where(&["main", "other"], &["main", "other"], "other", false);
    assert_eq!(one.whose().0, "main", "none is");
    one.seen_where(&["main", "other"], &["other"], "other", false);
    assert_eq!(one.whose().0, "other");
    let one = One::found();
    one.end();
    one.seen_where(&["main", "other"], &["other"], "other", true);
    assert_eq!(one.whose(), ("main".to_owned(), "reported".to_owned()), "it waits for nothing");
}

#[test]
fn a_uuid_in_other_letter_case_is_the_same_document() {
    let one = One::found();
    let upper = "019AA5C0-7D1E-7000-8000-0123456789AB";
    let see = |uuid: &str| {
        let uuid = DocumentUuid::parse(uuid).unwrap();
        let shown = Listed { uuid, created_at: String::new(), kind: None, pdf: None };
        let working = vec!["main".to_owned()];
        let reader = Reader { account: "main".to_owned(), working, paused: Vec::new(), poll: 1, confirmed: false };
        see(&one.db, &reader, &shown, 0).unwrap()
    };
    assert_eq!([see(upper), see(&upper.to_lowercase())], [Seen::New, Seen::Known]);
    assert_eq!(see("A"), Seen::New, "of another identifier nobody knows");
}
