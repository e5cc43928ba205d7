//! `docsyncd check`: tries everything for real, with one line for each.

mod findings;
mod page;
mod patients;
mod space;
mod webhook;

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use futures_util::StreamExt as _;
use futures_util::future::join_all;
use futures_util::stream;

use super::output::complain;
use super::{Exit, Outcome, clients, interruptible, language, runtime, told};
use crate::api::{Api as _, ApiError, Client, ListQuery, PAGE_SIZE, Page};
use crate::commands::cli::Spoken;
use crate::config::{Config, ConfigError, Destination, Loaded};
use crate::destinations::{self, Checked, CommandConfig, FolderConfig, SCHEMA};
use crate::formats::language::Language;
use crate::ledger::backup::in_ledger;
use crate::ledger::{Ledger, LedgerError, is_locked, restored};
use crate::surfaces::alerts::Channels;
use crate::system::durable::open_beside_others;
use crate::system::logging;
use crate::system::readers::as_whom;
use findings::{AccountSeen, Findings};
pub(super) use page::answers_as_docsyncd;
pub(super) use patients::grouped;

/// The longest a destination may take to answer.
const DESTINATION_LIMIT: Duration = Duration::from_secs(30);

/// How many accounts or destinations are tried side by side. One that hangs delays no other, and hundreds are no
/// attack.
const AT_ONCE: usize = 16;

/// The most documents whose size is requested.
const MEASURED: usize = 10;

/// A clock that is off by more makes sign-ins and waits wrong.
const SKEW_LIMIT: Duration = Duration::from_secs(60);

/// Checks that the ledger exists or can be created.
pub(super) fn can_be_written(path: &Path) -> std::io::Result<()> {
    if path.exists() {
        std::fs::OpenOptions::new().append(true).open(path)?;
    }
    try_to_create_beside(path)
}

pub(super) fn check(path: &Path, json: bool, spoken: Spoken) -> Outcome {
    let language = language::of_answer(spoken, json, &SCHEMA.load_default_env(path));
    told::ended(language, check_in(path, json, language))
}

pub(super) fn check_in(path: &Path, json: bool, language: Language) -> Outcome {
    let loaded = match SCHEMA.load_default_env(path) {
        Ok(loaded) => loaded,
        Err(error) => return bad_config(error, json, language),
    };
    destinations::prepare(&loaded.config);
    let mut findings = Findings::default();
    findings.ok("config", &path.display().to_string());
    for warning in &loaded.warnings {
        findings.warn("config", &told::because(language, "told-note", &[], warning));
    }
    let (accounts, destinations, patients, alerts, page, webhook) = runtime()?.block_on(async {
        let (api, destinations) = (check_api(&loaded, language), check_destinations(&loaded.config, language));
        tokio::join!(
            api,
            destinations,
            patients::check(&loaded, true, language),
            check_alerts(&loaded.config, language),
            page::check(&loaded.config, language),
            webhook::check(&loaded.config, language)
        )
    });
    findings.add(accounts);
    findings.add(destinations);
    findings.add(patients.into_iter().collect());
    findings.add(vec![alerts]);
    findings.add(page.into_iter().chain(webhook).collect());
    check_ledger(&loaded, language, &mut findings);
    check_log(&loaded, language, &mut findings);
    space::check(&loaded.config, language, &mut findings);
    if json {
        findings.print_json()?
    } else {
        findings.print(language)?
    };
    Ok(findings.exit())
}

