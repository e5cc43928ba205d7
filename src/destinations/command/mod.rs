//! `type = "command"`: hands the spooled PDF to a program of the practice; its exit code is the answer.
//!
//! No shell is involved: every template in `args` is one argument, whatever the values contain. The program gets the
//! metadata as one JSON object on standard input, and its scalars in the environment; it may ignore both. It must
//! recognise a repeated `DOCSYNCD_KEY`, because a lost answer means a second call.
//!
//! Exit codes: 0 is delivered, 75 (EX_TEMPFAIL of sysexits.h) means try again later, all others refuse the document. A
//! reason is the exit code in our words, and one line that the program may write to the file in `DOCSYNCD_REASON_FILE`.
//! Its standard output and standard error never leave this machine (promise 8).

use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use async_trait::async_trait;

use super::blocking;
use super::{Adapter, CHECK_LIMIT, Checked, Invented, Item, Known, Outcome, Planned, fault, spooled};
use crate::destinations::LostReply;
use crate::domain::document::{DocumentUuid, Metadata};
use crate::domain::failure::Code;
use crate::formats::template::Context;
use crate::patients::Unmatched;
use crate::system::readers::as_whom;

#[cfg(windows)]
mod job;
mod output;
mod program;
mod run;
mod settings;
mod surroundings;
#[cfg(test)]
mod tests;

use output::Output;
pub use output::{output_file, output_files};
pub(super) use program::find;
pub(super) use run::{Ended, Run};
pub use settings::CommandConfig;
pub(super) use settings::KIND;
pub(super) use surroundings::inherited;

/// EX_TEMPFAIL: "temporary failure; user is invited to retry" (sysexits.h).
const TRY_AGAIN: i32 = 75;

/// The longest wait for the files of a program's output; they lie beside the ledger.
const WORDS_LIMIT: Duration = Duration::from_secs(60);

/// A program that takes documents.
pub struct CommandAdapter {
    config: CommandConfig,
    ledger: PathBuf,
}

impl CommandAdapter {
    /// Starts nothing. Output of programs is kept beside `ledger`.
    pub fn new(config: CommandConfig, ledger: &Path) -> Self {
        Self { config, ledger: ledger.to_owned() }
    }

    /// The files for the program's output.
    async fn words(&self, item: &Item) -> Result<Output, Outcome> {
        let (ledger, name, copy) = (self.ledger.clone(), self.config.name.clone(), item.clone());
        let reason = match blocking::run(self.words_claim(item), WORDS_LIMIT, move || {
            Output::new(&ledger, &name, &copy)
        })
        .await
        {
            Ok(Ok(words)) => return Ok(words),
            Ok(Err(error)) => format!(
                "no file can be created beside the ledger {} ({})",
                self.ledger.display(),
                fault::system_text(&error)
            ),
            Err(_) => format!("the folder of the ledger {} does not answer", self.ledger.display()),
        };
        Err(Outcome::transient(Code::word("no_reason_file"), reason))
    }

    fn words_claim(&self, item: &Item) -> String {
        format!("{}\0{}\0{}", self.config.name, self.ledger.display(), item.key)
    }

    fn prepare(&self, item: &Item, words: &Output) -> Result<Run, Outcome> {
        let name = &self.config.name;
        let file = std::path::absolute(&item.pdf.path).unwrap_or_else(|_| item.pdf.path.clone());
        let file = file.to_str().ok_or_else(|| {
            spooled::unreadable("the spool's path is not UTF-8: choose another `state.path`".to_owned())
        })?;
        let context = Context::new(&item.metadata).with_file(file);
        let render = |(index, template): (usize, &std::sync::Arc<crate::formats::template::Template>)| {
            template.render(&context).map_err(|error| {
                if error.changed().is_some_and(|changed| changed.is_number) {
                    return Outcome::NeedsPerson(Unmatched::NotHeld);
                }
                let nth = index + 1;
                let reason =
                    format!("destination `{name}`: argument {nth} cannot be filled in for this document: {error}");
                Outcome::permanent("not_filled_in", reason)
            })
        };
        let unusable = |what: String| Outcome::transient(Code::word("program_unusable"), self.unusable(&what));
        Ok(Run {
            program: find(&self.config.program).map_err(unusable)?,
            args: self.config.args.iter().enumerate().map(render).collect::<Result<_, _>>()?,
            environment: surroundings::environment(name, item, file, words.reason_file()),
            input: surroundings::input(name, item, file),
            limit: self.config.timeout,
        })
    }

    fn unusable(&self, what: &str) -> String {
        format!("destination `{}`: {what}", self.config.name)
    }

    /// What happened, and the line that the program wants to be quoted.
    fn reason(&self, what: &str, line: &str) -> String {
        let program = self.config.program.file_name().unwrap_or_default().to_string_lossy();
        let separator = if line.is_empty() { "" } else { ": " };
        format!("`{program}` {what}{separator}{line}")
    }
}

#[async_trait]
impl Adapter for CommandAdapter {
    fn needs_file(&self) -> bool {
        true
    }

