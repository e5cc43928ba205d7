//! The state of the whole: `status`.

use std::collections::BTreeMap;

use rusqlite::Connection;
use serde::Serialize;

use super::facts::{self, open_of};
use super::in_json;
use crate::domain::state::{STATES, State};
use crate::formats::language::Reason;
use crate::ledger::columns::as_json;
use crate::ledger::pauses::Pause;
use crate::ledger::polls::{Latest, Polls};
use crate::ledger::{Millis, QueryResult, away, now, process};

/// What the ledger knows for `status`.
#[derive(Debug, Default, Serialize)]
pub struct Summary {
    /// Documents by state; every state is there.
    pub documents: BTreeMap<&'static str, u64>,
    /// Open documents.
    pub waiting: u64,
    /// Documents that ended in `failed` or `unreported`.
    pub failed: u64,
    /// Open documents that may have arrived at a destination which cannot be asked: a person has to look.
    pub may_have_arrived: u64,
    /// Open documents whose patient a person has to assign.
    pub needs_person: u64,
    /// Open documents that are filed, and count once the destination's software has them.
    pub to_confirm: u64,
    /// When a document was last reported as synchronized.
    #[serde(serialize_with = "in_json")]
    pub last_success: Option<Millis>,
    /// Accounts by name.
    pub accounts: Vec<AccountView>,
    /// The configured destinations.
    pub destinations: Vec<DestinationView>,
    /// The pauses, and destinations that are away.
    pub pauses: Vec<PauseView>,
    /// What the process that works, or last worked, on the ledger publishes about itself.
    pub process: ProcessView,
}

impl Summary {
    /// The summary before there is a ledger.
    pub fn of_nothing() -> Self {
        Self { documents: no_documents(), ..Self::default() }
    }

    /// Limits the destinations to the configured ones, and adds those of which the ledger knows nothing yet.
    pub fn of_destinations<'a>(&mut self, configured: impl Iterator<Item = &'a String>) {
        let known = std::mem::take(&mut self.destinations);
        let at = |name: &String| known.iter().find(|known| known.destination == *name)?.last_worked;
        let view = |name: &String| DestinationView { destination: name.clone(), last_worked: at(name) };
        self.destinations = configured.map(view).collect();
    }

    /// What the daemon does, in one line for a person who looks at the service.
    pub fn in_words(&self) -> String {
        let mut words = match self.waiting {
            0 => "nothing waits".to_owned(),
            1 => "1 document waits".to_owned(),
            n => format!("{n} documents wait"),
        };
        if self.failed > 0 {
            words.push_str(&format!(", {} failed", self.failed));
        }
        for (count, what) in [
            (self.may_have_arrived, "may have arrived"),
            (self.needs_person, "need a person"),
            (self.to_confirm, "are filed and not yet taken"),
        ] {
            if count > 0 {
                words.push_str(&format!(", {count} {what}"));
            }
        }
        for PauseView { scope, reason, .. } in &self.pauses {
            words.push_str(&format!("; {scope} is paused: {}", reason.text));
        }
        words
    }
}

/// One account in `status`.
#[derive(Debug, Serialize)]
pub struct AccountView {
    /// Its name.
    pub account: String,
    /// When its list was last read without an error.
    #[serde(serialize_with = "in_json")]
    pub last_poll: Option<Millis>,
    /// Why the last poll failed; null if it did not.
    pub poll_error: Option<Reason>,
    /// When the whole list was last read.
    #[serde(serialize_with = "in_json")]
    pub last_sweep: Option<Millis>,
    /// The number of its open documents.
    pub waiting: u64,
    /// Whether it is in the configuration; the caller sets this, as the ledger does not know.
    pub configured: bool,
}

/// One destination in `status`.
#[derive(Debug, Serialize)]
pub struct DestinationView {
    /// Its name.
    pub destination: String,
    /// When it was last seen to work, within ten minutes.
    #[serde(serialize_with = "in_json")]
    pub last_worked: Option<Millis>,
}

/// One pause.
#[derive(Debug, Clone, Serialize)]
pub struct PauseView {
    /// `account:NAME`, `fetch:NAME`, `report:NAME` or `destination:NAME`.
    pub scope: String,
    /// Why.
    pub reason: Reason,
    /// Since when.
    #[serde(serialize_with = "in_json")]
    pub since: Millis,
    /// When the next probe is due.
    #[serde(serialize_with = "in_json")]
    pub next_probe: Millis,
}

