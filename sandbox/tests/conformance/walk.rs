//! Walks through the query parameters of a list ("Collection query parameters") and compares what comes back with what
//! the items themselves say.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::Value;

use crate::client::uuids;
use crate::harness::{Practice, text};

/// What an item is ordered and filtered by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    Moment(Timestamp),
    Text(String),
}

impl Key {
    /// As a parameter's value.
    fn show(&self) -> String {
        match self {
            Self::Moment(moment) => moment.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}

/// The member's own value: a date-time as a moment, an object by its uuid.
pub fn own(item: &Value, name: &str) -> Option<Key> {
    let value = &item[name];
    match value {
        Value::Null => None,
        Value::Object(_) => Some(Key::Text(text(value, "uuid"))),
        _ => {
            let text = value.as_str().unwrap_or_else(|| panic!("{name} of {item}"));
            Some(text.parse().map_or_else(|_| Key::Text(text.to_owned()), Key::Moment))
        }
    }
}

/// Asserts `order[<name>]` in both directions: the items come in the order of their keys, those without one together at
/// one end, none is lost, and pages cut the same order into pieces.
pub async fn assert_order(practice: &Practice, path: &str, name: &str, key: impl Fn(&Value) -> Option<Key>) {
    let parameter = format!("order[{name}]");
    let everything: BTreeSet<String> = uuids(&practice.all(path).await).into_iter().collect();
    let mut lists = Vec::new();
    for direction in ["asc", "desc"] {
        let list = practice.list(path, &[("itemsPerPage", "100"), (&parameter, direction)]).await;
        assert_eq!(uuids(&list).into_iter().collect::<BTreeSet<_>>(), everything, "{parameter}={direction}");
        let keys: Vec<Option<Key>> = list.iter().map(&key).collect();
        let runs_of_null = keys.chunk_by(|one, next| one.is_none() == next.is_none()).count();
        assert!(runs_of_null <= 2, "{parameter}={direction}: {keys:?}");
        let values: Vec<&Key> = keys.iter().flatten().collect();
        let wrong = if direction == "asc" { Ordering::Greater } else { Ordering::Less };
        assert!(values.windows(2).all(|pair| pair[0].cmp(pair[1]) != wrong), "{parameter}={direction}: {keys:?}");
        let distinct: BTreeSet<&Key> = values.into_iter().collect();
        assert!(distinct.len() > 1, "the samples for {parameter} are all alike");
        let mut pages = Vec::new();
        for page in 1..=everything.len().div_ceil(7) {
            let query = [("itemsPerPage", "7"), ("page", &page.to_string()), (&parameter, direction)];
            pages.extend(uuids(&practice.list(path, &query).await));
        }
        assert_eq!(pages, uuids(&list), "{parameter}={direction}");
        lists.push(keys);
    }
    assert_ne!(lists[0], lists[1], "{parameter} has no direction");
    assert_order_is_checked(practice, path, &parameter).await;
}

/// Asserts an order that no shown member tells of: it is taken, in both directions, and no item is lost.
pub async fn assert_order_is_taken(practice: &Practice, path: &str, name: &str) {
    let parameter = format!("order[{name}]");
    let everything: BTreeSet<String> = uuids(&practice.all(path).await).into_iter().collect();
    for direction in ["asc", "desc"] {
        let list = practice.list(path, &[("itemsPerPage", "100"), (&parameter, direction)]).await;
        assert_eq!(uuids(&list).into_iter().collect::<BTreeSet<_>>(), everything, "{parameter}={direction}");
    }
    assert_order_is_checked(practice, path, &parameter).await;
}

async fn assert_order_is_checked(practice: &Practice, path: &str, parameter: &str) {
    for direction in ["up", "", "1"] {
        practice.assert_refused(path, &[(parameter, direction)]).await;
    }
}

/// Asserts an exact filter: one value, one value in the form `<name>[]`, two values, and a value that nothing has.
pub async fn assert_exact(practice: &Practice, path: &str, name: &str, keys: impl Fn(&Value) -> Vec<Key>) {
    let everything = practice.all(path).await;
    let known: BTreeSet<Key> = everything.iter().flat_map(&keys).collect();
    assert!(known.len() > 1, "the samples for {name} are all alike");
    let (first, last) = (known.first().unwrap(), known.last().unwrap());
    let having = |wanted: &[&Key]| -> BTreeSet<String> {
        let fits = |item: &&Value| keys(item).iter().any(|key| wanted.contains(&key));
        everything.iter().filter(fits).map(|item| text(item, "uuid")).collect()
    };
    let several = format!("{name}[]");
    for (query, expected) in [
        (vec![(name, first.show())], having(&[first])),
        (vec![(name, last.show())], having(&[last])),
        (vec![(several.as_str(), first.show())], having(&[first])),
        (vec![(several.as_str(), first.show()), (several.as_str(), last.show())], having(&[first, last])),
        (vec![(several.as_str(), last.show()), (several.as_str(), "nobody has this".into())], having(&[last])),
        (vec![(name, "nobody has this".into())], BTreeSet::new()),
        (vec![(several.as_str(), "nobody has this".into())], BTreeSet::new()),
    ] {
        let query: Vec<(&str, &str)> = query.iter().map(|(name, value)| (*name, value.as_str())).collect();
        assert_eq!(found(practice, path, &query).await, expected, "{query:?}");
    }
}

/// [`assert_exact`] for a filter named as a member of the items.
pub async fn assert_exact_member(practice: &Practice, path: &str, name: &str) {
    let texts = |item: &Value| match &item[name] {
        Value::String(text) => vec![Key::Text(text.clone())],
        other => own(&serde_json::json!({ "it": other }), "it").into_iter().collect(),
    };
    assert_exact(practice, path, name, texts).await;
}

/// Asserts `[between]`, `[gt]`, `[gte]`, `[lt]` and `[lte]` by the items' own dates, also beyond them on both sides.
pub async fn assert_date_filters(practice: &Practice, path: &str, name: &str) {
    let everything = practice.all(path).await;
    let date = |item: &Value| match own(item, name) {
        Some(Key::Moment(moment)) => Some(moment),
        None => None,
        Some(Key::Text(text)) => panic!("{name} {text} is no date-time"),
    };
    let known: Vec<Timestamp> = everything.iter().filter_map(date).collect::<BTreeSet<_>>().into_iter().collect();
    assert!(known.len() > 3, "the samples for {name} are all alike");
    let (low, high) = (known[known.len() / 3], known[known.len() * 2 / 3]);
    assert!(low < high);
    for pivot in [low, high, known[0], *known.last().unwrap()] {
        for (comparison, fits) in [
            ("gt", (|date, pivot| date > pivot) as fn(Timestamp, Timestamp) -> bool),
            ("gte", |date, pivot| date >= pivot),
            ("lt", |date, pivot| date < pivot),
            ("lte", |date, pivot| date <= pivot),
        ] {
            let expected = having(&everything, |item| date(item).is_some_and(|date| fits(date, pivot)));
            let query = [(&*format!("{name}[{comparison}]"), &*pivot.to_string())];
            assert_eq!(found(practice, path, &query).await, expected, "{query:?}");
        }
    }
    let expected = having(&everything, |item| date(item).is_some_and(|date| low <= date && date <= high));
    let query = [(&*format!("{name}[between]"), &*format!("{low}..{high}"))];
    assert_eq!(found(practice, path, &query).await, expected, "{query:?}");
    let expected = having(&everything, |item| date(item).is_some_and(|date| low < date && date < high));
    let query = [(&*format!("{name}[gt]"), &*low.to_string()), (&*format!("{name}[lt]"), &*high.to_string())];
    assert_eq!(found(practice, path, &query).await, expected, "{query:?}");
    for comparison in ["between", "gt", "gte", "lt", "lte"] {
        for value in ["yesterday", "", "2025-13-01"] {
            practice.assert_refused(path, &[(&format!("{name}[{comparison}]"), value)]).await;
        }
    }
}

/// Asserts a boolean parameter both ways.
pub async fn assert_flag(practice: &Practice, path: &str, name: &str, holds: impl Fn(&Value) -> bool) {
    let everything = practice.all(path).await;
    let (yes, no) = (having(&everything, &holds), having(&everything, |item| !holds(item)));
    assert!(!yes.is_empty() && !no.is_empty(), "the samples for {name} are all alike");
    assert_eq!(found(practice, path, &[(name, "true")]).await, yes, "{name}=true");
    assert_eq!(found(practice, path, &[(name, "false")]).await, no, "{name}=false");
    for value in ["perhaps", "", "2"] {
        practice.assert_refused(path, &[(name, value)]).await;
    }
}

/// Asserts `search` with an item that is found under each of these words, in other cases and without accents, and that
/// is not found when one word more does not occur.
pub async fn assert_search(practice: &Practice, path: &str, uuid: &str, words: &[&str]) {
    let everything = practice.all(path).await.len();
    for word in words {
        let found = found(practice, path, &[("search", word)]).await;
        assert!(found.contains(uuid), "search={word} found {found:?}");
        assert!(found.len() < everything, "search={word} leaves nothing out");
        let query = [("search", &*format!("{word} qqxyzzy"))];
        assert_eq!(self::found(practice, path, &query).await, BTreeSet::new(), "{query:?}");
    }
    let query = [("search", &*words.join(" "))];
    assert!(found(practice, path, &query).await.contains(uuid), "{query:?}");
    assert_eq!(found(practice, path, &[("search", "qqxyzzy")]).await, BTreeSet::new());
    assert_eq!(found(practice, path, &[("search", "")]).await.len(), everything);
}

async fn found(practice: &Practice, path: &str, query: &[(&str, &str)]) -> BTreeSet<String> {
    let mut query = query.to_vec();
    query.push(("itemsPerPage", "100"));
    uuids(&practice.list(path, &query).await).into_iter().collect()
}

fn having(items: &[Value], holds: impl Fn(&Value) -> bool) -> BTreeSet<String> {
    items.iter().filter(|item| holds(item)).map(|item| text(item, "uuid")).collect()
}
