//! What a file system error means for a delivery, in words for the person who can fix it.
//!
//! The words name the destination, the operation and the system's own text (which contains no path), never a rendered
//! name. Almost every failure may pass; only what can never work for this one document is permanent.

use std::io::{self, ErrorKind};
use std::path::Path;

use super::Outcome;
use crate::destinations::FolderConfig;
use crate::domain::failure::Code;
use crate::formats::language::ON_DISK;
use crate::system::readers::as_whom;

/// Where the operation was: the configured folder. The administrator chose it, so messages may name it.
#[derive(Debug, Clone, Copy)]
pub(super) struct At<'a> {
    /// NAME of the destination.
    pub(super) destination: &'a str,
    /// Its folder.
    pub(super) folder: &'a Path,
}

impl<'a> From<&'a FolderConfig> for At<'a> {
    fn from(config: &'a FolderConfig) -> Self {
        Self { destination: &config.name, folder: &config.path }
    }
}

/// The operation in the destination's folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doing {
    /// Looking at the configured folder itself.
    Open,
    /// Creating or entering a sub-folder, by its rendered name.
    MakeFolder,
    /// Creating a temporary file.
    Create,
    /// Writing a file.
    Write,
    /// Syncing a file or folder to the disk.
    Sync,
    /// Giving a file its rendered name.
    Rename,
    /// Looking at the file that has a rendered name.
    Compare,
    /// Removing a temporary file.
    Remove,
}

impl Doing {
    fn words(self) -> &'static str {
        match self {
            Self::Open => "cannot open its folder",
            Self::MakeFolder => "cannot open or create a sub-folder",
            Self::Create => "cannot create a file",
            Self::Write => "cannot write a file",
            Self::Sync => "cannot bring a file to the disk",
            Self::Rename => "cannot give a file its name",
            Self::Compare => "cannot read a file that has the same name",
            Self::Remove => "cannot remove a temporary file",
        }
    }

    /// Whether the document's own name is part of the call.
    fn names_the_document(self) -> bool {
        matches!(self, Self::MakeFolder | Self::Rename | Self::Compare)
    }
}

/// The outcome of a delivery that met `error`.
pub(super) fn outcome<'a>(at: impl Into<At<'a>>, doing: Doing, error: &io::Error) -> Outcome {
    let at = at.into();
    let destination = at.destination;
    if doing.names_the_document() && is_refused_name(error) {
        let reason = format!(
            "destination `{destination}`: its file system refuses the document's name ({}): shorten or simplify `file_name`",
            system_text(error)
        );
        return Outcome::permanent("name_refused", reason);
    }
    if error.kind() == ErrorKind::FileTooLarge && !system::limits_sizes() {
        let reason = format!(
            "destination `{destination}`: its file system does not take a file of this size ({})",
            system_text(error)
        );
        return Outcome::permanent("too_large", reason);
    }
    let reason = reason(at, doing, error);
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Outcome::NoRoom(reason),
        _ => Outcome::transient(code(error), reason),
    }
}

/// The kind of the system's error.
fn code(error: &io::Error) -> Code {
    Code::word(match error.kind() {
        ErrorKind::NotFound => "not_found",
        ErrorKind::PermissionDenied => "not_allowed",
        ErrorKind::ReadOnlyFilesystem => "read_only",
        ErrorKind::NotADirectory | ErrorKind::IsADirectory => "in_the_way",
        ErrorKind::OutOfMemory => "no_memory",
        _ => "not_written",
    })
}

/// The same as a message only, for a check.
pub(super) fn reason<'a>(at: impl Into<At<'a>>, doing: Doing, error: &io::Error) -> String {
    let at = at.into();
    // The first operation there is to remove what an earlier attempt may have left.
    let is_locked = matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem);
    let words = if doing == Doing::Remove && is_locked { "cannot write there" } else { doing.words() };
    let advice = advice(at, error);
    format!("destination `{}`: {words} ({}): {advice}", at.destination, system_text(error))
}

/// The system's text for its own errors. An error made elsewhere is named by its kind, because its text might quote
/// data.
pub(super) fn system_text(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(_) => error.to_string(),
        None => error.kind().to_string(),
    }
}

fn is_refused_name(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::InvalidFilename | ErrorKind::InvalidInput) || system::is_refused_name(error)
}

