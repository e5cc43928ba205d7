//! A patient's two sides, and the second look before a number counts: if anything differs, if the number belongs to
//! another patient, or if it was typed.

use jiff::Zoned;
use maud::{Markup, html};
use rusqlite::Connection;

use super::frame::{Frame, frame};
use super::misfiled::Filed;
use super::parts::{Form, clock, kind, patient};
use crate::formats::language::Language;
use crate::ledger::patients::{self as kept};
use crate::ledger::{QueryResult, deliveries};
use crate::patients::{Compared, List, Person, Row};
use crate::pipeline::assign::{self, Letter, NotAssigned};
use crate::views::named::{self, Named};
use crate::views::{DocumentView, one};

/// A row of the practice's list. Holds patient data.
pub(super) struct Candidate {
    pub(super) number: String,
    last_name: String,
    first_name: String,
    born: Option<jiff::civil::Date>,
    same: Compared,
    /// Whether all values are exactly equal.
    is_exact: bool,
    /// Whether another candidate is alike in all values that are compared.
    pub(super) is_alike: bool,
    /// Further values from the list.
    further: Vec<(String, String)>,
    /// For the button: what the page showed. Or why this number cannot be given.
    pub(super) seen: Result<String, NotAssigned>,
}

impl Candidate {
    fn of(list: &List, letter: &Letter, person: &Person, row: &Row<'_>) -> Self {
        let assigned = letter.assign(list, row.number, false, None);
        let same = row.compared(person);
        let names = [(row.last_name, person.last_name()), (row.first_name, person.first_name())];
        Self {
            number: row.number.to_owned(),
            last_name: row.last_names_shown(),
            first_name: row.first_name.to_owned(),
            born: row.born,
            is_exact: same.born && names.iter().all(|(list, service)| list == service),
            same,
            is_alike: false,
            further: Vec::new(),
            seen: assigned.map(|assigned| assigned.fingerprint),
        }
    }

    /// Whether this is certainly not the service's patient.
    fn is_another_person(&self) -> bool {
        !self.same.last_name && (!self.same.first_name || !self.same.born)
    }

    /// All candidates.
    pub(super) fn near(list: &List, letter: &Letter, person: &Person) -> Vec<Self> {
        let near = list.near(person);
        let candidate = |row: &Row<'_>| {
            let is_alike = near.iter().any(|other| other.row.number != row.number && other.row.is_same_person(row));
            let further = if is_alike { list.further(row).to_vec() } else { Vec::new() };
            Self { is_alike, further, ..Self::of(list, letter, person, row) }
        };
        near.iter().map(|near| candidate(&near.row)).collect()
    }

    /// The columns in which candidates that are alike may differ.
    pub(super) fn further_columns(candidates: &[Self]) -> Vec<&str> {
        let with = candidates.iter().find(|candidate| !candidate.further.is_empty());
        with.map(|one| one.further.iter().map(|(name, _)| name.as_str()).collect()).unwrap_or_default()
    }
}

/// The text for a number that cannot be given.
pub(super) fn refusal(why: NotAssigned) -> &'static str {
    match why {
        NotAssigned::Shared => "page-patients-shared",
        NotAssigned::Ended => "page-patients-unnamed",
        NotAssigned::NoNumber | NotAssigned::NotListed => "page-patients-no-number",
    }
}

/// The values of a form.
#[derive(Clone)]
pub(super) struct AssignForm {
    pub(super) uuid: String,
    pub(super) number: String,
    /// What the page showed of both sides; empty for a typed number.
    pub(super) seen: String,
    /// Whether the person has looked a second time.
    pub(super) is_sure: bool,
    /// The number by which the letter was filed, as the page showed it; empty when it waits.
    pub(super) filed_by: String,
}

/// What the form did.
pub(super) enum Settled {
    Done,
    /// The same, and letters that have ended lie under another number.
    DoneWithOthers,
    /// A second look is needed.
    Look(Box<SecondLook>),
    /// The number cannot be given.
    Refused(NotAssigned),
    /// The letter no longer waits for this, or a side has changed since the page showed it.
    Nothing,
    /// It was filed by another number, and is filed anew.
    Anew,
    /// It is filed by this number.
    Same,
    /// It was filed, and the service does not say now who its patient is.
    NotRead,
}

