//! `docsyncd status --health`: one line and an exit code for monitors, in the form of Nagios' plugins (Monitoring
//! Plugins Development Guidelines, "Plugin Output", "Performance data"). It answers within a second, even if the
//! ledger's disk hangs, or a share with keys, or if another program has locked the ledger. It asks no server.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use jiff::Zoned;

use super::super::output::print;
use super::super::unconfigured::to_read;
use super::super::{Exit, Outcome, language, setup};
use super::all::instances;
use super::{Status, present, read, sign_ins, stands_in, told};
use crate::commands::cli::Spoken;
use crate::config::{self, ConfigError, Loaded};
use crate::destinations::SCHEMA;
use crate::domain::health::{Cause, Facts, Headline, Judged, Level};
use crate::formats::language::Language;
use crate::ledger::{LedgerError, Millis, QueryResult, is_kept_locked, now, open_to_glance};
use crate::views::Summary;
use crate::views::facts::Present;
use crate::views::measures;

/// The time until the answer, with what is known by then. The start of the program is not included.
const LIMIT: Duration = Duration::from_millis(650);
/// How long to wait for the files of the accounts' keys. After that, what the ledger knows counts.
const FILES: Duration = Duration::from_millis(400);
/// How long to wait for another program's lock, once to read and once to write.
const PATIENCE: Duration = Duration::from_millis(200);

/// The performance data; `None` for what is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Numbers {
    waiting: u64,
    failed: u64,
    needs_person: u64,
    /// The age of the oldest letter that is neither reported nor failed; seconds.
    oldest: u64,
}

/// The result for one instance.
struct InstanceHealth {
    level: Level,
    text: String,
    numbers: Option<Numbers>,
}

impl InstanceHealth {
    fn unknown(text: String) -> Self {
        Self { level: Level::Unknown, text, numbers: None }
    }
}

/// Prints the line. The exit code is the level.
pub(in crate::commands) fn health(path: &Path, all: bool, spoken: Spoken) -> Outcome {
    let until = Instant::now() + LIMIT;
    let (tell, told) = channel();
    let path = path.to_path_buf();
    let gathers = thread::Builder::new().spawn(move || {
        let _ = tell.send(gathered(&path, all, spoken, until));
    })?;
    // Waits a moment longer than the instances may take, because some may have answered.
    let gathered = told.recv_timeout(until.saturating_duration_since(Instant::now()) + PATIENCE / 4);
    // A thread that hangs ends with the process. Of one that ends beside it, Windows may take the exit code.
    let _ = gathered.is_ok().then(|| gathers.join());
    let known = gathered.unwrap_or_else(|error| InstanceHealth::unknown(silent(error, spoken)));
    print(&shown(&known))?;
    // The codes of Nagios' plugins, which differ from those of other commands.
    Ok(match known.level {
        Level::Ok => Exit::Done,
        Level::Warning => Exit::Failed,
        Level::Critical => Exit::Usage,
        Level::Unknown => Exit::Unfinished,
    })
}

/// Why there is no answer: it took too long, or docsyncd has a defect.
fn silent(error: RecvTimeoutError, spoken: Spoken) -> String {
    let key = match error {
        RecvTimeoutError::Timeout => "health-silent",
        RecvTimeoutError::Disconnected => "health-defect",
    };
    spoken.lang.unwrap_or_else(language::of_system).text(key)
}

/// The line for the monitor.
fn shown(known: &InstanceHealth) -> String {
    let level = known.level.as_str().to_uppercase();
    let text: String = known
        .text
        .chars()
        .map(|c| {
            if c == '|' {
                '/'
            } else if c.is_control() {
                ' '
            } else {
                c
            }
        })
        .collect();
    let numbers = match known.numbers {
        Some(Numbers { waiting, failed, needs_person, oldest }) => {
            format!("waiting={waiting};;; failed={failed};;; needs_person={needs_person};;; oldest={oldest}s;;;")
        }
        // "U" is an unknown value.
        None => "waiting=U;;; failed=U;;; needs_person=U;;; oldest=U;;;".to_owned(),
    };
    format!("{level} - {text} | {numbers}\n")
}

