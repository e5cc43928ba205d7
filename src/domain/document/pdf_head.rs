//! Recognises by the first bytes of a download whether it is a PDF, and if not, what it is.

use thiserror::Error;

/// The start of the header (ISO 32000-1, section 7.5.2).
const HEADER: &[u8] = b"%PDF-";
/// Viewers accept a header anywhere in this many first bytes (ISO 32000-1, implementation note 13), since mailers and
/// archives put their own data before it.
const WINDOW: usize = 1024;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The start of a download so far.
#[derive(Debug, Default)]
pub struct PdfHead {
    /// The bytes before the header is found, up to [`WINDOW`].
    head: Vec<u8>,
    has_header: bool,
    /// Whether anything but blanks follows the header.
    has_body: bool,
}

/// What came instead of a PDF, as far as the first bytes show. Quotes nothing of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum NotPdf {
    /// Nothing, or only blanks.
    #[error("the download is empty")]
    Empty,
    /// An HTML or XML page.
    #[error("the download is not a PDF but HTML or XML (a proxy's or login page?)")]
    Markup,
    /// An object or a list.
    #[error("the download is not a PDF but JSON (an error message?)")]
    Json,
    /// A header with nothing after it.
    #[error("the download is not a PDF: it ends right behind its %PDF-")]
    HeaderOnly,
    /// Anything else.
    #[error("the download is not a PDF: it has no %PDF- in its first {WINDOW} bytes")]
    Other,
}

impl PdfHead {
    /// Whether a PDF begins with these bytes.
    pub fn is_of_pdf(bytes: &[u8]) -> bool {
        let mut head = Self::default();
        head.take(bytes).and_then(|()| head.end()).is_ok()
    }

    /// Takes the next piece.
    ///
    /// # Errors
    /// The bytes so far begin no PDF.
    pub fn take(&mut self, piece: &[u8]) -> Result<(), NotPdf> {
        if self.has_header {
            self.has_body = self.has_body || !is_blank(piece);
            return Ok(());
        }
        let (within, beyond) = piece.split_at(piece.len().min(WINDOW - self.head.len()));
        self.head.extend(within);
        let header = self.head.windows(HEADER.len()).position(|bytes| bytes == HEADER);
        let Some((before, rest)) = header.and_then(|at| self.head.split_at_checked(at)) else {
            return match kind_of(&self.head) {
                _ if self.head.len() < WINDOW => Ok(()),
                // More text may follow the blanks.
                NotPdf::Empty => Err(NotPdf::Other),
                other => Err(other),
            };
        };
        match kind_of(before) {
            // A page or a message that mentions PDFs.
            other @ (NotPdf::Markup | NotPdf::Json) => return Err(other),
            _ => self.has_header = true,
        }
        self.has_body = !is_blank(rest.strip_prefix(HEADER).unwrap_or(rest)) || !is_blank(beyond);
        Ok(())
    }

    /// Ends the download.
    ///
    /// # Errors
    /// It ended before it was recognised as a PDF.
    pub fn end(&self) -> Result<(), NotPdf> {
        match (self.has_header, self.has_body) {
            (true, true) => Ok(()),
            (true, false) => Err(NotPdf::HeaderOnly),
            (false, _) => Err(kind_of(&self.head)),
        }
    }
}

/// The kind of text that begins with these bytes.
fn kind_of(bytes: &[u8]) -> NotPdf {
    let bytes = bytes.trim_ascii_start();
    match bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes).trim_ascii_start().first() {
        None => NotPdf::Empty,
        Some(b'<') => NotPdf::Markup,
        Some(b'{' | b'[') => NotPdf::Json,
        Some(_) => NotPdf::Other,
    }
}

fn is_blank(bytes: &[u8]) -> bool {
    bytes.trim_ascii().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&[u8]]) -> Result<(), NotPdf> {
        let mut head = PdfHead::default();
        pieces.iter().try_for_each(|piece| head.take(piece)).and_then(|()| head.end())
    }

    /// `tests/it/pdfs.rs` has inputs that the sandbox also gets.
    #[test]
    fn a_header_is_found_whatever_pieces_it_comes_in() {
        let body = [b"\0\xff junk ".repeat(20).as_slice(), b"%PDF-1.4\n", &b"x".repeat(4000)].concat();
        for size in [1, 2, 3, 7, 1024, 5000] {
            assert_eq!(read(&body.chunks(size).collect::<Vec<_>>()), Ok(()), "in pieces of {size}");
        }
    }

    #[test]
    fn what_is_none_is_known_by_its_first_1024_bytes() {
        let mut head = PdfHead::default();
        assert_eq!(head.take(&b"a".repeat(WINDOW - 1)), Ok(()));
        assert_eq!(head.take(b"a"), Err(NotPdf::Other), "nothing more is read");
        for (head, what) in [
            (&b"<"[..], NotPdf::Markup),
            (b"\r\n\xef\xbb\xbf\n<p>%PDF-1.7 is a PDF", NotPdf::Markup),
            (b" [", NotPdf::Json),
            (b"{\"%PDF-\"", NotPdf::Json),
            (b"", NotPdf::Empty),
            (b"\xef\xbb\xbf \r\n", NotPdf::Empty),
            (b"%PDF", NotPdf::Other),
            (b"%PDF-", NotPdf::HeaderOnly),
            (b"x%PDF-\r\n", NotPdf::HeaderOnly),
        ] {
            assert_eq!(read(&[head]), Err(what), "{head:?}");
        }
        assert_eq!(read(&[&b" ".repeat(WINDOW)]), Err(NotPdf::Other), "more may follow the blanks");
    }
}
