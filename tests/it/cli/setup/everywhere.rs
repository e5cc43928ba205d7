//! Every type of destination, and everybody who is told, set up by a file of answers.

use docsyncd_sandbox::Options;
use hyper::HeaderMap;

use super::{config, setup_with, written};
use crate::alerts::receivers::{MailServer, WebServer};
use crate::harness::{Ended, Practice};
use crate::peer::{Kept, Peer};

const SECRET: &str = "s3cret-of-the-peer";

async fn practice(documents: usize) -> Practice {
    let practice = Practice::with_options(Options { documents, ..Options::default() }).await;
    practice.write_secret("secret", SECRET);
    practice
}

fn account(practice: &Practice) -> String {
    format!(
        "base_url = \"{}\"\napi_key_from = \"api-key\"\nstate_path = \"state/ledger.sqlite3\"\n",
        practice.sandbox.url()
    )
}

async fn set_up(practice: &Practice, more: &str) -> Ended {
    setup_with(practice, &format!("{}{more}", account(practice))).await
}

/// The secret lies in a file of its own, which only its owner can read, and nowhere else.
fn assert_kept(practice: &Practice, file: &str, ended: &Ended) {
    let path = practice.path("etc").join(file);
    assert_eq!(std::fs::read_to_string(&path).unwrap().trim(), SECRET, "{file}");
    #[cfg(unix)]
    assert_eq!(super::mode(&path), 0o600, "{file}");
    assert!(!written(practice).contains(SECRET) && !ended.stdout.contains(SECRET), "{file}: {ended:?}");
}

#[tokio::test]
async fn services_that_speak_http_are_tried_and_get_the_letters() {
    for (preset, answers, file) in [
        (
            "http",
            "url = \"URL/inbox/{{ key }}\"\ncheck_url = \"URL/status\"\nbearer_token_from = \"secret\"\n",
            "bearer-token-pms",
        ),
        (
            "webdav",
            "url = \"URL/dav\"\npath = \"/letters\"\nuser = \"u\"\npassword_from = \"secret\"\n",
            "password-pms",
        ),
        (
            "s3",
            "endpoint = \"URL\"\nbucket = \"docs\"\nprefix = \"in/\"\naccess_key_id = \"AK\"\nsecret_access_key_from = \"secret\"\n",
            "secret-access-key-pms",
        ),
    ] {
        let peer = Peer::start().await;
        match preset {
            "webdav" => peer.state().folders = Some(["/dav", "/dav/letters"].map(str::to_owned).into()),
            "s3" => peer.state().bucket = Some("docs".to_owned()),
            _ => {
                let there = Kept { content: b"here".to_vec(), headers: HeaderMap::new() };
                peer.state().objects.insert("/status".to_owned(), there);
            }
        }
        let practice = practice(2).await;
        let answers = format!("preset = \"{preset}\"\n{}", answers.replace("URL", peer.url("").trim_end_matches('/')));
        let ended = set_up(&practice, &answers).await;
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{preset}: {ended:?}");
        assert!(ended.stdout.contains("tried: it works"), "{preset}: {ended:?}");
        assert_kept(&practice, file, &ended);
        let synced = practice.docsyncd_without_config(&["--config", &config(&practice), "sync"]).await;
        let letters = peer.objects().into_values().filter(|content| content.starts_with(b"%PDF-")).count();
        assert_eq!((synced.code, letters), (0, 2), "{preset}: {synced:?}");
        // Run again with nothing new, everything stays.
        let before = written(&practice);
        let again = setup_with(&practice, "").await;
        assert_eq!((again.code, written(&practice)), (0, before), "{preset}: {again:?}");
        assert!(again.stdout.contains("stays as it is"), "{preset}: {again:?}");
        // It is tried for real each time.
        peer.state().closed = Some(401);
        let ended = setup_with(&practice, "").await;
        let first = if preset == "s3" { "`endpoint`" } else { "`url`" };
        assert!(ended.code == 2 && ended.stderr.contains(first), "{preset}: {ended:?}");
    }
}

