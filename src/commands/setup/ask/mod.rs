//! Asks a person at a terminal, or a file of answers. Neither ever gets to see a secret again.

use std::fs;
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

use secrecy::SecretString;
use toml_edit::{Array, Value};

use super::super::output::complain;
use crate::config::schema::Kind;
use crate::formats::language::Language;
use crate::system::readers::current_user;
use crate::system::secret::{UTF_16, is_utf16};

pub(super) use self::answers::Answers;
pub(super) use self::remembered::Remembered;
pub(super) use self::terminal::{is_terminal, terminal};

mod answers;
mod line;
mod remembered;
mod terminal;

/// What a person types to go back one question.
pub(super) const BACK: &str = "<";

/// What a person types to remove an optional value.
pub(super) const NOTHING: &str = "-";

/// The person wants to go back one question.
#[derive(Debug, thiserror::Error)]
#[error("there is nothing to go back to")]
pub(super) struct Back;

/// The text for a question that expects yes or no.
pub(super) const YES_OR_NO: &str = "setup-yes-or-no";

/// Reads a yes or no, in any language.
pub(super) fn yes_or_no(answer: &str, default: bool) -> Option<bool> {
    match answer.to_lowercase().as_str() {
        "" => Some(default),
        "y" | "yes" | "o" | "oui" | "j" | "ja" => Some(true),
        "n" | "no" | "non" | "nein" => Some(false),
        _ => None,
    }
}

/// Both answers, to stand behind a question. The default is in capitals.
pub(super) fn both_answers(language: Language, default: bool) -> String {
    language.text(if default { "setup-usual-yes" } else { "setup-usual-no" })
}

/// ` as USER`, for what the system did not allow; empty if the user is unknown.
pub(super) fn as_whom(language: Language) -> String {
    current_user().map(|user| language.fill("setup-as", &[("user", (&user).into())])).unwrap_or_default()
}

/// The longest file of answers or secret; bytes.
pub(super) const MAX_BYTES: u64 = 64 * 1024;

/// One question.
pub(super) struct Question<'a> {
    /// Its name in a file of answers.
    pub(super) key: &'a str,
    /// Its text for a person.
    pub(super) words: String,
    /// A line below the question.
    pub(super) help: String,
    /// The answer if none is given.
    pub(super) default: Option<String>,
}

impl<'a> Question<'a> {
    /// A question that only a file of answers gets.
    pub(super) fn of_file(key: &'a str) -> Self {
        Self { key, words: String::new(), help: String::new(), default: None }
    }

    /// The question with this default.
    pub(super) fn or(self, default: Option<String>) -> Self {
        Self { default, ..self }
    }
}

