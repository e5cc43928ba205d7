//! What is kept about a letter that waits for its proof (`confirm`).

use super::super::confirm::elsewhere;
use super::super::files::Existing;
use super::super::{Outcome, spooled};
use super::{Filing, Storage, split};
use crate::proof::{Beginnings, Filed};

impl<S: Storage> Filing<'_, S> {
    /// Describes the letter that lies, or lay, at this path.
    pub(super) async fn filed(&self, path: String, before: Vec<String>) -> Result<Filed, Outcome> {
        let sidecar = self.sidecar_of(&path).await?;
        let is_moved = self.storage.options().confirm.is_some_and(|confirm| confirm.folders().next().is_some());
        let beginnings = if is_moved { spooled::beginnings(&self.item.pdf).await } else { Beginnings::default() };
        Ok(Filed { path, sidecar, before, beginnings, ..Filed::default() })
    }

    /// The files that already have the document's name where it may be moved to. A file that cannot be checked counts
    /// as one.
    pub(super) async fn namesakes(&self, path: &str) -> Vec<String> {
        let mut found = Vec::new();
        for moved in self.storage.options().confirm.into_iter().flat_map(|confirm| confirm.folders()) {
            for path in elsewhere(moved, path) {
                if !matches!(self.existing_at(&path).await, Ok(Existing::Absent)) {
                    found.push(path);
                }
            }
        }
        found
    }

    async fn existing_at(&self, path: &str) -> Result<Existing, Outcome> {
        let (within, name) = split(path);
        let folder = self.storage.find(within).await?;
        self.storage.existing(&folder, name, &self.content).await
    }
}
