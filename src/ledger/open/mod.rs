//! Opening a ledger: its lock, the checks of the file, permissions, the layout.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use url::Url;

use super::{LedgerError, history, prune};
use crate::system::durable::{hand_over, open_beside_others};
use crate::system::permissions;

/// Creates the tables in an empty file.
const SCHEMA: &str = include_str!("../schema.sql");
/// The number of the oldest layout that this program reads (SQLite's `user_version`). No release had an older one.
const OLDEST: i64 = 33;
/// Each statement turns a layout into the next one, from [`OLDEST`] on. Once a layout was released, every change of
/// [`SCHEMA`] adds its step here, and existing steps never change.
const STEPS: &[&str] = &[];

/// The number of the layout that these steps lead to.
fn newest(steps: &[&str]) -> i64 {
    i64::try_from(steps.len()).map_or(i64::MAX, |steps| OLDEST + steps)
}

/// Whether this program reads this layout.
pub(super) fn is_known(layout: i64) -> bool {
    (OLDEST..=newest(STEPS)).contains(&layout)
}

/// "DSYD": distinguishes a ledger from another program's SQLite file (SQLite, "PRAGMA application_id").
pub(super) const APPLICATION_ID: i64 = 0x4453_5944;
/// How long a statement waits for another process's write.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// How often a start waits for another program that holds the ledger, each time for [`BUSY_TIMEOUT`]. systemd gives a
/// service 90 s to start (systemd-system.conf, "DefaultTimeoutStartSec=").
const BUSY_TRIES: u32 = 6;
/// The first bytes of every SQLite 3 database (SQLite, "Database File Format", 1.3).
const SQLITE_MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// How often the lock is tried. A daemon that is ending, or a `docsyncd status`, holds it only for a moment.
const LOCK_TRIES: u32 = 40;
const LOCK_PAUSE: Duration = Duration::from_millis(50);
/// Up to this size the whole file is checked at start. Checking a larger one would delay the start by seconds; its
/// damage still shows when the damaged page is read.
const QUICK_CHECK_MAX_BYTES: u64 = 32 * 1024 * 1024;

/// The size that a grown write-ahead log is cut back to; bytes.
const LOG_BYTES: i64 = 8 * 1024 * 1024;

/// The right to be the only daemon on a ledger. Dropping it releases the lock, and so does the death of the process.
#[derive(Debug)]
pub struct Lock {
    _ledger: File,
    _spool: File,
}

/// The file beside the ledger whose name is the ledger's with `end` appended.
pub(super) fn beside(ledger: &Path, end: &str) -> PathBuf {
    let mut name = ledger.as_os_str().to_owned();
    name.push(end);
    name.into()
}

pub(super) fn lock_path(ledger: &Path) -> PathBuf {
    beside(ledger, ".lock")
}

impl Lock {
    /// Waits a moment for the lock of this ledger, which need not exist. Its folder is created.
    ///
    /// # Errors
    /// [`LedgerError::InUse`], [`LedgerError::SpoolInUse`] or [`LedgerError::Access`].
    pub fn acquire(ledger: &Path) -> Result<Self, LedgerError> {
        let access =
            |error: std::io::Error| LedgerError::Access { path: ledger.to_path_buf(), what: error.to_string() };
        if let Some(folder) = ledger.parent() {
            permissions::create_folders(folder).map_err(access)?;
        }
        let folder = ledger.parent().unwrap_or(Path::new(".")).to_path_buf();
        let lock = |path: &Path, in_use: LedgerError| {
            let opened = open_beside_others(OpenOptions::new().read(true).write(true), path);
            let name = path.file_name().unwrap_or_default().display();
            let file = opened.map_err(|error| {
                let what = format!("{name}: {error}");
                LedgerError::Access { path: ledger.to_path_buf(), what }
            })?;
            for _ in 0..LOCK_TRIES {
                match file.try_lock() {
                    Ok(()) => return Ok(file),
                    Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
                    Err(TryLockError::Error(error)) => return Err(access(error)),
                }
            }
            Err(in_use)
        };
        // Every spool has the same name beside its ledger: two ledgers in one folder would share it.
        Ok(Self {
            _ledger: lock(&lock_path(ledger), LedgerError::InUse(ledger.to_path_buf()))?,
            _spool: lock(&folder.join("spool.lock"), LedgerError::SpoolInUse(folder.clone()))?,
        })
    }
}

