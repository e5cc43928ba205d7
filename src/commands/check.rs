//! `docsyncd check`: tries everything for real, a line each.

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

use super::output::{complain, print};
use super::{Exit, Outcome, clients, interruptible, runtime};
use crate::adapters::{self, Checked};
use crate::alerts::Channels;
use crate::api::{Api as _, ApiError, Client, ListQuery, PAGE_SIZE, Page};
use crate::config::{self, Config, ConfigError, Destination, Loaded};
use crate::durable::open_beside_others;
use crate::ledger::backup::in_ledger;
use crate::ledger::{Ledger, LedgerError, is_locked, restored};
use crate::logging;
use crate::readers::as_whom;
use findings::{Findings, Seen};

/// The longest a destination may take to answer.
const DESTINATION_LIMIT: Duration = Duration::from_secs(30);

/// Accounts, and destinations, that are asked side by side: one that hangs holds up none, and hundreds are no attack.
const AT_ONCE: usize = 16;

/// Documents whose size is asked for.
const MEASURED: usize = 10;

/// A clock that is wrong by more makes sign-ins and waits wrong.
const SKEW_LIMIT: Duration = Duration::from_secs(60);

/// Whether the ledger is there, or can be made.
pub(super) fn can_be_written(path: &Path) -> std::io::Result<()> {
    if path.exists() {
        std::fs::OpenOptions::new().append(true).open(path)?;
    }
    try_to_create_beside(path)
}

pub(super) fn check(path: &Path, json: bool) -> Outcome {
    let loaded = match config::load_default_env(path) {
        Ok(loaded) => loaded,
        Err(error) => return bad_config(error, json),
    };
    adapters::prepare(&loaded.config);
    let mut findings = Findings::default();
    findings.ok("config", &path.display().to_string());
    for warning in &loaded.warnings {
        findings.warn("config", warning);
    }
    let (accounts, destinations, patients, alerts, page, webhook) = runtime()?.block_on(async {
        let (api, destinations) = (check_api(&loaded), check_destinations(&loaded.config));
        tokio::join!(
            api,
            destinations,
            patients::check(&loaded, true),
            check_alerts(&loaded.config),
            page::check(&loaded.config),
            webhook::check(&loaded.config)
        )
    });
    findings.add(accounts);
    findings.add(destinations);
    findings.add(patients.into_iter().collect());
    findings.add(vec![alerts]);
    findings.add(page.into_iter().chain(webhook).collect());
    check_ledger(&loaded, &mut findings);
    check_log(&loaded, &mut findings);
    space::check(&loaded.config, &mut findings);
    if json {
        findings.print_json()?
    } else {
        findings.print()?
    };
    Ok(findings.exit())
}

/// As [`check`], for whoever looks for what is wrong: the verdict of each line, and what it is about. What has not
/// answered within `limit` fails. Nothing is said of the ledger, and what asks it is left out unless `ledger_answers`.
/// `None`: there are no threads left.
pub(super) fn verdicts(loaded: &Loaded, limit: Duration, ledger_answers: bool) -> Option<Vec<(&'static str, String)>> {
    adapters::prepare(&loaded.config);
    let mut findings = Findings::default();
    findings.ok("config", "");
    let runtime = runtime().ok()?;
    let config = &loaded.config;
    runtime.block_on(async {
        let until = tokio::time::Instant::now() + limit;
        let accounts = tokio::time::timeout_at(until, check_api(loaded));
        let destinations = stream::iter(config.destinations.values().map(async |destination| {
            let checked = tokio::time::timeout_at(until, check_destination(destination, &config.state.path));
            checked.await.unwrap_or_else(|_| Findings::silent(&format!("destination {}", destination.name)))
        }));
        let patients = tokio::time::timeout_at(until, patients::check(loaded, false));
        let alerts = tokio::time::timeout_at(until, check_alerts(config));
        let (accounts, destinations, patients, alerts) =
            tokio::join!(accounts, destinations.buffered(AT_ONCE).collect::<Vec<_>>(), patients, alerts);
        findings.add(accounts.unwrap_or_else(|_| vec![Findings::silent("api")]));
        findings.add(destinations);
        findings.add(patients.unwrap_or_else(|_| Some(Findings::silent("patients"))).into_iter().collect());
        findings.add(alerts.into_iter().collect());
        if ledger_answers && let Ok(page) = tokio::time::timeout_at(until, page::check(config)).await {
            findings.add(page.into_iter().collect());
        }
    });
    // Whatever still hangs ends with the process.
    runtime.shutdown_background();
    check_log(loaded, &mut findings);
    space::check(config, &mut findings);
    Some(findings.verdicts())
}