/// [`check`] for `docsyncd support`: the verdict and the subject of each line. What does not answer within `limit`
/// fails. The ledger is not checked, and what needs it is left out unless `ledger_answers`. `None`: the system has no
/// threads left.
pub(super) fn verdicts(loaded: &Loaded, limit: Duration, ledger_answers: bool) -> Option<Vec<(&'static str, String)>> {
    destinations::prepare(&loaded.config);
    let language = Language::English;
    let mut findings = Findings::default();
    findings.ok("config", "");
    let runtime = runtime().ok()?;
    let config = &loaded.config;
    runtime.block_on(async {
        let until = tokio::time::Instant::now() + limit;
        let accounts = tokio::time::timeout_at(until, check_api(loaded, language));
        let destinations = stream::iter(config.destinations.values().map(async |destination| {
            let checked = tokio::time::timeout_at(until, check_destination(destination, &config.state.path, language));
            checked.await.unwrap_or_else(|_| Findings::silent(&format!("destination {}", destination.name)))
        }));
        let patients = tokio::time::timeout_at(until, patients::check(loaded, false, language));
        let alerts = tokio::time::timeout_at(until, check_alerts(config, language));
        let (accounts, destinations, patients, alerts) =
            tokio::join!(accounts, destinations.buffered(AT_ONCE).collect::<Vec<_>>(), patients, alerts);
        findings.add(accounts.unwrap_or_else(|_| vec![Findings::silent("api")]));
        findings.add(destinations);
        findings.add(patients.unwrap_or_else(|_| Some(Findings::silent("patients"))).into_iter().collect());
        findings.add(alerts.into_iter().collect());
        if ledger_answers && let Ok(page) = tokio::time::timeout_at(until, page::check(config, language)).await {
            findings.add(page.into_iter().collect());
        }
    });
    // Whatever still hangs ends with the process.
    runtime.shutdown_background();
    check_log(loaded, language, &mut findings);
    space::check(config, language, &mut findings);
    Some(findings.verdicts())
}

fn bad_config(error: ConfigError, json: bool, language: Language) -> Outcome {
    let mut findings = Findings::default();
    findings.usage("config", &error.to_string());
    if json {
        findings.print_json()?;
    } else {
        findings::head(language, "fail", "config")?;
        complain(&format!("docsyncd: {}", told::of_configuration(language, &error)));
    }
    Ok(Exit::Usage)
}

/// The findings for the accounts, in their order.
async fn check_api(loaded: &Loaded, language: Language) -> Vec<Findings> {
    match clients(&loaded.config) {
        Ok(clients) => {
            let checks = clients.iter().map(|(account, client)| check_account(account, client, language));
            stream::iter(checks).buffered(AT_ONCE).collect().await
        }
        Err(wrong) => {
            let mut findings = Findings::default();
            findings.usage("api", &told::because(language, "told-configuration", &[], &wrong.to_string()));
            vec![findings]
        }
    }
}

async fn check_account(account: &str, client: &Client, language: Language) -> Findings {
    let mut findings = Findings::default();
    let what = format!("account {account}");
    if let Err(wrong) = client.credentials().configured() {
        findings.usage(&what, &told::because(language, "told-no-key", &[], &wrong.what));
        return findings;
    }
    let query = ListQuery { page: 1, ..ListQuery::default() };
    let page = match interruptible([client], client.list(&query)).await {
        Ok(page) => page,
        Err(error) => {
            let in_words = match error.downcast_ref() {
                Some(ApiError::Shape(_)) => {
                    format!("{error}: ask the service's operator whether its interface has changed")
                }
                known => known.and_then(|error| client.hint(error)).unwrap_or_else(|| error.to_string()),
            };
            let in_words = match error.downcast_ref() {
                Some(error) => told::of_api(language, error, &in_words),
                None => told::because(language, "told-failed", &[], &in_words),
            };
            findings.fail(&what, &in_words);
            return findings;
        }
    };
    // A key that may list but not ask who it is works all the same.
    let introduced = interruptible([client], client.introduced()).await.ok();
    let me = introduced.as_ref().map(|introduced| &introduced.me);
    let seen = AccountSeen {
        account: account.to_owned(),
        user: me.and_then(|me| me.person()),
        practice: me.and_then(|me| me.practice.clone()),
        waiting: page.len(),
        more: page.len() >= PAGE_SIZE,
        bytes: bytes(client, &page).await,
    };
    findings.ok(&what, &seen.in_words(language));
    findings.seen.push(seen);
    let date = introduced.and_then(|introduced| introduced.date);
    if let Some(skew) = date.and_then(|date| skew(date, SystemTime::now(), language)) {
        findings.warn(&what, &skew);
    }
    findings
}

/// About how many bytes wait. The list shows no sizes, so some are requested and stand for the rest.
async fn bytes(client: &Client, page: &Page) -> u64 {
    let first = page.items.iter().take(MEASURED);
    let details = stream::iter(first.map(|item| client.document(&item.uuid))).buffer_unordered(4);
    let known = details.filter_map(async |detail| detail.ok()?.pdf?.size);
    let sizes: Vec<u64> =
        interruptible([client], async { Ok::<_, ApiError>(known.collect().await) }).await.unwrap_or_default();
    let sum: u64 = sizes.iter().sum();
    sum.checked_div(sizes.len() as u64).unwrap_or(0).saturating_mul(page.len() as u64)
}

