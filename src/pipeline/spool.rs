//! The spool: a private folder beside the ledger where PDFs lie between fetch and delivery.
//!
//! Files are not fsynced: the ledger keeps length and digest, adapters check both, and what a power cut damaged is
//! fetched again. So the spool costs no waiting, and still nothing but the right bytes is ever delivered.

pub mod disk;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncWriteExt as _, BufWriter};

use crate::document::{Spooled, hex};
use crate::ledger::{Ledger, LedgerError, documents};
use crate::private;
use disk::{Disk, File, LocalDisk};

/// Bytes gathered before they are written: few system calls, and little memory for each download.
const BUFFER_BYTES: usize = 128 * 1024;

/// Files that are looked at together when the spool is cleaned.
const CLEANED_AT_ONCE: usize = 500;

/// Why the spool could not be cleaned.
#[derive(Debug, thiserror::Error)]
pub enum CleanError {
    /// The folder.
    #[error(transparent)]
    Folder(#[from] io::Error),
    /// The ledger.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

/// The folder.
#[derive(Clone)]
pub struct Spool {
    folder: PathBuf,
    disk: Arc<dyn Disk>,
}

impl Spool {
    /// The spool beside the ledger; created for the owner alone.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn beside(ledger: &Path) -> io::Result<Self> {
        let folder = ledger.parent().unwrap_or(Path::new(".")).join("spool");
        private::create_folders(&folder)?;
        Ok(Self::on(folder, Arc::new(LocalDisk)))
    }

    /// A spool in a folder that exists.
    pub fn on(folder: PathBuf, disk: Arc<dyn Disk>) -> Self {
        Self { folder, disk }
    }

    /// Where the PDF of a document lies in this round.
    pub fn path(&self, id: i64, round: i64) -> PathBuf {
        self.folder.join(format!("{id}-{round}.pdf"))
    }

    /// Number and round of the document whose whole PDF this is; a download that broke off is nobody's.
    fn whose(&self, path: &Path) -> Option<(i64, i64)> {
        let (id, round) = path.file_name()?.to_str()?.strip_suffix(".pdf")?.split_once('-')?;
        let (id, round) = (id.parse().ok()?, round.parse().ok()?);
        (self.path(id, round) == path).then_some((id, round))
    }

    /// Removes what no document waits for: downloads that broke off, and PDFs whose document has moved on. Asked and
    /// removed in batches, so that a spool of any size costs little memory.
    ///
    /// # Errors
    /// Those of the file system and of the ledger.
    pub async fn clean(&self, ledger: &Ledger) -> Result<usize, CleanError> {
        let mut entries = self.disk.list(&self.folder)?;
        let mut removed = 0;
        loop {
            let batch: Vec<PathBuf> = entries.by_ref().take(CLEANED_AT_ONCE).collect::<io::Result<_>>()?;
            if batch.is_empty() {
                return Ok(removed);
            }
            let is_ours = |path: &PathBuf| path.extension().is_some_and(|end| end == "pdf" || end == "part");
            let ours: Vec<(PathBuf, Option<(i64, i64)>)> =
                batch.into_iter().filter(is_ours).map(|path| (path.clone(), self.whose(&path))).collect();
            let leftovers = ledger.read(move |db| {
                let mut leftovers = Vec::new();
                for (path, whose) in ours {
                    let is_wanted = match whose {
                        Some((id, round)) => documents::is_spooled(db, id, round)?,
                        None => false,
                    };
                    if !is_wanted {
                        leftovers.push(path);
                    }
                }
                Ok(leftovers)
            });
            for path in leftovers.await? {
                fault_point!("spool.clean.before");
                let removing = match io_fault!("spool.clean") {
                    Ok(()) => self.disk.remove(&path).await,
                    fault => fault,
                };
                match removing {
                    Ok(()) => removed += 1,
                    // Another program looks at it (an antivirus): the next start tries again.
                    Err(error) => tracing::warn!(event = "spool_leftover", "a leftover stays in the spool: {error}"),
                }
            }
        }
    }

    /// Removes the PDF of a document that needs it no longer. One that cannot be removed is left to the next start.
    pub async fn remove(&self, id: i64, round: i64) {
        fault_point!("spool.remove.before");
        let _ = self.disk.remove(&self.path(id, round)).await;
        fault_point!("spool.remove.after");
    }

    /// Begins a download.
    ///
    /// # Errors
    /// Those of the file system.
    pub async fn begin(&self, id: i64, round: i64) -> io::Result<Incoming> {
        let target = self.path(id, round);
        let part = target.with_extension("part");
        fault_point!("spool.create.before");
        io_fault!("spool.create")?;
        let file = BufWriter::with_capacity(BUFFER_BYTES, self.disk.create(&part).await?);
        fault_point!("spool.create.after");
        Ok(Incoming { disk: self.disk.clone(), file, part, target, hash: Sha256::new(), size: 0 })
    }
}

/// A download under way. Dropped before its end, it leaves a `.part` file that the next try removes.
pub struct Incoming {
    disk: Arc<dyn Disk>,
    file: BufWriter<File>,
    part: PathBuf,
    target: PathBuf,
    hash: Sha256,
    size: u64,
}

impl Incoming {
    /// Bytes so far.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// Those of the file system.
    pub async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hash.update(bytes);
        self.size += bytes.len() as u64;
        io_fault!("spool.write")?;
        self.file.write_all(bytes).await?;
        fault_point!("spool.write.after");
        Ok(())
    }

    /// Ends the download and gives the file its name.
    ///
    /// # Errors
    /// Those of the file system.
    pub async fn finish(mut self) -> io::Result<Spooled> {
        fault_point!("spool.flush.before");
        io_fault!("spool.flush")?;
        self.file.flush().await?;
        drop(self.file);
        fault_point!("spool.rename.before");
        io_fault!("spool.rename")?;
        self.disk.rename(&self.part, &self.target).await?;
        fault_point!("spool.rename.after");
        Ok(Spooled { path: self.target, size: self.size, sha256: hex(&self.hash.finalize()) })
    }

    /// Gives up and removes what was written.
    pub async fn discard(self) {
        drop(self.file);
        fault_point!("spool.discard.before");
        let _ = self.disk.remove(&self.part).await;
        fault_point!("spool.discard.after");
    }
}

#[cfg(all(windows, test))]
mod tests {
    use super::*;
    use crate::private::found::assert_closed;

    #[test]
    fn nobody_else_can_look_into_the_folders_of_ledger_and_spool() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("practice").join("state").join("ledger.sqlite3");
        let ledger = Ledger::open_exclusive(&path).unwrap();
        let spool = Spool::beside(&path).unwrap();
        for folder in [path.parent().unwrap(), &spool.folder] {
            assert_closed(folder);
        }
        drop(ledger);
    }
}
