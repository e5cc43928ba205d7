//! `type = "command"`: hands the spooled PDF to a program of the practice and takes its exit code for the answer.
//!
//! No shell is involved: every template in `args` is one argument, whatever stands in the values. The program gets the
//! metadata as one JSON object on standard input and the scalars of it in the environment; it may ignore both. It must
//! recognise a repeated `DOCSYNCD_KEY`, since a lost answer means a second call.
//!
//! Exit codes: 0 delivered, 75 (EX_TEMPFAIL of sysexits.h) try again later, all others the document is refused.

use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use async_trait::async_trait;

use super::blocking;
use super::files::{self, Digest};
use super::{Adapter, Item, Outcome, fault};
use crate::config::CommandConfig;
use crate::template::Context;

#[cfg(windows)]
mod job;
mod program;
mod run;
mod surroundings;
#[cfg(test)]
mod tests;

use run::{Ended, Run};

/// EX_TEMPFAIL: "temporary failure; user is invited to retry" (sysexits.h).
const TRY_AGAIN: i32 = 75;

/// The longest wait for the spool to be read; it lies on a local disk.
const SPOOL_LIMIT: Duration = Duration::from_secs(10 * 60);

/// The longest wait for a look at the program's file.
const CHECK_LIMIT: Duration = Duration::from_secs(60);

/// What is kept of the program's last words, for the reason.
const MAX_LAST_LINES: usize = 10;
const MAX_LAST_BYTES: usize = 1000;

/// A program that takes documents.
pub struct CommandAdapter {
    config: CommandConfig,
}

impl CommandAdapter {
    /// Starts nothing.
    pub fn new(config: CommandConfig) -> Self {
        Self { config }
    }

    /// Promise 4 holds for programs as well: what they are handed is what was fetched.
    async fn verify_spool(&self, item: &Item) -> Result<(), Outcome> {
        let expected = Digest { size: item.pdf.size, sha256: item.pdf.sha256.to_ascii_lowercase() };
        let (path, size) = (item.pdf.path.clone(), item.pdf.size);
        let claim = format!("{}\0{}", self.config.name, path.display());
        match blocking::run(claim, SPOOL_LIMIT, move || files::hash_file(&path, size)).await {
            Ok(Ok(found)) if found == expected => Ok(()),
            Ok(Err(error)) if is_momentary(&error) => {
                Err(Outcome::Transient(format!("the spool cannot be read ({})", fault::system_text(&error))))
            }
            Ok(_) => Err(Outcome::SpoolDamaged),
            Err(_) => Err(Outcome::Transient("the spool does not answer".to_owned())),
        }
    }

    fn prepare(&self, item: &Item) -> Result<Run, Outcome> {
        let name = &self.config.name;
        let file = std::path::absolute(&item.pdf.path).unwrap_or_else(|_| item.pdf.path.clone());
        let file = file.to_str().ok_or_else(|| {
            Outcome::Transient("the spool's path is not UTF-8: choose another `state.path`".to_owned())
        })?;
        let context = Context::new(&item.metadata).with_file(file);
        let render = |(index, template): (usize, &std::sync::Arc<crate::template::Template>)| {
            template.render(&context).map_err(|error| {
                let nth = index + 1;
                Outcome::Permanent(format!(
                    "destination `{name}`: argument {nth} cannot be filled in for this document: {error}"
                ))
            })
        };
        Ok(Run {
            program: program::find(&self.config.program).map_err(|what| Outcome::Transient(self.unusable(&what)))?,
            args: self.config.args.iter().enumerate().map(render).collect::<Result<_, _>>()?,
            environment: surroundings::environment(name, item, file),
            input: surroundings::input(name, item, file),
            limit: self.config.timeout,
        })
    }

    fn unusable(&self, what: &str) -> String {
        format!("destination `{}`: {what}", self.config.name)
    }

    /// The reason: what happened and the program's last words without what could identify the patient.
    fn reason(&self, what: &str, last_words: &[u8], item: &Item, args: &[String]) -> String {
        let program = self.config.program.file_name().unwrap_or_default().to_string_lossy();
        let words = last_lines(last_words, |text| self.redact(text, item, args));
        let separator = if words.is_empty() { "" } else { ": " };
        format!("`{program}` {what}{separator}{words}")
    }

    /// Programs like to quote their arguments, in which a patient's value may stand in a form of its own (a date, an
    /// upper-case name): such an argument is taken out whole, and then the values as they are.
    fn redact(&self, text: &str, item: &Item, args: &[String]) -> String {
        let own_form = self.config.args.iter().zip(args).filter(|(template, _)| template.mentions_patient());
        let without_args = own_form
            .map(|(_, arg)| arg)
            .filter(|arg| arg.len() > 1 && *arg != crate::name::UNKNOWN)
            .fold(text.to_owned(), |text, arg| text.replace(arg.as_str(), "[argument]"));
        item.metadata.redact(&without_args)
    }
}

