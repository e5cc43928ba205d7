//! `docsyncd setup`: asks what is needed, tries each answer at once, and writes everything at the end.
//!
//! A step asks, puts the answer into the [`Draft`] and tries it. An answer that fails is explained. A person is asked
//! again; a file of answers ends the setup. Nothing is written before the last question is answered. A second run
//! changes what is there.
//!
//! A new type of destination needs only a file in `config/presets`, which its kind names. Further steps are added to
//! [`questions`].

mod account;
mod alarms;
mod ask;
mod change;
mod confirm;
mod destination;
mod draft;
mod edit;
mod finish;
mod first;
mod more;
mod page;
mod patients;
#[cfg(unix)]
mod plain;
mod presets;
mod questions;
#[cfg(feature = "sftp")]
mod server_key;
mod service_user;
mod steps;
mod write;

use std::path::Path;

use tokio::runtime::Runtime;

use super::output::{self, completed, place_lines, print, say, terminal_width};
use super::{Exit, Outcome, UsageError, check, login, preview, runtime, told};
use crate::api::{self, ApiError, Transport};
use crate::commands::cli::Spoken;
use crate::config::{ConfigError, Loaded};
use crate::destinations::SCHEMA;
use crate::formats::language::{Language, Value};
use crate::system::readers::Reader;
use ask::{Answers, Ask, BACK, Back, Question, Remembered, is_terminal, terminal};
use draft::{Draft, in_words, plainly};
use write::Rights;

pub(super) use first::{first, why_not};

/// The number of file names that are shown before anything is written.
const SHOWN: usize = 3;

/// A setup in progress.
struct Setup {
    draft: Draft,
    ask: Box<dyn Ask>,
    runtime: Runtime,
    /// The user that the service will run as, if it is not the present user.
    service: Option<Reader>,
    /// NAME of the account and of the destination in question.
    account: String,
    destination: String,
    /// Whether a further destination is being added.
    adds: bool,
    rights: Option<Rights>,
    how: How,
}

/// What to do with the answers.
enum Summary {
    Write,
    Change,
    Leave,
}

/// The language, chosen as in other commands. A program gets the same language on every machine.
fn language_of(spoken: Spoken, path: &Path, is_person: bool) -> Language {
    match SCHEMA.load_default_env(path) {
        _ if !is_person => spoken.lang.unwrap_or_default(),
        Ok(loaded) => super::language::of(spoken, &loaded),
        // There is no configuration yet, or its errors are reported in a moment.
        Err(_) => spoken.lang.unwrap_or_else(super::language::of_system),
    }
}

/// How to use a file of answers.
#[derive(Debug, Clone, Copy)]
pub(super) struct How {
    /// Writes nothing, and tries no destination, since that writes there.
    pub(super) dry_run: bool,
    /// Standard output is one JSON value.
    pub(super) json: bool,
}

/// The JSON for `--json`.
#[derive(serde::Serialize)]
struct Changes {
    changed: bool,
    files: Vec<String>,
}

pub(super) fn setup(path: &Path, answers: Option<&Path>, how: How, spoken: Spoken) -> Outcome {
    if how.json {
        output::only_json();
    }
    let language = language_of(spoken, path, answers.is_none() && is_terminal());
    told::ended(language, carry_out(path, answers, how, language))
}

fn carry_out(path: &Path, answers: Option<&Path>, how: How, language: Language) -> Outcome {
    let ask: Box<dyn Ask> = match answers {
        Some(file) => Box::new(Answers::read(file, language)?),
        None => Box::new(Remembered::new(terminal(language)?)),
    };
    if !how.dry_run {
        write::may_write(path, language).map_err(|why| told::said(why, Exit::Failed))?;
    }
    let draft = Draft::begin(path, language)?;
    let begin = if draft.before.is_some() { "setup-changed" } else { "setup-new" };
    let file = draft.path.display().to_string();
    let mut words = format!("{}\n{}", language.fill(begin, &[("file", (&file).into())]), language.text("setup-begin"));
    if ask.is_person() {
        words = format!("{words} {}", language.fill("setup-begin-back", &[("back", BACK.into())]));
    }
    say(&format!("{words}\n\n"))?;
    let (account, destination) = (String::new(), String::new());
    let runtime = runtime()?;
    let mut setup = Setup { draft, ask, runtime, service: None, account, destination, adds: false, rights: None, how };
    setup.questions()?;
    loop {
        match setup.summary()? {
            Summary::Write => break,
            Summary::Change => setup.change(false)?,
            Summary::Leave => {
                print(&format!("{}\n", language.text("setup-nothing-written")))?;
                return Ok(Exit::Failed);
            }
        }
    }
    let (rights, service) = (setup.rights.as_ref(), setup.service.as_ref());
    let files = write::changes(&setup.draft, rights, service);
    if how.dry_run {
        for file in &files {
            say(&format!("  {}\n", file.display()))?;
        }
    } else {
        for line in write::write(&setup.draft, rights, service, language)? {
            say(&format!("  {line}\n"))?;
        }
    }
    if how.json {
        let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        output::print_json(&Changes { changed: !files.is_empty(), files })?;
    }
    if how.dry_run { Ok(Exit::Done) } else { setup.finish(path) }
}

