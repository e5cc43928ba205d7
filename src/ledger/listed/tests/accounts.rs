//! What one account takes over from another.

use super::*;
use crate::ledger::names;

#[test]
fn another_account_takes_over_only_what_nobody_reads() {
    let one = One::found();
    assert_eq!(one.seen("other", false), Seen::Known);
    let due = |account: &str| documents::due(&one.db, State::Discovered, account, 1, 5).unwrap().len();
    assert_eq!((due("main"), due("other")), (1, 0));
    assert_eq!(one.seen_among(&["other"], "other", false), Seen::Known);
    assert_eq!((due("main"), due("other")), (0, 1));
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
    for change in
        ["failure = 'read passing status_500'", "reason_code = 'not_rendered', due_at = 9999999", "due_at = NULL"]
    {
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
    let waits = lent();
    waits.seen_at(9 * minute, &both, &both, "main", true);
    assert_eq!(waits.whose().0, "other", "it is the other's turn");
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
    // The one that it was lent to can go on no more than the lender.
    for (change, healthy) in
        [("failure = 'read passing status_500'", ["other", "third"]), ("failure = NULL", ["third"; 2])]
    {
        let one = One::found();
        one.seen_where(&all, &["other"], "other", true);
        one.set(change);
        one.seen_where(&all, &healthy, "third", true);
        assert_eq!((one.whose().0, one.lender()), ("third".to_owned(), main.clone()), "{change}");
    }
}

/// It is no loan any more when the document has ended, or the lender's list did not show it.
#[test]
fn a_document_that_has_ended_is_nobodys_to_be_given_back() {
    let lent = || {
        let one = One::found();
        one.set("failure = 'read passing status_500'");
        one.seen("other", true);
        one
    };
    let one = lent();
    one.end();
    one.set("listed = 0");
    assert!(matches!(one.seen("other", true), Seen::Reopened { event: Event::Relisted, .. }));
    assert_eq!(one.lender(), None);
    let one = One::found();
    one.set("listed = 0");
    one.seen("other", true);
    assert_eq!((one.whose().0.as_str(), one.lender()), ("other", None));
    // What a person had forgotten is still seen.
    let one = lent();
    one.set("state = 'reported'");
    assert_eq!(names::forget(&one.db, 1, 9).unwrap(), Some(names::Forgotten::Done));
    assert_eq!((one.seen("main", true), one.lender()), (Seen::Known, None));
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
    // Another account only tells what failed, unless it may be answered otherwise itself and nobody was told.
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
        assert_eq!(one.row().due_at, Some(if is_due { 0 } else { 99 }), "{change}");
    }
    let one = One::found();
    assert_eq!(seen(&one, &[report("main")], "other"), "main");
    assert_eq!(seen(&one, &[fetch("main"), report("other")], "other"), "main", "what it reads it has to report");
    assert_eq!(seen(&one, &[fetch("main")], "other"), "other");
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
    one.set("failure = 'read permanent status_403'");
    one.seen_where(&["main", "other"], &["other"], "other", false);
    let lent = ("other".to_owned(), Some("main".to_owned()));
    assert_eq!((one.whose().0, one.lender()), lent, "several were refused alike");
    let one = One::found();
    one.end();
    one.seen_where(&["main", "other"], &["other"], "other", true);
    assert_eq!(one.whose(), ("main".to_owned(), "reported".to_owned()), "it waits for nothing");
}
