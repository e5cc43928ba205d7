//! The contract suite on a receiver in this process, the content of messages, and the faults of receivers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use docsyncd_test_support::mllp::{Fault, Peer, Received, acknowledgment, block};
use serde_json::json;

use super::super::contract::{
    self as suite, CANARY, Place, RemotePlace, Spool, assert_delivered, keeps_the_contract, reason,
};
use super::*;
use crate::domain::document::{LOINC, TypeMap};
use crate::formats::sidecar::Charset;
use crate::formats::template::tests::numbers::odd_numbers;
use crate::formats::template::{Template, TemplateKind};
use crate::patients::Unmatched;

mod answers;

fn config(peer: &Peer) -> Hl7v2Config {
    Hl7v2Config {
        name: "pms".to_owned(),
        host: peer.address.ip().to_string(),
        port: peer.address.port(),
        tls: None,
        is_oru: false,
        version: "2.5.1".to_owned(),
        names_structure: true,
        sending: ["DOCSYNCD".to_owned(), "CLINIC^1.2.250.1.999^ISO".to_owned()],
        receiving: ["ENGINE".to_owned(), String::new()],
        patient_id: Arc::new(Template::compile(TemplateKind::Field, "{{ patient.uuid }}").unwrap()),
        assigning_authority: "CLINIC&1.2.250.1.999&ISO".to_owned(),
        type_map: TypeMap::new(LOINC).unwrap(),
        charset: Charset::Utf8,
        response_timeout: Duration::from_secs(20),
        keeps_open: false,
        retries_errors: false,
        on_lost_reply: LostReply::Resend,
        max_connections: 4,
    }
}

struct Engine(Peer);

impl Engine {
    async fn start() -> Self {
        Self(Peer::start().await)
    }
}

impl Place for Engine {
    fn adapter(&self) -> Box<dyn Adapter> {
        Box::new(Hl7Adapter::new(config(&self.0)))
    }

    fn objects(&self) -> BTreeMap<String, Vec<u8>> {
        self.0.objects()
    }

    fn break_down(&self) {
        self.0.stop();
    }
}

impl RemotePlace for Engine {
    fn lose_next_reply(&self) {
        self.0.inject(Fault::LoseReply);
    }

    fn cut_after(&self, bytes: usize) {
        self.0.inject(Fault::CutAfter(bytes));
    }

    // The receiver has no names, and nobody signs in.
    fn occupy(&self, _: &str, _: &[u8]) {}

    fn revoke_credentials(&self) {}
}

keeps_the_contract!(Engine::start().await);

#[tokio::test]
async fn a_lost_reply_is_one_object() {
    suite::remote::a_lost_reply_is_one_object(Engine::start().await).await;
}

#[tokio::test]
async fn a_cut_transfer_shows_nothing() {
    suite::remote::a_cut_transfer_shows_nothing(Engine::start().await).await;
}

async fn deliver(config: Hl7v2Config, item: &Item) -> Outcome {
    Hl7Adapter::new(config).deliver(item).await
}

/// The message of a letter.
async fn sent(change: impl FnOnce(&mut Hl7v2Config, &mut Item)) -> Received {
    let (peer, spool) = (Peer::start().await, Spool::new());
    let (mut config, mut item) = (config(&peer), spool.item(1, b"%PDF-1.7 letter"));
    change(&mut config, &mut item);
    assert_delivered(&deliver(config, &item).await);
    let received = peer.received().remove(0);
    assert_eq!(received.pdf(), b"%PDF-1.7 letter");
    received
}

fn patient(item: &mut Item, patient: serde_json::Value) {
    let mut metadata = (*item.metadata).clone();
    metadata.patient = patient.as_object().cloned().unwrap();
    item.metadata = Arc::new(metadata);
}

const KEY: &str = "608d8484a1fe430efb0921e1b2b0700f";
const BEFORE: &str = "000102030405060708090a0b0c0d0e0f";

