//! Where the ledger and the log lie, by a configuration that cannot be used: `docsyncd support` collects both to show
//! what is wrong.

use std::path::{Path, PathBuf};

use toml::de::DeTable;

use super::schema::Key;
use super::settings::{LogConfig, StateConfig};
use super::{file, paths};

/// Files of docsyncd.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// `state.path`
    pub ledger: PathBuf,
    /// `log.file`
    pub log: Option<PathBuf>,
}

/// Reads what can be read of the environment and of the file. A place that neither names is the default.
pub fn places(path: &Path) -> Places {
    let bytes = file::read(path).map(|content| content.bytes).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let (root, _) = DeTable::parse_recoverable(text.trim_start_matches('\u{feff}'));
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let folder = absolute.parent().unwrap_or(&absolute);
    let place = |section: &str, name: &str, key: &Key| {
        let of_file = || {
            let value = root.get_ref().get(section)?.get_ref().get(name)?;
            value.get_ref().as_str().map(PathBuf::from)
        };
        let found = std::env::var_os(key.variable(None)).map(PathBuf::from).or_else(of_file);
        found.or_else(|| default(key)).map(|found| paths::resolve(folder, &found))
    };
    Places {
        ledger: place("state", "path", &StateConfig::path).unwrap_or_default(),
        log: place("log", "file", &LogConfig::file),
    }
}

fn default(key: &Key) -> Option<PathBuf> {
    let data = std::env::var("ProgramData").unwrap_or_else(|_| paths::PROGRAM_DATA.to_owned());
    key.default.map(|default| default.replace("%ProgramData%", &data).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_broken_file_still_says_is_found_and_the_rest_is_the_default() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("docsyncd.toml");
        std::fs::write(&file, "nonsense = [\n[state]\npath = 'here/ledger.sqlite3'\n[sync]\npoll_interval = 'soon'\n")
            .unwrap();
        let found = places(&file);
        let usual = default(&StateConfig::path).unwrap();
        assert!([folder.path().join("here/ledger.sqlite3"), usual.clone()].contains(&found.ledger), "{found:?}");
        std::fs::write(
            &file,
            "[state]\npath = 'here/ledger.sqlite3'\n[sync]\npoll_interval = 7\n[log]\nfile = 'log'\n",
        )
        .unwrap();
        let wanted = Places { ledger: folder.path().join("here/ledger.sqlite3"), log: Some(folder.path().join("log")) };
        assert_eq!(places(&file), wanted);
        assert_eq!(places(&folder.path().join("none.toml")), Places { ledger: usual, log: None });
    }
}