/// The result of the only instance, or the worst of all.
fn gathered(path: &Path, all: bool, spoken: Spoken, until: Instant) -> InstanceHealth {
    if !all {
        let loaded = SCHEMA.load_default_env(path);
        return look(path, loaded, spoken);
    }
    let mut files = match instances(path) {
        Ok(files) => files,
        Err(_) => return not_configured("health-no-configuration", spoken),
    };
    files.retain(|file| config::may_be_configuration(file));
    let (tell, told) = channel();
    for (number, file) in files.iter().cloned().enumerate() {
        let tell = tell.clone();
        let looks = move || {
            // Variables of this shell belong to no instance.
            let loaded = SCHEMA.load(&file, Vec::<(String, String)>::new());
            let _ = tell.send((number, look(&file, loaded, spoken)));
        };
        // An instance without a thread does not answer.
        let _ = thread::Builder::new().spawn(looks);
    }
    drop(tell);
    let mut known: Vec<Option<InstanceHealth>> = files.iter().map(|_| None).collect();
    while let Ok((number, one)) = told.recv_timeout(until.saturating_duration_since(Instant::now())) {
        if let Some(place) = known.get_mut(number) {
            *place = Some(one);
        }
    }
    let name = |file: &PathBuf| file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let silent = || InstanceHealth::unknown(silent(RecvTimeoutError::Timeout, spoken));
    worst(files.iter().map(name).zip(known.into_iter().map(|known| known.unwrap_or_else(silent))).collect(), spoken)
}

/// The first of the worst decides. The numbers are sums.
fn worst(known: Vec<(String, InstanceHealth)>, spoken: Spoken) -> InstanceHealth {
    let sum = |of: fn(&Numbers) -> u64| known.iter().filter_map(|(_, one)| one.numbers.as_ref().map(of)).sum();
    let numbers = Numbers {
        waiting: sum(|one| one.waiting),
        failed: sum(|one| one.failed),
        needs_person: sum(|one| one.needs_person),
        oldest: known.iter().filter_map(|(_, one)| Some(one.numbers?.oldest)).max().unwrap_or(0),
    };
    let first = known.iter().rev().max_by_key(|(_, one)| one.level);
    let Some((name, first)) = first else { return not_configured("health-no-configuration", spoken) };
    InstanceHealth { level: first.level, text: format!("{name}: {}", first.text), numbers: Some(numbers) }
}

/// No configuration can be used. The text names neither its place nor a value.
fn not_configured(why: &str, spoken: Spoken) -> InstanceHealth {
    let language = spoken.lang.unwrap_or_else(language::of_system);
    let what = language.text(why);
    InstanceHealth::unknown(language.fill("health-not-configured", &[("what", (&what).into())]))
}

/// The result for the instance with this configuration.
fn look(path: &Path, loaded: Result<Loaded, ConfigError>, spoken: Spoken) -> InstanceHealth {
    #[cfg(windows)]
    if super::super::planted::refuse(path).is_err() {
        return not_configured("health-configuration", spoken);
    }
    match to_read(path, loaded) {
        Ok(loaded) => {
            let language = language::of(spoken, &loaded);
            let (Status { level, line, not_configured, .. }, numbers, _) = at_once(&loaded, None, FILES, language);
            let text = if not_configured {
                let what = setup::why_not(path).unwrap_or_else(|| language.text("health-no-key"));
                language.fill("health-not-configured", &[("what", (&what).into())])
            } else {
                line
            };
            InstanceHealth { level, text, numbers }
        }
        Err(ConfigError::Missing { .. }) => not_configured("health-no-configuration", spoken),
        Err(ConfigError::Unreadable { error, .. }) if error.kind() == ErrorKind::PermissionDenied => {
            InstanceHealth::unknown(
                spoken.lang.unwrap_or_else(language::of_system).text("health-no-right-configuration"),
            )
        }
        Err(_) => not_configured("health-configuration", spoken),
    }
}

