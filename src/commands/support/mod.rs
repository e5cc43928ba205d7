//! `docsyncd support`: one file for a person who helps. It shows what docsyncd did and how it is set up, and names
//! nobody.
//!
//! Whatever is broken, the file contains what can be had, and `manifest.json` says what is missing and why. No text of
//! a file, a server or a program is copied: everything is built from the types of [`words`], which cannot hold one.

mod known;
mod log;
mod metrics;
mod settings;
mod shown;
mod system;
mod words;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use anyhow::Context as _;
use serde::Serialize;

use super::harmless::{self, Form};
use super::output::{ended, folded, print, terminal_width};
use super::{Outcome, check, language};
use crate::commands::cli::SupportArgs;
use crate::config::{self, Loaded, Places};
use crate::destinations::SCHEMA;
use crate::formats::language::Language;
use crate::formats::zip::Archive;
use crate::ledger::glance::Unseen;
use crate::ledger::{Millis, is_locked, now};
use crate::system::durable::{self, Temporary, sync_folder};
use crate::views::in_json;
use words::{Alias, Names};

/// The most bytes of a bundle. A mail can carry more.
const MOST_BYTES: usize = 5 * 1000 * 1000;
/// The bytes kept free for the archive's own data and the manifest.
const RESERVED: usize = 64 * 1024;
/// The most documents whose history is shown.
const MOST_DOCUMENTS: usize = 50;
/// How long the check may take.
const CHECK_LIMIT: Duration = Duration::from_secs(25);
/// The additional time for looking at folders.
const GRACE: Duration = Duration::from_secs(5);

/// Why something is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Lack {
    /// The configuration cannot be used.
    Configuration,
    NotRunning,
    NoPage,
    NoAnswer,
    NoLedger,
    NoRight,
    Locked,
    Damaged,
    Foreign,
    Unreadable,
    /// It took too long.
    Late,
    NoLog,
    NoLines,
    /// No document has this uuid.
    NotKnown,
    TooLarge,
}

impl From<Unseen> for Lack {
    fn from(why: Unseen) -> Self {
        match why {
            Unseen::Missing => Self::NoLedger,
            Unseen::NoRight => Self::NoRight,
            Unseen::Locked => Self::Locked,
            Unseen::Damaged => Self::Damaged,
            Unseen::Foreign => Self::Foreign,
            Unseen::Unreadable => Self::Unreadable,
        }
    }
}

impl Lack {
    fn text(self, language: Language) -> String {
        let word = serde_json::to_value(self).unwrap_or_default();
        language.text(&format!("support-lacks-{}", word.as_str().unwrap_or_default()))
    }
}

/// `manifest.json`
#[derive(Serialize)]
struct Manifest {
    version: &'static str,
    features: Vec<&'static str>,
    system: system::System,
    #[serde(serialize_with = "in_json")]
    made_at: Millis,
    #[serde(serialize_with = "in_json")]
    since: Millis,
    files: Vec<Listed>,
    missing: Vec<Missing>,
}

#[derive(Serialize)]
struct Listed {
    name: &'static str,
    bytes: usize,
}

#[derive(Serialize)]
struct Missing {
    what: &'static str,
    why: Lack,
    text: String,
}

