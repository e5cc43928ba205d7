//! Letters of which a person has to say who in the practice their patient is: both sides beside one another, and a
//! button for each.

use jiff::Zoned;
use maud::{Markup, html};
use rusqlite::Connection;

use super::parts::{Form, clock, kind};
use crate::language::Language;
use crate::ledger::{QueryResult, deliveries};
use crate::patients::{Compared, List, Person, Unmatched};
use crate::pipeline::assign::{self, Letter, NotAssigned};
use crate::state::State;
use crate::views::named::{self, Named};
use crate::views::patients::{UnmatchedView, unmatched};
use crate::views::{DocumentHistory, DocumentView};

/// Patients that are shown: each is looked for in the whole list.
const SHOWN: usize = 10;

/// Who said it, for the history: whoever holds a key of the page.
const WHO: &str = "status page";

/// What the ledger knows of those that wait so.
#[derive(Clone, Default)]
pub(super) struct Waiting {
    shown: Vec<(UnmatchedView, Letter)>,
    more: bool,
}

/// Reads it.
///
/// # Errors
/// Any SQLite error.
pub(super) fn read(db: &Connection) -> QueryResult<Waiting> {
    let mut found = unmatched(db, SHOWN + 1)?;
    let more = found.len() > SHOWN;
    found.truncate(SHOWN);
    let with_letter = |view: UnmatchedView| {
        let letter = Letter::read(db, view.id)?;
        Ok((view, letter))
    };
    Ok(Waiting { shown: found.into_iter().map(with_letter).collect::<QueryResult<_>>()?, more })
}

/// The same of one letter; nothing when it does not wait so.
///
/// # Errors
/// Any SQLite error.
pub(super) fn of_letter(db: &Connection, shown: &DocumentHistory) -> QueryResult<Waiting> {
    let needs_person = |unmatched: &String| unmatched != Unmatched::NoList.as_str();
    let mut waits = shown.deliveries.iter().filter(|delivery| delivery.is_present);
    let waits = waits.find(|delivery| delivery.unmatched.as_ref().is_some_and(needs_person));
    let Some(reason) = waits.and_then(|delivery| delivery.reason.clone()) else { return Ok(Waiting::default()) };
    let DocumentView { id, uuid, kind, found_at, state: State::Fetched, .. } = shown.document.clone() else {
        return Ok(Waiting::default());
    };
    let view = UnmatchedView { id, uuid, kind, found_at, letters: 1, reason };
    Ok(Waiting { shown: vec![(view, Letter::read(db, id)?)], more: false })
}

/// A patient, and who that may be.
struct Question {
    view: UnmatchedView,
    person: Option<Person>,
    /// Whether a person's word on it does not hold any more.
    was_assigned: bool,
    candidates: Vec<Candidate>,
}

struct Candidate {
    number: String,
    last_name: String,
    first_name: String,
    born: String,
    same: Compared,
    /// What the page showed, for the button, or why this number cannot be given.
    seen: Result<String, NotAssigned>,
}

/// All that is asked. Holds patient data.
pub(super) struct Questions {
    asked: Vec<Question>,
    more: bool,
    has_list: bool,
}

impl Questions {
    /// Looks for them in the list, which takes a moment.
    pub(super) fn of(waiting: Waiting, list: Option<&List>) -> Self {
        let question = |(view, letter): (UnmatchedView, Letter)| {
            let person = letter.person();
            let candidates = match (list, &person) {
                (Some(list), Some(person)) => candidates(list, &letter, person),
                _ => Vec::new(),
            };
            Question { view, was_assigned: letter.assigned.is_some(), person, candidates }
        };
        let asked = waiting.shown.into_iter().map(question).collect();
        Self { asked, more: waiting.more, has_list: list.is_some() }
    }
}

fn candidates(list: &List, letter: &Letter, person: &Person) -> Vec<Candidate> {
    let near = list.near(person).into_iter();
    near.map(|near| {
        let row = near.row;
        let assigned = letter.assign(list, row.number, false, None);
        Candidate {
            number: row.number.to_owned(),
            last_name: row.last_names_shown(),
            first_name: row.first_name.to_owned(),
            born: row.born.map(|born| born.to_string()).unwrap_or_default(),
            same: row.compared(person),
            seen: assigned.map(|assigned| assigned.fingerprint),
        }
    })
    .collect()
}