#[tokio::test]
async fn a_letter_is_a_document_notification_of_its_patient_and_type() {
    let message = sent(|_, item| KEY.clone_into(&mut item.key)).await;
    let names: Vec<String> = String::from_utf8(message.bytes.clone())
        .unwrap()
        .split('\r')
        .map(|line| line.chars().take(3).collect())
        .collect();
    assert_eq!(names, ["MSH", "EVN", "PID", "PV1", "TXA", "OBX", ""]);
    for (segment, field, expected) in [
        ("MSH", 2, "^~\\&"),
        ("MSH", 3, "DOCSYNCD"),
        ("MSH", 4, "CLINIC^1.2.250.1.999^ISO"),
        ("MSH", 5, "ENGINE"),
        ("MSH", 9, "MDM^T02^MDM_T02"),
        ("MSH", 10, "608d8484a1fe430efb09"),
        ("MSH", 11, "P"),
        ("MSH", 12, "2.5.1"),
        // Original mode: one acknowledgment, from the application.
        ("MSH", 15, ""),
        ("MSH", 16, ""),
        ("MSH", 18, "UNICODE UTF-8"),
        ("EVN", 1, "T02"),
        ("PID", 3, "p-1^^^CLINIC&1.2.250.1.999&ISO^PI"),
        ("PID", 5, "Canaryworth^Zoé^^^^^L"),
        ("PID", 7, "19800312"),
        ("TXA", 2, "57828-6"),
        ("TXA", 4, "20261121100000+0000"),
        ("TXA", 12, "608d8484-a1fe-830e-bb09-21e1b2b0700f^DOCSYNCD"),
        ("TXA", 13, ""),
        ("TXA", 17, "AU"),
        ("OBX", 2, "ED"),
        ("OBX", 3, "57828-6^lab_slip^LN"),
        ("OBX", 11, "F"),
    ] {
        assert_eq!(message.field(segment, field), expected, "{segment}-{field}");
    }
    assert!(message.field("OBX", 5).starts_with("^application^pdf^Base64^JVBERi0"));
}

#[tokio::test]
async fn a_new_version_says_which_one_it_replaces() {
    let replaces = |item: &mut Item| item.replaces = Some(BEFORE.to_owned());
    let uuid = "00010203-0405-8607-8809-0a0b0c0d0e0f";
    let message = sent(|_, item| replaces(item)).await;
    assert_eq!(message.field("MSH", 9), "MDM^T10^MDM_T02");
    assert_eq!(message.field("EVN", 1), "T10");
    assert_eq!(message.field("TXA", 13), format!("{uuid}^DOCSYNCD"));
    assert_eq!(message.field("OBX", 11), "C");
    let message = sent(|config, item| {
        replaces(item);
        config.is_oru = true;
    })
    .await;
    assert_eq!(message.field("OBR", 29), format!("^{uuid}&DOCSYNCD"));
    assert_eq!([message.field("OBR", 25), message.field("OBX", 11)], ["C", "C"]);
}

#[tokio::test]
async fn a_letter_can_be_a_result_and_msh_9_as_short_as_a_receiver_wants_it() {
    let message = sent(|config, item| {
        config.is_oru = true;
        KEY.clone_into(&mut item.key);
    })
    .await;
    assert_eq!(message.field("MSH", 9), "ORU^R01^ORU_R01");
    assert!(!String::from_utf8(message.bytes.clone()).unwrap().contains("\rEVN"));
    assert_eq!(message.field("OBR", 3), "608d8484-a1fe-830e-bb09-21e1b2b0700f^DOCSYNCD");
    assert_eq!(message.field("OBR", 4), "57828-6^lab_slip^LN");
    assert_eq!(message.field("OBR", 25), "F");
    let message = sent(|config, _| config.names_structure = false).await;
    assert_eq!(message.field("MSH", 9), "MDM^T02");
}

#[tokio::test]
async fn names_that_attack_inject_nothing() {
    let evil = "A|B^C~D\\E&F\rOBX|9|TX|x\u{1c}\r\u{b}MSH|^~\\&|";
    for is_oru in [false, true] {
        let message = sent(|config, item| {
            config.is_oru = is_oru;
            let mut metadata = (*item.metadata).clone();
            metadata.user = json!({"lastName": evil, "rpps": evil}).as_object().cloned().unwrap();
            metadata.document.insert("type".to_owned(), evil.into());
            item.metadata = Arc::new(metadata);
            patient(
                item,
                json!({"uuid": "A|B^C~D\\E&F", "lastName": evil, "firstName": evil, "dateOfBirth": evil, "gender": evil}),
            );
        })
        .await;
        let text = String::from_utf8(message.bytes.clone()).unwrap();
        assert_eq!(text.matches('\r').count(), if is_oru { 5 } else { 6 }, "{text}");
        let name = message.field("PID", 5);
        assert!(name.starts_with("A\\F\\B\\S\\C\\R\\D\\E\\E\\T\\F OBX\\F\\9"), "{name}");
        assert_eq!(name.matches('^').count(), 6, "{name}");
        assert_eq!(message.field("PID", 3).matches('^').count(), 4);
        assert!(!text.contains('~') || text.matches('~').count() == 1);
    }
}

/// The number as a receiver reads it in PID-3.
fn read_number(message: &[u8], charset: Charset) -> String {
    let text = charset.decode(&message[1..]);
    let pid = text.split('\r').find(|segment| segment.starts_with("PID|")).unwrap();
    let id = pid.split('|').nth(3).unwrap().split('^').next().unwrap();
    let mut parts = id.split('\\');
    let mut read = parts.next().unwrap().to_owned();
    while let (Some(escape), Some(rest)) = (parts.next(), parts.next()) {
        read.push(match escape {
            "F" => '|',
            "S" => '^',
            "R" => '~',
            "E" => '\\',
            "T" => '&',
            other => panic!("{other}"),
        });
        read.push_str(rest);
    }
    read
}

