//! A person at a terminal who answers.

use std::io::{self, IsTerminal as _};

use inquire::ui::RenderConfig;
use inquire::{Confirm, InquireError, Password, PasswordDisplayMode, Select, Text};
use secrecy::SecretString;

use super::super::super::UsageError;
use super::{Ask, Question, secret_of};

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
        return Ok(Box::new(super::super::plain::Plain));
    }
    if std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) {
        inquire::set_global_render_config(RenderConfig::empty());
    }
    Ok(Box::new(Terminal))
}

/// A person.
struct Terminal;

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

fn ended(error: InquireError) -> anyhow::Error {
    match error {
        InquireError::OperationCanceled | InquireError::OperationInterrupted => {
            anyhow::anyhow!("interrupted: nothing was written")
        }
        other => anyhow::Error::new(other).context("the terminal cannot be used"),
    }
}
