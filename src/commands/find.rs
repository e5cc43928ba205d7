//! `docsyncd find WORD...`: where is my letter.

use std::fmt::Write as _;

use super::list::{short, short_time};
use super::output::{complain, docsyncd, ledger_to_list, local, place_lines, print_json, show_table, terminal_width};
use super::times::Moment;
use super::{Exit, Outcome, UsageError, runtime};
use crate::config::Loaded;
use crate::ledger::Millis;
use crate::search;
use crate::views;
use crate::views::search::{Found, FoundView};

pub(super) fn find(loaded: &Loaded, words: &[String], since: Option<Moment>, limit: usize, json: bool) -> Outcome {
    let words = search::words(words);
    if words.is_empty() {
        return Err(UsageError("nothing to find: a word needs a letter or a digit".to_owned()).into());
    }
    let found = match ledger_to_list(loaded)? {
        Some(ledger) => {
            let since = since.map_or(Millis::MIN, Moment::begins);
            // One more, to know whether there are more.
            runtime()?.block_on(
                ledger.read(move |db| views::search::find(db, &words, since..=Millis::MAX, limit.saturating_add(1))),
            )?
        }
        None => Found { letters: Vec::new(), newest_only: false },
    };
    let Found { letters: mut found, newest_only } = found;
    let more = found.len() > limit;
    found.truncate(limit);
    if json {
        print_json(&found)?;
    } else {
        show_table(&text(&found, terminal_width()))?;
    }
    if found.is_empty() {
        let none = if newest_only {
            "docsyncd: no document is found among the newest: all these words are in very many letters, so write a name"
        } else if loaded.config.state.keep_names.is_zero() {
            "docsyncd: no document is found; names are not kept (state.keep_names), so only uuids are searched"
        } else {
            "docsyncd: no document is found; try only the first letters of a name"
        };
        complain(none);
        return Ok(Exit::Failed);
    }
    if more {
        complain(&format!(
            "docsyncd: there are more than these {limit}: write more, or {}",
            docsyncd("find --limit N WORD...")
        ));
    } else if newest_only {
        complain(&format!(
            "docsyncd: there may be older ones: all these words are in very many letters. Write a name, or {} for all",
            docsyncd("find --limit 10000 WORD...")
        ));
    }
    Ok(Exit::Done)
}

/// On a terminal a line that would not fit has a short time and a short uuid.
fn text(found: &[FoundView], width: Option<usize>) -> String {
    let mut text = String::new();
    for document in found {
        let (name, kind) = (document.name.as_deref().unwrap_or("-"), document.kind.as_deref().unwrap_or("-"));
        let found_at = document.found_at.as_deref();
        let line = |when: &str, uuid: &str| format!("{when}  {}  {kind}  {name}  {uuid}", document.state);
        let whole = line(&local(found_at), &document.uuid);
        let fits = width.is_none_or(|width| whole.chars().count() <= width);
        let line = if fits { whole } else { line(&short_time(found_at), short(&document.uuid)) };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{line}");
        for place in &document.places {
            text.push_str(&place_lines(&format!("    {}: ", place.destination), &place.place, "", width));
        }
    }
    text
}
