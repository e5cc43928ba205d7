//! Destinations that speak HTTP, with the real program: services of this process that fail on demand, and real servers.

use std::time::{Duration, Instant};

use hyper::Method;

use crate::dictated::*;
use crate::harness::{PATIENCE, Practice};
use crate::peer::{Fault, Peer};

mod configured;
mod opendental;
#[cfg(unix)]
pub mod real;
mod webdav;

/// The documents of a practice go to a service, by a PUT under a condition unless `more` says something else.
async fn practice_of(peer: &Peer, documents: usize, more: &str) -> (Practice, Vec<String>) {
    let (practice, uuids) = practice_with_small(documents).await;
    practice.write_secret("token", "t-1");
    let url = peer.url("/inbox/{{ key }}");
    practice.configure_wholly(&format!(
        "{}[destinations.engine]\ntype = \"http\"\nurl = \"{url}\"\nbearer_token_file = 'token'\ntimeout = \"20s\"\n{more}\n",
        practice.base_config()
    ));
    (practice, uuids)
}

const CONDITION: &str = "headers = { \"If-None-Match\" = \"*\" }";

/// What the peers and the sandbox say of patients is nowhere in what the program says.
fn assert_no_canary(texts: &[&str]) {
    assert!(texts.iter().all(|text| !text.contains("Canaryworth") && !text.contains("t-1")), "{texts:?}");
}

#[tokio::test]
async fn a_lost_reply_is_found_and_each_document_is_there_once() {
    let peer = Peer::start().await;
    let cut = Fault::CutAfter(10);
    for fault in [Fault::LoseReply, Fault::AnswerWith(202), Fault::AnswerWith(504), Fault::Refuse(500, None), cut] {
        peer.inject(fault);
    }
    let (practice, uuids) = practice_of(&peer, 12, CONDITION).await;
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert_each_reported_once(&practice, &uuids);
    assert_eq!(peer.objects().len(), 12);
    let mut found: Vec<Vec<u8>> = peer.objects().into_values().collect();
    let mut expected: Vec<Vec<u8>> = (0..12).map(|number| pdf(&format!("letter {number}"))).collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
    let shown = practice.show(&uuids[0]).await;
    assert!(shown["deliveries"][0]["place"].as_str().unwrap().starts_with(&peer.url("/inbox/")), "{shown}");
    assert_no_canary(&[&synced.stderr, &synced.stdout]);
}

/// `retry.max` is a fifth of a second.
#[tokio::test]
async fn a_service_that_asks_to_be_left_alone_is_asked_no_sooner() {
    for status in [429, 503] {
        let peer = Peer::start().await;
        peer.inject(Fault::Refuse(status, Some(("retry-after", "3".to_owned()))));
        let (practice, uuids) = practice_of(&peer, 1, CONDITION).await;
        let began = Instant::now();
        let synced = practice.sync().await;
        assert!(synced.code == 0 && began.elapsed() >= Duration::from_secs(3), "{status} {synced:?}");
        assert_each_reported_once(&practice, &uuids);
    }
}

#[tokio::test]
async fn what_may_have_arrived_waits_for_a_person_and_is_sent_again_when_that_says_so() {
    let peer = Peer::start().await;
    peer.inject(Fault::LoseReply);
    let (practice, uuids) = practice_of(&peer, 1, "method = \"POST\"\non_lost_reply = \"hold\"").await;
    let synced = practice.sync().await;
    assert_eq!(synced.code, 3, "{synced:?}");
    let shown = practice.docsyncd(&["show", &uuids[0]]).await;
    assert!(shown.stdout.contains("may have arrived"), "{shown:?}");
    assert_eq!(practice.show(&uuids[0]).await["deliveries"][0]["may_have_arrived"], true);
    assert_eq!(practice.sync().await.code, 3);
    assert_eq!(
        (peer.objects().len(), practice.sandbox.status_posts().len()),
        (1, 0),
        "nothing more is sent or reported"
    );
    assert_eq!(practice.docsyncd(&["retry", "--yes", &uuids[0]]).await.code, 0);
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert_each_reported_once(&practice, &uuids);
    let said = practice.docsyncd(&["retry", "--arrived", &uuids[0]]).await;
    assert!(said.code == 1 && said.stderr.contains("nothing waits for somebody"), "{said:?}");
    let keys: Vec<_> =
        peer.received(&Method::POST).iter().map(|post| post.header("idempotency-key").unwrap().to_owned()).collect();
    assert!(keys.len() == 2 && keys[0] == keys[1], "{keys:?}");
}

