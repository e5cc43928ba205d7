//! Why a sandbox could not start, or could not do what its owner asked.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Why a sandbox could not start, or could not do what its owner asked. A client sees only its text, in a 500.
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
    /// The store file cannot be opened, or is no store.
    #[error("cannot keep the state in {}: {source}; choose another file, or delete it if it is damaged", path.display())]
    StoreFile {
        /// The file asked for.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// Another sandbox keeps its state in the store file.
    #[error(
        "another sandbox keeps its state in {}: end that one, or choose another file (a store is one sandbox's)",
        path.display()
    )]
    StoreInUse {
        /// The file asked for.
        path: PathBuf,
    },
    /// The file system does not tell who uses the store file.
    #[error("cannot keep the state in {}: its lock file cannot be had ({source}); choose another file", path.display())]
    StoreLock {
        /// The file asked for.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The store file is a database of something else.
    #[error("the store file is a database that no sandbox made; choose another file")]
    ForeignStore,
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
    /// No audio has this uuid.
    #[error("there is no audio {uuid}")]
    NoAudio {
        /// The uuid asked for.
        uuid: String,
    },
    /// The audio has reached the end of its workflow.
    #[error("the audio {uuid} is {step}, and from there it goes nowhere")]
    AudioEnded {
        /// The audio's uuid.
        uuid: String,
        /// The step it is at.
        step: &'static str,
    },
    /// No step of the workflow has this name.
    #[error("\"{step}\" is no step of the workflow; choose one of {}", crate::describe::records::STEPS_1_1.join(", "))]
    NoSuchStep {
        /// The name given.
        step: String,
    },
    /// No patient has this uuid.
    #[error("there is no patient {uuid}")]
    NoPatient {
        /// The uuid asked for.
        uuid: String,
    },
    /// No practice has this uuid.
    #[error("there is no practice {uuid}; POST /admin/organizations makes one")]
    NoOrganization {
        /// The uuid asked for.
        uuid: String,
    },
    /// The email address already has another user.
    #[error(
        "uuid: {uuid} is not the uuid of the user with the email address {email}; leave it out to make or change that user"
    )]
    OtherUser {
        /// The uuid given.
        uuid: String,
        /// The email address given.
        email: String,
    },
    /// The system has no random numbers to give.
    #[error("no random numbers can be had: {0}")]
    Random(String),
    /// A document's owner was named by a key that does not exist.
    #[error("no API key is \"{key}\"; give it in Options::api_keys")]
    NoSuchKey {
        /// The key named.
        key: String,
    },
    /// The redirect address is one that no browser can follow.
    #[error("the redirect address \"{uri}\" cannot be used: {reason}")]
    RedirectUri {
        /// The address given.
        uri: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Nobody with this email address can sign in.
    #[error("no user has the email address \"{email}\"; name one in Options::users or Options::api_keys")]
    NoSuchUser {
        /// The address named.
        email: String,
    },
    /// A scope that the description does not list.
    #[error("there is no scope \"{scope}\"; the description's section Scopes lists them all")]
    UnknownScope {
        /// The scope named.
        scope: String,
    },
    /// [`crate::Sandbox::wait_for`] ran out of time.
    #[error("what was waited for did not happen within {0:?}")]
    TimedOut(std::time::Duration),
    /// The runtime stopped during the work.
    #[error("the work was cut short: {0}")]
    Interrupted(String),
}