fn advice(at: At<'_>, error: &io::Error) -> String {
    let folder = at.folder.display();
    let user = as_whom();
    match error.kind() {
        ErrorKind::PermissionDenied => {
            format!("grant the service's user write access to the folder {folder} (this ran{user})")
        }
        ErrorKind::ReadOnlyFilesystem => {
            format!(
                "the folder {folder} is {} (this ran{user}): {}",
                system::READ_ONLY,
                system::make_writable(at.folder)
            )
        }
        ErrorKind::StorageFull => format!("free space {ON_DISK}{folder}"),
        ErrorKind::QuotaExceeded => {
            format!("raise the quota of the service's user (this ran{user}), or free space {ON_DISK}{folder}")
        }
        _ => general_advice(error).to_owned(),
    }
}

fn general_advice(error: &io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::NotFound => "is the share mounted?",
        ErrorKind::NotADirectory | ErrorKind::IsADirectory => "a file stands where a folder is needed: move it away",
        ErrorKind::StaleNetworkFileHandle => "mount the share anew",
        ErrorKind::TimedOut
        | ErrorKind::HostUnreachable
        | ErrorKind::NetworkUnreachable
        | ErrorKind::NetworkDown
        | ErrorKind::NotConnected
        | ErrorKind::ConnectionReset
        | ErrorKind::ConnectionAborted => "is the server of the share running and reachable?",
        ErrorKind::FileTooLarge => "raise the limit on the size of files (ulimit -f, LimitFSIZE=)",
        ErrorKind::OutOfMemory => "the machine is out of memory",
        _ => system::advice(error),
    }
}

const TRY_AGAIN: &str = "it is tried again; if it stays so, check the disk or the share";

#[cfg(unix)]
mod system {
    use std::io;
    use std::path::Path;

    use rustix::io::Errno;

    pub(super) const READ_ONLY: &str = "mounted read-only";

    /// A service of systemd sees folders that its unit does not name as mounted read-only.
    pub(super) fn make_writable(folder: &Path) -> String {
        let folder = folder.display();
        format!(
            "mount it read-write; where only the service sees it so, run systemctl edit docsyncd and add below [Service] \
             ReadWritePaths={folder}"
        )
    }

    /// EILSEQ: the name has characters that the file system's character set lacks.
    pub(super) fn is_refused_name(error: &io::Error) -> bool {
        Errno::from_io_error(error) == Some(Errno::ILSEQ)
    }

    /// Whether this process may only write files up to some size: then the limit may refuse, and not the file system.
    pub(super) fn limits_sizes() -> bool {
        rustix::process::getrlimit(rustix::process::Resource::Fsize).current.is_some()
    }

    pub(super) fn advice(error: &io::Error) -> &'static str {
        match Errno::from_io_error(error) {
            Some(Errno::IO) => "the disk or the share reports a fault: check it",
            Some(Errno::MFILE | Errno::NFILE) => "too many open files: raise the limit (LimitNOFILE=)",
            Some(Errno::LOOP) => "a symbolic link stands where the file belongs: remove it",
            _ => super::TRY_AGAIN,
        }
    }
}

#[cfg(windows)]
mod system {
    use std::io;
    use std::path::Path;

    use windows_sys::Win32::Foundation::{
        ERROR_BAD_NET_NAME, ERROR_BAD_NETPATH, ERROR_FILENAME_EXCED_RANGE, ERROR_INVALID_NAME, ERROR_IO_DEVICE,
        ERROR_LOCK_VIOLATION, ERROR_LOGON_FAILURE, ERROR_NETNAME_DELETED, ERROR_NETWORK_UNREACHABLE, ERROR_SEM_TIMEOUT,
        ERROR_SHARING_VIOLATION, ERROR_UNEXP_NET_ERR, ERROR_WRITE_PROTECT,
    };

    pub(super) const READ_ONLY: &str = "write-protected";

