//! Finds the program as the system does, so that `check` and a delivery use the same file.

use std::env;
use std::io;
use std::path::{Path, PathBuf};

use crate::system::readers::as_whom;

/// How much of a script's first line Linux reads, in bytes (execve(2)).
#[cfg(unix)]
const MOST_OF_A_LINE: u64 = 256;

/// The program's file, or what is wrong with it and what to do.
pub(in crate::destinations) fn find(program: &Path) -> Result<PathBuf, String> {
    let shown = program.display();
    let by_path = program.is_absolute() || program.components().count() > 1;
    let folders = if by_path { vec![PathBuf::new()] } else { search_path() };
    let mut refused = None;
    for file in folders.iter().flat_map(|folder| spellings(&folder.join(program))) {
        match usable(&file) {
            Ok(()) => {
                return match without_interpreter(&file) {
                    Some(why) => Err(format!("its program `{shown}` cannot be started: {why}")),
                    None => Ok(file),
                };
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => refused = refused.or(Some((file, error))),
        }
    }
    Err(match refused {
        Some((file, error)) if error.kind() == io::ErrorKind::PermissionDenied => format!(
            "its program `{}` may not be executed{}: make it executable for the service's user",
            file.display(),
            as_whom()
        ),
        Some((file, error)) => {
            format!("its program `{}` cannot be used: {}", file.display(), super::fault::system_text(&error))
        }
        None if by_path => format!("its program `{shown}` does not exist: correct `program`"),
        None => format!("its program `{shown}` is not in the service's PATH: give its full path as `program`"),
    })
}

/// The folders of PATH. Relative ones are left out, because nobody chooses the service's working directory.
fn search_path() -> Vec<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).filter(|folder| folder.is_absolute()).collect()
}

#[cfg(unix)]
fn spellings(file: &Path) -> Vec<PathBuf> {
    vec![file.to_owned()]
}

/// Windows tries the extensions in PATHEXT if a name has none.
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

/// What is wrong with a script's interpreter, named in its first line. The system itself only says that something does
/// not exist. A file that cannot be read is left to the system.
#[cfg(unix)]
fn without_interpreter(file: &Path) -> Option<String> {
    use std::io::Read as _;
    use std::os::unix::ffi::OsStrExt as _;
    let mut head = Vec::new();
    std::fs::File::open(file).ok()?.take(MOST_OF_A_LINE).read_to_end(&mut head).ok()?;
    let line = head.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    if line.ends_with(b"\r") {
        return Some("its lines end as on Windows (CR LF): save it with Unix line ends (LF)".to_owned());
    }
    let name = line.trim_ascii_start().split(u8::is_ascii_whitespace).next()?;
    let interpreter = Path::new(std::ffi::OsStr::from_bytes(name));
    let is_missing = interpreter.is_absolute() && !interpreter.exists();
    is_missing.then(|| format!("its first line names {}, which does not exist", interpreter.display()))
}

#[cfg(not(unix))]
fn without_interpreter(_: &Path) -> Option<String> {
    None
}

fn usable(file: &Path) -> io::Result<()> {
    if !std::fs::metadata(file)?.is_file() {
        return Err(io::ErrorKind::NotFound.into());
    }
    #[cfg(unix)]
    rustix::fs::access(file, rustix::fs::Access::EXEC_OK)?;
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_script_whose_interpreter_is_missing_is_found_before_it_is_started() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("file-it");
        for (text, sign) in [
            ("#!/bin/sh\nexit 0\n", None),
            ("#! /bin/sh -e\n", None),
            ("#!/bin/sh\r\nexit 0\r\n", Some("Unix line ends")),
            ("#!/no/such/interpreter\n", Some("/no/such/interpreter, which does not exist")),
            ("\u{7f}ELF", None),
            ("", None),
        ] {
            fs::write(&script, text).unwrap();
            fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
            let found = find(&script);
            match sign {
                None => assert_eq!(found, Ok(script.clone()), "{text:?}"),
                Some(sign) => assert!(found.as_ref().is_err_and(|why| why.contains(sign)), "{text:?}: {found:?}"),
            }
        }
    }
}
