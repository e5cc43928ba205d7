//! The operations as Unix has them.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
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
    match io_fault!("files.hard_link").and_then(|()| fs::hard_link(from, to)) {
        Ok(()) => {
            fault_point!("files.hard_link.after");
            // That the first name could not be removed makes the second no less complete.
            return fs::remove_file(from).or(Ok(()));
        }
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
