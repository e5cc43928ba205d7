//! The layers of values, and their merge: defaults, then the file, then the environment. The crate `config` does the
//! layering; every value carries its origin.

use std::collections::BTreeMap;
use std::fmt;

use config::{Map, Value, ValueKind};

use super::report::{Complaint, Origin, Report};
use super::schema::{self, KEYS, Key, Kind, Shape};
use super::value;

/// The name of an account or destination, or the index of a route; none in a plain section.
pub type Instance = Option<String>;

/// One value of one layer.
#[derive(Clone)]
struct Leaf {
    key: &'static Key,
    instance: Instance,
    value: ValueKind,
    origin: Origin,
}

/// The values of one source.
#[derive(Clone, Default)]
pub struct Layer {
    leaves: Vec<Leaf>,
    /// Named and listed tables with the place where each begins; kept because a table may be empty.
    tables: BTreeMap<(&'static str, String), Origin>,
}

/// Values may be secrets.
impl fmt::Debug for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Layer of {} values", self.leaves.len())
    }
}

impl Layer {
    /// Takes a value if its key's kind allows it, and reports it otherwise.
    pub fn set(
        &mut self,
        report: &mut Report,
        key: &'static Key,
        instance: Instance,
        value: Result<ValueKind, Complaint>,
        origin: Origin,
    ) {
        match value.and_then(|value| value::accept(key, value)) {
            Ok(value) => self.leaves.push(Leaf { key, instance, value, origin }),
            Err(complaint) => report.reject(&key.at(instance.as_deref()), origin, complaint),
        }
    }

    /// Notes that a table exists, even if it is empty.
    pub fn table(&mut self, section: &'static str, instance: &str, origin: Origin) {
        self.tables.entry((section, instance.to_owned())).or_insert(origin);
    }

    /// The names or indexes of a section's tables.
    pub fn instances(&self, section: &str) -> impl Iterator<Item = &str> {
        self.tables.keys().filter(move |(of, _)| *of == section).map(|(_, instance)| instance.as_str())
    }

    fn text(&self, section: &str, instance: &str, name: &str) -> Option<&str> {
        let is = |leaf: &&Leaf| {
            leaf.key.section() == section && leaf.key.name() == name && leaf.instance.as_deref() == Some(instance)
        };
        match &self.leaves.iter().find(is)?.value {
            ValueKind::String(text) => Some(text),
            _ => None,
        }
    }

    /// The value of a key that is not in a named or listed table.
    fn value_of(&self, path: &str) -> Option<&ValueKind> {
        self.leaves.iter().find(|leaf| leaf.key.path == path).map(|leaf| &leaf.value)
    }

    /// The defaults of every key that applies to the tables of the other layers.
    fn defaults(over: [&Layer; 2], program_data: &str) -> Self {
        let mut layer = Self::default();
        for key in KEYS {
            // Without configured codes, every type has its LOINC code.
            let of_kind = (key.kind == Kind::TypeMap).then_some("");
            let Some(default) = key.default.or(of_kind) else { continue };
            let followed = over.iter().rev().find_map(|layer| layer.value_of(key.follows?));
            let value = match followed {
                Some(value) => value.clone(),
                None => default_value(key, &default.replace("%ProgramData%", program_data)),
            };
            let leaf = |instance| Leaf { key, instance, value: value.clone(), origin: Origin::Default };
            if key.shape() == Shape::Plain {
                layer.leaves.push(leaf(None));
                continue;
            }
            let mut instances: Vec<&str> = over.iter().flat_map(|layer| layer.instances(key.section())).collect();
            instances.sort_unstable();
            instances.dedup();
            for instance in instances {
                let selected = |selector| {
                    let given = over.iter().rev().find_map(|layer| layer.text(key.section(), instance, selector));
                    given.or_else(|| schema::find(key.section(), selector).and_then(|key| key.default))
                };
                if key
                    .only
                    .is_none_or(|(selector, values)| selected(selector).is_some_and(|given| values.contains(&given)))
                {
                    layer.leaves.push(leaf(Some(instance.to_owned())));
                }
            }
        }
        layer
    }
}

/// A default as a value of its kind.
fn default_value(key: &Key, text: &str) -> ValueKind {
    match key.kind {
        Kind::Bool | Kind::Integer { .. } | Kind::List | Kind::Templates | Kind::Statuses => {
            toml::de::DeValue::parse(text).map_or(ValueKind::Nil, |value| value::from_toml(value.get_ref()))
        }
        Kind::TypeMap => value::accept(key, ValueKind::Table(Map::new())).unwrap_or(ValueKind::Nil),
        _ => text.into(),
    }
}

