//! The configuration as the rest of the program sees it: every value present, in its own type, and valid.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use url::Url;

use super::kinds::Destination;
use super::patients::PatientsConfig;
use super::practice::PracticeConfig;
pub use super::settings::{
    LogConfig, LogFormat, MailEncryption, PatientsEncoding, StateConfig, SyncConfig, WebhookFormat,
};
use super::status_page::StatusPageConfig;
use crate::domain::health::{Disks, Rules};
use crate::domain::retry::RetryPolicy;
use crate::domain::route::Route;
use crate::formats::language::Language;
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
        let folder = |destination: &Destination| {
            Some((destination.name.clone(), destination.settings.folder()?.display().to_string()))
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
