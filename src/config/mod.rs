//! The configuration: one TOML file, environment variables over it, validated once into types that cannot be wrong.
//!
//! It is read in one direction: `file` and `environment` make `layers` by the [`Schema`], `presence` looks for missing
//! and misplaced keys, `settings` gives every value its type, and `build` makes the [`Config`] of `validated`. What
//! destinations are configured with is known to their kinds alone (`kinds`): whoever loads hands the table of them
//! down. Every error goes into one `report`, so that a person sees all of them at once. Only the configuration file
//! itself is opened: this module does not know whether a folder exists or a key file can be read.

mod accounts;
mod alerts;
pub(crate) mod build;
mod confirm;
mod environment;
mod excerpt;
mod file;
mod kinds;
pub(crate) mod layers;
pub(crate) mod mail;
mod nearest;
pub(crate) mod paths;
pub(crate) mod patients;
mod places;
mod practice;
mod presence;
mod report;
mod routes;
pub mod schema;
pub(crate) mod settings;
mod show;
mod status_page;
mod validated;
pub(crate) mod value;

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use secrecy::SecretString;
use sha2::{Digest as _, Sha256};

pub use confirm::{Confirm, Evidence, SidecarLine};
pub(crate) use kinds::CommonKeys;
pub use kinds::{Destination, DestinationKind, Settings};
pub use mail::mail_address;
pub use nearest::among as nearest;
pub use paths::default_path;
pub use patients::PatientsConfig;
pub use places::{Places, places};
pub use practice::PracticeConfig;
pub use report::{ConfigError, Origin, Problem};
pub use schema::Schema;
pub use show::{NamedFile, Setting, named_files};
pub use status_page::{StatusPageConfig, dialled};
pub use validated::*;
pub use value::is_loopback;

use layers::Merged;
use report::Report;

/// A configuration with its warnings and values.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The configuration.
    pub config: Config,
    /// Warnings about settings that are odd but possible, each with its place; for the log and for `check`.
    pub warnings: Vec<String>,
    /// Every effective value with its origin; secrets are masked.
    pub effective: Vec<Setting>,
    /// SHA-256 of the file, to notice changes; 64 hexadecimal digits.
    pub file_sha256: String,
    /// What is wrong with the file, if this only stands in for it ([`Schema::stand_in`]).
    pub refused: Option<String>,
}

impl Loaded {
    /// SHA-256 of the file, or of the file and the variables that override it; 64 hexadecimal digits.
    pub fn sha256(&self) -> String {
        let of_variable = |setting: &&Setting| matches!(setting.origin, Origin::Variable(_));
        let variables: Vec<&Setting> = self.effective.iter().filter(of_variable).collect();
        if variables.is_empty() {
            return self.file_sha256.clone();
        }
        let mut all = self.file_sha256.clone();
        for setting in variables {
            all.push_str(&format!("\n{} = {}", setting.key, setting.value));
        }
        crate::domain::document::hex(&Sha256::digest(&all))
    }
}

/// The commented file that `docsyncd config init` writes; it loads as it is.
pub fn template() -> &'static str {
    include_str!("../../config/docsyncd.toml")
}

/// Whether a file may be a configuration. Other files beside it, such as those for `setup --answers`, have none of the
/// tables that every configuration has. A file that cannot be read or is no TOML may be one.
pub fn may_be_configuration(path: &Path) -> bool {
    let Ok(content) = file::read(path) else { return true };
    let text = String::from_utf8_lossy(&content.bytes);
    let Ok(root) = text.trim_start_matches('\u{feff}').parse::<toml::Table>() else { return true };
    ["api", "accounts", "destinations"].iter().any(|section| root.get(*section).is_some_and(toml::Value::is_table))
}

impl Schema {
    /// Reads the file and lays the process's environment over it. Errors: those of [`Self::load`].
    pub fn load_default_env(&'static self, path: &Path) -> Result<Loaded, ConfigError> {
        self.load(path, std::env::vars_os())
    }

    /// Reads the file at `path` and lays the variables `DOCSYNCD__SECTION__KEY` over it; other variables are ignored.
    /// Fails with all errors, for a person to correct.
    pub fn load<K, V>(
        &'static self,
        path: &Path,
        variables: impl IntoIterator<Item = (K, V)>,
    ) -> Result<Loaded, ConfigError>
    where
        K: Into<OsString>,
        V: Into<OsString>,
    {
        let content = file::read(path)?;
        self.of_content(path, content, variables.into_iter().map(|(k, v)| (k.into(), v.into())).collect(), &[])
    }

