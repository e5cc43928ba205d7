//! `type = "folder"`: files the PDF, and an optional sidecar before it, below a folder that a practice system watches.
//!
//! A name appears only when its content is complete and on the disk, and never replaces another. Every step may be the
//! last one before a power cut; doing the whole delivery again under the same key finds what the step before left:
//! a temporary file is replaced, a sidecar with the same content is used, a PDF with the same content is the delivery.
//!
//! One case is out of reach: the process dies after the rename and before the ledger has it, and an importer takes the PDF
//! away before the next attempt, which then files it again. That the temporary file is gone as well would be no proof of
//! delivery: people, virus scanners and a disk that is not mounted take files away, too. Taken for one, it would lose a
//! document where now one comes twice.
//!
//! It is not a mirror: nothing that was filed is looked at again, so an importer may take the files away.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;

use super::blocking::{self, Claim, Stuck};
use super::fault::{self, Doing};
use super::files::{self, CopyError, Digest, Standing, Temporary};
use super::{Adapter, Item, Outcome};
use crate::config::{FolderConfig, SidecarConfig};
use crate::name;
use crate::template::Context;

mod doubtful;
#[cfg(windows)]
mod drive;
mod leftovers;
mod place;
mod probe;
mod sidecar;
#[cfg(test)]
mod tests;

#[cfg(windows)]
pub use drive::refused_drive;
use place::Folder;
use sidecar::PlacedSidecar;

/// The longest wait for a delivery: a large PDF over a slow line takes minutes, a share that hangs takes for ever.
const DELIVERY_LIMIT: Duration = Duration::from_secs(30 * 60);

/// The longest wait for a check.
const CHECK_LIMIT: Duration = Duration::from_secs(60);

/// Names that are tried for one document: its own, with the short uuid, then numbered.
const MAX_NAMES: usize = 1000;

/// Called with a PDF's final path when everything but its rename is done; for tests of what a fault there leaves.
#[cfg(test)]
type Hook = Arc<dyn Fn(&Path) -> io::Result<()> + Send + Sync>;

/// A folder, local or on a share.
#[derive(Clone)]
pub struct FolderAdapter {
    config: FolderConfig,
    /// Whether what died before this process was looked for; shared by clones.
    swept: Arc<AtomicBool>,
    #[cfg(test)]
    before_rename: Option<Hook>,
}

impl FolderAdapter {
    /// Opens nothing.
    pub fn new(config: FolderConfig) -> Self {
        Self {
            config,
            swept: Arc::default(),
            #[cfg(test)]
            before_rename: None,
        }
    }

    fn claim(&self, key: &str) -> String {
        format!("{}\0{}\0{key}", self.config.name, self.config.path.display())
    }

    fn stuck(&self, stuck: Stuck) -> String {
        let name = &self.config.name;
        match stuck {
            Stuck::Now => {
                format!("destination `{name}`: its folder does not answer: is the server of the share reachable?")
            }
            Stuck::Before => format!("destination `{name}`: an earlier attempt still waits for its folder to answer"),
            Stuck::Broken => format!("destination `{name}`: an internal fault: please report it"),
        }
    }
}

#[async_trait]
impl Adapter for FolderAdapter {
    async fn deliver(&self, item: &Item) -> Outcome {
        let (adapter, copy) = (self.clone(), item.clone());
        let work = move || match Delivery::new(&adapter, &copy).run() {
            Ok(place) => Outcome::Delivered { place },
            Err(outcome) => outcome,
        };
        let result = blocking::run(self.claim(&item.key), DELIVERY_LIMIT, work).await;
        result.unwrap_or_else(|stuck| Outcome::Transient(self.stuck(stuck)))
    }

    async fn abandon(&self, item: &Item) {
        let (adapter, copy) = (self.clone(), item.clone());
        let work = move || Delivery::new(&adapter, &copy).abandon();
        // An attempt that still hangs will look after itself.
        let _ = blocking::run(self.claim(&item.key), CHECK_LIMIT, work).await;
    }

    async fn check(&self) -> Result<(), String> {
        let adapter = self.clone();
        let work = move || probe::check(&adapter.config);
        blocking::run(self.claim("check"), CHECK_LIMIT, work).await.unwrap_or_else(|stuck| Err(self.stuck(stuck)))
    }
}

/// One delivery. `Err` is what became of it when the document is not there.
struct Delivery<'a> {
    adapter: &'a FolderAdapter,
    config: &'a FolderConfig,
    item: &'a Item,
    content: Digest,
}

/// The claim on a name; letter case is ignored, as some file systems ignore it.
fn turn(wanted: &Path) -> String {
    format!("name\0{}", wanted.to_string_lossy().to_lowercase())
}

/// What became of one name.
enum Tried {
    Placed,
    Taken,
}

impl<'a> Delivery<'a> {
    fn new(adapter: &'a FolderAdapter, item: &'a Item) -> Self {
        let content = Digest { size: item.pdf.size, sha256: item.pdf.sha256.to_ascii_lowercase() };
        Self { adapter, config: &adapter.config, item, content }
    }

