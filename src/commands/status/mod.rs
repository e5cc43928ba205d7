//! `docsyncd status`: the state of docsyncd, first in sentences, then as a table.

mod all;
mod health;
mod sentences;
mod table;
mod watch;

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;
use serde::Serialize;

use super::output::{ledger_to_read, print_json, say};
use super::unconfigured::by_ledger;
use super::{Exit, Outcome, runtime};
use crate::api::auth::{SignInStatus, TokenStore};
use crate::commands::cli::StatusArgs;
use crate::config::{Auth, Loaded};
use crate::domain::health::{Cause, Disks, Facts, Level, Light, NOT_RUNNING, assess, judge};
use crate::formats::language::{Group, Language, capital, groups};
use crate::ledger::{Ledger, LedgerError, Millis, QueryResult, is_locked, unwritable};
use crate::views::facts::{Present, facts};
use crate::views::{self, AccountView, Summary, time};

/// The JSON for `--json`.
#[derive(Serialize)]
struct Status {
    /// Whether a daemon (or a `docsyncd sync`) works on the ledger now.
    running: bool,
    /// The level for a monitor, as a word.
    health: &'static str,
    /// The causes of the level, the worst first.
    causes: Vec<&'static str>,
    /// The level.
    #[serde(skip)]
    level: Level,
    /// The sentence for a monitor.
    #[serde(skip)]
    line: String,
    /// The light, as a word.
    light: &'static str,
    /// The state in a sentence or two.
    headline: String,
    /// The problems, the most urgent first.
    problems: Vec<ProblemView>,
    /// The number of documents that were reported today.
    today: u64,
    /// When the next poll is due.
    next_poll: Option<String>,
    /// The ledger's path.
    ledger: String,
    /// The ledger's summary.
    #[serde(flatten)]
    summary: Summary,
    /// The sign-in of each configured account.
    sign_ins: Vec<SignInStatus>,
    /// Whether there is a ledger.
    #[serde(skip)]
    begun: bool,
    /// Whether docsyncd is installed but not configured yet.
    #[serde(skip)]
    not_configured: bool,
}

/// A problem.
#[derive(Serialize)]
struct ProblemView {
    /// `health::Cause` as a word.
    cause: &'static str,
    /// NAME of the account or destination; null if it concerns none.
    name: Option<String>,
    /// The number of documents that it is about.
    documents: u64,
    /// Since when it lasts.
    since: Option<String>,
    /// Whether it needs a person. Otherwise it may pass by itself.
    needs_person: bool,
    /// The problem as a sentence.
    text: String,
    /// What to do.
    advice: String,
}

pub(super) fn status(path: &Path, args: &StatusArgs) -> Outcome {
    match args {
        StatusArgs { health: true, all, spoken, .. } => health::health(path, *all, *spoken),
        StatusArgs { all: true, spoken, .. } => all::all(path, *spoken),
        StatusArgs { spoken, account, .. } => {
            by_ledger(path, *spoken, account.as_deref(), |loaded, language| of_one(loaded, args, language))
        }
    }
}

/// Of one instance.
fn of_one(loaded: &Loaded, args: &StatusArgs, language: Language) -> Outcome {
    let account = args.account.as_deref();
    if args.watch {
        return watch::watch(loaded, account, language);
    }
    if args.json {
        // A program gets the same on every machine.
        return json(loaded, account, args.spoken.lang.unwrap_or_default());
    }
    let ledger = ledger_to_read(loaded)?;
    let status = runtime()?.block_on(gather(loaded, ledger.as_ref(), account, language))?;
    let (said, table) = (sentences::text(&status, language), table::text(&status, language));
    say(&format!("{said}\n{table}")).map(|exit| status.exit(exit))
}

/// How long to wait for files of accounts, which may lie on a share.
const FILES: Duration = Duration::from_secs(5);

/// Prints JSON for a program. Does not wait for whoever holds the ledger, like `--health`.
fn json(loaded: &Loaded, account: Option<&str>, language: Language) -> Outcome {
    let (status, _, error) = health::at_once(loaded, account, FILES, language);
    let exit = print_json(&status)?;
    match error {
        // The obstacle usually goes away by itself.
        Some(LedgerError::Busy(_)) | None => Ok(status.exit(exit)),
        Some(error) => Err(error.into()),
    }
}

