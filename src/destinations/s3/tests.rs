//! The contract suite on a bucket in this process, and the differences between S3 services.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use reqwest::Method;
use secrecy::SecretString;

use super::super::contract::{
    Place as Destination, RemotePlace, SECRET, Spool, assert_delivered, connection, keeps_the_contract,
    keeps_the_remote_contract, reason,
};
use super::*;
use crate::config::Secret;
use crate::destinations::WebSignIn;
use crate::formats::template::{Template, TemplateKind};
use docsyncd_test_support::peer::{Fault, Peer};

fn config(peer: &Peer, file_name: &str) -> S3Config {
    let endpoint: url::Url = peer.url("/").parse().unwrap();
    S3Config {
        connection: connection(endpoint.as_str(), WebSignIn::None),
        endpoint,
        region: "eu-west-3".to_owned(),
        bucket: "docs".to_owned(),
        prefix: "in/".to_owned(),
        access_key_id: "AK".to_owned(),
        secret_access_key: Secret::Given(SecretString::from(SECRET)),
        path_style: true,
        storage_class: None,
        server_side_encryption: None,
        falls_back: true,
        file_name: Arc::new(Template::compile(TemplateKind::RemoteName, file_name).unwrap()),
    }
}

struct Place {
    peer: Peer,
    file_name: &'static str,
}

async fn place(file_name: &'static str) -> Place {
    let peer = Peer::start().await;
    peer.state().bucket = Some("docs".to_owned());
    Place { peer, file_name }
}

impl Destination for Place {
    fn adapter(&self) -> Box<dyn Adapter> {
        Box::new(S3Adapter::new(config(&self.peer, self.file_name)))
    }

    fn objects(&self) -> BTreeMap<String, Vec<u8>> {
        self.peer.objects()
    }

    fn break_down(&self) {
        self.peer.state().closed = Some(503);
    }
}

impl RemotePlace for Place {
    fn lose_next_reply(&self) {
        self.peer.inject(Fault::LoseReply);
    }

    fn cut_after(&self, bytes: usize) {
        self.peer.inject(Fault::CutAfter(bytes));
    }

    fn occupy(&self, name: &str, content: &[u8]) {
        let kept = docsyncd_test_support::peer::Kept { content: content.to_vec(), headers: HeaderMap::new() };
        self.peer.state().objects.insert(name.to_owned(), kept);
    }

    fn revoke_credentials(&self) {
        self.peer.state().closed = Some(403);
    }
}

keeps_the_contract!(place("{{ patient.lastName }}/{{ document.audio }}.pdf").await);
#[tokio::test]
async fn letters_are_seen_where_they_were_put() {
    crate::destinations::contract::kept::letters_are_seen_where_they_were_put(
        place("{{ patient.lastName }}/{{ document.audio }}.pdf").await,
    )
    .await;
}
keeps_the_remote_contract!(
    place("{{ patient.lastName }}/{{ document.audio }}.pdf").await,
    &format!("/docs/in/{}/1.pdf", super::super::super::contract::CANARY)
);

#[tokio::test]
async fn an_object_carries_the_key_and_a_checksum_under_a_signed_condition() {
    let (place, spool) = (place("ä b/{{ key }}.pdf").await, Spool::new());
    let item = spool.item(1, b"%PDF-1.7 letter");
    let shown = assert_delivered(&place.adapter().deliver(&item).await);
    assert_eq!(shown, place.peer.url(&format!("/docs/in/ä b/{}.pdf", item.key)));
    let put = place.peer.received(&Method::PUT).remove(0);
    let (path, query) = put.path.split_once('?').unwrap();
    assert_eq!(path, format!("/docs/in/%C3%A4%20b/{}.pdf", item.key));
    for signed in ["if-none-match", "x-amz-checksum-sha256", "x-amz-meta-docsyncd-key", "host"] {
        assert!(query.contains(signed), "{signed}: {query}");
    }
    assert_eq!(put.header("if-none-match"), Some("*"));
    assert_eq!(put.header(KEY), Some(item.key.as_str()));
    assert_eq!(put.header("content-type"), Some("application/pdf"));
    assert_eq!(put.header("content-length"), Some("15"));
    let sum = STANDARD.encode(from_hex(&item.pdf.sha256).unwrap());
    assert_eq!(put.header("x-amz-checksum-sha256"), Some(sum.as_str()));
    assert!(put.header("authorization").is_none() && !format!("{:?}", put.headers).contains(SECRET));
}

