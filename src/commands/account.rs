//! The account of a command.

use super::told;
use crate::config::{Account, Auth, Loaded, OAuthConfig, Secret};
use crate::formats::language::Language;

/// The account that signs in with the browser: the named one, or the only one.
pub(super) fn oauth_account<'a>(
    loaded: &'a Loaded,
    name: Option<&str>,
    language: Language,
) -> anyhow::Result<(&'a Account, &'a OAuthConfig)> {
    let accounts = &loaded.config.accounts;
    let candidates: Vec<(&Account, &OAuthConfig)> = accounts
        .values()
        .filter_map(|account| match &account.auth {
            Auth::OAuth(oauth) => Some((account, oauth)),
            _ => None,
        })
        .collect();
    let names = candidates.iter().map(|(account, _)| account.name.as_str()).collect::<Vec<_>>().join(", ");
    let mut place = "api_key_file".to_owned();
    let wrong = match (name, candidates.as_slice()) {
        (None, [only]) => return Ok(*only),
        (Some(name), _) if let Some(account) = accounts.get(name) => {
            if let Some(found) = candidates.iter().find(|(account, _)| account.name == name) {
                return Ok(*found);
            }
            if let Auth::ApiKey(Secret::File(file)) = &account.auth {
                place = file.display().to_string();
            }
            "account-by-key"
        }
        (_, []) => "account-all-by-key",
        (Some(_), _) => "account-not-there",
        (None, _) => "account-which",
    };
    let name = name.unwrap_or_default();
    let values = [("name", name.into()), ("names", (&names).into()), ("place", (&place).into())];
    Err(told::usage(language, wrong, &values))
}
