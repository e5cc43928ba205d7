//! Translates between the system and a running daemon, and does nothing else. Requests: signals, the console's events,
//! the service controller, a changed configuration file. Messages: readiness, status and signs of life. Also installs,
//! starts and stops the service itself.

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

/// A request from the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// Finish the work in progress and end.
    Stop,
    /// Read the configuration again.
    Reload,
    /// Poll now.
    PollNow,
}
