//! Random keys that outlive a restart.

use rusqlite::{OptionalExtension, Transaction};

use crate::error::SandboxError;
use crate::random::random_bytes;

/// The key of this name. Created at random on first use.
pub(crate) fn secret(transaction: &Transaction<'_>, name: &str) -> Result<Vec<u8>, SandboxError> {
    let known = transaction
        .prepare_cached("SELECT bytes FROM secrets WHERE name = ?1")?
        .query_row([name], |row| row.get(0))
        .optional()?;
    if let Some(known) = known {
        return Ok(known);
    }
    let fresh = random_bytes()?;
    transaction.prepare_cached("INSERT INTO secrets (name, bytes) VALUES (?1, ?2)")?.execute((name, fresh))?;
    Ok(fresh.to_vec())
}