#[async_trait]
impl Adapter for CommandAdapter {
    async fn deliver(&self, item: &Item) -> Outcome {
        if let Err(outcome) = self.verify_spool(item).await {
            return outcome;
        }
        let run = match self.prepare(item) {
            Ok(run) => run,
            Err(outcome) => return outcome,
        };
        let args = run.args.clone();
        fault_point!("command.run.before");
        let (ended, last_words) = run.until_the_end().await;
        fault_point!("command.run.after");
        let reason = |what: &str| self.reason(what, &last_words, item, &args);
        match ended {
            Ended::NotStarted(error) => not_started(&self.config.name, &error),
            Ended::OutOfTime => {
                let limit = self.config.timeout.as_secs_f64();
                Outcome::Transient(reason(&format!("did not end within {limit} s and was stopped")))
            }
            Ended::Lost(error) => {
                Outcome::Transient(reason(&format!("cannot be waited for ({})", fault::system_text(&error))))
            }
            Ended::Exited(status) => match status.code() {
                Some(0) => {
                    Outcome::Delivered { place: format!("command {}", self.config.name), file: None, found: false }
                }
                Some(TRY_AGAIN) => Outcome::Transient(reason(&format!("exited with {TRY_AGAIN} (try again later)"))),
                Some(code) if !crashed(code) => Outcome::Permanent(reason(&format!("exited with {code}"))),
                _ => Outcome::Transient(reason(&ended_by(status))),
            },
        }
    }

    /// That the program is there and may be started. It is not started: what it does without a document is not known.
    async fn check(&self) -> Result<(), String> {
        let program: PathBuf = self.config.program.clone();
        let claim = format!("{}\0{}\0check", self.config.name, program.display());
        match blocking::run(claim, CHECK_LIMIT, move || program::find(&program)).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(what)) => Err(self.unusable(&what)),
            Err(_) => Err(self.unusable("looking for its program takes too long: is it on a share?")),
        }
    }
}

/// Errors that say nothing about the file: without permission or descriptors every one reads like that.
fn is_momentary(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{OutOfMemory, PermissionDenied, TimedOut};
    // 23 and 24 are ENFILE and EMFILE on every Unix, too many open files.
    matches!(error.kind(), PermissionDenied | OutOfMemory | TimedOut)
        || (cfg!(unix) && matches!(error.raw_os_error(), Some(23 | 24)))
}

/// On Windows a program that crashed exits with an NTSTATUS of severity "error", which is negative as a number.
fn crashed(code: i32) -> bool {
    cfg!(windows) && code < 0
}

fn ended_by(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("was ended by signal {signal}");
    }
    format!("crashed ({status})")
}

fn not_started(name: &str, error: &std::io::Error) -> Outcome {
    use std::io::ErrorKind;
    let text = fault::system_text(error);
    let advice = match error.kind() {
        // E2BIG, and on Windows what a batch file cannot be given safely.
        ErrorKind::ArgumentListTooLong | ErrorKind::InvalidInput => {
            return Outcome::Permanent(format!(
                "destination `{name}`: the arguments of this document cannot be passed ({text})"
            ));
        }
        ErrorKind::NotFound => "check `program`, and in a script the interpreter in its first line",
        ErrorKind::PermissionDenied => "allow the service's user to execute it",
        ErrorKind::ExecutableFileBusy => "it is being replaced",
        _ => "is it a program for this system? A script needs an interpreter in its first line",
    };
    Outcome::Transient(format!("destination `{name}`: its program cannot be started ({text}): {advice}"))
}

/// The last lines of what a program wrote, in one line, without control characters, redacted before they are cut.
fn last_lines(bytes: &[u8], redact: impl Fn(&str) -> String) -> String {
    let text = String::from_utf8_lossy(bytes);
    let clean =
        |line: &str| line.chars().filter(|c| !c.is_control() && !crate::name::is_bidirectional(*c)).collect::<String>();
    let text = text.lines().map(clean).collect::<Vec<_>>().join("\n");
    let redacted = redact(&text);
    let lines: Vec<&str> = redacted.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = lines.get(lines.len().saturating_sub(MAX_LAST_LINES)..).unwrap_or_default().join(" | ");
    let start = (last.len().saturating_sub(MAX_LAST_BYTES)..=last.len()).find(|at| last.is_char_boundary(*at));
    last.get(start.unwrap_or(0)..).unwrap_or_default().to_owned()
}