impl config::Source for Layer {
    fn clone_into_box(&self) -> Box<dyn config::Source + Send + Sync> {
        Box::new(self.clone())
    }

    /// `{section: {key: value}}`, `{section: {name: {key: value}}}` and `{"routes[0]": {key: value}}`: an index in the
    /// outermost name makes `config` change that element instead of replacing the list.
    fn collect(&self) -> Result<Map<String, Value>, config::ConfigError> {
        let mut root = Map::new();
        for ((section, instance), origin) in &self.tables {
            innermost(&mut root, section, Some(instance), origin);
        }
        for leaf in &self.leaves {
            if let Some(table) = innermost(&mut root, leaf.key.section(), leaf.instance.as_deref(), &leaf.origin) {
                table
                    .insert(leaf.key.name().to_owned(), Value::new(Some(&leaf.origin.to_string()), leaf.value.clone()));
            }
        }
        Ok(root)
    }
}

fn innermost<'a>(
    root: &'a mut Map<String, Value>,
    section: &str,
    instance: Option<&str>,
    origin: &Origin,
) -> Option<&'a mut Map<String, Value>> {
    match (instance, schema::shape_of(section)) {
        (None, _) if section.is_empty() => Some(root),
        (None, _) => match section.split_once('.') {
            Some((outer, inner)) => table_in(table_in(root, outer, origin)?, inner, origin),
            None => table_in(root, section, origin),
        },
        (Some(index), Some(Shape::Listed)) => table_in(root, &format!("{section}[{index}]"), origin),
        (Some(name), _) => table_in(table_in(root, section, origin)?, name, origin),
    }
}

fn table_in<'a>(map: &'a mut Map<String, Value>, name: &str, origin: &Origin) -> Option<&'a mut Map<String, Value>> {
    let value = map
        .entry(name.to_owned())
        .or_insert_with(|| Value::new(Some(&origin.to_string()), ValueKind::Table(Map::new())));
    match &mut value.kind {
        ValueKind::Table(table) => Some(table),
        _ => None,
    }
}

/// All layers merged. It may contain a secret, so it has no `Debug`.
pub struct Merged {
    values: Map<String, Value>,
    tables: BTreeMap<(&'static str, String), Origin>,
}

impl Merged {
    /// Lays the environment over the file over the defaults.
    pub fn new(file: Layer, environment: Layer, program_data: &str) -> Result<Self, config::ConfigError> {
        let mut tables = environment.tables.clone();
        tables.extend(file.tables.clone());
        let defaults = Layer::defaults([&file, &environment], program_data);
        let whole = config::Config::builder().add_source(defaults).add_source(file).add_source(environment).build()?;
        let values = config::Source::collect(&whole)?;
        Ok(Self { values, tables })
    }

    /// The names or indexes of a section's tables, each with the place where it begins.
    pub fn tables(&self, section: &str) -> impl Iterator<Item = (&str, &Origin)> {
        self.tables
            .iter()
            .filter(move |((of, _), _)| *of == section)
            .map(|((_, instance), origin)| (instance.as_str(), origin))
    }

    /// A value with its origin; `None` if it is not given and has no default.
    pub fn get(&self, key: &Key, instance: Option<&str>) -> Option<&Value> {
        let is_given = |value: &&Value| value.kind != ValueKind::Nil;
        if key.section().is_empty() {
            return self.values.get(key.name()).filter(is_given);
        }
        let mut parts = key.section().split('.');
        let outermost = self.values.get(parts.next()?)?;
        let section = parts.try_fold(outermost, |table, part| match &table.kind {
            ValueKind::Table(tables) => tables.get(part),
            _ => None,
        })?;
        let table = match (&section.kind, instance) {
            (ValueKind::Table(_), None) => section,
            (ValueKind::Table(tables), Some(name)) => tables.get(name)?,
            (ValueKind::Array(tables), Some(index)) => tables.get(index.parse::<usize>().ok()?)?,
            _ => return None,
        };
        match &table.kind {
            ValueKind::Table(values) => values.get(key.name()).filter(is_given),
            _ => None,
        }
    }

    /// A value that is text.
    pub fn text(&self, key: &Key, instance: Option<&str>) -> Option<&str> {
        match &self.get(key, instance)?.kind {
            ValueKind::String(text) => Some(text),
            _ => None,
        }
    }

    /// Where the value of a key came from.
    pub fn origin(&self, key: &Key, instance: Option<&str>) -> Origin {
        self.get(key, instance).and_then(Value::origin).map_or(Origin::Default, Origin::from_text)
    }
}
