//! Filing on a real OpenSSH server: once and whole, whatever is cut off; never to a server that is not the known one.

pub mod openssh;

use docsyncd_sandbox::Options;

use crate::harness::{Practice, sha256};
use openssh::{OpenSsh, make_key};

/// The server, or an end of the test.
macro_rules! server {
    ($options:expr) => {
        match OpenSsh::start($options) {
            Some(server) => server,
            None => return,
        }
    };
}

async fn practice(documents: usize, server: &OpenSsh, more: &str) -> Practice {
    let practice = Practice::with_options(Options { documents, ..Options::default() }).await;
    configure(&practice, server, more);
    practice
}

fn configure(practice: &Practice, server: &OpenSsh, more: &str) {
    practice.configure_wholly(&format!("{}{}", practice.base_config(), server.destination(practice, more)));
}

fn known(server: &OpenSsh) -> String {
    format!("host_key = \"{}\"", server.fingerprint("host_ed25519"))
}

/// Every document of the sandbox lies there exactly once, byte for byte, and nothing else does.
async fn assert_all_filed(practice: &Practice, server: &OpenSsh) {
    let mut expected = Vec::new();
    for document in practice.sandbox.documents().await.unwrap() {
        if document.pdf.is_some() {
            expected.push(sha256(&practice.sandbox.pdf_bytes(&document.uuid).await.unwrap()));
        }
    }
    let mut found: Vec<String> = server.filed().into_values().collect();
    expected.sort();
    found.sort();
    assert_eq!(found, expected, "{:#?}", server.filed());
    practice.assert_spool_empty();
}

