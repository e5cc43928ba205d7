//! Content on its way to another machine, piece by piece: no PDF is ever in memory as a whole.

use std::io;

use sha2::{Digest as _, Sha256};
use tokio::fs::File;
use tokio::io::AsyncReadExt as _;

use super::super::files::Digest;
use super::super::{Outcome, spooled};
use crate::document::{Content, Spooled, hex};

/// A digest that grows.
#[derive(Default)]
pub(in crate::adapters) struct Hashing {
    hash: Sha256,
    size: u64,
}

impl Hashing {
    pub(in crate::adapters) fn update(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
        self.size += bytes.len() as u64;
    }

    pub(in crate::adapters) fn size(&self) -> u64 {
        self.size
    }

    pub(in crate::adapters) fn finish(self) -> Digest {
        Digest { size: self.size, sha256: hex(&self.hash.finalize()) }
    }
}

enum From {
    File(File),
    Memory(io::Cursor<Content>),
}

/// The content to send. It yields its last piece only if the whole content is what was fetched.
pub(crate) struct Source {
    from: From,
    expected: Digest,
    read: Hashing,
}

impl Source {
    /// The spooled PDF.
    ///
    /// # Errors
    /// [`Outcome::SpoolDamaged`] if the file is missing, a transient one if it cannot be read.
    pub(in crate::adapters) async fn of_spool(pdf: &Spooled) -> Result<Self, Outcome> {
        let expected = Digest { size: pdf.size, sha256: pdf.sha256.to_ascii_lowercase() };
        if let Some(content) = &pdf.in_memory {
            let from = From::Memory(io::Cursor::new(content.clone()));
            return Ok(Self { from, expected, read: Hashing::default() });
        }
        let file = File::open(&pdf.path).await.map_err(|error| spooled::unopened(&error))?;
        Ok(Self { from: From::File(file), expected, read: Hashing::default() })
    }

    /// A text in memory.
    pub(in crate::adapters) fn of_bytes(bytes: Vec<u8>) -> Self {
        let expected = Digest::of(&bytes);
        Self { from: From::Memory(io::Cursor::new(bytes.into())), expected, read: Hashing::default() }
    }

    /// The digest of the whole content.
    pub(crate) fn digest(&self) -> &Digest {
        &self.expected
    }

    /// The next piece, of at most `most` bytes; `None` at the end.
    ///
    /// # Errors
    /// [`Outcome::SpoolDamaged`] if the content is not what was fetched; its last piece is then never returned.
    pub(crate) async fn next(&mut self, most: usize) -> Result<Option<Vec<u8>>, Outcome> {
        let left = self.expected.size.saturating_sub(self.read.size());
        if left == 0 {
            return Ok(None);
        }
        let mut piece = vec![0; most.min(usize::try_from(left).unwrap_or(most)).max(1)];
        let mut filled = 0;
        while let Some(rest) = piece.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match self.fill(rest).await? {
                0 => return Err(Outcome::SpoolDamaged),
                read => filled += read,
            }
        }
        self.read.update(&piece);
        if self.read.size() == self.expected.size {
            let mut beyond = [0];
            let is_longer = self.fill(&mut beyond).await? > 0;
            if is_longer || std::mem::take(&mut self.read).finish() != self.expected {
                return Err(Outcome::SpoolDamaged);
            }
            self.read.size = self.expected.size;
        }
        Ok(Some(piece))
    }

    async fn fill(&mut self, piece: &mut [u8]) -> Result<usize, Outcome> {
        let read = match &mut self.from {
            From::File(file) => file.read(piece).await,
            From::Memory(content) => content.read(piece).await,
        };
        read.map_err(|_| Outcome::SpoolDamaged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn pieces(content: &[u8], fetched: &[u8], most: usize) -> Result<Vec<usize>, Outcome> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("spooled");
        std::fs::write(&path, content).unwrap();
        let digest = Digest::of(fetched);
        let mut source =
            Source::of_spool(&Spooled { path, in_memory: None, size: digest.size, sha256: digest.sha256 }).await?;
        let mut pieces = Vec::new();
        while let Some(piece) = source.next(most).await? {
            pieces.push(piece.len());
        }
        Ok(pieces)
    }

    #[tokio::test]
    async fn a_file_comes_in_pieces_of_the_size_that_is_wanted() {
        assert_eq!(pieces(b"abcdefg", b"abcdefg", 3).await, Ok(vec![3, 3, 1]));
        assert_eq!(pieces(b"abcdef", b"abcdef", 3).await, Ok(vec![3, 3]));
        assert_eq!(pieces(b"", b"", 3).await, Ok(vec![]));
    }

    #[tokio::test]
    async fn the_end_of_what_was_not_fetched_is_never_given() {
        for other in [&b"abcdefX"[..], b"abcdef", b"abcdefgh", b""] {
            assert_eq!(pieces(other, b"abcdefg", 7).await, Err(Outcome::SpoolDamaged), "{other:?}");
        }
    }
}
