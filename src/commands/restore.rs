//! `docsyncd restore FILE`: restores a backup.
//!
//! Reads, compares and writes everything under temporary names first, so that a refusal changes nothing. Then the files
//! get their names, the ledger last. The next start completes a restore that is cut off then.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use secrecy::SecretString;

use super::backup::archive::{self, CONFIG, LEDGER, Manifest, Part};
use super::backup::{SECRETS, SIGN_INS, missing_lines, of_file, of_setting, passphrase};
use super::output::{docsyncd, local_with_zone, say};
use super::{Outcome, language};
use crate::api::auth::TokenStore;
use crate::commands::cli::RestoreArgs;
use crate::config::{Config, Loaded, named_files};
use crate::destinations::SCHEMA;
use crate::formats::language::Language;
use crate::ledger::backup::{self as ledger_copy, unfinished};
use crate::ledger::restored::{self, Restored};
use crate::ledger::{self, LedgerError, Lock, is_locked};
use crate::system::durable::{self, Temporary, sync_folder};
use crate::system::permissions;
#[cfg(unix)]
use crate::system::readers;
use crate::system::readers::person;

/// The mode of files without secrets, such as a configuration.
const OPEN_MODE: u32 = 0o644;

pub(super) fn restore(path: &Path, args: &RestoreArgs) -> Outcome {
    let language = args.spoken.lang.unwrap_or_else(language::of_system);
    let passphrase = passphrase(args.passphrase_file.as_deref())?;
    let (manifest, small) = read(&args.file, passphrase.as_ref(), &mut io::sink(), language)?;
    let loaded = configuration(path, &small, language)?;
    let ledger = &loaded.config.state.path;
    if is_locked(ledger) {
        return Err(runs(ledger, language));
    }
    let placing = Placing::of(path, &loaded, &manifest, &small);
    placing.refuse(args.force, language)?;
    let owner = owner(path, ledger);
    let _lock = lock(ledger, owner, language)?;
    if !args.force && has_letters(ledger) {
        return Err(of_file("restore-letters", ledger, language));
    }
    let new = unpacked(&args.file, passphrase.as_ref(), ledger, owner, language)?;
    let blind = blind(&loaded.config);
    let restored = Restored { at: manifest.at, in_doubt: !args.nothing_since };
    let changed = ledger_copy::in_copy(&new.0, |db| {
        restored::begin(db, restored, person().as_deref(), ledger::now())?;
        Ok((ledger_copy::documents(db)?, restored::unseen(db, &blind)?))
    });
    let (documents, unseen) = changed.map_err(|error| of_backup(&args.file, &error, language))?;
    let staged = placing.stage(owner, language)?;
    let unwritable = || of_file("restore-unwritable", ledger, language).to_string();
    fs::rename(&new.0, ledger_copy::successor(ledger)).with_context(unwritable)?;
    sync_folder(folder_of(ledger))?;
    fault_point!("restore.place.before");
    let mut aside = placing.place(staged, language)?;
    aside.extend(ledger_copy::put_in_place(ledger).with_context(|| language.text("restore-later"))?);
    let (time, config) = (local_with_zone(manifest.at), path.display().to_string());
    let values = [("time", (&time).into()), ("count", documents.into()), ("config", (&config).into())];
    let mut text = language.fill("restore-done", &values) + "\n";
    for place in aside {
        text += &(language.fill("restore-aside", &[("place", (&place.display().to_string()).into())]) + "\n");
    }
    if !manifest.missing.is_empty() {
        text += &missing_lines("restore-missing", &manifest.missing, language);
    }
    text += &if args.nothing_since {
        language.text("restore-nothing-since") + "\n"
    } else {
        unseen_line(unseen, &blind, language)
    };
    let start = docsyncd("service start");
    text += &(language.fill("restore-start", &[("command", (&start).into())]) + "\n");
    say(&text)
}

/// How many letters may be sent a second time.
pub(super) fn unseen_line(unseen: u64, blind: &[String], language: Language) -> String {
    let names = blind.join(", ");
    let text = language.fill("restore-unseen", &[("count", unseen.into()), ("names", (&names).into())]) + "\n";
    if unseen == 0 { language.text("restore-all-seen") + "\n" } else { text }
}

/// The destinations that do not show what arrived.
pub(super) fn blind(config: &Config) -> Vec<String> {
    config.destinations.values().filter(|to| !to.shows_letters()).map(|to| to.name.clone()).collect()
}

