//! The one writer: what is queued is committed together, and a query that fails fails alone.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context, Waker};

use docsyncd::ledger::{Ledger, LedgerError, is_locked, process};

use crate::dictated::{is_walk, wait_for_walks};
use crate::harness::Practice;

type Write = Pin<Box<dyn Future<Output = Result<(), LedgerError>>>>;

/// Queues the write without waiting for it.
fn queue(mut write: Write) -> Write {
    assert!(write.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    write
}

/// Queues a write during which the writer waits until the sender is used or dropped.
fn hold(ledger: &Ledger) -> (mpsc::Sender<()>, Write) {
    let (release, held) = mpsc::channel();
    let ledger = ledger.clone();
    let write = async move {
        ledger
            .write(move |_| {
                let _ = held.recv();
                Ok(())
            })
            .await
    };
    (release, queue(Box::pin(write)))
}

fn queue_set(ledger: &Ledger, key: String, value: &'static str) -> Write {
    let ledger = ledger.clone();
    queue(Box::pin(async move { ledger.write(move |db| process::set(db, &key, value)).await }))
}

/// Frames in the write-ahead log that end a transaction (SQLite, "WAL File Format": bytes 4 to 8 of the frame header
/// are the size of the database, and zero in all others).
fn commits(ledger: &Path) -> usize {
    let mut wal: PathBuf = ledger.to_path_buf();
    wal.as_mut_os_string().push("-wal");
    let bytes = std::fs::read(wal).unwrap();
    let word = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    let (page, salt) = (word(8) as usize, &bytes[16..24]);
    let frames = bytes[32..].chunks_exact(24 + page);
    frames.filter(|frame| &frame[8..16] == salt && frame[4..8] != [0; 4]).count()
}

#[tokio::test]
async fn a_thousand_writes_that_wait_take_few_commits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.sqlite3");
    let (ledger, _lock) = Ledger::open_exclusive(&path).unwrap();
    ledger.write(|db| process::set(db, "first", "x")).await.unwrap();
    let before = commits(&path);
    let (release, held) = hold(&ledger);
    let writes: Vec<Write> = (0..1000).map(|number| queue_set(&ledger, format!("key{number}"), "value")).collect();
    drop(release);
    held.await.unwrap();
    for write in writes {
        write.await.unwrap();
    }
    let took = commits(&path) - before;
    println!("1,000 writes took {took} commits");
    assert!((1..=5).contains(&took), "{took}");
    let there = ledger.read(process::all).await.unwrap();
    assert_eq!(there.len(), 1001);
}

/// `sync` asks stage by stage whether anything is due. A document that moved from one stage to the next meanwhile was
/// in neither, and `sync` ended before it was reported.
#[tokio::test]
async fn a_query_sees_one_moment_whatever_is_written_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let (ledger, _lock) = Ledger::open_exclusive(&folder.path().join("ledger.sqlite3")).unwrap();
    ledger.write(|db| process::set(db, "key", "before")).await.unwrap();
    let ((saw, seen), (go_on, held)) = (mpsc::channel(), mpsc::channel());
    let reading = {
        let ledger = ledger.clone();
        tokio::spawn(async move {
            let query = move |db: &rusqlite::Connection| {
                let first = process::all(db)?;
                saw.send(()).unwrap();
                held.recv().unwrap();
                Ok((first, process::all(db)?))
            };
            ledger.read(query).await
        })
    };
    tokio::task::spawn_blocking(move || seen.recv().unwrap()).await.unwrap();
    ledger.write(|db| process::set(db, "key", "after")).await.unwrap();
    go_on.send(()).unwrap();
    let (first, second) = reading.await.unwrap().unwrap();
    assert_eq!(first, second);
    assert_ne!(ledger.read(process::all).await.unwrap(), first, "the next query sees what was written");
}

