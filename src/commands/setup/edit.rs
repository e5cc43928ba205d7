//! Changes the text of a configuration and keeps everything else: remarks, order, blank lines. Pure.
//!
//! An existing key gets another value. An example behind `#` is put into force at its place. Any other key is added to
//! its table. A value without meaning is commented out, not removed.

use toml_edit::{Array, ArrayOfTables, Document, DocumentMut, Item, Table, TableLike, Value};

/// The place of a value: `[section]` or `[section.instance]`, and the key. Without a section, above all tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct KeyPlace<'a> {
    pub(super) section: &'a str,
    pub(super) instance: Option<&'a str>,
    pub(super) key: &'a str,
}

impl KeyPlace<'_> {
    fn header(&self) -> String {
        match self.instance {
            Some(instance) => format!("[{}.{instance}]", self.section),
            None => format!("[{}]", self.section),
        }
    }
}

/// The value at this place.
pub(super) fn get(text: &str, place: KeyPlace<'_>) -> Option<Value> {
    let document = text.parse::<DocumentMut>().ok()?;
    let mut table: &dyn TableLike = document.as_table();
    if !place.section.is_empty() {
        table = table.get(place.section)?.as_table_like()?;
    }
    if let Some(instance) = place.instance {
        table = table.get(instance)?.as_table_like()?;
    }
    table.get(place.key)?.as_value().cloned()
}

/// The text with this value at this place.
///
/// # Errors
/// A sentence: the text is no TOML, or the table's place is taken by something else.
pub(super) fn set(text: &str, place: KeyPlace<'_>, value: Value) -> Result<String, String> {
    if get(text, place).is_none()
        && let Some(line) = example(text, place)
    {
        let in_force = format!("{} = {}", place.key, value.decorated(" ", "").to_string().trim());
        let lines: Vec<&str> =
            text.lines().enumerate().map(|(at, old)| if at == line { &*in_force } else { old }).collect();
        return Ok(lines.join("\n") + if text.ends_with('\n') { "\n" } else { "" });
    }
    let mut document = text.parse::<DocumentMut>().map_err(|error| error.to_string())?;
    let in_the_way = || format!("{} is no table in this file", place.header());
    let mut table: &mut dyn TableLike = document.as_table_mut();
    if !place.section.is_empty() {
        table = below(table, place.section, place.instance.is_some()).ok_or_else(in_the_way)?;
    }
    if let Some(instance) = place.instance {
        table = below(table, instance, false).ok_or_else(in_the_way)?;
    }
    match table.get_mut(place.key).and_then(Item::as_value_mut) {
        Some(old) => {
            let decor = old.decor().clone();
            *old = value;
            *old.decor_mut() = decor;
        }
        None => drop(table.insert(place.key, Item::Value(value))),
    }
    Ok(document.to_string())
}

/// The letters that another destination gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Letters {
    /// Every letter. The present destinations keep theirs.
    All,
    /// Letters of these types. The present destinations keep them, too.
    Also(Vec<String>),
    /// Letters of these types. No other destination gets them.
    Only(Vec<String>),
}

/// The text with a route to `name`. Without routes, all letters go to `others`.
///
/// # Errors
/// A sentence: the text is no TOML, or its routes have another form.
pub(super) fn route(text: &str, name: &str, letters: &Letters, others: &[String]) -> Result<String, String> {
    let mut document = text.parse::<DocumentMut>().map_err(|error| error.to_string())?;
    let list = |names: &[String]| names.iter().map(String::as_str).collect::<Array>();
    let item = document.entry("routes").or_insert_with(|| {
        let mut usual = Table::new();
        usual.insert("to", Item::Value(list(others).into()));
        let mut routes = ArrayOfTables::new();
        routes.push(usual);
        Item::ArrayOfTables(routes)
    });
    let wrong = || "the routes of this file are written in a way that only a person can change".to_owned();
    let routes = item.as_array_of_tables_mut().ok_or_else(wrong)?;
    if *letters == Letters::All {
        for route in routes.iter_mut() {
            route.get_mut("to").and_then(Item::as_array_mut).ok_or_else(wrong)?.push(name);
        }
        return Ok(document.to_string());
    }
    let (types, also) = match letters {
        Letters::Also(types) => (types.as_slice(), others),
        Letters::Only(types) => (types.as_slice(), &[][..]),
        Letters::All => return Ok(document.to_string()),
    };
    let mut first = Table::new();
    let to: Vec<String> = also.iter().cloned().chain([name.to_owned()]).collect();
    first.insert("types", Item::Value(list(types).into()));
    first.insert("to", Item::Value(list(&to).into()));
    first.decor_mut().set_prefix("\n");
    // The first route that matches counts, so the new one stands before the others.
    first.set_position(routes.get(0).and_then(Table::position));
    routes.insert(0, first);
    Ok(document.to_string())
}

