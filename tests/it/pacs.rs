//! A DICOM archive, with the real program: one of this process that fails on demand.

use std::time::Duration;

use crate::dicom::{DicomWeb, Fault, Peer};
use crate::dictated::*;
use crate::harness::{Ended, Practice};

const CANARY: &str = "Canaryworth";

/// The documents of a practice go to an archive.
async fn practice_of(peer: &Peer, documents: usize, more: &str) -> (Practice, Vec<String>) {
    let (practice, uuids) = practice_with_small(documents).await;
    let port = peer.address.port();
    configure(&practice, &format!("host = \"127.0.0.1\"\nport = {port}\ncalled_ae_title = \"PACS\"\n{more}"));
    (practice, uuids)
}

fn configure(practice: &Practice, more: &str) {
    practice.configure_wholly(&format!(
        "{}[destinations.pacs]\ntype = \"dicom\"\ntimeout = \"2s\"\n{more}\n",
        practice.base_config()
    ));
}

fn assert_no_words(ended: &Ended) {
    assert!(!ended.stdout.contains(CANARY) && !ended.stderr.contains(CANARY), "{ended:?}");
}

#[tokio::test]
async fn whatever_the_archive_does_each_letter_is_there_once_and_reported_once() {
    let peer = Peer::start().await;
    peer.state().most = 1024;
    let mut flood = vec![4, 0, 0, 0x98, 0x96, 0x80];
    flood.resize(1 << 20, 0);
    for fault in [
        Fault::Abort,
        Fault::Half,
        Fault::OtherInstance,
        Fault::OtherMessage,
        Fault::Silence,
        Fault::Bytes(flood),
        Fault::Reject(false),
        Fault::Refuse(0x0110),
        Fault::CutAfter(100),
        Fault::Say(0xb000),
        Fault::Say(0x0111),
    ] {
        peer.inject(fault);
    }
    for hides in [false, true] {
        peer.state().hides = hides;
        let (practice, uuids) = practice_of(&peer, 12, "").await;
        let synced = practice.sync().await;
        assert_eq!(synced.code, 0, "{synced:?}");
        assert_no_words(&synced);
        assert_each_reported_once(&practice, &uuids);
        assert_eq!(sorted(peer.objects()), small_pdfs(12));
        let shown = practice.show(&uuids[0]).await;
        assert_eq!(shown["deliveries"][0]["proof"], "accepted", "{shown}");
        let place = shown["deliveries"][0]["place"].as_str().unwrap();
        assert!(peer.received().iter().any(|object| place.ends_with(&object.instance())), "{place}");
        peer.state().kept.clear();
        [Fault::Abort, Fault::Silence].into_iter().for_each(|fault| peer.inject(fault));
    }
}

#[tokio::test]
async fn a_letter_that_is_refused_is_told_by_its_code_and_holds_up_no_other() {
    let peer = Peer::start().await;
    peer.inject(Fault::Refuse(0xa900));
    let (practice, _) = practice_of(&peer, 3, "max_connections = 1").await;
    let synced = practice.sync().await;
    assert_eq!(synced.code, 3, "{synced:?}");
    assert_no_words(&synced);
    let error = only_failure(&practice);
    assert!(error.contains("status A900") && !error.contains(CANARY), "{error}");
    assert_eq!((practice.sandbox.status_posts().len(), peer.objects().len()), (3, 2));
}

#[tokio::test]
async fn an_archive_that_takes_no_pdfs_is_paused_and_check_stores_nothing() {
    let peer = Peer::start().await;
    let (practice, uuids) = practice_of(&peer, 3, "").await;
    let checked = practice.docsyncd(&["check"]).await;
    assert!(checked.code == 0 && checked.stdout.contains("asked for a letter"), "{checked:?}");
    peer.state().takes_no_pdfs = true;
    let checked = practice.docsyncd(&["check"]).await;
    assert!(checked.code == 1 && checked.stdout.contains("Encapsulated PDF"), "{checked:?}");
    let mut running = practice.run().await;
    wait_for_pause(&practice, "destination:pacs").await;
    assert!(practice.sandbox.status_posts().is_empty() && peer.received().is_empty());
    peer.state().takes_no_pdfs = false;
    practice.wait_for_posts(3).await;
    running.end().await;
    assert_each_reported_once(&practice, &uuids);
}

