//! Archives over DICOMweb: the contract, and their answers.

use docsyncd_test_support::dicom::stored;
use reqwest::Method;

use super::*;

fn config(peer: &http::Peer) -> DicomConfig {
    let connection = Box::new(connection(&peer.url("/"), WebSignIn::None));
    config_of(DicomArchive::Web { connection, base: peer.url("/dicom-web").parse().unwrap() })
}

async fn peer() -> http::Peer {
    let peer = http::Peer::start().await;
    peer.state().dicom = Some(DicomWeb::default());
    peer
}

fn change(peer: &http::Peer, change: impl FnOnce(&mut DicomWeb)) {
    change(peer.state().dicom.as_mut().unwrap());
}

struct Web(http::Peer);

impl Place for Web {
    fn adapter(&self) -> Box<dyn Adapter> {
        Box::new(DicomAdapter::new(config(&self.0)))
    }

    fn objects(&self) -> BTreeMap<String, Vec<u8>> {
        let state = self.0.state();
        let kept = &state.dicom.as_ref().unwrap().archive.kept;
        kept.iter().map(|(identity, object)| (identity.clone(), object.pdf())).collect()
    }

    fn break_down(&self) {
        self.0.state().closed = Some(503);
    }
}

impl RemotePlace for Web {
    fn lose_next_reply(&self) {
        self.0.inject(http::Fault::LoseReply);
    }

    fn cut_after(&self, bytes: usize) {
        self.0.inject(http::Fault::CutAfter(bytes));
    }

    fn occupy(&self, _: &str, _: &[u8]) {}

    fn revoke_credentials(&self) {
        self.0.state().closed = Some(401);
    }
}

keeps_the_contract!(Web(peer().await));

#[tokio::test]
async fn it_keeps_what_others_on_another_machine_keep() {
    suite::remote::a_lost_reply_is_one_object(Web(peer().await)).await;
    suite::remote::a_cut_transfer_shows_nothing(Web(peer().await)).await;
    suite::remote::refused_credentials_are_the_destinations(Web(peer().await)).await;
}

/// The archive's answer, whether it keeps the letter, and whether it may be queried; and the outcome.
#[tokio::test]
async fn what_the_sequences_say_counts_and_not_the_status() {
    let spool = Spool::new();
    let failed = |reason| stored(&[], &[("INSTANCE", reason)]);
    let kept = || stored(&["INSTANCE"], &[]);
    for (status, body, keeps, expected) in [
        (200, kept(), true, "delivered"),
        (200, json!([kept()]), true, "delivered"),
        (200, stored(&["1.2.3"], &[]), false, "unconfirmed"),
        (200, stored(&["1.2.3"], &[]), true, "delivered"),
        (200, stored(&[], &[]), false, "unconfirmed"),
        (200, json!({}), false, "unconfirmed"),
        (200, json!("Please sign in"), false, "unconfirmed"),
        (200, failed(0xa700), false, "no room"),
        (200, stored(&["INSTANCE"], &[("INSTANCE", 0xa900)]), false, "permanent"),
        (202, failed(0xc000), false, "permanent"),
        (202, kept(), true, "delivered"),
        (202, kept(), false, "unconfirmed"),
        (202, json!({}), true, "delivered"),
        (202, json!({}), false, "unconfirmed"),
        (409, failed(0x0122), false, "unavailable"),
        (409, failed(0x0111), true, "delivered"),
        (409, failed(0), false, "unconfirmed"),
        (400, failed(0xb000), false, "unconfirmed"),
        (409, json!({}), true, "delivered"),
        (409, json!({}), false, "permanent"),
        (409, kept(), false, "permanent"),
        (400, failed(0x0110), false, "transient"),
        (400, kept(), true, "delivered"),
        (400, kept(), false, "unconfirmed"),
        (400, json!({}), false, "permanent"),
        (413, json!({}), false, "permanent"),
        (401, json!({}), false, "unavailable"),
        (404, json!({}), false, "unavailable"),
        (307, json!({}), false, "unavailable"),
        (500, json!({}), true, "delivered"),
        (500, json!({}), false, "transient"),
        (503, json!({}), false, "transient"),
        (504, json!({}), true, "delivered"),
        (504, kept(), false, "unconfirmed"),
        (507, json!({}), false, "no room"),
    ] {
        let peer = peer().await;
        change(&peer, |web| web.says = Some((status, body.clone(), keeps)));
        let outcome = deliver(config(&peer), &spool.item(1, LETTER)).await;
        let short = match &outcome {
            Outcome::Delivered { .. } => "delivered",
            Outcome::Permanent { .. } => "permanent",
            Outcome::Unavailable { .. } => "unavailable",
            Outcome::Transient { .. } => "transient",
            Outcome::Unconfirmed { .. } => "unconfirmed",
            Outcome::NoRoom(_) => "no room",
            other => panic!("{other:?}"),
        };
        assert_eq!(short, expected, "{status} {body}: {outcome:?}");
        if short != "delivered" {
            reason(&outcome);
        }
        let again = Item { uncertain: short == "unconfirmed", tried: true, ..spool.item(1, LETTER) };
        assert_delivered(&deliver(config(&peer), &again).await);
        assert_eq!(Web(peer).objects().len(), 1, "{status} {body}");
    }
}