    pub(super) fn make_writable(_: &Path) -> &'static str {
        "make it writable"
    }

    fn code(error: &io::Error) -> Option<u32> {
        error.raw_os_error().map(i32::cast_unsigned)
    }

    pub(super) fn is_refused_name(error: &io::Error) -> bool {
        matches!(code(error), Some(ERROR_INVALID_NAME | ERROR_FILENAME_EXCED_RANGE))
    }

    pub(super) fn limits_sizes() -> bool {
        false
    }

    pub(super) fn advice(error: &io::Error) -> &'static str {
        match code(error) {
            Some(ERROR_SHARING_VIOLATION | ERROR_LOCK_VIOLATION) => {
                "another program has the file open (an importer or a virus scanner?): it is tried again"
            }
            Some(
                ERROR_BAD_NETPATH
                | ERROR_BAD_NET_NAME
                | ERROR_NETNAME_DELETED
                | ERROR_UNEXP_NET_ERR
                | ERROR_SEM_TIMEOUT
                | ERROR_NETWORK_UNREACHABLE,
            ) => "is the server of the share running and reachable?",
            Some(ERROR_LOGON_FAILURE) => {
                "the share refuses the service's account: run the service as a user who may use it"
            }
            Some(ERROR_WRITE_PROTECT) => "the disk is write-protected",
            Some(ERROR_IO_DEVICE) => "the disk or the share reports a fault: check it",
            _ => super::TRY_AGAIN,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pms() -> At<'static> {
        At { destination: "pms", folder: Path::new("/srv/import") }
    }

    #[test]
    fn a_message_about_rights_or_space_names_the_folder_and_who_wanted_it() {
        let user = as_whom();
        let said = reason(pms(), Doing::Create, &ErrorKind::PermissionDenied.into());
        let expected = format!(
            "destination `pms`: cannot create a file (permission denied): grant the service's user write access to the folder \
             /srv/import (this ran{user})"
        );
        assert_eq!(said, expected);
        let said = reason(pms(), Doing::Write, &ErrorKind::QuotaExceeded.into());
        assert!(
            said.ends_with(&format!("(this ran{user}), or free space on the disk that holds /srv/import")),
            "{said}"
        );
        let said = reason(pms(), Doing::Write, &ErrorKind::StorageFull.into());
        assert!(said.ends_with(": free space on the disk that holds /srv/import"), "{said}");
    }

    #[test]
    fn what_may_pass_is_transient_and_says_what_to_do() {
        for (kind, words) in [
            (ErrorKind::NotFound, "mounted?"),
            (ErrorKind::PermissionDenied, "grant"),
            (ErrorKind::StorageFull, "free space"),
            (ErrorKind::QuotaExceeded, "quota"),
            (ErrorKind::ReadOnlyFilesystem, "read-only"),
            (ErrorKind::TimedOut, "reachable"),
            (ErrorKind::StaleNetworkFileHandle, "anew"),
            (ErrorKind::Other, "tried again"),
        ] {
            for doing in [Doing::Open, Doing::Create, Doing::Write, Doing::Sync, Doing::Rename] {
                match outcome(pms(), doing, &kind.into()) {
                    Outcome::Transient { reason, .. } | Outcome::NoRoom(reason) => {
                        assert!(reason.contains(words) && reason.contains("`pms`"), "{reason}")
                    }
                    other => panic!("{kind}: {other:?}"),
                }
            }
        }
    }

    #[test]
    fn only_a_refused_name_or_size_is_permanent_and_only_where_it_is_the_documents() {
        let permanent =
            |doing, kind: ErrorKind| matches!(outcome(pms(), doing, &kind.into()), Outcome::Permanent { .. });
        assert!(permanent(Doing::Rename, ErrorKind::InvalidFilename));
        assert!(permanent(Doing::MakeFolder, ErrorKind::InvalidInput));
        assert!(permanent(Doing::Write, ErrorKind::FileTooLarge));
        assert!(!permanent(Doing::Open, ErrorKind::InvalidFilename));
        assert!(!permanent(Doing::Sync, ErrorKind::InvalidInput));
    }

    #[test]
    fn the_text_of_an_error_that_is_not_the_systems_is_not_passed_on() {
        let error = io::Error::new(ErrorKind::PermissionDenied, "/srv/Canary/letter.pdf");
        assert!(!reason(pms(), Doing::Write, &error).contains("Canary"));
    }

    #[cfg(unix)]
    #[test]
    fn the_systems_errors_are_told_apart() {
        let of = |errno: rustix::io::Errno| outcome(pms(), Doing::Rename, &errno.into());
        assert!(matches!(of(rustix::io::Errno::NAMETOOLONG), Outcome::Permanent { .. }));
        assert!(matches!(of(rustix::io::Errno::ILSEQ), Outcome::Permanent { .. }));
        assert!(matches!(of(rustix::io::Errno::IO), Outcome::Transient { reason, .. } if reason.contains("check it")));
        assert!(
            matches!(of(rustix::io::Errno::MFILE), Outcome::Transient { reason, .. } if reason.contains("LimitNOFILE"))
        );
    }
}