/// Whether a daemon holds the ledger right now.
pub fn is_locked(ledger: &Path) -> bool {
    let Ok(file) = OpenOptions::new().read(true).write(true).open(lock_path(ledger)) else { return false };
    // A shared lock: only a daemon's lock refuses it, another `docsyncd status` does not.
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

pub(super) fn private_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

pub(crate) fn open_or_create(path: &Path) -> Result<Connection, LedgerError> {
    let access = |error: std::io::Error| LedgerError::Access { path: path.to_path_buf(), what: error.to_string() };
    // SQLite gives -wal and -shm the permissions of the main file, so a new file is private before SQLite opens it.
    fault_point!("ledger.create.before");
    match io_fault!("ledger.create").and_then(|()| private_options().create_new(true).open(path)) {
        // As root, SQLite also gives -wal and -shm the owner of the main file.
        Ok(file) => hand_over(&file, path.parent().unwrap_or(Path::new("."))),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(access(error)),
    }
    fault_point!("ledger.create.after");
    let connection = look(path)?;
    // Only now the file is known to be a ledger.
    for end in ["", "-wal", "-shm"] {
        permissions::protect_file(&beside(path, end)).map_err(access)?;
    }
    bring_up_to_date(path, connection)
}

/// As [`open_or_create`], for a program that will write. If another program holds the ledger (a backup, a viewer), this
/// waits for a minute: what would fail later fails here.
pub(super) fn open_to_write(path: &Path) -> Result<Connection, LedgerError> {
    let open = || {
        let connection = open_or_create(path)?;
        let locked = connection.execute_batch("BEGIN IMMEDIATE; ROLLBACK");
        locked.map(|()| connection).map_err(|error| LedgerError::from_sqlite(path, &error))
    };
    for _ in 0..BUSY_TRIES {
        match open() {
            Err(error @ LedgerError::Busy(_)) => {
                tracing::warn!(event = "ledger_busy", "another program holds the ledger, and is waited for: {error}");
            }
            opened => return opened,
        }
    }
    open()
}

pub(super) fn open_existing(path: &Path) -> Result<Connection, LedgerError> {
    bring_up_to_date(path, look(path)?)
}

/// Opens the ledger for one quick look of a monitor, which waits for nobody longer than `patience`: it leaves out the
/// search for damage, brings nothing up to date, and leaves the log as it is.
///
/// # Errors
/// Those of opening.
pub fn open_to_glance(path: &Path, patience: Duration) -> Result<Connection, LedgerError> {
    first_look(path)?;
    refuse_stranger(path)?;
    let sqlite = |error: rusqlite::Error| LedgerError::from_sqlite(path, &error);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(sqlite)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(sqlite)?;
    connection.busy_timeout(patience).map_err(sqlite)?;
    check_identity(path, &connection)?;
    Ok(connection)
}

/// Whether another program keeps the ledger locked: for as long as the connection waits, nobody could write, and nobody
/// did. A daemon that writes all the time is none of these.
pub fn is_kept_locked(connection: &Connection) -> bool {
    let version = || connection.pragma_query_value(None, "data_version", |row| row.get::<_, i64>(0)).ok();
    let before = version();
    match connection.execute_batch("BEGIN IMMEDIATE; ROLLBACK") {
        Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy) => version() == before,
        _ => false,
    }
}

