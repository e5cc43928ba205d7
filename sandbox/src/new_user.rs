//! A user as the sandbox's owner dictates one.

use serde_json::{Map, Value};

/// Whatever is left out is invented from the email address.
pub(crate) struct NewUser {
    pub email: String,
    pub password: Option<String>,
    pub api_key: Option<String>,
    /// The uuid of the practice; otherwise that of everybody with an address at the same domain.
    pub organization: Option<String>,
    /// `organizationRole` of `GET /me`.
    pub role: Option<String>,
    /// Members of the record.
    pub members: Map<String, Value>,
}
