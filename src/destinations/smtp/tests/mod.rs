//! Tests the adapter against a mail server of the tests; tests/it/mail.rs tests it against aiosmtpd.

mod faults;
mod peer;
mod xdm;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::super::contract::{
    CANARY, Place, RemotePlace, SECRET, Spool, assert_delivered, keeps_the_contract, keeps_the_remote_contract, reason,
};
use super::*;
use crate::config::Secret;
use crate::destinations::Attach;
use crate::formats::template::{Template, TemplateKind, TextFormat};
use crate::system::tls::TlsFiles;
use peer::Peer;

const TEXT: TemplateKind = TemplateKind::Text(TextFormat::Plain);

fn compile(kind: TemplateKind, source: &str) -> Arc<Template> {
    Arc::new(Template::compile(kind, source).unwrap())
}

/// A server, and a configuration for it.
struct Post {
    peer: Peer,
    config: SmtpConfig,
    _secrets: tempfile::TempDir,
}

fn post() -> Post {
    let (peer, secrets) = (Peer::start(), tempfile::tempdir().unwrap());
    let file = secrets.path().join("password");
    crate::destinations::contract::write_secret(&file, &format!("{SECRET}\n"));
    {
        let mut state = peer.state();
        state.signs_in = Some(STANDARD.encode(format!("\0u\0{SECRET}")));
        state.offers = vec!["SIZE 100000000", "AUTH LOGIN PLAIN"];
    }
    let config = SmtpConfig {
        name: "pms".to_owned(),
        host: "127.0.0.1".to_owned(),
        port: peer.port,
        encryption: MailEncryption::None,
        user: Some(("u".to_owned(), Secret::File(file))),
        tls: TlsFiles::default(),
        from: "letters@practice.test".to_owned(),
        to: compile(TEXT, "inbox@clinic.test"),
        allowed_domains: Vec::new(),
        subject: compile(TEXT, "Document {{ key }}"),
        body: compile(TEXT, "Bonjour\n.\nà bientôt"),
        attach: Attach::Pdf,
        attachment_name: compile(TemplateKind::RemoteName, "{{ document.type }}.pdf"),
        timeout: Duration::from_secs(20),
        max_connections: 4,
        on_lost_reply: LostReply::Resend,
    };
    Post { peer, config, _secrets: secrets }
}

impl Post {
    fn smtp(&self) -> SmtpAdapter {
        SmtpAdapter::new(self.config.clone())
    }

    fn answers(&self, step: &'static str, answer: &'static str) {
        self.peer.state().answers = [(step, answer)].into();
    }

    async fn deliver(&self, content: &[u8]) -> Outcome {
        self.smtp().deliver(&Spool::new().item(1, content)).await
    }
}

impl Place for Post {
    fn adapter(&self) -> Box<dyn Adapter> {
        Box::new(self.smtp())
    }

    fn objects(&self) -> BTreeMap<String, Vec<u8>> {
        self.peer.attached()
    }

    fn break_down(&self) {
        self.peer.close();
    }
}

impl RemotePlace for Post {
    fn lose_next_reply(&self) {
        self.peer.state().loses_reply = true;
    }

    fn cut_after(&self, bytes: usize) {
        self.peer.state().cut_after = Some(bytes);
    }

    /// A mail has no name that could be taken.
    fn occupy(&self, name: &str, content: &[u8]) {
        let text = format!(
            "Message-ID: {name}\r\nContent-Type: multipart/mixed; boundary=\"b\"\r\n\r\n--b\r\n\r\n\r\n--b\r\nA: b\r\n\r\n{}\r\n--b--\r\n",
            STANDARD.encode(content)
        );
        let mail = peer::Mail { from: String::new(), to: Vec::new(), text };
        self.peer.state().mails.push(mail);
    }

    fn revoke_credentials(&self) {
        self.peer.state().signs_in = None;
    }
}

keeps_the_contract!(post());
keeps_the_remote_contract!(post(), "<another@clinic.test>");

