//! A user that the sandbox's owner dictates.

use serde_json::{Map, Value};

/// Everything that is missing is invented from the email address.
pub(crate) struct NewUser {
    pub email: String,
    pub password: Option<String>,
    pub api_key: Option<String>,
    /// The uuid of the practice. By default, the practice of all addresses at the same domain.
    pub organization: Option<String>,
    /// `organizationRole` of `GET /me`.
    pub role: Option<String>,
    /// Members of the record.
    pub members: Map<String, Value>,
}
