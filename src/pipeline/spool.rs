//! The spool: a private folder beside the ledger where PDFs lie between fetch and delivery.
//!
//! Files are not fsynced: the ledger keeps length and digest, adapters check both, and what a power cut damaged is
//! fetched again. So the spool costs no waiting, and still nothing but the right bytes is ever delivered.

pub mod disk;

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest as _, Sha256};
use tokio::io::AsyncWriteExt as _;

use crate::document::{Spooled, hex};
use crate::ledger::{Ledger, LedgerError, documents};
use crate::permissions;
use disk::{Disk, File, LocalDisk};

/// Bytes gathered before they are written: most PDFs are written whole, and a larger one takes little memory.
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
    lying: Lying,
}

/// What lies in the spool for deliveries: bytes by file.
#[derive(Clone, Default)]
struct Lying(Arc<Mutex<HashMap<PathBuf, u64>>>);

impl Lying {
    fn with<T>(&self, change: impl FnOnce(&mut HashMap<PathBuf, u64>) -> T) -> T {
        // A panic while it was held left it whole: every change is a single one.
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Spool {
    /// The spool beside the ledger; created for the owner alone.
    ///
    /// # Errors
    /// Any error of the file system.
    pub fn beside(ledger: &Path) -> io::Result<Self> {
        let folder = Self::folder_beside(ledger);
        permissions::create_folders(&folder)?;
        Ok(Self::on(folder, Arc::new(LocalDisk)))
    }

    /// Where the spool of this ledger lies.
    pub fn folder_beside(ledger: &Path) -> PathBuf {
        ledger.parent().unwrap_or(Path::new(".")).join("spool")
    }

    /// Where it lies.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A spool in a folder that exists.
    pub fn on(folder: PathBuf, disk: Arc<dyn Disk>) -> Self {
        Self { folder, disk, lying: Lying::default() }
    }

    /// Bytes of all PDFs that wait for a delivery.
    pub fn used(&self) -> u64 {
        self.lying.with(|lying| lying.values().sum())
    }

    /// Where the PDF of a document lies in this round.
    pub fn path(&self, id: i64, round: i64) -> PathBuf {
        self.folder.join(format!("{id}-{round}.pdf"))
    }

    /// Number and round of the document whose PDF this is.
    fn whose(&self, path: &Path) -> Option<(i64, i64)> {
        let (id, round) = path.file_name()?.to_str()?.strip_suffix(".pdf")?.split_once('-')?;
        let (id, round) = (id.parse().ok()?, round.parse().ok()?);
        (self.path(id, round) == path).then_some((id, round))
    }

    /// Removes what no document waits for: downloads that broke off, and PDFs whose document has moved on. Asked and
    /// removed in batches, so that a spool of any size costs little memory.
    ///
    /// # Errors
    /// Any error of the file system or of the ledger.
    pub async fn clean(&self, ledger: &Ledger) -> Result<usize, CleanError> {
        let mut entries = self.disk.list(&self.folder)?;
        let mut removed = 0;
        loop {
            let batch: Vec<PathBuf> = entries.by_ref().take(CLEANED_AT_ONCE).collect::<io::Result<_>>()?;
            if batch.is_empty() {
                return Ok(removed);
            }
            // Downloads were `.part` files in earlier versions.
            let is_ours = |path: &PathBuf| path.extension().is_some_and(|end| end == "pdf" || end == "part");
            let ours: Vec<(PathBuf, Option<(i64, i64)>)> =
                batch.into_iter().filter(is_ours).map(|path| (path.clone(), self.whose(&path))).collect();
            let lying = self.lying.clone();
            let leftovers = ledger.read(move |db| {
                let mut leftovers = Vec::new();
                for (path, whose) in ours {
                    let wanted = match whose {
                        Some((id, round)) => documents::spooled(db, id, round)?,
                        None => None,
                    };
                    match wanted {
                        Some(bytes) => drop(lying.with(|lying| lying.insert(path, bytes))),
                        None => leftovers.push(path),
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
        let path = self.path(id, round);
        let _ = self.disk.remove(&path).await;
        self.lying.with(|lying| lying.remove(&path));
        fault_point!("spool.remove.after");
    }

    /// Begins a download of about `expected` bytes. Nothing is on the disk before there is something to write.
    pub fn begin(&self, id: i64, round: i64, expected: u64) -> Incoming {
        let expected = usize::try_from(expected).unwrap_or(BUFFER_BYTES).min(BUFFER_BYTES);
        Incoming {
            disk: self.disk.clone(),
            lying: self.lying.clone(),
            path: self.path(id, round),
            gathered: Vec::with_capacity(expected),
            file: None,
            hash: Sha256::new(),
            size: 0,
        }
    }
}

/// A download under way. Its file has its own name from the beginning: no document waits for it before its length and digest
/// are in the ledger, and a leftover is removed by the next try or the next start.
pub struct Incoming {
    disk: Arc<dyn Disk>,
    lying: Lying,
    path: PathBuf,
    gathered: Vec<u8>,
    file: Option<File>,
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
    /// Any error of the file system.
    pub async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hash.update(bytes);
        self.size += bytes.len() as u64;
        if !self.gathered.is_empty() && self.gathered.len() + bytes.len() > BUFFER_BYTES {
            self.put().await?;
        }
        self.gathered.extend_from_slice(bytes);
        Ok(())
    }

    /// Writes what was gathered, into a file that more will follow in.
    async fn put(&mut self) -> io::Result<()> {
        if self.file.is_none() {
            fault_point!("spool.create.before");
            io_fault!("spool.create")?;
            self.file = Some(self.disk.create(&self.path).await?);
            fault_point!("spool.create.after");
        }
        if let Some(file) = &mut self.file {
            io_fault!("spool.write")?;
            file.write_all(&self.gathered).await?;
            fault_point!("spool.piece.after");
        }
        self.gathered.clear();
        Ok(())
    }

    /// Ends the download.
    ///
    /// # Errors
    /// Any error of the file system.
    pub async fn finish(mut self) -> io::Result<Spooled> {
        if self.file.is_some() {
            self.put().await?;
        }
        io_fault!("spool.flush")?;
        if let Some(mut file) = self.file.take() {
            file.flush().await?;
            fault_point!("spool.flush.after");
        } else {
            fault_point!("spool.write.before");
            io_fault!("spool.create")?;
            io_fault!("spool.write")?;
            self.disk.write(&self.path, self.gathered).await?;
        }
        self.lying.with(|lying| lying.insert(self.path.clone(), self.size));
        Ok(Spooled { path: self.path, size: self.size, sha256: hex(&self.hash.finalize()) })
    }

    /// Gives up and removes what was written.
    pub async fn discard(self) {
        fault_point!("spool.discard.before");
        if let Some(file) = self.file {
            drop(file);
            let _ = self.disk.remove(&self.path).await;
        }
        fault_point!("spool.discard.after");
    }
}

#[cfg(all(windows, test))]
mod tests {
    use super::*;
    use crate::permissions::effective_acl::assert_closed;

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
