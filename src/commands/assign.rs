//! `docsyncd assign`: a person says who a letter's patient is in the practice's own list (docs/patients.md).

use std::borrow::Cow;
use std::fmt::Write as _;

use super::harmless::in_line;
use super::output::{can_ask, complain, docsyncd, ledger_to_read, local, print, say, table};
use super::unconfigured::needs_more;
use super::{Exit, Outcome, interruptible, named, ready_clients, retry, runtime, told};
use crate::commands::cli::AssignArgs;
use crate::config::{Loaded, PatientsConfig};
use crate::domain::document::Version;
use crate::formats::language::Language;
use crate::ledger::documents::{self, Document};
use crate::ledger::patients as kept;
use crate::ledger::{Ledger, deliveries};
use crate::patients::{Difference, List, Near, Person, Row, Unmatched, load_once};
use crate::pipeline::assign::{self, Letter, NotAssigned};
use crate::pipeline::patients;
use crate::views;

/// How many other letters of a patient are named.
const MOST_NAMED: usize = 20;

/// What the command works with: the practice's list, and more.
struct Desk<'a> {
    loaded: &'a Loaded,
    config: &'a PatientsConfig,
    language: Language,
}

/// A letter that a person named.
struct Named {
    uuid: String,
    document: Document,
    /// The number that it was, or may have been, filed with.
    number: Option<String>,
    letter: Letter,
}

pub(super) fn assign(loaded: &Loaded, args: &AssignArgs, language: Language) -> Outcome {
    let Some(config) = &loaded.config.patients else {
        return Err(needs_more(loaded, language).unwrap_or_else(|| told::usage(language, "assign-no-list", &[])));
    };
    let desk = Desk { loaded, config, language };
    match (&args.uuid, &args.number) {
        _ if args.list => desk.all(),
        (Some(uuid), None) if args.remove => desk.remove(uuid),
        (Some(uuid), None) => desk.candidates(uuid),
        (Some(uuid), Some(number)) => desk.settle(uuid, number.trim(), args),
        (None, _) => {
            let command = docsyncd("assign UUID");
            Err(told::usage(language, "assign-which", &[("command", (&command).into())]))
        }
    }
}