/// What is known in a moment, even if another program holds the ledger, and what is wrong with a ledger that does not
/// answer. `only`: the account whose letters count. `files`: how long to wait for the files of the accounts' keys.
pub(super) fn at_once(
    loaded: &Loaded,
    only: Option<&str>,
    files: Duration,
    language: Language,
) -> (Status, Option<Numbers>, Option<LedgerError>) {
    let (tell, signs_in) = channel();
    let (asked, since) = (loaded.clone(), Instant::now());
    let looks = thread::Builder::new().spawn(move || {
        let _ = tell.send(sign_ins(&asked));
    });
    let nothing = || ((Summary::of_nothing(), present(loaded).without_ledger()), None, false);
    let ((read, oldest, is_kept_locked), error) = match of_ledger(loaded, only) {
        Ok(seen) => (seen, None),
        Err(LedgerError::Missing(_)) => (nothing(), None),
        Err(error) => (nothing(), Some(error)),
    };
    let waits = files.saturating_sub(since.elapsed());
    let mut signed_in = looks.ok().and_then(|_| signs_in.recv_timeout(waits).ok()).unwrap_or_default();
    signed_in.retain(|sign_in| only.is_none_or(|only| sign_in.account == only));
    let mut status = told(loaded, read, signed_in, true, language);
    let numbers = Some(numbers(&status, oldest)).filter(|_| error.is_none());
    let is_hidden = is_kept_locked && (status.level < Level::Critical || !status.running);
    if let Some(why) = error.as_ref().map(unreadable).or_else(|| is_hidden.then_some("health-locked")) {
        status.is_unknown(&language.text(why), why == "health-locked", why == "health-no-right");
    }
    (status, numbers, error)
}

/// The ledger's facts, when the oldest waiting letter was found, and whether another program keeps the ledger locked.
type OfLedger = ((Summary, Facts), Option<Millis>, bool);

fn of_ledger(loaded: &Loaded, only: Option<&str>) -> Result<OfLedger, LedgerError> {
    let path = &loaded.config.state.path;
    let db = open_to_glance(path, PATIENCE)?;
    let looked = || -> QueryResult<_> {
        // All from the same moment.
        let moment = db.unchecked_transaction()?;
        let asked = Present { only: only.map(|only| vec![only.to_owned()]), ..present(loaded) };
        let read = read(&moment, asked, stands_in(loaded))?;
        let accounts = read.0.accounts.iter().map(|account| measures::oldest(&moment, &account.account));
        let oldest = accounts.collect::<QueryResult<Vec<_>>>()?.into_iter().flatten().min();
        Ok((read, oldest))
    };
    let (read, oldest) = looked().map_err(|error| LedgerError::from_sqlite(path, &error))?;
    let is_kept_locked = is_kept_locked(&db);
    Ok((read, oldest, is_kept_locked))
}

/// The key of the text that says why the ledger cannot be read: no right, a lock, damage.
fn unreadable(error: &LedgerError) -> &'static str {
    match error {
        LedgerError::Busy(_) => "health-locked",
        LedgerError::Damaged { .. } => "health-damaged",
        LedgerError::Foreign(_) | LedgerError::Newer { .. } | LedgerError::Older { .. } => "health-foreign",
        LedgerError::Access { .. } => "health-no-right",
        _ => "health-unreadable",
    }
}

fn numbers(status: &Status, oldest: Option<Millis>) -> Numbers {
    let age = oldest.map_or(0, |found| now().saturating_sub(found).max(0) / 1000);
    Numbers {
        waiting: status.summary.waiting,
        failed: status.summary.failed,
        needs_person: status.summary.needs_person,
        oldest: u64::try_from(age).unwrap_or(0),
    }
}

/// The text of the line: the page's first sentence, without its full stop.
pub(super) fn line(judged: &Judged, headline: &Headline, found: &Facts, language: Language, now: &Zoned) -> String {
    let text = match &judged.worst {
        // What is wrong with it may contain folders.
        Some(worst) if worst.cause == Cause::Configuration => language.text("health-configuration"),
        Some(worst) => language.problem(worst, now),
        None if found.running => {
            let well = Headline::Well { today: found.today, open: 0, last: found.last_done_at };
            let well = language.headline(&well, now);
            well.split_once(": ").map_or_else(|| well.clone(), |(_, letters)| letters.to_owned())
        }
        None => language.headline(headline, now),
    };
    let text = text.trim_end_matches('.').to_owned();
    match u64::try_from(judged.others).unwrap_or(u64::MAX) {
        0 => text,
        others => format!("{text}, {}", language.fill("health-more", &[("count", others.into())])),
    }
}

#[cfg(test)]
mod tests;
