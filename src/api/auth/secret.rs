//! API keys and client secrets: from a file, the environment, or systemd's credentials.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use secrecy::SecretString;
use thiserror::Error;

use crate::config::{self, Account, Auth, OAuthConfig, Secret};

/// The longest key, secret or token that is taken for one; bytes.
pub(super) const MAX_SECRET_BYTES: usize = 16 * 1024;

/// An account that cannot authenticate as it is configured.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("account {account}: {what}")]
pub struct CredentialError {
    /// NAME of the account.
    pub account: String,
    /// What is wrong and what to do.
    pub what: String,
}

/// The API key of an account; `None` for one that signs in.
pub(super) fn api_key(account: &Account) -> Result<Option<SecretString>, CredentialError> {
    let Auth::ApiKey(secret) = &account.auth else { return Ok(None) };
    read(secret, "api_key_file", "key")
        .map(Some)
        .map_err(|what| CredentialError { account: account.name.clone(), what })
}

/// The client secret of an account that signs in.
///
/// # Errors
/// The secret's file is missing, open to others, empty or holds something that cannot be a secret.
pub fn client_secret(account: &str, oauth: &OAuthConfig) -> Result<SecretString, CredentialError> {
    read(&oauth.client_secret, "client_secret_file", "client secret")
        .map_err(|what| CredentialError { account: account.to_owned(), what })
}

/// Where the secret is read from; `None` when it is in the configuration, or its place is not known.
pub(super) fn file(secret: &Secret) -> Option<PathBuf> {
    match secret {
        Secret::Given(_) => None,
        Secret::File(path) => locate(path, std::env::var_os("CREDENTIALS_DIRECTORY")).ok().map(|(path, _)| path),
    }
}

fn read(secret: &Secret, key: &str, what: &str) -> Result<SecretString, String> {
    match secret {
        Secret::Given(value) => Ok(value.clone()),
        Secret::File(path) => read_file(path, std::env::var_os("CREDENTIALS_DIRECTORY"), key, what),
    }
}

fn read_file(path: &Path, credentials: Option<OsString>, key: &str, what: &str) -> Result<SecretString, String> {
    let (path, is_credential) = locate(path, credentials).map_err(|wrong| format!("{key} {wrong}"))?;
    let shown = path.display();
    let unreadable = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::PermissionDenied => format!("{key} {shown} cannot be read: {error}. {}", for_others(&path)),
        _ => format!("{key} {shown} cannot be read: {error}. Write the {what} into that file"),
    };
    let file = File::open(&path).map_err(unreadable)?;
    let found = file.metadata().map_err(unreadable)?;
    // Those of systemd are guarded by access lists, which show in the mode as rights of the group.
    if !is_credential && let Some(mode) = open_to_others(&found) {
        let quoted = path.to_string_lossy().replace('\'', r"'\''");
        return Err(format!("{key} {shown} is open to others (mode {mode:04o}): run chmod 600 '{quoted}'"));
    }
    let mut bytes = Vec::new();
    file.take(MAX_SECRET_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    let text = String::from_utf8(bytes).unwrap_or_else(|_| "\u{fffd}".to_owned());
    match text.trim_start_matches('\u{feff}').trim() {
        "" => Err(format!("{key} {shown} is empty: write the {what} into it")),
        secret if is_plausible(secret) => Ok(SecretString::from(secret)),
        _ => Err(format!("{key} {shown} does not hold a {what}: one line of letters, digits and signs is expected")),
    }
}

/// The file that is meant, and whether it is one of systemd's credentials (systemd.exec, "CREDENTIALS").
fn locate(path: &Path, credentials: Option<OsString>) -> Result<(PathBuf, bool), String> {
    let Some(name) = config::credential(path) else { return Ok((path.to_path_buf(), false)) };
    match credentials {
        Some(folder) if !folder.is_empty() => Ok((PathBuf::from(folder).join(name), true)),
        _ => Err(format!(
            "{} cannot be found: CREDENTIALS_DIRECTORY is not set. systemd sets it for a service with \
             LoadCredential={}:/the/file; elsewhere name the file itself",
            path.display(),
            name.display()
        )),
    }
}

/// Whether it can be a key, secret or token: visible ASCII, not too long.
pub(super) fn is_plausible(secret: &str) -> bool {
    !secret.is_empty() && secret.len() <= MAX_SECRET_BYTES && secret.bytes().all(|byte| byte.is_ascii_graphic())
}