impl From<&Pause> for PauseView {
    fn from(pause: &Pause) -> Self {
        Self { scope: pause.scope.clone(), reason: pause.told(), since: pause.since, next_probe: pause.probe_at }
    }
}

/// A process in `status`.
#[derive(Debug, Default, Serialize)]
pub struct ProcessView {
    /// Its process id.
    pub pid: Option<u32>,
    /// When it started.
    #[serde(serialize_with = "in_json")]
    pub started_at: Option<Millis>,
    /// Its version.
    pub version: Option<String>,
}

/// The summary.
///
/// # Errors
/// Any SQLite error.
pub fn summary(db: &Connection) -> QueryResult<Summary> {
    summary_of(db, None)
}

/// The summary of the letters of these accounts alone, or of all.
///
/// # Errors
/// Any SQLite error.
pub fn summary_of(db: &Connection, only: Option<&[String]>) -> QueryResult<Summary> {
    let only = only.map(as_json);
    let only = only.as_deref();
    let documents = counts(db, only)?;
    let latest = Latest::read(db)?;
    let accounts = db
        .prepare("SELECT name, polled_at, poll_error, swept_at, poll_code FROM account ORDER BY name")?
        .query_map([], |row| {
            let (account, text): (String, Option<String>) = (row.get("name")?, row.get("poll_error")?);
            let (name, code) = (account.clone(), row.get("poll_code")?);
            let recorded =
                Polls { polled_at: row.get("polled_at")?, next_poll_at: None, swept_at: row.get("swept_at")? };
            let polls = latest.of(&account, recorded);
            Ok(AccountView {
                waiting: open_of(db, &account)?,
                configured: true,
                account,
                last_poll: polls.polled_at,
                poll_error: text.map(|text| Reason { text, code, name, ended: false }),
                last_sweep: polls.swept_at,
            })
        })?
        .collect::<QueryResult<_>>()?;
    let worked = away::last_worked(db)?.into_iter();
    let destinations = worked.map(|(destination, at)| DestinationView { destination, last_worked: Some(at) }).collect();
    let pauses = away::pauses(db)?.iter().map(PauseView::from).collect();
    let mut process = process::all(db)?;
    let process = ProcessView {
        pid: process.get("pid").and_then(|pid| pid.parse().ok()),
        started_at: started_at(&process),
        version: process.remove("version"),
    };
    Ok(Summary {
        waiting: sum(&documents, State::is_open),
        failed: sum(&documents, |state| !state.is_open() && state.is_failure()),
        may_have_arrived: facts::unconfirmed(db, only)?.count,
        needs_person: facts::unmatched(db, only, now())?.count,
        to_confirm: facts::to_confirm(db, only)?,
        documents,
        last_success: facts::last_success(db)?,
        accounts,
        destinations,
        pauses,
        process,
    })
}

/// Documents by state; every state is there. `only`: the accounts whose documents count, as JSON.
pub(super) fn counts(db: &Connection, only: Option<&str>) -> QueryResult<BTreeMap<&'static str, u64>> {
    let mut documents = no_documents();
    let mut counts = db.prepare(
        "SELECT state, documents FROM account_count WHERE ?1 IS NULL OR account IN (SELECT value FROM json_each(?1))",
    )?;
    let mut rows = counts.query([only])?;
    while let Some(row) = rows.next()? {
        let count: u64 = row.get("documents")?;
        *documents.entry(row.get::<_, State>("state")?.as_str()).or_default() += count;
    }
    Ok(documents)
}

pub(super) fn sum(documents: &BTreeMap<&'static str, u64>, wanted: fn(State) -> bool) -> u64 {
    STATES.iter().filter(|state| wanted(**state)).filter_map(|state| documents.get(state.as_str())).sum()
}

/// When the process that works, or last worked, on the ledger started.
pub(super) fn started_at(process: &BTreeMap<String, String>) -> Option<Millis> {
    Some(process.get("started_at")?.parse::<jiff::Timestamp>().ok()?.as_millisecond())
}

fn no_documents() -> BTreeMap<&'static str, u64> {
    STATES.iter().map(|state| (state.as_str(), 0)).collect()
}
