//! The contract suite on a FHIR server in this process, and the faults of FHIR servers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use docsyncd_test_support::fhir::Fhir;
use docsyncd_test_support::peer::{Fault, Peer, Received};
use reqwest::Method;
use serde_json::{Value, json};

use super::super::contract::{
    self as suite, CANARY, Place, RemotePlace, Spool, assert_delivered, connection, keeps_the_contract, reason,
};
use super::*;
use crate::config::Evidence;
use crate::destinations::{FhirProfile, WebSignIn};
use crate::domain::document::{LOINC, TypeMap};
use crate::domain::reservation::{Intent, Wanted};
use crate::formats::template::{Template, TemplateKind};

mod answers;

const LETTER: &[u8] = b"%PDF-1.7 letter";

fn template(kind: TemplateKind, source: &str) -> Arc<Template> {
    Arc::new(Template::compile(kind, source).unwrap())
}

fn config(peer: &Peer) -> FhirConfig {
    FhirConfig {
        connection: connection(&peer.url("/"), WebSignIn::None),
        base: peer.url("/fhir").parse().unwrap(),
        profile: FhirProfile::Mhd,
        patient: FhirPatient::Search(template(TemplateKind::Search, "Patient?identifier=urn:pms|{{ patient_id }}")),
        patient_id: template(TemplateKind::Field, "{{ patient.uuid }}"),
        type_map: TypeMap::new(LOINC).unwrap(),
        author: Some("Praxis Dr. Muster".to_owned()),
        file_name: template(TemplateKind::RemoteName, "{{ patient.lastName }}/{{ document.type }}.pdf"),
        on_lost_reply: LostReply::Resend,
        resend_after: Duration::ZERO,
        confirm: None,
    }
}

async fn peer(fhir: Fhir) -> Peer {
    let peer = Peer::start().await;
    peer.state().fhir = Some(fhir.patient("7", "p-1").patient("8", "p-2"));
    peer
}

async fn deliver(peer: &Peer, item: &Item) -> Outcome {
    FhirAdapter::new(config(peer)).deliver(item).await
}

fn change(peer: &Peer, change: impl FnOnce(&mut Fhir)) {
    change(peer.state().fhir.as_mut().unwrap());
}

fn letters(peer: &Peer) -> Vec<Value> {
    peer.state().fhir.as_ref().unwrap().letters.clone()
}

fn posts(peer: &Peer) -> Vec<Received> {
    peer.received(&Method::POST)
}

struct Server(Peer);

impl Place for Server {
    fn adapter(&self) -> Box<dyn Adapter> {
        Box::new(FhirAdapter::new(config(&self.0)))
    }

    fn objects(&self) -> BTreeMap<String, Vec<u8>> {
        let state = self.0.state();
        state.fhir.as_ref().unwrap().contents().into_iter().collect()
    }

    fn break_down(&self) {
        self.0.state().closed = Some(503);
    }
}

impl RemotePlace for Server {
    fn lose_next_reply(&self) {
        self.0.inject(Fault::LoseReply);
    }

    fn cut_after(&self, bytes: usize) {
        self.0.inject(Fault::CutAfter(bytes));
    }

    fn occupy(&self, _: &str, _: &[u8]) {}

    fn revoke_credentials(&self) {
        self.0.state().closed = Some(401);
    }
}

keeps_the_contract!(Server(peer(Fhir::default()).await));

#[tokio::test]
async fn a_lost_reply_is_one_object() {
    for ignores_condition in [false, true] {
        let fhir = Fhir { ignores_condition, ..Fhir::default() };
        suite::remote::a_lost_reply_is_one_object(Server(peer(fhir).await)).await;
    }
}

#[tokio::test]
async fn a_cut_transfer_shows_nothing() {
    suite::remote::a_cut_transfer_shows_nothing(Server(peer(Fhir::default()).await)).await;
}

#[tokio::test]
async fn refused_credentials_are_the_destinations() {
    suite::remote::refused_credentials_are_the_destinations(Server(peer(Fhir::default()).await)).await;
}

