//! Whom the service runs as, and what that user may do with the folder for the letters.

use std::path::Path;

use super::super::check;
use crate::readers::{self, ENTER, Permissions, READ, Reader, WRITE, as_whom};

/// Below it systemd makes the folders that its services keep their state in.
const OF_SYSTEMD: &str = "/var/lib";

/// The user that the packages make.
const OF_PACKAGES: &str = "docsyncd";

/// The user that the service will run as; `None` where nobody but this one is known (and on Windows, where folders hand
/// down their access lists).
pub(super) fn find(named: Option<&str>) -> Result<Option<Reader>, String> {
    if cfg!(windows) || !is_root() {
        return match named {
            Some(_) => Err("only root (sudo) can set things up for another user".to_owned()),
            None => Ok(None),
        };
    }
    match named {
        Some(name) => {
            let found = readers::find(name)?;
            if found.uid.is_none() { Err(format!("{name} is a group, not a user")) } else { Ok(Some(found)) }
        }
        None => Ok(readers::find(OF_PACKAGES).ok().filter(|found| found.uid.is_some())),
    }
}

/// Whether it can file letters in the folder, judged by modes: this process may be root, who always could.
pub(super) fn can_file(user: &Reader, folder: &Path) -> Result<(), String> {
    if let Some(closed) = user.stopped_at(folder) {
        let closed = closed.display();
        return Err(format!(
            "the service runs as {}, which may not pass through {closed}: chmod o+x {closed}",
            user.name
        ));
    }
    match readers::permissions(folder) {
        Some(found) if !user.may(READ | WRITE | ENTER, found) => {
            let Permissions { uid, mode, .. } = found;
            Err(format!(
                "the service runs as {0}, which may not write into {1} (mode {2:04o}, of user {uid}): give it the folder with \
                 chown {0} {1}",
                user.name,
                folder.display(),
                mode & 0o7777
            ))
        }
        _ => Ok(()),
    }
}

/// Whether it can read the file, judged in the same way.
pub(super) fn can_read(user: &Reader, file: &Path) -> Result<(), String> {
    let wrong =
        |what: String, mend: String| Err(format!("the service runs as {}, which may not {what}: {mend}", user.name));
    match (user.stopped_at(file), readers::permissions(file)) {
        (Some(closed), _) => {
            wrong(format!("pass through {}", closed.display()), format!("chmod o+x {}", closed.display()))
        }
        (None, Some(found)) if !user.may(READ, found) => {
            let file = file.display();
            wrong(
                format!("read {file}"),
                format!("let it, with chmod o+r {file}, or chgrp {} {file} and chmod g+r {file}", user.name),
            )
        }
        _ => Ok(()),
    }
}

/// Whether the service can keep its ledger there: as `user`, where that is another than this process's. What systemd
/// makes for a service (`StateDirectory=`) it makes at the start, as it should be.
pub(super) fn can_keep_ledger(user: Option<&Reader>, ledger: &Path) -> Result<(), String> {
    let wrong = |what: String| format!("the ledger {} cannot be written{what}", ledger.display());
    check::can_be_written(ledger).map_err(|error| wrong(format!("{}: {error}", as_whom())))?;
    let Some(user) = user else { return Ok(()) };
    let above = |path: &Path| path.parent().is_some_and(Path::exists);
    let folder = ledger.ancestors().find(|path| above(path)).and_then(Path::parent).unwrap_or(Path::new("."));
    if ledger.parent() != Some(folder) && ledger.starts_with(OF_SYSTEMD) {
        return Ok(());
    }
    can_file(user, folder).map_err(|why| wrong(format!(": {why}")))?;
    match readers::permissions(ledger) {
        Some(found) if !user.may(READ | WRITE, found) => Err(wrong(format!(
            ": the service runs as {0}: give it the file with chown {0} {1}",
            user.name,
            ledger.display()
        ))),
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
