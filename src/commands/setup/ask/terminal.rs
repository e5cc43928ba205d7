//! Asks a person at a terminal.

use std::io::{self, IsTerminal as _};

use anyhow::Context as _;
use inquire::ui::{RenderConfig, Styled};
use inquire::{InquireError, Select};
use secrecy::SecretString;

use super::super::super::output::folded;
use super::super::super::{Exit, told};
use super::line::{self, Prompt, Typed};
use super::{Ask, BACK, Back, Question, secret_of};
use crate::formats::language::Language;

/// Whether a person can answer.
pub(in crate::commands::setup) fn is_terminal() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// The person at the terminal.
///
/// # Errors
/// There is no terminal.
pub(in crate::commands::setup) fn terminal(language: Language) -> anyhow::Result<Box<dyn Ask>> {
    if !is_terminal() {
        return Err(told::usage(language, "setup-no-terminal", &[]));
    }
    #[cfg(unix)]
    if std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb") {
        return Ok(Box::new(super::super::plain::Plain::new(language)));
    }
    let colours = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    Ok(Box::new(Terminal { language, colours }))
}

/// A person at a terminal.
struct Terminal {
    language: Language,
    colours: bool,
}

/// Stands for a secret answer, and does not even show its length.
const MASK: &str = "********";

impl Terminal {
    fn prompt<'a>(&self, question: &'a Question<'a>) -> Prompt<'a> {
        let Question { words, help, default, .. } = question;
        Prompt { words, help, usual: default.as_deref(), is_secret: false, colours: self.colours }
    }

    /// Reads a line.
    fn line(&self, prompt: &Prompt<'_>) -> anyhow::Result<String> {
        match line::ask(prompt).map_err(|error| self.unusable(error))? {
            Typed::Text(text) if text.trim() == BACK => Err(Back.into()),
            Typed::Text(text) => Ok(text.trim().to_owned()),
            Typed::Back => Err(Back.into()),
            Typed::Interrupted => Err(self.interrupted()),
        }
    }

    fn answered(&self, prompt: &Prompt<'_>, answer: &str) -> anyhow::Result<()> {
        line::answered(prompt, answer).map_err(|error| self.unusable(error))
    }

    fn unusable(&self, error: impl std::fmt::Display) -> anyhow::Error {
        told::failed(self.language, &self.language.text("setup-unusable-terminal"), error)
    }

    fn interrupted(&self) -> anyhow::Error {
        told::said(self.language.text("setup-interrupted"), Exit::Failed)
    }

    fn ended(&self, error: InquireError) -> anyhow::Error {
        match error {
            InquireError::OperationCanceled => Back.into(),
            InquireError::OperationInterrupted => self.interrupted(),
            other => self.unusable(other),
        }
    }
}

impl Ask for Terminal {
    fn language(&self) -> Language {
        self.language
    }

    fn text(&mut self, question: &Question<'_>) -> anyhow::Result<Option<String>> {
        let prompt = self.prompt(question);
        let answer = Some(self.line(&prompt)?).filter(|answer| !answer.is_empty()).or_else(|| question.default.clone());
        self.answered(&prompt, answer.as_deref().unwrap_or_default())?;
        Ok(answer)
    }

    fn choose<'c>(&mut self, question: &Question<'_>, choices: &[(&'c str, String)]) -> anyhow::Result<&'c str> {
        let begin = choices.iter().position(|(name, _)| Some(*name) == question.default.as_deref()).unwrap_or(0);
        // The mark of the choice stands in front.
        let width = line::width();
        let shown: Vec<String> = choices.iter().map(|(_, shown)| folded(shown, Some(width - 3))).collect();
        let answered = |index: usize| {
            let shown = choices.get(index).map_or("", |(_, shown)| shown);
            let line = folded(&format!("> {} {shown}", question.words), Some(width));
            line.get("> ".len() + question.words.len()..).unwrap_or_default().trim_start().to_owned()
        };
        let formatter = |chosen: inquire::list_option::ListOption<&String>| answered(chosen.index);
        let prompt = Select::new(&question.words, shown).with_starting_cursor(begin).without_filtering();
        let (help, back) = (self.language.text("setup-keys"), self.language.text("setup-gone-back"));
        let look = if self.colours { RenderConfig::default_colored() } else { RenderConfig::empty() };
        let prompt = prompt.with_render_config(look.with_canceled_prompt_indicator(Styled::new(back.as_str())));
        let prompt = prompt.with_help_message(&help).with_formatter(&formatter);
        let chosen = prompt.raw_prompt().map_err(|error| self.ended(error))?.index;
        choices.get(chosen).map(|(name, _)| *name).context("no such choice")
    }

    fn agree(&mut self, question: &Question<'_>, default: bool) -> anyhow::Result<bool> {
        let usual = super::both_answers(self.language, default);
        let prompt = Prompt { usual: Some(&usual), ..self.prompt(question) };
        let agrees = loop {
            match super::yes_or_no(&self.line(&prompt)?, default) {
                Some(agrees) => break agrees,
                None => self.refused(question.key, &self.language.text(super::YES_OR_NO))?,
            }
        };
        self.answered(&prompt, &self.language.text(if agrees { "setup-yes" } else { "setup-no" }))?;
        Ok(agrees)
    }

    fn secret(&mut self, question: &Question<'_>) -> anyhow::Result<Option<SecretString>> {
        let prompt = Prompt { is_secret: true, usual: None, ..self.prompt(question) };
        let typed = |terminal: &Self| {
            let answer = terminal.line(&prompt)?;
            let shown = if answer.is_empty() { "" } else { MASK };
            terminal.answered(&prompt, shown)?;
            Ok(answer)
        };
        secret_of(self, question, typed)
    }
}
