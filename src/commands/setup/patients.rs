//! The practice's list of patients. Its columns are found by their names, and it is tried with letters of the service.

use std::path::Path;

use anyhow::Context as _;

use super::super::check::grouped;
use super::presets::ToAsk;
use super::questions::{Part, is_share};
use super::{SHOWN, Setup, preview, service_user, told};
use crate::config::Loaded;
use crate::destinations::SCHEMA;
use crate::formats::language::Language;
use crate::patients::{Folded, List, ListProblem, Refused, Why, header, parse, read_once};

const SECTION: &str = "patients";
const FILE: &str = "patients.file";

/// A column: its setting, and its names in practice software, the most likely first. Case, accents, spaces and hyphens
/// do not count. The text `setup-column-…` says what it holds.
struct Column {
    key: &'static str,
    /// The names, with commas between them.
    names: &'static str,
}

/// The last one is optional.
const COLUMNS: [Column; 5] = [
    Column {
        key: "number",
        names: "PatNum, PatNo, PatNr, PatID, Patient number, Patient no, Patient nr, Patient ID, \
                Patientennummer, Patientennr, Patienten ID, No patient, No de patient, Num patient, \
                Numéro patient, Numéro de patient, Numéro du patient, ID patient, Code patient, No dossier, \
                No de dossier, Numéro dossier, Numéro de dossier, Karteinummer, Kartei Nr, Chart number, \
                Number, Nummer, Numéro, No, Nr",
    },
    Column {
        key: "last_name",
        names: "LName, Last name, Surname, Family name, Nachname, Familienname, Zuname, Nom d'usage, \
                Nom usuel, Nom de famille, Nom, Nom patient, Nom du patient, Name",
    },
    Column {
        key: "first_name",
        names: "FName, First name, Given name, Forename, Vorname, Rufname, Prénom usuel, Prénom, Prénoms, \
                Prénom patient, Prénom du patient",
    },
    Column {
        key: "date_of_birth",
        names: "Birthdate, Date of birth, DOB, Birthday, Geburtsdatum, Geburtstag, Geb Datum, Gebdat, \
                Geboren, Geboren am, Date de naissance, Date naissance, Naissance, Né le, Née le",
    },
    Column {
        key: "former_name",
        names: "Nom de naissance, Nom de jeune fille, Geburtsname, Mädchenname, Birth name, Maiden name, \
                Former name",
    },
];

/// Settings that a person can choose for a file that cannot be read without them, each with its text.
const DATES: [(&str, &str); 2] = [("%d/%m/%Y", "setup-day-first"), ("%m/%d/%Y", "setup-month-first")];
const ENCODINGS: [(&str, &str); 3] =
    [("cp850", "setup-cp850"), ("cp437", "setup-cp437"), ("iso-8859-15", "setup-iso-8859-15")];

impl Column {
    /// The column of the file that is this one.
    fn find<'a>(&self, header: &'a [String]) -> Option<&'a String> {
        let known = self.names.split(", ").map(plain);
        let mut found = known.filter_map(|known| header.iter().find(|name| plain(name).is(&known)));
        found.next()
    }
}

/// The name of a column without the differences that do not count.
fn plain(name: &str) -> Folded {
    let plain = name.chars().map(|c| match c {
        '°' => 'o',
        c if c.is_alphanumeric() => c,
        _ => ' ',
    });
    Folded::new(&plain.collect::<String>())
}

/// Why a file is refused.
enum Wrong {
    /// An answer is wrong, with the reason. The file is asked for again.
    Refused(String, String),
    /// A person has to say more about the file: the setting, and its possible values with their texts.
    Unclear(String, &'static str, &'static [(&'static str, &'static str)]),
}

impl Wrong {
    fn of_file(why: impl ToString) -> Self {
        Self::Refused(FILE.to_owned(), why.to_string())
    }
}

impl Setup {
    /// Asks for the list. Returns without a change if the person wants none.
    pub(super) fn ask_for_patients(&mut self) -> anyhow::Result<()> {
        let part = Part { section: SECTION.to_owned(), name: None };
        let before = self.draft.text.clone();
        let is_new = self.draft.current(SECTION, None, "file").is_none();
        loop {
            let default = self.draft.current(SECTION, None, "file");
            let question = self.question(FILE, "setup-list", &[]).or(default);
            let Some(file) = self.ask.text(&question)? else {
                return if self.ask.is_person() { Ok(()) } else { self.refuse(FILE, "setup-needed", &[]) };
            };
            let file = file.trim_matches('"');
            let file = &*self.ask.beside(file).unwrap_or_else(|| file.to_owned());
            if is_share(file) {
                self.refuse_share(FILE, file)?;
                continue;
            }
            self.put(&part, "file", file)?;
            if !self.ask.is_person() {
                self.take_further_answers(&part, &[ToAsk { key: "file".to_owned(), ..ToAsk::default() }])?;
            }
            if self.try_patients(&part)? {
                return self.name_by_number(is_new);
            }
            self.draft.text.clone_from(&before);
        }
    }

