//! The file operations on Unix.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use rustix::fs::{Access, AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;

use crate::destinations::blocking::Claim;
use crate::system::durable::is_absent;

/// Opens a regular file without following a link and without waiting for the writer of a pipe.
pub(super) fn open_to_read(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(flags(OFlags::NOFOLLOW | OFlags::NONBLOCK)).open(path)
}

/// fsync needs no permission to write.
pub(super) fn open_to_sync(path: &Path) -> io::Result<File> {
    open_to_read(path)
}

/// Whether a file has this name and no other. A file with two names got the second by a hard link, and the process
/// ended before it removed the first; the second may have been renamed since.
pub(crate) fn is_only_name(path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(found) => Ok(found.nlink() <= 1),
        Err(error) if is_absent(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Distinguishes a folder from another one at its path. It stays the same after a restart of the machine or a new mount
/// of a share, so the device is no part of it. A mount point and the mounted folder differ. The first folders of two
/// file systems may have one inode number, but they were not made at the same moment.
pub(crate) fn identity(path: &Path) -> Option<String> {
    let found = fs::metadata(path).ok()?;
    let made = found.created().ok().filter(|_| keeps_creation(path));
    let made = made.and_then(|made| made.duration_since(SystemTime::UNIX_EPOCH).ok());
    Some(format!("{} {}", found.ino(), made.map(|made| made.as_nanos().to_string()).unwrap_or_default()))
}

/// Whether the file system keeps the moment at which a folder was made. A server of files may tell the oldest of its
/// other times instead (Samba without extended attributes does), which changes with each file that comes.
#[cfg(target_os = "linux")]
fn keeps_creation(path: &Path) -> bool {
    // The magic numbers of ext4, XFS, Btrfs and tmpfs (statfs(2)).
    const KEEP: [i64; 4] = [0xEF53, 0x5846_5342, 0x9123_683E, 0x0102_1994];
    rustix::fs::statfs(path).is_ok_and(|system| KEEP.contains(&system.f_type))
}

#[cfg(not(target_os = "linux"))]
fn keeps_creation(_: &Path) -> bool {
    false
}

/// Whether something is mounted at this path. Without the mount, the folder exists and is empty.
pub(crate) fn is_mount_point(path: &Path) -> bool {
    let device = |path: &Path| fs::metadata(path).map(|found| found.dev());
    let above = fs::canonicalize(path).ok().and_then(|path| path.parent().map(|above| device(above).ok()));
    above.flatten().zip(device(path).ok()).is_some_and(|(above, here)| above != here)
}

/// Checks whether this process may create files in the folder. Only a certain refusal counts. If the system cannot say,
/// a letter shows it.
pub(crate) fn can_be_written(folder: &Path) -> io::Result<()> {
    match rustix::fs::accessat(CWD, folder, Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS) {
        Err(refused @ (Errno::ACCESS | Errno::ROFS)) => Err(refused.into()),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn flags(flags: OFlags) -> i32 {
    flags.bits().cast_signed()
}

/// A folder that stays the same whatever happens to its name. All work through [`Self::path`] happens in it.
///
/// Linux offers a path of its own to an open folder, so that every operation on paths works relative to it. On other
/// systems, and if `/proc` is not mounted, it is the plain path.
#[derive(Clone)]
pub(crate) struct Handle {
    path: PathBuf,
    /// Keeps the path valid.
    open: Option<Arc<OwnedFd>>,
    /// The folder does not exist, so nothing below it does.
    missing: bool,
}

impl Handle {
    /// Opens a folder by its path; links are followed.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self::of(rustix::fs::open(path, FOLDER, Mode::empty())?, path.to_path_buf()))
    }

    /// Opens the sub-folder of this name; a link is refused.
    pub(crate) fn enter(&self, name: impl AsRef<Path>) -> io::Result<Self> {
        if self.missing {
            return Err(io::ErrorKind::NotFound.into());
        }
        let path = self.path.join(&name);
        let open = match &self.open {
            Some(open) => rustix::fs::openat(open, name.as_ref(), FOLDER | OFlags::NOFOLLOW, Mode::empty()),
            None => rustix::fs::open(&path, FOLDER | OFlags::NOFOLLOW, Mode::empty()),
        };
        Ok(Self::of(open?, path))
    }

    /// A sub-folder that does not exist.
    pub(crate) fn missing(&self, name: &str) -> Self {
        Self { path: self.path.join(name), open: self.open.clone(), missing: true }
    }

    fn of(open: OwnedFd, plain: PathBuf) -> Self {
        let path = PathBuf::from(format!("/proc/self/fd/{}", open.as_raw_fd()));
        if cfg!(target_os = "linux") && fs::metadata(&path).is_ok_and(|found| found.is_dir()) {
            Self { path, open: Some(Arc::new(open)), missing: false }
        } else {
            Self { path: plain, open: None, missing: false }
        }
    }

    /// The path that reaches the folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Opens a folder without reading it.
#[cfg(any(target_os = "linux", target_os = "android"))]
const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Renames a file unless something has the name `to` (`AlreadyExists`).
///
/// It uses the first of these that the file system supports: a rename that fails if the name is taken; a hard link,
/// which never replaces, and removal of the first name; a check that the name is free and an ordinary rename. Only the
/// last (FAT, some network shares) has a moment in which a file that another program creates under the same name would
/// be replaced.
pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match rename_exclusively(from, to) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP | Errno::PERM) => {}
        result => return Ok(result?),
    }
    match io_fault!("files.hard_link").and_then(|()| fs::hard_link(from, to)) {
        Ok(()) => {
            fault_point!("files.hard_link.after");
            // If the first name cannot be removed, the second is still complete.
            return fs::remove_file(from).or(Ok(()));
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
        Err(_) => {}
    }
    // Two deliveries of this process that want the name at once must not both find it free. Letter case is ignored,
    // because the file systems that need this step ignore it.
    let plain = to.parent().and_then(|folder| Some(fs::canonicalize(folder).ok()?.join(to.file_name()?)));
    let claimed = plain.as_deref().unwrap_or(to).to_string_lossy().to_lowercase();
    let Some(_claim) = Claim::on(format!("rename\0{claimed}")) else {
        return Err(io::ErrorKind::AlreadyExists.into());
    };
    match fs::symlink_metadata(to) {
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fault_point!("files.rename.before");
            fs::rename(from, to)
        }
        Err(error) => Err(error),
    }
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn rename_exclusively(from: &Path, to: &Path) -> rustix::io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    io_fault!("files.rename_exclusively").map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn rename_exclusively(_: &Path, _: &Path) -> rustix::io::Result<()> {
    Err(Errno::NOSYS)
}
