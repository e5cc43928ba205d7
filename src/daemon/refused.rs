//! A changed configuration that the running daemon refuses: it is recorded until it is mended, for `docsyncd status`, the
//! page and the alerts.
//!
//! Other commands find the ledger by the configuration, which may be unreadable then. So the daemon leaves its path, and
//! the settings in force that a person at work needs ([`NEEDED`]), in a small file beside the configuration, or in the
//! service's own folder in memory where it may not write there.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::config::{Loaded, Origin};
use crate::ledger::process::Refused;
use crate::ledger::{Ledger, is_locked, now};

/// What a line about a configuration has room for; characters.
const LONGEST: usize = 300;
/// The longest of these files that is read; bytes.
const LONGEST_FILE: u64 = 64 * 1024;
/// The sections of what is left beside the path: the page that `docsyncd open` opens, the list by which
/// `docsyncd assign` goes, and the language. No secret is in them.
const NEEDED: [&str; 3] = ["status_page", "patients", "language"];

/// What is wrong with a configuration, in one line: the first line of a longer message.
pub fn in_a_line(reason: &str) -> String {
    let line = reason.lines().next().unwrap_or_default().trim_end_matches(['.', ' ']);
    line.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST).collect()
}

/// Records what is wrong, or that nothing is any more. A ledger that cannot be written is told of by itself.
pub(super) async fn note(ledger: &Ledger, config: &Path, in_force: &Loaded, what: Option<&str>) {
    match what {
        Some(_) => leave(config, &in_force.config.state.path, &needed(in_force)),
        None => take_away(config),
    }
    let what = what.map(in_a_line);
    if let Err(error) = ledger.write(move |db| Refused::note(db, what.as_deref(), now())).await {
        tracing::debug!(event = "refusal_not_recorded", "{error}");
    }
}

/// What a daemon goes by that runs by an earlier content of its configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InUse {
    /// Its ledger.
    pub ledger: PathBuf,
    /// Settings in force, as TOML without tables.
    pub settings: String,
}

/// What the daemon goes by that runs by an earlier content of this configuration file.
pub fn in_use(config: &Path) -> Option<InUse> {
    let left = places(config).into_iter().filter_map(|place| {
        let is_small = fs::metadata(&place).is_ok_and(|found| found.is_file() && found.len() <= LONGEST_FILE);
        is_small.then(|| fs::read_to_string(&place).ok()).flatten()
    });
    let mut parts = left.map(|text| {
        let (ledger, settings) = text.split_once('\n').unwrap_or((&text, ""));
        InUse { ledger: PathBuf::from(ledger.trim_end()), settings: settings.to_owned() }
    });
    parts.find(|left| left.ledger.is_absolute() && is_locked(&left.ledger))
}

/// What is left beside the path.
fn needed(in_force: &Loaded) -> String {
    let is_needed = |key: &str| NEEDED.contains(&key.split('.').next().unwrap_or_default());
    let settings = in_force.effective.iter().filter(|setting| setting.origin != Origin::Default);
    let lines = settings.filter(|setting| is_needed(&setting.key));
    lines.map(|setting| format!("{} = {}\n", setting.key, setting.value)).collect()
}

fn leave(config: &Path, state: &Path, settings: &str) {
    let Some(path) = state.to_str() else { return };
    // The first that can be written; where none can, other commands look at the default place.
    let _ = places(config).into_iter().any(|place| fs::write(place, format!("{path}\n{settings}")).is_ok());
}

/// Nothing is to be found by the configuration's name any more.
pub(super) fn take_away(config: &Path) {
    for place in places(config) {
        let _ = fs::remove_file(place);
    }
}

/// Where the path may be left.
fn places(config: &Path) -> Vec<PathBuf> {
    let config = std::path::absolute(config).unwrap_or_else(|_| config.to_path_buf());
    let mut name: OsString = config.file_name().unwrap_or_default().to_owned();
    name.push(".in-use");
    let mut places = vec![config.with_file_name(&name)];
    let folders = std::env::var_os("RUNTIME_DIRECTORY");
    places.extend(folders.iter().flat_map(std::env::split_paths).map(|folder| folder.join(&name)));
    if cfg!(unix) {
        // Those of the units in packaging/systemd, for a command that systemd did not start.
        let instance = Path::new("/run/docsyncd-instances").join(config.file_stem().unwrap_or_default());
        places.extend([PathBuf::from("/run/docsyncd"), instance].map(|folder| folder.join(&name)));
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_one_short_line() {
        assert_eq!(in_a_line("a.toml, line 3: it is wrong.\n  3 | api_key = \"x\""), "a.toml, line 3: it is wrong");
        assert_eq!(in_a_line("a\tb"), "a b");
        assert_eq!(in_a_line(&"x".repeat(1000)).len(), LONGEST);
        assert_eq!(in_a_line(""), "");
    }

    #[test]
    fn only_the_ledger_of_a_daemon_that_runs_is_taken_for_the_one_in_use() {
        let folder = tempfile::tempdir().unwrap();
        let (config, ledger) = (folder.path().join("a.toml"), folder.path().join("state/ledger.sqlite3"));
        assert_eq!(in_use(&config), None);
        let settings = "language = \"fr\"\n".to_owned();
        leave(&config, &ledger, &settings);
        assert_eq!(in_use(&config), None, "nothing runs");
        let running = Ledger::open_exclusive(&ledger).unwrap();
        assert_eq!(in_use(&config), Some(InUse { ledger, settings }));
        take_away(&config);
        assert_eq!(in_use(&config), None);
        drop(running);
    }
}
