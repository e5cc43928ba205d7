//! Files that count only once they are on disk: written under a temporary name, synced, and renamed; then the name is
//! synced as well.
//!
//! The callers decide the content, the place and the meaning of an error. Errors are passed on unchanged.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

#[cfg(unix)]
mod unix;
#[cfg(unix)]
use unix as system;
#[cfg(windows)]
mod windows;
#[cfg(windows)]
use windows as system;

/// Syncs the names in a folder. Network file systems without this operation answer that the call is invalid; their
/// server decides when names are durable. Windows has no such call; there the rename itself is written through.
///
/// # Errors
/// Any error of the file system.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    fault_point!("durable.sync_folder.before");
    io_fault!("durable.sync_folder")?;
    system::sync_folder(path)?;
    fault_point!("durable.sync_folder.after");
    Ok(())
}

/// Any open file.
#[cfg(unix)]
pub use std::os::fd::AsFd as Handle;
/// Any open file.
#[cfg(windows)]
pub use std::os::windows::io::AsHandle as Handle;
pub use system::{is_absent, is_open_elsewhere};
#[cfg(windows)]
pub use system::{patiently, wide_path};

/// The number of bytes that this process can still write on the disk of `path`.
///
/// # Errors
/// Any error of the file system.
pub fn free_space(path: &Path) -> io::Result<u64> {
    system::free_space(path)
}

/// Removes a file. Succeeds if there is none.
///
/// # Errors
/// Any error of the file system.
pub fn remove_if_there(path: &Path) -> io::Result<()> {
    fault_point!("durable.remove.before");
    match io_fault!("durable.remove").and_then(|()| std::fs::remove_file(path)) {
        Err(error) if !is_absent(&error) => return Err(error),
        _ => {}
    }
    fault_point!("durable.remove.after");
    Ok(())
}

/// Opens a file. If it is created, it gets these permissions (Unix; on Windows the folder decides).
///
/// # Errors
/// Any error of the file system.
pub fn open_with_mode(options: &mut OpenOptions, path: &Path, mode: u32) -> io::Result<File> {
    system::open_with_mode(options, path, mode)
}

/// Opens a file, or creates it for its owner alone, in a folder where others may have put a file of that name. Follows
/// no link. Root accepts only its own files and those of the folder's owner, and gives a new file to that owner. On
/// Windows the folder's access list decides who may create files.
///
/// # Errors
/// Any error of the file system; the file is a link; or it belongs to another user.
pub fn open_beside_others(options: &OpenOptions, path: &Path) -> io::Result<File> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let created = system::open_own(options.clone().create_new(true), path);
    match created {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let file = system::open_own(&mut options.clone(), path)?;
            system::refuse_foreign(&file, folder)?;
            Ok(file)
        }
        created => {
            let created = created?;
            hand_over(&created, folder);
            Ok(created)
        }
    }
}

/// Opens a regular file under its own name to read it, and nothing else: it might be a link, or endless.
///
/// # Errors
/// Any error of the file system, or it is no such file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let file = system::open_own(OpenOptions::new().read(true), path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

/// Lets new folders be open to their group from now on, if their mode says so. Otherwise the umask would remove the
/// group's rights. Restoring them would clear the inherited set-group-id bit: chmod(2) clears it for users outside the
/// group, and under systemd's `RestrictSUIDSGID=` nobody may set it. This affects the whole process, so it is called
/// once, at the start.
pub fn let_groups_in() {
    system::let_groups_in();
}

/// Gives a file that root creates to the owner of its folder: a person uses sudo, and the service, another user, must
/// be able to use the file. A failure shows later, when the file is used. On Windows the folder's access list is
/// inherited.
pub fn hand_over(file: &impl Handle, folder: &Path) {
    system::hand_over(file, folder);
}

