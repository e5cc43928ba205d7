//! Writes all changes at the end of the setup, in an order in which any step may be the last: rights on the folder,
//! secrets, configuration. A file appears complete and durable under its name, or not at all.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use secrecy::ExposeSecret as _;

use super::super::told;
use super::ask::as_whom;
use super::draft::{Draft, NewSecret};
use crate::config::{Auth, Secret};
use crate::formats::language::Language;
use crate::system::durable::{Temporary, hand_over, sync_folder};
use crate::system::permissions;
use crate::system::readers::{self, Reader};

/// The mode of a new configuration. It contains no secret, and anybody may run `check`.
const CONFIG_MODE: u32 = 0o644;

/// The most earlier configurations that are kept.
const MOST_KEPT: usize = 100;

/// The changes of the folder for letters.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Rights {
    pub(super) folder: PathBuf,
    /// Its new owner.
    pub(super) owner: Option<u32>,
    /// Its new group, which its files inherit.
    pub(super) group: Option<u32>,
    /// The bits to add to its mode.
    pub(super) mode: u32,
}

impl Rights {
    fn change_something(&self) -> bool {
        let Some(now) = readers::permissions(&self.folder) else { return true };
        self.owner.is_some_and(|owner| owner != now.uid)
            || self.group.is_some_and(|group| group != now.gid)
            || now.mode & self.mode != self.mode
    }
}

/// The paths that [`write`] would change: folders with other rights, and files with another content or owner.
pub(super) fn changes(draft: &Draft, rights: Option<&Rights>, owner: Option<&Reader>) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        rights.filter(|rights| rights.change_something()).map(|rights| rights.folder.clone()).into_iter().collect();
    files.extend(draft.secrets.iter().filter(|secret| !is_there(secret, owner)).map(|secret| secret.file.clone()));
    let is_given = |file: &PathBuf| owner.is_some_and(|owner| is_roots_key(file, owner)) && !files.contains(file);
    let given: Vec<PathBuf> = keys_of_before(draft).into_iter().filter(is_given).collect();
    files.extend(given);
    if draft.before.as_deref() != Some(draft.text.as_str()) {
        files.extend(draft.before.is_some().then(|| free_name(&draft.path)));
        files.push(draft.path.clone());
    }
    files
}

/// Whether the file already holds this secret. Then it stays untouched and keeps its time.
fn is_there(secret: &NewSecret, owner: Option<&Reader>) -> bool {
    let is_same = fs::read(&secret.file).is_ok_and(|found| {
        let wanted = secret.value.expose_secret().as_bytes();
        found.strip_suffix(b"\n").is_some_and(|found| found == wanted)
    });
    is_same && has_owner(secret, owner)
}

#[cfg(unix)]
fn has_owner(secret: &NewSecret, owner: Option<&Reader>) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let Ok(found) = fs::symlink_metadata(&secret.file) else { return false };
    let wanted = owner.filter(|_| !is_read_by_systemd(folder_of(&secret.file))).and_then(|owner| owner.uid);
    found.is_file() && found.mode() & 0o777 == 0o600 && wanted.is_none_or(|uid| uid == found.uid())
}

#[cfg(not(unix))]
fn has_owner(_: &NewSecret, _: Option<&Reader>) -> bool {
    true
}

/// Writes everything. Returns one line for each change.
pub(super) fn write(
    draft: &Draft,
    rights: Option<&Rights>,
    owner: Option<&Reader>,
    language: Language,
) -> anyhow::Result<Vec<String>> {
    let mut done = Vec::new();
    let of = |text: &str, file: &Path| language.fill(text, &[("file", (&file.display().to_string()).into())]);
    let failed = |text: &str, file: &Path, error: io::Error| told::failed(language, &of(text, file), error);
    if let Some(rights) = rights.filter(|rights| rights.change_something()) {
        give(rights).map_err(|error| failed("setup-rights-refused", &rights.folder, error))?;
        done.push(of("setup-rights", &rights.folder));
    }
    for secret in draft.secrets.iter().filter(|secret| !is_there(secret, owner)) {
        write_secret(secret, owner).map_err(|error| failed("setup-write-refused", &secret.file, error))?;
        done.push(of("setup-secret-written", &secret.file));
    }
    if let Some(owner) = owner {
        for file in keys_of_before(draft) {
            if give_key(&file, owner).map_err(|error| failed("setup-give-refused", &file, error))? {
                let file = file.display().to_string();
                done.push(language.fill("setup-given", &[("file", (&file).into()), ("user", (&owner.name).into())]));
            }
        }
    }
    if draft.before.as_deref() == Some(draft.text.as_str()) {
        done.push(of("setup-stays", &draft.path));
        return Ok(done);
    }
    let kept = write_config(draft).map_err(|error| failed("setup-write-refused", &draft.path, error))?;
    done.push(match kept {
        None => of("setup-written", &draft.path),
        Some(kept) => {
            let (file, kept) = (draft.path.display().to_string(), kept.display().to_string());
            language.fill("setup-written-kept", &[("file", (&file).into()), ("kept", (&kept).into())])
        }
    });
    Ok(done)
}

