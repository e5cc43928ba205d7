//! What is kept about a letter that waits for its proof (`confirm`).

use super::super::confirm::elsewhere;
use super::super::files::Existing;
use super::super::{Outcome, spooled};
use super::{Filing, Storage, split};
use crate::config::Confirm;
use crate::domain::proof::{Beginnings, Filed};

/// Where the document is filed, and what was known there before it: [`Filed::before`] and [`Filed::written`].
pub(super) struct Was {
    pub(super) path: String,
    pub(super) before: Vec<String>,
    pub(super) written: Option<u64>,
}

impl<S: Storage> Filing<'_, S> {
    /// Describes the letter that lies, or lay, at this path.
    pub(super) async fn filed(&self, was: Was) -> Result<Filed, Outcome> {
        let Was { path, before, written } = was;
        let sidecar = self.sidecar_of(&path).await?;
        let is_moved = self.storage.options().confirm.is_some_and(|confirm| confirm.folders().next().is_some());
        let beginnings = if is_moved { spooled::beginnings(&self.item.pdf).await } else { Beginnings::default() };
        Ok(Filed { path, sidecar, before, written, beginnings, ..Filed::default() })
    }

    /// What was there before the document, which has the name `now` in the folder, and is about to get this path.
    pub(super) async fn was(&self, folder: &S::Folder, now: &str, path: String) -> Was {
        let (confirm, mut before) = (self.storage.options().confirm, Vec::new());
        for moved in confirm.into_iter().flat_map(Confirm::folders) {
            for path in elsewhere(moved, &path) {
                // A file that cannot be checked counts as one.
                if !matches!(self.existing_at(&path).await, Ok(Existing::Absent)) {
                    before.push(path);
                }
            }
        }
        let is_asked = confirm.is_some_and(Confirm::is_in_another_file);
        let written = if is_asked { self.storage.written(folder, now).await } else { None };
        Was { path, before, written }
    }

    /// Whether the document lies where the software moves it to from this path, with its content.
    pub(super) async fn was_moved(&self, path: &str) -> Result<bool, Outcome> {
        for moved in self.storage.options().confirm.into_iter().flat_map(Confirm::folders) {
            for path in elsewhere(moved, path) {
                if self.existing_at(&path).await? == Existing::Same {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    async fn existing_at(&self, path: &str) -> Result<Existing, Outcome> {
        let (within, name) = split(path);
        let folder = self.storage.find(within).await?;
        self.storage.existing(&folder, name, &self.content).await
    }
}
