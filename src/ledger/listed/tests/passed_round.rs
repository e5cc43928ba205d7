//! However accounts fail, they do not hand a document back and forth.

use proptest::prelude::*;

use super::*;

const MINUTE: Millis = 60_000;
const ACCOUNTS: [&str; 3] = ["main", "other", "third"];
/// Half a day of polls, one a minute.
const POLLS: usize = 12 * 60;
/// An account that could not go on gets a document back after 2, 8 and 32 minutes, and then once an hour; one that was
/// refused after an hour, four hours, and then once a day.
const AT_MOST: usize = 3 + 12;

/// What comes of the document with the account that has it, between two polls.
const ENDS: [&str; 6] = [
    "failure = 'read passing status_500'",
    "failure = 'read permanent status_403'",
    "failure = 'record permanent status_403'",
    "failure = 'download doubtful status_403'",
    "reason_code = 'not_rendered', due_at = 99999999999",
    "failure = NULL, reason_code = NULL, due_at = 0",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, failure_persistence: None, ..ProptestConfig::default() })]

    /// Which account polls first, what fails, and what is paused change at every poll: nothing about it may hand the
    /// document round at every poll.
    #[test]
    fn whatever_fails_an_account_loses_a_document_once_an_hour_in_the_end(
        polls in prop::collection::vec((0..3_usize, prop::sample::select(&ENDS[..]), 0..8_u8), POLLS)
    ) {
        let one = One::found();
        one.db.execute_batch("PRAGMA synchronous = OFF").unwrap();
        let mut lost = [0; ACCOUNTS.len()];
        for (minute, (first, end, paused)) in polls.iter().enumerate() {
            let healthy: Vec<&str> =
                (0..).zip(ACCOUNTS).filter(|(bit, _)| paused & (1 << bit) == 0).map(|(_, name)| name).collect();
            one.set(end);
            let at = Millis::try_from(minute).unwrap() * MINUTE;
            for turn in 0..ACCOUNTS.len() {
                let has_it = one.whose().0;
                one.seen_at(at, &ACCOUNTS, &healthy, ACCOUNTS[(first + turn) % ACCOUNTS.len()], true);
                if one.whose().0 != has_it {
                    lost[ACCOUNTS.iter().position(|name| *name == has_it).unwrap()] += 1;
                    one.set("failure = NULL, reason_code = NULL");
                }
            }
        }
        prop_assert!(lost.iter().all(|times| *times <= AT_MOST), "{lost:?}");
    }

    /// An account that works keeps the document, whatever the others do.
    #[test]
    fn an_account_that_works_keeps_the_document(first in prop::collection::vec(0..3_usize, 60), paused in 0..4_u8) {
        let one = One::found();
        one.set(ENDS[1]);
        one.seen_at(0, &ACCOUNTS, &ACCOUNTS, "third", true);
        prop_assert_eq!(one.whose().0, "third");
        for (minute, first) in (1..).zip(first) {
            let healthy: Vec<&str> =
                (0..).zip(ACCOUNTS).filter(|(bit, _)| paused & (1 << bit) == 0).map(|(_, name)| name).collect();
            for turn in 0..ACCOUNTS.len() {
                let account = ACCOUNTS[(first + turn) % ACCOUNTS.len()];
                one.seen_at(minute * MINUTE, &ACCOUNTS, &healthy, account, true);
            }
            prop_assert_eq!(one.whose().0, "third");
        }
    }
}
