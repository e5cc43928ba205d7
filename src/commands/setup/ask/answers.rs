//! A file of answers.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use secrecy::SecretString;
use toml::Table;
use toml_edit::Value;

use super::super::super::{Exit, told};
use super::super::questions::Part;
use super::{Ask, MAX_BYTES, Question, as_whom, of_kind, read_bounded};
use crate::config::schema::Kind;
use crate::destinations::SCHEMA;
use crate::formats::language::{Language, Value as Said};
use crate::surfaces::alerts::computer;

/// The answers other than keys of a destination.
const ANSWERS: [&str; 21] = [
    "base_url",
    "account",
    "auth",
    "api_key_from",
    "app_url",
    "client_id",
    "client_secret_from",
    "redirect_port",
    "sign_in",
    "preset",
    "header_files_from",
    "destination",
    "add_destination",
    "letters",
    "types",
    "reader_takes",
    "give_folder",
    "service_user",
    "state_path",
    "status_page",
    "alerts.test",
];

/// The tables of settings whose keys a file of answers may hold. A destination's keys have no table there; the others
/// stand in a table.
const SECTIONS: [&str; 5] = ["destinations", "alerts", "alerts.mail", "patients", "practice"];
/// The tables of them in the file.
const TABLES: [&str; 3] = ["alerts", "patients", "practice"];

/// The file in a folder of answers that is for every computer.
const ALL: &str = "answers";
/// The most files of a folder that are read.
const MOST_FILES: usize = 10_000;

/// A file of answers.
pub(in crate::commands::setup) struct Answers {
    file: PathBuf,
    table: Table,
    /// The file for this computer alone, with its content.
    own: Option<(PathBuf, Table)>,
    /// Where relative paths begin, if the answers are a folder.
    folder: Option<PathBuf>,
    language: Language,
}

impl Answers {
    /// # Errors
    /// It cannot be read, is no TOML, or has an unknown key.
    pub(in crate::commands::setup) fn read(file: &Path, language: Language) -> anyhow::Result<Self> {
        if file.is_dir() {
            return Self::of_folder(file, language);
        }
        Ok(Self { file: file.to_owned(), table: table_of(file, language)?, own: None, folder: None, language })
    }

    /// Reads the folder's `answers.toml`, and over it the file that is named after this computer. Relative paths begin
    /// at the folder.
    fn of_folder(folder: &Path, language: Language) -> anyhow::Result<Self> {
        let wrong = |text: &str, values: &[(&str, Said<'_>)]| mistake(folder, &language.fill(text, values));
        let unreadable = |error: io::Error| mistake(folder, &not_read(language, &error));
        let mut files: BTreeMap<String, PathBuf> = BTreeMap::new();
        for entry in fs::read_dir(folder).map_err(unreadable)?.take(MOST_FILES) {
            let file = entry.map_err(unreadable)?.path();
            let name = file.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
            if !name.ends_with(".toml") {
                continue;
            }
            if let Some(other) = files.insert(name, file.clone()) {
                let [one, other] =
                    [&other, &file].map(|file| file.file_name().unwrap_or_default().display().to_string());
                return Err(wrong("answers-letter-case", &[("one", (&one).into()), ("other", (&other).into())]));
            }
        }
        let computer = computer().split('.').next().unwrap_or_default().to_lowercase();
        let own = files.remove(&format!("{computer}.toml"));
        let common = if computer == ALL { None } else { files.remove(&format!("{ALL}.toml")) };
        let of_file = |file: &Path| table_of(file, language);
        let (mut table, own_table) = match (&common, &own) {
            (None, None) => {
                let [all, own] = [ALL, &computer].map(|name| format!("{name}.toml"));
                return Err(wrong("answers-no-file", &[("all", (&all).into()), ("own", (&own).into())]));
            }
            (common, own) => (
                common.as_deref().map(of_file).transpose()?.unwrap_or_default(),
                own.as_deref().map(of_file).transpose()?.unwrap_or_default(),
            ),
        };
        let own = own.map(|file| (file, own_table.clone()));
        lay_over(&mut table, own_table);
        let file = common.unwrap_or_else(|| folder.join("answers.toml"));
        Ok(Self { file, table, own, folder: Some(std::path::absolute(folder)?), language })
    }

    /// The answer with this name. The name of a table stands before a dot.
    fn get(&self, key: &str) -> Option<&toml::Value> {
        of(&self.table, key)
    }

    fn wrong(&self, key: &str, why: &str) -> anyhow::Error {
        // The file that has the answer.
        let own = self.own.as_ref().filter(|(_, own)| of(own, key).is_some()).map(|(file, _)| file);
        mistake(own.unwrap_or(&self.file), &format!("`{key}`: {why}"))
    }
}

impl Ask for Answers {
    fn language(&self) -> Language {
        self.language
    }

    fn text(&mut self, question: &Question<'_>) -> anyhow::Result<Option<String>> {
        match self.get(question.key) {
            None => Ok(question.default.clone()),
            Some(toml::Value::String(text)) => Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty())),
            Some(toml::Value::Integer(number)) => Ok(Some(number.to_string())),
            Some(_) => Err(self.wrong(question.key, &self.language.text("answers-text"))),
        }
    }

