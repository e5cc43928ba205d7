//! What one account takes over from another account.

use super::*;
use crate::ledger::listed::taking::OFTEN;

#[test]
fn another_account_takes_over_only_what_nobody_reads() {
    let one = One::found();
    assert_eq!(one.seen("other", false), Seen::Known);
    let due = |account: &str| work::due(&one.db, &Scope::Fetch(account.to_owned()), 1, 5).unwrap().len();
    assert_eq!((due("main"), due("other")), (1, 0));
    assert_eq!(one.seen_among(&["other"], "other", false), Seen::Known);
    assert_eq!((due("main"), due("other")), (0, 1));
}

const MINUTE: Millis = 60_000;
const BOTH: [&str; 2] = ["main", "other"];
/// Failures that may pass, and refusals.
const PASSES: &str = "state = 'discovered', report_failure = NULL, failure = 'read passing status_500'";
const REFUSED: &str = "state = 'discovered', report_failure = NULL, failure = 'read permanent status_403'";

impl One {
    /// The account that has the document after the account's list showed it at that time, with nothing paused.
    fn goes_to(&self, account: &str, minutes: Millis) -> String {
        self.seen_at(minutes * MINUTE, &BOTH, &BOTH, account, true);
        self.whose().0
    }
}

#[test]
fn what_one_account_does_not_get_on_with_goes_to_another_that_lists_it() {
    for (state, change) in [
        ("discovered", "failure = 'read passing status_500'"),
        ("discovered", "failure = 'record passing status_500'"),
        ("discovered", "failure = 'read permanent status_403'"),
        ("discovered", "state = 'failing', failure = 'download doubtful status_403'"),
        ("delivered", "state = 'delivered', report_failure = 'report permanent status_403'"),
        ("discovered", "state = 'failing', failure = 'read permanent status_403'"),
        ("discovered", "state = 'failed', reason_code = 'read permanent status_403'"),
        ("delivered", "state = 'unreported', reason_code = 'report permanent status_403'"),
        // A refused report that is sent only while the API is not rate-limited: that is no failure that may pass.
        (
            "discovered",
            "state = 'failing', failure = 'read permanent status_403', report_failure = 'report passing status_429'",
        ),
    ] {
        let one = One::found();
        one.set(change);
        let has_ended = change.contains("'failed'") || change.contains("unreported");
        if has_ended {
            assert_eq!(one.seen("other", false), Seen::Doubtful, "{change}: one page may be stale");
        }
        one.seen("other", true);
        assert_eq!(one.whose(), ("other".to_owned(), state.to_owned()), "{change}");
        let was_refused = !change.contains("passing status_500");
        assert_eq!(one.lost("main"), Some((was_refused, 1)), "{change}");
        let row = one.row();
        assert_eq!(
            (row.failure, row.tries.failure, row.tries.doubtful),
            (None, None, 0),
            "{change}: that was said of another"
        );
        one.set(PASSES);
        assert_eq!(one.goes_to("main", 1), "other", "{change}: it is not passed round");
        assert_eq!(one.goes_to("main", 2), if was_refused { "other" } else { "main" }, "{change}");
        // If an account is gone from the configuration, its successor must be able to sign in. A reported failure stays
        // reported.
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
    for change in [
        "failure = 'download doubtful not_a_pdf'",
        "failure = 'download passing status_500'",
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

/// An account that only could not go on gets the document back soon if the other makes no progress. Each further time
/// takes four times as long.
#[test]
fn who_could_not_go_on_has_it_back_ever_more_rarely_where_the_other_does_not_go_on() {
    for change in [
        PASSES,
        "reason_code = 'not_rendered', due_at = 9999999",
        "due_at = NULL",
        "failure = 'download passing status_500'",
    ] {
        let one = One::found();
        one.set(PASSES);
        assert_eq!(one.goes_to("other", 0), "other");
        one.set(change);
        one.seen_at(2 * MINUTE, &BOTH, &["other"], "main", true);
        assert_eq!(one.whose().0, "other", "{change}: it cannot go on yet");
        assert_eq!([1, 2].map(|minutes| one.goes_to("main", minutes)), ["other", "main"], "{change}");
        let mut at = 2;
        for (account, holds, wait) in
            [("other", "main", 2), ("main", "other", 8), ("other", "main", 8), ("main", "other", 32)]
        {
            one.set(PASSES);
            assert_eq!(one.goes_to(account, at + wait - 1), holds, "{change}: not yet");
            at += wait;
            assert_eq!(one.goes_to(account, at), account, "{change}");
        }
    }
    let its_turn = One::found();
    its_turn.set(PASSES);
    its_turn.goes_to("other", 0);
    assert_eq!(its_turn.goes_to("main", 9), "other", "it goes on");
    its_turn.set("listed_pdf = NULL, due_at = 9999999");
    its_turn.seen_with_pdf(None, 9 * MINUTE, "main");
    assert_eq!(its_turn.whose().0, "other", "it is not rendered in any list");
    its_turn.set("state = 'fetched'");
    its_turn.set("failure = 'deliver passing exit_75'");
    assert_eq!(its_turn.goes_to("main", 9), "other", "it is on its way to its destinations");
}

/// A refused document goes back at once to an account that only could not go on, even a paused one. A refused account
/// is asked again after an hour.
#[test]
fn what_is_refused_goes_back_to_who_was_not() {
    let one = One::found();
    one.seen_where(&BOTH, &["other"], "other", true);
    assert_eq!((one.whose().0.as_str(), one.lost("main")), ("other", Some((false, 1))));
    let may = |account: &str, configured: &[&str]| {
        let configured: Vec<String> = configured.iter().map(|name| (*name).to_owned()).collect();
        another_may(&one.db, 1, account, &configured).unwrap()
    };
    assert!(may("other", &BOTH) && !may("other", &["other"]), "of the configuration");
    one.set("listed = 0");
    assert!(!may("other", &BOTH), "no list shows it");
    one.set("listed = 1, state = 'failing', failure_sent = 1");
    assert!(!may("other", &BOTH), "the API may know of its failure");
    one.set("failure_sent = 0");
    assert!(may("other", &BOTH));
    one.set(REFUSED);
    one.seen_where(&BOTH, &["other"], "main", true);
    assert_eq!((one.whose().0.as_str(), one.lost("other")), ("main", Some((true, 1))));
    assert!(!may("main", &BOTH), "the other was refused");
    for (at, whose) in [(59, "main"), (60, "other")] {
        one.seen_at(at * MINUTE, &BOTH, &["other"], "other", true);
        assert_eq!(one.whose().0, whose, "the account that has it is paused, and the other was refused");
    }
    assert!(may("other", &BOTH));
    one.set(REFUSED);
    assert_eq!(one.goes_to("main", 61), "main");
    one.set(REFUSED);
    assert_eq!([61 + 239, 61 + 240].map(|at| one.goes_to("other", at)), ["main", "other"], "refused twice");
    for day in 2.. {
        one.set(REFUSED);
        assert_eq!(one.goes_to("main", day * 1440), "main");
        one.seen_at((day * 1440 + 1439) * MINUTE, &BOTH, &["other"], "other", true);
        if !may("other", &BOTH) {
            assert_eq!(one.lost("main"), Some((false, OFTEN)), "nothing came of it there");
            break;
        }
    }
    // A new request, or a new version, lets every account try.
    for anew in [
        |one: &One| assert!(retry::retry(&one.db, 1, 0).unwrap().is_some()),
        |one: &One| assert!(documents::revise(&one.db, 1, one.row().round, Some("q"), 0).unwrap().is_some()),
        |one: &One| {
            one.set("state = 'reported', listed = 0");
            one.seen("other", true);
        },
    ] {
        let one = One::found();
        one.set(REFUSED);
        one.goes_to("other", 0);
        assert_eq!(one.lost("main"), Some((true, 1)));
        anew(&one);
        assert_eq!(one.lost("main"), Some((false, 0)));
        one.set(REFUSED);
        assert_eq!(one.goes_to("main", 0), "main");
    }
}

/// Both accounts are refused everything at that time.
#[test]
fn what_is_refused_while_both_are_paused_for_it_is_not_passed_round() {
    let one = One::found();
    one.set(REFUSED);
    one.seen_where(&BOTH, &["other"], "other", true);
    assert_eq!((one.whose().0.as_str(), one.lost("main")), ("other", Some((false, 1))));
    one.set(REFUSED);
    one.seen_where(&BOTH, &[], "main", true);
    assert_eq!((one.whose().0.as_str(), one.lost("other")), ("main", Some((true, 1))));
    for (at, whose) in [(59, "main"), (60, "other")] {
        one.seen_at(at * MINUTE, &BOTH, &["other"], "other", true);
        assert_eq!(one.whose().0, whose);
    }
}

/// An answer that an account gets for several documents is not a refusal of one of them.
#[test]
fn a_pause_is_no_refusal() {
    let one = One::found();
    one.set(REFUSED);
    one.seen_where(&BOTH, &["other"], "other", false);
    assert_eq!((one.whose().0.as_str(), one.lost("main")), ("other", Some((false, 1))));
    // The same holds for reports, whose refusals are retracted; the first failure is still recorded.
    let one = One::found();
    one.set("state = 'delivered', report_failure = 'report passing status_403', reason_code = 'report permanent status_403'");
    one.seen_where(&BOTH, &["other"], "other", false);
    assert_eq!((one.whose().0.as_str(), one.lost("main")), ("other", Some((false, 1))));
    // With everything else.
    let one = One::found();
    one.set("reason_code = 'read down status_403'");
    one.seen_at(0, &["other"], &["other"], "other", false);
    assert_eq!((one.whose().0.as_str(), one.lost("main")), ("other", Some((false, 1))));
}

#[test]
fn a_third_account_is_asked_where_neither_of_two_goes_on() {
    let all = ["main", "other", "third"];
    for (change, healthy) in
        [(PASSES, ["other", "third"]), (REFUSED, ["other", "third"]), ("failure = NULL", ["third"; 2])]
    {
        let one = One::found();
        one.seen_where(&all, &["other"], "other", true);
        one.set(change);
        one.seen_where(&all, &healthy, "third", true);
        assert_eq!(one.whose().0, "third", "{change}");
        assert_eq!([one.lost("main"), one.lost("other")], [Some((false, 1)), Some((change == REFUSED, 1))]);
    }
}

/// Each account that was refused asks once for a document that has ended; one that only could not go on asks when it
/// can.
#[test]
fn a_failure_that_was_told_goes_to_who_was_not_refused() {
    for (before, whose) in [(REFUSED, "other"), (PASSES, "main")] {
        let one = One::found();
        one.set(before);
        assert_eq!(one.goes_to("other", 0), "other");
        one.set("state = 'failed', reason_code = 'read permanent status_403', failure = NULL");
        assert_eq!(one.goes_to("main", 99_999), whose, "{before}");
        assert_eq!(one.whose().1, if whose == "main" { "discovered" } else { "failed" });
        // A failure that both accounts have is reported once by each.
        one.set("state = 'failed', reason_code = 'read passing status_500', failure = NULL");
        assert_eq!([one.goes_to("other", 199_999), one.goes_to("main", 299_999)], [whose; 2], "{before}");
    }
}

/// A refused PDF is tried again: the refusal says nothing yet about the account that found it.
#[test]
fn a_pdf_that_is_refused_to_the_other_as_well_goes_back_at_once() {
    let one = One::found();
    one.set("failure = 'download doubtful status_403'");
    assert_eq!((one.goes_to("other", 0).as_str(), one.lost("main")), ("other", Some((false, 1))));
    one.set("failure = 'download doubtful status_403'");
    assert_eq!((one.goes_to("main", 0).as_str(), one.lost("other")), ("main", Some((true, 1))));
}

/// An account that may not read the patient gives the document back, and gets it again if the other is refused: it can
/// be filed without the name.
#[test]
fn who_lacks_only_the_patient_was_not_refused() {
    let one = One::found();
    one.set(PASSES);
    assert_eq!(one.goes_to("other", 0), "other");
    one.set("failure = 'record permanent status_403'");
    assert_eq!((one.goes_to("main", 0).as_str(), one.lost("other")), ("main", Some((false, 1))));
    one.set(REFUSED);
    assert_eq!((one.goes_to("other", 0).as_str(), one.lost("main")), ("other", Some((true, 2))));
    assert!(!another_may(&one.db, 1, "other", &BOTH.map(str::to_owned)).unwrap());
}

/// The set of working accounts may have changed since this poll began. A refused account leaves the document alone,
/// unless it has ended.
#[test]
fn two_accounts_that_take_each_other_for_stopped_do_not_pass_it_round() {
    let one = One::found();
    one.set(REFUSED);
    one.seen_at(0, &BOTH, &BOTH, "other", true);
    one.set("failure = NULL");
    let seen = |at: Millis, paused: &[Scope]| {
        let reader = Reader { paused: paused.to_vec(), confirmed: true, ..testing::reader("main") };
        see(&one.db, &reader, &testing::shown("a", Some("p")), at).unwrap();
        one.whose().0
    };
    let signed_out = [Scope::Account("other".to_owned())];
    assert_eq!([1, 2].map(|minutes| seen(minutes * MINUTE, &signed_out)), ["other", "main"]);
    one.seen_at(3 * MINUTE, &["other"], &["other"], "other", true);
    assert_eq!(
        (one.whose().0.as_str(), seen(3 * MINUTE, &[])),
        ("other", "main".to_owned()),
        "gone from the configuration"
    );
    // A document that only the other account's list shows is that account's. The first account may get it back once its
    // list shows it as well.
    one.set("listed = 0");
    assert_eq!((one.goes_to("other", 3).as_str(), one.lost("main")), ("other", Some((false, 0))));
}

/// A document that only has to be reported waits for reports alone.
#[test]
fn a_document_goes_to_another_account_for_what_it_waits_for() {
    let seen = |one: &One, paused: &[Scope], account: &str| {
        let (working, paused) = (BOTH.map(str::to_owned).to_vec(), paused.to_vec());
        let reader = Reader { working, paused, confirmed: true, ..testing::reader(account) };
        see(&one.db, &reader, &testing::shown("a", Some("p")), 0).unwrap();
        one.whose().0
    };
    let fetch = |account: &str| Scope::Fetch(account.to_owned());
    let report = |account: &str| Scope::Report(account.to_owned());
    let one = One::found();
    one.set("state = 'delivered'");
    assert_eq!(seen(&one, &[fetch("main")], "other"), "main");
    assert_eq!(seen(&one, &[report("main"), fetch("other")], "other"), "other");
    one.set("report_failure = 'report passing status_500'");
    assert_eq!(seen(&one, &[fetch("main")], "main"), "other");
    one.set("report_failure = 'report permanent status_403'");
    assert_eq!(seen(&one, &[fetch("main")], "main"), "main");
    // The other account only reports the failure, unless it may get another answer itself and nothing was reported.
    for (change, state) in [
        ("failure = 'deliver permanent exit_65'", "failing"),
        ("failure = 'deliver permanent exit_65', report_failure = 'report down status_429'", "failing"),
        ("reason_code = 'deliver passing exit_75'", "failing"),
        ("failure = 'read permanent status_403', failure_sent = 1", "failing"),
        ("failure = 'read permanent status_403'", "discovered"),
        ("reason_code = 'read passing status_403'", "discovered"),
    ] {
        let one = One::found();
        one.set(&format!("state = 'failing', due_at = 99, {change}"));
        assert_eq!(seen(&one, &[report("main")], "other"), "other", "{change}");
        assert_eq!(one.whose().1, state, "{change}");
        let is_due = state == "discovered" || change.contains("report");
        assert_eq!(one.row().tries.due_at, Some(if is_due { 0 } else { 99 }), "{change}");
    }
    let one = One::found();
    assert_eq!(seen(&one, &[report("main")], "other"), "main");
    assert_eq!(seen(&one, &[fetch("main"), report("other")], "other"), "main", "what it reads it has to report");
    assert_eq!(seen(&one, &[fetch("main")], "other"), "other");
}

/// A takeover, or a new request, gets a new answer.
#[test]
fn a_refusal_that_another_account_got_or_a_person_questions_is_not_believed() {
    let refused = |one: &One| {
        one.set("state = 'delivered', report_failure = 'report permanent status_403', report_reason = 'HTTP 403', due_at = 90, refusals = 2");
        documents::by_number(&one.db, 1).unwrap().unwrap()
    };
    let believed = |one: &One| {
        let now = documents::by_number(&one.db, 1).unwrap().unwrap();
        assert_eq!((now.state, now.tries.due_at.is_some()), (State::Delivered, true));
        assert_eq!(now.tries.refusals == 0, now.tries.failure.is_none());
        now.tries.failure
    };
    let one = One::found();
    refused(&one);
    one.seen("other", true);
    assert_eq!((one.whose().0.as_str(), believed(&one)), ("other", None));
    let one = One::found();
    refused(&one);
    adopt(&one.db, 1, &testing::reader("b"), 5).unwrap();
    assert_eq!((one.whose().0.as_str(), believed(&one)), ("b", None));
    let one = One::found();
    refused(&one);
    assert_eq!(one.seen("main", true), Seen::Known);
    assert!(believed(&one).is_some(), "the account that was answered so");
    retry::retry(&one.db, 1, 5).unwrap();
    assert_eq!(believed(&one), None);
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
fn the_account_whose_list_first_showed_a_document_is_known_for_ever() {
    let one = One::found();
    assert_eq!(one.row().first_account, None);
    one.set("failure = 'read permanent status_403'");
    one.seen("other", true);
    assert_eq!((one.whose().0.as_str(), one.row().first_account.as_deref()), ("other", Some("main")));
    // Nor does it change when that account is gone and a third one takes over.
    assert_eq!(one.seen_among(&["third"], "third", false), Seen::Known);
    assert_eq!((one.whose().0.as_str(), one.row().first_account.as_deref()), ("third", Some("main")));
}
