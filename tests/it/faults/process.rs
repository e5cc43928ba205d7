//! Faults of the process and of its ledger: it is told to end in each stage, its clock jumps, others hold the ledger,
//! the ledger is taken away or damaged under it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use docsyncd_sandbox::{Fault, FaultKind, Route};
use rusqlite::Connection;

use super::tools::{faketime, there};
use crate::dictated::*;
use crate::harness::{Held, PATIENCE, Practice, Running};

/// SIGTERM, an end with 0 before the limit of the drain; and the next start finishes everything, each document reported
/// once.
async fn ends_and_goes_on(practice: &mut Practice, running: &mut Running, uuids: &[String]) {
    assert_eq!(running.stop().await, 0, "{}", running.log());
    running.wait_for_log("event=\"stopped\"").await;
    assert!(!running.log().contains("event=\"drain_timeout\""), "{}", running.log());
    practice.sandbox.clear_faults();
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert_each_reported_once(practice, uuids);
    practice.assert_all_filed().await;
}

/// Waits until a request to this kind of address has met the fault.
async fn until_held(practice: &Practice, is_it: fn(&str) -> bool) {
    let held = |view: &docsyncd_sandbox::View| view.requests().any(|request| request.fault && is_it(&request.path));
    practice.sandbox.wait_for(held, PATIENCE).await.expect("the call is held");
}

/// A daemon whose calls of this kind hang until its timeout.
async fn hanging(route: Route, kind: FaultKind, is_it: fn(&str) -> bool) {
    let (mut practice, uuids) = practice_with_small(3).await;
    practice.env.insert("DOCSYNCD__API__TIMEOUT".into(), "1s".into());
    practice.sandbox.inject(Fault::always(route, kind));
    let mut running = practice.start();
    until_held(&practice, is_it).await;
    running.wait_for_log("event=\"started\"").await;
    ends_and_goes_on(&mut practice, &mut running, &uuids).await;
}

fn is_document(path: &str) -> bool {
    path.starts_with("/documents/") && !path.ends_with("/status")
}

#[tokio::test]
async fn sigterm_while_the_list_hangs_ends_at_once() {
    hanging(Route::List, FaultKind::Stall, |path| path == "/documents").await;
}

#[tokio::test]
async fn sigterm_while_a_read_hangs_ends_within_the_timeout() {
    hanging(Route::Document, FaultKind::Stall, is_document).await;
}

#[tokio::test]
async fn sigterm_while_a_download_hangs_ends_within_the_timeout() {
    hanging(Route::Pdf, FaultKind::StallBody(9), |path| path.starts_with("/files/")).await;
}

#[tokio::test]
async fn sigterm_while_a_delivery_is_under_way_waits_for_it() {
    let (practice, uuids) = practice_with_small(1).await;
    let held = Held::new(&practice);
    practice.configure(&format!("{}[[routes]]\nto = [\"pms\", \"scan\"]\n", held.destination("scan")));
    let mut running = practice.run().await;
    held.until_begun().await;
    running.signal("TERM");
    running.wait_for_log("event=\"stopping\"").await;
    held.go_on().await;
    assert_eq!(running.ended().await, 0, "{}", running.log());
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert_eq!(held.handed_over(), 1, "it was handed over once");
    assert_each_reported_once(&practice, &uuids);
    practice.assert_all_filed().await;
}

/// The report has its effect, and its answer is waited for: it is not sent again after the start.
#[tokio::test]
async fn sigterm_while_a_report_is_under_way_waits_for_its_answer() {
    let (mut practice, uuids) = practice_with_small(2).await;
    practice.sandbox.inject(Fault::always(Route::Status, FaultKind::Delay(Duration::from_millis(800))));
    let mut running = practice.run().await;
    running.wait_for_logs("event=\"delivered\"", 2).await;
    ends_and_goes_on(&mut practice, &mut running, &uuids).await;
}

