//! Wakes a task when something happens to files of this machine. It only wakes: whoever waits looks, and looks from
//! time to time as well, because over SMB and NFS there are no events for changes from other machines.

use std::path::Path;
use std::sync::Arc;

use notify::RecommendedWatcher;
use tokio::sync::Notify;

/// Whether a watcher costs less than a look each second. On Windows the library wakes ten times a second for each.
pub const IS_CHEAP: bool = cfg!(not(windows));

/// A watcher of no folder yet. It wakes when something happens to files that are `ours`; accesses do not count.
///
/// # Errors
/// The system cannot watch, or no more.
pub fn watcher(
    ours: impl Fn(&Path) -> bool + Send + 'static,
    wake: &Arc<Notify>,
) -> notify::Result<RecommendedWatcher> {
    let wake = Arc::clone(wake);
    notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        if event.is_ok_and(|event| !event.kind.is_access() && event.paths.iter().any(|path| ours(path))) {
            wake.notify_one();
        }
    })
}

/// The folder to watch for changes of a file, which may be replaced.
pub fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
