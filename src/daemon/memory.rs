//! Returns freed memory to the system. glibc makes up to eight arenas per processor and returns almost nothing of them
//! by itself. On other systems there is nothing to do.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::ledger::{Ledger, LedgerError};
use crate::pipeline::Shared;

/// How often memory is returned, which takes about a millisecond.
const INTERVAL: Duration = Duration::from_secs(5 * 60);

/// Limits the number of arenas before there are many threads. Four are as fast as many for this program; with two, it
/// waits for them a tenth of its time. Also stops SQLite from counting its allocations, because threads wait for each
/// other to count.
pub fn keep_cheap() {
    // SAFETY: the call takes two numbers and changes only later allocations of this process.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 4);
    }
    // SAFETY: this option takes one number (SQLite, "SQLITE_CONFIG_MEMSTATUS"). SQLite refuses it if it is already
    // initialized.
    unsafe {
        rusqlite::ffi::sqlite3_config(rusqlite::ffi::SQLITE_CONFIG_MEMSTATUS, 0);
    }
}

/// Returns memory at intervals, whenever nothing is in progress, until the daemon stops.
pub async fn run(context: Shared) {
    loop {
        tokio::select! {
            biased;
            () = context.signals.stop.cancelled() => return,
            () = tokio::time::sleep(INTERVAL) => {}
        }
        if context.signals.in_flight.load(Ordering::Relaxed) == 0
            && let Err(error) = give_back(&context.edges.ledger).await
        {
            tracing::debug!(event = "memory_kept", "{error}");
        }
    }
}

async fn give_back(ledger: &Ledger) -> Result<(), LedgerError> {
    ledger.release_memory().await?;
    // SAFETY: the call takes a number, and locks the data that it changes.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    unsafe {
        libc::malloc_trim(0);
    }
    Ok(())
}