#[tokio::test]
async fn a_mail_has_its_letter_and_a_message_id_that_is_the_same_at_each_try() {
    let post = post();
    let spool = Spool::new();
    let mut item = spool.item(1, b"%PDF-1.7 letter");
    let place = assert_delivered(&post.smtp().deliver(&item).await);
    let id = format!("<{}@practice.test>", item.key);
    assert_eq!(place, format!("mailto:inbox@clinic.test {id}"));
    item.replaces = Some("0123456789abcdef0123456789abcdef".to_owned());
    assert_delivered(&post.smtp().deliver(&item).await);

    let state = post.peer.state();
    let [first, second] = state.mails.as_slice() else { panic!() };
    let before = "<0123456789abcdef0123456789abcdef@practice.test>";
    for (mail, replaced) in [(first, None), (second, Some(before.to_owned()))] {
        assert_eq!(
            (mail.from.as_str(), mail.to.as_slice()),
            ("letters@practice.test", &["inbox@clinic.test".to_owned()][..])
        );
        assert_eq!(mail.header("Message-ID").unwrap(), id);
        assert_eq!((mail.header("References"), mail.header("In-Reply-To")), (replaced.clone(), replaced));
        assert_eq!(mail.header("Date").unwrap(), "Sat, 21 Nov 2026 10:00:00 +0000");
        assert_eq!(mail.header("Subject").unwrap(), format!("Document {}", item.key));
        assert_eq!(mail.header("Disposition-Notification-To").unwrap(), "letters@practice.test");
        assert_eq!(mail.part(1).1, "Bonjour\r\n.\r\nà bientôt\r\n".as_bytes());
        let (head, content) = mail.part(2);
        assert!(head.contains("application/pdf") && head.ends_with("filename=\"lab_slip.pdf\""), "{head}");
        assert_eq!(content, b"%PDF-1.7 letter");
        assert!(
            mail.text.split("\r\n").all(|line| line.is_ascii() && line.len() < 200 && !line.contains(['\r', '\n']))
        );
    }
    // The announced size is that of the received mail (RFC 1870, section 6.3).
    let announced = format!("SIZE={}", first.text.len());
    assert!(state.told.iter().any(|line| line.ends_with(&announced)), "{:?}", state.told);
}

#[tokio::test]
async fn a_number_that_no_address_can_hold_needs_a_person() {
    let mut post = post();
    post.config.to = compile(TEXT, "{{ patient.number }}@letters.clinic.test");
    post.config.allowed_domains = vec!["letters.clinic.test".to_owned()];
    let spool = Spool::new();
    let item = spool.item(1, b"%PDF-1.7 letter");
    let numbered = |number: &str| {
        let mut item = item.clone();
        Arc::make_mut(&mut item.metadata).number = Some(number.to_owned());
        item
    };
    let long = "7".repeat(65);
    for number in ["12 345", "ä12", "1,2", "471.", "１２", "a@b", &long] {
        let outcome = post.smtp().deliver(&numbered(number)).await;
        assert_eq!(outcome, Outcome::NeedsPerson(crate::patients::Unmatched::NotHeld), "{number}");
    }
    assert_delivered(&post.smtp().deliver(&numbered("12/345")).await);
    assert_eq!(post.peer.state().mails[0].to, ["12/345@letters.clinic.test"]);
    // The number is not at fault.
    post.config.to = compile(TEXT, "{{ patient.number }} at {{ patient.lastName }}");
    let outcome = post.smtp().deliver(&numbered("471")).await;
    assert!(matches!(outcome, Outcome::Permanent { .. }), "{outcome:?}");
    post.config.to = compile(TEXT, "inbox@letters.clinic.test");
    assert_delivered(&post.smtp().deliver(&numbered("12 345")).await);
}

