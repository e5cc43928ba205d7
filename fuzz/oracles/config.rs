//! The configuration: the file's text, and after a NUL byte variables of the environment, `SECTION__KEY=VALUE` a line.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use docsyncd::config::{Loaded, Setting};
use docsyncd::destinations::SCHEMA;

use super::halves;

/// Secrets shorter than this could be in a message by chance.
const TELLING: usize = 12;

/// Whatever is written, it is refused with words that help, or it can be shown and what is shown says the same.
/// `folder` is for files.
pub fn check(folder: &Path, input: &[u8]) {
    let (text, variables) = halves(input);
    let variables: Vec<(String, String)> = variables
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| (format!("DOCSYNCD__{name}"), value.to_owned()))
        .collect();
    let path = folder.join("docsyncd.toml");
    std::fs::write(&path, &text).unwrap();
    let secrets: Vec<(String, String)> = variables.iter().filter(|(name, _)| is_secret(name)).cloned().collect();
    let shown = match SCHEMA.load(&path, variables.clone()) {
        Ok(loaded) => {
            shows_itself(folder, &loaded, &secrets);
            format!("{loaded:?}")
        }
        Err(error) => {
            let message = error.to_string();
            assert!(message.contains("docsyncd.toml") || message.contains("DOCSYNCD__"), "{message}");
            assert!(!message.contains("a defect of docsyncd"), "{message}");
            format!("{message}\n{error:?}")
        }
    };
    let whole = String::from_utf8_lossy(input);
    for (name, secret) in &secrets {
        // What stands somewhere else, too, may be shown there.
        let telling = secret.trim().len() >= TELLING && whole.matches(secret.trim()).count() == 1;
        assert!(!telling || !shown.contains(secret.trim()), "the secret of {name} shows:\n{shown}");
    }
}

fn is_secret(name: &str) -> bool {
    let name = name.to_uppercase();
    name.ends_with("__API_KEY") || name.ends_with("__CLIENT_SECRET")
}

/// What `config show` prints, as a file with the same secrets, is the same configuration.
fn shows_itself(folder: &Path, loaded: &Loaded, secrets: &[(String, String)]) {
    let text = as_file(&loaded.effective);
    let path = folder.join("shown.toml");
    std::fs::write(&path, &text).unwrap();
    let again = SCHEMA.load(&path, secrets.to_vec()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let values = |loaded: &Loaded| -> BTreeMap<String, String> {
        loaded.effective.iter().map(|setting| (setting.key.clone(), setting.value.clone())).collect()
    };
    assert_eq!(values(&again), values(loaded), "{text}");
}

fn as_file(settings: &[Setting]) -> String {
    let mut tables: Vec<(String, String)> = Vec::new();
    for Setting { key, value, .. } in settings {
        let Some((table, name)) = key.rsplit_once('.') else { continue };
        if value.as_str() == "\"***\"" && ["api_key", "client_secret"].contains(&name) {
            continue;
        }
        if tables.last().is_none_or(|(last, _)| last != table) {
            tables.push((table.to_owned(), String::new()));
        }
        if let Some((_, lines)) = tables.last_mut() {
            let _ = writeln!(lines, "{name} = {value}");
        }
    }
    tables.iter().fold(String::new(), |mut text, (table, lines)| {
        let header = table.split_once('[').map_or_else(|| format!("[{table}]"), |(name, _)| format!("[[{name}]]"));
        let _ = write!(text, "{header}\n{lines}");
        text
    })
}