    async fn deliver(&self, item: &Item) -> Outcome {
        if let Err(outcome) = spooled::verify(&self.config.name, item).await {
            return outcome;
        }
        let (name, holds) = (&self.config.name, self.config.on_lost_reply == LostReply::Hold);
        if holds && item.uncertain {
            return Outcome::cut_off("docsyncd ended before the program did");
        }
        let words = match self.words(item).await {
            Ok(words) => words,
            Err(outcome) => return outcome,
        };
        let run = match self.prepare(item, &words) {
            Ok(run) => run,
            Err(outcome) => return outcome,
        };
        if let Err(outcome) = item.committing_to(None).await {
            return outcome;
        }
        let (ended, output) = run.until_the_end().await;
        let output = if matches!(&ended, Ended::Exited(status) if status.success()) { Vec::new() } else { output };
        let line = blocking::run(self.words_claim(item), WORDS_LIMIT, move || {
            words.keep(&output);
            words.reason()
        });
        let line = line.await.unwrap_or_default();
        let reason = |what: &str| self.reason(what, &line);
        // Nobody can tell what a program did before it ended like this.
        let in_doubt = |code: Code, reason: String| match holds {
            true => Outcome::Held { code, reason },
            false => Outcome::transient(code, reason),
        };
        match ended {
            Ended::NotStarted(error) => not_started(name, &self.config.program, &error),
            Ended::OutOfTime => {
                let limit = self.config.timeout.as_secs_f64();
                let reason = reason(&format!("did not end within {limit} s and was stopped"));
                in_doubt(Code::word("out_of_time"), reason)
            }
            Ended::Lost(error) => {
                let reason = reason(&format!("cannot be waited for ({})", fault::system_text(&error)));
                in_doubt(Code::word("lost"), reason)
            }
            Ended::Exited(status) => match ending(status) {
                Code::Exit(0) => Outcome::delivered(format!("command {}", self.config.name)),
                code @ Code::Exit(TRY_AGAIN) => {
                    Outcome::transient(code, reason(&format!("exited with {TRY_AGAIN} (try again later)")))
                }
                code @ Code::Exit(exit) if !crashed(exit) => {
                    Outcome::Permanent { code, reason: reason(&format!("exited with {exit}")) }
                }
                code @ Code::Signal(signal) => in_doubt(code, reason(&format!("was ended by signal {signal}"))),
                code => in_doubt(code, reason(&format!("crashed ({status})"))),
            },
        }
    }

    fn holds_number(&self, invented: &Invented) -> bool {
        invented.holds(&self.config.args.iter().collect::<Vec<_>>())
    }

    async fn plan(&self, _: &DocumentUuid, metadata: &Metadata, _: &Known) -> Result<Planned, String> {
        let context = Context::new(metadata).with_file("FILE");
        let mut place = self.config.program.display().to_string();
        for argument in &self.config.args {
            let argument = argument.render(&context).map_err(|error| format!("args: {error}"))?;
            place = format!("{place} {argument}");
        }
        Ok(Planned { place, otherwise: None, taken: false, problem: find(&self.config.program).err() })
    }

    /// Checks that the program exists and may be executed. It is not started, because its effect without a document is
    /// unknown.
    async fn check(&self) -> Result<Checked, String> {
        let program: PathBuf = self.config.program.clone();
        let claim = format!("{}\0{}\0check", self.config.name, program.display());
        match blocking::run(claim, CHECK_LIMIT, move || find(&program)).await {
            Ok(Ok(_)) => Ok(Checked::default()),
            Ok(Err(what)) => Err(self.unusable(&what)),
            Err(_) => Err(self.unusable("looking for its program takes too long: is it on a share?")),
        }
    }
}

/// On Windows a program that crashed exits with an NTSTATUS of severity "error", which is negative as a number.
pub(super) fn crashed(code: i32) -> bool {
    cfg!(windows) && code < 0
}

/// If a program ends without an exit code, a signal ended it.
pub(super) fn ending(status: ExitStatus) -> Code {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return Code::Signal(signal);
    }
    status.code().map_or(Code::word("crashed"), Code::Exit)
}

/// A destination's program could not be started.
pub(super) fn not_started(name: &str, program: &Path, error: &std::io::Error) -> Outcome {
    use std::io::ErrorKind;
    let text = fault::system_text(error);
    let advice = match error.kind() {
        // E2BIG, and on Windows an argument that cannot safely be passed to a batch file.
        ErrorKind::ArgumentListTooLong | ErrorKind::InvalidInput => {
            let reason = format!("destination `{name}`: the arguments of this document cannot be passed ({text})");
            return Outcome::permanent("arguments", reason);
        }
        ErrorKind::NotFound => "check `program`, and in a script the interpreter in its first line",
        ErrorKind::PermissionDenied => "allow the service's user to execute it",
        ErrorKind::ExecutableFileBusy => "it is being replaced",
        _ => "is it a program for this system? A script needs an interpreter in its first line",
    };
    let (program, user) = (program.display(), as_whom());
    let reason = format!("destination `{name}`: its program `{program}` cannot be started{user} ({text}): {advice}");
    Outcome::transient(Code::word("not_started"), reason)
}
