//! The disk as the spool needs it: a few operations, so that the simulation of the pipeline can have a disk of its own.

use std::io;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use tokio::io::AsyncWrite;

use crate::durable;

/// A file that is written from its beginning to its end.
pub type File = Box<dyn AsyncWrite + Send + Unpin>;

/// What lies in a folder, one after the other.
pub type Paths = Box<dyn Iterator<Item = io::Result<PathBuf>> + Send>;

/// Where the spool's files lie.
#[async_trait]
pub trait Disk: Send + Sync {
    /// Creates a file for the owner alone, in the place of one that may stand there.
    async fn create(&self, path: &Path) -> io::Result<File>;
    /// Gives a file another name, in the place of a file that may stand there.
    async fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    async fn remove(&self, path: &Path) -> io::Result<()>;
    /// Everything in a folder.
    fn list(&self, folder: &Path) -> io::Result<Paths>;
}

/// The disk of this machine.
pub struct LocalDisk;

#[async_trait]
impl Disk for LocalDisk {
    async fn create(&self, path: &Path) -> io::Result<File> {
        let mut options = tokio::fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        options.mode(0o600);
        let file = match options.open(path).await {
            // Of a download that broke off. What stands there may be another user's, or a link: it is not written into.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                tokio::fs::remove_file(path).await?;
                options.open(path).await?
            }
            opened => opened?,
        };
        durable::hand_over(&file, path.parent().unwrap_or(Path::new(".")));
        Ok(Box::new(file))
    }

    async fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        tokio::fs::rename(from, to).await
    }

    async fn remove(&self, path: &Path) -> io::Result<()> {
        tokio::fs::remove_file(path).await
    }

    fn list(&self, folder: &Path) -> io::Result<Paths> {
        Ok(Box::new(std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path()))))
    }
}
