//! The file of the list: its attributes, and reading it whole. It may be on a share that hangs.

use std::fmt;
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use super::csv::parse;
use super::doubt::{Doubt, Earlier};
use super::list::List;
use super::refused::Refused;
use crate::config::PatientsConfig;
use crate::domain::health::ListWrong;
use crate::system::answering::ask;

/// A file above this size is no list of patients; bytes.
const MAX_BYTES: usize = 256 << 20;
/// Bytes read at a time. Each read has its own time limit, so a share may be slow but must not hang.
const CHUNK: usize = 1 << 20;
/// A file counts once it has not changed for this long.
pub(super) const REST: Duration = Duration::from_secs(2);
/// A file with a modification time this long ago has rested, however wrong its share's clock is.
const SURELY_RESTED: Duration = Duration::from_secs(600);
/// How long a command waits for a file that is being written.
const PATIENCE: Duration = Duration::from_secs(20);

/// Why the list in the file does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListProblem {
    /// The file.
    pub file: PathBuf,
    /// What is wrong with it.
    pub why: Why,
}

impl fmt::Display for ListProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the list of patients {}: {}", self.file.display(), self.why)
    }
}

impl std::error::Error for ListProblem {}

/// What is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// There is no file.
    #[error("it is not there: export it there, or correct `patients.file`")]
    Missing,
    /// It cannot be read.
    #[error("it cannot be read ({0}): the user that runs docsyncd needs the right to read it")]
    Unreadable(String),
    /// It is a folder or a device.
    #[error("it is no file: name the exported file itself in `patients.file`")]
    NoFile,
    /// The share does not answer.
    #[error("it does not answer: does it lie on a share that is away?")]
    Hangs,
    /// The file kept changing, or another program keeps it locked.
    #[error("it is being written, or another program keeps it open: try again when the export has ended")]
    BeingWritten,
    /// It may not be whole, and has not rested yet.
    #[error(
        "{0}, so it may not be whole yet: it counts when it has not changed for a minute. Look at its end, or export it again"
    )]
    Doubtful(Doubt),
    /// Its content is no list.
    #[error("{0}")]
    Refused(Refused),
    /// The list is empty.
    #[error("it holds no patients: export it again. If that is right, run `docsyncd check`")]
    NoPatients,
    /// The list lost most of its rows.
    #[error(
        "it has {now} rows, and the one before had {before}: export it again. If that is right, run `docsyncd check`"
    )]
    Shrunk {
        /// Rows of the current list.
        before: usize,
        /// Rows of the list in the file.
        now: usize,
    },
    /// No letter that was filed has its patient in it.
    #[error(
        "it has the number of none of the {letters} letters that were filed with one: are these the numbers of the practice's software? If that is right, run `docsyncd check`"
    )]
    Strange {
        /// The number of these letters.
        letters: u64,
    },
    /// Reading it panicked.
    #[error("reading it ended in the middle, which is a defect of docsyncd: please report it. It is tried again")]
    Defect,
}

impl Why {
    /// The same in a word. `goes_on`: a list that was good before counts still.
    pub fn word(&self, goes_on: bool) -> ListWrong {
        let (kind, row) = match self {
            Self::Missing | Self::NoFile => ("missing", 0),
            Self::Unreadable(_) => ("unreadable", 0),
            Self::Hangs => ("away", 0),
            Self::BeingWritten | Self::Doubtful(_) => ("written", 0),
            Self::Refused(refused) => refused.word(),
            Self::NoPatients | Self::Shrunk { .. } => ("short", 0),
            Self::Strange { .. } => ("strange", 0),
            Self::Defect => ("content", 0),
        };
        ListWrong { kind: kind.to_owned(), row: u64::try_from(row).unwrap_or(0), goes_on }
    }
}

impl From<io::Error> for Why {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => Self::Missing,
            ErrorKind::TimedOut => Self::Hangs,
            ErrorKind::IsADirectory => Self::NoFile,
            _ if is_locked(&error) => Self::BeingWritten,
            ErrorKind::FileTooLarge => Self::Refused(Refused::TooLarge { limit: (MAX_BYTES >> 20) as u64 }),
            _ => Self::Unreadable(error.to_string()),
        }
    }
}

/// Whether another program holds a lock on the file. On a share of Windows the same lock is one of the first kinds.
fn is_locked(error: &io::Error) -> bool {
    // ERROR_SHARING_VIOLATION and ERROR_LOCK_VIOLATION.
    let is_of_windows = cfg!(windows) && matches!(error.raw_os_error(), Some(32 | 33));
    let is_busy =
        matches!(error.kind(), ErrorKind::ResourceBusy | ErrorKind::ExecutableFileBusy | ErrorKind::WouldBlock);
    is_of_windows || is_busy
}

