//! What is kept about a letter that waits for its proof (`confirm`).

use super::super::candidate::{TEMPORARY, below};
use super::super::confirm::{elsewhere, places_of};
use super::super::files::Existing;
use super::super::{Outcome, spooled};
use super::{Filing, Storage, split};
use crate::config::Confirm;
use crate::domain::proof::{Beginnings, Filed};

/// With more files of one size, none of them is recorded.
const MOST_ALIKE: usize = 1000;

/// Where the document is filed, and what was known there before it: [`Filed::before`], [`Filed::is_listed`] and
/// [`Filed::written`].
#[derive(Default)]
pub(super) struct Was {
    pub(super) path: String,
    pub(super) before: Vec<String>,
    pub(super) is_listed: bool,
    pub(super) written: Option<u64>,
}

impl<S: Storage> Filing<'_, S> {
    /// Describes the letter that lies, or lay, at this path.
    pub(super) async fn filed(&self, was: Was) -> Result<Filed, Outcome> {
        let Was { path, before, is_listed, written } = was;
        let sidecar = self.sidecar_of(&path).await?;
        let is_moved = self.storage.options().confirm.is_some_and(|confirm| confirm.folders().next().is_some());
        let beginnings = if is_moved { spooled::beginnings(&self.item.pdf).await } else { Beginnings::default() };
        let is_looked_for = self.storage.options().confirm.is_some();
        let root = if is_looked_for { self.storage.identity().await } else { None };
        Ok(Filed { path, sidecar, before, is_listed, written, root, beginnings, ..Filed::default() })
    }

    /// What was there before the document, which has the name `now` in the folder, and is about to get this path.
    pub(super) async fn was(&self, folder: &S::Folder, now: &str, path: String) -> Was {
        let confirm = self.storage.options().confirm.filter(|confirm| confirm.is_in_another_file());
        let Some(confirm) = confirm else { return Was { path, ..Was::default() } };
        // First, because the software may move the document before the folders are listed. Then the time distinguishes
        // it from older files.
        let written = self.storage.written(folder, now).await;
        let mut before = Vec::new();
        for path in confirm.folders().flat_map(|moved| elsewhere(moved, &path)) {
            // A file that cannot be checked counts as one.
            if !matches!(self.existing_at(&path).await, Ok(Existing::Absent)) {
                before.push(path);
            }
        }
        let alike = self.alike(confirm, &path).await;
        let is_listed = alike.is_some() && written.is_some();
        before.extend(alike.unwrap_or_default());
        before.sort();
        before.dedup();
        Was { path, before, is_listed, written }
    }

    /// The files of the document's size in the places where its proof may appear; `None` if they cannot be listed now,
    /// or are too many.
    async fn alike(&self, confirm: &Confirm, path: &str) -> Option<Vec<String>> {
        let mut alike = Vec::new();
        for place in places_of(confirm, split(path).0) {
            let listed = self.storage.listed(&place).await?;
            let of_size =
                listed.iter().filter(|file| file.size == Some(self.content.size) && !file.name.starts_with(TEMPORARY));
            alike.extend(of_size.map(|file| below(&place, &file.name)).filter(|found| found != path));
        }
        (alike.len() <= MOST_ALIKE).then_some(alike)
    }

    /// Whether the document lies under its name where the software moves it to from this path. A file of that name with
    /// another content may be the document after a change, or another one.
    pub(super) async fn was_moved(&self, path: &str) -> Result<Existing, Outcome> {
        let mut found = Existing::Absent;
        for moved in self.storage.options().confirm.into_iter().flat_map(Confirm::folders) {
            for path in elsewhere(moved, path) {
                match self.existing_at(&path).await? {
                    Existing::Same => return Ok(Existing::Same),
                    Existing::Different => found = Existing::Different,
                    Existing::Absent => {}
                }
            }
        }
        Ok(found)
    }

    /// Whether its content lies under another name where the software moves it to from this path, or renames it.
    pub(super) async fn has_another_name(&self, path: &str) -> Result<bool, Outcome> {
        let Some(confirm) = self.storage.options().confirm else { return Ok(false) };
        for path in self.alike(confirm, path).await.unwrap_or_default() {
            if self.existing_at(&path).await? == Existing::Same {
                return Ok(true);
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
