//! Failures that several documents turn out to share, while the reports of the first of them go wrong in every way
//! (promise 5). What the API knows of stands; everything else is taken back.

use super::found::{at, letter, practice};
use super::plan::{Call, Document, Event, How, Plan, Trouble, What, Wrong};
use super::run::run;

const SUCCESS: Option<bool> = Some(true);
const FAILURE: Option<bool> = Some(false);

fn fails(call: Call, how: How) -> What {
    What::Api { account: 0, document: None, call: Some(call), how, percent: 100 }
}

fn status(status: u16) -> How {
    How::Status { status, retry_after: None, done: false }
}

/// Three documents, and four that come later.
fn seven() -> Vec<Document> {
    let late = |number| Document { arrives: 6_000, created: 6, rendered: 6_000, ..letter(number) };
    (0..3).map(letter).chain((3..7).map(late)).collect()
}

/// Six documents that fail for a reason of their own.
fn too_large() -> Vec<Document> {
    (0..12).map(|number| Document { trouble: Trouble::TooLarge, ..letter(number) }).collect()
}

/// Every document is refused for a minute and a half; the later ones are found while the first are reported.
fn refused_while(reports: Vec<Event>) -> Plan {
    let refused = at(0, 90, fails(Call::Document, status(422)));
    let mut events = vec![refused, at(8, 9, What::PollNow)];
    events.extend(reports);
    events.sort_by_key(|event| event.from);
    practice(seven(), events)
}

/// Runs the plan with several kinds of luck. `told` is what the API has to have been told of each document in the end.
fn assert_told(plan: &Plan, told: Option<bool>) {
    for seed in 1..9 {
        let outcome = run(Plan { seed, ..plan.clone() }, true);
        let history = outcome.history.join("\n");
        assert!(outcome.violation.is_none(), "{history}\n{:?}", outcome.violation);
        assert!(outcome.told.iter().all(|one| *one == told), "{history}\n{:?}", outcome.told);
    }
}

/// Runs the plan with several kinds of luck: only the promises are to hold.
fn assert_kept(plan: &Plan) {
    for seed in 1..17 {
        let outcome = run(Plan { seed, ..plan.clone() }, true);
        assert!(outcome.violation.is_none(), "{}\n{:?}", outcome.history.join("\n"), outcome.violation);
    }
}

#[test]
fn a_failure_that_the_api_did_not_want_to_hear_of_yet_is_taken_back() {
    let too_many = at(0, 15, fails(Call::Report, status(429)));
    assert_told(&refused_while(vec![too_many]), SUCCESS);
}

#[test]
fn a_failure_that_is_on_its_way_when_others_turn_out_to_share_it_is_told_once_or_taken_back() {
    let too_many = at(0, 40, fails(Call::Report, status(429)));
    assert_kept(&refused_while(vec![at(0, 15, fails(Call::Report, How::Slow)), too_many]));
}

#[test]
fn a_failure_that_never_left_this_machine_is_taken_back() {
    assert_told(&refused_while(vec![at(0, 20, fails(Call::Report, How::Unreachable))]), SUCCESS);
}

#[test]
fn a_failure_stands_when_the_answer_to_its_report_was_lost() {
    assert_kept(&refused_while(vec![at(0, 15, fails(Call::Report, How::AnswerLost))]));
}

#[test]
fn a_failure_whose_first_report_had_no_answer_stands_when_the_second_is_refused() {
    // The first is sent after the hold.
    let lost = at(0, 6, fails(Call::Report, How::AnswerLost));
    assert_kept(&refused_while(vec![lost, at(6, 20, fails(Call::Report, status(429)))]));
}

#[test]
fn failures_are_told_in_the_end_when_every_report_is_refused_for_a_while() {
    let refused = at(0, 120, fails(Call::Report, status(403)));
    assert_told(&practice(too_large(), vec![refused]), FAILURE);
}

#[test]
fn failures_are_told_in_the_end_when_the_reports_had_no_connection_before_they_were_refused() {
    let out = at(0, 8, fails(Call::Report, How::Unreachable));
    let refused = at(8, 120, fails(Call::Report, status(403)));
    assert_told(&practice(too_large(), vec![out, refused]), FAILURE);
}

