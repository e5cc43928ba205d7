//! `docsyncd check`: tries everything for real, a line each.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use super::output::{complain, print};
use super::{Exit, Outcome, interruptible, runtime};
use crate::adapters;
use crate::api::{Api as _, ListQuery, PAGE_SIZE, Transport};
use crate::config::{self, Account, Config, ConfigError, Destination, Loaded};
use crate::daemon;
use crate::ledger::{Ledger, LedgerError, is_locked};

/// The longest a destination may take to answer.
const DESTINATION_LIMIT: Duration = Duration::from_secs(30);

/// The lines, and whether one of them is bad.
#[derive(Default)]
struct Report {
    text: String,
    failed: bool,
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
    let mut usage = false;
    runtime()?.block_on(async {
        usage = check_api(&loaded, &mut report).await;
        for destination in loaded.config.destinations.values() {
            check_destination(destination, &mut report).await;
        }
    });
    check_ledger(&loaded, &mut report);
    print(&report.text)?;
    Ok(match (usage, report.failed) {
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

/// Returns whether the configuration itself is at fault.
async fn check_api(loaded: &Loaded, report: &mut Report) -> bool {
    let transport = match Transport::new(&loaded.config.api) {
        Ok(transport) => transport,
        Err(wrong) => {
            report.fail("api", &wrong);
            return true;
        }
    };
    let mut usage = false;
    for account in loaded.config.accounts.values() {
        usage |= check_account(&transport, &loaded.config, account, report).await;
    }
    usage
}

async fn check_account(transport: &Transport, config: &Config, account: &Account, report: &mut Report) -> bool {
    let what = format!("account {}", account.name);
    let client = daemon::client(transport, config, account);
    if let Err(wrong) = client.credentials().configured() {
        report.fail(&what, &wrong.what);
        return true;
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
    false
}

async fn check_destination(destination: &Destination, report: &mut Report) {
    let what = format!("destination {}", destination.name);
    let adapter = adapters::build(destination);
    match tokio::time::timeout(DESTINATION_LIMIT, adapter.check()).await {
        Ok(Ok(())) => report.ok(&what, "works"),
        Ok(Err(wrong)) => report.fail(&what, &wrong),
        Err(_) => {
            report.fail(&what, &format!("does not answer within {} s", DESTINATION_LIMIT.as_secs()));
        }
    }
}

fn check_ledger(loaded: &Loaded, report: &mut Report) {
    let path = &loaded.config.state.path;
    match Ledger::open_beside(path) {
        Ok(_) if is_locked(path) => report.ok("ledger", &format!("{}; the daemon runs", path.display())),
        Ok(_) => report.ok("ledger", &format!("{}; the daemon does not run", path.display())),
        Err(LedgerError::Missing(_)) => {
            report.ok("ledger", &format!("{} will be created by the first run", path.display()));
        }
        Err(error) => report.fail("ledger", &error.to_string()),
    }
}
