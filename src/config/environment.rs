//! Environment variables over the file: `DOCSYNCD__SECTION__KEY`, `DOCSYNCD__ACCOUNTS__NAME__KEY` and
//! `DOCSYNCD__ROUTES__0__KEY`. Letter case does not matter, and `_` in a name also stands for `-`, because a shell
//! allows no dash. The variables come in as data; this module never reads the process's own.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;

use super::file::check_name;
use super::layers::Layer;
use super::nearest::{self, Meant};
use super::report::{Complaint, Origin, Report};
use super::schema::{self, ENV_PREFIX, Key, Schema, Shape};
use super::value;

/// docsyncd's variables, sorted by name so that the same ones always give the same messages. Warns of a name that only
/// lacks an underscore.
pub fn ours(
    schema: &Schema,
    variables: impl IntoIterator<Item = (OsString, OsString)>,
    report: &mut Report,
) -> BTreeMap<String, OsString> {
    let mut ours = BTreeMap::new();
    for (name, value) in variables {
        let name = name.to_string_lossy().into_owned();
        if name.get(..ENV_PREFIX.len()).is_some_and(|start| start.eq_ignore_ascii_case(ENV_PREFIX)) {
            ours.insert(name, value);
        } else if let Some(meant) = lacks_underscores(schema, &name) {
            let what = format!("it has no effect; {meant} would have one: with two underscores in each place");
            report.warn(Origin::Variable(name), what);
        }
    }
    ours
}

fn lacks_underscores(schema: &Schema, name: &str) -> Option<String> {
    let single = |text: &str| text.to_uppercase().replace("__", "_");
    let name = single(name);
    // Most variables belong to others, so most are not compared with each key.
    if !name.starts_with(&single(ENV_PREFIX)) {
        return None;
    }
    let plain = schema.keys().iter().filter(|key| key.shape() == Shape::Plain);
    plain.map(|key| key.variable(None)).find(|variable| single(variable) == name)
}

/// The values of the variables; the file decides which tables they mean.
pub fn parse(schema: &Schema, variables: &BTreeMap<String, OsString>, file: &Layer, report: &mut Report) -> Layer {
    let mut found: Vec<Assignment> = Vec::new();
    for (variable, value) in variables {
        let origin = Origin::Variable(variable.clone());
        match address(schema, variable, file) {
            Err(complaint) => report.error(origin, complaint.what, complaint.fix),
            Ok((key, instance)) => match found.iter().find(|other| other.key == key && other.instance == instance) {
                Some(other) => {
                    let what = format!("it sets `{}`, as {} does already", key.at(instance.as_deref()), other.variable);
                    report.error(origin, what, "Remove one of the two variables.");
                }
                None => found.push(Assignment { variable, value, key, instance }),
            },
        }
    }
    refuse_gaps(schema, &mut found, file, report);
    let mut layer = Layer::default();
    for Assignment { variable, value, key, instance } in found {
        let origin = Origin::Variable(variable.to_owned());
        if let Some(instance) = &instance {
            layer.table(key.section(), instance, origin.clone());
        }
        let value = match value.to_str() {
            Some(text) => value::from_variable(key, text),
            None => Err(Complaint::new("is not valid text (UTF-8)", "Correct the variable, or set it in the file.")),
        };
        layer.set(report, key, instance, value, origin);
    }
    layer
}

struct Assignment<'a> {
    variable: &'a str,
    value: &'a OsString,
    key: &'static Key,
    instance: Option<String>,
}

/// The key that a variable sets, and the table of that key.
fn address(schema: &Schema, variable: &str, file: &Layer) -> Result<(&'static Key, Option<String>), Complaint> {
    let rest = variable.get(ENV_PREFIX.len()..).unwrap_or_default();
    let parts: Vec<&str> = rest.split("__").collect();
    let (Some(first), Some(last)) = (parts.first(), parts.last()) else {
        return Err(unknown(schema, variable, "", ""));
    };
    // The longest name first: `alerts.mail` before `alerts`.
    let section_of = |count: usize| {
        let name = parts.get(..count)?.join(".");
        schema
            .sections()
            .into_iter()
            .find(|(section, _)| !section.is_empty() && section.eq_ignore_ascii_case(&name))
            .map(|known| (known, count))
    };
    if let ([_], Some(key)) = (parts.as_slice(), keys_ignoring_case(schema, "", last)) {
        return Ok((key, None));
    }
    let known = section_of(2).or_else(|| section_of(1));
    let Some(((section, shape), count)) = known else { return Err(unknown_section(schema, variable, first)) };
    let names = parts.get(count..parts.len() - 1).unwrap_or_default();
    let within = schema.named_within(section).filter(|_| !names.is_empty());
    let within = within.filter(|named| keys_ignoring_case(schema, named, last).is_some());
    let (section, shape) = within.map_or((section, shape), |named| (named, Shape::Named));
    let key = keys_ignoring_case(schema, section, last);
    match (shape, names, key) {
        _ if parts.len() == count => Err(incomplete(schema, section, shape)),
        (Shape::Plain, [], Some(key)) => Ok((key, None)),
        (Shape::Named, [_, ..], Some(key)) => instance(section, &names.join("__"), file).map(|name| (key, Some(name))),
        (Shape::Listed, [index], Some(key)) => match index.parse::<u16>() {
            Ok(number) => Ok((key, Some(number.to_string()))),
            Err(_) => Err(incomplete(schema, section, shape)),
        },
        (Shape::Named | Shape::Listed, [], _) => Err(incomplete(schema, section, shape)),
        _ => Err(unknown(schema, variable, section, last)),
    }
}

