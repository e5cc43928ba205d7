//! When pauses begin and end, and what is known of a scope.

use super::*;
use crate::domain::failure::Code;
use crate::ledger::{documents, failures, listed, testing};

mod probes;

const POLICY: RetryPolicy = RetryPolicy { initial: Duration::from_secs(60), max: Duration::from_secs(900) };
const WEEK: Duration = Duration::from_secs(7 * 24 * 3600);

async fn pauses(folder: &tempfile::TempDir) -> (Pauses, crate::ledger::Lock) {
    let (ledger, lock) = Ledger::open_exclusive(&folder.path().join("ledger.sqlite3")).unwrap();
    (Pauses::load(ledger, POLICY, false).await.unwrap(), lock)
}

fn failure(status: u16) -> Failure {
    Failure { call: Call::Deliver, kind: Kind::Passing(Code::Status(status)) }
}

fn pms() -> Scope {
    Scope::Destination("pms".to_owned())
}

fn subject(document: i64, first: bool) -> Subject {
    Subject { document, first, failed_at: Some(1), refusals: 0, known_for: WEEK, origin: None }
}

fn evidence(pauses: &Pauses, document: i64, status: u16) -> Evidence {
    pauses.evidence(&pms(), &failure(status), subject(document, true), WEEK)
}

#[tokio::test]
async fn documents_that_fail_alike_in_a_row_are_counted_once_and_a_success_ends_the_row() {
    let folder = tempfile::tempdir().unwrap();
    let (pauses, _held) = pauses(&folder).await;
    let alike = |document, status| evidence(&pauses, document, status).alike;
    let rows =
        [(1, 1), (2, 1), (3, 2), (4, 1), (5, 1), (5, 1), (6, 1)].map(|(document, status)| alike(document, status));
    assert_eq!(rows, [1, 2, 1, 1, 2, 2, 3]);
    for (seconds, expected) in [(2, 4), (0, 1)] {
        let began = now() - seconds * 1000;
        pauses.succeeded(&pms(), began).await.unwrap();
        assert_eq!(alike(7, 1), expected, "a success that began {seconds} s ago");
    }
    for document in 10..30 {
        let again = pauses.evidence(&pms(), &failure(1), subject(document, false), WEEK);
        assert_eq!(again.alike, 1, "a document known to be bad says nothing about the others");
    }
    let refused = Failure { call: Call::Deliver, kind: Kind::Permanent(Code::Status(403)) };
    let alike = |document, refusals, failed_at| {
        let subject = Subject { refusals, failed_at, ..subject(document, true) };
        pauses.evidence(&pms(), &refused, subject, WEEK).alike
    };
    let (before, after) = (Some(1), Some(now() + 60_000));
    let rows = [(1, 0, before), (2, 1, before), (3, 2, after), (4, 2, before), (5, 3, after)];
    let rows = rows.map(|(document, refusals, failed_at)| alike(document, refusals, failed_at));
    assert_eq!(rows, [1, 2, 3, 3, 3], "nor does one that was refused three times while others passed");
}

#[tokio::test]
async fn a_good_pdf_speaks_for_its_own_origin_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (pauses, _held) = pauses(&folder).await;
    let good_since = |origin: &str| {
        let subject = Subject { origin: Some(origin.to_owned()), ..subject(1, false) };
        pauses.evidence(&pms(), &failure(1), subject, WEEK).good_since
    };
    pauses.succeeded(&pms(), now()).await.unwrap();
    pauses.good_pdf(&pms(), "https://a.test".to_owned(), now());
    assert_eq!([good_since("https://a.test"), good_since("https://b.test")], [true, false]);
    (0..2 * MAX_ORIGINS).for_each(|number| pauses.good_pdf(&pms(), number.to_string(), now()));
    assert!(pauses.lock()[&pms()].good_origins.len() <= MAX_ORIGINS);
}

#[tokio::test]
async fn what_is_held_at_a_start_counts_with_what_fails_alike_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let (ledger, _lock) = Ledger::open_exclusive(&folder.path().join("ledger.sqlite3")).unwrap();
    let refused = Failure { call: Call::Read, kind: Kind::Permanent(Code::Status(403)) };
    let fetch = Scope::Fetch("main".to_owned());
    let (name, of) = (refused.to_string(), refused.clone());
    let fail = move |db: &Connection| {
        for uuid in ["a", "b", "c", "d"] {
            listed::see(db, &testing::reader("main"), &testing::shown(uuid, None), 1)?;
            let (id, _) = work::due(db, &Scope::Fetch("main".to_owned()), 1, 1)?[0];
            let row = documents::by_number(db, id)?.unwrap();
            failures::fail(db, &row, "no", &name, Some(&of), 1, 1)?;
        }
        Ok(())
    };
    ledger.write(fail).await.unwrap();
    let began = now();
    let pauses = Pauses::load(ledger, POLICY, false).await.unwrap();
    let next_due = |db: &Connection| work::next_due(db, &Scope::Report("main".to_owned()), 0);
    let due_at = pauses.ledger.read(next_due).await.unwrap().unwrap();
    assert!(due_at >= after(began, failure::HOLD), "held failures are held anew at a start");
    assert_eq!(pauses.evidence(&fetch, &refused, subject(99, true), WEEK).alike, failure::ALIKE_PERMANENT);
}

