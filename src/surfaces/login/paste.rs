//! What a person pastes into the terminal when the browser runs on another computer.

use std::io::{self, BufRead as _, Read as _};

use tokio::sync::mpsc;

/// The most bytes of a line; an address is far shorter.
const MAX_LINE: u64 = 64 * 1024;
/// The most lines that wait.
const QUEUE: usize = 4;

/// The lines of standard input. The channel closes with standard input, which is no error: the browser may still
/// return.
///
/// A thread of their own reads them, and nobody waits for it, because a read from a terminal cannot be cancelled.
pub fn pasted_lines() -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel(QUEUE);
    std::thread::spawn(move || {
        loop {
            let mut line = Vec::new();
            match io::stdin().lock().take(MAX_LINE).read_until(b'\n', &mut line) {
                Ok(1..) => {}
                Ok(0) | Err(_) => return,
            }
            let line = String::from_utf8_lossy(&line).trim().to_owned();
            if !line.is_empty() && sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}
