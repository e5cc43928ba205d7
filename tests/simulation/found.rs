//! What the simulation found in the daemon, each as the shortest plan that showed it, and what chance draws too seldom.

use std::time::Duration;

use super::plan::{Call, Document, Event, How, Plan, Quirk, TROUBLED, Trouble, What, Wrong};
use super::run::run;

/// A practice with one account, one destination and these documents, in which nothing else goes wrong.
pub(super) fn practice(documents: Vec<Document>, events: Vec<Event>) -> Plan {
    Plan {
        seed: 4,
        accounts: 1,
        destinations: 1,
        kinds: Vec::new(),
        has_importers: false,
        has_list: false,
        routes: vec![vec![0]],
        page_size: 100,
        max_concurrency: 4,
        stays_listed: vec![false],
        keep_history: None,
        documents,
        events,
    }
}

pub(super) fn letter(number: usize) -> Document {
    Document {
        account: 0,
        number,
        arrives: 0,
        created: -60,
        rendered: 0,
        kind: 0,
        patient_by_uuid: false,
        shows_size: true,
        trouble: Trouble::None,
        also: None,
        refused_to: None,
    }
}

pub(super) fn at(seconds: u64, until: u64, what: What) -> Event {
    Event { from: seconds * 1000, until: until * 1000, what }
}

fn assert_kept(plan: Plan) {
    let outcome = run(plan, true);
    assert!(outcome.violation.is_none(), "{}\n{:?}", outcome.history.join("\n"), outcome.violation);
}

#[test]
fn a_clock_that_is_set_ahead_gives_up_no_document_early() {
    let lost = What::Api { account: 0, document: Some(0), call: None, how: How::AnswerLost, percent: 100 };
    let events = vec![Event { from: 0, until: TROUBLED, what: lost }, at(700, 701, What::Jump(300_000))];
    assert_kept(practice(vec![letter(0)], events));
}

/// The list showed the document before its PDF was rendered, and then only with the next one: the first was delivered
/// without the list ever having shown it.
#[test]
fn a_new_version_is_noticed_where_the_list_never_showed_the_first() {
    let mut plan = practice(
        vec![Document { rendered: 160_000, ..letter(0) }, Document { arrives: 150_000, created: 150, ..letter(1) }],
        vec![at(420, 421, What::Revise(0))],
    );
    plan.stays_listed = vec![true];
    assert_kept(plan);
}

#[test]
fn a_document_that_always_fails_and_a_destination_that_hangs_hold_up_no_other() {
    let mut plan = practice(
        vec![letter(0), letter(1), Document { kind: 1, ..letter(2) }],
        vec![
            at(
                0,
                1200,
                What::Delivery { destination: 1, document: None, how: Wrong::Hangs { done: false }, percent: 100 },
            ),
            at(
                0,
                1200,
                What::Api { account: 0, document: Some(1), call: None, how: How::Hangs { done: false }, percent: 100 },
            ),
        ],
    );
    plan.destinations = 2;
    plan.routes = vec![vec![0], vec![0, 1]];
    assert_kept(plan);
}

/// An outage that outlasts `sync.give_up_after` ends nothing that was not tried for as long.
#[test]
fn a_document_that_comes_in_late_in_a_long_outage_is_not_given_up_at_once() {
    let how = How::Status { status: 500, retry_after: None, done: false };
    let outage = What::Api { account: 0, document: None, call: Some(Call::Document), how, percent: 100 };
    let mut letters: Vec<Document> = (0..4).map(letter).collect();
    letters.push(Document { arrives: 1_000_000, created: 1000, rendered: 1_000_000, ..letter(4) });
    assert_kept(practice(letters, vec![Event { from: 0, until: TROUBLED, what: outage }]));
}

/// The server orders by something else for a while.
#[test]
fn a_document_that_an_order_of_its_own_hides_from_a_walk_has_not_left_the_list() {
    let refused = Document { trouble: Trouble::ReportRefused(422), created: -450, ..letter(0) };
    let mut plan = practice(
        vec![refused, Document { arrives: 436_000, created: -15, rendered: 450_000, ..letter(1) }],
        vec![at(365, 564, What::List { account: 0, quirk: Quirk::OrderIgnored })],
    );
    plan.page_size = 1;
    plan.stays_listed = vec![true];
    assert_kept(plan);
}

/// Neither end of the list shows it, and it is not the newest.
#[test]
fn a_new_version_in_the_middle_of_a_long_list_is_found_there() {
    let letters = (0_u8..30).map(|number| Document { created: i64::from(number) - 400, ..letter(number.into()) });
    let restart = at(1010, 1011, What::Restart);
    let mut plan = practice(letters.collect(), vec![at(1000, 1001, What::Revise(17)), restart]);
    plan.page_size = 1;
    plan.stays_listed = vec![true];
    assert_kept(plan);
}

