//! Decides who is told what, and when. Pure.
//!
//! All problems of one cause are one alert and one message. The alert begins when the first of them needs a person, and
//! is over with the last. It is told when it has lasted for [`Times::gather`], so that what breaks together is told
//! together; then every [`Times::remind`]; and once when it is over. What is over before that is never told.
//!
//! A cause is told at most once in [`Times::quiet`]. The exception is an urgent cause that comes back after it was said
//! to be over: the person believes that all is well, so it is told at once, up to four times in [`Times::quiet`].

use std::collections::BTreeMap;
use std::time::Duration;

use crate::domain::health::{Cause, Health};
use crate::formats::language::{Group, groups};
use crate::ledger::Millis;
use crate::ledger::alerts::{About, Alert};

/// The times that decide when something is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// What breaks or ends within this time is told in one message.
    pub gather: Duration,
    /// A cause is told at most once in this time. Does not apply to ends, reminders and urgent causes that come back.
    pub quiet: Duration,
    /// `alerts.remind`
    pub remind: Duration,
}

/// How often an urgent cause that comes back is told within [`Times::quiet`].
const MOST_OFTEN: u64 = 4;

/// Why a message is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AlertKind {
    /// Something needs a person.
    Problem,
    /// It still needs a person.
    Reminder,
    /// It is over.
    Over,
    /// `docsyncd alerts test`
    Test,
}

/// One decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// An alert begins.
    Begin(Cause, About),
    /// The audience is told of it.
    Tell {
        /// The alert.
        id: i64,
        /// [`AlertKind::Problem`] or [`AlertKind::Reminder`]
        kind: AlertKind,
        /// What is wrong.
        group: Group,
        /// When the last document of this message came in.
        latest: Option<Millis>,
    },
    /// An alert is over; whoever may know of it is told.
    End {
        /// The alert.
        id: i64,
        /// What was wrong.
        group: Group,
    },
}

/// What happened before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Before {
    /// The alerts that are open.
    pub open: Vec<Alert>,
    /// When each cause was last told.
    pub told: BTreeMap<Cause, Millis>,
    /// How many alerts of each cause were told within [`Times::quiet`].
    pub often: BTreeMap<Cause, u64>,
    /// When each open cause disappeared.
    pub gone: BTreeMap<Cause, Millis>,
}

/// Decides what to do now.
pub fn decide(before: &Before, health: &Health, now: Millis, times: &Times) -> Vec<Step> {
    let passed = |since: Millis, time: Duration| {
        // A time in the future means that the clock was set back. Nobody waits for it.
        since > now || now.saturating_sub(since) >= Millis::try_from(time.as_millis()).unwrap_or(Millis::MAX)
    };
    let mut steps = Vec::new();
    for group in groups(&health.problems) {
        let cause = group.cause;
        let of_cause = || health.problems.iter().filter(|problem| problem.cause == cause);
        let latest = of_cause().filter_map(|problem| problem.latest).max();
        let Some(alert) = before.open.iter().find(|alert| alert.cause == cause.as_str()) else {
            if of_cause().any(|problem| problem.needs_person) {
                steps.push(Step::Begin(cause, about(&group)));
            }
            continue;
        };
        let quiet = || before.told.get(&cause).is_some_and(|told| !passed(*told, times.quiet));
        // A cause has at most one open alert. When a new one begins, the earlier one is over, and its audience was told
        // so.
        let comes_again = || cause.is_urgent() && before.often.get(&cause).is_none_or(|often| *often < MOST_OFTEN);
        // An account or destination that needs a person now and was in no message yet.
        let joined = |alert: &Alert| {
            of_cause().any(|one| one.needs_person && !alert.names.contains(&one.name) && !one.name.is_empty())
        };
        let kind = match alert.told_at {
            None if passed(alert.opened_at, times.gather) && (comes_again() || !quiet()) => Some(AlertKind::Problem),
            None => None,
            Some(_) if (latest > alert.told_latest || joined(alert)) && !quiet() => Some(AlertKind::Problem),
            Some(told) if passed(told, times.remind) => Some(AlertKind::Reminder),
            Some(_) => None,
        };
        if let Some(kind) = kind {
            steps.push(Step::Tell { id: alert.id, kind, group, latest });
        }
    }
    for alert in &before.open {
        let Some(cause) = Cause::parse(&alert.cause) else {
            // A later version of docsyncd wrote it.
            continue;
        };
        let lasts = health.problems.iter().any(|problem| problem.cause == cause);
        let gone = before.gone.get(&cause).is_some_and(|since| passed(*since, times.gather));
        if !lasts && gone {
            let Alert { id, names, documents, since, .. } = alert.clone();
            steps.push(Step::End { id, group: Group { cause, names, count: documents, since } });
        }
    }
    steps
}

/// What an alert is about.
pub fn about(group: &Group) -> About {
    About { names: group.names.clone(), documents: group.count, since: group.since }
}

#[cfg(test)]
mod tests;
