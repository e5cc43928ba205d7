//! Letters for which a person has to say who the patient is: both sides next to each other, and a button for each
//! candidate.

use jiff::Zoned;
use maud::{Markup, html};
use rusqlite::Connection;

use super::parts::{Form, clock, count, kind, link, patient};
use super::second_look::{Candidate, columns, row_of_candidate, row_of_service};
use crate::domain::state::State;
use crate::formats::language::{Language, Reason};
use crate::ledger::{Millis, QueryResult, now};
use crate::patients::{List, Person, Unmatched};
use crate::pipeline::assign::{self, Letter};
use crate::views::patients::{self as views, UnmatchedView, unmatched};
use crate::views::{DocumentHistory, DocumentView, one};

/// The most patients that are shown; each is searched in the whole list.
const SHOWN: usize = 10;
/// Those of them that are shown unfolded.
const SEEN: usize = 1;

/// The letters that wait for a person's decision.
#[derive(Clone, Default)]
pub(super) struct Undecided {
    shown: Vec<(UnmatchedView, Letter)>,
    more: bool,
    /// The letters whose decision can still be taken back.
    decided: Vec<Decided>,
}

/// A letter that is about to be filed by a person's decision.
#[derive(Clone)]
pub(super) struct Decided {
    uuid: String,
    kind: Option<String>,
    name: Option<String>,
    number: String,
    /// Whose number it is in the practice's list, where a wrong one is seen at once; `None`: nobody's.
    patient: Option<String>,
}

/// How long the page offers to take a decision back; milliseconds. The letter's own page offers it as long as it is
/// possible.
const DECIDED_WITHIN: Millis = 60 * 60 * 1000;
/// The most decisions that the page offers to take back.
const MOST_DECIDED: usize = 5;

/// Reads the letters that wait for a decision.
///
/// # Errors
/// Any SQLite error.
pub(super) fn read(db: &Connection) -> QueryResult<Undecided> {
    let now = now();
    let mut found = unmatched(db, now, SHOWN + 1)?;
    let more = found.len() > SHOWN;
    found.truncate(SHOWN);
    let with_letter = |view: UnmatchedView| {
        let letter = Letter::read(db, view.id)?;
        Ok((view, letter))
    };
    let mut decided = Vec::new();
    for id in views::decided(db, now.saturating_sub(DECIDED_WITHIN), MOST_DECIDED)? {
        decided.extend(undoable(db, id, now)?);
    }
    Ok(Undecided { shown: found.into_iter().map(with_letter).collect::<QueryResult<_>>()?, more, decided })
}

/// The letter, if a person's decision about it will be carried out but can still be taken back.
fn undoable(db: &Connection, id: i64, now: Millis) -> QueryResult<Option<Decided>> {
    let letter = Letter::read(db, id)?;
    if !assign::can_be_undone(db, id, &letter)? || views::asks(db, id, now)? {
        return Ok(None);
    }
    let DocumentView { uuid, kind, name, .. } = one(db, id)?;
    Ok(letter.assigned.map(|assigned| Decided { uuid, kind, name, number: assigned.number, patient: None }))
}

/// [`read`], for one letter; empty if it does not wait for a decision.
///
/// # Errors
/// Any SQLite error.
pub(super) fn of_letter(db: &Connection, shown: &DocumentHistory) -> QueryResult<Undecided> {
    let needs_person = |unmatched: &String| unmatched != Unmatched::NoList.as_str();
    let mut waits = shown.deliveries.iter().filter(|delivery| delivery.is_present);
    let waits = waits.find(|delivery| delivery.unmatched.as_ref().is_some_and(needs_person));
    let DocumentView { id, uuid, kind, found_at, state: State::Fetched, .. } = shown.document.clone() else {
        return Ok(Undecided::default());
    };
    let decided = undoable(db, id, now())?;
    let reason = waits.and_then(|delivery| delivery.reason.clone()).filter(|_| decided.is_none());
    let Some(reason) = reason else {
        return Ok(Undecided { decided: decided.into_iter().collect(), ..Undecided::default() });
    };
    let letter = Letter::read(db, id)?;
    let view = UnmatchedView { id, uuid, kind, found_at, letters: 1, reason };
    Ok(Undecided { shown: vec![(view, letter)], ..Undecided::default() })
}

/// A patient, and the candidates in the list.
struct Question {
    view: UnmatchedView,
    person: Option<Person>,
    /// Whether an earlier decision no longer holds.
    was_assigned: bool,
    candidates: Vec<Candidate>,
}

/// All questions. Holds patient data.
pub(super) struct Questions {
    asked: Vec<Question>,
    more: bool,
    has_list: bool,
    decided: Vec<Decided>,
}

impl Questions {
    /// Searches the patients in the list, which takes a moment.
    pub(super) fn of(waiting: Undecided, list: Option<&List>) -> Self {
        let question = |(view, letter): (UnmatchedView, Letter)| {
            let person = letter.person();
            let candidates = match (list, &person) {
                (Some(list), Some(person)) => Candidate::near(list, &letter, person),
                _ => Vec::new(),
            };
            Question { view, was_assigned: letter.assigned.is_some(), person, candidates }
        };
        let asked = waiting.shown.into_iter().map(question).collect();
        let named = |decided: Decided| {
            let patient = list.and_then(|list| list.row(&decided.number)).map(|row| row.named());
            Decided { patient, ..decided }
        };
        let decided = waiting.decided.into_iter().map(named).collect();
        Self { asked, more: waiting.more, has_list: list.is_some(), decided }
    }
}

