//! Permissions by modes.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::Path;

use crate::system::durable::{hand_over, open_with_mode};

pub(super) fn create_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)?;
    // The service owns what root creates for it. Follows no link that somebody may have put in its place.
    if let Ok(created) = open_with_mode(OpenOptions::new().read(true), path, 0o700) {
        hand_over(&created, path.parent().unwrap_or(Path::new(".")));
    }
    Ok(())
}

pub(super) fn protect_file(path: &Path) -> io::Result<()> {
    let (is_file, mut permissions) = match fs::metadata(path) {
        Ok(found) => (found.is_file(), found.permissions()),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    // Never changes a device, which belongs to the machine.
    if is_file && permissions.mode() & 0o077 != 0 {
        permissions.set_mode(0o600);
        fs::set_permissions(path, permissions)?;
    }
    Ok(())
}