#[tokio::test]
async fn a_letter_is_a_document_reference_with_the_pdf_in_it() {
    let (peer, spool) = (peer(Fhir::default()).await, Spool::new());
    let item = spool.item(1, LETTER);
    let place = assert_delivered(&deliver(&peer, &item).await);
    assert_eq!(place, peer.url("/fhir/DocumentReference/letter-0"));
    let identity = identifier(&item.key);
    let attachment = json!({"contentType": "application/pdf", "data": STANDARD.encode(LETTER), "size": 15,
        "hash": "4FFOQAdyR43HHAbH/Ha6yDXRFL8=", "title": "lab_slip.pdf", "creation": "2026-11-21T10:00:00Z"});
    let expected = json!({
        "resourceType": "DocumentReference",
        "meta": {"profile": ["https://profiles.ihe.net/ITI/MHD/StructureDefinition/IHE.MHD.SimplifiedPublish.DocumentReference"]},
        "masterIdentifier": {"system": "urn:ietf:rfc:3986", "value": identity},
        "identifier": [{"use": "official", "system": "urn:ietf:rfc:3986", "value": identity}],
        "status": "current",
        "type": {"coding": [{"system": "http://loinc.org", "code": "57828-6"}]},
        "subject": {"reference": "Patient/7"},
        "date": "2026-11-21T10:00:00Z",
        "author": [{"display": "Praxis Dr. Muster"}],
        "content": [{"attachment": attachment}],
    });
    let mut sent = letters(&peer).remove(0);
    let hash = sent["content"][0]["attachment"]["hash"].take();
    assert_eq!(STANDARD.decode(hash.as_str().unwrap()).unwrap().len(), 20);
    sent["content"][0]["attachment"]["hash"] = expected["content"][0]["attachment"]["hash"].clone();
    assert_eq!(sent, expected);
    let request = posts(&peer).remove(0);
    assert_eq!(request.header("content-type"), Some("application/fhir+json"));
    assert_eq!(request.header("if-none-exist"), Some(format!("identifier=urn:ietf:rfc:3986|{identity}").as_str()));
    assert_eq!(request.header("content-length"), Some(request.body.len().to_string().as_str()));
    // The ledger knows the patient before the letter is sent.
    assert_eq!(item.committed().await.unwrap().unwrap().patient, Some("Patient/7".into()));
}

#[tokio::test]
async fn each_profile_has_its_own_rules() {
    let spool = Spool::new();
    let of = async |profile: FhirProfile, patient: Option<FhirPatient>| {
        let peer = peer(Fhir::default()).await;
        let mut config = FhirConfig { profile, ..config(&peer) };
        config.patient = patient.unwrap_or(config.patient);
        assert_delivered(&FhirAdapter::new(config).deliver(&spool.item(1, LETTER)).await);
        letters(&peer).remove(0)
    };
    let plain = of(FhirProfile::Plain, Some(FhirPatient::Contained)).await;
    assert!(plain.get("meta").is_none());
    let person = json!([{"resourceType": "Patient", "id": "patient", "identifier": [{"value": "p-1"}],
        "name": [{"family": CANARY, "given": ["Zoé"]}], "birthDate": "1980-03-12"}]);
    assert_eq!((&plain["contained"], &plain["subject"]), (&person, &json!({"reference": "#patient"})));
    let pdsm = of(FhirProfile::Pdsm, None).await;
    assert_eq!(pdsm["custodian"], json!({"display": "Praxis Dr. Muster"}));
    assert_eq!(pdsm["content"][0]["attachment"]["language"], "fr-FR");
    let isik = of(FhirProfile::Isik, None).await;
    let codes: Vec<&Value> =
        isik["type"]["coding"].as_array().unwrap().iter().map(|coding| &coding["system"]).collect();
    assert_eq!(codes, ["http://dvmd.de/fhir/CodeSystem/kdl", "http://loinc.org"]);
    for field in ["securityLabel", "context"] {
        assert!(isik.get(field).is_some(), "{field}");
    }
    assert!(isik["content"][0].get("format").is_some() && isik.get("contained").is_none());
}

