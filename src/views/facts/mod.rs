//! The facts from which `health::assess` judges the state of docsyncd: counts and times, and no text except the names
//! of accounts and destinations.

use std::path::Path;

use jiff::Zoned;
use jiff::tz::TimeZone;
use rusqlite::{Connection, Params, params};

use super::came::came;
use super::patients::{ASKS, decided_since};
use super::status::{counts, started_at, sum};
use crate::domain::failure::Scope;
use crate::domain::health::{AccountFacts, Ended, Facts, PauseFacts, Stalled};
use crate::domain::state::State;
use crate::ledger::columns::{Statements as _, as_json, from_row};
use crate::ledger::pauses::Pause;
use crate::ledger::polls::{Latest, Polls};
use crate::ledger::{Millis, QueryResult, away, now, process, restored};
use crate::system::durable;

/// A disk with fewer free bytes counts as full: the next letter does not fit, and soon the ledger cannot be written.
const LEAST_ROOM: u64 = 1024 * 1024;

/// Whether the disk of this ledger is full. The system is asked, since a ledger that cannot be written cannot record
/// it.
fn has_no_room(db: &Connection) -> bool {
    let folder = db.path().and_then(|path| Path::new(path).parent()).filter(|folder| !folder.as_os_str().is_empty());
    folder.and_then(|folder| durable::free_space(folder).ok()).is_some_and(|free| free < LEAST_ROOM)
}

/// Facts that the ledger does not know.
#[derive(Debug, Clone)]
pub struct Present {
    /// The present time.
    pub now: Millis,
    /// When today began, in this machine's time zone.
    pub midnight: Millis,
    /// Whether a daemon works on the ledger.
    pub running: bool,
    /// The configured accounts by NAME, and whether each signs in (`oauth`).
    pub accounts: Vec<(String, bool)>,
    /// The only accounts whose letters count; `None`: all.
    pub only: Option<Vec<String>>,
}

impl Present {
    /// Now, on this machine.
    pub fn new(running: bool, accounts: impl Iterator<Item = (String, bool)>) -> Self {
        let now = now();
        let here = jiff::Timestamp::from_millisecond(now).unwrap_or_default().to_zoned(TimeZone::system());
        let midnight = here.start_of_day().as_ref().map_or(now, |day: &Zoned| day.timestamp().as_millisecond());
        Self { now, midnight, running, accounts: accounts.collect(), only: None }
    }

    /// The facts before there is a ledger.
    pub fn without_ledger(&self) -> Facts {
        let accounts = self.accounts.iter().map(|(name, signs_in)| AccountFacts {
            name: name.clone(),
            configured: true,
            signs_in: *signs_in,
            ..AccountFacts::default()
        });
        Facts { now: self.now, running: self.running, accounts: accounts.collect(), ..Facts::default() }
    }
}

