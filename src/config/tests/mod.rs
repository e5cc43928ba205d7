//! The messages for a wrong configuration, and the values of a right one.

mod bad_values;
mod confirm;
mod environment;
mod excerpt;
mod files;
mod good;
mod keys;
mod nearest;
mod patients;
mod receivers;
mod records;
mod secrets;
mod sidecar;
mod smtp;
mod unknown;
mod wholes;

use super::*;
use crate::destinations::{
    Attach, CommandConfig, FhirConfig, FhirPatient, FhirProfile, FolderConfig, HttpConfig, LostReply, SCHEMA,
    SmtpConfig,
};

/// The smallest configuration.
const LEAST: &str = r#"
[api]
base_url = "https://api.example.test"
[accounts.main]
api_key_file = "api-key"
[destinations.pms]
type = "folder"
path = "import"
"#;

/// A file in a folder of its own.
struct Written {
    folder: tempfile::TempDir,
    path: PathBuf,
}

fn write(content: impl AsRef<[u8]>) -> Written {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("docsyncd.toml");
    std::fs::write(&path, content).unwrap();
    #[cfg(unix)]
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    Written { folder, path }
}

impl Written {
    fn load(&self, variables: &[(&str, &str)]) -> Result<Loaded, ConfigError> {
        SCHEMA.load(&self.path, variables.iter().copied())
    }

    /// A text with this folder as FOLDER, and with the example path of Unix.
    fn neutral(&self, text: &str) -> String {
        let folder = format!("{}{}", self.folder.path().display(), std::path::MAIN_SEPARATOR);
        let text = text.replace(r"'C:\folder\name'", "\"/folder/name\"");
        text.replace(&folder, "FOLDER/").replace(&self.folder.path().display().to_string(), "FOLDER")
    }

    fn relative(&self, path: &Path) -> PathBuf {
        path.strip_prefix(self.folder.path()).unwrap().to_path_buf()
    }
}

fn loaded(content: &str, variables: &[(&str, &str)]) -> Loaded {
    write(content).load(variables).unwrap_or_else(|error| panic!("{error}"))
}

/// The error that a person reads.
fn error(content: &str, variables: &[(&str, &str)]) -> String {
    let file = write(content);
    let error = file.load(variables).expect_err(content);
    file.neutral(&error.to_string())
}

/// The smallest configuration with one more line: in its section if there is one, otherwise in a new one.
fn with(section: &str, line: &str) -> String {
    let header = format!("[{section}]\n");
    match LEAST.contains(&header) {
        true => LEAST.replace(&header, &format!("{header}{line}\n")),
        false => format!("{LEAST}{header}{line}\n"),
    }
}

fn folder(config: &Config) -> &FolderConfig {
    config.destinations["pms"].of().unwrap()
}

fn effective<'a>(loaded: &'a Loaded, key: &str) -> &'a Setting {
    loaded.effective.iter().find(|setting| setting.key == key).unwrap_or_else(|| panic!("no {key}"))
}
