//! The configuration as the rest of the program sees it: every value present, in its own type, and valid.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use url::Url;

use super::confirm::{Confirm, Evidence};
use super::dicom::{DicomArchive, DicomConfig};
use super::hl7v2::Hl7v2Config;
use super::mail::SmtpConfig;
use super::patients::PatientsConfig;
use super::practice::PracticeConfig;
pub use super::settings::{
    FhirProfile, LogConfig, LogFormat, LostReply, MailEncryption, PatientsEncoding, StateConfig, SyncConfig,
    WebhookFormat,
};
use super::sidecar::SidecarConfig;
use super::status_page::StatusPageConfig;
use super::vdds::VddsConfig;
use super::web::{FhirConfig, HttpConfig, S3Config, WebConnection, WebDavConfig};
use crate::domain::health::{Disks, Rules};
use crate::domain::retry::RetryPolicy;
use crate::domain::route::Route;
use crate::formats::language::Language;
use crate::formats::template::Template;
use crate::system::logging::LogFile;
pub use crate::system::secret::Secret;

/// A whole, valid configuration. Nothing in it was looked up on the network or the disk: an unmounted folder is a state
/// of the destination, not an error of the configuration.
#[derive(Debug, Clone)]
pub struct Config {
    /// The configuration file itself; absolute.
    pub file: PathBuf,
    /// `language`: of commands, and of the page where a browser asks for none; `None`: that of whoever asks.
    pub language: Option<Language>,
    /// `[api]`
    pub api: ApiConfig,
    /// `[accounts.NAME]`, at least one.
    pub accounts: BTreeMap<String, Account>,
    /// `[sync]`
    pub sync: SyncConfig,
    /// `[retry]`
    pub retry: RetryPolicy,
    /// `[destinations.NAME]`, at least one.
    pub destinations: BTreeMap<String, Destination>,
    /// `[[routes]]` in the order of the file; never empty: without any in the file, it contains the route that sends
    /// everything to the only destination.
    pub routes: Vec<Route>,
    /// `[practice]`
    pub practice: PracticeConfig,
    /// `[patients]`; `None`: there is no list, and no template needs a number.
    pub patients: Option<PatientsConfig>,
    /// `reconcile.every`
    pub reconcile_every: Option<Duration>,
    /// `[state]`
    pub state: StateConfig,
    /// `[alerts]`
    pub alerts: AlertsConfig,
    /// `[status_page]`; `None`: there is none.
    pub status_page: Option<StatusPageConfig>,
    /// `[webhook]`; `None`: there is none.
    pub webhook: Option<NudgeConfig>,
    /// `[log]`
    pub log: LogConfig,
}

impl Config {
    /// Where on this machine a disk can become full, or a key is to be mended.
    pub fn disks(&self) -> Disks {
        let ledger = self.state.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = |destination: &Destination| match &destination.kind {
            DestinationKind::Folder(folder) => Some((folder.name.clone(), folder.path.display().to_string())),
            _ => None,
        };
        let key = |account: &Account| match &account.auth {
            Auth::ApiKey(Secret::File(file)) => Some((account.name.clone(), file.display().to_string())),
            _ => None,
        };
        Disks {
            keys: self.accounts.values().filter_map(key).collect(),
            ledger: ledger.unwrap_or(&self.state.path).display().to_string(),
            folders: self.destinations.values().filter_map(folder).collect(),
        }
    }
}

/// `[api]`
#[derive(Clone)]
pub struct ApiConfig {
    /// The URL of the API: https, or http on loopback only. Its path ends with a slash, so that `join` keeps it.
    pub base_url: Url,
    /// The application server with the authorization page.
    pub app_url: Option<Url>,
    /// The page on which a person approves what docsyncd may do: `app_url` with `authorization_path`.
    pub authorization_page: Option<Url>,
    /// The longest wait for an answer, and for the next bytes of a download if that is less than 30 s.
    pub timeout: Duration,
    /// PEM file with the only certificate authorities to trust, instead of the system's.
    pub ca_file: Option<PathBuf>,
    /// HTTP proxy for every request. One of another machine is not used for an API on this one.
    pub proxy: Option<Url>,
    /// Hosts from which PDFs may be downloaded although they are on this machine or in the practice's network.
    pub pdf_hosts: Vec<String>,
}

