//! Who answers: a person at a terminal, or a file of answers. Neither is ever shown a secret again.

use std::fs;
use std::io::{self, IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use inquire::ui::RenderConfig;
use inquire::{Confirm, InquireError, Password, PasswordDisplayMode, Select, Text};
use secrecy::SecretString;
use toml::Table;
use toml_edit::{Array, Value};

use super::super::UsageError;
use super::super::output::complain;
use super::questions::Part;
use crate::config::schema::{self, Kind};
use crate::readers::as_whom;

/// Answers beside the keys of a destination.
const ANSWERS: [&str; 17] = [
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
    "reader_takes",
    "give_folder",
    "service_user",
    "state_path",
    "alerts.test",
];

/// The tables of settings whose keys a file of answers may hold: a destination's as they are, the others below their names.
const SECTIONS: [&str; 3] = ["destinations", "alerts", "alerts.mail"];

/// The longest file of answers or secret; bytes.
pub(super) const MAX_BYTES: u64 = 64 * 1024;

/// One question.
pub(super) struct Question<'a> {
    /// What it is called in a file of answers.
    pub(super) key: &'a str,
    /// For a person, without a question mark.
    pub(super) words: &'a str,
    /// A line below it.
    pub(super) help: &'a str,
    /// What counts when nothing is answered.
    pub(super) default: Option<String>,
}

/// Who answers. The errors end the setup: nobody answers any more, or the file's answer was refused.
pub(super) trait Ask {
    /// A text; `None`: nothing was answered, and there is no default.
    fn text(&mut self, question: &Question<'_>) -> anyhow::Result<Option<String>>;
    /// One of these: name, and what a person reads. Returns its index.
    fn choose(&mut self, question: &Question<'_>, choices: &[(&str, String)]) -> anyhow::Result<usize>;
    /// Yes or no.
    fn agree(&mut self, question: &Question<'_>, default: bool) -> anyhow::Result<bool>;
    /// A key or client secret; `None`: nothing was answered.
    fn secret(&mut self, question: &Question<'_>) -> anyhow::Result<Option<SecretString>>;
    /// The value of a setting, of its kind.
    fn value(&mut self, question: &Question<'_>, kind: Kind) -> anyhow::Result<Option<Value>> {
        loop {
            let Some(text) = self.text(question)? else { return Ok(None) };
            match of_kind(&text, kind) {
                Ok(value) => return Ok(Some(value)),
                Err(why) => self.refused(question.key, &why)?,
            }
        }
    }
    /// The answer is not taken: a person is asked again.
    fn refused(&mut self, _key: &str, why: &str) -> anyhow::Result<()> {
        complain(&format!("    That does not work: {why}"));
        Ok(())
    }
    /// Whether a file of answers holds this one.
    fn answers(&self, _key: &str) -> bool {
        false
    }
    /// Whether a person is there, who can be asked more.
    fn is_person(&self) -> bool {
        true
    }
}

/// A person.
struct Terminal;

/// The person at the terminal.
///
/// # Errors
/// There is no terminal.
pub(super) fn terminal() -> Result<Box<dyn Ask>, UsageError> {
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        let what = "setup asks questions, and there is no terminal to ask at: give it the answers in a file, as in \
                        docsyncd setup --answers answers.toml (docs/first-hour.md has one)";
        return Err(UsageError(what.to_owned()));
    }
    #[cfg(unix)]
    if std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb") {
        return Ok(Box::new(super::plain::Plain));
    }
    if std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) {
        inquire::set_global_render_config(RenderConfig::empty());
    }
    Ok(Box::new(Terminal))
}

/// A secret as a person gives it: typed, or with `@` as the file that holds it.
pub(super) fn secret_of(
    ask: &mut dyn Ask,
    question: &Question<'_>,
    typed: impl Fn() -> anyhow::Result<String>,
) -> anyhow::Result<Option<SecretString>> {
    loop {
        let answer = typed()?;
        let answer = answer.trim();
        let Some(file) = answer.strip_prefix('@') else {
            return Ok(Some(SecretString::from(answer)).filter(|_| !answer.is_empty()));
        };
        match read_bounded(Path::new(file.trim())) {
            Ok(text) => return Ok(Some(SecretString::from(text))),
            Err(error) => {
                ask.refused(question.key, &format!("{} cannot be read{}: {error}", file.trim(), as_whom()))?;
            }
        }
    }
}

fn ended(error: InquireError) -> anyhow::Error {
    match error {
        InquireError::OperationCanceled | InquireError::OperationInterrupted => {
            anyhow::anyhow!("interrupted: nothing was written")
        }
        other => anyhow::Error::new(other).context("the terminal cannot be used"),
    }
}

impl Ask for Terminal {
    fn text(&mut self, question: &Question<'_>) -> anyhow::Result<Option<String>> {
        let mut prompt = Text::new(question.words);
        if !question.help.is_empty() {
            prompt = prompt.with_help_message(question.help);
        }
        if let Some(default) = &question.default {
            prompt = prompt.with_default(default);
        }
        let answer = prompt.prompt().map_err(ended)?;
        Ok(Some(answer.trim().to_owned()).filter(|answer| !answer.is_empty()))
    }

