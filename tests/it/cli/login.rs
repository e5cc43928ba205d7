//! `docsyncd login` and `docsyncd logout`: the real program, and a browser that follows the address it prints.

mod approved;
mod asked;
mod beside;
mod choice;
mod listener;
mod logout;
#[cfg(unix)]
mod opened;
mod pasted;
mod refused;

use std::net::{Ipv4Addr, TcpListener};
use std::process::Stdio;
use std::sync::atomic::{AtomicU16, Ordering};

use docsyncd::api::auth::{TokenStore, Tokens};
use docsyncd_sandbox::{Client, Consent, Options};
use reqwest::header::{ACCEPT_LANGUAGE, HeaderMap, LOCATION};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use url::Url;

use crate::harness::{Ended, PATIENCE, Practice};

/// The sandbox's first user.
const CLAIRE: &str = "claire.delaunay@cabinet-delaunay.example";

/// A port of this machine that is free now and that the system gives to nobody who asks for any: it takes those from
/// 32768 on.
fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let begin = u16::try_from(std::process::id() % 10_000).unwrap();
    loop {
        let port = 20_000 + (begin + NEXT.fetch_add(1, Ordering::Relaxed)) % 12_000;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return port;
        }
    }
}

/// A practice whose account `main` signs in.
struct Clinic {
    practice: Practice,
    port: u16,
}

impl Clinic {
    async fn with(consent: Consent) -> Self {
        Self::with_options(Options { consent, ..Options::default() }).await
    }

    async fn with_options(mut options: Options) -> Self {
        let port = free_port();
        let redirect_uris = vec![format!("http://127.0.0.1:{port}/callback")];
        options.clients = vec![Client { redirect_uris, ..Client::default() }];
        let practice = Practice::with_options(options).await;
        practice.write_secret("client-secret", "sandbox-secret");
        // As an installation has it; root would be warned of one that it creates.
        std::fs::create_dir(practice.path("state")).unwrap();
        let clinic = Self { practice, port };
        clinic.configure(&clinic.account("main"));
        clinic
    }

    /// The table of an account that signs in.
    fn account(&self, name: &str) -> String {
        format!(
            "[accounts.{name}]\nauth = \"oauth\"\nclient_id = \"sandbox-client\"\nclient_secret_file = 'client-secret'\n\
             redirect_port = {}\n",
            self.port
        )
    }

    fn configure(&self, accounts: &str) {
        let url = self.practice.sandbox.url();
        self.practice.configure_wholly(&format!(
            "[api]\nbase_url = \"{url}\"\napp_url = \"{url}\"\ntimeout = \"10s\"\n{accounts}\
             [destinations.pms]\ntype = \"folder\"\npath = 'inbox'\n[state]\npath = 'state/ledger.sqlite3'\n"
        ));
    }

    /// Starts it with standard input open, and waits for the address.
    async fn login(&self) -> Login {
        Login::start(self.practice.command(&["login", "--no-browser"]), Stdio::piped()).await
    }

    fn callback(&self, query: &str) -> String {
        format!("http://127.0.0.1:{}/callback?{query}", self.port)
    }

    /// What is kept of the sign-in.
    fn tokens(&self, account: &str) -> Option<Tokens> {
        TokenStore::new(&self.practice.ledger(), account).load().unwrap()
    }

    /// How many requests the token endpoint has got.
    fn exchanges(&self) -> usize {
        self.practice.sandbox.requests().iter().filter(|request| request.path == "/oauth2/token").count()
    }
}

/// `docsyncd login --no-browser` that waits for an answer.
struct Login {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
    printed: String,
    /// Where the browser shall go.
    address: Url,
}

impl Login {
    async fn start(mut command: Command, stdin: Stdio) -> Self {
        let mut child = command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut printed = String::new();
        let address = loop {
            let line = tokio::time::timeout(PATIENCE, lines.next_line()).await.expect("in time").unwrap();
            let Some(line) = line else {
                let mut complaint = String::new();
                child.stderr.take().unwrap().read_to_string(&mut complaint).await.unwrap();
                panic!("it ended without an address:\n{printed}{complaint}");
            };
            printed.push_str(&line);
            printed.push('\n');
            if line.starts_with("    http") {
                break Url::parse(line.trim()).unwrap();
            }
        };
        Self { stdin: child.stdin.take(), child, lines, printed, address }
    }

    /// Writes a line to its standard input.
    async fn paste(&mut self, line: &str) {
        self.stdin.as_mut().unwrap().write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    /// Waits until it has ended.
    async fn ended(mut self) -> Ended {
        let whole = async {
            let mut stderr = String::new();
            self.child.stderr.take().unwrap().read_to_string(&mut stderr).await.unwrap();
            while let Some(line) = self.lines.next_line().await.unwrap() {
                self.printed.push_str(&line);
                self.printed.push('\n');
            }
            let status = self.child.wait().await.unwrap();
            (status.code().unwrap_or(-1), stderr)
        };
        let (code, stderr) = tokio::time::timeout(PATIENCE, whole).await.expect("it ends");
        Ended { code, stdout: self.printed, stderr }
    }
}

/// What a browser got.
#[derive(Debug)]
struct Shown {
    status: u16,
    headers: HeaderMap,
    body: String,
}

impl Shown {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
    }
}

/// A browser of this computer, that follows nothing by itself.
fn browser() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = reqwest::Client::builder().tls_certs_only([]).redirect(reqwest::redirect::Policy::none());
    builder.no_proxy().build().unwrap()
}

async fn get(address: &str, language: &str) -> Shown {
    read(browser().get(address).header(ACCEPT_LANGUAGE, language).send().await.unwrap()).await
}

async fn read(response: reqwest::Response) -> Shown {
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    Shown { status, headers, body: response.text().await.unwrap() }
}

/// Opens the printed address and returns where the page, which decides by itself, sends the browser.
async fn sent_back(address: &Url) -> String {
    let page = get(address.as_str(), "en").await;
    assert!((302..=303).contains(&page.status), "{page:?}");
    page.header(LOCATION.as_str()).to_owned()
}

/// The value of one parameter of an address.
fn parameter(address: &str, name: &str) -> Option<String> {
    let address = Url::parse(address).unwrap();
    address.query_pairs().find(|(found, _)| found == name).map(|(_, value)| value.into_owned())
}