#[tokio::test]
async fn what_may_have_arrived_waits_for_a_person_where_nobody_may_ask_and_that_is_wanted() {
    let peer = Peer::start().await;
    peer.state().aborts_queries = true;
    peer.inject(Fault::Abort);
    let (practice, uuids) = practice_of(&peer, 1, "on_lost_reply = \"hold\"").await;
    assert_eq!(practice.sync().await.code, 3);
    let shown = practice.docsyncd(&["show", &uuids[0]]).await;
    assert!(shown.stdout.contains("may have arrived"), "{shown:?}");
    assert_eq!(practice.sync().await.code, 3);
    assert_eq!((peer.received().len(), practice.sandbox.status_posts().len()), (1, 0), "nothing more is sent");
    assert_eq!(practice.docsyncd(&["retry", "--arrived", &uuids[0]]).await.code, 0);
    assert_eq!(practice.sync().await.code, 0);
    assert_each_reported_once(&practice, &uuids);
    assert_eq!(peer.received().len(), 1);
}

#[tokio::test]
async fn a_letter_is_reported_when_a_query_shows_it_and_a_new_version_comes_into_its_series() {
    let peer = Peer::start().await;
    peer.state().hides = true;
    let (practice, uuids) = practice_of(&peer, 1, "confirm = \"query\"").await;
    let mut running = practice.run().await;
    let is_filed = async {
        while status(&practice).await["to_confirm"] != 1 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(crate::harness::PATIENCE, is_filed).await.expect("it is filed");
    assert!(practice.sandbox.status_posts().is_empty());
    peer.state().hides = false;
    practice.wait_for_posts(1).await;
    running.end().await;
    assert_eq!(practice.show(&uuids[0]).await["deliveries"][0]["proof"], "query");
    practice.sandbox.replace_pdf(&uuids[0], pdf("another version")).await.unwrap();
    practice.sandbox.set_listed(&uuids[0], true).await.unwrap();
    let mut running = practice.run().await;
    practice.wait_for_posts(2).await;
    running.end().await;
    let [first, second] = &peer.received()[..] else { panic!("{:?}", peer.received()) };
    assert_eq!([first.study(), first.text(0x20, 0xe)], [second.study(), second.text(0x20, 0xe)]);
    assert_ne!(first.instance(), second.instance());
    let agrees = practice.docsyncd(&["reconcile", "--json"]).await;
    assert_eq!(agrees.code, 0, "{agrees:?}");
    peer.state().kept.clear();
    let differs = practice.docsyncd(&["reconcile", "--json"]).await;
    assert_eq!(differs.code, 3, "{differs:?}");
}

#[tokio::test]
async fn letters_go_over_dicomweb() {
    let web = crate::peer::Peer::start().await;
    web.state().dicom = Some(DicomWeb::default());
    web.inject(crate::peer::Fault::LoseReply);
    web.state().dicom.as_mut().unwrap().says = Some((200, crate::dicom::stored(&["1.2.3"], &[]), false));
    let (practice, uuids) = practice_with_small(6).await;
    configure(&practice, &format!("url = \"{}\"\nverify = \"query\"", web.url("/dicom-web/")));
    assert_eq!(practice.docsyncd(&["check"]).await.code, 0);
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert_each_reported_once(&practice, &uuids);
    let mut found: Vec<Vec<u8>> = {
        let state = web.state();
        state.dicom.as_ref().unwrap().archive.kept.values().map(crate::dicom::Object::pdf).collect()
    };
    found.sort();
    assert_eq!(found, small_pdfs(6));
    assert_eq!(practice.show(&uuids[0]).await["deliveries"][0]["proof"], "query");
}

#[tokio::test]
async fn each_fault_of_a_configuration_has_its_own_message() {
    let practice = Practice::with_documents(0).await;
    let dicom = "type = \"dicom\"\nhost = \"pacs.test\"\n";
    for (toml, sign) in [
        ("type = \"dicom\"\n".to_owned(), "`destinations.pms.host` is missing"),
        (dicom.replace("pacs.test", "dicom://pacs.test"), "with a scheme"),
        (format!("{dicom}url = \"https://pacs.test/dicom-web\"\n"), "stands beside `host`"),
        (format!("{dicom}port = 0\n"), "out of range"),
        (format!("{dicom}called_ae_title = \"A_TITLE_OF_SEVENTEEN\"\n"), "no application entity title"),
        (format!("{dicom}calling_ae_title = \"CLÉ\"\n"), "no application entity title"),
        (format!("{dicom}called_ae_title = 'A\\B'\n"), "no application entity title"),
        (format!("{dicom}called_ae_title = \"\"\n"), "`destinations.pms.called_ae_title`"),
        (format!("{dicom}verify = \"content\"\n"), "shows no content"),
        (format!("{dicom}verify = \"always\"\n"), "`destinations.pms.verify`"),
        (format!("{dicom}confirm = \"taken\"\n"), "shows no files"),
        (format!("{dicom}on_lost_reply = \"drop\"\n"), "`destinations.pms.on_lost_reply`"),
        (format!("{dicom}title = \"{{{{ patient.nickname\"\n"), "is not a template"),
        (format!("{dicom}patient_id = \"{{{{ patient.number }}}}\"\n"), "there is no [patients]"),
        (format!("{dicom}type_map = {{ lab_slip = \"letter\" }}\n"), "has no code"),
        (format!("{dicom}client_cert_file = 'c'\n"), "has no key"),
        (format!("{dicom}file_name = \"x\"\n"), "belongs to type"),
        ("type = \"dicom\"\nurl = \"https://pacs.test/{{ key }}\"\n".to_owned(), "holds values"),
        ("type = \"dicom\"\nurl = \"https://u:p@pacs.test/\"\n".to_owned(), "user name or password"),
        ("type = \"dicom\"\nurl = \"pacs.test\"\n".to_owned(), "does not begin with https://"),
        (
            "type = \"sftp\"\nhost = \"h.test\"\npath = \"/x\"\nuser = \"u\"\nkey_file = \"k\"\nverify = \"query\"\n"
                .to_owned(),
            "not for an SFTP server",
        ),
    ] {
        practice.configure_wholly(&format!("{}[destinations.pms]\n{toml}", practice.base_config()));
        let shown = practice.docsyncd(&["config", "show"]).await;
        assert!(shown.code == 2 && shown.stderr.contains(sign), "{toml}: {sign}: {shown:?}");
        assert!(shown.stderr.lines().count() >= 2, "{toml}: {shown:?}");
    }
    for (toml, signs) in [
        (
            format!(
                "{dicom}ca_file = 'ca'\nproxy = \"http://p.test:1\"\ntype_map = {{ lab_slip = \"1.2.250.1.213.1.1.4.12|X\" }}\n"
            ),
            ["sent over the network unencrypted", "no effect without `tls`", "no effect with `host`", "writes none"],
        ),
        (
            "type = \"dicom\"\nurl = \"http://pacs.test/dicom-web\"\nport = 105\ntls = true\ncalled_ae_title = \"X\"\n"
                .to_owned(),
            [
                "over the network unencrypted",
                "`destinations.pms.port` has no effect with `url`",
                "pms.tls",
                "pms.called_ae_title",
            ],
        ),
    ] {
        practice.configure_wholly(&format!("{}[destinations.pms]\n{toml}", practice.base_config()));
        let shown = practice.docsyncd(&["config", "show"]).await;
        assert!(shown.code == 0 && shown.stdout.contains("referral_letter = \"57134-9\""), "{shown:?}");
        for sign in signs {
            assert!(shown.stderr.contains(sign), "{sign}: {shown:?}");
        }
    }
}
