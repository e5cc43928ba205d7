//! Unguessable texts, and how they are kept and compared.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use crate::error::SandboxError;
use crate::random::random_bytes;

/// 256 random bits as text that never needs escaping.
pub(super) fn random_text() -> Result<String, SandboxError> {
    Ok(URL_SAFE_NO_PAD.encode(random_bytes()?))
}

/// The store's substitute for a secret. Also a PKCE challenge of method S256 (RFC 7636, section 4.2).
pub(super) fn fingerprint(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(text))
}

/// Compares digests, so that the duration reveals nothing about the secret.
pub(super) fn same(left: &str, right: &str) -> bool {
    Sha256::digest(left) == Sha256::digest(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_texts_are_long_and_differ() {
        let (one, other) = (random_text().unwrap(), random_text().unwrap());
        assert_eq!(one.len(), 43);
        assert_ne!(one, other);
    }

    /// The example of RFC 7636, appendix B.
    #[test]
    fn a_fingerprint_is_a_pkce_challenge() {
        let challenge = fingerprint("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
        assert_eq!(challenge, "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }
}
