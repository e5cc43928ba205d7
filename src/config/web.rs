//! The configuration of destinations that speak HTTP: `http`, `s3`, `webdav` and `fhir`.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use url::Url;

use super::confirm::Confirm;
use super::validated::{FhirProfile, LostReply, Secret};
use crate::domain::document::TypeMap;
use crate::formats::template::Template;

/// How to reach a destination that speaks HTTP.
#[derive(Clone)]
pub struct WebConnection {
    /// NAME of the destination.
    pub name: String,
    /// Its scheme, host and port; credentials go only there. The path has no meaning.
    pub origin: Url,
    /// How requests authenticate.
    pub sign_in: WebSignIn,
    /// PEM file with the only certificate authorities to trust, instead of the system's.
    pub ca_file: Option<PathBuf>,
    /// PEM file with the certificate that docsyncd shows, and its key.
    pub client_certificate: Option<(PathBuf, Secret)>,
    /// HTTP proxy for every request. One of another machine is not used for a destination on this one.
    pub proxy: Option<Url>,
    /// The longest wait for any progress.
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
    /// They do not authenticate, or use headers of their own.
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
    /// How to reach the service.
    pub connection: WebConnection,
    /// Where a document is sent.
    pub url: Arc<Template>,
    /// PUT, or POST.
    pub is_put: bool,
    /// What is sent.
    pub body: HttpBody,
    /// The PDF's name, in multipart and as `{{ file_name }}`; the last part of a path.
    pub file_name: Arc<Template>,
    /// Headers, in the order of their names.
    pub headers: Vec<(String, Arc<Template>)>,
    /// Headers whose values are secrets.
    pub header_files: Vec<(String, Secret)>,
    /// Statuses that mean that the service keeps the document.
    pub success: Vec<u16>,
    /// How to find the patient there, before anything is sent.
    pub lookup: Option<Lookup>,
    /// A URL that answers 200 if a document is there, or lists the documents that are there.
    pub probe_url: Option<Arc<Template>>,
    /// The fields of the document's entry in that list; empty if it is no list.
    pub probe_contains: Vec<(String, Arc<Template>)>,
    /// For how long a document whose answer was lost, and that is not found, may still be stored.
    pub resend_after: Duration,
    /// The URL that `check` requests.
    pub check_url: Option<Url>,
    /// Whether status 409 means that the document is there.
    pub conflict_is_found: bool,
    /// Whether a web page with a status of success is a success.
    pub html_is_success: bool,
    /// Whether a document of unknown result is left to a person.
    pub on_lost_reply: LostReply,
    /// What proves that the service took a document.
    pub confirm: Option<Confirm>,
}

impl HttpConfig {
    /// Whether the PDF is PUT on the condition that nothing is at its address: the service itself prevents a second
    /// copy.
    pub fn is_conditional(&self) -> bool {
        let is_condition = |(name, value): &(String, Arc<Template>)| {
            name.eq_ignore_ascii_case("if-none-match") && value.source().trim() == "*"
        };
        self.is_put && self.headers.iter().any(is_condition)
    }
}

/// How to ask an HTTP destination for its identifier of the patient.
#[derive(Debug, Clone)]
pub struct Lookup {
    /// A URL that lists the patients who may be meant.
    pub url: Arc<Template>,
    /// The field of an entry that identifies the patient.
    pub field: String,
    /// The fields of the only right entry; never empty.
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
    /// How to reach the service; requests are signed.
    pub connection: WebConnection,
    /// The service; its path ends with a slash.
    pub endpoint: Url,
    /// The region that signatures name.
    pub region: String,
    /// The bucket.
    pub bucket: String,
    /// The start of every key.
    pub prefix: String,
    /// The identifier of the access key.
    pub access_key_id: String,
    /// The secret that signs.
    pub secret_access_key: Secret,
    /// Whether the bucket is in the path; otherwise it is a part of the host.
    pub path_style: bool,
    /// For example `STANDARD_IA`.
    pub storage_class: Option<String>,
    /// For example `AES256`.
    pub server_side_encryption: Option<String>,
    /// Whether a service that does not know the condition gets a PUT without it.
    pub falls_back: bool,
    /// The object's name after `prefix`; its own slashes stay.
    pub file_name: Arc<Template>,
}

/// `type = "webdav"`
#[derive(Debug, Clone)]
pub struct WebDavConfig {
    /// How to reach the server.
    pub connection: WebConnection,
    /// The collection that contains `path`; without a slash at its end.
    pub url: Url,
    /// Where files go, and their names.
    pub folder: super::validated::RemoteFolder,
}

/// `type = "fhir"`
#[derive(Debug, Clone)]
pub struct FhirConfig {
    /// How to reach the server.
    pub connection: WebConnection,
    /// The URL below which its resources are.
    pub base: Url,
    /// The profile that a letter follows.
    pub profile: FhirProfile,
    /// How the patient is identified to it.
    pub patient: FhirPatient,
    /// The identifier of the patient at the server.
    pub patient_id: Arc<Template>,
    /// The code of each type of document.
    pub type_map: TypeMap,
    /// The practice, as the author of its letters.
    pub author: Option<String>,
    /// The title of a letter; the last part of a path.
    pub file_name: Arc<Template>,
    /// What to do with a letter whose answer was lost, if nobody can search for it.
    pub on_lost_reply: LostReply,
    /// How long docsyncd only looks for such a letter: the server may be storing it.
    pub resend_after: Duration,
    /// What proves that the server keeps a letter.
    pub confirm: Option<Confirm>,
}

/// `patient` of a FHIR server
#[derive(Debug, Clone)]
pub enum FhirPatient {
    /// Contained in the letter.
    Contained,
    /// Found by this search, which must find exactly one.
    Search(Arc<Template>),
}
