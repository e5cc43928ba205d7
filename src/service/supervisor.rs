//! What the system is told: that the service is ready, reads its configuration again, ends, what it does in words, and
//! that it is alive.

use std::sync::Arc;
use std::time::Duration;

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// The service does its work.
    Ready,
    /// It reads its configuration again; [`News::Ready`] follows.
    Reloading,
    /// It finishes what is in flight and ends.
    Stopping,
    /// What it does, in words for a person; no patient data.
    Doing(String),
    /// Its work goes on. A system with a watchdog restarts a service that does not say so in time.
    Alive,
}

/// Whoever started the service and looks after it.
pub trait Supervisor: Send + Sync {
    /// Tells it. One that cannot be told is no reason to stop working.
    fn tell(&self, news: &News);

    /// How often it wants to hear [`News::Alive`] and [`News::Doing`]; `None` when it does not listen.
    fn listens_every(&self) -> Option<Duration> {
        None
    }
}

/// A person at a terminal, or a system that wants to know nothing.
pub struct NoSupervisor;

impl Supervisor for NoSupervisor {
    fn tell(&self, _news: &News) {}
}

/// Whoever started this process.
pub fn supervisor() -> Arc<dyn Supervisor> {
    #[cfg(target_os = "linux")]
    if let Some(systemd) = super::systemd::Systemd::that_started_us() {
        return Arc::new(systemd);
    }
    Arc::new(NoSupervisor)
}