    /// Tries the file. Returns whether it is accepted.
    fn try_patients(&mut self, part: &Part) -> anyhow::Result<bool> {
        loop {
            match self.read_patients(part)? {
                Ok((loaded, list)) => return self.show_matches(&loaded, &list),
                Err(Wrong::Unclear(why, key, choices)) if self.ask.is_person() => {
                    self.good(&why)?;
                    let mut shown: Vec<(&str, String)> =
                        choices.iter().map(|(value, text)| (*value, self.say(text, &[]))).collect();
                    shown.push(("", self.say("setup-another-file", &[])));
                    let name = part.answer(key);
                    let question = self.question(&name, "setup-written-with", &[]);
                    match self.ask.choose(&question, &shown)? {
                        "" => return Ok(false),
                        value => self.put(part, key, value)?,
                    }
                }
                Err(Wrong::Unclear(why, ..)) => {
                    self.ask.refused(FILE, &why)?;
                    return Ok(false);
                }
                Err(Wrong::Refused(answer, why)) => {
                    self.ask.refused(&answer, &why)?;
                    return Ok(false);
                }
            }
        }
    }

    /// Reads the file with the settings so far, and puts its columns into the draft.
    fn read_patients(&mut self, part: &Part) -> anyhow::Result<Result<(Loaded, List), Wrong>> {
        let (needed, _) = COLUMNS.split_at(COLUMNS.len() - 1);
        let known: Vec<Option<String>> = COLUMNS.iter().map(|column| self.now(part, column.key)).collect();
        // The file can be read only when all columns are known.
        for (column, _) in needed.iter().zip(&known).filter(|(_, known)| known.is_none()) {
            self.put(part, column.key, column.key)?;
        }
        let loaded = match self.draft.loaded() {
            Ok(loaded) => loaded,
            Err(error) => {
                return Ok(Err(Wrong::of_file(self.because("told-answer", &super::draft::in_words(&error)))));
            }
        };
        let language = self.ask.language();
        let config = loaded.config.patients.context("the list of patients is missing")?;
        let bytes = match read_once(&config.file) {
            Ok(bytes) => bytes,
            Err(problem) => return Ok(Err(Wrong::of_file(told::of_list(language, &problem)))),
        };
        if let Some(Err(why)) =
            self.service.as_ref().map(|user| service_user::can_read(self.ask.language(), user, &config.file))
        {
            return Ok(Err(Wrong::of_file(why)));
        }
        let names = match header(&bytes, &config) {
            Ok(names) => names,
            Err(refused) => return Ok(Err(unclear(language, refused, &config.file))),
        };
        let mut taken: Vec<String> = Vec::new();
        for (column, known) in COLUMNS.iter().zip(known) {
            let is_needed = needed.iter().any(|needed| needed.key == column.key);
            let free: Vec<String> =
                names.iter().filter(|name| !name.is_empty() && !taken.contains(name)).cloned().collect();
            let found = known.filter(|known| names.contains(known) || self.ask.answers(&part.answer(column.key)));
            let found = match found.or_else(|| column.find(&free).cloned()) {
                Some(found) => found,
                None if !is_needed => continue,
                None if self.ask.is_person() && !free.is_empty() => self.choose_column(part, column, &free)?,
                None => {
                    let listed: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                    let (holds, has) = (self.holds(column), listed.join(", "));
                    let values = [("holds", (&holds).into()), ("columns", (&has).into())];
                    let why = self.say("setup-no-column", &values);
                    return Ok(Err(Wrong::Refused(part.answer(column.key), why)));
                }
            };
            self.put(part, column.key, found.as_str())?;
            taken.push(found);
        }
        let loaded = match self.draft.loaded() {
            Ok(loaded) => loaded,
            Err(error) => {
                return Ok(Err(Wrong::of_file(self.because("told-answer", &super::draft::in_words(&error)))));
            }
        };
        let config = loaded.config.patients.as_ref().context("the list of patients is missing")?;
        Ok(match parse(&bytes, config) {
            Ok(list) if list.is_empty() => Err(Wrong::of_file(self.say("setup-no-patients", &[]))),
            Ok(list) => Ok((loaded, list)),
            Err(refused) => Err(unclear(language, refused, &config.file)),
        })
    }

    /// What a column holds, in words.
    fn holds(&self, column: &Column) -> String {
        self.say(&format!("setup-column-{}", column.key.replace('_', "-")), &[])
    }

    fn choose_column(&mut self, part: &Part, column: &Column, free: &[String]) -> anyhow::Result<String> {
        let choices: Vec<(&str, String)> = free.iter().map(|name| (name.as_str(), name.clone())).collect();
        let (key, holds) = (part.answer(column.key), self.holds(column));
        let question = self.question(&key, "setup-column", &[("holds", (&holds).into())]);
        Ok(self.ask.choose(&question, &choices)?.to_owned())
    }

