//! Access tokens: JWTs (RFC 7519) that only this sandbox's key signs and that sandbox time ends.

use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode};
use serde::{Deserialize, Serialize};

use super::{hs256, secret};
use crate::error::SandboxError;
use crate::scope::Scopes;

/// Microseconds in a second.
const SECOND: i64 = 1_000_000;

/// Signs and verifies the access tokens of one issuer.
pub(crate) struct AccessTokens {
    issuer: String,
    signing: EncodingKey,
    verifying: DecodingKey,
}

/// What an access token says; times are whole seconds since 1970.
#[derive(Serialize, Deserialize)]
struct Claims {
    iss: String,
    /// The user's uuid.
    sub: String,
    /// The application's `client_id`.
    aud: String,
    iat: i64,
    nbf: i64,
    exp: i64,
    jti: String,
    scopes: Vec<String>,
}

/// Whom a valid access token speaks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Bearer {
    /// The user's uuid.
    pub user: String,
    pub scopes: Scopes,
}

/// Why an access token opens nothing. The texts are those of Symfony's usual JWT bundle.
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
    /// Seconds for which it works from now on; negative for one that has already expired.
    pub lifetime: i64,
}

impl AccessTokens {
    pub fn new(issuer: String, key: &[u8]) -> Self {
        hs256::install();
        Self { issuer, signing: EncodingKey::from_secret(key), verifying: DecodingKey::from_secret(key) }
    }

    /// `now` in microseconds since 1970.
    pub(super) fn issue(&self, grant: &Grant<'_>, now: i64) -> Result<String, SandboxError> {
        let now = now.div_euclid(SECOND);
        let issued = now.saturating_add(grant.lifetime.min(0));
        let claims = Claims {
            iss: self.issuer.clone(),
            sub: grant.user.to_owned(),
            aud: grant.client_id.to_owned(),
            iat: issued,
            nbf: issued,
            exp: now.saturating_add(grant.lifetime),
            jti: secret::random_text()?,
            scopes: grant.scopes.iter().map(str::to_owned).collect(),
        };
        Ok(encode(&Header::new(Algorithm::HS256), &claims, &self.signing)?)
    }

    /// `now` in microseconds since 1970. The signature comes first: what an unsigned token says is not looked at.
    pub fn verify(&self, token: &str, now: i64) -> Result<Bearer, Rejected> {
        let mut validation = Validation::new(Algorithm::HS256);
        validation.set_issuer(&[&self.issuer]);
        // Any application's token opens the API; and the crate would ask the machine's clock.
        validation.validate_aud = false;
        validation.validate_exp = false;
        validation.validate_nbf = false;
        let claims = decode::<Claims>(token, &self.verifying, &validation).map_err(|_| Rejected::Invalid)?.claims;
        if now >= claims.exp.saturating_mul(SECOND) {
            return Err(Rejected::Expired);
        }
        if now < claims.nbf.saturating_mul(SECOND) {
            return Err(Rejected::Invalid);
        }
        let scopes = Scopes::parse(&claims.scopes.join(" ")).map_err(|_| Rejected::Invalid)?;
        Ok(Bearer { user: claims.sub, scopes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_800_000_000 * SECOND;

    fn tokens() -> AccessTokens {
        AccessTokens::new("http://127.0.0.1:1".to_owned(), &[7; 32])
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
        let other_key = AccessTokens::new("http://127.0.0.1:1".to_owned(), &[8; 32]);
        let other_issuer = AccessTokens::new("http://127.0.0.1:2".to_owned(), &[7; 32]);
        assert_eq!(other_key.verify(&token, NOW), Err(Rejected::Invalid));
        assert_eq!(other_issuer.verify(&token, NOW), Err(Rejected::Invalid));
    }

    #[test]
    fn two_tokens_of_the_same_second_differ() {
        let tokens = tokens();
        assert_ne!(issue(&tokens, 60), issue(&tokens, 60));
    }
}
