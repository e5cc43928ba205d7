//! A ledger that is only looked at, whatever is wrong with it: nothing is written, no file is made beside it, and
//! nobody is waited for longer than the caller says.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};
use url::Url;

use super::open::{APPLICATION_ID, beside, is_known};

/// A ledger that was opened.
#[derive(Debug)]
pub struct Glance {
    /// For reading only.
    pub db: Connection,
    /// The number of its layout.
    pub layout: i64,
    /// Whether this program reads that layout.
    pub is_known: bool,
}

/// Why there is nothing to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unseen {
    /// There is no such file.
    Missing,
    /// The operating system refuses.
    NoRight,
    /// Another program holds it.
    Locked,
    /// SQLite finds it damaged, or it is no database.
    Damaged,
    /// It is a database of another program.
    Foreign,
    /// Any other error.
    Unreadable,
}

impl From<rusqlite::Error> for Unseen {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged,
            Some(ErrorCode::PermissionDenied | ErrorCode::CannotOpen | ErrorCode::ReadOnly) => Self::NoRight,
            _ => Self::Unreadable,
        }
    }
}

/// Opens it. `patience`: how long another program's lock is waited for.
///
/// # Errors
/// Why there is nothing to see.
pub fn glance(path: &Path, patience: Duration) -> Result<Glance, Unseen> {
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(Unseen::Unreadable);
    }
    File::open(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Unseen::Missing,
        ErrorKind::PermissionDenied => Unseen::NoRight,
        _ => Unseen::Unreadable,
    })?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let address = std::path::absolute(path).ok().and_then(|path| Url::from_file_path(path).ok());
    // Without a log nobody has it open: SQLite then needs no file beside it, which it may not be able to make.
    let db = match address.filter(|_| !beside(path, "-wal").exists()) {
        Some(mut address) => {
            address.set_query(Some("immutable=1"));
            Connection::open_with_flags(address.as_str(), flags | OpenFlags::SQLITE_OPEN_URI)?
        }
        None => Connection::open_with_flags(path, flags)?,
    };
    db.busy_timeout(patience)?;
    db.pragma_update(None, "query_only", true)?;
    let number = |name: &str| db.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (id, layout) = (number("application_id")?, number("user_version")?);
    if id != APPLICATION_ID {
        return Err(Unseen::Foreign);
    }
    Ok(Glance { layout, is_known: is_known(layout), db })
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;

    #[test]
    fn whatever_is_wrong_with_it_is_said_at_once_and_nothing_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let patience = Duration::from_millis(20);
        let file = |name: &str, content: &[u8]| {
            let path = folder.path().join(name);
            fs::write(&path, content).unwrap();
            path
        };
        let seen = |path: &Path| glance(path, patience).map(|seen| seen.is_known);
        assert_eq!(seen(&folder.path().join("none")), Err(Unseen::Missing));
        assert_eq!(seen(folder.path()), Err(Unseen::Unreadable));
        assert_eq!(seen(&file("text", &[b'x'; 5000])), Err(Unseen::Damaged));
        assert_eq!(seen(&file("empty", b"")), Err(Unseen::Foreign));
        let before = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(before, 2, "no file was made beside one");

        let (_folder, db) = testing::empty();
        let path = db.path().map(std::path::PathBuf::from).unwrap();
        assert_eq!(seen(&path), Ok(true));
        drop(db);
        let other = Connection::open(&path).unwrap();
        other.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE").unwrap();
        assert_eq!(seen(&path), Err(Unseen::Locked));
    }
}
