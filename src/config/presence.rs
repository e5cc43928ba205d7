//! Required and misplaced keys: a key belongs to certain types of destination or ways of signing in.

use super::layers::Merged;
use super::report::{Origin, Report};
use super::schema::{Key, Shape};
use super::value;

/// Reports missing keys, and keys that belong elsewhere.
pub fn check(merged: &Merged, report: &mut Report) {
    for (section, shape) in merged.schema.sections() {
        match shape {
            Shape::Plain => table(merged, section, None, Origin::Default, report),
            Shape::Named | Shape::Listed => {
                for (instance, origin) in merged.tables(section) {
                    table(merged, section, Some(instance), origin.clone(), report);
                }
            }
        }
    }
    for (section, what, example) in [
        ("accounts", "account", "[accounts.main]\napi_key_file = \"api-key\""),
        ("destinations", "destination", "[destinations.pms]\ntype = \"folder\"\npath = \"...\""),
    ] {
        if merged.tables(section).next().is_none() && !report.has_errors() {
            report.error(Origin::Default, format!("there is no {what}"), format!("Add one:\n{example}"));
        }
    }
}

fn table(merged: &Merged, section: &str, instance: Option<&str>, origin: Origin, report: &mut Report) {
    for key in merged.schema.keys_of(section) {
        let present = merged.get(key, instance).is_some();
        let full = key.at(instance);
        let belongs = key.only.map(|(selector, wanted)| {
            let selector = merged.schema.find(section, selector)?;
            // A wrong or missing selector is reported itself; it decides nothing about other keys then.
            let known = !report.is_wrong(&selector.at(instance));
            merged.text(selector, instance).filter(|_| known).map(|given| (selector, wanted, given))
        });
        match belongs {
            Some(None) => {}
            Some(Some((selector, wanted, given))) if !wanted.contains(&given) && present => {
                let name = selector.name();
                let wanted = wanted.iter().map(|value| format!("\"{value}\"")).collect::<Vec<_>>().join(" or ");
                let what = format!("`{full}` belongs to {name} = {wanted}, and here {name} is \"{given}\"");
                let fix = format!("Remove `{}`, or write {name} = {wanted}.", key.name());
                report.error(merged.origin(key, instance), what, fix);
            }
            Some(Some((_, wanted, given))) if !wanted.contains(&given) => {}
            Some(Some((_, _, given))) if !present && key.optional_with.contains(&given) => {}
            _ if key.required && !present && !report.is_wrong(&full) => missing(key, instance, origin.clone(), report),
            _ => {}
        }
    }
}

fn missing(key: &Key, instance: Option<&str>, origin: Origin, report: &mut Report) {
    let place = match key.shape() {
        Shape::Plain => format!("Below [{}] write", key.section()),
        Shape::Named | Shape::Listed => "Add".to_owned(),
    };
    let fix = format!("{place} {} ({}).", value::example(key), key.doc);
    report.error(origin, format!("`{}` is missing", key.at(instance)), fix);
}