/// The facts, except sign-ins, which only the files of the accounts show.
///
/// # Errors
/// Any SQLite error.
pub fn facts(db: &Connection, present: &Present) -> QueryResult<Facts> {
    let mut facts = present.without_ledger();
    let own = present.only.as_deref();
    let only = own.map(as_json);
    let only = only.as_deref();
    facts.open = sum(&counts(db, only)?, State::is_open).saturating_sub(to_confirm(db, only)?);
    facts.today = db
        .prepare_cached(
            "SELECT count(*) FROM document WHERE state = 'reported' AND due_at IS NULL AND changed_at >= ?1 AND (?2 IS NULL OR account IN (SELECT value FROM json_each(?2)))",
        )?
        .query_row(params![present.midnight, only], |row| row.get(0))?;
    let process = process::all(db)?;
    facts.last_done_at = last_success(db)?;
    facts.awake_since = started_at(&process).filter(|_| present.running);
    accounts(db, &mut facts)?;
    for pause in away::pauses(db)? {
        if let Some(scope) = Scope::parse(&pause.scope) {
            let count = held_back(db, &scope, only)?;
            let Pause { since, probe_at, failure, .. } = pause;
            facts.pauses.push(PauseFacts { scope, failure, since, probe_at, count });
        }
    }
    let shut = |name: &String| facts.pauses.iter().any(|pause| pause.scope == Scope::Destination(name.clone()));
    let any_shut = facts.pauses.iter().any(|pause| matches!(pause.scope, Scope::Destination(_)));
    facts.is_shut = any_shut && away::last_worked(db)?.keys().all(shut);
    facts.stalled = stalled(db, present.now, only)?;
    facts.failed = in_state(db, State::Failed, only)?;
    facts.unreported = in_state(db, State::Unreported, only)?;
    facts.failed_unseen = unseen(db, State::Failed, only)?;
    facts.unreported_unseen = unseen(db, State::Unreported, only)?;
    facts.unconfirmed = unconfirmed(db, only)?;
    facts.unmatched = unmatched(db, only, present.now)?;
    facts.strangers = strangers(db)?;
    facts.not_taken = not_taken(db, present.now, only)?;
    facts.not_replaced = not_replaced(db, only)?;
    let agreeing = process::Agreement::of(&process);
    facts.not_agreeing = Ended { count: agreeing.count, first: agreeing.since, last: agreeing.latest };
    let of_daemon = |at: Option<&String>| at.filter(|_| present.running).and_then(|at| at.parse().ok());
    facts.patients_file_since = of_daemon(process.get(process::PATIENTS_FILE));
    facts.patients_file_wrong = process.get(process::PATIENTS_WRONG).cloned().unwrap_or_default();
    facts.clock_since = of_daemon(process.get(process::CLOCK));
    facts.certificate_since = of_daemon(process.get(process::CERTIFICATE));
    let refused = process::Refused::of(&process).filter(|_| present.running);
    facts.moved_at = restored::moved_of(&process);
    facts.refused = refused.map(|refused| (refused.since, refused.what));
    facts.no_room = has_no_room(db);
    if let Some(own) = own {
        let is_other = |scope: &Scope| match scope {
            Scope::Account(name) | Scope::Fetch(name) | Scope::Report(name) => !own.contains(name),
            Scope::Destination(_) => false,
        };
        facts.accounts.retain(|account| own.contains(&account.name));
        facts.pauses.retain(|pause| !is_other(&pause.scope));
        facts.stalled.retain(|stalled| !is_other(&stalled.scope));
        return Ok(facts);
    }
    let read = facts.accounts.iter().filter(|account| account.configured).filter_map(|account| account.polled_at);
    if let Some(seen) = read.max() {
        facts.came = came(db, seen, &TimeZone::system())?;
    }
    Ok(facts)
}

/// Adds what is known of the configured accounts, and accounts that are no longer configured but have open documents.
fn accounts(db: &Connection, facts: &mut Facts) -> QueryResult<()> {
    let mut statement = db.prepare_cached(
        "SELECT name, polled_at, poll_failing_since, next_poll_at, poll_code FROM account ORDER BY name",
    )?;
    let latest = Latest::read(db)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let name: String = row.get("name")?;
        let recorded =
            Polls { polled_at: row.get("polled_at")?, next_poll_at: row.get("next_poll_at")?, swept_at: None };
        let polls = latest.of(&name, recorded);
        // A letter that is fetched waits for its destination, not for the account.
        let open = in_states(db, &name, &[State::Discovered, State::Delivered, State::Failing])?;
        let known = AccountFacts {
            polled_at: polls.polled_at,
            poll_failing_since: row.get("poll_failing_since")?,
            next_poll_at: polls.next_poll_at,
            poll_failure: row.get("poll_code")?,
            open,
            ..AccountFacts::default()
        };
        match facts.accounts.iter_mut().find(|account| account.name == name) {
            Some(account) => {
                let AccountFacts { name, configured, signs_in, .. } = account.clone();
                *account = AccountFacts { name, configured, signs_in, ..known };
            }
            None if open > 0 => facts.accounts.push(AccountFacts { name, ..known }),
            None => {}
        }
    }
    Ok(())
}

