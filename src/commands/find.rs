//! `docsyncd find WORD...`: where is my letter.

use std::fmt::Write as _;

use super::harmless::in_line;
use super::list::{short, short_time};
use super::output::{complain, docsyncd, ledger_to_list, local, place_lines, print_json, show_table, terminal_width};
use super::{Exit, Outcome, runtime, told};
use crate::commands::cli::FindArgs;
use crate::config::Loaded;
use crate::domain::search;
use crate::formats::language::Language;
use crate::ledger::Millis;
use crate::views::search::{Found, FoundView};
use crate::views::{self, DocumentView};

/// The most letters that are read to find those of one account.
const OF_ACCOUNTS: usize = 10_000;

pub(super) fn find(loaded: &Loaded, args: &FindArgs, language: Language) -> Outcome {
    let FindArgs { words, account, since, limit, json, .. } = args;
    let words = search::words(words);
    if words.is_empty() {
        return Err(told::usage(language, "find-nothing", &[]));
    }
    let found = match ledger_to_list(loaded, language)? {
        Some(ledger) => {
            let since = since.as_ref().map_or(Millis::MIN, |since| since.begins);
            // One more, to know whether there are more. Those of other accounts are removed afterwards.
            let most = limit.saturating_add(1).max(if account.is_some() { OF_ACCOUNTS } else { 0 });
            let mut found = runtime()?
                .block_on(ledger.read(move |db| views::search::find(db, &words, since..=Millis::MAX, most)))?;
            if let Some(account) = account {
                found.letters.retain(|letter| letter.account == *account);
            }
            found
        }
        None => Found { letters: Vec::new(), newest_only: false },
    };
    let Found { letters: mut found, newest_only } = found;
    let more = found.len() > *limit;
    found.truncate(*limit);
    let is_none = found.is_empty();
    if *json {
        print_json(&found.into_iter().map(FoundView::from).collect::<Vec<_>>())?;
    } else {
        show_table(&text(&found, terminal_width(), language))?;
    }
    if is_none {
        let none = if newest_only {
            "find-none-newest"
        } else if loaded.config.state.keep_names.is_zero() {
            "find-none-no-names"
        } else {
            "find-none"
        };
        complain(&format!("docsyncd: {}", language.text(none)));
        return Ok(Exit::Failed);
    }
    if more {
        let (limit, command) =
            (limit.to_string(), docsyncd(&format!("find --limit N {}...", language.text("find-a-word"))));
        let values = [("limit", (&limit).into()), ("command", (&command).into())];
        complain(&format!("docsyncd: {}", language.fill("find-more", &values)));
    } else if newest_only {
        let command = docsyncd(&format!("find --limit 10000 {}...", language.text("find-a-word")));
        complain(&format!("docsyncd: {}", language.fill("find-older", &[("command", (&command).into())])));
    }
    Ok(Exit::Done)
}

/// If one line would be too wide for the terminal, all lines have a short time and a short uuid, because nobody wants
/// two forms of date.
fn text(found: &[DocumentView], width: Option<usize>, language: Language) -> String {
    let lines = |is_whole: bool| found.iter().map(move |document| line(document, is_whole, language));
    let fits = width.is_none_or(|width| lines(true).all(|line| line.chars().count() <= width));
    let mut text = String::new();
    for (document, line) in found.iter().zip(lines(fits)) {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{line}");
        for delivery in &document.deliveries {
            let Some(place) = delivery.place_to_find() else { continue };
            let place = place.unwrap_or_else(|| {
                let command = docsyncd(&format!("show {}", short(&document.uuid)));
                language.fill("find-for-another", &[("command", (&command).into())])
            });
            text.push_str(&place_lines(&format!("    {}: ", delivery.destination), &in_line(&place), "", width));
        }
    }
    text
}

fn line(document: &DocumentView, is_whole: bool, language: Language) -> String {
    let name = in_line(document.name.as_deref().unwrap_or("-"));
    let kind = document.kind.as_deref().map_or_else(|| "-".to_owned(), |kind| language.kind(kind));
    let (state, found_at) = (language.state(document.stands()), document.found_at);
    let (when, uuid) = match is_whole {
        true => (local(found_at), document.uuid.as_str()),
        false => (short_time(found_at, language), short(&document.uuid)),
    };
    format!("{when}  {state}  {kind}  {name}  {uuid}")
}
