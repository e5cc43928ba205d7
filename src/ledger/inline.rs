//! A ledger in memory that runs its queries on the caller's task, for the simulation of the pipeline: without threads,
//! a run can be repeated. Queries, transactions and savepoints are those of the real ledger.

use std::cell::RefCell;
use std::path::Path;
use std::sync::{Arc, Mutex, mpsc};

use async_trait::async_trait;
use rusqlite::Connection;
use tokio::sync::Notify;

use super::worker::{Query, Runs, commit_batch};
use super::{Ledger, LedgerError, open};

/// Hooks around a query.
#[async_trait]
pub(crate) trait Surroundings: Send + Sync {
    /// Runs before the query: time passes, and a query that writes may fail as on a full disk.
    async fn before(&self, writes: bool) -> Result<(), LedgerError>;
    /// Runs right after a query that writes: its changes are durable.
    fn written(&self, db: &Connection);
    /// Runs before the answer arrives.
    async fn after(&self);
}

/// Runs queries at once.
pub(super) struct Inline {
    connection: Arc<Mutex<Connection>>,
    writes: bool,
    surroundings: Arc<dyn Surroundings>,
}

#[async_trait]
impl Runs for Inline {
    async fn take(&self, query: Query) -> Result<(), LedgerError> {
        self.surroundings.before(self.writes).await?;
        {
            let mut connection = self.connection.lock().unwrap();
            let path = Path::new("ledger.sqlite3");
            if self.writes {
                let (_, nobody_else) = mpsc::channel();
                commit_batch(&mut connection, query, &nobody_else, path);
                self.surroundings.written(&connection);
            } else {
                (query(Ok(&connection), path).answer)(Ok(()));
            }
        }
        self.surroundings.after().await;
        Ok(())
    }
}

thread_local! {
    /// The last connection of this thread. Creating the schema and preparing statements would take most of a short
    /// run's time.
    static LAST: RefCell<Option<Arc<Mutex<Connection>>>> = const { RefCell::new(None) };
}

/// An empty ledger in memory: a new one, or the last one if nobody uses it any more.
fn empty() -> Arc<Mutex<Connection>> {
    let last = LAST.take().filter(|last| Arc::strong_count(last) == 1 && !last.is_poisoned());
    let connection = last.unwrap_or_else(|| {
        let new = open::bring_up_to_date(Path::new(":memory:"), Connection::open_in_memory().unwrap()).unwrap();
        // Reader, writer and the observer of the test share one connection here.
        new.set_prepared_statement_cache_capacity(256);
        Arc::new(Mutex::new(new))
    });
    wipe(&connection.lock().unwrap());
    LAST.set(Some(connection.clone()));
    connection
}

/// Empties all tables. In an empty table, row numbers start at 1 again (SQLite, "ROWIDs and Autoincrement").
fn wipe(db: &Connection) {
    let mut tables = db
        .prepare_cached(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'name\\_word%' ESCAPE '\\'",
        )
        .unwrap();
    let tables: Vec<String> = tables.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    // The counts go last: triggers update them while the documents are deleted. Triggers also empty the index of names.
    let (counts, others): (Vec<_>, Vec<_>) = tables.into_iter().partition(|table| table == "ended_count");
    for table in others.iter().chain(&counts) {
        db.execute(&format!("DELETE FROM {table}"), []).unwrap();
    }
}

impl Ledger {
    /// An empty ledger in memory, and its connection for an observer.
    pub(crate) fn in_memory(surroundings: Arc<dyn Surroundings>) -> (Self, Arc<Mutex<Connection>>) {
        let connection = empty();
        let worker =
            |writes| Arc::new(Inline { connection: connection.clone(), writes, surroundings: surroundings.clone() });
        let changed_elsewhere = Arc::new(Notify::new());
        let log = Path::new("no-such-folder/ledger.sqlite3-wal").into();
        let ledger = Self { reader: worker(false), writer: worker(true), changed_elsewhere, log };
        (ledger, connection)
    }

    /// Does what a change by another process does.
    pub(crate) fn notice_change(&self) {
        self.changed_elsewhere.notify_one();
    }
}
