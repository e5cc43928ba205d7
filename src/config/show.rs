//! Effective values for `config show`, with their origins. Secrets are masked.

use std::path::Path;

use config::ValueKind;

use super::layers::Merged;
use super::paths;
use super::report::{Origin, Place};
use super::schema::{self, KEYS, Key, Kind, Shape};
use super::value;

/// One effective value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The full key: `destinations.pms.path`.
    pub key: String,
    /// The value as it would be written in the file, with absolute paths; secrets are masked.
    pub value: String,
    /// Its origin: `default`, the file with its line, or the environment variable.
    pub origin: String,
    /// Whether it is a default.
    pub is_default: bool,
}

/// Replaces a secret.
const MASK: &str = "***";

/// Every value, in the order of the table.
pub fn settings(merged: &Merged, file: &Path, folder: &Path) -> Vec<Setting> {
    let mut settings = Vec::new();
    for (section, shape) in schema::sections() {
        let mut instances: Vec<Option<&str>> = merged.tables(section).map(|(instance, _)| Some(instance)).collect();
        match shape {
            Shape::Plain => instances.push(None),
            Shape::Listed => instances.sort_by_key(|index| index.and_then(|index| index.parse::<usize>().ok())),
            Shape::Named => {}
        }
        for instance in instances {
            let keys = KEYS.iter().filter(|key| key.section() == section);
            settings.extend(keys.filter_map(|key| setting(merged, key, instance, file, folder)));
        }
    }
    settings
}

fn setting(merged: &Merged, key: &Key, instance: Option<&str>, file: &Path, folder: &Path) -> Option<Setting> {
    let value = match &merged.get(key, instance)?.kind {
        // A path on another machine.
        ValueKind::String(text) if key.path == "destinations.*.path" && !is_folder(merged, instance) => {
            text.clone().into()
        }
        kind => shown(key, kind, folder)?,
    };
    let origin = merged.origin(key, instance);
    let is_default = origin == Origin::Default;
    let origin = if is_default { origin.to_string() } else { Place(file, &origin).to_string() };
    Some(Setting { key: key.at(instance), value: value.to_string(), origin, is_default })
}

/// Whether the destination is a folder of this machine, or on a mounted share.
fn is_folder(merged: &Merged, instance: Option<&str>) -> bool {
    schema::find("destinations", "type").and_then(|key| merged.text(key, instance)) == Some("folder")
}

fn shown(key: &Key, kind: &ValueKind, folder: &Path) -> Option<toml::Value> {
    Some(match (key.kind, kind) {
        (Kind::Secret, _) => MASK.into(),
        (Kind::Proxy, ValueKind::String(text)) => without_password(text).into(),
        (Kind::Path | Kind::SecretFile, ValueKind::String(text)) => {
            paths::resolve(folder, Path::new(text)).to_string_lossy().into_owned().into()
        }
        (_, ValueKind::String(text)) => text.clone().into(),
        (_, ValueKind::Boolean(value)) => (*value).into(),
        (_, ValueKind::I64(number)) => (*number).into(),
        (Kind::TemplateTable | Kind::SecretFileTable | Kind::TypeMap, ValueKind::Array(pairs)) => {
            toml::Value::Table(pairs.iter().filter_map(|pair| entry(key, &pair.kind, folder)).collect())
        }
        (Kind::Statuses, ValueKind::Array(items)) => {
            items.iter().filter_map(|item| shown(key, &item.kind, folder)).collect::<Vec<_>>().into()
        }
        (_, ValueKind::Array(items)) => items.iter().map(|item| item.kind.to_string()).collect::<Vec<_>>().into(),
        _ => return None,
    })
}

/// A name and its value, from a table that is kept as pairs.
fn entry(key: &Key, pair: &ValueKind, folder: &Path) -> Option<(String, toml::Value)> {
    let ValueKind::Array(pair) = pair else { return None };
    let [name, value] = pair.as_slice() else { return None };
    let value = match key.kind {
        Kind::SecretFileTable => {
            paths::resolve(folder, Path::new(&value.kind.to_string())).to_string_lossy().into_owned()
        }
        _ => value.kind.to_string(),
    };
    Some((name.kind.to_string(), value.into()))
}

/// A proxy's address with its password masked.
pub fn without_password(text: &str) -> String {
    let Ok(mut url) = value::proxy(text) else { return MASK.to_owned() };
    // Both fail only for URLs that cannot have a password, and a proxy's always can.
    let masked = url.password().is_none() || url.set_password(Some(MASK)).is_ok();
    if masked { url.to_string() } else { MASK.to_owned() }
}
