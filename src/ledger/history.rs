//! The history: a row for every transition and for everything that an administrator did, never changed afterwards. Each
//! row's hash covers the row and the hash of the row before.

use rusqlite::functions::FunctionFlags;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, params};
use sha2::{Digest as _, Sha256};

use super::columns::Statements as _;
use super::{Millis, QueryResult, process};
use crate::state::State;

/// What an administrator did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Documents were to be tried again.
    Retry,
    /// What may have arrived has, as a person saw.
    Arrived,
    /// An account was signed in.
    Login,
    /// An account was signed out.
    Logout,
    /// A person said who a patient of the service is in the practice's list.
    Assign,
    /// A person took that back.
    Unassign,
    /// What the service lists although it was reported is to be reported again.
    ReportAgain,
    /// What a destination does not hold any more is to be filed again.
    FileAgain,
    /// Names were erased.
    Forget,
    /// docsyncd began to work with another configuration.
    ConfigurationChanged,
}

impl Action {
    /// The word that stands in the history.
    pub fn as_str(self) -> &'static str {
        match self {
            Action::Retry => "retry",
            Action::Arrived => "arrived",
            Action::Login => "login",
            Action::Logout => "logout",
            Action::Assign => "assign",
            Action::Unassign => "unassign",
            Action::ReportAgain => "report_again",
            Action::FileAgain => "file_again",
            Action::Forget => "forget",
            Action::ConfigurationChanged => "configuration_changed",
        }
    }
}

/// The event of the one row that says how many rows were removed until then; its `attempt` is that number.
pub(crate) const REMOVED: &str = "history_removed";
/// Random bytes that keep an erased reason from being guessed.
const SALT: usize = 16;

/// One row.
struct Row<'a> {
    document: Option<i64>,
    event: &'a str,
    state: &'a str,
    attempt: u64,
    destination: Option<&'a str>,
    reason: Option<&'a str>,
    who: Option<&'a str>,
}

/// Appends a row. `attempt` counts the failed attempts so far; `reason` must be free of patient data, as everywhere.
///
/// # Errors
/// Any SQLite error.
#[expect(clippy::too_many_arguments, reason = "a row of seven columns; a struct would only repeat their names")]
pub(crate) fn append(
    db: &Connection,
    document: i64,
    now: Millis,
    event: &str,
    state: State,
    attempt: u32,
    destination: Option<&str>,
    reason: Option<&str>,
) -> QueryResult<()> {
    let (document, attempt) = (Some(document), u64::from(attempt));
    insert(db, now, &Row { document, event, state: state.as_str(), attempt, destination, reason, who: None })
}

/// Writes down what an administrator did, to what, and who that was. No patient data.
///
/// # Errors
/// Any SQLite error.
pub fn act(db: &Connection, now: Millis, action: Action, what: &str, who: Option<&str>) -> QueryResult<()> {
    let (event, reason) = (action.as_str(), Some(what));
    insert(db, now, &Row { document: None, event, state: "", attempt: 0, destination: None, reason, who })
}

/// Writes down that docsyncd works with another configuration than before; both by their digest.
///
/// # Errors
/// Any SQLite error.
pub fn configuration(db: &Connection, now: Millis, sha256: &str) -> QueryResult<()> {
    const KEY: &str = "configuration";
    let before = process::all(db)?.remove(KEY);
    if before.as_deref() == Some(sha256) {
        return Ok(());
    }
    let what = format!("sha256 before {}, now {sha256}", before.as_deref().unwrap_or("unknown"));
    act(db, now, Action::ConfigurationChanged, &what, None)?;
    process::set(db, KEY, sha256)
}

/// SHA-256 of values, each with its kind and length, so that no two lists of values give the same bytes.
pub(crate) fn hash<'a>(values: impl IntoIterator<Item = ValueRef<'a>>) -> [u8; 32] {
    let mut hash = Sha256::new();
    let mut put = |kind: u8, bytes: &[u8]| {
        hash.update([kind]);
        hash.update((bytes.len() as u64).to_be_bytes());
        hash.update(bytes);
    };
    for value in values {
        match value {
            ValueRef::Null => put(0, &[]),
            ValueRef::Integer(number) => put(1, &number.to_be_bytes()),
            ValueRef::Real(number) => put(2, &number.to_be_bytes()),
            ValueRef::Text(text) => put(3, text),
            ValueRef::Blob(bytes) => put(4, bytes),
        }
    }
    hash.finalize().into()
}

