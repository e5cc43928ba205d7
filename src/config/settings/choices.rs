//! Settings with a fixed choice of words.

use serde::Deserialize;

/// `accounts.NAME.auth`
#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "snake_case")]
pub enum AuthKind {
    ApiKey,
    #[serde(rename = "oauth")]
    OAuth,
}

/// `destinations.NAME.type`
#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "snake_case")]
pub enum DestinationType {
    Folder,
    Command,
    Sftp,
    Http,
    #[serde(rename = "webdav")]
    WebDav,
    S3,
    Fhir,
    Hl7v2,
    Dicom,
    Smtp,
    Vdds,
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

/// `alerts.mail.encryption`
#[derive(Deserialize, Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum MailEncryption {
    /// Begins unencrypted, and is encrypted before anything is sent (RFC 3207).
    #[serde(rename = "starttls")]
    StartTls,
    /// Encrypted from the start (RFC 8314).
    Tls,
    /// Unencrypted: to this machine only.
    None,
}

/// `log.format`
#[derive(Deserialize, Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}