impl Questions {
    /// Who the patient of a letter is that was filed by a wrong number.
    pub(super) fn of_filed(document: &DocumentView, letter: &Letter, list: &List) -> Self {
        let DocumentView { id, uuid, kind, found_at, .. } = document.clone();
        let reason = Reason { text: String::new(), code: None, name: String::new(), ended: false };
        let view = UnmatchedView { id, uuid, kind, found_at, letters: 1, reason };
        let person = letter.person();
        let candidates = person.as_ref().map(|person| Candidate::near(list, letter, person)).unwrap_or_default();
        let asked = vec![Question { view, was_assigned: false, person, candidates }];
        Self { asked, more: false, has_list: true, decided: Vec::new() }
    }

    /// Whether somebody is asked.
    pub(super) fn is_asked(&self) -> bool {
        !self.asked.is_empty()
    }
}

/// The section of the page; empty without questions.
pub(super) fn show(form: &Form<'_>, questions: &Questions, now: &Zoned) -> Markup {
    let language = form.language;
    let (seen, folded) = questions.asked.split_at(questions.asked.len().min(SEEN));
    html! {
        @if !questions.asked.is_empty() {
            section .patients.wait aria-labelledby="patients" {
                h2 #patients tabindex="-1" { (language.text("page-patients-title")) }
                p .soft.wide-only[questions.has_list] { (language.text(if questions.has_list { "page-patients-how" } else { "page-patients-no-list" })) }
                @for question in seen { (ask(form, question, now)) }
                @if !folded.is_empty() {
                    details {
                        summary { (language.fill("page-fold", &[("count", count(folded.len()).into())])) }
                        @for question in folded { (ask(form, question, now)) }
                    }
                }
                @if questions.more { p .soft { (language.text("page-patients-more")) } }
            }
        }
    }
}

/// The decisions that can still be taken back.
pub(super) fn decided(form: &Form<'_>, questions: &Questions) -> Markup {
    let language = form.language;
    html! {
        @for Decided { uuid, kind: word, name, number, patient: whose } in &questions.decided {
            @let whose = whose.clone().unwrap_or_else(|| language.text("assign-not-in-list"));
            div .decided role="status" {
                p {
                    strong { (kind(language, word.as_deref())) } " " (patient(language, name.as_deref(), uuid)) ". "
                    (language.fill("page-decided", &[("number", number.into()), ("patient", (&whose).into())]))
                }
                (form.button("/undo", &language.text("page-undo"), "", &[("uuid", uuid)]))
            }
        }
    }
}

fn ask(form: &Form<'_>, question: &Question, now: &Zoned) -> Markup {
    let language = form.language;
    let view = &question.view;
    html! {
        h3 {
            @if form.letter.is_none() { (link(&view.uuid, kind(language, view.kind.as_deref()))) }
            @else { (kind(language, view.kind.as_deref())) }
            ", " (clock(language, view.found_at, now))
            @if let Some(others) = view.letters.checked_sub(1).filter(|others| *others > 0) {
                " " (language.fill("page-patients-others", &[("count", others.into())]))
            }
        }
        // The letter's own page says it above.
        @if form.letter.is_none() { p .reason { (language.reason(&view.reason)) } }
        @if question.was_assigned { p .reason { (language.text("page-patients-changed")) } }
        @if let Some(person) = &question.person { (sides(form, question, person)) }
        @if question.candidates.is_empty() { p .soft { (language.text("page-patients-nobody")) } }
        @if question.person.is_some() { (typed(form, &view.uuid)) }
    }
}

/// A field for a number that a person knows. Both sides are shown before it counts.
fn typed(form: &Form<'_>, uuid: &str) -> Markup {
    let language = form.language;
    let id = format!("number-{uuid}");
    html! {
        form method="post" action="/assign" .typed {
            (form.hidden())
            input type="hidden" name="uuid" value=(uuid);
            label for=(id) { (language.text("page-patients-type")) }
            input #(id) type="text" name="number" maxlength="200" autocomplete="off" required;
            button type="submit" .small.quiet { (language.text("page-patients-look")) }
        }
    }
}

/// The service's patient in the first row, and below it the candidates.
fn sides(form: &Form<'_>, question: &Question, person: &Person) -> Markup {
    let language = form.language;
    let candidates = &question.candidates;
    let further = Candidate::further_columns(candidates);
    html! {
        @if candidates.iter().any(|candidate| candidate.is_alike) {
            p .reason { (language.text("page-patients-alike")) }
        }
        table .letters.sides {
            (columns(language, &further, true))
            tbody {
                (row_of_service(language, person, &further, true))
                @for candidate in candidates {
                    (row_of_candidate(language, candidate, &further, Some(&button(form, question, candidate))))
                }
            }
        }
    }
}

fn button(form: &Form<'_>, question: &Question, candidate: &Candidate) -> Markup {
    let language: Language = form.language;
    html! {
        @match &candidate.seen {
            Ok(seen) => (form.button("/assign", &language.text("page-assign"), "small", &[
                ("uuid", &question.view.uuid), ("number", &candidate.number), ("seen", seen),
            ])),
            Err(why) => span .soft { (language.text(super::second_look::refusal(*why))) },
        }
    }
}
