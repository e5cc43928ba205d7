//! A person at a terminal who answers.

use std::io::{self, IsTerminal as _};

use anyhow::Context as _;
use inquire::ui::RenderConfig;
use inquire::{InquireError, Select};
use secrecy::SecretString;

use super::super::super::UsageError;
use super::super::super::output::folded;
use super::line::{self, Prompt, Typed};
use super::{Ask, BACK, Back, Question, secret_of};

/// The person at the terminal.
///
/// # Errors
/// There is no terminal.
pub(in crate::commands::setup) fn terminal() -> Result<Box<dyn Ask>, UsageError> {
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        let what = "setup asks questions, and there is no terminal to ask at: give it the answers in a file, as in \
                        docsyncd setup --answers answers.toml (docs/first-hour.md has one)";
        return Err(UsageError(what.to_owned()));
    }
    #[cfg(unix)]
    if std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb") {
        return Ok(Box::new(super::super::plain::Plain::default()));
    }
    let colours = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    if !colours {
        inquire::set_global_render_config(RenderConfig::empty());
    }
    Ok(Box::new(Terminal { colours, answered: 0 }))
}

/// A person.
struct Terminal {
    colours: bool,
    answered: usize,
}

/// What stands for a secret that was answered: nothing of it, also not its length.
const MASK: &str = "********";

impl Terminal {
    fn prompt<'a>(&self, question: &'a Question<'a>) -> Prompt<'a> {
        let Question { words, help, default, .. } = question;
        Prompt { words, help, usual: default.as_deref(), is_secret: false, colours: self.colours }
    }

    /// The line that is typed.
    fn line(&self, prompt: &Prompt<'_>) -> anyhow::Result<String> {
        match line::ask(prompt).context(UNUSABLE)? {
            Typed::Text(text) if text.trim() == BACK => Err(Back.into()),
            Typed::Text(text) => Ok(text.trim().to_owned()),
            Typed::Back => Err(Back.into()),
            Typed::Interrupted => Err(interrupted()),
        }
    }
}

const UNUSABLE: &str = "the terminal cannot be used";

impl Ask for Terminal {
    fn text(&mut self, question: &Question<'_>) -> anyhow::Result<Option<String>> {
        let prompt = self.prompt(question);
        let answer = Some(self.line(&prompt)?).filter(|answer| !answer.is_empty()).or_else(|| question.default.clone());
        line::answered(&prompt, answer.as_deref().unwrap_or_default()).context(UNUSABLE)?;
        self.answered += 1;
        Ok(answer)
    }

    fn choose(&mut self, question: &Question<'_>, choices: &[(&str, String)]) -> anyhow::Result<usize> {
        let begin = choices.iter().position(|(name, _)| Some(*name) == question.default.as_deref()).unwrap_or(0);
        // The mark of the choice stands before each.
        let width = line::width();
        let shown: Vec<String> = choices.iter().map(|(_, shown)| folded(shown, Some(width - 3))).collect();
        let answered = |index: usize| {
            let shown = choices.get(index).map_or("", |(_, shown)| shown);
            let line = folded(&format!("> {} {shown}", question.words), Some(width));
            line.get("> ".len() + question.words.len()..).unwrap_or_default().trim_start().to_owned()
        };
        let formatter = |chosen: inquire::list_option::ListOption<&String>| answered(chosen.index);
        let prompt = Select::new(question.words, shown).with_starting_cursor(begin).without_filtering();
        let help = "↑ and ↓ move, Enter chooses, Esc goes back";
        let prompt = prompt.with_help_message(help).with_formatter(&formatter);
        let chosen = prompt.raw_prompt().map_err(ended)?.index;
        self.answered += 1;
        Ok(chosen)
    }

    fn agree(&mut self, question: &Question<'_>, default: bool) -> anyhow::Result<bool> {
        let prompt = Prompt { usual: Some(if default { "Y/n" } else { "y/N" }), ..self.prompt(question) };
        let agrees = loop {
            match super::yes_or_no(&self.line(&prompt)?, default) {
                Some(agrees) => break agrees,
                None => self.refused(question.key, super::YES_OR_NO)?,
            }
        };
        line::answered(&prompt, if agrees { "Yes" } else { "No" }).context(UNUSABLE)?;
        self.answered += 1;
        Ok(agrees)
    }

    fn secret(&mut self, question: &Question<'_>) -> anyhow::Result<Option<SecretString>> {
        let prompt = Prompt { is_secret: true, usual: None, ..self.prompt(question) };
        let typed = |terminal: &Self| {
            let answer = terminal.line(&prompt)?;
            let shown = if answer.is_empty() { "" } else { MASK };
            line::answered(&prompt, shown).context(UNUSABLE)?;
            Ok(answer)
        };
        let secret = secret_of(self, question, typed)?;
        self.answered += 1;
        Ok(secret)
    }

    fn answered(&self) -> usize {
        self.answered
    }
}

fn interrupted() -> anyhow::Error {
    anyhow::anyhow!("interrupted: nothing was written")
}

fn ended(error: InquireError) -> anyhow::Error {
    match error {
        InquireError::OperationCanceled => Back.into(),
        InquireError::OperationInterrupted => interrupted(),
        other => anyhow::Error::new(other).context(UNUSABLE),
    }
}