fn bad_config(error: ConfigError, json: bool) -> Outcome {
    if json {
        let mut findings = Findings::default();
        findings.usage("config", &error.to_string());
        findings.print_json()?;
    } else {
        print("FAIL  config\n")?;
        complain(&format!("docsyncd: {error}"));
    }
    Ok(Exit::Usage)
}

/// In the order of the accounts.
async fn check_api(loaded: &Loaded) -> Vec<Findings> {
    match clients(&loaded.config) {
        Ok(clients) => {
            let checks = clients.iter().map(|(account, client)| check_account(account, client));
            stream::iter(checks).buffered(AT_ONCE).collect().await
        }
        Err(wrong) => {
            let mut findings = Findings::default();
            findings.usage("api", &wrong.to_string());
            vec![findings]
        }
    }
}

async fn check_account(account: &str, client: &Client) -> Findings {
    let mut findings = Findings::default();
    let what = format!("account {account}");
    if let Err(wrong) = client.credentials().configured() {
        findings.usage(&what, &wrong.what);
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
            findings.fail(&what, &in_words);
            return findings;
        }
    };
    // One that may list and not ask who it is works all the same.
    let introduced = interruptible([client], client.introduced()).await.ok();
    let me = introduced.as_ref().map(|introduced| &introduced.me);
    let seen = Seen {
        account: account.to_owned(),
        user: me.and_then(|me| me.person()),
        practice: me.and_then(|me| me.practice.clone()),
        waiting: page.len(),
        more: page.len() >= PAGE_SIZE,
        bytes: bytes(client, &page).await,
    };
    findings.ok(&what, &seen.in_words());
    findings.seen.push(seen);
    let date = introduced.and_then(|introduced| introduced.date);
    if let Some(skew) = date.and_then(|date| skew(date, SystemTime::now())) {
        findings.warn(&what, &skew);
    }
    findings
}

/// About how many bytes what waits has: the list shows no sizes, so some are asked for and stand for the rest.
async fn bytes(client: &Client, page: &Page) -> u64 {
    let first = page.items.iter().take(MEASURED);
    let details = stream::iter(first.map(|item| client.document(&item.uuid))).buffer_unordered(4);
    let known = details.filter_map(async |detail| detail.ok()?.pdf?.size);
    let sizes: Vec<u64> =
        interruptible([client], async { Ok::<_, ApiError>(known.collect().await) }).await.unwrap_or_default();
    let sum: u64 = sizes.iter().sum();
    sum.checked_div(sizes.len() as u64).unwrap_or(0).saturating_mul(page.len() as u64)
}

/// What is wrong with this computer's clock, going by the service's.
fn skew(theirs: SystemTime, ours: SystemTime) -> Option<String> {
    let (apart, which) = match ours.duration_since(theirs) {
        Ok(ahead) => (ahead, "ahead of"),
        Err(behind) => (behind.duration(), "behind"),
    };
    let apart = Duration::from_secs(apart.as_secs());
    (apart > SKEW_LIMIT).then(|| {
        format!(
            "this computer's clock is {} {which} the service's: let it be set by the network ({})",
            humantime::format_duration(apart),
            if cfg!(windows) { "Settings, Time, Set the time automatically" } else { "timedatectl set-ntp true" }
        )
    })
}

/// In the order of the destinations.
async fn check_destinations(config: &Config) -> Vec<Findings> {
    stream::iter(config.destinations.values().map(|one| check_destination(one, &config.state.path)))
        .buffered(AT_ONCE)
        .collect()
        .await
}

/// Whether everybody who is to be told can be reached; nobody is told anything.
async fn check_alerts(config: &Config) -> Findings {
    let mut findings = Findings::default();
    let channels = match Channels::of(config) {
        Ok(channels) => channels,
        Err(wrong) => {
            findings.usage("alerts", &wrong);
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
            Ok(host) => findings.ok(&what, &format!("{host} answers; docsyncd alerts test sends a message")),
            Err(wrong) if wrong.is_configuration => findings.usage(&what, &wrong.to_string()),
            Err(wrong) => findings.fail(&what, &wrong.to_string()),
        }
    }
    findings
}

