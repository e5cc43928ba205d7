//! The page for one more computer: over TLS, by a reverse proxy, and what the network sees without either.

use std::net::SocketAddr;
use std::process::Command;

use docsyncd::system::tls::{Tls, TlsFiles};
use docsyncd_sandbox::{NewDocument, NewPdf};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{Answer, Page, parsed};
use crate::dictated::pdf;
use crate::faults::tools::needs;
use crate::harness::{PATIENCE, Practice, Running};

const NAME: &str = "page.practice.test";
const CANARY: &str = "Zqxlast";
/// Ninety days; seconds.
const KNOWN: &str = "; Max-Age=7776000; HttpOnly; SameSite=Strict; Secure";

/// A practice with a letter that is filed, of a patient whose name stands nowhere else.
async fn practice(settings: &str) -> Practice {
    let practice = Practice::with_documents(0).await;
    let letter = NewDocument {
        patient: Some(json!({"firstName": "Zqxfirst", "lastName": CANARY})),
        pdf: NewPdf::Bytes(pdf("one")),
        ..NewDocument::default()
    };
    practice.sandbox.add(letter).await.unwrap();
    practice.configure(settings);
    practice
}

/// Makes `NAME.pem` and `NAME.key` for the page.
fn make_certificate(practice: &Practice, name: &str) {
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "60"])
        .args(["-subj", "/CN=docsyncd", "-addext", &format!("subjectAltName=DNS:{NAME}")])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .args(["-keyout", &format!("{name}.key"), "-out", &format!("{name}.pem")])
        .current_dir(practice.dir.path())
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
}

fn settings(listen: &str, certificate: &str, key: &str) -> String {
    format!(
        "[status_page]\nlisten = \"{listen}\"\ncertificate_file = '{certificate}.pem'\ncertificate_key_file = \
         '{key}.key'\npublic_url = \"https://{NAME}/\"\n"
    )
}

/// A page that speaks TLS.
struct Encrypted<'a> {
    practice: &'a Practice,
    address: SocketAddr,
}

impl Encrypted<'_> {
    async fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let files = TlsFiles { ca_file: Some(self.practice.path("page.pem")), ..TlsFiles::default() };
        let config = Tls::new(files).set_up().unwrap();
        let stream = TcpStream::connect(self.address).await.unwrap();
        let mut stream = Tls::connect(config, NAME, Box::new(stream)).await.unwrap();
        let mut request = format!("{method} {path} HTTP/1.1\r\nHost: {NAME}\r\nContent-Length: {}\r\n", body.len());
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        stream.write_all(format!("{request}\r\n{body}").as_bytes()).await.unwrap();
        let mut bytes = Vec::new();
        let _ = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut bytes)).await.expect("an end");
        parsed(&bytes)
    }

    async fn get(&self, path: &str, cookie: &str) -> Answer {
        self.ask("GET", path, &[("Cookie", cookie), ("Accept-Language", "en")], "").await
    }

    /// Opens this link as another browser.
    async fn open(&self, link: &str) -> Answer {
        let path = link.trim().strip_prefix(&format!("https://{NAME}")).expect("the public address");
        let agent = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0";
        self.ask("GET", path, &[("User-Agent", agent)], "").await
    }

    async fn press(&self, cookie: &str, path: &str, fields: &str) -> Answer {
        let token = self.get("/", cookie).await.token();
        let headers = [("Cookie", cookie), ("Origin", "https://page.practice.test"), ("Accept-Language", "en")];
        self.ask("POST", path, &headers, &format!("token={token}&{fields}")).await
    }
}

async fn encrypted(running: &mut Running) -> SocketAddr {
    running.wait_for_log("the status page is at https://").await;
    let log = running.log();
    let (_, rest) = log.rsplit_once("the status page is at https://").unwrap();
    rest.split('/').next().unwrap().parse().unwrap()
}

