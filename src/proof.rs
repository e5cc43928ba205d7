//! What proves that a destination has a letter, and the result of a look for that proof (RECORD.md, section 2).
//!
//! Pure.

use std::fmt;

use serde::{Deserialize, Serialize};

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
    /// The PDF's digest, from the destination itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The destination's identifier of the patient, if it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patient: Option<serde_json::Value>,
    /// Files with the PDF's name that were already there before it, in the places where it may be moved to; below the
    /// destination's folder. Their name is no proof.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<String>,
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

/// The result of a look for one letter. Its place may reveal the patient, so `Debug` does not print it.
#[derive(Clone, PartialEq, Eq)]
pub enum Sight {
    /// It is still in its place, or nothing is known of it yet.
    Waits,
    /// It is gone from its place. That is the proof if a second look says the same.
    Gone,
    /// The destination's software has it.
    Proved {
        /// The proof.
        proof: Proof,
        /// Its present place, for people; `None` if it is unchanged.
        place: Option<String>,
    },
    /// The destination's software refused it. The reason is in docsyncd's own words, without patient data.
    Refused(String),
}

impl fmt::Debug for Sight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sight::Waits => f.write_str("Waits"),
            Sight::Gone => f.write_str("Gone"),
            Sight::Proved { proof, .. } => f.debug_struct("Proved").field("proof", proof).finish_non_exhaustive(),
            Sight::Refused(words) => f.debug_tuple("Refused").field(words).finish(),
        }
    }
}
