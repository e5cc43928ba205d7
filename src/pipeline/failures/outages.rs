//! What the log says of something that keeps failing: a line when it begins, one an hour, and one when it is over.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::domain::failure::Kind;
use crate::ledger::Millis;

/// The time between two lines about the same outage; milliseconds.
pub(in crate::pipeline) const REMIND_MS: Millis = 60 * 60 * 1000;

/// What to log of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::pipeline) enum Tell {
    /// That the outage has just begun, or has another reason than before.
    Begun,
    /// That the outage goes on, and for how long it has.
    GoesOn(Duration),
    /// Nothing: this was logged.
    Nothing,
}

/// The present outages, by the name of what fails.
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

    /// Notes that `what` failed. Returns what to log.
    pub(in crate::pipeline) fn failed(&self, what: &str, reason: &str, now: Millis) -> Tell {
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

    /// When the present outage of `what` began, if there is one.
    pub(in crate::pipeline) fn since(&self, what: &str) -> Option<Millis> {
        self.lock().get(what).map(|outage| outage.since)
    }

    /// Notes that `what` works. Returns how long the outage took, if there was one.
    pub(in crate::pipeline) fn ended(&self, what: &str, now: Millis) -> Option<Duration> {
        self.lock().remove(what).map(|outage| between(outage.since, now))
    }
}

/// Which part of an account tells of a failure, by account and failure. The account's polls, downloads and reports
/// mostly fail alike, and one of them tells for all.
#[derive(Debug, Default)]
pub(in crate::pipeline) struct Speakers(Mutex<HashMap<(String, Kind), String>>);

impl Speakers {
    fn lock(&self) -> MutexGuard<'_, HashMap<(String, Kind), String>> {
        // Every change is a single operation.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that this part fails so. Returns whether it is the part that tells: no other part that still fails so has
    /// told.
    pub(in crate::pipeline) fn tells(&self, account: &str, part: &str, kind: &Kind) -> bool {
        let mut speakers = self.lock();
        speakers.retain(|(of, other), speaker| of != account || speaker != part || other == kind);
        speakers.entry((account.to_owned(), kind.clone())).or_insert_with(|| part.to_owned()) == part
    }

    /// Notes that this part works.
    pub(in crate::pipeline) fn works(&self, account: &str, part: &str) {
        self.lock().retain(|(of, _), speaker| of != account || speaker != part);
    }
}

/// The time between, in whole seconds; zero if the clock was set back.
pub(in crate::pipeline) fn between(since: Millis, now: Millis) -> Duration {
    Duration::from_secs(u64::try_from(now.saturating_sub(since) / 1000).unwrap_or(0))
}

/// The duration in people's words.
pub(in crate::pipeline) fn for_so_long(duration: Duration) -> String {
    if duration.is_zero() { "less than a second".to_owned() } else { humantime::format_duration(duration).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_part_of_an_account_tells_of_what_all_fail_with() {
        use crate::domain::failure::Code;
        let (speakers, down, other) =
            (Speakers::default(), Kind::Down(Code::Status(503)), Kind::Passing(Code::Status(500)));
        assert!(speakers.tells("main", "poll", &down) && speakers.tells("main", "poll", &down));
        assert!(!speakers.tells("main", "fetch:main", &down));
        assert!(speakers.tells("main", "fetch:main", &other), "another failure is another matter");
        assert!(speakers.tells("second", "poll", &down), "so is another account");
        // If another part still fails when the part that told works again, that other part tells.
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
