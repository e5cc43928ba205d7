//! `docsyncd status`: what a person asks first.

use std::fmt::Write as _;

use serde::Serialize;

use super::output::{ledger_to_read, local, print, print_json};
use super::{Outcome, runtime};
use crate::api::auth::Standing;
use crate::config::Loaded;
use crate::ledger::is_locked;
use crate::ledger::view::{self, Summary};

/// The shape behind `--json`.
#[derive(Serialize)]
struct Status {
    /// Whether a daemon (or a `docsyncd sync`) works on the ledger right now.
    running: bool,
    /// Where the ledger is.
    ledger: String,
    /// What it says.
    #[serde(flatten)]
    summary: Summary,
    /// How every configured account signs in, and whether it has.
    sign_ins: Vec<Standing>,
}

pub(super) fn status(loaded: &Loaded, json: bool) -> Outcome {
    let path = &loaded.config.state.path;
    let found = match ledger_to_read(loaded)? {
        Some(ledger) => Some(runtime()?.block_on(ledger.read(view::summary))?),
        None => None,
    };
    let begun = found.is_some();
    let summary = found.unwrap_or_else(Summary::of_nothing);
    let mut sign_ins: Vec<Standing> =
        loaded.config.accounts.values().map(|account| Standing::of(account, path)).collect();
    let running = is_locked(path);
    for sign_in in sign_ins.iter_mut().filter(|_| running) {
        // What a daemon found out by asking the API. What one found that runs no more may have been mended since.
        let scope = format!("account:{}", sign_in.account);
        let pause = summary.pauses.iter().find(|pause| pause.scope == scope);
        sign_in.problem = sign_in.problem.take().or_else(|| pause.map(|pause| pause.reason.clone()));
    }
    let status = Status { running, ledger: path.display().to_string(), summary, sign_ins };
    match (json, begun) {
        (true, _) => print_json(&status),
        (false, true) => print(&text(&status)),
        (false, false) => print(&text_of_nothing(&status)),
    }
}

/// Before the first run: whether the accounts are signed in is what a person wants to know who sets it up.
fn text_of_nothing(status: &Status) -> String {
    let mut text = format!("not running; nothing was synchronized so far: there is no ledger at {}\n", status.ledger);
    add_sign_ins(&mut text, &status.sign_ins);
    text
}

fn add_sign_ins(text: &mut String, sign_ins: &[Standing]) {
    for sign_in in sign_ins {
        let account = &sign_in.account;
        // Writing to a String cannot fail.
        let _ = match (&sign_in.problem, &sign_in.user, sign_in.auth) {
            (Some(problem), ..) => writeln!(text, "SIGN-IN       {account}: {problem}"),
            (None, Some(user), _) => writeln!(text, "sign-in       {account}: signed in as {user}"),
            (None, None, "oauth") => writeln!(text, "sign-in       {account}: signed in"),
            (None, None, _) => writeln!(text, "sign-in       {account}: by API key"),
        };
    }
}

fn text(status: &Status) -> String {
    let mut text = String::new();
    let summary = &status.summary;
    let process = &summary.process;
    // Writing to a String cannot fail.
    if status.running {
        let since = local(process.started_at.as_deref());
        let version = process.version.as_deref().unwrap_or("?");
        let pid = process.pid.map_or_else(|| "?".to_owned(), |pid| pid.to_string());
        let _ = writeln!(text, "running       version {version}, process {pid}, since {since}");
    } else {
        let _ = writeln!(text, "NOT RUNNING");
    }
    let _ = writeln!(text, "last success  {}", local(summary.last_success.as_deref()));
    let count = |state: &str| summary.documents.get(state).copied().unwrap_or(0);
    let _ = writeln!(text, "reported      {}", count("reported"));
    let _ = writeln!(
        text,
        "waiting       {} ({} to fetch, {} to deliver, {} to report)",
        summary.waiting,
        count("discovered"),
        count("fetched"),
        count("delivered") + count("failing")
    );
    let failed = summary.failed;
    let hint = ["failed", "unreported"].into_iter().find(|state| failed > 0 && count(state) == failed);
    let hint = match (failed, hint) {
        (0, _) => String::new(),
        (_, Some(state)) => format!("   (docsyncd list --state {state}; docsyncd retry --failed)"),
        (_, None) => "   (docsyncd list --state failed, --state unreported; docsyncd retry --failed)".to_owned(),
    };
    let _ = writeln!(text, "failed        {failed}{hint}");
    let _ = writeln!(text, "withdrawn     {}", count("withdrawn"));
    for account in &summary.accounts {
        let _ =
            writeln!(text, "account       {}: last polled {}", account.account, local(account.last_poll.as_deref()));
        if let Some(error) = &account.poll_error {
            let _ = writeln!(text, "              LAST POLL FAILED: {error}");
        }
    }
    add_sign_ins(&mut text, &status.sign_ins);
    for pause in &summary.pauses {
        let (since, next) = (local(pause.since.as_deref()), local(pause.next_probe.as_deref()));
        let _ = writeln!(text, "PAUSED        {} since {since}, tried again {next}: {}", pause.scope, pause.reason);
    }
    let _ = writeln!(text, "ledger        {}", status.ledger);
    text
}
