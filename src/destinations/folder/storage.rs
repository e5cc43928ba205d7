//! A folder of this machine, or of a share, as filing sees it: which step must be durable before the next one.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;

use super::super::blocking::Claim;
use super::super::candidate;
use super::super::confirm::Entry;
use super::super::fault::{self, Doing};
use super::super::files::{self, CopyError, Digest, Existing, Temporary};
use super::super::filing::{NotNamed, Options, Put, Renamed, Storage};
use super::super::{Item, Outcome, spooled};
use super::place::{self, Folder, is_there};
use super::shelf::{self, nanoseconds};
use super::{Code, FolderAdapter, FolderConfig, unsynced};
use crate::domain::reservation::Place;

/// The end of temporary names.
const PDF: &str = ".part";
const SIDECAR: &str = ".sidecar.part";

/// The folder of a destination, for one delivery. Its calls block.
pub(super) struct Local<'a> {
    pub(super) adapter: &'a FolderAdapter,
    pub(super) config: &'a FolderConfig,
    pub(super) root: Folder<'a>,
}

#[async_trait]
impl<'a> Storage for Local<'a> {
    type Folder = Folder<'a>;
    type Turn = Claim;
    const AT_ONCE: bool = true;

    fn options(&self) -> Options<'_> {
        Options {
            destination: &self.config.name,
            file_name: &self.config.file_name,
            sidecar: self.config.sidecar.as_ref(),
            on_lost_reply: Some(self.config.on_lost_reply),
            confirm: self.config.confirm.as_ref(),
        }
    }

    /// Windows reports a share that went away as a missing file.
    async fn find_root(&self) -> Result<(), Outcome> {
        Folder::open(self.config).map(drop)
    }

    async fn find(&self, within: &str) -> Result<Folder<'a>, Outcome> {
        self.root.find(within)
    }

    async fn make(&self, within: &str, file: &str) -> Result<Folder<'a>, Outcome> {
        // Nobody could open a file beyond the longest path, though a handle could create it.
        let whole = candidate::parts(within).fold(self.root.named(""), |path, part| path.join(part)).join(file);
        match is_there(&whole) {
            Err(error) if error.kind() == io::ErrorKind::InvalidFilename => Err(self.fault(Doing::MakeFolder, &error)),
            _ => self.root.clone().enter_all(within),
        }
    }

    fn place(&self, folder: &Folder<'a>, name: &str) -> Place {
        Place::of(&folder.named(name).to_string_lossy())
    }

    fn shown(&self, path: &str) -> String {
        place::shown(self.config, path)
    }

    async fn existing(&self, folder: &Folder<'a>, name: &str, content: &Digest) -> Result<Existing, Outcome> {
        files::existing(&folder.at(name), content).map_err(|error| self.fault(Doing::Compare, &error))
    }

    async fn stage(
        &self,
        folder: &Folder<'a>,
        item: &Item,
        content: &Digest,
        staged: &mut Option<String>,
    ) -> Result<String, Outcome> {
        let mut pdf = self.write(folder, item, content)?;
        // From here on the caller removes the file.
        pdf.stay(true);
        let name = candidate::temporary(&item.key, PDF);
        *staged = Some(name.clone());
        Ok(name)
    }

    /// The file is always rewritten: after a failed fsync, the system may claim that the file is on the disk.
    async fn left(&self, _: &Folder<'a>, _: &str, _: &Digest) -> Result<Existing, Outcome> {
        Ok(Existing::Different)
    }

    async fn waits(&self, folder: &Folder<'a>, temporary: &str) -> Result<bool, Outcome> {
        files::is_only_name(&folder.at(temporary)).map_err(|error| self.fault(Doing::Compare, &error))
    }

    async fn rename(&self, folder: &Folder<'a>, from: &str, to: &str) -> Result<Renamed, Outcome> {
        let (from, to) = (folder.at(from), folder.at(to));
        let renamed = || {
            #[cfg(test)]
            if let Some(hook) = &self.adapter.before_rename {
                hook(&to)?;
            }
            fault_point!("folder.rename.before");
            io_fault!("folder.rename")?;
            files::rename_new(&from, &to)?;
            fault_point!("folder.rename.after");
            Ok(())
        };
        let Err(error) = renamed() else { return Ok(Renamed::Done) };
        let outcome = self.fault(Doing::Rename, &error);
        // A virus scanner may have taken the temporary file; otherwise a missing file means that it was renamed.
        let is_refused = error.kind() == io::ErrorKind::AlreadyExists
            || files::is_absent(&error)
            || is_there(&from).unwrap_or(false);
        if is_refused { Ok(Renamed::Refused(outcome)) } else { Err(outcome) }
    }

    async fn written(&self, folder: &Folder<'a>, name: &str) -> Option<u64> {
        std::fs::metadata(folder.at(name)).and_then(|found| found.modified()).ok().and_then(nanoseconds)
    }

    async fn listed(&self, folder: &str) -> Option<Arc<Vec<Entry>>> {
        self.adapter.memory.listed(folder, async || shelf::listed(&self.root, self.config, folder)).await
    }

    async fn identity(&self) -> Option<String> {
        files::identity(self.root.path())
    }

    async fn confirm(&self, folder: &Folder<'a>, temporary: &str, name: &str) -> Result<(), NotNamed> {
        // A second fsync could succeed although the name is not on the disk: the system reports such an error once. So
        // the rename is undone, and the next attempt writes everything anew.
        let taken_back = |outcome| match files::rename_new(&folder.at(name), &folder.at(temporary)) {
            Ok(()) => NotNamed::surely(outcome),
            Err(_) => NotNamed::perhaps(outcome),
        };
        if let Err(error) = files::sync_folder(folder.path()) {
            let not_named = taken_back(self.fault(Doing::Sync, &error));
            if !not_named.surely {
                unsynced::mark(&folder.named(name));
            }
            return Err(not_named);
        }
        let moved = folder.was_moved_with(name).map_err(|error| self.fault(Doing::Compare, &error));
        if moved.map_err(NotNamed::perhaps)? {
            let words = "the document's sub-folder was moved or replaced while it was filed";
            let reason = format!("destination `{}`: {words}", self.config.name);
            return Err(taken_back(Outcome::transient(Code::word("folder_moved"), reason)));
        }
        Ok(())
    }

    async fn secure(&self, folder: &Folder<'a>, item: &Item, content: &Digest, name: &str) -> Result<(), Outcome> {
        let (path, known) = (folder.at(name), folder.named(name));
        if unsynced::is_marked(&known) {
            let anew = self.write(folder, item, content)?;
            let found = self.existing(folder, name, content).await?;
            if found == Existing::Absent {
                unsynced::clear(&known);
            }
            if found != Existing::Same {
                let words = "the file was taken while it was written anew: it is looked for again";
                let reason = format!("destination `{}`: {words}", self.config.name);
                return Err(Outcome::transient(Code::word("taken"), reason));
            }
            anew.replace(&path).map_err(|error| self.fault(Doing::Rename, &error))?;
            unsynced::clear(&known);
        } else {
            files::sync_existing(&path).map_err(|error| {
                // A program that reads or takes the file at this moment is no disk fault.
                if !files::is_open_elsewhere(&error) && !files::is_absent(&error) {
                    unsynced::mark(&known);
                }
                self.fault(Doing::Sync, &error)
            })?;
        }
        files::sync_folder(folder.path()).map_err(|error| {
            unsynced::mark(&known);
            self.fault(Doing::Sync, &error)
        })
    }

    async fn turn(&self, folder: &Folder<'a>, name: &str) -> Claim {
        Claim::wait_for(format!("sidecar\0{}", folder.named(name).to_string_lossy().to_lowercase()))
    }

    async fn names(&self, folder: &Folder<'a>) -> Result<HashSet<String>, Outcome> {
        let entries = std::fs::read_dir(folder.path()).map_err(|error| self.fault(Doing::Open, &error))?;
        Ok(entries.map_while(Result::ok).filter_map(|entry| entry.file_name().into_string().ok()).collect())
    }

    async fn put_sidecar(&self, folder: &Folder<'a>, item: &Item, name: &str, text: Vec<u8>) -> Result<Put, Outcome> {
        let path = folder.at(name);
        let temporary = folder.at(&candidate::temporary(&item.key, SIDECAR));
        let mut temporary = self.create(temporary)?;
        temporary.writer().write_all(&text).map_err(|error| self.fault(Doing::Write, &error))?;
        temporary.sync().map_err(|error| self.fault(Doing::Sync, &error))?;
        fault_point!("folder.sidecar.before");
        let renamed = io_fault!("folder.sidecar").and_then(|()| files::rename_new(temporary.path(), &path));
        fault_point!("folder.sidecar.after");
        let put = match renamed {
            Ok(()) => Put::New,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if self.existing(folder, name, &Digest::of(&text)).await? != Existing::Same {
                    return Ok(Put::Taken);
                }
                files::sync_existing(&path).map_err(|error| self.fault(Doing::Sync, &error))?;
                Put::Same
            }
            Err(error) => return Err(self.fault(Doing::Rename, &error)),
        };
        // The sidecar's name must be on the disk before the PDF's, not only before it in memory.
        files::sync_folder(folder.path()).map_err(|error| {
            if put == Put::New {
                let _ = std::fs::remove_file(&path);
            }
            self.fault(Doing::Sync, &error)
        })?;
        Ok(put)
    }

    async fn remove(&self, folder: &Folder<'a>, name: &str) -> Result<(), Outcome> {
        files::remove_if_there(&folder.at(name)).map_err(|error| self.fault(Doing::Remove, &error))
    }

    fn temporaries(&self, key: &str) -> Vec<String> {
        [PDF, SIDECAR].map(|end| candidate::temporary(key, end)).to_vec()
    }

    /// Every attempt uses the same temporary names.
    fn is_first(&self, _: &Item) -> bool {
        true
    }

    fn answers(&self, _: &Outcome) -> bool {
        true
    }

    fn ended(&self, _: &str) {}
}