/// Waits for the ledger's lock. A folder that is created for it belongs to the service's user.
pub(super) fn lock(ledger: &Path, owner: Option<(u32, u32)>, language: Language) -> anyhow::Result<Lock> {
    let is_new = !folder_of(ledger).exists();
    let lock = Lock::acquire(ledger).map_err(|error| match error {
        LedgerError::InUse(_) | LedgerError::SpoolInUse(_) => runs(ledger, language),
        other => other.into(),
    })?;
    if is_new && let Ok(folder) = File::open(folder_of(ledger)) {
        give(&folder, owner)?;
    }
    Ok(lock)
}

fn runs(ledger: &Path, language: Language) -> anyhow::Error {
    let (file, command) = (ledger.display().to_string(), docsyncd("service stop"));
    anyhow!(language.fill("restore-runs", &[("file", (&file).into()), ("command", (&command).into())]))
}

/// The error about a file.
fn wrong(text: &str, file: &Path, what: &str, language: Language) -> anyhow::Error {
    let file = file.display().to_string();
    anyhow!(language.fill(text, &[("file", (&file).into()), ("what", what.into())]))
}

fn read(
    file: &Path,
    passphrase: Option<&SecretString>,
    to: &mut dyn io::Write,
    language: Language,
) -> anyhow::Result<(Manifest, BTreeMap<String, Vec<u8>>)> {
    archive::read(file, passphrase, to).map_err(|error| {
        let (text, what) = error.in_words();
        wrong(text, file, &what, language)
    })
}

/// The configuration of the backup, at its future `path`.
fn configuration(path: &Path, small: &BTreeMap<String, Vec<u8>>, language: Language) -> anyhow::Result<Loaded> {
    let text = small.get(CONFIG).map(|text| String::from_utf8_lossy(text)).unwrap_or_default();
    SCHEMA
        .load_text(path, &text, std::env::vars_os(), &[])
        .map_err(|error| wrong("restore-configuration", path, &error.in_short(), language))
}

/// Whether the ledger has documents. One that cannot be read may have some.
fn has_letters(ledger: &Path) -> bool {
    match fs::metadata(ledger) {
        Err(error) => !durable::is_absent(&error),
        Ok(found) if found.len() == 0 => false,
        Ok(_) => !matches!(ledger_copy::in_ledger(ledger, ledger_copy::documents), Ok(0)),
    }
}

/// The backup's ledger under a temporary name. It is removed unless it is renamed.
struct Unpacked(PathBuf);

impl Drop for Unpacked {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn unpacked(
    file: &Path,
    passphrase: Option<&SecretString>,
    ledger: &Path,
    owner: Option<(u32, u32)>,
    language: Language,
) -> anyhow::Result<Unpacked> {
    ledger_copy::remove_unfinished(ledger)?;
    let new = unfinished(ledger);
    let unwritable = || of_file("restore-unwritable", &new, language).to_string();
    let mut copy = ledger_copy::create(&new).with_context(unwritable)?;
    let unpacked = Unpacked(new.clone());
    give(&copy, owner).with_context(unwritable)?;
    read(file, passphrase, &mut copy, language)?;
    copy.sync_all().with_context(unwritable)?;
    Ok(unpacked)
}

/// Why the ledger of the backup cannot be used.
fn of_backup(file: &Path, error: &LedgerError, language: Language) -> anyhow::Error {
    match error {
        LedgerError::Newer { found, newest, .. } => {
            wrong("restore-newer", file, &format!("{LEDGER}: {found} > {newest}"), language)
        }
        LedgerError::Sqlite(what) | LedgerError::Access { what, .. } => wrong("restore-unpacked", file, what, language),
        _ => wrong("restore-damaged", file, LEDGER, language),
    }
}

/// The files of a backup except the ledger, and their places.
struct Placing(Vec<Placed>);

struct Placed {
    to: PathBuf,
    bytes: Vec<u8>,
    /// Set for a sign-in.
    store: Option<TokenStore>,
    is_secret: bool,
    /// Whether another file is at its place.
    is_taken: bool,
}

impl Placing {
    /// Existing files with the same content stay, and so do later sign-ins.
    fn of(path: &Path, loaded: &Loaded, manifest: &Manifest, small: &BTreeMap<String, Vec<u8>>) -> Self {
        let files = named_files(&loaded.effective);
        let mut placed = Vec::new();
        for Part { name, of, .. } in &manifest.parts {
            let Some(bytes) = small.get(name) else { continue };
            let store = name.starts_with(SIGN_INS).then(|| TokenStore::new(&loaded.config.state.path, of));
            let to = match &store {
                Some(store) if store.has_later_than(bytes) => continue,
                Some(store) => store.path(),
                None if name == CONFIG => path.to_path_buf(),
                None => match files.iter().find(|file| file.key == *of) {
                    Some(file) => of_setting(&file.path, path),
                    // A variable overrides the setting on this machine.
                    None => continue,
                },
            };
            if name != CONFIG && fs::read(&to).is_ok_and(|there| there == *bytes) {
                continue;
            }
            let is_secret = name.starts_with(SECRETS) || store.is_some();
            let is_taken = fs::symlink_metadata(&to).is_ok();
            placed.push(Placed { to, bytes: bytes.clone(), store, is_secret, is_taken });
        }
        Self(placed)
    }

