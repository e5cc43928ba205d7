//! Random keys that outlive a restart.

use rand::TryRng;
use rand::rngs::SysRng;
use rusqlite::{OptionalExtension, Transaction};

use crate::error::SandboxError;

/// The length of a key in bytes: that of a SHA-256, as RFC 2104 (section 3) advises.
const LENGTH: usize = 32;

/// The key of this name, made up at random when it is asked for the first time.
pub(crate) fn secret(transaction: &Transaction<'_>, name: &str) -> Result<Vec<u8>, SandboxError> {
    let known = transaction
        .prepare_cached("SELECT bytes FROM secrets WHERE name = ?1")?
        .query_row([name], |row| row.get(0))
        .optional()?;
    if let Some(known) = known {
        return Ok(known);
    }
    let mut fresh = vec![0_u8; LENGTH];
    SysRng
        .try_fill_bytes(&mut fresh)
        .map_err(|error| SandboxError::Interrupted(format!("the system gives no random bytes: {error}")))?;
    transaction.prepare_cached("INSERT INTO secrets (name, bytes) VALUES (?1, ?2)")?.execute((name, &fresh))?;
    Ok(fresh)
}
