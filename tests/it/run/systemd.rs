//! What systemd is told through the socket that it names in `NOTIFY_SOCKET` (sd_notify(3)).

use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use tokio::process::Command;

use crate::harness::{PATIENCE, Practice, Running};

/// The socket, with a name that is no file, as containers' managers and some versions of systemd have it.
pub struct Systemd {
    socket: UnixDatagram,
    name: String,
}

impl Systemd {
    pub fn listens() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("docsyncd-test-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        Self::at(UnixDatagram::bind_addr(&address).unwrap(), format!("@{name}"))
    }

    fn at(socket: UnixDatagram, name: String) -> Self {
        socket.set_nonblocking(true).unwrap();
        Self { socket, name }
    }

    /// With a watchdog that wants to hear something four times a second.
    pub fn starts<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command.env("NOTIFY_SOCKET", &self.name).env("WATCHDOG_USEC", "1000000").env_remove("WATCHDOG_PID")
    }

    /// What it was told since it was asked last.
    pub fn heard(&self) -> String {
        let (mut heard, mut bytes) = (String::new(), [0; 4096]);
        while let Ok(length) = self.socket.recv(&mut bytes) {
            heard.push_str(str::from_utf8(&bytes[..length]).unwrap());
        }
        heard
    }

    pub async fn hears(&self, heard: &mut String, what: &str) {
        let until = Instant::now() + PATIENCE;
        while !heard.contains(what) {
            assert!(Instant::now() < until, "no {what}: {heard}");
            tokio::time::sleep(Duration::from_millis(20)).await;
            heard.push_str(&self.heard());
        }
    }
}

#[tokio::test]
async fn systemd_is_told_at_a_socket_that_is_a_file_and_at_one_that_is_none() {
    let practice = Practice::with_documents(1).await;
    let file = practice.path("notify");
    for systemd in [Systemd::at(UnixDatagram::bind(&file).unwrap(), file.display().to_string()), Systemd::listens()] {
        let mut command = practice.command(&["run"]);
        systemd.starts(&mut command);
        let mut running = Running::spawn(command);
        let mut heard = String::new();
        for what in ["READY=1\n", "WATCHDOG=1\n", "STATUS="] {
            systemd.hears(&mut heard, what).await;
        }
        running.signal("HUP");
        systemd.hears(&mut heard, "RELOADING=1\nMONOTONIC_USEC=").await;
        // A stop before the new daemon is ready would be the end of it.
        running.wait_for_log("event=\"reloaded\"").await;
        assert_eq!(running.stop().await, 0);
        systemd.hears(&mut heard, "STOPPING=1\n").await;
        assert_eq!(heard.matches("READY=1\n").count(), 2, "{heard}");
    }
}

/// What is in flight ends first, and that may take as long as the watchdog waits. A stop needs no new daemon.
#[tokio::test]
async fn the_system_is_heard_while_the_configuration_is_reloaded() {
    let (practice, held) = super::signals::with_held_program(1).await;
    let systemd = Systemd::listens();
    let mut command = practice.command(&["run"]);
    systemd.starts(&mut command);
    let mut running = Running::spawn(command);
    held.until_begun().await;
    running.signal("HUP");
    let mut heard = String::new();
    systemd.hears(&mut heard, "RELOADING=1\n").await;
    heard = heard.split("RELOADING=1\n").last().unwrap().to_owned();
    for _ in 0..8 {
        let mut beat = String::new();
        systemd.hears(&mut beat, "WATCHDOG=1\n").await;
        heard.push_str(&beat);
    }
    running.signal("TERM");
    tokio::time::sleep(Duration::from_millis(300)).await;
    held.go_on().await;
    assert_eq!(running.ended().await, 0, "{}", running.log());
    heard.push_str(&systemd.heard());
    assert!(!heard.contains("READY=1\n") && heard.contains("STOPPING=1\n"), "{heard}");
    assert!(!running.log().contains("event=\"reloaded\""), "{}", running.log());
}

/// The queue of a socket has room for a few only.
#[tokio::test]
async fn a_socket_that_nobody_reads_holds_up_nothing() {
    let mut practice = Practice::with_documents(0).await;
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "50ms".into());
    let file = practice.path("notify");
    let systemd = Systemd::at(UnixDatagram::bind(&file).unwrap(), file.display().to_string());
    let mut command = practice.command(&["run"]);
    systemd.starts(&mut command).env("WATCHDOG_USEC", "40000");
    let mut running = Running::spawn(command);
    for posts in 1..=20 {
        practice.sandbox.add_documents(1).await.unwrap();
        practice.wait_for_posts(posts).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(running.stop().await, 0);
}
