//! The properties of a setting, its addresses, and the table of all of them. The settings themselves are in `settings`,
//! and those of destinations with their kinds.

use std::time::Duration;

use super::kinds::DestinationKind;
use super::settings;

/// What a value must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Any text that is not empty.
    Text,
    /// Text that is never shown, and is only accepted from the environment.
    Secret,
    /// A file or folder; a relative path begins in the folder of the configuration file.
    Path,
    /// A file that holds a secret: a path, but people paste the secret itself, so a wrong value is never shown.
    SecretFile,
    /// A program: a path if it contains a separator, otherwise a name to be found in PATH.
    Program,
    /// `https://…`, or `http://…` on loopback; no user, query or fragment.
    Address,
    /// `http://…` or `https://…`, possibly with a user and a password, which are never shown.
    Proxy,
    /// `127.0.0.1:PORT` or another loopback address.
    Loopback,
    /// `127.0.0.1:PORT`, or an address of this computer that others reach.
    Listen,
    /// `true` or `false`.
    Bool,
    /// A whole number within bounds.
    Integer {
        /// Smallest allowed.
        min: i64,
        /// Largest allowed.
        max: i64,
    },
    /// Text such as "30s".
    Duration {
        /// Shortest allowed.
        min: Duration,
        /// Longest allowed.
        max: Duration,
    },
    /// Text such as "100MiB", or a whole number of bytes.
    Size {
        /// Smallest allowed; bytes.
        min: u64,
        /// Largest allowed; bytes.
        max: u64,
    },
    /// Unix permissions as octal text such as "0600".
    Mode {
        /// Bits without which docsyncd could not use its own files.
        needs: u32,
        /// All bits that may be set.
        within: u32,
    },
    /// One of a few words; letter case does not matter.
    Enum(&'static [&'static str]),
    /// A list of texts.
    List,
    /// One template.
    Template,
    /// A list of templates.
    Templates,
    /// A table of templates with free names: `{ a = "…" }`.
    TemplateTable,
    /// A table of files that hold secrets, with free names; a wrong value is never shown.
    SecretFileTable,
    /// A table of codes by document type; other types have their LOINC code.
    TypeMap,
    /// A list of HTTP statuses that mean success.
    Statuses,
}

/// How the keys of a section are addressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// `[section]`
    Plain,
    /// `[section.NAME]`
    Named,
    /// `[[section]]`
    Listed,
}

/// One setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// Its full name: `sync.poll_interval`, `accounts.*.auth` with `*` for a name, `routes[].to` with `[]` for an
    /// index.
    pub path: &'static str,
    section: &'static str,
    shape: Shape,
    /// What its value must be.
    pub kind: Kind,
    /// The value if none is given, as it would be written.
    pub default: Option<&'static str>,
    /// The key whose value, where somebody gave one, it has instead of its default.
    pub follows: Option<&'static str>,
    /// Whether it must be given.
    pub required: bool,
    /// The values of the sibling in `only` with which it may be missing, even if it is required.
    pub optional_with: &'static [&'static str],
    /// The sibling and its values for which alone this key applies, as in `("type", &["folder"])`.
    pub only: Option<(&'static str, &'static [&'static str])>,
    /// Its purpose, in a line.
    pub doc: &'static str,
}

impl Key {
    pub(crate) const fn new(path: &'static str, kind: Kind, doc: &'static str) -> Self {
        let (section, shape) = table(path);
        Self {
            path,
            section,
            shape,
            kind,
            default: None,
            follows: None,
            required: false,
            optional_with: &[],
            only: None,
            doc,
        }
    }

    pub(crate) const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// The same key of a kind that can do without it.
    pub(crate) const fn optional(mut self) -> Self {
        self.required = false;
        self
    }

    pub(crate) const fn default(mut self, text: &'static str) -> Self {
        self.default = Some(text);
        self
    }

    pub(crate) const fn follows(mut self, path: &'static str) -> Self {
        self.follows = Some(path);
        self
    }

    pub(crate) const fn only(mut self, selector: &'static str, values: &'static [&'static str]) -> Self {
        self.only = Some((selector, values));
        self
    }

    /// The table of the key: `accounts`, `alerts.mail`, or `alerts.*` of the named tables in a table that has keys of
    /// its own; empty of a key that stands above every table.
    pub fn section(&self) -> &'static str {
        self.section
    }

    /// The last part of the path: `api_key_file`.
    pub fn name(&self) -> &'static str {
        self.path.rsplit('.').next().unwrap_or(self.path)
    }

    /// How the key's section is addressed.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The full name with the name or index of its table, as a person writes it.
    pub fn at(&self, instance: Option<&str>) -> String {
        match instance {
            Some(instance) => self.path.replace('*', instance).replace("[]", &format!("[{instance}]")),
            None => self.path.to_owned(),
        }
    }

    /// The environment variable that overrides it.
    pub fn variable(&self, instance: Option<&str>) -> String {
        let parts = [Some(outer(self.section())), instance, Some(self.name())];
        let parts: Vec<&str> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
        format!("{ENV_PREFIX}{}", parts.join("__").replace('.', "__").to_uppercase())
    }
}