/// Makes `history_hash` known to a connection that writes.
///
/// # Errors
/// Any SQLite error.
pub(super) fn register(db: &Connection) -> QueryResult<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_DIRECTONLY;
    db.create_scalar_function("history_hash", -1, flags, |values| {
        Ok(hash((0..values.len()).map(|at| values.get_raw(at))))
    })
}

/// The hash of the row before is read by the statement itself, so that processes that write in turn make one chain.
fn insert(db: &Connection, now: Millis, row: &Row<'_>) -> QueryResult<()> {
    let seal = row.reason.map(salted).transpose()?;
    let (salt, sealed) = seal.unzip();
    db.run(
        "INSERT INTO history (document, at, event, state, attempt, destination, reason, who, seal, hash)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, history_hash(
             (SELECT hash FROM history ORDER BY id DESC LIMIT 1), ?1, ?2, ?3, ?4, ?5, ?6, ?10, ?8))",
        params![
            row.document,
            now,
            row.event,
            row.state,
            row.attempt,
            row.destination,
            row.reason,
            row.who,
            salt,
            sealed
        ],
    )
}

/// Random bytes, and the hash of the reason with them.
fn salted(reason: &str) -> QueryResult<([u8; SALT], [u8; 32])> {
    let mut salt = [0; SALT];
    getrandom::fill(&mut salt).map_err(|error| {
        rusqlite::Error::ToSqlConversionFailure(format!("the system gives no random numbers: {error}").into())
    })?;
    Ok((salt, hash([salt[..].into(), reason.into()])))
}

/// Erases the reasons of a document, which could quote a name. Their hash stays, for the chain.
pub(super) fn erase_reasons(db: &Connection, document: i64) -> QueryResult<()> {
    db.run(
        "UPDATE history SET seal = CASE WHEN hash IS NOT NULL THEN history_hash(seal, reason) END, reason = NULL
         WHERE document = ?1 AND reason IS NOT NULL",
        [document],
    )
}

/// The rows of a document.
pub(super) fn of_document(db: &Connection, document: i64) -> QueryResult<Vec<i64>> {
    db.values("SELECT id FROM history WHERE document = ?1", [document])
}

/// Up to `limit` rows about what administrators did before `before`.
pub(super) fn actions(db: &Connection, before: Millis, limit: usize) -> QueryResult<Vec<i64>> {
    db.values(
        "SELECT id FROM history WHERE document IS NULL AND at < ?1 AND event <> ?2 ORDER BY id LIMIT ?3",
        params![before, REMOVED, limit],
    )
}

/// Removes rows, and writes down how many are gone by now: whoever removes one without that is noticed.
pub(crate) fn remove(db: &Connection, now: Millis, mut rows: Vec<i64>) -> QueryResult<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let before: Option<(i64, u64)> = db.maybe(
        "SELECT id, attempt FROM history WHERE document IS NULL AND event = ?1 ORDER BY id DESC LIMIT 1",
        [REMOVED],
    )?;
    rows.extend(before.map(|(id, _)| id));
    let attempt = before.map_or(0, |(_, removed)| removed) + rows.len() as u64;
    let (event, state) = (REMOVED, "");
    // First, so that the newest row is never removed: the next one would get its number.
    insert(db, now, &Row { document: None, event, state, attempt, destination: None, reason: None, who: None })?;
    rows.sort_unstable();
    for run in rows.chunk_by(|one, next| one + 1 == *next) {
        let (Some(first), Some(last)) = (run.first(), run.last()) else { continue };
        // One that has it already followed on rows that were removed earlier, and these were nearer.
        db.run(
            "UPDATE history SET previous = coalesce(previous, (SELECT hash FROM history WHERE id = ?1))
             WHERE id = (SELECT min(id) FROM history WHERE id > ?1)",
            [last],
        )?;
        db.run("DELETE FROM history WHERE id BETWEEN ?1 AND ?2", [first, last])?;
    }
    Ok(())
}