#[tokio::test]
async fn a_receiver_of_hl7_is_tried_and_gets_the_letters() {
    let peer = crate::mllp::Peer::start().await;
    let practice = practice(2).await;
    let port = peer.address.port();
    let answers =
        format!("preset = \"hl7v2\"\nhost = \"127.0.0.1\"\nport = {port}\nassigning_authority = \"CLINIC\"\n");
    let ended = set_up(&practice, &answers).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stdout.contains("tried: it works") && peer.received().is_empty(), "{ended:?}");
    let synced = practice.docsyncd_without_config(&["--config", &config(&practice), "sync"]).await;
    assert_eq!((synced.code, peer.objects().len()), (0, 2), "{synced:?}");
    assert!(peer.received()[0].field("PID", 3).contains("^^^CLINIC^"));
}

#[tokio::test]
async fn a_dicom_archive_is_tried_and_gets_the_letters() {
    let peer = crate::dicom::Peer::start().await;
    let practice = practice(2).await;
    let port = peer.address.port();
    let answers = format!("preset = \"dicom\"\nhost = \"127.0.0.1\"\nport = {port}\ncalled_ae_title = \"PACS\"\n");
    let ended = set_up(&practice, &answers).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stdout.contains("tried: it works") && peer.received().is_empty(), "{ended:?}");
    let synced = practice.docsyncd_without_config(&["--config", &config(&practice), "sync"]).await;
    assert_eq!((synced.code, peer.objects().len()), (0, 2), "{synced:?}");
    assert_eq!(peer.state().called[0], ("PACS".to_owned(), "DOCSYNCD".to_owned()));
}

#[tokio::test]
async fn an_archive_is_tried_and_gets_the_letters() {
    let archive = crate::vdds_archive::Archive::new("vdds::plays_the_archive");
    let mut practice = practice(2).await;
    practice.env.insert("WINDIR".into(), archive.windows());
    let ended = set_up(&practice, "preset = \"vdds\"\narchive = \"CONVIS\"\non_lost_reply = \"hold\"\n").await;
    assert!(ended.code == 2 && ended.stderr.contains("no MMOINFIMPORT"), "{ended:?}");
    let ended = set_up(&practice, "preset = \"vdds\"\narchive = \"PVS_ARCHIV\"\non_lost_reply = \"hold\"\n").await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stdout.contains("tried: it works") && archive.calls().is_empty(), "{ended:?}");
    let synced = practice.docsyncd_without_config(&["--config", &config(&practice), "sync"]).await;
    assert_eq!((synced.code, archive.objects().len()), (0, 2), "{synced:?}");
}

#[tokio::test]
async fn a_mail_server_is_tried_and_sends_the_letters() {
    let mail = MailServer::start().await;
    let practice = practice(2).await;
    let answers = format!(
        "preset = \"smtp\"\nhost = \"127.0.0.1\"\nport = {}\nencryption = \"none\"\nfrom = \"letters@practice.test\"\n\
         to = \"inbox@clinic.test\"\n",
        mail.port
    );
    let ended = set_up(&practice, &answers.replace("inbox@", "gone@")).await;
    assert!(ended.code == 2 && ended.stderr.contains("refuses"), "{ended:?}");
    let ended = set_up(&practice, &answers).await;
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended:?}");
    assert!(ended.stdout.contains("tried: it works") && mail.mails().is_empty(), "{ended:?}");
    let synced = practice.docsyncd_without_config(&["--config", &config(&practice), "sync"]).await;
    let mails = mail.mails();
    assert_eq!((synced.code, mails.len()), (0, 2), "{synced:?}");
    assert!(
        mails.iter().all(|mail| mail.to == ["inbox@clinic.test"] && mail.data.contains("application/pdf")),
        "{mails:?}"
    );
}

