//! For commands that need only the ledger. If the configuration cannot be used, they use the running daemon's ledger,
//! the one that it names nevertheless, or at its default place the default one, and say so.

use std::path::Path;

use super::cli::Spoken;
use super::output::complain;
use super::{Exit, Outcome, language, told};
use crate::config::{self, ConfigError, Loaded};
use crate::daemon::refused::{in_a_line, in_use};
use crate::destinations::SCHEMA;
use crate::formats::language::Language;

/// Runs a command that needs only the ledger, by the configuration or its substitute. The substitute is named on
/// standard error. `account` must exist. Errors are in the command's language.
pub(super) fn by_ledger(
    path: &Path,
    spoken: Spoken,
    account: Option<&str>,
    command: impl FnOnce(&Loaded, Language) -> Outcome,
) -> Outcome {
    let loaded = to_read(path, SCHEMA.load_default_env(path));
    let language = language::of_loaded(spoken, &loaded);
    let outcome = loaded.map_err(anyhow::Error::from).and_then(|loaded| {
        if let Some(refused) = &loaded.refused {
            let ledger = loaded.config.state.path.display().to_string();
            let values = [("ledger", (&ledger).into()), ("why", refused.into())];
            complain(&format!("docsyncd: {}", language.fill("refused-by-ledger", &values)));
        }
        has_account(&loaded, account, language)?;
        command(&loaded, language)
    });
    told::ended(language, outcome)
}

/// Checks that the configuration has this account. With a substitute, any name may be right.
///
/// # Errors
/// The nearest name.
fn has_account(loaded: &Loaded, account: Option<&str>, language: Language) -> anyhow::Result<()> {
    let accounts = &loaded.config.accounts;
    match account.filter(|name| loaded.refused.is_none() && !accounts.contains_key(*name)) {
        None => Ok(()),
        Some(name) => {
            let nearest = config::nearest(name, accounts.keys().map(String::as_str)).unwrap_or_default();
            Err(told::usage(language, "no-account", &[("name", name.into()), ("nearest", nearest.into())]))
        }
    }
}

/// The error for a command that needs the configuration itself, if this is only its substitute.
pub(super) fn needs_more(loaded: &Loaded, language: Language) -> Option<anyhow::Error> {
    let refused = loaded.refused.as_ref()?;
    Some(told::said(told::because(language, "told-configuration", &[], refused), Exit::Usage))
}

/// The configuration or its substitute, without a message.
///
/// # Errors
/// That of the configuration, if no ledger is known without it.
pub(super) fn to_read(path: &Path, loaded: Result<Loaded, ConfigError>) -> Result<Loaded, ConfigError> {
    let in_use = in_use(path);
    match loaded {
        Ok(mut loaded) => {
            // The daemon keeps its ledger, and refuses a configuration with another one.
            if let Some(in_use) = in_use {
                loaded.config.state.path = in_use.ledger;
            }
            Ok(loaded)
        }
        Err(error) => {
            let is_default = || std::path::absolute(path).is_ok_and(|path| path == config::default_path());
            let is_running = in_use.is_some();
            let (ledger, settings) = in_use.map(|in_use| (in_use.ledger, in_use.settings)).unzip();
            let named = if let ConfigError::Invalid { ledger, .. } = &error { ledger.clone() } else { None };
            // Letters of another configuration do not belong to this one.
            let is_own = named.is_some() || is_default();
            let why = in_a_line(&error.in_short());
            let stands_in = SCHEMA.stand_in(path, ledger.or(named), &settings.unwrap_or_default(), why);
            let is_known = |loaded: &Loaded| is_running || is_own && loaded.config.state.path.exists();
            stands_in.filter(is_known).ok_or(error)
        }
    }
}