#[tokio::test]
async fn names_that_attack_stay_names() {
    let (peer, spool) = (peer(Fhir::default()).await, Spool::new());
    let mut item = spool.item(1, LETTER);
    let evil = "\"}],\"status\":\"entered-in-error\",\"data\":\"docsyncd \u{0}\n\\";
    let signs = format!("{evil}A\u{b}B\u{1c}C\u{1b}D\u{a0}E\tF\r");
    let patient = &mut Arc::make_mut(&mut item.metadata).patient;
    patient.insert("lastName".to_owned(), signs.into());
    patient.insert("gender".to_owned(), "female".into());
    let contained = FhirConfig { patient: FhirPatient::Contained, ..config(&peer) };
    assert_delivered(&FhirAdapter::new(contained).deliver(&item).await);
    let sent = letters(&peer).remove(0);
    assert_eq!(sent["status"], "current");
    assert_eq!(sent["contained"][0]["gender"], "female");
    let name = sent["contained"][0]["name"][0]["family"].as_str().unwrap();
    assert!(name.contains("\\A B C D E\tF") && !name.contains('\u{0}'), "{name:?}");
    assert_eq!(sent["content"][0]["attachment"]["data"], STANDARD.encode(LETTER));
    // This number would change the search.
    let mut item = spool.item(2, b"%PDF-1.7 another");
    Arc::make_mut(&mut item.metadata).patient.insert("uuid".to_owned(), "x&identifier=urn:pms".into());
    let outcome = deliver(&peer, &item).await;
    assert!(matches!(outcome, Outcome::NeedsPerson(Unmatched::NotThere)), "{outcome:?}");
    // This number would be two identifiers at the server.
    let by_number =
        || FhirConfig { patient_id: template(TemplateKind::Field, "{{ patient.number }}"), ..config(&peer) };
    for number in ["p-1,p-2", "urn:pms|p-1", "p$1", "p\\-1"] {
        Arc::make_mut(&mut item.metadata).number = Some(number.to_owned());
        let outcome = FhirAdapter::new(by_number()).deliver(&item).await;
        assert!(matches!(outcome, Outcome::NeedsPerson(Unmatched::NotHeld)), "{outcome:?}");
    }
}

#[tokio::test]
async fn a_patient_that_is_not_found_once_needs_a_person() {
    let spool = Spool::new();
    let twins = Fhir::default().patient("9", "p-1");
    // The server shows one patient for every search.
    let loose = || Fhir { filters_nothing: true, ..Fhir::default() };
    let mut stranger = spool.item(1, LETTER);
    Arc::make_mut(&mut stranger.metadata).patient.insert("uuid".to_owned(), "p-3".into());
    let known = spool.item(2, b"%PDF-1.7 other letter");
    for (fhir, item, expected) in [
        (Fhir::default(), &stranger, Unmatched::NotThere),
        (twins, &known, Unmatched::SeveralThere),
        (loose(), &stranger, Unmatched::NotThere),
    ] {
        let peer = peer(fhir).await;
        assert_eq!(deliver(&peer, item).await, Outcome::NeedsPerson(expected));
        assert!(posts(&peer).is_empty());
    }
    let peer = peer(loose()).await;
    assert_delivered(&deliver(&peer, &known).await);
    assert_eq!(letters(&peer)[0]["subject"]["reference"], "Patient/7");
    let pages = self::peer(Fhir { pages: true, ..Fhir::default() }).await;
    assert_eq!(deliver(&pages, &known).await, Outcome::NeedsPerson(Unmatched::SeveralThere));
    let retired = self::peer(Fhir::default()).await;
    change(&retired, |fhir| fhir.patients[0]["active"] = false.into());
    assert_eq!(deliver(&retired, &known).await, Outcome::NeedsPerson(Unmatched::NotThere));
    // A number of another system with the same digits.
    change(&retired, |fhir| {
        fhir.patients[0] = json!({"resourceType": "Patient", "id": "7", "identifier": [
        {"system": "urn:insurer", "value": "p-1"}]})
    });
    change(&retired, |fhir| fhir.filters_nothing = true);
    assert_eq!(deliver(&retired, &known).await, Outcome::NeedsPerson(Unmatched::NotThere));
}

