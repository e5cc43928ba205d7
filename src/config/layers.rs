//! The layers of values, and their merge: defaults, then the file, then the environment. The crate `config` does the
//! layering; every value carries its origin.

use std::collections::BTreeMap;
use std::fmt;

use config::{Config, ConfigError, Map, Source, ValueKind};
use serde::Deserialize as _;
use toml::{Table, Value};

use super::report::{Complaint, Origin, Report};
use super::schema::{Key, Kind, Schema, Shape};
use super::value;

/// The name of an account or destination, or the index of a route; none in a plain section.
pub type Instance = Option<String>;

/// Named and listed tables with the place where each begins; kept because a table may be empty.
type Tables = BTreeMap<(&'static str, String), Origin>;

/// The values of one source.
#[derive(Clone, Default)]
pub struct Layer {
    /// By full names. `None` takes the value of the layer below away.
    values: BTreeMap<String, (Option<Value>, Origin)>,
    tables: Tables,
}

/// Values may be secrets.
impl fmt::Debug for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Layer of {} values", self.values.len())
    }
}

impl Layer {
    /// Takes a value if its key's kind allows it, and reports it otherwise.
    pub fn set(
        &mut self,
        report: &mut Report,
        key: &'static Key,
        instance: Instance,
        value: Result<Option<Value>, Complaint>,
        origin: Origin,
    ) {
        let name = key.at(instance.as_deref());
        match value.and_then(|value| value.map(|value| value::accept(key, value)).transpose()) {
            Ok(value) => drop(self.values.insert(name, (value, origin))),
            Err(complaint) => report.reject(&name, origin, complaint),
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
}

impl Source for Layer {
    fn clone_into_box(&self) -> Box<dyn Source + Send + Sync> {
        Box::new(self.clone())
    }

    /// Full names, which `config` takes apart: `sync.poll_interval`, `accounts.main.auth`, `routes[0].to`. Each value
    /// is in a list of one, because `config` replaces a list as a whole and would merge the entries of tables.
    fn collect(&self) -> Result<Map<String, config::Value>, ConfigError> {
        let entry = |(name, (value, origin)): (&String, &(Option<Value>, Origin))| {
            let kind = match value {
                Some(value) => ValueKind::Array(vec![
                    config::Value::deserialize(value.clone()).map_err(|error| ConfigError::Foreign(Box::new(error)))?,
                ]),
                None => ValueKind::Nil,
            };
            Ok((name.clone(), config::Value::new(Some(&origin.to_string()), kind)))
        };
        self.values.iter().map(entry).collect()
    }
}

/// What `config` has under a full name.
fn found<'a>(whole: &'a Config, name: &str) -> Option<&'a config::Value> {
    let mut parts = name.split(['.', '[', ']']).filter(|part| !part.is_empty());
    parts.try_fold(&whole.cache, |within, part| match &within.kind {
        ValueKind::Table(entries) => entries.get(part),
        ValueKind::Array(items) => items.get(part.parse::<usize>().ok()?),
        _ => None,
    })
}

/// All layers merged. It may contain a secret, so it has no `Debug`.
pub struct Merged {
    /// Every setting there is.
    pub schema: &'static Schema,
    /// By full names.
    values: BTreeMap<String, (Value, Origin)>,
    tables: Tables,
}

impl Merged {
    /// Lays the environment over the file over the defaults.
    pub fn new(
        schema: &'static Schema,
        file: Layer,
        environment: Layer,
        program_data: &str,
    ) -> Result<Self, ConfigError> {
        let mut tables = environment.tables.clone();
        tables.extend(file.tables.clone());
        let mut merged = Self { schema, values: BTreeMap::new(), tables };
        let defaults = merged.defaults([&environment, &file], program_data);
        let layers = [&defaults, &file, &environment];
        let names: Vec<String> = layers.iter().flat_map(|layer| layer.values.keys().cloned()).collect();
        let whole = Config::builder().add_source(defaults).add_source(file).add_source(environment).build()?;
        for name in names {
            if let Some(found) = found(&whole, &name).filter(|found| found.kind != ValueKind::Nil) {
                let origin = found.origin().map_or(Origin::Default, Origin::from_text);
                let [value] = <[Value; 1]>::deserialize(found.clone())?;
                merged.values.insert(name, (value, origin));
            }
        }
        Ok(merged)
    }