#[tokio::test]
async fn something_good_counts_when_it_came_after_the_first_failure_and_not_from_the_future() {
    let folder = tempfile::tempdir().unwrap();
    let (pauses, _held) = pauses(&folder).await;
    let good_since = |failed_at| {
        let subject = Subject { failed_at, ..subject(1, false) };
        pauses.evidence(&pms(), &failure(1), subject, WEEK).good_since
    };
    assert!(!good_since(Some(1)), "nothing succeeded yet");
    pauses.succeeded(&pms(), now()).await.unwrap();
    assert!(good_since(Some(now() - 1000)));
    assert!(!good_since(Some(now() + 60_000)) && !good_since(None));
    pauses.lock().get_mut(&pms()).unwrap().last_good_at = Some(now() + 60_000);
    assert!(!good_since(Some(1)), "a success in the future: the clock was set back");
}

/// Sixteen long deliveries succeed while everything that begins now is refused.
#[tokio::test]
async fn what_was_under_way_when_others_failed_says_nothing_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let (pauses, _held) = pauses(&folder).await;
    let (before, then) = (now() - 5_000, now() - 1_000);
    let good_since = |origin: Option<&str>| {
        let subject = Subject { failed_at: Some(then), origin: origin.map(str::to_owned), ..subject(1, true) };
        pauses.evidence(&pms(), &failure(1), subject, WEEK).good_since
    };
    for (began, counts) in [(before, false), (now(), true), (before, true)] {
        pauses.succeeded(&pms(), began).await.unwrap();
        pauses.good_pdf(&pms(), "https://a.test".to_owned(), began);
        assert_eq!([good_since(None), good_since(Some("https://a.test"))], [counts; 2], "the later of two counts");
    }
    pauses.lock().get_mut(&pms()).unwrap().last_good_at = Some(now() + 60_000);
    pauses.succeeded(&pms(), now()).await.unwrap();
    assert!(good_since(None), "a success in the future: the clock was set back");
}

#[tokio::test]
async fn a_pause_is_too_old_by_the_number_of_its_probes_and_by_no_clock_that_jumps() {
    let folder = tempfile::tempdir().unwrap();
    let (pauses, _held) = pauses(&folder).await;
    let too_old = |limit| pauses.evidence(&pms(), &failure(1), subject(1, false), limit).pause.unwrap().too_old;
    for _ in 0..MIN_ATTEMPTS {
        pauses.close(&pms(), &failure(1), "it failed", None).await.unwrap();
        pauses.probe_begins(&pms(), Some(1));
    }
    assert!(too_old(Duration::ZERO));
    pauses.with_pause(&pms(), |pause| pause.kept.since = 0);
    assert!(!too_old(WEEK), "five probes do not take a week, whatever the clock says");
    pauses.with_pause(&pms(), |pause| pause.kept.attempts = 180);
    assert!(!too_old(WEEK), "probes for an hour and a half, then the machine was off");
    pauses.with_pause(&pms(), |pause| pause.kept.attempts = 1_000_000);
    assert!(too_old(WEEK));
    let young = Subject { known_for: Duration::from_secs(60), ..subject(1, false) };
    assert!(!pauses.evidence(&pms(), &failure(1), young, WEEK).pause.unwrap().too_old);
}

#[tokio::test]
async fn that_it_works_again_is_told_once_something_works() {
    let folder = tempfile::tempdir().unwrap();
    let (pauses, _held) = pauses(&folder).await;
    let untold = || pauses.lock()[&pms()].untold;
    pauses.close(&pms(), &failure(503), "away", None).await.unwrap();
    let began = now() - 60_000;
    pauses.with_pause(&pms(), |pause| pause.kept.since = began);
    // A probe that fails in another way ends the pause, and so does having nothing left to try.
    pauses.end(&pms(), Ends::Untold);
    assert_eq!((pauses.admission(&pms(), now()), untold()), (Admission::Open, Some(began)));
    pauses.close(&pms(), &failure(502), "away", None).await.unwrap();
    pauses.nothing_left(&pms()).await.unwrap();
    assert_eq!((pauses.admission(&pms(), now()), untold()), (Admission::Open, Some(began)), "it is the same outage");
    pauses.succeeded(&pms(), now()).await.unwrap();
    assert_eq!(untold(), None);
}

#[tokio::test]
async fn a_document_that_is_read_ends_a_pause_of_reads_and_none_of_downloads() {
    let folder = tempfile::tempdir().unwrap();
    let (pauses, _held) = pauses(&folder).await;
    for (call, ends) in [(Call::Download, false), (Call::Read, true)] {
        let too_many = Failure { call, kind: Kind::Down(Code::Status(429)) };
        pauses.close(&pms(), &too_many, "too many", None).await.unwrap();
        pauses.was_read(&pms()).await.unwrap();
        assert_eq!(pauses.admission(&pms(), now()) == Admission::Open, ends);
    }
}

