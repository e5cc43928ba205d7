//! Five hundred documents from a sandbox in another process, in little memory, and nothing twice; five hundred accounts
//! at rest.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;

use docsyncd_sandbox::{ApiKey, Options};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use crate::harness::{PATIENCE, Practice, is_as_installed, sha256};
use crate::signed_in;

const DOCUMENTS: usize = 500;
const PDF_BYTES: usize = 60 * 1024;
/// Of the program as it is installed.
const MOST_MEMORY_KIB: u64 = 40 * 1024;
/// What it may take besides its own code: a build without optimization has three times as much of that.
const MOST_DATA_KIB: u64 = 28 * 1024;

/// `docsyncd-sandbox` as a process.
struct Server {
    _child: Child,
    api: String,
    admin: String,
    key: String,
    client: reqwest::Client,
}

/// Beside our own program; `cargo test --workspace` has built it, `cargo test` alone has not.
fn program() -> PathBuf {
    let ours = Path::new(env!("CARGO_BIN_EXE_docsyncd"));
    let program = ours.with_file_name(format!("docsyncd-sandbox{}", std::env::consts::EXE_SUFFIX));
    if !program.exists() {
        let mut cargo = std::process::Command::new(env!("CARGO"));
        cargo.args(["build", "--package", "docsyncd-sandbox"]).current_dir(env!("CARGO_MANIFEST_DIR"));
        if ours.parent().is_some_and(|folder| folder.ends_with("release")) {
            cargo.arg("--release");
        }
        // Where this very build lies: target/PROFILE/docsyncd.
        cargo.env("CARGO_TARGET_DIR", ours.parent().and_then(Path::parent).unwrap());
        assert!(cargo.status().unwrap().success(), "the sandbox builds");
    }
    program
}

impl Server {
    /// Serves the PDFs of this folder, each as a document.
    async fn start(pdfs: &Path) -> Self {
        let mut child = Command::new(program())
            .args(["--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--api-key", "scale-key", "--pdf-dir"])
            .arg(pdfs)
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let api = address(&mut lines, "listening on ").await;
        let admin = address(&mut lines, "admin on ").await;
        // The client of the tests: loopback only, so it trusts nobody and needs no certificates.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().tls_certs_only([]).no_proxy().build().unwrap();
        Self { _child: child, api, admin, key: "scale-key".to_owned(), client }
    }

    async fn admin(&self, what: &str) -> Vec<Value> {
        let answer = self.client.get(format!("{}/admin/{what}", self.admin)).send().await.unwrap();
        serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap()
    }
}

async fn address(lines: &mut Lines<BufReader<ChildStdout>>, before: &str) -> String {
    let line = tokio::time::timeout(PATIENCE, lines.next_line()).await.expect("in time").unwrap().unwrap();
    line.strip_prefix(before).unwrap_or_else(|| panic!("{line}")).to_owned()
}

/// How a sync ended, and its memory.
struct Synced {
    code: i32,
    reported: usize,
    last_line: String,
    stderr: String,
    memory: Memory,
}

/// The most memory a process had, in KiB (Linux, proc(5)). VmHWM is a maximum that the kernel keeps, so that nothing
/// between two readings is missed; RssFile is the program itself and its libraries, and only grows.
#[derive(Debug, Default, Clone, Copy)]
pub struct Memory {
    pub peak: u64,
    pub code: u64,
}

impl Memory {
    /// All but the program itself.
    pub fn own(self) -> u64 {
        self.peak - self.code
    }

    /// Takes in what `/proc/PID/status` says now.
    pub fn read(&mut self, status: &str) {
        // Not Linux, or the process has just ended.
        let Ok(text) = std::fs::read_to_string(status) else { return };
        let value = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|rest| rest.trim().strip_suffix(" kB")?.parse().ok()).unwrap_or(0)
        };
        self.peak = self.peak.max(value("VmHWM:"));
        self.code = self.code.max(value("RssFile:"));
    }
}

