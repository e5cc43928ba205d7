//! The configuration of a DICOM archive.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use url::Url;

use super::confirm::Confirm;
use super::validated::{LostReply, Secret};
use super::web::WebConnection;
use crate::domain::document::TypeMap;
use crate::formats::template::Template;

/// `type = "dicom"`
#[derive(Debug, Clone)]
pub struct DicomConfig {
    /// NAME of the destination.
    pub name: String,
    /// How to reach the archive.
    pub archive: DicomArchive,
    /// The identifier of the patient in the archive.
    pub patient_id: Arc<Template>,
    /// The title of a letter.
    pub title: Arc<Template>,
    /// The code of each type of document.
    pub type_map: TypeMap,
    /// Whether a letter counts only if the archive shows it.
    pub verifies: bool,
    /// What to do with a letter whose answer was lost, if nobody may query it.
    pub on_lost_reply: LostReply,
    /// What proves that the archive keeps a letter.
    pub confirm: Option<Confirm>,
    /// Deliveries at a time.
    pub max_connections: usize,
}

/// `host`, or `url`
#[derive(Debug, Clone)]
pub enum DicomArchive {
    /// DIMSE, over associations.
    Host(Box<DicomHost>),
    /// DICOMweb.
    Web {
        /// How to reach it.
        connection: Box<WebConnection>,
        /// The URL below which `studies` is.
        base: Url,
    },
}

/// An archive that uses associations.
#[derive(Debug, Clone)]
pub struct DicomHost {
    /// Host name or address.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Whether the connection is encrypted.
    pub is_encrypted: bool,
    /// PEM file with the only certificate authorities to trust, instead of the system's.
    pub ca_file: Option<PathBuf>,
    /// PEM file with the certificate that docsyncd shows, and its key.
    pub client_certificate: Option<(PathBuf, Secret)>,
    /// The archive's application entity title.
    pub called: String,
    /// docsyncd's own title.
    pub calling: String,
    /// The longest wait for an answer, and for any progress.
    pub timeout: Duration,
}
