//! The operations as Unix has them.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::adapters::blocking::Claim;

/// Opens a regular file without following a link and without waiting for the writer of a pipe.
pub(super) fn open_to_read(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(flags(OFlags::NOFOLLOW | OFlags::NONBLOCK)).open(path)
}

/// fsync needs no permission to write.
pub(super) fn open_to_sync(path: &Path) -> io::Result<File> {
    open_to_read(path)
}

fn flags(flags: OFlags) -> i32 {
    flags.bits().cast_signed()
}

pub(super) fn open_with_mode(options: &mut OpenOptions, path: &Path, mode: u32) -> io::Result<File> {
    // Created for the owner alone and opened up afterwards, so that the umask takes nothing away from `mode`.
    let file = options.mode(mode & 0o600).custom_flags(flags(OFlags::NOFOLLOW)).open(path)?;
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

/// Renames a file unless something stands at `to` (`AlreadyExists`).
///
/// In this order, as far as the file system can: a rename that the system refuses when the name is taken; a hard link,
/// which never replaces, and removal of the first name; a look whether the name is free and an ordinary rename. Only
/// the last (FAT, some network shares) leaves a moment in which a file that another program creates under that very
/// name would be replaced.
pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match rename_exclusively(from, to) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP | Errno::PERM) => {}
        result => return Ok(result?),
    }
    match fs::hard_link(from, to) {
        // That the first name could not be removed makes the second no less complete.
        Ok(()) => return fs::remove_file(from).or(Ok(())),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
        Err(_) => {}
    }
    // Two deliveries of this process that want the name at once must not both find it free. Letter case is ignored, as
    // the file systems that get here ignore it.
    let Some(_claim) = Claim::on(format!("rename\0{}", to.to_string_lossy().to_lowercase())) else {
        return Err(io::ErrorKind::AlreadyExists.into());
    };
    match fs::symlink_metadata(to) {
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => fs::rename(from, to),
        Err(error) => Err(error),
    }
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn rename_exclusively(from: &Path, to: &Path) -> rustix::io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn rename_exclusively(_: &Path, _: &Path) -> rustix::io::Result<()> {
    Err(Errno::NOSYS)
}

/// Forces the names in a folder to the disk. Network file systems that know no such thing answer that the call is
/// invalid; their server decides when names are durable.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    let path = if path.as_os_str() == OsStr::new("") { Path::new(".") } else { path };
    match rustix::fs::fsync(File::open(path)?) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Ok(()),
        result => Ok(result?),
    }
}
