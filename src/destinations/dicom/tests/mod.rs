//! The contract suite on archives in this process, the content of objects, and their identifiers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use docsyncd_test_support::dicom::{DicomWeb, Fault, Object, Peer};
use docsyncd_test_support::peer as http;
use serde_json::json;

use super::super::contract::{
    self as suite, CANARY, Place, RemotePlace, Spool, assert_delivered, connection, keeps_the_contract, reason,
};
use super::*;
use crate::destinations::{DicomHost, WebSignIn};
use crate::domain::document::{LOINC, TypeMap};
use crate::formats::template::{Template, TemplateKind};

mod answers;
mod web;

const LETTER: &[u8] = b"%PDF-1.7 letter";

fn template(source: &str) -> Arc<Template> {
    Arc::new(Template::compile(TemplateKind::Field, source).unwrap())
}

fn config_of(archive: DicomArchive) -> DicomConfig {
    DicomConfig {
        name: "pms".to_owned(),
        archive,
        patient_id: template("{{ patient.uuid }}"),
        title: template("{{ document.type }} {{ document.createdAt | date }}"),
        type_map: TypeMap::new(LOINC).unwrap(),
        verifies: false,
        on_lost_reply: LostReply::Resend,
        confirm: None,
        max_connections: 4,
    }
}

fn config(peer: &Peer) -> DicomConfig {
    config_of(DicomArchive::Host(Box::new(DicomHost {
        host: peer.address.ip().to_string(),
        port: peer.address.port(),
        tls: None,
        called: "ARCHIVE".to_owned(),
        calling: "DOCSYNCD".to_owned(),
        timeout: Duration::from_secs(20),
    })))
}

/// The same with a short time limit.
fn impatient(peer: &Peer) -> DicomConfig {
    let mut config = config(peer);
    if let DicomArchive::Host(host) = &mut config.archive {
        host.timeout = Duration::from_secs(1);
    }
    config
}

async fn deliver(config: DicomConfig, item: &Item) -> Outcome {
    DicomAdapter::new(config).deliver(item).await
}

/// The object of a letter.
async fn sent(change: impl FnOnce(&mut DicomConfig, &mut Item)) -> Object {
    let (peer, spool) = (Peer::start().await, Spool::new());
    let (mut config, mut item) = (config(&peer), spool.item(1, LETTER));
    change(&mut config, &mut item);
    assert_delivered(&deliver(config, &item).await);
    peer.received().remove(0)
}

fn patient(item: &mut Item, patient: Value) {
    Arc::make_mut(&mut item.metadata).patient = patient.as_object().cloned().unwrap();
}

struct Pacs(Peer);

impl Pacs {
    async fn start() -> Self {
        Self(Peer::start().await)
    }
}

impl Place for Pacs {
    fn adapter(&self) -> Box<dyn Adapter> {
        Box::new(DicomAdapter::new(config(&self.0)))
    }

    fn objects(&self) -> BTreeMap<String, Vec<u8>> {
        self.0.objects()
    }

    fn break_down(&self) {
        self.0.stop();
    }
}

impl RemotePlace for Pacs {
    fn lose_next_reply(&self) {
        self.0.inject(Fault::Abort);
    }

    fn cut_after(&self, bytes: usize) {
        self.0.inject(Fault::CutAfter(bytes));
    }

    // The archive has no names, and nobody signs in.
    fn occupy(&self, _: &str, _: &[u8]) {}

    fn revoke_credentials(&self) {}
}

keeps_the_contract!(Pacs::start().await);

#[tokio::test]
async fn a_lost_reply_is_one_object() {
    suite::remote::a_lost_reply_is_one_object(Pacs::start().await).await;
    // The letter that is sent again is the same object, even if queries are refused.
    let pacs = Pacs::start().await;
    pacs.0.state().aborts_queries = true;
    suite::remote::a_lost_reply_is_one_object(pacs).await;
}

#[tokio::test]
async fn a_cut_transfer_shows_nothing() {
    suite::remote::a_cut_transfer_shows_nothing(Pacs::start().await).await;
}

