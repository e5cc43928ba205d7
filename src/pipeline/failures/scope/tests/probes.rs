//! When a pause is probed, and with which work.

use super::*;

/// A probe that says nothing, such as a PDF that is not rendered yet, takes its turn like one that fails.
#[tokio::test]
async fn every_second_probe_of_a_pause_is_something_new_and_the_others_are_the_same_and_what_waits_longest() {
    let folder = tempfile::tempdir().unwrap();
    let (pauses, _held) = pauses(&folder).await;
    assert_eq!(pauses.admission(&pms(), now()), Admission::Open);
    pauses.close(&pms(), &failure(1), "it failed", None).await.unwrap();
    assert!(matches!(pauses.admission(&pms(), now()), Admission::Paused(_)));
    let later = after(now(), POLICY.max);
    let mut wanted = Vec::new();
    for (document, says) in [(8, true), (101, false), (8, true), (102, true), (8, false), (9, true)] {
        let Admission::Probe(wants) = pauses.admission(&pms(), later) else { panic!("no probe") };
        wanted.push(wants);
        pauses.probe_begins(&pms(), Some(document));
        assert_eq!(pauses.admission(&pms(), Millis::MAX / 2), Admission::Paused(Millis::MAX), "one probe at a time");
        let of = |document| evidence(&pauses, document, 1).pause.unwrap();
        assert!(of(document).probe && !of(77).probe);
        if says {
            pauses.close(&pms(), &failure(1), "it failed", None).await.unwrap();
        }
        pauses.probe_ends(&pms());
    }
    use ProbeChoice::{Fresh, Longest, Same};
    assert_eq!(wanted, [Fresh, Same, Fresh, Longest, Fresh, Same]);
    assert_eq!(pauses.admission(&Scope::Destination("scan".to_owned()), now()), Admission::Open);
    pauses.succeeded(&pms(), now()).await.unwrap();
    assert_eq!(pauses.admission(&pms(), now()), Admission::Open);
}

/// Each of 60 documents fails its first tries. When the pause begins, 16 of them were tried once.
#[tokio::test]
async fn a_server_that_fails_the_first_tries_of_each_document_is_found_out() {
    for (fails, most) in [(1, 2), (2, 6), (3, 10), (4, 14), (6, 22), (12, 46)] {
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
                let (is_fresh, wants_fresh) = (tries == 0, wanted == ProbeChoice::Fresh);
                let by = match wanted {
                    ProbeChoice::Fresh if is_fresh => -document,
                    ProbeChoice::Same => *document,
                    _ => i64::from(last),
                };
                (is_fresh != wants_fresh, by, *document)
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
