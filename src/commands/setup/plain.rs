//! Asks a person at a terminal without escape sequences (`TERM=dumb`), with plain lines.

use std::io::{self, BufRead as _, Read as _, Write as _};

use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
use secrecy::SecretString;

use super::super::harmless;
use super::super::output::complain;
use super::super::{Exit, told};
use super::ask::{Ask, BACK, Back, MAX_BYTES, Question, YES_OR_NO, both_answers, secret_of, yes_or_no};
use crate::formats::language::Language;

/// Ctrl-C, if it is not a signal.
const CTRL_C: u8 = 3;

pub(super) struct Plain {
    language: Language,
}

impl Plain {
    pub(super) fn new(language: Language) -> Self {
        Self { language }
    }

    fn unusable(&self, error: io::Error) -> anyhow::Error {
        told::failed(self.language, &self.language.text("setup-unusable-terminal"), error)
    }

    /// Shows a question; the answer follows on the same line.
    fn prompt(&self, text: &str) -> anyhow::Result<()> {
        let mut terminal = harmless::error();
        terminal.write_all(text.as_bytes()).and_then(|()| terminal.flush()).map_err(|error| self.unusable(error))
    }

    /// Reads a line. The end of the input and Ctrl-C end the setup.
    fn line(&self) -> anyhow::Result<String> {
        let mut line = String::new();
        let read = io::stdin().lock().take(MAX_BYTES).read_line(&mut line);
        let read = read.map_err(|error| self.unusable(error))?;
        if read == 0 || line.bytes().any(|byte| byte == CTRL_C) {
            return Err(told::said(self.language.text("setup-interrupted"), Exit::Failed));
        }
        match line.trim() {
            BACK => Err(Back.into()),
            line => Ok(line.to_owned()),
        }
    }

    fn asked(&self, question: &Question<'_>, more: &str) -> anyhow::Result<String> {
        if !question.help.is_empty() {
            complain(&format!("({})", question.help));
        }
        self.prompt(&format!("{} {more}", question.words))?;
        self.line()
    }
}

/// Hides typed text as long as this lives. Ctrl-C ends the line meanwhile, because a signal would leave the terminal
/// hidden.
struct Unseen(Termios);

impl Unseen {
    fn begin() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut unseen = before.clone();
        unseen.local_modes.remove(LocalModes::ECHO | LocalModes::ISIG);
        unseen.special_codes[SpecialCodeIndex::VEOL] = CTRL_C;
        tcsetattr(io::stdin(), OptionalActions::Now, &unseen)?;
        Ok(Self(before))
    }
}

impl Drop for Unseen {
    fn drop(&mut self) {
        // If the terminal is gone, nothing is left to restore.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}

impl Ask for Plain {
    fn language(&self) -> Language {
        self.language
    }

    fn text(&mut self, question: &Question<'_>) -> anyhow::Result<Option<String>> {
        let default = question.default.as_ref().map(|default| format!("[{default}] ")).unwrap_or_default();
        let answer = self.asked(question, &default)?;
        Ok(Some(answer).filter(|answer| !answer.is_empty()).or_else(|| question.default.clone()))
    }

    fn choose<'c>(&mut self, question: &Question<'_>, choices: &[(&'c str, String)]) -> anyhow::Result<&'c str> {
        let begin = choices.iter().position(|(name, _)| Some(*name) == question.default.as_deref()).unwrap_or(0);
        complain(&question.words);
        for (number, (_, shown)) in (1..).zip(choices) {
            complain(&format!("  {number}) {shown}"));
        }
        loop {
            self.prompt(&format!("{} [{}] ", self.language.text("setup-its-number"), begin + 1))?;
            let answer = self.line()?;
            let number = if answer.is_empty() { Some(begin + 1) } else { answer.parse::<usize>().ok() };
            match number.and_then(|number| choices.get(number.checked_sub(1)?)) {
                Some((name, _)) => {
                    return Ok(*name);
                }
                None => {
                    let most = choices.len().to_string();
                    let why = self.language.fill("setup-number-expected", &[("most", (&most).into())]);
                    self.refused(question.key, &why)?;
                }
            }
        }
    }

    fn agree(&mut self, question: &Question<'_>, default: bool) -> anyhow::Result<bool> {
        loop {
            let both = format!("[{}] ", both_answers(self.language, default));
            match yes_or_no(&self.asked(question, &both)?, default) {
                Some(agrees) => {
                    return Ok(agrees);
                }
                None => self.refused(question.key, &self.language.text(YES_OR_NO))?,
            }
        }
    }

    fn secret(&mut self, question: &Question<'_>) -> anyhow::Result<Option<SecretString>> {
        secret_of(self, question, |plain| {
            let unseen = Unseen::begin().map_err(|error| plain.unusable(error))?;
            let answer = plain.asked(question, "");
            drop(unseen);
            complain("");
            answer
        })
    }
}