#[tokio::test]
async fn documents_of_one_name_each_have_an_object_and_none_is_overwritten() {
    let (place, spool) = (place("letter.pdf").await, Spool::new());
    let adapter = place.adapter();
    for number in 1..4 {
        assert_delivered(&adapter.deliver(&spool.item(number, format!("%PDF-1.7 {number}").as_bytes())).await);
    }
    assert_eq!(
        place.objects().keys().map(String::as_str).collect::<Vec<_>>(),
        ["/docs/in/letter.pdf", "/docs/in/letter_00000002.pdf", "/docs/in/letter_00000003.pdf",]
    );
    // A new version has its number in its name, and the objects are found again after the ledger is lost.
    spool.record(&spool.item(2, b"%PDF-1.7 2"));
    assert_delivered(&adapter.deliver(&spool.item(2, b"%PDF-1.7 2, anew")).await);
    assert!(place.objects().contains_key("/docs/in/letter_00000002_v2.pdf"), "{:?}", place.objects().keys());
    spool.forget();
    for number in 1..4 {
        assert_delivered(&place.adapter().deliver(&spool.item(number, format!("%PDF-1.7 {number}").as_bytes())).await);
    }
    assert_eq!(place.objects().len(), 4);
}

#[tokio::test]
async fn a_service_that_does_not_know_the_condition_is_asked_before() {
    for status in [501, 400] {
        let (place, spool) = (place("letter.pdf").await, Spool::new());
        place.peer.state().condition_unknown = Some(status);
        let adapter = place.adapter();
        assert_delivered(&adapter.deliver(&spool.item(1, b"%PDF-1.7 1")).await);
        assert_delivered(&adapter.deliver(&spool.item(2, b"%PDF-1.7 2")).await);
        assert_eq!(place.objects().len(), 2);
        let always = S3Config { falls_back: false, ..config(&place.peer, "letter.pdf") };
        let outcome = S3Adapter::new(always).deliver(&spool.item(3, b"%PDF-1.7 3")).await;
        assert!(matches!(outcome, Outcome::Unavailable { .. } | Outcome::Permanent { .. }), "{outcome:?}");
        let checked = adapter.check().await.unwrap();
        assert!(checked.warnings[0].contains("If-None-Match"), "{checked:?}");
    }
    let (place, spool) = (place("letter.pdf").await, Spool::new());
    place.peer.state().overwrites = true;
    let adapter = place.adapter();
    assert_delivered(&adapter.deliver(&spool.item(1, b"%PDF-1.7 1")).await);
    assert_delivered(&adapter.deliver(&spool.item(2, b"%PDF-1.7 2")).await);
    assert_eq!(place.objects().len(), 2, "also with a service that only ignores the condition");
}

