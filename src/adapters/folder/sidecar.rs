//! The sidecar of a PDF: under its own name, and on the disk, before the PDF has its.

use std::path::PathBuf;
use std::{fs, io};

use super::super::blocking::Claim;
use super::super::fault::Doing;
use super::super::files::{self, Digest, Existing, Temporary};
use super::super::{Outcome, wording};
use super::delivery::{Delivery, Part};
use super::place::Folder;
use crate::config::SidecarConfig;

/// The sidecar that this attempt put there, no path inside when it had been there. It is removed unless kept: without its PDF
/// an importer could not do anything with it.
pub(super) struct PlacedSidecar {
    path: Option<PathBuf>,
    /// Until the PDF has its name, so that nobody finds a sidecar that is taken away again: one name may be that of all.
    _turn: Claim,
}

impl PlacedSidecar {
    /// Its PDF is there, too.
    pub(super) fn keep(mut self) {
        self.path = None;
    }
}

impl Drop for PlacedSidecar {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            fault_point!("folder.sidecar_remove.before");
            let _ = fs::remove_file(path);
            fault_point!("folder.sidecar_remove.after");
        }
    }
}

impl Delivery<'_> {
    /// The sidecar under its own name and on the disk; `None` when other content has that name.
    pub(super) fn place_sidecar(
        &self,
        folder: &Folder,
        sidecar: &SidecarConfig,
        pdf_name: &str,
        next: &str,
    ) -> Result<Option<PlacedSidecar>, Outcome> {
        let (own_name, content) = wording::sidecar(&self.config.name, sidecar, self.item, pdf_name)?;
        let path = folder.at(&own_name);
        let turn = Claim::wait_for(format!("sidecar\0{}", folder.named(&own_name).to_string_lossy().to_lowercase()));
        let mut temporary = Temporary::create(self.temporary(folder, Part::Sidecar), self.config.file_mode)
            .map_err(|error| self.fault(Doing::Create, &error))?;
        io::Write::write_all(temporary.writer(), content.as_bytes())
            .map_err(|error| self.fault(Doing::Write, &error))?;
        temporary.sync().map_err(|error| self.fault(Doing::Sync, &error))?;

        fault_point!("folder.sidecar.before");
        let renamed = io_fault!("folder.sidecar").and_then(|()| files::rename_new(temporary.path(), &path));
        fault_point!("folder.sidecar.after");
        let placed = match renamed {
            Ok(()) => PlacedSidecar { path: Some(path), _turn: turn },
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                match self.existing(&path, &Digest::of(content.as_bytes()))? {
                    Existing::Same => {
                        files::sync_existing(&path).map_err(|error| self.fault(Doing::Sync, &error))?;
                        PlacedSidecar { path: None, _turn: turn }
                    }
                    _ => {
                        wording::sidecar_is_taken(&self.config.name, sidecar, self.item, &own_name, next)?;
                        return Ok(None);
                    }
                }
            }
            Err(error) => return Err(self.fault(Doing::Rename, &error)),
        };
        // Its name has to be on the disk before the PDF's, not only before it in memory.
        files::sync_folder(folder.path()).map_err(|error| self.fault(Doing::Sync, &error))?;
        Ok(Some(placed))
    }
}
