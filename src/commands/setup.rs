//! `docsyncd setup`: asks what is needed, tries each answer at once, and writes everything at the end.
//!
//! A step asks, puts the answer into the [`Draft`] and tries it; an answer that fails is said and asked for again, or
//! ends the setup when it came from a file. Nothing is written before the last question is answered. Run again it
//! changes what is there.
//!
//! New types of destinations need a file in `config/presets` only (`presets.rs`); further steps are added to
//! [`questions`].

mod account;
mod alarms;
mod ask;
mod confirm;
mod destination;
mod draft;
mod edit;
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

use super::output::{completed, docsyncd, folded, place_lines, print, terminal_width};
use super::{Exit, Outcome, UsageError, check, login, preview, runtime};
use crate::api::{self, Transport};
use crate::config::{Auth, ConfigError, Loaded};
use crate::ledger::is_locked;
use crate::readers::Reader;
use ask::{Answers, Ask, BACK, Back, Question, terminal};
use draft::{Draft, in_words, plainly};
use write::Rights;

/// Names of files that are shown before anything is written.
const SHOWN: usize = 3;

/// A setup under way.
struct Setup {
    draft: Draft,
    ask: Box<dyn Ask>,
    runtime: Runtime,
    /// Whom the service will run as, where that is another than who sets it up.
    service: Option<Reader>,
    /// NAME of the account and of the destination that are set up.
    account: String,
    destination: String,
    rights: Option<Rights>,
}

/// What becomes of the answers.
enum Summary {
    Write,
    Change,
    Leave,
}

pub(super) fn setup(path: &Path, answers: Option<&Path>) -> Outcome {
    let ask: Box<dyn Ask> = match answers {
        Some(file) => Box::new(Answers::read(file)?),
        None => terminal()?,
    };
    write::may_write(path).map_err(anyhow::Error::msg)?;
    let draft = Draft::begin(path)?;
    print(&match &draft.before {
        Some(_) => format!("{} is changed; its comments stay as they are.\n", draft.path.display()),
        None => format!("{} is going to be written.\n", draft.path.display()),
    })?;
    let setup_asks = ask.is_person();
    let words =
        "Every answer is tried at once. Nothing is written before the end; Ctrl-C leaves everything as it is.\n\n";
    let words = match setup_asks {
        true => format!("{} Esc or {BACK} goes back to the question before.\n\n", words.trim_end()),
        false => words.to_owned(),
    };
    print(&folded(&words, terminal_width()))?;
    let (account, destination) = (String::new(), String::new());
    let mut setup = Setup { draft, ask, runtime: runtime()?, service: None, account, destination, rights: None };
    setup.questions()?;
    loop {
        match setup.summary()? {
            Summary::Write => break,
            Summary::Change => setup.change_an_answer()?,
            Summary::Leave => {
                print("Nothing was written.\n")?;
                return Ok(Exit::Failed);
            }
        }
    }
    for line in write::write(&setup.draft, setup.rights.as_ref(), setup.service.as_ref())? {
        print(&folded(&format!("  {line}\n"), terminal_width()))?;
    }
    setup.finish(path)
}

impl Setup {
    /// The configuration so far, for an answer to `key`; `None` when the answer was refused.
    fn loaded(&mut self, key: &str) -> anyhow::Result<Option<Loaded>> {
        match self.draft.loaded() {
            Ok(loaded) => Ok(Some(loaded)),
            Err(error) => {
                self.refused(key, &error)?;
                Ok(None)
            }
        }
    }

    /// An answer makes a configuration that is wrong. Names of settings are for whoever writes a file.
    fn refused(&mut self, key: &str, error: &ConfigError) -> anyhow::Result<()> {
        let why = if self.ask.is_person() { plainly(error) } else { in_words(error) };
        self.ask.refused(key, &why)
    }

    /// A text that has to be there.
    fn needed(&mut self, question: &Question<'_>) -> anyhow::Result<String> {
        loop {
            match self.ask.text(question)? {
                Some(text) => return Ok(text),
                None => self.ask.refused(question.key, "an answer is needed")?,
            }
        }
    }

    /// Not asked of a person: the packages' user, or root itself, is right.
    fn ask_for_service_user(&mut self) -> anyhow::Result<()> {
        let named = match self.ask.is_person() {
            true => None,
            false => self.ask.text(&Question { key: "service_user", words: "", help: "", default: None })?,
        };
        match service_user::find(named.as_deref()) {
            Ok(found) => self.service = found,
            Err(why) => self.ask.refused("service_user", &why)?,
        }
        Ok(())
    }