    /// Shows which patients of the list the letters' patients are. A person says whether that is right.
    fn show_matches(&mut self, loaded: &Loaded, list: &List) -> anyhow::Result<bool> {
        let part = Part { section: SECTION.to_owned(), name: None };
        let columns = COLUMNS.iter().filter_map(|column| {
            let (holds, name) = (self.holds(column), self.now(&part, column.key)?);
            Some(self.say("setup-in-column", &[("holds", (&holds).into()), ("name", (&name).into())]))
        });
        let columns = columns.collect::<Vec<_>>().join(", ");
        let language = self.ask.language();
        let (count, facts) = (grouped(list.patients(), language), told::of_facts(language, list.facts()));
        let values = [("count", (&count).into()), ("facts", (&facts).into()), ("columns", (&columns).into())];
        self.tell("setup-patients", &values)?;
        let matches = preview::matches(loaded, list, SHOWN)?;
        for (who, number) in &matches {
            let number = match number {
                Ok(number) => self.say("setup-number", &[("number", number.into())]),
                Err(why) => told::of_patient(self.ask.language(), *why),
            };
            self.tell("setup-match", &[("who", who.into()), ("number", (&number).into())])?;
        }
        if matches.is_empty() {
            self.tell("setup-no-match", &[])?;
        }
        let is_good = matches.is_empty() || matches.iter().any(|(_, number)| number.is_ok());
        let question = self.question("", "setup-right", &[]);
        Ok(!self.ask.is_person() || self.ask.agree(&question, is_good)?)
    }

    /// Offers a person file names with the number, if the letters' names lack it. `is_new`: nothing else uses the list
    /// yet.
    fn name_by_number(&mut self, is_new: bool) -> anyhow::Result<()> {
        const BY_NUMBER: &str = "{{ patient.number }}_{{ document.createdAt | date }}_{{ document.type | label }}.pdf";
        let loaded = self.draft.loaded()?;
        let Some(destination) = loaded.config.destinations.get(&self.destination).filter(|_| self.ask.is_person())
        else {
            return Ok(());
        };
        if destination.needs_number || !SCHEMA.has(destination.kind, "path") {
            return Ok(());
        }
        let part = Part { section: "destinations".to_owned(), name: Some(self.destination.clone()) };
        let default = SCHEMA.find("destinations", "file_name").and_then(|key| key.default);
        let now = self.now(&part, "file_name").or_else(|| default.map(str::to_owned)).unwrap_or_default();
        let language = loaded.config.language.unwrap_or_default();
        let [named, now] = [BY_NUMBER, &now].map(|source| preview::invented_name(language, source));
        let question =
            self.question("by_number", "setup-by-number", &[("name", (&named).into()), ("now", (&now).into())]);
        if self.ask.agree(&question, is_new)? {
            self.put(&part, "file_name", BY_NUMBER)?;
        }
        Ok(())
    }
}

/// What a person can say about a file that was refused for this reason.
fn unclear(language: Language, refused: Refused, file: &Path) -> Wrong {
    let problem = ListProblem { file: file.to_owned(), why: Why::Refused(refused) };
    let why = told::of_list(language, &problem);
    match &problem.why {
        Why::Refused(refused) => of_content(refused, why),
        _ => Wrong::of_file(why),
    }
}

fn of_content(refused: &Refused, why: String) -> Wrong {
    match refused {
        Refused::Ambiguous { .. } => Wrong::Unclear(why, "date_format", &DATES),
        Refused::NotInEncoding { .. } | Refused::BrokenText { .. } => Wrong::Unclear(why, "encoding", &ENCODINGS),
        _ => Wrong::of_file(why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_the_names_that_software_gives_them() {
        for (header, found) in [
            ("PatNum;LName;FName;Birthdate", "PatNum LName FName Birthdate -"),
            (
                "N° patient;NOM;Prénom;Date de naissance;Nom de naissance",
                "N° patient NOM Prénom Date de naissance Nom de naissance",
            ),
            ("Pat.-Nr.;Name;Vorname;Geb.-Datum;Geburtsname", "Pat.-Nr. Name Vorname Geb.-Datum Geburtsname"),
            ("PATIENT_ID|LAST_NAME|FIRST_NAME|DOB", "PATIENT_ID LAST_NAME FIRST_NAME DOB -"),
            (
                "Patientennummer,Nachname,Vorname,Geburtsdatum,MAEDCHENNAME",
                "Patientennummer Nachname Vorname Geburtsdatum MAEDCHENNAME",
            ),
            ("Numero de dossier;Nom d’usage;Nom;Prenom;Né(e) le", "Numero de dossier Nom d’usage Prenom Né(e) le -"),
            ("A;B;C;D", "- - - - -"),
        ] {
            let header: Vec<String> = header.split([';', '|', ',']).map(str::to_owned).collect();
            let shown: Vec<&str> =
                COLUMNS.iter().map(|column| column.find(&header).map_or("-", String::as_str)).collect();
            assert_eq!(shown.join(" "), found);
        }
    }

    #[test]
    fn every_column_is_a_setting_and_no_name_stands_for_two() {
        let mut seen: Vec<Folded> = Vec::new();
        for column in &COLUMNS {
            assert!(SCHEMA.find(SECTION, column.key).is_some(), "{}", column.key);
            for name in column.names.split(", ").map(plain) {
                assert!(!seen.contains(&name), "{}", name.as_str());
                seen.push(name);
            }
        }
    }
}
