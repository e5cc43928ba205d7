//! What proves that a destination has a letter, and the result of a look for that proof (docs/destinations.md).
//!
//! Pure.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::domain::document::hex;

/// The proof of a delivery; `deliveries[].proof` in `docsyncd show --json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    /// File and folder were synced to disk.
    Durable,
    /// The service or program said that it has the letter.
    Accepted,
    /// The letter was read back from the server and compared.
    ReadBack,
    /// The file is gone from its place (`confirm = "taken"`).
    Taken,
    /// The file is under another name, or in another folder (`"moved:DIR"`, `"renamed"`).
    Moved,
    /// The practice's software confirmed it in the sidecar.
    Sidecar,
    /// The answer of `probe_url` shows the letter.
    Probe,
    /// A query shows the letter.
    Query,
    /// A person saw the letter there (`docsyncd retry --arrived`).
    Person,
}

impl Proof {
    /// The word in the ledger and in `--json`.
    pub fn as_str(self) -> &'static str {
        match self {
            Proof::Durable => "durable",
            Proof::Accepted => "accepted",
            Proof::ReadBack => "read_back",
            Proof::Taken => "taken",
            Proof::Moved => "moved",
            Proof::Sidecar => "sidecar",
            Proof::Probe => "probe",
            Proof::Query => "query",
            Proof::Person => "person",
        }
    }
}

/// A letter that waits for its proof, for the question whether its destination's folder is still the one in which it
/// was put. A place may contain patient data, so it has no `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub struct PutIn {
    /// [`Filed::root`]
    pub root: String,
    /// [`Filed::path`]
    pub path: String,
    /// The place that people are shown.
    pub place: String,
}

/// The place of a delivered letter, for a later look for its proof. The ledger stores it until then. Holds patient
/// data: `Debug` does not print it.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filed {
    /// The path of the PDF below the destination's folder, with `/`. Empty if it has no name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// The name of the sidecar in the same folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sidecar: Option<String>,
    /// Length in bytes and SHA-256, 64 lower-case hexadecimal digits, of the PDF. The document may have another one by
    /// now. The ledger adds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pdf: Option<(u64, String)>,
    /// The PDF's digest, from the destination itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The destination's identifier of the patient, if it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patient: Option<serde_json::Value>,
    /// Files that were already there before it, in the places where its proof may appear, and have its name or its
    /// size, below the destination's folder. Their name is no proof, nor is their content unless written since.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<String>,
    /// Whether `before` has all files of its size: any other came since, whatever its time says.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_listed: bool,
    /// When the PDF was written, by the folder's own clock and in its unit, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<u64>,
    /// Tells the destination's folder from another at its path, if a look is the proof: in an empty mount point the PDF
    /// is absent as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// Tells a part of the PDF from another file that has its name.
    #[serde(default, skip_serializing_if = "Beginnings::is_empty")]
    pub beginnings: Beginnings,
}

impl fmt::Debug for Filed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Filed").finish_non_exhaustive()
    }
}

impl Filed {
    /// The folder of the PDF below the destination's folder; empty for that folder itself.
    pub fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// The name of the PDF.
    pub fn name(&self) -> &str {
        self.path.rsplit_once('/').map_or(&self.path, |(_, name)| name)
    }
}

/// The shortest beginning that is compared, in bytes: a shorter file is no PDF.
const FIRST_BEGINNING: usize = 8;
/// Hexadecimal digits of each digest.
const DIGITS: usize = 8;

/// Digests of some beginnings of a PDF: each is a quarter longer than the one before. The PDF itself is no longer at
/// hand when its proof is looked for.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Beginnings(String);

/// The lengths of the beginnings, in bytes.
fn lengths() -> impl Iterator<Item = usize> {
    std::iter::successors(Some(FIRST_BEGINNING), |length| length.checked_add(length / 4))
}

fn digits(hash: Sha256) -> String {
    let mut digits = hex(&hash.finalize());
    digits.truncate(DIGITS);
    digits
}

/// A PDF whose beginnings are taken down, piece by piece.
#[derive(Default)]
pub struct Reading {
    of: String,
    hash: Sha256,
    read: usize,
}