/// It was sent three times, and no answer came: nobody but a person can say what became of it.
#[tokio::test]
async fn what_was_sent_three_times_without_an_answer_waits_for_a_person_and_is_not_given_up() {
    let peer = Peer::start().await;
    (0..200).for_each(|_| peer.inject(Fault::LoseReply));
    let (mut practice, uuids) = practice_of(&peer, 1, "method = \"POST\"\non_lost_reply = \"resend\"").await;
    practice.env.insert("DOCSYNCD__SYNC__GIVE_UP_AFTER".into(), "300ms".into());
    let synced = practice.sync().await;
    assert_eq!(synced.code, 3, "{synced:?}");
    assert_eq!(posts_of(&practice.sandbox, &uuids[0]), []);
    assert_eq!(peer.received(&Method::POST).len(), 3);
    let shown = practice.show(&uuids[0]).await;
    assert_eq!(
        (&shown["state"], &shown["deliveries"][0]["may_have_arrived"]),
        (&"fetched".into(), &true.into()),
        "{shown}"
    );
}

#[tokio::test]
async fn what_a_person_saw_to_have_arrived_is_reported_and_not_sent_again() {
    for daemon_runs in [false, true] {
        let peer = Peer::start().await;
        peer.inject(Fault::LoseReply);
        let (practice, uuids) = practice_of(&peer, 1, "method = \"POST\"\non_lost_reply = \"hold\"").await;
        assert_eq!(practice.sync().await.code, 3);
        let running = if daemon_runs { Some(practice.run().await) } else { None };
        let said = practice.docsyncd(&["retry", "--arrived", &uuids[0], &uuids[0]]).await;
        assert!(said.stdout.contains("counts as delivered"), "{said:?}");
        match running {
            None => assert_eq!(practice.sync().await.code, 0),
            Some(mut running) => {
                practice.wait_for_posts(1).await;
                // The answer to that post is written down first.
                let is_cleared = async {
                    while std::fs::read_dir(practice.spool()).unwrap().next().is_some() {
                        tokio::time::sleep(Duration::from_millis(20)).await;
                    }
                };
                tokio::time::timeout(PATIENCE, is_cleared).await.expect("the spool is cleared");
                running.end().await;
            }
        }
        assert_each_reported_once(&practice, &uuids);
        assert_eq!(peer.objects().len(), 1);
        practice.assert_spool_empty();
        let shown = practice.show(&uuids[0]).await;
        assert_eq!(shown["deliveries"][0]["place"], "seen there by a person", "{shown}");
    }
}

#[tokio::test]
async fn a_daemon_that_is_killed_while_it_waits_for_the_answer_sends_nothing_twice() {
    for (more, sent_again) in [(CONDITION, true), ("method = \"POST\"\non_lost_reply = \"hold\"", false)] {
        let peer = Peer::start().await;
        peer.inject(Fault::Silence);
        let (practice, uuids) = practice_of(&peer, 1, more).await;
        let mut running = practice.start();
        peer.wait_for(|state| !state.objects.is_empty()).await;
        running.kill().await;
        let synced = practice.sync().await;
        assert_eq!(peer.objects().len(), 1, "{synced:?}");
        if sent_again {
            assert_eq!(synced.code, 0, "{synced:?}");
            assert_each_reported_once(&practice, &uuids);
        } else {
            let shown = practice.docsyncd(&["show", &uuids[0]]).await;
            assert!(synced.code == 3 && shown.stdout.contains("may have arrived"), "{synced:?} {shown:?}");
            assert_eq!(peer.received(&Method::POST).len(), 1);
        }
    }
}