/// What is wrong with this computer's clock, compared with the service's.
fn skew(theirs: SystemTime, ours: SystemTime, language: Language) -> Option<String> {
    let (apart, which) = match ours.duration_since(theirs) {
        Ok(ahead) => (ahead, "check-clock-ahead"),
        Err(behind) => (behind.duration(), "check-clock-behind"),
    };
    let apart = Duration::from_secs(apart.as_secs());
    (apart > SKEW_LIMIT).then(|| {
        let apart = humantime::format_duration(apart).to_string();
        let how =
            if cfg!(windows) { language.text("check-clock-windows") } else { "timedatectl set-ntp true".to_owned() };
        language.fill(which, &[("apart", (&apart).into()), ("how", (&how).into())])
    })
}

/// The findings for the destinations, in their order.
async fn check_destinations(config: &Config, language: Language) -> Vec<Findings> {
    stream::iter(config.destinations.values().map(|one| check_destination(one, &config.state.path, language)))
        .buffered(AT_ONCE)
        .collect()
        .await
}

/// Checks that everybody who would be told can be reached, without telling anybody.
async fn check_alerts(config: &Config, language: Language) -> Findings {
    let mut findings = Findings::default();
    let channels = match Channels::of(config) {
        Ok(channels) => channels,
        Err(wrong) => {
            findings.usage("alerts", &told::because(language, "told-alarm", &[], &wrong));
            return findings;
        }
    };
    let heartbeat = async {
        match &channels.heartbeat {
            Some(heartbeat) => Some(("heartbeat", heartbeat.check().await)),
            None => None,
        }
    };
    let messages = join_all(channels.messages.iter().map(|channel| async { (channel.name(), channel.check().await) }));
    let (heartbeat, messages) = tokio::join!(heartbeat, messages);
    for (name, checked) in heartbeat.into_iter().chain(messages) {
        let what = format!("alerts {name}");
        match checked {
            Ok(host) => findings.ok(&what, &language.fill("check-alarm", &[("host", (&host).into())])),
            Err(wrong) => {
                let in_words = told::of_alarm(language, &wrong.to_string());
                if wrong.is_configuration { findings.usage(&what, &in_words) } else { findings.fail(&what, &in_words) }
            }
        }
    }
    findings
}

async fn check_destination(destination: &Destination, ledger: &Path, language: Language) -> Findings {
    let mut findings = Findings::default();
    let what = format!("destination {}", destination.name);
    #[cfg(windows)]
    if let Some(folder) = destination.settings.folder()
        && let Some(rights) = crate::system::service::windows::rights_on_shares(folder)
    {
        findings.warn(&what, &told::because(language, "told-note", &[], &rights));
    }
    if let Some(command) = destination.of::<CommandConfig>()
        && command.args.iter().any(|arg| arg.mentions_patient())
    {
        findings.warn(&what, &language.text("check-args"));
    }
    if let Some(wrong) = destinations::unusable(destination) {
        findings.usage(&what, &told::of_destination(language, destination, &wrong));
        return findings;
    }
    let checked = match try_destination(destination, ledger).await {
        Ok(checked) => checked,
        Err(wrong) => {
            findings.fail(&what, &told::of_destination(language, destination, &wrong));
            return findings;
        }
    };
    for warning in &checked.warnings {
        findings.warn(&what, &told::because(language, "told-note", &[], warning));
    }
    let notes = checked.notes.iter().map(|note| told::of_note(language, note));
    let works = [language.text("check-works")].into_iter().chain(notes).collect::<Vec<_>>().join("; ");
    match (reader(destination), tokio::time::timeout(DESTINATION_LIMIT, destinations::readable(destination)).await) {
        (_, Err(_)) => findings.fail(&what, &told::of_destination(language, destination, &silent())),
        (_, Ok(Err(wrong))) => findings.fail(&what, &told::because(language, "told-reader", &[], &wrong)),
        (Some(reader), Ok(Ok(()))) => {
            let values = [("works", (&works).into()), ("reader", reader.into())];
            findings.ok(&what, &language.fill("check-reads", &values));
        }
        (None, Ok(Ok(()))) => findings.ok(&what, &works),
    }
    findings
}

