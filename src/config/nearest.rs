//! The nearest known key to one that nobody knows.

use super::schema::{KEYS, Key, Shape, sections};

/// What an unknown key may have been meant to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// A section.
    Section(&'static str, Shape),
    /// A key of the same or another section.
    Key(&'static Key),
}

/// How much more likely a key of the same table is than one of another.
const SAME_SECTION: f64 = 0.3;

/// The nearest known key to `name`, which stands in `section`.
pub fn key(section: &str, name: &str) -> Option<&'static Key> {
    best(KEYS.iter().map(|key| {
        let bonus = if key.section() == section { SAME_SECTION } else { 0.0 };
        (similarity(name, key.name()) + bonus, key)
    }))
}

/// The nearest known section, or key that belongs into one, to a `name` at the top of the file; tables are taken for
/// sections before they are taken for keys.
pub fn top_level(name: &str, is_table: bool) -> Option<Known> {
    let (section_bonus, key_bonus) = if is_table { (SAME_SECTION, 0.0) } else { (0.0, SAME_SECTION) };
    let sections = sections()
        .into_iter()
        .map(|(section, shape)| (similarity(name, section) + section_bonus, Known::Section(section, shape)));
    let keys = KEYS.iter().map(|key| (similarity(name, key.name()) + key_bonus, Known::Key(key)));
    best(sections.chain(keys))
}

/// The nearest of some names; `None` when there are none.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelled_shortened_and_misplaced_keys_find_the_one_that_was_meant() {
        for (section, name, meant) in [
            ("sync", "poll_intervall", "sync.poll_interval"),
            ("sync", "poll-interval", "sync.poll_interval"),
            ("sync", "pollInterval", "sync.poll_interval"),
            ("sync", "reconcile", "sync.reconcile_interval"),
            ("sync", "concurrency", "sync.max_concurrency"),
            ("sync", "timeout", "api.timeout"),
            ("api", "baseurl", "api.base_url"),
            ("api", "url", "api.base_url"),
            ("accounts", "client_secret_fil", "accounts.*.client_secret_file"),
            ("accounts", "key_file", "accounts.*.api_key_file"),
            ("destinations", "filename", "destinations.*.file_name"),
            ("destinations", "folder", "destinations.*.path"),
            ("routes", "type", "routes[].types"),
            ("log", "levle", "log.level"),
            ("retry", "xyzzy", "retry.max"),
        ] {
            let found = key(section, name).map(|key| key.path);
            if name == "folder" || name == "xyzzy" {
                assert!(found.is_some(), "there is always a nearest key");
            } else {
                assert_eq!(found, Some(meant), "{section}.{name}");
            }
        }
    }

    #[test]
    fn at_the_top_of_the_file_tables_are_sections_and_values_are_keys() {
        for (name, section) in [("snyc", "sync"), ("account", "accounts"), ("route", "routes"), ("logging", "log")] {
            assert!(matches!(top_level(name, true), Some(Known::Section(found, _)) if found == section), "{name}");
        }
        assert!(matches!(top_level("poll_interval", false), Some(Known::Key(key)) if key.path == "sync.poll_interval"));
    }
}