#[tokio::test]
async fn a_query_that_fails_in_a_batch_undoes_only_itself() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.sqlite3");
    let (ledger, _lock) = Ledger::open_exclusive(&path).unwrap();
    let (release, held) = hold(&ledger);
    let mut writes = Vec::new();
    for number in 0..100 {
        writes.push(queue_set(&ledger, format!("good{number}"), "x"));
        if number % 10 == 0 {
            let ledger = ledger.clone();
            writes.push(queue(Box::pin(async move {
                ledger
                    .write(move |db| {
                        process::set(db, &format!("bad{number}"), "half of the work")?;
                        db.execute("INSERT INTO process (key, value) VALUES ('x', NULL)", []).map(|_| ())
                    })
                    .await
            })));
        }
    }
    drop(release);
    held.await.unwrap();
    let mut failed = 0;
    for write in writes {
        match write.await {
            Ok(()) => {}
            Err(LedgerError::Fault(what)) => {
                assert!(what.contains("NOT NULL"), "{what}");
                failed += 1;
            }
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(failed, 10);
    let there = ledger.read(process::all).await.unwrap();
    assert_eq!(there.len(), 100);
    assert!(there.keys().all(|key| key.starts_with("good")), "{there:?}");
}

#[tokio::test]
async fn what_a_write_answered_is_there_after_the_process_was_killed() {
    // A copy of the files at this moment is what a power cut would leave.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.sqlite3");
    let (ledger, _lock) = Ledger::open_exclusive(&path).unwrap();
    ledger.write(|db| process::set(db, "key", "value")).await.unwrap();
    let copy = folder.path().join("copy");
    std::fs::create_dir(&copy).unwrap();
    for end in ["", "-wal"] {
        let name = format!("ledger.sqlite3{end}");
        std::fs::copy(folder.path().join(&name), copy.join(&name)).unwrap();
    }
    let (copied, _lock) = Ledger::open_exclusive(&copy.join("ledger.sqlite3")).unwrap();
    assert_eq!(copied.read(process::all).await.unwrap().get("key").map(String::as_str), Some("value"));
}

/// `docsyncd status` tries the lock to see whether the daemon runs; a daemon that starts in that moment must not take
/// it for another daemon.
#[test]
fn whoever_looks_whether_the_daemon_runs_does_not_keep_it_from_starting() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.sqlite3");
    drop(Ledger::open_exclusive(&path).unwrap());
    let stop = Arc::new(AtomicBool::new(false));
    let (looking, at) = (Arc::clone(&stop), path.clone());
    let looker = std::thread::spawn(move || {
        while !looking.load(Ordering::Relaxed) {
            is_locked(&at);
        }
    });
    let refused = (0..200).filter(|_| Ledger::open_exclusive(&path).is_err()).count();
    stop.store(true, Ordering::Relaxed);
    looker.join().unwrap();
    assert_eq!(refused, 0);
}

#[test]
fn a_second_daemon_in_the_same_process_is_refused_and_the_lock_is_given_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.sqlite3");
    let (ledger, lock) = Ledger::open_exclusive(&path).unwrap();
    assert!(is_locked(&path));
    assert!(matches!(Ledger::open_exclusive(&path), Err(LedgerError::InUse(_))));
    drop((ledger, lock));
    // A process that another test is just starting may have it until it becomes its program.
    let deadline = std::time::Instant::now() + crate::harness::PATIENCE;
    while is_locked(&path) {
        assert!(std::time::Instant::now() < deadline, "the lock is not given back");
        std::thread::yield_now();
    }
    Ledger::open_exclusive(&path).unwrap();
}

/// `status` says when each account was last polled, which is why it is one and not none.
#[tokio::test]
async fn a_poll_that_finds_nothing_is_one_commit() {
    let mut practice = Practice::with_documents(0).await;
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".to_owned(), "30ms".into());
    let mut running = practice.run().await;
    wait_for_walks(&practice, 3).await;
    let polls = || practice.sandbox.requests().iter().filter(|request| is_walk(request)).count();
    let (polled, committed) = (polls(), commits(&practice.ledger()));
    wait_for_walks(&practice, 20).await;
    let (committed, polled) = (commits(&practice.ledger()) - committed, polls() - polled);
    assert!(committed <= polled + 1, "{committed} commits for {polled} polls");
    running.end().await;
}
