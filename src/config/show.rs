//! Effective values for `config show`, with their origins. Secrets are masked.

use std::path::{Path, PathBuf};

use toml::Value;

use super::layers::Merged;
use super::paths;
use super::report::{Location, Origin};
use super::schema::{Key, Kind};
use super::value;

/// One effective value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The full key: `destinations.pms.path`.
    pub key: String,
    /// How it is declared.
    pub declared: &'static Key,
    /// The name or the index of its table.
    pub instance: Option<String>,
    /// The value as it would be written in the file, with absolute paths; secrets are masked.
    pub value: String,
    /// Its origin.
    pub origin: Origin,
    /// The same with the file's path, in words.
    pub place: String,
    /// What the value is.
    pub kind: Kind,
}

/// A file with a secret, or one that connections need, such as certificates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedFile {
    /// The full key of the setting that names it; of a table of files with the name in that table.
    pub key: String,
    /// The file.
    pub path: PathBuf,
    /// Whether it holds a secret.
    pub is_secret: bool,
}

/// The files that these settings name, without the lists of patients, programs and logs.
pub fn named_files(settings: &[Setting]) -> Vec<NamedFile> {
    let mut files = Vec::new();
    for Setting { key, value, kind, .. } in settings {
        let is_secret = matches!(kind, Kind::SecretFile | Kind::SecretFileTable);
        let is_named = *kind == Kind::Path && key.ends_with("_file");
        if !(is_secret || is_named) {
            continue;
        }
        let file = |key: String, path: &str| NamedFile { key, path: PathBuf::from(path), is_secret };
        match format!("value = {value}").parse::<toml::Table>().ok().and_then(|mut table| table.remove("value")) {
            Some(Value::String(path)) => files.push(file(key.clone(), &path)),
            Some(Value::Table(table)) => {
                let named = table.iter().filter_map(|(name, path)| Some((name, path.as_str()?)));
                files.extend(named.map(|(name, path)| file(format!("{key}.{name}"), path)));
            }
            _ => {}
        }
    }
    files
}

/// Replaces a secret.
const MASK: &str = "***";

/// Every value, in the order of the table.
pub fn settings(merged: &Merged, file: &Path, folder: &Path) -> Vec<Setting> {
    let mut settings = Vec::new();
    for (section, shape) in merged.schema.sections() {
        for instance in merged.instances(section, shape) {
            let keys = merged.schema.keys_of(section);
            settings.extend(keys.filter_map(|key| setting(merged, key, instance, file, folder)));
        }
    }
    settings
}

fn setting(merged: &Merged, key: &'static Key, instance: Option<&str>, file: &Path, folder: &Path) -> Option<Setting> {
    let value = match merged.get(key, instance)? {
        // A path on another machine.
        value if key.path == "destinations.*.path" && !is_folder(merged, instance) => value.clone(),
        value => shown(key.kind, value, folder),
    };
    let origin = merged.origin(key, instance);
    let place = match &origin {
        Origin::Default => origin.to_string(),
        given => Location(file, given).to_string(),
    };
    let (declared, table) = (key, instance.map(str::to_owned));
    Some(Setting {
        key: key.at(instance),
        declared,
        instance: table,
        value: value.to_string(),
        origin,
        place,
        kind: key.kind,
    })
}

/// Whether the destination is a folder of this machine, or on a mounted share.
fn is_folder(merged: &Merged, instance: Option<&str>) -> bool {
    merged.schema.find("destinations", "type").and_then(|key| merged.text(key, instance)) == Some("folder")
}

fn shown(kind: Kind, value: &Value, folder: &Path) -> Value {
    match (kind, value) {
        (Kind::Secret, _) => MASK.into(),
        (Kind::Proxy, Value::String(text)) => without_password(text).into(),
        (Kind::Path | Kind::SecretFile, Value::String(text)) => {
            paths::resolve(folder, Path::new(text)).to_string_lossy().into_owned().into()
        }
        (Kind::SecretFileTable, Value::Table(files)) => {
            let file = |(name, file): (&String, &Value)| (name.clone(), shown(Kind::SecretFile, file, folder));
            Value::Table(files.iter().map(file).collect())
        }
        _ => value.clone(),
    }
}

/// A proxy's address with its password masked.
pub fn without_password(text: &str) -> String {
    let Ok(mut url) = value::proxy(text) else { return MASK.to_owned() };
    // Both fail only for URLs that cannot have a password, and a proxy's always can.
    let masked = url.password().is_none() || url.set_password(Some(MASK)).is_ok();
    if masked { url.to_string() } else { MASK.to_owned() }
}
