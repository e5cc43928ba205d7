//! The console's events: Ctrl-C, Ctrl-Break, closing the window, logging off and shutting down all stop docsyncd. The
//! watch of the configuration file notices changes of it.

use std::io;

use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close, ctrl_logoff, ctrl_shutdown};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::super::Request;

/// Begins to listen; must be called inside the runtime. A second event ends the process at once with exit code 1. The
/// next start resumes the interrupted work.
///
/// # Errors
/// The system refuses the handlers.
pub fn requests() -> io::Result<UnboundedReceiver<Request>> {
    let (mut c, mut brk, mut close) = (ctrl_c()?, ctrl_break()?, ctrl_close()?);
    let (mut logoff, mut shutdown) = (ctrl_logoff()?, ctrl_shutdown()?);
    let (sender, receiver) = unbounded_channel();
    tokio::spawn(async move {
        let mut stopping = false;
        loop {
            tokio::select! {
                _ = c.recv() => {}
                _ = brk.recv() => {}
                _ = close.recv() => {}
                _ = logoff.recv() => {}
                _ = shutdown.recv() => {}
            }
            if stopping {
                std::process::exit(1);
            }
            stopping = true;
            if sender.send(Request::Stop).is_err() {
                return;
            }
        }
    });
    Ok(receiver)
}
