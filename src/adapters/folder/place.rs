//! The folder a document goes into: the configured one, which must be there, and sub-folders, which are created.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{Doing, FolderConfig, Outcome, fault, files};

/// A folder that is there, with all links in its path followed.
pub(super) struct Folder<'a> {
    config: &'a FolderConfig,
    root: PathBuf,
    path: PathBuf,
    /// The same as configured, links not followed.
    shown: PathBuf,
}

impl<'a> Folder<'a> {
    /// The configured folder. It is never created: that it is missing means that a share is not mounted, and documents
    /// filed into the empty mount point would be invisible once it is.
    pub(super) fn open(config: &'a FolderConfig) -> Result<Self, Outcome> {
        let root = open_root(config).map_err(Outcome::Transient)?;
        Ok(Self { config, path: root.clone(), root, shown: config.path.clone() })
    }

    /// The sub-folder of these names, created where it is missing.
    pub(super) fn enter_all(self, parts: &[String]) -> Result<Self, Outcome> {
        parts.iter().try_fold(self, |folder, part| folder.enter(part))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The path of a file in it, for the person who asks.
    pub(super) fn shown(&self, name: &str) -> PathBuf {
        self.shown.join(name)
    }

    fn enter(mut self, part: &str) -> Result<Self, Outcome> {
        let next = self.path.join(part);
        let fault = |doing, error: &io::Error| fault::outcome(&self.config.name, doing, error);
        let real = match fs::symlink_metadata(&next) {
            Ok(found) if found.is_dir() => next,
            Ok(found) if found.is_symlink() => self.follow(&next)?,
            Ok(_) => return Err(fault(Doing::MakeFolder, &io::ErrorKind::NotADirectory.into())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                files::create_folder(&next, self.config.dir_mode).map_err(|error| fault(Doing::MakeFolder, &error))?;
                next
            }
            Err(error) => return Err(fault(Doing::MakeFolder, &error)),
        };
        // Also when it was there: the attempt that created it may have ended before this.
        files::sync_folder(&self.path).map_err(|error| fault(Doing::Sync, &error))?;
        self.path = real;
        self.shown.push(part);
        Ok(self)
    }

    /// Where a link leads, if that is a folder below the configured one.
    fn follow(&self, link: &Path) -> Result<PathBuf, Outcome> {
        match fs::canonicalize(link) {
            Ok(real) if real.starts_with(&self.root) && real.is_dir() => Ok(real),
            _ => Err(Outcome::Transient(format!(
                "destination `{}`: a sub-folder is a link that leads out of its folder or nowhere: \
                 replace it by a folder, or point `path` at where it leads",
                self.config.name
            ))),
        }
    }
}

/// The configured folder with all links followed, or what is wrong with it. It is the administrator's, so it is named.
pub(super) fn open_root(config: &FolderConfig) -> Result<PathBuf, String> {
    let (name, path) = (&config.name, config.path.display());
    match fs::metadata(&config.path) {
        Ok(found) if found.is_dir() => {}
        Ok(_) => {
            return Err(format!("the folder of destination `{name}` is not a folder ({path}): correct its `path`"));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(format!(
                "the folder of destination `{name}` does not exist ({path}): {}{}",
                missing(&config.path),
                hidden(&config.path)
            ));
        }
        Err(error) => return Err(fault::reason(name, Doing::Open, &error) + hidden(&config.path)),
    }
    // Some network drives of Windows cannot be resolved; a link below one is then refused, which is the safe side.
    fs::canonicalize(&config.path)
        .or_else(|_| std::path::absolute(&config.path))
        .map_err(|error| fault::reason(name, Doing::Open, &error))
}

/// The packages' units say `ProtectHome=yes`, which looks like a missing folder or a missing right from within.
fn hidden(path: &Path) -> &'static str {
    if ["/home", "/root", "/run/user"].iter().any(|homes| path.starts_with(homes)) {
        " (home folders are hidden from a service of systemd: use a folder elsewhere, such as below /srv)"
    } else {
        ""
    }
}

#[cfg(not(windows))]
fn missing(_: &Path) -> &'static str {
    "is the share mounted?"
}

#[cfg(windows)]
fn missing(path: &Path) -> &'static str {
    super::drive::hint(path)
}
