//! Tests a folder for real: everything that a delivery does there, with a file of its own.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::place::open_root;
use super::{Doing, FolderConfig, fault, files};

/// The start and end of the names of its files.
const NAMES: (&str, &str) = (".docsyncd-check-", ".part");
/// Far longer than a check lasts, and than the clocks of two machines differ.
const SURELY_DEAD: Duration = Duration::from_secs(24 * 60 * 60);

/// A name for a file of a check. The daemon and the command `check` may run at the same time, and two destinations may
/// share a folder.
pub(super) fn file_name() -> String {
    /// The names that this process took.
    static TAKEN: AtomicU64 = AtomicU64::new(0);
    format!("{}{}-{}{}", NAMES.0, std::process::id(), TAKEN.fetch_add(1, Ordering::Relaxed), NAMES.1)
}

/// Writes, syncs, renames and deletes a file. The error says which step failed and what to do.
pub(super) fn check(config: &FolderConfig) -> Result<(), String> {
    let root = open_root(config)?;
    sweep(&root);
    let failed = |doing| move |error: std::io::Error| fault::reason(config, doing, &error);
    let (temporary, target) = (root.join(file_name()), root.join(file_name()));
    files::remove_if_there(&target).map_err(failed(Doing::Remove))?;

    let mut probe = files::Temporary::create(temporary, config.file_mode).map_err(failed(Doing::Create))?;
    probe.writer().write_all(b"docsyncd check\n").map_err(failed(Doing::Write))?;
    probe.sync().map_err(failed(Doing::Sync))?;
    files::rename_new(probe.path(), &target).map_err(failed(Doing::Rename))?;
    let synced = files::sync_folder(&root).map_err(failed(Doing::Sync));
    files::remove_if_there(&target).map_err(failed(Doing::Remove))?;
    synced
}

/// Removes files of checks that were cut off, as far as that works.
fn sweep(root: &Path) {
    for entry in fs::read_dir(root).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_ours = name.to_str().is_some_and(|name| name.starts_with(NAMES.0) && name.ends_with(NAMES.1));
        let changed = entry.metadata().and_then(|found| found.modified()).ok();
        if is_ours && changed.and_then(|at| at.elapsed().ok()).is_some_and(|age| age > SURELY_DEAD) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{File, FileTimes};
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn what_a_check_left_that_was_cut_off_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let long_ago = SystemTime::now() - 2 * SURELY_DEAD;
        let under_way = file_name();
        let others = [".docsyncd-0a1b.part", ".docsyncd-check-notes.txt", "letter.pdf"];
        for (name, is_old) in
            [(&*file_name(), true), (&*under_way, false)].into_iter().chain(others.map(|name| (name, true)))
        {
            let file = File::create(folder.path().join(name)).unwrap();
            if is_old {
                file.set_times(FileTimes::new().set_modified(long_ago)).unwrap();
            }
        }
        sweep(folder.path());
        let mut left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, [others[0], &*under_way, others[1], others[2]]);
    }
}
