//! Folders and files that only docsyncd's own account and the administrators of the machine can look into: the ledger,
//! the spool, the tokens.
//!
//! On Unix that is the mode (0700, 0600) and the owner. On Windows it is an access list of its own, which nothing is
//! inherited into; `windows.rs` says who stands in it and why.

use std::io;
use std::path::Path;

#[cfg(unix)]
#[path = "permissions/unix.rs"]
mod system;
#[cfg(windows)]
#[path = "permissions/windows.rs"]
mod system;

/// Creates the folder, and those above it that are missing. One that exists keeps its permissions.
///
/// # Errors
/// Any error of the file system.
pub fn create_folders(path: &Path) -> io::Result<()> {
    if path.as_os_str().is_empty() || path.is_dir() {
        return Ok(());
    }
    if let Some(above) = path.parent() {
        create_folders(above)?;
    }
    create_folder(path).map(drop)
}

/// Creates one folder whose parent is there; true when it was not there itself.
///
/// # Errors
/// Any error of the file system.
pub fn create_folder(path: &Path) -> io::Result<bool> {
    match system::create_folder(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(false),
        Err(error) => Err(error),
    }
}

/// Closes a file that is there to others; none is no error. It is named and not opened: to open and close the ledger
/// here would give back the locks that SQLite has on it (POSIX, fcntl).
///
/// # Errors
/// Any error of the file system.
pub fn protect_file(path: &Path) -> io::Result<()> {
    system::protect_file(path)
}

/// Closes a folder that is there to others, and on Windows whatever is in it.
///
/// # Errors
/// The right to do that is missing, or the file system knows no rights.
#[cfg(windows)]
pub fn protect_folder(path: &Path) -> io::Result<()> {
    system::protect_folder(path)
}

/// Which account that is every user of the machine may read a file, by its list. On Unix its mode says it, to whoever
/// reads it.
pub fn read_by_everybody(file: &Path) -> Option<&'static str> {
    #[cfg(windows)]
    return planted::read_by_everybody(file);
    #[cfg(unix)]
    {
        let _ = file;
        None
    }
}

#[cfg(all(windows, test))]
pub use system::effective_acl;
#[cfg(windows)]
pub use system::{access_list, planted};