    fn run(&self) -> Result<String, Outcome> {
        let rendered = self.config.file_name.render(&Context::new(&self.item.metadata));
        let mut parts = name::relative_path(&rendered.map_err(|error| self.refused("file_name", &error))?);
        let file = parts.pop().unwrap_or_else(|| name::UNKNOWN.to_owned());
        let folder = Folder::open(self.config)?;
        if !self.adapter.swept.swap(true, Ordering::Relaxed) {
            leftovers::sweep(folder.path());
        }
        let folder = folder.enter_all(&parts)?;
        let shown = |name: &str| parts.iter().fold(self.config.path.clone(), |path, part| path.join(part)).join(name);

        let start = match self.find(&folder, &file)? {
            Found::Delivered(name) => {
                self.sync_found(&folder, &name)?;
                return Ok(shown(&name).display().to_string());
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
            if let Tried::Placed = self.place(&folder, &pdf, &name, &next)? {
                return Ok(shown(&name).display().to_string());
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
    /// success was not recorded, must be found again after an importer took the other file away.
    fn find(&self, folder: &Folder, file: &str) -> Result<Found, Outcome> {
        let mut free = None;
        for index in 0..MAX_NAMES {
            let name = self.candidate(file, index);
            match self.standing(&folder.join(&name), &self.content)? {
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
        // Looked at first: a sidecar must not stand beside another document's PDF, not even for a moment.
        match self.config.sidecar.as_ref().map_or(Ok(Standing::Nothing), |_| self.standing(&path, &self.content))? {
            Standing::Nothing => {}
            Standing::Same => return self.sync_found(folder, name).map(|()| Tried::Placed),
            Standing::Other => return Ok(Tried::Taken),
        }
        let sidecar = match &self.config.sidecar {
            None => None,
            Some(sidecar) => match self.place_sidecar(folder, sidecar, name, next)? {
                Some(placed) => Some(placed),
                None => return Ok(Tried::Taken),
            },
        };
        let mut is_ours = true;
        match self.rename(pdf, &path) {
            Ok(()) => {}
            // The same content: another attempt's, or ours, where a network share did it and lost its answer.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match self.standing(&path, &self.content)? {
                Standing::Same => {
                    self.secure(folder, &path)?;
                    is_ours = false;
                }
                Standing::Other | Standing::Nothing => return Ok(Tried::Taken),
            },
            Err(error) => return Err(self.fault(Doing::Rename, &error)),
        }
        if let Err(error) = files::sync_folder(folder.path()) {
            // A second try could succeed without the name being on the disk: the system tells of such an error once. So
            // the name is taken back, and the next attempt writes everything anew.
            if !is_ours || files::rename_new(&path, pdf.path()).is_err() {
                doubtful::mark(&path);
            }
            return Err(self.fault(Doing::Sync, &error));
        }
        if let Some(sidecar) = sidecar {
            sidecar.keep();
        }
        Ok(Tried::Placed)
    }

    /// The sidecar under its own name and on the disk; `None` when other content has that name.
    fn place_sidecar(
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
        let content =
            sidecar.content.render(&self.context(pdf_name)).map_err(|error| self.refused("sidecar", &error))?;
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

    fn sidecar_name(&self, sidecar: &SidecarConfig, pdf_name: &str) -> Result<String, Outcome> {
        let rendered =
            sidecar.name.render(&self.context(pdf_name)).map_err(|error| self.refused("sidecar_name", &error))?;
        Ok(name::file_name(&rendered))
    }

    fn context(&self, pdf_name: &str) -> Context {
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

    fn standing(&self, path: &Path, content: &Digest) -> Result<Standing, Outcome> {
        files::standing(path, content).map_err(|error| self.fault(Doing::Compare, &error))
    }

    /// Removes what an attempt that was cut off left under this delivery's temporary names; nothing is created.
    fn abandon(&self) -> io::Result<()> {
        let Ok(rendered) = self.config.file_name.render(&Context::new(&self.item.metadata)) else { return Ok(()) };
        let mut parts = name::relative_path(&rendered);
        parts.pop();
        let folder = parts.iter().fold(self.config.path.clone(), |path, part| path.join(part));
        [Part::Pdf, Part::Sidecar]
            .iter()
            .try_for_each(|part| files::remove_if_there(&folder.join(self.part_name(*part))))
    }

    /// The same for every attempt of this delivery, so that an attempt removes what one before it left.
    fn temporary(&self, folder: &Folder, part: Part) -> PathBuf {
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

    fn fault(&self, doing: Doing, error: &io::Error) -> Outcome {
        fault::outcome(&self.config.name, doing, error)
    }

    fn refused(&self, option: &str, error: &crate::template::TemplateError) -> Outcome {
        let name = &self.config.name;
        Outcome::Permanent(format!("destination `{name}`: `{option}` cannot be filled in for this document: {error}"))
    }

    fn no_name_left(&self) -> Outcome {
        let name = &self.config.name;
        Outcome::Permanent(format!(
            "destination `{name}`: {MAX_NAMES} files of the document's name are there: make `file_name` more specific"
        ))
    }

    fn sidecar_in_the_way(&self) -> Outcome {
        let name = &self.config.name;
        Outcome::Transient(format!(
            "destination `{name}`: another sidecar of the same name has not been imported yet; \
             put {{{{ file_stem }}}} into `sidecar_name` to give each document its own"
        ))
    }
}

#[derive(Clone, Copy)]
enum Part {
    Pdf,
    Sidecar,
}

enum Found {
    Delivered(String),
    Free(usize),
}