/// What pruning leaves must be enough to know the document again.
#[test]
fn a_document_whose_history_was_removed_is_known_when_it_comes_back() {
    let mut plan = practice(
        vec![letter(0), letter(1), letter(2)],
        vec![
            at(300, 301, What::Restart),
            at(400, 401, What::AskAgain(0)),
            at(410, 411, What::Revise(1)),
            at(900, 901, What::Restart),
            at(1000, 1001, What::AskAgain(0)),
        ],
    );
    plan.keep_history = Some(Duration::from_secs(60));
    let outcome = run(plan, true);
    assert!(outcome.violation.is_none(), "{}\n{:?}", outcome.history.join("\n"), outcome.violation);
    assert_eq!(outcome.pruned, 5, "{}", outcome.history.join("\n"));
}

/// A spooled PDF that is lost is no download that was no PDF: three of those end a document, not two.
#[test]
fn a_spooled_pdf_that_was_lost_does_not_count_as_a_bad_download() {
    let bad = What::Api { account: 0, document: None, call: Some(Call::Download), how: How::WrongBytes, percent: 100 };
    let mut plan = practice(
        vec![letter(0)],
        vec![at(0, 60, What::Offline { destination: 0 }), at(30, 31, What::SpoolLost), at(50, 900, bad)],
    );
    plan.events.sort_by_key(|event| event.from);
    assert_kept(plan);
}

/// It is not in the list because the API was told of its failure, and reading it works (seeds 20225, 21146).
#[test]
fn a_failed_document_that_a_person_tries_again_is_not_taken_for_gone_while_it_goes_on_failing() {
    let bad = Document { trouble: Trouble::NotAPdf, ..letter(0) };
    let good = Document { rendered: 30_000, ..letter(1) };
    assert_kept(practice(vec![bad, good], vec![at(200, 201, What::Retry(0))]));
}

/// The wait for the next look at it once was the time for which it was known: a year, by that clock.
#[test]
fn a_document_that_was_withdrawn_in_error_is_found_again_although_the_clock_was_set_ahead() {
    let how = How::Status { status: 410, retry_after: None, done: false };
    let gone = What::Api { account: 0, document: Some(0), call: None, how, percent: 100 };
    let year = 365 * 24 * 3_600_000;
    assert_kept(practice(vec![letter(0)], vec![at(0, 600, gone), at(283, 284, What::Jump(year))]));
}

/// Pages are read once more when a report was under way: what came to stand on a page that was read has not left.
#[test]
fn none_is_taken_for_gone_because_others_leave_the_list_while_its_pages_are_read() {
    for seed in 1..9 {
        let leaving = (0..8).map(|number| {
            let rendered = 40_000 * number as u64 + 3_700 * seed;
            Document { rendered, created: -1000 + number as i64, ..letter(number) }
        });
        let staying = [400, 403, 409, 422]
            .into_iter()
            .enumerate()
            .map(|(index, status)| Document { trouble: Trouble::ReportRefused(status), ..letter(8 + index) });
        let letters: Vec<Document> = leaving.chain(staying).collect();
        for page_size in [1, 3] {
            assert_kept(Plan { seed, page_size, ..practice(letters.clone(), Vec::new()) });
        }
    }
}

/// Some hundred seeds draw none of those that follow.
#[test]
fn a_server_that_gives_anothers_document_files_nothing_under_a_wrong_name() {
    let other =
        What::Api { account: 0, document: None, call: Some(Call::Document), how: How::OtherDocument, percent: 50 };
    assert_kept(practice((0..3).map(letter).collect(), vec![at(0, 600, other)]));
}

#[test]
fn what_waits_for_its_next_attempt_does_not_wait_for_as_long_as_the_clock_is_set_back() {
    let how = How::Status { status: 503, retry_after: None, done: false };
    let fails = What::Api { account: 0, document: Some(0), call: Some(Call::Document), how, percent: 100 };
    let hour = 3_600_000;
    for back in [365 * 24 * hour, hour] {
        let events = vec![at(0, 60, fails.clone()), at(50, 51, What::Jump(-back))];
        assert_kept(practice(vec![letter(0)], events));
    }
}

/// Not even over a restart, though a server may have asked for an hour.
#[test]
fn a_pause_does_not_last_for_as_long_as_the_clock_is_set_back() {
    let how = How::Status { status: 503, retry_after: Some(30), done: false };
    let down = What::Api { account: 0, document: None, call: Some(Call::Document), how, percent: 100 };
    for restarts in [false, true] {
        let mut events = vec![at(0, 60, down.clone()), at(50, 51, What::Jump(-3_600_000))];
        events.extend(restarts.then(|| at(52, 53, What::Restart)));
        assert_kept(practice(vec![letter(0)], events));
    }
}

#[test]
fn an_account_that_was_asked_to_wait_does_not_wait_a_year_when_the_clock_is_set_back() {
    let how = How::Status { status: 403, retry_after: Some(300), done: false };
    let refused = What::Api { account: 0, document: None, call: Some(Call::List), how, percent: 100 };
    let year = 365 * 24 * 3_600_000;
    let late = Document { arrives: 60_000, created: 60, rendered: 60_000, ..letter(0) };
    assert_kept(practice(vec![late], vec![at(20, 70, refused), at(80, 81, What::Jump(-year))]));
}

