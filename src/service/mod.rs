//! What the system asks of a running daemon, and what it is told, translated and nothing more: signals, the console's
//! events, the service controller, a changed configuration file; readiness, status and signs of life. And the service
//! itself: how it is installed, started and stopped.

mod supervisor;
#[cfg(unix)]
pub mod systemctl;
#[cfg(target_os = "linux")]
mod systemd;
#[cfg(unix)]
mod unix;
mod watch;
#[cfg(windows)]
pub mod windows;

pub use supervisor::{News, NoSupervisor, Supervisor, supervisor};
#[cfg(unix)]
pub use unix::requests;
pub use watch::ConfigWatch;
#[cfg(windows)]
pub use windows::requests;

/// What the system asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// Finish what is in flight and end.
    Stop,
    /// Read the configuration again.
    Reload,
    /// Poll now.
    PollNow,
}
