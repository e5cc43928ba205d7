//! Detects changed files without reading them.

use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

use crate::system::answering::ask;

/// The attributes of some files. A missing file has none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileStamp(Vec<Option<Stat>>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Stat {
    length: u64,
    modified: Option<SystemTime>,
    /// The inode shows that a file was replaced, however quickly. The mode may have been mended.
    #[cfg(unix)]
    inode_and_mode: (u64, u32),
}

impl FileStamp {
    /// The present attributes of these files. A share that hangs blocks the thread.
    pub fn of(files: &[PathBuf]) -> Self {
        fault_point!("credentials.look.before");
        Self(files.iter().map(|file| fs::metadata(file).ok().map(|found| Stat::of(&found))).collect())
    }

    /// The same with [`ask`]: a file that does not answer counts as missing.
    pub fn asked(files: &[PathBuf]) -> Self {
        let look = |file: &PathBuf| ask(file, |file| fs::metadata(file)).ok().map(|found| Stat::of(&found));
        Self(files.iter().map(look).collect())
    }
}

impl Stat {
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
