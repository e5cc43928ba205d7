//! Copies of a ledger, and a copy that takes the place of the ledger.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::open::{self, beside, private_options};
use super::{LedgerError, QueryResult};
use crate::durable::{hand_over, sync_folder};
use crate::permissions;

/// Copies the ledger into a new private file, as it is at one moment, while a daemon may be running. The daemon can go
/// on writing meanwhile (SQLite, "VACUUM INTO").
///
/// # Errors
/// Those of opening the ledger, and any error of SQLite or of the file system. A part of the copy may be left then.
pub fn copy(ledger: &Path, to: &Path) -> Result<(), LedgerError> {
    let sqlite = |error: rusqlite::Error| LedgerError::from_sqlite(ledger, &error);
    let connection = open::open_existing(ledger)?;
    create(to).map_err(|error| access(to, &error))?;
    let name = to.to_str().ok_or_else(|| access(to, &io::ErrorKind::InvalidFilename.into()))?;
    connection.execute("VACUUM INTO ?1", [name]).map_err(sqlite)?;
    Ok(())
}

/// Creates a file that only docsyncd can read.
///
/// # Errors
/// Any error of the file system; there is a file already.
pub fn create(path: &Path) -> io::Result<fs::File> {
    let file = private_options().create_new(true).open(path)?;
    permissions::protect_file(path)?;
    hand_over(&file, path.parent().unwrap_or(Path::new(".")));
    Ok(file)
}

/// Runs `change` in one transaction on a copy of a ledger, after a check that the copy is sound. Nothing is left beside
/// the copy.
///
/// # Errors
/// Those of opening a ledger, and any error of SQLite.
pub fn in_copy<T>(copy: &Path, change: impl FnOnce(&Connection) -> QueryResult<T>) -> Result<T, LedgerError> {
    let sqlite = |error: rusqlite::Error| LedgerError::from_sqlite(copy, &error);
    let connection = open::open_existing(copy)?;
    let sound: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(sqlite)?;
    if sound != "ok" {
        return Err(LedgerError::Damaged { path: copy.to_path_buf(), what: "quick_check".to_owned() });
    }
    let changed = within(&connection, change).map_err(sqlite)?;
    connection.pragma_update(None, "journal_mode", "DELETE").map_err(sqlite)?;
    Ok(changed)
}

/// Runs `change` in one transaction on a ledger that no daemon uses: the caller holds its lock.
///
/// # Errors
/// Those of opening a ledger, and any error of SQLite.
pub fn in_ledger<T>(ledger: &Path, change: impl FnOnce(&Connection) -> QueryResult<T>) -> Result<T, LedgerError> {
    let connection = open::open_existing(ledger)?;
    within(&connection, change).map_err(|error| LedgerError::from_sqlite(ledger, &error))
}

fn within<T>(connection: &Connection, change: impl FnOnce(&Connection) -> QueryResult<T>) -> QueryResult<T> {
    let transaction = connection.unchecked_transaction()?;
    let changed = change(&transaction)?;
    transaction.commit()?;
    Ok(changed)
}

/// The number of documents in the ledger.
pub fn documents(db: &Connection) -> QueryResult<u64> {
    db.query_row("SELECT coalesce(sum(documents), 0) FROM document_count", [], |row| row.get(0))
}

/// The name of a whole, checked and durable ledger that is about to take the place of this one.
pub fn successor(ledger: &Path) -> PathBuf {
    beside(ledger, ".restored")
}

/// Puts the ledger's successor in its place, if there is one, and moves the old ledger aside. Returns the folder with
/// the old one. The caller holds the ledger's lock. If this is cut off, the next call completes it.
///
/// # Errors
/// Any error of the file system.
pub fn put_in_place(ledger: &Path) -> io::Result<Option<PathBuf>> {
    let (new, folder) = (successor(ledger), ledger.parent().unwrap_or(Path::new(".")));
    let Ok(found) = fs::metadata(&new) else { return Ok(None) };
    let at = jiff::Timestamp::try_from(found.modified()?).unwrap_or_default();
    let aside = folder.join(format!("before-restore-{}", at.strftime("%Y%m%dT%H%M%SZ")));
    let mut is_aside = false;
    // The write-ahead log goes first, or it would be taken for the new ledger's.
    for end in ["-wal", "-shm", "-journal", ""] {
        let old = beside(ledger, end);
        if fs::symlink_metadata(&old).is_ok() {
            permissions::create_folder(&aside)?;
            is_aside = true;
            fault_point!("restore.aside.before");
            fs::rename(&old, aside.join(old.file_name().unwrap_or_default()))?;
        }
    }
    // PDFs of another moment are useless.
    let _ = fs::remove_dir_all(ledger.with_file_name("spool"));
    fault_point!("restore.in_place.before");
    fs::rename(&new, ledger)?;
    fault_point!("restore.in_place.after");
    sync_folder(folder)?;
    Ok(is_aside.then_some(aside))
}

fn access(path: &Path, error: &io::Error) -> LedgerError {
    LedgerError::Access { path: path.to_path_buf(), what: error.to_string() }
}
