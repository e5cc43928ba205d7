//! The body of a request, streamed: the PDF is read from the spool while it is sent, as it is or in base64, so that a
//! hundred large uploads take no memory. Its length is known in advance, so that a server notices a missing part.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::stream;
use tokio::time::Instant;

use super::super::Outcome;
use super::super::remote::Source;
use crate::domain::document::Spooled;

/// Bytes of the PDF read at a time: a multiple of base64's groups of three, and no more than a slow line sends within a
/// second.
const CHUNK: usize = 24 * 1024;

/// A part of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::destinations) enum Piece {
    /// These bytes.
    Bytes(Vec<u8>),
    /// The PDF as it is.
    Pdf,
    /// The PDF in base64 (RFC 4648, section 4), without line breaks.
    PdfInBase64,
}

impl Piece {
    fn length(&self, pdf: u64) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Pdf => pdf,
            Self::PdfInBase64 => pdf.div_ceil(3).saturating_mul(4),
        }
    }
}

/// The length of a body of these pieces, in bytes.
fn length(pieces: &[Piece], pdf: u64) -> u64 {
    pieces.iter().map(|piece| piece.length(pdf)).fold(0, u64::saturating_add)
}

/// The body of a request.
pub(in crate::destinations) struct Upload {
    pieces: Vec<Piece>,
    length: u64,
    /// The PDF, which can be read repeatedly.
    pdf: Option<Spooled>,
    /// A source that can be read once.
    source: Option<Source>,
}

impl Upload {
    /// Pieces around a spooled PDF.
    pub(in crate::destinations) fn of_pdf(pieces: Vec<Piece>, pdf: &Spooled) -> Self {
        Self { length: length(&pieces, pdf.size), pieces, pdf: Some(pdf.clone()), source: None }
    }

    /// The source as it is.
    pub(in crate::destinations) fn of_source(source: Source) -> Self {
        Self { length: source.digest().size, pieces: vec![Piece::Pdf], pdf: None, source: Some(source) }
    }

    /// Its length in bytes.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// The body, and its progress.
    pub(super) fn stream(self) -> (reqwest::Body, Progress) {
        let progress = Progress::new(self.length == 0);
        let reader = BodyReader {
            left: self.pieces.into(),
            pdf: self.pdf,
            open: self.source,
            missing: self.length,
            progress: progress.clone(),
        };
        let chunks = stream::try_unfold(reader, |mut reader| async move {
            match reader.next().await {
                Ok(chunk) => Ok(chunk.map(|chunk| (chunk, reader))),
                Err(outcome) => {
                    reader.progress.with(|state| state.failed = Some(outcome));
                    Err(io::Error::from(io::ErrorKind::InvalidData))
                }
            }
        });
        (reqwest::Body::wrap_stream(chunks), progress)
    }
}

/// The progress of sending a body, for the task that waits for the answer.
#[derive(Debug, Clone)]
pub(super) struct Progress(Arc<Mutex<BodyProgress>>);

#[derive(Debug)]
struct BodyProgress {
    moved_at: Instant,
    whole: bool,
    failed: Option<Outcome>,
}

impl Progress {
    /// The progress of an empty body.
    pub(super) fn of_nothing() -> Self {
        Self::new(true)
    }

    fn new(whole: bool) -> Self {
        Self(Arc::new(Mutex::new(BodyProgress { moved_at: Instant::now(), whole, failed: None })))
    }

    fn with<T>(&self, look: impl FnOnce(&mut BodyProgress) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn moved(&self) {
        self.with(|state| state.moved_at = Instant::now());
    }

    /// When the HTTP client last took bytes to send.
    pub(super) fn moved_at(&self) -> Instant {
        self.with(|state| state.moved_at)
    }

    /// Whether the client took all bytes to send: from then on the other side may have them.
    pub(super) fn is_whole(&self) -> bool {
        self.with(|state| state.whole)
    }

    /// Why the content could not be read to its end; its end was then never sent.
    pub(super) fn failed(&self) -> Option<Outcome> {
        self.with(|state| state.failed.clone())
    }
}

struct BodyReader {
    left: VecDeque<Piece>,
    pdf: Option<Spooled>,
    open: Option<Source>,
    /// Bytes that are still to be given.
    missing: u64,
    progress: Progress,
}

impl BodyReader {
    async fn next(&mut self) -> Result<Option<Vec<u8>>, Outcome> {
        self.progress.moved();
        while let Some(piece) = self.left.front() {
            let chunk = match piece {
                Piece::Bytes(bytes) => {
                    let bytes = bytes.clone();
                    self.left.pop_front();
                    bytes
                }
                Piece::Pdf | Piece::PdfInBase64 => {
                    let in_base64 = *piece == Piece::PdfInBase64;
                    let Some(chunk) = self.read().await? else {
                        (self.open, _) = (None, self.left.pop_front());
                        continue;
                    };
                    if in_base64 { STANDARD.encode(chunk).into_bytes() } else { chunk }
                }
            };
            self.missing = self.missing.saturating_sub(chunk.len() as u64);
            if self.missing == 0 {
                self.progress.with(|state| state.whole = true);
            }
            return Ok(Some(chunk));
        }
        Ok(None)
    }

