//! Whether the user or group for whom letters are filed can read them. The group comes from the folder, the mode from
//! the configuration and the umask, so the judgement looks at a real sub-folder and a real file.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::blocking;
use super::place::open_root;
use super::probe::file_name;
use super::{CHECK_LIMIT, Doing, FolderAdapter, FolderConfig, fault, files};
use crate::system::readers::{self, ENTER, READ, Reader};

/// The most entries of a folder that are checked.
const MOST_ENTRIES: usize = 10_000;

/// See [`super::super::readable`].
pub(crate) async fn readable(config: &FolderConfig) -> Result<(), String> {
    let Some(name) = config.reader.clone() else { return Ok(()) };
    let adapter = FolderAdapter::new(config.clone());
    let copy = config.clone();
    let work = move || judge(&copy, &name);
    let judged = blocking::run(adapter.claim("a reader"), CHECK_LIMIT, work).await;
    judged.unwrap_or_else(|stuck| Err(adapter.stuck(stuck)))
}

/// A sub-folder that is removed on drop, with the file in it.
struct Trial(PathBuf);

impl Drop for Trial {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn judge(config: &FolderConfig, name: &str) -> Result<(), String> {
    let destination = &config.name;
    let reader = readers::find(name).map_err(|wrong| format!("destination `{destination}`: `reader`: {wrong}"))?;
    let root = open_root(config)?;
    if let Some(closed) = reader.stopped_at(&root) {
        return Err(format!(
            "destination `{destination}`: {name} cannot read the letters, since it may not pass through {}: let it, with \
             chmod o+x {0}",
            closed.display()
        ));
    }
    look(config, &reader, &root, &config.path, "the folder itself", READ | ENTER)?;
    let failed = |doing| move |error: std::io::Error| fault::reason(config, doing, &error);
    let folder = Trial(root.join(file_name()));
    files::create_folder(&folder.0, config.dir_mode).map_err(failed(Doing::MakeFolder))?;
    let file = files::Temporary::create(folder.0.join(file_name()), config.file_mode);
    let file = file.map_err(failed(Doing::Create))?;
    look(config, &reader, &folder.0, &config.path, "a new sub-folder", READ | ENTER)?;
    look(config, &reader, file.path(), &config.path, "a new file in a sub-folder", READ)?;
    // The folder's owner counts, too: the caller may be root, and not the service's user.
    let own = [&folder.0, &root].map(|path| readers::permissions(path).map(|found| found.uid));
    drop((file, folder));
    match of_before(&reader, &root, own) {
        0 => Ok(()),
        count => Err(format!(
            "destination `{destination}`: {name} can read new letters, but not {count} of the folders and files that are there \
             already: {}",
            opened_by(&root)
        )),
    }
}

/// How many entries of the folder are closed to the reader. Only entries of docsyncd's user or the folder's user count:
/// an importer's files belong to another user.
fn of_before(reader: &Reader, root: &Path, own: [Option<u32>; 2]) -> usize {
    let entries = fs::read_dir(root).into_iter().flatten().flatten().take(MOST_ENTRIES);
    let is_closed = |entry: &fs::DirEntry| {
        let wanted = match entry.file_type() {
            Ok(kind) if kind.is_dir() => READ | ENTER,
            Ok(kind) if kind.is_file() => READ,
            _ => return false,
        };
        readers::permissions(&entry.path())
            .is_some_and(|found| own.contains(&Some(found.uid)) && !reader.may(wanted, found))
    };
    entries.filter(is_closed).count()
}

/// The commands that open existing entries to the folder's group.
fn opened_by(root: &Path) -> String {
    let gid = readers::permissions(root).map(|found| found.gid).unwrap_or_default();
    let path = root.display();
    format!("run chgrp -R {gid} '{path}' and chmod -R g+rX '{path}'")
}

fn look(
    config: &FolderConfig,
    reader: &Reader,
    path: &Path,
    root: &Path,
    what: &str,
    wanted: u32,
) -> Result<(), String> {
    let Some(found) = readers::permissions(path) else { return Ok(()) };
    if reader.may(wanted, found) {
        return Ok(());
    }
    let (name, mode, folder) = (&reader.name, found.mode & 0o7777, root.display());
    Err(format!(
        "destination `{}`: {name} cannot read the letters: {what} has mode {mode:04o} and belongs to user {} and group {}. \
         Give {folder} to a group of {name} (chgrp), run chmod 2750 {folder}, and set file_mode = \"0640\" and dir_mode = \
         \"0750\"; docsyncd setup does all of it",
        config.name, found.uid, found.gid
    ))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::destinations::SCHEMA;

    #[tokio::test]
    async fn a_reader_is_judged_by_what_files_really_become_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let inbox = folder.path().join("inbox");
        fs::create_dir(&inbox).unwrap();
        let open = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        open(folder.path(), 0o755);
        let judged = async |modes: [&str; 2], root_mode| {
            open(&inbox, root_mode);
            let text = format!(
                "[api]\nbase_url = \"http://127.0.0.1:1\"\n[accounts.main]\napi_key_file = \"key\"\n[destinations.pms]\n\
                 type = \"folder\"\npath = '{}'\nreader = \"nobody\"\nfile_mode = \"{}\"\ndir_mode = \"{}\"\n",
                inbox.display(),
                modes[0],
                modes[1]
            );
            let loaded =
                SCHEMA.load_text(Path::new("/etc/docsyncd.toml"), &text, Vec::<(String, String)>::new(), &[]).unwrap();
            readable(loaded.config.destinations["pms"].of().unwrap()).await.err().unwrap_or_default()
        };
        assert_eq!(judged(["0644", "0755"], 0o755).await, "");
        for (modes, root_mode, sign) in [
            (["0644", "0755"], 0o700, "the folder itself has mode 0700"),
            (["0644", "0700"], 0o755, "a new sub-folder has mode 0700"),
            (["0600", "0755"], 0o755, "a new file in a sub-folder has mode 0600"),
        ] {
            let said = judged(modes, root_mode).await;
            assert!(said.contains(sign) && said.contains("nobody cannot read"), "{said}");
        }
        // Entries that were filed before a reader was configured.
        for (mode, sign) in
            [(0o700, "not 1 of the folders and files that are there already: run chgrp -R"), (0o755, "")]
        {
            let patient = inbox.join("Durand_Louise");
            let _ = fs::create_dir(&patient);
            open(&patient, mode);
            let said = judged(["0644", "0755"], 0o755).await;
            assert!(if sign.is_empty() { said.is_empty() } else { said.contains(sign) }, "{said}");
        }
        fs::remove_dir(inbox.join("Durand_Louise")).unwrap();
        open(folder.path(), 0o700);
        let said = judged(["0644", "0755"], 0o755).await;
        assert!(said.contains("may not pass through"), "{said}");
        assert_eq!(fs::read_dir(&inbox).unwrap().count(), 0);
    }
}
