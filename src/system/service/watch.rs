//! Notices changes of the configuration file.
//!
//! Watches the folder, because editors replace files. An event only triggers a check, which compares the content with
//! what was last read. Over SMB and NFS there are no events for changes from other machines, so the content is also
//! checked regularly.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use sha2::{Digest as _, Sha256};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use crate::domain::document::hex;
use crate::system::answering::ask;
use crate::system::watch::{folder_of, watcher};

/// The wait after the last event, so that an editor can finish writing.
const SETTLE: Duration = Duration::from_millis(300);
/// How often the content is checked without any event.
const LOOK_INTERVAL: Duration = Duration::from_secs(30);

/// The watch of the configuration file.
pub struct ConfigWatch {
    path: PathBuf,
    seen: String,
    woken: Arc<Notify>,
    /// When the content is checked next, however often [`Self::changed`] is called anew. The first check is soon, since
    /// the file may have changed between the read and the start of the watch.
    next_look: Instant,
    _watcher: Option<RecommendedWatcher>,
}

impl ConfigWatch {
    /// Watches `path`. `sha256` is the digest of the content that was read. If the system cannot watch, only the
    /// regular check remains.
    pub fn new(path: &Path, sha256: String) -> Self {
        let woken = Arc::new(Notify::new());
        let name = path.file_name().map(ToOwned::to_owned);
        // The ledger may be in the same folder.
        let watcher = watcher(move |path| path.file_name() == name.as_deref(), &woken);
        let watcher = watcher.and_then(|mut watcher| {
            watcher.watch(folder_of(path), RecursiveMode::NonRecursive)?;
            Ok(watcher)
        });
        if let Err(error) = &watcher {
            tracing::warn!(
                event = "watch_failed",
                "changes of the configuration are noticed within 30 s only: {error}"
            );
        }
        let next_look = Instant::now() + SETTLE;
        Self { path: path.to_path_buf(), seen: sha256, woken, next_look, _watcher: watcher.ok() }
    }

    /// Another part has read the file, with this SHA-256, so this content is no change any more.
    pub fn was_read(&mut self, sha256: &str) {
        sha256.clone_into(&mut self.seen);
    }

    /// Waits until the content differs from what was last read. Cancel safe.
    pub async fn changed(&mut self) {
        loop {
            tokio::select! {
                () = self.woken.notified() => {
                    self.next_look = Instant::now() + SETTLE;
                    continue;
                }
                () = sleep_until(self.next_look) => {}
            }
            let path = self.path.clone();
            let read = tokio::task::spawn_blocking(move || ask(&path, |path| std::fs::read(path))).await;
            self.next_look = Instant::now() + LOOK_INTERVAL;
            // A missing file is being replaced, or was removed. In both cases there is nothing to read yet.
            let Ok(Ok(content)) = read else { continue };
            let sha256 = hex(&Sha256::digest(&content));
            if sha256 != self.seen {
                self.seen = sha256;
                return;
            }
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use super::*;

    /// Events do not come from the target of a link. The caller starts the wait again and again, as the server does
    /// between two signs of life.
    #[tokio::test(start_paused = true)]
    async fn a_change_behind_a_link_is_noticed_within_the_interval_however_often_the_wait_is_begun_anew() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("elsewhere/real.toml"), folder.path().join("docsyncd.toml"));
        fs::create_dir(folder.path().join("elsewhere")).unwrap();
        fs::write(&target, "one").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        let mut watch = ConfigWatch::new(&link, hex(&Sha256::digest("one")));
        let began = tokio::time::Instant::now();
        assert!(tokio::time::timeout(LOOK_INTERVAL * 2, watch.changed()).await.is_err(), "nothing was changed");
        fs::write(&target, "two").unwrap();
        let changed = began.elapsed();
        while tokio::time::timeout(LOOK_INTERVAL / 3, watch.changed()).await.is_err() {
            assert!(began.elapsed() - changed < LOOK_INTERVAL * 2);
        }
        assert!(began.elapsed() - changed <= LOOK_INTERVAL + SETTLE, "{:?}", began.elapsed() - changed);
    }
}
