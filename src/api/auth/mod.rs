//! How an account proves who it is (API, "Authentication").

use std::fs;

use secrecy::SecretString;
use thiserror::Error;

use crate::config::{Account, Auth};

/// The longest key or token that is taken for one; bytes.
const MAX_KEY_BYTES: usize = 16 * 1024;

/// An account that cannot authenticate as it is configured.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("account {account}: {what}")]
pub struct CredentialError {
    /// NAME of the account.
    pub account: String,
    /// What is wrong and what to do.
    pub what: String,
}

/// The bearer token of the account.
///
/// # Errors
/// The key's file is missing, unreadable, empty or holds something that cannot be a key.
pub fn token(account: &Account) -> Result<SecretString, CredentialError> {
    let wrong = |what: String| CredentialError { account: account.name.clone(), what };
    match &account.auth {
        Auth::ApiKey(key) => Ok(key.clone()),
        Auth::ApiKeyFile(path) => {
            let text = fs::read_to_string(path).map_err(|error| {
                wrong(format!("api_key_file {} cannot be read: {error}. Write the key into that file", path.display()))
            })?;
            let key = text.trim_start_matches('\u{feff}').trim();
            let plausible = key.len() <= MAX_KEY_BYTES && key.bytes().all(|byte| byte.is_ascii_graphic());
            match key {
                "" => Err(wrong(format!("api_key_file {} is empty: write the key into it", path.display()))),
                _ if !plausible => Err(wrong(format!(
                    "api_key_file {} does not hold a key: one line of letters, digits and signs is expected",
                    path.display()
                ))),
                key => Ok(SecretString::from(key)),
            }
        }
        Auth::OAuth(_) => Err(wrong(
            "signing in with auth = \"oauth\" is not part of this version: use auth = \"api_key\"".to_owned(),
        )),
    }
}

/// A warning when others than the owner can read the key's file.
pub fn exposed_key_file(account: &Account) -> Option<String> {
    #[cfg(unix)]
    if let Auth::ApiKeyFile(path) = &account.auth {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(path).ok()?.permissions().mode();
        if mode & 0o077 != 0 {
            let path = path.display();
            return Some(format!("others can read the key of account {}: run chmod 600 '{path}'", account.name));
        }
    }
    let _ = account;
    None
}
