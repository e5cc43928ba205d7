//! Files that already have their final name, but whose fsync failed.
//!
//! The system reports such a failure once: it drops the data that it could not write, and the next fsync succeeds. So
//! the file is not synced again, but rewritten in place with the same bytes. A restart forgets this list; until then
//! the failure is an error in the log and a document that waits.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// One list per process, because a reloaded configuration builds new adapters. At most one entry per waiting delivery.
static DOUBTFUL: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn unsynced() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    DOUBTFUL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The fsync of the file, or of its folder, failed.
pub(super) fn mark(path: &Path) {
    unsynced().insert(path.to_path_buf());
}

/// Whether such an fsync failed.
pub(super) fn is_marked(path: &Path) -> bool {
    unsynced().contains(path)
}

/// The file was rewritten.
pub(super) fn clear(path: &Path) {
    unsynced().remove(path);
}