/// Opens the file and checks that it is a sound ledger. Nothing is written before that is known, not even by closing
/// the file again.
fn look(path: &Path) -> Result<Connection, LedgerError> {
    first_look(path)?;
    refuse_stranger(path)?;
    let sqlite = |error: rusqlite::Error| LedgerError::from_sqlite(path, &error);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(sqlite)?;
    let checkpoint_on_close =
        |wanted: bool| connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !wanted).map_err(sqlite);
    // Without a log a checkpoint has nothing to write, and closing removes the empty log that opening created.
    let has_log = fs::metadata(beside(path, "-wal")).is_ok_and(|log| log.len() > 0);
    checkpoint_on_close(!has_log)?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(sqlite)?;
    check_identity(path, &connection)?;
    check_soundness(path, &connection)?;
    checkpoint_on_close(true)?;
    Ok(connection)
}

/// Rewrites the whole ledger, so that no erased data stays in its file. `secure_delete` overwrites what is deleted. But
/// if SQLite had moved an entry within or between pages before, the bytes at the old place stay until that page is
/// rewritten. The daemon may run meanwhile; its next transaction waits for this one.
///
/// # Errors
/// The errors of opening, and any SQLite error: the disk is full, another program holds the file.
pub fn rewrite(path: &Path) -> Result<(), LedgerError> {
    let sqlite = |error: rusqlite::Error| LedgerError::from_sqlite(path, &error);
    let connection = open_existing(path)?;
    connection.execute_batch("VACUUM").map_err(sqlite)?;
    // A reader may block the checkpoint; then the daemon's next checkpoint moves the log into the file.
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).map_err(sqlite)
}

/// Makes statements keep the plan that they were prepared with (SQLite, "The Query Planner Stability Guarantee").
/// Otherwise SQLite prepares a statement again for each new value in a range, which took more than half of the time
/// spent in SQLite.
fn keep_plans(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_prepared_statement_cache_capacity(64);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map(drop)
}

pub(crate) fn bring_up_to_date(path: &Path, mut connection: Connection) -> Result<Connection, LedgerError> {
    for _ in 0..LOCK_TRIES {
        match up_to_date(path, &mut connection) {
            // Some steps do not wait for another process that does the same, but fail (SQLite, "Result Codes",
            // SQLITE_BUSY).
            Err(LedgerError::Busy(_)) => std::thread::sleep(LOCK_PAUSE),
            done => return done.map(|()| connection),
        }
    }
    up_to_date(path, &mut connection).map(|()| connection)
}

fn up_to_date(path: &Path, connection: &mut Connection) -> Result<(), LedgerError> {
    let sqlite = |error: rusqlite::Error| LedgerError::from_sqlite(path, &error);
    // Lets empty pages be given back. Only a new ledger gets the setting here: setting it again would write the first
    // page each time, and on a full disk even `docsyncd status` would fail.
    if pragma(path, connection, "auto_vacuum")? != i64::from(prune::INCREMENTAL) {
        connection.pragma_update(None, "auto_vacuum", prune::INCREMENTAL).map_err(sqlite)?;
    }
    connection.pragma_update(None, "journal_mode", "WAL").map_err(sqlite)?;
    connection.pragma_update(None, "journal_size_limit", LOG_BYTES).map_err(sqlite)?;
    // FULL: a committed transition survives a power cut. secure_delete: the metadata of ended documents leaves the
    // file.
    connection
        .execute_batch("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON;")
        .map_err(sqlite)?;
    history::register(connection).map_err(sqlite)?;
    fault_point!("ledger.migrate.before");
    lay_out(connection, STEPS).map_err(sqlite)?;
    fault_point!("ledger.migrate.after");
    keep_plans(connection).map_err(sqlite)
}

/// Creates the newest layout in an empty file, or upgrades an older layout to it. If another process does so at the
/// same time, nothing is left to do. A process that only reads, as `docsyncd status` does, writes nothing.
fn lay_out(connection: &mut Connection, steps: &[&str]) -> rusqlite::Result<()> {
    let layout = |db: &Connection| db.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0));
    if layout(connection)? >= newest(steps) {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found = layout(&transaction)?;
    if found < newest(steps) {
        match usize::try_from(found - OLDEST) {
            Ok(done) => steps.iter().skip(done).try_for_each(|step| transaction.execute_batch(step))?,
            Err(_) => transaction.execute_batch(SCHEMA)?,
        }
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", newest(steps))?;
        fault_point!("ledger.layout.before");
    }
    transaction.commit()
}

