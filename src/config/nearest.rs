//! The known key that is nearest to an unknown one.

use super::schema::{Key, Schema, Shape};

/// The probable meaning of an unknown key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meant {
    /// A section.
    Section(&'static str, Shape),
    /// A key of the same or another section.
    Key(&'static Key),
}

/// The bonus for a key of the same table. It outweighs a missing part of a name, so that `password` means the
/// `password_file` of its table.
const SAME_SECTION: f64 = 0.31;
/// The bonus for a key of a table inside or around it.
const SAME_FAMILY: f64 = 0.2;

/// The known key that is nearest to `name` in `section`.
pub fn key(schema: &Schema, section: &str, name: &str) -> Option<&'static Key> {
    // In a table with one key, nothing else can be meant.
    if let ([key], false) = (schema.keys_of(section).collect::<Vec<_>>().as_slice(), has_inner(schema, section)) {
        return Some(key);
    }
    // Where a table has one address with its port, that is meant by both.
    if let (Some(listen), "port" | "host" | "address") = (schema.find(section, "listen"), name) {
        return Some(listen);
    }
    best(schema.keys().iter().map(|key| {
        let bonus = match key.section() {
            of if of == section => SAME_SECTION,
            of if is_inside(of, section) || is_inside(section, of) => SAME_FAMILY,
            _ => 0.0,
        };
        (similarity(name, key.name()) + bonus, key)
    }))
}

/// The known table inside `section`, or key, that is nearest to a table of this name; `None` if no table belongs there.
pub fn inner(schema: &Schema, section: &str, name: &str) -> Option<Meant> {
    let inner = schema.sections().into_iter().filter(|(known, _)| is_inside(known, section));
    let tables: Vec<(f64, Meant)> = inner
        .map(|(known, shape)| (similarity(name, last(known)) + SAME_SECTION, Meant::Section(known, shape)))
        .collect();
    let keys = schema.keys_of(section).map(|key| (similarity(name, key.name()), Meant::Key(key)));
    if tables.is_empty() { None } else { best(tables.into_iter().chain(keys)) }
}

/// Whether a table is inside another: `alerts.mail` in `alerts`.
fn is_inside(inner: &str, outer: &str) -> bool {
    inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('.'))
}

fn has_inner(schema: &Schema, section: &str) -> bool {
    schema.sections().into_iter().any(|(known, _)| is_inside(known, section))
}

/// The last part of a table's name.
fn last(section: &str) -> &str {
    section.rsplit('.').next().unwrap_or(section)
}

/// The known section, or key of a section, that is nearest to a `name` at the top of the file; for a table, sections
/// are preferred to keys.
pub fn top_level(schema: &Schema, name: &str, is_table: bool) -> Option<Meant> {
    let (section_bonus, key_bonus) = if is_table { (SAME_SECTION, 0.0) } else { (0.0, SAME_SECTION) };
    let sections = schema
        .sections()
        .into_iter()
        .filter(|(section, _)| !section.is_empty())
        .map(|(section, shape)| (similarity(name, section) + section_bonus, Meant::Section(section, shape)));
    let keys = schema.keys().iter().map(|key| (similarity(name, key.name()) + key_bonus, Meant::Key(key)));
    best(sections.chain(keys))
}

/// The nearest of some names; `None` if there are none.
pub fn among<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    best(candidates.into_iter().map(|candidate| (similarity(name, candidate), candidate)))
}

/// The first of the highest scores.
fn best<T>(scored: impl Iterator<Item = (f64, T)>) -> Option<T> {
    scored.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, value)| value)
}

/// 0 to 1; letter case and the kind of dash do not count, and a part of a name is near to the whole.
fn similarity(a: &str, b: &str) -> f64 {
    let folded = |text: &str| text.to_lowercase().replace('-', "_");
    let (a, b) = (folded(a), folded(b));
    let near = strsim::normalized_damerau_levenshtein(&a, &b);
    let part = |whole: &str, part: &str| part.len() > 2 && whole.contains(part);
    if part(&a, &b) || part(&b, &a) { near.max(0.7) } else { near }
}
