//! The spool's disk in memory. It survives the daemon; a power cut damages it.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::task::{Context, Poll};

use async_trait::async_trait;
use tokio::io::AsyncWrite;

use super::clock;
use super::world::Shared;
use crate::pipeline::spool::disk::{Disk, File, Paths};

/// What lies on the disk.
pub(super) type Files = BTreeMap<PathBuf, Vec<u8>>;

/// The disk as a daemon uses it.
pub(super) struct SimulatedDisk(pub(super) Shared);

impl SimulatedDisk {
    fn full(&self) -> io::Result<()> {
        if self.0.lock().unwrap().spool_is_full() { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }
}

#[async_trait]
impl Disk for SimulatedDisk {
    async fn create(&self, path: &Path) -> io::Result<File> {
        clock::pass(2).await;
        self.full()?;
        self.0.lock().unwrap().files.insert(path.to_owned(), Vec::new());
        clock::pass(2).await;
        Ok(Box::new(Writer { world: self.0.clone(), path: path.to_owned() }))
    }

    async fn remove(&self, path: &Path) -> io::Result<()> {
        clock::pass(2).await;
        self.0.lock().unwrap().files.remove(path).map(drop).ok_or(io::ErrorKind::NotFound.into())
    }

    fn list(&self, _: &Path) -> io::Result<Paths> {
        let paths: Vec<_> = self.0.lock().unwrap().files.keys().cloned().map(Ok).collect();
        Ok(Box::new(paths.into_iter()))
    }
}

struct Writer {
    world: Shared,
    path: PathBuf,
}

impl AsyncWrite for Writer {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut world = self.world.lock().unwrap();
        if world.spool_is_full() {
            return Poll::Ready(Err(io::ErrorKind::StorageFull.into()));
        }
        // A file that was removed meanwhile is written all the same, by nobody's name, as on a real disk.
        if let Some(content) = world.files.get_mut(&self.path) {
            content.extend_from_slice(bytes);
        }
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
