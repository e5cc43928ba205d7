//! A thread that owns one connection and runs the queries it receives, as long as the ledger is still the file that was
//! opened.

use std::fs::OpenOptions;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::{Notify, oneshot};

use super::columns::Statements as _;
use super::identity::Identity;
use super::open::lock_path;
use super::{LedgerError, QueryResult};
use crate::system::watch::{IS_CHEAP, watcher};

/// The most queries committed together: bounds the time of a commit. The senders bound the queue, as each waits for its
/// answer.
const MAX_BATCH: usize = 512;
/// How often the writer checks whether another process changed the file, if that process cannot wake it.
const LOOK_INTERVAL: Duration = Duration::from_millis(1500);
/// How often if it can, since a process may die before it does; without a timer, after queries, of which the daemon has
/// one every ten seconds.
const SELDOM: Duration = Duration::from_secs(9);

type Respond = Box<dyn FnOnce(Result<(), LedgerError>) + Send>;

/// A query that ran: whether to keep its changes, and how to answer its sender once the transaction has ended.
pub(super) struct Ran {
    keep: bool,
    pub(super) answer: Respond,
}

/// Runs on a connection, or answers with the reason why there was no transaction.
pub(super) type Query = Box<dyn FnOnce(Result<&Connection, LedgerError>, &Path) -> Ran + Send>;

/// Runs queries, each of which answers its sender itself: a thread, or the simulation at once.
#[async_trait]
pub(super) trait Runs: Send + Sync {
    /// Runs the query, now or soon.
    async fn take(&self, query: Query) -> Result<(), LedgerError>;
}

/// Hands a query over and waits for its answer.
pub(super) async fn run<T, F>(by: &dyn Runs, query: F) -> Result<T, LedgerError>
where
    T: Send + 'static,
    F: FnOnce(&Connection) -> QueryResult<T> + Send + 'static,
{
    let (sender, answer) = oneshot::channel();
    let job: Query = Box::new(move |connection, path| {
        let result =
            connection.and_then(|connection| query(connection).map_err(|error| LedgerError::from_sqlite(path, &error)));
        Ran {
            keep: result.is_ok(),
            answer: Box::new(move |committed| {
                // If the sender is gone, nobody waits for the answer.
                let _ = sender.send(committed.and(result));
            }),
        }
    });
    by.take(job).await?;
    answer.await.map_err(|_| LedgerError::Closed)?
}

pub(super) struct Worker {
    queue: Option<mpsc::Sender<Query>>,
    thread: Option<thread::JoinHandle<()>>,
}

#[async_trait]
impl Runs for Worker {
    async fn take(&self, query: Query) -> Result<(), LedgerError> {
        self.queue.as_ref().ok_or(LedgerError::Closed)?.send(query).map_err(|_| LedgerError::Closed)
    }
}

impl Drop for Worker {
    /// Waits until the queue is empty and the connection is closed: a process that ends right after this leaves one
    /// file, without a write-ahead log beside it.
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Some(thread) = self.thread.take() {
            // The panic hook has already reported a panic of the thread.
            let _ = thread.join();
        }
    }
}

impl Worker {
    pub(super) fn writer(path: &Path, connection: Connection, others: Elsewhere) -> Result<Self, LedgerError> {
        Self::spawn("ledger-writer", path, move |queue, path| write_loop(connection, queue, path, &others))
    }

    pub(super) fn reader(path: &Path, connection: Connection) -> Result<Self, LedgerError> {
        Self::spawn("ledger-reader", path, move |queue, path| {
            let opened = Identity::of(path);
            while let Ok(query) = queue.recv() {
                let answer = match opened.still_at(path).and_then(|()| moment(&connection, path)) {
                    Ok(moment) => query(Ok(&moment), path).answer,
                    Err(gone) => query(Err(gone), path).answer,
                };
                answer(Ok(()));
            }
        })
    }

    fn spawn<F>(name: &str, path: &Path, body: F) -> Result<Self, LedgerError>
    where
        F: FnOnce(&mpsc::Receiver<Query>, &Path) + Send + 'static,
    {
        let (queue, receiver) = mpsc::channel();
        let path = path.to_path_buf();
        let thread = thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || body(&receiver, &path))
            .map_err(|error| LedgerError::Sqlite(format!("cannot start a thread: {error}")))?;
        Ok(Self { queue: Some(queue), thread: Some(thread) })
    }
}

/// A transaction, so that all statements of a query see the ledger as of one moment: otherwise a document could change
/// its state between two of them, and be found in neither state.
fn moment<'a>(connection: &'a Connection, path: &Path) -> Result<Transaction<'a>, LedgerError> {
    Transaction::new_unchecked(connection, TransactionBehavior::Deferred)
        .map_err(|error| LedgerError::from_sqlite(path, &error))
}

/// The other processes that have the ledger open.
pub(super) enum Elsewhere {
    /// The daemon, which this process wakes when it has written.
    Daemon,
    /// Programs that wake this daemon through the watcher, if there is one. It is told of each change.
    Programs(Arc<Notify>, Option<RecommendedWatcher>),
}

