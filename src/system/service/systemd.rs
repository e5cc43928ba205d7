//! systemd as the supervisor (sd_notify, systemd.service: `Type=notify`, `WatchdogSec=`).

use std::ffi::OsStr;
use std::io;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

use sd_notify::NotifyState;

use super::supervisor::{News, Supervisor};

/// How often the status text is updated.
const WORDS_INTERVAL: Duration = Duration::from_secs(10);
/// Signs of life per watchdog time, so that a late one does no harm.
const BEATS: u32 = 4;
/// How long a send may block while systemd is busy.
const BUSY_LIMIT: Duration = Duration::from_secs(1);

/// Sends messages to systemd's socket, which the environment names.
pub struct Systemd {
    socket: SocketAddr,
    /// `WatchdogSec=`
    watchdog: Option<Duration>,
}

impl Systemd {
    /// `None` unless systemd started this process as a service of `Type=notify`.
    pub fn that_started_us() -> Option<Self> {
        let name = std::env::var_os("NOTIFY_SOCKET")?;
        match address(&name) {
            Ok(socket) => Some(Self { socket, watchdog: sd_notify::watchdog_enabled() }),
            Err(error) => {
                tracing::warn!(event = "notify_failed", "systemd cannot be told anything at NOTIFY_SOCKET: {error}");
                None
            }
        }
    }

    fn send(&self, news: &[NotifyState<'_>]) -> io::Result<()> {
        let lines: String = news.iter().map(|line| format!("{line}\n")).collect();
        let socket = UnixDatagram::unbound()?;
        socket.set_write_timeout(Some(BUSY_LIMIT))?;
        socket.send_to_addr(lines.as_bytes(), &self.socket).map(|_| ())
    }
}

/// The address of the socket: a file, or after `@` an abstract name (unix(7), "abstract"). The crate supports only
/// files.
fn address(name: &OsStr) -> io::Result<SocketAddr> {
    match name.as_bytes().strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(name),
    }
}

impl Supervisor for Systemd {
    fn tell(&self, news: &News) {
        let told = match news {
            News::Ready => self.send(&[NotifyState::Ready]),
            // The time tells systemd 253 and later which request this message answers.
            News::Reloading => match NotifyState::monotonic_usec_now() {
                Ok(now) => self.send(&[NotifyState::Reloading, now]),
                Err(_) => self.send(&[NotifyState::Reloading]),
            },
            News::Stopping => self.send(&[NotifyState::Stopping]),
            News::Doing(words) => self.send(&[NotifyState::Status(words)]),
            News::Alive => self.send(&[NotifyState::Watchdog]),
        };
        if let Err(error) = told {
            tracing::debug!(event = "notify_failed", "systemd could not be told {news:?}: {error}");
        }
    }

    fn listens_every(&self) -> Option<Duration> {
        Some(self.watchdog.map_or(WORDS_INTERVAL, |limit| WORDS_INTERVAL.min(limit / BEATS)))
    }
}
