//! `docsyncd backup FILE`: the ledger, the configuration, sign-ins and secrets in one file, as they are at one moment.
//!
//! The file appears whole or not at all. The practice's list of patients and the spool are never in it.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, anyhow, bail};
use secrecy::SecretString;

use super::output::{complain, local_with_zone, say};
use super::{Outcome, language};
use crate::api::auth::TokenStore;
use crate::cli::BackupArgs;
use crate::config::{self, Auth, Loaded, NamedFile, Origin, Secret, named_files};
use crate::durable::{Temporary, sync_folder};
use crate::language::Language;
use crate::ledger::{self, backup as ledger_copy, webhooks};
use crate::{permissions, secret};

use archive::{Bytes, CONFIG, Content, LEDGER, MAX_PART, Manifest};

pub(super) mod archive;

/// The name of a copy of the ledger, with the process that makes it.
const COPY: &str = ".backup-";
/// A copy that is older was left by a process that was killed.
const OLD: Duration = Duration::from_secs(24 * 60 * 60);

pub(super) fn backup(path: &Path, loaded: &Loaded, args: &BackupArgs) -> Outcome {
    let language = language::of(args.spoken, loaded);
    let passphrase = passphrase(args.passphrase_file.as_deref())?;
    refuse_existing(&args.file, args.force)?;
    refuse_own(path, loaded, &args.file)?;
    make(path, loaded, &args.file, passphrase, args.force, language)
}

/// The passphrase in the file.
pub(super) fn passphrase(file: Option<&Path>) -> anyhow::Result<Option<SecretString>> {
    let read =
        |file: &Path| secret::read_password(&Secret::File(file.to_path_buf()), "--passphrase-file", "passphrase");
    file.map(|file| read(file).map_err(|wrong| anyhow!(wrong))).transpose()
}

/// Before anything is done.
pub(super) fn refuse_existing(file: &Path, force: bool) -> anyhow::Result<()> {
    if !force && fs::symlink_metadata(file).is_ok() {
        bail!(
            "{} is there already, and nothing was written: choose another name, or --force replaces it",
            file.display()
        );
    }
    Ok(())
}

/// Whatever `--force` says: a backup replaces no file that docsyncd works with.
pub(super) fn refuse_own(path: &Path, loaded: &Loaded, file: &Path) -> anyhow::Result<()> {
    let named = named_files(&loaded.effective).into_iter().map(|named| of_setting(&named.path, path));
    let own = [path.to_path_buf(), loaded.config.state.path.clone()].into_iter().chain(named);
    let meant = fs::canonicalize(file).ok();
    if meant.is_some() && own.into_iter().any(|own| fs::canonicalize(own).ok() == meant) {
        bail!("{} is a file that docsyncd works with, and nothing was written: choose another name", file.display());
    }
    Ok(())
}

/// Makes the backup, and says what is in it.
pub(super) fn make(
    path: &Path,
    loaded: &Loaded,
    file: &Path,
    passphrase: Option<SecretString>,
    force: bool,
    language: Language,
) -> Outcome {
    let shown = file.display().to_string();
    let not_written = || format!("{shown} cannot be written, and nothing is left of it");
    // First, as it may be refused at once.
    let mut temporary = Temporary::create(temporary_of(file), 0o600).with_context(not_written)?;
    // A stick has no access lists.
    let _ = permissions::protect_file(temporary.path());
    let at = ledger::now();
    let copy = Copy::of(&loaded.config.state.path, passphrase.is_none())?;
    let (mut contents, missing) = collect(path, loaded, passphrase.is_some())?;
    let secrets = contents.iter().filter(|content| content.is_secret()).count() as u64;
    contents.push(Content { name: LEDGER.to_owned(), of: String::new(), bytes: Bytes::In(copy.path.clone()) });
    let manifest = Manifest::of(at, &contents, missing).context("the copy of the ledger cannot be read")?;
    let is_plain = passphrase.is_none();
    archive::write(&mut temporary, &manifest, &contents, passphrase).with_context(not_written)?;
    temporary.sync().with_context(not_written)?;
    fault_point!("backup.rename.before");
    publish(temporary, file, force).with_context(not_written)?;
    fault_point!("backup.rename.after");
    let size = fs::metadata(file).map_or(0, |found| found.len());
    let (size, time) = (bytesize::ByteSize(size).to_string(), local_with_zone(at));
    let values = [("file", (&shown).into()), ("size", (&size).into()), ("time", (&time).into())];
    let mut text = language.fill("backup-written", &values) + "\n";
    text += &(language.fill("backup-letters", &[("count", copy.documents.into())]) + "\n");
    if is_plain {
        text += &(language.text("backup-plain") + "\n");
    } else {
        text += &(language.fill("backup-secrets", &[("count", secrets.into())]) + "\n");
    }
    if !manifest.missing.is_empty() {
        text += &missing_lines("backup-missing", &manifest.missing, language);
    }
    say(&text)
}

/// What is not in a backup, a line each.
pub(super) fn missing_lines(text: &str, missing: &[String], language: Language) -> String {
    let lines = missing.iter().map(|what| format!("    {what}\n"));
    format!("{}\n{}", language.text(text), lines.collect::<String>())
}

/// A copy of the ledger, beside it. It is removed at the end.
struct Copy {
    path: PathBuf,
    documents: u64,
}

