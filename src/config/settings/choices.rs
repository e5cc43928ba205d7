//! Settings with a fixed choice of words.

use serde::Deserialize;

pub use crate::system::logging::LogFormat;
pub use crate::system::smtp::MailEncryption;

/// `accounts.NAME.auth`
#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "snake_case")]
pub enum AuthKind {
    ApiKey,
    #[serde(rename = "oauth")]
    OAuth,
}

/// `alerts.webhook_format`
#[derive(Deserialize, Debug, Clone, Copy, PartialEq, Eq)]
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

/// `patients.encoding`
#[derive(Deserialize, Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum PatientsEncoding {
    /// UTF-8 if it is valid, otherwise windows-1252.
    Auto,
    /// RFC 3629
    #[serde(rename = "utf-8")]
    Utf8,
    /// Little-endian, unless a byte order mark says otherwise.
    #[serde(rename = "utf-16")]
    Utf16,
    /// Called ANSI by Windows in Western Europe. It includes ISO 8859-1.
    #[serde(rename = "windows-1252", alias = "iso-8859-1")]
    Windows1252,
    /// With the euro sign and œ.
    #[serde(rename = "iso-8859-15")]
    Iso8859_15,
    /// DOS in the United States.
    Cp437,
    /// DOS in Western Europe.
    Cp850,
}
