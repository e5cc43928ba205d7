//! `docsyncd check`: tries everything for real, a line each.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream;

use super::output::{complain, print};
use super::{Exit, Outcome, interruptible, runtime};
use crate::adapters;
use crate::api::{Api as _, ListQuery, PAGE_SIZE, Transport};
use crate::config::{self, Account, Config, ConfigError, Destination, Loaded};
use crate::daemon;
use crate::ledger::{Ledger, LedgerError, is_locked};

/// The longest a destination may take to answer.
const DESTINATION_LIMIT: Duration = Duration::from_secs(30);

/// Accounts, and destinations, that are asked side by side: one that hangs holds up none, and hundreds are no attack.
const AT_ONCE: usize = 16;

/// The lines, and whether one of them is bad.
#[derive(Default)]
struct Report {
    text: String,
    failed: bool,
    /// Whether the configuration itself is at fault.
    usage: bool,
}

impl Report {
    fn ok(&mut self, what: &str, says: &str) {
        self.line("ok", what, says);
    }

    fn warn(&mut self, what: &str, says: &str) {
        self.line("warn", what, says);
    }

    fn fail(&mut self, what: &str, says: &str) {
        self.failed = true;
        self.line("FAIL", what, says);
    }

    fn add(&mut self, parts: &[Self]) {
        for part in parts {
            self.text.push_str(&part.text);
            self.failed |= part.failed;
            self.usage |= part.usage;
        }
    }

    fn line(&mut self, verdict: &str, what: &str, says: &str) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.text, "{verdict:<5} {what:<22} {says}");
    }
}

pub(super) fn check(path: &Path) -> Outcome {
    let loaded = match config::load_default_env(path) {
        Ok(loaded) => loaded,
        Err(error) => return bad_config(error),
    };
    let mut report = Report::default();
    report.ok("config", &path.display().to_string());
    for warning in &loaded.warnings {
        report.warn("config", warning);
    }
    let (accounts, destinations) =
        runtime()?.block_on(async { tokio::join!(check_api(&loaded), check_destinations(&loaded.config)) });
    report.add(&accounts);
    report.add(&destinations);
    check_ledger(&loaded, &mut report);
    print(&report.text)?;
    Ok(match (report.usage, report.failed) {
        (true, _) => Exit::Usage,
        (false, true) => Exit::Failed,
        (false, false) => Exit::Done,
    })
}

fn bad_config(error: ConfigError) -> Outcome {
    print("FAIL  config\n")?;
    complain(&format!("docsyncd: {error}"));
    Ok(Exit::Usage)
}

/// In the order of the accounts.
async fn check_api(loaded: &Loaded) -> Vec<Report> {
    let transport = match Transport::new(&loaded.config.api) {
        Ok(transport) => transport,
        Err(wrong) => {
            let mut report = Report { usage: true, ..Report::default() };
            report.fail("api", &wrong);
            return vec![report];
        }
    };
    let accounts = loaded.config.accounts.values();
    stream::iter(accounts.map(|account| check_account(&transport, &loaded.config, account)))
        .buffered(AT_ONCE)
        .collect()
        .await
}

async fn check_account(transport: &Transport, config: &Config, account: &Account) -> Report {
    let mut report = Report::default();
    let what = format!("account {}", account.name);
    let client = daemon::client(transport, config, account);
    if let Err(wrong) = client.credentials().configured() {
        report.fail(&what, &wrong.what);
        report.usage = true;
        return report;
    }
    let query = ListQuery { page: 1, ..ListQuery::default() };
    match interruptible(&client, client.list(&query)).await {
        Ok(page) if page.len() >= PAGE_SIZE => {
            report.ok(&what, &format!("the API answers; {PAGE_SIZE} documents or more are not synchronized yet"));
        }
        Ok(page) => {
            report.ok(&what, &format!("the API answers; {} documents are not synchronized yet", page.len()));
        }
        Err(error) => report.fail(&what, &error.to_string()),
    }
    report
}

/// In the order of the destinations.
async fn check_destinations(config: &Config) -> Vec<Report> {
    stream::iter(config.destinations.values().map(check_destination)).buffered(AT_ONCE).collect().await
}

async fn check_destination(destination: &Destination) -> Report {
    let mut report = Report::default();
    let what = format!("destination {}", destination.name);
    #[cfg(windows)]
    if let config::DestinationKind::Folder(folder) = &destination.kind {
        if let Some(wrong) = adapters::refused_drive(folder) {
            report.fail(&what, &wrong);
            return report;
        }
        if let Some(rights) = crate::service::windows::rights_on_shares(&folder.path) {
            report.warn(&what, &rights);
        }
    }
    let adapter = adapters::build(destination);
    match tokio::time::timeout(DESTINATION_LIMIT, adapter.check()).await {
        Ok(Ok(())) => report.ok(&what, "works"),
        Ok(Err(wrong)) => report.fail(&what, &wrong),
        Err(_) => {
            report.fail(&what, &format!("does not answer within {} s", DESTINATION_LIMIT.as_secs()));
        }
    }
    report
}

/// Creates and removes a file in the folder of `path`, or in the nearest one above it that is there.
fn try_to_create_beside(path: &Path) -> std::io::Result<()> {
    let folder = path.ancestors().skip(1).find(|folder| folder.exists()).unwrap_or(Path::new("."));
    let file = folder.join(format!(".docsyncd-check-{}", std::process::id()));
    std::fs::OpenOptions::new().write(true).create_new(true).open(&file)?;
    std::fs::remove_file(file)
}

fn check_ledger(loaded: &Loaded, report: &mut Report) {
    let path = &loaded.config.state.path;
    match Ledger::open_beside(path) {
        Ok(_) if is_locked(path) => report.ok("ledger", &format!("{}; the daemon runs", path.display())),
        Ok(_) => report.ok("ledger", &format!("{}; the daemon does not run", path.display())),
        Err(LedgerError::Missing(_)) => match try_to_create_beside(path) {
            Ok(()) => report.ok("ledger", &format!("{} will be created by the first run", path.display())),
            Err(error) => report.fail("ledger", &format!("{} cannot be created: {error}", path.display())),
        },
        Err(error) => report.fail("ledger", &error.to_string()),
    }
}