    fn choose(&mut self, question: &Question<'_>, choices: &[(&str, String)]) -> anyhow::Result<usize> {
        let begin = choices.iter().position(|(name, _)| Some(*name) == question.default.as_deref()).unwrap_or(0);
        let shown: Vec<&str> = choices.iter().map(|(_, shown)| shown.as_str()).collect();
        let prompt = Select::new(question.words, shown).with_starting_cursor(begin).without_filtering();
        let prompt = prompt.with_help_message("↑ and ↓ move, Enter chooses");
        Ok(prompt.raw_prompt().map_err(ended)?.index)
    }

    fn agree(&mut self, question: &Question<'_>, default: bool) -> anyhow::Result<bool> {
        let mut prompt = Confirm::new(question.words).with_default(default);
        if !question.help.is_empty() {
            prompt = prompt.with_help_message(question.help);
        }
        prompt.prompt().map_err(ended)
    }

    fn secret(&mut self, question: &Question<'_>) -> anyhow::Result<Option<SecretString>> {
        secret_of(self, question, || {
            let prompt = Password::new(question.words).without_confirmation().with_help_message(question.help);
            prompt.with_display_mode(PasswordDisplayMode::Masked).prompt().map_err(ended)
        })
    }
}

/// What a person typed as a value of its kind.
pub(super) fn of_kind(text: &str, kind: Kind) -> Result<Value, String> {
    match kind {
        Kind::Bool | Kind::Integer { .. } => text.parse().map_err(|_| format!("{text} is not what is expected here")),
        Kind::List | Kind::Templates if text.starts_with('[') => {
            text.parse().map_err(|_| "it begins with [ and is no list such as [\"a\", \"b\"]".to_owned())
        }
        Kind::List | Kind::Templates => Ok(Value::Array(words(text).into_iter().collect::<Array>())),
        _ => Ok(text.into()),
    }
}

/// Words as a shell would see them, where spaces stand between double braces only by meaning.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut depth) = (Vec::new(), String::new(), 0_usize);
    for c in text.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if c.is_whitespace() && depth == 0 {
            words.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty()));
        } else {
            word.push(c);
        }
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    words
}

/// A file of answers.
pub(super) struct Answers {
    file: PathBuf,
    table: Table,
}

impl Answers {
    /// # Errors
    /// It cannot be read, is no TOML, or has a key that nobody asks for.
    pub(super) fn read(file: &Path) -> anyhow::Result<Self> {
        let wrong = |what: String| UsageError(format!("{}: {what}", file.display()));
        let text =
            read_bounded(file).map_err(|error| wrong(format!("the answers cannot be read{}: {error}", as_whom())))?;
        // An error of the parser quotes the line, which may be a key that was pasted into the wrong place.
        let table: Table = text.parse().map_err(|error: toml::de::Error| {
            let at = error.span().map(|span| 1 + text.bytes().take(span.start).filter(|byte| *byte == b'\n').count());
            wrong(format!("line {} is no TOML", at.unwrap_or(1)))
        })?;
        let known: Vec<String> = known_answers();
        // The value may be an address that is a secret, so it is not repeated.
        if table.get("alerts").is_some_and(|value| !value.is_table()) {
            let meant = "write [alerts] and below it `webhook_url_from`, or [alerts.mail] with `host` and `to`";
            return Err(wrong(format!("`alerts` is a table, not a value: {meant}")).into());
        }
        if let Some(unknown) = names(&table).into_iter().find(|key| !known.contains(key)) {
            let nearest = known
                .iter()
                .max_by(|a, b| strsim::jaro_winkler(a, &unknown).total_cmp(&strsim::jaro_winkler(b, &unknown)));
            let what = format!(
                "unknown answer `{unknown}`; the nearest known one is `{}`",
                nearest.map_or("", |nearest| nearest)
            );
            return Err(wrong(what).into());
        }
        Ok(Self { file: file.to_owned(), table })
    }

    /// The answer with this name; the names of tables stand before a dot.
    fn get(&self, key: &str) -> Option<&toml::Value> {
        let mut parts = key.split('.');
        let first = self.table.get(parts.next()?)?;
        parts.try_fold(first, |value, part| value.get(part))
    }