/// Uses a handle of the folder itself, because others may be able to put a link in its place.
#[cfg(unix)]
fn give(rights: &Rights) -> io::Result<()> {
    use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _, fchown};
    let flags = (rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::DIRECTORY).bits().cast_signed();
    let folder = fs::OpenOptions::new().read(true).custom_flags(flags).open(&rights.folder)?;
    fchown(&folder, rights.owner, rights.group)?;
    if rights.mode != 0 {
        let mode = folder.metadata()?.permissions().mode() & 0o7777 | rights.mode;
        folder.set_permissions(fs::Permissions::from_mode(mode))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn give(_: &Rights) -> io::Result<()> {
    Ok(())
}

fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A temporary name in the same folder, so that the rename is one step.
fn temporary_of(file: &Path) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    folder_of(file).join(format!(".{name}.docsyncd-new"))
}

/// Creates the configuration's folder. The service must reach what is in it, and secrets have modes of their own. On
/// Windows the folder's access list protects it.
fn make_folder(folder: &Path) -> io::Result<()> {
    if cfg!(windows) { permissions::create_folders(folder) } else { fs::create_dir_all(folder) }
}

/// Whether systemd reads the files of this folder and passes them to the service.
fn is_read_by_systemd(folder: &Path) -> bool {
    folder.ends_with("secrets") || folder.parent().is_some_and(|above| above.ends_with("secrets"))
}

/// The key files that earlier setups wrote for another user.
fn keys_of_before(draft: &Draft) -> Vec<PathBuf> {
    let accounts = draft.loaded().map(|loaded| loaded.config.accounts).unwrap_or_default();
    let keys = accounts.into_values().filter_map(|account| match account.auth {
        Auth::ApiKey(Secret::File(file)) => Some(file),
        _ => None,
    });
    keys.filter(|file| !is_read_by_systemd(folder_of(file))).collect()
}

/// Gives the service a key that belongs to root. Returns whether it did.
#[cfg(unix)]
fn give_key(file: &Path, owner: &Reader) -> io::Result<bool> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let flags = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    let key = match fs::OpenOptions::new().read(true).custom_flags(flags).open(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        opened => opened?,
    };
    let is_given = is_given(&key.metadata()?, owner);
    if is_given {
        owned(&key, owner)?;
    }
    Ok(is_given)
}

/// Exactly one name: a second one may be a hard link that somebody made to another file.
#[cfg(unix)]
fn is_given(found: &fs::Metadata, owner: &Reader) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    found.is_file() && found.nlink() == 1 && found.uid() == 0 && owner.uid != Some(0)
}

#[cfg(unix)]
fn is_roots_key(file: &Path, owner: &Reader) -> bool {
    fs::symlink_metadata(file).is_ok_and(|found| is_given(&found, owner))
}

#[cfg(not(unix))]
fn is_roots_key(_: &Path, _: &Reader) -> bool {
    false
}

#[cfg(not(unix))]
fn give_key(_: &Path, _: &Reader) -> io::Result<bool> {
    Ok(false)
}

fn write_secret(secret: &NewSecret, owner: Option<&Reader>) -> io::Result<()> {
    let folder = folder_of(&secret.file);
    let by_root = is_read_by_systemd(folder);
    if by_root {
        permissions::create_folders(folder)?
    } else {
        make_folder(folder)?
    }
    let mut temporary = Temporary::create(temporary_of(&secret.file), 0o600)?;
    // Protected before it has any content.
    permissions::protect_file(temporary.path())?;
    if let Some(file) = temporary.file() {
        match owner {
            // systemd reads these files as root.
            Some(owner) if !by_root => owned(file, owner)?,
            Some(_) => {}
            None => hand_over(file, folder),
        }
    }
    temporary.write_all(secret.value.expose_secret().as_bytes())?;
    temporary.write_all(b"\n")?;
    temporary.sync()?;
    temporary.replace(&secret.file)?;
    sync_folder(folder)
}

