//! A file that is rotated by size, so that a log cannot fill the disk.
//!
//! Others change its folder as well: logrotate, an administrator, a second docsyncd. Nothing that they do makes this
//! file fail for good. A line that cannot be written is lost, and the next one is tried again.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::system::durable::open_beside_others;

/// `FILE`, and older files as `FILE.1` (the newest) to `FILE.N`.
pub(super) struct RotatingFile {
    path: PathBuf,
    max_size: u64,
    max_files: usize,
    file: Option<File>,
    size: u64,
}

impl RotatingFile {
    /// Opens the file, or creates it for its owner alone. A line that would make it larger than `max_size` bytes begins
    /// a new one. `max_files` older files are kept.
    ///
    /// # Errors
    /// Any error of the file system.
    pub(super) fn open(path: &Path, max_size: u64, max_files: usize) -> io::Result<Self> {
        let mut opened = Self { path: path.to_path_buf(), max_size, max_files, file: None, size: 0 };
        opened.reopen()?;
        Ok(opened)
    }

    fn reopen(&mut self) -> io::Result<()> {
        // Checked before opening, because opening a pipe without a reader blocks.
        if fs::metadata(&self.path).is_ok_and(|found| !found.is_file()) {
            return Err(super::no_file());
        }
        let file = open_beside_others(OpenOptions::new().append(true), &self.path)?;
        self.size = file.metadata()?.len();
        self.file = Some(file);
        Ok(())
    }

    fn old(&self, number: usize) -> PathBuf {
        let mut name = self.path.as_os_str().to_owned();
        name.push(format!(".{number}"));
        name.into()
    }

    fn rotate(&mut self) -> io::Result<()> {
        // Closed first, because Windows does not rename an open file.
        self.file = None;
        // Removes the oldest file, and more if `max_files` was larger before.
        let mut number = self.max_files;
        while fs::remove_file(self.old(number)).is_ok() {
            number += 1;
        }
        for number in (1..self.max_files).rev() {
            // This number often does not exist yet.
            let _ = fs::rename(self.old(number), self.old(number + 1));
        }
        let moved = fs::rename(&self.path, self.old(1)).is_ok();
        self.reopen()?;
        // Another program has the file open. The file may grow for a while; then its content is dropped.
        if !moved && self.size >= self.max_size.saturating_mul(2) {
            if let Some(file) = &self.file {
                file.set_len(0)?;
            }
            self.size = 0;
        }
        Ok(())
    }

    /// Whether the open file is still the one under the name.
    #[cfg(unix)]
    fn is_in_place(&self) -> bool {
        use std::os::unix::fs::MetadataExt as _;
        let identity = |found: fs::Metadata| (found.dev(), found.ino());
        let open = self.file.as_ref().and_then(|file| file.metadata().ok()).map(identity);
        open.is_some() && open == fs::metadata(&self.path).ok().map(identity)
    }

    /// Windows neither renames nor removes an open file.
    #[cfg(not(unix))]
    fn is_in_place(&self) -> bool {
        self.file.is_some()
    }
}

impl Write for RotatingFile {
    /// Takes whole lines.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if !self.is_in_place() {
            self.reopen()?;
        }
        let length = line.len() as u64;
        if self.size > 0 && self.size.saturating_add(length) > self.max_size {
            self.rotate()?;
        }
        let file = self.file.as_mut().ok_or(io::ErrorKind::NotFound)?;
        file.write_all(line)?;
        self.size = self.size.saturating_add(length);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(folder: &Path) -> Vec<(String, String)> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
        let mut found: Vec<_> = entries
            .map(|entry| {
                (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap_or_default())
            })
            .collect();
        found.sort();
        found
    }

    fn expected(files: &[(&str, &str)]) -> Vec<(String, String)> {
        files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn lines_stay_whole_and_the_oldest_go() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = RotatingFile::open(&folder.path().join("log"), 8, 2).unwrap();
        for line in ["one\n", "two\n", "three\n", "four\n", "a line that is too long\n", "six\n", "7\n"] {
            log.write_all(line.as_bytes()).unwrap();
        }
        let kept = [("log", "six\n7\n"), ("log.1", "a line that is too long\n"), ("log.2", "four\n")];
        assert_eq!(contents(folder.path()), expected(&kept));
    }

    #[test]
    fn a_restart_goes_on_where_it_was_and_keeps_fewer_when_fewer_are_wanted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        for number in 0..5 {
            let mut log = RotatingFile::open(&path, 4, 3).unwrap();
            log.write_all(format!("{number}\n").as_bytes()).unwrap();
            log.write_all(b"x\n").unwrap();
        }
        assert_eq!(contents(folder.path()).len(), 4);
        RotatingFile::open(&path, 4, 1).unwrap().write_all(b"last\n").unwrap();
        assert_eq!(contents(folder.path()), expected(&[("log", "last\n"), ("log.1", "4\nx\n")]));
    }

    #[test]
    fn a_name_that_cannot_be_had_bounds_the_file_all_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = RotatingFile::open(&folder.path().join("log"), 10, 1).unwrap();
        fs::create_dir_all(folder.path().join("log.1/full")).unwrap();
        for _ in 0..100 {
            log.write_all(b"12345\n").unwrap();
        }
        assert!(fs::metadata(folder.path().join("log")).unwrap().len() <= 26);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_was_moved_or_removed_is_begun_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut log = RotatingFile::open(&path, 1000, 2).unwrap();
        log.write_all(b"1\n").unwrap();
        fs::rename(&path, folder.path().join("moved")).unwrap();
        log.write_all(b"2\n").unwrap();
        assert_eq!(contents(folder.path()), expected(&[("log", "2\n"), ("moved", "1\n")]));
        fs::remove_dir_all(folder.path()).unwrap();
        assert!(log.write_all(b"3\n").is_err());
        fs::create_dir(folder.path()).unwrap();
        log.write_all(b"4\n").unwrap();
        assert_eq!(contents(folder.path()), expected(&[("log", "4\n")]));
    }
}
