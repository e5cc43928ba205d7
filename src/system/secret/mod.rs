//! Secrets: API keys, client secrets, passwords and private keys, from a file, the environment, or systemd's
//! credentials. They are read when they are needed, so replacing one needs no restart.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret as _, SecretString};

use crate::system::answering::ask;
use crate::system::readers::as_whom;

mod file_stamp;

pub use file_stamp::FileStamp;

/// The longest accepted key, secret or token; bytes.
pub const MAX_SECRET_BYTES: usize = 16 * 1024;

/// The start of a path into the folder in which systemd gives credentials to a service.
const CREDENTIALS: [&str; 2] = ["$CREDENTIALS_DIRECTORY", "${CREDENTIALS_DIRECTORY}"];

/// Where a secret is.
#[derive(Debug, Clone)]
pub enum Secret {
    /// In a file, which is read when the secret is needed. A path that begins with `$CREDENTIALS_DIRECTORY` stays as it
    /// was written: only the running service knows its meaning (systemd.exec, "CREDENTIALS").
    File(PathBuf),
    /// Given in the environment.
    Given(SecretString),
}

/// The rest of a path into systemd's credentials; `None` for every other path.
pub fn credential(path: &Path) -> Option<&Path> {
    CREDENTIALS.iter().find_map(|start| path.strip_prefix(start).ok())
}

/// The file of the secret; `None` if the secret is in the configuration, or if the credentials folder is unknown.
pub fn file(secret: &Secret) -> Option<PathBuf> {
    match secret {
        Secret::Given(_) => None,
        Secret::File(path) => locate(path, std::env::var_os("CREDENTIALS_DIRECTORY")).ok().map(|(path, _)| path),
    }
}

/// A key, secret or token. `key` is the option that names its file, `what` is its name for people.
///
/// # Errors
/// The file is missing, open to others or empty, or its content cannot be a secret. The message says what to do.
pub fn read(secret: &Secret, key: &str, what: &str) -> Result<SecretString, String> {
    if let Secret::Given(value) = secret
        && let Some(wrong) = decorated(value.expose_secret().trim())
    {
        return Err(format!("the {what} in the environment holds {wrong}: give the {what} alone"));
    }
    read_as(pasted, secret, key, what)
}

/// A password or passphrase: one line, which may contain blanks and any letters.
///
/// # Errors
/// As [`read`].
pub fn read_password(secret: &Secret, key: &str, what: &str) -> Result<SecretString, String> {
    read_as(password, secret, key, what)
}

/// The whole content of a private key file.
///
/// # Errors
/// As [`read`].
pub fn read_private_key(secret: &Secret, key: &str) -> Result<SecretString, String> {
    read_as(private_key, secret, key, "private key")
}

/// Takes a text as a secret of one kind.
type Take = fn(&str) -> Result<SecretString, NotTaken>;

fn read_as(take: Take, secret: &Secret, key: &str, what: &str) -> Result<SecretString, String> {
    match secret {
        Secret::Given(value) => Ok(value.clone()),
        Secret::File(path) => read_file(take, path, std::env::var_os("CREDENTIALS_DIRECTORY"), key, what),
    }
}

fn read_file(
    take: Take,
    path: &Path,
    credentials: Option<OsString>,
    key: &str,
    what: &str,
) -> Result<SecretString, String> {
    let (path, is_credential) = locate(path, credentials).map_err(|wrong| format!("{key} {wrong}"))?;
    let shown = path.display();
    let unreadable = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::PermissionDenied => {
            format!("{key} {shown} cannot be read{}: {error}. {}", as_whom(), for_others(&path))
        }
        std::io::ErrorKind::TimedOut => format!("{key} {shown} cannot be read: {error}"),
        _ => format!("{key} {shown} cannot be read: {error}. Write the {what} into that file"),
    };
    let read = |path: &Path| {
        let file = File::open(path)?;
        let found = file.metadata()?;
        let mut bytes = Vec::new();
        file.take(MAX_SECRET_BYTES as u64 + 1).read_to_end(&mut bytes)?;
        Ok((found, bytes))
    };
    let (found, bytes) = ask(&path, read).map_err(unreadable)?;
    // Access lists guard systemd's credentials. They appear in the mode as rights of the group.
    if !is_credential && let Some(mode) = open_to_others(&found) {
        let quoted = path.to_string_lossy().replace('\'', r"'\''");
        return Err(format!("{key} {shown} is open to others (mode {mode:04o}): run chmod 600 '{quoted}'"));
    }
    if is_utf16(&bytes) {
        return Err(format!("{key} {shown} cannot be read: {UTF_16}"));
    }
    // A text that is not UTF-8 is none that a secret has.
    let text = String::from_utf8(bytes).unwrap_or_else(|_| "\u{0}".to_owned());
    take(&text).map_err(|why| {
        let says = match why {
            NotTaken::Quoted => format!("holds {QUOTES} beside the {what}: write the {what} alone into it"),
            NotTaken::Bearer => format!("holds {BEARER} beside the {what}: write the {what} alone into it"),
            NotTaken::Empty | NotTaken::EmptyPassword => format!("is empty: write the {what} into it"),
            NotTaken::Other => {
                format!("does not hold {}: one line of letters, digits and signs is expected", a(what))
            }
            NotTaken::Password => format!("does not hold {}: one line is expected", a(what)),
            NotTaken::PrivateKey => "does not hold a private key: is it the public one?".to_owned(),
        };
        format!("{key} {shown} {says}")
    })
}