    /// The next bytes of the PDF. The last ones are returned only if the whole is what was fetched.
    async fn read(&mut self) -> Result<Option<Vec<u8>>, Outcome> {
        let open = match (&mut self.open, &self.pdf) {
            (Some(open), _) => open,
            (none, Some(pdf)) => none.insert(Source::of_spool(pdf).await?),
            (None, None) => return Err(Outcome::SpoolDamaged),
        };
        open.next(CHUNK).await
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use sha2::{Digest as _, Sha256};

    use super::*;
    use crate::domain::document::hex;

    fn spooled(folder: &tempfile::TempDir, content: &[u8]) -> Spooled {
        let path = folder.path().join("1.pdf");
        std::fs::write(&path, content).unwrap();
        Spooled { path, in_memory: None, size: content.len() as u64, sha256: hex(&Sha256::digest(content)) }
    }

    async fn sent(pieces: &[Piece], pdf: &Spooled) -> (Result<Vec<u8>, ()>, Progress) {
        let (mut body, progress) = Upload::of_pdf(pieces.to_vec(), pdf).stream();
        let mut bytes = Vec::new();
        while let Some(frame) = body.frame().await {
            match frame {
                Ok(frame) => {
                    let chunk = frame.into_data().unwrap();
                    assert!(chunk.len() <= CHUNK * 4 / 3, "no more than a chunk is in memory");
                    bytes.extend_from_slice(&chunk);
                }
                Err(_) => return (Err(()), progress),
            }
        }
        (Ok(bytes), progress)
    }

    #[tokio::test]
    async fn a_body_is_what_its_pieces_say_and_as_long_as_was_said_before() {
        let folder = tempfile::tempdir().unwrap();
        for size in [1, 2, 3, 4, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 7] {
            let content: Vec<u8> = (0..size).map(|at| u8::try_from(at % 251).unwrap()).collect();
            let pdf = spooled(&folder, &content);
            let pieces = [Piece::Bytes(b"<".to_vec()), Piece::Pdf, Piece::PdfInBase64, Piece::Bytes(b">".to_vec())];
            let (bytes, progress) = sent(&pieces, &pdf).await;
            let expected = [b"<", content.as_slice(), STANDARD.encode(&content).as_bytes(), b">"].concat();
            assert!(bytes.unwrap() == expected, "{size}");
            assert_eq!(length(&pieces, pdf.size), expected.len() as u64);
            assert!(progress.is_whole() && progress.failed().is_none());
        }
    }

    #[tokio::test]
    async fn the_end_of_a_file_that_is_not_what_was_fetched_is_never_sent() {
        let folder = tempfile::tempdir().unwrap();
        let content = vec![7; 2 * CHUNK];
        for damage in
            [&content[1..], &[content.as_slice(), b"more"].concat(), &[vec![7; 2 * CHUNK - 1], vec![8]].concat()]
        {
            let pdf = spooled(&folder, &content);
            std::fs::write(&pdf.path, damage).unwrap();
            let (bytes, progress) = sent(&[Piece::Pdf], &pdf).await;
            assert!(bytes.is_err() && progress.failed() == Some(Outcome::SpoolDamaged) && !progress.is_whole());
        }
        let pdf = spooled(&folder, &content);
        std::fs::remove_file(&pdf.path).unwrap();
        let (bytes, progress) = sent(&[Piece::Pdf], &pdf).await;
        assert!(bytes.is_err() && progress.failed() == Some(Outcome::SpoolDamaged) && !progress.is_whole());
    }
}
