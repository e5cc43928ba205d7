//! The map in src/lib.rs is true: who may import whom. Read from the sources, so that nobody has to remember it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Sources by their path below `src`, with `/` on every system.
type Sources = BTreeMap<String, String>;

/// The stages; each may know its edge and never another stage.
const STAGES: [&str; 4] = ["discover", "fetch", "deliver", "report"];
/// The edges: what docsyncd touches the world with.
const EDGES: [&str; 3] = ["ledger", "api", "destinations"];
/// The rooms that are pure.
const PURE: [&str; 2] = ["domain", "formats"];
/// What any module may use.
const FOR_ALL: [[&str; 2]; 2] = [["system", "clock"], ["system", "faults"]];
/// Files that may import rooms below, as they are tests.
const OF_TESTS: [&str; 2] = ["tests", "plans"];
/// What a pure module never names: files, sockets, processes, clocks, and the crates that know them.
const IMPURE: [&str; 10] = [
    "std::fs",
    "std::net",
    "std::process",
    "std::env",
    "std::thread",
    "tokio",
    "reqwest",
    "rusqlite",
    "::now()",
    "tracing",
];

/// One row of the table: a room, the modules that the second column names, and what the third column says.
struct Row {
    room: String,
    modules: Vec<String>,
    may_import: String,
}

fn sources() -> Sources {
    sources_of("src")
}

