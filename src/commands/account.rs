//! Which account a command is about.

use super::UsageError;
use crate::config::{Account, Auth, Loaded, OAuthConfig};

/// The account that signs in by the browser: the one that is named, or the only one there is.
pub(super) fn oauth_account<'a>(
    loaded: &'a Loaded,
    name: Option<&str>,
) -> Result<(&'a Account, &'a OAuthConfig), UsageError> {
    let accounts = &loaded.config.accounts;
    let candidates: Vec<(&Account, &OAuthConfig)> = accounts
        .values()
        .filter_map(|account| match &account.auth {
            Auth::OAuth(oauth) => Some((account, oauth)),
            _ => None,
        })
        .collect();
    let names = candidates.iter().map(|(account, _)| account.name.as_str()).collect::<Vec<_>>().join(", ");
    let all_by_key = "no account needs a sign-in: all use an API key. Set auth = \"oauth\" for one that should";
    let wrong = match (name, candidates.as_slice()) {
        (None, [only]) => return Ok(*only),
        (Some(name), _) if accounts.contains_key(name) => {
            if let Some(found) = candidates.iter().find(|(account, _)| account.name == name) {
                return Ok(*found);
            }
            format!("account {name} uses an API key, so it needs no sign-in; with auth = \"oauth\" it would")
        }
        (_, []) => all_by_key.to_owned(),
        (Some(name), _) => format!("there is no account {name} to sign in; there are: {names}"),
        (None, _) => format!("several accounts sign in: choose one with --account ({names})"),
    };
    Err(UsageError(wrong))
}
