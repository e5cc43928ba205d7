//! The findings for a person.

use std::fmt::Write as _;

use super::{Pending, Preview};
use crate::commands::harmless::in_line;
use crate::commands::list::short;
use crate::commands::output::{completed, folded, place_lines};
use crate::commands::told;
use crate::formats::language::{Language, Value};

/// The length of an ISO 8601 time up to the minute; characters.
const MINUTE: usize = 16;

/// If a line would be too wide for the terminal, all have a time to the minute and a short uuid.
pub(super) fn text(found: &Preview, language: Language, width: Option<usize>) -> String {
    let mut text = String::new();
    let why_not = |exact: &str| told::because(language, "preview-not-filed", &[], exact);
    for waiting in &found.waiting {
        let Pending { uuid, account, kind, created_at, stands, route, problem, number, destinations, .. } = waiting;
        let kind = kind.as_deref().map_or_else(|| "-".to_owned(), |kind| language.kind(kind));
        let route = route.as_deref().map(|route| format!(", {route}")).unwrap_or_default();
        let state = stands.map(|stands| format!(", {}", language.state(stands))).unwrap_or_default();
        let line = |uuid: &str, created_at: &str| format!("{uuid}  {kind}  {created_at}  ({account}{route}{state})");
        let whole = line(uuid, created_at);
        let minute = created_at.get(..MINUTE).unwrap_or(created_at);
        let fits = width.is_none_or(|width| whole.chars().count() <= width);
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}", if fits { whole } else { line(short(uuid), minute) });
        if let Some(problem) = problem {
            let _ = writeln!(text, "{}", folded(&format!("    {}", completed(&why_not(problem))), width));
        }
        if let Some(number) = number {
            let _ = writeln!(text, "    {}", language.fill("show-patient-number", &[("number", number.into())]));
        }
        for goal in destinations {
            let place = in_line(goal.place.as_deref().unwrap_or("-"));
            let there = if goal.delivered { format!("  {}", language.text("preview-there")) } else { String::new() };
            text.push_str(&place_lines(&format!("    {}: ", goal.destination), &place, &there, width));
            if let Some(otherwise) = &goal.otherwise {
                let words = format!("        {} ", language.text("preview-taken"));
                text.push_str(&place_lines(&words, &in_line(otherwise), "", width));
            }
            if let Some(problem) = &goal.problem {
                let why = match waiting.unmatched {
                    Some(why) if goal.place.is_none() => told::of_patient(language, why),
                    _ => why_not(problem),
                };
                let _ = writeln!(text, "{}", folded(&format!("        {why}"), width));
            }
        }
    }
    text
}

/// The last line: how many documents wait, as far as known; empty if no list could be read.
pub(super) fn in_all(found: &Preview, language: Language, accounts: &[&str]) -> String {
    let (shown, unread): (_, Vec<&str>) =
        (found.waiting.len(), found.wrong.iter().map(|(account, _)| account.as_str()).collect());
    let total = shown + found.more;
    let of_accounts = |names: &[&str]| {
        let (count, names) = (u64::try_from(names.len()).unwrap_or(u64::MAX), names.join(", "));
        language.fill("preview-accounts", &[("count", count.into()), ("names", (&names).into())])
    };
    let unknown = language.fill("preview-unknown", &[("accounts", (&of_accounts(&unread)).into())]);
    if total == 0 {
        let read: Vec<&str> = accounts.iter().copied().filter(|account| !unread.contains(account)).collect();
        return match (read.is_empty(), unread.is_empty()) {
            (_, true) => format!("{}\n", language.text("preview-nothing")),
            (true, false) => String::new(),
            (false, false) => {
                let (accounts, unknown) = (of_accounts(&read), unknown);
                let values = [("accounts", (&accounts).into()), ("unknown", (&unknown).into())];
                format!("{}\n", language.fill("preview-nothing-for", &values))
            }
        };
    }
    let count = |number: usize| Value::Count(u64::try_from(number).unwrap_or(u64::MAX));
    let least = if unread.is_empty() { String::new() } else { language.text("preview-at-least") };
    let values = [("shown", count(shown)), ("total", count(total)), ("least", (&least).into())];
    let how_many = language.fill(
        match () {
            () if found.uncounted => "preview-of-more",
            () if shown == total => "preview-all",
            () => "preview-of",
        },
        &values,
    );
    let unknown = if unread.is_empty() { String::new() } else { format!(" ({unknown})") };
    let values = [("how_many", (&how_many).into()), ("unknown", (&unknown).into())];
    format!("{}\n", language.fill("preview-end", &values))
}