    fn choose<'c>(&mut self, question: &Question<'_>, choices: &[(&'c str, String)]) -> anyhow::Result<&'c str> {
        let names = || choices.iter().map(|(name, _)| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
        let answer = self.text(question)?;
        let found = answer.and_then(|answer| choices.iter().find(|(name, _)| *name == answer));
        let one_of = || self.language.fill("answers-choice", &[("names", (&names()).into())]);
        let expected = || self.wrong(question.key, &one_of());
        found.map(|(name, _)| *name).ok_or_else(expected)
    }

    fn agree(&mut self, question: &Question<'_>, default: bool) -> anyhow::Result<bool> {
        match self.get(question.key) {
            None => Ok(default),
            Some(toml::Value::Boolean(answer)) => Ok(*answer),
            Some(_) => Err(self.wrong(question.key, &self.language.text("answers-true-or-false"))),
        }
    }

    fn secret(&mut self, question: &Question<'_>) -> anyhow::Result<Option<SecretString>> {
        let key = format!("{}_from", question.key);
        let Some(from) = self.text(&Question::of_file(&key))? else { return Ok(None) };
        let text = match from.as_str() {
            "-" => {
                let mut text = String::new();
                io::stdin().take(MAX_BYTES).read_to_string(&mut text).map(|_| text)
            }
            // A relative path begins at the folder of the file of answers.
            file => read_bounded(&self.file.parent().unwrap_or(Path::new(".")).join(file)),
        };
        match text {
            Ok(text) => Ok(Some(SecretString::from(text))),
            Err(error) => {
                let (whom, why) = (as_whom(self.language), error.to_string());
                let values = [("file", (&from).into()), ("whom", (&whom).into()), ("why", (&why).into())];
                Err(self.wrong(&key, &self.language.fill("setup-cannot-read", &values)))
            }
        }
    }

    fn value(&mut self, question: &Question<'_>, kind: Kind) -> anyhow::Result<Option<Value>> {
        match self.get(question.key) {
            None => Ok(question.default.as_deref().and_then(|default| of_kind(default, kind, self.language).ok())),
            Some(value) => value
                .to_string()
                .parse()
                .map(Some)
                .map_err(|_| self.wrong(question.key, &self.language.text("answers-no-value"))),
        }
    }

    fn refused(&mut self, key: &str, why: &str) -> anyhow::Result<()> {
        Err(self.wrong(key, why))
    }

    fn answers(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    fn beside(&self, path: &str) -> Option<String> {
        let folder = self.folder.as_ref().filter(|_| Path::new(path).is_relative())?;
        Some(folder.join(path).display().to_string())
    }

    fn is_person(&self) -> bool {
        false
    }
}

/// A mistake in this file or folder.
fn mistake(file: &Path, what: &str) -> anyhow::Error {
    told::said(format!("{}: {what}", file.display()), Exit::Usage)
}

fn not_read(language: Language, error: &io::Error) -> String {
    let (whom, why) = (as_whom(language), error.to_string());
    language.fill("answers-unreadable", &[("whom", (&whom).into()), ("why", (&why).into())])
}

/// The answers of one file.
fn table_of(file: &Path, language: Language) -> anyhow::Result<Table> {
    let wrong = |text: &str, values: &[(&str, Said<'_>)]| mistake(file, &language.fill(text, values));
    let text = read_bounded(file).map_err(|error| mistake(file, &not_read(language, &error)))?;
    // An error of the parser quotes the line, which may hold a key in the wrong place.
    let table: Table = text.parse().map_err(|error: toml::de::Error| {
        let at = error.span().map(|span| 1 + text.bytes().take(span.start).filter(|byte| *byte == b'\n').count());
        wrong("answers-no-toml", &[("line", (&at.unwrap_or(1).to_string()).into())])
    })?;
    let known: Vec<String> = known_answers();
    // The value is not quoted, because it may be a secret address.
    for name in ["alerts", "patients"] {
        if table.get(name).is_some_and(|value| !value.is_table()) {
            return Err(wrong(&format!("answers-table-{name}"), &[]));
        }
    }
    if let Some(unknown) = names(&table).into_iter().find(|key| !known.contains(key)) {
        let nearest =
            known.iter().max_by(|a, b| strsim::jaro_winkler(a, &unknown).total_cmp(&strsim::jaro_winkler(b, &unknown)));
        let nearest = nearest.map_or("", String::as_str);
        return Err(wrong("answers-unknown", &[("name", (&unknown).into()), ("nearest", nearest.into())]));
    }
    Ok(table)
}

fn of<'a>(table: &'a Table, key: &str) -> Option<&'a toml::Value> {
    let mut parts = key.split('.');
    let first = table.get(parts.next()?)?;
    parts.try_fold(first, |value, part| value.get(part))
}

/// Puts these values over others, key by key, also within tables.
fn lay_over(below: &mut Table, above: Table) {
    for (key, value) in above {
        match (below.get_mut(&key), value) {
            (Some(toml::Value::Table(below)), toml::Value::Table(above)) => lay_over(below, above),
            (_, value) => drop(below.insert(key, value)),
        }
    }
}

/// All answers that exist.
fn known_answers() -> Vec<String> {
    let mut known: Vec<String> = ANSWERS.iter().map(|name| (*name).to_owned()).collect();
    for section in SECTIONS {
        let name = (section == "destinations").then(String::new);
        let part = Part { section: section.to_owned(), name };
        known.extend(SCHEMA.keys_of(section).filter(|key| key.kind != Kind::Secret).map(|key| part.answer(key.name())));
    }
    known
}

/// The names of the answers in a file.
fn names(table: &Table) -> Vec<String> {
    let mut names = Vec::new();
    for (name, value) in table {
        match value {
            toml::Value::Table(inner) if TABLES.contains(&name.as_str()) => {
                for (key, value) in inner {
                    match value {
                        toml::Value::Table(mail) => {
                            names.extend(mail.keys().map(|last| format!("{name}.{key}.{last}")))
                        }
                        _ => names.push(format!("{name}.{key}")),
                    }
                }
            }
            _ => names.push(name.clone()),
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_answers_with_a_mistake_names_it_and_quotes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("answers.toml");
        for (text, sign) in [
            ("base_url = \"x\"\nkey pasted-secret\n", "line 2 is no TOML"),
            ("api_key = \"pasted-secret\"\n", "unknown answer `api_key`; the nearest known one is `api_key_from`"),
            ("pathh = \"/srv\"\n", "`pathh`; the nearest known one is `path`"),
        ] {
            std::fs::write(&file, text).unwrap();
            let wrong = Answers::read(&file, Language::English).err().unwrap().to_string();
            assert!(wrong.contains(sign) && !wrong.contains("pasted-secret"), "{wrong}");
            let german = Answers::read(&file, Language::German).err().unwrap().to_string();
            let (_, own) = german.split_once(".toml: ").unwrap();
            assert!(["Zeile 2 ", "unbekannte Antwort "].iter().any(|begin| own.starts_with(begin)), "{german}");
        }
    }

    #[test]
    fn of_a_folder_the_file_of_this_computer_wins_key_by_key() {
        let folder = tempfile::tempdir().unwrap();
        let read = || Answers::read(folder.path(), Language::English).map_err(|error| error.to_string());
        let name = computer().split('.').next().unwrap().to_owned();
        assert!(read().err().unwrap().contains("neither answers.toml nor"));
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("answers.toml", "base_url = \"a\"\n[alerts]\nafter = \"1m\"\n[alerts.mail]\nhost = \"a\"\nport = 1\n");
        write("another-computer.toml", "base_url = \"wrong\"\n");
        assert_eq!(read().unwrap().get("base_url").unwrap().as_str(), Some("a"));
        write(&format!("{}.toml", name.to_uppercase()), "path = \"b\"\n[alerts.mail]\nhost = \"b\"\n");
        let answers = read().unwrap();
        let text = |key: &str| answers.get(key).unwrap().to_string();
        assert_eq!([text("base_url"), text("path"), text("alerts.mail.host")], ["\"a\"", "\"b\"", "\"b\""]);
        assert_eq!([text("alerts.after"), text("alerts.mail.port")], ["\"1m\"", "1"]);
        let beside = folder.path().join("import").display().to_string();
        assert_eq!((answers.beside("import"), answers.beside(&beside)), (Some(beside), None));
        let file_of = |key| answers.wrong(key, "x").to_string();
        assert!(file_of("path").contains(&name.to_uppercase()) && file_of("base_url").contains("answers.toml"));
        if cfg!(target_os = "linux") {
            write("Answers.toml", "");
            assert!(read().err().unwrap().contains("differ in letter case only"));
        }
    }
}