#[tokio::test]
async fn a_letter_is_an_encapsulated_pdf_of_its_patient_and_type() {
    for is_implicit in [false, true] {
        let (peer, spool) = (Peer::start().await, Spool::new());
        peer.state().is_implicit = is_implicit;
        let mut item = spool.item(1, LETTER);
        Arc::make_mut(&mut item.metadata).patient.insert("gender".to_owned(), "female".into());
        let place = assert_delivered(&deliver(config(&peer), &item).await);
        let object = peer.received().remove(0);
        assert_eq!((object.is_explicit, object.pdf()), (!is_implicit, LETTER.to_vec()));
        for ((group, element), expected) in [
            ((0x0008, 0x0005), "ISO_IR 192"),
            ((0x0008, 0x0016), PDF_STORAGE),
            ((0x0008, 0x0020), "20261121"),
            ((0x0008, 0x0033), "100000"),
            ((0x0008, 0x0060), "DOC"),
            ((0x0008, 0x0064), "WSD"),
            ((0x0008, 0x0201), "+0000"),
            ((0x0008, 0x1030), "lab_slip 2026-11-21"),
            ((0x0010, 0x0010), &format!("{CANARY}^Zoé")),
            ((0x0010, 0x0020), "p-1"),
            ((0x0010, 0x0030), "19800312"),
            ((0x0010, 0x0040), "F"),
            ((0x0028, 0x0301), "YES"),
            ((0x0042, 0x0010), "lab_slip 2026-11-21"),
            ((0x0042, 0x0012), "application/pdf"),
        ] {
            assert_eq!(object.text(group, element), expected, "({group:04x},{element:04x})");
        }
        let concept = String::from_utf8_lossy(&object.elements[&(0x0040, 0xa043)]).into_owned();
        assert!(["57828-6", "LN", "lab slip"].iter().all(|part| concept.contains(part)), "{concept:?}");
        assert!(place.ends_with(&format!(
            "/ARCHIVE/studies/{}/series/{}/instances/{}",
            object.study(),
            object.text(0x20, 0xe),
            object.instance()
        )));
        assert!(!place.contains("p-1"));
        assert_eq!(peer.state().called, [("ARCHIVE".to_owned(), "DOCSYNCD".to_owned())]);
    }
}

#[tokio::test]
async fn names_that_attack_are_names() {
    let name = "A\\B^C=D\r\n\u{1b}$B\u{202e}\u{2028}E";
    let object = sent(|config, item| {
        patient(item, json!({"uuid": "1", "lastName": name, "firstName": format!("{name}^^^x"), "dateOfBirth": name, "gender": name}));
        config.title = template("{{ patient.lastName }}");
        config.type_map = TypeMap::new([("lab_slip", "A\\B=^|C\\D"), ("other", "34109-9")]).unwrap();
    })
    .await;
    assert_eq!(object.pdf(), LETTER);
    let name = object.text(0x0010, 0x0010);
    assert!(name.starts_with("A B C D") && name.matches('^').count() == 1, "{name:?}");
    for (group, element) in [(0x0010, 0x0010), (0x0008, 0x1030), (0x0042, 0x0010)] {
        let text = object.text(group, element);
        assert!(!text.contains('\\') && !text.contains(char::is_control), "{text:?}");
    }
    assert!(!object.elements[&(0x0040, 0xa043)].contains(&b'\\'));
    assert_eq!((object.text(0x0010, 0x0030), object.text(0x0010, 0x0040)), (String::new(), String::new()));
    let long =
        sent(|_, item| patient(item, json!({"uuid": "1", "lastName": "é".repeat(100), "firstName": "Zoé"}))).await;
    assert_eq!(long.text(0x0010, 0x0010).chars().count(), 64);
}

#[tokio::test]
async fn a_patient_without_an_identifier_that_dicom_can_say_has_no_letter_there() {
    let (peer, spool) = (Peer::start().await, Spool::new());
    for (id, code) in [
        ("", "patient_unknown"),
        (" ", "patient_unknown"),
        ("1\\2", "not_filled_in"),
        (&"1".repeat(65), "not_filled_in"),
    ] {
        let mut item = spool.item(1, LETTER);
        patient(&mut item, json!({"uuid": id, "lastName": CANARY}));
        let outcome = deliver(config(&peer), &item).await;
        assert!(matches!(&outcome, Outcome::Own { code: Code::Word(word), .. } if word == code), "{id}: {outcome:?}");
        reason(&outcome);
    }
    assert!(peer.received().is_empty());
}

