//! A sidecar under its own name, while its PDF has none yet.

use std::fs;
use std::path::PathBuf;

/// The sidecar that this attempt put there, `None` inside when it had been there. It is removed unless kept: without
/// its PDF an importer could not do anything with it.
pub(super) struct PlacedSidecar(Option<PathBuf>);

impl PlacedSidecar {
    /// This attempt put it there.
    pub(super) fn new(path: PathBuf) -> Self {
        Self(Some(path))
    }

    /// It had been there.
    pub(super) fn found() -> Self {
        Self(None)
    }

    /// Its PDF is there, too.
    pub(super) fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for PlacedSidecar {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            fault_point!("folder.sidecar_remove.before");
            let _ = fs::remove_file(path);
            fault_point!("folder.sidecar_remove.after");
        }
    }
}
