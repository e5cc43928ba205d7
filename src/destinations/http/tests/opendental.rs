//! Open Dental with the configuration of `config/examples/opendental.toml`, played by a double of its API.

use docsyncd_test_support::open_dental::OpenDental;
use serde_json::Value;

use super::*;
use crate::destinations::{SCHEMA, Wanted};

const BORN: &str = "1980-03-12";

fn practice() -> OpenDental {
    OpenDental::default().patient(7, CANARY, "Zoé", BORN)
}

async fn peer(open_dental: OpenDental) -> Peer {
    let peer = Peer::start().await;
    peer.state().open_dental = Some(open_dental);
    peer.state().authorization = Some("ODFHIR developer/customer".to_owned());
    peer
}

/// The destination of the example, at the double.
fn adapter(peer: &Peer) -> HttpAdapter {
    let folder = tempfile::tempdir().unwrap();
    let example = include_str!("../../../../config/examples/opendental.toml");
    let path = folder.path().join("docsyncd.toml");
    std::fs::write(&path, example.replace("https://api.opendental.com", &peer.url(""))).unwrap();
    let loaded = SCHEMA.load(&path, Vec::<(String, String)>::new()).unwrap();
    let mut config: HttpConfig = loaded.config.destinations["opendental"].of::<HttpConfig>().unwrap().clone();
    config.connection.name = "pms".to_owned();
    config.resend_after = Duration::ZERO;
    config.header_files = vec![("Authorization".to_owned(), Secret::Given("ODFHIR developer/customer".into()))];
    HttpAdapter::new(config)
}

fn descriptions(peer: &Peer, patient: u64) -> Vec<String> {
    peer.state().open_dental.as_ref().unwrap().descriptions(patient)
}

fn change(peer: &Peer, change: impl FnOnce(&mut OpenDental)) {
    change(peer.state().open_dental.as_mut().unwrap());
}

fn mark(item: &Item) -> String {
    format!("2026-11-21 Laboratory slip (docsyncd {})", &item.key[..20])
}

fn uploads(peer: &Peer) -> usize {
    peer.received(&Method::POST).len()
}

/// The code and the reason, which must not reveal the patient.
fn refused(outcome: &Outcome) -> (Code, String) {
    let (Outcome::Own { code, .. } | Outcome::Transient { code, .. }) = outcome else { panic!("{outcome:?}") };
    (code.clone(), reason(outcome).to_owned())
}

struct Practice(Peer);

impl Place for Practice {
    fn adapter(&self) -> Box<dyn Adapter> {
        Box::new(adapter(&self.0))
    }

    fn objects(&self) -> BTreeMap<String, Vec<u8>> {
        let state = self.0.state();
        let documents = &state.open_dental.as_ref().unwrap().documents;
        let content = |document: &Value| {
            let note = document["Note"].as_str().unwrap().strip_prefix("_rawBase64_:.pdf_").unwrap();
            (document["DocNum"].to_string(), STANDARD.decode(note).unwrap())
        };
        documents.iter().map(content).collect()
    }

    fn break_down(&self) {
        self.0.state().closed = Some(503);
    }
}

