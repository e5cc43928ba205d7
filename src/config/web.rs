//! What destinations that speak HTTP are configured with: `http`, `s3`, `webdav` and `fhir`.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use url::Url;

use super::confirm::Confirm;
use super::validated::{LostReply, Secret};
use crate::document::TypeMap;
use crate::template::Template;

/// How a destination that speaks HTTP is reached.
#[derive(Clone)]
pub struct WebConnection {
    /// NAME of the destination.
    pub name: String,
    /// Its scheme, host and port; credentials go there only. The path is of no meaning.
    pub origin: Url,
    /// How requests prove whose they are.
    pub sign_in: WebSignIn,
    /// PEM file with the only certificate authorities to trust, instead of the system's.
    pub ca_file: Option<PathBuf>,
    /// PEM file with the certificate that docsyncd shows, and its key.
    pub client_certificate: Option<(PathBuf, Secret)>,
    /// HTTP proxy for every request. One of another machine is not used for a destination on this one.
    pub proxy: Option<Url>,
    /// The longest wait for something to move.
    pub timeout: Duration,
    /// Deliveries at a time.
    pub max_connections: usize,
}

/// A proxy's address may hold a password.
impl fmt::Debug for WebConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebConnection")
            .field("name", &self.name)
            .field("origin", &self.origin.as_str())
            .finish_non_exhaustive()
    }
}

/// `bearer_token_file`, or `user` with `password_file`
#[derive(Debug, Clone)]
pub enum WebSignIn {
    /// They do not, or by headers of their own.
    None,
    /// RFC 6750
    Bearer(Secret),
    /// RFC 7617
    Basic {
        /// The user, without a colon.
        user: String,
        /// The password.
        password: Secret,
    },
}

/// `type = "http"`
#[derive(Debug, Clone)]
pub struct HttpConfig {
    /// How it is reached.
    pub connection: WebConnection,
    /// Where a document is sent.
    pub url: Arc<Template>,
    /// PUT, or POST.
    pub is_put: bool,
    /// What is sent.
    pub body: HttpBody,
    /// The PDF's name, in multipart and as `{{ file_name }}`; of a path only the last part.
    pub file_name: Arc<Template>,
    /// Headers, in the order of their names.
    pub headers: Vec<(String, Arc<Template>)>,
    /// Headers whose values are secrets.
    pub header_files: Vec<(String, Secret)>,
    /// Statuses that say that the document is kept.
    pub success: Vec<u16>,
    /// How the patient is found there, before anything is sent.
    pub lookup: Option<Lookup>,
    /// What answers 200 when a document is there, or lists what is there.
    pub probe_url: Option<Arc<Template>>,
    /// What fields of one entry of that list hold when the document is there; nothing where it is no list.
    pub probe_contains: Vec<(String, Arc<Template>)>,
    /// For how long a document whose answer was lost, and that is not found, may still be stored.
    pub resend_after: Duration,
    /// What `check` asks for.
    pub check_url: Option<Url>,
    /// Whether status 409 says that the document is there.
    pub conflict_is_found: bool,
    /// Whether a web page, with a status of success, is a success.
    pub html_is_success: bool,
    /// Whether a document of which nobody can tell whether it arrived is left to a person.
    pub on_lost_reply: LostReply,
    /// What shows that the service took a document.
    pub confirm: Option<Confirm>,
}

impl HttpConfig {
    /// Whether the PDF is PUT on the condition that nothing lies at its address: the service itself prevents a second
    /// one.
    pub fn is_conditional(&self) -> bool {
        let is_condition = |(name, value): &(String, Arc<Template>)| {
            name.eq_ignore_ascii_case("if-none-match") && value.source().trim() == "*"
        };
        self.is_put && self.headers.iter().any(is_condition)
    }
}

/// How an HTTP destination is asked what it calls the patient.
#[derive(Debug, Clone)]
pub struct Lookup {
    /// What lists the patients that it may be.
    pub url: Arc<Template>,
    /// The field of an entry that identifies it.
    pub field: String,
    /// What the fields of the one right entry hold; never empty.
    pub wanted: Vec<(String, Arc<Template>)>,
}

/// `body` of an HTTP destination
#[derive(Debug, Clone)]
pub enum HttpBody {
    /// The PDF as it is.
    Raw,
    /// A form (RFC 7578).
    Multipart {
        /// The name of the PDF's part.
        file_field: String,
        /// The other parts.
        fields: Vec<(String, Arc<Template>)>,
    },
    /// JSON around the PDF in base64.
    Json(Arc<Template>),
}

/// `type = "s3"`
#[derive(Debug, Clone)]
pub struct S3Config {
    /// How it is reached; requests are signed.
    pub connection: WebConnection,
    /// The service; its path ends with a slash.
    pub endpoint: Url,
    /// The region that signatures name.
    pub region: String,
    /// The bucket.
    pub bucket: String,
    /// What every key begins with.
    pub prefix: String,
    /// Whose signature it is.
    pub access_key_id: String,
    /// What signs.
    pub secret_access_key: Secret,
    /// Whether the bucket stands in the path; else it is a part of the host.
    pub path_style: bool,
    /// `STANDARD_IA`, say.
    pub storage_class: Option<String>,
    /// `AES256`, say.
    pub server_side_encryption: Option<String>,
    /// Whether a service that does not know the condition gets a PUT without it.
    pub falls_back: bool,
    /// The object's name behind `prefix`; its own slashes stay.
    pub file_name: Arc<Template>,
}

/// `type = "webdav"`
#[derive(Debug, Clone)]
pub struct WebDavConfig {
    /// How it is reached.
    pub connection: WebConnection,
    /// The collection below which `path` is; without a slash at its end.
    pub url: Url,
    /// Where files go, and what they are called.
    pub folder: super::validated::RemoteFolder,
}

/// `type = "fhir"`
#[derive(Debug, Clone)]
pub struct FhirConfig {
    /// How it is reached.
    pub connection: WebConnection,
    /// The address below which its resources are.
    pub base: Url,
    /// Whose rules a letter follows.
    pub profile: FhirProfile,
    /// How the patient is named to it.
    pub patient: FhirPatient,
    /// What the patient is known by there.
    pub patient_id: Arc<Template>,
    /// The code of each type of document.
    pub type_map: TypeMap,
    /// The practice, as the author of its letters.
    pub author: Option<String>,
    /// The title of a letter; of a path only the last part.
    pub file_name: Arc<Template>,
    /// What becomes of a letter whose answer was lost, where nobody can search for it.
    pub on_lost_reply: LostReply,
    /// How long such a letter is only looked for: the server may be storing it.
    pub resend_after: Duration,
    /// What shows that the server keeps a letter.
    pub confirm: Option<Confirm>,
}

/// `profile` of a FHIR server
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FhirProfile {
    /// IHE MHD 4.2, "Simplified Publish" (ITI-105).
    Mhd,
    /// The French form of that (ANS, PDSm).
    Pdsm,
    /// The German form of that for hospitals (gematik, ISiK).
    Isik,
    /// FHIR R4 alone.
    Plain,
}

/// `patient` of a FHIR server
#[derive(Debug, Clone)]
pub enum FhirPatient {
    /// Sent along, within the letter.
    Contained,
    /// Found by this search, which must find one.
    Search(Arc<Template>),
}
