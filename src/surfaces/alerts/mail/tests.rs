use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;

use super::*;
use crate::config::MailEncryption;

fn config(from: &str, port: u16) -> MailConfig {
    MailConfig {
        host: "127.0.0.1".into(),
        port,
        encryption: MailEncryption::None,
        user: None,
        from: from.into(),
        to: vec!["it@practice.test".into()],
    }
}

/// A mail server that answers each command with 250. At the command that begins with `ends_at` it gives `answer`; if
/// that is empty, it hangs up.
async fn server(ends_at: &'static str, answer: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut stream = BufReader::new(stream);
        if ends_at != "greeting" {
            stream.write_all(b"220 test ESMTP\r\n").await.unwrap();
        }
        let (mut line, mut in_text) = (String::new(), false);
        while ends_at != "greeting" && stream.read_line(&mut line).await.unwrap_or(0) > 0 {
            let is_end = line.starts_with(ends_at);
            let said = match line.as_str() {
                _ if is_end => answer,
                ".\r\n" => "250 taken\r\n",
                _ if in_text => "",
                "DATA\r\n" => "354 go on\r\n",
                _ => "250 ok\r\n",
            };
            in_text |= said.starts_with("354");
            if stream.write_all(said.as_bytes()).await.is_err() || (is_end && answer.is_empty()) {
                return;
            }
            line.clear();
        }
    });
    port
}

#[tokio::test]
async fn only_a_mail_whose_text_was_sent_may_have_arrived() {
    let message = crate::surfaces::alerts::test_message(&crate::surfaces::alerts::Letterhead::default());
    for (ends_at, answer, may_have_arrived) in [
        ("greeting", "", false),
        ("EHLO", "", false),
        ("MAIL", "", false),
        ("RCPT", "", false),
        ("DATA", "", false),
        ("DATA", "451 later\r\n", false),
        (".\r\n", "", true),
        (".\r\n", "452 no room\r\n", false),
    ] {
        let mail = Mail::new(config("docsyncd@practice.test", server(ends_at, answer).await));
        let wrong = mail.send(&message).await.expect_err(ends_at);
        assert_eq!(wrong.may_have_arrived, may_have_arrived, "{ends_at} {answer}: {wrong}");
    }
    let nobody = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let wrong = Mail::new(config("docsyncd@practice.test", nobody)).send(&message).await.unwrap_err();
    assert!(!wrong.may_have_arrived && wrong.what.contains("cannot be reached: the connection is refused"), "{wrong}");
    // RFC 6761, section 6.4: this name never exists.
    let unknown = MailConfig { host: "mail.invalid".into(), ..config("docsyncd@practice.test", nobody) };
    let wrong = Mail::new(unknown).send(&message).await.unwrap_err();
    assert!(wrong.what.contains("cannot be reached: its name is not known (DNS)"), "{wrong}");
}

/// TLS on a plain port, and the reverse: the error says what to set.
#[tokio::test]
#[cfg_attr(windows, ignore = "needs certificates of authorities, of which wine has none")]
async fn a_port_with_the_other_kind_of_encryption_is_told_as_that() {
    let message = crate::surfaces::alerts::test_message(&crate::surfaces::alerts::Letterhead::default());
    let tls = MailConfig { encryption: MailEncryption::Tls, ..config("docsyncd@practice.test", server("-", "").await) };
    let port = tls.port;
    let wrong = Mail::new(tls).send(&message).await.unwrap_err();
    assert_eq!(
        wrong.what,
        format!(
            "the mail server: it speaks no TLS on port {port}: set alerts.mail.encryption = \"starttls\" (usual on port 587), or \
             alerts.mail.port to its TLS port (usually 465)"
        )
    );
    // A server that waits for TLS says nothing before it.
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = silent.local_addr().unwrap().port();
    for encryption in [MailEncryption::StartTls, MailEncryption::None] {
        let config = MailConfig { encryption, ..config("docsyncd@practice.test", port) };
        let mail = Mail { step_limit: Duration::from_millis(100), ..Mail::new(config) };
        let wrong = mail.send(&message).await.unwrap_err();
        assert!(wrong.what.ends_with("set alerts.mail.encryption = \"tls\"") && !wrong.may_have_arrived, "{wrong}");
    }
}

#[test]
fn only_letters_digits_dashes_and_dots_without_accents_stand_in_headers() {
    for (computer, from, domain) in [
        ("CABINET-2.test", "a@practice.test", "CABINET-2.test"),
        ("CABINET-M\u{c9}DICAL", "a@practice.test", "practice.test"),
        ("cabinet_2", "a@cabinet-m\u{e9}dical.test", "localhost"),
    ] {
        assert_eq!(Mail::new(config(from, 25)).domain(computer), domain, "{computer} {from}");
    }
}

#[test]
fn a_mail_says_one_thing_after_the_other_in_paragraphs_and_an_english_one_as_it_is() {
    let group = crate::formats::language::Group {
        cause: crate::domain::health::Cause::Destination,
        names: vec!["pms".into()],
        count: 3,
        since: None,
    };
    let content = crate::surfaces::alerts::Content::new(super::super::decide::AlertKind::Problem, &group, 0);
    let practice = crate::config::PracticeConfig { contact: Some("IT, 030 1234".into()), ..Default::default() };
    let head = crate::surfaces::alerts::Letterhead { practice, computer: "vm".into(), ..Default::default() };
    let mail = Mail::new(config("docsyncd@practice.test", 25)).mail(&Message::new("msg_1".into(), &content, &head));
    let (headers, body) = mail.split_once("\r\n\r\n").unwrap();
    assert!(headers.contains("\r\nSubject: 3 letters wait: the destination pms cannot be reached\r\n"), "{headers}");
    let paragraphs: Vec<&str> = body.trim_end().split("\r\n\r\n").collect();
    assert_eq!(
        paragraphs,
        [
            "The destination pms cannot be reached.",
            "What to do: Check that the computer with the folder is switched on, and that the folder can be opened. Then \
             press \"It is mended, try again\".",
            "docsyncd has no page here: the commands below do the same.",
            "Whom to call: IT, 030 1234",
            "For IT, on vm: Check that its computer runs and that the folder is there, then run: docsyncd check",
        ]
    );
    let german = crate::surfaces::alerts::Letterhead { language: crate::formats::language::Language::German, ..head };
    let mail = Mail::new(config("docsyncd@practice.test", 25)).mail(&Message::new("msg_1".into(), &content, &german));
    assert!(mail.contains("base64"), "{mail}");
}
