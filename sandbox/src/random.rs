//! Random bytes of the system, for keys and secrets.

use rand::TryRng as _;
use rand::rngs::SysRng;

use crate::error::SandboxError;

/// 256 bits: the length of a SHA-256, as RFC 2104 (section 3) advises for keys of its HMAC.
pub(crate) fn random_bytes() -> Result<[u8; 32], SandboxError> {
    let mut bytes = [0; 32];
    SysRng.try_fill_bytes(&mut bytes).map_err(|error| SandboxError::Random(error.to_string()))?;
    Ok(bytes)
}
