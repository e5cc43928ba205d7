//! `docsyncd assign`: a person says who a letter's patient is in the practice's own list (RECORD.md, section 1).

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};

use super::output::{complain, completed, docsyncd, ledger_to_read, local, print, table};
use super::{Exit, Outcome, UsageError, named, record, retry, runtime};
use crate::cli::AssignArgs;
use crate::config::{Loaded, PatientsConfig};
use crate::document::Metadata;
use crate::ledger::history::Action;
use crate::ledger::patients::{self as kept, Assigned};
use crate::ledger::{Ledger, now};
use crate::name::{is_bidirectional, is_invisible};
use crate::patients::{Difference, Folded, List, Person, Row, fingerprint, load_once, whose};
use crate::views;

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

/// A letter, and what the service said of its patient when it was read.
struct Letter {
    uuid: String,
    patient: Option<String>,
    metadata: Option<Metadata>,
    assigned: Option<Assigned>,
}

/// The letter that a person named; `None`: it was said that there is none.
fn letter(ledger: &Ledger, uuid: &str) -> anyhow::Result<Option<Letter>> {
    let wanted = vec![uuid.to_owned()];
    let (named, letters) = runtime()?.block_on(ledger.read(move |db| {
        let named = named::find_for_sure(db, &wanted)?;
        let mut letters = Vec::new();
        for (text, ids) in &named.found {
            for id in ids {
                let json = kept::metadata(db, *id)?;
                let patient = kept::of_document(db, *id)?;
                let assigned = patient.as_ref().map_or(Ok(None), |patient| kept::assigned(db, patient))?;
                let metadata = json.and_then(|json| serde_json::from_str(&json).ok());
                letters.push(Letter { uuid: text.clone(), patient, metadata, assigned });
            }
        }
        Ok((named, letters))
    }))?;
    let named = named.unambiguous()?;
    named.complain_of_unknown();
    Ok(letters.into_iter().next())
}

fn list(config: &PatientsConfig) -> anyhow::Result<List> {
    load_once(config).map_err(|problem| anyhow::anyhow!("{problem}"))
}

fn ended(letter: &Letter) -> String {
    format!(
        "of document {} it is not known who its patient is: it has ended, or was not downloaded yet; {} shows where it stands",
        letter.uuid,
        docsyncd(&format!("show {}", letter.uuid))
    )
}

/// Whom it could be.
fn candidates(loaded: &Loaded, config: &PatientsConfig, uuid: &str) -> Outcome {
    let ledger = Ledger::open_beside(&loaded.config.state.path)?;
    let Some(letter) = letter(&ledger, uuid)? else { return Ok(Exit::Failed) };
    let Some(metadata) = &letter.metadata else {
        complain(&format!("docsyncd: {}", ended(&letter)));
        return Ok(Exit::Failed);
    };
    let list = list(config)?;
    let person = Person::of(metadata);
    let mut text = format!("document {}\n{}\n", letter.uuid, beside(&person, None));
    let assigned = letter.assigned.as_ref().map(|assigned| (assigned.number.as_str(), assigned.fingerprint.as_str()));
    match whose(Some(&list), letter.patient.as_deref().unwrap_or_default(), &person, assigned) {
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
                &last_name(&near.row),
                near.row.first_name,
                &near.row.born.map_or_else(|| "-".to_owned(), |born| born.to_string()),
                &differences,
            ]);
        }
        let _ = writeln!(text, "\nwho it may be:\n{rows}");
    }
    let _ = writeln!(text, "\n{} settles it", docsyncd(&format!("assign {} NUMBER", letter.uuid)));
    print(&completed(&text))
}

/// With the former one.
fn last_name(row: &Row<'_>) -> String {
    if row.former_name.is_empty() {
        row.last_name.to_owned()
    } else {
        format!("{} ({})", row.last_name, row.former_name)
    }
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
    let listed = row.person();
    let same = |a: &str, b: &str| Folded::new(a).is(&Folded::new(b));
    let mut text = table(&["", "in the cloud service", "in the practice's list", ""]);
    let mark = |is_same: bool| if is_same { "" } else { "differs" };
    let names = [
        (
            "last name",
            person.last_name(),
            last_name(row),
            same(person.last_name(), row.last_name) || same(person.last_name(), row.former_name),
        ),
        ("first name", person.first_name(), row.first_name.to_owned(), same(person.first_name(), row.first_name)),
    ];
    for (what, cloud, list, is_same) in names {
        text.add_row([what, named_or(cloud), named_or(&list), mark(is_same)]);
    }
    let (cloud, list) = (born(person.born()), born(listed.born()));
    text.add_row(["date of birth", &cloud, &list, mark(person.born() == listed.born())]);
    text.to_string()
}

