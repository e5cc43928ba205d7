//! The known key that is nearest to an unknown one.

use super::schema::{self, KEYS, Key, Shape, sections};

/// The probable meaning of an unknown key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
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
pub fn key(section: &str, name: &str) -> Option<&'static Key> {
    // In a table with one key, nothing else can be meant.
    if let ([key], false) = (schema::keys_of(section).collect::<Vec<_>>().as_slice(), has_inner(section)) {
        return Some(key);
    }
    // Where a table has one address with its port, that is meant by both.
    if let (Some(listen), "port" | "host" | "address") = (schema::find(section, "listen"), name) {
        return Some(listen);
    }
    best(KEYS.iter().map(|key| {
        let bonus = match key.section() {
            of if of == section => SAME_SECTION,
            of if is_inside(of, section) || is_inside(section, of) => SAME_FAMILY,
            _ => 0.0,
        };
        (similarity(name, key.name()) + bonus, key)
    }))
}

/// The known table inside `section`, or key, that is nearest to a table of this name; `None` if no table belongs there.
pub fn inner(section: &str, name: &str) -> Option<Known> {
    let inner = sections().into_iter().filter(|(known, _)| is_inside(known, section));
    let tables: Vec<(f64, Known)> = inner
        .map(|(known, shape)| (similarity(name, last(known)) + SAME_SECTION, Known::Section(known, shape)))
        .collect();
    let keys = schema::keys_of(section).map(|key| (similarity(name, key.name()), Known::Key(key)));
    if tables.is_empty() { None } else { best(tables.into_iter().chain(keys)) }
}

/// Whether a table is inside another: `alerts.mail` in `alerts`.
fn is_inside(inner: &str, outer: &str) -> bool {
    inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('.'))
}

fn has_inner(section: &str) -> bool {
    sections().into_iter().any(|(known, _)| is_inside(known, section))
}

/// The last part of a table's name.
fn last(section: &str) -> &str {
    section.rsplit('.').next().unwrap_or(section)
}

/// The known section, or key of a section, that is nearest to a `name` at the top of the file; for a table, sections
/// are preferred to keys.
pub fn top_level(name: &str, is_table: bool) -> Option<Known> {
    let (section_bonus, key_bonus) = if is_table { (SAME_SECTION, 0.0) } else { (0.0, SAME_SECTION) };
    let sections = sections()
        .into_iter()
        .filter(|(section, _)| !section.is_empty())
        .map(|(section, shape)| (similarity(name, section) + section_bonus, Known::Section(section, shape)));
    let keys = KEYS.iter().map(|key| (similarity(name, key.name()) + key_bonus, Known::Key(key)));
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
            ("alerts", "to", "alerts.mail.to"),
            ("alerts", "host", "alerts.mail.host"),
            ("alerts", "webhook", "alerts.webhook_url_file"),
            ("alerts.mail", "password", "alerts.mail.password_file"),
            ("alerts.mail", "language", "alerts.language"),
            ("log", "language", "language"),
            ("status_page", "port", "status_page.listen"),
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
    fn a_table_inside_of_another_is_found_by_its_own_name() {
        for name in ["mial", "email", "Mail", "mails", "smtp"] {
            assert!(matches!(inner("alerts", name), Some(Known::Section("alerts.mail", _))), "{name}");
        }
        assert!(matches!(inner("alerts", "webhook"), Some(Known::Key(key)) if key.path.starts_with("alerts.webhook")));
        assert_eq!(inner("sync", "mail"), None, "no table belongs there");
    }

    #[test]
    fn at_the_top_of_the_file_tables_are_sections_and_values_are_keys() {
        for (name, section) in [("snyc", "sync"), ("account", "accounts"), ("route", "routes"), ("logging", "log")] {
            assert!(matches!(top_level(name, true), Some(Known::Section(found, _)) if found == section), "{name}");
        }
        for (name, path) in [("poll_interval", "sync.poll_interval"), ("langauge", "language"), ("lang", "language")] {
            assert!(matches!(top_level(name, false), Some(Known::Key(key)) if key.path == path), "{name}");
        }
    }
}
