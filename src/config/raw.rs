//! The merged values as serde sees them: every value of its own type, nothing yet known about how they go together.
//! Values were checked one by one before, so nothing here fails on what a person wrote.

use std::collections::BTreeMap;
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
    pub sidecar: Option<String>,
    pub sidecar_name: Option<String>,
    #[serde(default, deserialize_with = "mode")]
    pub file_mode: Option<u32>,
    #[serde(default, deserialize_with = "mode")]
    pub dir_mode: Option<u32>,
    pub program: Option<PathBuf>,
    #[serde(default)]
    pub args: Vec<String>,
    #[serde(default, deserialize_with = "optional_duration")]
    pub timeout: Option<Duration>,
}

#[derive(serde::Deserialize, Clone, Copy)]
#[serde(rename_all = "snake_case")]
pub enum DestinationType {
    Folder,
    Command,
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
