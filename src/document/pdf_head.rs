//! The first bytes of a download, whatever pieces it comes in: a PDF's, or what else it is.

use thiserror::Error;

/// What every PDF begins with (ISO 32000-1, section 7.5.2). Readers forgive other bytes before it; services send none.
const MAGIC: &[u8] = b"%PDF-";

/// The start of a download so far.
#[derive(Debug, Default)]
pub struct PdfHead(Vec<u8>);

/// What came in the place of a PDF, as far as its first bytes tell. Nothing of it is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum NotPdf {
    /// Nothing, or blanks.
    #[error("the download is empty")]
    Empty,
    /// A page.
    #[error("the download is not a PDF but HTML or XML (a proxy's or login page?)")]
    Markup,
    /// An object.
    #[error("the download is not a PDF but JSON (an error message?)")]
    Json,
    /// Anything else.
    #[error("the download is not a PDF: it does not begin with %PDF-")]
    Other,
}

impl PdfHead {
    /// Takes the next piece.
    ///
    /// # Errors
    /// With it this is the beginning of no PDF.
    pub fn take(&mut self, piece: &[u8]) -> Result<(), NotPdf> {
        if self.0.len() < MAGIC.len() {
            self.0.extend(piece.iter().take(MAGIC.len() - self.0.len()));
            if !MAGIC.starts_with(&self.0) {
                return Err(match self.other() {
                    // More may follow the blanks.
                    NotPdf::Empty => NotPdf::Other,
                    other => other,
                });
            }
        }
        Ok(())
    }

    /// There is no more.
    ///
    /// # Errors
    /// It ended before it was known to be a PDF.
    pub fn end(&self) -> Result<(), NotPdf> {
        if self.0.len() < MAGIC.len() { Err(self.other()) } else { Ok(()) }
    }

    fn other(&self) -> NotPdf {
        match self.0.trim_ascii_start().first() {
            None => NotPdf::Empty,
            Some(b'<') => NotPdf::Markup,
            Some(b'{') => NotPdf::Json,
            Some(_) => NotPdf::Other,
        }
    }
}