impl Setup {
    /// The text with this key.
    fn say(&self, text: &str, values: &[(&str, Value<'_>)]) -> String {
        completed(&self.ask.language().fill(text, values))
    }

    /// The question with this text, and its help, if the text has one.
    fn question<'a>(&self, key: &'a str, text: &str, values: &[(&str, Value<'_>)]) -> Question<'a> {
        let help = format!("{text}-help");
        let help = if self.ask.language().has(&help) { self.say(&help, values) } else { String::new() };
        Question { key, words: self.say(text, values), help, default: None }
    }

    /// Refuses an answer, with this text.
    fn refuse(&mut self, key: &str, text: &str, values: &[(&str, Value<'_>)]) -> anyhow::Result<()> {
        let why = self.say(text, values);
        self.ask.refused(key, &why)
    }

    /// The configuration so far; `None` if it has errors, which are the fault of the answer to `key`.
    fn loaded(&mut self, key: &str) -> anyhow::Result<Option<Loaded>> {
        match self.draft.loaded() {
            Ok(loaded) => Ok(Some(loaded)),
            Err(error) => {
                self.refused(key, &error)?;
                Ok(None)
            }
        }
    }

    /// Refuses an answer that makes the configuration invalid. Only whoever writes a file knows the names of settings.
    fn refused(&mut self, key: &str, error: &ConfigError) -> anyhow::Result<()> {
        let why = if self.ask.is_person() { plainly(error) } else { in_words(error) };
        self.ask.refused(key, &told::of_answer(self.ask.language(), &why))
    }

    /// The text, followed by the exact reason.
    fn because(&self, text: &str, exact: &str) -> String {
        told::because(self.ask.language(), text, &[], exact)
    }

    /// Shows warnings about something that works.
    fn warn(&self, warnings: &[String]) -> anyhow::Result<()> {
        for warning in warnings {
            let note = self.because("told-note", warning);
            self.tell("setup-note", &[("note", (&note).into())])?;
        }
        Ok(())
    }

    /// A text that is required.
    fn needed(&mut self, question: &Question<'_>) -> anyhow::Result<String> {
        loop {
            match self.ask.text(question)? {
                Some(text) => return Ok(text),
                None => self.refuse(question.key, "setup-needed", &[])?,
            }
        }
    }

    /// A person is not asked: the packages' user, or root itself, is right.
    fn ask_for_service_user(&mut self) -> anyhow::Result<()> {
        let named = match self.ask.is_person() {
            true => None,
            false => self.ask.text(&Question::of_file("service_user"))?,
        };
        match service_user::find(self.ask.language(), named.as_deref()) {
            Ok(found) => self.service = found,
            Err(why) => self.ask.refused("service_user", &why)?,
        }
        Ok(())
    }

    fn ask_for_address(&mut self) -> anyhow::Result<()> {
        // A person who gives the same address again knows better.
        let mut doubted = None;
        loop {
            let default = self.draft.current("api", None, "base_url");
            let question = self.question("base_url", "setup-address", &[]).or(default);
            let address = self.needed(&question)?;
            let address = self.with_scheme(address)?;
            let before = self.draft.text.clone();
            self.draft.set("api", None, "base_url", address.as_str())?;
            let Some(loaded) = self.loaded("base_url")? else {
                self.draft.text = before;
                continue;
            };
            let transport = Transport::new(&loaded.config.api).map_err(UsageError)?;
            let greeted = self.runtime.block_on(api::greet(&transport)).and_then(|()| match self.ask.is_person() {
                true if doubted.as_ref() != Some(&address) => self.runtime.block_on(api::has_sign_in(&transport)),
                _ => Ok(()),
            });
            match greeted {
                Ok(()) => return self.tell("setup-answers", &[]),
                Err(error) => {
                    self.draft.text = before;
                    let hint = || api::hint(&transport, &error).filter(|_| !matches!(error, ApiError::NotHere { .. }));
                    let exact = hint().unwrap_or_else(|| error.to_string());
                    self.ask.refused("base_url", &told::of_api(self.ask.language(), &error, &exact))?;
                    doubted = Some(address);
                }
            }
        }
    }

    /// The address, with the scheme that was left out.
    fn with_scheme(&self, address: String) -> anyhow::Result<String> {
        if address.contains("://") {
            return Ok(address);
        }
        let address = format!("https://{address}");
        if self.ask.is_person() {
            self.tell("setup-meant", &[("address", (&address).into())])?;
        }
        Ok(address)
    }

    /// A person is asked only if the default place cannot be used.
    fn ask_for_ledger(&mut self) -> anyhow::Result<()> {
        let mut wrong = None;
        loop {
            if wrong.is_some() || !self.ask.is_person() {
                let beside = self.draft.folder().join("state").join("ledger.sqlite3").display().to_string();
                let default = Some(beside).filter(|_| self.ask.is_person());
                let question = self.question("state_path", "setup-ledger", &[]).or(default);
                if let Some(answer) = self.ask.text(&question)? {
                    self.draft.set("state", None, "path", answer.as_str())?;
                }
            }
            let Some(loaded) = self.loaded("state_path")? else { continue };
            let path = &loaded.config.state.path;
            let can_keep = || service_user::can_keep_ledger(self.ask.language(), self.service.as_ref(), path).err();
            wrong = if self.how.dry_run { None } else { can_keep() };
            match &wrong {
                None => return Ok(()),
                Some(wrong) => self.ask.refused("state_path", wrong)?,
            }
        }
    }

    fn good(&self, what: &str) -> anyhow::Result<()> {
        if self.ask.repeats() {
            return Ok(());
        }
        say(&format!("    {what}\n")).map(drop)
    }

    /// Tells good news, with this text.
    fn tell(&self, text: &str, values: &[(&str, Value<'_>)]) -> anyhow::Result<()> {
        self.good(&self.say(text, values))
    }

    /// Shows what letters would be called, and asks whether to write everything.
    fn summary(&mut self) -> anyhow::Result<Summary> {
        let is_unchanged = || write::changes(&self.draft, self.rights.as_ref(), self.service.as_ref()).is_empty();
        if self.ask.is_person() && is_unchanged() {
            return Ok(Summary::Write);
        }
        let loaded = self.draft.loaded()?;
        let shown = preview::examples(&loaded, SHOWN)?;
        let whose = match shown.of {
            preview::ExamplesOf::Waiting => "setup-shown-waiting",
            preview::ExamplesOf::Known => "setup-shown-known",
            preview::ExamplesOf::Invented => "setup-shown-invented",
        };
        print(&format!("\n{}\n", self.say(whose, &[])))?;
        for shown in &shown.letters {
            match shown {
                preview::Example::Place(place) => print(&place_lines("  ", place, "", terminal_width()))?,
                preview::Example::NeedsPerson(who, why) => {
                    let why = told::of_patient(self.ask.language(), *why);
                    let values = [("who", who.into()), ("why", Value::from(&why))];
                    say(&format!("  {}\n", self.say("setup-shown-person", &values)))?
                }
            };
        }
        for warning in &loaded.warnings {
            // The file is not written yet, so its line number says nothing.
            let what = warning.split_once(": ").map_or(warning.as_str(), |(_, what)| what);
            let what = &self.because("told-note", what);
            say(&format!("  {}\n", self.say("setup-note", &[("note", what.into())])))?;
        }
        print("\n")?;
        let file = self.draft.path.display().to_string();
        let question = self.question("write", "setup-write", &[("file", (&file).into())]);
        if !self.ask.is_person() {
            return Ok(if self.ask.agree(&question, true)? { Summary::Write } else { Summary::Leave });
        }
        let choices = [
            ("write", self.say("setup-write-yes", &[])),
            ("change", self.say("setup-write-change", &[])),
            ("leave", self.say("setup-write-no", &[])),
        ];
        match self.ask.choose(&question, &choices) {
            Ok("write") => Ok(Summary::Write),
            Ok("change") => Ok(Summary::Change),
            Ok(_) => Ok(Summary::Leave),
            Err(error) if error.is::<Back>() => Ok(Summary::Change),
            Err(error) => Err(error),
        }
    }
}