/// A file of answers cannot compare fingerprints; what it names is what counts.
#[cfg(unix)]
#[tokio::test]
async fn an_ssh_server_gets_letters_once_its_key_is_named() {
    let Some(server) = crate::sftp::openssh::OpenSsh::start("") else { return };
    let practice = practice(2).await;
    practice.write_secret("id", &std::fs::read_to_string(server.path("id")).unwrap());
    let user = String::from_utf8(std::process::Command::new("id").arg("-un").output().unwrap().stdout).unwrap();
    let answers = format!(
        "preset = \"sftp\"\nhost = \"127.0.0.1\"\nport = {}\nuser = \"{}\"\nkey_from = \"id\"\npath = '{}'\n",
        server.port,
        user.trim(),
        server.inbox().display()
    );
    let ended = set_up(&practice, &answers).await;
    let fingerprint = server.fingerprint("host_ed25519");
    assert!(ended.code == 2 && ended.stderr.contains("`host_key`") && ended.stderr.contains(&fingerprint), "{ended:?}");
    assert!(!practice.path("etc").exists());
    let wrong = format!("host_key = \"SHA256:{}\"\n", "A".repeat(43));
    let ended = set_up(&practice, &format!("{answers}{wrong}")).await;
    assert!(ended.code == 2 && ended.stderr.contains("is not the one that is known"), "{ended:?}");
    let ended = set_up(&practice, &format!("{answers}host_key = \"{fingerprint}\"\n")).await;
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended:?}");
    assert!(written(&practice).contains("key_file = \"key-pms\""), "{}", written(&practice));
    let synced = practice.docsyncd_without_config(&["--config", &config(&practice), "sync"]).await;
    assert_eq!((synced.code, server.filed().len()), (0, 2), "{synced:?}");
}

#[tokio::test]
async fn software_that_reads_one_folder_gets_no_sub_folders_and_its_makers_words_are_named() {
    for (preset, source) in [
        ("tomedo", "https://hilfe.tomedo.de/"),
        ("ecodms", "https://www.ecodms.de/"),
        ("mirth", "https://github.com/nextgenhealthcare/connect/"),
        ("paperless-ngx", "https://docs.paperless-ngx.com/"),
    ] {
        let practice = practice(2).await;
        let folder = format!("preset = \"{preset}\"\npath = '{}'\n", practice.inbox().display());
        let ended = set_up(&practice, &folder).await;
        assert!(ended.code == 0 && ended.stdout.contains(&format!("source: {source}")), "{preset}: {ended:?}");
        let synced = practice.docsyncd_without_config(&["--config", &config(&practice), "sync"]).await;
        let filed = practice.filed();
        assert_eq!((synced.code, filed.len()), (0, 2), "{preset}: {synced:?}");
        assert!(filed.keys().all(|name| !name.contains('/') && name.ends_with(".pdf")), "{preset}: {filed:?}");
    }
}

#[tokio::test]
async fn software_that_reads_one_folder_is_not_given_names_with_sub_folders() {
    let practice = practice(1).await;
    for preset in ["tomedo", "ecodms", "mirth", "flat-folder"] {
        let name = "file_name = \"{{ patient.lastName }}/{{ document.uuid }}.pdf\"";
        let answers = format!("preset = \"{preset}\"\npath = '{}'\n{name}\n", practice.inbox().display());
        let ended = set_up(&practice, &answers).await;
        assert!(ended.code == 2 && ended.stderr.contains("`file_name`"), "{preset}: {ended:?}");
        assert!(ended.stderr.contains("reads no sub-folders"), "{preset}: {ended:?}");
        let ended = set_up(&practice, &answers.replace("}}/{{", "}} {{")).await;
        assert_eq!(ended.code, 0, "{preset}: {ended:?}");
        std::fs::remove_dir_all(practice.path("etc")).unwrap();
    }
}

