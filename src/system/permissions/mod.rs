//! Folders and files that only docsyncd's account and the machine's administrators can read: the ledger, the spool, the
//! tokens.
//!
//! On Unix, the mode (0700, 0600) and the owner decide. On Windows, they have an access list that inherits nothing;
//! `windows.rs` says who is in it and why.

use std::io;
use std::path::Path;

#[cfg(unix)]
#[path = "unix.rs"]
mod system;
#[cfg(windows)]
#[path = "windows/mod.rs"]
mod system;

/// Creates the folder, and missing folders above it. An existing folder keeps its permissions.
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

/// Creates one folder in an existing folder; true if it did not exist.
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

/// Closes an existing file to others. Succeeds if there is none. Does not open the file: opening and closing the ledger
/// here would release SQLite's locks on it (POSIX, fcntl).
///
/// # Errors
/// Any error of the file system.
pub fn protect_file(path: &Path) -> io::Result<()> {
    system::protect_file(path)
}

/// Closes an existing folder to others, and on Windows its content as well.
///
/// # Errors
/// The right to do that is missing, or the file system has no rights.
#[cfg(windows)]
pub fn protect_folder(path: &Path) -> io::Result<()> {
    system::protect_folder(path)
}

/// The account in the file's access list that stands for every user of the machine and may read the file. `None` on
/// Unix, where the caller checks the mode.
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
