//! One delivery into a folder, step by step.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use super::super::blocking::Claim;
use super::super::fault::{self, Doing};
use super::super::files::{self, CopyError, Digest, Standing, Temporary};
use super::super::{Item, Outcome};
use super::place::Folder;
use super::{FolderAdapter, doubtful, leftovers, owners};
use crate::config::FolderConfig;
use crate::filed::FileDigest;
use crate::name;
use crate::template::Context;

/// Names that are tried for one document: its own, with the short uuid, then numbered.
const MAX_NAMES: usize = 1000;

/// One delivery. `Err` is what became of it when the document is not there.
pub(super) struct Delivery<'a> {
    adapter: &'a FolderAdapter,
    pub(super) config: &'a FolderConfig,
    pub(super) item: &'a Item,
    content: Digest,
}

/// The claim on a name; letter case is ignored, as some file systems ignore it.
pub(super) fn turn(wanted: &Path) -> String {
    format!("name\0{}", wanted.to_string_lossy().to_lowercase())
}

/// Where the document lies.
pub(super) struct Lies {
    /// The full path, as configured.
    pub(super) place: PathBuf,
    /// The file, links followed.
    pub(super) file: FileDigest,
    /// It was there before.
    pub(super) found: bool,
}

/// What became of one name.
enum Tried {
    Placed { found: bool },
    Taken,
}

impl<'a> Delivery<'a> {
    pub(super) fn new(adapter: &'a FolderAdapter, item: &'a Item) -> Self {
        let content = Digest { size: item.pdf.size, sha256: item.pdf.sha256.to_ascii_lowercase() };
        Self { adapter, config: &adapter.config, item, content }
    }

    pub(super) fn run(&self) -> Result<Lies, Outcome> {
        let rendered = self.config.file_name.render(&Context::new(&self.item.metadata));
        let mut parts = name::relative_path(&rendered.map_err(|error| self.refused("file_name", &error))?);
        let file = parts.pop().unwrap_or_else(|| name::UNKNOWN.to_owned());
        let folder = Folder::open(self.config)?;
        if !self.adapter.swept.swap(true, Ordering::Relaxed) {
            leftovers::sweep(folder.path());
        }
        let folder = folder.enter_all(&parts)?;
        let lies = |name: &str, found| Lies { place: folder.shown(name), file: self.digest(&folder.join(name)), found };

        let start = match self.find(&folder, &file)? {
            Found::Delivered(name) => {
                self.sync_found(&folder, &name)?;
                return Ok(lies(&name, true));
            }
            Found::Free(index) => index,
        };
        let pdf = self.stage(&folder)?;
        // One after the other where several documents want one name: two with the same sidecar text would share one,
        // and the one that loses the name would take the other's away.
        let _turn = Claim::wait_for(turn(&folder.join(&file)));
        for index in start..MAX_NAMES {
            let name = self.candidate(&file, index);
            let next = self.candidate(&file, index + 1);
            if let Tried::Placed { found } = self.place(&folder, &pdf, &name, &next)? {
                return Ok(lies(&name, found));
            }
        }
        Err(self.no_name_left())
    }

    /// `Letter.pdf`, `Letter_1a2b3c4d.pdf`, `Letter_1a2b3c4d_2.pdf`…
    fn candidate(&self, file: &str, index: usize) -> String {
        let short = self.item.uuid.short();
        match index {
            0 => file.to_owned(),
            1 => name::with_suffix(file, &short),
            n => name::with_suffix(file, &format!("{short}_{n}")),
        }
    }

    /// Looks whether the document lies there already, else for the first free name.
    ///
    /// The second name is looked at even when the first is free: a delivery that found the first one taken, and whose
    /// success was not recorded, must be found again after an importer took the other file away. It is also preferred: that
    /// name is this document's alone.
    fn find(&self, folder: &Folder, file: &str) -> Result<Found, Outcome> {
        let mut free = None;
        for index in 0..MAX_NAMES {
            let name = self.candidate(file, index);
            let next = self.candidate(file, index + 1);
            match self.own_standing(folder, &name, &next)? {
                Standing::Same if index == 0 => {
                    let is_there = self.own_standing(folder, &next, &self.candidate(file, 2))? == Standing::Same;
                    return Ok(Found::Delivered(if is_there { next } else { name }));
                }
                Standing::Same => return Ok(Found::Delivered(name)),
                Standing::Other => {}
                Standing::Nothing => {
                    let first = *free.get_or_insert(index);
                    if index > 0 {
                        return Ok(Found::Free(first));
                    }
                }
            }
        }
        free.map(Found::Free).ok_or_else(|| self.no_name_left())
    }

    /// What was found may be the work of an attempt that a crash ended between the rename and the last fsync.
    fn sync_found(&self, folder: &Folder, name: &str) -> Result<(), Outcome> {
        for part in [Part::Pdf, Part::Sidecar] {
            files::remove_if_there(&self.temporary(folder, part)).map_err(|error| self.fault(Doing::Remove, &error))?;
        }
        let path = folder.join(name);
        self.secure(folder, &path)?;
        files::sync_folder(folder.path()).map_err(|error| {
            doubtful::mark(&path);
            self.fault(Doing::Sync, &error)
        })
    }

