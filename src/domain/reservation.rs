//! Names in a destination. A name is reserved for a version of a document before a file gets it. So after a crash there
//! is one place to look at, and two documents never share a file.
//!
//! Pure. The ledger keeps a name for ever only as a digest, because a path may hold patient data.

use std::collections::BTreeSet;

use sha2::{Digest as _, Sha256};
use unicode_normalization::UnicodeNormalization as _;

use crate::domain::document::hex;

/// A place in a destination: the first 32 lower-case hexadecimal digits of the SHA-256 of its folded address.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(String);

impl Place {
    /// The place with this address, such as a file's whole path with all links followed.
    pub fn of(address: &str) -> Self {
        let mut digits = hex(&Sha256::digest(folded(address).as_bytes()));
        digits.truncate(32);
        Self(digits)
    }

    /// The place with these digits, which the ledger kept.
    pub fn kept(digits: String) -> Self {
        Self(digits)
    }

    /// The digits, for the ledger.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// One form for all addresses that some file system takes for the same, with `/`.
fn folded(address: &str) -> String {
    caseless(address).replace('\\', "/")
}

/// The text without letter case, composed (NFC).
pub fn caseless(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfc().collect::<String>().to_lowercase().nfc().collect()
}

/// A name that a version of a document may get.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The place with this name.
    pub place: Place,
    /// The place of the name without the number of the version. It belongs to one document alone: `Letter_v2.pdf`
    /// beside another document's `Letter.pdf` would look like its new version.
    pub family: Place,
}

/// A file that is about to get its name. Its temporary name is evidence only while the ledger holds this intent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    /// The place of its reserved name.
    pub place: Place,
    /// The path of its reserved name below the destination's folder, with `/`.
    pub path: String,
    /// The file's temporary name, in the same folder.
    pub temporary: String,
}

/// What the ledger knows of the names of a document in a destination.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// The number of this version of the document in the destination; the first is 1.
    pub version: u32,
    /// The places that are reserved for this version.
    pub own: BTreeSet<Place>,
    /// Whether the destination's software refused the file that got one of these.
    pub was_refused: bool,
    /// The families of its other versions that got a file, or were about to. Its name has to be of the same family.
    pub families: BTreeSet<Place>,
    /// The intent of an attempt that was cut off.
    pub intent: Option<Intent>,
    /// The intents of other versions.
    pub others: Vec<Intent>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_told_by_its_address_whatever_the_case_and_the_normalisation() {
        // The digits are from an independent implementation: the ledger keeps them, so they must not change.
        assert_eq!(Place::of("/inbox/Müller.pdf").as_str(), "9efdeb769b20d2f283c023089f08b58e");
        assert_eq!(Place::of("\\INBOX\\MU\u{308}LLER.pdf"), Place::of("/inbox/Müller.pdf"));
        assert_ne!(Place::of("/inbox/a.pdf"), Place::of("/inbox/b.pdf"));
    }
}
