//! Lists that a service answers with: the patients who may be meant, and the documents that it keeps.
//!
//! Pure. It never guesses: an entry counts only if it has everything that is wanted, and only if it is the only one.

use serde_json::{Map, Value};

use super::failed::{is_empty, says_error};
use crate::domain::reservation::caseless;

/// Services with paged lists have at most so many entries on the first page: more than one page means that nothing was
/// filtered.
const A_PAGE: usize = 100;

/// The names of arrays that report errors.
const OF_NO_LIST: [&str; 8] = ["error", "errors", "warning", "warnings", "detail", "details", "message", "messages"];

/// The fields of an entry, and their values.
pub(super) type FieldValues = [(String, String)];

/// The patient who was found.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Judged {
    /// One: the service's identifier.
    One(Value),
    /// Nobody.
    Nobody,
    /// More than one, or so many entries that there may be more.
    Several,
    /// One, without a usable identifier.
    Unusable,
}

/// A list, or the first part of one.
#[derive(Debug, PartialEq)]
pub(super) struct Listed {
    pub(super) entries: Vec<Value>,
    /// Whether the answer says that there are more.
    pub(super) is_part: bool,
}

/// The entries of an answer: objects, in an array or in the only array of an object. `None` if it reports an error, or
/// is no list.
pub(super) fn listed(answer: Value) -> Option<Listed> {
    let (fields, entries) = match answer {
        Value::Array(entries) => (Map::new(), entries),
        Value::Object(mut fields) => {
            let mut arrays = fields.iter().filter(|(_, field)| field.is_array()).map(|(name, _)| name.clone());
            let (name, None) = (arrays.next()?, arrays.next()) else { return None };
            let Some(Value::Array(entries)) = fields.remove(&name) else { return None };
            if OF_NO_LIST.contains(&name.to_ascii_lowercase().as_str())
                || fields.iter().any(|(name, field)| says_error(name, field))
            {
                return None;
            }
            (fields, entries)
        }
        _ => return None,
    };
    let counts_more = |field: &Value| field.as_u64().is_some_and(|count| count > entries.len() as u64);
    let is_part = fields.iter().any(|(name, field)| match name.to_ascii_lowercase().as_str() {
        "next" | "nextlink" | "@odata.nextlink" | "hasmore" | "has_more" => !is_empty(field),
        "count" | "total" | "totalcount" | "total_count" | "@odata.count" => counts_more(field),
        _ => false,
    });
    entries.iter().all(Value::is_object).then_some(Listed { entries, is_part })
}

/// The wanted entry, as `field` identifies it.
pub(super) fn judge(listed: &Listed, wanted: &FieldValues, field: &str) -> Judged {
    let entries = &listed.entries;
    let is_wanted = |entry: &&Value| wanted.iter().all(|(name, value)| is_same(entry.get(name), value));
    let mut found = entries.iter().filter(is_wanted);
    match (found.next(), found.next()) {
        (_, Some(_)) => Judged::Several,
        _ if listed.is_part || entries.len() >= A_PAGE => Judged::Several,
        (None, None) => Judged::Nobody,
        (Some(entry), None) => match entry.get(field) {
            Some(Value::Number(number)) if number.as_u64().is_some_and(|number| number > 0) => {
                Judged::One(number.clone().into())
            }
            Some(Value::String(text)) if !text.trim().is_empty() => Judged::One(text.trim().into()),
            _ => Judged::Unusable,
        },
    }
}

