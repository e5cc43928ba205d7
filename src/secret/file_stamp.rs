//! How a file is told to be another one without reading it.

use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

use crate::answering::ask;

/// What some files looked like; a file that is not there looks like nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileStamp(Vec<Option<Look>>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Look {
    length: u64,
    modified: Option<SystemTime>,
    /// A file that took another's place has another number, however quickly it came; its mode may have been mended.
    #[cfg(unix)]
    inode_and_mode: (u64, u32),
}

impl FileStamp {
    /// What these files look like now. A share that hangs blocks the thread.
    pub fn of(files: &[PathBuf]) -> Self {
        fault_point!("credentials.look.before");
        Self(files.iter().map(|file| fs::metadata(file).ok().map(|found| Look::of(&found))).collect())
    }

    /// The same, as [`ask`] asks: one that does not answer looks like nothing.
    pub fn asked(files: &[PathBuf]) -> Self {
        let look = |file: &PathBuf| ask(file, |file| fs::metadata(file)).ok().map(|found| Look::of(&found));
        Self(files.iter().map(look).collect())
    }
}

impl Look {
    fn of(found: &fs::Metadata) -> Self {
        Self {
            length: found.len(),
            modified: found.modified().ok(),
            #[cfg(unix)]
            inode_and_mode: {
                use std::os::unix::fs::MetadataExt as _;
                (found.ino(), found.mode())
            },
        }
    }
}
