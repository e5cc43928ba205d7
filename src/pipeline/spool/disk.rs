//! The disk, reduced to the few operations that the spool needs, so that the simulation of the pipeline can have its
//! own.

use std::fs;
use std::io::{self, Write as _};
#[cfg(unix)]
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};

use crate::domain::document::Content;
use crate::system::durable;

/// A file that is written from its beginning to its end.
pub type File = Box<dyn AsyncWrite + Send + Unpin>;

/// The paths in a folder.
pub type Paths = Box<dyn Iterator<Item = io::Result<PathBuf>> + Send>;

/// The disk that holds the spool's files.
#[async_trait]
pub trait Disk: Send + Sync {
    /// Creates a file for the owner alone. It replaces a file at the same path.
    async fn create(&self, path: &Path) -> io::Result<File>;
    /// Creates a file and writes its whole content; otherwise as [`Self::create`].
    async fn write(&self, path: &Path, content: Content) -> io::Result<()> {
        let mut file = self.create(path).await?;
        file.write_all(content.as_ref()).await?;
        file.flush().await
    }
    /// Removes a file.
    async fn remove(&self, path: &Path) -> io::Result<()>;
    /// Lists everything in a folder.
    fn list(&self, folder: &Path) -> io::Result<Paths>;
    /// How many bytes this user may still write on the folder's disk; `None`: unknown.
    fn free(&self, _folder: &Path) -> Option<u64> {
        None
    }
}

/// The disk of this machine.
pub struct LocalDisk;

/// A file may be left from a download that broke off. It may also be another user's, or a link, so it is never written
/// into, but removed.
fn create(path: &Path) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    options.mode(0o600);
    let file = match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            fs::remove_file(path)?;
            options.open(path)?
        }
        opened => opened?,
    };
    durable::hand_over(&file, path.parent().unwrap_or(Path::new(".")));
    Ok(file)
}

/// Runs the work on a thread that may block.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|ended| Err(io::Error::other(ended)))
}

#[async_trait]
impl Disk for LocalDisk {
    async fn create(&self, path: &Path) -> io::Result<File> {
        let path = path.to_owned();
        let file = blocking(move || create(&path)).await?;
        Ok(Box::new(tokio::fs::File::from_std(file)))
    }

    /// The whole write runs on the thread for blocking work in one step, as most PDFs are written whole.
    async fn write(&self, path: &Path, content: Content) -> io::Result<()> {
        let path = path.to_owned();
        let write = move || {
            let mut file = create(&path)?;
            fault_point!("spool.write.created");
            file.write_all(content.as_ref())?;
            fault_point!("spool.write.after");
            Ok(())
        };
        blocking(write).await
    }

    async fn remove(&self, path: &Path) -> io::Result<()> {
        tokio::fs::remove_file(path).await
    }

    fn list(&self, folder: &Path) -> io::Result<Paths> {
        Ok(Box::new(fs::read_dir(folder)?.map(|entry| Ok(entry?.path()))))
    }

    fn free(&self, folder: &Path) -> Option<u64> {
        durable::free_space(folder).ok()
    }
}