/// A proxy's address may hold a password.
impl fmt::Debug for ApiConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { base_url, app_url, authorization_page, timeout, ca_file, proxy, pdf_hosts } = self;
        f.debug_struct("ApiConfig")
            .field("base_url", &base_url.as_str())
            .field("app_url", &app_url.as_ref().map(Url::as_str))
            .field("authorization_page", &authorization_page.as_ref().map(Url::as_str))
            .field("timeout", timeout)
            .field("ca_file", ca_file)
            .field("proxy", &proxy.as_ref().map(|proxy| super::show::without_password(proxy.as_str())))
            .field("pdf_hosts", pdf_hosts)
            .finish()
    }
}

/// `[accounts.NAME]`
#[derive(Debug, Clone)]
pub struct Account {
    /// NAME
    pub name: String,
    /// How it authenticates.
    pub auth: Auth,
}

impl LogConfig {
    /// The file, as [`crate::system::logging`] takes it.
    pub fn to_file(&self) -> Option<LogFile<'_>> {
        let path = self.file.as_deref()?;
        Some(LogFile { path, max_size: self.max_size, max_files: self.max_files })
    }
}

/// How an account authenticates (API, "Authentication").
#[derive(Debug, Clone)]
pub enum Auth {
    /// `bearerAuth`: a key, `api_key_file` or `api_key`.
    ApiKey(Secret),
    /// `oauthAuthCode`: signed in by `docsyncd login`.
    OAuth(OAuthConfig),
}

/// The settings of an account with `auth = "oauth"`.
#[derive(Debug, Clone)]
pub struct OAuthConfig {
    /// Issued by the operator of the API.
    pub client_id: String,
    /// The secret issued with it, `client_secret_file` or `client_secret`.
    pub client_secret: Secret,
    /// Scopes to ask for.
    pub scopes: Vec<String>,
    /// Loopback port of the redirect address; 0: any free one.
    pub redirect_port: u16,
    /// Path of the redirect address; begins with a slash.
    pub redirect_path: String,
}

/// `[destinations.NAME]`
#[derive(Debug, Clone)]
pub struct Destination {
    /// NAME
    pub name: String,
    /// Its type and settings.
    pub kind: DestinationKind,
    /// Whether a letter is sent there only after its patient's number in the practice's list is known.
    pub needs_number: bool,
    /// `expect_taken`
    pub expect_taken: bool,
}

impl Destination {
    /// What proves that its software took a letter; `None`: a letter counts as soon as it is there.
    pub fn confirm(&self) -> Option<&Confirm> {
        match &self.kind {
            DestinationKind::Folder(folder) => folder.confirm.as_ref(),
            DestinationKind::Sftp(sftp) => sftp.folder.confirm.as_ref(),
            DestinationKind::WebDav(webdav) => webdav.folder.confirm.as_ref(),
            DestinationKind::Http(http) => http.confirm.as_ref(),
            DestinationKind::Fhir(fhir) => fhir.confirm.as_ref(),
            DestinationKind::Dicom(dicom) => dicom.confirm.as_ref(),
            DestinationKind::Command(_)
            | DestinationKind::S3(_)
            | DestinationKind::Hl7v2(_)
            | DestinationKind::Smtp(_)
            | DestinationKind::Vdds(_) => None,
        }
    }

    /// Whether it is a folder that this machine reaches as one.
    pub fn is_folder(&self) -> bool {
        matches!(self.kind, DestinationKind::Folder(_))
    }

    /// Where it is, for people: a folder, a program, or a server and its port.
    pub fn place(&self) -> Option<String> {
        match &self.kind {
            DestinationKind::Folder(folder) => Some(folder.path.display().to_string()),
            DestinationKind::Command(command) => Some(command.program.display().to_string()),
            _ => self.server().map(|(host, port)| format!("{host}:{port}")),
        }
    }

