//! What a person pastes into the terminal when the browser runs on another computer.

use std::io::{self, BufRead as _, Read as _};

use tokio::sync::mpsc;

/// The longest line that is read as one; bytes. An address is far shorter.
const MAX_LINE: u64 = 64 * 1024;
/// Lines that wait to be looked at.
const QUEUE: usize = 4;

/// The lines of standard input; closed with it, which is no error: the browser may still come.
///
/// They are read in a thread of their own that nobody waits for, because a read from a terminal cannot be called off.
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