/// The fault of a UTF-16 file ([`is_utf16`]), and the remedy.
pub const UTF_16: &str = "it is UTF-16, as `>` of PowerShell writes. Save it as UTF-8: in PowerShell with \
    `| Set-Content -Encoding utf8` instead, in Notepad with File, Save as, Encoding: UTF-8";

/// Whether a text is UTF-16: it has the byte order mark, or the zero bytes of ASCII letters.
pub fn is_utf16(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) || bytes.contains(&0)
}

/// The word with its article.
fn a(what: &str) -> String {
    if what.starts_with(['a', 'e', 'i', 'o', 'u']) { format!("an {what}") } else { format!("a {what}") }
}

/// The file to read, and whether it is one of systemd's credentials (systemd.exec, "CREDENTIALS").
fn locate(path: &Path, credentials: Option<OsString>) -> Result<(PathBuf, bool), String> {
    let Some(name) = credential(path) else { return Ok((path.to_path_buf(), false)) };
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

/// Why a text that a person pasted is no secret. It quotes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotTaken {
    /// Quotation marks stand around it.
    Quoted,
    /// The word Bearer or Authorization stands before it.
    Bearer,
    /// There is nothing.
    Empty,
    /// It is not one line of letters, digits and signs.
    Other,
    /// It is no private key.
    PrivateKey,
    /// There is nothing, where a password is expected.
    EmptyPassword,
    /// It is no password.
    Password,
}

impl NotTaken {
    /// In a word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Quoted => "quoted",
            Self::Bearer => "bearer",
            Self::Empty => "empty",
            Self::Other => "other",
            Self::PrivateKey => "private-key",
            Self::EmptyPassword => "empty-password",
            Self::Password => "password",
        }
    }
}

/// The secret for the file of a setting (for example `password_file`), from text that a person pasted or that a file
/// contains.
///
/// # Errors
/// What is wrong with the text.
pub fn pasted_for(key: &str, text: &str) -> Result<SecretString, NotTaken> {
    match key {
        "key_file" | "client_key_file" | "certificate_key_file" => private_key(text.trim_end()),
        "password_file" | "key_passphrase_file" | "header_files" => password(text),
        _ => pasted(text),
    }
}

/// A key or client secret, from text that a person pasted or that a file contains.
///
/// # Errors
/// What is wrong with the text.
pub fn pasted(text: &str) -> Result<SecretString, NotTaken> {
    let text = text.trim_start_matches(MARK).trim();
    match (decorated(text), text) {
        (Some(QUOTES), _) => Err(NotTaken::Quoted),
        (Some(_), _) => Err(NotTaken::Bearer),
        (None, "") => Err(NotTaken::Empty),
        (None, secret) if is_plausible(secret) => Ok(SecretString::from(secret)),
        _ => Err(NotTaken::Other),
    }
}

fn password(text: &str) -> Result<SecretString, NotTaken> {
    match text.trim_start_matches(MARK).trim_end_matches(['\r', '\n']) {
        "" => Err(NotTaken::EmptyPassword),
        text if text.len() <= MAX_SECRET_BYTES && !text.contains(char::is_control) => Ok(SecretString::from(text)),
        _ => Err(NotTaken::Password),
    }
}

fn private_key(text: &str) -> Result<SecretString, NotTaken> {
    let text = text.trim_start_matches(MARK);
    let is_key = text.contains("PRIVATE KEY") || text.starts_with("PuTTY-User-Key-File-");
    let is_taken = is_key && text.len() <= MAX_SECRET_BYTES;
    is_taken.then(|| SecretString::from(text)).ok_or(NotTaken::PrivateKey)
}

/// The byte order mark of an editor.
const MARK: char = '\u{feff}';

/// What people copy along most.
const QUOTES: &str = "quotation marks";
const BEARER: &str = "the word Bearer or Authorization";

/// Text that people copy along with a key.
fn decorated(text: &str) -> Option<&'static str> {
    let starts = |word: &str| text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    if starts("Bearer ") || starts("Authorization:") {
        return Some(BEARER);
    }
    let quoted = ['"', '\'', '`', '\u{201c}', '\u{201d}', '\u{ab}'].into_iter().any(|quote| text.starts_with(quote));
    quoted.then_some(QUOTES)
}

/// Whether the text can be a key, secret or token: visible ASCII, and not too long.
pub fn is_plausible(secret: &str) -> bool {
    !secret.is_empty() && secret.len() <= MAX_SECRET_BYTES && secret.bytes().all(|byte| byte.is_ascii_graphic())
}

