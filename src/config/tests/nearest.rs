//! The known key that is nearest to an unknown one.

use super::*;
use crate::config::nearest::{Meant, inner, key, top_level};

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
        let found = key(&SCHEMA, section, name).map(|key| key.path);
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
        assert!(matches!(inner(&SCHEMA, "alerts", name), Some(Meant::Section("alerts.mail", _))), "{name}");
    }
    assert!(
        matches!(inner(&SCHEMA, "alerts", "webhook"), Some(Meant::Key(key)) if key.path.starts_with("alerts.webhook"))
    );
    assert_eq!(inner(&SCHEMA, "sync", "mail"), None, "no table belongs there");
}

#[test]
fn at_the_top_of_the_file_tables_are_sections_and_values_are_keys() {
    for (name, section) in [("snyc", "sync"), ("account", "accounts"), ("route", "routes"), ("logging", "log")] {
        assert!(matches!(top_level(&SCHEMA, name, true), Some(Meant::Section(found, _)) if found == section), "{name}");
    }
    for (name, path) in [("poll_interval", "sync.poll_interval"), ("langauge", "language"), ("lang", "language")] {
        assert!(matches!(top_level(&SCHEMA, name, false), Some(Meant::Key(key)) if key.path == path), "{name}");
    }
}
