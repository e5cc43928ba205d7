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

/// `destinations.NAME.on_lost_reply`
#[derive(Deserialize, Debug, Default, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum LostReply {
    /// Send it again.
    #[default]
    Resend,
    /// A person decides.
    Hold,
}

/// `profile` of a FHIR server
#[derive(Deserialize, Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
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
