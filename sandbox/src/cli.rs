//! The command line: options in, the first line out, signals to shutdown.

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use docsyncd_sandbox::{
    Account, ApiKey, Client, Consent, DateFilter, Fault, Options, Quirks, Sandbox, SandboxError, Version,
};
use jiff::SignedDuration;
use serde_json::{Map, Value};

mod address;
use address::address;

/// An error while running.
const FAILED: u8 = 1;
/// Usage: options that cannot be followed.
const USAGE: u8 = 2;

/// The dental cloud service's API, served locally with invented documents.
///
/// The first line on standard output is "listening on http://ADDR". Ctrl-C or SIGTERM ends it.
#[derive(Debug, Parser)]
#[command(name = "docsyncd-sandbox", version)]
struct Cli {
    /// Where the API listens; port 0 takes a free one
    #[arg(long, value_name = "ADDR", value_parser = address, default_value = "127.0.0.1:0")]
    listen: SocketAddr,

    /// Where PDFs are served, as an origin of its own that needs no token [default: on the API's origin]
    #[arg(long, value_name = "ADDR", value_parser = address)]
    files_listen: Option<SocketAddr>,

    /// Where the admin surface listens; it has no authentication [default: none]
    #[arg(long, value_name = "ADDR", value_parser = address)]
    admin_listen: Option<SocketAddr>,

    /// Where the authorization page is served besides the API's address [default: nowhere else]
    #[arg(long, value_name = "ADDR", value_parser = address)]
    app_listen: Option<SocketAddr>,

    /// The SQLite file that keeps the state, but for keys and passwords: each start names them anew [default: in memory]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,

    /// How many documents to invent [default: 20, or none with --pdf-dir]
    #[arg(long, value_name = "N")]
    documents: Option<usize>,

    /// Serve the PDFs of this folder, each as one document
    #[arg(long, value_name = "DIR")]
    pdf_dir: Option<PathBuf>,

    /// A key that opens the API, or KEY=EMAIL for another user's; can be repeated [default: sandbox-key]
    #[arg(long, value_name = "KEY", value_parser = api_key)]
    api_key: Vec<ApiKey>,

    /// Someone who can sign in on the authorization page, as EMAIL or EMAIL:PASSWORD; can be repeated. The users of API
    /// keys can sign in too. Without a password it is "sandbox"
    #[arg(long, value_name = "EMAIL[:PASSWORD]", value_parser = account)]
    user: Vec<Account>,

    /// The application that may ask for authorization [default: sandbox-client]
    #[arg(long, value_name = "ID", value_parser = visible, requires = "client_secret")]
    client_id: Option<String>,

    /// What the application proves itself with [default: sandbox-secret]
    #[arg(long, value_name = "SECRET", value_parser = visible, requires = "client_id")]
    client_secret: Option<String>,

    /// Where the application may have people sent back to, compared character for character; can be repeated
    /// [default: http://127.0.0.1:8976/callback]
    #[arg(long, value_name = "URI")]
    redirect_uri: Vec<String>,

    /// How long an access token works
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..), default_value = "3600")]
    access_token_lifetime: u32,

    /// Who decides on the authorization page
    #[arg(long, value_enum, value_name = "WHO", default_value = "ask")]
    consent: ConsentMode,

    /// Whether an access token needs the scopes of the endpoint
    #[arg(long, value_enum, value_name = "MODE", default_value = "on")]
    scopes: Switch,

    /// What everything invented follows from
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Make every invented PDF at least this large, such as 60KiB or 2MB
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "0")]
    pdf_bytes: u64,

    /// The version of requests without the header Api-Version: 1.0.0, 1.1.0 or 1.75.0
    #[arg(long, value_name = "VERSION", default_value = "1.1.0")]
    api_version: Version,

    /// How long an audio stays at each step of the workflow, such as 20s or 5m [default: until it is moved on command]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    workflow_step: Option<Duration>,

    /// What becomes of filters such as createdAt[gte]
    #[arg(long, value_enum, value_name = "MODE", default_value = "works")]
    date_filter: DateFilterMode,

    /// A habit of the server by the name and value of GET /admin/quirks, such as max_page_size=5; can be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = quirk)]
    quirk: Vec<(String, Value)>,

    /// Write where everything is, as one JSON object, to this file once all of it can be used
    #[arg(long, value_name = "FILE")]
    ready_file: Option<PathBuf>,

    /// A fault in force from the start, as POST /admin/faults takes it; can be repeated
    #[arg(long, value_name = "JSON", value_parser = fault)]
    fault: Vec<Fault>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum DateFilterMode {
    /// They filter
    Works,
    /// They are answered with 400
    Refused,
    /// They are ignored
    Ignored,
}