/// What `docsyncd assign UUID NUMBER` does, for a letter that still waits for it, when both sides are still what the
/// page showed. False when nothing was done.
///
/// # Errors
/// Any SQLite error.
pub(super) fn settle(db: &Connection, list: &List, uuid: &str, number: &str, seen: &str) -> QueryResult<bool> {
    let Named::One(ids) = named::named(db, uuid)? else { return Ok(false) };
    for id in ids {
        if !deliveries::needs_person(db, id)? {
            continue;
        }
        let letter = Letter::read(db, id)?;
        let assigned = letter.assign(list, number, false, Some(WHO.to_owned())).ok();
        if let Some(assigned) = assigned.filter(|assigned| assigned.fingerprint == seen) {
            assign::write(db, &assigned, uuid)?;
            return Ok(true);
        }
    }
    Ok(false)
}

/// The part of the page; nothing when nobody is asked.
pub(super) fn show(form: &Form<'_>, questions: &Questions, now: &Zoned) -> Markup {
    let language = form.language;
    html! {
        @if !questions.asked.is_empty() {
            section .patients aria-labelledby="patients" {
                h2 #patients tabindex="-1" { (language.text("page-patients-title")) }
                p .soft { (language.text(if questions.has_list { "page-patients-how" } else { "page-patients-no-list" })) }
                @for question in &questions.asked { (one(form, question, now)) }
                @if questions.more { p .soft { (language.text("page-patients-more")) } }
            }
        }
    }
}

fn one(form: &Form<'_>, question: &Question, now: &Zoned) -> Markup {
    let language = form.language;
    let view = &question.view;
    html! {
        h3 {
            @if form.letter.is_none() { a href={ "/letter/" (view.uuid) } { (kind(language, view.kind.as_deref())) } }
            @else { (kind(language, view.kind.as_deref())) }
            ", " (clock(language, view.found_at, now))
            @if let Some(others) = view.letters.checked_sub(1).filter(|others| *others > 0) {
                " " (language.fill("page-patients-others", &[("count", others.into())]))
            }
        }
        p .reason { (language.reason(&view.reason)) }
        @if question.was_assigned { p .reason { (language.text("page-patients-changed")) } }
        @if let Some(person) = &question.person { (sides(form, question, person)) }
        @if question.candidates.is_empty() {
            p .soft { (language.text("page-patients-nobody")) " " code { "docsyncd assign " (view.uuid) } }
        }
    }
}

/// The cloud service's patient in the first row, and below it each who may be meant.
fn sides(form: &Form<'_>, question: &Question, person: &Person) -> Markup {
    let language = form.language;
    let columns = [
        "page-patients-where",
        "page-patients-number",
        "page-last-name",
        "page-first-name",
        "page-born",
        "page-action",
    ];
    html! {
        table .letters {
            thead { tr { @for column in columns { th scope="col" { (language.text(column)) } } } }
            tbody {
                tr .cloud {
                    th scope="row" { (language.text("page-patients-cloud")) }
                    td {}
                    (value(language, "page-last-name", person.last_name(), true))
                    (value(language, "page-first-name", person.first_name(), true))
                    (value(language, "page-born", &person.born().map(|born| born.to_string()).unwrap_or_default(), true))
                    td {}
                }
                @for candidate in &question.candidates {
                    tr {
                        th scope="row" { (language.text("page-patients-list")) }
                        td data-label=(language.text("page-patients-number")) { (candidate.number) }
                        (value(language, "page-last-name", &candidate.last_name, candidate.same.last_name))
                        (value(language, "page-first-name", &candidate.first_name, candidate.same.first_name))
                        (value(language, "page-born", &candidate.born, candidate.same.born))
                        td data-label=(language.text("page-action")) {
                            @match &candidate.seen {
                                Ok(seen) => (form.button("/assign", &language.text("page-assign"), "small", &[
                                    ("uuid", &question.view.uuid), ("number", &candidate.number), ("seen", seen),
                                ])),
                                Err(NotAssigned::Shared) => span .soft { (language.text("page-patients-shared")) },
                                Err(_) => span .soft { (language.text("page-patients-unnamed")) },
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A value, marked where it is not the same on the other side: also for who sees no colours.
fn value(language: Language, column: &str, value: &str, is_same: bool) -> Markup {
    let shown = if value.is_empty() { "–" } else { value };
    html! {
        td data-label=(language.text(column)) {
            @if is_same { (shown) } @else { mark title=(language.text("page-patients-differs")) { (shown) } }
        }
    }
}
