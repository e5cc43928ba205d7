//! The spool: a private folder beside the ledger where PDFs lie between fetch and delivery.
//!
//! Files are not fsynced: the ledger keeps length and digest, adapters check both, and what a power cut damaged is
//! fetched again. So the spool costs no waiting, and still nothing but the right bytes is ever delivered.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use tokio::fs::{File, OpenOptions};
use tokio::io::{AsyncWriteExt as _, BufWriter};

use crate::document::{Spooled, hex};

/// Bytes gathered before they are written: few system calls, and little memory for each download.
const BUFFER_BYTES: usize = 128 * 1024;

/// The folder.
#[derive(Debug, Clone)]
pub struct Spool {
    folder: PathBuf,
}

impl Spool {
    /// The spool beside the ledger; created for the owner alone.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn beside(ledger: &Path) -> io::Result<Self> {
        let folder = ledger.parent().unwrap_or(Path::new(".")).join("spool");
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&folder)?;
        Ok(Self { folder })
    }

    /// Where the PDF of a document lies in this round.
    pub fn path(&self, id: i64, round: i64) -> PathBuf {
        self.folder.join(format!("{id}-{round}.pdf"))
    }

    /// Removes what no document waits for: downloads that broke off, and PDFs whose document has moved on.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn clean(&self, wanted: &[(i64, i64)]) -> io::Result<usize> {
        let wanted: HashSet<PathBuf> = wanted.iter().map(|(id, round)| self.path(*id, *round)).collect();
        let mut removed = 0;
        for entry in std::fs::read_dir(&self.folder)? {
            let path = entry?.path();
            let is_ours = path.extension().is_some_and(|end| end == "pdf" || end == "part");
            if is_ours && !wanted.contains(&path) {
                fault_point!("spool.clean.before");
                match io_fault!("spool.clean").and_then(|()| std::fs::remove_file(&path)) {
                    Ok(()) => removed += 1,
                    // Another program looks at it (an antivirus): the next start tries again.
                    Err(error) => tracing::warn!(event = "spool_leftover", "a leftover stays in the spool: {error}"),
                }
            }
        }
        Ok(removed)
    }

    /// Removes the PDF of a document that needs it no longer. One that cannot be removed is left to the next start.
    pub async fn remove(&self, id: i64, round: i64) {
        fault_point!("spool.remove.before");
        let _ = tokio::fs::remove_file(self.path(id, round)).await;
        fault_point!("spool.remove.after");
    }

    /// Begins a download.
    ///
    /// # Errors
    /// Those of the file system.
    pub async fn begin(&self, id: i64, round: i64) -> io::Result<Incoming> {
        let target = self.path(id, round);
        let part = target.with_extension("part");
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        options.mode(0o600);
        fault_point!("spool.create.before");
        io_fault!("spool.create")?;
        let file = options.open(&part).await?;
        fault_point!("spool.create.after");
        Ok(Incoming { file: BufWriter::with_capacity(BUFFER_BYTES, file), part, target, hash: Sha256::new(), size: 0 })
    }
}

/// A download under way. Dropped before its end, it leaves a `.part` file that the next try overwrites.
pub struct Incoming {
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
        tokio::fs::rename(&self.part, &self.target).await?;
        fault_point!("spool.rename.after");
        Ok(Spooled { path: self.target, size: self.size, sha256: hex(&self.hash.finalize()) })
    }

    /// Gives up and removes what was written.
    pub async fn discard(self) {
        drop(self.file);
        fault_point!("spool.discard.before");
        let _ = tokio::fs::remove_file(&self.part).await;
        fault_point!("spool.discard.after");
    }
}
