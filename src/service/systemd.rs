//! systemd as the supervisor (sd_notify, systemd.service: `Type=notify`, `WatchdogSec=`).

use std::time::Duration;

use sd_notify::NotifyState;

use super::supervisor::{News, Supervisor};

/// How often the status is put into words.
const WORDS_INTERVAL: Duration = Duration::from_secs(10);
/// Signs of life within the time after which the watchdog bites: one that comes late costs nothing then.
const BEATS: u32 = 4;

/// systemd, told through the socket that it names in the environment.
pub struct Systemd {
    /// `WatchdogSec=`
    watchdog: Option<Duration>,
}

impl Systemd {
    /// `None` when this process was not started by systemd as a service that tells how it is.
    pub fn that_started_us() -> Option<Self> {
        std::env::var_os("NOTIFY_SOCKET")?;
        Some(Self { watchdog: sd_notify::watchdog_enabled() })
    }
}

impl Supervisor for Systemd {
    fn tell(&self, news: &News) {
        let told = match news {
            News::Ready => sd_notify::notify(&[NotifyState::Ready]),
            // The time tells systemd from 253 on which request this answers.
            News::Reloading => match NotifyState::monotonic_usec_now() {
                Ok(now) => sd_notify::notify(&[NotifyState::Reloading, now]),
                Err(_) => sd_notify::notify(&[NotifyState::Reloading]),
            },
            News::Stopping => sd_notify::notify(&[NotifyState::Stopping]),
            News::Doing(words) => sd_notify::notify(&[NotifyState::Status(words)]),
            News::Alive => sd_notify::notify(&[NotifyState::Watchdog]),
        };
        if let Err(error) = told {
            tracing::debug!(event = "notify_failed", "systemd could not be told {news:?}: {error}");
        }
    }

    fn listens_every(&self) -> Option<Duration> {
        Some(self.watchdog.map_or(WORDS_INTERVAL, |limit| WORDS_INTERVAL.min(limit / BEATS)))
    }
}
