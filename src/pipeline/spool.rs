//! The spool: where PDFs lie between fetch and delivery. That is a private folder beside the ledger, and for small
//! ones, as long as their deliveries go through at once, memory: most need no file at all.
//!
//! It is a cache. Files are not fsynced: the ledger keeps length and digest, adapters check both, and what a power cut
//! damaged, or what lay in memory when the process was killed, is fetched again. So the spool costs no waiting, and
//! still nothing but the right bytes is ever delivered.

pub mod disk;

use std::collections::HashMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use tokio::io::AsyncWriteExt as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::document::{Content, Spooled, hex};
use crate::ledger::{Ledger, LedgerError, documents};
use crate::permissions;
use disk::{Disk, File, LocalDisk};

/// Bytes gathered before they are written: most PDFs are written whole, and a larger one takes little memory.
const BUFFER_BYTES: usize = 128 * 1024;

/// Bytes of PDFs that lie in memory at most; what comes beyond that gets a file.
pub const MEMORY: usize = 2 * 1024 * 1024;
/// How long a download waits for room there.
const ROOM_LIMIT: Duration = Duration::from_millis(100);

/// Of what the spool holds, this part as much stays free on its disk, up to so many bytes: deliveries write into the
/// ledger, which lies there as well, before they can empty the spool.
const RESERVE_PART: u64 = 8;
const RESERVE: u64 = 8 * 1024 * 1024;

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

/// The folder, and what lies in memory instead.
#[derive(Clone)]
pub struct Spool {
    folder: PathBuf,
    disk: Arc<dyn Disk>,
    lying: Lying,
    /// Bytes of downloads that were announced and are not over.
    coming: Arc<AtomicU64>,
    /// Bytes of memory that are free.
    memory: Arc<Semaphore>,
    /// Held while files are made of what lies in memory: one at a time, so that none is made twice.
    writing: Arc<tokio::sync::Mutex<()>>,
    /// PDFs that nobody needs, and that could not be removed.
    left: Arc<Mutex<Vec<PathBuf>>>,
}

/// What lies in the spool for deliveries, by the file that each PDF has or would have.
#[derive(Clone, Default)]
struct Lying(Arc<Mutex<HashMap<PathBuf, Pdf>>>);

struct Pdf {
    size: u64,
    /// `None`: it lies in its file.
    in_memory: Option<InMemory>,
}

struct InMemory {
    content: Content,
    _room: OwnedSemaphorePermit,
}