/// The number of open documents of an account.
pub(super) fn open_of(db: &Connection, account: &str) -> QueryResult<u64> {
    in_states(db, account, &[State::Discovered, State::Fetched, State::Delivered, State::Failing])
}

fn in_states(db: &Connection, account: &str, states: &[State]) -> QueryResult<u64> {
    let sql = "SELECT documents FROM account_count WHERE state = ?1 AND account = ?2";
    states.iter().map(|state| Ok(db.perhaps(sql, params![state, account])?.unwrap_or(0))).sum()
}

/// The number of documents that a pause holds back. A document that waits for several destinations counts at the first.
fn held_back(db: &Connection, scope: &Scope, only: Option<&str>) -> QueryResult<u64> {
    match scope {
        Scope::Account(name) => in_states(db, name, &[State::Discovered, State::Delivered, State::Failing]),
        Scope::Fetch(name) => in_states(db, name, &[State::Discovered]),
        Scope::Report(name) => in_states(db, name, &[State::Delivered, State::Failing]),
        Scope::Destination(name) => db
            .prepare_cached(
                "SELECT count(*) FROM delivery WHERE state = 'pending' AND destination = ?1 AND due_at IS NOT NULL
                 AND (?2 IS NULL OR (SELECT account FROM document WHERE document.id = delivery.document)
                                    IN (SELECT value FROM json_each(?2)))
                 AND NOT EXISTS (
                    SELECT 1 FROM delivery AS other JOIN pause ON scope = 'destination:' || other.destination
                    WHERE other.document = delivery.document AND other.pdf = delivery.pdf
                    AND other.destination < ?1 AND +other.state = 'pending' AND other.due_at IS NOT NULL)",
            )?
            .query_row(params![name, only], |row| row.get(0)),
    }
}

/// A document downloaded more recently than this is stalled by repeated downloads (its file is gone each time); an
/// older one waits for its destination. Milliseconds.
const JUST_MS: Millis = 60_000;

fn stalled(db: &Connection, now: Millis, only: Option<&str>) -> QueryResult<Vec<Stalled>> {
    let mut documents = db.prepare_cached(
        "SELECT account, state, count(*) AS count, min(failing_since) AS since
         FROM retry_state INDEXED BY retry_state_failing JOIN document ON document.id = retry_state.document
         WHERE work IN ('fetch:', 'report:') AND failing_since IS NOT NULL AND due_at IS NOT NULL
           AND (state <> 'fetched' OR changed_at > ?1)
         GROUP BY account, state",
    )?;
    let mut all = Vec::new();
    let mut rows = documents.query([now.saturating_sub(JUST_MS)])?;
    while let Some(row) = rows.next()? {
        // A document that is downloaded again and again, because its file is gone each time, is stalled in its
        // download.
        let state = row.get("state")?;
        let state = if state == State::Fetched { State::Discovered } else { state };
        let Some(scope) = Scope::of(state, row.get_ref("account")?.as_str()?) else { continue };
        let (count, since) = (row.get("count")?, row.get("since")?);
        match all.iter_mut().find(|one: &&mut Stalled| one.scope == scope) {
            Some(one) => (one.count, one.since) = (one.count + count, one.since.min(since)),
            None => all.push(Stalled { scope, no_room: false, count, since }),
        }
    }
    let mut deliveries = db.prepare_cached(
        "SELECT destination, failure IS 'deliver no_room' AS no_room, min(failing_since) AS since,
                count(*) FILTER (WHERE NOT EXISTS (
                    SELECT 1 FROM delivery AS other LEFT JOIN pause ON scope = 'destination:' || other.destination
                    WHERE other.document = delivery.document AND other.pdf = delivery.pdf
                    AND other.destination <> delivery.destination
                    AND +other.state = 'pending' AND other.due_at IS NOT NULL
                    AND (scope IS NOT NULL
                         OR other.destination < delivery.destination AND EXISTS (
                             SELECT 1 FROM retry_state AS failing
                             WHERE failing.document = other.document AND failing.work = other.destination
                             AND failing.pdf = other.pdf AND failing.failing_since IS NOT NULL))
                )) AS count
         FROM retry_state INDEXED BY retry_state_failing
         JOIN delivery ON delivery.document = retry_state.document AND delivery.pdf = retry_state.pdf
              AND destination = work
         WHERE failing_since IS NOT NULL AND +state = 'pending' AND due_at IS NOT NULL
           AND (?1 IS NULL OR (SELECT account FROM document WHERE document.id = delivery.document)
                              IN (SELECT value FROM json_each(?1)))
         GROUP BY 1, 2",
    )?;
    let mut rows = deliveries.query([only])?;
    while let Some(row) = rows.next()? {
        let scope = Scope::Destination(row.get("destination")?);
        all.push(from_row!(row => Stalled { no_room, count, since; scope: scope }));
    }
    Ok(all)
}

