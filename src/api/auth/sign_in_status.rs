//! The state of an account's sign-in for a person who asks, read from the files without a call.

use std::path::Path;

use serde::Serialize;

use super::TokenStore;
use super::secret::{api_key, client_secret};
use crate::config::{Account, Auth, Secret};
use crate::system::secret;

/// One account's sign-in in `status`. The field names are stable.
#[derive(Debug, Serialize)]
pub struct SignInStatus {
    /// NAME of the account.
    pub account: String,
    /// `api_key` or `oauth`
    pub auth: &'static str,
    /// The e-mail address of the signed-in user, if known.
    pub user: Option<String>,
    /// What a person must do before the account works; null if no problem is known.
    pub problem: Option<String>,
    /// Whether its key or client secret can be read, or is one that only the running service gets.
    #[serde(skip)]
    pub has_secret: bool,
}

impl SignInStatus {
    /// The status of the account. Its sign-in is stored beside this ledger.
    pub fn of(account: &Account, ledger: &Path) -> Self {
        let name = &account.name;
        let with = |auth, user, problem, has_secret| Self { account: name.clone(), auth, user, problem, has_secret };
        let oauth = match &account.auth {
            Auth::ApiKey(key) => {
                let wrong = api_key(account).err().filter(|_| !is_services(key));
                let has_secret = wrong.is_none();
                return with("api_key", None, wrong.map(|wrong| wrong.what), has_secret);
            }
            Auth::OAuth(oauth) => oauth,
        };
        let wrong = client_secret(name, oauth).err().filter(|_| !is_services(&oauth.client_secret));
        let has_secret = wrong.is_none();
        let secret = wrong.map(|wrong| wrong.what);
        match TokenStore::new(ledger, name).load() {
            Ok(Some(tokens)) => with("oauth", tokens.user, secret, has_secret),
            Ok(None) => {
                let to_do = format!("nobody has signed in: run docsyncd login --account {name}");
                with("oauth", None, Some(secret.unwrap_or(to_do)), has_secret)
            }
            Err(wrong) => with("oauth", None, Some(wrong.to_string()), has_secret),
        }
    }
}

/// Whether only the running service gets this secret from systemd. Then a shell that cannot read it shows no problem.
fn is_services(secret: &Secret) -> bool {
    matches!(secret, Secret::File(path) if secret::credential(path).is_some())
        && std::env::var_os("CREDENTIALS_DIRECTORY").is_none_or(|folder| folder.is_empty())
}