/// Renames a synced file, replacing any existing file. The name is durable after [`sync_folder`].
///
/// # Errors
/// Any error of the file system. The existing file is unchanged then.
pub fn replace(from: &Path, to: &Path) -> io::Result<()> {
    fault_point!("durable.replace.before");
    io_fault!("durable.replace")?;
    system::replace(from, to)?;
    fault_point!("durable.replace.after");
    Ok(())
}

/// A file under its temporary name. If it is dropped before it got its own name, it is removed.
#[derive(Debug)]
pub struct Temporary {
    path: PathBuf,
    file: Option<File>,
    stays: bool,
}

impl Temporary {
    /// Creates the file. Removes the leftover of an interrupted attempt first. Never overwrites it: where files are
    /// renamed by hard link, the leftover may be the finished file's second name.
    ///
    /// # Errors
    /// Any error of the file system.
    pub fn create(path: PathBuf, mode: u32) -> io::Result<Self> {
        fault_point!("durable.create.before");
        io_fault!("durable.create")?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        let file = match system::open_with_mode(&mut options, &path, mode) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                remove_if_there(&path)?;
                system::open_with_mode(&mut options, &path, mode)?
            }
            opened => opened?,
        };
        fault_point!("durable.create.after");
        Ok(Self { path, file: Some(file), stays: false })
    }

    /// Its temporary name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The open file; `None` after [`Self::sync`].
    pub fn file(&self) -> Option<&File> {
        self.file.as_ref()
    }

    /// The open file as a writer. Writing after [`Self::sync`] is an error.
    pub fn writer(&mut self) -> &mut impl Write {
        self
    }

    /// Syncs and closes the file. After an error it must be discarded: the system may have dropped the data that it
    /// could not write, and a second sync would not report that.
    ///
    /// # Errors
    /// Any error of the file system.
    pub fn sync(&mut self) -> io::Result<()> {
        let Some(file) = self.file.take() else { return Ok(()) };
        fault_point!("durable.sync_file.before");
        io_fault!("durable.sync_file")?;
        file.sync_all()?;
        system::close(file)?;
        fault_point!("durable.sync_file.after");
        Ok(())
    }

    /// Sets whether the file keeps its temporary name when it is dropped, for callers that must know that it has no
    /// other.
    pub fn stay(&mut self, stays: bool) {
        self.stays = stays;
    }

    /// Renames the file, replacing any existing file. The name is durable after [`sync_folder`].
    ///
    /// # Errors
    /// Any error of the file system. The existing file is unchanged then.
    pub fn replace(&self, to: &Path) -> io::Result<()> {
        // On success there is nothing left for `drop` to remove.
        replace(&self.path, to)
    }
}

impl Write for Temporary {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        fault_point!("durable.write.before");
        io_fault!("durable.write")?;
        let written = self.file.as_mut().ok_or(io::ErrorKind::BrokenPipe)?.write(bytes)?;
        fault_point!("durable.write.after");
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // Windows removes no open file. If the removal fails, the next attempt with the same key replaces the file.
        drop(self.file.take());
        if !self.stays {
            let _ = remove_if_there(&self.path);
        }
    }
}

/// Creates one folder; true if it did not exist. The caller syncs its parent.
///
/// # Errors
/// Any error of the file system.
pub fn create_folder(path: &Path, mode: u32) -> io::Result<bool> {
    fault_point!("durable.create_folder.before");
    match io_fault!("durable.create_folder").and_then(|()| system::create_folder_with_mode(path, mode)) {
        Ok(()) => {
            fault_point!("durable.create_folder.after");
            Ok(true)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_takes_the_place_of_another_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        for content in ["first", "second"] {
            let mut temporary = Temporary::create(folder.path().join(".a.tmp"), 0o600).unwrap();
            temporary.writer().write_all(content.as_bytes()).unwrap();
            temporary.sync().unwrap();
            temporary.replace(&path).unwrap();
            drop(temporary);
            assert_eq!(std::fs::read_to_string(&path).unwrap(), content);
        }
        drop(Temporary::create(folder.path().join(".a.tmp"), 0o600).unwrap());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
    }
}
