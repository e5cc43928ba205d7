//! What the C library keeps of the memory that was given back to it: glibc makes eight arenas for each processor, and
//! hands next to nothing of them back to the system by itself. Elsewhere there is nothing to do.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::ledger::LedgerError;
use crate::pipeline::Shared;

/// How often memory is given back; that takes about a millisecond.
const INTERVAL: Duration = Duration::from_secs(5 * 60);

/// Keeps the arenas few, before there are many threads: four are as quick as many for this program; with two it waits
/// for them a tenth of its time. And has SQLite not count what it allocates, for which each thread would wait for the
/// others.
pub fn keep_cheap() {
    // SAFETY: it takes two numbers and changes what this process allocates from then on.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 4);
    }
    // SAFETY: the number after this option is one (SQLite, "SQLITE_CONFIG_MEMSTATUS"). Where SQLite has begun already,
    // it refuses.
    unsafe {
        rusqlite::ffi::sqlite3_config(rusqlite::ffi::SQLITE_CONFIG_MEMSTATUS, 0);
    }
}

/// Gives memory back at intervals, in a quiet moment, until the daemon stops.
pub async fn run(context: Shared) {
    loop {
        tokio::select! {
            biased;
            () = context.stop.cancelled() => return,
            () = tokio::time::sleep(INTERVAL) => {}
        }
        if context.in_flight.load(Ordering::Relaxed) == 0
            && let Err(error) = give_back(&context).await
        {
            tracing::debug!(event = "memory_kept", "{error}");
        }
    }
}

async fn give_back(context: &Shared) -> Result<(), LedgerError> {
    context.ledger.release_memory().await?;
    // SAFETY: it takes a number, and locks what it works on.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    unsafe {
        libc::malloc_trim(0);
    }
    Ok(())
}
