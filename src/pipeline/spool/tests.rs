//! Which PDFs stay in memory, and which get a file.

use super::*;

/// A spool in a folder, with this many bytes of memory.
fn spool(memory: usize) -> (tempfile::TempDir, Spool) {
    let folder = tempfile::tempdir().unwrap();
    let spool = Spool::on(folder.path().to_owned(), Arc::new(LocalDisk), memory);
    (folder, spool)
}

/// Downloads this many bytes as document `id`. `told`: the length was known before.
async fn download(spool: &Spool, id: i64, bytes: usize, told: bool) -> Spooled {
    let expected = told.then_some(bytes as u64);
    let mut incoming = spool.begin(id, 0, expected, true).await;
    incoming.write(&vec![b'x'; bytes]).await.unwrap();
    incoming.finish().await.unwrap()
}

fn files(folder: &tempfile::TempDir) -> usize {
    std::fs::read_dir(folder.path()).unwrap().count()
}

#[tokio::test(start_paused = true)]
async fn a_small_pdf_needs_no_file_while_there_is_room_and_what_waits_for_room_gets_one() {
    let (folder, spool) = spool(1000);
    let first = download(&spool, 1, 600, true).await;
    assert_eq!((first.in_memory.as_ref().map(|content| content.as_ref().len()), files(&folder)), (Some(600), 0));
    assert_eq!(spool.pdf(1, 0, 600, first.sha256.clone()), first);
    // There is no room for it within a moment. So the first PDF waits for something, and both get files.
    let second = download(&spool, 2, 600, true).await;
    assert_eq!((second.in_memory, files(&folder), spool.used()), (None, 2, 1200));
    assert_eq!(spool.pdf(1, 0, 600, first.sha256).in_memory, None);
    assert!(download(&spool, 3, 600, true).await.in_memory.is_some(), "the room of the others was given back");
    assert!(download(&spool, 4, BUFFER_BYTES + 1, true).await.in_memory.is_none(), "too large");
    for id in 1..=4 {
        spool.remove(id, 0).await;
    }
    assert_eq!((files(&folder), spool.used(), spool.memory.available_permits()), (0, 0, 1000));
}

#[tokio::test(start_paused = true)]
async fn what_is_taken_for_a_length_that_was_not_told_is_given_back() {
    let (folder, spool) = spool(2 * BUFFER_BYTES);
    for id in 0..10 {
        assert!(download(&spool, id, 1000, false).await.in_memory.is_some());
    }
    assert_eq!((files(&folder), spool.memory.available_permits()), (0, 2 * BUFFER_BYTES - 10_000));
    drop(spool.begin(11, 0, None, true).await);
    assert_eq!(spool.memory.available_permits(), 2 * BUFFER_BYTES - 10_000, "a download that broke off");
}

#[tokio::test]
async fn a_download_is_counted_from_when_it_is_announced_until_it_is_over() {
    let (_folder, spool) = spool(1000);
    assert!(!spool.announce(600).exceeds(500), "a download larger than the limit fits into an empty spool");
    download(&spool, 1, 100, true).await;
    let first = spool.announce(200);
    assert!(!first.exceeds(300) && first.exceeds(299));
    let second = spool.announce(200);
    assert!(second.exceeds(499) && !second.exceeds(500));
    drop(first);
    assert!(!spool.announce(200).exceeds(500), "the PDF in the spool and the second download count");
    drop(second);
    spool.remove(1, 0).await;
    assert!(!spool.announce(600).exceeds(500));
}

/// A download that gets a file may end in an error of the disk. Then nothing is left.
#[tokio::test]
async fn a_download_that_cannot_be_written_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let slow = Arc::new(Slow(tokio::sync::Semaphore::new(0), tokio::sync::Semaphore::new(9), true));
    let spool = Spool::on(folder.path().to_owned(), slow, 0);
    let mut incoming = spool.begin(1, 0, Some(10), false).await;
    incoming.write(b"x").await.unwrap();
    assert!(incoming.finish().await.is_err());
    assert_eq!((files(&folder), spool.used()), (0, 0));
}

