//! Files that have their own name already, and of which the system could not say that they are on the disk.
//!
//! It says so once: what it could not write it drops, and the next fsync succeeds. So such a file is not asked for
//! again, but written anew, with the same bytes, in its own place. A restart forgets this list; what it knew by then
//! was an error in the log and a document that waits.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Of the whole process, because a reloaded configuration builds new adapters. At most one for each delivery that
/// waits.
static DOUBTFUL: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn unsynced() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    DOUBTFUL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Its fsync failed, or that of its folder.
pub(super) fn mark(path: &Path) {
    unsynced().insert(path.to_path_buf());
}

/// Whether an fsync of it failed.
pub(super) fn is_marked(path: &Path) -> bool {
    unsynced().contains(path)
}

/// It was written anew.
pub(super) fn clear(path: &Path) {
    unsynced().remove(path);
}
