//! The configuration of a receiver of HL7 v2.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::validated::{LostReply, Secret};
use crate::domain::document::TypeMap;
use crate::formats::sidecar::Charset;
use crate::formats::template::Template;

/// `type = "hl7v2"`
#[derive(Debug, Clone)]
pub struct Hl7v2Config {
    /// NAME of the destination.
    pub name: String,
    /// Name or address of the receiver.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Whether the connection is encrypted.
    pub is_encrypted: bool,
    /// PEM file with the only certificate authorities to trust, instead of the system's.
    pub ca_file: Option<PathBuf>,
    /// PEM file with the certificate that docsyncd shows, and its key.
    pub client_certificate: Option<(PathBuf, Secret)>,
    /// ORU^R01; otherwise MDM^T02, and MDM^T10 for a replacement.
    pub is_oru: bool,
    /// MSH-12
    pub version: String,
    /// Whether MSH-9 also names the structure of the message.
    pub names_structure: bool,
    /// MSH-3 and MSH-4, in the syntax of HL7.
    pub sending: [String; 2],
    /// MSH-5 and MSH-6, likewise.
    pub receiving: [String; 2],
    /// The identifier of the patient at the receiver.
    pub patient_id: Arc<Template>,
    /// The authority that assigned it, with `&` between the parts; may be empty.
    pub assigning_authority: String,
    /// The code of each type of document.
    pub type_map: TypeMap,
    /// The encoding of messages.
    pub charset: Charset,
    /// The longest wait for an acknowledgment, and for any progress.
    pub response_timeout: Duration,
    /// Whether a connection is used for several messages.
    pub keeps_open: bool,
    /// Whether an error without a code may pass.
    pub retries_errors: bool,
    /// What to do with a document whose acknowledgment was lost.
    pub on_lost_reply: LostReply,
    /// Deliveries at a time.
    pub max_connections: usize,
}
