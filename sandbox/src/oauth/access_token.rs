//! Access tokens: JWTs (RFC 7519) that this sandbox's key signs and that end by the sandbox's clock.
//!
//! They are signed with HS256. Nothing of a token is read before its signature is verified, so that it cannot name
//! another algorithm.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::Deserialize;
use serde_json::json;
use sha2::Sha256;

use super::secret;
use crate::error::SandboxError;
use crate::scope::Scopes;

/// Microseconds in a second.
const SECOND: i64 = 1_000_000;

/// Signs and verifies the access tokens of one issuer.
pub(crate) struct AccessTokens {
    issuer: String,
    key: Hmac<Sha256>,
}

/// The content of an access token that is read. Times are whole seconds since 1970.
#[derive(Deserialize)]
struct Claims {
    iss: String,
    /// The user's uuid.
    sub: String,
    nbf: i64,
    exp: i64,
    scopes: Vec<String>,
}

/// The bearer of a valid access token.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Bearer {
    /// The user's uuid.
    pub user: String,
    pub scopes: Scopes,
}

/// Why an access token is rejected. The texts are those of Symfony's usual JWT bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Rejected {
    #[error("Invalid JWT Token")]
    Invalid,
    #[error("Expired JWT Token")]
    Expired,
}

/// What an access token is issued for.
pub(super) struct Grant<'a> {
    pub user: &'a str,
    pub client_id: &'a str,
    pub scopes: &'a Scopes,
    /// How many seconds it is valid; negative for a token that has already expired.
    pub lifetime: i64,
}

impl AccessTokens {
    pub fn new(issuer: String, key: &[u8]) -> Result<Self, SandboxError> {
        let key = Hmac::new_from_slice(key).map_err(|error| SandboxError::Interrupted(error.to_string()))?;
        Ok(Self { issuer, key })
    }

    /// `now` in microseconds since 1970.
    pub(super) fn issue(&self, grant: &Grant<'_>, now: i64) -> Result<String, SandboxError> {
        let now = now.div_euclid(SECOND);
        let issued = now.saturating_add(grant.lifetime.min(0));
        let header = json!({ "typ": "JWT", "alg": "HS256" });
        let claims = json!({
            "iss": self.issuer,
            "sub": grant.user,
            "aud": grant.client_id,
            "iat": issued,
            "nbf": issued,
            "exp": now.saturating_add(grant.lifetime),
            "jti": secret::random_text()?,
            "scopes": grant.scopes.iter().collect::<Vec<_>>(),
        });
        let [header, claims] = [header, claims].map(|part| URL_SAFE_NO_PAD.encode(part.to_string()));
        let signed = format!("{header}.{claims}");
        let signature = self.key.clone().chain_update(&signed).finalize().into_bytes();
        Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }

    /// Verifies a token at the time `now`, in microseconds since 1970. Nothing is read before the signature is
    /// verified.
    pub fn verify(&self, token: &str, now: i64) -> Result<Bearer, Rejected> {
        let claims = self.claims(token).filter(|claims| claims.iss == self.issuer).ok_or(Rejected::Invalid)?;
        if now >= claims.exp.saturating_mul(SECOND) {
            return Err(Rejected::Expired);
        }
        if now < claims.nbf.saturating_mul(SECOND) {
            return Err(Rejected::Invalid);
        }
        let scopes = Scopes::parse(&claims.scopes.join(" ")).map_err(|_| Rejected::Invalid)?;
        Ok(Bearer { user: claims.sub, scopes })
    }

    /// The content of a token that this sandbox signed.
    fn claims(&self, token: &str) -> Option<Claims> {
        let (signed, signature) = token.rsplit_once('.')?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        self.key.clone().chain_update(signed).verify_slice(&signature).ok()?;
        let (_, claims) = signed.split_once('.')?;
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).ok()?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_800_000_000 * SECOND;

    fn tokens() -> AccessTokens {
        AccessTokens::new("http://127.0.0.1:1".to_owned(), &[7; 32]).unwrap()
    }

    fn issue(tokens: &AccessTokens, lifetime: i64) -> String {
        let scopes = Scopes::parse("profile read:documents").unwrap();
        tokens.issue(&Grant { user: "u", client_id: "c", scopes: &scopes, lifetime }, NOW).unwrap()
    }

    #[test]
    fn a_token_says_who_and_what_until_the_second_it_expires() {
        let tokens = tokens();
        let token = issue(&tokens, 60);
        let bearer = tokens.verify(&token, NOW + 60 * SECOND - 1).unwrap();
        assert_eq!(bearer, Bearer { user: "u".into(), scopes: Scopes::parse("profile read:documents").unwrap() });
        assert_eq!(tokens.verify(&token, NOW + 60 * SECOND), Err(Rejected::Expired));
        assert_eq!(tokens.verify(&token, NOW - SECOND), Err(Rejected::Invalid), "it is not valid before it was issued");
    }

    #[test]
    fn a_token_can_be_born_expired() {
        let tokens = tokens();
        assert_eq!(tokens.verify(&issue(&tokens, -1), NOW), Err(Rejected::Expired));
    }

    #[test]
    fn another_key_or_issuer_is_not_believed() {
        let token = issue(&tokens(), 60);
        let other_key = AccessTokens::new("http://127.0.0.1:1".to_owned(), &[8; 32]).unwrap();
        let other_issuer = AccessTokens::new("http://127.0.0.1:2".to_owned(), &[7; 32]).unwrap();
        assert_eq!(other_key.verify(&token, NOW), Err(Rejected::Invalid));
        assert_eq!(other_issuer.verify(&token, NOW), Err(Rejected::Invalid));
    }

    #[test]
    fn two_tokens_of_the_same_second_differ() {
        let tokens = tokens();
        assert_ne!(issue(&tokens, 60), issue(&tokens, 60));
    }
}
