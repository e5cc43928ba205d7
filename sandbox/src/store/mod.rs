//! The state, in SQLite: one connection behind a lock, and every change a transaction.
//!
//! In memory, each sandbox has its own database, so that many can run in one test process. SQL runs on tokio's blocking
//! threads. The store knows nothing of HTTP or quirks, and returns rows.

mod audio;
pub(crate) mod collection;
mod delivery;
mod document;
mod file;
mod listing;
mod note;
mod oauth;
mod people;
mod practice;
mod secret;
mod status;
mod text;
mod webhook;

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::sleep;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior};

use crate::error::SandboxError;

pub(crate) use audio::{AudioRow, ImageRow, uuid_of};
pub(crate) use collection::Collection;
pub(crate) use delivery::{Attempt, DeliveryRow, Waiting};
pub(crate) use document::{DocumentAudio, DocumentRow, NewDocumentRow};
pub(crate) use file::{Content, FileRow, NewFile};
pub(crate) use listing::{Comparison, Direction, Listing, MOST_WORDS};
pub(crate) use note::NoteRow;
pub(crate) use oauth::{CodeRow, RefreshRow, SessionRow};
pub(crate) use people::{OrganizationRow, UserRow, forget_keys};
pub(crate) use practice::{SharedRow, SharedTable};
pub(crate) use secret::secret;
pub(crate) use status::LastStatus;
pub(crate) use webhook::WebhookRow;

/// The layout of `schema.sql`, kept in SQLite's `user_version`.
const LAYOUT: i64 = 5;
/// How often to try: a sandbox that is ending keeps the file for a moment.
const LOCK_TRIES: u32 = 10;
const LOCK_PAUSE: Duration = Duration::from_millis(50);

/// A handle on the database; cheap to clone.
#[derive(Clone)]
pub(crate) struct Store {
    connection: Arc<Mutex<Connection>>,
    /// The lock on the file. It is released after the connection is closed, or when the process dies.
    _lock: Option<Arc<File>>,
}

impl Store {
    /// Opens or creates the file, or a database in memory.
    pub fn open(path: Option<&Path>) -> Result<Self, SandboxError> {
        let (connection, lock) = match path {
            Some(path) => {
                let lock = lock(path)?;
                let connection = file(path).map_err(|error| match error {
                    SandboxError::Store(source) => SandboxError::StoreFile { path: path.to_owned(), source },
                    other => other,
                })?;
                (connection, Some(Arc::new(lock)))
            }
            None => {
                let mut connection = Connection::open_in_memory()?;
                lay_out(&mut connection)?;
                (connection, None)
            }
        };
        connection.set_prepared_statement_cache_capacity(256);
        connection.pragma_update(None, "foreign_keys", true)?;
        Ok(Self { connection: Arc::new(Mutex::new(connection)), _lock: lock })
    }

