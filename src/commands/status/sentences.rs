//! The state in sentences, for people who read no tables.

use std::fmt::Write as _;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use super::Status;
use crate::formats::language::Language;

/// The light's sentence, each other problem, what to do about them, and when the next poll is due.
pub(super) fn text(status: &Status, language: Language) -> String {
    let mut text = String::new();
    let now = Timestamp::now().to_zoned(TimeZone::system());
    // Writing to a String cannot fail. The headline contains the first problem, unless nothing runs.
    let _ = writeln!(text, "{}", status.headline);
    let mut in_headline = status.running;
    for problem in &status.problems {
        if !in_headline {
            let _ = writeln!(text, "{}", problem.text);
        }
        in_headline = false;
        let _ = writeln!(text, "  {}", language.fill("alarm-do", &[("advice", (&problem.advice).into())]));
    }
    let next = status.next_poll.as_deref().and_then(|at| at.parse::<Timestamp>().ok());
    if let Some(next) = next.map(|next| next.to_zoned(TimeZone::system())) {
        let _ = writeln!(text, "{}", next_poll(&next, &now, language));
    }
    text
}

/// When the next poll is due. A short time is told in seconds.
fn next_poll(next: &Zoned, now: &Zoned, language: Language) -> String {
    let seconds = next.timestamp().as_second().saturating_sub(now.timestamp().as_second());
    match u64::try_from(seconds).unwrap_or(0) {
        seconds @ 0..120 => language.fill("next-poll-soon", &[("seconds", seconds.into())]),
        _ => language.fill("next-poll", &[("at", (&language.at(next, now)).into())]),
    }
}
