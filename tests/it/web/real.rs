//! Real servers: wsgidav, moto and, for others, python-hl7, which `.ci/python-environment tests/peer/requirements.txt`
//! installs. DOCSYNCD_TEST_PEERS is the folder that it prints. Where there is none, these tests say so and pass; in CI
//! they fail.

use std::path::PathBuf;
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::dictated::*;
use crate::faults::tools::there;

/// A server; it ends with the test.
pub struct Server {
    pub port: u16,
    _process: Child,
}

impl Server {
    /// `None` where its packages are not installed.
    pub async fn start(args: &[&str]) -> Option<Self> {
        let environment = std::env::var_os("DOCSYNCD_TEST_PEERS").map(PathBuf::from);
        let python = environment.map(|folder| folder.join("bin").join("python")).filter(|python| python.is_file());
        if !there("the environment of tests/peer/requirements.txt (DOCSYNCD_TEST_PEERS)", python.is_some()) {
            return None;
        }
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peer/servers.py");
        let mut process = Command::new(python?)
            .args(["-B", script])
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("Python starts");
        let mut lines = BufReader::new(process.stdout.take().expect("its output")).lines();
        let line = tokio::time::timeout(crate::harness::PATIENCE, lines.next_line()).await.expect("it listens in time");
        let port = line.expect("UTF-8").expect("a port").parse().expect("a port");
        Some(Self { port, _process: process })
    }
}

fn expected(count: usize) -> Vec<Vec<u8>> {
    let mut contents: Vec<Vec<u8>> = (0..count).map(|number| pdf(&format!("letter {number}"))).collect();
    contents.sort();
    contents
}

/// As a daemon leaves it that is killed while it tries the server out.
fn made_an_hour_ago(file: &std::path::Path) {
    let made = std::fs::File::create(file).unwrap();
    made.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(3600)).unwrap();
}

fn files_below(folder: &std::path::Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

/// wsgidav takes a `;` in Destination for the end of the name, so `_` stands there.
const NAME: &str = "Meier_ Berta.pdf";

#[tokio::test]
async fn documents_get_their_names_on_wsgidav_and_none_is_overwritten() {
    let (practice, uuids) = practice_with_small(20).await;
    let data = practice.path("data");
    std::fs::create_dir_all(data.join("letters")).unwrap();
    std::fs::write(data.join("letters").join(NAME), "another's").unwrap();
    made_an_hour_ago(&data.join("letters/.docsyncd-check-0123456789abcdef-a.tmp"));
    let Some(server) = Server::start(&["webdav", data.to_str().unwrap()]).await else { return };
    practice.write_secret("password", "p");
    practice.configure_wholly(&format!(
        "{}[destinations.cloud]\ntype = \"webdav\"\nurl = \"http://127.0.0.1:{}/\"\npath = \"/letters\"\nuser = \"u\"\n\
         password_file = 'password'\nfile_name = \"Meier; Berta.pdf\"\nsidecar = \"{{{{ document.uuid }}}}\"\n",
        practice.base_config(),
        server.port
    ));
    let checked = practice.docsyncd(&["check"]).await;
    assert!(checked.code == 0 && checked.stdout.contains("refuses to overwrite"), "{checked:?}");
    assert_eq!(files_below(&data).len(), 1, "a check leaves nothing, and removes what another left");
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert_each_reported_once(&practice, &uuids);
    let files = files_below(&data);
    assert_eq!(std::fs::read(data.join("letters").join(NAME)).unwrap(), b"another's");
    assert!(files.iter().all(|file| !file.to_string_lossy().contains(".docsyncd-")), "{files:?}");
    let is_pdf = |file: &&PathBuf| file.extension().is_some_and(|end| end == "pdf") && !file.ends_with(NAME);
    let mut found: Vec<Vec<u8>> = files.iter().filter(is_pdf).map(|file| std::fs::read(file).unwrap()).collect();
    found.sort();
    assert_eq!(found, expected(20));
    assert_eq!(files.len(), 41, "and a sidecar each");

    practice.write_secret("password", "wrong");
    let checked = practice.docsyncd(&["check"]).await;
    assert!(checked.code == 1 && checked.stdout.contains("credentials"), "{checked:?}");
}

#[tokio::test]
async fn documents_become_objects_in_moto_and_none_is_overwritten() {
    let (practice, uuids) = practice_with_small(20).await;
    let Some(server) = Server::start(&["s3"]).await else { return };
    let endpoint = format!("http://127.0.0.1:{}", server.port);
    practice.write_secret("secret", "SK");
    practice.configure_wholly(&format!(
        "{}[destinations.archive]\ntype = \"s3\"\nendpoint = \"{endpoint}\"\nbucket = \"docs\"\nprefix = \"in/\"\n\
         access_key_id = \"AK\"\nsecret_access_key_file = 'secret'\nfile_name = \"é n/one name.pdf\"\n",
        practice.base_config()
    ));
    let checked = practice.docsyncd(&["check"]).await;
    assert!(checked.code == 1 && checked.stdout.contains("no such bucket"), "{checked:?}");
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().tls_certs_only([]).build().unwrap();
    // moto asks for a signature, and does not look at it.
    let signed = "AWS4-HMAC-SHA256 Credential=AK/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0";
    let ask = |method, path: &str| client.request(method, format!("{endpoint}/{path}")).header("authorization", signed);
    ask(reqwest::Method::PUT, "docs").send().await.unwrap().error_for_status().unwrap();
    let taken = ask(reqwest::Method::PUT, "docs/in/%C3%A9%20n/one%20name.pdf").body("another's");
    taken.send().await.unwrap().error_for_status().unwrap();
    let checked = practice.docsyncd(&["check"]).await;
    assert!(checked.code == 0 && checked.stdout.contains("refuses to overwrite"), "{checked:?}");
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert_each_reported_once(&practice, &uuids);
    let list = ask(reqwest::Method::GET, "docs?list-type=2").send().await.unwrap().text().await.unwrap();
    assert_eq!(list.matches("<Key>").count(), 21, "{list}");
    let mut found = Vec::new();
    for uuid in &uuids {
        let place = practice.show(uuid).await["deliveries"][0]["place"].as_str().unwrap().to_owned();
        let path = place.strip_prefix(&format!("{endpoint}/")).unwrap().to_owned();
        found.push(ask(reqwest::Method::GET, &path).send().await.unwrap().bytes().await.unwrap().to_vec());
    }
    found.sort();
    assert_eq!(found, expected(20));
    let kept =
        ask(reqwest::Method::GET, "docs/in/%C3%A9%20n/one%20name.pdf").send().await.unwrap().bytes().await.unwrap();
    assert_eq!(&kept[..], b"another's");
}