/// Whether both are the same but for letter case, normalisation and white space. An empty text matches nothing.
fn is_same(field: Option<&Value>, wanted: &str) -> bool {
    let folded = |text: &str| caseless(text).split_whitespace().collect::<Vec<_>>().join(" ");
    let wanted = folded(wanted);
    !wanted.is_empty() && field.and_then(text).is_some_and(|text| folded(&text) == wanted)
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Whether an entry has all the marks in its fields, each as a whole word.
pub(super) fn is_marked(entry: &Value, marks: &FieldValues) -> bool {
    !marks.is_empty()
        && marks.iter().all(|(name, mark)| entry.get(name).and_then(text).is_some_and(|text| holds(&text, mark.trim())))
}

/// Whether the mark is in the text, and not within a longer word.
fn holds(text: &str, mark: &str) -> bool {
    let ends = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    !mark.is_empty()
        && text.match_indices(mark).any(|(at, _)| {
            let (before, after) = (text.get(..at), text.get(at + mark.len()..));
            ends(before.and_then(|text| text.chars().next_back())) && ends(after.and_then(|text| text.chars().next()))
        })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    fn smith(number: Value, last: &str, first: &str, born: &str) -> Value {
        json!({"PatNum": number, "LName": last, "FName": first, "Birthdate": born})
    }

    #[test]
    fn exactly_one_entry_that_holds_everything_is_the_patient() {
        let wanted = pairs(&[("LName", "Muster"), ("FName", "Zoé"), ("Birthdate", "1980-03-12")]);
        let right = || smith(7.into(), "Muster", "Zoé", "1980-03-12");
        let other = |number: u64| smith(number.into(), "Musterfrau", "Zoé", "1980-03-12");
        for (entries, expected) in [
            (vec![right()], Judged::One(7.into())),
            (vec![], Judged::Nobody),
            (vec![right(), smith(8.into(), "Muster", "Zoé", "1980-03-12")], Judged::Several),
            // The same entry twice proves nothing.
            (vec![right(), right()], Judged::Several),
            // Twins of one name, and entries that a filter by parts of names lets through.
            (vec![right(), smith(8.into(), "Muster", "Zoé", "1980-03-13"), other(9)], Judged::One(7.into())),
            (vec![smith(8.into(), "Muster", "Zoé", "1980-03-13")], Judged::Nobody),
            (vec![other(9), smith(8.into(), "Muster", "Zoé-Anne", "1980-03-12")], Judged::Nobody),
            // Letter case, white space and the form of an accent make no difference; an accent itself does.
            (vec![smith(7.into(), " MUSTER", "Zoe\u{301}", "1980-03-12")], Judged::One(7.into())),
            (vec![smith(7.into(), "Muster", "Zoe", "1980-03-12")], Judged::Nobody),
            (vec![json!({"PatNum": 7, "LName": "Muster", "FName": "Zoé"})], Judged::Nobody),
            (vec![json!("Muster"), json!(null), right()], Judged::One(7.into())),
            // Texts can identify as well; empty ones, 0 and -1 cannot.
            (vec![smith("P-7 ".into(), "Muster", "Zoé", "1980-03-12")], Judged::One("P-7".into())),
            (vec![smith(0.into(), "Muster", "Zoé", "1980-03-12")], Judged::Unusable),
            (vec![smith((-1).into(), "Muster", "Zoé", "1980-03-12")], Judged::Unusable),
            (vec![smith(" ".into(), "Muster", "Zoé", "1980-03-12")], Judged::Unusable),
            (vec![smith(json!([7]), "Muster", "Zoé", "1980-03-12")], Judged::Unusable),
            // A whole page: the next one may have another.
            ((1..100).map(other).chain([right()]).collect(), Judged::Several),
            ((1..99).map(other).chain([right()]).collect(), Judged::One(7.into())),
        ] {
            let listed = Listed { entries, is_part: false };
            assert_eq!(judge(&listed, &wanted, "PatNum"), expected, "{listed:?}");
            let part = Listed { is_part: true, ..listed };
            assert_eq!(judge(&part, &wanted, "PatNum"), Judged::Several, "{part:?}");
        }
        // An unknown value does not match an empty field.
        let unknown = pairs(&[("LName", "Muster"), ("Birthdate", " ")]);
        let entries = vec![json!({"PatNum": 7, "LName": "Muster", "Birthdate": ""})];
        assert_eq!(judge(&Listed { entries, is_part: false }, &unknown, "PatNum"), Judged::Nobody);
    }

    #[test]
    fn a_list_is_an_array_or_the_only_one_in_an_object_that_tells_of_no_error() {
        for (answer, count) in [
            (json!([{}, {}]), Some(2)),
            (json!([]), Some(0)),
            (json!({"total": 1, "items": [{}]}), Some(1)),
            (json!({"items": [], "error": null, "success": true, "status": "ok"}), Some(0)),
            (json!({"items": [{}], "warnings": []}), None),
            (json!({"error": "no"}), None),
            (json!("no"), None),
            (json!([1, 2]), None),
            (json!([{}, null]), None),
            (json!({"errors": ["database is locked"]}), None),
            (json!({"Errors": []}), None),
            (json!({"details": [{}]}), None),
            (json!({"status": "error", "documents": null, "details": []}), None),
            (json!({"status": "Error", "documents": []}), None),
            (json!({"success": false, "documents": []}), None),
            (json!({"status": 404, "documents": []}), None),
            (json!({"error": {"code": 5}, "documents": []}), None),
            (json!({"message": "nobody found", "documents": []}), Some(0)),
        ] {
            assert_eq!(listed(answer.clone()).map(|listed| listed.entries.len()), count, "{answer}");
        }
    }

    #[test]
    fn a_list_that_says_that_there_is_more_is_no_whole_one() {
        for (answer, is_part) in [
            (json!([{}]), false),
            (json!({"count": 1, "next": null, "results": [{}]}), false),
            (json!({"next": "", "results": [{}]}), false),
            (json!({"hasMore": false, "results": [{}]}), false),
            (json!({"count": 2, "results": [{}]}), true),
            (json!({"total": 2, "results": [{}]}), true),
            (json!({"totalCount": 2, "results": [{}]}), true),
            (json!({"next": "https://h.test/?page=2", "results": [{}]}), true),
            (json!({"nextLink": "/2", "results": [{}]}), true),
            (json!({"@odata.nextLink": "/2", "value": [{}]}), true),
            (json!({"hasMore": true, "results": [{}]}), true),
        ] {
            assert_eq!(listed(answer.clone()).unwrap().is_part, is_part, "{answer}");
        }
    }

    #[test]
    fn a_mark_counts_as_a_word_of_its_own_and_nothing_less() {
        let marks = pairs(&[("Description", "0123456789abcdef0123")]);
        for (description, expected) in [
            ("lab_slip (docsyncd 0123456789abcdef0123)", true),
            ("0123456789abcdef0123", true),
            ("0123456789abcdef01234", false),
            ("a0123456789abcdef0123", false),
            ("0123456789abcdef012", false),
            ("0123456789ABCDEF0123", false),
            ("a0123456789abcdef0123 0123456789abcdef0123", true),
            ("", false),
        ] {
            assert_eq!(is_marked(&json!({"Description": description}), &marks), expected, "{description}");
        }
        assert!(!is_marked(&json!({"Note": "0123456789abcdef0123"}), &marks));
        assert!(!is_marked(&json!({"Description": "x"}), &pairs(&[])), "nothing marks nothing");
        assert!(!is_marked(&json!({"Description": "x"}), &pairs(&[("Description", "")])));
    }
}
