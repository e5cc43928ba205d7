//! Secrets and signatures (Standard Webhooks, "Signature scheme", symmetric).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::error::SandboxError;
use crate::random::random_bytes;

/// The prefix of a secret.
const PREFIX: &str = "whsec_";

/// A secret for a new webhook. The specification asks for 24 to 64 random bytes.
pub(crate) fn fresh_secret() -> Result<String, SandboxError> {
    Ok(format!("{PREFIX}{}", BASE64.encode(random_bytes()?)))
}

/// The value of `webhook-signature`: HMAC-SHA256 of identifier, seconds since 1970, and body, with dots in between.
pub(super) fn sign(secret: &str, id: &str, timestamp: i64, body: &str) -> Result<String, String> {
    let encoded = secret.strip_prefix(PREFIX).unwrap_or(secret);
    let key = BASE64.decode(encoded).map_err(|error| format!("the webhook's secret is damaged: {error}"))?;
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).map_err(|error| error.to_string())?;
    mac.update(format!("{id}.{timestamp}.{body}").as_bytes());
    Ok(format!("v1,{}", BASE64.encode(mac.finalize().into_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_specifications_example_is_signed_as_it_says() {
        let signature = sign(
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1_614_265_330,
            r#"{"test": 2432232314}"#,
        );
        assert_eq!(signature.unwrap(), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn secrets_have_the_specifications_form_and_are_never_the_same() {
        let [first, second] = [fresh_secret().unwrap(), fresh_secret().unwrap()];
        assert_ne!(first, second);
        let bytes = BASE64.decode(first.strip_prefix("whsec_").unwrap()).unwrap();
        assert!((24..=64).contains(&bytes.len()));
        assert!(sign("whsec_not base64", "id", 0, "").is_err());
    }
}