impl Elsewhere {
    /// The programs beside the daemon. Each sets the length of the ledger's lock file, which stays the same, after it has
    /// written; the ledger's own files would also wake for each page that the daemon writes.
    pub(super) fn programs(path: &Path, changed: &Arc<Notify>) -> Self {
        let lock = lock_path(path);
        let watch = || {
            let mut watcher = watcher(|_| true, changed)?;
            watcher.watch(&lock, RecursiveMode::NonRecursive).map(|()| watcher)
        };
        Self::Programs(Arc::clone(changed), IS_CHEAP.then(watch).and_then(Result::ok))
    }

    fn look_interval(&self) -> Duration {
        if matches!(self, Self::Programs(_, None)) { LOOK_INTERVAL } else { Duration::MAX }
    }

    /// This process wrote into the ledger.
    fn wrote(&self, path: &Path) {
        if matches!(self, Self::Daemon)
            && let Ok(lock) = OpenOptions::new().write(true).open(lock_path(path))
        {
            // Without it the daemon sees the change at its next look.
            let _ = lock.metadata().and_then(|found| lock.set_len(found.len()));
        }
    }
}

fn write_loop(mut connection: Connection, queue: &mpsc::Receiver<Query>, path: &Path, others: &Elsewhere) {
    let opened = Identity::of(path);
    let mut seen = data_version(&connection);
    let mut looked = Instant::now();
    let (interval, mut wrote) = (others.look_interval(), false);
    loop {
        match queue.recv_timeout(interval.saturating_sub(looked.elapsed())) {
            Ok(first) => match opened.still_at(path) {
                Ok(()) => {
                    wrote = true;
                    commit_batch(&mut connection, first, queue, path);
                    others.wrote(path);
                }
                Err(gone) => (first(Err(gone.clone()), path).answer)(Err(gone)),
            },
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
        }
        if looked.elapsed() >= interval.min(SELDOM) {
            looked = Instant::now();
            let version = data_version(&connection);
            // If the file is gone, the next query reports that.
            if version != seen || opened.still_at(path).is_err() {
                seen = version;
                if let Elsewhere::Programs(changed, _) = others {
                    // `notify_one` keeps the notification if nobody waits now.
                    changed.notify_one();
                }
            }
        }
    }
    // A process that only read leaves the log to the daemon, whose transaction it would have to wait for.
    if !wrote {
        return;
    }
    // Puts the whole state into one file, for people who copy it. A failure here loses nothing.
    fault_point!("ledger.checkpoint.before");
    let _ = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    fault_point!("ledger.checkpoint.after");
}

/// This value changes when another connection commits (SQLite, "PRAGMA data_version"); our own commits do not count.
fn data_version(connection: &Connection) -> Option<i64> {
    connection.pragma_query_value(None, "data_version", |row| row.get(0)).ok()
}

pub(super) fn commit_batch(connection: &mut Connection, first: Query, queue: &mpsc::Receiver<Query>, path: &Path) {
    let transaction = match connection.transaction_with_behavior(TransactionBehavior::Immediate) {
        Ok(transaction) => transaction,
        Err(error) => {
            let error = LedgerError::from_sqlite(path, &error);
            (first(Err(error.clone()), path).answer)(Err(error));
            return;
        }
    };
    // The first query still has the transaction to itself, so it needs no savepoint, which would copy every page that
    // it changes.
    let Ran { keep, answer } = first(Ok(&transaction), path);
    if !keep {
        drop(transaction);
        answer(Ok(()));
        return;
    }
    let mut ran = vec![answer];
    let mut pending = queue.try_recv().ok();
    let mut outcome = Ok(());
    while let Some(query) = pending.take() {
        outcome = run_in_savepoint(&transaction, query, path, &mut ran);
        if outcome.is_ok() && ran.len() < MAX_BATCH {
            pending = queue.try_recv().ok();
        }
    }
    fault_point!("ledger.commit.before");
    let outcome = outcome.and_then(|()| transaction.commit());
    fault_point!("ledger.commit.after");
    let outcome = outcome.map_err(|error| LedgerError::from_sqlite(path, &error));
    for answer in ran {
        answer(outcome.clone());
    }
}

/// Runs one query so that it fails alone: its savepoint is undone, and the others of the batch are kept. These
/// statements are prepared only once, unlike those of the library's own savepoints.
fn run_in_savepoint(
    transaction: &Transaction<'_>,
    query: Query,
    path: &Path,
    ran: &mut Vec<Respond>,
) -> QueryResult<()> {
    let run = |statement: &str| transaction.run(statement, []);
    if let Err(error) = run("SAVEPOINT one") {
        ran.push(query(Err(LedgerError::from_sqlite(path, &error)), path).answer);
        return Err(error);
    }
    let Ran { keep, answer } = query(Ok(transaction), path);
    ran.push(answer);
    if !keep {
        run("ROLLBACK TO one")?;
    }
    run("RELEASE one")
}