    /// Host and port that are dialled first: of the server, or of the proxy before it. `None` if it has no server.
    pub fn server(&self) -> Option<(String, u16)> {
        let web = |connection: &WebConnection| {
            let url = connection.proxy.as_ref().unwrap_or(&connection.origin);
            Some((url.host_str()?.trim_matches(['[', ']']).to_owned(), url.port_or_known_default()?))
        };
        match &self.kind {
            DestinationKind::Sftp(sftp) => Some((sftp.host.clone(), sftp.port)),
            DestinationKind::Hl7v2(hl7) => Some((hl7.host.clone(), hl7.port)),
            DestinationKind::Smtp(smtp) => Some((smtp.host.clone(), smtp.port)),
            DestinationKind::WebDav(webdav) => web(&webdav.connection),
            DestinationKind::Http(http) => web(&http.connection),
            DestinationKind::S3(s3) => web(&s3.connection),
            DestinationKind::Fhir(fhir) => web(&fhir.connection),
            DestinationKind::Dicom(dicom) => match &dicom.archive {
                DicomArchive::Host(host) => Some((host.host.clone(), host.port)),
                DicomArchive::Web { connection, .. } => web(connection),
            },
            DestinationKind::Folder(_) | DestinationKind::Command(_) | DestinationKind::Vdds(_) => None,
        }
    }

    /// Whether a look there shows what arrived, also to a ledger that does not know that it was sent.
    pub fn shows_letters(&self) -> bool {
        match &self.kind {
            DestinationKind::Command(_)
            | DestinationKind::Hl7v2(_)
            | DestinationKind::Smtp(_)
            | DestinationKind::Vdds(_) => false,
            DestinationKind::Http(http) => http.probe_url.is_some(),
            DestinationKind::Folder(_)
            | DestinationKind::Sftp(_)
            | DestinationKind::WebDav(_)
            | DestinationKind::S3(_)
            | DestinationKind::Fhir(_)
            | DestinationKind::Dicom(_) => !self.is_emptied(),
        }
    }

    /// Whether its software takes letters away, so that a missing letter is no surprise.
    pub fn is_emptied(&self) -> bool {
        let stays = |confirm: &Confirm| matches!(confirm.success, Evidence::Probe | Evidence::Query);
        self.expect_taken || self.confirm().is_some_and(|confirm| !stays(confirm))
    }
}

/// `destinations.NAME.type` with the settings of that type.
#[derive(Debug, Clone)]
pub enum DestinationKind {
    /// `type = "folder"`
    Folder(FolderConfig),
    /// `type = "command"`
    Command(CommandConfig),
    /// `type = "sftp"`
    Sftp(SftpConfig),
    /// `type = "http"`
    Http(Box<HttpConfig>),
    /// `type = "webdav"`
    WebDav(Box<WebDavConfig>),
    /// `type = "s3"`
    S3(Box<S3Config>),
    /// `type = "fhir"`
    Fhir(Box<FhirConfig>),
    /// `type = "hl7v2"`
    Hl7v2(Box<Hl7v2Config>),
    /// `type = "dicom"`
    Dicom(Box<DicomConfig>),
    /// `type = "smtp"`
    Smtp(Box<SmtpConfig>),
    /// `type = "vdds"`
    Vdds(VddsConfig),
}

/// `type = "folder"`
#[derive(Debug, Clone)]
pub struct FolderConfig {
    /// NAME of the destination.
    pub name: String,
    /// The folder; it must exist, and is never created.
    pub path: PathBuf,
    /// The name of the PDF below `path`; its own slashes make sub-folders.
    pub file_name: Arc<Template>,
    /// A file below `path` that must be there.
    pub marker: Option<PathBuf>,
    /// The optional second file.
    pub sidecar: Option<SidecarConfig>,
    /// Unix permissions of the files.
    pub file_mode: u32,
    /// Unix permissions of sub-folders that docsyncd creates.
    pub dir_mode: u32,
    /// The user or group that must be able to read the filed documents.
    pub reader: Option<String>,
    /// What to do with a document that is not seen there after the ledger was restored.
    pub on_lost_reply: LostReply,
    /// What proves that the software there took a letter.
    pub confirm: Option<Confirm>,
}

/// What destinations on another machine share if they name the PDF below a folder there.
#[derive(Debug, Clone)]
pub struct RemoteFolder {
    /// NAME of the destination.
    pub name: String,
    /// The folder there, with `/`; it must exist, and is never created.
    pub path: String,
    /// A file below `path` that must be there, with `/`.
    pub marker: Option<String>,
    /// The name of the PDF below `path`; its own slashes make sub-folders.
    pub file_name: Arc<Template>,
    /// The optional second file.
    pub sidecar: Option<SidecarConfig>,
    /// Whether sent content is read back; otherwise only its size is compared.
    pub verify_content: bool,
    /// Deliveries at a time.
    pub max_connections: usize,
    /// What to do with a document whose rename was not answered, if afterwards neither its name nor the temporary one
    /// is seen; `None`: an importer took it.
    pub on_lost_reply: Option<LostReply>,
    /// What proves that the software there took a letter.
    pub confirm: Option<Confirm>,
}