#[tokio::test]
async fn a_number_is_the_patient_id_as_it_is_or_the_letter_needs_a_person() {
    use proptest::prelude::*;
    let (peer, spool) = (Peer::start().await, Spool::new());
    let item = spool.item(1, LETTER);
    let config = DicomConfig { title: template("{{ patient.number }}"), ..config(&peer) };
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(1000));
    let result = runner.run(&crate::formats::template::tests::numbers::odd_numbers(), |number| {
        if holds(&number) {
            let uids = Uids::of("pms", &item, &number);
            let letter = object::letter(&config, &item, (&uids, &number, "x"), true).unwrap();
            let tag = b"\x10\x00\x20\x00LO";
            let at = letter.head.windows(tag.len()).position(|bytes| bytes == tag).unwrap() + tag.len();
            let length = usize::from(u16::from_le_bytes([letter.head[at], letter.head[at + 1]]));
            let value = std::str::from_utf8(&letter.head[at + 2..at + 2 + length]).unwrap();
            // A backslash separates values, and spaces around one do not count (PS3.5, section 6.2).
            prop_assert_eq!(value.split('\\').collect::<Vec<_>>(), [value]);
            prop_assert_eq!(value.trim_matches(' '), number);
        }
        Ok(())
    });
    result.unwrap();
    assert!(holds("12/345") && holds("471.") && holds("Ł12"));
    for number in ["1\\2".to_owned(), "1".repeat(65), "e\u{301}".to_owned()] {
        let mut item = spool.item(1, LETTER);
        Arc::make_mut(&mut item.metadata).number = Some(number);
        let by_number = DicomConfig { patient_id: template("{{ patient.number }}"), ..config.clone() };
        assert_eq!(deliver(by_number, &item).await, Outcome::NeedsPerson(Unmatched::NotHeld));
        assert_eq!(
            deliver(config.clone(), &item).await == Outcome::NeedsPerson(Unmatched::NotHeld),
            item.metadata.number != Some("1".repeat(65))
        );
    }
    // The title of 65 characters is whole in one element. The other element contains no part of the number.
    assert!(peer.received().iter().all(|object| object.text(0x0008, 0x1030).is_empty()));
}

#[tokio::test]
async fn a_new_version_is_a_new_instance_in_the_same_series_and_every_try_is_the_same_object() {
    let (peer, spool) = (Peer::start().await, Spool::new());
    let first = spool.item(1, LETTER);
    let second = Item { replaces: Some(first.key.clone()), ..spool.item(1, b"%PDF-1.7 corrected") };
    let third = Item { replaces: Some(second.key.clone()), ..spool.item(1, b"%PDF-1.7 once more") };
    let other = spool.item(2, LETTER);
    let mut elsewhere = spool.item(1, b"%PDF-1.7 of another patient");
    patient(&mut elsewhere, json!({"uuid": "p-2"}));
    for item in [&first, &second, &third, &other, &elsewhere, &first] {
        spool.record(item);
        std::fs::write(&item.pdf.path, content(item)).unwrap();
        assert_delivered(&deliver(config(&peer), item).await);
    }
    let objects = peer.received();
    let series = |at: usize| (objects[at].study(), objects[at].text(0x0020, 0x000e));
    assert!(series(0) == series(1) && series(1) == series(2) && series(0) != series(3) && series(0) != series(4));
    let mut instances: Vec<String> = objects.iter().map(Object::instance).collect();
    assert_eq!(instances[0], instances[5]);
    instances.sort();
    instances.dedup();
    assert_eq!(instances.len(), 5);
    let of_all = series(0);
    let mut uids = instances.iter().chain([&of_all.0, &of_all.1]);
    assert!(uids.all(|uid| uid.starts_with("2.25.") && uid.len() <= 44), "{instances:?}");
    assert_eq!(peer.objects().len(), 5);
}

/// The content of an item: all items of one document share one file.
fn content(item: &Item) -> &'static [u8] {
    let contents: [&'static [u8]; 4] =
        [LETTER, b"%PDF-1.7 corrected", b"%PDF-1.7 once more", b"%PDF-1.7 of another patient"];
    contents
        .into_iter()
        .find(|content| crate::destinations::files::Digest::of(content).sha256 == item.pdf.sha256)
        .unwrap()
}

