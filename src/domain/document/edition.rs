//! For whom a version of a document was decided. The cloud service may correct the patient of a letter and leave its
//! PDF as it is. Whatever was decided, sent or filed before is then another patient's: the letter begins a new edition,
//! which has names, keys, intents and a number of its own, as if it were another PDF.
//!
//! The ledger calls the first edition of a version like its PDF, and the others `PDF/1`, `PDF/2`: no identifier of the
//! API has a slash. A patient is kept as two digests, `IDENTIFIER-PERSON`. What the service did not show is empty, and
//! contradicts nothing. A practice merges its duplicates and corrects names. So where the two differ, the numbers of
//! the practice decide, if both are known; else two patients of one name and date of birth are one.

use std::iter;

/// Begins what is kept of the patient once a person says that the letter was filed by a wrong number: from then on
/// nobody is the same.
pub const WRONG: char = '!';

/// Begins the digest of a person whose name or date of birth is not known: there may be several such.
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

/// What is known of the patient by both; `None` if they are two.
pub fn merged(one: &str, other: &str) -> Option<String> {
    let known = Some(one).filter(|one| !one.starts_with(WRONG));
    let (one, other) = (known?.split_once('-')?, other.split_once('-')?);
    let is_one_person = one.1 == other.1 && !one.1.is_empty() && !one.1.starts_with(INCOMPLETE);
    let mut both = iter::zip([one.0, one.1], [other.0, other.1]);
    let is_same = is_one_person || both.all(|(one, other)| one.is_empty() || other.is_empty() || one == other);
    let known = |one: &str, other: &str| if other.is_empty() { one.to_owned() } else { other.to_owned() };
    is_same.then(|| format!("{}-{}", known(one.0, other.0), known(one.1, other.1)))
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
    }
}