/// The table of a full name, and how its keys are addressed; computed at compile time, because every command needs it
/// thousands of times.
pub(crate) const fn table(path: &str) -> (&str, Shape) {
    let (mut rest, mut end) = (path.as_bytes(), 0);
    while let [byte, after @ ..] = rest {
        let at = path.len() - rest.len();
        match (byte, after) {
            // Beside the settings of `[alerts]` itself.
            (b'.', [b'*', ..]) if matches!(path.split_at(at).0.as_bytes(), b"alerts") => {
                return (path.split_at(at + 2).0, Shape::Named);
            }
            (b'.', [b'*', ..]) => return (path.split_at(at).0, Shape::Named),
            (b'[', _) => return (path.split_at(at).0, Shape::Listed),
            (b'.', _) => end = at,
            _ => {}
        }
        rest = after;
    }
    (path.split_at(end).0, Shape::Plain)
}

/// A section as its tables are written: `alerts` of `[alerts.NAME]`.
pub fn outer(section: &str) -> &str {
    section.trim_end_matches(".*")
}

/// The start of names of environment variables.
pub const ENV_PREFIX: &str = "DOCSYNCD__";

/// Every setting there is: those of the sections that every configuration has, and those of the kinds of destination.
#[derive(Debug)]
pub struct Schema {
    keys: &'static [Key],
    kinds: Vec<&'static DestinationKind>,
}

impl Schema {
    /// The settings with those of these kinds, for as long as the program runs.
    pub fn of(kinds: Vec<&'static DestinationKind>) -> Self {
        let keys = [settings::ABOVE.concat(), of_destinations(&kinds), settings::BELOW.concat()].concat();
        Self { keys: keys.leak(), kinds }
    }

    /// The kind of destination with this word.
    pub fn kind(&self, word: &str) -> Option<&'static DestinationKind> {
        self.kinds.iter().copied().find(|kind| kind.word == word)
    }

    /// Every key, section by section.
    pub fn keys(&self) -> &'static [Key] {
        self.keys
    }

    /// The keys of a section.
    pub fn keys_of(&self, section: &str) -> impl Iterator<Item = &'static Key> {
        self.keys.iter().filter(move |key| key.section() == section)
    }

    /// One key of a section.
    pub fn find(&self, section: &str, name: &str) -> Option<&'static Key> {
        self.keys_of(section).find(|key| key.name() == name)
    }

    /// Whether destinations of this kind have the key.
    pub fn has(&self, kind: &str, name: &str) -> bool {
        let only = self.find("destinations", name).and_then(|key| key.only);
        only.is_some_and(|(_, kinds)| kinds.contains(&kind))
    }

    /// How a section's keys are addressed; `None` if there is no such section.
    pub fn shape_of(&self, section: &str) -> Option<Shape> {
        self.keys_of(section).next().map(Key::shape)
    }

    /// Every section once, in the order of the table.
    pub fn sections(&self) -> Vec<(&'static str, Shape)> {
        let mut sections: Vec<(&'static str, Shape)> =
            self.keys.iter().map(|key| (key.section(), key.shape())).collect();
        sections.dedup();
        sections
    }

    /// The named tables in a section that has keys of its own: `alerts.*` in `alerts`.
    pub fn named_within(&self, section: &str) -> Option<&'static str> {
        self.sections().into_iter().map(|(known, _)| known).find(|known| known.strip_suffix(".*") == Some(section))
    }
}

/// The keys of `[destinations.NAME]`: each once, with the kinds that have it. Those of one kind keep their order.
fn of_destinations(kinds: &[&'static DestinationKind]) -> Vec<Key> {
    let words: Vec<&str> = kinds.iter().map(|kind| kind.word).collect();
    let selector = Key::new("destinations.*.type", Kind::Enum(words.leak()), "what the destination is");
    let (mut keys, mut left) = (vec![selector.required()], Vec::new());
    left.extend(kinds.iter().map(|kind| kind.keys.concat()));
    loop {
        let is_next = |key: &Key| left.iter().flat_map(|keys| keys.iter().skip(1)).all(|other| other.path != key.path);
        let mut first = left.iter().filter_map(|keys| keys.first().copied());
        // Where two kinds have two orders, the first kind's holds.
        let Some(key) = first.clone().find(is_next).or_else(|| first.next()) else { return keys };
        let with = |is_wanted: fn(&Key) -> bool| -> &'static [&'static str] {
            let has = |kind: &&&DestinationKind| {
                kind.keys.iter().copied().flatten().any(|other| other.path == key.path && is_wanted(other))
            };
            kinds.iter().filter(has).map(|kind| kind.word).collect::<Vec<_>>().leak()
        };
        keys.push(Key {
            required: !with(|key| key.required).is_empty(),
            optional_with: with(|key| !key.required),
            only: Some(("type", with(|_| true))),
            ..key
        });
        for keys in &mut left {
            keys.retain(|other| other.path != key.path);
        }
    }
}
