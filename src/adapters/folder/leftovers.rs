//! Removes temporary files that dead processes left in the configured folder, and that no later attempt returns to.
//!
//! A delivery finds its own leftovers by its key. But a check uses a name of its process, and a delivery may never be
//! repeated (the document was withdrawn, or has another PDF by now). Sub-folders are not searched: there may be very
//! many.

use std::fs::{self, DirEntry};
use std::path::Path;
use std::time::Duration;

/// The start of the names of checks; the process id follows.
pub(super) const CHECK: &str = ".docsyncd-check-";
/// The start and end of every temporary name.
const OURS: (&str, &str) = (".docsyncd-", ".part");
/// Far longer than any attempt takes, and than a machine that shares the folder stays off: the temporary file is
/// evidence about its delivery. A check's file is nobody's much earlier.
const SURELY_DEAD: Duration = Duration::from_secs(30 * 24 * 60 * 60);
const CHECK_DEAD: Duration = Duration::from_secs(24 * 60 * 60);

/// Removes the leftovers, as far as that works: the next sweep tries the rest. A delivery's file is spared if
/// `is_awaited` says that the ledger knows it, because it is evidence about that delivery.
pub(super) fn sweep(root: &Path, is_awaited: impl Fn(&str) -> bool) {
    for entry in fs::read_dir(root).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| name.starts_with(OURS.0) && name.ends_with(OURS.1)) else {
            continue;
        };
        if is_of_dead_process(name) || (is_old(&entry, name) && !is_awaited(name)) {
            fault_point!("folder.sweep.before");
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Whether it is the file of a check whose process has ended. If two machines share the folder, one may take the
/// other's check for dead; that check then fails, and is repeated.
fn is_of_dead_process(name: &str) -> bool {
    let number = name.strip_prefix(CHECK).and_then(|rest| rest.split('-').next());
    number.and_then(|number| number.parse().ok()).is_some_and(has_ended)
}

#[cfg(unix)]
fn has_ended(process: i32) -> bool {
    use rustix::io::Errno;
    use rustix::process::{Pid, test_kill_process};
    Pid::from_raw(process).is_some_and(|process| test_kill_process(process) == Err(Errno::SRCH))
}

/// Windows reuses process ids at once, and asking about a process takes rights: there the age decides.
#[cfg(not(unix))]
fn has_ended(_: i32) -> bool {
    false
}

fn is_old(entry: &DirEntry, name: &str) -> bool {
    let limit = if name.starts_with(CHECK) { CHECK_DEAD } else { SURELY_DEAD };
    let modified = entry.metadata().and_then(|found| found.modified());
    modified.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > limit))
}

#[cfg(test)]
mod tests {
    use std::fs::{File, FileTimes};
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn what_nobody_comes_by_again_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let long_ago = SystemTime::now() - 2 * SURELY_DEAD;
        let own = std::process::id();
        for (name, old) in [
            (".docsyncd-0a1b.part", false),
            (".docsyncd-0a1c.part", true),
            (".docsyncd-0a1c.sidecar.part", true),
            (".docsyncd-awaited.part", true),
            ("letter.pdf", true),
            (".docsyncd-notes.txt", true),
            (".other.part", true),
            (&format!(".docsyncd-check-{own}-0.part"), false),
        ] {
            let file = File::create(folder.path().join(name)).unwrap();
            if old {
                file.set_times(FileTimes::new().set_modified(long_ago)).unwrap();
            }
        }
        sweep(folder.path(), |name| name == ".docsyncd-awaited.part");
        let mut left: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        let check = format!(".docsyncd-check-{own}-0.part");
        assert_eq!(
            left,
            [
                ".docsyncd-0a1b.part",
                ".docsyncd-awaited.part",
                &check,
                ".docsyncd-notes.txt",
                ".other.part",
                "letter.pdf"
            ]
        );
    }

    #[cfg(unix)]
    #[test]
    fn the_check_of_a_process_that_died_is_removed_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let left = folder.path().join(format!("{CHECK}{}-0.renamed.part", child.id()));
        child.wait().unwrap();
        fs::write(&left, "").unwrap();
        sweep(folder.path(), |_| true);
        assert!(!left.exists());
    }
}