impl Status {
    /// The exit code, for scripts and monitors; if all is well, that of the printing.
    fn exit(&self, printed: Exit) -> Exit {
        if printed == Exit::Done && !self.running { Exit::NotRunning } else { printed }
    }

    /// The ledger's facts are unknown, for this reason. `passes`: it usually passes by itself. `is_closed`: this user
    /// may not look, and so does not know whether a daemon runs or a key is right.
    fn is_unknown(&mut self, why: &str, passes: bool, is_closed: bool) {
        (self.level, self.health, self.line) = (Level::Unknown, Level::Unknown.as_str(), why.to_owned());
        if is_closed {
            self.not_configured = false;
            self.causes.clear();
            self.problems.clear();
        }
        self.causes.insert(0, Cause::Ledger.as_str());
        if self.running || is_closed {
            self.light = if passes { Light::Waiting } else { Light::NeedsPerson }.as_str();
            self.headline = format!("{}.", capital(why));
        }
    }
}

/// How long the daemon may be unable to write the ledger before that is a problem; milliseconds. A backup may lock it
/// for a moment.
const UNWRITABLE: Millis = 30_000;

/// Gathers everything.
async fn gather(
    loaded: &Loaded,
    ledger: Option<&Ledger>,
    only: Option<&str>,
    language: Language,
) -> anyhow::Result<Status> {
    let (mut present, stands_in) = (present(loaded), stands_in(loaded));
    present.only = only.map(|only| vec![only.to_owned()]);
    let read = match ledger {
        Some(ledger) => ledger.read(move |db| read(db, present, stands_in)).await?,
        None => (Summary::of_nothing(), present.without_ledger()),
    };
    let mut sign_ins = sign_ins(loaded);
    sign_ins.retain(|sign_in| only.is_none_or(|only| sign_in.account == only));
    Ok(told(loaded, read, sign_ins, ledger.is_some(), language))
}

fn present(loaded: &Loaded) -> Present {
    let accounts = loaded.config.accounts.values();
    let running = is_locked(&loaded.config.state.path);
    Present::new(running, accounts.map(|account| (account.name.clone(), matches!(account.auth, Auth::OAuth(_)))))
}

/// The ledger, if no configuration says how accounts sign in.
fn stands_in(loaded: &Loaded) -> Option<PathBuf> {
    loaded.refused.is_some().then(|| loaded.config.state.path.clone())
}

/// The ledger's facts. `stands_in`: the configured accounts are unknown. Then accounts that were polled count as
/// configured, and accounts that signed in before as signing in.
fn read(db: &Connection, mut present: Present, stands_in: Option<PathBuf>) -> QueryResult<(Summary, Facts)> {
    let mut summary = views::summary_of(db, present.only.as_deref())?;
    if let Some(only) = &present.only {
        summary.accounts.retain(|account| only.contains(&account.account));
        let is_others = |scope: &str| {
            scope.split_once(':').is_some_and(|(of, name)| of != "destination" && !only.iter().any(|one| one == name))
        };
        summary.pauses.retain(|pause| !is_others(&pause.scope));
    }
    if let Some(ledger) = stands_in {
        let signs_in = |account: &AccountView| {
            let signs_in = TokenStore::new(&ledger, &account.account).was_used();
            (account.account.clone(), signs_in)
        };
        present.accounts = summary.accounts.iter().map(signs_in).collect();
    }
    let facts = facts(db, &present)?;
    Ok((summary, facts))
}

/// The sign-ins, by the files of the accounts.
fn sign_ins(loaded: &Loaded) -> Vec<SignInStatus> {
    let accounts = loaded.config.accounts.values();
    accounts.map(|account| SignInStatus::of(account, &loaded.config.state.path)).collect()
}

