//! `docsyncd assign`: a person says who a letter's patient is in the practice's own list (RECORD.md, section 1).

use std::borrow::Cow;
use std::fmt::Write as _;

use super::harmless::in_line;
use super::output::{can_ask, complain, docsyncd, ledger_to_read, local, print, say, table};
use super::{Exit, Outcome, UsageError, named, retry, runtime};
use crate::cli::AssignArgs;
use crate::config::{Loaded, PatientsConfig};
use crate::language::Language;
use crate::ledger::Ledger;
use crate::ledger::patients as kept;
use crate::patients::{Difference, List, Person, Row, load_once};
use crate::pipeline::assign::{self, Letter, NotAssigned};
use crate::pipeline::patients;

pub(super) fn assign(loaded: &Loaded, args: &AssignArgs) -> Outcome {
    let Some(config) = &loaded.config.patients else {
        let what = "there is no list of patients to assign letters by: add a section [patients] (docs/patients.md)";
        return Err(UsageError(what.to_owned()).into());
    };
    match (&args.uuid, &args.number) {
        _ if args.list => all(loaded, config),
        (Some(uuid), None) if args.remove => remove(loaded, uuid),
        (Some(uuid), None) => candidates(loaded, config, uuid),
        (Some(uuid), Some(number)) => settle(loaded, config, uuid, number, args),
        (None, _) => Err(UsageError(format!("whose letter? Name it: {}", docsyncd("assign UUID"))).into()),
    }
}

/// The letter that a person named, with its uuid; `None`: it was said that there is none.
fn letter(ledger: &Ledger, uuid: &str) -> anyhow::Result<Option<(String, Letter)>> {
    let wanted = vec![uuid.to_owned()];
    let (named, letters) = runtime()?.block_on(ledger.read(move |db| {
        let named = named::find_for_sure(db, &wanted)?;
        let mut letters = Vec::new();
        for (text, ids) in &named.found {
            for id in ids {
                letters.push((text.clone(), Letter::read(db, *id)?));
            }
        }
        Ok((named, letters))
    }))?;
    let named = named.unambiguous()?;
    named.complain_of_unknown(Language::English);
    Ok(letters.into_iter().next())
}

fn list(config: &PatientsConfig, ledger: &Ledger) -> anyhow::Result<List> {
    let known = runtime()?.block_on(patients::known(Some(ledger)));
    load_once(config, &known).map_err(|problem| anyhow::anyhow!("{problem}"))
}

/// Says of a letter why its patient cannot be given a number.
fn refuse(uuid: &str, number: &str, why: NotAssigned) -> Outcome {
    let what = match why {
        NotAssigned::Ended => format!("{}; {} shows where it stands", why, docsyncd(&format!("show {uuid}"))),
        NotAssigned::NotListed => {
            format!("{why} ({number}): correct it, or write --not-listed if the patient is new there")
        }
        NotAssigned::NoNumber | NotAssigned::Shared => why.to_string(),
    };
    complain(&format!("docsyncd: document {uuid}: {what}"));
    Ok(Exit::Failed)
}

/// Whom it could be.
fn candidates(loaded: &Loaded, config: &PatientsConfig, uuid: &str) -> Outcome {
    let ledger = Ledger::open_beside(&loaded.config.state.path)?;
    let Some((uuid, letter)) = letter(&ledger, uuid)? else { return Ok(Exit::Failed) };
    let Some(person) = letter.person() else { return refuse(&uuid, "", NotAssigned::Ended) };
    let list = list(config, &ledger)?;
    let mut text = format!("document {uuid}\n{}\n", beside(&person, None));
    match letter.number(Some(&list), &person) {
        Ok(number) => {
            let _ = writeln!(text, "the patient's number is {number}: nobody has to decide");
        }
        Err(why) => {
            let _ = writeln!(text, "{why}");
            if letter.assigned.is_some() {
                text.push_str("it was assigned before, and a name or a date of birth has changed since then\n");
            }
        }
    }
    let near = list.near(&person);
    if near.is_empty() {
        text.push_str("nobody in the list is like this patient\n");
    } else {
        let mut rows = table(&["number", "last name", "first name", "born", "what differs"]);
        for near in &near {
            let differences: Vec<&str> = near.differences.iter().map(|difference| in_words(*difference)).collect();
            let differences = if differences.is_empty() { "nothing".to_owned() } else { differences.join(", ") };
            rows.add_row([
                near.row.number,
                &in_line(&near.row.last_names_shown()),
                &in_line(near.row.first_name),
                &near.row.born.map_or_else(|| "-".to_owned(), |born| born.to_string()),
                &differences,
            ]);
        }
        let _ = writeln!(text, "\nwho it may be:\n{rows}");
    }
    let _ = writeln!(text, "\n{} settles it", docsyncd(&format!("assign {uuid} NUMBER")));
    say(&text)
}

fn in_words(difference: Difference) -> &'static str {
    match difference {
        Difference::PartOfLastName => "only a part of the last name is the same",
        Difference::PartOfFirstName => "only a part of the first name is the same",
        Difference::SwappedNames => "last and first name are swapped",
        Difference::DayAndMonth => "day and month of the date of birth are swapped",
        Difference::OneDigit => "one digit of the date of birth",
        Difference::NoDateOfBirth => "a date of birth is missing",
        Difference::FirstName => "the first name (a twin?)",
        Difference::LastName => "the last name",
        Difference::DateOfBirth => "the date of birth",
        Difference::SharedNumber => "the list has two persons under this number",
    }
}

