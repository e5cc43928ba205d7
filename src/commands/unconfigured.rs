//! What commands that only read the ledger do while the configuration cannot be used: they go on by the ledger of the
//! daemon that runs, else the default one, and say so.

use std::path::Path;

use super::UsageError;
use super::output::complain;
use crate::config::{self, ConfigError, Loaded};
use crate::daemon::refused::{in_a_line, ledger_in_use};
use crate::destinations::SCHEMA;

/// The configuration; or what stands in for it, which is said on standard error.
///
/// # Errors
/// That of the configuration, if no ledger is known without it.
pub(super) fn load_to_read(path: &Path) -> Result<Loaded, ConfigError> {
    let loaded = to_read(path, SCHEMA.load_default_env(path))?;
    if let Some(refused) = &loaded.refused {
        complain(&format!(
            "docsyncd: the configuration cannot be used ({refused}); this is what the ledger {} says",
            loaded.config.state.path.display()
        ));
    }
    Ok(loaded)
}

/// The configuration, if it has the account that is asked for, or if none is. While another file stands in for it, any
/// name may be right.
///
/// # Errors
/// The nearest name.
pub(super) fn of_account(loaded: Loaded, account: Option<&str>) -> Result<Loaded, UsageError> {
    let accounts = &loaded.config.accounts;
    match account.filter(|name| loaded.refused.is_none() && !accounts.contains_key(*name)) {
        None => Ok(loaded),
        Some(name) => {
            let nearest = config::nearest(name, accounts.keys().map(String::as_str)).unwrap_or_default();
            Err(UsageError(format!("there is no account \"{name}\"; the nearest is \"{nearest}\"")))
        }
    }
}

/// The same, of a configuration that was loaded, without a word.
pub(super) fn to_read(path: &Path, loaded: Result<Loaded, ConfigError>) -> Result<Loaded, ConfigError> {
    let in_use = ledger_in_use(path);
    match loaded {
        Ok(mut loaded) => {
            // The daemon goes on with the ledger that it has, and refuses a configuration that names another one.
            if let Some(ledger) = in_use {
                loaded.config.state.path = ledger;
            }
            Ok(loaded)
        }
        Err(error) => {
            let stands_in = SCHEMA.stand_in(path, in_use, in_a_line(&error.in_short()));
            let is_default = || std::path::absolute(path).is_ok_and(|path| path == config::default_path());
            // Another configuration's letters are not this one's.
            let is_known =
                |loaded: &Loaded| ledger_in_use(path).is_some() || is_default() && loaded.config.state.path.exists();
            stands_in.filter(is_known).ok_or(error)
        }
    }
}