impl Lying {
    fn with<T>(&self, change: impl FnOnce(&mut HashMap<PathBuf, Pdf>) -> T) -> T {
        // A panic while it was held left it whole: every change is a single one.
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Keeps it in memory; handed back where it lies in its file.
    fn keep(&self, path: &Path, bytes: Vec<u8>, room: OwnedSemaphorePermit) -> Result<Content, Vec<u8>> {
        self.with(|lying| {
            if lying.get(path).is_some_and(|pdf| pdf.in_memory.is_none()) {
                return Err(bytes);
            }
            let (size, content) = (bytes.len() as u64, Content::from(bytes));
            let in_memory = Some(InMemory { content: content.clone(), _room: room });
            lying.insert(path.to_owned(), Pdf { size, in_memory });
            Ok(content)
        })
    }

    /// It lies in its file.
    fn has_file(&self, path: PathBuf, size: u64) {
        self.with(|lying| lying.insert(path, Pdf { size, in_memory: None }));
    }

    fn in_memory(&self, path: &Path) -> Option<Content> {
        self.with(|lying| Some(lying.get(path)?.in_memory.as_ref()?.content.clone()))
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
        Ok(Self::on(folder, Arc::new(LocalDisk), MEMORY))
    }

    /// Where the spool of this ledger lies.
    pub fn folder_beside(ledger: &Path) -> PathBuf {
        ledger.parent().unwrap_or(Path::new(".")).join("spool")
    }

    /// Where it lies.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A spool in a folder that exists, and in so many bytes of memory.
    pub fn on(folder: PathBuf, disk: Arc<dyn Disk>, memory: usize) -> Self {
        Self {
            folder,
            disk,
            lying: Lying::default(),
            coming: Arc::default(),
            memory: Arc::new(Semaphore::new(memory)),
            writing: Arc::default(),
            left: Arc::default(),
        }
    }

    /// Announces a download of so many bytes, until that is dropped.
    pub fn announce(&self, bytes: u64) -> Announced {
        let before = self.coming.fetch_add(bytes, Ordering::Relaxed);
        Announced { taken: self.used().saturating_add(before), bytes, coming: self.coming.clone() }
    }

    /// Bytes of all PDFs that wait for a delivery.
    pub fn used(&self) -> u64 {
        self.lying.with(|lying| lying.values().map(|pdf| pdf.size).sum())
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
            let is_ours = |path: &PathBuf| path.extension().is_some_and(|end| end == "pdf");
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
                        Some(bytes) => lying.has_file(path, bytes),
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

    /// Whether it holds the PDF of a document in this round.
    pub fn holds(&self, id: i64, round: i64) -> bool {
        self.lying.with(|lying| lying.contains_key(&self.path(id, round)))
    }

    /// The PDF that the ledger says was fetched in this round.
    pub fn pdf(&self, id: i64, round: i64, size: u64, sha256: String) -> Spooled {
        let path = self.path(id, round);
        Spooled { in_memory: self.lying.in_memory(&path), path, size, sha256 }
    }

    /// Gives every PDF a file that lies in memory: they wait now, and need not be fetched again after a restart. One
    /// that cannot be written stays where it is.
    pub async fn write_all(&self) {
        let _writing = self.writing.lock().await;
        let waiting: Vec<(PathBuf, Content)> = self.lying.with(|lying| {
            let in_memory =
                |(path, pdf): (&PathBuf, &Pdf)| Some((path.clone(), pdf.in_memory.as_ref()?.content.clone()));
            lying.iter().filter_map(in_memory).collect()
        });
        for (path, content) in waiting {
            if self.leaves_room(0, content.as_ref().len() as u64).is_err() || self.write(&path, content).await.is_err()
            {
                return;
            }
            let is_wanted = self.lying.with(|lying| {
                let pdf = lying.get_mut(&path);
                pdf.map(|pdf| pdf.in_memory = None).is_some()
            });
            // It was delivered meanwhile.
            if !is_wanted {
                self.remove_file(path).await;
            }
        }
    }

    /// Whether its disk still has room for others with `bytes` more, of a PDF of which so many are `written`; else it
    /// is full for us.
    fn leaves_room(&self, written: u64, bytes: u64) -> io::Result<()> {
        let held = self.used().saturating_add(written).saturating_add(bytes);
        let reserve = (held / RESERVE_PART).min(RESERVE);
        match self.disk.free(&self.folder) {
            Some(free) if free < reserve.saturating_add(bytes) => Err(ErrorKind::StorageFull.into()),
            _ => Ok(()),
        }
    }

    /// Makes a file that is whole, or none.
    async fn write(&self, path: &Path, content: Content) -> io::Result<()> {
        fault_point!("spool.write.before");
        io_fault!("spool.create")?;
        io_fault!("spool.write")?;
        let written = match io_fault!("spool.flush") {
            Ok(()) => self.disk.write(path, content).await,
            fault => fault,
        };
        if written.is_err() {
            let _ = self.disk.remove(path).await;
        }
        written
    }

    /// Removes the PDF of a round that is over. One that another program looks at (an antivirus) is left to
    /// [`Self::remove_left`].
    async fn remove_file(&self, path: PathBuf) {
        if let Err(error) = self.disk.remove(&path).await
            && error.kind() != ErrorKind::NotFound
        {
            tracing::debug!(event = "spool_leftover", "a leftover stays in the spool for now: {error}");
            self.left.lock().unwrap_or_else(PoisonError::into_inner).push(path);
        }
    }

    /// Removes what could not be removed before.
    pub async fn remove_left(&self) {
        let left = std::mem::take(&mut *self.left.lock().unwrap_or_else(PoisonError::into_inner));
        for path in left {
            self.remove_file(path).await;
        }
    }

    /// Removes the PDF of a document that needs it no longer.
    pub async fn remove(&self, id: i64, round: i64) {
        fault_point!("spool.remove.before");
        let path = self.path(id, round);
        let removed = self.lying.with(|lying| lying.remove(&path));
        if removed.is_none_or(|pdf| pdf.in_memory.is_none()) {
            self.remove_file(path).await;
        }
        fault_point!("spool.remove.after");
    }

    /// Begins a download of `expected` bytes, as far as is known. Nothing is on the disk before there is something to
    /// write. Where it may do without a file, room in memory is waited for, so that documents are fetched as fast as
    /// they are delivered; but only for a moment: what has lain there for so long waits for something, and gets files.
    pub async fn begin(&self, id: i64, round: i64, expected: Option<u64>, without_file: bool) -> Incoming {
        let expected = expected.and_then(|expected| usize::try_from(expected).ok()).unwrap_or(BUFFER_BYTES);
        // A download of the same round has the place of one that could not be recorded.
        self.left.lock().unwrap_or_else(PoisonError::into_inner).retain(|left| *left != self.path(id, round));
        let room = if without_file && expected <= BUFFER_BYTES { self.room(expected).await } else { None };
        Incoming {
            path: self.path(id, round),
            spool: self.clone(),
            room,
            gathered: Vec::with_capacity(expected.min(BUFFER_BYTES)),
            file: None,
            hash: Sha256::new(),
            size: 0,
        }
    }

    async fn room(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        io_fault!("spool.memory").ok()?;
        let permit = self.memory.clone().acquire_many_owned(u32::try_from(bytes).ok()?);
        if let Ok(room) = timeout(ROOM_LIMIT, permit).await {
            return room.ok();
        }
        self.write_all().await;
        None
    }
}

/// A download that was announced.
pub struct Announced {
    taken: u64,
    bytes: u64,
    coming: Arc<AtomicU64>,
}

impl Announced {
    /// Whether it does not fit into so many bytes, with what lies there and what was announced before it. Into an empty
    /// spool each fits.
    pub fn exceeds(&self, limit: u64) -> bool {
        self.taken > 0 && self.taken.saturating_add(self.bytes) > limit
    }
}

impl Drop for Announced {
    fn drop(&mut self) {
        self.coming.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// A download under way. Its file has its own name from the beginning: no document waits for it before its length and
/// digest are in the ledger, and a leftover is removed by the next try or the next start.
pub struct Incoming {
    spool: Spool,
    path: PathBuf,
    /// Of as many bytes as were expected; `None`: it gets a file.
    room: Option<OwnedSemaphorePermit>,
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
            self.file = Some(self.spool.disk.create(&self.path).await?);
            fault_point!("spool.create.after");
        }
        if let Some(file) = &mut self.file {
            io_fault!("spool.write")?;
            let gathered = self.gathered.len() as u64;
            self.spool.leaves_room(self.size.saturating_sub(gathered), gathered)?;
            file.write_all(&self.gathered).await?;
            fault_point!("spool.piece.after");
        }
        self.gathered.clear();
        Ok(())
    }

    async fn flush(&mut self) -> io::Result<()> {
        io_fault!("spool.flush")?;
        match &mut self.file {
            Some(file) => file.flush().await,
            None => Ok(()),
        }
    }

    /// Ends the download.
    ///
    /// # Errors
    /// Any error of the file system.
    pub async fn finish(mut self) -> io::Result<Spooled> {
        if self.file.is_some() {
            let whole = match self.put().await {
                Ok(()) => self.flush().await,
                failed => failed,
            };
            if let Err(error) = whole {
                self.discard().await;
                return Err(error);
            }
        }
        let sha256 = hex(&self.hash.finalize());
        let in_memory = if self.file.take().is_some() {
            fault_point!("spool.flush.after");
            None
        } else {
            // What was taken for a length that was not known is given back.
            let room = self.room.take().and_then(|mut room| room.split(self.gathered.len()));
            let kept = match room {
                Some(room) => self.spool.lying.keep(&self.path, self.gathered, room),
                None => Err(self.gathered),
            };
            match kept {
                Ok(content) => Some(content),
                Err(bytes) => {
                    self.spool.leaves_room(0, bytes.len() as u64)?;
                    self.spool.write(&self.path, bytes.into()).await?;
                    None
                }
            }
        };
        if in_memory.is_none() {
            self.spool.lying.has_file(self.path.clone(), self.size);
        }
        Ok(Spooled { path: self.path, in_memory, size: self.size, sha256 })
    }

    /// Gives up and removes what was written.
    pub async fn discard(self) {
        fault_point!("spool.discard.before");
        if let Some(file) = self.file {
            drop(file);
            let _ = self.spool.disk.remove(&self.path).await;
        }
        fault_point!("spool.discard.after");
    }
}

#[cfg(test)]
mod tests;