impl RemotePlace for Practice {
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

keeps_the_contract!(Practice(peer(practice()).await));

#[tokio::test]
async fn a_lost_reply_is_one_object() {
    suite::remote::a_lost_reply_is_one_object(Practice(peer(practice()).await)).await;
}

#[tokio::test]
async fn a_cut_transfer_shows_nothing() {
    suite::remote::a_cut_transfer_shows_nothing(Practice(peer(practice()).await)).await;
}

#[tokio::test]
async fn a_letter_goes_to_the_one_patient_who_is_meant() {
    let spool = Spool::new();
    let twins = practice().patient(8, CANARY, "Zoé", "1980-03-13").patient(9, &format!("{CANARY}-Muster"), "Zoé", BORN);
    // Birthdate and PatStatus are compared as well, not only used as filters.
    let loose = OpenDental { filters_nothing: true, ..practice().patient(8, CANARY, "Zoé", "1980-03-13") };
    let written = OpenDental::default().patient(7, &CANARY.to_uppercase(), "ZOE\u{301}", BORN);
    for open_dental in [practice(), twins, loose, OpenDental { filters_nothing: true, ..written }] {
        let peer = peer(open_dental).await;
        let item = spool.item(1, b"%PDF-1.7 letter");
        assert_delivered(&adapter(&peer).deliver(&item).await);
        assert_eq!(descriptions(&peer, 7), [mark(&item)]);
        let sent: Value = serde_json::from_slice(&peer.received(&Method::POST)[0].body).unwrap();
        let expected = json!({"PatNum": 7, "extension": ".pdf", "ImgType": "Document", "Description": mark(&item),
            "rawBase64": STANDARD.encode(b"%PDF-1.7 letter")});
        assert_eq!(sent, expected);
        // The ledger knows the patient before the letter is sent.
        assert_eq!(item.committed().await.unwrap().unwrap().patient, Some(7.into()));
    }
}

#[tokio::test]
async fn nobody_is_guessed() {
    let spool = Spool::new();
    let archived = |mut open_dental: OpenDental| {
        open_dental.patients[0]["PatStatus"] = "Archived".into();
        OpenDental { filters_nothing: true, ..open_dental }
    };
    let parts =
        |number| (0..number).fold(practice(), |all, at| all.patient(100 + at, &format!("{CANARY}{at}"), "Zoé", BORN));
    for (open_dental, code, words) in [
        (OpenDental::default(), "no_patient", "Birthdate, FName, LName"),
        (OpenDental::default().patient(8, CANARY, "Zoé", "1980-03-13"), "no_patient", "docsyncd retry"),
        (OpenDental::default().patient(8, &format!("{CANARY}son"), "Zoé", BORN), "no_patient", "enter or correct"),
        (archived(practice()), "no_patient", "enter or correct"),
        (practice().patient(8, CANARY, "zoé", BORN), "several_patients", "merge them"),
        (parts(120), "several_patients", "none is guessed"),
    ] {
        let peer = peer(open_dental).await;
        let outcome = adapter(&peer).deliver(&spool.item(1, b"%PDF-1.7 letter")).await;
        assert!(matches!(outcome, Outcome::Own { .. }), "{outcome:?}");
        let (found, reason) = refused(&outcome);
        assert_eq!(found, Code::word(code));
        assert!(reason.contains(words) && reason.contains("`pms`"), "{reason}");
        assert_eq!(uploads(&peer), 0);
    }
    assert_delivered(&adapter(&peer(parts(90)).await).deliver(&spool.item(1, b"%PDF-1.7 letter")).await);
}

#[tokio::test]
async fn a_patient_without_a_date_of_birth_is_not_looked_for() {
    let (peer, spool) = (peer(practice().patient(8, CANARY, "Zoé", "")).await, Spool::new());
    for born in [Value::Null, "".into(), " ".into()] {
        let mut item = spool.item(1, b"%PDF-1.7 letter");
        Arc::make_mut(&mut item.metadata).patient.insert("dateOfBirth".to_owned(), born);
        let (code, reason) = refused(&adapter(&peer).deliver(&item).await);
        assert!(code == Code::word("patient_unknown") && reason.contains("Birthdate"), "{reason}");
    }
    assert!(peer.state().received.is_empty());
}

#[tokio::test]
async fn a_letter_whose_answer_was_lost_is_looked_for_where_it_was_sent_and_where_it_would_be_now() {
    let spool = Spool::new();
    let merged = |open_dental: &mut OpenDental| {
        open_dental.patients[0]["PatStatus"] = "Archived".into();
        open_dental
            .patients
            .push(json!({"PatNum": 8, "LName": CANARY, "FName": "Zoé", "Birthdate": BORN, "PatStatus": "Patient"}));
    };
    let twice = |open_dental: &mut OpenDental| {
        let again = json!({"PatNum": 8, "LName": CANARY, "FName": "Zoé", "Birthdate": BORN, "PatStatus": "Patient"});
        open_dental.patients.push(again);
    };
    let gone = |open_dental: &mut OpenDental| open_dental.patients.clear();
    type Change<'a> = &'a dyn Fn(&mut OpenDental);
    // The change in between; the patient who has the letter, if anyone; the patient who has it in the end.
    let cases: [(Change<'_>, Option<u64>, Option<u64>); 7] = [
        (&|_| {}, Some(7), Some(7)),
        (&|_| {}, None, Some(7)),
        (&merged, Some(7), Some(7)),
        (&merged, Some(8), Some(8)),
        (&merged, None, Some(8)),
        (&twice, Some(7), Some(7)),
        (&gone, None, None),
    ];
    for (number, (happened, kept_of, in_the_end)) in cases.into_iter().enumerate() {
        let peer = peer(practice()).await;
        let item = spool.item(u32::try_from(number).unwrap(), b"%PDF-1.7 letter");
        peer.inject(Fault::Refuse(504, None));
        let outcome = adapter(&peer).deliver(&item).await;
        assert!(matches!(outcome, Outcome::Unconfirmed { .. }), "{outcome:?}");
        reason(&outcome);
        change(&peer, |open_dental| {
            happened(open_dental);
            open_dental.documents.extend(kept_of.map(|patient| json!({"PatNum": patient, "Description": mark(&item)})));
        });
        let outcome = adapter(&peer).deliver(&Item { uncertain: true, ..item.clone() }).await;
        let Some(in_the_end) = in_the_end else {
            assert_eq!(refused(&outcome).0, Code::word("no_patient"));
            continue;
        };
        assert_delivered(&outcome);
        assert_eq!(uploads(&peer), if kept_of.is_some() { 1 } else { 2 }, "case {number}");
        assert_eq!(descriptions(&peer, in_the_end), [mark(&item)], "case {number}");
        assert_eq!(descriptions(&peer, 15 - in_the_end), [""; 0], "case {number}");
    }
}

#[tokio::test]
async fn a_letter_that_is_stored_after_its_answer_was_lost_is_not_sent_again_meanwhile() {
    let (peer, spool) = (peer(practice()).await, Spool::new());
    let of_config = |resend_after| {
        let mut config = adapter(&peer).config;
        config.resend_after = resend_after;
        HttpAdapter::new(config)
    };
    let patiently = of_config(Duration::from_secs(300));
    let item = spool.item(1, b"%PDF-1.7 letter");
    peer.inject(Fault::Refuse(504, None));
    let outcome = patiently.deliver(&item).await;
    assert!(matches!(outcome, Outcome::Unconfirmed { .. }), "{outcome:?}");
    // Nothing is visible yet, and that proves nothing.
    let again = Item { uncertain: true, ..item.clone() };
    let outcome = patiently.deliver(&again).await;
    assert!(matches!(outcome, Outcome::Waiting { wait, .. } if wait <= LOOK_AGAIN && !wait.is_zero()), "{outcome:?}");
    assert!(!outcome.is_refusal() && reason(&outcome).contains("destinations.pms.resend_after"), "{outcome:?}");
    assert_eq!(uploads(&peer), 1);
    // Nor does it fail if the patient is not found: the letter may soon be in the record.
    change(&peer, |open_dental| open_dental.patients.clear());
    let outcome = patiently.deliver(&again).await;
    assert!(matches!(outcome, Outcome::Waiting { .. }), "{outcome:?}");
    change(&peer, |open_dental| open_dental.patients = practice().patients);
    // Nor does a clock that jumps change the wait.
    for jump in [-3_600_000, 3_600_000] {
        let known = item.names.known().await.unwrap();
        let mut intent = known.intent.unwrap();
        let mut committed = item.committed().await.unwrap().unwrap();
        committed.at -= jump;
        intent.path = format!("{} {}", item.key, serde_json::to_string(&committed).unwrap());
        let wanted = Wanted { place: intent.place.clone(), family: intent.place.clone() };
        assert!(item.names.reserve(known.version, &wanted, Some(&intent)).await.unwrap());
        let outcome = patiently.deliver(&again).await;
        assert!(matches!(outcome, Outcome::Waiting { .. }), "{jump}: {outcome:?}");
    }
    change(&peer, |open_dental| {
        open_dental.documents.push(json!({"PatNum": 7, "Description": mark(&item)}));
    });
    assert_delivered(&patiently.deliver(&again).await);
    assert_eq!(uploads(&peer), 1);
    // After that time, a missing letter will not come any more.
    change(&peer, |open_dental| open_dental.documents.clear());
    assert_delivered(&of_config(Duration::ZERO).deliver(&again).await);
    assert_eq!(uploads(&peer), 2);
}

#[tokio::test]
async fn what_was_kept_although_the_answer_says_otherwise_is_found_at_once() {
    let spool = Spool::new();
    for fault in [Fault::LoseReply, Fault::AnswerWith(504), Fault::AnswerWith(500), Fault::AnswerWith(200)] {
        let peer = peer(practice()).await;
        let item = spool.item(1, b"%PDF-1.7 letter");
        peer.inject(fault.clone());
        assert_delivered(&adapter(&peer).deliver(&item).await);
        assert_eq!((uploads(&peer), descriptions(&peer, 7).len()), (1, 1), "{fault:?}");
    }
}

#[tokio::test]
async fn a_letter_on_a_later_page_is_found_and_a_list_without_an_end_is_not_believed() {
    let spool = Spool::new();
    let item = spool.item(1, b"%PDF-1.7 letter");
    for others in [99, 100, 250] {
        let peer = peer(practice().with_documents(7, others)).await;
        assert_delivered(&adapter(&peer).deliver(&item).await);
        // The ledger is lost, and with it the record of the delivery.
        spool.forget();
        assert_delivered(&adapter(&peer).deliver(&item).await);
        assert_eq!(uploads(&peer), 1, "{others}");
    }
    let peer = peer(OpenDental { repeats_pages: true, ..practice().with_documents(7, 3) }).await;
    let (code, _) = refused(&adapter(&peer).deliver(&item).await);
    assert_eq!((code, uploads(&peer)), (Code::word("no_list"), 0));
}

#[tokio::test]
async fn a_service_that_does_not_answer_as_it_should_gets_nothing() {
    let spool = Spool::new();
    let wait = Some(("retry-after", "7".to_owned()));
    let down = |outcome: &Outcome| matches!(outcome, Outcome::Unavailable { .. });
    let later = |outcome: &Outcome| matches!(outcome, Outcome::Unavailable { retry_after: Some(_), .. });
    let passing = |outcome: &Outcome| matches!(outcome, Outcome::Transient { .. });
    type Expected<'a> = &'a dyn Fn(&Outcome) -> bool;
    let cases: [(Fault, Expected<'_>); 7] = [
        (Fault::Refuse(401, None), &down),
        (Fault::Refuse(403, None), &down),
        (Fault::Refuse(404, None), &passing),
        (Fault::Refuse(429, wait), &later),
        (Fault::Refuse(504, None), &passing),
        (Fault::WebPage(200), &passing),
        (Fault::AnswerWith(200), &passing),
    ];
    for (fault, expected) in cases {
        let peer = peer(practice()).await;
        // The answer to the patient lookup, and to the letter itself.
        for method in [Method::GET, Method::POST] {
            if method == Method::POST && !matches!(fault, Fault::Refuse(401..=429, _)) {
                continue;
            }
            peer.state().other_faults.push_back((method.clone(), fault.clone()));
            let outcome = adapter(&peer).deliver(&spool.item(1, b"%PDF-1.7 letter")).await;
            assert!(expected(&outcome), "{fault:?} {method}: {outcome:?}");
            assert!(reason(&outcome).contains("`pms`"));
        }
        assert!(descriptions(&peer, 7).is_empty());
    }
}

#[tokio::test]
async fn a_list_that_is_not_there_is_no_empty_one_for_a_patient_who_was_just_found() {
    let (peer, spool) = (peer(practice()).await, Spool::new());
    let item = spool.item(1, b"%PDF-1.7 letter");
    for (item, gone) in [(item.clone(), 1), (Item { uncertain: true, ..item }, 2)] {
        // It was sent, and stored, for the patient who is found now.
        item.committing_to(Some(&7.into())).await.unwrap();
        change(&peer, |open_dental| {
            open_dental.lists_refused = gone;
            open_dental.documents = vec![json!({"PatNum": 7, "Description": mark(&item)})];
        });
        let outcome = adapter(&peer).deliver(&item).await;
        assert!(matches!(outcome, Outcome::Transient { code: Code::Status(404), .. }), "{outcome:?}");
        assert_delivered(&adapter(&peer).deliver(&item).await);
        assert_eq!(uploads(&peer), 0);
    }
}

#[tokio::test]
async fn an_odd_answer_about_one_letter_is_no_failure_of_the_destination() {
    let (peer, spool) = (peer(practice()).await, Spool::new());
    let item = spool.item(1, b"%PDF-1.7 letter");
    for answer in ["{\"errors\": [\"database is locked\"]}", "<html></html>", "[{\"LName\": \"", "[1]", ""] {
        change(&peer, |open_dental| open_dental.says_instead = Some(answer.as_bytes().to_vec()));
        let outcome = adapter(&peer).deliver(&item).await;
        assert!(matches!(outcome, Outcome::Transient { .. }), "{answer}: {outcome:?}");
        assert_eq!(refused(&outcome).0, Code::word("no_list"), "{answer}");
        assert!(adapter(&peer).check().await.is_err(), "{answer}: a check tells of it");
    }
    let of = |number: Value| {
        let patient =
            json!({"PatNum": number, "LName": CANARY, "FName": "Zoé", "Birthdate": BORN, "PatStatus": "Patient"});
        format!("\u{feff}[{patient}]").into_bytes()
    };
    for number in [Value::Null, 0.into(), json!({"PatNum": 7})] {
        change(&peer, |open_dental| open_dental.says_instead = Some(of(number)));
        let outcome = adapter(&peer).deliver(&item).await;
        assert!(matches!(outcome, Outcome::Transient { .. }), "{outcome:?}");
        assert_eq!(refused(&outcome).0, Code::word("no_list"), "behind a byte order mark it is read");
        assert!(reason(&outcome).contains("lookup_field"), "{outcome:?}");
    }
    assert_eq!(uploads(&peer), 0);
}

#[tokio::test]
async fn a_page_of_patients_of_which_there_are_more_is_no_proof_that_one_is_the_only_one() {
    let (peer, spool) = (peer(practice()).await, Spool::new());
    let found = json!({"PatNum": 7, "LName": CANARY, "FName": "Zoé", "Birthdate": BORN, "PatStatus": "Patient"});
    for (more, link) in
        [(json!({"next": "/2"}), None), (json!({"count": 2}), None), (json!({}), Some("</2>; rel=\"next\""))]
    {
        let mut answer = json!({"results": [found]});
        answer.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        change(&peer, |open_dental| {
            open_dental.says_instead = Some(answer.to_string().into_bytes());
            open_dental.link = link.map(str::to_owned);
        });
        let outcome = adapter(&peer).deliver(&spool.item(1, b"%PDF-1.7 letter")).await;
        assert_eq!(refused(&outcome).0, Code::word("several_patients"), "{answer}");
    }
    assert_eq!(uploads(&peer), 0);
}

#[tokio::test]
async fn a_check_asks_for_a_patient_who_does_not_exist() {
    let peer = peer(practice()).await;
    let checked = adapter(&peer).check().await.unwrap();
    assert!(checked.notes.iter().any(|note| note.contains("`lookup_url`")), "{checked:?}");
    assert!(peer.received(&Method::GET).iter().any(|asked| asked.path.contains("LName=docsyncd-check")));
    for fault in [Fault::Refuse(401, None), Fault::Refuse(404, None), Fault::WebPage(200), Fault::AnswerWith(200)] {
        peer.state().other_faults.push_back((Method::GET, fault.clone()));
        let complaint = adapter(&peer).check().await.unwrap_err();
        assert!(complaint.contains("`lookup_url`") && complaint.contains("`pms`"), "{fault:?}: {complaint}");
    }
    assert_eq!(uploads(&peer), 0);
}

#[tokio::test]
async fn a_patient_whom_the_practices_list_calls_otherwise_gets_nothing() {
    let (peer, spool) = (peer(practice()).await, Spool::new());
    let with_number = |number: &str| {
        let mut item = spool.item(1, b"%PDF-1.7 letter");
        Arc::make_mut(&mut item.metadata).number = Some(number.to_owned());
        item
    };
    assert_eq!(
        adapter(&peer).deliver(&with_number("8")).await,
        Outcome::NeedsPerson(crate::patients::Unmatched::OtherNumber)
    );
    assert_eq!(uploads(&peer), 0);
    assert_delivered(&adapter(&peer).deliver(&with_number("7")).await);
    assert_eq!(uploads(&peer), 1);
}