    /// Brings a file to the disk that has its own name and this content already.
    fn secure(&self, folder: &Folder, path: &Path) -> Result<(), Outcome> {
        if !doubtful::is_marked(path) {
            return files::sync_existing(path).map_err(|error| {
                doubtful::mark(path);
                self.fault(Doing::Sync, &error)
            });
        }
        self.stage(folder)?.replace(path).map_err(|error| self.fault(Doing::Rename, &error))?;
        doubtful::clear(path);
        Ok(())
    }

    /// The PDF under its temporary name: complete, checked and on the disk.
    fn stage(&self, folder: &Folder) -> Result<Temporary, Outcome> {
        let opened = io_fault!("folder.read_spool").and_then(|()| File::open(&self.item.pdf.path));
        let spooled = opened.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Outcome::SpoolDamaged,
            _ => Outcome::Transient(format!("the spool cannot be read ({})", fault::system_text(&error))),
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
        Ok(pdf)
    }

    /// Gives the PDF this name, its sidecar before it, unless one of the two is taken.
    fn place(&self, folder: &Folder, pdf: &Temporary, name: &str, next: &str) -> Result<Tried, Outcome> {
        let path = folder.join(name);
        if self.item.filed.is_anothers(&self.digest(&path)) {
            return Ok(Tried::Taken);
        }
        // Looked at first: a sidecar must not stand beside another document's PDF, not even for a moment.
        let look = |_| self.own_standing(folder, name, next);
        match self.config.sidecar.as_ref().map_or(Ok(Standing::Nothing), look)? {
            Standing::Nothing => {}
            Standing::Same => return self.sync_found(folder, name).map(|()| Tried::Placed { found: true }),
            Standing::Other => return Ok(Tried::Taken),
        }
        let sidecar = match &self.config.sidecar {
            None => None,
            Some(sidecar) => match self.place_sidecar(folder, sidecar, name, next)? {
                Some(placed) => Some(placed),
                None => return Ok(Tried::Taken),
            },
        };
        let mut found = false;
        match self.rename(pdf, &path) {
            Ok(()) => {}
            // The same content: another attempt's, or ours, where a network share did it and lost its answer.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                match self.own_standing(folder, name, next)? {
                    Standing::Same => {
                        self.secure(folder, &path)?;
                        found = true;
                    }
                    Standing::Other | Standing::Nothing => return Ok(Tried::Taken),
                }
            }
            Err(error) => return Err(self.fault(Doing::Rename, &error)),
        }
        if let Err(error) = files::sync_folder(folder.path()) {
            // A second try could succeed without the name being on the disk: the system tells of such an error once. So
            // the name is taken back, and the next attempt writes everything anew.
            if found || files::rename_new(&path, pdf.path()).is_err() {
                doubtful::mark(&path);
            }
            return Err(self.fault(Doing::Sync, &error));
        }
        if let Some(sidecar) = sidecar {
            sidecar.keep();
        }
        Ok(Tried::Placed { found })
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
        let taken = owners::take(path, &self.item.key, &self.item.uuid);
        files::rename_new(pdf.path(), path)?;
        taken.keep();
        fault_point!("folder.rename.after");
        Ok(())
    }

    fn digest(&self, path: &Path) -> FileDigest {
        FileDigest::of(&self.content.sha256, path)
    }

    /// What stands under a name of the document. A file of the same content that is another document's is other content,
    /// and so is a name under which another document was ever filed, whatever became of its file.
    fn own_standing(&self, folder: &Folder, name: &str, next: &str) -> Result<Standing, Outcome> {
        let path = folder.join(name);
        let file = self.digest(&path);
        if self.item.filed.is_anothers(&file) {
            return Ok(Standing::Other);
        }
        Ok(match self.standing(&path, &self.content)? {
            Standing::Same if owners::is_anothers(&path, &self.item.uuid) => Standing::Other,
            Standing::Same if self.item.filed.another_waits && !self.item.filed.is_own(&file) => {
                if self.anothers_sidecar(folder, name, next)? { Standing::Other } else { Standing::Same }
            }
            standing => standing,
        })
    }

    pub(super) fn standing(&self, path: &Path, content: &Digest) -> Result<Standing, Outcome> {
        files::standing(path, content).map_err(|error| self.fault(Doing::Compare, &error))
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
        folder.join(&self.part_name(part))
    }

    fn part_name(&self, part: Part) -> String {
        let key = &self.item.key;
        let plain = (1..=64).contains(&key.len()) && key.bytes().all(|b| b.is_ascii_alphanumeric());
        let key = if plain { key.clone() } else { Digest::of(key.as_bytes()).sha256 };
        match part {
            Part::Pdf => format!(".docsyncd-{key}.part"),
            Part::Sidecar => format!(".docsyncd-{key}.sidecar.part"),
        }
    }

    pub(super) fn fault(&self, doing: Doing, error: &io::Error) -> Outcome {
        fault::outcome(&self.config.name, doing, error)
    }

    pub(super) fn refused(&self, option: &str, error: &crate::template::TemplateError) -> Outcome {
        let name = &self.config.name;
        Outcome::Permanent(format!("destination `{name}`: `{option}` cannot be filled in for this document: {error}"))
    }

    fn no_name_left(&self) -> Outcome {
        let name = &self.config.name;
        Outcome::Permanent(format!(
            "destination `{name}`: {MAX_NAMES} files of the document's name are there: make `file_name` more specific"
        ))
    }
}

/// A file of a delivery.
#[derive(Clone, Copy)]
pub(super) enum Part {
    Pdf,
    Sidecar,
}

/// What lies under the document's names.
enum Found {
    Delivered(String),
    Free(usize),
}
