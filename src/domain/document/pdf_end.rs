//! Recognises by the last bytes of a download whether a PDF is whole, where nobody says how long it is.

/// The end of a PDF (ISO 32000-1, section 7.5.5).
const END: &[u8] = b"%%EOF";
/// Real PDFs have up to some thousand bytes behind their end, of mailers, archives and scanners.
const WINDOW: usize = 8 * 1024;

/// The end of a download so far.
#[derive(Debug, Default)]
pub struct PdfEnd(Vec<u8>);

impl PdfEnd {
    /// Takes the next piece.
    pub fn take(&mut self, piece: &[u8]) {
        self.0.extend_from_slice(piece.get(piece.len().saturating_sub(WINDOW)..).unwrap_or_default());
        self.0.drain(..self.0.len().saturating_sub(WINDOW));
    }

    /// Whether a PDF ends with what came.
    pub fn is_there(&self) -> bool {
        self.0.windows(END.len()).any(|bytes| bytes == END)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_found_in_whatever_pieces_it_comes_and_with_junk_behind_it() {
        let content = b"%PDF-1.7\n".iter().chain(&[b'x'; 20_000]).chain(b"\n%%EOF\n").copied().collect::<Vec<u8>>();
        for size in [1, 3, 1024, WINDOW, 50_000] {
            for (junk, is_whole) in [(0, true), (4000, true), (WINDOW, false)] {
                let mut end = PdfEnd::default();
                let content = [content.as_slice(), &vec![0; junk]].concat();
                content.chunks(size).for_each(|piece| end.take(piece));
                assert_eq!(end.is_there(), is_whole, "{size} {junk}");
            }
            let mut end = PdfEnd::default();
            content[..content.len() / 2].chunks(size).for_each(|piece| end.take(piece));
            assert!(!end.is_there(), "half of it in pieces of {size}");
        }
        assert!(!PdfEnd::default().is_there());
    }
}
