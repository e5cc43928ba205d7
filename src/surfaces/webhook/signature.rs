//! Verifies that a delivery comes from the API: signed with the secret of the registration, and recent (Standard
//! Webhooks, "Verifying webhook authenticity"). Pure.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use hyper::header::HeaderMap;
use sha2::Sha256;

use crate::surfaces::web::guard::only;

/// The greatest difference between the delivery's time and ours; seconds.
const TOLERANCE: u64 = 5 * 60;
/// The most signatures of one delivery that are checked: a sender has two while it changes its secret.
const MAX_SIGNATURES: usize = 4;
/// The prefix of a secret.
const PREFIX: &str = "whsec_";

/// Whether the delivery is signed with this secret, and its time is close to `now`, in seconds since 1970.
pub(super) fn is_genuine(secret: &str, headers: &HeaderMap, body: &[u8], now: i64) -> bool {
    let Ok(key) = STANDARD.decode(secret.strip_prefix(PREFIX).unwrap_or(secret)) else { return false };
    let (Some(id), Some(timestamp), Some(signatures)) =
        (only(headers, "webhook-id"), only(headers, "webhook-timestamp"), only(headers, "webhook-signature"))
    else {
        return false;
    };
    if key.is_empty() || !timestamp.parse::<i64>().is_ok_and(|sent| sent.abs_diff(now) <= TOLERANCE) {
        return false;
    }
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&key) else { return false };
    mac.update(format!("{id}.{timestamp}.").as_bytes());
    mac.update(body);
    let ours = signatures.split(' ').filter_map(|signature| signature.strip_prefix("v1,")).take(MAX_SIGNATURES);
    // Constant-time comparison.
    ours.filter_map(|text| STANDARD.decode(text).ok()).any(|given| mac.clone().verify_slice(&given).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const NOW: i64 = 1_614_265_330;
    const BODY: &[u8] = br#"{"test": 2432232314}"#;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    /// The test vector of the reference libraries of Standard Webhooks.
    fn vector() -> Vec<(&'static str, &'static str)> {
        vec![
            ("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek"),
            ("webhook-timestamp", "1614265330"),
            ("webhook-signature", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="),
        ]
    }

    #[test]
    fn only_what_is_signed_with_the_secret_and_recent_is_genuine() {
        assert!(is_genuine(SECRET, &headers(&vector()), BODY, NOW));
        for (now, genuine) in [(NOW + 300, true), (NOW - 300, true), (NOW + 301, false), (NOW - 301, false)] {
            assert_eq!(is_genuine(SECRET, &headers(&vector()), BODY, now), genuine, "{now}");
        }
        assert!(!is_genuine(SECRET, &headers(&vector()), b"{}", NOW), "another body");
        assert!(
            !is_genuine("whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", &headers(&vector()), BODY, NOW),
            "another secret"
        );
        for secret in ["", "whsec_", "not base64!"] {
            assert!(!is_genuine(secret, &headers(&vector()), BODY, NOW), "{secret}");
        }
        for (name, value) in [
            ("webhook-id", "other"),
            ("webhook-timestamp", "1614265331"),
            ("webhook-timestamp", "now"),
            ("webhook-timestamp", "-9223372036854775808"),
            ("webhook-signature", "v1,AAAA"),
            ("webhook-signature", "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="),
            ("webhook-signature", "v1a,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="),
        ] {
            let mut changed = headers(&vector());
            changed.insert(name, value.parse().unwrap());
            assert!(!is_genuine(SECRET, &changed, BODY, NOW), "{name}: {value}");
            let mut twice = headers(&vector());
            twice.append(name, value.parse().unwrap());
            assert!(!is_genuine(SECRET, &twice, BODY, NOW), "{name} twice");
            let mut without = headers(&vector());
            without.remove(name);
            assert!(!is_genuine(SECRET, &without, BODY, NOW), "without {name}");
        }
        // While the sender changes its secret, it signs with both.
        let two = format!("v1,AAAA {}", vector()[2].1);
        let mut changed = headers(&vector());
        changed.insert("webhook-signature", two.parse().unwrap());
        assert!(is_genuine(SECRET, &changed, BODY, NOW));
    }

    #[test]
    fn the_standards_own_library_signs_what_is_taken() {
        let theirs = standardwebhooks::Webhook::new(SECRET).unwrap();
        let signature = theirs.sign("msg_1", NOW, BODY).unwrap();
        let pairs = [("webhook-id", "msg_1"), ("webhook-timestamp", "1614265330"), ("webhook-signature", &*signature)];
        assert!(is_genuine(SECRET, &headers(&pairs), BODY, NOW));
    }
}