#[cfg(unix)]
fn owned(file: &fs::File, owner: &Reader) -> io::Result<()> {
    std::os::unix::fs::fchown(file, owner.uid, owner.gids.first().copied())
}

#[cfg(not(unix))]
fn owned(_: &fs::File, _: &Reader) -> io::Result<()> {
    Ok(())
}

/// Writes the configuration. Returns where the earlier one is kept.
fn write_config(draft: &Draft) -> io::Result<Option<PathBuf>> {
    let folder = folder_of(&draft.path);
    make_folder(folder)?;
    let mut kept = None;
    if let Some(before) = &draft.before {
        let file = free_name(&draft.path);
        put(&file, before, &draft.path)?;
        kept = Some(file);
    }
    put(&draft.path, &draft.text, &draft.path)?;
    Ok(kept)
}

/// A free name for the earlier configuration beside the new one. Past the bound, the last one is replaced.
fn free_name(config: &Path) -> PathBuf {
    let named = |end: &str| {
        let mut name = config.as_os_str().to_owned();
        name.push(format!(".before-setup{end}"));
        PathBuf::from(name)
    };
    let first = named("");
    let mut numbered = (2..=MOST_KEPT).map(|number| named(&format!("-{number}")));
    let is_free = |file: &PathBuf| fs::symlink_metadata(file).is_err();
    if is_free(&first) { first } else { numbered.find(is_free).unwrap_or_else(|| named(&format!("-{MOST_KEPT}"))) }
}

/// Writes a file with the owner and mode of another one, if that exists.
fn put(file: &Path, text: &str, like: &Path) -> io::Result<()> {
    let mut temporary = Temporary::create(temporary_of(file), mode_of(like))?;
    if let Some(open) = temporary.file() {
        same_owner(open, like)?;
    }
    temporary.write_all(text.as_bytes())?;
    temporary.sync()?;
    temporary.replace(file)?;
    sync_folder(folder_of(file))
}

#[cfg(unix)]
fn mode_of(like: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(like).map_or(CONFIG_MODE, |found| found.permissions().mode() & 0o777)
}

#[cfg(not(unix))]
fn mode_of(_: &Path) -> u32 {
    CONFIG_MODE
}

/// Gives a file the owner of another. Only root can do that; for others the file is theirs anyway.
#[cfg(unix)]
fn same_owner(file: &fs::File, like: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    match fs::metadata(like) {
        Ok(found) if rustix::process::geteuid().is_root() => {
            std::os::unix::fs::fchown(file, Some(found.uid()), Some(found.gid()))
        }
        _ => {
            hand_over(file, folder_of(like));
            Ok(())
        }
    }
}

#[cfg(not(unix))]
fn same_owner(_: &fs::File, _: &Path) -> io::Result<()> {
    Ok(())
}

/// Checks that this process may write the configuration, before the first question.
///
/// # Errors
/// A sentence that says what to do.
pub(super) fn may_write(path: &Path, language: Language) -> Result<(), String> {
    let there = folder_of(path).ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("."));
    let file = there.join(format!(".docsyncd-setup-{}", std::process::id()));
    let tried = fs::OpenOptions::new().write(true).create_new(true).open(&file);
    let _ = fs::remove_file(&file);
    let Err(error) = tried else { return Ok(()) };
    let (whom, folder, why) = (as_whom(language), there.display().to_string(), error.to_string());
    let text = if cfg!(windows) { "setup-may-not-write-windows" } else { "setup-may-not-write" };
    Err(language.fill(text, &[("folder", (&folder).into()), ("whom", (&whom).into()), ("why", (&why).into())]))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    #[test]
    fn a_key_that_root_wrote_is_given_to_the_service_and_no_other_file_is() {
        let folder = tempfile::tempdir().unwrap();
        let (key, link) = (folder.path().join("api-key"), folder.path().join("link"));
        fs::write(&key, "key\n").unwrap();
        std::os::unix::fs::symlink(&key, &link).unwrap();
        let before = fs::metadata(&key).unwrap().uid();
        let service = Reader { name: "nobody".to_owned(), uid: Some(65534), gids: vec![65534] };
        assert!(give_key(&link, &service).is_err(), "no link is followed");
        assert_eq!(fs::metadata(&key).unwrap().uid(), before);
        assert!(!give_key(&folder.path().join("missing"), &service).unwrap());
        // Only root has a key to give away.
        assert_eq!(give_key(&key, &service).unwrap(), before == 0);
        assert_eq!(fs::metadata(&key).unwrap().uid(), if before == 0 { 65534 } else { before });
        assert!(!give_key(&key, &service).unwrap(), "it is the service's already");
    }
}
