//! Tests again and again whether the ledger can be written. A daemon without work would not notice that another program
//! keeps it locked, and `docsyncd status --health` has to know since when. The ledger also looks then for what other
//! processes wrote.

use std::time::Duration;

use crate::ledger::now;
use crate::pipeline::Shared;

/// The interval. An empty transaction costs no access to the disk.
const INTERVAL: Duration = Duration::from_secs(10);

/// Tests until the daemon stops.
pub(super) async fn run(context: Shared) {
    let ledger = &context.edges.ledger;
    // A daemon that was killed may have left its note.
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
        if context.signals.stop.run_until_cancelled(tried).await.is_none() {
            ledger.note_unwritable(None);
            return;
        }
    }
}