    /// Like [`Self::load`], for a text that is not in the file yet, with secrets that are not in files yet, by the file
    /// name in the text. Opens nothing.
    pub fn load_text<K, V>(
        &'static self,
        path: &Path,
        text: &str,
        variables: impl IntoIterator<Item = (K, V)>,
        pending: &[(PathBuf, SecretString)],
    ) -> Result<Loaded, ConfigError>
    where
        K: Into<OsString>,
        V: Into<OsString>,
    {
        let content = file::FileContent { bytes: text.as_bytes().to_vec(), mended_by: None };
        self.of_content(path, content, variables.into_iter().map(|(k, v)| (k.into(), v.into())).collect(), pending)
    }

    /// What commands that work with a ledger go by while the configuration itself cannot be used: the defaults, without
    /// accounts and destinations, and these settings of the daemon that runs. Without `ledger` it lies at the default
    /// place.
    pub fn stand_in(
        &'static self,
        path: &Path,
        ledger: Option<PathBuf>,
        settings: &str,
        refused: String,
    ) -> Option<Loaded> {
        const LEAST: &str = "[api]\nbase_url = 'http://127.0.0.1'\n[accounts.none]\napi_key_file = 'none'\n\
                             [destinations.none]\ntype = 'folder'\npath = 'none'\n";
        let with = |settings: &str| {
            self.load_text(path, &format!("{settings}{LEAST}"), Vec::<(String, String)>::new(), &[]).ok()
        };
        let mut loaded = with(settings).or_else(|| with(""))?;
        loaded.config.accounts.clear();
        loaded.config.destinations.clear();
        loaded.config.routes.clear();
        if let Some(ledger) = ledger {
            loaded.config.state.path = ledger;
        }
        loaded.refused = Some(refused);
        Some(loaded)
    }

    fn of_content(
        &'static self,
        path: &Path,
        content: file::FileContent,
        variables: Vec<(OsString, OsString)>,
        pending: &[(PathBuf, SecretString)],
    ) -> Result<Loaded, ConfigError> {
        let file::FileContent { bytes, mended_by } = content;
        let mut report = Report::default();
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let folder = absolute.parent().unwrap_or(&absolute);
        let text = file::text(path, &bytes)?;
        let Some(file) = file::parse(self, text, &mut report) else {
            let ledger = file::ledger(text).map(|ledger| paths::resolve(folder, Path::new(&ledger)));
            return Err(report.into_error(path.to_path_buf(), ledger));
        };
        let environment = environment::parse(
            self,
            &environment::ours(self, variables.iter().cloned(), &mut report),
            &file,
            &mut report,
        );
        // The message of `config` may quote a value.
        let merged = match Merged::new(self, file, environment, &program_data(&variables)) {
            Ok(merged) => merged,
            Err(_) => return Err(internal(report, path, "the whole")),
        };
        presence::check(&merged, &mut report);
        let ledger = self.find("state", "path").filter(|_| !report.is_wrong("state.path"));
        let ledger =
            ledger.and_then(|key| merged.text(key, None)).map(|ledger| paths::resolve(folder, Path::new(ledger)));
        let mut builder = build::Builder {
            merged: &merged,
            report: &mut report,
            folder,
            mended_by,
            pending,
            need_number: Default::default(),
            defect: None,
        };
        let config = match build::build(&absolute, &mut builder) {
            Ok(config) => config,
            Err(key) => return Err(internal(report, path, key)),
        };
        match config {
            Some(config) if !report.has_errors() => Ok(Loaded {
                config,
                warnings: report.into_warnings(path),
                effective: show::settings(&merged, path, folder),
                file_sha256: crate::domain::document::hex(&Sha256::digest(&bytes)),
                refused: None,
            }),
            _ => Err(report.into_error(path.to_path_buf(), ledger)),
        }
    }
}

fn program_data(variables: &[(OsString, OsString)]) -> String {
    let found = variables.iter().find(|(name, _)| name.eq_ignore_ascii_case("ProgramData"));
    found.map_or_else(|| paths::PROGRAM_DATA.to_owned(), |(_, value)| value.to_string_lossy().into_owned())
}

/// The layers do not fit together, or a key's type does not match its kind: a defect of docsyncd, which a test looks
/// for.
fn internal(mut report: Report, path: &Path, key: &str) -> ConfigError {
    if !report.has_errors() {
        let fix = "This is a defect of docsyncd; please report it with the version that `docsyncd --version` prints.";
        report.error(Origin::Default, format!("`{key}` cannot be read"), fix);
    }
    report.into_error(path.to_path_buf(), None)
}
