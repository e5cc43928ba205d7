//! The folder that a document goes into: the configured one, which must exist, and its sub-folders, which are created.

#[cfg(windows)]
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
#[cfg(windows)]
use std::sync::{Mutex, PoisonError};

use super::super::candidate::parts;
use super::super::files::Handle;
use super::{Code, Doing, FolderConfig, Outcome, PutIn, fault, files};

/// A folder, with all links in its path resolved. All work in it goes through its handle: a user who may write there,
/// and replaces it with a link meanwhile, moves nothing out of the configured folder.
#[derive(Clone)]
pub(super) struct Folder<'a> {
    config: &'a FolderConfig,
    root: Root,
    path: PathBuf,
    handle: Handle,
}

#[derive(Clone)]
struct Root {
    path: PathBuf,
    handle: Handle,
}

impl<'a> Folder<'a> {
    /// The configured folder. It is never created: if it is missing, a share is not mounted, and documents filed into
    /// the empty mount point would be invisible once it is.
    pub(super) fn open(config: &'a FolderConfig) -> Result<Self, Outcome> {
        let unusable = |reason| Outcome::transient(Code::word("folder_unusable"), reason);
        let path = open_root(config).map_err(unusable)?;
        let handle = Handle::open(&path).map_err(|error| fault::outcome(config, Doing::Open, &error))?;
        let root = Root { path: path.clone(), handle: handle.clone() };
        Ok(Self { config, root, path, handle })
    }

    /// Whether the system lets this process make files here, asked without making one.
    pub(super) fn can_be_written(&self) -> Result<(), Outcome> {
        files::can_be_written(self.path()).map_err(|error| self.fault(Doing::Create, &error))
    }

    /// Whether it is the folder in which these letters were put: without its share a mount point is empty, and a letter
    /// in it is never taken. What was put below another `path` says nothing of this one.
    pub(super) fn is_that_of(&self, letters: &[PutIn]) -> Result<(), Outcome> {
        let Some(here) = files::identity(self.path()) else { return Ok(()) };
        let is_elsewhere = |of: &PutIn| of.root != here && shown(self.config, &of.path) == of.place;
        if !letters.iter().any(is_elsewhere) {
            return Ok(());
        }
        let FolderConfig { name, path, .. } = self.config;
        let reason = format!(
            "the folder of destination `{name}` is not the one in which letters wait to be taken ({}): is the share mounted? If \
             the folder was made anew, look which of them were taken: docsyncd list --state fetched",
            path.display()
        );
        Err(Outcome::transient(Code::word("another_folder"), reason))
    }

    /// The sub-folder with this path, created if it is missing.
    pub(super) fn enter_all(self, within: &str) -> Result<Self, Outcome> {
        parts(within).try_fold(self, Self::enter)
    }

    /// The same, without creating any folder.
    pub(super) fn find(&self, within: &str) -> Result<Self, Outcome> {
        let mut folder = self.clone();
        for part in parts(within) {
            let is_link = fs::symlink_metadata(folder.at(part)).is_ok_and(|found| found.is_symlink());
            (folder.path, folder.handle) = if is_link {
                folder.follow(part)?
            } else {
                let handle = match folder.handle.enter(part) {
                    Err(error) if files::is_absent(&error) => folder.handle.missing(part),
                    entered => entered.map_err(|error| folder.fault(Doing::Open, &error))?,
                };
                (folder.path.join(part), handle)
            };
        }
        Ok(folder)
    }

    /// The path that reaches the folder itself, whatever happens to its name meanwhile.
    pub(super) fn path(&self) -> &Path {
        self.handle.path()
    }

    /// The path that reaches a file in the folder.
    pub(super) fn at(&self, name: &str) -> PathBuf {
        self.handle.path().join(name)
    }

