//! The operations on Unix.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

mod shared;

pub(super) fn open_with_mode(options: &mut OpenOptions, path: &Path, mode: u32) -> io::Result<File> {
    // Created for the owner alone and opened up afterwards, so that the umask removes nothing from `mode`.
    let file = options.mode(mode & 0o600).custom_flags(OFlags::NOFOLLOW.bits().cast_signed()).open(path)?;
    apply(&file, mode);
    Ok(file)
}

/// Does not block on a named pipe either.
pub(super) fn open_own(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let opened = options.mode(0o600).custom_flags(flags.bits().cast_signed()).open(path);
    opened.map_err(|error| match Errno::from_io_error(&error) {
        Some(Errno::LOOP) => io::Error::other("it is a link, and links are not followed here"),
        _ => error,
    })
}

pub(super) fn refuse_foreign(file: &File, folder: &Path) -> io::Result<()> {
    let owner = file.metadata()?.uid();
    if owner == 0 || !rustix::process::geteuid().is_root() || owner == fs::metadata(named(folder))?.uid() {
        return Ok(());
    }
    Err(io::Error::other("it belongs to another user: look at what it is, and remove it"))
}

/// An empty path means the working directory.
fn named(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

pub(super) fn create_folder_with_mode(path: &Path, mode: u32) -> io::Result<()> {
    DirBuilder::new().mode(mode).create(path)?;
    if let Ok(folder) = File::open(path) {
        apply(&folder, mode);
    }
    Ok(())
}

/// Keeps an inherited set-group-id bit. A file system without Unix permissions (SMB, FAT) refuses or ignores the
/// change: there the mount options decide, so that is no error.
fn apply(file: &File, mode: u32) {
    if let Ok(found) = file.metadata() {
        let found = found.permissions().mode() & 0o7777;
        let wanted = mode | (found & 0o7000);
        if found != wanted {
            let _ = file.set_permissions(Permissions::from_mode(wanted));
        }
    }
}

pub(super) fn hand_over(file: &impl AsFd, folder: &Path) {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    if let Ok(owner) = fs::metadata(named(folder))
        && owner.uid() != 0
    {
        let _ = fchown(file, Some(owner.uid()), Some(owner.gid()));
    }
}

/// Whether the error says that the file does not exist.
pub fn is_absent(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}

/// Whether another program's open file prevents the operation. Unix has no such case.
pub fn is_open_elsewhere(_: &io::Error) -> bool {
    false
}

/// Some file systems (a mount of rclone, AFS) send a file only when it is closed, and report errors only then.
pub(super) fn close(file: File) -> io::Result<()> {
    Ok(nix::unistd::close(file)?)
}

pub(super) fn replace(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
}

pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = File::open(named(path))?;
    let found = folder.metadata()?;
    Ok(shared::once_for_all((found.dev(), found.ino()), || match rustix::fs::fsync(&folder) {
        // The folder is open, so these mean "not supported", also on Windows shares with unusual error codes.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP | Errno::NOENT | Errno::NOTTY) => Ok(()),
        result => result,
    })?)
}

pub(super) fn let_groups_in() {
    let old = rustix::process::umask(rustix::fs::Mode::empty());
    rustix::process::umask(old - rustix::fs::Mode::RWXG);
}

pub(super) fn free_space(path: &Path) -> io::Result<u64> {
    let found = rustix::fs::statvfs(path)?;
    // /proc and other file systems without storage have no size, nor do some that do not report it.
    if found.f_blocks == 0 {
        return Err(io::ErrorKind::Unsupported.into());
    }
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}
