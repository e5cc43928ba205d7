//! A ledger that is restored to an earlier moment, at every step of a letter: nothing is lost, and nothing is doubled
//! where it can be seen.

use super::found::{at, letter, practice};
use super::plan::{Document, Event, Kind, Named, Plan, Service, What, Wrong};
use super::run::run;

/// Folders of which an importer takes nothing, some that name letters alike.
const PLAIN: Kind = Kind::Named(Named { overwrites: false, in_folders: false, sidecar: false, imports: false });
const IN_FOLDERS: Kind = Kind::Named(Named { overwrites: false, in_folders: true, sidecar: true, imports: false });
const IMPORTED: Kind = Kind::Named(Named { overwrites: false, in_folders: true, sidecar: true, imports: true });

/// Letters of one name: some at once, and some later.
fn letters() -> Vec<Document> {
    let late = |number: usize| {
        let arrives = 400 * number as u64;
        Document { arrives, created: 1, rendered: arrives, ..letter(number) }
    };
    (0..2).map(letter).chain((2..5).map(late)).collect()
}

fn moment(from: u64, what: What) -> Event {
    Event { from, until: from, what }
}

/// Runs it, and looks whether each letter was told as synchronized.
fn assert_plan_kept(seed: u64, kinds: &[Kind], events: Vec<Event>) {
    let (destinations, route) = (kinds.len(), (0..kinds.len()).collect());
    let plan = Plan {
        seed,
        destinations,
        kinds: kinds.to_vec(),
        routes: vec![route],
        max_concurrency: 2,
        ..practice(letters(), events.clone())
    };
    let outcome = run(plan, true);
    let history = outcome.history.join("\n");
    assert!(outcome.violation.is_none(), "{history}\n{seed} {kinds:?} {events:?}: {:?}", outcome.violation);
    assert!(outcome.told.iter().all(|told| *told == Some(true)), "{history}\n{seed} {kinds:?} {events:?}");
}

/// Runs it with several kinds of luck, and with the backup and the loss at every step.
fn assert_kept(kind: Kind, more: &[Event], luck: u64) {
    for backup in (0..2_400).step_by(300) {
        for lost in [40, 700, 45_000] {
            let lost = Event { from: backup + lost, until: backup + lost + 500, what: What::Restore };
            let mut events = vec![moment(backup, What::Backup), lost];
            events.extend(more.iter().cloned());
            events.sort_by_key(|event| event.from);
            for seed in 1..=luck {
                assert_plan_kept(seed, &[kind], events.clone());
            }
        }
    }
}

#[test]
fn a_restored_ledger_files_each_letter_once_in_a_folder() {
    assert_kept(PLAIN, &[], 1);
    assert_kept(IN_FOLDERS, &[], 1);
}

#[test]
fn a_restored_ledger_loses_no_letter_where_an_importer_takes_them() {
    assert_kept(IMPORTED, &[], 2);
}

#[test]
fn a_restored_ledger_files_each_letter_once_where_a_service_can_be_asked() {
    let services = [
        Service::Put,
        Service::Post,
        Service::Bucket { keeps_keys: true },
        Service::Bucket { keeps_keys: false },
        Service::Fhir { heeds: false },
        Service::Receiver,
        Service::Mail,
        Service::Archive { tells: true },
    ];
    for kind in services.into_iter().map(Kind::Service).chain([Kind::Keys]) {
        assert_kept(kind, &[], 1);
    }
}

#[test]
fn a_restored_ledger_files_each_version_once_whatever_name_a_stranger_took() {
    let revised = |from| Event { from, until: from, what: What::Revise(0) };
    for more in [
        vec![revised(900), revised(2_500)],
        vec![at(0, 3, What::Stranger { destination: 0 })],
        vec![at(0, 2, What::Delivery { destination: 0, document: None, how: Wrong::AnswerLost, percent: 50 })],
    ] {
        assert_kept(PLAIN, &more, 2);
    }
}

/// The shortest plan of seed 21508: filed into one destination while another finds that the spool is lost, so that the
/// delivery is not recorded, and taken by an importer. It was filed again, since the letter is in doubt.
#[test]
fn what_is_filed_after_a_restore_and_not_recorded_is_filed_once() {
    let overwriting = Kind::Named(Named { overwrites: true, in_folders: false, sidecar: true, imports: true });
    let in_folders = Kind::Named(Named { overwrites: false, in_folders: true, sidecar: false, imports: true });
    let events = [
        (768, 10_709, What::KillFiling { destination: 0, call: 15 }),
        (1_615, 1_615, What::Backup),
        (7_312, 31_770, What::Restore),
        (20_482, 22_278, What::Stranger { destination: 2 }),
    ];
    let events = events.map(|(from, until, what)| Event { from, until, what });
    let outcome = run(
        Plan {
            seed: 21_508,
            accounts: 3,
            destinations: 3,
            kinds: vec![overwriting, Kind::Service(Service::Archive { tells: true }), in_folders],
            has_importers: true,
            routes: vec![vec![0, 2, 1], vec![2, 0], vec![2, 1]],
            max_concurrency: 16,
            stays_listed: vec![false; 3],
            ..practice(vec![Document { account: 1, created: 0, kind: 1, ..letter(0) }], events.to_vec())
        },
        true,
    );
    assert!(outcome.violation.is_none(), "{}\n{:?}", outcome.history.join("\n"), outcome.violation);
}

/// The backup has the version before it as reported (seed 22012).
#[test]
fn a_version_that_came_between_a_backup_and_its_restore_is_sent_once() {
    let lost = Event { from: 90_000, until: 91_000, what: What::Restore };
    for kind in [Service::Post, Service::Fhir { heeds: false }, Service::Put].map(Kind::Service) {
        for seed in 1..=4 {
            let events = vec![moment(20_000, What::Backup), moment(21_000, What::Revise(0)), lost.clone()];
            assert_plan_kept(seed, &[kind], events);
        }
    }
}