/// Answers questions. An error ends the setup, because nobody answers any more, or because the file's answer was
/// refused; [`Back`] does not.
pub(super) trait Ask {
    /// The language of the person.
    fn language(&self) -> Language;
    /// A text; `None`: no answer and no default.
    fn text(&mut self, question: &Question<'_>) -> anyhow::Result<Option<String>>;
    /// One of these choices (name and text). Returns its name.
    fn choose<'c>(&mut self, question: &Question<'_>, choices: &[(&'c str, String)]) -> anyhow::Result<&'c str>;
    /// Yes or no.
    fn agree(&mut self, question: &Question<'_>, default: bool) -> anyhow::Result<bool>;
    /// A key or client secret; `None`: no answer.
    fn secret(&mut self, question: &Question<'_>) -> anyhow::Result<Option<SecretString>>;
    /// A value of this kind for a setting.
    fn value(&mut self, question: &Question<'_>, kind: Kind) -> anyhow::Result<Option<Value>> {
        loop {
            let Some(text) = self.text(question)? else { return Ok(None) };
            match of_kind(&text, kind, self.language()) {
                Ok(value) => return Ok(Some(value)),
                Err(why) => self.refused(question.key, &why)?,
            }
        }
    }
    /// Refuses an answer. A person is asked again.
    fn refused(&mut self, _key: &str, why: &str) -> anyhow::Result<()> {
        complain(&format!("    {}", self.language().fill("setup-refused", &[("why", why.into())])));
        Ok(())
    }
    /// Whether a file of answers has this answer.
    fn answers(&self, _key: &str) -> bool {
        false
    }
    /// A relative path of a folder of answers, from that folder on.
    fn beside(&self, _path: &str) -> Option<String> {
        None
    }
    /// Whether a person answers, who can be asked more.
    fn is_person(&self) -> bool {
        true
    }
    /// The number of questions that a person has answered.
    fn given(&self) -> usize {
        0
    }
    /// Whether the next question was answered before, so that nothing is shown.
    fn repeats(&self) -> bool {
        false
    }
    /// Takes back the last answer, but none of the first `least`. Returns how many are left; `None`: there is none to
    /// take back.
    fn back(&mut self, _least: usize) -> Option<usize> {
        None
    }
    /// Answers the next questions with the earlier answers after the first `given`.
    fn repeat_from(&mut self, _given: usize) {}
    /// Takes back the answers after the first `given`.
    fn take_back(&mut self, _given: usize) {}
}

/// A secret from a person: typed, or after `@` the file that holds it.
pub(super) fn secret_of<A: Ask>(
    ask: &mut A,
    question: &Question<'_>,
    typed: impl Fn(&A) -> anyhow::Result<String>,
) -> anyhow::Result<Option<SecretString>> {
    loop {
        let answer = typed(ask)?;
        let answer = answer.trim();
        let Some(file) = answer.strip_prefix('@') else {
            return Ok(Some(SecretString::from(answer)).filter(|_| !answer.is_empty()));
        };
        match read_bounded(Path::new(file.trim())) {
            Ok(text) => return Ok(Some(SecretString::from(text))),
            Err(error) => {
                let (language, why) = (ask.language(), error.to_string());
                let whom = if error.kind() == ErrorKind::PermissionDenied { as_whom(language) } else { String::new() };
                let file = file.trim();
                let values = [("file", file.into()), ("whom", (&whom).into()), ("why", (&why).into())];
                ask.refused(question.key, &language.fill("setup-cannot-read", &values))?;
            }
        }
    }
}

/// A typed text as a value of this kind.
pub(super) fn of_kind(text: &str, kind: Kind, language: Language) -> Result<Value, String> {
    match kind {
        Kind::Bool | Kind::Integer { .. } => {
            text.parse().map_err(|_| language.fill("setup-not-expected", &[("text", text.into())]))
        }
        Kind::List | Kind::Templates if text.starts_with('[') => {
            text.parse().map_err(|_| language.text("setup-no-list"))
        }
        Kind::List | Kind::Templates => Ok(Value::Array(words(text).into_iter().collect::<Array>())),
        _ => Ok(text.into()),
    }
}

/// A value as a person would type it: a list as words, if they mean the same.
pub(super) fn shown(text: &str, kind: Kind) -> String {
    let list = || text.parse::<Value>().ok()?.as_array().map(|list| list.iter().map(as_word).collect::<Vec<_>>());
    let is_list = matches!(kind, Kind::List | Kind::Templates);
    let words_of =
        |list: Vec<Option<String>>| list.into_iter().collect::<Option<Vec<_>>>().map(|words| words.join(" "));
    is_list.then(list).flatten().and_then(words_of).unwrap_or_else(|| text.to_owned())
}

/// The word of a list, if it can be typed as a word.
fn as_word(value: &Value) -> Option<String> {
    let text = value.as_str()?;
    let is_word = !text.starts_with('[') && words(text) == [text];
    is_word.then(|| text.to_owned())
}

/// The words, split as by a shell. Spaces between double braces do not split.
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

/// Reads a small text file.
fn read_bounded(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {MAX_BYTES} bytes")));
    }
    let wrong = |what| io::Error::new(io::ErrorKind::InvalidData, what);
    if is_utf16(&bytes) {
        return Err(wrong(UTF_16));
    }
    String::from_utf8(bytes).map_err(|_| wrong("it is not UTF-8 text"))
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
        assert_eq!(of_kind("[\"a b\"]", Kind::List, Language::English).unwrap().to_string(), "[\"a b\"]");
        assert!(of_kind("[a", Kind::Templates, Language::English).is_err());
    }

    #[test]
    fn a_list_is_offered_in_the_words_that_would_be_typed() {
        for (value, offered) in [
            (r#"["it@practice.test", "desk@practice.test"]"#, "it@practice.test desk@practice.test"),
            (r#"["a b"]"#, r#"["a b"]"#),
            (r#"["{{ file }}"]"#, "{{ file }}"),
            ("[]", ""),
            ("it is no list", "it is no list"),
        ] {
            assert_eq!(shown(value, Kind::List), offered);
            let again = of_kind(offered, Kind::List, Language::English).unwrap().to_string();
            assert!(!value.starts_with('[') || again == value, "{again}");
        }
        assert_eq!(shown(r#"["a"]"#, Kind::Text), r#"["a"]"#);
    }

    #[test]
    fn a_file_in_utf_16_is_told_as_that() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key");
        for text in ["\u{feff}k-1", "k-1"] {
            fs::write(&file, text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>()).unwrap();
            let wrong = read_bounded(&file).unwrap_err().to_string();
            assert!(wrong.contains("it is UTF-16"), "{wrong}");
        }
        fs::write(&file, "k-1").unwrap();
        assert_eq!(read_bounded(&file).unwrap(), "k-1");
    }
}