async fn sync(practice: &Practice) -> Synced {
    let mut child = practice.command(&["sync"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id().unwrap());
    let mut err = child.stderr.take().unwrap();
    let stderr = tokio::spawn(async move {
        let mut text = String::new();
        err.read_to_string(&mut text).await.unwrap();
        text
    });
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let (mut reported, mut last_line, mut memory) = (0, String::new(), Memory::default());
    while let Some(line) = tokio::time::timeout(PATIENCE, lines.next_line()).await.expect("in time").unwrap() {
        memory.read(&status);
        reported += usize::from(line.starts_with("reported "));
        last_line = line;
    }
    let code = child.wait().await.unwrap().code().unwrap_or(-1);
    Synced { code, reported, last_line, stderr: stderr.await.unwrap(), memory }
}

/// Fills the folder with PDFs, no two alike; returns their SHA-256, sorted.
fn make_pdfs(folder: &Path) -> Vec<String> {
    std::fs::create_dir(folder).unwrap();
    let mut digests: Vec<String> = (0..DOCUMENTS as u64)
        .map(|number| {
            let mut bytes = b"%PDF-1.7\n".to_vec();
            let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            // Marsaglia's xorshift: bytes that neither repeat nor compress.
            bytes.extend(
                std::iter::repeat_with(|| {
                    state ^= state << 13 | 1;
                    state ^= state >> 7;
                    state ^= state << 17;
                    state.to_le_bytes()
                })
                .take(PDF_BYTES / 8)
                .flatten(),
            );
            bytes.extend(b"\n%%EOF\n");
            std::fs::write(folder.join(format!("{number}.pdf")), &bytes).unwrap();
            sha256(&bytes)
        })
        .collect();
    digests.sort();
    digests
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_hundred_documents_are_filed_once_in_little_memory() {
    let mut practice = Practice::with_documents(0).await;
    let expected = make_pdfs(&practice.path("pdfs"));
    let server = Server::start(&practice.path("pdfs")).await;
    practice.write_secret("api-key", &server.key);
    practice.env.insert("DOCSYNCD__API__BASE_URL".into(), server.api.clone());
    practice.env.insert("DOCSYNCD__DESTINATIONS__PMS__FILE_NAME".into(), "{{ document.uuid }}.pdf".into());

    let began = Instant::now();
    let first = sync(&practice).await;
    let took = began.elapsed();
    let Memory { peak, code } = first.memory;
    println!("{DOCUMENTS} documents in {took:?}; at most {peak} KiB of memory, {code} KiB of it the program itself");
    assert_eq!((first.code, first.reported), (0, DOCUMENTS), "{}\n{}", first.last_line, first.stderr);
    let all = format!("{DOCUMENTS} reported now; in all {DOCUMENTS} reported, 0 failed, 0 waiting");
    assert!(first.last_line.starts_with(&all), "{}", first.last_line);
    if cfg!(target_os = "linux") {
        assert!(code > 0 && peak - code < MOST_DATA_KIB, "{:?}", first.memory);
        assert!(cfg!(debug_assertions) || peak < MOST_MEMORY_KIB, "{:?}", first.memory);
    }

    let posts = server.admin("status-posts").await;
    let mut posted: Vec<&str> = posts.iter().map(|post| post["document"].as_str().unwrap()).collect();
    posted.sort_unstable();
    posted.dedup();
    assert_eq!((posts.len(), posted.len()), (DOCUMENTS, DOCUMENTS), "once each");
    assert!(posts.iter().all(|post| post["success"] == true && post["error"].is_null()));

    let requests = server.admin("requests").await.len();
    let second = sync(&practice).await;
    assert_eq!((second.code, second.reported), (0, 0), "{}\n{}", second.last_line, second.stderr);
    let later = server.admin("requests").await.split_off(requests);
    assert!(!later.is_empty() && later.iter().all(|request| request["path"] == "/documents"), "{later:?}");
    assert_eq!(server.admin("status-posts").await.len(), DOCUMENTS);

    let filed = practice.filed();
    assert_eq!(filed.keys().filter(|name| name.ends_with(".pdf")).count(), DOCUMENTS, "nothing but PDFs");
    let mut digests: Vec<String> = filed.into_values().collect();
    digests.sort();
    assert!(digests == expected, "every file has the bytes that were served");
    practice.assert_spool_empty();
}

/// Of the program as it is installed, at rest.
const MOST_MEMORY_OF_ACCOUNTS_KIB: u64 = 60 * 1024;
/// The same without what the program itself takes, in a build without optimisation, which swings with what else the
/// machine does.
const MOST_IN_TESTS_KIB: u64 = 90 * 1024;
const ACCOUNTS: usize = 500;

#[cfg_attr(windows, ignore = "measures memory, which is read from Linux's /proc")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_hundred_accounts_rest_in_little_memory() {
    let names: Vec<String> = (0..ACCOUNTS).map(|number| format!("dr-{number}")).collect();
    let email = |name: &str| format!("{name}@practice.test");
    let api_keys = names.iter().map(|name| ApiKey::of_user(format!("key-{name}"), email(name))).collect();
    let practice = Practice::with_options(Options { api_keys, ..Options::default() }).await;
    practice.write_secret("client-secret", signed_in::SECRET);
    let config = signed_in::config(&practice, &names.iter().map(String::as_str).collect::<Vec<_>>());
    practice.configure_wholly(&format!("{config}[destinations.pms]\ntype = \"folder\"\npath = 'inbox'\n"));
    for name in &names {
        signed_in::sign_in(&practice, name, &email(name), &signed_in::SCOPES).await;
        // Half of them have to renew at the start.
        if name.len() % 2 == 0 {
            signed_in::make_due(&practice, name);
        }
    }
    let mut running = practice.run().await;
    let polled = |view: &docsyncd_sandbox::View| {
        view.requests().filter(|request| request.path == "/documents").count() >= ACCOUNTS
    };
    practice.sandbox.wait_for(polled, PATIENCE).await.unwrap();
    let mut memory = Memory::default();
    memory.read(&format!("/proc/{}/status", running.id()));
    let Memory { peak, code } = memory;
    println!("{ACCOUNTS} accounts; at most {peak} KiB of memory, {code} KiB of it the program itself");
    if cfg!(target_os = "linux") {
        assert!(code > 0 && peak - code < MOST_IN_TESTS_KIB, "{memory:?}");
        assert!(!is_as_installed() || peak < MOST_MEMORY_OF_ACCOUNTS_KIB, "{memory:?}");
    }
    assert!(!running.log().contains("event=\"paused\""), "{}", running.log());
    running.kill().await;
}