    fn refuse(&self, force: bool, language: Language) -> anyhow::Result<()> {
        match self.0.iter().find(|placed| placed.is_taken && !force) {
            Some(taken) => Err(of_file("restore-there", &taken.to, language)),
            None => Ok(()),
        }
    }

    /// Writes each file under a temporary name.
    fn stage(&self, owner: Option<(u32, u32)>, language: Language) -> anyhow::Result<Vec<Temporary>> {
        let unwritable = |placed: &Placed| of_file("restore-unwritable", &placed.to, language).to_string();
        self.0.iter().map(|placed| placed.stage(owner).with_context(|| unwritable(placed))).collect()
    }

    /// Gives each file its name. Returns where the existing files are now.
    fn place(&self, staged: Vec<Temporary>, language: Language) -> anyhow::Result<Vec<PathBuf>> {
        let at = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ");
        let mut aside = Vec::new();
        for (Placed { to, is_taken, .. }, temporary) in self.0.iter().zip(staged) {
            let place = || of_file("restore-place", to, language).to_string();
            if *is_taken {
                let mut name = to.as_os_str().to_owned();
                name.push(format!(".before-restore-{at}"));
                fs::rename(to, &name).with_context(place)?;
                aside.push(PathBuf::from(name));
            }
            temporary.replace(to).with_context(place)?;
            sync_folder(folder_of(to)).with_context(place)?;
        }
        Ok(aside)
    }
}

impl Placed {
    fn stage(&self, owner: Option<(u32, u32)>) -> io::Result<Temporary> {
        let folder = folder_of(&self.to);
        let is_systemds =
            folder.ends_with("secrets") || folder.parent().is_some_and(|above| above.ends_with("secrets"));
        if let Some(store) = &self.store {
            store.make_folder().map_err(io::Error::other)?;
        } else if is_systemds || cfg!(windows) {
            permissions::create_folders(folder)?;
        } else {
            fs::create_dir_all(folder)?;
        }
        let mode = if self.is_secret { 0o600 } else { OPEN_MODE };
        let mut temporary = Temporary::create(unfinished(&self.to), mode)?;
        if self.is_secret {
            // Protected before it has any content.
            permissions::protect_file(temporary.path())?;
            // systemd reads these files as root.
            if let Some(file) = temporary.file().filter(|_| !is_systemds) {
                give(file, owner)?;
            }
        }
        match &self.store {
            Some(store) => temporary.write_all(&store.import(&self.bytes).map_err(io::Error::other)?)?,
            None => temporary.write_all(&self.bytes)?,
        }
        temporary.sync()?;
        Ok(temporary)
    }
}

fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The service's user, if root restores: the owner of the ledger's folder. Without that folder, the user that the
/// packages create.
#[cfg(unix)]
pub(super) fn owner(config: &Path, ledger: &Path) -> Option<(u32, u32)> {
    use crate::system::service::systemctl::Unit;
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    if let Some(found) = readers::permissions(folder_of(ledger)) {
        return (found.uid != 0).then_some((found.uid, found.gid));
    }
    let config = std::path::absolute(config).ok()?;
    let unit = Unit::that_reads(&config, &crate::config::default_path())?;
    let user = readers::find(&unit.user().unwrap_or_else(|| "docsyncd".to_owned())).ok()?;
    Some((user.uid?, *user.gids.first()?))
}

/// On Windows new entries inherit the folder's access list.
#[cfg(not(unix))]
pub(super) fn owner(_: &Path, _: &Path) -> Option<(u32, u32)> {
    None
}

#[cfg(unix)]
fn give(file: &File, owner: Option<(u32, u32)>) -> io::Result<()> {
    match owner {
        Some((uid, gid)) => std::os::unix::fs::fchown(file, Some(uid), Some(gid)),
        None => Ok(()),
    }
}

#[cfg(not(unix))]
fn give(_: &File, _: Option<(u32, u32)>) -> io::Result<()> {
    Ok(())
}
