//! The history: a row for every transition and for every action of an administrator, never changed afterwards. Each
//! row's hash covers the row and the previous row's hash.

use std::cell::RefCell;

use rusqlite::functions::FunctionFlags;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, params};
use sha2::{Digest as _, Sha256};

use super::columns::Statements as _;
use super::{Millis, QueryResult, process};
use crate::domain::state::State;

/// An action of an administrator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Documents were retried.
    Retry,
    /// A person confirmed that a delivery arrived.
    Arrived,
    /// An account was signed in.
    Login,
    /// An account was signed out.
    Logout,
    /// A person assigned a patient of the service to one in the practice's list.
    Assign,
    /// A person removed such an assignment.
    Unassign,
    /// Documents that the service lists although they were reported are to be reported again.
    ReportAgain,
    /// Documents that a destination no longer holds are to be filed again.
    FileAgain,
    /// Names were erased.
    Forget,
    /// docsyncd started with another configuration.
    ConfigurationChanged,
    /// The ledger was restored from a backup, or taken back after a move.
    Restored,
    /// The ledger moved to another machine.
    Moved,
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
            Action::Restored => "restored",
            Action::Moved => "moved",
        }
    }
}

/// The event of the only row that counts the rows removed so far; its `attempt` is that number.
pub(crate) const REMOVED: &str = "history_removed";
/// The length of a salt, which keeps an erased reason from being guessed; bytes.
const SALT: usize = 16;

/// Why something happened: in words, which are English and free of patient data, and as a code from which people of any
/// language are told. A code has no patient data either.
#[derive(Debug, Clone, Copy)]
pub struct Because<'a> {
    /// In words.
    pub text: &'a str,
    /// A failure, or the word of a wait; `None` if the event says enough.
    pub code: Option<&'a str>,
}

impl<'a> Because<'a> {
    /// With the same as a code.
    pub fn coded(text: &'a str, code: Option<&'a str>) -> Self {
        Self { text, code }
    }
}

impl<'a> From<&'a str> for Because<'a> {
    fn from(text: &'a str) -> Self {
        Self { text, code: None }
    }
}

thread_local! {
    /// Who the rows about documents are by ([`signed`]): a query runs on one thread from its begin to its end.
    static WHO: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs what a person asked for: the rows about documents that it appends say by whom.
pub fn signed<T>(who: Option<&str>, done: impl FnOnce() -> T) -> T {
    let before = WHO.replace(who.map(str::to_owned));
    let result = done();
    WHO.set(before);
    result
}

/// One row.
#[derive(Default)]
struct Row<'a> {
    document: Option<i64>,
    event: &'a str,
    state: &'a str,
    attempt: u64,
    destination: Option<&'a str>,
    reason: Option<&'a str>,
    code: Option<&'a str>,
    who: Option<&'a str>,
}

/// Appends a row about a document, or about its delivery to a destination. `attempt` counts the failed attempts so far;
/// the reason must be free of patient data, as everywhere.
pub(crate) fn append(
    db: &Connection,
    (document, destination): (i64, Option<&str>),
    now: Millis,
    event: &str,
    state: State,
    attempt: u32,
    because: Option<Because<'_>>,
) -> QueryResult<()> {
    let (document, attempt) = (Some(document), u64::from(attempt));
    let (reason, code) = (because.map(|because| because.text), because.and_then(|because| because.code));
    let state = state.as_str();
    WHO.with_borrow(|who| {
        let who = who.as_deref();
        insert(db, now, &Row { document, event, state, attempt, destination, reason, code, who })
    })
}

/// The events of [`decided`].
pub const ASSIGNED: &str = "assigned";
/// See [`ASSIGNED`].
pub const UNASSIGNED: &str = "unassigned";

/// A person said by which number the practice knows the document's patient, or took that back. The number is kept as
/// the reason, which `forget` erases; an export without names leaves it out.
pub fn decided(
    db: &Connection,
    document: i64,
    event: &str,
    by: &super::patients::Assigned,
    now: Millis,
) -> QueryResult<()> {
    let state: Option<State> = db.perhaps("SELECT state FROM document WHERE id = ?1", [document])?;
    let Some(state) = state.map(State::as_str) else { return Ok(()) };
    let code = Some(if by.listed { "listed" } else { "not_listed" });
    let (document, reason, who) = (Some(document), Some(by.number.as_str()), by.who.as_deref());
    insert(db, now, &Row { document, event, state, reason, code, who, ..Row::default() })
}

