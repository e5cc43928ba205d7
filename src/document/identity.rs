//! What a delivery is called at a destination that knows it by an identifier: all of it follows from the delivery's key, so
//! that a repetition has the same, and a ledger that was lost loses nothing.

use sha2::{Digest as _, Sha256};

use super::hex;

/// Digits of the short form: MSH-10 takes 20 characters (HL7 v2.5.1, 2.14.9.10).
const SHORT: usize = 20;

/// The 128 bits of a delivery's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RemoteIdentity(u128);

impl RemoteIdentity {
    /// Of a delivery's key; of any other text the first bits of its SHA-256.
    pub fn of_key(key: &str) -> Self {
        let digits = key.len() == 32 && key.bytes().all(|byte| byte.is_ascii_hexdigit());
        let bits = digits.then(|| u128::from_str_radix(key, 16).ok()).flatten();
        Self(bits.unwrap_or_else(|| first_bits(&Sha256::digest(key.as_bytes()))))
    }

    /// A further one of the same delivery, for `what`, such as "study".
    pub fn further(key: &str, what: &str) -> Self {
        Self(first_bits(&Sha256::new().chain_update(key).chain_update(what).finalize()))
    }

    /// The bits as those of a UUID of version 8, whose content is the application's own (RFC 9562, section 5.8).
    fn uuid_bits(self) -> u128 {
        let version = self.0 & !(0xf << 76) | (0x8 << 76);
        version & !(0b11 << 62) | (0b10 << 62)
    }

    /// As a UUID: `608d8484-a1fe-830e-bb09-21e1b2b0700f`.
    pub fn uuid(self) -> String {
        let digits = format!("{:032x}", self.uuid_bits());
        let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|range| digits.get(range).unwrap_or_default());
        parts.join("-")
    }

    /// As an object identifier below 2.25 (ITU-T X.667): at most 44 characters, of which DICOM takes 64.
    pub fn oid(self) -> String {
        format!("2.25.{}", self.uuid_bits())
    }

    /// The first 20 hexadecimal digits, where nothing longer fits.
    pub fn short(self) -> String {
        let mut digits = hex(&self.0.to_be_bytes());
        digits.truncate(SHORT);
        digits
    }
}

fn first_bits(digest: &[u8]) -> u128 {
    digest.iter().take(16).fold(0, |bits, byte| bits << 8 | u128::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Python's `uuid.UUID(bytes=…)` with the version and variant set by hand, and its `.int`.
    #[test]
    fn an_identity_is_the_same_for_ever() {
        let identity = RemoteIdentity::of_key("608d8484a1fe430efb0921e1b2b0700f");
        assert_eq!(identity.uuid(), "608d8484-a1fe-830e-bb09-21e1b2b0700f");
        assert_eq!(identity.oid(), "2.25.128340689238725241038936486597958332431");
        assert_eq!(identity.short(), "608d8484a1fe430efb09");
        assert_eq!(RemoteIdentity::of_key("a delivery"), RemoteIdentity::of_key("a delivery"));
    }

    #[test]
    fn further_ones_differ_by_what_they_are_for() {
        let of = |what| RemoteIdentity::further("608d8484a1fe430efb0921e1b2b0700f", what);
        assert_ne!(of("study"), of("series"));
        assert!([of("study"), of("series")].iter().all(|one| one.oid().len() <= 44 && one.uuid().len() == 36));
    }
}