    /// The default of every key that applies to a table. A selector such as `auth` stands before the keys that it
    /// decides about, so its own default is already there.
    fn defaults(&self, over: [&Layer; 2], program_data: &str) -> Layer {
        let mut defaults = Layer::default();
        for key in self.schema.keys() {
            // Without configured codes, every type has its LOINC code.
            let of_kind = (key.kind == Kind::TypeMap).then_some("");
            let Some(default) = key.default.or(of_kind) else { continue };
            let given = |name: &str| over.iter().find_map(|layer| layer.values.get(name));
            let followed = key.follows.and_then(given).and_then(|(value, _)| value.clone());
            let value = followed.unwrap_or_else(|| default_value(key, &default.replace("%ProgramData%", program_data)));
            for instance in self.instances(key.section(), key.shape()) {
                let applies = key.only.is_none_or(|(selector, values)| {
                    let selector = self.schema.find(key.section(), selector).map(|selector| selector.at(instance));
                    let selected = selector.and_then(|name| given(&name).or_else(|| defaults.values.get(&name)));
                    let selected = selected.and_then(|(value, _)| value.as_ref()?.as_str());
                    selected.is_some_and(|selected| values.contains(&selected))
                });
                if applies {
                    defaults.values.insert(key.at(instance), (Some(value.clone()), Origin::Default));
                }
            }
        }
        defaults
    }

    /// The names or indexes of a section's tables, each with the place where it begins.
    pub fn tables(&self, section: &str) -> impl Iterator<Item = (&str, &Origin)> {
        self.tables
            .iter()
            .filter(move |((of, _), _)| *of == section)
            .map(|((_, instance), origin)| (instance.as_str(), origin))
    }

    /// The names or indexes of a section's tables, in their order; of a plain section `None` alone.
    pub fn instances(&self, section: &str, shape: Shape) -> Vec<Option<&str>> {
        let mut instances: Vec<_> = self.tables(section).map(|(instance, _)| Some(instance)).collect();
        match shape {
            Shape::Plain => instances.push(None),
            Shape::Named => {}
            Shape::Listed => instances.sort_by_key(|index| index.and_then(|index| index.parse::<usize>().ok())),
        }
        instances
    }

    /// A value; `None` if it is not given and has no default.
    pub fn get(&self, key: &Key, instance: Option<&str>) -> Option<&Value> {
        self.values.get(&key.at(instance)).map(|(value, _)| value)
    }

    /// A value that is text.
    pub fn text(&self, key: &Key, instance: Option<&str>) -> Option<&str> {
        self.get(key, instance)?.as_str()
    }

    /// Whether somebody gave another value than the default.
    pub fn is_own(&self, key: &Key, instance: Option<&str>) -> bool {
        let value = self.get(key, instance);
        value.is_some() && value != key.default.map(|text| default_value(key, text)).as_ref()
    }

    /// Where the value of a key came from.
    pub fn origin(&self, key: &Key, instance: Option<&str>) -> Origin {
        self.values.get(&key.at(instance)).map_or(Origin::Default, |(_, origin)| origin.clone())
    }
}

/// A default as a value of its kind.
fn default_value(key: &Key, text: &str) -> Value {
    let parsed = match key.kind {
        Kind::Bool | Kind::Integer { .. } | Kind::List | Kind::Templates | Kind::Statuses => {
            toml::de::DeValue::parse(text).ok().map(|value| value::from_toml(value.get_ref()))
        }
        Kind::TypeMap => value::accept(key, Table::new().into()).ok(),
        _ => None,
    };
    parsed.unwrap_or_else(|| text.into())
}
