//! The demo: a sandbox and the daemon in one process. `cargo run --example demo`
//!
//! It files 40 invented letters into `demo/inbox`, each under the number that its patient has in `demo/patients.csv`; a
//! thread that plays the practice's software takes them into `demo/inbox/imported`, which is what proves each. One
//! letter is about a patient whom the list has under another name: it waits for a person. Five more are added while the
//! daemon runs. It shows what lies where, and stays until Ctrl-C when it runs on a terminal; `--exit` ends it.
//! Everything it writes lies in `demo`; a second start goes on from there.
#![expect(clippy::print_stdout, reason = "a demo talks to the person in front of it")]

use std::collections::{BTreeMap, HashMap};
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use anyhow::Context as _;
use docsyncd::api::{Api as _, Client, Transport};
use docsyncd::config::Loaded;
use docsyncd::daemon::{Connecting, Daemon, client, introduce};
use docsyncd::destinations::SCHEMA;
use docsyncd::domain::document::{DocumentUuid, Metadata};
use docsyncd::domain::state::State;
use docsyncd::ledger::{Ledger, now, process};
use docsyncd::patients::{Earlier, List, Person, Unmatched, load_once};
use docsyncd::pipeline::assign::Letter;
use docsyncd::pipeline::{Progress, fetch};
use docsyncd::surfaces::web::keys;
use docsyncd::system::logging;
use docsyncd::views;
use docsyncd_sandbox::{NewDocument, Options, Sandbox};
use indicatif::{ProgressBar, ProgressStyle};
use secrecy::ExposeSecret as _;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// Letters that wait when the demo starts for the first time.
const DOCUMENTS: usize = 40;
/// Letters that are written while the daemon runs.
const MORE: usize = 5;
/// The longest the demo waits for the daemon before it says that something is wrong.
const PATIENCE: Duration = Duration::from_secs(60);
/// Lines of the inbox that are shown.
const SHOWN: usize = 14;
/// What the cloud service calls a patient since her wedding, and what the practice's software still calls her.
const MARRIED: (&str, &str) = ("Delphine", "Roussel-Martin");
const LISTED: &str = "Roussel";
/// The first patient's number in the practice's software.
const FIRST_NUMBER: usize = 471;
/// How long the practice's software lets a letter lie.
const IMPORT_EVERY: Duration = Duration::from_millis(200);

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
    let imported = inbox.join("imported");
    std::fs::create_dir_all(&imported).with_context(|| format!("cannot create {}", imported.display()))?;

    println!("Preparing {DOCUMENTS} letters of an invented practice ...");
    let sandbox = Sandbox::start(Options {
        documents: DOCUMENTS,
        store: Some(home.join("sandbox.sqlite3")),
        ..Options::default()
    })
    .await?;
    let config_path = write_config(&home, &sandbox)?;
    let loaded = SCHEMA.load(&config_path, std::env::vars_os())?;
    let log = &loaded.config.log;
    logging::start(log.level, log.format, log.to_file(), std::io::stderr())?;

    println!("  sandbox  {}   a complete API on this machine", sandbox.url());
    println!("  config   {}", show(&config_path));
    println!("  inbox    {}   the practice's software takes letters from there into {}", show(&inbox), show(&imported));
    let api = client(
        &Transport::new(&loaded.config.api).map_err(anyhow::Error::msg)?,
        &loaded.config,
        loaded.config.accounts.get("main").context("there is no account")?,
    );
    let patients = practice_with_a_wedding(&sandbox, &api).await?;
    let list = export(&home, &loaded, &patients)?;
    println!(
        "  patients {}   what it exported last night: {} patients\n",
        show(&home.join("patients.csv")),
        list.patients()
    );

    let (ledger, _lock) = Ledger::open_exclusive(&loaded.config.state.path)?;
    introduce(&ledger, &loaded, None).await?;
    let (observer, mut progress) = unbounded_channel();
    let mut daemon =
        Daemon::start(&loaded.config, Connecting::begin(&loaded.config), ledger.clone(), Some(observer), true).await?;
    let waiting = matched(&sandbox, &api, &list).await?;
    if waiting == 0 {
        println!("Nothing waits: an earlier demo has filed the first letters already.");
    }
    daemon.start_polls();
    daemon.start_listeners(&loaded.config);
    // It ends with the process.
    let folder = inbox.clone();
    std::thread::spawn(move || import(&folder));
    follow(&mut progress, waiting).await?;

    println!("\nThe practice dictates {MORE} more letters; the running daemon finds them at its next poll.");
    let is_listed = |patient: &&serde_json::Value| list.find(&person(patient)) != Err(Unmatched::Nobody);
    for patient in patients.iter().filter(is_listed).take(MORE) {
        sandbox.add(NewDocument { patient: Some(patient.clone()), ..NewDocument::default() }).await?;
    }
    follow(&mut progress, MORE).await?;

    summarize(&inbox, &ledger, &list).await?;
    if !exit && std::io::stdout().is_terminal() {
        println!(
            "\nThe status page, with the key (the link counts once, for two minutes; docsyncd open makes another):"
        );
        println!("  {}", link(&ledger).await?);
        println!("\nThe daemon keeps running. In another terminal:");
        println!("  cargo run -- --config demo/docsyncd.toml status");
        println!("  cargo run -- --config demo/docsyncd.toml list");
        println!("  cargo run -- --config demo/docsyncd.toml open");
        println!("Ctrl-C ends the demo.");
        tokio::signal::ctrl_c().await?;
    }
    daemon.drain().await;
    sandbox.shutdown().await;
    Ok(())
}

