//! What can be wrong with a ledger, in words for the person who repairs it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::Millis;
use crate::system::readers::as_whom;

/// An error of the ledger.
#[derive(Debug, Error, Clone)]
pub enum LedgerError {
    /// Another process holds the ledger.
    #[error(
        "the ledger {} is in use by another docsyncd (its lock file is {}.lock). \
         Two daemons must not share one ledger: stop the other one, or give this one a state.path of its own",
        .0.display(), .0.display()
    )]
    InUse(PathBuf),
    /// The daemon of another ledger in the same folder runs.
    #[error(
        "the folder {} is in use by another docsyncd with another ledger. Two daemons must not share one spool: \
         give each ledger a folder of its own (state.path)",
        .0.display()
    )]
    SpoolInUse(PathBuf),
    /// The file exists, but it is no SQLite database, or SQLite finds it damaged.
    #[error("{}", damaged(.path, .what))]
    Damaged {
        /// The ledger.
        path: PathBuf,
        /// What SQLite or the first look at the file said.
        what: String,
    },
    /// A database of another program.
    #[error("{} is a SQLite database, but not a ledger of docsyncd: set state.path to a file of its own", .0.display())]
    Foreign(PathBuf),
    /// Written by a newer docsyncd.
    #[error(
        "the ledger {} was written by a newer docsyncd (its schema version is {found}, this program knows {newest}). \
         It was not touched: install the newer version again",
        .path.display()
    )]
    Newer {
        /// The ledger.
        path: PathBuf,
        /// Its layout.
        found: i64,
        /// The newest layout that this program knows.
        newest: i64,
    },
    /// Written by a docsyncd whose ledgers this program no longer reads.
    #[error(
        "the ledger {} was written by an older docsyncd, from before the first release (its schema version is \
         {found}, this program reads {oldest} and later). It was not touched. {}",
        .path.display(), begin_anew(.path, "older")
    )]
    Older {
        /// The ledger.
        path: PathBuf,
        /// Its layout.
        found: i64,
        /// The oldest layout that this program reads.
        oldest: i64,
    },
    /// The file under the ledger's name is no longer the one that was opened.
    #[error(
        "the ledger {} was removed or replaced while docsyncd ran, so docsyncd stops. Put it back as it was (with the file \
         of the same name that ends in -wal, if there was one) and start docsyncd again. If it is lost, just start \
         docsyncd: documents that were not reported yet are listed again by the API, and files that were delivered \
         already are recognised",
        .0.display()
    )]
    Gone(PathBuf),
    /// The ledger moved to another machine (`docsyncd move`).
    #[error(
        "the ledger {} moved to another machine on {}, and two machines must never work with one ledger. If that machine \
         does not work with it, `docsyncd move --undo` takes it back",
        .path.display(), jiff::Timestamp::from_millisecond(*.at).unwrap_or_default().strftime("%Y-%m-%d at %H:%M UTC")
    )]
    Moved {
        /// The ledger.
        path: PathBuf,
        /// When; milliseconds since 1970.
        at: Millis,
    },
    /// There is no ledger yet.
    #[error("there is no ledger at {} yet: nothing was synchronized so far (is state.path right?)", .0.display())]
    Missing(PathBuf),
    /// The operating system refused.
    #[error("the ledger {} cannot be opened{}: {what}. {}", .path.display(), as_whom(), access_hint(.path))]
    Access {
        /// The ledger.
        path: PathBuf,
        /// The operating system's message.
        what: String,
    },
    /// SQLite failed in a way that may pass: the disk is full, or cannot be read.
    #[error("the ledger could not be read or written: {0}")]
    Sqlite(String),
    /// Another program holds a lock on the ledger for long, which passes as well.
    #[error("the ledger could not be read or written: {0}")]
    Busy(String),
    /// The ledger refuses what docsyncd wrote into it, or holds what docsyncd cannot read. This does not pass by
    /// itself, and concerns one document, not the ledger.
    #[error("an internal fault of docsyncd ({0}): please report it")]
    Fault(String),
    /// The program is ending.
    #[error("the ledger is closed")]
    Closed,
}

fn damaged(path: &Path, what: &str) -> String {
    let anew = begin_anew(path, "damaged");
    format!(
        "the ledger {} is damaged ({what}). It was not changed. {anew}. If there is a backup, `docsyncd restore FILE --force` \
         brings that back instead, and moves the damaged one aside",
        path.display()
    )
}

