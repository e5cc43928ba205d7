//! Whose the files are that this process gave their names, until the ledger has the deliveries.
//!
//! A file with the same content is a delivery that was made before, unless it is that of another document.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::document::DocumentUuid;
use crate::filed::without_case;

struct Owner {
    key: String,
    uuid: DocumentUuid,
}

/// By path. Several while one has a file there and others try to take its name. Of the whole process, because a reloaded
/// configuration builds new adapters.
static OWNERS: Mutex<BTreeMap<String, Vec<Owner>>> = Mutex::new(BTreeMap::new());

fn owners() -> MutexGuard<'static, BTreeMap<String, Vec<Owner>>> {
    OWNERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A path that a delivery is about to give to its file; unless it is kept, it did not.
pub(super) struct Taken {
    path: String,
    key: String,
    kept: bool,
}

/// The delivery with this key is about to give its file this path. Before it does: the file may be seen at once.
pub(super) fn take(path: &Path, key: &str, uuid: &DocumentUuid) -> Taken {
    let taken = Taken { path: without_case(path), key: key.to_owned(), kept: false };
    owners().entry(taken.path.clone()).or_default().push(Owner { key: key.to_owned(), uuid: uuid.clone() });
    taken
}

impl Taken {
    /// The file has this path now, and nobody else's has.
    pub(super) fn keep(mut self) {
        self.kept = true;
        if let Some(of_path) = owners().get_mut(&self.path) {
            of_path.retain(|owner| owner.key == self.key);
            of_path.truncate(1);
        }
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        let mut owners = owners();
        if let Some(of_path) = owners.get_mut(&self.path) {
            // The last one: the same delivery may have taken it before, and kept it.
            if let Some(index) = of_path.iter().rposition(|owner| owner.key == self.key) {
                of_path.remove(index);
            }
            if of_path.is_empty() {
                owners.remove(&self.path);
            }
        }
    }
}

/// The delivery with this key is in the ledger.
pub(super) fn forget(key: &str) {
    owners().retain(|_, of_path| {
        of_path.retain(|owner| owner.key != key);
        !of_path.is_empty()
    });
}

/// Whether the file at this path is another document's.
pub(super) fn is_anothers(path: &Path, uuid: &DocumentUuid) -> bool {
    let owners = owners();
    owners.get(&without_case(path)).is_some_and(|of_path| of_path.iter().all(|owner| owner.uuid != *uuid))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uuid(text: &str) -> DocumentUuid {
        DocumentUuid::parse(text).unwrap()
    }

    #[test]
    fn who_tries_to_take_a_name_takes_nobodys_file() {
        let path = Path::new("/inbox/owners/Taken.pdf");
        let (one, two) = (uuid("one"), uuid("two"));
        take(path, "1", &one).keep();
        let trying = take(Path::new("/inbox/owners/taken.PDF"), "2", &two);
        assert!(!is_anothers(path, &one), "while another one tries to rename");
        drop(trying);
        assert!(!is_anothers(path, &one) && is_anothers(path, &two));
        drop(take(path, "1", &one));
        assert!(is_anothers(path, &two), "the first time counts");
        let trying = take(path, "2", &two);
        forget("1");
        drop(trying);
        assert!(!is_anothers(path, &two), "what is forgotten stays so");
        take(path, "1", &one).keep();
        take(path, "2", &two).keep();
        assert!(is_anothers(path, &one), "an importer had taken the first one's file");
        forget("2");
        assert!(owners().keys().all(|path| !path.contains("owners/taken")));
    }
}
