//! The few file operations on which the folder adapter's promises rest, besides those of [`crate::system::durable`]: a
//! rename that never replaces, and a look at what has a name. Errors are passed on unchanged; `fault` says what they
//! mean.

use std::fs;
use std::io::{self, Read, Seek as _, Write};
use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::domain::document::{Spooled, hex};
pub(super) use crate::system::durable::{
    Temporary, create_folder, is_absent, is_open_elsewhere, remove_if_there, sync_folder,
};

#[cfg(unix)]
mod unix;
#[cfg(unix)]
use unix as system;
#[cfg(windows)]
mod windows;
#[cfg(windows)]
use windows as system;

pub(super) use system::{Handle, can_be_written, identity, is_mount_point, is_only_name, rename_new};

/// Bytes read at a time: the largest buffer that the allocator does not request from the system each time.
pub(super) const PIECE: usize = 64 * 1024;

/// The length and the SHA-256 (64 lower-case hexadecimal digits) of some content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Digest {
    pub(crate) size: u64,
    pub(crate) sha256: String,
}

impl Digest {
    /// The digest of content in memory.
    pub(crate) fn of(content: &[u8]) -> Self {
        Self { size: content.len() as u64, sha256: hex(&Sha256::digest(content)) }
    }

    /// The digest that a spooled PDF must have.
    pub(crate) fn of_pdf(pdf: &Spooled) -> Self {
        Self { size: pdf.size, sha256: pdf.sha256.to_ascii_lowercase() }
    }

    /// Compares the digest that was found with this one; `None` means that nothing was found.
    pub(super) fn compared(&self, found: Option<&Digest>) -> Existing {
        match found {
            None => Existing::Absent,
            Some(found) if found == self => Existing::Same,
            Some(_) => Existing::Different,
        }
    }
}

/// A digest that grows.
#[derive(Default)]
pub(super) struct Hashing {
    hash: Sha256,
    size: u64,
}

impl Hashing {
    pub(super) fn update(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
        self.size += bytes.len() as u64;
    }

    pub(super) fn size(&self) -> u64 {
        self.size
    }

    pub(super) fn finish(self) -> Digest {
        Digest { size: self.size, sha256: hex(&self.hash.finalize()) }
    }
}

/// Which side of a copy failed.
#[derive(Debug)]
pub(super) enum CopyError {
    /// The source could not be read.
    Read(io::Error),
    /// The target could not be written.
    Write(io::Error),
}

/// Copies at most `limit` bytes and returns their digest.
pub(super) fn copy_hashing(from: impl Read, to: &mut impl Write, limit: u64) -> Result<Digest, CopyError> {
    let mut from = from.take(limit);
    let mut buffer = vec![0; PIECE];
    let mut hashing = Hashing::default();
    loop {
        let read = match from.read(&mut buffer) {
            Ok(0) => return Ok(hashing.finish()),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(CopyError::Read(error)),
        };
        let chunk = buffer.get(..read).unwrap_or_default();
        hashing.update(chunk);
        to.write_all(chunk).map_err(CopyError::Write)?;
    }
}

/// The digest of a file of at most `limit` bytes; for a longer file, the digest of its first `limit` + 1 bytes.
pub(super) fn hash_file(path: &Path, limit: u64) -> io::Result<Digest> {
    io_fault!("files.read")?;
    hash_open(&system::open_to_read(path)?, limit)
}

fn hash_open(file: &fs::File, limit: u64) -> io::Result<Digest> {
    copy_hashing(file, &mut io::sink(), limit.saturating_add(1)).map_err(|error| match error {
        CopyError::Read(error) | CopyError::Write(error) => error,
    })
}

/// The file at `path`, to be read from its beginning, if it has this very content.
pub(super) fn open_same(path: &Path, content: &Digest) -> io::Result<Option<fs::File>> {
    let mut file = system::open_to_read(path)?;
    if hash_open(&file, content.size)? != *content {
        return Ok(None);
    }
    file.rewind()?;
    Ok(Some(file))
}