    fn ask_for_address(&mut self) -> anyhow::Result<()> {
        loop {
            let question = Question {
                key: "base_url",
                words: "Address of the cloud service:",
                help: "as its operator gives it, such as https://api.example.test",
                default: self.draft.current("api", None, "base_url"),
            };
            let address = self.needed(&question)?;
            let address = self.with_scheme(address)?;
            let before = self.draft.text.clone();
            self.draft.set("api", None, "base_url", address.as_str())?;
            let Some(loaded) = self.loaded("base_url")? else {
                self.draft.text = before;
                continue;
            };
            let transport = Transport::new(&loaded.config.api).map_err(UsageError)?;
            match self.runtime.block_on(api::greet(&transport)) {
                Ok(()) => return self.good("the service answers"),
                Err(error) => {
                    self.draft.text = before;
                    let hint = api::hint(&transport, &error);
                    self.ask.refused("base_url", &hint.unwrap_or_else(|| error.to_string()))?;
                }
            }
        }
    }

    /// A web address as it is meant where it does not say `https://`.
    fn with_scheme(&self, address: String) -> anyhow::Result<String> {
        if address.contains("://") {
            return Ok(address);
        }
        let address = format!("https://{address}");
        if self.ask.is_person() {
            self.good(&format!("{address} is meant"))?;
        }
        Ok(address)
    }

    /// A person is asked only where the default place cannot be used.
    fn ask_for_ledger(&mut self) -> anyhow::Result<()> {
        let mut wrong = None;
        loop {
            if wrong.is_some() || !self.ask.is_person() {
                let beside = self.draft.folder().join("state").join("ledger.sqlite3").display().to_string();
                let question = Question {
                    key: "state_path",
                    words: "Where may docsyncd keep its ledger:",
                    help: "a file on a local disk; which letter went where stands in it",
                    default: if self.ask.is_person() { Some(beside) } else { None },
                };
                if let Some(answer) = self.ask.text(&question)? {
                    self.draft.set("state", None, "path", answer.as_str())?;
                }
            }
            let Some(loaded) = self.loaded("state_path")? else { continue };
            let path = &loaded.config.state.path;
            wrong = service_user::can_keep_ledger(self.service.as_ref(), path).err();
            match &wrong {
                None => return Ok(()),
                Some(wrong) => self.ask.refused("state_path", wrong)?,
            }
        }
    }

    fn good(&self, what: &str) -> anyhow::Result<()> {
        print(&folded(&format!("    {what}\n"), terminal_width())).map(drop)
    }

    /// Shows what letters would be called, and asks whether that is to be written.
    fn summary(&mut self) -> anyhow::Result<Summary> {
        let loaded = self.draft.loaded()?;
        let shown = preview::examples(&loaded, SHOWN)?;
        let whose = match shown.of {
            preview::ExamplesOf::Waiting => "What waits would be filed as",
            preview::ExamplesOf::Known => "Letters would be filed as",
            preview::ExamplesOf::Invented => "No letter can be seen yet; an invented one would be filed as",
        };
        print(&format!("\n{whose}\n"))?;
        for place in &shown.places {
            print(&place_lines("  ", place, "", terminal_width()))?;
        }
        for warning in self.news(&loaded.warnings) {
            print(&folded(&format!("  note: {warning}\n"), terminal_width()))?;
        }
        print("\n")?;
        let words = format!("Write {}?", self.draft.path.display());
        let question = Question { key: "write", words: &words, help: "", default: None };
        if !self.ask.is_person() {
            return Ok(if self.ask.agree(&question, true)? { Summary::Write } else { Summary::Leave });
        }
        let choices = [
            ("write", "yes".to_owned()),
            ("change", "change an answer before".to_owned()),
            ("leave", "no, leave everything as it is".to_owned()),
        ];
        match self.ask.choose(&question, &choices) {
            Ok(0) => Ok(Summary::Write),
            Ok(1) => Ok(Summary::Change),
            Ok(_) => Ok(Summary::Leave),
            Err(error) if error.is::<Back>() => Ok(Summary::Change),
            Err(error) => Err(error),
        }
    }

