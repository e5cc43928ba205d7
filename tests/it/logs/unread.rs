//! A log that nobody reads, or that hangs: the work goes on, the watchdog is told, and the end comes. What was lost is
//! counted.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixDatagram;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::fs::{OFlags, fcntl_setfl};
use tokio::process::{Child, Command};

use crate::faults::disk::is_root;
use crate::faults::tools::namespaces;
use crate::harness::{PATIENCE, Practice, program};
use crate::run::systemd::Systemd;

/// Longer than any output is waited for.
const LONG: Duration = Duration::from_secs(4);

/// A pipe that takes not one byte more.
fn full_pipe() -> (OwnedFd, OwnedFd) {
    let (reader, mut writer) = std::io::pipe().unwrap();
    fcntl_setfl(&writer, OFlags::NONBLOCK).unwrap();
    while writer.write(&[b'\n'; 4096]).is_ok() {}
    while writer.write(b"\n").is_ok() {}
    fcntl_setfl(&writer, OFlags::empty()).unwrap();
    (reader.into(), writer.into())
}

fn to(output: &impl AsFd) -> Stdio {
    output.as_fd().try_clone_to_owned().unwrap().into()
}

/// Documents come in for a while, and each is filed. None is under way at the end.
async fn work_goes_on(practice: &Practice, systemd: &Systemd) {
    practice.wait_for_posts(5).await;
    let (began, before) = (Instant::now(), practice.sandbox.status_posts().len());
    let mut posts = before;
    while began.elapsed() < LONG {
        practice.sandbox.add_documents(3).await.unwrap();
        posts += 3;
        practice.wait_for_posts(posts).await;
    }
    let _ = systemd.heard();
    for _ in 0..2 {
        systemd.hears(&mut String::new(), "WATCHDOG=1").await;
    }
}

async fn ends(child: &mut Child) {
    let id = child.id().unwrap().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    let ended = tokio::time::timeout(PATIENCE, child.wait()).await.expect("SIGTERM ends it").unwrap();
    assert_eq!(ended.code(), Some(0));
}

async fn quick(format: &str) -> Practice {
    let mut practice = Practice::with_documents(5).await;
    practice.env.insert("DOCSYNCD__LOG__FORMAT".into(), format.into());
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "50ms".into());
    practice
}

#[tokio::test]
async fn a_full_pipe_that_nobody_reads_holds_up_neither_the_work_nor_the_watchdog_nor_the_end() {
    for format in ["text", "json"] {
        let (practice, systemd) = (quick(format).await, Systemd::listens());
        let (_reader, writer) = full_pipe();
        let mut command = practice.command(&["run"]);
        let mut daemon = systemd.starts(&mut command).stdout(to(&writer)).stderr(to(&writer)).spawn().unwrap();
        work_goes_on(&practice, &systemd).await;
        ends(&mut daemon).await;
        practice.assert_all_filed().await;
    }
}

