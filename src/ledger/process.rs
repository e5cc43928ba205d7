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

/// What is wrong with it then (`health::ListWrong`).
pub const PATIENTS_WRONG: &str = "patients_wrong";

/// Since when browsers do not believe the certificate of the status page, or soon will not; absent while they do.
pub const CERTIFICATE: &str = "certificate";

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

    /// Records the number of differences that a comparison found.
    pub fn found(db: &Connection, count: u64, now: Millis) -> QueryResult<()> {
        let before = Self::of(&all(db)?);
        if count == 0 {
            return remove(db, NOT_AGREEING).map(drop);
        }
        let since = before.since.or(Some(now));
        let latest = before.latest.filter(|_| count <= before.count).or(Some(now));
        set(db, NOT_AGREEING, &serde_json::to_string(&Self { count, since, latest }).unwrap_or_default())
    }
}

/// The key of [`Refused`].
const REFUSED: &str = "configuration_refused";

/// A changed configuration that the running daemon refuses, so that the one before stays in force.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// When it was first refused; `None`: the daemon has not seen it yet.
    pub since: Option<Millis>,
    /// What is wrong, in one line without values of secrets.
    pub what: String,
}

impl Refused {
    /// Parses it from the values of `process`.
    pub fn of(all: &BTreeMap<String, String>) -> Option<Self> {
        all.get(REFUSED).and_then(|json| serde_json::from_str(json).ok())
    }

    /// Records what is wrong, or that nothing is any more.
    pub fn note(db: &Connection, what: Option<&str>, now: Millis) -> QueryResult<()> {
        let Some(what) = what else { return remove(db, REFUSED).map(drop) };
        let since = Self::of(&all(db)?).and_then(|before| before.since).or(Some(now));
        let refused = Self { since, what: what.to_owned() };
        set(db, REFUSED, &serde_json::to_string(&refused).unwrap_or_default())
    }
}

/// Since when the clock of this computer differs from the service's; absent while they agree.
pub const CLOCK: &str = "clock";
/// A smaller difference is no problem; milliseconds. Sign-ins of other services still allow five minutes.
const CLOCK_MAY_DIFFER: Millis = 5 * 60 * 1000;

/// Records by how much this computer's clock is ahead of the service's, in milliseconds, if an answer showed it.
pub fn note_clock(db: &Connection, ahead: Option<Millis>, now: Millis) -> QueryResult<()> {
    match ahead.map(|ahead| ahead.saturating_abs() > CLOCK_MAY_DIFFER) {
        None => Ok(()),
        Some(false) => remove(db, CLOCK).map(drop),
        Some(true) => db.run(
            "INSERT INTO process (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO NOTHING",
            params![CLOCK, now.to_string()],
        ),
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
    fn the_clock_is_a_problem_from_more_than_five_minutes_on_until_it_is_right_again() {
        let (_folder, db) = testing::empty();
        let after = |ahead, now| {
            note_clock(&db, ahead, now).unwrap();
            all(&db).unwrap().remove(CLOCK)
        };
        let five = 5 * 60 * 1000;
        assert_eq!(after(Some(five), 1), None);
        assert_eq!(after(Some(-five - 1), 2).as_deref(), Some("2"));
        assert_eq!(after(Some(Millis::MIN), 3).as_deref(), Some("2"));
        assert_eq!(after(None, 4).as_deref(), Some("2"), "no answer showed anything");
        assert_eq!(after(Some(-five), 5), None);
    }

    #[test]
    fn a_refused_configuration_is_kept_since_it_was_first_refused() {
        let (_folder, db) = testing::empty();
        let after = |what, now| {
            Refused::note(&db, what, now).unwrap();
            Refused::of(&all(&db).unwrap()).map(|refused| (refused.since, refused.what))
        };
        assert_eq!(after(Some("a"), 1), Some((Some(1), "a".to_owned())));
        assert_eq!(after(Some("b"), 2), Some((Some(1), "b".to_owned())));
        assert_eq!(after(None, 3), None);
    }

    #[test]
    fn what_did_not_agree_stands_until_all_does() {
        let (_folder, db) = testing::empty();
        let after = |count, now| {
            Agreement::found(&db, count, now).unwrap();
            let Agreement { count, since, latest } = Agreement::of(&all(&db).unwrap());
            (count, since, latest)
        };
        assert_eq!(after(2, 2), (2, Some(2), Some(2)));
        assert_eq!(after(1, 3), (1, Some(2), Some(2)), "it gets better");
        assert_eq!(after(3, 4), (3, Some(2), Some(4)));
        assert_eq!(after(0, 5), (0, None, None));
        set(&db, NOT_AGREEING, "nonsense").unwrap();
        assert_eq!(after(0, 6), (0, None, None));
    }
}