#[tokio::test]
async fn a_pause_whose_end_cannot_be_written_goes_on_until_something_works_again() {
    let folder = tempfile::tempdir().unwrap();
    let (pauses, _held) = pauses(&folder).await;
    let broken = |is_broken: bool| {
        let trigger = match is_broken {
            true => "CREATE TRIGGER broken BEFORE DELETE ON pause BEGIN SELECT raise(FAIL, 'broken'); END",
            false => "DROP TRIGGER broken",
        };
        pauses.ledger.write(|db| db.execute_batch(trigger))
    };
    let kept = || pauses.ledger.read(pauses::all);
    pauses.close(&pms(), &failure(1), "the share is offline", None).await.unwrap();
    broken(true).await.unwrap();
    pauses.succeeded(&pms(), now()).await.unwrap_err();
    assert_ne!(pauses.admission(&pms(), now()), Admission::Open, "in memory as in the ledger");
    broken(false).await.unwrap();
    assert_eq!(kept().await.unwrap().len(), 1);
    pauses.succeeded(&pms(), now()).await.unwrap();
    assert_eq!(kept().await.unwrap(), []);
    assert_eq!(pauses.admission(&pms(), now()), Admission::Open);
}

#[tokio::test]
async fn a_pause_is_there_after_a_restart_and_is_probed_when_the_clock_is_set_back() {
    let folder = tempfile::tempdir().unwrap();
    // Longer than `retry.max`.
    let asked = Some(Duration::from_secs(3000));
    let is_kept = |admission| matches!(admission, Admission::Paused(until) if until > now() + 2_900_000);
    {
        let (pauses, _held) = pauses(&folder).await;
        pauses.close(&pms(), &failure(1), "the share is offline", asked).await.unwrap();
        pauses.succeeded(&pms(), now()).await.unwrap();
        assert!(is_kept(pauses.admission(&pms(), now())), "work that was under way does not end the pause");
    }
    let (pauses, _held) = pauses(&folder).await;
    assert!(is_kept(pauses.admission(&pms(), now())), "the wait that the server asked for is kept");
    for long_ago in [now() - 100_000_000_000, now() - 1_800_000] {
        assert!(matches!(pauses.admission(&pms(), long_ago), Admission::Probe(_)));
    }
    assert!(evidence(&pauses, 1, 1).pause.unwrap().alike);
    assert!(!evidence(&pauses, 1, 2).pause.unwrap().alike);
    pauses.with_pause(&pms(), |pause| (pause.kept.since, pause.kept.probe_at) = (now() + 3_600_000, 0));
    pauses.close(&pms(), &failure(1), "the share is offline", None).await.unwrap();
    assert!(matches!(pauses.admission(&pms(), now()), Admission::Paused(_)), "the pause goes on by the new clock");
}

/// A probe that fails in another way is no sign of room for documents that wait for room.
#[tokio::test]
async fn what_waits_for_room_in_the_spool_is_due_when_its_destination_works_and_not_before() {
    let folder = tempfile::tempdir().unwrap();
    let (pauses, _held) = pauses(&folder).await;
    let due_at =
        || pauses.ledger.read(|db| db.query_row("SELECT due_at FROM document", [], |row| row.get::<_, i64>(0)));
    let waits = "INSERT INTO document (account, uuid, created_at, state, found_at, changed_at, due_at)
                 VALUES ('main', 'a', '', 'discovered', 0, 0, 9999999999999)";
    let waits = |db: &Connection| db.execute_batch(waits).map(|()| testing::set(db, 1, "reason_code = 'spool_full'"));
    pauses.ledger.write(waits).await.unwrap();
    for (works, is_due) in [(false, false), (true, true)] {
        pauses.close(&pms(), &failure(1), "away", None).await.unwrap();
        if works {
            pauses.succeeded(&pms(), now()).await.unwrap();
        } else {
            pauses.nothing_left(&pms()).await.unwrap();
        }
        assert_eq!(due_at().await.unwrap() <= now(), is_due);
    }
}

/// A decision waits for a commit. 500 accounts that are offline must not wait for one another's.
#[tokio::test]
async fn a_decision_about_one_scope_waits_for_none_about_another() {
    let folder = tempfile::tempdir().unwrap();
    let (pauses, _held) = pauses(&folder).await;
    let deciding = pauses.decide_next(&pms()).await;
    let close = async |scope: Scope, limit| {
        tokio::time::timeout(limit, pauses.close(&scope, &failure(500), "it fails", None)).await
    };
    close(Scope::Account("main".to_owned()), Duration::from_secs(30)).await.expect("it waits for nobody").unwrap();
    assert!(close(pms(), Duration::from_millis(50)).await.is_err(), "the next decision knows of the last");
    drop(deciding);
}
