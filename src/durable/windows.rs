//! The operations as Windows has them.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::windows::ffi::OsStrExt;
use std::os::windows::io::AsHandle;
use std::path::Path;
use std::time::Duration;

use windows_sys::Win32::Foundation::{ERROR_ACCESS_DENIED, ERROR_SHARING_VIOLATION};
use windows_sys::Win32::Storage::FileSystem::{MOVEFILE_REPLACE_EXISTING, MOVEFILE_WRITE_THROUGH, MoveFileExW};

/// Permissions are inherited from the folder: `mode` is Unix's.
pub(super) fn open_with_mode(options: &mut OpenOptions, path: &Path, _mode: u32) -> io::Result<File> {
    options.open(path)
}

pub(super) fn create_folder_with_mode(path: &Path, _mode: u32) -> io::Result<()> {
    fs::create_dir(path)
}

/// Permissions are inherited from the folder.
pub(super) fn hand_over(_file: &impl AsHandle, _folder: &Path) {}

/// Pauses between the tries to put a file in the place of one that somebody has open: a virus scanner, or a reader.
const OPEN_ELSEWHERE_PAUSES: [Duration; 5] = [
    Duration::from_millis(5),
    Duration::from_millis(20),
    Duration::from_millis(80),
    Duration::from_millis(300),
    Duration::from_millis(1000),
];

/// Returns when the new name is on the disk.
pub(super) fn replace(from: &Path, to: &Path) -> io::Result<()> {
    let wide = |path: &Path| path.as_os_str().encode_wide().chain(Some(0)).collect::<Vec<u16>>();
    let (from, to) = (wide(from), wide(to));
    let mut pauses = OPEN_ELSEWHERE_PAUSES.into_iter();
    loop {
        // SAFETY: both are strings that end in NUL and outlive the call. Without MOVEFILE_COPY_ALLOWED nothing is copied
        // piece by piece.
        let done =
            unsafe { MoveFileExW(from.as_ptr(), to.as_ptr(), MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH) };
        if done != 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        let open_elsewhere = [ERROR_ACCESS_DENIED, ERROR_SHARING_VIOLATION]
            .iter()
            .any(|code| error.raw_os_error().is_some_and(|found| i64::from(found) == i64::from(*code)));
        match pauses.next() {
            Some(pause) if open_elsewhere => std::thread::sleep(pause),
            _ => return Err(error),
        }
    }
}

#[expect(clippy::unnecessary_wraps, reason = "the Unix side can fail")]
pub(super) fn sync_folder(_path: &Path) -> io::Result<()> {
    Ok(())
}
