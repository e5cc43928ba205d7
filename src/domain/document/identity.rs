//! Names a delivery at destinations that use identifiers. All of them derive from the delivery's key, so a repetition
//! has the same, and they survive the loss of the ledger.

use sha2::{Digest as _, Sha256};

/// The 128 bits of a delivery's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RemoteIdentity(u128);

impl RemoteIdentity {
    /// From a delivery's key; for any other text, from the first bits of its SHA-256.
    pub fn of_key(key: &str) -> Self {
        let digits = key.len() == 32 && key.bytes().all(|byte| byte.is_ascii_hexdigit());
        let bits = digits.then(|| u128::from_str_radix(key, 16).ok()).flatten();
        Self(bits.unwrap_or_else(|| first_bits(&Sha256::digest(key.as_bytes()))))
    }

    /// As a UUID of version 8, whose content the application defines (RFC 9562, section 5.8):
    /// `608d8484-a1fe-830e-bb09-21e1b2b0700f`.
    pub fn uuid(self) -> String {
        let digits = format!("{:032x}", self.number());
        let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|range| digits.get(range).unwrap_or_default());
        parts.join("-")
    }

    /// Twenty hexadecimal digits, for short fields.
    pub fn short(self) -> String {
        format!("{:020x}", self.0 >> 48)
    }

    /// As an object identifier (ITU-T X.667, section 7): `2.25.128342…`.
    pub fn oid(self) -> String {
        format!("2.25.{}", self.number())
    }

    fn number(self) -> u128 {
        let version = self.0 & !(0xf << 76) | (0x8 << 76);
        version & !(0b11 << 62) | (0b10 << 62)
    }
}

fn first_bits(digest: &[u8]) -> u128 {
    digest.iter().take(16).fold(0, |bits, byte| bits << 8 | u128::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From Python's `uuid.UUID(bytes=…)`, with the version and variant set by hand.
    #[test]
    fn an_identity_is_the_same_for_ever() {
        let identity = RemoteIdentity::of_key("608d8484a1fe430efb0921e1b2b0700f");
        assert_eq!(identity.uuid(), "608d8484-a1fe-830e-bb09-21e1b2b0700f");
        assert_eq!(identity.short(), "608d8484a1fe430efb09");
        assert_eq!(identity.oid(), "2.25.128340689238725241038936486597958332431");
        assert_eq!(RemoteIdentity::of_key("a delivery"), RemoteIdentity::of_key("a delivery"));
    }
}