#[tokio::test]
async fn sigterm_while_a_report_hangs_ends_within_the_timeout() {
    let (mut practice, uuids) = practice_with_small(2).await;
    practice.env.insert("DOCSYNCD__API__TIMEOUT".into(), "1s".into());
    practice.sandbox.inject(Fault::always(Route::Status, FaultKind::Stall));
    let mut running = practice.run().await;
    running.wait_for_logs("event=\"delivered\"", 2).await;
    ends_and_goes_on(&mut practice, &mut running, &uuids).await;
}

/// A daemon whose wall clock this file moves; timers go on as they would.
pub struct MovedClock {
    file: PathBuf,
}

impl MovedClock {
    /// `None` where the library is not installed.
    pub fn of(practice: &mut Practice) -> Option<Self> {
        let library = faketime();
        if !there("libfaketime", library.is_some()) {
            return None;
        }
        let clock = Self { file: practice.path("clock") };
        clock.jump("+0");
        practice.env.insert("LD_PRELOAD".into(), library?.display().to_string());
        practice.env.insert("FAKETIME_TIMESTAMP_FILE".into(), clock.file.display().to_string());
        practice.env.insert("FAKETIME_NO_CACHE".into(), "1".into());
        practice.env.insert("FAKETIME_DONT_FAKE_MONOTONIC".into(), "1".into());
        Some(clock)
    }

    /// The clock shows the true time and this much more or less, from now on.
    pub fn jump(&self, by: &str) {
        let new = self.file.with_extension("new");
        std::fs::write(&new, by).unwrap();
        std::fs::rename(new, &self.file).unwrap();
    }
}

/// While a document fails again and again, the clock jumps: it is not given up, what is new is filed, and when it works
/// it is filed as well.
async fn clock_jumps(by: &str) {
    let (mut practice, uuids) = practice_with_small(2).await;
    let Some(clock) = MovedClock::of(&mut practice) else { return };
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "100ms".into());
    practice.sandbox.inject(Fault::always(Route::Document, FaultKind::status(500)).for_document(&uuids[0]));
    let mut running = practice.run().await;
    // More attempts than have to be made before the age of a failure counts.
    running.wait_for_logs("event=\"postponed\"", 7).await;
    practice.wait_for_posts(1).await;
    clock.jump(by);
    let before = running.log().matches("event=\"postponed\"").count();
    running.wait_for_logs("event=\"postponed\"", before + 3).await;
    let late = practice.sandbox.add(small("late")).await.unwrap();
    practice.wait_for_posts(2).await;
    clock.jump("+0");
    let later = practice.sandbox.add(small("later")).await.unwrap();
    practice.wait_for_posts(3).await;
    assert_eq!(practice.state(&uuids[0]).await, "discovered", "{}", running.log());
    practice.sandbox.clear_faults();
    practice.wait_for_posts(4).await;
    running.wait_for_logs("event=\"reported\"", 4).await;
    assert_each_reported_once(&practice, &[uuids, vec![late, later]].concat());
    assert_eq!(running.stop().await, 0);
    practice.assert_all_filed().await;
}

#[tokio::test]
async fn a_clock_that_jumps_a_year_ahead_and_back_gives_nothing_up() {
    clock_jumps("+365d").await;
}

#[tokio::test]
async fn a_clock_that_jumps_a_year_back_and_ahead_stops_nothing() {
    clock_jumps("-365d").await;
}

/// A destination is paused, and its next try lies a year ahead when the clock has been set back.
#[tokio::test]
async fn a_pause_ends_although_the_clock_was_set_back_a_year() {
    let (mut practice, uuids) = practice_with_small(3).await;
    let Some(clock) = MovedClock::of(&mut practice) else { return };
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "100ms".into());
    std::fs::remove_dir(practice.inbox()).unwrap();
    let mut running = practice.run().await;
    running.wait_for_log("destination:pms is paused").await;
    clock.jump("-365d");
    std::fs::create_dir(practice.inbox()).unwrap();
    practice.wait_for_posts(3).await;
    running.wait_for_logs("event=\"reported\"", 3).await;
    assert_each_reported_once(&practice, &uuids);
    assert_eq!(running.stop().await, 0);
    practice.assert_all_filed().await;
}