impl From<DateFilterMode> for DateFilter {
    fn from(mode: DateFilterMode) -> Self {
        match mode {
            DateFilterMode::Works => Self::Works,
            DateFilterMode::Refused => Self::Refused,
            DateFilterMode::Ignored => Self::Ignored,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ConsentMode {
    /// The person signs in and reads the page
    Ask,
    /// Everything is approved at once, without signing in
    Approve,
    /// Everything is refused at once
    Deny,
}

impl From<ConsentMode> for Consent {
    fn from(mode: ConsentMode) -> Self {
        match mode {
            ConsentMode::Ask => Self::Ask,
            ConsentMode::Approve => Self::Approve,
            ConsentMode::Deny => Self::Deny,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Switch {
    /// It does
    On,
    /// Every access token may do everything
    Off,
}

impl From<Cli> for Options {
    fn from(cli: Cli) -> Self {
        let default_client = Client::default();
        let client = Client {
            client_id: cli.client_id.unwrap_or(default_client.client_id),
            client_secret: cli.client_secret.unwrap_or(default_client.client_secret),
            redirect_uris: if cli.redirect_uri.is_empty() { default_client.redirect_uris } else { cli.redirect_uri },
        };
        let documents = if cli.pdf_dir.is_some() { 0 } else { 20 };
        let quirks = Quirks { date_filter: cli.date_filter.into(), ..Quirks::default() };
        Self {
            listen: cli.listen,
            files_listen: cli.files_listen,
            admin_listen: cli.admin_listen,
            app_listen: cli.app_listen,
            store: cli.store,
            pdf_dir: cli.pdf_dir,
            api_keys: cli.api_key,
            clients: vec![client],
            users: cli.user,
            access_token_lifetime: Duration::from_secs(cli.access_token_lifetime.into()),
            consent: cli.consent.into(),
            enforce_scopes: cli.scopes == Switch::On,
            documents: cli.documents.unwrap_or(documents),
            seed: cli.seed,
            pdf_bytes: cli.pdf_bytes,
            api_version: cli.api_version,
            workflow_step: cli.workflow_step,
            // Each was understood by itself already, so all of them together are.
            quirks: quirks.merged(&cli.quirk.into_iter().collect()).unwrap_or(quirks),
            faults: cli.fault,
        }
    }
}

/// `NAME=VALUE`; a value that is no JSON is taken as text, so that `date_filter=refused` needs no quotes.
fn quirk(text: &str) -> Result<(String, Value), String> {
    let (name, value) = text.split_once('=').ok_or("a quirk is NAME=VALUE")?;
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
    Quirks::default().merged(&Map::from_iter([(name.to_owned(), value.clone())]))?;
    Ok((name.to_owned(), value))
}

fn fault(text: &str) -> Result<Fault, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

fn api_key(text: &str) -> Result<ApiKey, String> {
    let key = match text.rsplit_once('=') {
        Some((key, email)) if email.contains('@') => ApiKey::of_user(key, email),
        _ => ApiKey::new(text),
    };
    visible(&key.key).map_err(|_| "a key is one or more visible ASCII characters")?;
    Ok(key)
}

fn visible(text: &str) -> Result<String, String> {
    if text.is_empty() || !text.chars().all(|letter| letter.is_ascii_graphic()) {
        return Err("it must be one or more visible ASCII characters".to_owned());
    }
    Ok(text.to_owned())
}

/// `EMAIL` or `EMAIL:PASSWORD`; the password may contain colons.
fn account(text: &str) -> Result<Account, String> {
    let (email, password) = match text.split_once(':') {
        Some((email, password)) => (email, Some(password)),
        None => (text, None),
    };
    if !email.contains('@') || email.contains(char::is_whitespace) {
        return Err("a user is an email address, or EMAIL:PASSWORD".to_owned());
    }
    match password {
        Some("") => Err("the password after the colon is empty; leave the colon out for \"sandbox\"".to_owned()),
        Some(password) => Ok(Account::new(email).with_password(password)),
        None => Ok(Account::new(email)),
    }
}

/// `20s`, `1h 30m`, `PT5M`: jiff's own format or ISO 8601.
fn duration(text: &str) -> Result<Duration, String> {
    let read: SignedDuration = text.parse().map_err(|_| "a duration is such as 500ms, 20s or 1h 30m".to_owned())?;
    Duration::try_from(read).map_err(|_| "a duration cannot be negative".to_owned())
}

/// `60KiB`, `2MB`, `1000`: a whole number of bytes, with the units of IEC 80000-13 or the decimal ones.
fn size(text: &str) -> Result<u64, String> {
    let digits = text.find(|letter: char| !letter.is_ascii_digit());
    let (number, unit) = text.split_at(digits.unwrap_or(text.len()));
    let factor: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" => 1_000,
        "kib" => 1 << 10,
        "mb" => 1_000_000,
        "mib" => 1 << 20,
        _ => return Err("a size is a whole number with B, KB, KiB, MB or MiB".to_owned()),
    };
    number
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(factor))
        .ok_or_else(|| "a size is a whole number with B, KB, KiB, MB or MiB".to_owned())
}

/// Parses the arguments and runs until a signal; clap itself ends with 2 on bad ones.
pub(crate) fn main() -> ExitCode {
    let mut cli = Cli::parse();
    let ready_file = cli.ready_file.take();
    let options = Options::from(cli);
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return fail(FAILED, &format!("cannot start the runtime: {error}")),
    };
    match runtime.block_on(run(options, ready_file)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Sandbox(error @ (SandboxError::PdfDir { .. } | SandboxError::RedirectUri { .. }))) => {
            fail(USAGE, &error.to_string())
        }
        Err(error) => fail(FAILED, &error.to_string()),
    }
}

#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    #[error("cannot write to standard output or wait for signals: {0}")]
    Io(#[from] io::Error),
    #[error("cannot write {}: {error}", path.display())]
    ReadyFile { path: PathBuf, error: io::Error },
}

fn fail(code: u8, message: &str) -> ExitCode {
    // Where even standard error is closed, the exit code must do.
    let _ = writeln!(io::stderr(), "docsyncd-sandbox: {message}");
    ExitCode::from(code)
}

async fn run(options: Options, ready_file: Option<PathBuf>) -> Result<(), Failure> {
    // Before the first line: whoever reads it may send a signal at once.
    let mut signals = signals::Signals::listen()?;
    let files_elsewhere = options.files_listen.is_some();
    let default_key = options.api_keys.is_empty();
    let app_elsewhere = options.app_listen.is_some();
    let keys: Vec<ApiKey> = options.api_keys.clone();
    let sandbox = Sandbox::start(options).await?;
    if let Some(path) = ready_file {
        write_ready_file(&path, &ready(&sandbox, &keys).await?)
            .map_err(|error| Failure::ReadyFile { path: path.clone(), error })?;
    }
    announce(&sandbox, files_elsewhere, app_elsewhere, default_key).await?;
    signals.wait().await;
    sandbox.shutdown().await;
    Ok(())
}

/// Where everything is and what opens it, for programs that start the sandbox.
async fn ready(sandbox: &Sandbox, keys: &[ApiKey]) -> Result<Value, Failure> {
    let mut keys: Vec<&str> = keys.iter().map(|key| key.key.as_str()).collect();
    if keys.is_empty() {
        keys.push(sandbox.api_key());
    }
    let client = |client: &Client| {
        serde_json::json!({
            "client_id": client.client_id, "client_secret": client.client_secret, "redirect_uris": client.redirect_uris,
        })
    };
    Ok(serde_json::json!({
        "url": sandbox.url(),
        "docs_url": format!("{}/docs", sandbox.url()),
        "files_url": sandbox.files_url(),
        "admin_url": sandbox.admin_url(),
        "app_url": sandbox.app_url(),
        "api_keys": keys,
        "clients": sandbox.clients().iter().map(client).collect::<Vec<_>>(),
        "documents": sandbox.document_count().await?,
        "pid": std::process::id(),
    }))
}

/// Whoever waits for the file finds it whole: it is written beside and renamed.
fn write_ready_file(path: &std::path::Path, ready: &Value) -> io::Result<()> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    std::fs::write(&part, format!("{ready:#}\n"))?;
    std::fs::rename(&part, path)
}

/// The first line is a contract; the rest is for people.
async fn announce(
    sandbox: &Sandbox,
    files_elsewhere: bool,
    app_elsewhere: bool,
    default_key: bool,
) -> Result<(), Failure> {
    let mut lines = format!("listening on {}\n", sandbox.url());
    if files_elsewhere {
        lines.push_str(&format!("files on {}\n", sandbox.files_url()));
    }
    if let Some(admin) = sandbox.admin_url() {
        lines.push_str(&format!("admin on {admin}\n"));
    }
    if app_elsewhere {
        lines.push_str(&format!("app on {}\n", sandbox.app_url()));
    }
    if default_key {
        lines.push_str(&format!("api key {}\n", sandbox.api_key()));
    }
    lines.push_str(&format!("documents {}\n", sandbox.document_count().await?));
    for client in sandbox.clients() {
        lines.push_str(&format!("client {}\n", client.client_id));
    }
    let mut out = io::stdout().lock();
    out.write_all(lines.as_bytes())?;
    out.flush()?;
    Ok(())
}

#[cfg(unix)]
mod signals {
    use std::io;

    use tokio::signal::unix::{Signal, SignalKind, signal};

    /// Ctrl-C and SIGTERM.
    pub(super) struct Signals {
        interrupt: Signal,
        terminate: Signal,
    }

    impl Signals {
        pub(super) fn listen() -> io::Result<Self> {
            Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
        }

        pub(super) async fn wait(&mut self) {
            tokio::select! {
                _ = self.interrupt.recv() => {}
                _ = self.terminate.recv() => {}
            }
        }
    }
}

#[cfg(windows)]
mod signals {
    use std::io;

    use tokio::signal::windows::{CtrlBreak, CtrlC, ctrl_break, ctrl_c};

    /// Ctrl-C and Ctrl-Break.
    pub(super) struct Signals {
        interrupt: CtrlC,
        stop: CtrlBreak,
    }

    impl Signals {
        pub(super) fn listen() -> io::Result<Self> {
            Ok(Self { interrupt: ctrl_c()?, stop: ctrl_break()? })
        }

        pub(super) async fn wait(&mut self) {
            tokio::select! {
                _ = self.interrupt.recv() => {}
                _ = self.stop.recv() => {}
            }
        }
    }
}
