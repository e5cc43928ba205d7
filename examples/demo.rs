//! The demo: a sandbox and the daemon in one process. `cargo run --example demo`
//!
//! It files 40 invented letters into `demo/inbox`, adds five more while the daemon runs, shows what lies where, and
//! stays until Ctrl-C when it runs on a terminal; `--exit` ends it. Everything it writes lies in `demo`; a second start
//! goes on from there.
#![expect(clippy::print_stdout, reason = "a demo talks to the person in front of it")]

use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use docsyncd::daemon::{Connecting, Daemon, introduce};
use docsyncd::ledger::Ledger;
use docsyncd::pipeline::Progress;
use docsyncd::state::State;
use docsyncd::{config, logging, views};
use docsyncd_sandbox::{Options, Sandbox};
use indicatif::{ProgressBar, ProgressStyle};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// Letters that wait when the demo starts for the first time.
const DOCUMENTS: usize = 40;
/// Letters that are written while the daemon runs.
const MORE: usize = 5;
/// The longest the demo waits for the daemon before it says that something is wrong.
const PATIENCE: Duration = Duration::from_secs(60);
/// Lines of the inbox that are shown.
const SHOWN: usize = 14;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let exit = match arguments.as_slice() {
        [] => false,
        [only] if only == "--exit" => true,
        _ => anyhow::bail!("usage: demo [--exit]"),
    };
    let home = std::env::current_dir()?.join("demo");
    let inbox = home.join("inbox");
    std::fs::create_dir_all(&inbox).with_context(|| format!("cannot create {}", inbox.display()))?;

    println!("Preparing {DOCUMENTS} letters of an invented practice ...");
    let sandbox = Sandbox::start(Options {
        documents: DOCUMENTS,
        store: Some(home.join("sandbox.sqlite3")),
        ..Options::default()
    })
    .await?;
    let config_path = write_config(&home, &sandbox)?;
    let loaded = config::load(&config_path, std::env::vars_os())?;
    logging::start(&loaded.config.log, std::io::stderr())?;

    println!("  sandbox  {}   a complete API on this machine", sandbox.url());
    println!("  config   {}", show(&config_path));
    println!("  inbox    {}\n", show(&inbox));

    let (ledger, _lock) = Ledger::open_exclusive(&loaded.config.state.path)?;
    introduce(&ledger, &loaded, None).await?;
    let (observer, mut progress) = unbounded_channel();
    let mut daemon =
        Daemon::start(&loaded.config, Connecting::begin(&loaded.config), ledger.clone(), Some(observer), true).await?;
    let waiting = waiting(&sandbox).await?;
    if waiting == 0 {
        println!("Nothing waits: an earlier demo has filed the first letters already.");
    }
    daemon.start_polls();
    follow(&mut progress, waiting).await?;

    println!("\nThe practice dictates {MORE} more letters; the running daemon finds them at its next poll.");
    sandbox.add_documents(MORE).await?;
    follow(&mut progress, MORE).await?;

    summarize(&inbox, &ledger).await?;
    if !exit && std::io::stdout().is_terminal() {
        println!("\nThe daemon keeps running. In another terminal:");
        println!("  cargo run -- --config demo/docsyncd.toml status");
        println!("  cargo run -- --config demo/docsyncd.toml list");
        println!("Ctrl-C ends the demo.");
        tokio::signal::ctrl_c().await?;
    }
    daemon.drain().await;
    sandbox.shutdown().await;
    Ok(())
}

/// Writes key and configuration; the sandbox has another port at each start.
fn write_config(home: &Path, sandbox: &Sandbox) -> anyhow::Result<PathBuf> {
    let key = home.join("api-key");
    std::fs::write(&key, sandbox.api_key())?;
    #[cfg(unix)]
    std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    let path = home.join("docsyncd.toml");
    let toml = format!(
        r#"# Written by the demo. `docsyncd config init` prints a file with every option explained.
[api]
base_url = "{}"

[accounts.main]
api_key_file = 'api-key'

[sync]
poll_interval = "2s"

[destinations.pms]
type = "folder"
path = 'inbox'

[state]
path = 'state/ledger.sqlite3'

[log]
level = "warn"
"#,
        sandbox.url()
    );
    std::fs::write(&path, toml)?;
    Ok(path)
}

async fn waiting(sandbox: &Sandbox) -> anyhow::Result<usize> {
    Ok(sandbox.documents().await?.iter().filter(|document| !document.synchronized).count())
}

/// Shows progress until this many documents have been reported.
async fn follow(progress: &mut UnboundedReceiver<Progress>, documents: usize) -> anyhow::Result<()> {
    let began = Instant::now();
    let bar = ProgressBar::new(documents as u64);
    bar.set_style(ProgressStyle::with_template("{bar:40} {pos}/{len} filed and reported")?);
    let mut reported = 0;
    while reported < documents {
        let event = tokio::time::timeout(PATIENCE, progress.recv()).await;
        match event.context("the daemon made no progress for a minute")?.context("the daemon ended")? {
            Progress::Moved { state: State::Reported, .. } => {
                reported += 1;
                bar.inc(1);
            }
            Progress::Moved { state, reason: Some(reason), uuid, .. } if state.is_failure() => {
                anyhow::bail!("document {uuid} failed: {reason}");
            }
            Progress::Moved { .. } | Progress::Found(_) | Progress::Unreadable(_) => {}
        }
    }
    bar.finish_and_clear();
    if documents > 0 {
        println!("{documents} letters filed and reported in {:.1} s.", began.elapsed().as_secs_f64());
    }
    Ok(())
}

/// What lies where, and what the ledger says of it.
async fn summarize(inbox: &Path, ledger: &Ledger) -> anyhow::Result<()> {
    let mut files = BTreeMap::new();
    collect(inbox, &mut files)?;
    println!("\n{}: {} letters, {} KB", show(inbox), files.len(), files.values().sum::<u64>() / 1024);
    for (path, bytes) in files.iter().take(SHOWN) {
        println!("  {:<62} {:>4} KB", path.strip_prefix(inbox)?.display(), bytes / 1024);
    }
    if files.len() > SHOWN {
        println!("  ... and {} more", files.len() - SHOWN);
    }
    let summary = ledger.read(views::summary).await?;
    let reported = summary.documents.get("reported").copied().unwrap_or(0);
    println!("\nThe ledger: {reported} reported to the API, {} waiting, {} failed.", summary.waiting, summary.failed);
    Ok(())
}

fn collect(folder: &Path, files: &mut BTreeMap<PathBuf, u64>) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            collect(&entry.path(), files)?;
        } else {
            files.insert(entry.path(), entry.metadata()?.len());
        }
    }
    Ok(())
}

/// A path below the present folder, as a person would type it.
fn show(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path).display().to_string()
}