#[tokio::test]
async fn one_more_computer_gets_the_page_over_tls_by_a_link_that_counts_once_and_loses_it_again() {
    needs!("openssl");
    let practice = practice(&settings("127.0.0.1:0", "page", "page")).await;
    make_certificate(&practice, "page");
    let mut running = practice.run().await;
    let page = Encrypted { practice: &practice, address: encrypted(&mut running).await };
    practice.wait_for_posts(1).await;
    let checked = practice.docsyncd(&["check"]).await;
    assert!(checked.code == 0 && checked.stdout.contains("the certificate and its key can be used"), "{checked:?}");
    let stranger = page.get("/", "").await;
    assert!(stranger.status == 200 && !stranger.body.contains(CANARY) && !stranger.body.contains("<form"));
    assert!(stranger.body.contains("open --for-another"), "{}", stranger.body);

    let printed = practice.docsyncd(&["open", "--for-another", "--print"]).await;
    assert_eq!((printed.code, printed.stderr.as_str()), (0, ""), "{printed:?}");
    let opened = page.open(&printed.stdout).await;
    assert!(opened.status == 200 && opened.header("set-cookie").ends_with(KNOWN), "{opened:?}");
    let again = page.open(&printed.stdout).await;
    assert_eq!((again.status, again.cookies().len()), (403, 0), "{again:?}");
    let first = opened.cookies().remove(0);
    assert!(page.get("/", &first).await.body.contains(CANARY));

    let made = page.press(&first, "/another", "").await;
    assert!(made.status == 200 && made.header("cache-control") == "no-store", "{made:?}");
    let (_, rest) = made.body.split_once("<code class=\"link\">").expect("a link");
    let link = rest.split('<').next().unwrap().to_owned();
    let second = page.open(&link).await.cookies().remove(0);
    let shown = page.get("/", &second).await.body;
    assert!(shown.contains(CANARY) && shown.contains("2 browsers see the letters"), "{shown}");
    assert_eq!(shown.matches("Firefox, Windows").count(), 2, "{shown}");
    let (_, rest) = shown.split_once("name=\"browser\" value=\"").expect("the other one");
    let other = rest.split('"').next().unwrap().to_owned();
    let locked = page.press(&second, "/lock", &format!("browser={other}")).await;
    assert_eq!((locked.status, locked.header("location")), (303, "/?done=locked"), "{locked:?}");
    assert!(!page.get("/", &first).await.body.contains(CANARY), "it was taken away");
    assert!(page.get("/", &second).await.body.contains(CANARY));
    let nobody = page.press(&second, "/lock", "browser=00").await;
    assert_eq!(nobody.header("location"), "/?done=unknown", "{nobody:?}");

    running.end().await;
    let log = running.log();
    assert!(log.contains("browser_known") && log.contains("browser_locked"), "{log}");
    for secret in [printed.stdout.as_str(), &link, &first, &second] {
        assert!(!log.contains(secret.trim().rsplit('=').next().unwrap()), "a key is in the log");
    }
}

#[tokio::test]
async fn what_speaks_http_to_the_page_with_a_certificate_is_led_to_https_and_slow_handshakes_keep_nobody_out() {
    needs!("openssl");
    let practice = practice(&settings("127.0.0.1:0", "page", "page")).await;
    make_certificate(&practice, "page");
    let mut running = practice.run().await;
    let page = Encrypted { practice: &practice, address: encrypted(&mut running).await };
    let printed = practice.docsyncd(&["open", "--print"]).await;
    let path = printed.stdout.trim().strip_prefix(&format!("https://{NAME}")).unwrap().to_owned();
    for (host, path, status, location) in [
        (NAME, "/", 303, "https://page.practice.test/"),
        (NAME, path.as_str(), 303, "https://page.practice.test/"),
        (NAME, "/metrics", 303, "https://page.practice.test/"),
        ("evil.test", "/", 421, ""),
    ] {
        let mut stream = TcpStream::connect(page.address).await.unwrap();
        let asked = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n");
        stream.write_all(asked.as_bytes()).await.unwrap();
        let answer = super::read(stream).await;
        assert_eq!((answer.status, answer.header("location")), (status, location), "{host} {path} {answer:?}");
    }
    let mut slow = Vec::new();
    for _ in 0..200 {
        let mut stream = TcpStream::connect(page.address).await.unwrap();
        // The beginning of a handshake that does not come.
        let _ = stream.write_all(&[22, 3, 1]).await;
        slow.push(stream);
    }
    assert_eq!(page.open(&printed.stdout).await.status, 200, "the link was not used up in the clear");
    running.end().await;
}

