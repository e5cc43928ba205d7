//! Files that are on the disk before they count: written under a temporary name, forced to the disk, then given their
//! own name, which is forced to the disk as well.
//!
//! What is written, where, and what an error means is said by whoever uses this; errors are passed on as the system
//! gave them.

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

/// Forces the names in a folder to the disk. Network file systems that know no such thing answer that the call is
/// invalid; their server decides when names are durable. Windows has no such call; there the rename is written through.
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

/// An open file of whatever kind.
#[cfg(unix)]
pub use std::os::fd::AsFd as Handle;
/// An open file of whatever kind.
#[cfg(windows)]
pub use std::os::windows::io::AsHandle as Handle;
pub use system::{is_absent, is_open_elsewhere};
#[cfg(windows)]
pub use system::{patiently, wide_path};

/// Bytes that this process can still write on the disk that holds `path`.
///
/// # Errors
/// Any error of the file system.
pub fn free_space(path: &Path) -> io::Result<u64> {
    system::free_space(path)
}

/// Removes a file; that there is none is no error.
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

/// Opens a file that is created with these permissions (Unix; on Windows the folder decides).
///
/// # Errors
/// Any error of the file system.
pub fn open_with_mode(options: &mut OpenOptions, path: &Path, mode: u32) -> io::Result<File> {
    system::open_with_mode(options, path, mode)
}

/// Opens a file, or creates it for its owner alone, in a folder in which somebody else may have put one of that name:
/// no link is followed, and root takes only what belongs to itself or to the owner of the folder, to whom a new one is
/// handed over. On Windows the folder's access list decides who may put what there.
///
/// # Errors
/// Any error of the file system; that it is a link; that it belongs to another user.
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

/// From now on new folders may be open to their group, where their mode says so: without this the umask would take the
/// group's rights, and giving them back would cost the set-group-id bit that a folder hands down (chmod(2): it is
/// cleared for who is not in the group; under `RestrictSUIDSGID=` of systemd nobody may set it). For the whole process,
/// so once, at its start.
pub fn let_groups_in() {
    system::let_groups_in();
}

/// What root creates in a folder belongs to the folder's owner: a person works with sudo, and the service, which is
/// another user, has to go on with it. Nothing when it cannot be done; whoever uses the file then says so. On Windows
/// the folder's access list is handed down.
pub fn hand_over(file: &impl Handle, folder: &Path) {
    system::hand_over(file, folder);
}

/// Gives a file that is on the disk another name, in the place of a file that may stand there. The name is durable
/// after [`sync_folder`].
///
/// # Errors
/// Any error of the file system; what stood there stands there still.
pub fn replace(from: &Path, to: &Path) -> io::Result<()> {
    fault_point!("durable.replace.before");
    io_fault!("durable.replace")?;
    system::replace(from, to)?;
    fault_point!("durable.replace.after");
    Ok(())
}

/// A file under its temporary name. Dropped before it got its own name, it is removed.
#[derive(Debug)]
pub struct Temporary {
    path: PathBuf,
    file: Option<File>,
    stays: bool,
}

impl Temporary {
    /// Creates it; what an attempt that was cut off left under the name is removed first. It is never opened and
    /// written over: where renaming is done by hard link the leftover may be the finished file's second name.
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

    /// The open file; none after [`Self::sync`].
    pub fn file(&self) -> Option<&File> {
        self.file.as_ref()
    }

    /// The open file; after [`Self::sync`] writing is an error.
    pub fn writer(&mut self) -> &mut impl Write {
        self
    }

    /// Forces it to the disk and closes it. After an error it must be thrown away: what the system could not write it
    /// may have dropped, and a second try would not say so again.
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

    /// Whether it stays under its temporary name when it is dropped: somebody may have to know that it has no other
    /// one.
    pub fn stay(&mut self, stays: bool) {
        self.stays = stays;
    }

    /// Gives it its own name, in the place of a file that may stand there. The name is durable after [`sync_folder`].
    ///
    /// # Errors
    /// Any error of the file system; what stood there stands there still.
    pub fn replace(&self, to: &Path) -> io::Result<()> {
        // When this succeeds there is nothing left for `drop` to remove.
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
        // Windows removes no open file. What cannot be removed the next attempt under the same key replaces.
        drop(self.file.take());
        if !self.stays {
            let _ = remove_if_there(&self.path);
        }
    }
}

/// Creates one folder; true when it was not there. The caller forces its parent to the disk.
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
