//! Finding the program as the system would, so that `check` and a delivery speak of the same file.

use std::env;
use std::io;
use std::path::{Path, PathBuf};

/// The program's file, or what is wrong with it and what to do.
pub(super) fn find(program: &Path) -> Result<PathBuf, String> {
    let shown = program.display();
    let by_path = program.is_absolute() || program.components().count() > 1;
    let folders = if by_path { vec![PathBuf::new()] } else { search_path() };
    let mut refused = None;
    for file in folders.iter().flat_map(|folder| spellings(&folder.join(program))) {
        match usable(&file) {
            Ok(()) => return Ok(file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    Err(match refused {
        Some(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            format!("its program `{shown}` may not be executed: make it executable for the service's user")
        }
        Some(error) => format!("its program `{shown}` cannot be used: {}", super::fault::system_text(&error)),
        None if by_path => format!("its program `{shown}` does not exist: correct `program`"),
        None => format!("its program `{shown}` is not in the service's PATH: give its full path as `program`"),
    })
}

/// Relative entries are left out: the service's working directory is nobody's choice.
fn search_path() -> Vec<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).filter(|folder| folder.is_absolute()).collect()
}

#[cfg(unix)]
fn spellings(file: &Path) -> Vec<PathBuf> {
    vec![file.to_owned()]
}

/// Windows tries the extensions in PATHEXT when a name has none.
#[cfg(windows)]
fn spellings(file: &Path) -> Vec<PathBuf> {
    if file.extension().is_some() {
        return vec![file.to_owned()];
    }
    let extensions = env::var_os("PATHEXT").unwrap_or_else(|| ".COM;.EXE;.BAT;.CMD".into());
    let extensions = extensions.to_string_lossy().into_owned();
    extensions
        .split(';')
        .filter(|extension| extension.starts_with('.'))
        .map(|extension| with(file, extension))
        .collect()
}

#[cfg(windows)]
fn with(file: &Path, extension: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(extension);
    name.into()
}

fn usable(file: &Path) -> io::Result<()> {
    if !std::fs::metadata(file)?.is_file() {
        return Err(io::ErrorKind::NotFound.into());
    }
    #[cfg(unix)]
    rustix::fs::access(file, rustix::fs::Access::EXEC_OK)?;
    Ok(())
}