/// A disk whose `write` makes a file, says so, and waits until it may end; then it may fail.
struct Slow(tokio::sync::Semaphore, tokio::sync::Semaphore, bool);

#[async_trait::async_trait]
impl Disk for Slow {
    async fn create(&self, path: &Path) -> io::Result<File> {
        LocalDisk.create(path).await
    }

    async fn write(&self, path: &Path, content: Content) -> io::Result<()> {
        LocalDisk.write(path, content).await?;
        self.0.add_permits(1);
        self.1.acquire().await.unwrap().forget();
        if self.2 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    async fn remove(&self, path: &Path) -> io::Result<()> {
        LocalDisk.remove(path).await
    }

    fn list(&self, folder: &Path) -> io::Result<disk::Paths> {
        LocalDisk.list(folder)
    }
}

#[tokio::test]
async fn a_pdf_that_is_delivered_or_cannot_be_written_while_it_gets_its_file_leaves_none() {
    for fails in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let slow = Arc::new(Slow(tokio::sync::Semaphore::new(0), tokio::sync::Semaphore::new(0), fails));
        let spool = Spool::on(folder.path().to_owned(), slow.clone(), MEMORY);
        let pdf = download(&spool, 1, 10, true).await;
        let writing = tokio::spawn({
            let spool = spool.clone();
            async move { spool.write_all().await }
        });
        slow.0.acquire().await.unwrap().forget();
        if !fails {
            spool.remove(1, 0).await;
        }
        slow.1.add_permits(1);
        writing.await.unwrap();
        assert_eq!(files(&folder), 0, "{fails}");
        let left = spool.pdf(1, 0, 10, pdf.sha256.clone()).in_memory;
        assert_eq!(left.is_some(), fails, "a PDF that cannot be written stays in memory");
    }
}

#[cfg(windows)]
#[test]
fn nobody_else_can_look_into_the_folders_of_ledger_and_spool() {
    use crate::system::permissions::effective_acl::assert_closed;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("practice").join("state").join("ledger.sqlite3");
    let ledger = Ledger::open_exclusive(&path).unwrap();
    let spool = Spool::beside(&path).unwrap();
    for folder in [path.parent().unwrap(), &spool.folder] {
        assert_closed(folder);
    }
    drop(ledger);
}

/// A disk that refuses to remove files, as if an antivirus program held them on Windows.
struct Held(std::sync::atomic::AtomicBool);

#[async_trait::async_trait]
impl Disk for Held {
    async fn create(&self, path: &Path) -> io::Result<File> {
        LocalDisk.create(path).await
    }

    async fn remove(&self, path: &Path) -> io::Result<()> {
        if self.0.load(std::sync::atomic::Ordering::Relaxed) {
            return Err(ErrorKind::PermissionDenied.into());
        }
        LocalDisk.remove(path).await
    }

    fn list(&self, folder: &Path) -> io::Result<disk::Paths> {
        LocalDisk.list(folder)
    }
}

#[tokio::test]
async fn a_pdf_that_cannot_be_removed_is_removed_later() {
    let folder = tempfile::tempdir().unwrap();
    let held = Arc::new(Held(true.into()));
    let disk: Arc<dyn Disk> = Arc::clone(&held) as _;
    let spool = Spool::on(folder.path().to_owned(), disk, 0);
    download(&spool, 1, 10, true).await;
    for _ in 0..2 {
        spool.remove(1, 0).await;
        spool.remove_left().await;
        assert_eq!(files(&folder), 1);
    }
    held.0.store(false, std::sync::atomic::Ordering::Relaxed);
    spool.remove_left().await;
    assert_eq!((files(&folder), spool.left.lock().unwrap().len()), (0, 0));
}
