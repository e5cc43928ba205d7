//! The contract suite on an upload server in this process, and the faults of HTTP services.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use serde_json::json;

use super::super::contract::{
    self as suite, CANARY, Place, RemotePlace, Spool, assert_delivered, connection, keeps_the_contract, reason,
};
use super::*;
use crate::config::Secret;
use crate::destinations::{HttpBody, LostReply, WebSignIn};
use crate::formats::template::{Template, TemplateKind};
use docsyncd_test_support::peer::{Fault, Peer};

mod answers;
mod confirm;
mod opendental;

fn template(kind: TemplateKind, source: &str) -> Arc<Template> {
    Arc::new(Template::compile(kind, source).unwrap())
}

fn text(source: &str) -> Arc<Template> {
    template(TemplateKind::Field, source)
}

/// A conditional PUT of the PDF to an address of its own.
fn config(peer: &Peer) -> HttpConfig {
    let url = peer.url("/documents/{{ patient.lastName }}/{{ key }}");
    HttpConfig {
        connection: connection(&peer.url("/"), WebSignIn::None),
        url: template(TemplateKind::Url, &url),
        is_put: true,
        body: HttpBody::Raw,
        file_name: template(TemplateKind::RemoteName, "x/{{ patient.lastName }}.pdf"),
        headers: vec![("If-None-Match".to_owned(), text("*"))],
        header_files: Vec::new(),
        success: vec![200, 201, 204],
        lookup: None,
        probe_url: None,
        probe_contains: Vec::new(),
        resend_after: Duration::ZERO,
        check_url: None,
        conflict_is_found: false,
        html_is_success: false,
        on_lost_reply: LostReply::Resend,
        confirm: None,
    }
}

#[tokio::test]
async fn a_number_is_read_as_it_is_in_a_header_a_form_and_a_url_or_the_letter_needs_a_person() {
    use proptest::prelude::*;
    let (peer, spool) = (Peer::start().await, Spool::new());
    let config = HttpConfig {
        url: template(TemplateKind::Url, &peer.url("/p/{{ patient.number }}?n={{ patient.number }}")),
        headers: vec![("X-Patient".to_owned(), text("{{ patient.number }}"))],
        body: HttpBody::Multipart {
            file_field: "file".to_owned(),
            fields: vec![("n".to_owned(), text("{{ patient.number }}"))],
        },
        ..config(&peer)
    };
    let item = spool.item(1, b"%PDF-1.7 letter");
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(1000));
    let result = runner.run(&crate::formats::template::tests::numbers::odd_numbers(), |number| {
        let mut item = item.clone();
        Arc::make_mut(&mut item.metadata).number = Some(number.clone());
        let rendered = match Rendered::new(&config, &item, None) {
            Ok(rendered) => rendered,
            Err(outcome) => {
                prop_assert_eq!(outcome, Outcome::NeedsPerson(Unmatched::NotHeld));
                return Ok(());
            }
        };
        let request = rendered.request(&config, &item.pdf).unwrap();
        prop_assert_eq!(request.headers["x-patient"].to_str().unwrap(), &number);
        prop_assert_eq!(&request.url.query_pairs().next().unwrap().1, &number);
        let part = request.url.path_segments().unwrap().nth(1).unwrap();
        prop_assert_eq!(percent_encoding::percent_decode_str(part).decode_utf8().unwrap(), number);
        Ok(())
    });
    result.unwrap();
    for (number, is_held) in [("12/345", true), ("é12", false)] {
        let mut item = item.clone();
        Arc::make_mut(&mut item.metadata).number = Some(number.to_owned());
        assert_eq!(Rendered::new(&config, &item, None).is_ok(), is_held, "{number}");
    }
}

/// A POST whose result nobody can look up.
fn post(peer: &Peer) -> HttpConfig {
    HttpConfig {
        is_put: false,
        headers: Vec::new(),
        url: template(TemplateKind::Url, &peer.url("/inbox")),
        ..config(peer)
    }
}

struct Server(Peer);

impl Place for Server {
    fn adapter(&self) -> Box<dyn Adapter> {
        Box::new(HttpAdapter::new(config(&self.0)))
    }

