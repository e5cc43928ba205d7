//! `config.json`: each setting, and whether somebody changed it. The value is included if its kind can hold only a
//! number, a duration or a word of docsyncd.

use serde::{Serialize, Serializer};
use toml::Value;

use super::words::{Alias, Names};
use crate::config::schema::{Key, Kind, Shape};
use crate::config::{Origin, Setting};

/// One setting.
#[derive(Debug, Serialize)]
pub(super) struct SettingLine {
    key: Name,
    is: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<ShownValue>,
}

/// A key in its table. The table's name has a substitute, or is an index.
#[derive(Debug)]
struct Name(&'static Key, Option<Table>);

#[derive(Debug)]
enum Table {
    Alias(Alias),
    Index(usize),
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let table = self.1.as_ref().map(|table| match table {
            Table::Alias(alias) => alias.to_string(),
            Table::Index(index) => index.to_string(),
        });
        serializer.serialize_str(&self.0.at(table.as_deref()))
    }
}

/// A value that may be shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
enum ShownValue {
    Truth(bool),
    Number(i64),
    Numbers(Vec<i64>),
    Duration { ms: u64 },
    Size { bytes: u64 },
    Mode { octal: u32 },
    Word(&'static str),
    Alias(Alias),
}

/// All settings.
pub(super) fn lines(settings: &[Setting], names: &mut Names) -> Vec<SettingLine> {
    settings.iter().map(|setting| line(setting, names)).collect()
}

fn line(setting: &Setting, names: &mut Names) -> SettingLine {
    let key = setting.declared;
    let table = setting.instance.as_deref().and_then(|name| match (key.shape(), key.section()) {
        (Shape::Listed, _) => name.parse().ok().map(Table::Index),
        (_, "accounts") => Some(Table::Alias(names.account(name))),
        (_, "destinations") => Some(Table::Alias(names.destination(name))),
        _ => Some(Table::Alias(names.other(name))),
    });
    let is = if setting.origin == Origin::Default { "default" } else { "changed" };
    SettingLine { key: Name(key, table), is, value: shown(key, &setting.value, names) }
}

/// The value, if it may be shown. `text` is its form in the file.
fn shown(key: &Key, text: &str, names: &mut Names) -> Option<ShownValue> {
    let table: toml::Table = format!("value = {text}").parse().ok()?;
    let value = table.get("value")?;
    Some(match (key.kind, value) {
        (Kind::Bool, Value::Boolean(truth)) => ShownValue::Truth(*truth),
        (Kind::Integer { .. }, Value::Integer(number)) => ShownValue::Number(*number),
        (Kind::Statuses, Value::Array(statuses)) => {
            ShownValue::Numbers(statuses.iter().filter_map(Value::as_integer).collect())
        }
        (Kind::Duration { .. }, Value::String(text)) => {
            let ms = humantime::parse_duration(text).ok()?.as_millis();
            ShownValue::Duration { ms: u64::try_from(ms).ok()? }
        }
        (Kind::Size { .. }, Value::String(text)) => {
            ShownValue::Size { bytes: text.parse::<bytesize::ByteSize>().ok()?.as_u64() }
        }
        (Kind::Size { .. }, Value::Integer(bytes)) => ShownValue::Size { bytes: u64::try_from(*bytes).ok()? },
        (Kind::Mode { .. }, Value::String(text)) => {
            ShownValue::Mode { octal: text.trim_start_matches("0o").parse().ok()? }
        }
        (Kind::Enum(words), Value::String(text)) => {
            ShownValue::Word(words.iter().find(|word| word.eq_ignore_ascii_case(text))?)
        }
        (Kind::Path | Kind::SecretFile | Kind::Program, Value::String(path)) => ShownValue::Alias(names.path(path)),
        (Kind::Address | Kind::Proxy, Value::String(address)) => ShownValue::Alias(names.host(address)),
        (Kind::Text, Value::String(host)) if key.name() == "host" => ShownValue::Alias(names.host(host)),
        // Texts, lists, templates, tables and secrets are not shown.
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A setting of each kind, with a name wherever there can be one.
    #[test]
    fn a_value_is_shown_where_its_kind_can_hold_no_name_and_nowhere_else() {
        let mut names = Names::new(false);
        let mut said = |section: &str, name: &str, text: &str| {
            let key = crate::destinations::SCHEMA.find(section, name).unwrap();
            serde_json::to_string(&shown(key, text, &mut names)).unwrap()
        };
        for (section, name, text, expected) in [
            ("sync", "poll_interval", "\"90s\"", r#"{"ms":90000}"#),
            ("sync", "max_concurrency", "3", "3"),
            ("sync", "max_pdf_bytes", "\"1MiB\"", r#"{"bytes":1048576}"#),
            ("destinations", "type", "\"Folder\"", "\"folder\""),
            ("destinations", "file_mode", "\"0640\"", r#"{"octal":640}"#),
            ("destinations", "tls", "true", "true"),
            ("destinations", "success", "[200, 201]", "[200,201]"),
            ("destinations", "path", "\"/srv/Durand\"", "\"path-1\""),
            ("state", "path", "\"/srv/Durand\"", "\"path-1\""),
            ("destinations", "host", "\"durand.test\"", "\"host-1\""),
            ("api", "base_url", "\"https://durand.test/Durand\"", "\"host-1\""),
            ("destinations", "user", "\"Durand\"", "null"),
            ("destinations", "file_name", "\"Durand.pdf\"", "null"),
            ("destinations", "headers", "{ a = \"Durand\" }", "null"),
            ("accounts", "api_key", "\"***\"", "null"),
            ("accounts", "scopes", "[\"Durand\"]", "null"),
            ("sync", "poll_interval", "\"Durand\"", "null"),
        ] {
            assert_eq!(said(section, name, text), expected, "{section}.{name}");
        }
    }
}
