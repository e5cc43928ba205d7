//! Copies of a ledger, and a copy that takes the place of the ledger.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::open::{self, beside, private_options};
use super::{LedgerError, QueryResult};
use crate::system::durable::{self, hand_over, sync_folder};
use crate::system::permissions;

/// The name of a note, with the process that makes the backup.
const NOTE: &str = ".backup-";
/// The longest path in a note; bytes.
const LONGEST_PATH: u64 = 4096;
/// The end of a name that a file has until it is whole.
const UNFINISHED: &str = ".docsyncd-new";

/// The name that a file has until it is whole.
pub fn unfinished(file: &Path) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    file.with_file_name(format!(".{name}{UNFINISHED}"))
}

/// A backup that is being made. Its note beside the ledger names the file that is not whole yet, and is locked while
/// its process lives: so what a killed process left is known, and is removed by [`remove_left`].
#[derive(Debug)]
pub struct Making {
    note: PathBuf,
    _lock: fs::File,
}

impl Making {
    /// Removes what others left, and writes the note. To be called before `file`'s first byte is written.
    ///
    /// # Errors
    /// There is no ledger, or any error of the file system.
    pub fn begin(ledger: &Path, file: &Path) -> Result<Self, LedgerError> {
        if !ledger.exists() {
            return Err(LedgerError::Missing(ledger.to_path_buf()));
        }
        remove_left(ledger);
        let note = beside(ledger, &format!("{NOTE}{}", std::process::id()));
        let written = || {
            let mut lock = create(&note)?;
            lock.try_lock()?;
            lock.write_all(std::path::absolute(unfinished(file))?.to_str().unwrap_or_default().as_bytes())?;
            lock.sync_all().map(|()| lock)
        };
        let lock = written().map_err(|error| access(ledger, &error))?;
        Ok(Self { note, _lock: lock })
    }

    /// Where the copy of the ledger goes meanwhile.
    pub fn copy(&self) -> PathBuf {
        copy_of(&self.note)
    }
}

impl Drop for Making {
    fn drop(&mut self) {
        forget(&self.note);
    }
}

fn copy_of(note: &Path) -> PathBuf {
    beside(note, ".copy")
}

/// Removes a note and the copy of the ledger.
fn forget(note: &Path) {
    for end in ["", "-wal", "-shm", "-journal"] {
        let _ = fs::remove_file(beside(&copy_of(note), end));
    }
    let _ = fs::remove_file(note);
}

/// Removes what backups left whose process was killed. What cannot be removed stays known.
pub fn remove_left(ledger: &Path) {
    let (folder, name) = (ledger.parent().unwrap_or(Path::new(".")), ledger.file_name().unwrap_or_default());
    let start = format!("{}{NOTE}", name.to_string_lossy());
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_note = name.strip_prefix(&start).is_some_and(|id| id.bytes().all(|digit| digit.is_ascii_digit()));
        // Its process lives where it is locked.
        let note = durable::open_regular(&entry.path()).ok().filter(|note| is_note && note.try_lock().is_ok());
        let Some(note) = note else { continue };
        let mut left = String::new();
        let _ = note.take(LONGEST_PATH).read_to_string(&mut left);
        let left = Path::new(&left);
        // Nothing else is removed, whatever stands in the note.
        let is_left = left.is_absolute()
            && left.file_name().is_some_and(|name| {
                let name = name.to_string_lossy();
                name.starts_with('.') && name.ends_with(UNFINISHED)
            });
        if !is_left || durable::remove_if_there(left).is_ok() {
            forget(&entry.path());
        }
    }
}

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

/// Removes what a restore left that was killed before the ledger was whole. The caller holds the ledger's lock.
///
/// # Errors
/// Any error of the file system.
pub fn remove_unfinished(ledger: &Path) -> io::Result<()> {
    let left = unfinished(ledger);
    ["", "-wal", "-shm", "-journal"].iter().try_for_each(|end| durable::remove_if_there(&beside(&left, end)))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_backup_left_goes_and_that_of_one_that_runs_stays() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let ledger = at("ledger.sqlite3");
        let file = |name: &str, content: &str| fs::write(at(name), content).unwrap();
        let names = || {
            let entries = fs::read_dir(folder.path()).unwrap();
            let mut names: Vec<String> =
                entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        };
        assert!(matches!(Making::begin(&ledger, &at("a.backup")), Err(LedgerError::Missing(_))));
        file("ledger.sqlite3", "");
        file("precious", "");
        // One whose process is gone, one without its file's name, and one that names what is no backup.
        file("ledger.sqlite3.backup-1", at(".old.docsyncd-new").to_str().unwrap());
        file("ledger.sqlite3.backup-1.copy", "Meier");
        file(".old.docsyncd-new", "Meier");
        file("ledger.sqlite3.backup-2", "");
        file("ledger.sqlite3.backup-3", at("precious").to_str().unwrap());
        file("ledger.sqlite3.backup-mine", "");
        let making = Making::begin(&ledger, &at("a.backup")).unwrap();
        file(".a.backup.docsyncd-new", "");
        fs::write(making.copy(), "").unwrap();
        remove_left(&ledger);
        let id = std::process::id();
        let mut expected = [
            ".a.backup.docsyncd-new".to_owned(),
            "ledger.sqlite3".to_owned(),
            format!("ledger.sqlite3.backup-{id}"),
            format!("ledger.sqlite3.backup-{id}.copy"),
            "ledger.sqlite3.backup-mine".to_owned(),
            "precious".to_owned(),
        ];
        expected.sort();
        assert_eq!(names(), expected);
        drop(making);
        assert!(!at(&format!("ledger.sqlite3.backup-{id}")).exists());
    }
}