#[tokio::test]
async fn everybody_who_is_told_is_tried_and_gets_a_message() {
    let (web, mail) = (WebServer::start().await, MailServer::start().await);
    let practice = practice(1).await;
    practice.write_secret("hook", &web.url("/hook"));
    practice.write_secret("beat", &web.url("/beat"));
    let folder = format!("preset = \"flat-folder\"\npath = '{}'\n", practice.inbox().display());
    let alerts = format!(
        "[alerts]\nwebhook_url_from = \"hook\"\nheartbeat_url_from = \"beat\"\nlanguage = \"en\"\ntest = true\n\
         [alerts.mail]\nhost = \"127.0.0.1\"\nport = {}\nencryption = \"none\"\nfrom = \"d@practice.test\"\nto = [\"it@practice.test\"]\n",
        mail.port
    );
    let ended = set_up(&practice, &format!("{folder}{alerts}")).await;
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended:?}");
    assert_eq!((web.messages().len(), mail.mails().len()), (1, 1), "{ended:?}");
    let text = written(&practice);
    for line in [
        "webhook_url_file = \"webhook-url\"",
        "heartbeat_url_file = \"heartbeat-url\"",
        "language = \"en\"",
        "host = \"127.0.0.1\"",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}: {text}");
    }
    assert_eq!(std::fs::read_to_string(practice.path("etc/webhook-url")).unwrap().trim(), web.url("/hook"));
    for remark in docsyncd::config::template().lines().filter(|line| line.starts_with("# ")) {
        assert!(text.contains(remark), "{remark}");
    }
    // Who is not reached is named.
    std::fs::remove_dir_all(practice.path("etc")).unwrap();
    for (that, this, answer, sign) in [
        ("host = \"127.0.0.1\"", "host = \"mail server\"", "alerts.mail.host", "is not the name of a mail server"),
        ("\"d@practice.test\"", "\"nobody\"", "alerts.mail.from", "must be a mail address"),
        ("\"it@practice.test\"", "", "alerts.mail.to", "must be a list of mail addresses"),
        ("\"none\"", "\"ssl\"", "alerts.mail.encryption", "\"starttls\""),
        ("\"hook\"", "\"nowhere\"", "alerts.webhook_url_from", "cannot be read"),
        ("\"hook\"", "\"secret\"", "alerts.webhook_url_from", "does not hold a web address"),
        ("webhook_url_from", "webhook_urls_from", "alerts.webhook_urls_from", "`alerts.webhook_url_from`"),
        ("language = \"en\"", "language = \"es\"", "alerts.language", "\"fr\""),
    ] {
        assert!(alerts.contains(that), "{that}");
        let ended = set_up(&practice, &format!("{folder}{}", alerts.replacen(that, this, 1))).await;
        assert!(ended.code == 2 && ended.stderr.contains(&format!("`{answer}`")), "{this}: {ended:?}");
        assert!(ended.stderr.contains(sign), "{this}: {ended:?}");
        assert!(!practice.path("etc").exists(), "{this}");
    }
}

#[tokio::test]
async fn an_answer_of_a_destination_that_is_wrong_is_named() {
    let practice = practice(0).await;
    for (answers, answer, sign) in [
        ("preset = \"sftp\"\n", "host", "an answer is needed"),
        (
            "preset = \"sftp\"\nhost = \"sftp://h.test\"\nuser = \"u\"\npath = \"/in\"\npassword_from = \"secret\"\n",
            "host",
            "with a scheme",
        ),
        (
            "preset = \"sftp\"\nhost = \"h.test\"\nport = 99999\nuser = \"u\"\npath = \"/in\"\npassword_from = \"secret\"\n",
            "port",
            "65535",
        ),
        (
            "preset = \"sftp\"\nhost = \"h.test\"\nuser = \"u\"\npath = \"/in\"\nkey_from = \"secret\"\n",
            "key_from",
            "no private key",
        ),
        ("preset = \"sftp\"\nhost = \"h.test\"\nuser = \"u\"\npath = \"/in\"\n", "key_from", "is missing"),
        ("preset = \"webdav\"\nurl = \"dav.test\"\npath = \"/in\"\n", "url", "does not begin with https://"),
        ("preset = \"webdav\"\nurl = \"https://dav.test\"\npath = \"/in\"\nuser = \"u\"\n", "user", "has no password"),
        ("preset = \"http\"\nurl = \"https://h.test/{{ kye }}\"\n", "url", "is not a template that works"),
        (
            "preset = \"s3\"\nendpoint = \"https://s3.test\"\nbucket = \"a/b\"\naccess_key_id = \"A\"\nsecret_access_key_from = \"secret\"\n",
            "bucket",
            "not the name of a bucket",
        ),
        (
            "preset = \"s3\"\nendpoint = \"https://s3.test\"\nbucket = \"b\"\naccess_key_id = \"A\"\n",
            "secret_access_key_from",
            "a secret is needed",
        ),
        ("preset = \"program\"\nprogram = \"no-such-program-here\"\n", "program", "no-such-program-here"),
    ] {
        let ended = set_up(&practice, answers).await;
        assert!(ended.code == 2 && ended.stderr.contains(&format!("`{answer}`")), "{answers}: {ended:?}");
        assert!(ended.stderr.contains(sign) && !ended.stderr.contains(SECRET), "{answers}: {ended:?}");
        assert!(!practice.path("etc").exists(), "{answers}");
    }
}