impl Desk<'_> {
    /// The letter that a person named; `None` after a message that there is none, or that its patient is unknown.
    fn letter(&self, ledger: &Ledger, uuid: &str) -> anyhow::Result<Option<Named>> {
        let wanted = vec![uuid.to_owned()];
        let (named, letters) = runtime()?.block_on(ledger.read(move |db| {
            let named = named::find_for_sure(db, &wanted)?;
            let mut letters = Vec::new();
            for (_, ids) in &named.found {
                for id in ids {
                    let Some(document) = documents::by_number(db, *id)? else { continue };
                    let number = deliveries::frozen(db, *id)?;
                    let uuid = document.version.uuid.to_string();
                    letters.push(Named { uuid, document, number, letter: Letter::read(db, *id)? });
                }
            }
            Ok((named, letters))
        }))?;
        let named = named.unambiguous(self.language)?;
        named.complain_of_unknown(self.language);
        Ok(letters.into_iter().next())
    }

    /// The letter with its patient; `None` after a message that the patient is unknown. A letter that was filed already
    /// is read again: the ledger keeps nothing of its patient, and the service may have corrected the patient since.
    fn whose(&self, ledger: &Ledger, uuid: &str, number: &str) -> anyhow::Result<Option<(Named, Person)>> {
        let Some(mut named) = self.letter(ledger, uuid)? else { return Ok(None) };
        let Version { account, uuid, .. } = &named.document.version;
        if named.number.is_some() {
            let clients = ready_clients(&self.loaded.config)?;
            let client = clients.iter().find(|(name, _)| *name == account.as_str()).map(|(_, client)| client);
            let read = async {
                let Some(client) = client else { return Ok(None) };
                named.letter.clone().read_anew(client, account, uuid).await.map(Some)
            };
            match runtime()?.block_on(interruptible(client, async { Ok::<_, anyhow::Error>(read.await) }))? {
                Ok(Some(letter)) => named.letter = letter,
                Ok(None) => named.letter.metadata = None,
                Err(error) => {
                    let values = [("uuid", named.uuid.as_str().into())];
                    let what = told::because(self.language, "assign-not-read", &values, &error.to_string());
                    complain(&format!("docsyncd: {what}"));
                    return Ok(None);
                }
            }
        }
        let Some(person) = named.letter.person() else {
            self.refuse(&named.uuid, number, NotAssigned::Ended)?;
            return Ok(None);
        };
        Ok(Some((named, person)))
    }

    fn list(&self, ledger: &Ledger) -> anyhow::Result<List> {
        let known = runtime()?.block_on(patients::known(Some(ledger)));
        load_once(self.config, &known)
            .map_err(|problem| told::said(told::of_list(self.language, &problem), Exit::Failed))
    }

    /// Says why the letter's patient cannot get a number.
    fn refuse(&self, uuid: &str, number: &str, why: NotAssigned) -> Outcome {
        let text = match why {
            NotAssigned::Ended => "assign-ended",
            NotAssigned::NotListed => "assign-not-listed",
            NotAssigned::NoNumber => "assign-no-number",
            NotAssigned::Shared => "assign-shared",
        };
        let show = docsyncd(&format!("show {uuid}"));
        let values = [("uuid", uuid.into()), ("number", number.into()), ("command", (&show).into())];
        complain(&format!("docsyncd: {}", self.language.fill(text, &values)));
        Ok(Exit::Failed)
    }

    /// Shows the candidates.
    fn candidates(&self, uuid: &str) -> Outcome {
        let language = self.language;
        let ledger = Ledger::open_beside(&self.loaded.config.state.path)?;
        let Some((Named { uuid, document, letter, .. }, person)) = self.whose(&ledger, uuid, "")? else {
            return Ok(Exit::Failed);
        };
        let list = self.list(&ledger)?;
        let refused = runtime()?.block_on(ledger.read(move |db| views::one(db, document.id)))?.deliveries;
        let refused = refused.iter().find(|of| of.unmatched.as_deref() == Some(Unmatched::NotHeld.as_str()));
        let mut text = format!("{}\n{}\n", self.document(&uuid), self.beside(&person, None));
        match letter.number(Some(&list), &person) {
            Ok(_) if refused.is_some() => {
                let _ = writeln!(text, "{}", told::of_patient(language, Unmatched::NotHeld));
                return say(&text);
            }
            Ok(number) => {
                let _ = writeln!(text, "{}", language.fill("assign-known", &[("number", (&number).into())]));
            }
            Err(why) => {
                let _ = writeln!(text, "{}", told::of_patient(language, why));
                if letter.assigned.is_some() {
                    let _ = writeln!(text, "{}", language.text("assign-changed"));
                }
            }
        }
        let near = list.near(&person);
        if near.is_empty() {
            let _ = writeln!(text, "{}", language.text("assign-nobody"));
        } else {
            let rows = self.rows(&list, &near);
            let _ = writeln!(text, "\n{}\n{rows}", language.text("assign-may-be"));
            if near.iter().any(|one| near.iter().any(|other| is_twin(&one.row, &other.row))) {
                let _ = writeln!(text, "{}", language.text("page-patients-alike"));
            }
        }
        let command = docsyncd(&format!("assign {uuid} {}", language.text("assign-a-number")));
        let _ = writeln!(text, "\n{}", language.fill("assign-settles", &[("command", (&command).into())]));
        say(&text)
    }

    /// A date of birth in the language's form; in English as in the list.
    fn born(&self, born: Option<jiff::civil::Date>) -> String {
        match (born, self.language) {
            (None, _) => "-".to_owned(),
            (Some(born), Language::English) => born.to_string(),
            (Some(born), language) => language.short_day(born),
        }
    }

    /// The candidates, one in each line. If two are alike, with all further columns of the list.
    fn rows(&self, list: &List, near: &[Near<'_>]) -> comfy_table::Table {
        let further = |row: &Row<'_>| {
            let is_alike = near.iter().any(|other| is_twin(&other.row, row));
            if is_alike { list.further(row) } else { &[] }
        };
        let columns =
            near.iter().map(|near| further(&near.row)).find(|further| !further.is_empty()).unwrap_or_default();
        let columns: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
        let known = |column: &str| self.language.text(&format!("assign-column-{column}"));
        let mut head: Vec<String> = ["number", "last-name", "first-name", "born"].map(known).into();
        head.extend(columns.iter().map(|name| in_line(name).into_owned()));
        head.push(known("differs"));
        let mut rows = table(&head.iter().map(String::as_str).collect::<Vec<_>>());
        for near in near {
            let in_words = |difference: &Difference| self.language.text(&format!("assign-{}", word(*difference)));
            let differences: Vec<String> = near.differences.iter().map(in_words).collect();
            let nothing = || self.language.text("assign-nothing");
            let mut cells = vec![
                near.row.number.to_owned(),
                in_line(&near.row.last_names_shown()).into_owned(),
                in_line(near.row.first_name).into_owned(),
                self.born(near.row.born),
            ];
            let said = further(&near.row);
            let value =
                |column: &&str| said.iter().find(|(name, _)| name == column).map_or("", |(_, value)| value.as_str());
            cells.extend(columns.iter().map(|column| in_line(value(column)).into_owned()));
            cells.push(if differences.is_empty() { nothing() } else { differences.join(", ") });
            rows.add_row(cells);
        }
        rows
    }

    /// Why a person is asked again: another patient in the list is alike in all values that are compared, or the number
    /// already belongs to another patient.
    fn doubts(
        &self,
        ledger: &Ledger,
        list: &List,
        (letter, person): (&Letter, &Person),
        number: &str,
    ) -> anyhow::Result<Vec<String>> {
        let mut doubts = Vec::new();
        let near = list.near(person);
        let row = list.row(number);
        let twins: Vec<Near<'_>> = match &row {
            Some(row) => near.into_iter().filter(|near| near.row.number == number || is_twin(&near.row, row)).collect(),
            None => Vec::new(),
        };
        if twins.len() > 1 {
            doubts.push(format!("{}\n{}", self.language.text("page-patients-alike"), self.rows(list, &twins)));
        }
        let (number, patient) = (number.to_owned(), letter.patient.clone().unwrap_or_default());
        let named = number.clone();
        if runtime()?.block_on(ledger.read(move |db| kept::is_anothers(db, &named, &patient)))? {
            doubts.push(self.language.fill("page-look-anothers", &[("number", (&number).into())]));
        }
        Ok(doubts)
    }

    /// Both sides next to each other, with a mark where they differ.
    fn beside(&self, person: &Person, row: Option<&Row<'_>>) -> String {
        let born = |born| self.born(born);
        let say = |text: &str| self.language.text(text);
        let Some(row) = row else {
            let (last, first) = (named_or(person.last_name()), named_or(person.first_name()));
            let born = born(person.born());
            let values = [("last", (&*last).into()), ("first", (&*first).into()), ("born", (&born).into())];
            return self.language.fill("assign-in-cloud", &values);
        };
        let same = row.compared(person);
        let mut text = table(&["", &say("assign-cloud"), &say("assign-list"), ""]);
        let names = [
            ("assign-last", person.last_name(), row.last_names_shown(), same.last_name),
            ("assign-first", person.first_name(), row.first_name.to_owned(), same.first_name),
        ];
        let mark = |is_same: bool| if is_same { String::new() } else { say("assign-differs") };
        for (what, cloud, list, is_same) in names {
            text.add_row([&*say(what), &named_or(cloud), &named_or(&list), &mark(is_same)]);
        }
        text.add_row([say("assign-born"), born(person.born()), born(row.born), mark(same.born)]);
        text.to_string()
    }

    fn document(&self, uuid: &str) -> String {
        self.language.fill("assign-document", &[("uuid", uuid.into())])
    }

    /// Assigns the number.
    fn settle(&self, uuid: &str, number: &str, args: &AssignArgs) -> Outcome {
        let language = self.language;
        let ledger = Ledger::open_beside(&self.loaded.config.state.path)?;
        let Some((named, person)) = self.whose(&ledger, uuid, number)? else { return Ok(Exit::Failed) };
        let Named { uuid, document, number: filed_by, letter } = named;
        let list = self.list(&ledger)?;
        let assigned = match letter.assign(&list, number, args.not_listed, crate::system::readers::person()) {
            Ok(assigned) => assigned,
            Err(why) => return self.refuse(&uuid, number, why),
        };
        let sides = match list.row(number) {
            Some(row) => self.beside(&person, Some(&row)),
            None => {
                let unlisted = language.fill("assign-unlisted", &[("number", number.into())]);
                format!("{}\n{unlisted}", self.beside(&person, None))
            }
        };
        say(&format!("{}\n{sides}\n", self.document(&uuid)))?;
        let doubts = self.doubts(&ledger, &list, (&letter, &person), number)?;
        for doubt in &doubts {
            say(&format!("{doubt}\n\n"))?;
        }
        let is_filed_otherwise = filed_by.is_some_and(|filed_by| filed_by != assigned.number);
        let question = if is_filed_otherwise { "assign-question-anew" } else { "assign-question" };
        let is_sure = || self.agreed(question, number);
        let is_sure_again = || anyhow::Ok(doubts.is_empty() || self.agreed("assign-question-again", number)?);
        let is_agreed = args.yes || (is_sure()? && is_sure_again()?);
        if !is_agreed {
            print(&format!("{}\n", language.text("assign-none")))?;
            return Ok(Exit::Failed);
        }
        let not_listed = || language.text("assign-not-in-list");
        let patient = list.row(number).map_or_else(not_listed, |row| in_line(&row.named()).into_owned());
        let named = uuid.clone();
        let write = ledger.write(move |db| assign::write(db, &assigned, (document.id, &named)));
        let written = runtime()?.block_on(write)?;
        let text = if written.is_filed_anew { "assign-anew" } else { "assign-done" };
        let (when, show) = (retry::when(self.loaded, language), docsyncd(&format!("show {uuid}")));
        let values = [
            ("uuid", (&uuid).into()),
            ("number", number.into()),
            ("patient", (&patient).into()),
            ("when", (&when).into()),
            ("command", (&show).into()),
        ];
        say(&format!("{}\n", language.fill(text, &values)))?;
        if written.others.is_empty() {
            return Ok(Exit::Done);
        }
        let some: Vec<&str> = written.others.iter().take(MOST_NAMED).map(String::as_str).collect();
        let (letters, command) = (some.join(", "), docsyncd(&format!("assign UUID {number}")));
        let count = written.others.len() as u64;
        let values = [("count", count.into()), ("letters", (&letters).into()), ("command", (&command).into())];
        say(&format!("{}\n", language.fill("assign-others", &values)))
    }

    /// Whether the person at the terminal agrees.
    fn agreed(&self, text: &str, number: &str) -> anyhow::Result<bool> {
        if !can_ask() {
            return Err(told::usage(self.language, "assign-nobody-asked", &[]));
        }
        super::output::agreed(&self.language.fill(text, &[("number", number.into())]), self.language)
    }

    /// Takes back a decision about the letter's patient.
    fn remove(&self, uuid: &str) -> Outcome {
        let ledger = Ledger::open_beside(&self.loaded.config.state.path)?;
        let Some(Named { uuid, letter, .. }) = self.letter(&ledger, uuid)? else { return Ok(Exit::Failed) };
        let (named, who) = (uuid.clone(), crate::system::readers::person());
        let is_removed = runtime()?.block_on(ledger.write(move |db| assign::remove(db, &letter, &named, who)))?;
        if !is_removed {
            let text = self.language.fill("assign-not-assigned", &[("uuid", (&uuid).into())]);
            complain(&format!("docsyncd: {text}"));
            return Ok(Exit::Failed);
        }
        say(&format!("{}\n", self.language.fill("assign-removed", &[("uuid", (&uuid).into())])))
    }

    /// Shows all decisions.
    fn all(&self) -> Outcome {
        let language = self.language;
        let none = format!("{}\n", language.text("assign-none"));
        let Some(ledger) = ledger_to_read(self.loaded)? else { return print(&none) };
        let all = runtime()?.block_on(ledger.read(|db| {
            let all = kept::all(db)?;
            all.into_iter()
                .map(|assigned| Ok((kept::newest_document(db, &assigned.patient)?, assigned)))
                .collect::<Result<Vec<_>, _>>()
        }))?;
        if all.is_empty() {
            return print(&none);
        }
        // Without the list, the numbers are shown nevertheless.
        let list = self.list(&ledger).ok();
        let head = ["letter", "number", "in-list", "assigned", "by"]
            .map(|column| language.text(&format!("assign-column-{column}")));
        let mut rows = table(&head.each_ref().map(String::as_str));
        for (letter, assigned) in &all {
            let row = list.as_ref().and_then(|list| list.row(&assigned.number));
            let listed = row.map_or_else(|| "-".to_owned(), |row| row.named());
            let at = local(assigned.at);
            rows.add_row([
                letter.as_deref().unwrap_or("-"),
                &assigned.number,
                &in_line(&listed),
                &at,
                &assigned.who.as_deref().map_or_else(|| "-".to_owned(), |who| language.who(who)),
            ]);
        }
        say(&format!("{rows}\n"))
    }
}

/// Whether two rows with different numbers are alike in all values that are compared.
fn is_twin(one: &Row<'_>, other: &Row<'_>) -> bool {
    one.number != other.number && one.is_same_person(other)
}

/// The end of the text's key.
fn word(difference: Difference) -> &'static str {
    match difference {
        Difference::PartOfLastName => "part-of-last-name",
        Difference::PartOfFirstName => "part-of-first-name",
        Difference::SwappedNames => "swapped-names",
        Difference::DayAndMonth => "day-and-month",
        Difference::OneDigit => "one-digit",
        Difference::NoDateOfBirth => "no-date-of-birth",
        Difference::FirstName => "first-name",
        Difference::LastName => "last-name",
        Difference::DateOfBirth => "date-of-birth",
        Difference::SharedNumber => "shared-number",
    }
}

fn named_or(name: &str) -> Cow<'_, str> {
    if name.is_empty() { "-".into() } else { in_line(name) }
}