/// The text with this key commented out; unchanged without the key.
pub(super) fn comment_out(text: &str, place: KeyPlace<'_>) -> String {
    let Ok(document) = Document::parse(text) else { return text.to_owned() };
    let mut table = document.get(place.section).and_then(Item::as_table_like);
    if let Some(instance) = place.instance {
        table = table.and_then(|tables| tables.get(instance)).and_then(Item::as_table_like);
    }
    let found = table.and_then(|table| table.get_key_value(place.key));
    let Some((Some(begins), Some(ends))) = found.map(|(key, item)| (key.span(), item.span())) else {
        return text.to_owned();
    };
    let line_of = |offset: usize| text.bytes().take(offset).filter(|byte| *byte == b'\n').count();
    let (first, last) = (line_of(begins.start), line_of(ends.end));
    let marked = text.split('\n').enumerate().map(|(at, line)| match at {
        at if (first..=last).contains(&at) => format!("#{line}"),
        _ => line.to_owned(),
    });
    marked.collect::<Vec<_>>().join("\n")
}

/// The keys of the table.
pub(super) fn keys(text: &str, section: &str, instance: Option<&str>) -> Vec<String> {
    let document = text.parse::<DocumentMut>().unwrap_or_default();
    let mut table = document.get(section).and_then(Item::as_table_like);
    if let Some(instance) = instance {
        table = table.and_then(|tables| tables.get(instance)).and_then(Item::as_table_like);
    }
    let values = table.into_iter().flat_map(TableLike::iter).filter(|(_, item)| item.is_value());
    values.map(|(key, _)| key.to_owned()).collect()
}

/// The table of this name, created if it is missing. A table that only holds tables gets no line of its own.
fn below<'a>(table: &'a mut dyn TableLike, name: &str, holds_tables: bool) -> Option<&'a mut dyn TableLike> {
    if table.get(name).is_none() {
        let mut new = Table::new();
        new.set_implicit(holds_tables);
        table.insert(name, Item::Table(new));
    }
    table.get_mut(name)?.as_table_like_mut()
}