impl Copy {
    /// Copies the ledger; `is_plain`: without secrets.
    fn of(ledger: &Path, is_plain: bool) -> anyhow::Result<Self> {
        let mut name = ledger.file_name().unwrap_or_default().to_owned();
        name.push(COPY);
        let folder = ledger.parent().unwrap_or(Path::new("."));
        remove_left(folder, &name.to_string_lossy());
        name.push(std::process::id().to_string());
        let mut copy = Self { path: folder.join(name), documents: 0 };
        let _ = fs::remove_file(&copy.path);
        ledger_copy::copy(ledger, &copy.path)?;
        copy.documents = ledger_copy::in_copy(&copy.path, |db| {
            if is_plain {
                webhooks::forget_secrets(db)?;
            }
            ledger_copy::documents(db)
        })?;
        Ok(copy)
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        for end in ["", "-wal", "-shm", "-journal"] {
            let mut name = self.path.as_os_str().to_owned();
            name.push(end);
            let _ = fs::remove_file(PathBuf::from(name));
        }
    }
}

/// Removes copies that killed processes left.
fn remove_left(folder: &Path, start: &str) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(start)) {
        let age = entry.metadata().and_then(|found| found.modified());
        if age.is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age > OLD)) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

impl Content {
    fn is_secret(&self) -> bool {
        self.name.starts_with(SECRETS) || self.name.starts_with(SIGN_INS)
    }
}

/// The folders of the entries: files of settings that are secret, sign-ins, and other files of settings.
pub(super) const SECRETS: &str = "secrets/";
pub(super) const SIGN_INS: &str = "sign-ins/";
const FILES: &str = "files/";

/// Everything but the ledger, and what is missing.
fn collect(path: &Path, loaded: &Loaded, with_secrets: bool) -> anyhow::Result<(Vec<Content>, Vec<String>)> {
    let text = fs::read(path).with_context(|| format!("the configuration {} cannot be read", path.display()))?;
    let mut contents = vec![Content { name: CONFIG.to_owned(), of: String::new(), bytes: Bytes::Here(text) }];
    let mut missing = Vec::new();
    for (number, NamedFile { key, path: named, is_secret }) in named_files(&loaded.effective).into_iter().enumerate() {
        let file = of_setting(&named, path);
        if is_secret && !with_secrets {
            missing.push(format!("{key} ({})", named.display()));
            continue;
        }
        match read(&file) {
            Ok(bytes) => {
                let folder = if is_secret { SECRETS } else { FILES };
                contents.push(Content { name: format!("{folder}{number}"), of: key, bytes: Bytes::Here(bytes) });
            }
            Err(error) => {
                complain(&format!(
                    "docsyncd: warning: {key} {} cannot be read, so it is not in the backup: {error}",
                    file.display()
                ));
                missing.push(format!("{key} ({})", named.display()));
            }
        }
    }
    let of_variables = loaded.effective.iter().filter_map(|setting| match &setting.origin {
        Origin::Variable(name) => Some(format!("{} ({name})", setting.key)),
        _ => None,
    });
    missing.extend(of_variables);
    let signs_in = |account: &&config::Account| matches!(account.auth, Auth::OAuth(_));
    for (number, account) in loaded.config.accounts.values().filter(signs_in).enumerate() {
        let name = &account.name;
        if !with_secrets {
            missing.push(format!("docsyncd login --account {name}"));
            continue;
        }
        match TokenStore::new(&loaded.config.state.path, name).export() {
            Ok(Some(bytes)) => {
                let name = format!("{SIGN_INS}{number}");
                contents.push(Content { name, of: account.name.clone(), bytes: Bytes::Here(bytes) });
            }
            Ok(None) => {}
            Err(error) => {
                complain(&format!("docsyncd: warning: {error}"));
                missing.push(format!("docsyncd login --account {name}"));
            }
        }
    }
    Ok((contents, missing))
}

/// Where the file of a setting lies. What systemd hands to the service lies where the packages' units take it from.
pub(super) fn of_setting(named: &Path, config: &Path) -> PathBuf {
    let Some(rest) = secret::credential(named) else { return named.to_path_buf() };
    let folder = std::path::absolute(config).unwrap_or_else(|_| config.to_path_buf());
    let secrets = folder.with_file_name("secrets");
    match config.file_stem() {
        Some(stem) if stem != "docsyncd" => secrets.join(stem).join(rest),
        _ => secrets.join(rest),
    }
}

fn read(file: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(file)?.take(MAX_PART + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_PART { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
}

/// The name that the file has until it is whole.
pub(super) fn temporary_of(file: &Path) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    file.with_file_name(format!(".{name}.docsyncd-new"))
}

/// Gives the backup its name, durably. Without `force`, nothing is replaced that came meanwhile.
fn publish(temporary: Temporary, to: &Path, force: bool) -> io::Result<()> {
    // A hard link replaces nothing. Sticks have none.
    if force {
        temporary.replace(to)?;
    } else if let Err(error) = fs::hard_link(temporary.path(), to) {
        if error.kind() == io::ErrorKind::AlreadyExists || fs::symlink_metadata(to).is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        temporary.replace(to)?;
    }
    drop(temporary);
    sync_folder(to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")))
}
