//! For whom a version of a document was decided. The cloud service may correct the patient of a letter and leave its
//! PDF as it is. Whatever was decided, sent or filed before is then another patient's: the letter begins a new edition,
//! which has names, keys, intents and a number of its own, as if it were another PDF.
//!
//! The ledger calls the first edition of a version like its PDF, and the others `PDF/1`, `PDF/2`: no identifier of the
//! API has a slash. A patient is kept as two digests, `IDENTIFIER-PERSON`. What the service did not show is empty, and
//! contradicts nothing. `PERSON` is a digest of all that is known, followed by digests of last name, first name, date of
//! birth, and both names in either order: `ALL:LAST:FIRST:BORN:BOTH`. A practice merges its duplicates, and corrects and
//! completes records. So where two patients differ, the numbers of the practice decide, if both are known; else two of
//! one name and date of birth are one, and so are two of one identifier, unless too much of them differs (`is_edited`).

use std::iter;

/// Begins what is kept of the patient once a person says that the letter was filed by a wrong number: from then on
/// nobody is the same.
pub const WRONG: char = '!';

/// Begins the digest of a person of whom one of the three is not known: there may be several such.
pub const INCOMPLETE: char = '~';

/// The PDF of this version, as the API calls it.
pub fn rendered(version: &str) -> &str {
    version.split_once('/').map_or(version, |(pdf, _)| pdf)
}

/// The number of the edition of this version; the first is 0.
pub fn edition(version: &str) -> u32 {
    version.split_once('/').and_then(|(_, edition)| edition.parse().ok()).unwrap_or(0)
}

fn of_edition(pdf: &str, edition: u32) -> String {
    if edition == 0 { pdf.to_owned() } else { format!("{pdf}/{edition}") }
}

/// The version that this PDF is for the patient `whom`, after `last`, which was for the patient `before` (`None`: that
/// is not known). `has_number` as in [`is_anothers`]. An edition never comes back: a person may have removed its letter
/// from the patient's record since.
pub fn next(last: &str, before: Option<&str>, pdf: &str, whom: &str, has_number: Option<bool>) -> String {
    let is_anothers = before.is_some_and(|before| is_anothers(before, whom, has_number));
    of_edition(pdf, edition(last) + u32::from(is_anothers))
}

/// Whether the patient `whom` is another one than `before`. `has_number`: whether it has the number by which the letter
/// lies there; `None` if one of the two is not known.
pub fn is_anothers(before: &str, whom: &str, has_number: Option<bool>) -> bool {
    differ(before, whom) && has_number.map_or_else(|| merged(before, whom).is_none(), |has_number| !has_number)
}

/// Whether anything that is known of both differs.
pub fn differ(one: &str, other: &str) -> bool {
    let both = one.split_once('-').zip(other.split_once('-'));
    let contradict = |one: &str, other: &str| !one.is_empty() && !other.is_empty() && one != other;
    one.starts_with(WRONG) || both.is_none_or(|(one, other)| contradict(one.0, other.0) || contradict(one.1, other.1))
}

/// Whether `whom` shows another patient than `before`, or something of the same one that was not known.
pub fn is_news(before: &str, whom: &str) -> bool {
    merged(before, whom).is_none_or(|both| both != before)
}

/// What is known of the patient by both; `None` if they are two.
pub fn merged(one: &str, other: &str) -> Option<String> {
    let known = Some(one).filter(|one| !one.starts_with(WRONG));
    let (one, other) = (known?.split_once('-')?, other.split_once('-')?);
    let is_one_person = one.1 == other.1 && !one.1.is_empty() && !one.1.starts_with(INCOMPLETE);
    let is_one_record = one.0.is_empty() || other.0.is_empty() || one.0 == other.0;
    let is_shown = !one.1.is_empty() && !other.1.is_empty();
    let is_edited = is_shown && one.0 == other.0 && !one.0.is_empty() && is_edited(one.1, other.1);
    let is_same = is_one_person || is_edited || is_one_record && (!is_shown || one.1 == other.1);
    let known = |one: &str, other: &str| if other.is_empty() { one.to_owned() } else { other.to_owned() };
    is_same.then(|| format!("{}-{}", known(one.0, other.0), both(one.1, other.1)))
}

/// Whether two versions of one record are of one person: at least two of last name, first name and date of birth are the
/// same, or the names changed places; or nothing contradicts; or the record was incomplete, and one is the same and one
/// differs.
fn is_edited(one: &str, other: &str) -> bool {
    let parts = || iter::zip(one.split(':').skip(1), other.split(':').skip(1));
    let has_both_names = parts().nth(3).is_some_and(|(one, other)| one == other && !one.is_empty());
    let known = || parts().take(3).filter(|(one, other)| !one.is_empty() && !other.is_empty());
    let same = known().filter(|(one, other)| one == other).count();
    let others = known().count() - same;
    let is_completed = one.starts_with(INCOMPLETE) && same > 0 && others == 1;
    parts().next().is_some() && (has_both_names || same > 1 || others == 0 || is_completed)
}