/// Both sides, for the second look. Holds patient data.
pub(super) struct SecondLook {
    asked: AssignForm,
    document: DocumentView,
    person: Person,
    /// `None`: the list has no such number.
    candidate: Option<Candidate>,
    /// Other patients in the list who are alike in all values that are compared.
    twins: Vec<Candidate>,
    is_anothers: bool,
    /// The number that it was filed by.
    filed_by: Option<String>,
}

/// Does what `docsyncd assign UUID NUMBER` does, if the letter still waits for it or was `filed`, both sides are as the
/// page showed them, and the person looked a second time where there is a doubt. What was filed is always looked at
/// twice.
///
/// # Errors
/// Any SQLite error.
pub(super) fn settle(
    db: &Connection,
    list: &List,
    asked: &AssignForm,
    filed: Option<&Filed>,
    who: String,
) -> QueryResult<Settled> {
    let Named::One(ids) = named::named(db, &asked.uuid)? else { return Ok(Settled::Nothing) };
    for id in ids {
        let filed_by = deliveries::frozen(db, id)?;
        let letter = match (&filed_by, filed) {
            (None, _) if deliveries::needs_person(db, id)? => Letter::read(db, id)?,
            // Who was shown a letter that waits has decided nothing about one that is filed since.
            (Some(number), Some(filed))
                if filed.is(id, number) && (asked.filed_by == *number || deliveries::needs_person(db, id)?) =>
            {
                match &filed.letter {
                    Some(letter) => letter.clone(),
                    None => return Ok(Settled::NotRead),
                }
            }
            _ => continue,
        };
        let (Some(person), Some(patient)) = (letter.person(), letter.patient.clone()) else {
            return Ok(Settled::Refused(NotAssigned::Ended));
        };
        let number = asked.number.trim();
        let row = list.row(number);
        let assigned = match letter.assign(list, number, row.is_none(), Some(who)) {
            Ok(assigned) => assigned,
            Err(why) => return Ok(Settled::Refused(why)),
        };
        if !asked.seen.is_empty() && asked.seen != assigned.fingerprint {
            return Ok(Settled::Nothing);
        }
        if filed_by.as_ref() == Some(&assigned.number) && !deliveries::needs_person(db, id)? {
            return Ok(Settled::Same);
        }
        let (mut listed, others): (Vec<_>, Vec<_>) =
            Candidate::near(list, &letter, &person).into_iter().partition(|candidate| candidate.number == number);
        let listed = listed.pop();
        let candidate = listed.or_else(|| Some(Candidate::of(list, &letter, &person, row.as_ref()?)));
        let is_anothers = kept::is_anothers(db, number, &patient)?;
        let is_plain = filed_by.is_none()
            && !is_anothers
            && candidate.as_ref().is_some_and(|candidate| candidate.is_exact && !candidate.is_alike);
        if (asked.is_sure || is_plain) && !asked.seen.is_empty() {
            let written = assign::write(db, &assigned, (id, &asked.uuid))?;
            return Ok(match written.is_filed_anew {
                true => Settled::Anew,
                false if written.others.is_empty() => Settled::Done,
                false => Settled::DoneWithOthers,
            });
        }
        let (number, seen) = (assigned.number, assigned.fingerprint);
        let asked = AssignForm { number, seen, ..asked.clone() };
        let is_twin = |other: &Candidate| {
            let theirs = list.row(&other.number);
            row.as_ref().zip(theirs.as_ref()).is_some_and(|(ours, theirs)| ours.is_same_person(theirs))
        };
        let twins = others.into_iter().filter(is_twin).collect();
        let document = one(db, id)?;
        let look = SecondLook { asked, document, person, candidate, twins, is_anothers, filed_by };
        return Ok(Settled::Look(Box::new(look)));
    }
    Ok(Settled::Nothing)
}

