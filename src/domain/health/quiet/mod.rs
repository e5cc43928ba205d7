//! A practice that gets no letters any more, although nothing fails: a wrong account, a service that lists nothing.
//! Pure, over the number of letters of each day.

use std::time::Duration;

use jiff::ToSpan as _;
use jiff::civil::{Date, DateTime, Time, Weekday};

use super::{Millis, Rules};

/// `alerts.quiet_after`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum QuietAfter {
    /// As the practice's own letters show: see `AMBER` and `ALARM`.
    #[default]
    Auto,
    /// Never.
    Off,
    /// So much time without a letter, in which days on which the practice is closed do not count.
    Time(Duration),
}

/// The letters that came, by the calendar of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Came {
    /// The day of the first letter of all.
    pub first: Date,
    /// When the last one came.
    pub last: DateTime,
    /// The same.
    pub last_at: Millis,
    /// When the service's list was last read: nothing is known of the time after it.
    pub seen: DateTime,
    /// The days up to that of `last` on which letters came, and how many; at least those of [`WINDOW`].
    pub days: Vec<(Date, u64)>,
}

/// Days before the last letter that show what is usual.
pub const WINDOW: i32 = 28;
/// Days after the first letter in which nothing is said: what is usual is not known yet.
const NEW: i32 = 14;
/// Working days without a letter after which it is a problem.
const AMBER: usize = 3;
/// Working days without a letter after which a person is told.
const ALARM: usize = 5;
/// Days without a letter that are looked at: they are more than any practice is closed.
const MOST_DAYS: usize = 1000;

/// That no letters come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quiet {
    /// Since when.
    pub since: Millis,
    /// How many usually come on a working day.
    pub usual: u64,
    /// Whether a person is to be told.
    pub needs_person: bool,
}

/// Whether it is too quiet.
pub fn quiet(came: &Came, rules: &Rules) -> Option<Quiet> {
    let is_open = |day: &Date| {
        !matches!(day.weekday(), Weekday::Saturday | Weekday::Sunday)
            && !rules.closed.iter().any(|closed| closed.contains(day))
    };
    let (last, today) = (came.last.date(), came.seen.date());
    if rules.quiet_after == QuietAfter::Off || today < came.first.saturating_add(NEW.days()) {
        return None;
    }
    let begin = came.first.max(last.saturating_sub((WINDOW - 1).days()));
    let count = |day: Date| came.days.iter().find(|(of, _)| *of == day).map_or(0, |(_, count)| *count);
    let mut usual: Vec<u64> = begin.series(1.day()).take_while(|day| *day <= last).filter(is_open).map(count).collect();
    let with_letters = usual.iter().filter(|count| **count > 0).count();
    let came_on_most = with_letters * 2 > usual.len();
    usual.sort_unstable();
    // The day on which docsyncd began, and found letters of years, does not count for more than another.
    let usual = usual.get(usual.len() / 2).copied().unwrap_or(0);
    let silent = || last.series(1.day()).take(MOST_DAYS).take_while(|day| *day <= today).filter(is_open);
    let (is_quiet, needs_person) = match rules.quiet_after {
        QuietAfter::Off => (false, false),
        QuietAfter::Auto => {
            let whole = silent().filter(|day| *day > last && *day < today).count();
            (came_on_most && whole >= AMBER, whole >= ALARM)
        }
        QuietAfter::Time(limit) => {
            let is_over = silent().map(|day| within(day, came)).sum::<Duration>() >= limit;
            (is_over, is_over)
        }
    };
    is_quiet.then_some(Quiet { since: came.last_at, usual, needs_person })
}

/// The part of a day between the last letter and the last look.
fn within(day: Date, came: &Came) -> Duration {
    let midnight = |day: Date| day.to_datetime(Time::midnight());
    let (from, to) = (midnight(day).max(came.last), midnight(day.saturating_add(1.day())).min(came.seen));
    to.duration_since(from).try_into().unwrap_or_default()
}

#[cfg(test)]
mod tests;
