//! One fsync for all threads that wait for the same folder: sixteen deliveries into one folder do not need sixteen.
//!
//! An fsync counts for the callers that asked before it began, like a group commit of a database. All of them get its
//! result, since the system reports an error only once.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use rustix::io::Result;

/// Device and inode, since one folder has many paths.
pub(super) type FolderId = (u64, u64);

/// The result of one fsync.
type Turn = Arc<OnceLock<Result<()>>>;

#[derive(Default)]
struct SyncQueue {
    under_way: bool,
    /// The turn of the callers that came after the current fsync had begun.
    next: Option<Turn>,
}

static FOLDERS: Mutex<Option<HashMap<FolderId, SyncQueue>>> = Mutex::new(None);
static ENDED: Condvar = Condvar::new();

fn folders() -> MutexGuard<'static, Option<HashMap<FolderId, SyncQueue>>> {
    // A panic cannot have left it inconsistent.
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `sync`, or waits for the result of one that another thread begins after this call.
pub(super) fn once_for_all(folder: FolderId, sync: impl FnOnce() -> Result<()>) -> Result<()> {
    let mut known = folders();
    let turn = Turn::clone(known.get_or_insert_default().entry(folder).or_default().next.get_or_insert_default());
    loop {
        if let Some(result) = turn.get() {
            return *result;
        }
        let waiting = known.get_or_insert_default().entry(folder).or_default();
        if !waiting.under_way {
            waiting.under_way = true;
            waiting.next = None;
            break;
        }
        known = ENDED.wait(known).unwrap_or_else(PoisonError::into_inner);
    }
    drop(known);
    let _ends = Ends(folder);
    let result = sync();
    *turn.get_or_init(|| result)
}

/// Ends a turn, also after a panic. Then another thread of the same turn tries.
struct Ends(FolderId);

impl Drop for Ends {
    fn drop(&mut self) {
        let mut known = folders();
        let all = known.get_or_insert_default();
        if let Some(waiting) = all.get_mut(&self.0) {
            waiting.under_way = false;
            if waiting.next.is_none() {
                all.remove(&self.0);
            }
        }
        drop(known);
        ENDED.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;
    use std::thread;

    use rustix::io::Errno;

    use super::*;

    /// A folder that no other test uses.
    fn folder() -> FolderId {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        (u64::MAX, NEXT.fetch_add(1, Ordering::Relaxed) as u64)
    }

    fn waiting_for(folder: FolderId) -> usize {
        let known = folders();
        let next = known.as_ref().and_then(|all| all.get(&folder)?.next.as_ref());
        next.map_or(0, |turn| Arc::strong_count(turn) - 1)
    }

    /// One sync runs while seven other callers come: they get the result of the sync that begins after they came.
    fn seven_while_one_is_under_way(second: Result<()>) -> (Result<()>, Vec<Result<()>>, usize) {
        let (folder, times) = (folder(), AtomicUsize::new(0));
        let (go_on, told) = mpsc::channel::<()>();
        thread::scope(|scope| {
            let first = scope.spawn(move || {
                once_for_all(folder, || {
                    let _ = told.recv();
                    Ok(())
                })
            });
            while !folders().as_ref().is_some_and(|all| all.get(&folder).is_some_and(|waiting| waiting.under_way)) {
                thread::yield_now();
            }
            let sync = || {
                times.fetch_add(1, Ordering::Relaxed);
                second
            };
            let others: Vec<_> = (0..7).map(|_| scope.spawn(move || once_for_all(folder, sync))).collect();
            while waiting_for(folder) < 7 {
                thread::yield_now();
            }
            drop(go_on);
            let others = others.into_iter().map(|other| other.join().unwrap()).collect();
            (first.join().unwrap(), others, times.load(Ordering::Relaxed))
        })
    }

    #[test]
    fn who_comes_while_one_is_under_way_waits_for_the_next() {
        assert_eq!(seven_while_one_is_under_way(Ok(())), (Ok(()), vec![Ok(()); 7], 1));
        let failed = Err(Errno::IO);
        assert_eq!(seven_while_one_is_under_way(failed), (Ok(()), vec![failed; 7], 1), "all are told of the error");
    }

    #[test]
    fn nothing_is_kept_and_a_panic_holds_nobody_up() {
        let folder = folder();
        assert_eq!(once_for_all(folder, || Err(Errno::IO)), Err(Errno::IO));
        assert_eq!(once_for_all(folder, || Ok(())), Ok(()), "an earlier result does not count");
        thread::spawn(move || once_for_all(folder, || panic!("on purpose"))).join().unwrap_err();
        assert_eq!(once_for_all(folder, || Ok(())), Ok(()));
        assert!(!folders().as_ref().unwrap().contains_key(&folder));
    }
}