#[tokio::test]
async fn a_certificate_that_cannot_be_used_is_said_and_costs_no_letter() {
    needs!("openssl");
    let practice = practice(&settings("127.0.0.1:0", "page", "other")).await;
    make_certificate(&practice, "page");
    make_certificate(&practice, "other");
    let checked = practice.docsyncd(&["check"]).await;
    let says = "certificate_key_file is not the key of certificate_file";
    assert!(checked.code == 1 && checked.stdout.contains(says), "{checked:?}");
    let german = practice.docsyncd(&["check", "--lang", "de"]).await;
    assert!(german.stdout.contains("das Zertifikat der Seite ist nicht benutzbar ("), "{german:?}");
    let mut running = practice.run().await;
    running.wait_for_log(says).await;
    practice.wait_for_posts(1).await;
    let open = practice.docsyncd(&["open", "--print"]).await;
    assert_eq!((open.code, open.stdout.as_str()), (1, ""), "{open:?}");
    running.end().await;
    practice.assert_all_filed().await;
}

#[tokio::test]
async fn a_reverse_proxy_on_this_computer_brings_the_page_in_full() {
    let page = format!("[status_page]\nlisten = \"127.0.0.1:0\"\npublic_url = \"https://{NAME}\"\n");
    let practice = practice(&page).await;
    let mut page = Page::of(&practice).await;
    practice.wait_for_posts(1).await;
    let printed = practice.docsyncd(&["open", "--for-another"]).await;
    assert!(
        printed.code == 0 && printed.stdout.starts_with("Open this address in a browser of the other"),
        "{printed:?}"
    );
    let (_, path) = printed.stdout.trim().split_once(&format!("https://{NAME}")).expect("the public address");
    let proxied = async |path: &str, cookie: &str| {
        let asked = format!("GET {path} HTTP/1.1\r\nHost: {NAME}\r\nCookie: {cookie}\r\nAccept-Language: en\r\n\r\n");
        page.send(asked.as_bytes()).await
    };
    let opened = proxied(path, "").await;
    assert!(opened.status == 200 && opened.header("set-cookie").ends_with(KNOWN), "{opened:?}");
    let cookie = opened.cookies().remove(0);
    let shown = proxied("/", &cookie).await;
    assert!(shown.body.contains(CANARY), "{}", shown.body);
    assert!(proxied("/", "").await.body.contains("open --for-another"));
    assert_eq!(proxied("/metrics", &cookie).await.status, 403, "it is for this computer");
    assert_eq!(page.get("/metrics").await.status, 200);
    let headers = [("Cookie", cookie.as_str()), ("Origin", "https://page.practice.test")];
    let polled = page.ask("POST", "/poll", &headers, &format!("token={}", shown.token())).await;
    assert_eq!(polled.status, 303, "{polled:?}");
    // This computer needs no proxy.
    let key = page.key(&practice).await;
    assert!(page.with_key(&key).await.body.contains(CANARY));
    page.running.end().await;
}

#[tokio::test]
async fn where_only_this_computer_reaches_the_page_the_link_for_another_says_so() {
    let practice = practice(super::PAGE).await;
    let mut page = Page::of(&practice).await;
    let printed = practice.docsyncd(&["open", "--for-another"]).await;
    assert!(printed.code == 0 && printed.stdout.contains("public_url (docs/status-page.md)"), "{printed:?}");
    let (_, path) = printed.stdout.trim().split_once(&format!("http://{}", page.address)).unwrap();
    let opened = page.get(path).await;
    assert!(opened.header("set-cookie").contains("; Max-Age=7776000;"), "{opened:?}");
    page.running.end().await;
    practice.configure("[status_page]\nlisten = \"192.0.2.7:8977\"\n");
    assert_eq!(practice.docsyncd(&["open", "--for-another"]).await.code, 1, "nothing runs");
}

