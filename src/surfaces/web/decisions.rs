//! What people decided about the patients of letters, to look up or to correct.

use jiff::Zoned;
use maud::{Markup, html};
use rusqlite::Connection;

use super::parts::{Form, clock, count, kind, link, number, patient};
use crate::domain::state::State;
use crate::formats::language::Language;
use crate::ledger::{Millis, QueryResult};
use crate::patients::List;
use crate::views::patients::{self, DecisionView};

/// How long decisions are shown; milliseconds.
const SHOWN_FOR: Millis = 30 * 24 * 60 * 60 * 1000;
/// The most decisions that are shown.
const MOST: usize = 100;

/// The decisions of the last 30 days.
#[derive(Clone, Default)]
pub(super) struct Decisions {
    shown: Vec<DecisionView>,
    more: bool,
}

/// Reads the decisions.
///
/// # Errors
/// Any SQLite error.
pub(super) fn read(db: &Connection, now: &Zoned) -> QueryResult<Decisions> {
    let since = now.timestamp().as_millisecond().saturating_sub(SHOWN_FOR);
    let mut shown = patients::decisions(db, since, MOST + 1)?;
    let more = shown.len() > MOST;
    shown.truncate(MOST);
    Ok(Decisions { shown, more })
}

/// The folded section of the page; empty without decisions.
pub(super) fn show(form: &Form<'_>, decisions: &Decisions, list: Option<&List>, now: &Zoned) -> Markup {
    let language = form.language;
    let columns = ["page-time", "page-patient", "page-type", "page-patients-number", "page-who", "page-state"];
    html! {
        @if !decisions.shown.is_empty() {
            section aria-labelledby="decisions" {
                h2 #decisions tabindex="-1" { (language.text("page-decisions")) }
                details {
                    summary { (language.fill("page-decisions-count", &[("count", count(decisions.shown.len()).into())])) }
                    p .soft { (language.text("page-decisions-how")) }
                    table .letters.sides {
                        thead { tr { @for column in columns { th scope="col" { (language.text(column)) } } } }
                        tbody { @for one in &decisions.shown { tr { (row(language, one, list, now)) } } }
                    }
                    @if decisions.more { p .soft { (language.text("page-decisions-more")) } }
                }
            }
        }
    }
}

/// Links to the letter's page, which has all the buttons.
fn row(language: Language, one: &DecisionView, list: Option<&List>, now: &Zoned) -> Markup {
    let stands = match one.state {
        _ if one.is_taken_back => language.text("page-taken-back"),
        State::Reported | State::Delivered => language.text("letter-filed"),
        _ => language.text(&format!("state-{}", one.stands)),
    };
    html! {
        td .when data-label=(language.text("page-time")) { (clock(language, one.at, now)) }
        th scope="row" data-label=(language.text("page-patient")) {
            (link(&one.uuid, patient(language, one.name.as_deref(), &one.uuid)))
        }
        td .kind data-label=(language.text("page-type")) { (kind(language, one.kind.as_deref())) }
        td data-label=(language.text("page-patients-number")) {
            @match &one.number { Some(of) => (number(list, of)), None => "–" }
        }
        td data-label=(language.text("page-who")) { (who(language, one.who.as_deref())) }
        td data-label=(language.text("page-state")) { (stands) }
    }
}

/// Who decided: a browser of the page in the reader's language, or the operating system's user.
pub(super) fn who(language: Language, who: Option<&str>) -> String {
    let browser = who.and_then(|who| who.strip_prefix("status page, browser "));
    match browser {
        Some(browser) => language.fill("page-who-browser", &[("browser", browser.into())]),
        None => who.unwrap_or("–").to_owned(),
    }
}
