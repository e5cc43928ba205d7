//! The file operations on Windows.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt as _;
use std::os::windows::io::AsRawHandle as _;
use std::path::{Path, PathBuf};

use windows_sys::Win32::Foundation::{ERROR_ALREADY_EXISTS, ERROR_FILE_EXISTS};
use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, FILE_ADD_FILE, FILE_FLAG_BACKUP_SEMANTICS, GetFileInformationByHandle,
    MOVEFILE_WRITE_THROUGH, MoveFileExW,
};

use crate::system::durable::{is_absent, patiently, wide_path};

/// A folder, by its path. A link or junction is refused when the folder is entered; one that replaces it later is not
/// noticed.
#[derive(Clone)]
pub(crate) struct Handle {
    path: PathBuf,
}

impl Handle {
    /// Opens a folder by its path; links are followed.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { path: path.to_path_buf() })
    }

    /// Opens the sub-folder of this name; a link is refused.
    pub(crate) fn enter(&self, name: impl AsRef<Path>) -> io::Result<Self> {
        let path = self.path.join(name);
        if fs::symlink_metadata(&path)?.is_dir() { Ok(Self { path }) } else { Err(io::ErrorKind::NotADirectory.into()) }
    }

    /// A sub-folder that does not exist.
    pub(crate) fn missing(&self, name: &str) -> Self {
        Self { path: self.path.join(name) }
    }

    /// The path that reaches the folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Whether a file has this name: on Windows no file gets its name by a hard link.
pub(crate) fn is_only_name(path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if is_absent(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Tells a folder from another at its path: the volume's serial number, and the folder's index there.
pub(crate) fn identity(path: &Path) -> Option<String> {
    let open = OpenOptions::new().access_mode(0).custom_flags(FILE_FLAG_BACKUP_SEMANTICS).open(path).ok()?;
    let mut found = BY_HANDLE_FILE_INFORMATION::default();
    // SAFETY: the handle is open, and the structure outlives the call.
    let is_known = unsafe { GetFileInformationByHandle(open.as_raw_handle(), &mut found) } != 0;
    let (high, low) = (found.nFileIndexHigh, found.nFileIndexLow);
    is_known.then(|| format!("{:x} {high:x}{low:08x}", found.dwVolumeSerialNumber))
}

/// Whether a volume is mounted at this path: without it the folder is still there. A drive or a share that is away has
/// no folder at all.
pub(crate) fn is_mount_point(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink())
}

/// Whether this process may make files in the folder: a handle with that right is refused to whoever lacks it. Only
/// what surely refuses it counts: what the system cannot say, a letter finds out.
pub(crate) fn can_be_written(folder: &Path) -> io::Result<()> {
    let opened = OpenOptions::new().access_mode(FILE_ADD_FILE).custom_flags(FILE_FLAG_BACKUP_SEMANTICS).open(folder);
    match opened {
        Err(error) if matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem) => {
            Err(error)
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

pub(super) fn open_to_read(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// FlushFileBuffers needs a writable handle, which nobody gets for a read-only file: so the attribute is removed for
/// the moment of opening.
pub(super) fn open_to_sync(path: &Path) -> io::Result<File> {
    let open = || OpenOptions::new().write(true).open(path);
    let refused = match open() {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => error,
        opened => return opened,
    };
    let as_it_was = fs::metadata(path)?.permissions();
    if !as_it_was.readonly() {
        return Err(refused);
    }
    let mut writable = as_it_was.clone();
    writable.set_readonly(false);
    fs::set_permissions(path, writable)?;
    let opened = open();
    fs::set_permissions(path, as_it_was)?;
    opened
}

/// Renames a file unless something has the name `to` (`AlreadyExists`). Returns when the new name is on the disk.
pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    let (from, wide_to) = (wide_path(from)?, wide_path(to)?);
    patiently(|| {
        // SAFETY: both are strings that end in NUL and outlive the call. Without MOVEFILE_REPLACE_EXISTING nothing is
        // replaced, and without MOVEFILE_COPY_ALLOWED nothing is copied piece by piece.
        let done = unsafe { MoveFileExW(from.as_ptr(), wide_to.as_ptr(), MOVEFILE_WRITE_THROUGH) };
        if done != 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        let code = error.raw_os_error().map(i32::cast_unsigned);
        let taken = matches!(code, Some(ERROR_ALREADY_EXISTS | ERROR_FILE_EXISTS))
            // Some servers answer "access denied" if a folder has the name.
            || (error.kind() == io::ErrorKind::PermissionDenied && fs::symlink_metadata(to).is_ok());
        Err(if taken { io::ErrorKind::AlreadyExists.into() } else { error })
    })
}

#[cfg(test)]
mod tests {
    use std::os::windows::fs::OpenOptionsExt as _;
    use std::time::Duration;

    use windows_sys::Win32::Storage::FileSystem::{FILE_SHARE_READ, FILE_SHARE_WRITE};

    use super::*;
    use crate::system::durable::is_open_elsewhere;

    /// A virus scanner opens each new file like this for a moment.
    #[test]
    fn a_file_that_another_program_has_open_gets_its_name_as_soon_as_it_is_closed() {
        let folder = tempfile::tempdir().unwrap();
        let (new, name) = (folder.path().join("new"), folder.path().join("name"));
        fs::write(&new, "letter").unwrap();
        let held = OpenOptions::new().read(true).share_mode(FILE_SHARE_READ | FILE_SHARE_WRITE).open(&new).unwrap();
        assert!(fs::rename(&new, folder.path().join("other")).is_err(), "the test proves nothing");
        std::thread::scope(|scope| {
            let renaming = scope.spawn(|| rename_new(&new, &name));
            // Long enough for some tries, and shorter than all of them.
            std::thread::sleep(Duration::from_millis(60));
            drop(held);
            renaming.join().unwrap().unwrap();
        });
        assert_eq!(fs::read_to_string(&name).unwrap(), "letter");
    }

    #[test]
    fn a_reader_that_keeps_writers_out_is_known_as_that() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("letter.pdf");
        fs::write(&path, "letter").unwrap();
        let held = OpenOptions::new().read(true).share_mode(FILE_SHARE_READ).open(&path).unwrap();
        assert!(is_open_elsewhere(&super::super::sync_existing(&path).unwrap_err()));
        drop(held);
        super::super::sync_existing(&path).unwrap();
    }

    #[test]
    #[ignore = "wine asks the mode of Unix, which lets root write to a read-only file; on Windows itself"]
    fn a_read_only_file_can_be_forced_to_the_disk_and_stays_read_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("letter.pdf");
        fs::write(&path, "letter").unwrap();
        let mut permissions = fs::metadata(&path).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&path, permissions.clone()).unwrap();
        assert!(OpenOptions::new().write(true).open(&path).is_err(), "the test proves nothing");
        super::super::sync_existing(&path).unwrap();
        assert!(fs::metadata(&path).unwrap().permissions().readonly());
        assert_eq!(fs::read_to_string(&path).unwrap(), "letter");
        permissions.set_readonly(false);
        fs::set_permissions(&path, permissions).unwrap();
    }
}
