//! Someone's own PDFs in place of invented ones.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::error::SandboxError;

/// A viewer accepts a PDF whose header is within this many bytes (ISO 32000-1, implementation note 13).
const HEADER_WITHIN: u64 = 1024;

/// The folder's PDF files by name, or what is wrong with the folder. Sub-folders are ignored, and so is a file with the
/// name that is no PDF.
pub(crate) fn pdf_files(folder: &Path) -> Result<Vec<PathBuf>, SandboxError> {
    let refuse = |reason: String| SandboxError::PdfDir { folder: folder.to_owned(), reason };
    let entries = std::fs::read_dir(folder).map_err(|error| refuse(error.to_string()))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| refuse(error.to_string()))?.path();
        let named_pdf =
            path.extension().and_then(OsStr::to_str).is_some_and(|extension| extension.eq_ignore_ascii_case("pdf"));
        if named_pdf && path.is_file() && is_pdf(&path).map_err(|error| refuse(error.to_string()))? {
            // The store keeps the path, and a restart may happen in another working directory.
            files.push(std::path::absolute(&path).map_err(|error| refuse(error.to_string()))?);
        }
    }
    if files.is_empty() {
        return Err(refuse("it holds no file named *.pdf that is a PDF".to_owned()));
    }
    files.sort();
    Ok(files)
}

/// Whether there is a header near the beginning, and content after it. A web page or JSON text about PDFs has none.
fn is_pdf(path: &Path) -> io::Result<bool> {
    let (file, mut head) = (File::open(path)?, Vec::new());
    (&file).take(HEADER_WITHIN).read_to_end(&mut head)?;
    let Some(at) = head.windows(5).position(|bytes| bytes == b"%PDF-") else { return Ok(false) };
    let (before, header) = head.split_at(at);
    let before = before.trim_ascii_start();
    let text = before.strip_prefix(b"\xef\xbb\xbf").unwrap_or(before).trim_ascii_start();
    if matches!(text.first(), Some(b'<' | b'{' | b'[')) {
        return Ok(false);
    }
    if header.iter().skip(5).any(|byte| !byte.is_ascii_whitespace()) {
        return Ok(true);
    }
    for byte in io::BufReader::new(file).bytes() {
        if !byte?.is_ascii_whitespace() {
            return Ok(true);
        }
    }
    Ok(false)
}
