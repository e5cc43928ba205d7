//! Notices what other processes do. `docsyncd retry` and `docsyncd poll` write into the ledger. `docsyncd login` and
//! `logout`, and a person who replaces a key's file, do not, so the accounts' files are looked at.
//!
//! The files may lie on a share that hangs, so the looks have threads of their own. A look that hangs holds up its
//! account alone.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::OptionFuture;
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep_until};

use crate::ledger::process::{self, Asked};
use crate::pipeline::{Context, Edges, Scope, Shared, Signals};
use crate::system::clock;
use crate::system::watch::{IS_CHEAP, folder_of, watcher};

/// How often the accounts' files are looked at. Each look wakes a thread, so it is done seldom.
const LOOK_INTERVAL: Duration = Duration::from_secs(5);
/// How often if their folders are watched, where changes that another machine makes on a share cause no event.
const SELDOM: Duration = Duration::from_secs(15);
/// The wait after an event, so that whoever writes can finish.
const SETTLE: Duration = Duration::from_millis(300);
/// The most looks that may hang at once. Each occupies a thread that the program needs.
const MOST_LOOKS: usize = 16;

/// The accounts, and which of them are being looked at.
struct Looks<F> {
    /// The accounts' names, and whether somebody looks at the account's files now.
    accounts: Vec<(String, AtomicBool)>,
    /// Looks at the files of one account, and returns whether they changed.
    look: F,
    changed: UnboundedSender<String>,
}

impl<F: Fn(&str) -> bool + Send + Sync + 'static> Looks<F> {
    fn new<'a>(accounts: impl Iterator<Item = &'a String>, look: F) -> (Arc<Self>, UnboundedReceiver<String>) {
        let (changed, found) = unbounded_channel();
        let accounts = accounts.map(|name| (name.clone(), AtomicBool::new(false))).collect();
        (Arc::new(Self { accounts, look, changed }), found)
    }

    /// Begins to look at all accounts, except those whose earlier look has not returned.
    fn begin(looks: &Arc<Self>) {
        // One is this very handle; the others belong to looks that have not returned.
        if Arc::strong_count(looks) <= MOST_LOOKS {
            let looks = Arc::clone(looks);
            clock::aside(move || looks.go_round());
        }
    }

    fn go_round(&self) {
        for (account, under_way) in &self.accounts {
            if under_way.swap(true, Ordering::AcqRel) {
                continue;
            }
            let looking = Looking(under_way);
            let changed = (self.look)(account);
            // Reset first, so that a change after this look is seen by the next one.
            drop(looking);
            if changed {
                // When the daemon ends, nobody listens any more.
                let _ = self.changed.send(account.clone());
            }
        }
    }
}

/// A look that has not returned. Ends with it, also if it panics.
struct Looking<'a>(&'a AtomicBool);

impl Drop for Looking<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// Follows other processes until the daemon stops.
pub(super) async fn other_processes(context: Shared) {
    let Context { edges, signals, .. } = &*context;
    let shared = context.clone();
    let look =
        move |account: &str| shared.edges.clients.get(account).is_some_and(|client| client.look_at_credentials());
    let (looks, mut changed) = Looks::new(edges.clients.keys(), look);
    let files: Vec<PathBuf> = edges.clients.values().flat_map(|client| client.credential_files()).collect();
    let (events, has_files, mut watcher) = (Arc::new(Notify::new()), !files.is_empty(), None);
    // Setting a watch blocks while a folder does not answer, so it has a thread of its own.
    let (ledger, wake) = (edges.ledger.folder().to_path_buf(), Arc::clone(&events));
    let watching = (IS_CHEAP && has_files).then(|| spawn_blocking(move || watch(files, &ledger, &wake)));
    let mut watching = pin!(OptionFuture::from(watching).fuse());
    let mut due = Instant::now();
    take_up_requests(edges, signals).await;
    loop {
        tokio::select! {
            biased;
            () = signals.stop.cancelled() => return,
            () = edges.ledger.changed_elsewhere() => {
                signals.nudges.stages();
                if let Some(numbers) = &edges.numbers {
                    numbers.changed();
                }
                take_up_requests(edges, signals).await;
            }
            Some(Ok(Some(set))) = &mut watching => {
                watcher = Some(set);
                due = Instant::now();
            }
            () = events.notified() => due = due.min(Instant::now() + SETTLE),
            () = sleep_until(due) => {
                Looks::begin(&looks);
                due = Instant::now() + if has_files && watcher.is_none() { LOOK_INTERVAL } else { SELDOM };
            }
            Some(account) = changed.recv() => take_up(edges, signals, &account),
        }
    }
}

/// Watches the folders of these files; `None` if one of them cannot be watched, or has the ledger, each page of which
/// would be an event.
fn watch(files: Vec<PathBuf>, ledger: &Path, wake: &Arc<Notify>) -> Option<RecommendedWatcher> {
    let folders: BTreeSet<PathBuf> = files.iter().map(|file| folder_of(file).to_path_buf()).collect();
    let ledger = fs::canonicalize(ledger).ok();
    let is_ours = move |path: &Path| files.iter().any(|file| file.file_name() == path.file_name());
    let mut watcher = watcher(is_ours, wake).ok()?;
    let mut watches = |folder: &PathBuf| {
        fs::canonicalize(folder).is_ok_and(|folder| Some(folder) != ledger)
            && watcher.watch(folder, RecursiveMode::NonRecursive).is_ok()
    };
    folders.iter().all(&mut watches).then_some(watcher)
}

