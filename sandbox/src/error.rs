//! Why a sandbox could not start or could not do what its owner asked.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Why a sandbox could not start or could not do what its owner asked. Requests never see it.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// A socket could not be opened.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address asked for.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// The SQLite store failed.
    #[error("the store failed: {0}")]
    Store(#[from] rusqlite::Error),
    /// A store file was written by another version.
    #[error(
        "the store was made by another version of the sandbox (its layout is {found}, this one writes {expected}); \
         delete the file to start afresh"
    )]
    StoreVersion {
        /// The layout found in the file.
        found: i64,
        /// The layout this version writes.
        expected: i64,
    },
    /// The folder of `--pdf-dir` cannot be used.
    #[error("cannot serve PDFs from {}: {reason}", folder.display())]
    PdfDir {
        /// The folder asked for.
        folder: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A PDF could not be made or read.
    #[error("the PDF {uuid} cannot be had: {reason}")]
    Pdf {
        /// The PDF's uuid.
        uuid: String,
        /// What went wrong.
        reason: String,
    },
    /// No document has this uuid.
    #[error("there is no document {uuid}")]
    NoDocument {
        /// The uuid asked for.
        uuid: String,
    },
    /// The document has no PDF.
    #[error("the document {uuid} has no PDF")]
    NoPdf {
        /// The document's uuid.
        uuid: String,
    },
    /// A document's owner was named by a key that does not exist.
    #[error("no API key is \"{key}\"; give it in Options::api_keys")]
    NoSuchKey {
        /// The key named.
        key: String,
    },
    /// [`crate::Sandbox::wait_for`] ran out of time.
    #[error("what was waited for did not happen within {0:?}")]
    TimedOut(std::time::Duration),
    /// The runtime stopped in the middle of the work.
    #[error("the work was cut short: {0}")]
    Interrupted(String),
}
