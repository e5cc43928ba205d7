//! The operations as Windows has them.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::windows::ffi::OsStrExt;
use std::path::Path;

use windows_sys::Win32::Storage::FileSystem::{MOVEFILE_REPLACE_EXISTING, MOVEFILE_WRITE_THROUGH, MoveFileExW};

/// Permissions are inherited from the folder: `mode` is Unix's.
pub(super) fn open_with_mode(options: &mut OpenOptions, path: &Path, _mode: u32) -> io::Result<File> {
    options.open(path)
}

pub(super) fn create_folder_with_mode(path: &Path, _mode: u32) -> io::Result<()> {
    fs::create_dir(path)
}

/// Returns when the new name is on the disk.
pub(super) fn replace(from: &Path, to: &Path) -> io::Result<()> {
    let wide = |path: &Path| path.as_os_str().encode_wide().chain(Some(0)).collect::<Vec<u16>>();
    let (from, to) = (wide(from), wide(to));
    // SAFETY: both are strings that end in NUL and outlive the call. Without MOVEFILE_COPY_ALLOWED nothing is copied
    // piece by piece.
    let done = unsafe { MoveFileExW(from.as_ptr(), to.as_ptr(), MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH) };
    if done != 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Windows has no such call for a folder; the rename is written through.
///
/// # Errors
/// None here; on Unix those of the file system.
#[expect(clippy::unnecessary_wraps, reason = "the Unix side can fail")]
pub fn sync_folder(_path: &Path) -> io::Result<()> {
    Ok(())
}