#[tokio::test]
async fn a_letter_counts_when_it_is_read_back() {
    let spool = Spool::new();
    let item = spool.item(1, LETTER);
    let silent = |fhir: Fhir| Fhir { answers: Some(json!({})), ..fhir };
    let delivered = [
        Fhir::default(),
        // The server does not show the letter that it created, or only its address.
        silent(Fhir::default()),
        silent(Fhir { location: true, ..Fhir::default() }),
        // The index lags, but the letter itself is there.
        silent(Fhir { moves_out: true, ..Fhir::default() }),
        Fhir { moves_out: true, forgets_hash: true, ..Fhir::default() },
        Fhir { filters_nothing: true, ..silent(Fhir::default()) },
    ];
    for fhir in delivered {
        let peer = peer(fhir).await;
        let moved_to = peer.url("/fhir/");
        change(&peer, |fhir| fhir.moved_to = moved_to);
        assert_delivered(&deliver(&peer, &item).await);
        assert_eq!(letters(&peer).len(), 1);
    }
    let other = [
        Fhir { shows_other_hash: true, ..Fhir::default() },
        Fhir { moves_out: true, forgets_hash: true, gives_other_content: true, ..Fhir::default() },
        Fhir { moves_out: true, shows_other_hash: true, ..Fhir::default() },
    ];
    for fhir in other {
        let peer = peer(fhir).await;
        let moved_to = peer.url("/fhir/");
        change(&peer, |fhir| fhir.moved_to = moved_to);
        for tried in [false, true] {
            let outcome = deliver(&peer, &Item { tried, ..item.clone() }).await;
            let Outcome::Permanent { code, .. } = &outcome else { panic!("{outcome:?}") };
            assert_eq!(*code, Code::word("other_content"));
            reason(&outcome);
        }
        assert_eq!(letters(&peer).len(), 1);
    }
}

#[tokio::test]
async fn an_address_of_another_machine_is_not_asked() {
    let (peer, other, spool) = (peer(Fhir::default()).await, Peer::start().await, Spool::new());
    let moved_to = other.url("/");
    change(&peer, |fhir| {
        *fhir = Fhir { moves_out: true, forgets_hash: true, moved_to, ..Fhir::default() }.patient("7", "p-1");
    });
    let item = spool.item(1, LETTER);
    assert_delivered(&deliver(&peer, &item).await);
    // Nothing was seen: if `confirm` asks for it, the letter waits.
    let adapter =
        FhirAdapter::new(FhirConfig { confirm: Some(suite::confirm::confirm(Evidence::Query, None)), ..config(&peer) });
    assert!(matches!(adapter.deliver(&item).await, Outcome::Delivered { filed: Some(_), .. }));
    assert!(other.state().received.is_empty());
}

#[tokio::test]
async fn a_letter_that_is_not_known_by_its_identifier_is_left_to_a_person() {
    let (peer, spool) =
        (peer(Fhir { drops_identifiers: true, ignores_condition: true, ..Fhir::default() }).await, Spool::new());
    let outcome = deliver(&peer, &spool.item(1, LETTER)).await;
    assert!(matches!(outcome, Outcome::Held { .. }), "{outcome:?}");
    assert_eq!(posts(&peer).len(), 1);
}

#[tokio::test]
async fn where_letters_are_found_and_not_read_the_list_counts() {
    let fhir = Fhir { hides_reads: Some(403), ignores_condition: true, ..Fhir::default() };
    suite::remote::a_lost_reply_is_one_object(Server(peer(fhir).await)).await;
}

#[tokio::test]
async fn a_word_without_a_letter_is_no_promise() {
    let spool = Spool::new();
    for body in [json!("Please sign in"), json!({"resourceType": "OperationOutcome", "issue": [{"severity": "error"}]})]
    {
        let peer = peer(Fhir { hides: Some(403), answers: Some(body), ..Fhir::default() }).await;
        let outcome = deliver(&peer, &spool.item(1, LETTER)).await;
        assert!(matches!(outcome, Outcome::Unconfirmed { .. }), "{outcome:?}");
    }
}