/// Tries a destination for real.
///
/// # Errors
/// What does not work, and what to do.
pub(super) async fn try_destination(destination: &Destination, ledger: &Path) -> Result<Checked, String> {
    #[cfg(windows)]
    if let Some(folder) = destination.of()
        && let Some(wrong) = destinations::refused_drive(folder)
    {
        return Err(wrong);
    }
    let adapter = destinations::build(destination, ledger);
    tokio::time::timeout(DESTINATION_LIMIT, adapter.check()).await.unwrap_or_else(|_| Err(silent()))
}

fn silent() -> String {
    format!("does not answer within {} s", DESTINATION_LIMIT.as_secs())
}

fn reader(destination: &Destination) -> Option<&str> {
    destination.of::<FolderConfig>()?.reader.as_deref()
}

/// The content of a test file. It has bytes, because a full disk still takes names.
const PROBE: &[u8] = b"docsyncd check\n";

/// Creates, fills and removes a file in the folder of `path`, or in the nearest existing folder above it.
fn try_to_create_beside(path: &Path) -> std::io::Result<()> {
    let folder = path.ancestors().skip(1).find(|folder| folder.exists()).unwrap_or(Path::new("."));
    let file = folder.join(format!(".docsyncd-check-{}", std::process::id()));
    let written = std::fs::OpenOptions::new().write(true).create_new(true).open(&file)?.write_all(PROBE);
    std::fs::remove_file(file).and(written)
}

fn check_ledger(loaded: &Loaded, language: Language, findings: &mut Findings) {
    let path = &loaded.config.state.path;
    let shown = path.display().to_string();
    let of = |text: &str| language.fill(text, &[("path", (&shown).into())]);
    match Ledger::open_beside(path) {
        Ok(_) if let Ok(Some(at)) = in_ledger(path, restored::moved_at) => {
            let exact = LedgerError::Moved { path: path.clone(), at }.to_string();
            findings.usage("ledger", &told::because(language, "told-ledger", &[], &exact));
        }
        Ok(_) if is_locked(path) => findings.ok("ledger", &of("check-ledger-runs")),
        Ok(_) => findings.ok("ledger", &of("check-ledger-idle")),
        Err(LedgerError::Missing(_)) => match try_to_create_beside(path) {
            Ok(()) => findings.ok("ledger", &of("check-ledger-new")),
            Err(error) => {
                let exact = format!("{shown} cannot be created{}: {error}", as_whom());
                findings.fail("ledger", &told::because(language, "told-ledger-new", &[], &exact));
            }
        },
        Err(error) => findings.fail("ledger", &told::because(language, "told-ledger", &[], &error.to_string())),
    }
}

/// Checks that an existing file can grow. Another file in its folder would say nothing about that.
fn room_beside(file: &Path) -> std::io::Result<()> {
    use std::io::ErrorKind::{QuotaExceeded, StorageFull};
    match try_to_create_beside(file) {
        Err(error) if matches!(error.kind(), StorageFull | QuotaExceeded) => Err(error),
        _ => Ok(()),
    }
}

/// Checks the file that `run` would write its log to.
fn check_log(loaded: &Loaded, language: Language, findings: &mut Findings) {
    let Some(file) = &loaded.config.log.file else { return };
    let tried = match file.exists() || file.is_symlink() {
        true if file.exists() && !file.is_file() => Err(logging::no_file()),
        // Like `run`, which follows no link.
        true => open_beside_others(OpenOptions::new().append(true), file).and_then(|_| room_beside(file)),
        // Folders are never created for it.
        false if file.parent().is_some_and(|folder| !folder.is_dir()) => Err(std::io::ErrorKind::NotFound.into()),
        false => try_to_create_beside(file),
    };
    match tried {
        Ok(()) => findings.ok("log", &file.display().to_string()),
        Err(error) => {
            let exact = logging::cannot_write(file, &error);
            findings.fail("log", &told::because(language, "told-log", &[], &exact));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_told_that_is_wrong_by_more_than_a_minute() {
        let theirs = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        let at = |seconds: i64| match u64::try_from(seconds) {
            Ok(ahead) => theirs + Duration::from_secs(ahead),
            Err(_) => theirs - Duration::from_secs(seconds.unsigned_abs()),
        };
        for seconds in [0, 60, -60] {
            assert_eq!(skew(theirs, at(seconds), Language::English), None, "{seconds}");
        }
        let skew = |seconds| skew(theirs, at(seconds), Language::English);
        assert!(skew(310).unwrap().starts_with("this computer's clock is 5m 10s ahead of the service's"));
        assert!(skew(-3600).unwrap().contains("1h behind the service's"));
    }
}
