//! What was found, for a person.

use std::fmt::Write as _;

use super::{Found, Waiting};
use crate::commands::harmless::in_line;
use crate::commands::list::short;
use crate::commands::output::{completed, folded, place_lines};

/// Of an ISO 8601 time, up to the minute; characters.
const MINUTE: usize = 16;

/// On a terminal a line that would not fit has a time to the minute and a short uuid.
pub(super) fn text(found: &Found, width: Option<usize>) -> String {
    let mut text = String::new();
    for waiting in &found.waiting {
        let Waiting { uuid, account, kind, created_at, state, route, problem, number, destinations, .. } = waiting;
        let kind = kind.as_deref().unwrap_or("-");
        let route = route.as_deref().map(|route| format!(", {route}")).unwrap_or_default();
        let state = state.as_deref().map(|state| format!(", {state}")).unwrap_or_default();
        let line = |uuid: &str, created_at: &str| format!("{uuid}  {kind}  {created_at}  ({account}{route}{state})");
        let whole = line(uuid, created_at);
        let minute = created_at.get(..MINUTE).unwrap_or(created_at);
        let fits = width.is_none_or(|width| whole.chars().count() <= width);
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}", if fits { whole } else { line(short(uuid), minute) });
        if let Some(problem) = problem {
            let _ = writeln!(text, "{}", folded(&format!("    {}", completed(problem)), width));
        }
        if let Some(number) = number {
            let _ = writeln!(text, "    patient number {number}");
        }
        for goal in destinations {
            let place = in_line(goal.place.as_deref().unwrap_or("-"));
            let there = if goal.delivered { "  (there already)" } else { "" };
            text.push_str(&place_lines(&format!("    {}: ", goal.destination), &place, there, width));
            if let Some(otherwise) = &goal.otherwise {
                let words = "        that name is taken; unless by this very document: ";
                text.push_str(&place_lines(words, &in_line(otherwise), "", width));
            }
            if let Some(problem) = &goal.problem {
                let _ = writeln!(text, "{}", folded(&format!("        {problem}"), width));
            }
        }
    }
    text
}

/// The last line: how many wait, as far as that is known; nothing where no list could be read.
pub(super) fn in_all(found: &Found, accounts: &[&str]) -> String {
    let (shown, unread): (_, Vec<&str>) =
        (found.waiting.len(), found.wrong.iter().map(|(account, _)| account.as_str()).collect());
    let total = shown + found.more;
    let unknown = format!("what waits for {} is not known", of_accounts(&unread));
    if total == 0 {
        let read: Vec<&str> = accounts.iter().copied().filter(|account| !unread.contains(account)).collect();
        return match (read.is_empty(), unread.is_empty()) {
            (_, true) => "nothing waits\n".to_owned(),
            (true, false) => String::new(),
            (false, false) => format!("nothing waits for {}; {unknown}\n", of_accounts(&read)),
        };
    }
    let at_least = if unread.is_empty() { "" } else { "at least " };
    let how_many = match (shown, total) {
        _ if found.uncounted => format!("{shown} of more than {total} documents that wait"),
        (1, 1) => format!("{at_least}1 document waits"),
        _ if shown == total => format!("{at_least}{total} documents wait"),
        _ => format!("{shown} of {at_least}{total} documents that wait"),
    };
    let unknown = if unread.is_empty() { String::new() } else { format!(" ({unknown})") };
    format!("{how_many}{unknown}; nothing was filed or reported\n")
}

fn of_accounts(names: &[&str]) -> String {
    format!("account{} {}", if names.len() == 1 { "" } else { "s" }, names.join(", "))
}
