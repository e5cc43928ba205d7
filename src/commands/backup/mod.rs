//! `docsyncd backup FILE`: the ledger, the configuration, sign-ins and secrets of one moment in one file.
//!
//! The file appears completely or not at all. It never contains the practice's list of patients or the spool.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use secrecy::SecretString;

use super::output::{complain, local_with_zone, say};
use super::{Outcome, language, told};
use crate::api::auth::TokenStore;
use crate::commands::cli::BackupArgs;
use crate::config::{self, Auth, Loaded, NamedFile, Origin, Secret, named_files};
use crate::formats::language::Language;
use crate::ledger::backup::{self as ledger_copy, Making, unfinished};
use crate::ledger::{self, webhooks};
use crate::system::durable::{Temporary, sync_folder};
use crate::system::{permissions, secret};

use archive::{Bytes, CONFIG, LEDGER, MAX_PART, Manifest, NewEntry};

pub(super) mod archive;

pub(super) fn backup(path: &Path, loaded: &Loaded, args: &BackupArgs) -> Outcome {
    let language = language::of(args.spoken, loaded);
    let passphrase = passphrase(args.passphrase_file.as_deref())?;
    refuse_existing(&args.file, args.force, language)?;
    refuse_own(path, loaded, &args.file, language)?;
    make(path, loaded, &args.file, passphrase, args.force, language)
}

/// The passphrase in the file.
pub(super) fn passphrase(file: Option<&Path>) -> anyhow::Result<Option<SecretString>> {
    let read =
        |file: &Path| secret::read_password(&Secret::File(file.to_path_buf()), "--passphrase-file", "passphrase");
    file.map(|file| read(file).map_err(|wrong| anyhow!(wrong))).transpose()
}

/// Refuses to replace a file without `--force`, and anything that is no file, before anything is done.
pub(super) fn refuse_existing(file: &Path, force: bool, language: Language) -> anyhow::Result<()> {
    if force && fs::metadata(file).is_ok_and(|found| !found.is_file()) {
        return Err(of_file("backup-no-file", file, language));
    }
    if !force && fs::symlink_metadata(file).is_ok() {
        return Err(of_file("backup-there", file, language));
    }
    Ok(())
}

/// An error about a file.
pub(super) fn of_file(text: &str, file: &Path, language: Language) -> anyhow::Error {
    anyhow!(language.fill(text, &[("file", (&file.display().to_string()).into())]))
}

/// Refuses, even with `--force`, to replace a file that docsyncd works with.
pub(super) fn refuse_own(path: &Path, loaded: &Loaded, file: &Path, language: Language) -> anyhow::Result<()> {
    let named = named_files(&loaded.effective).into_iter().map(|named| of_setting(&named.path, path));
    let own = [path.to_path_buf(), loaded.config.state.path.clone()].into_iter().chain(named);
    let meant = fs::canonicalize(file).ok();
    if meant.is_some() && own.into_iter().any(|own| fs::canonicalize(own).ok() == meant) {
        return Err(of_file("backup-own", file, language));
    }
    Ok(())
}

/// Makes the backup, and lists its content.
pub(super) fn make(
    path: &Path,
    loaded: &Loaded,
    file: &Path,
    passphrase: Option<SecretString>,
    force: bool,
    language: Language,
) -> Outcome {
    let shown = file.display().to_string();
    let not_written = || of_file("backup-not-written", file, language).to_string();
    let making = Making::begin(&loaded.config.state.path, file)?;
    // Created before the copy, because it may be refused at once.
    let mut temporary = Temporary::create(unfinished(file), 0o600).with_context(not_written)?;
    // A USB stick has no access lists.
    let _ = permissions::protect_file(temporary.path());
    let at = ledger::now();
    ledger_copy::copy(&loaded.config.state.path, &making.copy())?;
    let documents = ledger_copy::in_copy(&making.copy(), |db| {
        if passphrase.is_none() {
            webhooks::forget_secrets(db)?;
        }
        ledger_copy::documents(db)
    })?;
    let (mut contents, missing) = collect(path, loaded, passphrase.is_some(), language)?;
    let secrets = contents.iter().filter(|content| content.is_secret()).count() as u64;
    contents.push(NewEntry { name: LEDGER.to_owned(), of: String::new(), bytes: Bytes::In(making.copy()) });
    let manifest = Manifest::of(at, &contents, missing).context("the copy of the ledger cannot be read")?;
    let is_plain = passphrase.is_none();
    archive::write(&mut temporary, &manifest, &contents, passphrase).with_context(not_written)?;
    temporary.sync().with_context(not_written)?;
    fault_point!("backup.rename.before");
    publish(temporary, file, force).with_context(not_written)?;
    fault_point!("backup.rename.after");
    let size = fs::metadata(file).map_or(0, |found| found.len());
    let (size, time) = (told::size(language, size), local_with_zone(at));
    let values = [("file", (&shown).into()), ("size", (&size).into()), ("time", (&time).into())];
    let mut text = language.fill("backup-written", &values) + "\n";
    text += &(language.fill("backup-letters", &[("count", documents.into())]) + "\n");
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

/// What the backup lacks, one in each line.
pub(super) fn missing_lines(text: &str, missing: &[String], language: Language) -> String {
    let lines = missing.iter().map(|what| format!("    {what}\n"));
    format!("{}\n{}", language.text(text), lines.collect::<String>())
}

impl NewEntry {
    fn is_secret(&self) -> bool {
        self.name.starts_with(SECRETS) || self.name.starts_with(SIGN_INS)
    }
}

/// The folders of the entries: secret files of settings, sign-ins, and other files of settings.
pub(super) const SECRETS: &str = "secrets/";
pub(super) const SIGN_INS: &str = "sign-ins/";
const FILES: &str = "files/";

/// Collects everything except the ledger, and what is missing.
fn collect(
    path: &Path,
    loaded: &Loaded,
    with_secrets: bool,
    language: Language,
) -> anyhow::Result<(Vec<NewEntry>, Vec<String>)> {
    let text = fs::read(path).with_context(|| format!("the configuration {} cannot be read", path.display()))?;
    let mut contents = vec![NewEntry { name: CONFIG.to_owned(), of: String::new(), bytes: Bytes::Here(text) }];
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
                contents.push(NewEntry { name: format!("{folder}{number}"), of: key, bytes: Bytes::Here(bytes) });
            }
            Err(error) => {
                let (what, why) = (format!("{key} {}", file.display()), error.to_string());
                let left_out = language.fill("backup-left-out", &[("what", (&what).into()), ("why", (&why).into())]);
                complain(&format!("docsyncd: {left_out}"));
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
                contents.push(NewEntry { name, of: account.name.clone(), bytes: Bytes::Here(bytes) });
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

/// The path of a setting's file. If systemd passes the file to the service, where the packages' units take it from.
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

#[cfg(test)]
#[test]
fn what_is_no_file_is_never_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a");
    std::fs::write(&file, "").unwrap();
    assert!(refuse_existing(&file, true, Language::English).is_ok());
    let wrong = refuse_existing(folder.path(), true, Language::English).unwrap_err().to_string();
    assert!(wrong.contains("is no regular file"), "{wrong}");
}

/// Gives the backup its name, durably. Without `force`, never replaces a file that appeared meanwhile.
fn publish(temporary: Temporary, to: &Path, force: bool) -> io::Result<()> {
    // A hard link never replaces a file. USB sticks have none.
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