/// The attributes that show a change of a file. If a file is overwritten in place within one tick of its time, with the
/// same length, Windows shows no change. Unix does: the change time of the inode, which nobody can set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Look {
    length: u64,
    /// Any difference means another file, even an older time: somebody may have put back yesterday's file.
    modified: Option<SystemTime>,
    #[cfg(unix)]
    inode_and_change: (u64, i64, i64),
}

impl Look {
    fn of(found: &Metadata) -> io::Result<Self> {
        match found.is_file() {
            false => Err(ErrorKind::IsADirectory.into()),
            true => Ok(Self {
                length: found.len(),
                modified: found.modified().ok(),
                #[cfg(unix)]
                inode_and_change: {
                    use std::os::unix::fs::MetadataExt as _;
                    (found.ino(), found.ctime(), found.ctime_nsec())
                },
            }),
        }
    }

    /// The file's present attributes. Takes as long as [`ask`] does.
    pub(super) fn at(file: &Path) -> Result<Self, Why> {
        Ok(ask(file, |file| Self::of(&std::fs::metadata(file)?))?)
    }

    /// Whether nobody can be writing the file, judged by its modification time alone.
    pub(super) fn has_surely_rested(&self) -> bool {
        let age = self.modified.and_then(|modified| SystemTime::now().duration_since(modified).ok());
        age.is_some_and(|age| age >= SURELY_RESTED)
    }
}

/// The list in the file; `None` if the file changed while it was read, or if `give_up` says so.
pub(super) fn read(config: &PatientsConfig, look: &Look, give_up: &dyn Fn() -> bool) -> Result<Option<List>, Why> {
    let bytes = bytes(&config.file, look, give_up)?;
    bytes.map(|bytes| parse(&bytes, config)).transpose().map_err(Why::Refused)
}

/// The bytes of the file; `None` as for [`read`].
fn bytes(path: &Path, look: &Look, give_up: &dyn Fn() -> bool) -> Result<Option<Vec<u8>>, Why> {
    let mut file = ask(path, |path| {
        let file = File::open(path)?;
        Look::of(&file.metadata()?)?;
        Ok(file)
    })?;
    let mut bytes = Vec::new();
    loop {
        let (back, chunk) = ask(path, move |_| {
            let mut chunk = Vec::new();
            file.by_ref().take(CHUNK as u64).read_to_end(&mut chunk)?;
            Ok((file, chunk))
        })?;
        file = back;
        if chunk.is_empty() {
            break;
        }
        bytes.extend_from_slice(&chunk);
        if bytes.len() > MAX_BYTES {
            return Err(io::Error::from(ErrorKind::FileTooLarge).into());
        }
        if give_up() {
            return Ok(None);
        }
    }
    if Look::at(path)? != *look {
        return Ok(None);
    }
    Ok(Some(bytes))
}

/// The list, for a command that runs once and files nothing by a doubtful one. Blocks: two seconds if the file has just
/// been written, longer if it is being written.
///
/// # Errors
/// What is wrong with the file, also that it may not be whole yet. An empty list is no error here.
pub fn load_once(config: &PatientsConfig, known: &Earlier) -> Result<List, ListProblem> {
    match look_once(config, known)? {
        (list, None) => Ok(list),
        (_, Some(doubt)) => Err(ListProblem { file: config.file.clone(), why: Why::Doubtful(doubt) }),
    }
}

/// The same, for somebody who decides about a doubtful list.
///
/// # Errors
/// What is wrong with the file.
pub fn look_once(config: &PatientsConfig, known: &Earlier) -> Result<(List, Option<Doubt>), ListProblem> {
    let is_wrong = |why| ListProblem { file: config.file.clone(), why };
    let (bytes, has_surely_rested) = rested(&config.file).map_err(is_wrong)?;
    let list = parse(&bytes, config).map_err(|refused| is_wrong(Why::Refused(refused)))?;
    let doubt = if has_surely_rested { None } else { known.doubt(&list, None) };
    Ok((list, doubt))
}

/// The bytes of the file, as [`load_once`] reads them.
///
/// # Errors
/// Why the file cannot be read.
pub fn read_once(file: &Path) -> Result<Vec<u8>, ListProblem> {
    rested(file).map(|(bytes, _)| bytes).map_err(|why| ListProblem { file: file.to_owned(), why })
}

/// The bytes, and whether the file has surely rested for longer than a doubtful list has to.
fn rested(file: &Path) -> Result<(Vec<u8>, bool), Why> {
    let began = Instant::now();
    while began.elapsed() < PATIENCE {
        let look = Look::at(file)?;
        if !look.has_surely_rested() {
            sleep(REST);
            if Look::at(file)? != look {
                continue;
            }
        }
        match bytes(file, &look, &|| false) {
            Ok(Some(bytes)) => return Ok((bytes, look.has_surely_rested())),
            Ok(None) => {}
            Err(Why::BeingWritten) => sleep(REST),
            Err(why) => return Err(why),
        }
    }
    Err(Why::BeingWritten)
}
