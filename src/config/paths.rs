//! Paths of the configuration: the base of relative ones, and conflicts between them.

use std::path::{Path, PathBuf};

use toml::Value;

use super::build::Builder;
use super::schema::{Key, Kind};
use super::validated::Config;
use crate::system::secret::credential;

/// The default path of the configuration: `/etc/docsyncd/docsyncd.toml`, or `%ProgramData%\docsyncd\docsyncd.toml` on
/// Windows.
pub fn default_path() -> PathBuf {
    if cfg!(windows) {
        let data = std::env::var_os("ProgramData").map_or_else(|| PathBuf::from(PROGRAM_DATA), PathBuf::from);
        data.join("docsyncd").join("docsyncd.toml")
    } else {
        PathBuf::from("/etc/docsyncd/docsyncd.toml")
    }
}

/// `%ProgramData%` if the variable is not set.
pub const PROGRAM_DATA: &str = r"C:\ProgramData";

/// The absolute path; a relative one begins in `folder`. A path into systemd's credentials stays as it is: only the
/// running service knows their folder.
pub fn resolve(folder: &Path, path: &Path) -> PathBuf {
    if credential(path).is_some() {
        return path.to_path_buf();
    }
    let joined = folder.join(path);
    std::path::absolute(&joined).unwrap_or(joined)
}

/// Whether a path has the form of the other operating system, so that its meaning here is not the intended one.
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

/// Suffixes of the files that SQLite writes beside its database.
const BESIDE_THE_LEDGER: &[&str] = &["", "-wal", "-shm", "-journal"];

/// Reports files that would overwrite each other.
pub fn check(config: &Config, file: &Path, builder: &mut Builder<'_>) {
    let ledger: Vec<PathBuf> = BESIDE_THE_LEDGER.iter().map(|suffix| with_suffix(&config.state.path, suffix)).collect();
    let read = files_to_read(builder, file);
    if let Some(log) = &config.log.file {
        let at = &mut builder.section("log");
        let fix = "Give the log a file of its own.";
        if ledger.iter().any(|path| same(path, log)) {
            at.error("file", "is the ledger's file (`state.path`)", fix);
        }
        if let Some((whose, _)) = read.iter().find(|(_, path)| same(path, log)) {
            at.error("file", &format!("is {whose}"), fix);
        }
    }
    if let Some((whose, _)) = read.iter().find(|(_, path)| ledger.iter().any(|ledger| same(ledger, path))) {
        builder.section("state").error("path", &format!("is {whose}"), "Give the ledger a file of its own.");
    }
}

/// The files that docsyncd reads, each with what it is.
fn files_to_read(builder: &Builder<'_>, file: &Path) -> Vec<(String, PathBuf)> {
    let is_written = |key: &Key| ["destinations.*.path", "state.path", "log.file"].contains(&key.path);
    let is_read = |key: &&Key| match key.kind {
        Kind::SecretFile | Kind::SecretFileTable => true,
        Kind::Path => !is_written(key),
        _ => false,
    };
    let mut files = vec![("the configuration file itself".to_owned(), file.to_path_buf())];
    for key in builder.merged.schema.keys().iter().filter(is_read) {
        for instance in builder.merged.instances(key.section(), key.shape()) {
            let named: Vec<&str> = match builder.merged.get(key, instance) {
                Some(Value::Table(files)) => files.values().filter_map(Value::as_str).collect(),
                value => value.and_then(Value::as_str).into_iter().collect(),
            };
            let file =
                |name: &str| (format!("the file of `{}`", key.at(instance)), resolve(builder.folder, Path::new(name)));
            files.extend(named.into_iter().map(file));
        }
    }
    files
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut text = path.as_os_str().to_owned();
    text.push(suffix);
    PathBuf::from(text)
}

/// Whether that is one path; Windows ignores letter case.
pub fn same(a: &Path, b: &Path) -> bool {
    a == b || (cfg!(windows) && a.to_string_lossy().eq_ignore_ascii_case(&b.to_string_lossy()))
}
