//! The configuration file: read once, parsed with its lines, every key known. Only this module opens it.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::excerpt;
use super::layers::Layer;
use super::nearest::{self, Meant};
use super::report::{Complaint, ConfigError, Origin, Report};
use super::schema::{self, Key, Kind, Schema, Shape};
use super::value;

/// A larger file is no configuration file; bytes.
const MAX_BYTES: u64 = 1 << 20;

/// Syntax errors that are shown; later ones are mostly consequences of the first.
const MAX_SYNTAX_ERRORS: usize = 3;

/// Where a key of no table stands: TOML takes a key for one of the table above it.
const ABOVE: &str = ": write it at the top of the file, above the first [table]";

/// The longest name of an account or destination; bytes.
const MAX_NAME: usize = 64;

/// The content of the file.
pub struct FileContent {
    pub bytes: Vec<u8>,
    /// The command that repairs its permissions, if anybody else than root and the user of this process can write the
    /// file.
    pub mended_by: Option<String>,
}

/// Reads the file.
pub fn read(path: &Path) -> Result<FileContent, ConfigError> {
    let owned = || path.to_path_buf();
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => ConfigError::Missing { path: owned() },
        _ => ConfigError::Unreadable { path: owned(), error },
    };
    match std::fs::metadata(path).map_err(failed)? {
        found if found.is_dir() => return Err(ConfigError::Folder { path: owned() }),
        // A pipe may never answer.
        found if !found.is_file() => return Err(failed(io::Error::other("it is no regular file"))),
        _ => {}
    }
    let file = File::open(path).map_err(failed)?;
    let mended_by = mended_by(&file, path).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(ConfigError::TooLarge { path: owned(), limit: MAX_BYTES });
    }
    Ok(FileContent { bytes, mended_by })
}

#[cfg(unix)]
fn mended_by(file: &File, path: &Path) -> io::Result<Option<String>> {
    use std::os::unix::fs::MetadataExt as _;
    let (found, path) = (file.metadata()?, path.display());
    let is_ours = found.uid() == 0 || found.uid() == rustix::process::geteuid().as_raw();
    // An access list that lets others write shows in the group's bits.
    Ok(match found.mode() & 0o022 {
        _ if !is_ours => Some(format!("chown root '{path}'")),
        0 => None,
        _ => Some(format!("chmod go-w '{path}'")),
    })
}

/// On Windows the permissions of the configuration folder decide; the installer restricts them.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "the Unix side can fail")]
fn mended_by(_file: &File, _path: &Path) -> io::Result<Option<String>> {
    Ok(None)
}

/// The file as text, without the byte order mark of Windows Notepad.
pub fn text<'a>(path: &Path, bytes: &'a [u8]) -> Result<&'a str, ConfigError> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.strip_prefix('\u{feff}').unwrap_or(text)),
        Err(error) => {
            let valid = bytes.iter().take(error.valid_up_to());
            let line = 1 + valid.filter(|byte| **byte == b'\n').count();
            Err(ConfigError::NotUtf8 { path: path.to_path_buf(), line })
        }
    }
}

/// The values in the file; `None` if it is no TOML.
pub fn parse(schema: &'static Schema, text: &str, report: &mut Report) -> Option<Layer> {
    let (root, errors) = DeTable::parse_recoverable(text);
    for error in errors.iter().take(MAX_SYNTAX_ERRORS) {
        excerpt::syntax_error(schema, text, error, report);
    }
    if !errors.is_empty() {
        return None;
    }
    let mut walk = Walk { schema, text, report, layer: Layer::default() };
    for (name, value) in root.get_ref() {
        walk.section(name, value);
    }
    Some(walk.layer)
}

/// `state.path` of a file that is no TOML as a whole, as it is written.
pub fn ledger(text: &str) -> Option<String> {
    let (root, _) = DeTable::parse_recoverable(text);
    let DeValue::Table(state) = root.get_ref().get("state")?.get_ref() else { return None };
    state.get("path")?.get_ref().as_str().map(str::to_owned)
}