/// What `docsyncd open --print` prints.
async fn link(ledger: &Ledger) -> anyhow::Result<String> {
    let said = ledger.read(process::all).await?;
    let page = said.get(process::STATUS_PAGE).context("the status page is not served")?;
    let key = keys::make_link(ledger, keys::Browser::Here).await?;
    Ok(format!("http://{page}/open?key={}", key.expose_secret()))
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
file_name = "{{{{ patient.number }}}}_{{{{ document.createdAt | date }}}}_{{{{ document.type }}}}_{{{{ document.uuid | short }}}}.pdf"
confirm = "moved:imported"

[patients]
file = 'patients.csv'
number = "PatNum"
last_name = "Nom"
first_name = "Prénom"
date_of_birth = "Date de naissance"

[state]
path = 'state/ledger.sqlite3'

# Any free port.
[status_page]
listen = "127.0.0.1:0"

[log]
level = "warn"
"#,
        sandbox.url()
    );
    std::fs::write(&path, toml)?;
    Ok(path)
}

/// All patients of the practice's letters. The first time a letter is added about a patient who has married.
async fn practice_with_a_wedding(sandbox: &Sandbox, api: &Client) -> anyhow::Result<Vec<serde_json::Value>> {
    let is_there =
        sandbox.documents().await?.iter().any(|letter| letter.patient_last_name.as_deref() == Some(MARRIED.1));
    if !is_there {
        let patient = serde_json::json!({"firstName": MARRIED.0, "lastName": MARRIED.1, "dateOfBirth": "1984-07-09"});
        sandbox.add(NewDocument { patient: Some(patient), ..NewDocument::default() }).await?;
    }
    let mut patients: Vec<serde_json::Value> = Vec::new();
    for letter in sandbox.documents().await? {
        let patient = serde_json::Value::Object(metadata(api, &letter.uuid).await?.patient);
        if !patients.iter().any(|known| known.get("uuid") == patient.get("uuid")) {
            patients.push(patient);
        }
    }
    Ok(patients)
}

async fn metadata(api: &Client, uuid: &str) -> anyhow::Result<Metadata> {
    let detail = api.document(&DocumentUuid::parse(uuid).context("no identifier")?).await?;
    fetch::metadata(api, "main", detail).await.map_err(|(doing, error)| anyhow::anyhow!("{doing}: {error}"))
}

fn person(patient: &serde_json::Value) -> Person {
    let patient = patient.as_object().cloned().unwrap_or_default();
    Person::of(&Metadata { patient, ..Metadata::default() })
}

