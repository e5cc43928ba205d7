//! Dates of the list as the server printed them: their order, and what an order that is none says about the server.
//! Pure.

use std::cmp::Ordering as Order;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::api::Listed;

/// Why a page cannot belong to a walk by key that began at `since`.
pub(super) fn unsuitable(since: Option<&str>, items: &[Listed]) -> Option<&'static str> {
    if items.iter().any(|item| item.created_at.is_empty()) {
        return Some("the API shows documents without createdAt");
    }
    let keys = since.into_iter().chain(items.iter().map(|item| item.created_at.as_str()));
    let mut before: Option<&str> = None;
    for (index, key) in keys.enumerate() {
        match before.map(|before| compare(before, key)) {
            None | Some(Some(Order::Less | Order::Equal)) => before = Some(key),
            Some(Some(Order::Greater)) if index == 1 && since.is_some() => {
                return Some("the API ignores the date filter");
            }
            Some(Some(Order::Greater)) => return Some("the API ignores the order"),
            Some(None) => return Some("the API shows dates that cannot be compared"),
        }
    }
    None
}

/// Compares two dates as the server printed them. Equal text is equal; otherwise both must be of the same kind.
pub(super) fn compare(a: &str, b: &str) -> Option<Order> {
    if a == b {
        return Some(Order::Equal);
    }
    if let (Ok(a), Ok(b)) = (a.parse::<Timestamp>(), b.parse::<Timestamp>()) {
        return Some(a.cmp(&b));
    }
    let (a, b): (DateTime, DateTime) = (a.parse().ok()?, b.parse().ok()?);
    Some(a.cmp(&b))
}

/// Whether the date lies after `moment`; one without an offset is read as UTC, one that is none lies nowhere.
pub(super) fn is_after(date: &str, moment: Timestamp) -> bool {
    let utc = || date.parse::<DateTime>().and_then(|date| date.to_zoned(TimeZone::UTC)).map(|zoned| zoned.timestamp());
    date.parse::<Timestamp>().or_else(|_| utc()).is_ok_and(|date| date > moment)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::DocumentUuid;

    fn items(keys: &[&str]) -> Vec<Listed> {
        keys.iter()
            .map(|key| Listed {
                uuid: DocumentUuid::parse("d").unwrap(),
                created_at: (*key).to_owned(),
                kind: None,
                pdf: None,
                is_draft: false,
            })
            .collect()
    }

    #[test]
    fn dates_are_compared_as_times_whatever_their_notation() {
        assert_eq!(compare("2026-01-01T10:00:00+02:00", "2026-01-01T09:00:00Z"), Some(Order::Less));
        assert_eq!(compare("2026-01-01T10:00:00", "2026-01-01T10:00:00.5"), Some(Order::Less));
        assert_eq!(compare("x", "x"), Some(Order::Equal));
        assert_eq!(compare("x", "y"), None);
    }

    #[test]
    fn a_date_is_after_a_moment_whatever_its_notation() {
        let noon: Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
        for later in ["2026-01-01T12:00:01Z", "2026-01-01T13:00:01+01:00", "2026-01-01T12:00:01", "2099-01-01"] {
            assert!(is_after(later, noon), "{later}");
        }
        for not_later in ["2026-01-01T12:00:00Z", "2026-01-01T12:30:00+01:00", "2026-01-01", "tomorrow", ""] {
            assert!(!is_after(not_later, noon), "{not_later}");
        }
    }

    #[test]
    fn a_page_that_cannot_belong_to_the_walk_is_told_from_one_that_can() {
        let (a, b, c) = ("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z");
        assert_eq!(unsuitable(None, &items(&[a, b, b, c])), None);
        assert_eq!(unsuitable(Some(b), &items(&[b, c])), None);
        assert_eq!(unsuitable(Some(b), &[]), None);
        assert_eq!(unsuitable(Some(b), &items(&[a, b])), Some("the API ignores the date filter"));
        assert_eq!(unsuitable(None, &items(&[b, a])), Some("the API ignores the order"));
        assert_eq!(unsuitable(None, &items(&[a, ""])), Some("the API shows documents without createdAt"));
        assert_eq!(
            unsuitable(None, &items(&["yesterday", "today"])),
            Some("the API shows dates that cannot be compared")
        );
    }
}
