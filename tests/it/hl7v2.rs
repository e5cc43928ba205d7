//! A receiver of HL7 v2 over MLLP, with the real program: one of this process that fails on demand, and a real one.

use std::time::Duration;

use crate::dictated::*;
use crate::harness::{Ended, Practice};
use crate::mllp::{Fault, Peer, acknowledgment, block};

mod encrypted;
#[cfg(unix)]
mod real;

const CANARY: &str = "Canaryworth";

/// The documents of a practice go to a receiver.
async fn practice_of(peer: &Peer, documents: usize, more: &str) -> (Practice, Vec<String>) {
    let (practice, uuids) = practice_with_small(documents).await;
    configure(&practice, peer.address.port(), more);
    (practice, uuids)
}

fn configure(practice: &Practice, port: u16, more: &str) {
    practice.configure_wholly(&format!(
        "{}[destinations.engine]\ntype = \"hl7v2\"\nhost = \"127.0.0.1\"\nport = {port}\nresponse_timeout = \"2s\"\n{more}\n",
        practice.base_config()
    ));
}

fn assert_no_words(ended: &Ended) {
    assert!(!ended.stdout.contains(CANARY) && !ended.stderr.contains(CANARY), "{ended:?}");
}

#[tokio::test]
async fn whatever_the_receiver_does_each_letter_is_there_once_and_reported_once() {
    let peer = Peer::start().await;
    let late = Duration::from_secs(4);
    for fault in [
        Fault::LoseReply,
        Fault::refuse("AR", ""),
        Fault::refuse("AE", "207"),
        Fault::CutAfter(100),
        Fault::Say(block(&acknowledgment("AA", "OF-ANOTHER"))),
        Fault::Say(acknowledgment("AA", "{id}")),
        Fault::Say(format!("\u{b}{}", acknowledgment("AA", "{id}").split_at(50).0)),
        Fault::Late(late),
    ] {
        peer.inject(fault);
    }
    let (practice, uuids) = practice_of(&peer, 12, "keep_connection_open = true").await;
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert_no_words(&synced);
    assert_each_reported_once(&practice, &uuids);
    assert_eq!(sorted(peer.objects()), small_pdfs(12));
    let shown = practice.show(&uuids[0]).await;
    assert_eq!(shown["deliveries"][0]["proof"], "accepted", "{shown}");
    let place = shown["deliveries"][0]["place"].as_str().unwrap();
    assert!(peer.objects().keys().any(|id| place.contains(id.as_str())), "{place}");
}

#[tokio::test]
async fn a_letter_that_is_refused_is_told_by_its_code_and_holds_up_no_other() {
    let peer = Peer::start().await;
    peer.inject(Fault::refuse("AE", "101"));
    let (practice, uuids) = practice_of(&peer, 3, "max_connections = 1").await;
    let synced = practice.sync().await;
    assert_eq!(synced.code, 3, "{synced:?}");
    assert_no_words(&synced);
    let error = only_failure(&practice);
    assert!(error.contains("error 101") && !error.contains(CANARY), "{error}");
    assert_eq!((practice.sandbox.status_posts().len(), peer.objects().len(), uuids.len()), (3, 2, 3));
}

#[tokio::test]
async fn a_receiver_that_takes_no_such_messages_is_paused_and_check_connects_only() {
    let peer = Peer::start().await;
    (0..100).for_each(|_| peer.inject(Fault::refuse("AR", "200")));
    let (practice, uuids) = practice_of(&peer, 3, "").await;
    let checked = practice.docsyncd(&["check"]).await;
    assert!(checked.code == 0 && checked.stdout.contains("no message is sent"), "{checked:?}");
    assert!(peer.received().is_empty());
    let mut running = practice.run().await;
    wait_for_pause(&practice, "destination:engine").await;
    assert!(practice.sandbox.status_posts().is_empty());
    peer.state().faults.clear();
    practice.wait_for_posts(3).await;
    running.end().await;
    assert_each_reported_once(&practice, &uuids);
    peer.stop();
    let checked = practice.docsyncd(&["check"]).await;
    assert!(checked.code == 1 && checked.stdout.contains("the connection is refused"), "{checked:?}");
}

