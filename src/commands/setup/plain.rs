//! A person at a terminal that knows no escape sequences (`TERM=dumb`): questions and answers are plain lines.

use std::io::{self, BufRead as _, Read as _, Write as _};

use anyhow::Context as _;
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
use secrecy::SecretString;

use super::super::output::complain;
use super::ask::{Ask, BACK, Back, MAX_BYTES, Question, YES_OR_NO, secret_of, yes_or_no};

/// What Ctrl-C is where it is no signal.
const CTRL_C: u8 = 3;

#[derive(Default)]
pub(super) struct Plain {
    answered: usize,
}

/// Shows this where an answer is to follow.
fn prompt(text: &str) -> anyhow::Result<()> {
    let mut terminal = io::stderr().lock();
    terminal.write_all(text.as_bytes()).and_then(|()| terminal.flush()).context("the terminal cannot be used")
}

/// A line as it was typed; the end of the input and Ctrl-C end the setup.
fn line() -> anyhow::Result<String> {
    let mut line = String::new();
    let read = io::stdin().lock().take(MAX_BYTES).read_line(&mut line).context("the terminal cannot be used")?;
    if read == 0 || line.bytes().any(|byte| byte == CTRL_C) {
        return Err(anyhow::anyhow!("interrupted: nothing was written"));
    }
    match line.trim() {
        BACK => Err(Back.into()),
        line => Ok(line.to_owned()),
    }
}

fn asked(question: &Question<'_>, more: &str) -> anyhow::Result<String> {
    if !question.help.is_empty() {
        complain(&format!("({})", question.help));
    }
    prompt(&format!("{} {more}", question.words))?;
    line()
}

/// What is typed is not shown as long as this lives, and Ctrl-C ends the line: a signal would leave the terminal so.
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
        // A terminal that is gone needs nothing.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}

impl Ask for Plain {
    fn text(&mut self, question: &Question<'_>) -> anyhow::Result<Option<String>> {
        let default = question.default.as_ref().map(|default| format!("[{default}] ")).unwrap_or_default();
        let answer = asked(question, &default)?;
        self.answered += 1;
        Ok(Some(answer).filter(|answer| !answer.is_empty()).or_else(|| question.default.clone()))
    }

    fn choose(&mut self, question: &Question<'_>, choices: &[(&str, String)]) -> anyhow::Result<usize> {
        let begin = choices.iter().position(|(name, _)| Some(*name) == question.default.as_deref()).unwrap_or(0);
        complain(question.words);
        for (number, (_, shown)) in (1..).zip(choices) {
            complain(&format!("  {number}) {shown}"));
        }
        loop {
            prompt(&format!("Its number: [{}] ", begin + 1))?;
            let answer = line()?;
            let number = if answer.is_empty() { Ok(begin + 1) } else { answer.parse::<usize>() };
            match number {
                Ok(number) if (1..=choices.len()).contains(&number) => {
                    self.answered += 1;
                    return Ok(number - 1);
                }
                _ => self.refused(question.key, &format!("a number from 1 to {} is expected", choices.len()))?,
            }
        }
    }

    fn agree(&mut self, question: &Question<'_>, default: bool) -> anyhow::Result<bool> {
        loop {
            match yes_or_no(&asked(question, if default { "[Y/n] " } else { "[y/N] " })?, default) {
                Some(agrees) => {
                    self.answered += 1;
                    return Ok(agrees);
                }
                None => self.refused(question.key, YES_OR_NO)?,
            }
        }
    }

    fn secret(&mut self, question: &Question<'_>) -> anyhow::Result<Option<SecretString>> {
        let secret = secret_of(self, question, |_| {
            let unseen = Unseen::begin().context("the terminal cannot be used")?;
            let answer = asked(question, "");
            drop(unseen);
            complain("");
            answer
        })?;
        self.answered += 1;
        Ok(secret)
    }

    fn answered(&self) -> usize {
        self.answered
    }
}