/// `docsyncd poll` asks for a look at every account, and for a probe of what is paused; `docsyncd retry` only for the
/// latter. If the ledger cannot be read now, the request stays in it, and the stages report the error.
async fn take_up_requests(edges: &Edges, signals: &Signals) {
    let ledger = &edges.ledger;
    let asked = match ledger.read(process::asked).await {
        Ok(asked) if asked != Asked::default() => ledger.write(process::take_up).await,
        other => other,
    };
    let asked = asked.unwrap_or_else(|error| {
        tracing::debug!(event = "poll_request_failed", "{error}");
        Asked::default()
    });
    if asked.poll {
        tracing::info!(event = "poll_requested", "a person asked to look now");
        signals.nudges.poll_all();
        if let Some(numbers) = &edges.numbers {
            numbers.look_again();
        }
    }
    if asked.poll || asked.probes {
        edges.pauses.probe_all_now();
        // The polls probe an account.
        let is_paused = |account: &&String| edges.pauses.paused_until(&Scope::Account((*account).clone())).is_some();
        edges.clients.keys().filter(is_paused).for_each(|account| signals.nudges.poll_now(account));
        signals.nudges.stages();
    }
}

/// The account's credentials changed. A paused account is tried at once. A working one stops if it was signed out, or
/// goes on as the user who signed in.
fn take_up(edges: &Edges, signals: &Signals, account: &str) {
    signals.nudges.poll_now(account);
    // A missing permission pauses only the scope that needs it.
    let scopes = [Scope::Account, Scope::Fetch, Scope::Report].map(|scope| scope(account.to_owned()));
    if scopes.iter().any(|scope| edges.pauses.paused_until(scope).is_some()) {
        scopes.iter().for_each(|scope| edges.pauses.probe_now(scope));
        signals.nudges.stages();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::sync::mpsc;
    use std::sync::{Mutex, PoisonError};

    use super::*;

    #[tokio::test]
    async fn an_account_whose_files_hang_holds_up_no_other_and_takes_one_thread() {
        let names = ["a", "b", "c"].map(str::to_owned);
        let (answer, hangs) = mpsc::channel::<()>();
        let (hangs, asked) = (Mutex::new(hangs), Arc::new(AtomicUsize::new(0)));
        let count = Arc::clone(&asked);
        let (looks, mut changed) = Looks::new(names.iter(), move |account| {
            if account == "b" {
                count.fetch_add(1, Ordering::Relaxed);
                let _ = hangs.lock().unwrap_or_else(PoisonError::into_inner).recv();
            }
            true
        });
        Looks::begin(&looks);
        assert_eq!(changed.recv().await.unwrap(), "a");
        // The first look at b hangs for good. The next looks skip it.
        for _ in 0..3 {
            while asked.load(Ordering::Relaxed) == 0 {
                tokio::task::yield_now().await;
            }
            Looks::begin(&looks);
            assert_eq!([changed.recv().await.unwrap(), changed.recv().await.unwrap()], ["a", "c"]);
        }
        assert_eq!(asked.load(Ordering::Relaxed), 1);
        answer.send(()).unwrap();
        assert_eq!([changed.recv().await.unwrap(), changed.recv().await.unwrap()], ["b", "c"], "it goes on");
        drop(answer);
    }

    #[tokio::test]
    async fn an_account_at_which_a_look_panicked_is_looked_at_again() {
        let (names, panics) = (["a"].map(str::to_owned), AtomicBool::new(true));
        let (looks, mut changed) = Looks::new(names.iter(), move |_| {
            assert!(!panics.swap(false, Ordering::Relaxed), "on purpose");
            true
        });
        let broken = Arc::clone(&looks);
        assert!(std::thread::spawn(move || broken.go_round()).join().is_err());
        looks.go_round();
        assert_eq!(changed.recv().await.unwrap(), "a");
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_replaced_key_wakes_and_other_files_beside_it_and_the_ledger_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let (keys, ledger) = (folder.path().join("keys"), folder.path().join("ledger"));
        for folder in [&keys, &ledger] {
            fs::create_dir(folder).unwrap();
        }
        let events = Arc::new(Notify::new());
        let is_woken =
            async |seconds: u64| tokio::time::timeout(Duration::from_secs(seconds), events.notified()).await.is_ok();
        assert!(watch(vec![keys.join("a"), ledger.join("b")], &ledger, &events).is_none());
        assert!(watch(vec![keys.join("no-such-folder/a")], &ledger, &events).is_none());
        let watcher = watch(vec![keys.join("a")], &ledger, &events);
        assert!(watcher.is_some());
        fs::write(keys.join("new"), "k-1").unwrap();
        assert!(!is_woken(1).await);
        fs::rename(keys.join("new"), keys.join("a")).unwrap();
        assert!(is_woken(5).await);
    }
}
