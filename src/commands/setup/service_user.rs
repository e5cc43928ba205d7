//! The service's user, and what that user may do with the folder for letters.

use std::path::Path;

use super::super::{check, told};
use super::ask::as_whom;
use crate::formats::language::Language;
use crate::system::readers::{self, ENTER, Permissions, READ, Reader, WRITE};

/// The folder in which systemd creates the state folders of services.
const OF_SYSTEMD: &str = "/var/lib";

/// The user that the packages create.
const OF_PACKAGES: &str = "docsyncd";

/// The user that the service will run as; `None` if no other than the present user is known. Also on Windows, where
/// folders inherit access lists.
pub(super) fn find(language: Language, named: Option<&str>) -> Result<Option<Reader>, String> {
    if cfg!(windows) || !is_root() {
        return match named {
            Some(_) => Err(language.text("setup-only-root")),
            None => Ok(None),
        };
    }
    match named {
        Some(name) => {
            let found = readers::find(name).map_err(|why| told::because(language, "told-answer", &[], &why))?;
            let is_user = found.uid.is_some();
            if is_user { Ok(Some(found)) } else { Err(language.fill("setup-group", &[("name", name.into())])) }
        }
        None => Ok(readers::find(OF_PACKAGES).ok().filter(|found| found.uid.is_some())),
    }
}

/// Whether the user can file letters in the folder, judged by modes: this process may be root, who always could.
pub(super) fn can_file(language: Language, user: &Reader, folder: &Path) -> Result<(), String> {
    if let Some(closed) = user.stopped_at(folder) {
        let closed = closed.display().to_string();
        return Err(language.fill("setup-stopped", &[("user", (&user.name).into()), ("folder", (&closed).into())]));
    }
    match readers::permissions(folder) {
        Some(found) if !user.may(READ | WRITE | ENTER, found) => {
            let Permissions { uid, mode, .. } = found;
            let (folder, uid) = (folder.display().to_string(), uid.to_string());
            let mode = format!("{:04o}", mode & 0o7777);
            let values = [
                ("folder", (&folder).into()),
                ("mode", (&mode).into()),
                ("owner", (&uid).into()),
                ("user", (&user.name).into()),
            ];
            Err(language.fill("setup-may-not-file", &values))
        }
        _ => Ok(()),
    }
}

/// Whether the user can read the file, judged by modes.
pub(super) fn can_read(language: Language, user: &Reader, file: &Path) -> Result<(), String> {
    let wrong = |text: &str, path: &Path| {
        let path = path.display().to_string();
        Err(language.fill(text, &[("user", (&user.name).into()), ("folder", (&path).into())]))
    };
    match (user.stopped_at(file), readers::permissions(file)) {
        (Some(closed), _) => wrong("setup-stopped", &closed),
        (None, Some(found)) if !user.may(READ, found) => wrong("setup-may-not-read", file),
        _ => Ok(()),
    }
}

/// Whether the service can keep its ledger there, as `user` if that is another one. systemd creates the folders of
/// `StateDirectory=` at the start, with the right owner.
pub(super) fn can_keep_ledger(language: Language, user: Option<&Reader>, ledger: &Path) -> Result<(), String> {
    let file = ledger.display().to_string();
    let wrong = |whom: &str, why: &str| {
        language.fill("setup-no-ledger", &[("file", (&file).into()), ("whom", whom.into()), ("why", why.into())])
    };
    check::can_be_written(ledger).map_err(|error| wrong(&as_whom(language), &error.to_string()))?;
    let Some(user) = user else { return Ok(()) };
    let above = |path: &Path| path.parent().is_some_and(Path::exists);
    let folder = ledger.ancestors().find(|path| above(path)).and_then(Path::parent).unwrap_or(Path::new("."));
    if ledger.parent() != Some(folder) && ledger.starts_with(OF_SYSTEMD) {
        return Ok(());
    }
    can_file(language, user, folder).map_err(|why| wrong("", &why))?;
    match readers::permissions(ledger) {
        Some(found) if !user.may(READ | WRITE, found) => {
            let values = [("user", (&user.name).into()), ("file", (&file).into())];
            Err(wrong("", &language.fill("setup-give-file", &values)))
        }
        _ => Ok(()),
    }
}

#[cfg(unix)]
pub(super) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[cfg(not(unix))]
pub(super) fn is_root() -> bool {
    false
}