/// The mode of a file, if others than its owner can read or change it.
#[cfg(unix)]
fn open_to_others(found: &fs::Metadata) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = found.permissions().mode() & 0o7777;
    (mode & 0o077 != 0).then_some(mode)
}

/// The folder of the packages for systemd's credentials; only root and systemd can read it.
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

/// Windows has no modes: the folder's access list decides.
#[cfg(not(unix))]
fn open_to_others(_: &fs::Metadata) -> Option<u32> {
    None
}

#[cfg(test)]
mod tests {
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
            assert_eq!(
                read_file(pasted, &path, None, "api_key_file", "key").unwrap().expose_secret(),
                "k-1",
                "{content:?}"
            );
        }
        let long = vec![b'x'; MAX_SECRET_BYTES + 1];
        for content in [b"a b".as_slice(), b"a\nb", b"\xff\xff", &long] {
            let path = write(folder.path(), "key", content, 0o600);
            let wrong = read_file(pasted, &path, None, "api_key_file", "key").unwrap_err();
            assert!(wrong.contains("does not hold a key"), "{wrong}");
        }
    }

    /// PowerShell's `>` writes UTF-16, with a byte order mark or, with an option, without one.
    #[test]
    fn a_file_in_utf_16_is_told_as_that_with_the_way_out() {
        let folder = tempfile::tempdir().unwrap();
        let of = |text: &str, big: bool| -> Vec<u8> {
            let bytes = |unit: u16| if big { unit.to_be_bytes() } else { unit.to_le_bytes() };
            text.encode_utf16().flat_map(bytes).collect()
        };
        for text in ["\u{feff}k-1\r\n", "k-1\r\n", "\u{feff}-----BEGIN PRIVATE KEY-----\r\n", "\u{feff}p\u{e4}ss"] {
            for big in [true, false] {
                let secret = Secret::File(write(folder.path(), "key", &of(text, big), 0o600));
                for read in [
                    read(&secret, "api_key_file", "key"),
                    read_password(&secret, "password_file", "password"),
                    read_private_key(&secret, "key_file"),
                ] {
                    let wrong = read.unwrap_err();
                    let signs = ["cannot be read: it is UTF-16", "Save it as UTF-8", "-Encoding utf8"];
                    assert!(signs.iter().all(|sign| wrong.contains(sign)), "{text}: {wrong}");
                }
            }
        }
        let marked = Secret::File(write(folder.path(), "key", "\u{feff}-- PRIVATE KEY".as_bytes(), 0o600));
        assert_eq!(read_private_key(&marked, "key_file").unwrap().expose_secret(), "-- PRIVATE KEY");
    }

    #[test]
    fn what_was_copied_along_with_a_key_is_named() {
        let folder = tempfile::tempdir().unwrap();
        for (content, sign) in [
            ("\"k-1\"\n", "quotation marks"),
            ("'k-1'", "quotation marks"),
            ("\u{201c}k-1\u{201d}", "quotation marks"),
            ("Bearer k-1", "the word Bearer"),
            ("authorization: bearer k-1", "the word Bearer"),
        ] {
            let path = write(folder.path(), "key", content.as_bytes(), 0o600);
            let wrong = read_file(pasted, &path, None, "api_key_file", "key").unwrap_err();
            assert!(wrong.contains(sign) && wrong.contains("alone") && !wrong.contains("k-1"), "{wrong}");
            let given = Secret::Given(SecretString::from(content));
            let wrong = read(&given, "api_key_file", "key").unwrap_err();
            assert!(wrong.contains(sign) && !wrong.contains("k-1"), "{wrong}");
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
            let wrong = read_file(pasted, &path, None, "api_key_file", "key").unwrap_err();
            let command = wrong.split("run ").nth(1).unwrap();
            assert!(command.starts_with("chmod 600 '") && !wrong.contains("k-1"), "{wrong}");
            assert!(std::process::Command::new("sh").args(["-c", command]).status().unwrap().success());
            assert!(read_file(pasted, &path, None, "api_key_file", "key").is_ok(), "the command mends it");
        }
    }

    #[test]
    fn a_credential_of_systemd_is_found_by_its_variable_whatever_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "key", b"k-1", 0o440);
        let given = || Some(folder.path().as_os_str().to_owned());
        for path in ["$CREDENTIALS_DIRECTORY/key", "${CREDENTIALS_DIRECTORY}/key"] {
            let key = read_file(pasted, Path::new(path), given(), "api_key_file", "key").unwrap();
            assert_eq!(key.expose_secret(), "k-1");
            for missing in [None, Some(OsString::new())] {
                let wrong = read_file(pasted, Path::new(path), missing, "api_key_file", "key").unwrap_err();
                assert!(wrong.contains("CREDENTIALS_DIRECTORY is not set") && wrong.contains("LoadCredential=key:"));
            }
        }
    }
}