#[tokio::test]
async fn a_service_that_knows_no_checksum_gets_none_and_is_read_back() {
    for (status, condition) in [(400, None), (501, None), (400, Some(501))] {
        let (place, spool) = (place("letter.pdf").await, Spool::new());
        place.peer.state().checksum_unknown = Some(status);
        place.peer.state().condition_unknown = condition;
        let adapter = place.adapter();
        assert_delivered(&adapter.deliver(&spool.item(1, b"%PDF-1.7 1")).await);
        let puts = || place.peer.received(&Method::PUT);
        let before = puts().len();
        assert_delivered(&adapter.deliver(&spool.item(2, b"%PDF-1.7 2")).await);
        assert!(puts().len() == before + 1 && !place.peer.received(&Method::GET).is_empty());
        assert_eq!(puts().last().unwrap().header("if-none-match").is_some(), condition.is_none());
        assert_eq!(place.objects().into_values().collect::<Vec<_>>(), [b"%PDF-1.7 1", b"%PDF-1.7 2"]);
        let checked = place.adapter().check().await.unwrap();
        assert!(checked.notes[0].contains("checksum"), "{checked:?}");
    }
    // What such a service stores counts, not its word. If it refuses every form of a PUT, the letter is not at fault.
    let (place, spool) = (place("letter.pdf").await, Spool::new());
    place.peer.state().checksum_unknown = Some(400);
    place.peer.inject(Fault::Refuse(400, None));
    place.peer.inject(Fault::Refuse(200, None));
    let outcome = place.adapter().deliver(&spool.item(1, b"%PDF-1.7 1")).await;
    assert!(matches!(outcome, Outcome::Unconfirmed { .. }), "{outcome:?}");
    let always = S3Config { falls_back: false, ..config(&place.peer, "letter.pdf") };
    (0..2).for_each(|_| place.peer.inject(Fault::Refuse(400, None)));
    let outcome = S3Adapter::new(always).deliver(&spool.item(2, b"%PDF-1.7 2")).await;
    assert!(matches!(outcome, Outcome::Unavailable { .. }) && reason(&outcome).contains("400"), "{outcome:?}");
}

#[tokio::test]
async fn what_is_another_s_under_the_key_is_kept_and_a_conflict_passes() {
    let (place, spool) = (place("{{ key }}.pdf").await, Spool::new());
    let item = spool.item(1, b"%PDF-1.7 letter");
    place.peer.inject(Fault::Refuse(409, None));
    let outcome = place.adapter().deliver(&item).await;
    assert!(matches!(outcome, Outcome::Transient { .. }), "{outcome:?}");
    reason(&outcome);
    assert_delivered(&place.adapter().deliver(&item).await);
    assert_eq!(place.objects().len(), 1);
}

fn kept(content: &[u8]) -> docsyncd_test_support::peer::Kept {
    docsyncd_test_support::peer::Kept { content: content.to_vec(), headers: HeaderMap::new() }
}

/// A gateway that encrypts or compresses objects reports another length.
#[tokio::test]
async fn what_has_our_key_is_ours_whatever_its_length() {
    let (place, spool) = (place("{{ document.type }}.pdf").await, Spool::new());
    let item = spool.item(1, b"%PDF-1.7 letter");
    assert_delivered(&place.adapter().deliver(&item).await);
    for object in place.peer.state().objects.values_mut() {
        object.content.extend_from_slice(b"28 bytes that encryption adds");
    }
    assert_delivered(&place.adapter().deliver(&Item { uncertain: true, ..item }).await);
    assert_eq!(place.peer.objects().len(), 1);
}

#[tokio::test]
async fn what_was_seen_to_keep_to_the_condition_is_never_written_to_without_it() {
    for (status, name) in [(501, "{{ document.type }}.pdf"), (400, "letter.pdf")] {
        let (place, spool) = (place(name).await, Spool::new());
        let adapter = S3Adapter::new(config(&place.peer, name));
        adapter.knows_condition.store(true, Ordering::Relaxed);
        // With a checksum, and without.
        (0..2).for_each(|_| place.peer.inject(Fault::Refuse(status, None)));
        let outcome = adapter.deliver(&spool.item(1, b"%PDF-1.7 1")).await;
        assert!(!matches!(outcome, Outcome::Delivered { .. }), "{outcome:?}");
        assert!(place.peer.received(&Method::PUT).iter().all(|put| put.header("if-none-match") == Some("*")));
        assert_delivered(&adapter.deliver(&spool.item(1, b"%PDF-1.7 1")).await);
        let name = place.objects().into_keys().next().unwrap();
        assert_delivered(&adapter.deliver(&spool.item(2, b"%PDF-1.7 2")).await);
        assert_eq!(place.objects()[&name], b"%PDF-1.7 1", "{status}");
    }
}