/// What to do about a ledger that cannot be used.
fn begin_anew(path: &Path, kind: &str) -> String {
    // A new folder each time: otherwise an earlier record would be overwritten.
    let name = format!("{kind}-ledger-{}", jiff::Timestamp::now().strftime("%Y%m%dT%H%M%S%3fZ"));
    let folder = path.parent().unwrap_or(Path::new(".")).join(name);
    let command = if cfg!(windows) {
        format!("md \"{}\" & move \"{}*\" \"{}\"", folder.display(), path.display(), folder.display())
    } else {
        let (folder, path) = (quoted(&folder), quoted(path));
        format!("mkdir {folder} && mv {path}* {folder}/")
    };
    format!(
        "Stop docsyncd, move the ledger aside with\n\n    {command}\n\n\
         and start docsyncd again: documents that were not reported yet are listed again by the API, and files that were \
         delivered already are recognised. Keep the {kind} file: it is the record of what went where"
    )
}

/// Quotes the path for a POSIX shell, so that no character is special.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

fn access_hint(path: &Path) -> String {
    if cfg!(windows) {
        return "Run this in a console opened as administrator, or as the service's account".to_owned();
    }
    if let Some(folder) = std::env::var_os("STATE_DIRECTORY").and_then(|folders| other_than(path, &folders)) {
        return format!(
            "systemd lets this service keep its state in {folder} only: set state.path to {folder}/ledger.sqlite3"
        );
    }
    "Run this as the service's user (for instance with sudo), and check that the folder exists on a disk that is mounted"
        .to_owned()
}

/// The first folder of a service's `STATE_DIRECTORY` (systemd.exec; colons separate several), unless the ledger lies in
/// one of them.
fn other_than(path: &Path, folders: &OsStr) -> Option<String> {
    let folders = folders.to_str()?;
    if folders.split(':').any(|folder| path.starts_with(folder)) {
        return None;
    }
    folders.split(':').next().filter(|folder| !folder.is_empty()).map(ToOwned::to_owned)
}

impl LedgerError {
    /// Whether the daemon can continue and try again later.
    pub fn is_transient(&self) -> bool {
        matches!(self, LedgerError::Sqlite(_) | LedgerError::Busy(_))
    }

    /// Whether only the work that met it cannot go on.
    pub fn is_fault(&self) -> bool {
        matches!(self, LedgerError::Fault(_))
    }

    /// Translates an error of SQLite on the ledger at `path`.
    pub fn from_sqlite(path: &Path, error: &rusqlite::Error) -> Self {
        use rusqlite::ErrorCode as Code;
        let what = error.to_string();
        let path = path.to_path_buf();
        match error.sqlite_error_code() {
            Some(Code::DatabaseCorrupt | Code::NotADatabase) => LedgerError::Damaged { path, what },
            Some(Code::CannotOpen | Code::PermissionDenied | Code::ReadOnly) => LedgerError::Access { path, what },
            Some(Code::DiskFull) => {
                LedgerError::Sqlite(format!("{what}. Free space on the disk that holds {}", path.display()))
            }
            Some(Code::DatabaseBusy | Code::DatabaseLocked) => LedgerError::Busy(what),
            Some(Code::ConstraintViolation | Code::TypeMismatch | Code::TooBig | Code::ParameterOutOfRange) | None => {
                LedgerError::Fault(what)
            }
            Some(_) => LedgerError::Sqlite(what),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::path::Path;

    use super::{LedgerError, other_than};

    #[test]
    fn a_ledger_outside_of_the_services_own_folder_is_sent_there() {
        let told = |path, folders| other_than(Path::new(path), OsStr::new(folders));
        let north = "/var/lib/docsyncd-instances/north";
        assert_eq!(told("/var/lib/docsyncd/ledger.sqlite3", north).as_deref(), Some(north));
        assert_eq!(told("/var/lib/docsyncd-instances/north/ledger.sqlite3", north), None);
        assert_eq!(told("/srv/two/ledger.sqlite3", "/srv/one:/srv/two"), None);
        assert_eq!(told("/srv/two/ledger.sqlite3", ""), None);
    }

    #[test]
    fn what_does_not_pass_by_itself_is_no_passing_error() {
        let of = |code| {
            let error = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None);
            LedgerError::from_sqlite(Path::new("/srv/ledger.sqlite3"), &error)
        };
        for code in [rusqlite::ffi::SQLITE_BUSY, rusqlite::ffi::SQLITE_LOCKED, rusqlite::ffi::SQLITE_IOERR] {
            let error = of(code);
            assert!(error.is_transient() && !error.is_fault(), "{error}");
        }
        let unread = LedgerError::from_sqlite(Path::new("l"), &rusqlite::Error::QueryReturnedNoRows);
        for error in [of(rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE), of(rusqlite::ffi::SQLITE_MISMATCH), unread] {
            assert!(error.is_fault() && !error.is_transient(), "{error}");
        }
    }

    #[test]
    fn a_full_disk_is_named() {
        let full = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_FULL), None);
        let said = LedgerError::from_sqlite(Path::new("/srv/ledger.sqlite3"), &full).to_string();
        assert!(said.ends_with("Free space on the disk that holds /srv/ledger.sqlite3"), "{said}");
    }
}