/// What is known of one person by both. What was known stays known if the record is emptied.
fn both(one: &str, other: &str) -> String {
    let parts = || iter::zip(one.split(':'), other.split(':')).skip(1);
    match other.starts_with(INCOMPLETE) && parts().next().is_some() {
        _ if other.is_empty() => one.to_owned(),
        false => other.to_owned(),
        true if parts().all(|(one, other)| one == other || other.is_empty()) => one.to_owned(),
        true => {
            let whole = other.split(':').take(1);
            let known = parts().map(|(one, other)| if other.is_empty() { one } else { other });
            whole.chain(known).collect::<Vec<_>>().join(":")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_patient_begins_an_edition_and_what_is_not_shown_begins_none() {
        for (last, before, pdf, whom, version) in [
            ("", None, "p", "a-1", "p"),
            ("p", Some("a-1"), "p", "a-1", "p"),
            // Two records of one person were merged; of an incomplete one nobody knows.
            ("p", Some("a-1"), "p", "b-1", "p"),
            ("p", Some("a-~1"), "p", "b-~1", "p/1"),
            ("p", Some("a-~1"), "p", "a-~1", "p"),
            // It was completed; and nothing that is known of both is the same.
            ("p", Some("a-~1:x::"), "p", "a-2:x:y:z", "p"),
            ("p", Some("a-~1:x::"), "p", "b-2:x:y:z", "p/1"),
            ("p", Some("a-~1:x::"), "p", "a-2:q:y:z", "p/1"),
            ("p", Some("a-~1:x:w:"), "p", "a-2:x:y:z", "p"),
            ("p", Some("a-1:x:w:z"), "p", "a-~2:x:y:", "p/1"),
            ("p", Some("a-~1:::"), "p", "a-2:x:y:z", "p"),
            ("p", Some("a-1:x:y:z"), "p", "a-~2:::", "p"),
            // The name was corrected; and the record is another patient's now, or it is another one's record.
            ("p", Some("a-1:x:y:z:n"), "p", "a-2:q:y:z:m", "p"),
            ("p", Some("a-1:x:y:z:n"), "p", "a-2:y:x:z:n", "p"),
            ("p", Some("a-1:x:y:z:n"), "p", "a-2:q:r:z:m", "p/1"),
            ("p", Some("a-1:x:y:z"), "p", "a-2:q:r:s", "p/1"),
            ("p", Some("a-1:x:y:z"), "p", "a-2:y:z:x", "p/1"),
            ("p", Some("a-1:x:y:z"), "p", "b-2:q:r:z", "p/1"),
            ("p", Some("-1:x:y:z"), "p", "-2:q:r:z", "p/1"),
            ("p", Some("a-1"), "p", "a-2", "p/1"),
            ("p/1", Some("a-2"), "p", "a-2", "p/1"),
            ("p/1", Some("a-2"), "p", "a-1", "p/2"),
            // Another PDF of the same patient, and of another one.
            ("p/1", Some("a-2"), "q", "a-2", "q/1"),
            ("p/1", Some("a-2"), "q", "a-1", "q/2"),
            // The account may not read the patient, or the letter has none.
            ("p/1", Some("a-2"), "p", "a-", "p/1"),
            ("p", Some("a-"), "p", "a-2", "p"),
            ("p", Some("-"), "p", "a-2", "p"),
            ("p", Some("a-1"), "p", "b-", "p/1"),
            // A person says that it was the wrong number.
            ("p", Some("!-"), "p", "-", "p/1"),
            ("p", Some("!a-1"), "p", "a-1", "p/1"),
            ("", Some("a-1"), "", "a-2", "/1"),
        ] {
            assert_eq!(next(last, before, pdf, whom, None), version, "{last} {before:?} {pdf} {whom}");
            assert_eq!(edition(&next(last, before, pdf, whom, Some(true))), edition(last), "by the same number");
            let is_other = before.is_some_and(|before| differ(before, whom));
            assert_eq!(
                edition(&next(last, before, pdf, whom, Some(false))) > edition(last),
                is_other,
                "{before:?} {whom}"
            );
            assert_eq!(rendered(version), pdf);
        }
    }

    #[test]
    fn what_is_known_of_a_patient_stays_known() {
        for (one, other, both) in [("a-", "a-1", "a-1"), ("a-1", "a-", "a-1"), ("-", "a-1", "a-1"), ("-", "-", "-")] {
            assert_eq!(merged(one, other).as_deref(), Some(both));
        }
        assert_eq!(merged("!-", "-"), None);
        // A record that is emptied, and one of which something was corrected then.
        for (one, other, both) in
            [("a-1:x:y:z:n", "a-~2:x:::", "a-1:x:y:z:n"), ("a-1:x:y:z:n", "a-~2:x:y:w:", "a-~2:x:y:w:n")]
        {
            assert_eq!(merged(one, other).as_deref(), Some(both));
            assert!(!is_news(both, other), "{both} {other}");
        }
        for (before, whom, expected) in
            [("a-", "a-1", true), ("-", "a-1", true), ("a-1", "b-1", true), ("a-1", "a-", false), ("a-1", "a-1", false)]
        {
            assert_eq!(is_news(before, whom), expected, "{before} {whom}");
        }
    }
}