#[tokio::test]
async fn a_412_of_which_nothing_can_be_seen_is_no_sign_that_the_condition_is_known() {
    let (place, spool) = (place("letter.pdf").await, Spool::new());
    place.peer.state().condition_unknown = Some(412);
    let adapter = S3Adapter::new(config(&place.peer, "letter.pdf"));
    let outcome = adapter.deliver(&spool.item(1, b"%PDF-1.7 1")).await;
    assert!(matches!(outcome, Outcome::Transient { .. }), "{outcome:?}");
    assert!(!adapter.knows_condition.load(Ordering::Relaxed));
    // A service that always refuses the condition gets a look before each object.
    place.peer.state().condition_unknown = Some(501);
    assert_delivered(&adapter.deliver(&spool.item(1, b"%PDF-1.7 1")).await);
    place.peer.state().objects.insert("/docs/in/letter.pdf".to_owned(), kept(b"somebody's"));
    assert_delivered(&adapter.deliver(&spool.item(2, b"%PDF-1.7 2")).await);
    assert_eq!(place.objects()["/docs/in/letter.pdf"], b"somebody's");
}

#[tokio::test]
async fn a_success_counts_only_when_the_object_is_there() {
    let (place, spool) = (place("letter.pdf").await, Spool::new());
    let item = spool.item(1, b"%PDF-1.7 letter");
    // The service stores nothing, and reports success.
    place.peer.inject(Fault::Refuse(200, None));
    let outcome = place.adapter().deliver(&item).await;
    assert!(matches!(outcome, Outcome::Unconfirmed { .. }), "{outcome:?}");
    reason(&outcome);
    assert!(item.names.known().await.unwrap().intent.is_some());
    assert_delivered(&place.adapter().deliver(&item).await);
    assert_eq!(place.objects().len(), 1);
}

#[tokio::test]
async fn a_failure_after_which_the_object_is_there_is_none_and_else_the_intent_stays() {
    for status in [408, 500, 502, 504] {
        let (place, spool) = (place("letter.pdf").await, Spool::new());
        place.peer.inject(Fault::AnswerWith(status));
        assert_delivered(&place.adapter().deliver(&spool.item(1, b"%PDF-1.7 1")).await);
        let item = spool.item(2, b"%PDF-1.7 2");
        place.peer.inject(Fault::Refuse(status, None));
        let outcome = place.adapter().deliver(&item).await;
        assert!(matches!(outcome, Outcome::Unconfirmed { .. }), "{status}: {outcome:?}");
        assert!(reason(&outcome).contains(&status.to_string()), "{outcome:?}");
        assert!(item.names.known().await.unwrap().intent.is_some());
    }
}

#[tokio::test]
async fn where_everything_is_answered_with_a_page_no_document_fails() {
    let (place, spool) = (place("letter.pdf").await, Spool::new());
    place.peer.state().page_for_everything = true;
    let outcome = place.adapter().deliver(&spool.item(1, b"%PDF-1.7 1")).await;
    assert!(matches!(outcome, Outcome::Unavailable { .. }), "{outcome:?}");
    assert!(reason(&outcome).contains("captive portal") && place.peer.state().received.len() < 10);
    let complaint = place.adapter().check().await.unwrap_err();
    assert!(complaint.contains("captive portal"), "{complaint}");
}

#[tokio::test]
async fn a_check_reads_back_what_it_put_and_leaves_no_version() {
    let place = place("letter.pdf").await;
    place.peer.state().versions = Some(BTreeMap::new());
    place.adapter().check().await.unwrap();
    assert_eq!(place.peer.state().versions, Some(BTreeMap::new()));
    place.peer.inject(Fault::Refuse(200, None));
    assert!(place.adapter().check().await.is_err(), "nothing was kept");
}