impl Local<'_> {
    fn create(&self, path: PathBuf) -> Result<Temporary, Outcome> {
        Temporary::create(path, self.config.file_mode).map_err(|error| self.fault(Doing::Create, &error))
    }

    /// Writes the PDF under its temporary name: complete, checked and on the disk.
    fn write(&self, folder: &Folder<'_>, item: &Item, content: &Digest) -> Result<Temporary, Outcome> {
        let path = folder.at(&candidate::temporary(&item.key, PDF));
        let mut pdf = match &item.pdf.in_memory {
            Some(bytes) => {
                let mut pdf = self.create(path)?;
                pdf.writer().write_all(bytes.as_ref()).map_err(|error| self.fault(Doing::Write, &error))?;
                pdf
            }
            None => self.copy_spooled(path, item, content)?,
        };
        pdf.sync().map_err(|error| self.fault(Doing::Sync, &error))?;
        // The temporary name is evidence from now on.
        files::sync_folder(folder.path()).map_err(|error| self.fault(Doing::Sync, &error))?;
        Ok(pdf)
    }

    fn copy_spooled(&self, path: PathBuf, item: &Item, content: &Digest) -> Result<Temporary, Outcome> {
        let opened = io_fault!("folder.read_spool").and_then(|()| File::open(&item.pdf.path));
        let spooled = opened.map_err(|error| spooled::unopened(&error))?;
        let mut pdf = self.create(path)?;
        match files::copy_hashing(spooled, pdf.writer(), content.size.saturating_add(1)) {
            Ok(copied) if copied == *content => Ok(pdf),
            Ok(_) | Err(CopyError::Read(_)) => Err(Outcome::SpoolDamaged),
            Err(CopyError::Write(error)) => Err(self.fault(Doing::Write, &error)),
        }
    }

    fn fault(&self, doing: Doing, error: &io::Error) -> Outcome {
        fault::outcome(self.config, doing, error)
    }
}
