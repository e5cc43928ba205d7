//! The name of docsyncd's entries in the Event Log (log "Application").
//!
//! The texts are whole sentences, so docsyncd needs no message file of its own: the system's `EventCreate.exe` has, for
//! each number from 1 to 1000, a message that consists of the text alone.

use windows_registry::LOCAL_MACHINE;
use windows_sys::Win32::System::EventLog::{EVENTLOG_ERROR_TYPE, EVENTLOG_INFORMATION_TYPE, EVENTLOG_WARNING_TYPE};

use super::{NAME, ServiceError};

const SOURCES: &str = r"SYSTEM\CurrentControlSet\Services\EventLog\Application";
const MESSAGES: &str = r"%SystemRoot%\System32\EventCreate.exe";

/// Registers the source. Succeeds if it is already registered.
pub(super) fn register() -> Result<(), ServiceError> {
    let types = EVENTLOG_ERROR_TYPE | EVENTLOG_WARNING_TYPE | EVENTLOG_INFORMATION_TYPE;
    LOCAL_MACHINE
        .create(format!(r"{SOURCES}\{NAME}"))
        .and_then(|key| {
            key.set_expand_string("EventMessageFile", MESSAGES)?;
            key.set_u32("TypesSupported", u32::from(types))
        })
        .map_err(|error| ServiceError::of_system("register the source in the Event Log", &error.into()))
}

/// Removes the source, if it exists.
pub(super) fn unregister() {
    let _ = LOCAL_MACHINE.create(SOURCES).and_then(|sources| sources.remove_tree(NAME));
}
