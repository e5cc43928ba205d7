//! One delivery into a folder, step by step.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use super::super::candidate::{self, Candidate, MAX_NAMES, known_before};
use super::super::fault::{self, Doing};
use super::super::files::{self, CopyError, Digest, Existing, Temporary};
use super::super::{Item, Outcome, Unrecorded, wording};
use super::place::{Folder, is_there};
use super::{Code, FolderAdapter, leftovers, unsynced};
use crate::config::FolderConfig;
use crate::name;
use crate::reservation::{Known, Place, Wanted, of_layout_5};
use crate::template::Context;

mod interrupted;
mod naming;

/// One delivery. `Err` is what became of it when the document is not there.
pub(super) struct Delivery<'a> {
    adapter: &'a FolderAdapter,
    pub(super) config: &'a FolderConfig,
    pub(super) item: &'a Item,
    content: Digest,
}

impl<'a> Delivery<'a> {
    pub(super) fn new(adapter: &'a FolderAdapter, item: &'a Item) -> Self {
        let content = Digest { size: item.pdf.size, sha256: item.pdf.sha256.to_ascii_lowercase() };
        Self { adapter, config: &adapter.config, item, content }
    }

    /// Where the document lies then: the full path, as configured.
    pub(super) fn run(&self) -> Result<PathBuf, Outcome> {
        let rendered = self.config.file_name.render(&Context::new(&self.item.metadata));
        let unnamed = |error| wording::not_filled_in(&self.config.name, "file_name", &error);
        let mut parts = name::relative_path(&rendered.map_err(unnamed)?);
        let file = parts.pop().unwrap_or_else(|| name::UNKNOWN.to_owned());
        let root = Folder::open(self.config)?;
        if !self.adapter.swept.swap(true, Ordering::Relaxed) {
            // One that the ledger cannot tell of is spared.
            leftovers::sweep(root.path(), |name| self.ask(self.item.names.is_intended(name)).unwrap_or(true));
        }
        let mut known = self.ask(self.item.names.known())?;
        if !known.others.is_empty() {
            self.settle_others(&root, &known.others)?;
            known = self.ask(self.item.names.known())?;
        }
        if let Some(place) = self.resume(&root, &known)? {
            return Ok(place);
        }
        // What no path reaches nobody could open, though a handle would make it.
        let whole = parts.iter().fold(root.named(""), |path, part| path.join(part)).join(&file);
        if let Err(error) = is_there(&whole)
            && error.kind() == io::ErrorKind::InvalidFilename
        {
            return Err(self.fault(Doing::MakeFolder, &error));
        }
        let folder = root.enter_all(&parts)?;
        let mut pdf = None;
        for index in self.first_to_try(&folder, &file, &known)?.into_iter().chain(0..MAX_NAMES) {
            let candidate = self.candidate(&file, known.version, index);
            let wanted = wanted(&folder, &candidate, &self.content);
            match self.existing(&folder.at(&candidate.name), &self.content)? {
                Existing::Different => {}
                // Nobody's name, so it is the work of this delivery, of which a ledger that was lost knew.
                Existing::Same => {
                    if self.ask(self.item.names.reserve(known.version, &wanted, None))? {
                        self.sync_found(&folder, &candidate.name)?;
                        return Ok(folder.shown(&candidate.name));
                    }
                }
                Existing::Absent => {
                    let pdf = match &mut pdf {
                        Some(pdf) => pdf,
                        none => none.insert(self.stage(&folder)?),
                    };
                    let next = self.candidate(&file, known.version, index + 1);
                    if self.place(&folder, pdf, known.version, &candidate.name, &wanted, &next.name)? {
                        return Ok(folder.shown(&candidate.name));
                    }
                }
            }
        }
        Err(wording::no_name_left(&self.config.name))
    }

    fn candidate(&self, file: &str, version: u32, index: usize) -> Candidate {
        Candidate::of(&self.item.uuid, file, version, index)
    }

    /// The name that is the document's already, if there is one, or the one that is like its earlier version's. Where the
    /// ledger was lost: the one that is its alone, if it lies there; the plain one may be that of another document with the
    /// same content.
    fn first_to_try(&self, folder: &Folder, file: &str, known: &Known) -> Result<Option<usize>, Outcome> {
        let place = |name: &str| place_of(&folder.named(name));
        if known.own.is_empty() && known.families.is_empty() {
            let alone = folder.at(&self.candidate(file, known.version, 1).name);
            return Ok((self.existing(&alone, &self.content)? == Existing::Same).then_some(1));
        }
        Ok(known_before(known, |index| self.candidate(file, known.version, index), place))
    }

