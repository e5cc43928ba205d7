//! Decides what is a difference. Pure.

use crate::destinations::Holds;
use crate::domain::document::DocumentUuid;
use crate::domain::state::State;

/// The kind of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The letter was delivered, but is not in its place.
    Missing,
    /// The letter was delivered, but its place has other content.
    OtherContent,
    /// The letter was reported, but the API lists it as unsynchronized.
    NotSynchronized,
    /// The letter is open here, but the API no longer lists it.
    EndedAtApi,
}

/// Every kind.
pub const KINDS: [Kind; 4] = [Kind::Missing, Kind::OtherContent, Kind::NotSynchronized, Kind::EndedAtApi];

impl Kind {
    /// The word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Missing => "missing",
            Kind::OtherContent => "other_content",
            Kind::NotSynchronized => "not_synchronized",
            Kind::EndedAtApi => "ended_at_api",
        }
    }

    /// The same in words for people.
    pub fn in_words(self) -> &'static str {
        match self {
            Kind::Missing => "delivered, and it does not lie there any more",
            Kind::OtherContent => "something else lies in its place; nothing is overwritten",
            Kind::NotSynchronized => "reported, and the service lists it as not synchronized",
            Kind::EndedAtApi => "still open here, and the service does not list it any more",
        }
    }
}

/// One difference of a letter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The letter's number in the ledger.
    pub document: i64,
    /// Its identifier.
    pub uuid: DocumentUuid,
    /// The account that lists it.
    pub account: String,
    /// The destination, if the difference concerns one.
    pub destination: Option<String>,
    /// What differs.
    pub kind: Kind,
}

/// The result of a look at a letter's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AtPlace {
    Agrees,
    Differs(Kind),
    /// The place cannot be read now.
    Unread,
    /// The place can never be read.
    Unknown,
}

/// Judges a letter's place. `is_emptied` says that something takes letters away from there.
pub(super) fn of_place(holds: Holds, is_emptied: bool) -> AtPlace {
    match holds {
        Holds::Same => AtPlace::Agrees,
        Holds::Nothing if is_emptied => AtPlace::Agrees,
        Holds::Nothing => AtPlace::Differs(Kind::Missing),
        Holds::Other => AtPlace::Differs(Kind::OtherContent),
        Holds::Unread => AtPlace::Unread,
        Holds::Unknown => AtPlace::Unknown,
    }
}

/// Judges a letter that is listed as unsynchronized. `pdf` is its version in the ledger, `listed` the version in the
/// list.
pub(super) fn of_listed(state: State, pdf: &str, listed: Option<&str>) -> Option<Kind> {
    // Another version is filed without a person.
    let is_same = listed.is_none_or(|listed| listed.eq_ignore_ascii_case(pdf));
    (state == State::Reported && is_same).then_some(Kind::NotSynchronized)
}

/// Judges a letter that is not listed as unsynchronized.
pub(super) fn of_unlisted(state: State) -> Option<Kind> {
    state.is_open().then_some(Kind::EndedAtApi)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::state::STATES;

    #[test]
    fn a_place_differs_where_the_letter_is_missing_unless_something_takes_letters_away_and_where_another_content_is() {
        let table = [
            (Holds::Same, AtPlace::Agrees, AtPlace::Agrees),
            (Holds::Nothing, AtPlace::Differs(Kind::Missing), AtPlace::Agrees),
            (Holds::Other, AtPlace::Differs(Kind::OtherContent), AtPlace::Differs(Kind::OtherContent)),
            (Holds::Unread, AtPlace::Unread, AtPlace::Unread),
            (Holds::Unknown, AtPlace::Unknown, AtPlace::Unknown),
        ];
        for (holds, kept, emptied) in table {
            assert_eq!((of_place(holds, false), of_place(holds, true)), (kept, emptied), "{holds:?}");
        }
    }

    #[test]
    fn what_is_listed_differs_when_this_version_was_reported_and_what_is_not_when_it_is_open() {
        for state in STATES {
            let reported = (state == State::Reported).then_some(Kind::NotSynchronized);
            for listed in [Some("p"), Some("P"), None] {
                assert_eq!(of_listed(state, "p", listed), reported, "{state} {listed:?}");
            }
            assert_eq!(of_listed(state, "p", Some("q")), None, "{state}");
            assert_eq!(of_unlisted(state), state.is_open().then_some(Kind::EndedAtApi), "{state}");
        }
    }
}