#[tokio::test]
async fn a_pdf_comes_in_fragments_of_the_size_that_the_archive_takes() {
    let spool = Spool::new();
    for (most, size) in [(0, 300_001), (16_384, 300_000), (1_024, 100_001), (20, 999), (8, 64)] {
        let peer = Peer::start().await;
        peer.state().most = most;
        let content: Vec<u8> = (0..size).map(|at: u32| u8::try_from(at % 251).unwrap()).collect();
        assert_delivered(&deliver(config(&peer), &spool.item(1, &content)).await);
        let object = peer.received().remove(0);
        assert!(object.pdf() == content && object.largest <= 65_536, "{most}");
    }
}

#[tokio::test]
async fn what_a_query_shows_is_proved() {
    use suite::confirm::{Known, confirm, filed, said};
    use suite::kept::kept;
    let (peer, spool) = (Peer::start().await, Spool::new());
    let confirming = DicomConfig { confirm: Some(confirm(crate::config::Evidence::Query, None)), ..config(&peer) };
    let adapter = DicomAdapter::new(confirming);
    assert_eq!((adapter.proof(), peer.state().queries), (Proof::Query, 0));
    let seen = adapter.deliver(&spool.item(9, b"%PDF-1.7 seen")).await;
    assert!(matches!(seen, Outcome::Delivered { filed: None, .. }) && peer.state().queries == 1, "{seen:?}");
    peer.state().lags = 3;
    // A letter that waits until it is seen is not sent again, even if `verify` queries at once.
    let both = DicomConfig { verifies: true, confirm: adapter.config.confirm.clone(), ..config(&peer) };
    filed(&DicomAdapter::new(both), &spool, 8, b"%PDF-1.7 slow").await;
    let letters = [filed(&adapter, &spool, 1, LETTER).await, filed(&adapter, &spool, 2, b"%PDF-1.7 another").await];
    let look = async || adapter.look(&letters, &Known::default()).await.map(|sights| said(&sights));
    assert_eq!(look().await.unwrap(), ["query", "query"]);
    peer.state().hides = true;
    assert!(look().await.is_err());
    peer.state().hides = false;
    let asked = [kept(&adapter, &spool.item(3, b"%PDF-1.7 third")).await];
    let elsewhere = super::Kept { place: "dicom://elsewhere".to_owned(), ..asked[0].clone() };
    assert_eq!(adapter.still_holds(&[asked[0].clone(), elsewhere]).await.unwrap(), [Holds::Same, Holds::Unknown]);
    peer.state().shows_length = Some(7);
    assert_eq!(look().await.unwrap(), ["waits", "waits"]);
    assert_eq!(adapter.still_holds(&asked).await.unwrap(), [Holds::Other]);
    peer.state().shows_length = None;
    peer.state().kept.clear();
    assert_eq!(look().await.unwrap(), ["waits", "waits"]);
    assert_eq!(adapter.still_holds(&asked).await.unwrap(), [Holds::Nothing]);
    peer.state().aborts_queries = true;
    assert_eq!(adapter.still_holds(&asked).await.unwrap(), [Holds::Unknown]);
    peer.stop();
    assert!(look().await.is_err() && adapter.still_holds(&asked).await.is_err());
}

#[tokio::test]
async fn a_check_says_what_is_wrong_and_leaves_nothing() {
    let peer = Peer::start().await;
    let check = async |config| DicomAdapter::new(config).check().await;
    let checked = check(config(&peer)).await.unwrap();
    assert!(checked.warnings.is_empty() && checked.notes.len() == 1, "{checked:?}");
    peer.state().aborts_queries = true;
    let checked = check(config(&peer)).await.unwrap();
    assert!(checked.warnings[0].contains("C-FIND") && checked.notes.is_empty(), "{checked:?}");
    let complaint = check(DicomConfig { verifies: true, ..config(&peer) }).await.unwrap_err();
    assert!(complaint.contains("`pms`") && complaint.contains("C-FIND"), "{complaint}");
    peer.state().takes_no_pdfs = true;
    let complaint = check(config(&peer)).await.unwrap_err();
    assert!(complaint.contains("Encapsulated PDF"), "{complaint}");
    assert!(peer.received().is_empty());
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut config = impatient(&peer);
    if let DicomArchive::Host(host) = &mut config.archive {
        host.port = silent.local_addr().unwrap().port();
    }
    let complaint = check(config).await.unwrap_err();
    assert!(complaint.contains("timeout"), "{complaint}");
}
