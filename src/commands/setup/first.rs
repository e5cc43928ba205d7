//! Answers that came with the installation. They are applied once, before any account is configured.
//!
//! An error stays in a file beside the configuration until answers are applied, for `status --health`: whoever installs
//! three hundred practices at night reads no installer's log.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::super::output::say;
use super::How;
use crate::api::auth::SignInStatus;
use crate::commands::cli::Spoken;
use crate::daemon::refused::in_a_line;
use crate::destinations::SCHEMA;

/// The most bytes that are read of that file.
const LONGEST: u64 = 4096;

/// Configures docsyncd by these answers. Returns whether it did. It does nothing if an account is configured already,
/// or, with `if_there`, if there are no answers.
///
/// # Errors
/// As `docsyncd setup --answers`. Then only the reason is written.
pub(in crate::commands) fn first(config: &Path, answers: &Path, if_there: bool) -> anyhow::Result<bool> {
    if if_there && !is_there(answers) {
        return Ok(false);
    }
    let left = left_at(config);
    if is_configured(config) {
        let _ = fs::remove_file(left);
        say("docsyncd is configured already: the answers were not applied\n")?;
        return Ok(false);
    }
    // `status --health` also tells what `check` finds at the end.
    match super::setup(config, Some(answers), How { dry_run: false, json: false }, Spoken { lang: None }) {
        Ok(_) => {
            let _ = fs::remove_file(left);
            Ok(true)
        }
        Err(error) => {
            // If this fails, the error itself is still reported.
            let _ = fs::write(left, format!("{}\n", in_a_line(&format!("{error:#}"))));
            Err(error)
        }
    }
}

/// Why the answers of the installation were not applied; `None` if they were, or if there were none.
pub(in crate::commands) fn why_not(config: &Path) -> Option<String> {
    let left = left_at(config);
    let is_small = fs::metadata(&left).is_ok_and(|found| found.is_file() && found.len() <= LONGEST);
    let text = is_small.then(|| fs::read_to_string(&left).ok()).flatten()?;
    Some(in_a_line(&text)).filter(|line| !line.is_empty())
}

/// Whether there is a file, or a folder with the file for every computer.
fn is_there(answers: &Path) -> bool {
    answers.is_file() || answers.join("answers.toml").is_file()
}

/// Whether at least one account has its key or secret.
fn is_configured(config: &Path) -> bool {
    // The setup reports a mistake in the configuration.
    let Ok(loaded) = SCHEMA.load_default_env(config) else { return false };
    let state = &loaded.config.state.path;
    loaded.config.accounts.values().any(|account| SignInStatus::of(account, state).has_secret)
}

fn left_at(config: &Path) -> PathBuf {
    let mut name = OsString::from(config);
    name.push(".answers-failed");
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config;

    #[test]
    fn answers_that_do_not_work_are_told_until_an_account_has_its_key() {
        let folder = tempfile::tempdir().unwrap();
        let (config, answers) = (folder.path().join("docsyncd.toml"), folder.path().join("answers.toml"));
        fs::write(&config, config::template()).unwrap();
        assert!(!first(&config, folder.path(), true).unwrap(), "there are none");
        assert!(first(&config, &answers, false).unwrap_err().to_string().contains("cannot be read"));
        fs::write(&answers, "api_key = \"pasted-secret\"\n").unwrap();
        for answers in [&answers, folder.path()] {
            let why = first(&config, answers, true).unwrap_err().to_string();
            assert!(why.contains("unknown answer `api_key`") && !why.contains("pasted-secret"), "{why}");
            assert_eq!(why_not(&config), Some(why));
        }
        assert_eq!(fs::read_to_string(&config).unwrap(), config::template(), "nothing else was written");
        let key = folder.path().join("api-key");
        fs::write(&key, "key\n").unwrap();
        crate::system::permissions::protect_file(&key).unwrap();
        assert!(!first(&config, &answers, false).unwrap(), "somebody configured it");
        assert_eq!(why_not(&config), None);
    }
}