async fn check_destination(destination: &Destination, ledger: &Path) -> Findings {
    let mut findings = Findings::default();
    let what = format!("destination {}", destination.name);
    #[cfg(windows)]
    if let config::DestinationKind::Folder(folder) = &destination.kind
        && let Some(rights) = crate::service::windows::rights_on_shares(&folder.path)
    {
        findings.warn(&what, &rights);
    }
    if let config::DestinationKind::Command(command) = &destination.kind
        && command.args.iter().any(|arg| arg.mentions_patient())
    {
        findings.warn(&what, "`args` names the patient, and other users of this machine can see arguments: let the program read standard input");
    }
    if let Some(wrong) = adapters::unusable(destination) {
        findings.usage(&what, &wrong);
        return findings;
    }
    let checked = match try_destination(destination, ledger).await {
        Ok(checked) => checked,
        Err(wrong) => {
            findings.fail(&what, &wrong);
            return findings;
        }
    };
    checked.warnings.iter().for_each(|warning| findings.warn(&what, warning));
    let works = ["works"].into_iter().chain(checked.notes.iter().map(String::as_str)).collect::<Vec<_>>().join("; ");
    match (reader(destination), tokio::time::timeout(DESTINATION_LIMIT, adapters::readable(destination)).await) {
        (_, Err(_)) => findings.fail(&what, &silent()),
        (_, Ok(Err(wrong))) => findings.fail(&what, &wrong),
        (Some(reader), Ok(Ok(()))) => findings.ok(&what, &format!("{works}; {reader} can read what is filed")),
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
    if let config::DestinationKind::Folder(folder) = &destination.kind
        && let Some(wrong) = adapters::refused_drive(folder)
    {
        return Err(wrong);
    }
    let adapter = adapters::build(destination, ledger);
    tokio::time::timeout(DESTINATION_LIMIT, adapter.check()).await.unwrap_or_else(|_| Err(silent()))
}

fn silent() -> String {
    format!("does not answer within {} s", DESTINATION_LIMIT.as_secs())
}

fn reader(destination: &Destination) -> Option<&str> {
    match &destination.kind {
        config::DestinationKind::Folder(folder) => folder.reader.as_deref(),
        _ => None,
    }
}

/// What a file holds that is only a try: a full disk takes names, and no bytes.
const PROBE: &[u8] = b"docsyncd check\n";

/// Creates, fills and removes a file in the folder of `path`, or in the nearest one above it that is there.
fn try_to_create_beside(path: &Path) -> std::io::Result<()> {
    let folder = path.ancestors().skip(1).find(|folder| folder.exists()).unwrap_or(Path::new("."));
    let file = folder.join(format!(".docsyncd-check-{}", std::process::id()));
    let written = std::fs::OpenOptions::new().write(true).create_new(true).open(&file)?.write_all(PROBE);
    std::fs::remove_file(file).and(written)
}

fn check_ledger(loaded: &Loaded, findings: &mut Findings) {
    let path = &loaded.config.state.path;
    match Ledger::open_beside(path) {
        Ok(_) if let Ok(Some(at)) = in_ledger(path, restored::moved_at) => {
            findings.usage("ledger", &LedgerError::Moved { path: path.clone(), at }.to_string());
        }
        Ok(_) if is_locked(path) => findings.ok("ledger", &format!("{}; the daemon runs", path.display())),
        Ok(_) => findings.ok("ledger", &format!("{}; the daemon does not run", path.display())),
        Err(LedgerError::Missing(_)) => match try_to_create_beside(path) {
            Ok(()) => findings.ok("ledger", &format!("{} will be created by the first run", path.display())),
            Err(error) => {
                findings.fail("ledger", &format!("{} cannot be created{}: {error}", path.display(), as_whom()));
            }
        },
        Err(error) => findings.fail("ledger", &error.to_string()),
    }
}

/// Whether a file that is there can grow. A folder that takes no other file says nothing about that.
fn room_beside(file: &Path) -> std::io::Result<()> {
    use std::io::ErrorKind::{QuotaExceeded, StorageFull};
    match try_to_create_beside(file) {
        Err(error) if matches!(error.kind(), StorageFull | QuotaExceeded) => Err(error),
        _ => Ok(()),
    }
}

/// The file that `run` would write its log to.
fn check_log(loaded: &Loaded, findings: &mut Findings) {
    let Some(file) = &loaded.config.log.file else { return };
    let tried = match file.exists() || file.is_symlink() {
        true if file.exists() && !file.is_file() => Err(logging::no_file()),
        // As `run` does, which follows no link.
        true => open_beside_others(OpenOptions::new().append(true), file).and_then(|_| room_beside(file)),
        // Folders are never made for it.
        false if file.parent().is_some_and(|folder| !folder.is_dir()) => Err(std::io::ErrorKind::NotFound.into()),
        false => try_to_create_beside(file),
    };
    match tried {
        Ok(()) => findings.ok("log", &file.display().to_string()),
        Err(error) => {
            findings.fail("log", &logging::cannot_write(file, &error));
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
            assert_eq!(skew(theirs, at(seconds)), None, "{seconds}");
        }
        assert!(skew(theirs, at(310)).unwrap().starts_with("this computer's clock is 5m 10s ahead of the service's"));
        assert!(skew(theirs, at(-3600)).unwrap().contains("1h behind the service's"));
    }
}