/// Plays the nightly export of the practice's software; what is there already stays, as somebody may have changed it.
fn export(home: &Path, loaded: &Loaded, patients: &[serde_json::Value]) -> anyhow::Result<List> {
    let path = home.join("patients.csv");
    if !path.exists() {
        let mut file = csv::WriterBuilder::new().delimiter(b';').from_path(&path)?;
        file.write_record(["PatNum", "Nom", "Prénom", "Date de naissance"])?;
        for (number, patient) in (FIRST_NUMBER..).zip(patients) {
            let person = person(patient);
            let last_name = if person.last_name() == MARRIED.1 { LISTED } else { person.last_name() };
            let born = person.born().map(|born| born.strftime("%d/%m/%Y").to_string()).unwrap_or_default();
            file.write_record([&format!("{number:05}"), last_name, person.first_name(), &born])?;
        }
        file.flush()?;
        // Of a file that was just written it is not believed that it is whole.
        let last_night = SystemTime::now() - Duration::from_secs(8 * 60 * 60);
        std::fs::File::options().write(true).open(&path)?.set_modified(last_night)?;
    }
    let config = loaded.config.patients.as_ref().context("there is no list of patients")?;
    // Nothing was filed yet.
    Ok(load_once(config, &Earlier { used: Some(HashMap::new()), ..Earlier::default() })?)
}

/// Plays the practice's software: takes each letter into the patient's record, which is a folder here.
fn import(inbox: &Path) {
    loop {
        std::thread::sleep(IMPORT_EVERY);
        let Ok(entries) = std::fs::read_dir(inbox) else { continue };
        for path in entries.flatten().map(|entry| entry.path()).filter(|path| path.extension() == Some("pdf".as_ref()))
        {
            if let Some(name) = path.file_name() {
                // A file that cannot be taken now is tried again.
                let _ = std::fs::rename(&path, inbox.join("imported").join(name));
            }
        }
    }
}

/// How many letters wait that are filed without a person.
async fn matched(sandbox: &Sandbox, api: &Client, list: &List) -> anyhow::Result<usize> {
    let mut matched = 0;
    for letter in sandbox.documents().await?.iter().filter(|letter| !letter.synchronized) {
        let person = Person::of(&metadata(api, &letter.uuid).await?);
        matched += usize::from(list.find(&person).is_ok());
    }
    Ok(matched)
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
async fn summarize(inbox: &Path, ledger: &Ledger, list: &List) -> anyhow::Result<()> {
    let mut files = BTreeMap::new();
    collect(inbox, &mut files)?;
    println!("\n{}: {} letters, {} KB", show(inbox), files.len(), files.values().sum::<u64>() / 1024);
    for (path, bytes) in files.iter().take(SHOWN) {
        println!("  {:<70} {:>4} KB", path.strip_prefix(inbox)?.display(), bytes / 1024);
    }
    if files.len() > SHOWN {
        println!("  ... and {} more", files.len() - SHOWN);
    }
    let summary = ledger.read(views::summary).await?;
    let reported = summary.documents.get("reported").copied().unwrap_or(0);
    println!("\nThe ledger: {reported} reported to the API, {} waiting, {} failed.", summary.waiting, summary.failed);
    let proofs = ledger
        .read(|db| {
            let mut proofs =
                db.prepare("SELECT proof, count(*) FROM delivery WHERE proof IS NOT NULL GROUP BY proof")?;
            let rows = proofs.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, u64>(1)?)))?;
            rows.collect::<Result<Vec<_>, _>>()
        })
        .await?;
    for (proof, letters) in proofs {
        println!(
            "Proved by \"{proof}\": {letters}. Each was seen in {} before it was reported.",
            show(&inbox.join("imported"))
        );
    }
    let waiting = ledger
        .read(|db| {
            let waiting = views::patients::unmatched(db, now(), SHOWN)?;
            waiting.into_iter().map(|waits| Ok((Letter::read(db, waits.id)?, waits))).collect::<Result<Vec<_>, _>>()
        })
        .await?;
    for (letter, waits) in waiting {
        println!("\nLetter {} {}.", waits.uuid, waits.reason.text);
        let near = letter.person().and_then(|person| Some(list.near(&person).first()?.row.number.to_owned()));
        println!("  who it may be: cargo run -- --config demo/docsyncd.toml assign {}", waits.uuid);
        if let Some(number) = near {
            println!("  to settle it:  cargo run -- --config demo/docsyncd.toml assign {} {number}", waits.uuid);
        }
    }
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
