//! HMAC with SHA-256 for `jsonwebtoken`, which leaves the cryptography to its caller.
//!
//! Only HS256: a token that names any other algorithm, `none` too, has no key here and is refused.

use hmac::{Hmac, KeyInit as _, Mac as _};
use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{ErrorKind, Result};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey};
use sha2::Sha256;
use signature::{Error, Signer, Verifier};

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: |algorithm, key: &EncodingKey| Ok(Box::new(Hs256::new(*algorithm, key.as_bytes())?)),
    verifier_factory: |algorithm, key: &DecodingKey| Ok(Box::new(Hs256::new(*algorithm, key.try_get_as_bytes()?)?)),
    // Tokens are signed with one secret; there are no key sets to publish.
    key_utils: KeyUtils::new_unimplemented(),
};

/// Gives this process an HS256. Where another part of the program gave it one before, that one serves as well.
pub(super) fn install() {
    let _ = PROVIDER.install_default();
}

struct Hs256(Hmac<Sha256>);

impl Hs256 {
    fn new(algorithm: Algorithm, key: &[u8]) -> Result<Self> {
        if algorithm != Algorithm::HS256 {
            return Err(ErrorKind::InvalidAlgorithm.into());
        }
        Hmac::new_from_slice(key).map(Self).map_err(|_| ErrorKind::InvalidKeyFormat.into())
    }
}

impl Signer<Vec<u8>> for Hs256 {
    fn try_sign(&self, message: &[u8]) -> std::result::Result<Vec<u8>, Error> {
        Ok(self.0.clone().chain_update(message).finalize().into_bytes().to_vec())
    }
}

impl Verifier<Vec<u8>> for Hs256 {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> std::result::Result<(), Error> {
        self.0.clone().chain_update(message).verify_slice(signature).map_err(Error::from_source)
    }
}

impl JwtSigner for Hs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::HS256
    }
}

impl JwtVerifier for Hs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::HS256
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Test case 2 of RFC 4231.
    #[test]
    fn it_is_the_hmac_of_the_standard() {
        let mac = Hs256::new(Algorithm::HS256, b"Jefe").unwrap();
        let signed = mac.try_sign(b"what do ya want for nothing?").unwrap();
        let hex: String = signed.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
        assert!(mac.verify(b"what do ya want for nothing?", &signed).is_ok());
        assert!(mac.verify(b"what do ya want for something?", &signed).is_err());
    }

    #[test]
    fn other_algorithms_have_no_key() {
        assert!(Hs256::new(Algorithm::HS512, b"Jefe").is_err());
    }
}