#[tokio::test]
async fn a_number_is_read_as_it_is_or_the_letter_needs_a_person() {
    let (peer, spool) = (Peer::start().await, Spool::new());
    let item = spool.item(1, b"%PDF-1.7 letter");
    let mut runner = TestRunner::new(ProptestConfig::with_cases(1000));
    let charsets = [Charset::Utf8, Charset::Iso8859_1, Charset::Iso8859_2, Charset::Iso8859_15, Charset::Ascii];
    let held = std::cell::Cell::new(0);
    let result = runner.run(&odd_numbers(), |number| {
        for charset in charsets.into_iter().filter(|charset| holds(&number, *charset)) {
            let config = Hl7v2Config { charset, ..config(&peer) };
            let message = message::message(&config, ("0f", None), &item.metadata, &number).unwrap();
            prop_assert_eq!(&read_number(&message.head, charset), &number);
            held.set(held.get() + 1);
        }
        Ok(())
    });
    result.unwrap();
    assert!(held.get() > 1000, "{}", held.get());
    assert!(holds("12/345", Charset::Ascii) && holds("a|b^c", Charset::Ascii));

    let mut config = config(&peer);
    (config.charset, config.patient_id) = (Charset::Iso8859_1, compiled("{{ patient.number }}"));
    for number in ["Ł12", "e\u{301}1", "1\u{202e}2"] {
        let mut item = spool.item(1, b"%PDF-1.7 letter");
        Arc::make_mut(&mut item.metadata).number = Some(number.to_owned());
        assert_eq!(deliver(config.clone(), &item).await, Outcome::NeedsPerson(Unmatched::NotHeld), "{number}");
    }
    assert!(peer.received().is_empty());
}

fn compiled(source: &str) -> Arc<Template> {
    Arc::new(Template::compile(TemplateKind::Field, source).unwrap())
}

#[tokio::test]
async fn text_is_in_the_charset_that_msh_18_names_or_fails_the_letter_by_its_field() {
    let message = sent(|config, item| {
        config.charset = Charset::Iso8859_1;
        patient(item, json!({"uuid": "1", "lastName": "Wałęsa", "firstName": "Zoé"}));
    })
    .await;
    assert_eq!(message.field("MSH", 18), "8859/1");
    let name = b"|Walesa^Zo\xe9^";
    assert!(message.bytes.windows(name.len()).any(|bytes| bytes == name));

    let (peer, spool) = (Peer::start().await, Spool::new());
    let mut item = spool.item(1, b"%PDF-1.7 letter");
    patient(&mut item, json!({"uuid": "1", "lastName": format!("{CANARY}\u{1f600}"), "firstName": "Zoé"}));
    let outcome = deliver(Hl7v2Config { charset: Charset::Iso8859_1, ..config(&peer) }, &item).await;
    assert!(matches!(&outcome, Outcome::Own { code: Code::Word(word), .. } if word == "not_filled_in"), "{outcome:?}");
    assert!(reason(&outcome).contains("PID-5") && peer.received().is_empty(), "{outcome:?}");
    // A letter without a patient is not sent.
    patient(&mut item, json!({}));
    let outcome = deliver(config(&peer), &item).await;
    assert!(
        matches!(&outcome, Outcome::Own { code: Code::Word(word), .. } if word == "patient_unknown"),
        "{outcome:?}"
    );
    assert!(peer.received().is_empty());
}

#[tokio::test]
async fn every_try_has_the_same_identifiers() {
    let (peer, spool) = (Peer::start().await, Spool::new());
    let mut item = spool.item(1, b"%PDF-1.7 letter");
    for fault in [Fault::LoseReply, Fault::refuse("AR", ""), Fault::Say("nonsense".to_owned())] {
        peer.inject(fault);
    }
    while !matches!(deliver(config(&peer), &item).await, Outcome::Delivered { .. }) {
        item.uncertain = true;
    }
    let tries = peer.received();
    let of = |message: &Received| (message.control_id(), message.field("TXA", 12));
    assert_eq!(tries.len(), 4);
    assert!(tries.iter().all(|message| of(message) == of(&tries[0]) && !of(message).0.is_empty()));
    assert_eq!(of(&tries[0]).0.len(), 20);
    let other = spool.item(1, b"%PDF-1.7 another version");
    assert_delivered(&deliver(config(&peer), &other).await);
    assert_ne!(of(&peer.received()[4]), of(&tries[0]));
}
