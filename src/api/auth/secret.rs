//! The API keys and client secrets of accounts.

use secrecy::SecretString;
use thiserror::Error;

use crate::config::{Account, Auth, OAuthConfig};
use crate::system::secret::read;
pub(super) use crate::system::secret::{MAX_SECRET_BYTES, file, is_plausible};

/// The account cannot authenticate with its configuration.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("account {account}: {what}")]
pub struct CredentialError {
    /// NAME of the account.
    pub account: String,
    /// What is wrong, and what to do.
    pub what: String,
}

/// The API key of an account; `None` for an account that signs in.
pub(super) fn api_key(account: &Account) -> Result<Option<SecretString>, CredentialError> {
    let Auth::ApiKey(secret) = &account.auth else { return Ok(None) };
    read(secret, "api_key_file", "key")
        .map(Some)
        .map_err(|what| CredentialError { account: account.name.clone(), what })
}

/// The client secret of an account that signs in.
///
/// # Errors
/// The secret's file is missing, readable by others, empty, or holds something that cannot be a secret.
pub fn client_secret(account: &str, oauth: &OAuthConfig) -> Result<SecretString, CredentialError> {
    read(&oauth.client_secret, "client_secret_file", "client secret")
        .map_err(|what| CredentialError { account: account.to_owned(), what })
}
