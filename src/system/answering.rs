//! Reads files that may lie on a share that hangs. A system call cannot be cancelled, so a thread of its own waits for
//! it, and the caller goes on without the file.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long to wait for a file. A disk that has to spin up answers in this time.
const LIMIT: Duration = Duration::from_secs(5);
/// How long a file that hangs is left alone before one more thread tries it. Doubles with each try.
const AGAIN: Duration = Duration::from_secs(10);
/// The most doublings of [`AGAIN`], which make an hour and a half.
const MOST_DOUBLINGS: u32 = 9;

struct Hanging {
    since: Instant,
    doublings: u32,
}

/// The files that did not answer the last time.
static HANGING: Mutex<BTreeMap<PathBuf, Hanging>> = Mutex::new(BTreeMap::new());

fn hanging<T>(change: impl FnOnce(&mut BTreeMap<PathBuf, Hanging>) -> T) -> T {
    change(&mut HANGING.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Runs `work` on the file. Blocks the thread for at most 5 s, or not at all if the file has just been seen to hang.
///
/// # Errors
/// The error of `work`, or [`ErrorKind::TimedOut`].
pub fn ask<T: Send + 'static>(
    file: &Path,
    work: impl FnOnce(&Path) -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let hangs = |known: &Hanging| known.since.elapsed() < AGAIN * 2u32.pow(known.doublings);
    if hanging(|files| files.get(file).is_some_and(hangs)) {
        return Err(timed_out());
    }
    let (tell, told) = sync_channel(1);
    let path = file.to_owned();
    thread::Builder::new().name("docsyncd-file".to_owned()).spawn(move || {
        // After the time limit, nobody listens.
        let _ = tell.send(work(&path));
    })?;
    match told.recv_timeout(LIMIT) {
        Ok(result) => {
            hanging(|files| files.remove(file));
            result
        }
        Err(RecvTimeoutError::Disconnected) => Err(io::Error::other("reading it panicked")),
        Err(RecvTimeoutError::Timeout) => {
            hanging(|files| {
                let now = Hanging { since: Instant::now(), doublings: 0 };
                let known = files.entry(file.to_owned()).or_insert(now);
                // Several callers may have waited at once; only one of them counts.
                if known.since.elapsed() > LIMIT {
                    let doublings = (known.doublings + 1).min(MOST_DOUBLINGS);
                    *known = Hanging { since: Instant::now(), doublings };
                }
            });
            Err(timed_out())
        }
    }
}

/// Whether a file did not answer the last time.
pub fn some_hang() -> bool {
    hanging(|files| !files.is_empty())
}

fn timed_out() -> io::Error {
    io::Error::new(ErrorKind::TimedOut, "it does not answer; does it lie on a share that is away?")
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A named pipe without a writer does not answer, like a share that is away.
    #[test]
    fn a_file_that_hangs_is_waited_for_once_and_asked_again_later() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        let tries = Arc::new(AtomicUsize::new(0));
        let asked = || {
            let count = Arc::clone(&tries);
            let read = ask(&path, move |path| {
                count.fetch_add(1, Ordering::SeqCst);
                fs::read(path)
            });
            (read.map_err(|error| error.kind()), tries.load(Ordering::SeqCst))
        };
        assert_eq!(asked(), (Err(ErrorKind::TimedOut), 1));
        assert!(some_hang());
        assert_eq!(asked(), (Err(ErrorKind::TimedOut), 1), "nobody waits a second time");
        let doublings = || hanging(|files| files.get(&path).map(|known| known.doublings));
        let some_time_ago = || {
            let then = Instant::now().checked_sub(AGAIN * 2).unwrap();
            hanging(|files| files.get_mut(&path).unwrap().since = then);
        };
        some_time_ago();
        assert_eq!((asked(), doublings()), ((Err(ErrorKind::TimedOut), 2), Some(1)));
        // This is another file, while two threads still wait for the pipe.
        fs::remove_file(&path).unwrap();
        fs::write(&path, "two").unwrap();
        assert_eq!(asked(), (Err(ErrorKind::TimedOut), 2), "it has just been seen to hang");
        hanging(|files| files.get_mut(&path).unwrap().doublings = 0);
        some_time_ago();
        assert_eq!((asked(), doublings()), ((Ok(b"two".to_vec()), 3), None));
    }
}
