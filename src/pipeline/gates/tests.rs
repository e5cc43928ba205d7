//! When gates close, for how long, and who is to blame.

use super::*;

const POLICY: RetryPolicy = RetryPolicy { initial: Duration::from_secs(60), max: Duration::from_secs(900) };

async fn gates(folder: &tempfile::TempDir) -> (Gates, crate::ledger::Lock) {
    let (ledger, lock) = Ledger::open_exclusive(&folder.path().join("ledger.sqlite3")).unwrap();
    (Gates::load(ledger, POLICY, false).await.unwrap(), lock)
}

fn sign(document: i64, class: &str) -> Sign<'_> {
    let give_up_after = Duration::from_secs(7 * 24 * 3600);
    Sign {
        document,
        first: true,
        class,
        several: 3,
        reason: "it failed",
        retry_after: None,
        give_up_after: Some(give_up_after),
    }
}

fn pms() -> Scope {
    Scope::Destination("pms".to_owned())
}

fn is_gate(blame: Blame) -> bool {
    matches!(blame, Blame::Gate(_) | Blame::NowGate(_))
}

#[tokio::test]
async fn several_documents_in_a_row_that_fail_alike_close_the_gate_and_a_success_opens_it() {
    let folder = tempfile::tempdir().unwrap();
    let (gates, _held) = gates(&folder).await;
    for (document, class) in [(1, "a"), (2, "a"), (3, "b"), (4, "a"), (5, "a"), (5, "a")] {
        assert_eq!(gates.failed(&pms(), &sign(document, class)).await.unwrap(), Blame::Document, "{document}");
    }
    assert!(is_gate(gates.failed(&pms(), &sign(6, "a")).await.unwrap()));
    assert!(matches!(gates.admission(&pms(), now()), Admission::Closed(_)));
    assert_eq!(gates.admission(&pms(), after(now(), POLICY.max)), Admission::Probe);
    assert_eq!(gates.admission(&Scope::Destination("scan".to_owned()), now()), Admission::Open);
    gates.succeeded(&pms()).await.unwrap();
    assert_eq!(gates.admission(&pms(), now()), Admission::Open);
    assert_eq!(gates.failed(&pms(), &sign(7, "a")).await.unwrap(), Blame::Document, "the row begins anew");
}

#[tokio::test]
async fn the_document_that_closes_the_gate_names_those_that_were_blamed_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let (gates, _held) = gates(&folder).await;
    for document in [8, 1, 2] {
        gates.failed(&pms(), &sign(document, if document == 8 { "other" } else { "a" })).await.unwrap();
    }
    let Blame::NowGate(mut before) = gates.failed(&pms(), &sign(3, "a")).await.unwrap() else { panic!() };
    before.sort_unstable();
    assert_eq!(before, [1, 2]);
    assert!(gates.is_closed_by(&pms(), "a") && !gates.is_closed_by(&pms(), "other"));
    assert!(matches!(gates.failed(&pms(), &sign(4, "a")).await.unwrap(), Blame::Gate(_)), "named once");
}

#[tokio::test]
async fn a_gate_that_documents_keep_closed_for_too_long_gives_them_up_and_a_clock_that_jumps_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let (gates, _held) = gates(&folder).await;
    for document in 1..=3 {
        gates.failed(&pms(), &sign(document, "a")).await.unwrap();
    }
    let probe = async |give_up_after: Duration| {
        gates.probe_begins(&pms());
        gates.failed(&pms(), &Sign { give_up_after: Some(give_up_after), ..sign(1, "a") }).await.unwrap()
    };
    for _ in 1..MIN_PROBES {
        assert!(is_gate(probe(Duration::ZERO).await));
    }
    gates.lock().get_mut(&pms().to_string()).unwrap().closed.as_mut().unwrap().since = 0;
    let week = Duration::from_secs(7 * 24 * 3600);
    assert!(is_gate(probe(week).await), "six probes take no week, whatever the clock says");
    gates.lock().get_mut(&pms().to_string()).unwrap().closed.as_mut().unwrap().attempts = 1000;
    assert_eq!(probe(week).await, Blame::GivenUp);
    assert!(matches!(gates.admission(&pms(), now()), Admission::Closed(_)), "one document for each probe");
}

#[tokio::test]
async fn documents_that_are_known_to_be_bad_say_nothing_about_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let (gates, _held) = gates(&folder).await;
    for document in 1..20 {
        let again = Sign { first: false, ..sign(document, "a") };
        assert_eq!(gates.failed(&pms(), &again).await.unwrap(), Blame::Document);
    }
}

#[tokio::test]
async fn a_probe_that_fails_alike_keeps_the_gate_closed_and_one_that_gets_further_opens_it() {
    let folder = tempfile::tempdir().unwrap();
    let (gates, _held) = gates(&folder).await;
    gates.close(&pms(), "offline", "the share is offline", None).await.unwrap();
    gates.probe_begins(&pms());
    assert_eq!(gates.admission(&pms(), Millis::MAX / 2), Admission::Closed(Millis::MAX), "one probe at a time");
    assert!(is_gate(gates.failed(&pms(), &sign(1, "offline")).await.unwrap()));
    gates.probe_begins(&pms());
    assert_eq!(gates.failed(&pms(), &sign(1, "name refused")).await.unwrap(), Blame::Document);
    assert_eq!(gates.admission(&pms(), now()), Admission::Open);
}

#[tokio::test]
async fn only_the_part_that_closed_the_gate_opens_it_by_answering() {
    let folder = tempfile::tempdir().unwrap();
    let (gates, _held) = gates(&folder).await;
    gates.close(&pms(), "downloading http_429", "too many", None).await.unwrap();
    gates.answered(&pms(), "reading").await.unwrap();
    assert_ne!(gates.admission(&pms(), now()), Admission::Open);
    gates.answered(&pms(), "downloading").await.unwrap();
    assert_eq!(gates.admission(&pms(), now()), Admission::Open);
}

#[tokio::test]
async fn a_closed_gate_is_still_closed_after_a_restart_and_ends_when_the_clock_is_set_back() {
    let folder = tempfile::tempdir().unwrap();
    let asked = Some(Duration::from_secs(600));
    {
        let (gates, _held) = gates(&folder).await;
        gates.close(&pms(), "offline", "the share is offline", asked).await.unwrap();
    }
    let (gates, _held) = gates(&folder).await;
    assert!(matches!(gates.admission(&pms(), now()), Admission::Closed(_)), "what the server asked for is kept");
    let years_ago = now() - 100_000_000_000;
    assert_eq!(gates.admission(&pms(), years_ago), Admission::Probe);
}
