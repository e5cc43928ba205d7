//! The state of the whole: `status`.

use std::collections::BTreeMap;

use rusqlite::Connection;
use serde::Serialize;

use super::facts::{self, open_of};
use super::time;
use crate::language::Reason;
use crate::ledger::polls::{Latest, Polls};
use crate::ledger::{Millis, QueryResult, pauses, process};
use crate::state::{STATES, State};

/// What the ledger knows for `status`.
#[derive(Debug, Default, Serialize)]
pub struct Summary {
    /// Documents by state; every state is there.
    pub documents: BTreeMap<&'static str, i64>,
    /// Open documents.
    pub waiting: i64,
    /// Documents that ended in `failed` or `unreported`.
    pub failed: i64,
    /// Open documents that may have arrived at a destination which cannot be asked: a person has to look.
    pub may_have_arrived: u64,
    /// Open documents whose patient a person has to assign.
    pub needs_person: u64,
    /// Open documents that are filed, and count once the destination's software has them.
    pub to_confirm: u64,
    /// When a document was last reported as synchronized.
    pub last_success: Option<String>,
    /// Accounts by name.
    pub accounts: Vec<AccountView>,
    /// The pauses.
    pub pauses: Vec<PauseView>,
    /// What the process that works, or last worked, on the ledger publishes about itself.
    pub process: ProcessView,
}

impl Summary {
    /// The summary before there is a ledger.
    pub fn of_nothing() -> Self {
        Self { documents: no_documents(), ..Self::default() }
    }
}

/// One account in `status`.
#[derive(Debug, Serialize)]
pub struct AccountView {
    /// Its name.
    pub account: String,
    /// When its list was last read without an error.
    pub last_poll: Option<String>,
    /// Why the last poll failed; null if it did not.
    pub poll_error: Option<String>,
    /// The same for people of any language.
    #[serde(skip)]
    pub told: Option<Reason>,
    /// When the whole list was last read.
    pub last_sweep: Option<String>,
    /// The number of its open documents.
    pub waiting: u64,
    /// Whether it is in the configuration; the caller sets this, as the ledger does not know.
    pub configured: bool,
}

/// One pause in `status`.
#[derive(Debug, Serialize)]
pub struct PauseView {
    /// `account:NAME`, `fetch:NAME`, `report:NAME` or `destination:NAME`.
    pub scope: String,
    /// Why.
    pub reason: String,
    /// The same for people of any language.
    #[serde(skip)]
    pub told: Reason,
    /// Since when.
    pub since: Option<String>,
    /// When the next probe is due.
    pub next_probe: Option<String>,
}

/// A process in `status`.
#[derive(Debug, Default, Serialize)]
pub struct ProcessView {
    /// Its process id.
    pub pid: Option<u32>,
    /// When it started.
    pub started_at: Option<String>,
    /// Its version.
    pub version: Option<String>,
}

/// The summary.
///
/// # Errors
/// Any SQLite error.
pub fn summary(db: &Connection) -> QueryResult<Summary> {
    let documents = counts(db)?;
    let latest = Latest::read(db)?;
    let accounts = db
        .prepare("SELECT name, polled_at, poll_error, swept_at, poll_code FROM account ORDER BY name")?
        .query_map([], |row| {
            let (account, poll_error): (String, Option<String>) = (row.get("name")?, row.get("poll_error")?);
            let (name, code) = (account.clone(), row.get("poll_code")?);
            let recorded =
                Polls { polled_at: row.get("polled_at")?, next_poll_at: None, swept_at: row.get("swept_at")? };
            let polls = latest.of(&account, recorded);
            Ok(AccountView {
                waiting: open_of(db, &account)?,
                configured: true,
                account,
                last_poll: time(polls.polled_at),
                told: poll_error.clone().map(|text| Reason { text, code, name, ended: false }),
                poll_error,
                last_sweep: time(polls.swept_at),
            })
        })?
        .collect::<QueryResult<_>>()?;
    let pauses = pauses::all(db)?
        .into_iter()
        .map(|pause| PauseView {
            told: pause.told(),
            scope: pause.scope,
            reason: pause.reason,
            since: time(Some(pause.since)),
            next_probe: time(Some(pause.probe_at)),
        })
        .collect();
    let mut process = process::all(db)?;
    let last_success: Option<Millis> = process.get("last_success").and_then(|at| at.parse().ok());
    let process = ProcessView {
        pid: process.get("pid").and_then(|pid| pid.parse().ok()),
        started_at: process.remove("started_at"),
        version: process.remove("version"),
    };
    Ok(Summary {
        waiting: sum(&documents, State::is_open),
        failed: sum(&documents, |state| !state.is_open() && state.is_failure()),
        may_have_arrived: facts::unconfirmed(db)?.count,
        needs_person: facts::unmatched(db)?.count,
        to_confirm: facts::to_confirm(db)?,
        documents,
        last_success: time(last_success),
        accounts,
        pauses,
        process,
    })
}

/// What the daemon does, in one line for a person who looks at the service.
///
/// # Errors
/// Any SQLite error.
pub fn in_words(db: &Connection) -> QueryResult<String> {
    let documents = counts(db)?;
    let waiting = sum(&documents, State::is_open);
    let failed = sum(&documents, |state| !state.is_open() && state.is_failure());
    let mut words = match waiting {
        0 => "nothing waits".to_owned(),
        1 => "1 document waits".to_owned(),
        n => format!("{n} documents wait"),
    };
    if failed > 0 {
        words.push_str(&format!(", {failed} failed"));
    }
    match facts::unconfirmed(db)?.count {
        0 => {}
        count => words.push_str(&format!(", {count} may have arrived")),
    }
    match facts::unmatched(db)?.count {
        0 => {}
        count => words.push_str(&format!(", {count} need a person")),
    }
    match facts::to_confirm(db)? {
        0 => {}
        count => words.push_str(&format!(", {count} are filed and not yet taken")),
    }
    for pause in pauses::all(db)? {
        words.push_str(&format!("; {} is paused: {}", pause.scope, pause.reason));
    }
    Ok(words)
}

/// Documents by state; every state is there.
pub(super) fn counts(db: &Connection) -> QueryResult<BTreeMap<&'static str, i64>> {
    let mut documents = no_documents();
    let mut counts = db.prepare("SELECT state, documents FROM document_count")?;
    let mut rows = counts.query([])?;
    while let Some(row) = rows.next()? {
        documents.insert(row.get::<_, State>("state")?.as_str(), row.get("documents")?);
    }
    Ok(documents)
}

pub(super) fn sum(documents: &BTreeMap<&'static str, i64>, wanted: fn(State) -> bool) -> i64 {
    STATES.iter().filter(|state| wanted(**state)).filter_map(|state| documents.get(state.as_str())).sum()
}

fn no_documents() -> BTreeMap<&'static str, i64> {
    STATES.iter().map(|state| (state.as_str(), 0)).collect()
}