/// The content of the bundle so far.
struct Bundle {
    files: Vec<(&'static str, String)>,
    missing: Vec<(&'static str, Lack)>,
    room: usize,
}

impl Bundle {
    fn add(&mut self, name: &'static str, content: Result<String, Lack>) {
        match content {
            Ok(content) if content.len() > self.room => self.missing.push((name, Lack::TooLarge)),
            Ok(content) => {
                self.room -= content.len();
                self.files.push((name, content));
            }
            Err(why) => self.missing.push((name, why)),
        }
    }

    fn add_json<T: Serialize>(&mut self, name: &'static str, value: Option<&T>) {
        if let Some(text) = value.and_then(|value| serde_json::to_string_pretty(value).ok()) {
            self.add(name, Ok(text + "\n"));
        }
    }
}

/// Runs `work` in a thread of its own, and continues without it after the limit, because a share may hang for ever.
fn within<T: Send + 'static>(limit: Duration, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Lack> {
    let (tell, told) = sync_channel(1);
    let work = move || drop(tell.send(work()));
    let begun = std::thread::Builder::new().name("docsyncd-support".to_owned()).spawn(work);
    begun.map_err(|_| Lack::Unreadable)?;
    told.recv_timeout(limit).map_err(|_| Lack::Late)
}

pub(super) fn support(path: &Path, args: SupportArgs) -> Outcome {
    let loaded = SCHEMA.load_default_env(path).ok();
    let language = match &loaded {
        Some(loaded) => language::of(args.spoken, loaded),
        None => args.spoken.lang.unwrap_or_else(language::of_system),
    };
    let bundle = gather(path, loaded, &args);
    if args.print {
        let files = bundle.files.iter().map(|(name, content)| format!("== {name} ==\n{content}\n"));
        return print(&files.collect::<String>());
    }
    let mut archive = Archive::default();
    bundle.files.iter().for_each(|(name, content)| archive.add(name, content.as_bytes()));
    let archive = archive.end().context("the archive is too large")?;
    if args.out.as_deref() == Some(Path::new("-")) {
        let mut out = harmless::output(Form::Exact);
        return ended(out.write_all(&archive).and_then(|()| out.flush()));
    }
    let name = || format!("docsyncd-support-{}.zip", jiff::Zoned::now().strftime("%Y%m%d-%H%M")).into();
    let file: PathBuf = args.out.unwrap_or_else(name);
    let unwritable = || language.fill("support-not-written", &[("file", (&file.display().to_string()).into())]);
    write(&file, &archive).with_context(unwritable)?;
    print(&folded(&said(&file, archive.len(), &bundle, language), terminal_width()))
}

/// What the file contains, for the person who made it.
fn said(file: &Path, length: usize, bundle: &Bundle, language: Language) -> String {
    let kilobytes = |bytes: usize| u64::try_from(bytes.div_ceil(1000)).unwrap_or(u64::MAX);
    let (name, size) = (file.display().to_string(), kilobytes(length));
    let mut text = language.fill("support-written", &[("file", (&name).into()), ("size", size.into())]) + "\n";
    for (name, content) in &bundle.files {
        let size = kilobytes(content.len()).to_string();
        let size = language.fill("support-kilobytes", &[("size", (&size).into())]);
        text.push_str(&format!("  {name:<14} {size}\n"));
    }
    for (what, why) in &bundle.missing {
        text.push_str(&format!("  {what:<14} {}\n", why.text(language)));
    }
    text + &language.text("support-names-nobody") + "\n"
}

/// Writes the file completely or not at all, for its owner alone. Something with that name that is no file stays.
fn write(path: &Path, content: &[u8]) -> std::io::Result<()> {
    if std::fs::symlink_metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(std::io::Error::other("what has this name is no regular file"));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default().display();
    let mut file = Temporary::create(folder.join(format!(".{name}.{}", std::process::id())), 0o600)?;
    file.writer().write_all(content)?;
    if let Some(file) = file.file() {
        // A file made with sudo is for the person who owns the folder.
        durable::hand_over(file, folder);
    }
    file.sync()?;
    file.replace(path)?;
    sync_folder(folder)
}

fn gather(path: &Path, loaded: Option<Loaded>, args: &SupportArgs) -> Bundle {
    let mut names = Names::new(args.no_uuids);
    let mut places = match &loaded {
        Some(loaded) => Places { ledger: loaded.config.state.path.clone(), log: loaded.config.log.file.clone() },
        None => config::places(path),
    };
    if cfg!(windows) {
        // The service's log without `log.file`.
        places.log.get_or_insert_with(|| places.ledger.with_file_name("docsyncd.log"));
    }
    let mut bundle = Bundle { files: Vec::new(), missing: Vec::new(), room: MOST_BYTES - RESERVED };
    let settings = loaded.as_ref().map(|loaded| settings::lines(&loaded.effective, &mut names));
    match &settings {
        Some(settings) => bundle.add_json("config.json", Some(settings)),
        None => bundle.missing.push(("config.json", Lack::Configuration)),
    }
    let running = {
        let ledger = places.ledger.clone();
        within(GRACE, move || is_locked(&ledger)).unwrap_or(false)
    };
    let wanted: Vec<String> = args.documents.iter().take(MOST_DOCUMENTS).cloned().collect();
    let known = known::look(&places.ledger, loaded.as_ref(), &wanted, running, &mut names);
    bundle.missing.extend(known.missing);
    bundle.add_json("status.json", known.status.as_ref());
    bundle.add_json("ledger.json", known.ledger.as_ref());
    let since = args.since.begins;
    bundle.add("log.txt", log::lines(places.log.as_deref(), since, &mut names));
    let metrics = match (running, known.page) {
        (false, _) => Err(Lack::NotRunning),
        (true, None) => Err(Lack::NoPage),
        (true, Some(address)) => metrics::text(address, &mut names),
    };
    bundle.add("metrics.txt", metrics);
    let answers = known.ledger.is_some();
    bundle.add("check.txt", loaded.map_or(Err(Lack::Configuration), |loaded| checked(loaded, answers, &mut names)));
    bundle.add_json("history.json", Some(&known.histories).filter(|histories| !histories.is_empty()));
    if args.documents.len() > MOST_DOCUMENTS {
        bundle.missing.push(("history.json", Lack::TooLarge));
    }
    with_manifest(bundle, since)
}

fn with_manifest(mut bundle: Bundle, since: Millis) -> Bundle {
    let missing = bundle.missing.iter();
    let manifest = Manifest {
        version: env!("CARGO_PKG_VERSION"),
        features: system::features(),
        system: system::System::of_this(),
        made_at: now(),
        since,
        files: bundle.files.iter().map(|(name, content)| Listed { name, bytes: content.len() }).collect(),
        missing: missing.map(|(what, why)| Missing { what, why: *why, text: why.text(Language::English) }).collect(),
    };
    let text = serde_json::to_string_pretty(&manifest).unwrap_or_default() + "\n";
    bundle.files.insert(0, ("manifest.json", text));
    bundle
}

/// The result of each line of `docsyncd check`, without its text. `answers`: whether the ledger does.
fn checked(loaded: Loaded, answers: bool, names: &mut Names) -> Result<String, Lack> {
    let found = within(CHECK_LIMIT + GRACE, move || check::verdicts(&loaded, CHECK_LIMIT, answers))?;
    let lines = found.ok_or(Lack::Unreadable)?.into_iter().map(|(verdict, what)| {
        let (what, of) = about(&what, names);
        let of = of.map(|of| format!(" {of}")).unwrap_or_default();
        format!("{verdict:<5} {what}{of}\n")
    });
    Ok(lines.collect())
}

/// What a line of `docsyncd check` is about.
fn about(what: &str, names: &mut Names) -> (&'static str, Option<Alias>) {
    const WHATS: [&str; 11] = [
        "config",
        "api",
        "patients",
        "alerts heartbeat",
        "alerts webhook",
        "alerts mail",
        "status page",
        "certificate of the status page",
        "webhook",
        "log",
        "spool",
    ];
    match what.rsplit_once(' ') {
        Some(("account", name)) => ("account", Some(names.account(name))),
        Some(("destination", name)) => ("destination", Some(names.destination(name))),
        Some(("alerts webhook of", name)) => ("alerts webhook of", Some(names.other(name))),
        Some(("alerts mail of", name)) => ("alerts mail of", Some(names.other(name))),
        Some(("webhook of", name)) => ("webhook of", Some(names.account(name))),
        _ => (WHATS.into_iter().find(|known| *known == what).unwrap_or("other"), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bundle_stays_below_its_limit_and_names_what_had_no_room() {
        let mut bundle = Bundle { files: Vec::new(), missing: Vec::new(), room: MOST_BYTES - RESERVED };
        bundle.add("log.txt", Ok("x".repeat(4_500_000)));
        bundle.add("metrics.txt", Ok("x".repeat(1_000_000)));
        bundle.add("check.txt", Ok("x".repeat(1_000)));
        assert_eq!(bundle.missing, [("metrics.txt", Lack::TooLarge)]);
        let bytes: usize = bundle.files.iter().map(|(_, content)| content.len()).sum();
        assert!(bundle.files.len() == 2 && bytes + RESERVED <= 5_000_000, "5 MB at most");
    }
}