/// Each value that a person or the API can choose.
#[tokio::test]
async fn no_value_adds_a_header_a_recipient_or_a_line() {
    for attack in [
        "x\r\nBcc: evil@evil.test\r\n\r\nbody",
        "é\u{85}\u{2028}\r.\r\n",
        "\"; filename=\"a.exe",
        "=?utf-8?q?=0D=0ABcc:_e@e.test?=",
    ] {
        let mut post = post();
        post.config.subject = compile(TEXT, "{{ patient.lastName }}\nX-Evil: {{ document.type }}");
        post.config.attachment_name = compile(TemplateKind::RemoteName, "{{ patient.lastName }}.pdf");
        post.config.body = compile(TEXT, "{{ patient.lastName }}\n.\nQUIT");
        let spool = Spool::new();
        let mut item = spool.item(1, b"%PDF-1.7 letter");
        let mut metadata = (*item.metadata).clone();
        metadata.patient.insert("lastName".to_owned(), attack.into());
        item.metadata = Arc::new(metadata);
        assert_delivered(&post.smtp().deliver(&item).await);
        let state = post.peer.state();
        let mail = state.mails.first().unwrap();
        assert_eq!(
            (mail.to.as_slice(), mail.attached().as_slice()),
            (&["inbox@clinic.test".to_owned()][..], &b"%PDF-1.7 letter"[..])
        );
        let head = mail.text.split("\r\n\r\n").next().unwrap().replace("\r\n ", " ");
        let names: Vec<&str> = head.split("\r\n").map(|line| line.split(": ").next().unwrap()).collect();
        let expected = [
            "Date",
            "From",
            "To",
            "Subject",
            "Message-ID",
            "Disposition-Notification-To",
            "MIME-Version",
            "Content-Type",
        ];
        assert_eq!(names, expected);
        let attached = mail.part(2).0;
        assert_eq!(attached.lines().count(), 4, "{attached}");
    }
}