#[tokio::test]
async fn what_may_have_arrived_waits_for_a_person_where_that_is_wanted() {
    let peer = Peer::start().await;
    peer.inject(Fault::LoseReply);
    let (practice, uuids) = practice_of(&peer, 1, "on_lost_reply = \"hold\"").await;
    assert_eq!(practice.sync().await.code, 3);
    let shown = practice.docsyncd(&["show", &uuids[0]]).await;
    assert!(shown.stdout.contains("may have arrived"), "{shown:?}");
    assert_eq!(practice.sync().await.code, 3);
    assert_eq!((peer.received().len(), practice.sandbox.status_posts().len()), (1, 0), "nothing more is sent");
    assert_eq!(practice.docsyncd(&["retry", "--yes", &uuids[0]]).await.code, 0);
    assert_eq!(practice.sync().await.code, 0);
    assert_each_reported_once(&practice, &uuids);
    let ids: Vec<String> = peer.received().iter().map(crate::mllp::Received::control_id).collect();
    assert!(ids.len() == 2 && ids[0] == ids[1], "{ids:?}");
}

#[tokio::test]
async fn a_new_version_replaces_the_one_before_it() {
    let peer = Peer::start().await;
    let (practice, uuids) = practice_of(&peer, 1, "").await;
    assert_eq!(practice.sync().await.code, 0);
    practice.sandbox.replace_pdf(&uuids[0], pdf("another version")).await.unwrap();
    practice.sandbox.set_listed(&uuids[0], true).await.unwrap();
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    let [first, second] = &peer.received()[..] else { panic!("{:?}", peer.received()) };
    assert_eq!([first.field("MSH", 9), second.field("MSH", 9)], ["MDM^T02^MDM_T02", "MDM^T10^MDM_T02"]);
    assert_eq!([first.field("OBX", 11), second.field("OBX", 11)], ["F", "C"]);
    assert_eq!([first.field("TXA", 13), second.field("TXA", 13)], [String::new(), first.field("TXA", 12)]);
    assert_ne!(second.field("TXA", 12), first.field("TXA", 12));
}

#[tokio::test]
async fn each_fault_of_a_configuration_has_its_own_message() {
    let practice = Practice::with_documents(0).await;
    let hl7 = "type = \"hl7v2\"\nhost = \"engine.test\"\n";
    for (toml, sign) in [
        ("type = \"hl7v2\"\n".to_owned(), "`destinations.pms.host` is missing"),
        (hl7.replace("engine.test", "mllp://engine.test"), "with a scheme"),
        (format!("{hl7}port = 0\n"), "out of range"),
        (format!("{hl7}message = \"ADT^A01\"\n"), "`destinations.pms.message`"),
        (format!("{hl7}version = \"3.0\"\n"), "`destinations.pms.version`"),
        (format!("{hl7}charset = \"latin1\"\n"), "`destinations.pms.charset`"),
        (format!("{hl7}ack_error = \"ignore\"\n"), "`destinations.pms.ack_error`"),
        (format!("{hl7}on_lost_reply = \"drop\"\n"), "`destinations.pms.on_lost_reply`"),
        (format!("{hl7}sending_application = \"A|B\"\n"), "sign that separates"),
        (format!("{hl7}receiving_facility = \"A~B\"\n"), "sign that separates"),
        (format!("{hl7}assigning_authority = \"A\\rPID\"\n"), "sign that separates"),
        (format!("{hl7}patient_id = \"{{{{ patient.number }}}}\"\n"), "there is no [patients]"),
        (format!("{hl7}type_map = {{ lab_slip = \"letter\" }}\n"), "has no code"),
        (format!("{hl7}client_cert_file = 'c'\n"), "has no key"),
        (format!("{hl7}file_name = \"x\"\n"), "belongs to type"),
        (format!("{hl7}confirm = \"query\"\n"), "belongs to type"),
    ] {
        practice.configure_wholly(&format!("{}[destinations.pms]\n{toml}", practice.base_config()));
        let shown = practice.docsyncd(&["config", "show"]).await;
        assert!(shown.code == 2 && shown.stderr.contains(sign), "{toml}: {sign}: {shown:?}");
        assert!(shown.stderr.contains("line ") && shown.stderr.lines().count() >= 2, "{toml}: {shown:?}");
    }
    practice.configure_wholly(&format!(
        "{}[destinations.pms]\n{hl7}ca_file = 'ca'\nassigning_authority = \"CLINIC&1.2.250.1.999&ISO\"\n",
        practice.base_config()
    ));
    let shown = practice.docsyncd(&["config", "show"]).await;
    assert!(shown.code == 0 && shown.stdout.contains("referral_letter = \"57134-9\""), "{shown:?}");
    for sign in ["sent over the network unencrypted", "no effect without `tls`"] {
        assert!(shown.stderr.contains(sign), "{shown:?}");
    }
}