#[tokio::test]
async fn what_was_lost_is_counted_and_said_when_lines_are_read_again() {
    for format in ["text", "json"] {
        let (practice, systemd) = (quick(format).await, Systemd::listens());
        let (reader, writer) = full_pipe();
        let mut command = practice.command(&["run"]);
        let mut daemon = systemd.starts(&mut command).stderr(to(&writer)).spawn().unwrap();
        // What is left are the daemon's own.
        drop((command, writer));
        work_goes_on(&practice, &systemd).await;
        let read = Arc::new(Mutex::new(String::new()));
        let reading = std::thread::spawn({
            let read = Arc::clone(&read);
            move || {
                let (mut pipe, mut bytes) = (File::from(reader), [0; 4096]);
                while let Ok(length @ 1..) = pipe.read(&mut bytes) {
                    read.lock().unwrap().push_str(str::from_utf8(&bytes[..length]).unwrap());
                }
            }
        });
        let until = Instant::now() + PATIENCE;
        let mut posts = practice.sandbox.status_posts().len();
        while !read.lock().unwrap().contains("lines were lost") {
            assert!(Instant::now() < until, "{}", read.lock().unwrap());
            practice.sandbox.add_documents(1).await.unwrap();
            posts += 1;
            practice.wait_for_posts(posts).await;
        }
        let last = practice.sandbox.add_documents(1).await.unwrap().remove(0);
        practice.wait_for_posts(posts + 1).await;
        ends(&mut daemon).await;
        reading.join().unwrap();
        let log = read.lock().unwrap().trim_start().to_owned();
        let told: Vec<&str> = log.lines().filter(|line| line.contains("lines were lost")).collect();
        assert_eq!(told.len(), 1, "{log}");
        let words: Vec<&str> = told[0].split([' ', '"']).collect();
        let at = words.iter().position(|word| *word == "lines").unwrap();
        assert!(words[at - 1].parse::<u32>().is_ok_and(|lost| lost > 10), "{}", told[0]);
        assert!(format == "text" || super::parsed(&log).iter().all(|line| line["event"].is_string()), "{log}");
        // From there on everything is there again, to the very last line.
        let (_, after) = log.split_once(told[0]).unwrap();
        let last = after.lines().filter(|line| line.contains(&last)).count();
        assert_eq!((last, after.contains("\"stopped\"")), (4, true), "{after}");
    }
}

/// The journal's own socket, at which nobody reads either; another journal may be running on this machine.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_journal_that_hangs_holds_up_neither_the_work_nor_the_watchdog_nor_the_end() {
    if !namespaces() {
        return;
    }
    let (practice, systemd) = (quick("text").await, Systemd::listens());
    std::fs::create_dir(practice.path("journal")).unwrap();
    let journal = UnixDatagram::bind(practice.path("journal/socket")).unwrap();
    let stderr = File::create(practice.path("stderr")).unwrap();
    let stream = stderr.metadata().map(|found| format!("{}:{}", found.dev(), found.ino())).unwrap();
    let mut command = Command::new("unshare");
    command.arg("--mount");
    if !is_root() {
        command.args(["--user", "--map-root-user"]);
    }
    let script = "mount -t tmpfs none /run; mkdir -p /run/systemd/journal; mount --bind \"$2\" /run/systemd/journal; \
                  exec \"$0\" --config \"$1\" run";
    command.args(["sh", "-ec", script]).arg(program()).arg(practice.config_path()).arg(practice.path("journal"));
    command.envs(&practice.env).env("JOURNAL_STREAM", stream).stdin(Stdio::null()).kill_on_drop(true);
    let mut daemon = systemd.starts(&mut command).stdout(Stdio::null()).stderr(to(&stderr)).spawn().unwrap();
    work_goes_on(&practice, &systemd).await;

    journal.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    let mut entries = Vec::new();
    let mut read = || {
        let mut bytes = [0; 64 * 1024];
        while let Ok(length) = journal.recv(&mut bytes) {
            entries.push(str::from_utf8(&bytes[..length]).unwrap().to_owned());
        }
        entries.clone()
    };
    let lost = read();
    let lost = lost.iter().find(|entry| entry.contains("lines were lost")).unwrap_or_else(|| panic!("{lost:?}"));
    assert!(lost.contains("PRIORITY=3\n") && lost.contains("SYSLOG_IDENTIFIER=docsyncd\n"), "{lost}");
    let uuid = practice.sandbox.add_documents(1).await.unwrap().remove(0);
    practice.wait_for_posts(practice.sandbox.status_posts().len() + 1).await;
    let read = read();
    let field = format!("DOCSYNCD_DOCUMENT={uuid}\n");
    let told: Vec<_> = read.iter().filter(|entry| entry.contains(&field)).collect();
    assert!(told.len() == 4 && told.iter().all(|entry| entry.contains("PRIORITY=6\n")), "{told:?}");
    assert!(told[0].contains(&format!("MESSAGE=discovered document {uuid}")), "{told:?}");
    ends(&mut daemon).await;
    practice.assert_all_filed().await;
    assert_eq!(std::fs::read_to_string(practice.path("stderr")).unwrap(), "");
}