    fn wrong(&self, key: &str, why: &str) -> anyhow::Error {
        UsageError(format!("{}: `{key}`: {why}", self.file.display())).into()
    }
}

impl Ask for Answers {
    fn text(&mut self, question: &Question<'_>) -> anyhow::Result<Option<String>> {
        match self.get(question.key) {
            None => Ok(question.default.clone()),
            Some(toml::Value::String(text)) => Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty())),
            Some(toml::Value::Integer(number)) => Ok(Some(number.to_string())),
            Some(_) => Err(self.wrong(question.key, "a text is expected")),
        }
    }

    fn choose(&mut self, question: &Question<'_>, choices: &[(&str, String)]) -> anyhow::Result<usize> {
        let names = || choices.iter().map(|(name, _)| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
        let answer = self.text(question)?;
        let found = answer.and_then(|answer| choices.iter().position(|(name, _)| *name == answer));
        found.ok_or_else(|| self.wrong(question.key, &format!("one of {} is expected", names())))
    }

    fn agree(&mut self, question: &Question<'_>, default: bool) -> anyhow::Result<bool> {
        match self.get(question.key) {
            None => Ok(default),
            Some(toml::Value::Boolean(answer)) => Ok(*answer),
            Some(_) => Err(self.wrong(question.key, "true or false is expected")),
        }
    }

    fn secret(&mut self, question: &Question<'_>) -> anyhow::Result<Option<SecretString>> {
        let key = format!("{}_from", question.key);
        let from = Question { key: &key, words: "", help: "", default: None };
        let Some(from) = self.text(&from)? else { return Ok(None) };
        let text = match from.as_str() {
            "-" => {
                let mut text = String::new();
                io::stdin().take(MAX_BYTES).read_to_string(&mut text).context("cannot read standard input")?;
                Ok(text)
            }
            // A path of the file of answers begins beside it.
            file => read_bounded(&self.file.parent().unwrap_or(Path::new(".")).join(file)),
        };
        match text {
            Ok(text) => Ok(Some(SecretString::from(text))),
            Err(error) => Err(self.wrong(&key, &format!("{from} cannot be read{}: {error}", as_whom()))),
        }
    }

    fn value(&mut self, question: &Question<'_>, kind: Kind) -> anyhow::Result<Option<Value>> {
        match self.get(question.key) {
            None => Ok(question.default.as_deref().and_then(|default| of_kind(default, kind).ok())),
            Some(value) => value
                .to_string()
                .parse()
                .map(Some)
                .map_err(|_| self.wrong(question.key, "it is no value for a setting")),
        }
    }

    fn refused(&mut self, key: &str, why: &str) -> anyhow::Result<()> {
        Err(self.wrong(key, why))
    }

    fn answers(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    fn is_person(&self) -> bool {
        false
    }
}

/// Every answer that there can be.
fn known_answers() -> Vec<String> {
    let mut known: Vec<String> = ANSWERS.iter().map(|name| (*name).to_owned()).collect();
    for section in SECTIONS {
        let name = (section == "destinations").then(String::new);
        let part = Part { section: section.to_owned(), name };
        known
            .extend(schema::keys_of(section).filter(|key| key.kind != Kind::Secret).map(|key| part.answer(key.name())));
    }
    known
}

/// The answers in a file.
fn names(table: &Table) -> Vec<String> {
    let mut names = Vec::new();
    for (name, value) in table {
        match value {
            toml::Value::Table(inner) if name == "alerts" => {
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

/// A small text file, whole.
fn read_bounded(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    fs::File::open(path)?.take(MAX_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_BYTES {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {MAX_BYTES} bytes")));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_words_and_what_stands_between_braces_is_one() {
        assert_eq!(
            words("--file {{ file }}  --day={{ document.createdAt | date }} x"),
            ["--file", "{{ file }}", "--day={{ document.createdAt | date }}", "x"]
        );
        assert_eq!(of_kind("[\"a b\"]", Kind::List).unwrap().to_string(), "[\"a b\"]");
        assert!(of_kind("[a", Kind::Templates).is_err());
    }

    #[test]
    fn a_file_of_answers_with_a_mistake_names_it_and_quotes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("answers.toml");
        for (text, sign) in [
            ("base_url = \"x\"\nkey pasted-secret\n", "line 2 is no TOML"),
            ("api_key = \"pasted-secret\"\n", "unknown answer `api_key`; the nearest known one is `api_key_from`"),
            ("pathh = \"/srv\"\n", "`pathh`; the nearest known one is `path`"),
        ] {
            fs::write(&file, text).unwrap();
            let wrong = Answers::read(&file).err().unwrap().to_string();
            assert!(wrong.contains(sign) && !wrong.contains("pasted-secret"), "{wrong}");
        }
    }
}