#[test]
fn failures_are_kept_when_the_disk_is_full_while_their_reports_are_refused() {
    for from in (1_000..2_500).step_by(150) {
        let full = Event { from, until: from + 5_000, what: What::LedgerFull };
        let refused = at(0, 120, fails(Call::Report, status(403)));
        // Fewer than five may have been refused three times before the disk lets anybody say that all are.
        assert_kept(&practice(too_large(), vec![refused, full]));
    }
}

#[test]
fn what_failed_before_is_taken_back_with_the_others() {
    let out = at(0, 20, fails(Call::Document, status(503)));
    let refused = at(20, 200, fails(Call::Document, status(403)));
    assert_told(&practice((0..12).map(letter).collect(), vec![out, refused]), SUCCESS);
}

#[test]
fn the_document_that_ended_an_outage_is_taken_back_with_the_others() {
    let out = at(0, 20, fails(Call::Document, How::Unreachable));
    let refused = at(20, 200, fails(Call::Document, status(403)));
    let plan = practice((0..12).map(letter).collect(), vec![out, refused]);
    assert_told(&Plan { max_concurrency: 16, ..plan }, SUCCESS);
}

#[test]
fn what_one_destination_refused_to_all_is_delivered_there_though_it_waits_for_another() {
    let refused = What::Delivery { destination: 0, document: None, how: Wrong::Permanent, percent: 100 };
    let events = vec![at(0, 60, refused), at(0, 120, What::Offline { destination: 1 })];
    let plan = practice((0..8).map(letter).collect(), events);
    assert_told(&Plan { destinations: 2, routes: vec![vec![0, 1]], max_concurrency: 16, ..plan }, SUCCESS);
}

#[test]
fn a_failure_that_was_told_stands_although_the_api_does_not_know_the_document_for_a_while() {
    let refused = Event { from: 0, until: 1_500, what: fails(Call::Document, status(422)) };
    let lost = at(0, 4, fails(Call::Report, How::AnswerLost));
    let gone = What::Api { account: 0, document: None, call: None, how: status(404), percent: 100 };
    let plan = practice(vec![letter(0)], vec![refused, lost, at(4, 120, gone)]);
    assert_kept(&Plan { stays_listed: vec![true], ..plan });
}

#[test]
fn a_slow_report_may_be_overtaken_by_a_retry_or_by_a_new_version() {
    let refused = || at(0, 2, fails(Call::Document, status(422)));
    let slow = || at(0, 60, fails(Call::Report, How::Slow));
    assert_kept(&practice(vec![letter(0)], vec![refused(), slow(), at(4, 5, What::Retry(0))]));
    let revised = vec![refused(), slow(), at(3, 4, What::Revise(0)), at(4, 5, What::PollNow)];
    assert_kept(&practice(vec![letter(0)], revised));
}

/// Twelve that are refused for good, while others come one after the other and pass, and the process is killed twice.
#[test]
fn what_is_refused_each_time_that_others_pass_is_told_long_before_anybody_gives_up() {
    for (trouble, told) in
        [(Trouble::Forbidden(403), FAILURE), (Trouble::Refused, FAILURE), (Trouble::ReportRefused(422), None)]
    {
        let bad = (0..12).map(|number| Document { trouble, ..letter(number) });
        let good = (12..36).map(|number| {
            let at = 20 * (u64::try_from(number).unwrap() - 11);
            let arrives = at * 1000;
            Document { arrives, created: at.cast_signed(), rendered: arrives, ..letter(number) }
        });
        let kills = [50, 150].map(|from| at(from, from + 2, What::Crash { power: false }));
        let plan = Plan { max_concurrency: 16, ..practice(bad.chain(good).collect(), kills.into()) };
        for seed in 1..9 {
            let outcome = run(Plan { seed, ..plan.clone() }, true);
            let history = outcome.history.join("\n");
            assert!(outcome.violation.is_none(), "{history}\n{:?}", outcome.violation);
            let (bad, good) = outcome.told.split_at(12);
            assert!(
                bad.iter().all(|one| *one == told) && good.iter().all(|one| *one == SUCCESS),
                "{history}\n{:?}",
                outcome.told
            );
            assert!(!history.contains("gave up"), "{history}");
        }
    }
}