    /// What is odd by these answers. What was odd before nobody asked about.
    fn news<'a>(&self, warnings: &'a [String]) -> Vec<&'a str> {
        // Lines move.
        fn what(warning: &str) -> &str {
            warning.split_once(": ").map_or(warning, |(_, what)| what)
        }
        let before = self.draft.before.as_deref().map(|text| {
            let path = &self.draft.path;
            crate::config::load_text(path, text, std::env::vars_os(), &[]).map(|loaded| loaded.warnings)
        });
        let before = before.and_then(Result::ok).unwrap_or_default();
        let is_new = |warning: &&String| !before.iter().any(|before| before.ends_with(what(warning)));
        warnings.iter().filter(is_new).map(|warning| what(warning)).collect()
    }

    /// Signs in where that is wanted, checks everything as the service would find it, and says how to start it.
    fn finish(mut self, path: &Path) -> Outcome {
        let loaded = crate::config::load_default_env(path)?;
        let by_browser =
            loaded.config.accounts.get(&self.account).is_some_and(|one| matches!(one.auth, Auth::OAuth(_)));
        if by_browser {
            self.sign_in(&loaded)?;
        }
        print(&format!("\n{}\n", docsyncd("check")))?;
        let Setup { service, .. } = self;
        let exit = check_as(service.as_ref(), path)?;
        let mut end = match is_locked(&loaded.config.state.path) {
            true => format!("\nThe daemon runs already, and goes on with this: {}\n", docsyncd("status")),
            false => how_to_start(path, exit == Exit::Done, service.as_ref()),
        };
        if loaded.config.status_page.is_some() {
            end.push_str(&format!("How it is, in the browser: {}\n", docsyncd("open")));
        }
        print(&folded(&completed(&end), terminal_width()))?;
        Ok(exit)
    }

    fn sign_in(&mut self, loaded: &Loaded) -> anyhow::Result<()> {
        let choices = [
            ("browser", "now, in the browser of this computer".to_owned()),
            ("paste", "now, in a browser elsewhere: the address is printed, and the answer pasted here".to_owned()),
            ("later", format!("later, with {}", docsyncd(&format!("login --account {}", self.account)))),
        ];
        let default = if self.ask.is_person() { "browser" } else { "later" };
        let words = format!("Sign account {} in:", self.account);
        let question = Question { key: "sign_in", words: &words, help: "", default: Some(default.to_owned()) };
        let no_browser = match self.ask.choose(&question, &choices) {
            // Everything is written.
            Err(error) if error.is::<Back>() => return Ok(()),
            Ok(2) => return Ok(()),
            chosen => chosen? == 1,
        };
        match login::login(loaded, Some(&self.account), no_browser) {
            Ok(_) => Ok(()),
            // What was written stands; it can be tried again.
            Err(error) => self.ask.refused("sign_in", &format!("{error:#}")),
        }
    }
}

/// `docsyncd check`, as the user that the service runs as, with all of that user's groups: root may do what that user
/// may not.
fn check_as(service: Option<&Reader>, path: &Path) -> Outcome {
    let path = std::path::absolute(path)?;
    if let Some(user) = service.filter(|user| cfg!(unix) && user.uid != Some(0)) {
        let mut command = std::process::Command::new("runuser");
        command.args(["-u", &user.name, "--"]).arg(std::env::current_exe()?);
        command.arg("--config").arg(&path).arg("check");
        // The folder that this was called in may be closed to that user; the hints are for who called it.
        command.current_dir("/").env("SUDO_USER", "root");
        match command.status().map(|status| status.code()) {
            Ok(Some(0)) => return Ok(Exit::Done),
            Ok(Some(1)) => return Ok(Exit::Failed),
            Ok(Some(2)) => return Ok(Exit::Usage),
            // There is no runuser, or the program lies where that user may not go.
            _ => print(&format!("(tried as root, not as {}, who could not run this program)\n", user.name))?,
        };
    }
    check::check(&path, false)
}

#[cfg(unix)]
fn how_to_start(path: &Path, good: bool, service: Option<&Reader>) -> String {
    use super::output::docsyncd_as;
    use crate::service::systemctl::{self, Unit};
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let unit = Unit::that_reads(&absolute, &crate::config::default_path()).filter(|unit| unit.is_there());
    let first = if good { "" } else { "Mend what says FAIL first. " };
    match unit {
        Some(unit) if systemctl::is_running() => {
            format!(
                "\n{first}Start the service: sudo systemctl enable --now {}\nWhat it does: systemctl status {0}\n",
                unit.name
            )
        }
        _ => {
            let typed = |what| match service {
                Some(user) => docsyncd_as(Some(&user.name), what),
                None => docsyncd(what),
            };
            format!("\n{first}File what waits, once: {}\nRun until it is stopped: {}\n", typed("sync"), typed("run"))
        }
    }
}

#[cfg(windows)]
fn how_to_start(_: &Path, good: bool, _: Option<&Reader>) -> String {
    let first = if good { "" } else { "Mend what says FAIL first. " };
    let (start, install) = (docsyncd("service start"), docsyncd("service install"));
    format!("\n{first}Start the service: {start}\nWhere the MSI did not install it: {install}\n")
}
