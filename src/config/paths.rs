//! Paths of the configuration: where relative ones begin, and which must not meet.

use std::path::{Path, PathBuf};

use super::build::Builder;
use super::validated::{Auth, Config, DestinationKind, OAuthConfig, Secret};

/// Where the configuration is looked for when nobody says: `/etc/docsyncd/docsyncd.toml`, or
/// `%ProgramData%\docsyncd\docsyncd.toml` on Windows.
pub fn default_path() -> PathBuf {
    if cfg!(windows) {
        let data = std::env::var_os("ProgramData").map_or_else(|| PathBuf::from(PROGRAM_DATA), PathBuf::from);
        data.join("docsyncd").join("docsyncd.toml")
    } else {
        PathBuf::from("/etc/docsyncd/docsyncd.toml")
    }
}

/// `%ProgramData%` where the variable is not set.
pub const PROGRAM_DATA: &str = r"C:\ProgramData";

/// How a path into the folder begins in which systemd gives credentials to a service.
const CREDENTIALS: [&str; 2] = ["$CREDENTIALS_DIRECTORY", "${CREDENTIALS_DIRECTORY}"];

/// What a path into systemd's credentials names there; `None` for every other path.
pub fn credential(path: &Path) -> Option<&Path> {
    CREDENTIALS.iter().find_map(|start| path.strip_prefix(start).ok())
}

/// An absolute path; a relative one begins in `folder`. A path into systemd's credentials stays as it is: where they are
/// is known to the running service only.
pub fn resolve(folder: &Path, path: &Path) -> PathBuf {
    if credential(path).is_some() {
        return path.to_path_buf();
    }
    let joined = folder.join(path);
    std::path::absolute(&joined).unwrap_or(joined)
}

/// Whether a path has the form of the other operating system, so that here it means something that nobody meant.
pub fn is_foreign(path: &Path) -> bool {
    let text = path.to_string_lossy();
    if cfg!(windows) {
        text.starts_with('/') && !text.starts_with("//")
    } else {
        let mut start = text.chars();
        let drive = start.next().is_some_and(|c| c.is_ascii_alphabetic()) && start.next() == Some(':');
        text.starts_with(r"\\") || (drive && matches!(start.next(), Some('\\' | '/')))
    }
}

/// What SQLite writes beside its database.
const BESIDE_THE_LEDGER: &[&str] = &["", "-wal", "-shm", "-journal"];

/// Reports files that would be written over each other, and folders that lie inside what an importer watches.
pub fn check(config: &Config, file: &Path, builder: &mut Builder<'_>) {
    let ledger: Vec<PathBuf> = BESIDE_THE_LEDGER.iter().map(|suffix| with_suffix(&config.state.path, suffix)).collect();
    let read = files_to_read(config, file);
    if let Some(log) = &config.log.file {
        if ledger.iter().any(|path| same(path, log)) {
            builder.error(
                "log",
                None,
                "file",
                "is the ledger's file (`state.path`)",
                "Give the log a file of its own.",
            );
        }
        if let Some((whose, _)) = read.iter().find(|(_, path)| same(path, log)) {
            builder.error("log", None, "file", &format!("is {whose}"), "Give the log a file of its own.");
        }
    }
    if let Some((whose, _)) = read.iter().find(|(_, path)| ledger.iter().any(|ledger| same(ledger, path))) {
        builder.error("state", None, "path", &format!("is {whose}"), "Give the ledger a file of its own.");
    }
    let spool = config.state.path.with_file_name("spool");
    for destination in config.destinations.values() {
        let DestinationKind::Folder(folder) = &destination.kind else { continue };
        let name = Some(folder.name.as_str());
        if folder.path.starts_with(&spool) {
            let what = "lies in docsyncd's own folder for downloads (`spool` beside `state.path`)";
            builder.error("destinations", name, "path", what, "Choose a folder that only the importer uses.");
        } else if config.state.path.starts_with(&folder.path) {
            builder.warn(
                "destinations",
                name,
                "path",
                "holds the ledger (`state.path`), which an importer could touch",
            );
        }
    }
}

fn files_to_read<'a>(config: &'a Config, file: &'a Path) -> Vec<(String, &'a Path)> {
    let mut files = vec![("the configuration file itself".to_owned(), file)];
    files.extend(config.api.ca_file.as_deref().map(|path| ("the file of `api.ca_file`".to_owned(), path)));
    for (name, account) in &config.accounts {
        match &account.auth {
            Auth::ApiKey(Secret::File(path)) => {
                files.push((format!("the file of `accounts.{name}.api_key_file`"), path));
            }
            Auth::OAuth(OAuthConfig { client_secret: Secret::File(path), .. }) => {
                files.push((format!("the file of `accounts.{name}.client_secret_file`"), path));
            }
            Auth::ApiKey(Secret::Given(_)) | Auth::OAuth(_) => {}
        }
    }
    files
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut text = path.as_os_str().to_owned();
    text.push(suffix);
    PathBuf::from(text)
}

/// Windows does not tell upper from lower case.
fn same(a: &Path, b: &Path) -> bool {
    a == b || (cfg!(windows) && a.to_string_lossy().eq_ignore_ascii_case(&b.to_string_lossy()))
}