/// A connection of another program to the ledger. Not of this process alone: to close a file of the ledger here gives
/// back no lock of the daemon, which is another process.
fn other_program(practice: &Practice) -> Connection {
    let connection = Connection::open(practice.ledger()).unwrap();
    connection.busy_timeout(PATIENCE).unwrap();
    connection
}

#[tokio::test]
async fn a_ledger_that_another_program_reads_for_long_stops_nothing() {
    let (mut practice, uuids) = practice_with_small(3).await;
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "100ms".into());
    let mut running = practice.run().await;
    practice.wait_for_posts(3).await;
    let reader = other_program(&practice);
    reader.execute_batch("BEGIN").unwrap();
    let count = || reader.query_row("SELECT count(*) FROM document", [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count(), 3);
    let late = add_small(&practice, 5, |number, _| small(&format!("late {number}"))).await;
    practice.wait_for_posts(8).await;
    running.wait_for_logs("event=\"reported\"", 8).await;
    assert_eq!(count(), 3, "it still reads what was there when it began");
    assert!(!running.log().contains("ERROR"), "{}", running.log());
    drop(reader);
    assert_each_reported_once(&practice, &[uuids, late].concat());
    assert_eq!(running.stop().await, 0);
    practice.assert_all_filed().await;
}

/// The document was handed over, and that cannot be written down: it is not handed over again, and nothing is reported
/// before it is written.
#[tokio::test]
async fn a_ledger_that_another_program_writes_for_long_is_waited_for_and_doubles_nothing() {
    let (mut practice, uuids) = practice_with_small(1).await;
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "100ms".into());
    let held = Held::new(&practice);
    practice.configure(&format!("{}[[routes]]\nto = [\"pms\", \"scan\"]\n", held.destination("scan")));
    let mut running = practice.run().await;
    held.until_begun().await;
    running.wait_for_log("event=\"delivered\"").await;
    let writer = other_program(&practice);
    writer.execute_batch("BEGIN EXCLUSIVE").unwrap();
    held.go_on().await;
    // After ten seconds it says so, and tries again.
    running.wait_for_log("event=\"ledger_failed\"").await;
    assert!(running.log().contains("could not be read or written: database is locked"), "{}", running.log());
    assert_eq!(practice.sandbox.status_posts(), []);
    writer.execute_batch("ROLLBACK").unwrap();
    practice.wait_for_posts(1).await;
    running.wait_for_log("event=\"reported\"").await;
    assert_eq!(held.handed_over(), 1, "it was handed over once");
    assert_each_reported_once(&practice, &uuids);
    assert_eq!(running.stop().await, 0);
    practice.assert_all_filed().await;
}

#[tokio::test]
async fn a_ledger_that_another_program_holds_at_the_start_is_waited_for() {
    let (practice, uuids) = practice_with_small(1).await;
    assert_eq!(practice.docsyncd(&["sync"]).await.code, 0);
    let late = add_small(&practice, 1, |_, _| small("late")).await;
    let writer = other_program(&practice);
    writer.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let mut running = Running::spawn(practice.command(&["run"]));
    running.wait_for_log("event=\"ledger_busy\"").await;
    writer.execute_batch("ROLLBACK").unwrap();
    practice.wait_for_posts(2).await;
    assert_each_reported_once(&practice, &[uuids, late].concat());
    assert_eq!(running.stop().await, 0);
}

/// The ledger and what SQLite has beside it.
fn ledger_files(practice: &Practice) -> Vec<PathBuf> {
    ["", "-wal", "-shm"].iter().map(|end| practice.path(&format!("state/ledger.sqlite3{end}"))).collect()
}

/// A daemon that has filed and reported three documents and goes on to poll.
async fn at_work() -> (Practice, Vec<String>, Running) {
    let (mut practice, uuids) = practice_with_small(3).await;
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "100ms".into());
    let mut running = practice.run().await;
    practice.wait_for_posts(3).await;
    running.wait_for_logs("event=\"reported\"", 3).await;
    (practice, uuids, running)
}

/// It ends with an error that says these words; nothing is lost or wrongly reported by then.
async fn ends_with(practice: &Practice, running: &mut Running, words: &[&str]) {
    assert_eq!(running.ended().await, 1, "{}", running.log());
    running.whole_log().await;
    for sign in words {
        assert!(running.log().contains(sign), "{sign}: {}", running.log());
    }
    assert!(practice.sandbox.status_posts().iter().all(|post| post.success == Some(true)));
}

