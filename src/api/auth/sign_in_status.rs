//! How an account stands, for a person who asks: told from the files alone, without a call.

use std::path::Path;

use serde::Serialize;

use super::TokenStore;
use super::secret::{api_key, client_secret};
use crate::config::{self, Account, Auth, Secret};

/// One account's sign-in in `status`. The field names are stable.
#[derive(Debug, Serialize)]
pub struct SignInStatus {
    /// NAME of the account.
    pub account: String,
    /// `api_key` or `oauth`
    pub auth: &'static str,
    /// The e-mail address of who signed in, when it is known.
    pub user: Option<String>,
    /// What a person has to do before the account works; null when nothing is known to be wrong.
    pub problem: Option<String>,
}

impl SignInStatus {
    /// How the account stands whose sign-in is kept beside this ledger.
    pub fn of(account: &Account, ledger: &Path) -> Self {
        let name = &account.name;
        let with = |auth, user, problem| Self { account: name.clone(), auth, user, problem };
        let oauth = match &account.auth {
            Auth::ApiKey(key) => {
                let wrong = api_key(account).err().filter(|_| !is_services(key));
                return with("api_key", None, wrong.map(|wrong| wrong.what));
            }
            Auth::OAuth(oauth) => oauth,
        };
        let wrong = client_secret(name, oauth).err().filter(|_| !is_services(&oauth.client_secret));
        let secret = wrong.map(|wrong| wrong.what);
        match TokenStore::new(ledger, name).load() {
            Ok(Some(tokens)) => with("oauth", tokens.user, secret),
            Ok(None) => {
                let to_do = format!("nobody has signed in: run docsyncd login --account {name}");
                with("oauth", None, Some(secret.unwrap_or(to_do)))
            }
            Err(wrong) => with("oauth", None, Some(wrong.to_string())),
        }
    }
}

/// What systemd gives to the running service alone: that a shell cannot read it says nothing.
fn is_services(secret: &Secret) -> bool {
    matches!(secret, Secret::File(path) if config::credential(path).is_some())
        && std::env::var_os("CREDENTIALS_DIRECTORY").is_none_or(|folder| folder.is_empty())
}