    /// The path that identifies a file in the folder: the same in every attempt.
    pub(super) fn named(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Whether the file lies in the folder, but not at its path: somebody moved the folder or put another in its place.
    pub(super) fn was_moved_with(&self, name: &str) -> io::Result<bool> {
        // In this order: an importer may take the file in between.
        Ok(!is_there(&self.named(name))? && is_there(&self.at(name))?)
    }

    fn enter(mut self, part: &str) -> Result<Self, Outcome> {
        let next = self.at(part);
        let (path, handle) = match fs::symlink_metadata(&next) {
            Ok(found) if found.is_symlink() => self.follow(part)?,
            Ok(_) => {
                (self.path.join(part), self.handle.enter(part).map_err(|error| self.fault(Doing::MakeFolder, &error))?)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let made = files::create_folder(&next, self.config.dir_mode).and_then(|_| self.handle.enter(part));
                (self.path.join(part), made.map_err(|error| self.fault(Doing::MakeFolder, &error))?)
            }
            Err(error) => return Err(self.fault(Doing::MakeFolder, &error)),
        };
        // Also for an existing folder: the attempt that created it may have ended before this.
        files::sync_folder(self.path()).map_err(|error| self.fault(Doing::Sync, &error))?;
        (self.path, self.handle) = (path, handle);
        Ok(self)
    }

    /// The target of a link, if that is a folder below the configured one.
    fn follow(&self, link: &str) -> Result<(PathBuf, Handle), Outcome> {
        let inside = fs::canonicalize(self.named(link)).and_then(|real| {
            let below =
                real.strip_prefix(&self.root.path).map_err(|_| io::Error::from(io::ErrorKind::PermissionDenied))?;
            let handle = below.iter().try_fold(self.root.handle.clone(), |folder, part| folder.enter(part))?;
            Ok((real, handle))
        });
        inside.map_err(|_| {
            let reason = format!(
                "destination `{}`: a sub-folder is a link that leads out of its folder or nowhere: \
                 replace it by a folder, or point `path` at where it leads",
                self.config.name
            );
            Outcome::transient(Code::word("link_leads_out"), reason)
        })
    }

    fn fault(&self, doing: Doing, error: &io::Error) -> Outcome {
        fault::outcome(self.config, doing, error)
    }
}

/// Whether anything has this name.
pub(super) fn is_there(path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if files::is_absent(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

/// A path below the configured folder, for the person who asks where a letter lies.
pub(super) fn shown(config: &FolderConfig, path: &str) -> String {
    config.path.join(path.split('/').collect::<PathBuf>()).display().to_string()
}

/// The configured folder with all links resolved, or what is wrong with it. It is the administrator's, so the message
/// names it.
pub(super) fn open_root(config: &FolderConfig) -> Result<PathBuf, String> {
    let (name, path) = (&config.name, config.path.display());
    match fs::metadata(&config.path) {
        Ok(found) if found.is_dir() => look_for_marker(config)?,
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
        Err(error) => return Err(fault::reason(config, Doing::Open, &error) + hidden(&config.path)),
    }
    resolve(&config.path).map_err(|error| fault::reason(config, Doing::Open, &error))
}

#[cfg(not(windows))]
fn resolve(path: &Path) -> io::Result<PathBuf> {
    fs::canonicalize(path)
}

/// Some network drives can never be resolved; a link below one is then refused, which is the safe side. A temporary
/// failure must not give the folder another name for one attempt, because the ledger identifies files by it. So a
/// failure is an error for a folder that was resolved before, and for errors that are temporary on a network.
#[cfg(windows)]
fn resolve(path: &Path) -> io::Result<PathBuf> {
    use windows_sys::Win32::Foundation as code;
    static RESOLVED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let passing = [
        code::ERROR_BAD_NETPATH,
        code::ERROR_BAD_NET_NAME,
        code::ERROR_NETNAME_DELETED,
        code::ERROR_UNEXP_NET_ERR,
        code::ERROR_REM_NOT_LIST,
        code::ERROR_DEV_NOT_EXIST,
        code::ERROR_VC_DISCONNECTED,
        code::ERROR_NO_NETWORK,
        code::ERROR_NETWORK_BUSY,
        code::ERROR_SEM_TIMEOUT,
        code::ERROR_NETWORK_UNREACHABLE,
        code::ERROR_HOST_UNREACHABLE,
        code::ERROR_CONNECTION_REFUSED,
        code::ERROR_CONNECTION_ABORTED,
        code::ERROR_LOGON_FAILURE,
        code::ERROR_NO_LOGON_SERVERS,
        code::ERROR_SHARING_VIOLATION,
        code::ERROR_NO_SYSTEM_RESOURCES,
    ];
    let found = fs::canonicalize(path);
    let mut resolved = RESOLVED.lock().unwrap_or_else(PoisonError::into_inner);
    match found {
        Ok(found) => {
            resolved.insert(path.to_owned());
            Ok(found)
        }
        Err(error)
            if resolved.contains(path)
                || error.raw_os_error().is_some_and(|raw| passing.contains(&raw.cast_unsigned())) =>
        {
            Err(error)
        }
        Err(_) => std::path::absolute(path),
    }
}

/// Looks for the configured marker, a file that only the mounted share has: the mount point of an unmounted share
/// exists, too, and is empty.
fn look_for_marker(config: &FolderConfig) -> Result<(), String> {
    let Some(marker) = &config.marker else { return Ok(()) };
    let (name, path, marker) = (&config.name, config.path.join(marker), marker.display());
    match fs::metadata(&path) {
        Ok(found) if found.is_file() => Ok(()),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(fault::reason(config, Doing::Open, &error)),
        _ => Err(format!(
            "the folder of destination `{name}` has no file `{marker}` (its `marker`; {}): is the share mounted? When it is, \
             create an empty file of that name there, once",
            path.display()
        )),
    }
}

/// The packages' systemd units set `ProtectHome=yes`, which looks like a missing folder or a missing right to the
/// service.
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