#[tokio::test]
async fn values_choose_a_recipient_only_within_the_domains_that_are_allowed() {
    let mut post = post();
    post.config.to = compile(TEXT, "{{ patient.email }}");
    post.config.allowed_domains = vec!["clinic.test".to_owned(), "*.mssante.test".to_owned()];
    for (email, expected) in [
        ("a@clinic.test", Ok("a@clinic.test")),
        ("a@x.MSSANTE.test", Ok("a@x.mssante.test")),
        ("a@mssante.test", Err("not_allowed")),
        ("a@evilclinic.test", Err("not_allowed")),
        ("a@clinic.test.evil.test", Err("not_allowed")),
        ("a@evil.test>,<b@clinic.test", Err("not_filled_in")),
        ("a@clinic.test\r\nRCPT TO:<b@evil.test>", Err("not_filled_in")),
        ("\"a b\"@clinic.test", Err("not_filled_in")),
        ("", Err("not_filled_in")),
    ] {
        post.peer.state().mails.clear();
        let mut item = Spool::new().item(1, b"%PDF-1.7 letter");
        let mut metadata = (*item.metadata).clone();
        metadata.patient.insert("email".to_owned(), email.into());
        item.metadata = Arc::new(metadata);
        let spooled = tempfile::tempdir().unwrap();
        item.pdf.path = spooled.path().join("pdf");
        std::fs::write(&item.pdf.path, b"%PDF-1.7 letter").unwrap();
        let outcome = post.smtp().deliver(&item).await;
        let mails = post.peer.state().mails.clone();
        match expected {
            Ok(to) => assert_eq!(mails.first().map(|mail| mail.to.clone()), Some(vec![to.to_owned()]), "{outcome:?}"),
            Err(code) => {
                assert!(
                    matches!(&outcome, Outcome::Permanent { code: Code::Word(word), .. } if word == code),
                    "{outcome:?}"
                );
                assert!(mails.is_empty() && !reason(&outcome).contains('@'), "{outcome:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_mail_that_is_larger_than_the_server_takes_is_not_sent() {
    let post = post();
    post.peer.state().offers = vec!["SIZE 1000000", "AUTH PLAIN"];
    let outcome = post.deliver(&[b'x'; 800_000]).await;
    assert!(
        matches!(&outcome, Outcome::Permanent { code: Code::Word(word), .. } if word == "too_large"),
        "{outcome:?}"
    );
    assert!(reason(&outcome).contains("1000000"), "{outcome:?}");
    assert!(!post.peer.state().told.iter().any(|line| line.starts_with("MAIL")));
    assert_delivered(&post.deliver(&[b'x'; 700_000]).await);
}

#[tokio::test]
async fn nobody_is_told_the_password_who_offers_no_way_to_sign_in_or_no_encryption() {
    for (offers, encryption) in
        [(vec!["AUTH CRAM-MD5"], MailEncryption::None), (vec!["AUTH PLAIN"], MailEncryption::StartTls)]
    {
        let mut post = post();
        post.config.encryption = encryption;
        post.config.tls.ca_file = (encryption != MailEncryption::None).then(|| post._secrets.path().join("ca.pem"));
        std::fs::write(post._secrets.path().join("ca.pem"), include_str!("ca.pem")).unwrap();
        post.peer.state().offers = offers;
        let outcome = post.deliver(b"%PDF-1.7 letter").await;
        assert!(matches!(outcome, Outcome::Unavailable { .. }), "{outcome:?}");
        reason(&outcome);
        let told = post.peer.state().told.join(" ");
        assert!(!told.contains("AUTH") && !told.contains("MAIL"), "{told}");
    }
    // The older method works as well, and without a configured user there is no sign-in.
    let mut post = post();
    post.peer.state().offers = vec!["AUTH LOGIN"];
    post.peer.state().signs_in = Some(STANDARD.encode(SECRET));
    assert_delivered(&post.deliver(b"%PDF-1.7 letter").await);
    post.config.user = None;
    assert_delivered(&post.deliver(b"%PDF-1.7 another").await);
}

#[tokio::test]
async fn a_password_that_is_replaced_counts_at_once() {
    let post = post();
    let adapter = post.smtp();
    post.peer.state().signs_in = Some(STANDARD.encode("\0u\0another"));
    let outcome = adapter.deliver(&Spool::new().item(1, b"%PDF-1.7 letter")).await;
    assert!(matches!(outcome, Outcome::Unavailable { .. }), "{outcome:?}");
    crate::destinations::contract::write_secret(&post._secrets.path().join("password"), "another");
    assert_delivered(&adapter.deliver(&Spool::new().item(1, b"%PDF-1.7 letter")).await);
}

#[tokio::test]
async fn a_check_goes_as_far_as_the_recipient() {
    let mut post = post();
    let checked = post.smtp().check().await.unwrap();
    assert!(checked.notes.iter().any(|note| note.contains("100 MB")) && checked.warnings.is_empty(), "{checked:?}");
    let told = post.peer.state().told.clone();
    let verbs: Vec<&str> = told.iter().filter_map(|line| line.split([' ', ':']).next()).collect();
    assert_eq!(verbs, ["EHLO", "AUTH", "MAIL", "RCPT", "RSET", "QUIT"]);
    for (step, expected) in [("MAIL", "`from`"), ("RCPT", "`to`"), ("RSET", "refuses")] {
        post.answers(step, "550 5.7.1 Canaryworth\r\n");
        let complaint = post.smtp().check().await.unwrap_err();
        assert!(
            complaint.contains("`pms`") && complaint.contains(expected) && !complaint.contains(CANARY),
            "{complaint}"
        );
    }
    post.peer.state().answers.clear();
    post.config.to = compile(TEXT, "{{ patient.email }}");
    post.config.allowed_domains = vec!["clinic.test".to_owned()];
    post.peer.state().told.clear();
    post.smtp().check().await.unwrap();
    assert!(!post.peer.state().told.iter().any(|line| line.starts_with("RCPT")));
}

#[tokio::test]
async fn where_a_letter_would_go_is_told_before() {
    let post = post();
    let item = Spool::new().item(1, b"%PDF-1.7 letter");
    let planned = post.smtp().plan(&item.uuid, &item.metadata, &Known::default()).await.unwrap();
    assert_eq!(planned.place, "mailto:inbox@clinic.test");
    let config = SmtpConfig { to: compile(TEXT, "{{ patient.lastName }}"), ..post.config.clone() };
    let wrong = SmtpAdapter::new(config).plan(&item.uuid, &item.metadata, &Known::default()).await.unwrap_err();
    assert!(wrong.contains("`to`") && !wrong.contains(CANARY), "{wrong}");
}
