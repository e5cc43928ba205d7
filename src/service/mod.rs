//! What the system asks of a running daemon, translated and nothing more: signals, the console's events, and a changed
//! configuration file.

#[cfg(unix)]
mod unix;
mod watch;
#[cfg(windows)]
mod windows;

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