impl Reading {
    /// Takes the next piece.
    pub fn take(&mut self, piece: &[u8]) {
        let mut rest = piece;
        let (read, end) = (self.read, self.read + piece.len());
        for length in lengths().skip_while(|length| *length <= read).take_while(|length| *length <= end) {
            let (part, after) = rest.split_at_checked(length - self.read).unwrap_or((rest, &[]));
            self.hash.update(part);
            self.of.push_str(&digits(self.hash.clone()));
            (rest, self.read) = (after, length);
        }
        self.hash.update(rest);
        self.read = end;
    }

    /// The beginnings of what was taken.
    pub fn end(self) -> Beginnings {
        Beginnings(self.of)
    }
}

impl Beginnings {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this may be a beginning of the PDF, which has so many bytes: four fifths of it are one, it is too short
    /// to tell, or nothing is known of the PDF.
    pub fn may_have(&self, content: &[u8], size: u64) -> bool {
        if content.len() as u64 > size {
            return false;
        }
        let longest = lengths().take_while(|length| *length <= content.len()).enumerate().last();
        let known = longest.and_then(|(index, length)| {
            Some((content.get(..length)?, self.0.get(index * DIGITS..(index + 1) * DIGITS)?))
        });
        known.is_none_or(|(beginning, known)| digits(Sha256::new_with_prefix(beginning)) == known)
    }
}

/// Evidence is sure if a later look, this much later at least, finds it unchanged. A share that goes away and a listing
/// that lags show no letter either, and what is half written looks like the result.
pub const AGAIN: Duration = Duration::from_secs(2);

/// What a look saw of the evidence, to be compared with the next look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Differs if anything about the evidence changed. Holds no patient data.
    pub what: String,
    /// How long it has to be the same.
    pub rest: Duration,
}

impl Seen {
    /// Counts after [`AGAIN`].
    pub fn of(what: impl Into<String>) -> Self {
        Self { what: what.into(), rest: AGAIN }
    }
}

/// The result of a look for one letter. Its place may reveal the patient, so `Debug` does not print it.
#[derive(Clone, PartialEq, Eq)]
pub enum Sight {
    /// It is still in its place, or nothing is known of it yet.
    Waits,
    /// It is gone from its place.
    Gone(Seen),
    /// The destination's software has it.
    Proved {
        /// The proof.
        proof: Proof,
        /// Its present place, for people; `None` if it is unchanged.
        place: Option<String>,
        /// `None` if one look is enough.
        seen: Option<Seen>,
    },
    /// The destination's software refused it.
    Refused {
        /// In docsyncd's own words, without patient data.
        reason: String,
        /// What shows it.
        seen: Seen,
    },
}

impl Sight {
    /// What a later look has to find unchanged; `None` if this look is enough.
    pub fn seen(&self) -> Option<&Seen> {
        match self {
            Sight::Waits => None,
            Sight::Proved { seen, .. } => seen.as_ref(),
            Sight::Gone(seen) | Sight::Refused { seen, .. } => Some(seen),
        }
    }
}

impl fmt::Debug for Sight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sight::Waits => f.write_str("Waits"),
            Sight::Gone(_) => f.write_str("Gone"),
            Sight::Proved { proof, .. } => f.debug_struct("Proved").field("proof", proof).finish_non_exhaustive(),
            Sight::Refused { reason, .. } => f.debug_tuple("Refused").field(reason).finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn beginnings(content: &[u8], piece: usize) -> Beginnings {
        let mut reading = Reading::default();
        content.chunks(piece).for_each(|piece| reading.take(piece));
        reading.end()
    }

    proptest! {
        #[test]
        fn each_beginning_is_known_and_no_other_file(
            content in prop::collection::vec(any::<u8>(), 0..3000), piece in 1..700_usize, cut in any::<prop::sample::Index>(), flip in any::<prop::sample::Index>()
        ) {
            let (known, size) = (beginnings(&content, piece), content.len() as u64);
            prop_assert_eq!(&known.0, &beginnings(&content, 3000).0);
            let part = &content[..cut.index(content.len() + 1)];
            prop_assert!(known.may_have(part, size));
            // Whatever differs in its first four fifths is another file; and what is longer is no beginning.
            if part.len() >= 20 {
                let mut other = part.to_vec();
                other[flip.index(part.len() * 4 / 5)] ^= 1;
                prop_assert!(!known.may_have(&other, size));
            }
            prop_assert!(!known.may_have(&[&content[..], b"x"].concat(), size));
            prop_assert!(Beginnings::default().may_have(part, size));
        }
    }
}
