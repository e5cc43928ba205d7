//! The spool: where PDFs lie between fetch and delivery. It is a private folder beside the ledger. Small PDFs stay in
//! memory while their deliveries go through at once, so most PDFs need no file at all.
//!
//! The spool is a cache, so its files are not fsynced. The ledger keeps each length and digest, and adapters check
//! both. A PDF that a power cut damaged, or that was in memory when the process was killed, is fetched again. So
//! nothing waits for the disk, and still only the right bytes are ever delivered.

pub mod disk;

use std::collections::HashMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use tokio::io::AsyncWriteExt as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::domain::document::{Content, Spooled, hex};
use crate::ledger::{Ledger, LedgerError, documents};
use crate::system::permissions;
use disk::{Disk, File, LocalDisk};

/// How many bytes are gathered before they are written: most PDFs are written whole, and a larger one takes little
/// memory.
const BUFFER_BYTES: usize = 128 * 1024;

/// The most bytes of PDFs in memory. PDFs beyond that get a file.
pub const MEMORY: usize = 2 * 1024 * 1024;
/// How long a download waits for room in memory.
const ROOM_LIMIT: Duration = Duration::from_millis(100);

/// This part of what the spool holds stays free on its disk, up to [`RESERVE`] bytes. The ledger is on the same disk,
/// and deliveries have to write into it before they can empty the spool.
const RESERVE_PART: u64 = 8;
const RESERVE: u64 = 8 * 1024 * 1024;

/// How many files are looked at together when the spool is cleaned.
const CLEANED_AT_ONCE: usize = 500;

