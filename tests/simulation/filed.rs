//! Destinations on other machines, cut off at each of their calls: what chance draws too seldom.

use super::found::{at, letter, practice};
use super::plan::{Document, Event, Kind, Named, Plan, Service, What, Wrong};
use super::run::run;

/// An importer waits, and each PDF has a sidecar.
const IMPORTED: Kind = Kind::Named(Named { overwrites: false, in_folders: true, sidecar: true, imports: true });
const OVERWRITING: Kind = Kind::Named(Named { overwrites: true, in_folders: false, sidecar: false, imports: false });

const PLAIN: Kind = Kind::Named(Named { overwrites: false, in_folders: false, sidecar: false, imports: false });

/// Letters of one name, which come one after another.
fn letters() -> Vec<Document> {
    (0..3).map(|number| Document { arrives: 100 * number as u64, ..letter(number) }).collect()
}

/// Runs it with several kinds of luck.
fn assert_kept(kind: Kind, what: What, luck: u64) {
    assert_all_kept(kind, vec![at(0, 120, what)], luck);
}

fn assert_all_kept(kind: Kind, events: Vec<Event>, luck: u64) {
    for seed in 1..=luck {
        let what = format!("{events:?}");
        let plan = Plan { seed, kinds: vec![kind], max_concurrency: 1, ..practice(letters(), events.clone()) };
        let outcome = run(plan, true);
        let history = outcome.history.join("\n");
        assert!(outcome.violation.is_none(), "{history}\n{kind:?}, {what}: {:?}", outcome.violation);
        assert!(outcome.told.iter().all(|told| *told == Some(true)), "{history}\n{kind:?}, {what}");
    }
}

#[test]
fn a_daemon_that_is_killed_at_any_call_files_each_letter_once() {
    for call in 0..24 {
        assert_kept(IMPORTED, What::KillFiling { destination: 0, call }, 2);
    }
    for call in 0..4 {
        let buckets = [true, false].map(|keeps_keys| Service::Bucket { keeps_keys });
        let records = [true, false].map(|heeds| Service::Fhir { heeds });
        let archives = [true, false].map(|tells| Service::Archive { tells });
        let others = [Service::Put, Service::Post, Service::Receiver, Service::Mail];
        for service in others.into_iter().chain(buckets).chain(records).chain(archives) {
            assert_kept(Kind::Service(service), What::KillFiling { destination: 0, call }, 1);
        }
    }
}

#[test]
fn a_daemon_that_is_killed_once_more_while_it_settles_the_first_files_each_letter_once() {
    let kill = |call| What::KillFiling { destination: 0, call };
    // Around the rename, and then at each call of the next attempt.
    for first in 8..=10 {
        for second in 0..6 {
            // Killed before the rename, and then between what is done there and what the ledger is told: seldom drawn.
            let luck = if first == 9 && (2..5).contains(&second) { 24 } else { 2 };
            assert_all_kept(PLAIN, vec![at(0, 60, kill(first)), at(60, 120, kill(second))], luck);
        }
    }
}

#[test]
fn an_answer_that_is_lost_costs_no_letter_and_makes_no_second() {
    let web = [Service::Post, Service::Bucket { keeps_keys: true }, Service::Fhir { heeds: false }];
    let archives = [true, false].map(|tells| Service::Archive { tells });
    let services = web.into_iter().chain([Service::Receiver, Service::Mail]).chain(archives).map(Kind::Service);
    for kind in [IMPORTED, OVERWRITING].into_iter().chain(services) {
        let lost = What::Delivery { destination: 0, document: None, how: Wrong::AnswerLost, percent: 100 };
        assert_kept(kind, lost, 6);
    }
}

/// Nobody comes by a version again that another took the place of before it had its name.
#[test]
fn what_attempts_at_a_replaced_version_left_is_cleared_away() {
    let fails = What::Delivery { destination: 0, document: None, how: Wrong::Transient, percent: 100 };
    let offline = What::Offline { destination: 0 };
    let events = [at(0, 4, fails), at(4, 200, offline), at(60, 60, What::Revise(0)), at(60, 60, What::Revise(1))];
    for kind in [PLAIN, OVERWRITING] {
        assert_all_kept(kind, events.to_vec(), 12);
    }
}

#[test]
fn what_a_stranger_puts_there_in_the_same_moment_stays() {
    for kind in [IMPORTED, OVERWRITING, Kind::Service(Service::Bucket { keeps_keys: true })] {
        assert_kept(kind, What::Stranger { destination: 0 }, 6);
    }
}