/// Reports are slow, and those that fail in the same way show up while the first ones are on their way.
#[test]
fn a_failure_that_the_api_was_sent_stands_when_others_turn_out_to_share_it() {
    for seed in 1..9 {
        let how = How::Status { status: 422, retry_after: None, done: false };
        let refused = What::Api { account: 0, document: None, call: Some(Call::Document), how, percent: 100 };
        let slow = What::Api { account: 0, document: None, call: Some(Call::Report), how: How::Slow, percent: 100 };
        let late = |number| Document { arrives: 6_000, created: 6, rendered: 6_000, ..letter(number) };
        let letters = (0..3).map(letter).chain((3..7).map(late)).collect();
        let events = vec![at(0, 90, refused), at(0, 90, slow), at(8, 9, What::PollNow)];
        assert_kept(Plan { seed, ..practice(letters, events) });
    }
}

/// The report of the first version is slow, and the second is delivered before its answer comes.
#[test]
fn a_slow_report_of_one_version_is_not_booked_for_the_next() {
    for seed in 1..9 {
        let slow = What::Api { account: 0, document: None, call: Some(Call::Report), how: How::Slow, percent: 100 };
        let events = vec![at(0, 60, slow), at(4, 5, What::Revise(0)), at(6, 7, What::PollNow)];
        assert_kept(Plan { seed, ..practice(vec![letter(0)], events) });
    }
}

/// It was downloaded while nothing could be recorded, and was gone when that was over (seed 2105501).
#[test]
fn what_was_downloaded_and_never_recorded_does_not_stay_in_the_spool() {
    for seed in 1..9 {
        let late = Document { rendered: 30_000, ..letter(0) };
        let events = vec![at(5, 150, What::LedgerFull), at(90, 91, What::Withdraw(0))];
        assert_kept(Plan { seed, ..practice(vec![late], events) });
    }
}

/// The looks rest for nine times as long as they take. A look was said to have taken as long as the ledger was full.
#[test]
fn letters_are_looked_for_at_once_when_the_ledger_can_be_written_again() {
    for seed in 0..6 {
        let letters = (0..4).map(letter).collect();
        let plan = practice(letters, vec![at(10, 400, What::LedgerFull)]);
        assert_kept(Plan { seed, has_importers: true, ..plan });
    }
}

/// Its patient is in no list, so that it waits for a person, who starts it over in another process; and then it is gone
/// (seed 16062).
#[test]
fn what_a_person_started_over_and_is_gone_does_not_stay_in_the_spool() {
    for seed in (4..=48).step_by(4) {
        let events = vec![at(20, 21, What::Withdraw(0)), at(22, 23, What::Retry(0))];
        assert_kept(Plan { seed, has_list: true, ..practice(vec![letter(0)], events) });
    }
}

/// It waits for a person, as its patient was corrected and the list has never had the name before (seeds 11147, 11822).
#[test]
fn a_letter_that_waits_for_a_person_and_is_gone_waits_no_longer() {
    for seed in 4..8 {
        let correct = |document| at(20, 20, What::Correct { document, again: false });
        let mut events: Vec<Event> = (0..6).map(correct).collect();
        events.extend((0..6).map(|document| at(21, 22, What::Withdraw(document))));
        assert_kept(Plan { seed, has_list: true, ..practice((0..6).map(letter).collect(), events) });
    }
}

/// A person tries what was told as failed, and the API refuses to hear of its success.
#[test]
fn a_success_that_the_api_refuses_after_a_failure_is_not_taken_for_told() {
    let refused = What::Delivery { destination: 0, document: None, how: Wrong::Permanent, percent: 100 };
    let how = How::Status { status: 422, retry_after: None, done: false };
    let silent = What::Api { account: 0, document: None, call: Some(Call::Report), how, percent: 100 };
    let events = vec![at(0, 30, refused), at(400, 1200, silent), at(450, 451, What::Retry(0))];
    for seed in 1..5 {
        assert_kept(Plan { seed, ..practice(vec![letter(0)], events.clone()) });
    }
}

/// While it waits, is filed, waits for its proof or is reported, and after all that, when it is listed again.
#[test]
fn a_patient_who_is_corrected_at_any_step_gets_the_letter() {
    for second in (0..60).step_by(3) {
        for (seed, again) in [(4, true), (5, false), (6, true)] {
            let correct = What::Correct { document: 0, again };
            let slow = What::Api { account: 0, document: None, call: None, how: How::Slow, percent: 50 };
            let events = vec![
                at(1, 40, What::Offline { destination: 1 }),
                at(0, 60, slow),
                at(second, second, correct.clone()),
                at(second + 45, second + 45, correct),
            ];
            let plan = practice(vec![letter(0), letter(1)], events);
            let (has_importers, has_list) = (seed == 5, seed == 6);
            assert_kept(Plan { seed, destinations: 2, routes: vec![vec![0, 1]], has_importers, has_list, ..plan });
        }
    }
}