    fn settle(&self, place: &Place, filed: bool) -> Result<(), Outcome> {
        self.ask(self.item.names.settle(place, filed))
    }

    /// Waits for the ledger, on a thread that may block.
    fn ask<T>(&self, answer: impl Future<Output = Result<T, Unrecorded>>) -> Result<T, Outcome> {
        tokio::runtime::Handle::current().block_on(answer).map_err(|Unrecorded| Outcome::Unrecorded)
    }

    fn remove(&self, path: &Path) -> Result<(), Outcome> {
        files::remove_if_there(path).map_err(|error| self.fault(Doing::Remove, &error))
    }

    /// Brings a file to the disk that has its own name and this content already.
    fn secure(&self, folder: &Folder, name: &str) -> Result<(), Outcome> {
        let (path, known) = (folder.at(name), folder.named(name));
        if !unsynced::is_marked(&known) {
            return files::sync_existing(&path).map_err(|error| {
                unsynced::mark(&known);
                self.fault(Doing::Sync, &error)
            });
        }
        self.stage(folder)?.replace(&path).map_err(|error| self.fault(Doing::Rename, &error))?;
        unsynced::clear(&known);
        Ok(())
    }

    /// The PDF under its temporary name: complete, checked and on the disk. No intent may be in the ledger meanwhile.
    fn stage(&self, folder: &Folder) -> Result<Temporary, Outcome> {
        let mut pdf = match &self.item.pdf.in_memory {
            Some(content) => {
                let mut pdf = self.create(folder)?;
                let written = pdf.writer().write_all(content.as_ref());
                written.map_err(|error| self.fault(Doing::Write, &error))?;
                pdf
            }
            None => self.copy_spooled(folder)?,
        };
        pdf.sync().map_err(|error| self.fault(Doing::Sync, &error))?;
        // Its temporary name is evidence from now on.
        files::sync_folder(folder.path()).map_err(|error| self.fault(Doing::Sync, &error))?;
        Ok(pdf)
    }

    fn create(&self, folder: &Folder) -> Result<Temporary, Outcome> {
        Temporary::create(self.temporary(folder, Part::Pdf), self.config.file_mode)
            .map_err(|error| self.fault(Doing::Create, &error))
    }

    fn copy_spooled(&self, folder: &Folder) -> Result<Temporary, Outcome> {
        let opened = io_fault!("folder.read_spool").and_then(|()| File::open(&self.item.pdf.path));
        let spooled = opened.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Outcome::SpoolDamaged,
            _ => Outcome::transient(
                Code::word("spool_unreadable"),
                format!("the spool cannot be read ({})", fault::system_text(&error)),
            ),
        })?;
        let mut pdf = self.create(folder)?;
        let limit = self.content.size.saturating_add(1);
        match files::copy_hashing(spooled, pdf.writer(), limit) {
            Ok(copied) if copied == self.content => Ok(pdf),
            Ok(_) | Err(CopyError::Read(_)) => Err(Outcome::SpoolDamaged),
            Err(CopyError::Write(error)) => Err(self.fault(Doing::Write, &error)),
        }
    }

    pub(super) fn existing(&self, path: &Path, content: &Digest) -> Result<Existing, Outcome> {
        files::existing(path, content).map_err(|error| self.fault(Doing::Compare, &error))
    }

    /// The same for every attempt of this delivery, so that an attempt removes what one before it left.
    pub(super) fn temporary(&self, folder: &Folder, part: Part) -> PathBuf {
        folder.at(&self.part_name(part))
    }

    fn part_name(&self, part: Part) -> String {
        let end = match part {
            Part::Pdf => ".part",
            Part::Sidecar => ".sidecar.part",
        };
        candidate::temporary(&self.item.key, end)
    }

    pub(super) fn fault(&self, doing: Doing, error: &io::Error) -> Outcome {
        fault::outcome(self.config, doing, error)
    }
}

/// A file of a delivery.
#[derive(Clone, Copy)]
pub(super) enum Part {
    Pdf,
    Sidecar,
}

fn place_of(path: &Path) -> Place {
    Place::of(&path.to_string_lossy())
}

fn wanted(folder: &Folder, candidate: &Candidate, content: &Digest) -> Wanted {
    let path = folder.named(&candidate.name);
    Wanted {
        place: place_of(&path),
        family: place_of(&folder.named(&candidate.family)),
        of_layout_5: Some(of_layout_5(&content.sha256, &path.to_string_lossy())),
    }
}