/// The line of its own table where the key is an example behind `#`.
fn example(text: &str, place: KeyPlace<'_>) -> Option<usize> {
    let header = place.header();
    let is_header = |line: &str| {
        line == header || line.strip_prefix(&header).is_some_and(|rest| rest.trim_start().starts_with('#'))
    };
    let is_top = place.section.is_empty();
    let lines = text.lines().enumerate().skip_while(|(_, line)| !is_top && !is_header(line.trim()));
    let lines = lines.skip(usize::from(!is_top));
    let mut in_table = lines.take_while(|(_, line)| !line.starts_with('[') && !line.starts_with("#["));
    let is_example = |line: &str| {
        let rest = line.strip_prefix('#').and_then(|line| line.strip_prefix(place.key));
        rest.is_some_and(|rest| rest.trim_start().starts_with('='))
    };
    in_table.find(|(_, line)| is_example(line)).map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place<'a>(section: &'a str, instance: &'a str, key: &'a str) -> KeyPlace<'a> {
        KeyPlace { section, instance: (!instance.is_empty()).then_some(instance), key }
    }

    #[test]
    fn a_value_changes_where_it_stands_and_everything_else_stays() {
        let text = "# mine\n[api] # here\nbase_url = \"https://a.test\"  # ours\n\n# end\n";
        let changed = set(text, place("api", "", "base_url"), "https://b.test".into()).unwrap();
        assert_eq!(changed, text.replace("a.test", "b.test"));
        let added = set(text, place("api", "", "timeout"), "5s".into()).unwrap();
        assert_eq!(added, text.replace("# ours\n", "# ours\ntimeout = \"5s\"\n"));
    }

    #[test]
    fn an_example_behind_a_hash_is_put_into_force_where_it_stands() {
        let text = crate::config::template();
        let changed = set(text, place("destinations", "pms", "reader"), "clinic".into()).unwrap();
        assert_eq!(changed, text.replace("#reader = \"practice\"", "reader = \"clinic\""));
        // Sets the `timeout` of `[api]`, not that of another table that is an example as a whole.
        let changed = set(text, place("destinations", "pms", "timeout"), "5s".into()).unwrap();
        assert!(changed.contains("#timeout = \"60s\"") && changed.contains("#timeout = \"30s\""), "{changed}");
        assert_eq!(changed.lines().count(), text.lines().count() + 1);
    }

    #[test]
    fn what_stands_above_all_tables_is_set_there() {
        let text = crate::config::template();
        let changed = set(text, place("", "", "language"), "fr".into()).unwrap();
        assert_eq!(changed, text.replacen("#language = \"de\"", "language = \"fr\"", 1));
        assert_eq!(get(&changed, place("", "", "language")).unwrap().as_str(), Some("fr"));
        let bare = set("# mine\n[api]\nbase_url = \"x\"\n", place("", "", "language"), "de".into()).unwrap();
        assert_eq!(get(&bare, place("", "", "language")).unwrap().as_str(), Some("de"), "{bare}");
        assert!(bare.contains("# mine\n[api]\nbase_url"), "{bare}");
    }

    #[test]
    fn a_table_that_is_missing_is_added_and_one_written_inline_is_changed() {
        let changed = set("[api]\nbase_url = \"x\"\n", place("accounts", "main", "auth"), "oauth".into()).unwrap();
        assert_eq!(changed, "[api]\nbase_url = \"x\"\n\n[accounts.main]\nauth = \"oauth\"\n");
        let inline = "accounts = { main = { auth = \"api_key\" } } # mine\n";
        let changed = set(inline, place("accounts", "main", "auth"), "oauth".into()).unwrap();
        assert_eq!(changed, inline.replace("api_key", "oauth"));
        assert!(set("api = 3\n", place("api", "", "base_url"), "x".into()).is_err());
    }

    #[test]
    fn another_destination_gets_its_route_before_those_that_are_there() {
        let text = "[destinations.pms]\ntype = \"folder\"\n\n# end\n[log]\nlevel = \"info\"\n";
        let pms = ["pms".to_owned()];
        let types = vec!["lab_slip".to_owned()];
        let all = route(text, "lab", &Letters::All, &pms).unwrap();
        assert_eq!(all, format!("{text}\n[[routes]]\nto = [\"pms\", \"lab\"]\n"));
        let also = route(text, "lab", &Letters::Also(types.clone()), &pms).unwrap();
        let first = "\n[[routes]]\ntypes = [\"lab_slip\"]\nto = [\"pms\", \"lab\"]\n";
        assert_eq!(also, format!("{text}{first}\n[[routes]]\nto = [\"pms\"]\n"));
        // Existing routes keep their place and their remarks.
        let with = format!("# ours\n[[routes]]\nto = [\"pms\"] # all\n\n{text}");
        let only = route(&with, "lab", &Letters::Only(types), &pms).unwrap();
        let (at, before) = (only.find("to = [\"lab\"]").unwrap(), only.find("# ours").unwrap());
        assert!(at < before && only.contains("to = [\"pms\"] # all\n") && only.ends_with(text), "{only}");
        let all = route(&with, "lab", &Letters::All, &pms).unwrap();
        assert!(all.contains("# ours\n[[routes]]\nto = [\"pms\", \"lab\"] # all\n"), "{all}");
    }

    #[test]
    fn what_is_not_meant_any_more_is_put_behind_a_hash_also_over_several_lines() {
        let text = "[destinations.pms]\ntype = \"folder\"\nsidecar = \"\"\"\na\nb\n\"\"\"\n# end\n";
        let changed = comment_out(text, place("destinations", "pms", "sidecar"));
        assert_eq!(changed, "[destinations.pms]\ntype = \"folder\"\n#sidecar = \"\"\"\n#a\n#b\n#\"\"\"\n# end\n");
        assert_eq!(comment_out(text, place("destinations", "pms", "path")), text);
        assert_eq!(comment_out(text, place("destinations", "other", "type")), text);
    }

    #[test]
    fn lines_that_end_as_on_windows_go_on_to_do_so_where_nothing_changed() {
        let text = "[api]\r\nbase_url = \"a\"\r\n# end\r\n";
        let changed = set(text, place("api", "", "base_url"), "b".into()).unwrap();
        assert_eq!(changed.matches("# end").count(), 1);
        assert!(changed.contains("base_url = \"b\""), "{changed}");
    }
}
