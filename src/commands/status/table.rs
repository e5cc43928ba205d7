//! The table of `docsyncd status`: a line for each thing, for whoever looks after the installation.

use std::fmt::Write as _;

use super::super::output::{docsyncd, local_with_zone as local};
use super::Status;
use crate::health::Cause;
use crate::language::{Group, Language};

/// Before the first run: whether the accounts are signed in is what a person wants to know who sets it up.
fn text_of_nothing(status: &Status, language: Language) -> String {
    let mut text = format!("not running; nothing was synchronized so far: there is no ledger at {}\n", status.ledger);
    add_sign_ins(&mut text, status, language);
    text
}

fn add_sign_ins(text: &mut String, status: &Status, language: Language) {
    for sign_in in &status.sign_ins {
        let account = &sign_in.account;
        let problem = sign_in.problem.as_ref().map(|problem| match language {
            Language::English => problem.clone(),
            other => {
                let cause = if sign_in.auth == "oauth" { Cause::SignIn } else { Cause::ApiKey };
                let group = Group { cause, names: vec![account.clone()], count: 0, since: None };
                format!("{} {}", other.group(&group, &jiff::Zoned::now()), other.advice(cause))
            }
        });
        // Writing to a String cannot fail.
        let _ = match (&problem, &sign_in.user, sign_in.auth) {
            (Some(problem), ..) => writeln!(text, "SIGN-IN       {account}: {problem}"),
            (None, Some(user), _) => writeln!(text, "sign-in       {account}: signed in as {user}"),
            (None, None, "oauth") => writeln!(text, "sign-in       {account}: signed in"),
            (None, None, _) => writeln!(text, "sign-in       {account}: by API key"),
        };
    }
}

/// The table.
pub(super) fn text(status: &Status, language: Language) -> String {
    if !status.begun {
        return text_of_nothing(status, language);
    }
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
        (_, Some(state)) => {
            format!("   ({}; {})", docsyncd(&format!("list --state {state}")), docsyncd("retry --failed"))
        }
        (_, None) => {
            format!("   ({}, --state unreported; {})", docsyncd("list --state failed"), docsyncd("retry --failed"))
        }
    };
    let _ = writeln!(text, "failed        {failed}{hint}");
    if summary.may_have_arrived > 0 {
        let (count, list) = (summary.may_have_arrived, docsyncd("list --state fetched"));
        let _ = writeln!(
            text,
            "UNCERTAIN     {count} may have arrived: look there ({list} names them); {} sends one again",
            docsyncd("retry UUID")
        );
    }
    let _ = writeln!(text, "withdrawn     {}", count("withdrawn"));
    for account in &summary.accounts {
        let _ =
            writeln!(text, "account       {}: last polled {}", account.account, local(account.last_poll.as_deref()));
        if let Some(error) = account.told.as_ref().map(|told| language.reason(told)) {
            let _ = writeln!(text, "              LAST POLL FAILED: {error}");
        }
        if !account.configured && account.waiting > 0 {
            let (name, waiting) = (&account.account, account.waiting);
            let wait = if waiting == 1 { "document waits" } else { "documents wait" };
            let _ = writeln!(
                text,
                "              NOT CONFIGURED: {waiting} {wait} for it. The account that lists them takes them over at its \
                 next poll; if none does, put [accounts.{name}] back"
            );
        }
    }
    add_sign_ins(&mut text, status, language);
    for pause in &summary.pauses {
        let (since, next) = (local(pause.since.as_deref()), local(pause.next_probe.as_deref()));
        let reason = language.reason(&pause.told);
        let _ = writeln!(text, "PAUSED        {} since {since}, tried again {next}: {reason}", pause.scope);
    }
    let _ = writeln!(text, "ledger        {}", status.ledger);
    text
}