/// `paused` of the destination, in `status --json`.
async fn pause(practice: &Practice) -> Option<String> {
    let status = practice.docsyncd(&["status", "--json"]).await;
    let status: serde_json::Value = serde_json::from_str(&status.stdout).unwrap();
    let pauses = status["pauses"].as_array().unwrap();
    let pause = pauses.iter().find(|pause| pause["scope"] == "destination:lab")?;
    Some(pause["reason"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn documents_are_filed_once_over_few_connections_and_check_says_what_is_promised() {
    let server = server!("");
    let practice = practice(12, &server, &known(&server)).await;
    let checked = practice.docsyncd(&["check"]).await;
    assert_eq!(checked.code, 0, "{checked:?}");
    assert!(checked.stdout.contains(&server.fingerprint("host_ed25519")), "{checked:?}");
    assert!(checked.stdout.contains("fsync") && !checked.stdout.contains("warn"), "{checked:?}");
    assert!(server.filed().is_empty(), "{:?}", server.filed());
    let before = server.connections();
    for _ in 0..2 {
        let synced = practice.sync().await;
        assert_eq!(synced.code, 0, "{synced:?}");
        assert_all_filed(&practice, &server).await;
    }
    assert!(server.connections() - before <= 4, "{} connections", server.connections() - before);
}

#[tokio::test]
async fn without_a_known_key_check_tells_the_servers_and_nothing_is_sent() {
    let server = server!("");
    let practice = practice(2, &server, "").await;
    let shown = server.fingerprint("host_ed25519");
    let checked = practice.docsyncd(&["check"]).await;
    assert!(checked.code == 1 && checked.stdout.contains(&format!("host_key = \"{shown}\"")), "{checked:?}");
    let synced = practice.sync().await;
    assert_eq!(synced.code, 3, "{synced:?}");
    assert!(pause(&practice).await.is_some_and(|reason| reason.contains(&shown)));
    assert_eq!(practice.sandbox.status_posts().len(), 0);
    assert!(server.filed().is_empty());
    // As a person mends it.
    configure(&practice, &server, &format!("host_key = \"{shown}\""));
    assert_eq!(practice.sync().await.code, 0);
    assert_all_filed(&practice, &server).await;
}

#[tokio::test]
async fn a_server_whose_key_changed_pauses_the_destination_with_one_alarm_until_it_is_back() {
    let server = server!("");
    let practice = practice(6, &server, &known(&server)).await;
    server.configure("host_rsa", "");
    let mut running = practice.start();
    running.wait_for_log("destination:lab is paused").await;
    let reason = pause(&practice).await.unwrap();
    assert!(reason.contains(&server.fingerprint("host_rsa")), "{reason}");
    assert!(reason.contains(&server.fingerprint("host_ed25519")), "{reason}");
    assert!(server.filed().is_empty());
    server.configure("host_ed25519", "");
    running.wait_for_log("destination:lab works again").await;
    practice.wait_for_posts(6).await;
    assert_eq!(running.log().matches("destination:lab is paused").count(), 1, "{}", running.log());
    assert!(practice.sandbox.status_posts().iter().all(|post| post.error.is_none()));
    running.end().await;
    assert_all_filed(&practice, &server).await;
}

#[tokio::test]
async fn a_known_hosts_file_with_one_kind_of_key_is_enough() {
    let server = server!("");
    server.configure("host_ed25519", &format!("\nHostKey {}", server.path("host_rsa").display()));
    let practice = practice(2, &server, "known_hosts_file = 'known_hosts'").await;
    let key = std::fs::read_to_string(server.path("host_rsa.pub")).unwrap();
    std::fs::write(practice.path("known_hosts"), format!("[127.0.0.1]:{} {key}", server.port)).unwrap();
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert_all_filed(&practice, &server).await;
}

#[tokio::test]
async fn a_key_that_is_open_to_others_or_lacks_its_passphrase_is_a_matter_of_configuration() {
    use std::os::unix::fs::PermissionsExt as _;
    let server = server!("");
    let practice = practice(1, &server, &known(&server)).await;
    let file = practice.path("sftp-key");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    for args in [&["check"][..], &["sync"], &["run"]] {
        let ended = practice.docsyncd(args).await;
        let said = format!("{}{}", ended.stdout, ended.stderr);
        assert!(
            ended.code == 2 && said.contains("open to others") && said.contains("chmod 600"),
            "{args:?}: {ended:?}"
        );
    }
    std::fs::remove_file(&file).unwrap();
    make_key(&file, "ed25519", "open sesame");
    for args in [&["check"][..], &["sync"], &["run"]] {
        let ended = practice.docsyncd(args).await;
        let said = format!("{}{}", ended.stdout, ended.stderr);
        assert!(ended.code == 2 && said.contains("key_passphrase_file"), "{args:?}: {ended:?}");
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn a_server_that_refuses_to_write_fails_no_document() {
    let server = server!("-R");
    let mut practice = practice(3, &server, &known(&server)).await;
    practice.without_patience();
    let synced = practice.sync().await;
    assert_eq!(synced.code, 3, "{synced:?}");
    assert!(pause(&practice).await.is_some_and(|reason| reason.contains("does not allow it (status 3)")));
    assert_eq!(practice.sandbox.status_posts().len(), 0);
    server.configure("host_ed25519", "");
    assert_eq!(practice.sync().await.code, 0);
    assert_all_filed(&practice, &server).await;
}

/// The program is killed, or the server hangs up, again and again in the middle of the work.
#[tokio::test]
async fn whatever_is_cut_off_each_document_is_filed_once() {
    const DOCUMENTS: usize = 150;
    let server = server!("");
    let sidecar = "sidecar = \"{{ key }}\"\nfile_name = \"{{ document.uuid }}.pdf\"\nmax_connections = 2";
    let practice = practice(DOCUMENTS, &server, &format!("{}\n{sidecar}", known(&server))).await;
    for round in 0..8 {
        if server.filed().len() > 2 * DOCUMENTS - 60 {
            // A quick machine.
            break;
        }
        let mut running = practice.start();
        running.wait_for_logs("event=\"delivered\"", 1 + round % 3).await;
        if round % 2 == 0 {
            running.kill().await;
            continue;
        }
        server.hang_up();
        running.wait_for_logs("event=\"delivered\"", 3 + round % 3).await;
        running.kill().await;
    }
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    // A check that was cut off leaves a file, which a later one removes when it is ten minutes old.
    let filed = server.filed().into_iter().filter(|(name, _)| !name.starts_with(".docsyncd-check-"));
    let (pdfs, others): (Vec<_>, Vec<_>) = filed.partition(|(name, _)| name.ends_with(".pdf"));
    assert_eq!((pdfs.len(), others.len()), (DOCUMENTS, DOCUMENTS));
    for (name, found) in &pdfs {
        let uuid = name.strip_suffix(".pdf").unwrap();
        assert_eq!(*found, sha256(&practice.sandbox.pdf_bytes(uuid).await.unwrap()), "{name}");
        assert!(others.iter().any(|(other, _)| *other == format!("{uuid}.txt")), "{name} has no sidecar");
    }
    let mut reported: Vec<String> = practice.sandbox.status_posts().into_iter().map(|post| post.document).collect();
    reported.sort();
    reported.dedup();
    assert_eq!(reported.len(), DOCUMENTS);
}
