//! Names in a destination: one is reserved for a version of a document before a file gets it (ENGINE.md, "A name in a
//! destination"), so that after a crash there is one place to look at, and never two documents share a file.
//!
//! Pure. What is kept of a name for ever is a digest, because a path may hold patient data.

use std::collections::BTreeSet;

use sha2::{Digest as _, Sha256};
use unicode_normalization::UnicodeNormalization as _;

use crate::document::hex;

/// A place in a destination: 32 lower-case hexadecimal digits of a SHA-256 over its address, folded.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(String);

impl Place {
    /// The place with this address, as in a file's whole path with all links followed.
    pub fn of(address: &str) -> Self {
        let mut digits = hex(&Sha256::digest(folded(address).as_bytes()));
        digits.truncate(32);
        Self(digits)
    }

    /// As it was kept.
    pub fn kept(digits: String) -> Self {
        Self(digits)
    }

    /// To be kept.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The same for all addresses that some file system takes for one, with `/`.
fn folded(address: &str) -> String {
    caseless(address).replace('\\', "/")
}

/// Without letter case, composed (NFC).
pub fn caseless(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfc().collect::<String>().to_lowercase().nfc().collect()
}

/// A name that a version of a document could get.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// Where.
    pub place: Place,
    /// The same without the number of the version. It is one document's alone: `Letter_v2.pdf` beside another
    /// document's `Letter.pdf` would look like its new version.
    pub family: Place,
}

/// A file that is about to get its name. Only while this is in the ledger its temporary name is evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    /// Its reserved name.
    pub place: Place,
    /// The same below the destination's folder, with `/`.
    pub path: String,
    /// Its temporary name in the same folder.
    pub temporary: String,
}

/// What the ledger knows of the names of a document in a destination.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// Which version of the document this is there; the first is 1.
    pub version: u32,
    /// The places that are reserved for it.
    pub own: BTreeSet<Place>,
    /// The families of its other versions that got a file: this one's name is to be of the same.
    pub families: BTreeSet<Place>,
    /// What an attempt that was cut off was about to do.
    pub intent: Option<Intent>,
    /// The same of other versions.
    pub others: Vec<Intent>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_told_by_its_address_whatever_the_case_and_the_normalisation() {
        // From an independent implementation: the ledger keeps it.
        assert_eq!(Place::of("/inbox/Müller.pdf").as_str(), "9efdeb769b20d2f283c023089f08b58e");
        assert_eq!(Place::of("\\INBOX\\MU\u{308}LLER.pdf"), Place::of("/inbox/Müller.pdf"));
        assert_ne!(Place::of("/inbox/a.pdf"), Place::of("/inbox/b.pdf"));
    }
}
