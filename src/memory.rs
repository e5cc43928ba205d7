//! What the C library keeps of the memory that was given back to it: glibc makes eight arenas for each processor, and hands next to
//! nothing of them back to the system by itself. Elsewhere there is nothing to do.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::ledger::LedgerError;
use crate::pipeline::Shared;

/// How often memory is given back; that takes about a millisecond.
const INTERVAL: Duration = Duration::from_secs(5 * 60);

/// Keeps the arenas few, before there are threads: two are as quick as many for this program, which allocates little at a time, and
/// 2,000 documents take 5 MB less in them.
pub fn keep_arenas_few() {
    // SAFETY: it takes two numbers and changes what this process allocates from then on.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 2);
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
