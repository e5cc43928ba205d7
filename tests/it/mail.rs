//! Letters that go by mail, with the real program: a server of this process that fails on demand and speaks TLS, and
//! aiosmtpd.

#[path = "../../src/destinations/smtp/tests/peer.rs"]
#[allow(dead_code, reason = "the unit tests' server has faults that are not needed here")]
mod peer;
#[cfg(unix)]
mod real;

use std::process::Command;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::dictated::*;
use crate::faults::tools::needs;
use crate::harness::Practice;
use peer::Peer;

/// The letters of a practice go to this server.
fn configure(practice: &Practice, port: u16, more: &str) {
    practice.configure_wholly(&format!(
        "{}[destinations.post]\ntype = \"smtp\"\nhost = \"127.0.0.1\"\nport = {port}\nfrom = \"letters@practice.test\"\n\
         to = \"inbox@clinic.test\"\n{more}\n",
        practice.base_config()
    ));
}

/// Makes `tls.pem` and `tls.key` for these names, with another program before it or none.
fn make_certificate(practice: &Practice, before: &[&str], names: &str) {
    let openssl =
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"];
    let words: Vec<&str> = before.iter().copied().chain(openssl).collect();
    let made = Command::new(words[0])
        .args(&words[1..])
        .args(["-subj", "/CN=canaryworth", "-addext", &format!("subjectAltName={names}")])
        .args(["-addext", "basicConstraints=critical,CA:FALSE", "-keyout", "tls.key", "-out", "tls.pem"])
        .current_dir(practice.dir.path())
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
}

fn shown(practice: &Practice) -> Arc<ServerConfig> {
    let certificate = CertificateDer::from_pem_file(practice.path("tls.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(practice.path("tls.key")).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key);
    Arc::new(config.unwrap())
}

#[tokio::test]
async fn nothing_is_sent_to_a_server_that_shows_another_certificate_or_speaks_before_tls() {
    needs!("openssl", "faketime");
    let (practice, _) = practice_with_small(1).await;
    let trusted = "ca_file = 'ca.pem'\n";
    let good = "IP:127.0.0.1";
    for (before, names, ca, injected, says) in [
        (&[][..], good, "tls.pem", "", ""),
        (&[][..], "DNS:canaryworth.test", "tls.pem", "", "another server's"),
        (&["faketime", "2020-01-01"][..], good, "tls.pem", "", "expired"),
        (&[][..], good, "other.pem", "", "certificate"),
        // Whatever came before TLS could be anybody's (CVE-2011-0411).
        (&[][..], good, "tls.pem", "220 go on\r\n250-canaryworth\r\n", "cannot be understood"),
    ] {
        make_certificate(&practice, &[], good);
        std::fs::rename(practice.path("tls.pem"), practice.path("other.pem")).unwrap();
        make_certificate(&practice, before, names);
        std::fs::copy(practice.path(ca), practice.path("ca.pem")).unwrap();
        for encryption in ["starttls", "tls"] {
            if encryption == "tls" && !injected.is_empty() {
                continue;
            }
            let peer = Peer::start();
            {
                let mut state = peer.state();
                state.tls = Some(shown(&practice));
                state.is_tls_at_once = encryption == "tls";
                state.offers = vec!["STARTTLS"];
                if !injected.is_empty() {
                    state.answers = [("STARTTLS", injected)].into();
                }
            }
            configure(&practice, peer.port, &format!("encryption = \"{encryption}\"\n{trusted}"));
            let checked = practice.docsyncd(&["check"]).await;
            let told = peer.state().told.join(" ");
            if says.is_empty() {
                assert!(checked.code == 0 && told.contains("RCPT") && told.contains("RSET"), "{told} {checked:?}");
                continue;
            }
            let line = checked.stdout.lines().find(|line| line.starts_with("FAIL") && line.contains("post"));
            assert!(
                checked.code == 1 && line.is_some_and(|line| line.contains(says)),
                "{names} {encryption}: {checked:?}"
            );
            assert!(!told.contains("MAIL") && !checked.stdout.contains("canaryworth"), "{told} {checked:?}");
        }
    }
}

#[tokio::test]
async fn a_mail_that_may_have_arrived_waits_for_a_person_or_comes_again_under_the_same_identifier() {
    let (practice, uuids) = practice_with_small(1).await;
    let peer = Peer::start();
    peer.state().loses_reply = true;
    configure(&practice, peer.port, "encryption = \"none\"\non_lost_reply = \"hold\"");
    let synced = practice.sync().await;
    assert_eq!(synced.code, 3, "{synced:?}");
    let shown = practice.docsyncd(&["show", &uuids[0]]).await;
    assert!(shown.stdout.contains("may have arrived"), "{shown:?}");
    assert_eq!(practice.docsyncd(&["retry", "--yes", &uuids[0]]).await.code, 0);
    assert_eq!(practice.sync().await.code, 0);
    assert_each_reported_once(&practice, &uuids);
    let state = peer.state();
    let ids: Vec<_> = state.mails.iter().map(|mail| mail.header("Message-ID").unwrap()).collect();
    assert!(ids.len() == 2 && ids[0] == ids[1], "{ids:?}");
}

#[tokio::test]
async fn a_mailbox_that_is_refused_is_told_by_its_code_and_pauses_nobody_for_what_passes() {
    let (practice, uuids) = practice_with_small(1).await;
    let peer = Peer::start();
    peer.state().answers = [("RCPT", "550 5.1.1 Canaryworth lives here no more\r\n")].into();
    configure(&practice, peer.port, "encryption = \"none\"");
    let synced = practice.sync().await;
    assert_eq!(synced.code, 3, "{synced:?}");
    let shown = practice.docsyncd(&["show", &uuids[0]]).await;
    assert!(shown.stdout.contains("550 5.1.1"), "{shown:?}");
    for text in [&synced.stderr, &synced.stdout, &shown.stdout] {
        assert!(!text.contains("Canaryworth"), "{text}");
    }
}

#[tokio::test]
async fn a_new_version_names_the_one_that_came_before() {
    let (practice, uuids) = practice_with_small(1).await;
    let peer = Peer::start();
    configure(&practice, peer.port, "encryption = \"none\"");
    practice.sandbox.set_quirks(docsyncd_sandbox::Quirks { stays_listed: true, ..docsyncd_sandbox::Quirks::default() });
    assert_eq!(practice.sync().await.code, 0);
    practice.sandbox.replace_pdf(&uuids[0], pdf("second version")).await.unwrap();
    assert_eq!(practice.sync().await.code, 0);
    let state = peer.state();
    let [first, second] = state.mails.as_slice() else { panic!("{:?}", state.mails) };
    assert_eq!(first.header("References"), None);
    for header in ["References", "In-Reply-To"] {
        assert_eq!(second.header(header), first.header("Message-ID"), "{header}");
    }
    assert_eq!(second.attached(), pdf("second version"));
}
