//! Whether the ledger can be written, tried again and again: a daemon that has nothing to do would not notice a program
//! that keeps it locked, and `docsyncd status --health` has to know for how long it has been so.

use std::time::Duration;

use crate::ledger::now;
use crate::pipeline::Shared;

/// How often it is tried. An empty transaction costs no access to the disk.
const INTERVAL: Duration = Duration::from_secs(5);

/// Tries until the daemon stops.
pub(super) async fn run(context: Shared) {
    let ledger = &context.ledger;
    // A daemon that was killed may have left a mark.
    ledger.note_unwritable(None);
    let mut since = None;
    loop {
        let began = now();
        let tried = async {
            let written = ledger.write(|_| Ok(())).await;
            match (&written, since) {
                (Ok(()), Some(_)) => ledger.note_unwritable(None),
                (Err(_), None) => ledger.note_unwritable(Some(began)),
                (Ok(()), None) | (Err(_), Some(_)) => {}
            }
            since = written.err().map(|_| since.unwrap_or(began));
            tokio::time::sleep(INTERVAL).await;
        };
        if context.stop.run_until_cancelled(tried).await.is_none() {
            ledger.note_unwritable(None);
            return;
        }
    }
}