/// Documents with a delivery that waits for a person to look, unless the document has moved on.
pub(super) fn unconfirmed(db: &Connection, only: Option<&str>) -> QueryResult<Ended> {
    ended(
        db,
        "SELECT count(DISTINCT document.id) AS count, min(unconfirmed_at) AS first, max(unconfirmed_at) AS last
         FROM delivery INDEXED BY delivery_unconfirmed CROSS JOIN document ON document.id = delivery.document
         WHERE unconfirmed_at IS NOT NULL AND document.state = 'fetched' AND document.pdf = delivery.pdf
           AND (?1 IS NULL OR document.account IN (SELECT value FROM json_each(?1)))",
        [only],
    )
}

/// Documents whose patient a person has to assign, except after a decision of the last minute.
pub(super) fn unmatched(db: &Connection, only: Option<&str>, now: Millis) -> QueryResult<Ended> {
    ended(
        db,
        &format!(
            "SELECT count(DISTINCT document.id) AS count, min(delivery.changed_at) AS first, max(delivery.changed_at) AS last
             FROM delivery INDEXED BY delivery_unmatched CROSS JOIN document ON document.id = delivery.document
             WHERE {ASKS} AND (?2 IS NULL OR document.account IN (SELECT value FROM json_each(?2)))"
        ),
        params![decided_since(now), only],
    )
}

/// Documents whose patient is not in the practice's list. Counted since the list last had any document's patient.
fn strangers(db: &Connection) -> QueryResult<Ended> {
    ended(
        db,
        "SELECT count(DISTINCT document.id) AS count, min(delivery.changed_at) AS first, max(delivery.changed_at) AS last
         FROM delivery INDEXED BY delivery_unmatched CROSS JOIN document ON document.id = delivery.document
         WHERE unmatched IS NOT NULL AND unmatched = 'nobody' AND document.state = 'fetched'
           AND document.pdf = delivery.pdf
         AND delivery.changed_at > ifnull(
             (SELECT max(changed_at) FROM delivery INDEXED BY delivery_number WHERE number IS NOT NULL), 0)",
        [],
    )
}

/// The number of filed documents that count once a destination's software has them. One that is still to be filed
/// elsewhere counts as that, as in lists ([`super::stands`]).
pub(super) fn to_confirm(db: &Connection, only: Option<&str>) -> QueryResult<u64> {
    db.prepare_cached(
        "SELECT count(DISTINCT document.id) FROM delivery INDEXED BY delivery_filed CROSS JOIN document ON document.id = delivery.document
         WHERE delivery.state = 'filed' AND document.state = 'fetched' AND document.pdf = delivery.pdf
           AND NOT EXISTS (SELECT 1 FROM delivery AS other WHERE other.document = document.id
                           AND other.pdf = document.pdf AND +other.state = 'pending')
           AND (?1 IS NULL OR document.account IN (SELECT value FROM json_each(?1)))",
    )?
    .query_row([only], |row| row.get(0))
}