/// The page for the second look.
pub(super) fn page(form: &Form<'_>, look: &SecondLook) -> Markup {
    let language = form.language;
    let title = language.text("page-look-title");
    let back = form.letter.map_or_else(|| "/".to_owned(), |uuid| format!("/letter/{uuid}"));
    let further = Candidate::further_columns(look.candidate.as_slice());
    let mut doubts = Vec::new();
    match &look.candidate {
        None => doubts.push("page-look-not-listed"),
        Some(candidate) => {
            let Compared { last_name, first_name, born } = candidate.same;
            let is_same = last_name && first_name && born;
            doubts.extend(candidate.is_another_person().then_some("page-look-another"));
            doubts.extend((!is_same).then_some("page-look-differs"));
            doubts.extend((is_same && !candidate.is_exact).then_some("page-look-spelling"));
            doubts.extend(candidate.is_alike.then_some("page-patients-alike"));
        }
    }
    doubts.extend(look.is_anothers.then_some("page-look-anothers"));
    let number = look.asked.number.as_str();
    let fields =
        [("uuid", look.asked.uuid.as_str()), ("number", number), ("seen", look.asked.seen.as_str()), ("sure", "yes")];
    let body = html! {
        section .wait.patients aria-labelledby="look" {
            h1 #look { (title) }
            p {
                (kind(language, look.document.kind.as_deref())) " · "
                (patient(language, look.document.name.as_deref(), &look.document.uuid)) " · "
                (clock(language, look.document.found_at, &Zoned::now()))
            }
            @if let Some(filed_by) = &look.filed_by {
                p { strong { (language.fill("page-look-filed", &[("number", filed_by.into())])) } }
                p { (language.text("page-misfiled-how")) }
            }
            @for doubt in doubts { p { strong { (language.fill(doubt, &[("number", number.into())])) } } }
            table .letters.sides {
                (columns(language, &further, false))
                tbody {
                    (row_of_service(language, &look.person, &further, false))
                    @if let Some(candidate) = &look.candidate {
                        (row_of_candidate(language, candidate, &further, None))
                    }
                    @for twin in &look.twins {
                        (row_of("page-look-twin", language, twin, &further, None))
                    }
                }
            }
            div .actions {
                (form.button("/assign", &language.fill("page-look-yes", &[("number", number.into())]), "", &fields))
                a .button-like.quiet href=(back) { (language.text("page-look-no")) }
            }
        }
    };
    frame(language, &Frame { title: &title, icon: "/waiting.svg", live: None, practice: None }, &body, &html! {})
}

/// The heads of the columns.
pub(super) fn columns(language: Language, further: &[&str], has_action: bool) -> Markup {
    let of_ours = ["page-patients-where", "page-patients-number", "page-last-name", "page-first-name", "page-born"];
    html! {
        thead { tr {
            @for column in of_ours { th scope="col" { (language.text(column)) } }
            @for column in further { th scope="col" { (column) } }
            @if has_action { th scope="col" .act { (language.text("page-action")) } }
        } }
    }
}

fn born(language: Language, born: Option<jiff::civil::Date>) -> String {
    born.map(|born| language.short_day(born)).unwrap_or_default()
}

pub(super) fn row_of_service(language: Language, person: &Person, further: &[&str], has_action: bool) -> Markup {
    html! {
        tr .cloud {
            th scope="row" { (language.text("page-patients-cloud")) }
            td .none {}
            (value(language, "page-last-name", person.last_name(), true))
            (value(language, "page-first-name", person.first_name(), true))
            (value(language, "page-born", &born(language, person.born()), true))
            @for _ in further { td .none {} }
            @if has_action { td .none {} }
        }
    }
}

pub(super) fn row_of_candidate(
    language: Language,
    candidate: &Candidate,
    further: &[&str],
    action: Option<&Markup>,
) -> Markup {
    row_of("page-patients-list", language, candidate, further, action)
}

fn row_of(head: &str, language: Language, candidate: &Candidate, further: &[&str], action: Option<&Markup>) -> Markup {
    let further_value = |column: &str| {
        let found = candidate.further.iter().find(|(name, _)| name == column);
        found.map(|(_, value)| value.as_str()).unwrap_or_default()
    };
    html! {
        tr {
            th scope="row" { (language.text(head)) }
            td data-label=(language.text("page-patients-number")) { (candidate.number) }
            (value(language, "page-last-name", &candidate.last_name, candidate.same.last_name))
            (value(language, "page-first-name", &candidate.first_name, candidate.same.first_name))
            (value(language, "page-born", &born(language, candidate.born), candidate.same.born))
            @for column in further { td data-label=(column) { (further_value(column)) } }
            @if let Some(action) = action { td .act { (action) } }
        }
    }
}

/// A value, with a mark that needs no colours if the other side differs.
fn value(language: Language, column: &str, value: &str, is_same: bool) -> Markup {
    let shown = if value.is_empty() { "–" } else { value };
    html! {
        td data-label=(language.text(column)) {
            @if is_same { (shown) } @else { mark title=(language.text("page-patients-differs")) { (shown) } }
        }
    }
}