fn sources_of(folder: &str) -> Sources {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let (mut sources, mut folders) = (Sources::new(), vec![root.clone()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let name = path.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
                sources.insert(name, std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    sources
}

/// The rows of the table in the header of src/lib.rs.
fn table(lib: &str) -> Vec<Row> {
    let rows = lib.lines().filter_map(|line| line.strip_prefix("//! | [`"));
    rows.map(|row| {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        Row {
            room: cells[0].trim_matches(['[', ']', '`']).to_owned(),
            modules: cells[1].split('`').skip(1).step_by(2).map(str::to_owned).collect(),
            may_import: cells[2].to_owned(),
        }
    })
    .collect()
}

/// What a cell allows the room's file: names, `nothing`, `everything above`; after a semicolon `MODULE: …` and
/// `the others: …` are about single modules.
fn allowed(rows: &[Row], index: usize, file: &str) -> BTreeSet<String> {
    let home = home(file);
    let clauses: Vec<&str> = rows[index].may_import.split(';').map(str::trim).collect();
    let special = |clause: &str| clause.split_once(": ").map(|(whose, what)| (whose.to_owned(), what.to_owned()));
    let named = clauses.iter().filter_map(|clause| special(clause)).any(|(whose, _)| home.contains(&whose.as_str()));
    let mut allowed = BTreeSet::from([rows[index].room.clone()]);
    for clause in clauses {
        let what = match special(clause) {
            None => clause.to_owned(),
            Some((whose, what)) if home.contains(&whose.as_str()) || (whose == "the others" && !named) => what,
            Some(_) => continue,
        };
        for item in what.split(',').map(str::trim) {
            match item {
                "nothing" => {}
                "everything above" => allowed.extend(rows[..index].iter().map(|row| row.room.clone())),
                name => drop(allowed.insert(name.to_owned())),
            }
        }
    }
    allowed
}

/// The source without comments.
fn code(source: &str) -> String {
    source.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// Every path that begins with `crate::` or `super::`, with the braces of `use` taken apart: `crate::{a, b::{c, d}}` is
/// `crate::a`, `crate::b::c` and `crate::b::d`.
fn paths(source: &str) -> Vec<String> {
    let code = code(source);
    let mut paths = Vec::new();
    for start in ["crate::", "super::"] {
        for (at, _) in code.match_indices(start) {
            let before = code[..at].chars().next_back();
            if before.is_none_or(|c| !(c.is_alphanumeric() || c == '_' || c == ':')) {
                tree(&code[at..], "", &mut paths);
            }
        }
    }
    paths
}

/// Reads one path or group at the beginning of `text`; returns what is left of it.
fn tree<'a>(text: &'a str, prefix: &str, paths: &mut Vec<String>) -> &'a str {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let path = format!("{prefix}{name}");
    if !(name.is_empty() || name.ends_with("::")) || !rest.starts_with('{') {
        paths.push(path);
        return rest;
    }
    let mut rest = rest[1..].trim_start();
    while !rest.is_empty() && !rest.starts_with('}') {
        let before = rest.len();
        rest = tree(rest, &path, paths).trim_start();
        // `a as b`, `self`, `*` and commas.
        rest = rest
            .strip_prefix("as ")
            .map_or(rest, |rest| rest.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_'));
        rest = rest.trim_start_matches([',', '*']).trim_start();
        assert!(rest.len() < before, "this is not understood: {rest}");
    }
    rest.strip_prefix('}').unwrap_or(rest)
}

/// The modules from the crate's root to this file: `pipeline/fetch.rs` is `pipeline`, `fetch`.
fn home(file: &str) -> Vec<&str> {
    let mut home: Vec<&str> = file.trim_end_matches(".rs").split('/').collect();
    if home.last() == Some(&"mod") {
        home.pop();
    }
    home
}

/// A path as seen from the crate's root, without `crate`; empty when it leads above it (an inline module's `super`).
fn from_root(file: &str, path: &str) -> Vec<String> {
    let mut names: Vec<&str> = path.split("::").filter(|name| !name.is_empty()).collect();
    if names.first() == Some(&"crate") {
        return names[1..].iter().map(|name| (*name).to_owned()).collect();
    }
    let mut home = home(file);
    while names.first() == Some(&"super") {
        names.remove(0);
        home.pop();
    }
    home.into_iter().chain(names).map(str::to_owned).collect()
}

/// The public modules that a source declares, and those of the crate.
fn declared(source: &str) -> BTreeSet<String> {
    let lines =
        source.lines().filter_map(|line| line.strip_prefix("pub mod ").or(line.strip_prefix("pub(crate) mod ")));
    lines.filter_map(|line| line.strip_suffix(';')).map(str::to_owned).collect()
}

fn not_both(table: &BTreeSet<String>, declared: &BTreeSet<String>) -> Vec<String> {
    table
        .symmetric_difference(declared)
        .map(|name| format!("{name} is not both in the table and in the crate"))
        .collect()
}

/// Everything that breaks the map, a line each.
fn violations(sources: &Sources) -> Vec<String> {
    let lib = &sources["lib.rs"];
    let rows = table(lib);
    let known: BTreeSet<String> = rows.iter().map(|row| row.room.clone()).collect();
    let mut wrong = not_both(&known, &declared(lib));
    for (index, row) in rows.iter().enumerate() {
        let above: Vec<&str> = rows[..index].iter().map(|row| row.room.as_str()).collect();
        for clause in row.may_import.split(';').map(str::trim) {
            let (whose, what) = clause.split_once(": ").unwrap_or(("", clause));
            for name in what.split(',').map(str::trim) {
                let is_word = ["nothing", "everything above"].contains(&name);
                if !(is_word || above.contains(&name) || known.contains(name) && OF_TESTS.contains(&whose)) {
                    wrong.push(format!("the row of {} says {name:?}, which does not stand above it", row.room));
                }
            }
        }
        if !row.modules.is_empty() {
            let named = row.modules.iter().cloned().collect();
            wrong.extend(not_both(&named, &declared(&sources[&format!("{}/mod.rs", row.room)])));
        }
    }
    for (file, source) in sources {
        let home = home(file);
        let Some(index) = rows.iter().position(|row| row.room == home[0]) else {
            continue;
        };
        let allowed = allowed(&rows, index, file);
        for path in paths(source) {
            let target = from_root(file, &path);
            let Some(module) = target.first().filter(|module| known.contains(*module)) else { continue };
            if FOR_ALL.iter().any(|two| target.starts_with(&two.map(str::to_owned))) {
                continue;
            }
            if !allowed.contains(module) {
                wrong.push(format!("{file} may not import {module}: {path}"));
            }
            if EDGES.contains(&home[0]) && EDGES.contains(&module.as_str()) && home[0] != module {
                wrong.push(format!("{file}: the edge {} imports the edge {module}: {path}", home[0]));
            }
            let stands =
                |name: Option<&str>| rows[index].modules.iter().position(|module| Some(module.as_str()) == name);
            if let (true, Some(own), Some(other)) =
                (home[0] == module, stands(home.get(1).copied()), stands(target.get(1).map(String::as_str)))
                && own < other
            {
                wrong.push(format!("{file} stands before {path}"));
            }
            let stage = home.get(1).filter(|name| home[0] == "pipeline" && STAGES.contains(name));
            let other = target.get(1).filter(|name| module == "pipeline" && STAGES.contains(&name.as_str()));
            if let (Some(stage), Some(other)) = (stage, other)
                && *stage != other.as_str()
            {
                wrong.push(format!("{file}: the stage {stage} imports the stage {other}: {path}"));
            }
        }
        if PURE.contains(&home[0]) {
            let production = code(source.split("#[cfg(test)]\nmod tests {").next().unwrap());
            let is_tests = home.contains(&"tests");
            wrong.extend(
                IMPURE
                    .iter()
                    .filter(|name| !is_tests && production.contains(*name))
                    .map(|name| format!("{file} is pure and names {name}")),
            );
        }
    }
    wrong
}

#[test]
fn every_import_is_one_that_the_map_allows() {
    let sources = sources();
    assert!(sources.len() > 40 && table(&sources["lib.rs"]).len() >= 9, "the sources and the table were found");
    let wrong = violations(&sources);
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// What would be wrong is seen: each of these is one line more in one file.
#[test]
fn a_violation_of_any_kind_is_seen() {
    for (file, line, sign) in [
        ("destinations/folder/mod.rs", "use crate::api::Client;", "destinations imports the edge api"),
        ("destinations/folder/place.rs", "use super::super::super::ledger;", "may not import ledger"),
        ("api/wire.rs", "fn f() { crate::ledger::now(); }", "api imports the edge ledger"),
        (
            "ledger/accounts.rs",
            "use crate::{domain::state, destinations::Item};",
            "ledger imports the edge destinations",
        ),
        ("ledger/accounts.rs", "use crate::config::Config;", "ledger/accounts.rs may not import config"),
        (
            "pipeline/fetch/mod.rs",
            "use super::{Context, deliver::Deliver};",
            "the stage fetch imports the stage deliver",
        ),
        ("pipeline/fetch/mod.rs", "use crate::destinations::{self, Outcome};", "may not import destinations"),
        (
            "pipeline/deliver.rs",
            "use crate::{\n    domain::document,\n    api::{Client, Page},\n};",
            "may not import api",
        ),
        ("pipeline/report.rs", "use crate::pipeline::discover;", "the stage report imports the stage discover"),
        ("config/mod.rs", "use crate::daemon::Daemon;", "may not import daemon"),
        ("system/service/mod.rs", "use crate::ledger::Ledger;", "may not import ledger"),
        ("domain/name.rs", "use std::fs;", "pure and names std::fs"),
        ("domain/state.rs", "use tokio::time;", "pure and names tokio"),
        ("domain/retry.rs", "fn f() { std::time::Instant::now(); }", "pure and names ::now()"),
        ("lib.rs", "pub mod utils;", "utils is not both"),
        ("system/mod.rs", "pub mod utils;", "utils is not both"),
        ("system/tls.rs", "use crate::system::smtp;", "stands before"),
        ("domain/name.rs", "use super::super::system::readers;", "may not import system"),
    ] {
        let mut sources = sources();
        let source = sources.get_mut(file).unwrap_or_else(|| panic!("no {file}"));
        *source = format!("{line}\n{source}");
        let wrong = violations(&sources);
        assert!(wrong.iter().any(|wrong| wrong.contains(sign)), "{file}, {line}: {wrong:?}");
    }
}

/// So many entries a person reads at a glance. A module with parts is a folder with `mod.rs`, everywhere.
#[test]
fn the_rooms_are_few_and_in_one_style() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let entries = std::fs::read_dir(root).unwrap().count();
    assert!(entries <= 15, "{entries} entries in src");
    let sources = sources();
    let folders: BTreeSet<&str> = sources.keys().filter_map(|file| Some(file.rsplit_once('/')?.0)).collect();
    let twice: Vec<_> = folders.iter().filter(|folder| sources.contains_key(&format!("{folder}.rs"))).collect();
    assert!(twice.is_empty(), "the file of each of these is its mod.rs: {twice:?}");
}

/// Below the handlers of the sandbox's API stands what they share, and no file imports what imports it.
#[test]
fn the_files_of_the_sandboxs_api_go_in_no_circle() {
    let sources = sources_of("sandbox/src");
    let file_of = |path: &[String]| {
        let names = (1..=path.len()).rev().map(|length| path[..length].join("/"));
        names.flat_map(|name| [format!("{name}.rs"), format!("{name}/mod.rs")]).find(|file| sources.contains_key(file))
    };
    let imports = |file: &str| -> Vec<String> {
        let production = sources[file].split("#[cfg(test)]\nmod tests {").next().unwrap();
        let parts = production.lines().filter_map(|line| line.trim_start_matches("pub(crate) ").strip_prefix("mod "));
        let parts = parts.filter_map(|part| part.strip_suffix(';')).map(str::to_owned);
        let paths = paths(production).into_iter().chain(parts);
        paths.filter_map(|path| file_of(&from_root(file, &path))).collect()
    };
    for file in sources.keys().filter(|file| file.starts_with("api/")) {
        let (mut seen, mut next) = (BTreeSet::new(), imports(file));
        while let Some(other) = next.pop() {
            assert!(other != *file, "{file} imports what imports it");
            if seen.insert(other.clone()) {
                next.extend(imports(&other));
            }
        }
    }
}

#[test]
fn the_views_only_read() {
    for (file, source) in
        sources().iter().filter(|(file, _)| file.starts_with("views/") && !home(file).contains(&"tests"))
    {
        let production = code(source.split("#[cfg(test)]\nmod tests {").next().unwrap());
        for verb in ["INSERT", "UPDATE", "DELETE", ".execute"] {
            assert!(!production.contains(verb), "{file}: {verb}");
        }
    }
}

#[test]
fn main_decides_nothing() {
    let sources = sources();
    let main = code(&sources["main.rs"]);
    assert!(main.lines().count() < 15, "{main}");
    for (at, _) in main.match_indices("docsyncd::") {
        let rest = &main[at + "docsyncd::".len()..];
        assert!(rest.starts_with("commands::"), "{rest}");
    }
}

/// The sandbox is an opinion of its own about the API: it must be able to disagree.
#[test]
fn the_sandbox_imports_nothing_of_docsyncd() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("sandbox");
    let manifest = std::fs::read_to_string(root.join("Cargo.toml")).unwrap();
    assert!(!manifest.lines().any(|line| line.trim_start().starts_with("docsyncd ") || line.contains("path = \"..\"")));
}
