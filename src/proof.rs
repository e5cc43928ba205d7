//! What shows that a destination has a letter, and what a look for that proof found (RECORD.md, section 2).
//!
//! Pure.

use std::fmt;

use serde::{Deserialize, Serialize};

/// By what a delivery is proved. It stands in `deliveries[].proof` of `docsyncd show --json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    /// File and folder were forced to the disk.
    Durable,
    /// The service or program said that it has it.
    Accepted,
    /// It was read back from the server and compared.
    ReadBack,
    /// It is gone from where it was put (`confirm = "taken"`).
    Taken,
    /// It lies under another name, or in another folder (`"moved:DIR"`, `"renamed"`).
    Moved,
    /// The practice's software wrote so into the sidecar.
    Sidecar,
    /// `probe_url` shows it.
    Probe,
    /// A query shows it.
    Query,
    /// A person saw it there (`docsyncd retry --arrived`).
    Person,
}

impl Proof {
    /// The word that stands in the ledger and in `--json`.
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

/// Where a delivery put a letter, as far as a later look for its proof needs it. The ledger keeps it until then. Holds
/// patient data: its `Debug` prints nothing of it.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filed {
    /// The PDF, below the destination's folder, with `/`. Empty where it got no name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// The name of the sidecar in the same folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sidecar: Option<String>,
    /// The PDF's digest as the destination itself tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// What the destination calls the patient, if it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patient: Option<serde_json::Value>,
    /// Files of the PDF's name, below the destination's folder, that lay there before it where it may be moved to:
    /// their name is no proof.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<String>,
}

impl fmt::Debug for Filed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Filed").finish_non_exhaustive()
    }
}

impl Filed {
    /// The folder of the PDF below the destination's; empty for that itself.
    pub fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// The name of the PDF.
    pub fn name(&self) -> &str {
        self.path.rsplit_once('/').map_or(&self.path, |(_, name)| name)
    }
}

/// What a look at one letter found. Where it lies may tell of the patient: its `Debug` does not.
#[derive(Clone, PartialEq, Eq)]
pub enum Sight {
    /// It still lies where it was put, or nothing is known of it yet.
    Waits,
    /// It is gone from there, which is the proof when a second look says the same.
    Gone,
    /// The destination's software has it.
    Proved {
        /// By what.
        proof: Proof,
        /// Where it lies now, for the person who asks; `None`: as before.
        place: Option<String>,
    },
    /// The destination's software refused it: why, in our own words, without patient data.
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
