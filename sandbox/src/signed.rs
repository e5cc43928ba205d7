//! Signed file addresses that expire, as object storage hands them out (quirk [`crate::Quirks::pdf_url_expires`]).
//!
//! The description shows none; this is the shape of the family's usual storage: `?expires=SECONDS&signature=HEX`, where
//! the seconds count from 1970 and the signature is the HMAC-SHA256 of the file and the seconds.

use std::time::Duration;

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use url::form_urlencoded;

use crate::error::SandboxError;
use crate::store::{Store, secret};

/// The name of the key in the store, so that addresses outlive a restart.
const KEY: &str = "file addresses";

const MICROSECONDS: i64 = 1_000_000;

/// Signs addresses and checks them.
#[derive(Clone)]
pub(crate) struct Signer(Hmac<Sha256>);

/// Why a file is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// A signature is required and missing.
    Unsigned,
    /// The signature is for another file or time, or invented.
    Wrong,
    Expired,
}

impl Signer {
    /// The signer with this store's key.
    pub async fn of(store: &Store) -> Result<Self, SandboxError> {
        let key = store.run(|transaction| secret(transaction, KEY)).await?;
        let hmac = Hmac::new_from_slice(&key).map_err(|error| SandboxError::Interrupted(error.to_string()))?;
        Ok(Self(hmac))
    }

    /// The query of an address with this lifetime. `now` is in microseconds since 1970. The end is rounded down to a
    /// whole second, so that a lifetime of zero never works.
    pub fn query(&self, uuid: &str, file_name: &str, now: i64, lifetime: Duration) -> String {
        let lifetime = i64::try_from(lifetime.as_micros()).unwrap_or(i64::MAX);
        let expires = now.saturating_add(lifetime).div_euclid(MICROSECONDS);
        let signature = self.over(uuid, file_name, expires).finalize().into_bytes();
        let hex: String = signature.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("expires={expires}&signature={hex}")
    }

    /// Checks the signature of a request for a file. A given signature must be right; `wanted` says whether one is
    /// required.
    pub fn check(
        &self,
        uuid: &str,
        file_name: &str,
        query: Option<&str>,
        now: i64,
        wanted: bool,
    ) -> Result<(), Refused> {
        let (mut expires, mut signature) = (None, None);
        for (name, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            match name.as_ref() {
                "expires" => expires = Some(value.into_owned()),
                "signature" => signature = Some(value.into_owned()),
                _ => {}
            }
        }
        let (expires, signature) = match (expires, signature) {
            (None, None) if wanted => return Err(Refused::Unsigned),
            (None, None) => return Ok(()),
            (Some(expires), Some(signature)) => (expires, signature),
            (Some(_), None) | (None, Some(_)) => return Err(Refused::Wrong),
        };
        let expires: i64 = expires.parse().map_err(|_| Refused::Wrong)?;
        let signature = bytes_of(&signature).ok_or(Refused::Wrong)?;
        self.over(uuid, file_name, expires).verify_slice(&signature).map_err(|_| Refused::Wrong)?;
        if now < expires.saturating_mul(MICROSECONDS) { Ok(()) } else { Err(Refused::Expired) }
    }

    fn over(&self, uuid: &str, file_name: &str, expires: i64) -> Hmac<Sha256> {
        let mut hmac = self.0.clone();
        // One value in each line: neither a file's uuid nor a number contains a line break.
        hmac.update(format!("{expires}\n{uuid}\n{file_name}").as_bytes());
        hmac
    }
}

fn bytes_of(hex: &str) -> Option<Vec<u8>> {
    if !hex.len().is_multiple_of(2) || !hex.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok()).collect()
}

impl IntoResponse for Refused {
    /// The error body of S3 and its many imitations.
    fn into_response(self) -> Response {
        let (code, message) = match self {
            Self::Unsigned => ("AccessDenied", "Access Denied"),
            Self::Wrong => (
                "SignatureDoesNotMatch",
                "The request signature we calculated does not match the signature you provided.",
            ),
            Self::Expired => ("AccessDenied", "Request has expired"),
        };
        let body = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>{code}</Code><Message>{message}</Message></Error>\n"
        );
        (StatusCode::FORBIDDEN, [(header::CONTENT_TYPE, "application/xml")], body).into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_800_000_000_400_000;
    const HALF_A_MINUTE: Duration = Duration::from_secs(30);

    async fn signer() -> Signer {
        Signer::of(&Store::open(None).unwrap()).await.unwrap()
    }

    #[tokio::test]
    async fn an_address_works_until_it_expires() {
        let signer = signer().await;
        let query = signer.query("u", "a é.pdf", NOW, HALF_A_MINUTE);
        assert!(query.starts_with("expires=1800000030&signature="), "{query}");
        let check = |at| signer.check("u", "a é.pdf", Some(&query), at, true);
        assert_eq!(check(NOW), Ok(()));
        assert_eq!(check(NOW + 29 * MICROSECONDS), Ok(()));
        assert_eq!(check(NOW + 30 * MICROSECONDS), Err(Refused::Expired));
        let none = signer.query("u", "n", NOW, Duration::ZERO);
        assert_eq!(signer.check("u", "n", Some(&none), NOW, true), Err(Refused::Expired));
    }

    #[tokio::test]
    async fn whatever_is_changed_makes_the_signature_wrong() {
        let signer = signer().await;
        let query = signer.query("u", "n", NOW, HALF_A_MINUTE);
        let check = |uuid, name, query: &str| signer.check(uuid, name, Some(query), NOW, false);
        assert_eq!(check("u", "n", &query), Ok(()));
        assert_eq!(check("v", "n", &query), Err(Refused::Wrong));
        assert_eq!(check("u", "m", &query), Err(Refused::Wrong));
        assert_eq!(check("u", "n", &query.replace("expires=18", "expires=19")), Err(Refused::Wrong));
        assert_eq!(check("u", "n", "expires=1900000000&signature=zz"), Err(Refused::Wrong));
        assert_eq!(check("u", "n", "expires=1900000000"), Err(Refused::Wrong));
        assert_eq!(check("u", "n", ""), Ok(()));
        assert_eq!(signer.check("u", "n", None, NOW, true), Err(Refused::Unsigned));
    }
}
