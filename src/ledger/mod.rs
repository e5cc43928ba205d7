//! The ledger: everything docsyncd knows, in one SQLite file.
//!
//! One thread owns the writing connection and commits all queued queries in one transaction; another thread reads.
//! Queries are typed functions on a connection, in the sub-modules; stages pass closures of them to [`Ledger::write`]
//! and [`Ledger::read`]. The ledger deliberately decides nothing (`state::next` does), and it knows neither the API nor
//! the destinations.

pub mod accounts;
pub mod alerts;
pub mod away;
pub mod backup;
pub(crate) mod columns;
pub mod deliveries;
pub mod documents;
mod error;
pub mod failures;
pub mod glance;
pub mod held;
pub mod history;
mod identity;
#[cfg(test)]
pub(crate) mod inline;
pub mod listed;
pub mod names;
pub(crate) mod open;
pub mod page_keys;
pub mod patients;
pub mod pauses;
#[cfg(test)]
mod plans;
pub mod polls;
pub mod process;
pub mod prune;
pub mod reservations;
pub mod restored;
pub mod retry;
#[cfg(test)]
pub(crate) mod testing;
pub(crate) mod tries;
pub mod unwritable;
pub mod webhooks;
pub mod work;
mod worker;

use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;
use tokio::sync::Notify;

pub use error::LedgerError;
pub use open::{Lock, is_kept_locked, is_locked, open_to_glance, rewrite};

use worker::{Elsewhere, Runs, Worker, run};

pub use crate::system::clock::{Millis, now};
use crate::system::watch::folder_of;

/// A query's result, or any error of SQLite, which [`Ledger::write`] and [`Ledger::read`] translate.
pub type QueryResult<T> = rusqlite::Result<T>;

/// An open ledger. Clones share it; the last one closes it.
#[derive(Clone)]
pub struct Ledger {
    // The reader is dropped first, so that nobody blocks the writer's last checkpoint.
    reader: Arc<dyn Runs>,
    writer: Arc<dyn Runs>,
    changed_elsewhere: Arc<Notify>,
    log: Arc<Path>,
}

impl Ledger {
    /// Opens the ledger for a daemon, and creates it if it is missing. The returned [`Lock`] holds the lock while it
    /// lives.
    ///
    /// # Errors
    /// Any [`LedgerError`]. The file is changed only if it is a sound ledger of a layout that this program reads.
    pub fn open_exclusive(path: &Path) -> Result<(Self, Lock), LedgerError> {
        let lock = Lock::acquire(path)?;
        // A restore may have been cut off.
        backup::remove_left(path);
        backup::remove_unfinished(path)
            .and_then(|()| backup::put_in_place(path))
            .map_err(|error| LedgerError::Access { path: path.to_path_buf(), what: error.to_string() })?;
        let connection = open::open_to_write(path)?;
        match restored::moved_at(&connection).map_err(|error| LedgerError::from_sqlite(path, &error))? {
            Some(at) => Err(LedgerError::Moved { path: path.to_path_buf(), at }),
            None => Ok((Self::start(path, connection, Elsewhere::programs)?, lock)),
        }
    }

    /// Opens an existing ledger beside a daemon that may be running.
    ///
    /// # Errors
    /// [`LedgerError::Missing`] if there is none yet, otherwise those of [`Self::open_exclusive`].
    pub fn open_beside(path: &Path) -> Result<Self, LedgerError> {
        Self::start(path, open::open_existing(path)?, |_, _| Elsewhere::Daemon)
    }

    fn start(
        path: &Path,
        writer: Connection,
        others: fn(&Path, &Arc<Notify>) -> Elsewhere,
    ) -> Result<Self, LedgerError> {
        let changed_elsewhere = Arc::new(Notify::new());
        // SQLite's statement journal, which undoes a failed query, is some 200 KB of pages for a document: in files it
        // took a tenth of all processor time. Not set earlier: a VACUUM would take as much memory as the ledger is
        // long.
        writer.pragma_update(None, "temp_store", "MEMORY").map_err(|error| LedgerError::from_sqlite(path, &error))?;
        let reader = open::open_reader(path)?;
        Ok(Self {
            reader: Arc::new(Worker::reader(path, reader)?),
            writer: Arc::new(Worker::writer(path, writer, others(path, &changed_elsewhere))?),
            changed_elsewhere,
            log: open::beside(path, "-wal").into(),
        })
    }

    /// Runs `query` in the writer's next transaction. When this returns `Ok`, the effect is durable (WAL with
    /// synchronous=FULL). If `query` fails, only its own changes are undone.
    ///
    /// # Errors
    /// Any SQLite error, or [`LedgerError::Closed`].
    pub async fn write<T, F>(&self, query: F) -> Result<T, LedgerError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> QueryResult<T> + Send + 'static,
    {
        run(&*self.writer, query).await
    }

    /// Runs `query` on committed data, all as of one moment.
    ///
    /// # Errors
    /// Any SQLite error, or [`LedgerError::Closed`].
    pub async fn read<T, F>(&self, query: F) -> Result<T, LedgerError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> QueryResult<T> + Send + 'static,
    {
        run(&*self.reader, query).await
    }

    /// Frees the pages of the ledger that both connections cache in memory (SQLite, "PRAGMA shrink_memory").
    ///
    /// # Errors
    /// Any SQLite error, or [`LedgerError::Closed`].
    pub async fn release_memory(&self) -> Result<(), LedgerError> {
        self.write(|db| db.execute_batch("PRAGMA shrink_memory")).await?;
        self.read(|db| db.execute_batch("PRAGMA shrink_memory")).await
    }

    /// The folder of its files.
    pub fn folder(&self) -> &Path {
        folder_of(&self.log)
    }

    /// The length of the write-ahead log, whose content is not yet part of the main file; bytes.
    pub fn log_bytes(&self) -> u64 {
        std::fs::metadata(&*self.log).map_or(0, |log| log.len())
    }

    /// Waits until another process (`docsyncd retry`) has changed the ledger, which is noticed at once, or within two
    /// seconds where the system does not tell of it.
    pub async fn changed_elsewhere(&self) {
        self.changed_elsewhere.notified().await;
    }
}