/// Why the spool could not be cleaned.
#[derive(Debug, thiserror::Error)]
pub enum CleanError {
    /// The folder cannot be read.
    #[error(transparent)]
    Folder(#[from] io::Error),
    /// The ledger failed.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

/// The spool's folder, and the PDFs that are in memory instead.
#[derive(Clone)]
pub struct Spool {
    folder: PathBuf,
    disk: Arc<dyn Disk>,
    /// The PDFs that lie in the spool for deliveries, by the path of the file that each has or would have.
    lying: Arc<Mutex<HashMap<PathBuf, Pdf>>>,
    /// Bytes of the downloads that were announced and are not over.
    coming: Arc<AtomicU64>,
    /// Bytes of memory that are free.
    memory: Arc<Semaphore>,
    /// Held while PDFs in memory get their files: one at a time, so that no file is made twice.
    writing: Arc<tokio::sync::Mutex<()>>,
    /// PDFs that nobody needs, and that could not be removed yet.
    left: Arc<Mutex<Vec<PathBuf>>>,
}

struct Pdf {
    size: u64,
    /// `None`: the PDF is in its file.
    in_memory: Option<InMemory>,
}

struct InMemory {
    content: Content,
    _room: OwnedSemaphorePermit,
}

impl Spool {
    /// The spool beside the ledger. Its folder is created for the owner alone.
    ///
    /// # Errors
    /// Any error of the file system.
    pub fn beside(ledger: &Path) -> io::Result<Self> {
        let folder = Self::folder_beside(ledger);
        permissions::create_folders(&folder)?;
        Ok(Self::on(folder, Arc::new(LocalDisk), MEMORY))
    }

    /// The folder of this ledger's spool.
    pub fn folder_beside(ledger: &Path) -> PathBuf {
        ledger.parent().unwrap_or(Path::new(".")).join("spool")
    }

    /// The spool's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A spool in a folder that exists, with this many bytes of memory.
    pub fn on(folder: PathBuf, disk: Arc<dyn Disk>, memory: usize) -> Self {
        Self {
            folder,
            disk,
            lying: Arc::default(),
            coming: Arc::default(),
            memory: Arc::new(Semaphore::new(memory)),
            writing: Arc::default(),
            left: Arc::default(),
        }
    }

    fn lying(&self) -> MutexGuard<'_, HashMap<PathBuf, Pdf>> {
        // A panic while the map was locked left it whole: every change is a single operation.
        self.lying.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that the PDF is in its file.
    fn has_file(&self, path: PathBuf, size: u64) {
        self.lying().insert(path, Pdf { size, in_memory: None });
    }

    /// Keeps the PDF in memory. If its file exists already, hands the bytes back.
    fn keep(&self, path: &Path, bytes: Vec<u8>, room: OwnedSemaphorePermit) -> Result<Content, Vec<u8>> {
        let mut lying = self.lying();
        if lying.get(path).is_some_and(|pdf| pdf.in_memory.is_none()) {
            return Err(bytes);
        }
        let (size, content) = (bytes.len() as u64, Content::from(bytes));
        let in_memory = Some(InMemory { content: content.clone(), _room: room });
        lying.insert(path.to_owned(), Pdf { size, in_memory });
        Ok(content)
    }

    /// Announces a download of this many bytes. It counts until the returned value is dropped.
    pub fn announce(&self, bytes: u64) -> Announced {
        let before = self.coming.fetch_add(bytes, Ordering::Relaxed);
        Announced { taken: self.used().saturating_add(before), bytes, coming: self.coming.clone() }
    }

    /// Bytes of all PDFs in the spool.
    pub fn used(&self) -> u64 {
        self.lying().values().map(|pdf| pdf.size).sum()
    }

    /// The path of a document's PDF in this round.
    pub fn path(&self, id: i64, round: i64) -> PathBuf {
        self.folder.join(format!("{id}-{round}.pdf"))
    }

    /// The number and round of the document that this PDF belongs to.
    fn whose(&self, path: &Path) -> Option<(i64, i64)> {
        let (id, round) = path.file_name()?.to_str()?.strip_suffix(".pdf")?.split_once('-')?;
        let (id, round) = (id.parse().ok()?, round.parse().ok()?);
        (self.path(id, round) == path).then_some((id, round))
    }

    /// Removes files that no document waits for: downloads that broke off, and PDFs whose document has moved on. It
    /// works in batches, so that a spool of any size costs little memory.
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
            let spool = self.clone();
            let leftovers = ledger.read(move |db| {
                let mut leftovers = Vec::new();
                for (path, whose) in ours {
                    let wanted = match whose {
                        Some((id, round)) => documents::spooled(db, id, round)?,
                        None => None,
                    };
                    match wanted {
                        Some(bytes) => spool.has_file(path, bytes),
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
                    // Another program reads the file (an antivirus): the next start tries again.
                    Err(error) => tracing::warn!(event = "spool_leftover", "a leftover stays in the spool: {error}"),
                }
            }
        }
    }

    /// Whether the spool holds the PDF of a document in this round.
    pub fn holds(&self, id: i64, round: i64) -> bool {
        self.lying().contains_key(&self.path(id, round))
    }

    /// The PDF that the ledger says was fetched in this round.
    pub fn pdf(&self, id: i64, round: i64, size: u64, sha256: String) -> Spooled {
        let path = self.path(id, round);
        let in_memory = self.lying().get(&path).and_then(|pdf| Some(pdf.in_memory.as_ref()?.content.clone()));
        Spooled { path, in_memory, size, sha256 }
    }

    /// Writes every PDF that is in memory to its file: these PDFs wait now, and then need not be fetched again after a
    /// restart. If one cannot be written, it and the rest stay in memory.
    pub async fn write_all(&self) {
        let _writing = self.writing.lock().await;
        let in_memory = |(path, pdf): (&PathBuf, &Pdf)| Some((path.clone(), pdf.in_memory.as_ref()?.content.clone()));
        let waiting: Vec<(PathBuf, Content)> = self.lying().iter().filter_map(in_memory).collect();
        for (path, content) in waiting {
            if self.leaves_room(0, content.as_ref().len() as u64).is_err() || self.write(&path, content).await.is_err()
            {
                return;
            }
            let is_wanted = self.lying().get_mut(&path).map(|pdf| pdf.in_memory = None).is_some();
            // The PDF was delivered meanwhile.
            if !is_wanted {
                self.remove_file(path).await;
            }
        }
    }

    /// Whether the disk keeps its reserve if `bytes` more are written for a PDF of which `written` bytes are on the
    /// disk. If not, the disk counts as full.
    fn leaves_room(&self, written: u64, bytes: u64) -> io::Result<()> {
        let held = self.used().saturating_add(written).saturating_add(bytes);
        let reserve = (held / RESERVE_PART).min(RESERVE);
        match self.disk.free(&self.folder) {
            Some(free) if free < reserve.saturating_add(bytes) => Err(ErrorKind::StorageFull.into()),
            _ => Ok(()),
        }
    }

    /// Writes the whole file, or leaves none.
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

    /// Removes the PDF of a round that is over. If another program reads the file (an antivirus), [`Self::remove_left`]
    /// tries again.
    async fn remove_file(&self, path: PathBuf) {
        if let Err(error) = self.disk.remove(&path).await
            && error.kind() != ErrorKind::NotFound
        {
            tracing::debug!(event = "spool_leftover", "a leftover stays in the spool for now: {error}");
            self.left.lock().unwrap_or_else(PoisonError::into_inner).push(path);
        }
    }

    /// Removes the files that could not be removed before.
    pub async fn remove_left(&self) {
        let left = std::mem::take(&mut *self.left.lock().unwrap_or_else(PoisonError::into_inner));
        for path in left {
            self.remove_file(path).await;
        }
    }

    /// Removes the PDF of a document that no longer needs it.
    pub async fn remove(&self, id: i64, round: i64) {
        fault_point!("spool.remove.before");
        let path = self.path(id, round);
        let removed = self.lying().remove(&path);
        if removed.is_none_or(|pdf| pdf.in_memory.is_none()) {
            self.remove_file(path).await;
        }
        fault_point!("spool.remove.after");
    }

    /// Begins a download of `expected` bytes, as far as is known. The file is created when there is something to write.
    /// If the PDF may do without a file, this waits for room in memory, so that documents are fetched as fast as they
    /// are delivered. It waits only a moment: PDFs that stay in memory longer wait for something, and get files.
    pub async fn begin(&self, id: i64, round: i64, expected: Option<u64>, without_file: bool) -> Incoming {
        let expected = expected.and_then(|expected| usize::try_from(expected).ok()).unwrap_or(BUFFER_BYTES);
        // A download of the same round writes to the same path, so the leftover there must not be removed any more.
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

/// A download that was announced, until it is dropped.
pub struct Announced {
    taken: u64,
    bytes: u64,
    coming: Arc<AtomicU64>,
}

impl Announced {
    /// Whether the spool would exceed `limit` bytes with this download and those announced before it. Any download fits
    /// into an empty spool.
    pub fn exceeds(&self, limit: u64) -> bool {
        self.taken > 0 && self.taken.saturating_add(self.bytes) > limit
    }
}

impl Drop for Announced {
    fn drop(&mut self) {
        self.coming.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// A download under way. Its file has its final name from the beginning. No document waits for the file before the
/// ledger holds its length and digest. The next try or the next start removes a leftover.
pub struct Incoming {
    spool: Spool,
    path: PathBuf,
    /// Room for as many bytes as were expected; `None`: the PDF gets a file.
    room: Option<OwnedSemaphorePermit>,
    gathered: Vec<u8>,
    file: Option<File>,
    hash: Sha256,
    size: u64,
}

impl Incoming {
    /// The number of bytes so far.
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

    /// Writes the gathered bytes into the file; more will follow.
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

    /// Ends the download. The PDF is then in memory or in its file.
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
            // If the length was not known, gives back the room that was not needed.
            let room = self.room.take().and_then(|mut room| room.split(self.gathered.len()));
            let kept = match room {
                Some(room) => self.spool.keep(&self.path, self.gathered, room),
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
            self.spool.has_file(self.path.clone(), self.size);
        }
        Ok(Spooled { path: self.path, in_memory, size: self.size, sha256 })
    }

    /// Gives up the download, and removes its file.
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
