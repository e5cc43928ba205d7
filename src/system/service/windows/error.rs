//! Errors of the service controller, in words that say what to do.

use std::io;

use thiserror::Error;

/// An operation on the service failed.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct ServiceError(String);

impl ServiceError {
    /// An error with these words.
    pub(super) fn new(words: impl Into<String>) -> Self {
        Self(words.into())
    }

    /// An error of the system during `doing`.
    pub(super) fn of(doing: &str, error: &windows_service::Error) -> Self {
        match error {
            windows_service::Error::Winapi(system) => Self::of_system(doing, system),
            other => Self(format!("cannot {doing}: {other}")),
        }
    }

    /// The same for an I/O error.
    pub(super) fn of_system(doing: &str, error: &io::Error) -> Self {
        let advice = match error.raw_os_error() {
            Some(ACCESS_DENIED) => ". Do this in a console that was opened with \"Run as administrator\"",
            Some(NOT_INSTALLED) => ". The service is not installed: docsyncd service install",
            Some(DISABLED) => ". The service is disabled: choose another start type in services.msc",
            Some(LOGON_FAILED) => {
                ". The account of the service or its password is not right: services.msc, docsyncd, Log On"
            }
            Some(MARKED_FOR_DELETE) => ". The service is being removed: close services.msc and try again",
            _ => "",
        };
        Self(format!("cannot {doing}: {error}{advice}"))
    }
}

/// Whether the error says that the service does not exist.
pub(super) fn is_not_installed(error: &windows_service::Error) -> bool {
    matches!(error, windows_service::Error::Winapi(system) if system.raw_os_error() == Some(NOT_INSTALLED))
}

const ACCESS_DENIED: i32 = 5;
const DISABLED: i32 = 1058;
const NOT_INSTALLED: i32 = 1060;
const LOGON_FAILED: i32 = 1069;
const MARKED_FOR_DELETE: i32 = 1072;