    /// Runs SQL in one transaction, which is committed if `work` returns `Ok` and rolled back otherwise.
    pub async fn run<T, F>(&self, work: F) -> Result<T, SandboxError>
    where
        T: Send + 'static,
        F: FnOnce(&Transaction<'_>) -> Result<T, SandboxError> + Send + 'static,
    {
        self.decide(work).await
    }

    /// [`Self::run`], for work that may also refuse in its own way, which rolls the transaction back, too.
    pub async fn decide<T, E, F>(&self, work: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<SandboxError> + Send + 'static,
        F: FnOnce(&Transaction<'_>) -> Result<T, E> + Send + 'static,
    {
        let connection = Arc::clone(&self.connection);
        tokio::task::spawn_blocking(move || {
            let mut connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(SandboxError::from)?;
            let result = work(&transaction)?;
            transaction.commit().map_err(SandboxError::from)?;
            Ok(result)
        })
        .await
        .map_err(|error| SandboxError::Interrupted(error.to_string()))?
    }
}

/// Two sandboxes must not share a file, because their clocks, faults and journals are in memory.
fn lock(store: &Path) -> Result<File, SandboxError> {
    let mut path = store.as_os_str().to_owned();
    path.push(".lock");
    let refused = |source| SandboxError::StoreLock { path: store.to_owned(), source };
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(path).map_err(refused)?;
    for _ in 0..LOCK_TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => sleep(LOCK_PAUSE),
            Err(TryLockError::Error(source)) => return Err(refused(source)),
        }
    }
    Err(SandboxError::StoreInUse { path: store.to_owned() })
}

/// Changes the file's mode only once it is known to be ours.
fn file(path: &Path) -> Result<Connection, SandboxError> {
    let mut connection = Connection::open(path)?;
    lay_out(&mut connection)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    Ok(connection)
}

/// Creates the tables of an empty database.
fn lay_out(connection: &mut Connection) -> Result<(), SandboxError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let tables: i64 = transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    match (found, tables) {
        (LAYOUT, _) => {}
        (0, 0) => {
            transaction.execute_batch(include_str!("schema.sql"))?;
            transaction.pragma_update(None, "user_version", LAYOUT)?;
        }
        (0, _) => return Err(SandboxError::ForeignStore),
        (found, _) => return Err(SandboxError::StoreVersion { found, expected: LAYOUT }),
    }
    Ok(transaction.commit()?)
}

/// Deletes everything except the keys that sign tokens and addresses.
pub(crate) fn empty(transaction: &Transaction<'_>) -> Result<(), SandboxError> {
    let tables =
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'secrets' AND name NOT LIKE 'sqlite_%'
        AND name NOT LIKE '%~_text~_%' ESCAPE '~'";
    let names: Vec<String> = transaction.prepare(tables)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    // Rows refer to each other in every direction. In the end, none is left.
    transaction.pragma_update(None, "defer_foreign_keys", true)?;
    for name in names {
        transaction.execute(&format!("DELETE FROM {name}"), [])?;
    }
    Ok(())
}

/// The value of a counter; zero if it was never set.
pub(crate) fn counter(transaction: &Transaction<'_>, name: &str) -> Result<u64, SandboxError> {
    let value: Option<i64> = transaction
        .prepare_cached("SELECT value FROM counters WHERE name = ?1")?
        .query_row([name], |row| row.get(0))
        .optional()?;
    Ok(value.and_then(|value| u64::try_from(value).ok()).unwrap_or(0))
}

/// Sets a counter.
pub(crate) fn set_counter(transaction: &Transaction<'_>, name: &str, value: u64) -> Result<(), SandboxError> {
    let value = i64::try_from(value).unwrap_or(i64::MAX);
    transaction
        .prepare_cached(
            "INSERT INTO counters (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = ?2",
        )?
        .execute((name, value))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_belongs_to_one_sandbox_until_that_has_ended() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        let first = Store::open(Some(&path)).unwrap();
        let clone = first.clone();
        drop(first);
        let Err(error) = Store::open(Some(&path)) else { panic!("it was opened twice") };
        let said = error.to_string();
        assert!(said.contains(&path.display().to_string()) && said.contains("another sandbox"), "{said}");
        drop(clone);
        Store::open(Some(&path)).unwrap();
    }

    #[test]
    fn a_database_of_something_else_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("theirs");
        Connection::open(&path).unwrap().execute_batch("CREATE TABLE bills (amount INTEGER)").unwrap();
        let before = std::fs::read(&path).unwrap();
        assert!(matches!(Store::open(Some(&path)), Err(SandboxError::ForeignStore)));
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }

    #[test]
    fn a_damaged_store_and_a_place_where_none_can_be_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let damaged = folder.path().join("damaged");
        std::fs::write(&damaged, [7; 8192]).unwrap();
        for path in [damaged, folder.path().join("no folder").join("store")] {
            let Err(error) = Store::open(Some(&path)) else { panic!("{} was opened", path.display()) };
            assert!(error.to_string().contains(&path.display().to_string()), "{error}");
        }
    }
}
