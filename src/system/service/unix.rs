//! Signals: SIGTERM and SIGINT stop, SIGHUP reloads, SIGUSR1 polls now, SIGXFSZ does nothing.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGXFSZ};
use signal_hook::flag;
use signal_hook::iterator::Signals;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::Request;

/// Begins to listen. A second SIGTERM or SIGINT ends the process at once with exit code 1. The next start resumes the
/// interrupted work.
///
/// # Errors
/// The system refuses the handlers.
pub fn requests() -> io::Result<UnboundedReceiver<Request>> {
    let stopping = Arc::new(AtomicBool::new(false));
    for signal in [SIGTERM, SIGINT] {
        // The order matters: the first handler reads the flag before the second sets it.
        flag::register_conditional_shutdown(signal, 1, Arc::clone(&stopping))?;
        flag::register(signal, Arc::clone(&stopping))?;
    }
    // Catching this signal turns a write beyond the file size limit into an error of that write, instead of ending the
    // process. Programs that docsyncd starts get the default handler again.
    flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))?;
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP, SIGUSR1])?;
    let (sender, receiver) = unbounded_channel();
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in signals.forever() {
            let request = match signal {
                SIGHUP => Request::Reload,
                SIGUSR1 => Request::PollNow,
                _ => Request::Stop,
            };
            if sender.send(request).is_err() {
                break;
            }
        }
    })?;
    Ok(receiver)
}
