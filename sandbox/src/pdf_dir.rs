//! Someone's own PDFs in place of invented ones.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::error::SandboxError;

/// The folder's PDF files by name, or what is wrong with the folder. Only the folder itself is looked at.
pub(crate) fn pdf_files(folder: &Path) -> Result<Vec<PathBuf>, SandboxError> {
    let refuse = |reason: String| SandboxError::PdfDir { folder: folder.to_owned(), reason };
    let entries = std::fs::read_dir(folder).map_err(|error| refuse(error.to_string()))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| refuse(error.to_string()))?.path();
        let named_pdf =
            path.extension().and_then(OsStr::to_str).is_some_and(|extension| extension.eq_ignore_ascii_case("pdf"));
        if named_pdf && path.is_file() {
            // The store keeps the path, and a restart may happen in another working directory.
            files.push(std::path::absolute(&path).map_err(|error| refuse(error.to_string()))?);
        }
    }
    if files.is_empty() {
        return Err(refuse("it holds no file named *.pdf".to_owned()));
    }
    files.sort();
    Ok(files)
}
