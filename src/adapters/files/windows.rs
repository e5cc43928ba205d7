//! The operations as Windows has them.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;

use windows_sys::Win32::Foundation::{ERROR_ALREADY_EXISTS, ERROR_FILE_EXISTS};
use windows_sys::Win32::Storage::FileSystem::{MOVEFILE_WRITE_THROUGH, MoveFileExW};

use crate::durable::wide_path;

pub(super) fn open_to_read(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// FlushFileBuffers wants a handle that may write.
pub(super) fn open_to_sync(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).open(path)
}

/// Renames a file unless something stands at `to` (`AlreadyExists`). Returns when the new name is on the disk.
pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    let (from, wide_to) = (wide_path(from)?, wide_path(to)?);
    // SAFETY: both are strings that end in NUL and outlive the call. Without MOVEFILE_REPLACE_EXISTING nothing is
    // replaced, and without MOVEFILE_COPY_ALLOWED nothing is copied piece by piece.
    let done = unsafe { MoveFileExW(from.as_ptr(), wide_to.as_ptr(), MOVEFILE_WRITE_THROUGH) };
    if done != 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    let code = error.raw_os_error().map(i32::cast_unsigned);
    let taken = matches!(code, Some(ERROR_ALREADY_EXISTS | ERROR_FILE_EXISTS))
        // Some servers answer "access denied" when a folder stands there.
        || (error.kind() == io::ErrorKind::PermissionDenied && fs::symlink_metadata(to).is_ok());
    Err(if taken { io::ErrorKind::AlreadyExists.into() } else { error })
}