#[tokio::test]
async fn a_letter_that_lies_with_another_patient_needs_a_person() {
    let (peer, spool) = (peer(Fhir::default()).await, Spool::new());
    let mut item = spool.item(1, LETTER);
    peer.inject(Fault::Refuse(504, None));
    assert!(matches!(deliver(&peer, &item).await, Outcome::Unconfirmed { .. }));
    assert_delivered(&deliver(&peer, &item).await);
    // The patient was corrected before the result was known.
    Arc::make_mut(&mut item.metadata).patient.insert("uuid".to_owned(), "p-2".into());
    assert_eq!(deliver(&peer, &item).await, Outcome::NeedsPerson(Unmatched::OtherNumber));
    assert_eq!(letters(&peer).len(), 1);
}

#[tokio::test]
async fn what_was_taken_and_is_not_shown_yet_is_looked_for_before_it_is_sent_again() {
    let (peer, spool) = (peer(Fhir { lags: 3, ignores_condition: true, ..Fhir::default() }).await, Spool::new());
    let item = spool.item(1, LETTER);
    for _ in 0..5 {
        change(&peer, |fhir| fhir.lags = 3);
        let item = Item { uncertain: item.committed().await.unwrap().is_some(), ..item.clone() };
        let outcome = deliver(&peer, &item).await;
        assert!(matches!(outcome, Outcome::Waiting { .. }), "{outcome:?}");
        reason(&outcome);
    }
    let item = Item { uncertain: true, tried: true, ..item };
    change(&peer, |fhir| fhir.lags = 0);
    assert_delivered(&deliver(&peer, &item).await);
    // If a server never shows the letter, a person looks.
    change(&peer, |fhir| fhir.lags = 1);
    let (place, long_ago) = (Item::identity_of(&item.key), r#"{"at":0,"patient":null,"sent":1,"is_taken":true}"#);
    let wanted = Wanted { place: place.clone(), family: place.clone() };
    let intent = Intent { place, path: format!("{} {long_ago}", item.key), temporary: item.key.clone() };
    assert!(item.names.reserve(1, &wanted, Some(&intent)).await.unwrap());
    assert!(matches!(deliver(&peer, &item).await, Outcome::Held { .. }));
    assert_eq!(posts(&peer).len(), 1);
}

#[tokio::test]
async fn what_shows_nothing_to_compare_was_not_read_back() {
    let spool = Spool::new();
    let moved_out =
        Fhir { moves_out: true, forgets_hash: true, moved_to: "http://192.0.2.1/".into(), ..Fhir::default() };
    for (fhir, expected) in [
        (Fhir::default(), Proof::ReadBack),
        (moved_out, Proof::Accepted),
        (Fhir { hides: Some(403), ..Fhir::default() }, Proof::Accepted),
    ] {
        let outcome = deliver(&peer(fhir).await, &spool.item(1, LETTER)).await;
        assert!(matches!(outcome, Outcome::Delivered { proof: Some(proof), .. } if proof == expected), "{outcome:?}");
    }
}

#[tokio::test]
async fn where_nobody_may_look_its_word_counts_and_a_lost_reply_is_held_where_it_shall_be() {
    for status in [403, 404, 405, 501] {
        let spool = Spool::new();
        let peer = peer(Fhir { hides: Some(status), ..Fhir::default() }).await;
        let adapter = FhirAdapter::new(config(&peer));
        assert_delivered(&adapter.deliver(&spool.item(1, LETTER)).await);
        peer.inject(Fault::LoseReply);
        let outcome = adapter.deliver(&spool.item(2, b"%PDF-1.7 another")).await;
        assert!(matches!(outcome, Outcome::Unconfirmed { .. }), "{outcome:?}");
        peer.inject(Fault::LoseReply);
        let holding = FhirAdapter::new(FhirConfig { on_lost_reply: LostReply::Hold, ..config(&peer) });
        let outcome = holding.deliver(&spool.item(3, b"%PDF-1.7 third")).await;
        assert!(matches!(outcome, Outcome::Held { .. }), "{outcome:?}");
    }
}
