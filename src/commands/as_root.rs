//! A person who works as root for a service that is another user.
//!
//! In a folder that is the service's, what root creates is handed over to it. Whose a folder is to be that root has
//! just created itself, nobody can know: that has to be said.

use super::Outcome;
use super::output::complain;
use crate::config::Loaded;
use crate::formats::language::Language;

/// Carries out a command, and warns when it left the folder of `state.path` to root.
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

/// On Windows a folder hands down its access list, whoever creates something in it.
#[cfg(not(unix))]
fn is_root() -> bool {
    false
}
