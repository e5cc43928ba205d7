//! `[[routes]]`: checks that every named destination exists, and that every document has an intended destination.

use std::collections::BTreeSet;

use super::build::{At, Builder};
use super::nearest;
use super::report::Origin;
use super::settings::{self, Section as _};
use crate::domain::document::DOCUMENT_TYPES;
use crate::domain::route::Route;

/// The routes; without any, the one that sends everything to the only destination.
pub fn build(builder: &mut Builder<'_>) -> Result<Vec<Route>, &'static str> {
    let merged = builder.merged;
    let names: Vec<&str> = merged.tables("destinations").map(|(name, _)| name).collect();
    let count = merged.tables("routes").count();
    if count == 0 {
        return Ok(implicit(&names, builder));
    }
    let mut routes = Vec::new();
    for index in (0..count).map(|index| index.to_string()) {
        routes.push(one(&index, settings::Route::read(merged, Some(&index))?, &names, builder));
    }
    warn_of_unreachable(&routes, builder);
    warn_of_unused(&routes, &names, builder);
    Ok(routes)
}

fn implicit(names: &[&str], builder: &mut Builder<'_>) -> Vec<Route> {
    match names {
        [] => Vec::new(),
        [only] => vec![Route { to: vec![(*only).to_owned()], is_implicit: true, ..Route::default() }],
        several => {
            let quoted: Vec<String> = several.iter().map(|name| format!("\"{name}\"")).collect();
            let what = format!("there are {} destinations and no route that says what goes where", several.len());
            let fix = format!("Add one; to send everything everywhere:\n[[routes]]\nto = [{}]", quoted.join(", "));
            builder.report.error(Origin::Default, what, fix);
            Vec::new()
        }
    }
}

fn one(index: &str, raw: settings::Route, names: &[&str], builder: &mut Builder<'_>) -> Route {
    let at = &mut builder.table("routes", index);
    for (key, list) in [("accounts", &raw.accounts), ("types", &raw.types), ("users", &raw.users)] {
        if list.as_ref().is_some_and(Vec::is_empty) {
            at.warn(key, "is empty, so the route takes all of them; leave it out to say so");
        }
    }
    for kind in raw.types.iter().flatten().filter(|kind| !DOCUMENT_TYPES.contains(&kind.as_str())) {
        let nearest = nearest::among(kind, DOCUMENT_TYPES).unwrap_or_default();
        let what =
            format!("holds \"{kind}\", which the API does not document; the nearest that it does is \"{nearest}\"");
        at.warn("types", &what);
    }
    refuse_strangers(raw.accounts.as_deref().unwrap_or_default(), at);
    let to = raw.to.unwrap_or_default();
    if to.is_empty() && at.is_given("to") {
        let example = names.first().copied().unwrap_or("pms");
        at.error("to", "names no destination", format!("Write at least one, as in to = [\"{example}\"]."));
    }
    let mut seen = BTreeSet::new();
    for name in &to {
        if !names.contains(&name.as_str()) {
            let fix = match nearest::among(name, names.iter().copied()) {
                Some(nearest) => format!("The nearest destination is \"{nearest}\"."),
                None => format!("Add [destinations.{name}]."),
            };
            at.error("to", &format!("names \"{name}\", which is no destination"), fix);
        } else if !seen.insert(name) {
            let what = format!("names \"{name}\" twice");
            at.error("to", &what, "Keep one of the two; a document is delivered there once.");
        }
    }
    Route {
        accounts: raw.accounts.unwrap_or_default(),
        types: raw.types.unwrap_or_default(),
        users: raw.users.unwrap_or_default(),
        visibility: raw.visibility,
        anonymized: raw.anonymized,
        to,
        is_implicit: false,
    }
}

/// Reports names in `accounts` that are no accounts.
pub fn refuse_strangers(names: &[String], at: &mut At<'_, '_>) {
    let accounts: Vec<&str> = at.builder.merged.tables("accounts").map(|(name, _)| name).collect();
    for name in names.iter().filter(|name| !accounts.contains(&name.as_str())) {
        let fix = match nearest::among(name, accounts.iter().copied()) {
            Some(nearest) => format!("The nearest account is \"{nearest}\"."),
            None => format!("Add [accounts.{name}]."),
        };
        at.error("accounts", &format!("names \"{name}\", which is no account"), fix);
    }
}

fn warn_of_unreachable(routes: &[Route], builder: &mut Builder<'_>) {
    for (index, route) in routes.iter().enumerate() {
        let Some(before) = routes.iter().take(index).position(|before| before.takes_all_of(route)) else { continue };
        let takes_every = routes.get(before).is_some_and(|before| before.takes_all_of(&Route::default()));
        let all = if takes_every { "every document" } else { "every document that it would" };
        let what = format!("is never reached, because `routes[{before}]` before it takes {all}");
        builder.table("routes", &index.to_string()).warn("to", &what);
    }
}

fn warn_of_unused(routes: &[Route], names: &[&str], builder: &mut Builder<'_>) {
    for name in names.iter().filter(|name| !routes.iter().any(|route| route.to.iter().any(|to| to == **name))) {
        builder.table("destinations", name).warn("type", "is of a destination that no route sends documents to");
    }
}
