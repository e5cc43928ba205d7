//! Lists that a service answers with: the patients who may be meant, and the documents that it keeps.
//!
//! Pure. Nobody is guessed: an entry counts only when it holds everything that is wanted, and only when it is the only one.

use serde_json::Value;

use crate::reservation::caseless;

/// Services that give lists in pages have at most so many entries in the first: more than one page says that nothing was filtered.
const A_PAGE: usize = 100;

/// Fields of an entry, and what they hold.
pub(super) type Wanted = [(String, String)];

/// Who was found.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Judged {
    /// One: what identifies it there.
    One(Value),
    /// Nobody.
    Nobody,
    /// More than one, or so many entries that there may be more.
    Several,
    /// One, and nothing that could identify it.
    Unusable,
}

/// The entries of an answer: those of an array, or of the one array in an object.
pub(super) fn entries(answer: Value) -> Option<Vec<Value>> {
    match answer {
        Value::Array(entries) => Some(entries),
        Value::Object(fields) => {
            let mut arrays = fields.into_iter().filter_map(|(_, field)| match field {
                Value::Array(entries) => Some(entries),
                _ => None,
            });
            let first = arrays.next();
            if arrays.next().is_some() { None } else { first }
        }
        _ => None,
    }
}

/// Who of them is wanted, as `field` identifies it.
pub(super) fn judge(entries: &[Value], wanted: &Wanted, field: &str) -> Judged {
    let is_wanted = |entry: &&Value| wanted.iter().all(|(name, value)| is_same(entry.get(name), value));
    let mut found = entries.iter().filter(is_wanted);
    match (found.next(), found.next()) {
        (_, Some(_)) => Judged::Several,
        _ if entries.len() >= A_PAGE => Judged::Several,
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

/// Whether both are the same but for letter case, normalisation and white space. What is empty is the same as nothing.
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

/// Whether an entry has all the marks in its fields, each as words of its own.
pub(super) fn is_marked(entry: &Value, marks: &Wanted) -> bool {
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
            // The same entry twice is no proof of anything.
            (vec![right(), right()], Judged::Several),
            // Twins of one name, and what a filter by parts of names lets through.
            (vec![right(), smith(8.into(), "Muster", "Zoé", "1980-03-13"), other(9)], Judged::One(7.into())),
            (vec![smith(8.into(), "Muster", "Zoé", "1980-03-13")], Judged::Nobody),
            (vec![other(9), smith(8.into(), "Muster", "Zoé-Anne", "1980-03-12")], Judged::Nobody),
            // Letter case, white space and how an accent is written are no difference; an accent is one.
            (vec![smith(7.into(), " MUSTER", "Zoe\u{301}", "1980-03-12")], Judged::One(7.into())),
            (vec![smith(7.into(), "Muster", "Zoe", "1980-03-12")], Judged::Nobody),
            (vec![json!({"PatNum": 7, "LName": "Muster", "FName": "Zoé"})], Judged::Nobody),
            (vec![json!("Muster"), json!(null), right()], Judged::One(7.into())),
            // Texts can identify as well; nothing, 0 and -1 cannot.
            (vec![smith("P-7 ".into(), "Muster", "Zoé", "1980-03-12")], Judged::One("P-7".into())),
            (vec![smith(0.into(), "Muster", "Zoé", "1980-03-12")], Judged::Unusable),
            (vec![smith((-1).into(), "Muster", "Zoé", "1980-03-12")], Judged::Unusable),
            (vec![smith(" ".into(), "Muster", "Zoé", "1980-03-12")], Judged::Unusable),
            (vec![smith(json!([7]), "Muster", "Zoé", "1980-03-12")], Judged::Unusable),
            // A whole page: there may be another one on the next.
            ((1..100).map(other).chain([right()]).collect(), Judged::Several),
            ((1..99).map(other).chain([right()]).collect(), Judged::One(7.into())),
        ] {
            assert_eq!(judge(&entries, &wanted, "PatNum"), expected, "{entries:?}");
        }
        // What is not known of the patient is no match for what is not known there.
        let unknown = pairs(&[("LName", "Muster"), ("Birthdate", " ")]);
        assert_eq!(
            judge(&[json!({"PatNum": 7, "LName": "Muster", "Birthdate": ""})], &unknown, "PatNum"),
            Judged::Nobody
        );
    }

    #[test]
    fn a_list_is_an_array_or_the_only_one_in_an_object() {
        for (answer, count) in [
            (json!([1, 2]), Some(2)),
            (json!({"total": 1, "items": [1]}), Some(1)),
            (json!({"items": [1], "warnings": []}), None),
            (json!({"error": "no"}), None),
            (json!("no"), None),
        ] {
            assert_eq!(entries(answer.clone()).map(|entries| entries.len()), count, "{answer}");
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