    fn objects(&self) -> BTreeMap<String, Vec<u8>> {
        self.0.objects()
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

keeps_the_contract!(Server(Peer::start().await));

// A service does not rename a document whose address is taken: another test covers that.
#[tokio::test]
async fn a_lost_reply_is_one_object() {
    suite::remote::a_lost_reply_is_one_object(Server(Peer::start().await)).await;
}

#[tokio::test]
async fn a_cut_transfer_shows_nothing() {
    suite::remote::a_cut_transfer_shows_nothing(Server(Peer::start().await)).await;
}

#[tokio::test]
async fn refused_credentials_are_the_destinations() {
    let peer = Peer::start().await;
    peer.state().closed = Some(401);
    let config = HttpConfig { check_url: Some(peer.url("/").parse().unwrap()), ..config(&peer) };
    let adapter = HttpAdapter::new(config);
    let outcome = adapter.deliver(&Spool::new().item(1, b"%PDF-1.7 letter")).await;
    assert!(matches!(outcome, Outcome::Unavailable { .. }), "{outcome:?}");
    assert!(reason(&outcome).contains("`pms`") && adapter.check().await.unwrap_err().contains("`pms`"));
}

async fn deliver(config: HttpConfig, item: &Item) -> Outcome {
    HttpAdapter::new(config).deliver(item).await
}

#[tokio::test]
async fn what_is_sent_is_the_pdf_with_its_length_its_key_and_the_headers_of_the_templates() {
    let (peer, spool) = (Peer::start().await, Spool::new());
    let item = spool.item(1, b"%PDF-1.7 letter");
    let mut config = config(&peer);
    config.headers.push(("X-Patient".to_owned(), text("{{ patient.firstName }}\r\nX-Evil: 1")));
    let place = assert_delivered(&deliver(config, &item).await);
    assert_eq!(place, peer.url(&format!("/documents/{CANARY}/{}", item.key)));
    let received = peer.received(&Method::PUT).remove(0);
    assert_eq!(received.header("content-length"), Some("15"));
    assert_eq!(received.header("transfer-encoding"), None);
    assert_eq!(received.header("content-type"), Some("application/pdf"));
    assert_eq!(received.header("idempotency-key"), Some(item.key.as_str()));
    assert_eq!(received.headers["x-patient"].as_bytes(), "Zoé  X-Evil: 1".as_bytes());
    assert_eq!(received.header("x-evil"), None);
}

#[tokio::test]
async fn a_form_and_json_hold_the_pdf_and_the_fields() {
    let (peer, spool) = (Peer::start().await, Spool::new());
    let content = b"%PDF-1.7 letter ".repeat(9000);
    let item = spool.item(1, &content);
    let source = r#"{"name": "{{ patient.lastName }}", "of": {{ document.uuid }}, "content": "{{ file_base64 }}"}"#;
    let body = HttpBody::Json(template(TemplateKind::JsonBody, source));
    assert_delivered(&deliver(HttpConfig { body, ..post(&peer) }, &item).await);
    let body = HttpBody::Multipart {
        file_field: "file".to_owned(),
        fields: vec![("patient".to_owned(), text("{{ patient.firstName }}"))],
    };
    assert_delivered(&deliver(HttpConfig { body, ..post(&peer) }, &item).await);
    let received = peer.received(&Method::POST);
    let sent: serde_json::Value = serde_json::from_slice(&received[0].body).unwrap();
    assert_eq!(sent, json!({"name": CANARY, "of": item.uuid.as_str(), "content": STANDARD.encode(&content)}));
    assert_eq!(received[0].header("content-type"), Some("application/json"));
    let boundary = received[1].header("content-type").unwrap().strip_prefix("multipart/form-data; boundary=").unwrap();
    let expected = [
        format!("--{boundary}\r\nContent-Disposition: form-data; name=\"patient\"\r\n\r\nZoé\r\n").into_bytes(),
        format!("--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{CANARY}.pdf\"\r\n")
            .into_bytes(),
        b"Content-Type: application/pdf\r\n\r\n".to_vec(),
        content.clone(),
        format!("\r\n--{boundary}--\r\n").into_bytes(),
    ];
    assert!(received[1].body == expected.concat(), "the form");
    assert_eq!(received[1].header("content-length"), Some(received[1].body.len().to_string().as_str()));
}

#[tokio::test]
async fn something_else_at_the_address_is_kept_and_the_document_is_found_only_by_its_content() {
    let (peer, spool) = (Peer::start().await, Spool::new());
    let item = spool.item(1, b"%PDF-1.7 letter");
    assert_delivered(&deliver(config(&peer), &item).await);
    peer.state().objects.values_mut().for_each(|kept| kept.content = b"%PDF-1.7 lettex".to_vec());
    let outcome = deliver(config(&peer), &item).await;
    assert!(matches!(outcome, Outcome::Permanent { .. }), "{outcome:?}");
    reason(&outcome);
    assert_eq!(peer.objects().into_values().collect::<Vec<_>>(), [b"%PDF-1.7 lettex"]);
    // A document that cannot be seen is neither.
    peer.state().other_faults.push_back((Method::GET, Fault::Refuse(405, None)));
    let outcome = deliver(config(&peer), &item).await;
    assert!(matches!(outcome, Outcome::Transient { .. }), "{outcome:?}");
}

#[tokio::test]
async fn a_new_version_at_a_shared_address_is_told_what_to_write() {
    let (peer, spool) = (Peer::start().await, Spool::new());
    let url = template(TemplateKind::Url, &peer.url("/{{ document.uuid }}.pdf"));
    assert_delivered(
        &deliver(HttpConfig { url: url.clone(), ..config(&peer) }, &spool.item(1, b"%PDF-1.7 letter")).await,
    );
    let outcome = deliver(HttpConfig { url, ..config(&peer) }, &spool.item(1, b"%PDF-1.7 letter, anew")).await;
    assert!(matches!(outcome, Outcome::Permanent { .. }), "{outcome:?}");
    assert!(reason(&outcome).contains("{{ key }}") && !reason(&outcome).contains("document.uuid"));
}

#[tokio::test]
async fn nobody_there_pauses_the_destination() {
    let spool = Spool::new();
    let peer = Peer::start().await;
    let config = config(&peer);
    drop(peer);
    tokio::task::yield_now().await;
    let outcome = deliver(config.clone(), &spool.item(1, b"%PDF-1.7 letter")).await;
    assert!(matches!(outcome, Outcome::Unavailable { .. }), "{outcome:?}");
    assert!(reason(&outcome).contains("refused"));
    assert!(HttpAdapter::new(config).check().await.is_err());
}

#[tokio::test]
async fn secrets_go_to_the_service_and_a_file_that_is_replaced_counts_at_once() {
    let (peer, spool, folder) = (Peer::start().await, Spool::new(), tempfile::tempdir().unwrap());
    let write = |name: &str, content: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        #[cfg(unix)]
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        Secret::File(path)
    };
    let mut config = config(&peer);
    config.connection.sign_in = WebSignIn::Bearer(write("token", "t-1\n"));
    config.header_files = vec![("X-Api-Key".to_owned(), write("key", "k-1"))];
    config.check_url = Some(peer.url("/alive").parse().unwrap());
    let adapter = HttpAdapter::new(config);
    peer.state().authorization = Some("Bearer t-2".to_owned());
    let item = spool.item(1, b"%PDF-1.7 letter");
    let outcome = adapter.deliver(&item).await;
    assert!(matches!(outcome, Outcome::Unavailable { .. }), "{outcome:?}");
    assert!(!reason(&outcome).contains("t-1"));
    let complaint = adapter.check().await.unwrap_err();
    assert!(complaint.contains("401") && !complaint.contains("t-1"), "{complaint}");
    write("token", "t-2");
    assert_delivered(&adapter.deliver(&item).await);
    assert_eq!(peer.received(&Method::PUT).last().unwrap().header("x-api-key"), Some("k-1"));
    std::fs::remove_file(folder.path().join("token")).unwrap();
    let outcome = adapter.deliver(&item).await;
    assert!(matches!(outcome, Outcome::Unavailable { .. }), "{outcome:?}");
    assert!(reason(&outcome).contains("bearer_token_file"));
}

#[tokio::test]
async fn a_value_that_would_lead_elsewhere_is_refused_before_anything_is_sent() {
    let (peer, spool) = (Peer::start().await, Spool::new());
    let mut item = spool.item(1, b"%PDF-1.7 letter");
    let patient = json!({"lastName": ".", "firstName": "/../../x"});
    Arc::make_mut(&mut item.metadata).patient = patient.as_object().cloned().unwrap();
    let at = |source: &str| HttpConfig { url: template(TemplateKind::Url, &peer.url(source)), ..config(&peer) };
    assert_delivered(&deliver(at("/a/{{ patient.firstName }}"), &item).await);
    assert_eq!(peer.received(&Method::PUT)[0].path, "/a/_.._.._x");
    let outcome = deliver(at("/a/.{% if patient.lastName %}.{% endif %}/b"), &item).await;
    assert!(matches!(outcome, Outcome::Permanent { .. }), "{outcome:?}");
    assert_eq!(peer.received(&Method::PUT).len(), 1);
}