#[tokio::test]
async fn what_it_accepts_and_shows_later_is_filed_once_and_waits_to_be_seen() {
    let (peer, spool) = (peer().await, Spool::new());
    let confirm = Some(suite::confirm::confirm(crate::config::Evidence::Query, None));
    change(&peer, |web| web.says = Some((202, stored(&["INSTANCE"], &[]), false)));
    let adapter = DicomAdapter::new(DicomConfig { confirm, ..config(&peer) });
    let letters = [suite::confirm::filed(&adapter, &spool, 1, LETTER).await];
    let sights = adapter.look(&letters, &suite::confirm::Known::default()).await.unwrap();
    assert_eq!((suite::confirm::said(&sights), peer.received(&Method::POST).len()), (vec!["waits"], 1));
}

#[tokio::test]
async fn what_is_found_is_not_sent_again_and_where_nobody_may_ask_its_word_counts() {
    let (peer, spool) = (peer().await, Spool::new());
    let item = spool.item(1, LETTER);
    assert_delivered(&deliver(config(&peer), &item).await);
    let uncertain = Item { uncertain: true, ..item };
    assert_delivered(&deliver(config(&peer), &uncertain).await);
    assert_eq!(peer.received(&Method::POST).len(), 1);
    change(&peer, |web| web.archive.shows_length = Some(7));
    let outcome = deliver(config(&peer), &uncertain).await;
    assert!(matches!(outcome, Outcome::Permanent { .. }), "{outcome:?}");
    for (number, status) in (2..).zip([400, 403, 404, 405, 501]) {
        change(&peer, |web| web.hides = Some(status));
        peer.inject(http::Fault::LoseReply);
        let item = spool.item(number, LETTER);
        let outcome = deliver(config(&peer), &item).await;
        assert!(matches!(outcome, Outcome::Unconfirmed { .. }), "{outcome:?}");
        let uncertain = Item { uncertain: true, ..item };
        let held = deliver(DicomConfig { on_lost_reply: LostReply::Hold, ..config(&peer) }, &uncertain).await;
        assert!(matches!(held, Outcome::Held { .. }), "{held:?}");
        change(&peer, |web| web.says = Some((202, stored(&["INSTANCE"], &[]), true)));
        assert_delivered(&deliver(config(&peer), &uncertain).await);
    }
    assert_eq!(Web(peer).objects().len(), 6);
}

#[tokio::test]
async fn a_check_asks_for_nobody() {
    let peer = peer().await;
    let check = async || DicomAdapter::new(config(&peer)).check().await;
    assert_eq!(check().await.unwrap().notes.len(), 1);
    change(&peer, |web| web.hides = Some(403));
    assert!(check().await.unwrap().warnings[0].contains("QIDO"));
    let verifying = DicomConfig { verifies: true, ..config(&peer) };
    assert!(DicomAdapter::new(verifying).check().await.unwrap_err().contains("QIDO"));
    for (status, words) in [(404, "nothing at the configured address"), (401, "credentials"), (500, "fault")] {
        change(&peer, |web| web.hides = Some(status));
        let complaint = check().await.unwrap_err();
        assert!(complaint.contains(words) && complaint.contains("`pms`"), "{complaint}");
    }
    change(&peer, |web| web.hides = None);
    peer.state().page_for_everything = true;
    assert!(check().await.unwrap_err().contains("`url`"));
    assert!(peer.received(&Method::POST).is_empty());
}
