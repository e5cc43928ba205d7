//! The merged values as serde sees them: every value of its own type, nothing yet known about how they go together.
//! Values were checked one by one before, so nothing here fails on what a person wrote.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;
use serde::de::{Deserialize, Deserializer, Error as _};
use url::Url;

use super::report::Complaint;
use super::value;

/// The whole.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Raw {
    pub api: Api,
    #[serde(default)]
    pub accounts: BTreeMap<String, Account>,
    pub sync: Sync,
    pub retry: Retry,
    #[serde(default)]
    pub destinations: BTreeMap<String, Destination>,
    #[serde(default)]
    pub routes: Vec<Route>,
    pub state: State,
    pub alerts: Alerts,
    #[serde(default)]
    pub status_page: StatusPage,
    #[serde(default)]
    pub webhook: Webhook,
    pub log: Log,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Api {
    #[serde(default, deserialize_with = "address")]
    pub base_url: Option<Url>,
    #[serde(default, deserialize_with = "address")]
    pub app_url: Option<Url>,
    pub authorization_path: String,
    #[serde(deserialize_with = "duration")]
    pub timeout: Duration,
    pub ca_file: Option<PathBuf>,
    #[serde(default, deserialize_with = "proxy")]
    pub proxy: Option<Url>,
    #[serde(default)]
    pub pdf_hosts: Vec<String>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Account {
    pub auth: Option<AuthKind>,
    pub api_key_file: Option<PathBuf>,
    #[serde(default, deserialize_with = "secret")]
    pub api_key: Option<SecretString>,
    pub client_id: Option<String>,
    pub client_secret_file: Option<PathBuf>,
    #[serde(default, deserialize_with = "secret")]
    pub client_secret: Option<SecretString>,
    #[serde(default)]
    pub scopes: Vec<String>,
    #[serde(default)]
    pub redirect_port: u16,
    pub redirect_path: Option<String>,
}

#[derive(serde::Deserialize, Clone, Copy)]
#[serde(rename_all = "snake_case")]
pub enum AuthKind {
    ApiKey,
    #[serde(rename = "oauth")]
    OAuth,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sync {
    #[serde(deserialize_with = "duration")]
    pub poll_interval: Duration,
    #[serde(deserialize_with = "duration")]
    pub reconcile_interval: Duration,
    pub max_concurrency: usize,
    #[serde(deserialize_with = "size")]
    pub max_pdf_bytes: u64,
    #[serde(deserialize_with = "duration")]
    pub give_up_after: Duration,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retry {
    #[serde(deserialize_with = "duration")]
    pub initial: Duration,
    #[serde(deserialize_with = "duration")]
    pub max: Duration,
}

/// The keys of every type of destination; those of another type than its own are refused before.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Destination {
    #[serde(rename = "type")]
    pub kind: Option<DestinationType>,
    pub path: Option<PathBuf>,
    pub file_name: Option<String>,
    pub marker: Option<PathBuf>,
    pub sidecar: Option<String>,
    pub sidecar_name: Option<String>,
    pub sidecar_format: Option<String>,
    #[serde(default, deserialize_with = "mode")]
    pub file_mode: Option<u32>,
    #[serde(default, deserialize_with = "mode")]
    pub dir_mode: Option<u32>,
    pub reader: Option<String>,
    pub program: Option<PathBuf>,
    #[serde(default)]
    pub args: Vec<String>,
    #[serde(default, deserialize_with = "optional_duration")]
    pub timeout: Option<Duration>,
    pub host: Option<String>,
    pub port: Option<u16>,
    pub user: Option<String>,
    pub key_file: Option<PathBuf>,
    pub key_passphrase_file: Option<PathBuf>,
    pub password_file: Option<PathBuf>,
    pub host_key: Option<String>,
    pub known_hosts_file: Option<PathBuf>,
    pub verify: Option<String>,
    pub max_connections: Option<usize>,
    pub url: Option<String>,
    #[serde(default, deserialize_with = "secret")]
    pub password: Option<SecretString>,
    pub bearer_token_file: Option<PathBuf>,
    #[serde(default, deserialize_with = "secret")]
    pub bearer_token: Option<SecretString>,
    pub ca_file: Option<PathBuf>,
    pub client_cert_file: Option<PathBuf>,
    pub client_key_file: Option<PathBuf>,
    #[serde(default, deserialize_with = "proxy")]
    pub proxy: Option<Url>,
    pub method: Option<String>,
    pub body: Option<String>,
    /// Tables as pairs of name and value, in the order of their names.
    #[serde(default)]
    pub headers: Vec<(String, String)>,
    #[serde(default)]
    pub header_files: Vec<(String, String)>,
    pub file_field: Option<String>,
    #[serde(default)]
    pub fields: Vec<(String, String)>,
    pub json: Option<String>,
    #[serde(default)]
    pub success: Vec<u16>,
    pub probe_url: Option<String>,
    pub check_url: Option<String>,
    #[serde(default)]
    pub conflict_is_found: bool,
    #[serde(default)]
    pub html_is_success: bool,
    pub on_lost_reply: Option<String>,
    #[serde(default, deserialize_with = "address")]
    pub endpoint: Option<Url>,
    pub region: Option<String>,
    pub bucket: Option<String>,
    pub prefix: Option<String>,
    pub access_key_id: Option<String>,
    pub secret_access_key_file: Option<PathBuf>,
    #[serde(default, deserialize_with = "secret")]
    pub secret_access_key: Option<SecretString>,
    pub force_path_style: Option<bool>,
    pub storage_class: Option<String>,
    pub server_side_encryption: Option<String>,
    pub conditional: Option<String>,
}

#[derive(serde::Deserialize, Clone, Copy)]
#[serde(rename_all = "snake_case")]
pub enum DestinationType {
    Folder,
    Command,
    Sftp,
    Http,
    #[serde(rename = "webdav")]
    WebDav,
    S3,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Route {
    pub types: Option<Vec<String>>,
    pub users: Option<Vec<String>>,
    pub visibility: Option<String>,
    pub anonymized: Option<bool>,
    pub to: Option<Vec<String>>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    pub path: PathBuf,
    #[serde(deserialize_with = "duration")]
    pub keep_history: Duration,
    #[serde(deserialize_with = "duration")]
    pub keep_names: Duration,
    #[serde(deserialize_with = "size")]
    pub spool_limit: u64,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alerts {
    pub language: String,
    #[serde(deserialize_with = "duration")]
    pub after: Duration,
    #[serde(deserialize_with = "duration")]
    pub silence: Duration,
    #[serde(deserialize_with = "duration")]
    pub remind: Duration,
    pub heartbeat_url_file: Option<PathBuf>,
    pub webhook_url_file: Option<PathBuf>,
    pub webhook_secret_file: Option<PathBuf>,
    pub webhook_format: WebhookFormat,
    pub mail: Mail,
}

/// `alerts.webhook_format`
#[derive(serde::Deserialize, Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum WebhookFormat {
    /// The object of docs/json.md.
    Json,
    /// A card for a workflow of Microsoft Teams.
    Teams,
    /// An incoming webhook of Slack, Mattermost or Rocket.Chat.
    Slack,
    /// A topic of ntfy.
    Ntfy,
    /// An application of Gotify.
    Gotify,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mail {
    pub host: Option<String>,
    pub port: Option<u16>,
    pub encryption: MailEncryption,
    pub user: Option<String>,
    pub password_file: Option<PathBuf>,
    pub from: Option<String>,
    #[serde(default)]
    pub to: Vec<String>,
}

/// `alerts.mail.encryption`
#[derive(serde::Deserialize, Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum MailEncryption {
    /// Begun in the clear, and encrypted before anything is said (RFC 3207).
    #[serde(rename = "starttls")]
    StartTls,
    /// Encrypted from the start (RFC 8314).
    Tls,
    /// Not at all: to this machine only.
    None,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Log {
    pub level: String,
    pub format: String,
    pub file: Option<PathBuf>,
    #[serde(deserialize_with = "size")]
    pub max_size: u64,
    pub max_files: usize,
}

#[derive(serde::Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub struct StatusPage {
    #[serde(default, deserialize_with = "loopback")]
    pub listen: Option<SocketAddr>,
}

#[derive(serde::Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub struct Webhook {
    #[serde(default, deserialize_with = "address")]
    pub public_url: Option<Url>,
    #[serde(default, deserialize_with = "loopback")]
    pub listen: Option<SocketAddr>,
}

/// Reads text, if there is any, and makes the value of it.
fn parsed<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    parse: impl Fn(&str) -> Result<T, Complaint>,
) -> Result<Option<T>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    text.map(|text| parse(&text)).transpose().map_err(|complaint| D::Error::custom(complaint.what))
}

fn present<T, E: serde::de::Error>(value: Option<T>) -> Result<T, E> {
    value.ok_or_else(|| E::custom("a value with a default is missing"))
}

fn address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Url>, D::Error> {
    parsed(deserializer, value::address)
}

fn loopback<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SocketAddr>, D::Error> {
    parsed(deserializer, value::loopback)
}

fn proxy<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Url>, D::Error> {
    parsed(deserializer, value::proxy)
}

fn secret<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SecretString>, D::Error> {
    parsed(deserializer, |text| Ok(SecretString::from(text)))
}

fn mode<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    parsed(deserializer, |text| value::mode("", text, 0, u32::MAX))
}

fn optional_duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    parsed(deserializer, |text| value::duration("", text))
}

fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    optional_duration(deserializer).and_then(present)
}

fn size<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    parsed(deserializer, value::size).and_then(present)
}