/// The next start finishes everything: each document lies there once, and is reported as synchronized.
async fn goes_on(practice: &Practice, uuids: &[String]) {
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    for uuid in uuids {
        let posts = posts_of(&practice.sandbox, uuid);
        assert!(!posts.is_empty() && posts.iter().all(|post| *post == (Some(true), None)), "{posts:?}");
    }
    practice.assert_all_filed().await;
}

#[tokio::test]
async fn a_ledger_that_is_removed_under_it_ends_it_and_a_new_one_doubles_nothing() {
    let (practice, mut uuids, mut running) = at_work().await;
    for file in ledger_files(&practice) {
        std::fs::remove_file(file).unwrap();
    }
    uuids.extend(add_small(&practice, 2, |number, _| small(&format!("late {number}"))).await);
    ends_with(&practice, &mut running, &["was removed or replaced while docsyncd ran", "start docsyncd"]).await;
    goes_on(&practice, &uuids).await;
}

#[tokio::test]
async fn a_ledger_that_is_moved_away_and_put_back_goes_on() {
    let (practice, mut uuids, mut running) = at_work().await;
    let aside = practice.path("aside");
    std::fs::create_dir(&aside).unwrap();
    let moved = |file: &Path| aside.join(file.file_name().unwrap());
    for file in ledger_files(&practice) {
        std::fs::rename(&file, moved(&file)).unwrap();
    }
    uuids.extend(add_small(&practice, 2, |number, _| small(&format!("late {number}"))).await);
    ends_with(&practice, &mut running, &["was removed or replaced while docsyncd ran", "Put it back"]).await;
    for file in ledger_files(&practice) {
        if moved(&file).exists() {
            std::fs::rename(moved(&file), &file).unwrap();
        }
    }
    goes_on(&practice, &uuids).await;
    assert_each_reported_once(&practice, &uuids);
}

/// Does what the message says, as a person would: moves the damaged ledger aside.
fn follow_the_advice(log: &str) {
    let from = log.find("mkdir ").unwrap_or_else(|| panic!("no advice: {log}"));
    // A line of the log has no line breaks of its own.
    let ends = ["/\n", "/\\n", "/  and"];
    let to = ends.into_iter().filter_map(|end| log[from..].find(end)).min().unwrap();
    let advice = &log[from..from + to];
    let done = std::process::Command::new("sh").arg("-c").arg(format!("{advice}/")).output().unwrap();
    assert!(done.status.success(), "{advice}: {done:?}");
}

async fn damaged(damage: impl Fn(&mut Vec<u8>)) {
    let (practice, mut uuids, mut running) = at_work().await;
    // In place, as a broken disk would, in everything that SQLite reads.
    for file in &ledger_files(&practice)[..2] {
        let mut bytes = std::fs::read(file).unwrap();
        damage(&mut bytes);
        let opened = std::fs::OpenOptions::new().write(true).open(file).unwrap();
        opened.set_len(bytes.len() as u64).unwrap();
        std::os::unix::fs::FileExt::write_all_at(&opened, &bytes, 0).unwrap();
    }
    uuids.extend(add_small(&practice, 2, |number, _| small(&format!("late {number}"))).await);
    ends_with(&practice, &mut running, &["is damaged", "Keep the damaged file"]).await;
    follow_the_advice(&running.log());
    goes_on(&practice, &uuids).await;
}

#[tokio::test]
async fn a_ledger_whose_pages_are_overwritten_under_it_ends_it_and_the_advice_works() {
    damaged(|bytes| {
        for (index, byte) in bytes.iter_mut().enumerate().skip(100) {
            *byte = u8::try_from((index * 31 + 7) % 251).unwrap();
        }
    })
    .await;
}

#[tokio::test]
async fn a_ledger_that_is_cut_short_under_it_ends_it_and_the_advice_works() {
    damaged(|bytes| bytes.truncate(bytes.len() / 3)).await;
}
