//! Content on its way to another machine, piece by piece: no PDF is ever in memory as a whole.

use std::io;

use tokio::fs::File;
use tokio::io::AsyncReadExt as _;

use super::super::files::{Digest, Hashing};
use super::super::{Outcome, spooled};
use crate::domain::document::{Content, Spooled};

enum From {
    File(File),
    Memory(io::Cursor<Content>),
}

/// The content to send. It yields its last piece only if the whole content is what was fetched.
pub(crate) struct Source {
    from: From,
    expected: Digest,
    /// Bytes that are still to come.
    left: u64,
    read: Hashing,
}

impl Source {
    /// The spooled PDF.
    ///
    /// # Errors
    /// [`Outcome::SpoolDamaged`] if the file is missing, a transient one if it cannot be read.
    pub(in crate::destinations) async fn of_spool(pdf: &Spooled) -> Result<Self, Outcome> {
        let from = match &pdf.in_memory {
            Some(content) => From::Memory(io::Cursor::new(content.clone())),
            None => From::File(File::open(&pdf.path).await.map_err(|error| spooled::unopened(&error))?),
        };
        Ok(Self::of(from, Digest::of_pdf(pdf)))
    }

    /// A text in memory.
    pub(in crate::destinations) fn of_bytes(bytes: Vec<u8>) -> Self {
        let expected = Digest::of(&bytes);
        Self::of(From::Memory(io::Cursor::new(bytes.into())), expected)
    }

    fn of(from: From, expected: Digest) -> Self {
        Self { from, left: expected.size, expected, read: Hashing::default() }
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
        if self.left == 0 {
            return Ok(None);
        }
        let mut piece = vec![0; usize::try_from(self.left).map_or(most, |left| left.min(most))];
        let mut filled = 0;
        while let Some(rest) = piece.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match self.fill(rest).await? {
                0 => return Err(Outcome::SpoolDamaged),
                read => filled += read,
            }
        }
        self.read.update(&piece);
        self.left -= filled as u64;
        if self.left == 0 {
            let is_longer = self.fill(&mut [0]).await? > 0;
            if is_longer || std::mem::take(&mut self.read).finish() != self.expected {
                return Err(Outcome::SpoolDamaged);
            }
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