fn named_or(name: &str) -> &str {
    if name.is_empty() { "-" } else { name }
}

/// A person settles who it is.
fn settle(loaded: &Loaded, config: &PatientsConfig, uuid: &str, number: &str, args: &AssignArgs) -> Outcome {
    let ledger = Ledger::open_beside(&loaded.config.state.path)?;
    let Some(letter) = letter(&ledger, uuid)? else { return Ok(Exit::Failed) };
    let (Some(metadata), Some(patient)) = (&letter.metadata, &letter.patient) else {
        complain(&format!("docsyncd: {}", ended(&letter)));
        return Ok(Exit::Failed);
    };
    let number = number.trim();
    if number.is_empty()
        || number.chars().any(|letter| letter.is_control() || is_bidirectional(letter) || is_invisible(letter))
    {
        return Err(UsageError("a number has at least one character, and none that is not seen".to_owned()).into());
    }
    let list = list(config)?;
    let person = Person::of(metadata);
    let row = list.row(number);
    let wrong = match row {
        None if !args.not_listed => Some(format!(
            "nobody in the practice's list has the number {number}: correct it, or write --not-listed if the patient is new there"
        )),
        Some(row) if row.is_shared => {
            Some(format!("the practice's list has two persons under the number {number}: mend that there first"))
        }
        _ => None,
    };
    if let Some(wrong) = wrong {
        complain(&format!("docsyncd: {wrong}"));
        return Ok(Exit::Failed);
    }
    let sides = match &row {
        Some(row) => beside(&person, Some(row)),
        None => format!("{}\nthe number {number} is not in the practice's list", beside(&person, None)),
    };
    print(&completed(&format!("document {}\n{sides}\n", letter.uuid)))?;
    if !args.yes && !agreed(number)? {
        print("nothing was assigned\n")?;
        return Ok(Exit::Failed);
    }
    let assigned = Assigned {
        patient: patient.clone(),
        number: number.to_owned(),
        fingerprint: fingerprint(patient, number, &person, &list),
        listed: row.is_some(),
        who: crate::readers::person(),
        at: now(),
    };
    let what = record::documents(&[&letter.uuid]);
    runtime()?.block_on(ledger.write(move |db| {
        kept::assign(db, &assigned)?;
        record::record(db, Action::Assign, &what)
    }))?;
    print(&format!("{}: its patient is number {number}; {}\n", letter.uuid, retry::when(loaded)))
}

/// Whether the person at the terminal agrees.
fn agreed(number: &str) -> anyhow::Result<bool> {
    if !io::stdin().is_terminal() {
        let what = "nobody can be asked here whether this is the patient: look at both sides above, and write --yes";
        return Err(UsageError(what.to_owned()).into());
    }
    print(&format!("Is this the patient with the number {number}? [y/N] "))?;
    io::stdout().flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes" | "o" | "oui" | "j" | "ja"))
}

/// A person takes back what was said of a letter's patient.
fn remove(loaded: &Loaded, uuid: &str) -> Outcome {
    let ledger = Ledger::open_beside(&loaded.config.state.path)?;
    let Some(letter) = letter(&ledger, uuid)? else { return Ok(Exit::Failed) };
    let what = record::documents(&[&letter.uuid]);
    let patient = letter.patient.clone();
    let is_removed = runtime()?.block_on(ledger.write(move |db| {
        let is_removed = patient.as_ref().map_or(Ok(false), |patient| kept::remove(db, patient))?;
        if is_removed {
            record::record(db, Action::Unassign, &what)?;
        }
        Ok(is_removed)
    }))?;
    if !is_removed {
        complain(&format!("docsyncd: nobody assigned the patient of document {}", letter.uuid));
        return Ok(Exit::Failed);
    }
    print(&format!(
        "{}: its patient is assigned no more; letters that are delivered stay where they are\n",
        letter.uuid
    ))
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
    let list = load_once(config).ok();
    let mut rows = table(&["letter", "number", "in the list", "assigned", "by"]);
    for (letter, assigned) in &all {
        let row = list.as_ref().and_then(|list| list.row(&assigned.number));
        let listed = row.map_or_else(|| "-".to_owned(), |row| format!("{} {}", row.last_name, row.first_name));
        let at = local(views::time(Some(assigned.at)).as_deref());
        rows.add_row([
            letter.as_deref().unwrap_or("-"),
            &assigned.number,
            &listed,
            &at,
            assigned.who.as_deref().unwrap_or("-"),
        ]);
    }
    print(&completed(&format!("{rows}\n")))
}