/// The first `limit` bytes of a file; for a longer file, one more.
pub(super) fn read_file(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    io_fault!("files.read")?;
    let mut content = Vec::new();
    system::open_to_read(path)?.take(limit.saturating_add(1)).read_to_end(&mut content)?;
    Ok(content)
}

/// What has a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Existing {
    /// Nothing.
    Absent,
    /// A file with exactly this content.
    Same,
    /// Something else: other content, a folder, a link, a device.
    Different,
}

/// Compares the file at `path` with `content`; reads it only if the length matches.
pub(super) fn existing(path: &Path, content: &Digest) -> io::Result<Existing> {
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if is_absent(&error) => return Ok(Existing::Absent),
        Err(error) => return Err(error),
    };
    if !found.is_file() || found.len() != content.size {
        return Ok(Existing::Different);
    }
    match hash_file(path, content.size) {
        Ok(digest) if digest == *content => Ok(Existing::Same),
        Ok(_) => Ok(Existing::Different),
        // An importer took the file in this moment.
        Err(error) if is_absent(&error) => Ok(Existing::Absent),
        Err(error) => Err(error),
    }
}

/// Syncs an existing file to the disk: the process that wrote it may have ended before it did.
pub(super) fn sync_existing(path: &Path) -> io::Result<()> {
    fault_point!("files.sync_existing.before");
    io_fault!("files.sync_existing")?;
    system::open_to_sync(path)?.sync_all()?;
    fault_point!("files.sync_existing.after");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn temporary(folder: &Path, name: &str, content: &str) -> Temporary {
        let mut temporary = Temporary::create(folder.join(name), 0o600).unwrap();
        temporary.writer().write_all(content.as_bytes()).unwrap();
        temporary.sync().unwrap();
        temporary
    }

    #[test]
    fn a_rename_never_replaces_whatever_stands_there() {
        let folder = tempfile::tempdir().unwrap();
        let taken = folder.path().join("taken");
        fs::write(&taken, "old").unwrap();
        let sub = folder.path().join("sub");
        fs::create_dir(&sub).unwrap();
        for target in [&taken, &sub] {
            let error = rename_new(temporary(folder.path(), ".t", "new").path(), target).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists, "{error}");
        }
        assert_eq!(fs::read_to_string(&taken).unwrap(), "old");
        let free = folder.path().join("free");
        rename_new(temporary(folder.path(), ".t", "new").path(), &free).unwrap();
        assert_eq!(fs::read_to_string(&free).unwrap(), "new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3, "no temporary file is left");
    }

    #[test]
    fn of_two_threads_that_rename_to_one_name_one_wins() {
        let folder = tempfile::tempdir().unwrap();
        for round in 0..50 {
            let target = folder.path().join(format!("name{round}"));
            let barrier = std::sync::Barrier::new(2);
            let race = |content: &str| {
                let temporary = temporary(folder.path(), content, content);
                barrier.wait();
                rename_new(temporary.path(), &target).map_err(|error| error.kind())
            };
            let (one, two) = std::thread::scope(|scope| {
                let one = scope.spawn(|| race("one"));
                (race("two"), one.join().unwrap())
            });
            assert_eq!([one, two].iter().filter(|result| result.is_ok()).count(), 1, "{one:?} {two:?}");
            assert!([one, two].contains(&Err(io::ErrorKind::AlreadyExists)));
            let winner = if one.is_ok() { "two" } else { "one" };
            assert_eq!(fs::read_to_string(&target).unwrap(), winner);
        }
    }

    #[test]
    fn what_stands_under_a_name_is_told_by_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let content = Digest::of(b"abc");
        assert_eq!(existing(&path, &content).unwrap(), Existing::Absent);
        for (text, expected) in [("abc", Existing::Same), ("abd", Existing::Different), ("abcd", Existing::Different)] {
            fs::write(&path, text).unwrap();
            assert_eq!(existing(&path, &content).unwrap(), expected);
        }
        assert_eq!(existing(folder.path(), &content).unwrap(), Existing::Different);
        assert_eq!(hash_file(&path, 2).unwrap().size, 3, "a longer file is not read whole");
    }
}