/// Adds what only the files of this machine show.
fn complete(loaded: &Loaded, (summary, found): &mut (Summary, Facts), sign_ins: &mut [SignInStatus]) {
    for account in &mut summary.accounts {
        account.configured = loaded.refused.is_some() || loaded.config.accounts.contains_key(&account.account);
    }
    if loaded.refused.is_none() {
        summary.of_destinations(loaded.config.destinations.keys());
    }
    for sign_in in sign_ins {
        let account = found.accounts.iter_mut().find(|account| account.name == sign_in.account);
        account.into_iter().for_each(|account| account.needs_sign_in = sign_in.problem.is_some());
        // What a daemon learnt from the API. If it no longer runs, somebody may have mended it since.
        let scope = format!("account:{}", sign_in.account);
        let pause = summary.pauses.iter().find(|pause| found.running && pause.scope == scope);
        sign_in.problem = sign_in.problem.take().or_else(|| pause.map(|pause| pause.reason.text.clone()));
    }
    if let Some(what) = &loaded.refused {
        found.refused = Some((found.refused.take().and_then(|(since, _)| since), what.clone()));
    }
    let unwritable = unwritable::since(&loaded.config.state.path).filter(|_| found.running);
    found.ledger_fails_since = unwritable.filter(|since| found.now.saturating_sub(*since) >= UNWRITABLE);
}

fn told(
    loaded: &Loaded,
    mut read: (Summary, Facts),
    mut sign_ins: Vec<SignInStatus>,
    begun: bool,
    language: Language,
) -> Status {
    complete(loaded, &mut read, &mut sign_ins);
    let (summary, found) = read;
    let mut health = assess(&found, &loaded.config.alerts.rules);
    // It does not mend itself. Only alerts leave time to whoever is writing it.
    for problem in health.problems.iter_mut().filter(|problem| problem.cause == Cause::Configuration) {
        problem.needs_person = true;
        health.light = if found.running { Light::NeedsPerson } else { health.light };
    }
    let judged = judge(&found, &health);
    let now = jiff::Timestamp::from_millisecond(found.now).unwrap_or_default().to_zoned(jiff::tz::TimeZone::system());
    let disks = loaded.config.disks();
    let problems = health.problems.iter().map(|problem| ProblemView {
        cause: problem.cause.as_str(),
        name: Some(problem.name.clone()).filter(|name| !name.is_empty()),
        documents: problem.count,
        since: time(problem.since),
        needs_person: problem.needs_person,
        text: language.problem(problem, &now),
        advice: groups([problem]).first().map(|group| in_commands(language, group, &disks)).unwrap_or_default(),
    });
    // An overdue poll comes at once.
    let configured = found.accounts.iter().filter(|account| account.configured && found.running);
    let next_poll = time(configured.filter_map(|account| account.next_poll_at).min().map(|at| at.max(found.now)));
    let mut status = Status {
        running: found.running,
        health: judged.level.as_str(),
        level: judged.level,
        line: health::line(&judged, &health.headline, &found, language, &now),
        causes: judged.causes,
        light: health.light.as_str(),
        headline: language.headline(&health.headline, &now),
        problems: problems.collect(),
        today: found.today,
        next_poll,
        ledger: loaded.config.state.path.display().to_string(),
        not_configured: not_configured(&found, &sign_ins),
        summary,
        sign_ins,
        begun,
    };
    if status.not_configured {
        status.level = Level::Unknown;
        status.health = status.level.as_str();
        status.causes = vec![NOT_RUNNING, Cause::Configuration.as_str()];
    }
    status
}

/// Whether docsyncd never read a list, and no account has its key or secret.
fn not_configured(found: &Facts, sign_ins: &[SignInStatus]) -> bool {
    let has_worked = found.running || found.accounts.iter().any(|account| account.polled_at.is_some());
    !has_worked && !sign_ins.is_empty() && !sign_ins.iter().any(|sign_in| sign_in.has_secret)
}

/// What to do about it, for a person with a command line.
fn in_commands(language: Language, group: &Group, disks: &Disks) -> String {
    let commands = language.commands(group, disks).unwrap_or_else(|| language.advice(group, disks));
    // The person has just run that command.
    commands.replace(&format!("{} ", language.text("see-status")), "")
}