/// The daemon and who asks it are alone in a network of their own, in which this computer has one more address.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_network_sees_the_page_locked_without_tls_whatever_key_it_shows() {
    use crate::faults::disk::is_root;

    needs!("ip", "curl", "nsenter", "unshare");
    let network = |command: &mut Command| {
        if !is_root() {
            command.args(["--user", "--map-root-user"]);
        }
        command.args(["--net", "sh", "-ec"]);
    };
    let mut tried = Command::new("unshare");
    network(&mut tried);
    let made = tried.arg("ip link set lo up").output();
    if !crate::faults::tools::there("unshare --net", made.is_ok_and(|made| made.status.success())) {
        return;
    }
    // The letter is filed before.
    let practice = practice("[status_page]\nlisten = \"0.0.0.0:0\"\n").await;
    let mut running = practice.run().await;
    practice.wait_for_posts(1).await;
    running.end().await;

    let mut command = Command::new("unshare");
    network(&mut command);
    command.arg("ip link set lo up; ip address add 192.0.2.7/32 dev lo; exec \"$0\" --config \"$1\" run");
    command.arg(env!("CARGO_BIN_EXE_docsyncd")).arg(practice.config_path()).envs(&practice.env);
    command.stdin(std::process::Stdio::null());
    let mut running = Running::spawn(tokio::process::Command::from(command));
    running.wait_for_log("the status page is at http://0.0.0.0:").await;
    let port = super::address_in(&running.log()).port();
    let curl = |address: &str, path: &str, more: &[&str]| {
        let mut command = Command::new("nsenter");
        command.args(["--target", &running.id().to_string(), "--net"]);
        if !is_root() {
            command.args(["--user", "--preserve-credentials"]);
        }
        command.args(["curl", "--silent", "--include", "--max-time", "30", "--header", "Accept-Language: en"]);
        let got = command.args(more).arg(format!("http://{address}:{port}{path}")).output().unwrap();
        parsed(&got.stdout)
    };
    let printed = practice.docsyncd(&["open", "--print"]).await;
    let (_, path) = printed.stdout.trim().split_once(&format!("http://127.0.0.1:{port}")).expect("of this computer");
    let refused = curl("192.0.2.7", path, &[]);
    assert_eq!((refused.status, refused.cookies().len()), (403, 0), "{refused:?}");
    let opened = curl("127.0.0.1", path, &[]);
    let cookie = format!("Cookie: {}", opened.cookies().remove(0));
    let full = curl("127.0.0.1", "/", &["--header", &cookie]);
    assert!(full.body.contains(CANARY), "{full:?}");
    let locked = curl("192.0.2.7", "/", &["--header", &cookie]);
    assert!(locked.status == 200 && locked.body.contains("the connection is not encrypted"), "{locked:?}");
    assert!(!locked.body.contains(CANARY) && !locked.body.contains("<form"), "{locked:?}");
    let origin = format!("Origin: http://192.0.2.7:{port}");
    let form = format!("token={}", full.token());
    for path in ["/poll", "/another", "/find", "/support"] {
        let pressed = curl("192.0.2.7", path, &["--header", &cookie, "--header", &origin, "--data", &form]);
        assert_eq!(pressed.status, 403, "{path} {pressed:?}");
    }
    assert_eq!(curl("192.0.2.7", "/metrics", &[]).status, 403);
    assert_eq!(curl("192.0.2.7", "/", &["--header", "Host: evil.test"]).status, 421);
    // Without TLS there is nothing to give to another computer.
    let another = practice.docsyncd(&["open", "--for-another", "--print"]).await;
    assert!(another.stdout.starts_with(&format!("http://127.0.0.1:{port}/")), "{another:?}");
    running.end().await;
}
