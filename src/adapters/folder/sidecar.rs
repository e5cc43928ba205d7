//! The sidecar of a PDF: under its own name, and on the disk, before the PDF has its.

use std::path::PathBuf;
use std::{fs, io};

use super::super::Outcome;
use super::super::fault::Doing;
use super::super::files::{self, Digest, Standing, Temporary};
use super::delivery::{Delivery, Part};
use super::place::Folder;
use crate::config::SidecarConfig;
use crate::name;
use crate::template::Context;

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

impl Delivery<'_> {
    /// The sidecar under its own name and on the disk; `None` when other content has that name.
    pub(super) fn place_sidecar(
        &self,
        folder: &Folder,
        sidecar: &SidecarConfig,
        pdf_name: &str,
        next: &str,
    ) -> Result<Option<PlacedSidecar>, Outcome> {
        let own_name = self.sidecar_name(sidecar, pdf_name)?;
        if own_name.eq_ignore_ascii_case(pdf_name) {
            let reason = "`sidecar_name` gives the PDF's own name: give it another extension";
            return Err(Outcome::Permanent(format!("destination `{}`: {reason}", self.config.name)));
        }
        let content = self.sidecar_content(sidecar, pdf_name)?;
        let path = folder.join(&own_name);
        let mut temporary = Temporary::create(self.temporary(folder, Part::Sidecar), self.config.file_mode)
            .map_err(|error| self.fault(Doing::Create, &error))?;
        io::Write::write_all(temporary.writer(), content.as_bytes())
            .map_err(|error| self.fault(Doing::Write, &error))?;
        temporary.sync().map_err(|error| self.fault(Doing::Sync, &error))?;

        fault_point!("folder.sidecar.before");
        let renamed = io_fault!("folder.sidecar").and_then(|()| files::rename_new(temporary.path(), &path));
        fault_point!("folder.sidecar.after");
        let placed = match renamed {
            Ok(()) => PlacedSidecar::new(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                match self.standing(&path, &Digest::of(content.as_bytes()))? {
                    Standing::Same => {
                        files::sync_existing(&path).map_err(|error| self.fault(Doing::Sync, &error))?;
                        PlacedSidecar::found()
                    }
                    _ if self.sidecar_name(sidecar, next)? == own_name => return Err(self.sidecar_in_the_way()),
                    _ => return Ok(None),
                }
            }
            Err(error) => return Err(self.fault(Doing::Rename, &error)),
        };
        // Its name has to be on the disk before the PDF's, not only before it in memory.
        files::sync_folder(folder.path()).map_err(|error| self.fault(Doing::Sync, &error))?;
        Ok(Some(placed))
    }

    /// Whether the sidecar of a PDF with the document's content is that of another document, which a crash left behind.
    pub(super) fn anothers_sidecar(&self, folder: &Folder, pdf_name: &str, next: &str) -> Result<bool, Outcome> {
        let Some(sidecar) = &self.config.sidecar else { return Ok(false) };
        let own_name = self.sidecar_name(sidecar, pdf_name)?;
        if self.sidecar_name(sidecar, next)? == own_name {
            // It does not follow the PDF's name. One name for all belongs to whatever is imported next; one that is this
            // document's alone, and not there, says that the PDF is not this document's.
            let alone = self.name_for_another(sidecar, pdf_name)? != own_name;
            let there = self.standing(&folder.join(&own_name), &Digest::of(b""))? != Standing::Nothing;
            return Ok(alone && !there);
        }
        let content = self.sidecar_content(sidecar, pdf_name)?;
        Ok(self.standing(&folder.join(&own_name), &Digest::of(content.as_bytes()))? == Standing::Other)
    }

    fn sidecar_content(&self, sidecar: &SidecarConfig, pdf_name: &str) -> Result<String, Outcome> {
        sidecar.content.render(&self.context(pdf_name)).map_err(|error| self.refused("sidecar", &error))
    }

    fn sidecar_name(&self, sidecar: &SidecarConfig, pdf_name: &str) -> Result<String, Outcome> {
        let rendered =
            sidecar.name.render(&self.context(pdf_name)).map_err(|error| self.refused("sidecar_name", &error))?;
        Ok(name::file_name(&rendered))
    }

    /// What the sidecar's name would be for a document that is the same but for its identity.
    fn name_for_another(&self, sidecar: &SidecarConfig, pdf_name: &str) -> Result<String, Outcome> {
        let mut metadata = self.item.metadata.clone();
        metadata.document.insert("uuid".to_owned(), "another".into());
        let context = Context::new(&metadata).with_pdf(pdf_name, &self.item.pdf, "another");
        let rendered = sidecar.name.render(&context).map_err(|error| self.refused("sidecar_name", &error))?;
        Ok(name::file_name(&rendered))
    }

    fn sidecar_in_the_way(&self) -> Outcome {
        let name = &self.config.name;
        Outcome::Transient(format!(
            "destination `{name}`: another sidecar of the same name has not been imported yet; \
             put {{{{ file_stem }}}} into `sidecar_name` to give each document its own"
        ))
    }
}
