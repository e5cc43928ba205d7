//! What the running daemon publishes about itself, for `docsyncd status` in another process.

use std::collections::BTreeMap;

use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};

use super::columns::Statements as _;
use super::{Millis, QueryResult};

/// Writes a value.
pub fn set(db: &Connection, key: &str, value: &str) -> QueryResult<()> {
    db.run(
        "INSERT INTO process (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2",
        params![key, value],
    )
}

/// The address at which the status page is served, while it is.
pub const STATUS_PAGE: &str = "status_page";

/// The address at which webhooks are heard, while they are.
pub const WEBHOOK: &str = "webhook";

/// Since when the practice's list of patients is unusable; absent while it is usable.
pub const PATIENTS_FILE: &str = "patients_file";

/// The practice's list of patients that counted last (`patients::Before`, as JSON).
pub const PATIENTS_BEFORE: &str = "patients_before";

/// The digest of a list of patients that a person accepted (`docsyncd check`).
pub const PATIENTS_BELIEVED: &str = "patients_believed";

/// When the daemon itself last compared all sides (`reconcile.every`).
pub const RECONCILED_AT: &str = "reconciled_at";
/// The differences found, while there are any ([`Agreement`]).
const NOT_AGREEING: &str = "not_agreeing";

/// Whether the service, docsyncd and the destinations agreed on the letters when they were last compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agreement {
    /// The number of differences.
    pub count: u64,
    /// When differences were first found.
    pub since: Option<Millis>,
    /// When their number last grew.
    pub latest: Option<Millis>,
}

impl Agreement {
    /// Parses it from the values of `process`.
    pub fn of(all: &BTreeMap<String, String>) -> Self {
        all.get(NOT_AGREEING).and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default()
    }

    /// Records the number of differences that a comparison of everything found. `begins`: they are a problem even if
    /// there was none before, because no person has seen them.
    pub fn found(db: &Connection, count: u64, begins: bool, now: Millis) -> QueryResult<()> {
        let before = Self::of(&all(db)?);
        if count == 0 {
            return remove(db, NOT_AGREEING).map(drop);
        }
        if before.count == 0 && !begins {
            return Ok(());
        }
        let since = before.since.or(Some(now));
        let latest = before.latest.filter(|_| count <= before.count).or(Some(now));
        set(db, NOT_AGREEING, &serde_json::to_string(&Self { count, since, latest }).unwrap_or_default())
    }
}

/// Removes a value. Returns whether it was there.
pub fn remove(db: &Connection, key: &str) -> QueryResult<bool> {
    db.change("DELETE FROM process WHERE key = ?1", [key]).map(|removed| removed > 0)
}

/// All values.
pub fn all(db: &Connection) -> QueryResult<BTreeMap<String, String>> {
    db.rows("SELECT key, value FROM process", [])
}

/// Present while a daemon runs: if a starting daemon finds it, the one before was killed.
const RUNNING: &str = "running";
/// The prefix of the marks of documents that are being read.
const READING: &str = "reading:";

/// A daemon starts. Returns whether the previous one was killed, and the marks that it left: numbers of documents with
/// their rounds.
pub fn begin(db: &Connection) -> QueryResult<(bool, Vec<(i64, i64)>)> {
    let all = all(db)?;
    let mark = |(key, round): (&String, &String)| Some((key.strip_prefix(READING)?.parse().ok()?, round.parse().ok()?));
    let marks = all.iter().filter_map(mark).collect();
    db.run("DELETE FROM process WHERE substr(key, 1, length(?1)) = ?1", [READING])?;
    set(db, RUNNING, "1")?;
    Ok((all.contains_key(RUNNING), marks))
}

/// A daemon ends normally.
pub fn end(db: &Connection) -> QueryResult<()> {
    remove(db, RUNNING).map(drop)
}

/// Marks a document before it is read.
pub fn mark(db: &Connection, document: i64, round: i64) -> QueryResult<()> {
    set(db, &format!("{READING}{document}"), &round.to_string())
}

/// Removes the mark.
pub fn unmark(db: &Connection, document: i64) -> QueryResult<()> {
    remove(db, &format!("{READING}{document}")).map(drop)
}

/// A person's request for a poll, until a daemon takes it up.
const POLL_REQUESTED: &str = "poll_requested";
/// A person's request to probe what is paused, until a daemon takes it up.
const PROBES_REQUESTED: &str = "probes_requested";

/// Requests from a person to the running daemon.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Asked {
    /// Poll every account now, and probe what is paused (`docsyncd poll`).
    pub poll: bool,
    /// Probe what is paused (`docsyncd retry`).
    pub probes: bool,
}

/// Asks the daemon to poll at once.
pub fn request_poll(db: &Connection) -> QueryResult<()> {
    set(db, POLL_REQUESTED, "1")
}

/// Asks the daemon to probe at once what is paused: a document that a person retried may wait behind a pause.
pub fn request_probes(db: &Connection) -> QueryResult<()> {
    set(db, PROBES_REQUESTED, "1")
}

/// The requests that no daemon has taken up yet.
pub fn asked(db: &Connection) -> QueryResult<Asked> {
    let all = all(db)?;
    Ok(Asked { poll: all.contains_key(POLL_REQUESTED), probes: all.contains_key(PROBES_REQUESTED) })
}

/// Takes up the requests, and returns them.
pub fn take_up(db: &Connection) -> QueryResult<Asked> {
    Ok(Asked { poll: remove(db, POLL_REQUESTED)?, probes: remove(db, PROBES_REQUESTED)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::testing;

    #[test]
    fn what_did_not_agree_stands_until_all_does_and_only_the_daemons_own_look_begins_it() {
        let (_folder, db) = testing::empty();
        let after = |count, begins, now| {
            Agreement::found(&db, count, begins, now).unwrap();
            let Agreement { count, since, latest } = Agreement::of(&all(&db).unwrap());
            (count, since, latest)
        };
        assert_eq!(after(2, false, 1), (0, None, None), "a person saw it");
        assert_eq!(after(2, true, 2), (2, Some(2), Some(2)));
        assert_eq!(after(1, true, 3), (1, Some(2), Some(2)), "it gets better");
        assert_eq!(after(3, false, 4), (3, Some(2), Some(4)));
        assert_eq!(after(0, false, 5), (0, None, None));
        set(&db, NOT_AGREEING, "nonsense").unwrap();
        assert_eq!(after(0, true, 6), (0, None, None));
    }
}