/// The mode of a file that others than its owner can read or change.
#[cfg(unix)]
fn open_to_others(found: &fs::Metadata) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = found.permissions().mode() & 0o7777;
    (mode & 0o077 != 0).then_some(mode)
}

/// Where the packages have systemd's credentials; only root and systemd look into it.
#[cfg(unix)]
const OF_SYSTEMD: &str = "/etc/docsyncd/secrets";

/// What to do about a file that this process may not read.
#[cfg(unix)]
fn for_others(path: &Path) -> String {
    if let (true, Some(name)) = (path.starts_with(OF_SYSTEMD), path.file_name()) {
        let name = name.to_string_lossy();
        return format!(
            "Only systemd reads that folder, for the service: write \"$CREDENTIALS_DIRECTORY/{name}\" instead"
        );
    }
    let quoted = path.to_string_lossy().replace('\'', r"'\''");
    format!(
        "Run this as the service's user (docsyncd, where a package made it), or give that user the file: \
         chown docsyncd '{quoted}'"
    )
}

#[cfg(not(unix))]
fn for_others(_: &Path) -> String {
    "Let the account that the service runs as read that file".to_owned()
}

/// Windows has no modes; the folder's access list decides.
#[cfg(not(unix))]
fn open_to_others(_: &fs::Metadata) -> Option<u32> {
    None
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret as _;

    use super::*;

    fn write(folder: &Path, name: &str, content: &[u8], mode: u32) -> PathBuf {
        let path = folder.join(name);
        fs::write(&path, content).unwrap();
        #[cfg(unix)]
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
        let _ = mode;
        path
    }

    #[test]
    fn a_secret_is_one_line_whatever_editor_wrote_it() {
        let folder = tempfile::tempdir().unwrap();
        for content in ["k-1", "k-1\n", "\u{feff}k-1\r\n", "  k-1\t\n\n"] {
            let path = write(folder.path(), "key", content.as_bytes(), 0o600);
            assert_eq!(read_file(&path, None, "api_key_file", "key").unwrap().expose_secret(), "k-1", "{content:?}");
        }
        let long = vec![b'x'; MAX_SECRET_BYTES + 1];
        for content in [b"a b".as_slice(), b"a\nb", b"\xff\xfe", &long] {
            let path = write(folder.path(), "key", content, 0o600);
            let wrong = read_file(&path, None, "api_key_file", "key").unwrap_err();
            assert!(wrong.contains("does not hold a key"), "{wrong}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_to_do_about_a_file_of_somebody_else_depends_on_whose_it_is() {
        let told = for_others(Path::new("/etc/docsyncd/it's"));
        assert!(told.ends_with(r"chown docsyncd '/etc/docsyncd/it'\''s'"), "{told}");
        let told = for_others(Path::new("/etc/docsyncd/secrets/north/api-key"));
        assert!(told.contains("\"$CREDENTIALS_DIRECTORY/api-key\""), "{told}");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_can_read_is_refused_with_the_command_that_mends_it() {
        let folder = tempfile::tempdir().unwrap();
        for mode in [0o640, 0o604, 0o660, 0o644] {
            let path = write(folder.path(), "it's", b"k-1", mode);
            let wrong = read_file(&path, None, "api_key_file", "key").unwrap_err();
            let command = wrong.split("run ").nth(1).unwrap();
            assert!(command.starts_with("chmod 600 '") && !wrong.contains("k-1"), "{wrong}");
            assert!(std::process::Command::new("sh").args(["-c", command]).status().unwrap().success());
            assert!(read_file(&path, None, "api_key_file", "key").is_ok(), "the command mends it");
        }
    }

    #[test]
    fn a_credential_of_systemd_is_found_by_its_variable_whatever_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "key", b"k-1", 0o440);
        let given = || Some(folder.path().as_os_str().to_owned());
        for path in ["$CREDENTIALS_DIRECTORY/key", "${CREDENTIALS_DIRECTORY}/key"] {
            let key = read_file(Path::new(path), given(), "api_key_file", "key").unwrap();
            assert_eq!(key.expose_secret(), "k-1");
            for missing in [None, Some(OsString::new())] {
                let wrong = read_file(Path::new(path), missing, "api_key_file", "key").unwrap_err();
                assert!(wrong.contains("CREDENTIALS_DIRECTORY is not set") && wrong.contains("LoadCredential=key:"));
            }
        }
    }
}
