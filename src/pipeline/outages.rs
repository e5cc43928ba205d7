//! What is said of something that fails again and again: a line when it begins, one an hour, one when it is over.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::failure::Kind;
use crate::ledger::Millis;

/// Between two lines about the same outage; milliseconds.
pub(super) const REMIND_MS: Millis = 60 * 60 * 1000;

/// What to say of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tell {
    /// It has just begun, or fails for another reason than before.
    Begun,
    /// It has gone on for so long.
    GoesOn(Duration),
    /// Nothing: that was said.
    Nothing,
}

/// The outages that are under way.
#[derive(Debug, Default)]
pub struct Outages(Mutex<HashMap<String, Outage>>);

#[derive(Debug)]
struct Outage {
    since: Millis,
    told: Millis,
    reason: String,
}

impl Outages {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Outage>> {
        // Every change is a single assignment.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// It failed.
    pub(super) fn failed(&self, what: &str, reason: &str, now: Millis) -> Tell {
        let mut outages = self.lock();
        let Some(outage) = outages.get_mut(what) else {
            outages.insert(what.to_owned(), Outage { since: now, told: now, reason: reason.to_owned() });
            return Tell::Begun;
        };
        let tell = match now.saturating_sub(outage.told) {
            _ if outage.reason != reason => Tell::Begun,
            // The clock may have been set back.
            ..0 | REMIND_MS.. => Tell::GoesOn(between(outage.since, now)),
            _ => return Tell::Nothing,
        };
        outage.told = now;
        reason.clone_into(&mut outage.reason);
        tell
    }

    /// Since when it fails, if it does.
    pub(super) fn since(&self, what: &str) -> Option<Millis> {
        self.lock().get(what).map(|outage| outage.since)
    }

    /// It works; how long it had not, where it had failed.
    pub(super) fn ended(&self, what: &str, now: Millis) -> Option<Duration> {
        self.lock().remove(what).map(|outage| between(outage.since, now))
    }
}

/// Which part of an account has told of a failure: its polls, downloads and reports mostly fail alike, and one of them
/// says so.
#[derive(Debug, Default)]
pub(super) struct Speakers(Mutex<Vec<Speaker>>);

#[derive(Debug)]
struct Speaker {
    account: String,
    part: String,
    kind: Kind,
}

impl Speakers {
    fn lock(&self) -> MutexGuard<'_, Vec<Speaker>> {
        // Every change is a single one.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// This part fails so. Returns whether it is the one that tells: no other part that still fails so has.
    pub(super) fn tells(&self, account: &str, part: &str, kind: &Kind) -> bool {
        let mut speakers = self.lock();
        speakers.retain(|one| one.account != account || one.part != part || one.kind == *kind);
        match speakers.iter().find(|one| one.account == account && one.kind == *kind) {
            Some(speaker) => speaker.part == part,
            None => {
                speakers.push(Speaker { account: account.to_owned(), part: part.to_owned(), kind: kind.clone() });
                true
            }
        }
    }

    /// This part works.
    pub(super) fn works(&self, account: &str, part: &str) {
        self.lock().retain(|one| one.account != account || one.part != part);
    }
}

/// The time between, in whole seconds; none when the clock was set back.
pub(super) fn between(since: Millis, now: Millis) -> Duration {
    Duration::from_secs(u64::try_from(now.saturating_sub(since) / 1000).unwrap_or(0))
}

/// As a person says it.
pub(super) fn for_so_long(duration: Duration) -> String {
    if duration.is_zero() { "less than a second".to_owned() } else { humantime::format_duration(duration).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_part_of_an_account_tells_of_what_all_fail_with() {
        use crate::failure::Code;
        let (speakers, down, other) =
            (Speakers::default(), Kind::Down(Code::Status(503)), Kind::Passing(Code::Status(500)));
        assert!(speakers.tells("main", "poll", &down) && speakers.tells("main", "poll", &down));
        assert!(!speakers.tells("main", "fetch:main", &down));
        assert!(speakers.tells("main", "fetch:main", &other), "another failure is another matter");
        assert!(speakers.tells("second", "poll", &down), "so is another account");
        // Who goes on failing when the one that told works again tells it then.
        speakers.works("main", "poll");
        assert!(speakers.tells("main", "fetch:main", &down));
        assert!(!speakers.tells("main", "poll", &down));
    }

    #[test]
    fn an_outage_is_told_when_it_begins_once_an_hour_and_when_it_is_over() {
        let outages = Outages::default();
        let mut told = Vec::new();
        for minute in 0..150 {
            let at = minute * 60_000;
            match outages.failed("poll:main", "refused", at) {
                Tell::Nothing => {}
                tell => told.push((minute, tell)),
            }
        }
        let hours = |hours: u64| Tell::GoesOn(Duration::from_secs(hours * 3600));
        assert_eq!(told, [(0, Tell::Begun), (60, hours(1)), (120, hours(2))]);
        assert_eq!(outages.failed("poll:main", "another reason", 9_000_001), Tell::Begun);
        assert_eq!(outages.failed("poll:other", "refused", 9_000_001), Tell::Begun);
        assert_eq!((outages.since("poll:main"), outages.since("poll:none")), (Some(0), None));
        let over = outages.ended("poll:main", 10_800_000).unwrap();
        assert_eq!(for_so_long(over), "3h");
        assert_eq!(outages.ended("poll:main", 10_800_000), None);
        assert_eq!(for_so_long(between(0, 999)), "less than a second");
    }
}
