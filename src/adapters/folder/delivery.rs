//! One delivery into a folder, step by step.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use super::super::candidate::{self, Candidate, MAX_NAMES, known_before};
use super::super::fault::{self, Doing};
use super::super::files::{self, CopyError, Digest, Existing, Temporary};
use super::super::{Item, Outcome, Unrecorded};
use super::place::{Folder, is_there};
use super::{Code, FolderAdapter, leftovers, unsynced};
use crate::config::FolderConfig;
use crate::name;
use crate::reservation::{Intent, Known, Place, Wanted, of_layout_5};
use crate::template::Context;

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
        let mut parts = name::relative_path(&rendered.map_err(|error| self.refused("file_name", &error))?);
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
        Err(self.no_name_left())
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

    /// Settles what attempts at other versions were about to do when they were cut off: nobody comes by those again.
    fn settle_others(&self, root: &Folder, intents: &[Intent]) -> Result<(), Outcome> {
        for intent in intents {
            let (folder, _) = self.folder_of(root, intent)?;
            let waits = self.waits(&folder, intent)?;
            self.settle(&intent.place, !waits)?;
            self.remove(&folder.at(&intent.temporary))?;
        }
        Ok(())
    }

    /// Settles what an attempt at this version was about to do when it was cut off. Where it lies, if that filed it.
    fn resume(&self, root: &Folder, known: &Known) -> Result<Option<PathBuf>, Outcome> {
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

    /// What was found may be the work of an attempt that a crash ended between the rename and the last fsync.
    fn sync_found(&self, folder: &Folder, name: &str) -> Result<(), Outcome> {
        for part in [Part::Pdf, Part::Sidecar] {
            self.remove(&self.temporary(folder, part))?;
        }
        self.secure(folder, name)?;
        files::sync_folder(folder.path()).map_err(|error| {
            unsynced::mark(&folder.named(name));
            self.fault(Doing::Sync, &error)
        })
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
        let opened = io_fault!("folder.read_spool").and_then(|()| File::open(&self.item.pdf.path));
        let spooled = opened.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Outcome::SpoolDamaged,
            _ => Outcome::transient(
                Code::word("spool_unreadable"),
                format!("the spool cannot be read ({})", fault::system_text(&error)),
            ),
        })?;
        let mut pdf = Temporary::create(self.temporary(folder, Part::Pdf), self.config.file_mode)
            .map_err(|error| self.fault(Doing::Create, &error))?;
        let limit = self.content.size.saturating_add(1);
        match files::copy_hashing(spooled, pdf.writer(), limit) {
            Ok(copied) if copied == self.content => {}
            Ok(_) | Err(CopyError::Read(_)) => return Err(Outcome::SpoolDamaged),
            Err(CopyError::Write(error)) => return Err(self.fault(Doing::Write, &error)),
        }
        pdf.sync().map_err(|error| self.fault(Doing::Sync, &error))?;
        // Its temporary name is evidence from now on.
        files::sync_folder(folder.path()).map_err(|error| self.fault(Doing::Sync, &error))?;
        Ok(pdf)
    }

    /// Reserves the name and gives it to the PDF, its sidecar before it; false when one of the two is taken.
    fn place(
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

    pub(super) fn context(&self, pdf_name: &str) -> Context {
        Context::new(&self.item.metadata).with_pdf(pdf_name, &self.item.pdf, &self.item.key)
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

    pub(super) fn existing(&self, path: &Path, content: &Digest) -> Result<Existing, Outcome> {
        files::existing(path, content).map_err(|error| self.fault(Doing::Compare, &error))
    }

    /// Removes what an attempt that was cut off left under this delivery's temporary names; nothing is created.
    pub(super) fn abandon(&self) -> io::Result<()> {
        let Ok(rendered) = self.config.file_name.render(&Context::new(&self.item.metadata)) else { return Ok(()) };
        let mut parts = name::relative_path(&rendered);
        parts.pop();
        let folder = parts.iter().fold(self.config.path.clone(), |path, part| path.join(part));
        [Part::Pdf, Part::Sidecar]
            .iter()
            .try_for_each(|part| files::remove_if_there(&folder.join(self.part_name(*part))))
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

    pub(super) fn refused(&self, option: &str, error: &crate::template::TemplateError) -> Outcome {
        let name = &self.config.name;
        let reason = format!("destination `{name}`: `{option}` cannot be filled in for this document: {error}");
        Outcome::Permanent { code: Code::word("not_filled_in"), reason }
    }

    fn no_name_left(&self) -> Outcome {
        let name = &self.config.name;
        let reason = format!(
            "destination `{name}`: {MAX_NAMES} files of the document's name are there: make `file_name` more specific"
        );
        Outcome::Permanent { code: Code::word("no_name_left"), reason }
    }
}

/// A file of a delivery.
#[derive(Clone, Copy)]
pub(super) enum Part {
    Pdf,
    Sidecar,
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
