//! Whose the files are that this process gave their names, until the ledger has the deliveries.
//!
//! A file with the same content is a delivery that was made before, unless it is that of another document.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::document::DocumentUuid;

struct Owner {
    key: String,
    uuid: DocumentUuid,
}

/// By path, without letter case. Of the whole process, because a reloaded configuration builds new adapters.
static OWNERS: Mutex<BTreeMap<String, Owner>> = Mutex::new(BTreeMap::new());

fn owners() -> MutexGuard<'static, BTreeMap<String, Owner>> {
    OWNERS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn name(path: &Path) -> String {
    path.to_string_lossy().to_lowercase()
}

/// A path that a delivery is about to give to its file. Unless it is kept, what was known of the path before holds again.
pub(super) struct Taken {
    path: String,
    before: Option<Option<Owner>>,
}

/// The delivery with this key is about to give its file this path. Before it does: the file may be seen at once.
pub(super) fn take(path: &Path, key: &str, uuid: &DocumentUuid) -> Taken {
    let path = name(path);
    let before = owners().insert(path.clone(), Owner { key: key.to_owned(), uuid: uuid.clone() });
    Taken { path, before: Some(before) }
}

impl Taken {
    /// The file has this path now.
    pub(super) fn keep(mut self) {
        self.before = None;
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let path = std::mem::take(&mut self.path);
        match self.before.take() {
            None => {}
            Some(None) => drop(owners().remove(&path)),
            Some(Some(before)) => drop(owners().insert(path, before)),
        }
    }
}

/// The delivery with this key is in the ledger, or begins anew.
pub(super) fn forget(key: &str) {
    owners().retain(|_, owner| owner.key != key);
}

/// Whether the file at this path is another document's.
pub(super) fn is_anothers(path: &Path, uuid: &DocumentUuid) -> bool {
    owners().get(&name(path)).is_some_and(|owner| owner.uuid != *uuid)
}