pub(super) fn open_reader(path: &Path) -> Result<Connection, LedgerError> {
    let sqlite = |error: rusqlite::Error| LedgerError::from_sqlite(path, &error);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(sqlite)?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(sqlite)?;
    connection.pragma_update(None, "query_only", true).map_err(sqlite)?;
    keep_plans(&connection).map_err(sqlite)?;
    Ok(connection)
}

fn first_look(path: &Path) -> Result<(), LedgerError> {
    // A device would get a ledger's permissions: /dev/null would then be closed to the whole machine. A pipe would
    // never answer.
    if fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return Err(LedgerError::Access { path: path.to_path_buf(), what: "it is not a regular file".to_owned() });
    }
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(SQLITE_MAGIC.len() as u64).read_to_end(&mut start));
    match read {
        Err(error) if error.kind() == ErrorKind::NotFound => Err(LedgerError::Missing(path.to_path_buf())),
        Err(error) => Err(LedgerError::Access { path: path.to_path_buf(), what: error.to_string() }),
        Ok(_) if start.is_empty() || start == SQLITE_MAGIC => Ok(()),
        Ok(_) => {
            Err(LedgerError::Damaged { path: path.to_path_buf(), what: "the file is not a SQLite database".to_owned() })
        }
    }
}

/// Checks the main file alone and without locks, so that no file is created beside it. This check misses what is only
/// in a write-ahead log, and may see anything while another process writes: in doubt, the next check decides.
fn refuse_stranger(path: &Path) -> Result<(), LedgerError> {
    let address = std::path::absolute(path).ok().and_then(|path| Url::from_file_path(path).ok());
    let Some(mut address) = address else { return Ok(()) };
    address.set_query(Some("immutable=1"));
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let Ok(connection) = Connection::open_with_flags(address.as_str(), flags) else { return Ok(()) };
    match check_identity(path, &connection) {
        Err(error @ (LedgerError::Foreign(_) | LedgerError::Newer { .. } | LedgerError::Older { .. })) => Err(error),
        _ => Ok(()),
    }
}

fn pragma(path: &Path, connection: &Connection, name: &str) -> Result<i64, LedgerError> {
    connection.pragma_query_value(None, name, |row| row.get(0)).map_err(|error| LedgerError::from_sqlite(path, &error))
}

/// Refuses databases of other programs, and layouts that this program does not know, before anything is written.
fn check_identity(path: &Path, connection: &Connection) -> Result<(), LedgerError> {
    // One statement, so that all values are from one moment: another process may be creating the file.
    let (found, id, tables): (i64, i64, i64) = connection
        .query_row(
            "SELECT user_version, application_id, (SELECT count(*) FROM sqlite_master) AS tables
             FROM pragma_user_version, pragma_application_id",
            [],
            |row| Ok((row.get("user_version")?, row.get("application_id")?, row.get("tables")?)),
        )
        .map_err(|error| LedgerError::from_sqlite(path, &error))?;
    let (path, newest) = (path.to_path_buf(), newest(STEPS));
    match id {
        0 if tables == 0 => Ok(()),
        APPLICATION_ID if found > newest => Err(LedgerError::Newer { path, found, newest }),
        APPLICATION_ID if found < OLDEST => Err(LedgerError::Older { path, found, oldest: OLDEST }),
        APPLICATION_ID => Ok(()),
        _ => Err(LedgerError::Foreign(path)),
    }
}

fn check_soundness(path: &Path, connection: &Connection) -> Result<(), LedgerError> {
    if fs::metadata(path).is_ok_and(|meta| meta.len() > QUICK_CHECK_MAX_BYTES) {
        return Ok(());
    }
    let said: String = connection
        .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
        .map_err(|error| LedgerError::from_sqlite(path, &error))?;
    if said == "ok" {
        return Ok(());
    }
    Err(LedgerError::Damaged {
        path: path.to_path_buf(),
        what: said.lines().next().unwrap_or("quick_check").to_owned(),
    })
}

#[cfg(test)]
mod tests;
