//! The operations as Unix has them.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

pub(super) fn open_with_mode(options: &mut OpenOptions, path: &Path, mode: u32) -> io::Result<File> {
    // Created for the owner alone and opened up afterwards, so that the umask takes nothing away from `mode`.
    let file = options.mode(mode & 0o600).custom_flags(OFlags::NOFOLLOW.bits().cast_signed()).open(path)?;
    apply(&file, mode);
    Ok(file)
}

pub(super) fn create_folder_with_mode(path: &Path, mode: u32) -> io::Result<()> {
    DirBuilder::new().mode(mode).create(path)?;
    if let Ok(folder) = File::open(path) {
        apply(&folder, mode);
    }
    Ok(())
}

/// Keeps the set-group-id bit that a folder hands down. A file system without Unix permissions (SMB, FAT) refuses or
/// ignores this, and the administrator's mount options decide there: no reason not to deliver.
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
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    if let Ok(owner) = fs::metadata(folder)
        && owner.uid() != 0
    {
        let _ = fchown(file, Some(owner.uid()), Some(owner.gid()));
    }
}

pub(super) fn replace(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
}

pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    let path = if path.as_os_str() == OsStr::new("") { Path::new(".") } else { path };
    match rustix::fs::fsync(File::open(path)?) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Ok(()),
        result => Ok(result?),
    }
}
