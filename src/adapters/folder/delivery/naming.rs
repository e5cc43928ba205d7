//! How a PDF gets its name, its sidecar before it.

use std::io;
use std::path::Path;

use super::super::super::fault::Doing;
use super::super::super::files::{self, Existing, Temporary};
use super::super::place::{Folder, is_there};
use super::super::{Code, unsynced};
use super::{Delivery, Outcome, Part};
use crate::reservation::{Intent, Place, Wanted};

impl Delivery<'_> {
    /// Reserves the name and gives it to the PDF, its sidecar before it; false when one of the two is taken.
    pub(super) fn place(
        &self,
        folder: &Folder,
        pdf: &mut Temporary,
        version: u32,
        name: &str,
        wanted: &Wanted,
        next: &str,
    ) -> Result<bool, Outcome> {
        let intent =
            Intent { place: wanted.place.clone(), path: folder.below(name), temporary: self.part_name(Part::Pdf) };
        // Whatever comes of the question: until the intent is taken back the temporary file has to stay.
        pdf.stay(true);
        if !self.ask(self.item.names.reserve(version, wanted, Some(&intent)))? {
            pdf.stay(false);
            return Ok(false);
        }
        let sidecar = match &self.config.sidecar {
            None => None,
            Some(sidecar) => match self.place_sidecar(folder, sidecar, name, next) {
                Ok(Some(placed)) => Some(placed),
                not_placed => {
                    self.take_back(pdf, &wanted.place)?;
                    return not_placed.map(|_| false);
                }
            },
        };
        match self.give_name(folder, pdf, name, &wanted.place) {
            Ok(placed) => {
                if placed && let Some(sidecar) = sidecar {
                    sidecar.keep();
                }
                Ok(placed)
            }
            Err(unclear) => {
                if unclear.may_be_there
                    && let Some(sidecar) = sidecar
                {
                    sidecar.keep();
                }
                Err(unclear.outcome)
            }
        }
    }

    /// Gives the PDF its name and makes that durable; false when other content has it.
    fn give_name(&self, folder: &Folder, pdf: &mut Temporary, name: &str, place: &Place) -> Result<bool, NotPlaced> {
        let mut found = false;
        let path = &folder.at(name);
        match self.rename(pdf, path) {
            Ok(()) => {}
            // The same content: ours, where a network share did it and lost its answer.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match self.existing(path, &self.content)? {
                Existing::Same => {
                    pdf.stay(false);
                    self.secure(folder, name)?;
                    found = true;
                }
                Existing::Different | Existing::Absent => {
                    self.take_back(pdf, place).map_err(NotPlaced::surely)?;
                    return Ok(false);
                }
            },
            Err(error) => {
                let outcome = self.fault(Doing::Rename, &error);
                // A virus scanner may have taken the temporary file; else only a file that is gone was renamed.
                if error.kind() == io::ErrorKind::NotFound || is_there(pdf.path()).unwrap_or(false) {
                    self.take_back(pdf, place).map_err(NotPlaced::surely)?;
                    return Err(NotPlaced::surely(outcome));
                }
                return Err(outcome.into());
            }
        }
        if let Err(error) = files::sync_folder(folder.path()) {
            let outcome = self.fault(Doing::Sync, &error);
            // A second try could succeed without the name being on the disk: the system tells of such an error once. So
            // the name is taken back, and the next attempt writes everything anew.
            if found || files::rename_new(path, pdf.path()).is_err() {
                unsynced::mark(&folder.named(name));
                return Err(outcome.into());
            }
            self.take_back(pdf, place).map_err(NotPlaced::surely)?;
            return Err(NotPlaced::surely(outcome));
        }
        if folder.was_moved_with(name).map_err(|error| self.fault(Doing::Compare, &error))? {
            let reason = format!(
                "destination `{}`: the document's sub-folder was moved or replaced while it was filed",
                self.config.name
            );
            let outcome = Outcome::transient(Code::word("folder_moved"), reason);
            if found || files::rename_new(path, pdf.path()).is_err() {
                return Err(outcome.into());
            }
            self.take_back(pdf, place).map_err(NotPlaced::surely)?;
            return Err(NotPlaced::surely(outcome));
        }
        pdf.stay(false);
        Ok(true)
    }

    /// The file did not get the name: nobody has to know of its temporary one any more.
    fn take_back(&self, pdf: &mut Temporary, place: &Place) -> Result<(), Outcome> {
        self.settle(place, false)?;
        pdf.stay(false);
        Ok(())
    }

    fn rename(&self, pdf: &Temporary, path: &Path) -> io::Result<()> {
        #[cfg(test)]
        if let Some(hook) = &self.adapter.before_rename {
            hook(path)?;
        }
        #[cfg(not(test))]
        let _ = self.adapter;
        fault_point!("folder.rename.before");
        io_fault!("folder.rename")?;
        files::rename_new(pdf.path(), path)?;
        fault_point!("folder.rename.after");
        Ok(())
    }
}

/// Why a file has not got its name for sure.
struct NotPlaced {
    outcome: Outcome,
    /// It may have it all the same: the next attempt looks.
    may_be_there: bool,
}

impl From<Outcome> for NotPlaced {
    fn from(outcome: Outcome) -> Self {
        Self { outcome, may_be_there: true }
    }
}

impl NotPlaced {
    fn surely(outcome: Outcome) -> Self {
        Self { outcome, may_be_there: false }
    }
}