/// Both sides beside one another, with a mark at what differs.
fn beside(person: &Person, row: Option<&Row<'_>>) -> String {
    let born = |born: Option<jiff::civil::Date>| born.map_or_else(|| "-".to_owned(), |born| born.to_string());
    let Some(row) = row else {
        return format!(
            "in the cloud service: {} {}, born {}",
            named_or(person.last_name()),
            named_or(person.first_name()),
            born(person.born())
        );
    };
    let same = row.compared(person);
    let mut text = table(&["", "in the cloud service", "in the practice's list", ""]);
    let names = [
        ("last name", person.last_name(), row.last_names_shown(), same.last_name),
        ("first name", person.first_name(), row.first_name.to_owned(), same.first_name),
    ];
    let mark = |is_same: bool| if is_same { "" } else { "differs" };
    for (what, cloud, list, is_same) in names {
        text.add_row([what, &named_or(cloud), &named_or(&list), mark(is_same)]);
    }
    text.add_row(["date of birth", &born(person.born()), &born(row.born), mark(same.born)]);
    text.to_string()
}

fn named_or(name: &str) -> Cow<'_, str> {
    if name.is_empty() { "-".into() } else { in_line(name) }
}

/// A person settles who it is.
fn settle(loaded: &Loaded, config: &PatientsConfig, uuid: &str, number: &str, args: &AssignArgs) -> Outcome {
    let ledger = Ledger::open_beside(&loaded.config.state.path)?;
    let Some((uuid, letter)) = letter(&ledger, uuid)? else { return Ok(Exit::Failed) };
    let Some(person) = letter.person() else { return refuse(&uuid, number, NotAssigned::Ended) };
    let list = list(config, &ledger)?;
    let assigned = match letter.assign(&list, number, args.not_listed, crate::readers::person()) {
        Ok(assigned) => assigned,
        Err(why) => return refuse(&uuid, number, why),
    };
    let sides = match list.row(number) {
        Some(row) => beside(&person, Some(&row)),
        None => format!("{}\nthe number {number} is not in the practice's list", beside(&person, None)),
    };
    say(&format!("document {uuid}\n{sides}\n"))?;
    if !args.yes && !agreed(number)? {
        print("nothing was assigned\n")?;
        return Ok(Exit::Failed);
    }
    let named = uuid.clone();
    runtime()?.block_on(ledger.write(move |db| assign::write(db, &assigned, &named)))?;
    say(&format!("{uuid}: its patient is number {number}; {}\n", retry::when(loaded)))
}

/// Whether the person at the terminal agrees.
fn agreed(number: &str) -> anyhow::Result<bool> {
    if !can_ask() {
        let what = "nobody can be asked here whether this is the patient: look at both sides above, and write --yes";
        return Err(UsageError(what.to_owned()).into());
    }
    super::output::agreed(&format!("Is this the patient with the number {number}?"))
}

/// A person takes back what was said of a letter's patient.
fn remove(loaded: &Loaded, uuid: &str) -> Outcome {
    let ledger = Ledger::open_beside(&loaded.config.state.path)?;
    let Some((uuid, letter)) = letter(&ledger, uuid)? else { return Ok(Exit::Failed) };
    let named = uuid.clone();
    let who = crate::readers::person();
    let is_removed = runtime()?.block_on(ledger.write(move |db| assign::remove(db, &letter, &named, who)))?;
    if !is_removed {
        complain(&format!("docsyncd: nobody assigned the patient of document {uuid}"));
        return Ok(Exit::Failed);
    }
    say(&format!("{uuid}: its patient is assigned no more; letters that are delivered stay where they are\n"))
}

/// What was assigned.
fn all(loaded: &Loaded, config: &PatientsConfig) -> Outcome {
    let Some(ledger) = ledger_to_read(loaded)? else { return print("nothing was assigned\n") };
    let all = runtime()?.block_on(ledger.read(|db| {
        let all = kept::all(db)?;
        all.into_iter()
            .map(|assigned| Ok((kept::newest_document(db, &assigned.patient)?, assigned)))
            .collect::<Result<Vec<_>, _>>()
    }))?;
    if all.is_empty() {
        return print("nothing was assigned\n");
    }
    // Without the list the numbers are still shown.
    let list = list(config, &ledger).ok();
    let mut rows = table(&["letter", "number", "in the list", "assigned", "by"]);
    for (letter, assigned) in &all {
        let row = list.as_ref().and_then(|list| list.row(&assigned.number));
        let listed = row.map_or_else(|| "-".to_owned(), |row| format!("{} {}", row.last_name, row.first_name));
        let at = local(assigned.at);
        rows.add_row([
            letter.as_deref().unwrap_or("-"),
            &assigned.number,
            &in_line(&listed),
            &at,
            assigned.who.as_deref().unwrap_or("-"),
        ]);
    }
    say(&format!("{rows}\n"))
}