/// Those of them that nothing took within `confirm_within`, by destination.
fn not_taken(db: &Connection, now: Millis, only: Option<&str>) -> QueryResult<Vec<(String, Ended)>> {
    let mut statement = db.prepare_cached(
        "SELECT destination, count(*) AS count, min(delivery.changed_at) AS first, max(delivery.changed_at) AS last
         FROM delivery INDEXED BY delivery_filed CROSS JOIN document ON document.id = delivery.document
         WHERE delivery.state = 'filed' AND delivery.due_at <= ?1 AND document.state = 'fetched'
           AND document.pdf = delivery.pdf
           AND (?2 IS NULL OR document.account IN (SELECT value FROM json_each(?2)))
         GROUP BY destination",
    )?;
    let rows = statement.query_map(params![now, only], |row| {
        Ok((row.get("destination")?, from_row!(row => Ended { count, first, last })))
    })?;
    rows.collect()
}

/// Documents whose earlier version a person has to remove.
fn not_replaced(db: &Connection, only: Option<&str>) -> QueryResult<Ended> {
    ended(
        db,
        "SELECT count(DISTINCT document) AS count, min(changed_at) AS first, max(changed_at) AS last
         FROM delivery INDEXED BY delivery_not_replaced WHERE to_remove IS NOT NULL
           AND (?1 IS NULL OR (SELECT account FROM document WHERE document.id = delivery.document)
                              IN (SELECT value FROM json_each(?1)))",
        [only],
    )
}

/// The number of documents that ended in this state since a person last looked at them.
fn unseen(db: &Connection, state: State, only: Option<&str>) -> QueryResult<u64> {
    db.prepare_cached(
        "SELECT count(*) FROM document INDEXED BY document_unseen WHERE state = ?1
         AND state IN ('failed', 'unreported') AND (seen_at IS NULL OR seen_at < changed_at)
         AND (?2 IS NULL OR account IN (SELECT value FROM json_each(?2)))",
    )?
    .query_row(params![state, only], |row| row.get(0))
}

/// The documents that ended in this state. The times are read from both ends of an index.
fn in_state(db: &Connection, state: State, only: Option<&str>) -> QueryResult<Ended> {
    if let Some(only) = only {
        return ended(
            db,
            "SELECT count(*) AS count, min(changed_at) AS first, max(changed_at) AS last
             FROM document INDEXED BY document_ended WHERE due_at IS NULL AND state = ?1 AND account IN (SELECT value FROM json_each(?2))",
            params![state, only],
        );
    }
    ended(
        db,
        "SELECT ifnull((SELECT documents FROM document_count WHERE state = ?1), 0) AS count,
                (SELECT min(changed_at) FROM document WHERE due_at IS NULL AND state = ?1) AS first,
                (SELECT max(changed_at) FROM document WHERE due_at IS NULL AND state = ?1) AS last",
        [state],
    )
}

/// When the last of the documents ended that are reported as synchronized.
pub(super) fn last_success(db: &Connection) -> QueryResult<Option<Millis>> {
    db.prepare_cached("SELECT max(changed_at) FROM document WHERE due_at IS NULL AND state = 'reported'")?
        .query_row([], |row| row.get(0))
}

/// The only row of this query: the number of documents, and when the first and the last of them ended.
fn ended(db: &Connection, sql: &str, params: impl Params) -> QueryResult<Ended> {
    db.prepare_cached(sql)?.query_row(params, |row| Ok(from_row!(row => Ended { count, first, last })))
}

#[cfg(test)]
mod tests;