#[tokio::test]
async fn refused_credentials_pause_the_destination_and_a_new_token_counts_without_a_restart() {
    let peer = Peer::start().await;
    peer.state().authorization = Some("Bearer t-2".to_owned());
    let (practice, uuids) = practice_of(&peer, 8, CONDITION).await;
    let mut running = practice.run().await;
    running.wait_for_log("destination:engine is paused").await;
    assert_eq!(paused(&practice).await, ["destination:engine"]);
    assert!(practice.sandbox.status_posts().is_empty() && peer.objects().is_empty());
    practice.write_secret("token", "t-2");
    practice.wait_for_posts(8).await;
    assert_each_reported_once(&practice, &uuids);
    assert!(paused(&practice).await.is_empty());
    assert_eq!(practice.show(&uuids[0]).await["deliveries"][0]["attempts"], 0, "a pause spends no attempts");
}

#[tokio::test]
async fn a_redirect_takes_neither_the_document_nor_the_token_elsewhere() {
    let (peer, elsewhere) = (Peer::start().await, Peer::start().await);
    for _ in 0..3 {
        peer.inject(Fault::Refuse(307, Some(("location", elsewhere.url("/stolen")))));
    }
    let (practice, uuids) = practice_of(&peer, 3, CONDITION).await;
    let synced = practice.sync().await;
    assert!(synced.stderr.contains("redirects"), "{synced:?}");
    assert_eq!(practice.sync().await.code, 0);
    assert_each_reported_once(&practice, &uuids);
    assert!(elsewhere.state().received.is_empty());
}

#[tokio::test]
async fn a_sign_in_page_is_no_success_and_other_content_at_the_address_is_no_delivery() {
    let peer = Peer::start().await;
    peer.inject(Fault::WebPage(200));
    let (practice, uuids) = practice_of(&peer, 2, CONDITION).await;
    let synced = practice.sync().await;
    assert!(synced.stderr.contains("web page"), "{synced:?}");
    assert_eq!(practice.sync().await.code, 0);
    assert_each_reported_once(&practice, &uuids);
    assert_no_canary(&[&synced.stderr, &synced.stdout]);

    let (mut practice, uuids) = practice_of(&peer, 1, CONDITION).await;
    practice.env.insert("DOCSYNCD__DESTINATIONS__ENGINE__URL".into(), peer.url("/inbox/fixed"));
    let other = crate::peer::Kept { content: b"%PDF-1.7 another's".to_vec(), headers: hyper::HeaderMap::new() };
    peer.state().objects.insert("/inbox/fixed".to_owned(), other);
    let synced = practice.sync().await;
    assert_eq!(synced.code, 3, "{synced:?}");
    let posts = posts_of(&practice.sandbox, &uuids[0]);
    let [(Some(false), Some(error))] = posts.as_slice() else { panic!("{posts:?}") };
    assert!(error.contains("nothing is overwritten"), "{error}");
    assert_eq!(peer.objects()["/inbox/fixed"], b"%PDF-1.7 another's");
}

#[tokio::test]
async fn check_tries_it_and_leaves_nothing() {
    let peer = Peer::start().await;
    let (practice, _) = practice_of(&peer, 0, &format!("{CONDITION}\ncheck_url = \"{}\"", peer.url("/status"))).await;
    let status = crate::peer::Kept { content: b"{}".to_vec(), headers: hyper::HeaderMap::new() };
    peer.state().objects.insert("/status".to_owned(), status);
    peer.state().authorization = Some("Bearer t-1".to_owned());
    let checked = practice.docsyncd(&["check"]).await;
    assert_eq!(checked.code, 0, "{checked:?}");
    assert!(peer.received(&Method::PUT).is_empty());
    practice.write_secret("token", "wrong");
    let checked = practice.docsyncd(&["check"]).await;
    assert!(checked.code == 1 && checked.stdout.contains("401"), "{checked:?}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(practice.path("token"), std::fs::Permissions::from_mode(0o644)).unwrap();
        let checked = practice.docsyncd(&["check"]).await;
        assert!(checked.code == 2 && checked.stdout.contains("chmod 600"), "{checked:?}");
    }
}