/// Checks that an account or a destination may have this name: it becomes part of log lines, of keys in the ledger and
/// of names of environment variables.
pub fn check_name(section: &str, name: &str) -> Result<(), Complaint> {
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    if !name.is_empty() && plain && name.len() <= MAX_NAME {
        return Ok(());
    }
    let what = if name.is_empty() { "has an empty name" } else { "is not a name that can be used" };
    let fix = format!("Use 1 to {MAX_NAME} letters A to Z, digits, - and _, as in [{section}.main].");
    Err(Complaint::new(what, fix))
}

type Name<'a> = Spanned<std::borrow::Cow<'a, str>>;
type Item<'a> = Spanned<DeValue<'a>>;

struct Walk<'a> {
    schema: &'static Schema,
    text: &'a str,
    report: &'a mut Report,
    layer: Layer,
}

impl Walk<'_> {
    fn at(&self, offset: usize) -> Origin {
        Origin::Line(excerpt::line_of(self.text, offset))
    }

    fn section(&mut self, name: &Name<'_>, value: &Item<'_>) {
        let origin = self.at(name.span().start);
        if let Some(key) = self.schema.find("", name.get_ref()) {
            return self.value(key, None, value, origin);
        }
        let is_section = |section: &str| !section.is_empty() && section == name.get_ref();
        let known = self.schema.sections().into_iter().find(|(section, _)| is_section(section));
        match (known, value.get_ref()) {
            (None, value) => self.unknown_at_top(name.get_ref(), value, origin),
            (Some((section, Shape::Plain)), DeValue::Table(table)) => self.keys(section, None, table),
            (Some((section, Shape::Named)), DeValue::Table(tables)) => {
                for (name, value) in tables {
                    self.named(section, name, value);
                }
            }
            (Some((section, Shape::Listed)), DeValue::Array(tables)) => {
                for (index, value) in tables.iter().enumerate() {
                    self.listed(section, index, value);
                }
            }
            (Some((section, shape)), _) => self.no_table(section, shape, origin),
        }
    }

    fn no_table(&mut self, section: &str, shape: Shape, origin: Origin) {
        let what = format!("`{section}` must be {}", header(section, shape));
        let fix = format!("Write {} on a line of its own and the settings below it.", header(section, shape));
        self.report.error(origin, what, fix);
    }

    fn named(&mut self, section: &'static str, name: &Name<'_>, value: &Item<'_>) {
        let origin = self.at(name.span().start);
        let (name, shown): (&str, _) = (name.get_ref(), schema::outer(section));
        let DeValue::Table(table) = value.get_ref() else {
            let fix = match self.schema.find(section, name) {
                Some(_) => format!("Give the table a name: write [{shown}.main] above this line."),
                None => {
                    format!("Write [{shown}.{}] on a line of its own and the settings below it.", printable(name))
                }
            };
            let what =
                format!("`{shown}.{}` must be a table, because [{shown}] holds one table per name", printable(name));
            return self.report.error(origin, what, fix);
        };
        if let Err(complaint) = check_name(shown, name) {
            let what = format!("`{shown}.\"{}\"` {}", printable(name), complaint.what);
            return self.report.error(origin, what, complaint.fix);
        }
        self.layer.table(section, name, origin);
        self.keys(section, Some(name), table);
    }

    fn listed(&mut self, section: &'static str, index: usize, value: &Item<'_>) {
        let origin = self.at(value.span().start);
        let index = index.to_string();
        let DeValue::Table(table) = value.get_ref() else {
            let header = header(section, Shape::Listed);
            return self.report.error(
                origin,
                format!("`{section}[{index}]` must be a table"),
                format!("Write {header}."),
            );
        };
        self.layer.table(section, &index, origin);
        self.keys(section, Some(&index), table);
    }

    fn keys(&mut self, section: &'static str, instance: Option<&str>, table: &DeTable<'_>) {
        for (name, value) in table {
            let origin = self.at(name.span().start);
            let inner = format!("{section}.{}", name.get_ref());
            let inner = self.schema.sections().into_iter().find(|(known, _)| *known == inner);
            let named =
                self.schema.named_within(section).filter(|named| is_one_of(self.schema, named, value.get_ref()));
            match (self.schema.find(section, name.get_ref()), inner, value.get_ref()) {
                (None, None, _) if let Some(named) = named => self.named(named, name, value),
                (Some(key), ..) => self.value(key, instance, value, origin),
                (None, Some((inner, _)), DeValue::Table(table)) => self.keys(inner, None, table),
                (None, Some((inner, shape)), _) => self.no_table(inner, shape, origin),
                (None, None, value) => self.unknown(section, instance, name.get_ref(), value, origin),
            }
        }
    }

    fn value(&mut self, key: &'static Key, instance: Option<&str>, value: &Item<'_>, origin: Origin) {
        let value = if key.kind == Kind::Secret {
            let fix = format!(
                "Write the key into a file that only docsyncd may read and name it: {}_file = \"...\"\n\
                 (or give it in the environment as {}). Issue a new key if others have read this file.",
                key.name(),
                key.variable(instance)
            );
            Err(Complaint::new("must not stand in the configuration file", fix))
        } else {
            Ok(Some(value::from_toml(value.get_ref())))
        };
        self.layer.set(self.report, key, instance.map(str::to_owned), value, origin);
    }

    fn unknown(&mut self, section: &str, instance: Option<&str>, name: &str, value: &DeValue<'_>, origin: Origin) {
        let name = printable(name);
        let inner = if is_table(value) { nearest::inner(self.schema, section, &name) } else { None };
        if let Some(Meant::Section(inner, shape)) = inner {
            let fix = format!("The nearest known one is `{inner}`: write {}.", header(inner, shape));
            return self.report.error(origin, format!("unknown section `{section}.{name}`"), fix);
        }
        let full = match (instance, self.schema.shape_of(section)) {
            (Some(index), Some(Shape::Listed)) => format!("{section}[{index}].{name}"),
            (Some(instance), _) => format!("{}.{instance}.{name}", schema::outer(section)),
            (None, _) => format!("{section}.{name}"),
        };
        let nearest = nearest::key(self.schema, section, &name);
        let is_above = nearest.is_some_and(|key| key.section().is_empty());
        let nearest = nearest.map(|key| match key.section() == section {
            true => key.at(instance),
            false => key.path.replace('*', "NAME"),
        });
        let nearest = nearest.unwrap_or_default();
        self.report.excuse(&nearest);
        let place = if is_above { ABOVE } else { "" };
        let fix = format!("The nearest known key is `{nearest}`{place}.");
        self.report.error(origin, format!("unknown key `{full}`"), fix);
    }

    fn unknown_at_top(&mut self, name: &str, value: &DeValue<'_>, origin: Origin) {
        let is_table = is_table(value);
        let fix = nearest::top_level(self.schema, name, is_table).map(|known| match known {
            Meant::Section(section, shape) => {
                format!("The nearest known one is `{section}`: write {}.", header(section, shape))
            }
            Meant::Key(key) if key.section().is_empty() => format!("The nearest known key is `{}`{ABOVE}.", key.path),
            Meant::Key(key) => format!(
                "The nearest known key is `{}`: write it below {}.",
                key.path.replace('*', "NAME"),
                header(key.section(), key.shape())
            ),
        });
        let what = if is_table { "unknown section" } else { "unknown key" };
        self.report.error(origin, format!("{what} `{}`", printable(name)), fix.unwrap_or_default());
    }
}

/// Whether a table is one of these named ones, and no other whose name is misspelt: it has their first key, or no key
/// of another.
fn is_one_of(schema: &Schema, section: &str, value: &DeValue<'_>) -> bool {
    let DeValue::Table(table) = value else { return false };
    let first = schema.keys_of(section).next().map(Key::name);
    let is_own = |name: &Name<'_>| schema.find(section, name.get_ref()).is_some();
    !table.is_empty() && (table.keys().any(|name| Some(name.get_ref().as_ref()) == first) || table.keys().all(is_own))
}

/// Whether it is a table, or several.
fn is_table(value: &DeValue<'_>) -> bool {
    match value {
        DeValue::Table(_) => true,
        DeValue::Array(items) => items.iter().any(|item| item.get_ref().is_table()),
        _ => false,
    }
}

/// The header line of a table.
fn header(section: &str, shape: Shape) -> String {
    match shape {
        Shape::Plain => format!("[{section}]"),
        Shape::Named => format!("[{}.NAME]", schema::outer(section)),
        Shape::Listed => format!("[[{section}]]"),
    }
}

/// A name from outside, safe for a terminal.
fn printable(name: &str) -> String {
    name.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}