fn keys_ignoring_case(schema: &Schema, section: &str, name: &str) -> Option<&'static Key> {
    schema.keys_of(section).find(|key| key.name().eq_ignore_ascii_case(name))
}

/// The table in the file that a name means; a new one, in lower case, if there is none.
fn instance(section: &str, name: &str, file: &Layer) -> Result<String, Complaint> {
    let folded = |name: &str| name.to_lowercase().replace('-', "_");
    let shown = schema::outer(section);
    let exact = file.instances(section).find(|known| *known == name);
    let mut near = file.instances(section).filter(|known| folded(known) == folded(name));
    match (exact, near.next(), near.next()) {
        (Some(known), _, _) | (None, Some(known), None) => Ok(known.to_owned()),
        (None, Some(one), Some(other)) => Err(Complaint::new(
            format!("it can mean `{shown}.{one}` as well as `{shown}.{other}`"),
            "Write the name exactly as in the file, or rename one of the two.",
        )),
        (None, None, _) => {
            let name = name.to_lowercase();
            let wrong = name.escape_default();
            check_name(shown, &name)
                .map(|()| name.clone())
                .map_err(|complaint| Complaint::new(format!("`{shown}.{wrong}` {}", complaint.what), complaint.fix))
        }
    }
}

/// A variable may add a route after those of the file, but may not leave a gap.
fn refuse_gaps(schema: &Schema, found: &mut Vec<Assignment<'_>>, file: &Layer, report: &mut Report) {
    for (section, _) in schema.sections().into_iter().filter(|(_, shape)| *shape == Shape::Listed) {
        let mut next = file.instances(section).count();
        let is_listed = |found: &Assignment<'_>| found.key.section() == section;
        let index =
            |found: &Assignment<'_>| found.instance.as_ref().and_then(|index| index.parse::<usize>().ok()).unwrap_or(0);
        let indexes: BTreeSet<usize> = found.iter().filter(|found| is_listed(found)).map(index).collect();
        for number in indexes {
            next = next.max(if number == next { next + 1 } else { 0 });
        }
        found.retain(|found| {
            let allowed = !is_listed(found) || index(found) < next;
            if !allowed {
                let what = format!("there is no `{section}[{}]`, and none before it to follow", index(found));
                let fix = format!("The next one that can be added is {}.", found.key.variable(Some(&next.to_string())));
                report.error(Origin::Variable(found.variable.to_owned()), what, fix);
            }
            allowed
        });
    }
}

/// What stands for the table of a key where none is meant.
fn any_table(shape: Shape) -> Option<&'static str> {
    match shape {
        Shape::Plain => None,
        Shape::Named => Some("NAME"),
        Shape::Listed => Some("0"),
    }
}

fn incomplete(schema: &Schema, section: &str, shape: Shape) -> Complaint {
    let example = schema.keys_of(section).next().map(|key| key.variable(any_table(shape))).unwrap_or_default();
    Complaint::new(format!("it does not name a key of `{section}`"), format!("Write it as in {example}."))
}

fn unknown(schema: &Schema, variable: &str, section: &str, name: &str) -> Complaint {
    let parts: Vec<&str> = variable.split("__").collect();
    // A section within another has two parts: `alerts.mail`.
    let after = 1 + section.split('.').count();
    let between = parts.get(after..parts.len().saturating_sub(1)).unwrap_or_default().join("__");
    // A plain section has no names: everything in between was meant as a part of the key.
    let (name, instance) = match schema.shape_of(section) {
        Some(Shape::Plain) => (format!("{between}_{name}"), None),
        _ => (name.to_owned(), Some(between).filter(|between| !between.is_empty())),
    };
    let name = name.to_lowercase();
    let key = nearest::key(schema, section, name.trim_matches('_'));
    let fix = key.map(|key| nearest_fix(key, instance.as_deref().filter(|_| key.section() == section)));
    Complaint::new(format!("unknown key `{}`", shown(variable)), fix.unwrap_or_default())
}

fn unknown_section(schema: &Schema, variable: &str, first: &str) -> Complaint {
    let name = variable.rsplit("__").next().unwrap_or_default();
    let fix = match nearest::top_level(schema, &first.to_lowercase(), true) {
        Some(Meant::Section(section, _)) => {
            nearest::key(schema, section, &name.to_lowercase()).map(|key| nearest_fix(key, None))
        }
        Some(Meant::Key(key)) => Some(nearest_fix(key, None)),
        None => None,
    };
    Complaint::new(format!("unknown key `{}`", shown(variable)), fix.unwrap_or_default())
}

fn nearest_fix(key: &Key, given: Option<&str>) -> String {
    let instance = any_table(key.shape()).map(|any| given.unwrap_or(any));
    format!("The nearest known key is `{}`: {}.", key.at(instance).to_lowercase(), key.variable(instance))
}

/// The key that a variable's name would have set.
fn shown(variable: &str) -> String {
    let rest = variable.get(ENV_PREFIX.len()..).unwrap_or_default();
    rest.to_lowercase().replace("__", ".").escape_default().to_string()
}
