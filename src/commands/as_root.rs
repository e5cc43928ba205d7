//! Helps a person who works as root for a service of another user.
//!
//! What root creates in a folder of the service is handed over to the service. If root has created the folder itself,
//! nobody knows whose it should be, so the person is warned.

use super::Outcome;
use super::output::complain;
use crate::config::Loaded;
use crate::formats::language::Language;

/// Runs a command, and warns if it left the folder of `state.path` to root.
pub(super) fn warned(loaded: &Loaded, language: Language, command: impl FnOnce() -> Outcome) -> Outcome {
    let folder = loaded.config.state.path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let missing = folder.filter(|folder| is_root() && !folder.exists());
    let outcome = command();
    if let Some(folder) = missing.filter(|folder| folder.exists()) {
        let folder = folder.display().to_string();
        complain(&format!("docsyncd: {}", language.fill("root-made-folder", &[("folder", (&folder).into())])));
    }
    outcome
}

#[cfg(unix)]
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// On Windows new entries inherit the folder's access list.
#[cfg(not(unix))]
fn is_root() -> bool {
    false
}
