//! The configuration: one TOML file, environment variables over it, validated once into types that cannot be wrong.
//!
//! It is read in one direction: `file` and `environment` make `layers` by the table in `schema`, `presence` looks for
//! what is missing or misplaced, `raw` gives every value its type, and `build` makes the [`Config`] of `validated`.
//! Everything that is wrong goes into one `report`, so that a person sees all of it at once. The only file that is
//! opened is the configuration itself: whether a folder exists or a key file can be read is not known here.

mod accounts;
mod build;
mod destinations;
mod environment;
mod excerpt;
mod file;
mod layers;
mod nearest;
mod paths;
mod presence;
mod raw;
mod report;
mod routes;
pub mod schema;
mod show;
mod validated;
mod value;

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::path::Path;

use sha2::{Digest as _, Sha256};

pub use paths::{credential, default_path};
pub use report::{ConfigError, Origin, Problem};
pub use show::Setting;
pub use validated::*;

use layers::Merged;
use report::Report;

/// A configuration with what a person may want to know about it.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The configuration.
    pub config: Config,
    /// What is odd but can be meant, each with its place; for the log and for `check`.
    pub warnings: Vec<String>,
    /// Every value that holds and where it came from; secrets are masked.
    pub effective: Vec<Setting>,
    /// SHA-256 of the file, to see whether it changed; 64 hexadecimal digits.
    pub file_sha256: String,
}

/// The commented file that `docsyncd config init` writes; it loads as it is.
pub fn template() -> &'static str {
    include_str!("../../config/docsyncd.toml")
}

/// Reads the file and lays the process's environment over it. Errors as [`load`].
pub fn load_default_env(path: &Path) -> Result<Loaded, ConfigError> {
    load(path, std::env::vars_os())
}

/// Reads the file at `path` and lays the variables `DOCSYNCD__SECTION__KEY` over it; other variables are ignored. Fails
/// with everything that is wrong, for a person to correct.
pub fn load<K, V>(path: &Path, variables: impl IntoIterator<Item = (K, V)>) -> Result<Loaded, ConfigError>
where
    K: Into<OsString>,
    V: Into<OsString>,
{
    let variables: Vec<(OsString, OsString)> = variables.into_iter().map(|(k, v)| (k.into(), v.into())).collect();
    let bytes = file::read(path)?;
    let mut report = Report::default();
    let Some(file) = file::parse(file::text(path, &bytes)?, &mut report) else {
        return Err(report.into_error(path.to_path_buf()));
    };
    let environment =
        environment::parse(&environment::ours(variables.iter().cloned(), &mut report), &file, &mut report);
    let (merged, whole) = match Merged::new(file, environment, &program_data(&variables)) {
        Ok(merged) => merged,
        Err(error) => return Err(internal(report, path, &error)),
    };
    presence::check(&merged, &mut report);
    let raw = match whole.try_deserialize::<raw::Raw>() {
        Ok(raw) => raw,
        Err(error) => return Err(internal(report, path, &error)),
    };
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let folder = absolute.parent().unwrap_or(&absolute);
    let config = build::build(raw, &absolute, &mut build::Builder { merged: &merged, report: &mut report, folder });
    match config {
        Some(config) if !report.has_errors() => Ok(Loaded {
            config,
            warnings: report.into_warnings(path),
            effective: show::settings(&merged, path, folder),
            file_sha256: crate::document::hex(&Sha256::digest(&bytes)),
        }),
        _ => Err(report.into_error(path.to_path_buf())),
    }
}

fn program_data(variables: &[(OsString, OsString)]) -> String {
    let found = variables.iter().find(|(name, _)| name.eq_ignore_ascii_case("ProgramData"));
    found.map_or_else(|| paths::PROGRAM_DATA.to_owned(), |(_, value)| value.to_string_lossy().into_owned())
}

/// The table of keys and the raw types disagree: a defect of docsyncd, which a test looks for. The message of `config`
/// may quote a value, so only its kind is passed on.
fn internal(mut report: Report, path: &Path, error: &config::ConfigError) -> ConfigError {
    if !report.has_errors() {
        let key = match error {
            config::ConfigError::At { key: Some(key), .. } | config::ConfigError::Type { key: Some(key), .. } => {
                key.as_str()
            }
            _ => "a key",
        };
        let fix = "This is a defect of docsyncd; please report it with the version that `docsyncd --version` prints.";
        report.error(Origin::Default, format!("`{key}` cannot be read"), fix);
    }
    report.into_error(path.to_path_buf())
}
