//! Records a changed configuration that the running daemon refuses, until somebody mends it, for `docsyncd status`, the
//! page and the alerts.
//!
//! Other commands find the ledger by the configuration, which they may be unable to read then. So while it runs the
//! daemon keeps the ledger's path and the settings that they need (`NEEDED`) in a small file beside the configuration.
//! If it may not write there, it uses the service's own folder in memory.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::config::{Loaded, Origin};
use crate::ledger::process::Refused;
use crate::ledger::{Ledger, is_locked, now};

/// The most characters of a reason.
const LONGEST: usize = 300;
/// The most bytes of such a file that are read.
const LONGEST_FILE: u64 = 64 * 1024;
/// The sections that the file contains beside the path: for `docsyncd open`, for `docsyncd assign`, and the language.
/// They contain no secret.
const NEEDED: [&str; 3] = ["status_page", "patients", "language"];

/// What is wrong with a configuration: the first line of a longer message.
pub fn in_a_line(reason: &str) -> String {
    let line = reason.lines().next().unwrap_or_default().trim_end_matches(['.', ' ']);
    line.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST).collect()
}

/// Records what is in force, and what is wrong with the file, or that nothing is wrong any more. If the ledger cannot be
/// written, others report that.
pub(super) async fn note(ledger: &Ledger, config: &Path, in_force: &Loaded, what: Option<&str>) {
    leave(config, &in_force.config.state.path, &needed(in_force));
    let what = what.map(in_a_line);
    if let Err(error) = ledger.write(move |db| Refused::note(db, what.as_deref(), now())).await {
        tracing::debug!(event = "refusal_not_recorded", "{error}");
    }
}

/// What a running daemon uses, whatever became of its configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InUse {
    /// The path of its ledger.
    pub ledger: PathBuf,
    /// The settings in force that others need, as TOML without tables.
    pub settings: String,
}

/// What the daemon uses that was started with this configuration file.
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

fn needed(in_force: &Loaded) -> String {
    let is_needed = |key: &str| NEEDED.contains(&key.split('.').next().unwrap_or_default());
    let settings = in_force.effective.iter().filter(|setting| setting.origin != Origin::Default);
    let lines = settings.filter(|setting| is_needed(&setting.key));
    lines.map(|setting| format!("{} = {}\n", setting.key, setting.value)).collect()
}

fn leave(config: &Path, state: &Path, settings: &str) {
    let Some(path) = state.to_str() else { return };
    // The first place that can be written. If there is none, other commands look at the default place.
    let text = format!("{path}\n{settings}");
    let is_there = |place: &PathBuf| fs::read_to_string(place).is_ok_and(|there| there == text);
    let _ = places(config).into_iter().any(|place| is_there(&place) || fs::write(place, &text).is_ok());
}

/// Removes the files.
pub(super) fn take_away(config: &Path) {
    for place in places(config) {
        let _ = fs::remove_file(place);
    }
}

/// The places where the file may be.
fn places(config: &Path) -> Vec<PathBuf> {
    let config = std::path::absolute(config).unwrap_or_else(|_| config.to_path_buf());
    let mut name: OsString = config.file_name().unwrap_or_default().to_owned();
    name.push(".in-use");
    let mut places = vec![config.with_file_name(&name)];
    let folders = std::env::var_os("RUNTIME_DIRECTORY");
    places.extend(folders.iter().flat_map(std::env::split_paths).map(|folder| folder.join(&name)));
    if cfg!(unix) {
        // The units in packaging/systemd use this folder. A command that systemd did not start has to know it.
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
