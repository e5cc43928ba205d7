//! What attempts left that were cut off.

use std::io;
use std::path::PathBuf;

use super::super::super::fault::Doing;
use super::super::super::files::{self, Existing};
use super::super::place::Folder;
use super::super::unsynced;
use super::{Delivery, Outcome, Part, place_of};
use crate::name;
use crate::reservation::{Intent, Known};
use crate::template::Context;

impl<'a> Delivery<'a> {
    /// Settles what attempts at other versions were about to do when they were cut off: nobody comes by those again.
    pub(super) fn settle_others(&self, root: &Folder, intents: &[Intent]) -> Result<(), Outcome> {
        for intent in intents {
            let (folder, _) = self.folder_of(root, intent)?;
            let waits = self.waits(&folder, intent)?;
            self.settle(&intent.place, !waits)?;
            self.remove(&folder.at(&intent.temporary))?;
        }
        Ok(())
    }

    /// Settles what an attempt at this version was about to do when it was cut off. Where it lies, if that filed it.
    pub(super) fn resume(&self, root: &Folder, known: &Known) -> Result<Option<PathBuf>, Outcome> {
        let Some(intent) = &known.intent else { return Ok(None) };
        let (folder, name) = self.folder_of(root, intent)?;
        if place_of(&folder.named(name)) == intent.place {
            let lies = || Ok(Some(self.config.path.join(intent.path.split('/').collect::<PathBuf>())));
            if self.existing(&folder.at(name), &self.content)? == Existing::Same {
                self.remove(&folder.at(&intent.temporary))?;
                self.sync_found(&folder, name)?;
                return lies();
            }
            if !self.waits(&folder, intent)? {
                // It had its name, and an importer took it.
                self.remove(&folder.at(&intent.temporary))?;
                return lies();
            }
        }
        // Only then its temporary file may go: without it, the intent would say that the file had its name.
        self.settle(&intent.place, false)?;
        self.remove(&folder.at(&intent.temporary))?;
        Ok(None)
    }

    /// The folder in which a file was about to get its name, whether or not it is there still, and the name.
    fn folder_of<'i>(&self, root: &Folder<'a>, intent: &'i Intent) -> Result<(Folder<'a>, &'i str), Outcome> {
        let (parts, name) =
            intent.path.rsplit_once('/').map_or((None, intent.path.as_str()), |(parts, name)| (Some(parts), name));
        Ok((root.find(parts.into_iter().flat_map(|parts| parts.split('/')))?, name))
    }

    /// Whether the file still has its temporary name, and never had its own.
    fn waits(&self, folder: &Folder, intent: &Intent) -> Result<bool, Outcome> {
        files::is_only_name(&folder.at(&intent.temporary)).map_err(|error| self.fault(Doing::Compare, &error))
    }

    /// What was found may be the work of an attempt that a crash ended between the rename and the last fsync.
    pub(super) fn sync_found(&self, folder: &Folder, name: &str) -> Result<(), Outcome> {
        for part in [Part::Pdf, Part::Sidecar] {
            self.remove(&self.temporary(folder, part))?;
        }
        self.secure(folder, name)?;
        files::sync_folder(folder.path()).map_err(|error| {
            unsynced::mark(&folder.named(name));
            self.fault(Doing::Sync, &error)
        })
    }

    /// Removes what an attempt that was cut off left under this delivery's temporary names; nothing is created.
    pub(in crate::adapters::folder) fn abandon(&self) -> io::Result<()> {
        let Ok(rendered) = self.config.file_name.render(&Context::new(&self.item.metadata)) else { return Ok(()) };
        let mut parts = name::relative_path(&rendered);
        parts.pop();
        let folder = parts.iter().fold(self.config.path.clone(), |path, part| path.join(part));
        [Part::Pdf, Part::Sidecar]
            .iter()
            .try_for_each(|part| files::remove_if_there(&folder.join(self.part_name(*part))))
    }
}
