//! That the running daemon cannot write the ledger, for commands in other processes: a ledger that another program has
//! locked can be read, and cannot say so itself. A file beside it does.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Ledger, Millis};
use crate::system::clock;

/// A mark is a number with a line end; bytes.
const LONGEST: u64 = 32;

/// Since when the daemon cannot write this ledger; `None` if it can, or if nobody could leave the mark.
pub fn since(ledger: &Path) -> Option<Millis> {
    let mark = mark(ledger);
    fs::metadata(&mark).ok().filter(|found| found.is_file() && found.len() <= LONGEST)?;
    fs::read_to_string(mark).ok()?.trim_end().parse().ok()
}

fn mark(ledger: &Path) -> PathBuf {
    super::open::beside(ledger, ".unwritable")
}

impl Ledger {
    /// Marks since when it cannot be written; `None`: it can again. The disk may hang, so nobody waits for that.
    pub fn note_unwritable(&self, since: Option<Millis>) {
        let Some(ledger) = self.log.to_str().and_then(|log| log.strip_suffix("-wal")) else { return };
        let mark = mark(Path::new(ledger));
        clock::aside(move || {
            // Without the mark the lock itself is still seen, though not for how long.
            let _ = match since {
                Some(since) => fs::write(mark, format!("{since}\n")),
                None => fs::remove_file(mark),
            };
        });
    }
}
