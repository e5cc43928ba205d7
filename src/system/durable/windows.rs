//! The operations on Windows.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::windows::ffi::OsStrExt;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::AsHandle;
use std::path::Path;
use std::time::Duration;

use windows_sys::Win32::Foundation::{
    ERROR_ACCESS_DENIED, ERROR_BAD_NET_NAME, ERROR_BAD_NETPATH, ERROR_INVALID_DRIVE, ERROR_SHARING_VIOLATION,
};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_OPEN_REPARSE_POINT, GetDiskFreeSpaceExW, MOVEFILE_REPLACE_EXISTING, MOVEFILE_WRITE_THROUGH, MoveFileExW,
};

/// From this length on, a path gets the prefix that lifts the old limit (MAX_PATH, 260 with the NUL; 248 for folders).
const LONG: usize = 240;

/// A path of any length, as the system's calls expect it.
///
/// # Errors
/// The path contains a NUL, or cannot be made absolute.
pub fn wide_path(path: &Path) -> io::Result<Vec<u16>> {
    let absolute = std::path::absolute(path)?;
    let mut wide: Vec<u16> = absolute.as_os_str().encode_wide().collect();
    if wide.contains(&0) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let starts = |start: &str| start.encode_utf16().zip(&wide).all(|(wanted, found)| wanted == *found);
    if wide.len() >= LONG && !starts(r"\\?\") && !starts(r"\\.\") {
        let (start, from) = if starts(r"\\") { (r"\\?\UNC\", 2) } else { (r"\\?\", 0) };
        wide = start.encode_utf16().chain(wide.into_iter().skip(from)).collect();
    }
    wide.push(0);
    Ok(wide)
}

/// Permissions are inherited from the folder; `mode` is for Unix.
pub(super) fn open_with_mode(options: &mut OpenOptions, path: &Path, _mode: u32) -> io::Result<File> {
    options.open(path)
}

/// Opens a link itself instead of its target, and refuses it.
pub(super) fn open_own(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let file = options.custom_flags(FILE_FLAG_OPEN_REPARSE_POINT).open(path)?;
    if file.metadata()?.file_type().is_symlink() {
        return Err(io::Error::other("it is a link, and links are not followed here"));
    }
    Ok(file)
}

#[expect(clippy::unnecessary_wraps, reason = "the Unix side can fail")]
pub(super) fn refuse_foreign(_file: &File, _folder: &Path) -> io::Result<()> {
    Ok(())
}

pub(super) fn create_folder_with_mode(path: &Path, _mode: u32) -> io::Result<()> {
    fs::create_dir(path)
}

/// Permissions are inherited from the folder.
pub(super) fn hand_over(_file: &impl AsHandle, _folder: &Path) {}

/// Whether the error says that the file does not exist. [`io::ErrorKind::NotFound`] also means that a share is away,
/// which says nothing about the files on it.
pub fn is_absent(error: &io::Error) -> bool {
    let of_the_share = [ERROR_BAD_NETPATH, ERROR_BAD_NET_NAME, ERROR_INVALID_DRIVE];
    error.kind() == io::ErrorKind::NotFound && !of_the_share.iter().any(|code| is(error, *code))
}

/// Whether another program's open file prevents the operation.
pub fn is_open_elsewhere(error: &io::Error) -> bool {
    is(error, ERROR_SHARING_VIOLATION)
}

fn is(error: &io::Error, code: u32) -> bool {
    error.raw_os_error().is_some_and(|found| found.cast_unsigned() == code)
}

/// The pauses between attempts to rename a file that another program, such as a virus scanner or a reader, has open.
const OPEN_ELSEWHERE_PAUSES: [Duration; 5] = [
    Duration::from_millis(5),
    Duration::from_millis(20),
    Duration::from_millis(80),
    Duration::from_millis(300),
    Duration::from_millis(1000),
];

/// Renames, and tries again while another program has the file open for a moment. A refused rename has changed nothing.
pub fn patiently(mut rename: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    let mut pauses = OPEN_ELSEWHERE_PAUSES.into_iter();
    loop {
        let Err(error) = rename() else { return Ok(()) };
        match pauses.next() {
            Some(pause) if is_open_elsewhere(&error) || is(&error, ERROR_ACCESS_DENIED) => std::thread::sleep(pause),
            _ => return Err(error),
        }
    }
}

/// Closing a file reports no error on Windows.
pub(super) fn close(file: File) -> io::Result<()> {
    drop(file);
    Ok(())
}

/// Returns once the new name is on disk.
pub(super) fn replace(from: &Path, to: &Path) -> io::Result<()> {
    let (from, to) = (wide_path(from)?, wide_path(to)?);
    patiently(|| {
        // SAFETY: both strings end in NUL and outlive the call. Without MOVEFILE_COPY_ALLOWED nothing is copied piece
        // by piece.
        let done =
            unsafe { MoveFileExW(from.as_ptr(), to.as_ptr(), MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH) };
        if done != 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    })
}

/// Windows has no such call for a folder. Renames are written through, and NTFS keeps its journal in order: earlier
/// operations on the same file system (such as a created folder) reach the disk with them.
#[expect(clippy::unnecessary_wraps, reason = "the Unix side can fail")]
pub(super) fn sync_folder(_path: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_path_is_written_so_that_the_old_limit_does_not_hold() {
        let long = "x".repeat(300);
        for (path, wanted) in [
            (r"C:\a\b".to_owned(), r"C:\a\b".to_owned()),
            (format!(r"C:\{long}"), format!(r"\\?\C:\{long}")),
            (format!(r"\\server\share\{long}"), format!(r"\\?\UNC\server\share\{long}")),
            (format!(r"\\?\C:\{long}"), format!(r"\\?\C:\{long}")),
        ] {
            let wide = wide_path(Path::new(&path)).unwrap();
            assert_eq!(String::from_utf16(&wide).unwrap(), format!("{wanted}\0"));
        }
        assert!(wide_path(Path::new("a\0b")).is_err());
    }

    #[test]
    fn a_file_deep_down_takes_the_place_of_another() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a".repeat(120)).join("b".repeat(120));
        fs::create_dir_all(&deep).unwrap();
        for content in ["first", "second"] {
            fs::write(deep.join("new"), content).unwrap();
            replace(&deep.join("new"), &deep.join("file")).unwrap();
            assert_eq!(fs::read_to_string(deep.join("file")).unwrap(), content);
        }
    }

    /// Stands for a virus scanner, a backup, or a reader that opens the file exclusively.
    #[test]
    fn a_file_that_another_program_has_open_is_replaced_as_soon_as_it_is_closed() {
        let folder = tempfile::tempdir().unwrap();
        let (new, file) = (folder.path().join("new"), folder.path().join("file"));
        fs::write(&new, "new").unwrap();
        fs::write(&file, "old").unwrap();
        let held = OpenOptions::new().read(true).share_mode(0).open(&file).unwrap();
        let released = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            let replacing = scope.spawn(|| {
                let replaced = replace(&new, &file);
                (replaced, released.load(std::sync::atomic::Ordering::SeqCst))
            });
            // Long enough for some attempts, and shorter than all of them.
            std::thread::sleep(Duration::from_millis(60));
            released.store(true, std::sync::atomic::Ordering::SeqCst);
            drop(held);
            let (replaced, after) = replacing.join().unwrap();
            replaced.unwrap();
            assert!(after, "it was not replaced before it was closed");
        });
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert!(!new.exists());
    }

    #[test]
    fn of_a_share_that_went_away_nothing_is_absent() {
        for (code, absent) in
            [(2, true), (3, true), (ERROR_BAD_NETPATH, false), (ERROR_BAD_NET_NAME, false), (5, false)]
        {
            let error = io::Error::from_raw_os_error(code.cast_signed());
            assert_eq!(is_absent(&error), absent, "{error:?}");
            assert_eq!(error.kind() == io::ErrorKind::NotFound, code != 5, "the system names it otherwise: {error:?}");
        }
        assert!(is_absent(&io::ErrorKind::NotFound.into()));
    }

    #[test]
    fn a_file_that_stays_open_elsewhere_is_an_error_and_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let (new, file) = (folder.path().join("new"), folder.path().join("file"));
        fs::write(&new, "new").unwrap();
        fs::write(&file, "old").unwrap();
        let held = OpenOptions::new().read(true).share_mode(0).open(&file).unwrap();
        assert!(replace(&new, &file).is_err());
        drop(held);
        assert_eq!(fs::read_to_string(&file).unwrap(), "old");
        assert_eq!(fs::read_to_string(&new).unwrap(), "new");
    }
}

pub(super) fn free_space(path: &Path) -> io::Result<u64> {
    let path = wide_path(path)?;
    let mut free = 0;
    // SAFETY: the path ends in NUL, and the number outlives the call. The other results are not requested.
    match unsafe { GetDiskFreeSpaceExW(path.as_ptr(), &mut free, std::ptr::null_mut(), std::ptr::null_mut()) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(free),
    }
}

/// New folders inherit the access list of their parent.
pub(super) fn let_groups_in() {}