/// Records an administrator's action, its object, and who did it. `what` must be free of patient data.
pub fn act(db: &Connection, now: Millis, action: Action, what: &str, who: Option<&str>) -> QueryResult<()> {
    let (event, reason) = (action.as_str(), Some(what));
    insert(db, now, &Row { event, reason, who, ..Row::default() })
}

/// When the document last failed.
pub fn failed_at(db: &Connection, document: i64) -> QueryResult<Option<Millis>> {
    db.perhaps("SELECT at FROM history WHERE document = ?1 AND event = 'refused' ORDER BY id DESC LIMIT 1", [document])
}

/// Whether the API was last told that the document failed.
pub fn told_as_failed(db: &Connection, document: i64) -> QueryResult<bool> {
    let told = "SELECT state = 'failed' FROM history
                WHERE document = ?1 AND event = 'report_accepted' ORDER BY id DESC LIMIT 1";
    Ok(db.perhaps(told, [document])?.unwrap_or(false))
}

/// Records that docsyncd works with another configuration than before; both by their digests.
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

/// SHA-256 of values. Each value goes in with its kind and length, so that no two lists of values give the same bytes.
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

/// Registers the SQL function `history_hash` with a connection that writes.
pub(super) fn register(db: &Connection) -> QueryResult<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_DIRECTONLY;
    db.create_scalar_function("history_hash", -1, flags, |values| {
        Ok(hash((0..values.len()).map(|at| values.get_raw(at))))
    })
}

/// The statement itself reads the previous row's hash, so that processes that write in turn make one chain.
fn insert(db: &Connection, now: Millis, row: &Row<'_>) -> QueryResult<()> {
    let seal = row.reason.map(salted).transpose()?;
    let (salt, sealed) = seal.unzip();
    db.run(
        "INSERT INTO history (document, at, event, state, attempt, destination, reason, code, who, seal, hash)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?11, ?8, ?9, history_hash(
             (SELECT hash FROM history ORDER BY id DESC LIMIT 1), ?1, ?2, ?3, ?4, ?5, ?6, ?10, ?8, ?11))",
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
            sealed,
            row.code
        ],
    )
}

/// A random salt, and the hash of the reason with it.
fn salted(reason: &str) -> QueryResult<([u8; SALT], [u8; 32])> {
    let mut salt = [0; SALT];
    getrandom::fill(&mut salt).map_err(|error| {
        rusqlite::Error::ToSqlConversionFailure(format!("the system gives no random numbers: {error}").into())
    })?;
    Ok((salt, hash([salt[..].into(), reason.into()])))
}

/// Erases the reasons of a document, which could quote a name. Their hashes stay, for the chain.
pub(super) fn erase_reasons(db: &Connection, document: i64) -> QueryResult<()> {
    db.run(
        "UPDATE history SET seal = CASE WHEN hash IS NOT NULL THEN history_hash(seal, reason) END, reason = NULL
         WHERE document = ?1 AND reason IS NOT NULL",
        [document],
    )
}

/// The numbers of a document's rows.
pub(super) fn of_document(db: &Connection, document: i64) -> QueryResult<Vec<i64>> {
    db.values("SELECT id FROM history WHERE document = ?1", [document])
}

/// The numbers of up to `limit` rows about administrators' actions before `before`.
pub(super) fn actions(db: &Connection, before: Millis, limit: usize) -> QueryResult<Vec<i64>> {
    db.values(
        "SELECT id FROM history WHERE document IS NULL AND at < ?1 AND event <> ?2 ORDER BY id LIMIT ?3",
        params![before, REMOVED, limit],
    )
}

/// Removes rows, and records how many were removed so far. Removing a row without this record is noticed.
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
    // Inserted first, so that the newest row is never removed: otherwise the next row would get its number.
    insert(db, now, &Row { event, state, attempt, ..Row::default() })?;
    rows.sort_unstable();
    for run in rows.chunk_by(|one, next| one + 1 == *next) {
        let (Some(first), Some(last)) = (run.first(), run.last()) else { continue };
        // A row that already has a `previous` followed on rows that were removed earlier, and those were nearer.
        db.run(
            "UPDATE history SET previous = coalesce(previous, (SELECT hash FROM history WHERE id = ?1))
             WHERE id = (SELECT min(id) FROM history WHERE id > ?1)",
            [last],
        )?;
        db.run("DELETE FROM history WHERE id BETWEEN ?1 AND ?2", [first, last])?;
    }
    Ok(())
}
