//! The table of all keys.

use std::collections::HashSet;

use super::*;
use crate::config::schema::Kind;

#[test]
fn paths_are_unique_and_sections_are_contiguous() {
    let paths: HashSet<&str> = SCHEMA.keys().iter().map(|key| key.path).collect();
    assert_eq!(paths.len(), SCHEMA.keys().len());
    let names: HashSet<&str> = SCHEMA.sections().iter().map(|(name, _)| *name).collect();
    assert_eq!(names.len(), SCHEMA.sections().len(), "a section has keys in two places or of two shapes");
}

#[test]
fn selectors_are_enums_of_the_same_section_that_know_the_value() {
    for key in SCHEMA.keys() {
        let Some((selector, values)) = key.only else { continue };
        let selector = SCHEMA.find(key.section(), selector).unwrap();
        let Kind::Enum(words) = selector.kind else { panic!("{}", key.path) };
        assert!(!values.is_empty() && values.iter().all(|value| words.contains(value)), "{}", key.path);
    }
}

#[test]
fn keys_are_addressed_as_a_person_writes_them() {
    let to = SCHEMA.find("routes", "to").unwrap();
    assert_eq!(to.at(Some("2")), "routes[2].to");
    assert_eq!(to.variable(Some("2")), "DOCSYNCD__ROUTES__2__TO");
    let path = SCHEMA.find("destinations", "path").unwrap();
    assert_eq!(path.at(Some("pms")), "destinations.pms.path");
    assert_eq!(path.variable(Some("pms")), "DOCSYNCD__DESTINATIONS__PMS__PATH");
    let language = SCHEMA.find("", "language").unwrap();
    assert_eq!((language.at(None), language.variable(None)), ("language".into(), "DOCSYNCD__LANGUAGE".into()));
}
