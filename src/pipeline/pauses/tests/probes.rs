//! When a pause is probed, and with which work.

use super::*;

/// Every second probe is new work, which fails here as well. The other probes are the candidate's.
#[tokio::test]
async fn a_pause_is_probed_with_a_candidate_three_times_and_every_second_time_with_something_new() {
    let folder = tempfile::tempdir().unwrap();
    let (pauses, _held) = pauses(&folder).await;
    assert_eq!(pauses.admission(&pms(), now()), Admission::Open);
    pauses.close(&pms(), &failure(1), "it failed", None).await.unwrap();
    assert!(matches!(pauses.admission(&pms(), now()), Admission::Paused(_)));
    let later = after(now(), POLICY.max);
    let mut wanted = Vec::new();
    for document in [8, 101, 8, 102, 8, 9] {
        let Admission::Probe(wants) = pauses.admission(&pms(), later) else { panic!("no probe") };
        wanted.push((wants.fresh, wants.newest, wants.candidate));
        pauses.probe_begins(&pms(), Some(document));
        assert_eq!(pauses.admission(&pms(), Millis::MAX / 2), Admission::Paused(Millis::MAX), "one probe at a time");
        let of = |document| evidence(&pauses, document, 1).pause.unwrap();
        assert!(of(document).probe && !of(77).probe);
        pauses.close(&pms(), &failure(1), "it failed", None).await.unwrap();
    }
    let eight = Some(8);
    let old = (false, false, eight);
    let expected = [(false, false, None), (true, true, eight), old, (true, false, eight), old, (true, true, None)];
    assert_eq!(wanted, expected, "new work from both ends by turns");
    assert_eq!(pauses.admission(&Scope::Destination("scan".to_owned()), now()), Admission::Open);
    pauses.succeeded(&pms(), now()).await.unwrap();
    assert_eq!(pauses.admission(&pms(), now()), Admission::Open);
}

/// Each of 60 documents fails its first tries. When the pause begins, 16 of them were tried once.
#[tokio::test]
async fn a_server_that_fails_the_first_tries_of_each_document_is_found_out() {
    for (fails, most) in [(1, 1), (2, 3), (3, 5), (4, 15), (6, 31), (12, 127)] {
        let folder = tempfile::tempdir().unwrap();
        let (pauses, _held) = pauses(&folder).await;
        pauses.close(&pms(), &failure(500), "it failed", None).await.unwrap();
        // For each document: the number of its tries, and the number of its last probe.
        let mut tried: Vec<(u32, u32)> = (0..60).map(|document| (u32::from(document < 16), 0)).collect();
        for probe in 1.. {
            assert!(probe <= most, "{fails} tries fail: {tried:?}");
            pauses.with_pause(&pms(), |pause| pause.kept.probe_at = 0);
            let Admission::Probe(wanted) = pauses.admission(&pms(), now()) else { panic!("no probe") };
            // In the ledger's order.
            let order = |document: &i64| {
                let (tries, last) = tried[usize::try_from(*document).unwrap()];
                let is_fresh = tries == 0;
                let by = if wanted.newest && is_fresh { -document } else { i64::from(last) };
                (is_fresh != wanted.fresh, wanted.candidate != Some(*document), by, *document)
            };
            let document = (0..60).min_by_key(order).unwrap();
            pauses.probe_begins(&pms(), Some(document));
            let (tries, last) = &mut tried[usize::try_from(document).unwrap()];
            if *tries >= fails {
                break;
            }
            (*tries, *last) = (*tries + 1, probe);
            pauses.close(&pms(), &failure(500), "it failed", None).await.unwrap();
            pauses.probe_ends(&pms());
        }
    }
}

/// A server that fails the first tries of each document, or a good one behind some bad ones, takes many probes.
#[tokio::test]
async fn where_several_documents_failed_a_pause_is_probed_as_often_as_it_is_young() {
    let folder = tempfile::tempdir().unwrap();
    let (mut pauses, _held) = pauses(&folder).await;
    pauses.policy.initial = Duration::from_secs(1);
    let down = Failure { call: Call::Deliver, kind: Kind::Down(Code::word("refused")) };
    for (failed, rare) in [(failure(500), false), (down, true)] {
        let mut lasted = 0;
        for _ in 0..15 {
            pauses.close(&pms(), &failed, "away", None).await.unwrap();
            let waits = pauses.paused_until(&pms()).unwrap() - now();
            lasted += waits.max(0);
            // Pretend that this time has passed.
            pauses.with_pause(&pms(), |pause| (pause.kept.since, pause.kept.probe_at) = (now() - lasted, 0));
        }
        assert_eq!(lasted > 60_000, rare, "{failed:?}: {lasted} ms");
        for _ in 0..100 {
            pauses.with_pause(&pms(), |pause| (pause.kept.since, pause.kept.probe_at) = (0, 0));
            pauses.close(&pms(), &failed, "away", None).await.unwrap();
            assert!(rare || pauses.paused_until(&pms()).unwrap() <= after(now(), LONGEST_DOUBT));
        }
        pauses.succeeded(&pms(), now()).await.unwrap();
    }
}

/// Otherwise a fault that a person mends while a probe hangs would be probed only when the backoff says.
#[tokio::test]
async fn who_asks_while_a_probe_is_under_way_gets_another_one_when_it_ends() {
    let folder = tempfile::tempdir().unwrap();
    let (pauses, _held) = pauses(&folder).await;
    let down = Failure { call: Call::Deliver, kind: Kind::Down(Code::word("refused")) };
    pauses.close(&pms(), &down, "it is down", None).await.unwrap();
    for asked in [true, false] {
        pauses.probe_begins(&pms(), Some(1));
        if asked {
            pauses.probe_all_now();
        }
        pauses.close(&pms(), &down, "it is down", None).await.unwrap();
        pauses.with_pause(&pms(), |pause| pause.kept.probe_at = after(now(), POLICY.initial));
        pauses.probe_ends(&pms());
        assert_eq!(matches!(pauses.admission(&pms(), now()), Admission::Probe(_)), asked);
    }
}

/// A probe that found nothing yet says nothing, and leaves the next turn to work that failed.
#[tokio::test]
async fn a_probe_that_says_nothing_is_not_followed_by_another_like_it_for_ever() {
    let folder = tempfile::tempdir().unwrap();
    let (pauses, _held) = pauses(&folder).await;
    for failed in [failure(500), Failure { call: Call::Deliver, kind: Kind::Down(Code::word("refused")) }] {
        pauses.close(&pms(), &failed, "reason", None).await.unwrap();
        let mut fresh = Vec::new();
        for _ in 0..4 {
            pauses.with_pause(&pms(), |pause| pause.kept.probe_at = 0);
            let Admission::Probe(choice) = pauses.admission(&pms(), now()) else { panic!("{failed:?}") };
            fresh.push(choice.fresh);
            pauses.probe_begins(&pms(), Some(1));
            pauses.probe_ends(&pms());
        }
        assert!(fresh.contains(&true) && fresh.contains(&false), "{failed:?}: {fresh:?}");
        pauses.succeeded(&pms(), now()).await.unwrap();
    }
}
