//! Which file the ledger is. If the file is removed or replaced while it is open, all further writes are lost with it,
//! and after its next start the daemon would not know what it had done.

use std::path::Path;

use super::LedgerError;

/// The file that was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Identity(Option<Inner>);

impl Identity {
    /// The identity of the file at `path`. An unknown identity never counts as another file.
    pub(super) fn of(path: &Path) -> Self {
        Self(of(path))
    }

    /// Checks that the same file is still there.
    pub(super) fn still_at(&self, path: &Path) -> Result<(), LedgerError> {
        if self.0.is_none() || self.0 == of(path) { Ok(()) } else { Err(LedgerError::Gone(path.to_path_buf())) }
    }
}

/// Device and inode number of the file.
#[cfg(unix)]
type Inner = (u64, u64);

#[cfg(unix)]
fn of(path: &Path) -> Option<Inner> {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

/// Windows does not remove or replace a file that SQLite has open.
#[cfg(not(unix))]
type Inner = ();

#[cfg(not(unix))]
fn of(_: &Path) -> Option<Inner> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_removed_or_replaced_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "first").unwrap();
        let first = Identity::of(&path);
        std::fs::write(&path, "changed").unwrap();
        assert!(first.still_at(&path).is_ok());
        std::fs::rename(&path, folder.path().join("b")).unwrap();
        assert!(matches!(first.still_at(&path), Err(LedgerError::Gone(_))));
        std::fs::write(&path, "second").unwrap();
        assert!(first.still_at(&path).is_err());
        std::fs::rename(folder.path().join("b"), &path).unwrap();
        assert!(first.still_at(&path).is_ok());
    }
}
