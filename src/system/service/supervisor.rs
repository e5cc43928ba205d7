//! Messages to the system: the service is ready, reloads its configuration, ends, is alive, and what it does in words.

use std::sync::Arc;
use std::time::Duration;

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// The service works.
    Ready,
    /// The service reloads its configuration; [`News::Ready`] follows.
    Reloading,
    /// The service finishes the work in progress and ends.
    Stopping,
    /// What the service does, in words for people; no patient data.
    Doing(String),
    /// The service is alive. A system with a watchdog restarts a service that does not say so in time.
    Alive,
}

/// The program that started the service and watches over it.
pub trait Supervisor: Send + Sync {
    /// Sends a message. A failure is no reason to stop working.
    fn tell(&self, news: &News);

    /// How often it expects [`News::Alive`] and [`News::Doing`]; `None` if it does not listen.
    fn listens_every(&self) -> Option<Duration> {
        None
    }
}

/// For a start by a person at a terminal, or by a system that expects no messages.
pub struct NoSupervisor;

impl Supervisor for NoSupervisor {
    fn tell(&self, _news: &News) {}
}

/// The supervisor that started this process.
pub fn supervisor() -> Arc<dyn Supervisor> {
    #[cfg(target_os = "linux")]
    if let Some(systemd) = super::systemd::Systemd::that_started_us() {
        return Arc::new(systemd);
    }
    Arc::new(NoSupervisor)
}