/// `type = "sftp"`
#[derive(Debug, Clone)]
pub struct SftpConfig {
    /// Where files go, and their names.
    pub folder: RemoteFolder,
    /// Name or address of the server.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// The user name there.
    pub user: String,
    /// How that user signs in.
    pub sign_in: SshSignIn,
    /// How to verify the server's key; without it no server is trusted.
    pub host_key: Option<SshHostKey>,
    /// The longest wait for an answer.
    pub timeout: Duration,
}

/// `key_file` and `password_file`: one of them, or both for a server that requires both.
#[derive(Debug, Clone)]
pub struct SshSignIn {
    /// The private key.
    pub key: Option<Secret>,
    /// Its passphrase.
    pub passphrase: Option<Secret>,
    /// The password, also if the server asks for it in a dialogue (keyboard-interactive).
    pub password: Option<Secret>,
}

/// `host_key` or `known_hosts_file`
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SshHostKey {
    /// A fingerprint: `SHA256:` with 43 characters of base64.
    Fingerprint(String),
    /// A known_hosts file of OpenSSH.
    KnownHosts(PathBuf),
}

/// `type = "command"`
#[derive(Debug, Clone)]
pub struct CommandConfig {
    /// NAME of the destination.
    pub name: String,
    /// The program: an absolute path, or a name to be found in PATH.
    pub program: PathBuf,
    /// One template for each argument.
    pub args: Vec<Arc<Template>>,
    /// The program is killed after this time, and the delivery is tried again later.
    pub timeout: Duration,
    /// What to do with a document if the program, or docsyncd itself, was interrupted.
    pub on_lost_reply: LostReply,
}

/// `[alerts]`
#[derive(Debug, Clone)]
pub struct AlertsConfig {
    /// The language of the messages.
    pub language: Language,
    /// When something that waits, or lasts, leads to an alert.
    pub rules: Rules,
    /// The time until an alert is repeated.
    pub remind: Duration,
    /// The file with the URL that is requested after each successful poll.
    pub heartbeat: Option<Secret>,
    /// Where each message is posted.
    pub webhook: Option<WebhookConfig>,
    /// Where each message is mailed.
    pub mail: Option<MailConfig>,
    /// Who is told of some accounts alone.
    pub receivers: Vec<Receivers>,
}

/// `[alerts.NAME]`
#[derive(Debug, Clone)]
pub struct Receivers {
    /// NAME
    pub name: String,
    /// The accounts of whose letters and problems they are told.
    pub accounts: Vec<String>,
    /// The destinations that letters of these accounts may go to.
    pub destinations: Vec<String>,
    /// Where their messages are posted.
    pub webhook: Option<WebhookConfig>,
    /// Where they are mailed.
    pub mail: Option<MailConfig>,
}

impl AlertsConfig {
    /// Whether anybody gets alerts.
    pub fn tells_anybody(&self) -> bool {
        self.heartbeat.is_some() || self.webhook.is_some() || self.mail.is_some() || !self.receivers.is_empty()
    }
}

/// `alerts.webhook_*`
#[derive(Debug, Clone)]
pub struct WebhookConfig {
    /// The file with its URL, which is a secret: whoever knows it can post there.
    pub url: Secret,
    /// The file with the secret that signs the messages.
    pub secret: Option<Secret>,
    /// The format that the receiver understands.
    pub format: WebhookFormat,
}

/// `[alerts.mail]`
#[derive(Debug, Clone)]
pub struct MailConfig {
    /// The mail server.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// How the connection is encrypted; unencrypted only to this machine.
    pub encryption: MailEncryption,
    /// User name and the file of the password.
    pub user: Option<(String, Secret)>,
    /// Sender.
    pub from: String,
    /// Recipients; never empty.
    pub to: Vec<String>,
}

/// `[webhook]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NudgeConfig {
    /// The URL that the API calls; its path ends with a slash.
    pub public_url: Url,
    /// The loopback address behind that URL. Port 0: any free one.
    pub listen: SocketAddr,
}
