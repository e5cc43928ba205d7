//! The end of a setup: signing in, `docsyncd check`, and how the service is started.

use std::path::Path;

use super::super::output::{self, docsyncd, print, say};
use super::ask::Back;
use super::{Exit, Outcome, Setup, check, login};
use crate::config::{Auth, Loaded};
use crate::destinations::SCHEMA;
use crate::formats::language::Language;
use crate::ledger::is_locked;
use crate::system::readers::Reader;

impl Setup {
    /// Signs in if the account needs it, checks everything as the service would, and says how to start the service.
    pub(super) fn finish(mut self, path: &Path) -> Outcome {
        let loaded = SCHEMA.load_default_env(path)?;
        let by_browser =
            loaded.config.accounts.get(&self.account).is_some_and(|one| matches!(one.auth, Auth::OAuth(_)));
        if by_browser {
            self.sign_in(&loaded)?;
        }
        print(&format!("\n{}\n", docsyncd("check")))?;
        let Setup { service, ask, .. } = self;
        let language = ask.language();
        let exit = check_as(service.as_ref(), path, language)?;
        let mut end = match is_locked(&loaded.config.state.path) {
            true => format!("\n{}\n", with_command(language, "setup-runs-already", &docsyncd("status"))),
            false => how_to_start(path, exit == Exit::Done, service.as_ref(), language),
        };
        if loaded.config.status_page.is_some() {
            end.push_str(&format!("{}\n", with_command(language, "setup-open", &docsyncd("open"))));
        }
        say(&end)?;
        Ok(exit)
    }

    fn sign_in(&mut self, loaded: &Loaded) -> anyhow::Result<()> {
        let later = docsyncd(&format!("login --account {}", self.account));
        let choices = [
            ("browser", self.say("setup-sign-in-browser", &[])),
            ("paste", self.say("setup-sign-in-paste", &[])),
            ("later", self.say("setup-sign-in-later", &[("command", (&later).into())])),
        ];
        let default = Some(if self.ask.is_person() { "browser" } else { "later" }.to_owned());
        let question = self.question("sign_in", "setup-sign-in", &[("name", (&self.account).into())]).or(default);
        let no_browser = match self.ask.choose(&question, &choices) {
            // Everything is written already.
            Err(error) if error.is::<Back>() => return Ok(()),
            Ok("later") => return Ok(()),
            chosen => chosen? == "paste",
        };
        match login::login(loaded, Some(&self.account), no_browser, self.ask.language()) {
            Ok(_) => Ok(()),
            // What was written stays; the sign-in can be tried again.
            Err(error) => self.ask.refused("sign_in", &self.because("told-sign-in", &format!("{error:#}"))),
        }
    }
}

/// Runs `docsyncd check` as the service's user, with all groups of that user, because root may do what that user may
/// not.
fn check_as(service: Option<&Reader>, path: &Path, language: Language) -> Outcome {
    let path = std::path::absolute(path)?;
    if let Some(user) = service.filter(|user| cfg!(unix) && user.uid != Some(0)) {
        let mut command = std::process::Command::new("runuser");
        command.args(["-u", &user.name, "--"]).arg(std::env::current_exe()?);
        command.arg("--config").arg(&path).args(["check", "--lang", language.as_str()]);
        // That user may be unable to enter the present folder. The hints are for the person who ran setup.
        command.current_dir("/").env("SUDO_USER", "root");
        if output::is_only_json() {
            command.stdout(std::process::Stdio::null());
        }
        match command.status().map(|status| status.code()) {
            Ok(Some(0)) => return Ok(Exit::Done),
            Ok(Some(1)) => return Ok(Exit::Failed),
            Ok(Some(2)) => return Ok(Exit::Usage),
            // There is no runuser, or that user cannot reach the program.
            _ => print(&format!("{}\n", language.fill("setup-tried-as-root", &[("user", (&user.name).into())])))?,
        };
    }
    check::check_in(&path, false, language)
}

fn with_command(language: Language, text: &str, command: &str) -> String {
    language.fill(text, &[("command", command.into())])
}

#[cfg(unix)]
fn how_to_start(path: &Path, good: bool, service: Option<&Reader>, language: Language) -> String {
    use super::super::output::docsyncd_as;
    use crate::system::service::systemctl::{self, Unit};
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let unit = Unit::that_reads(&absolute, &crate::config::default_path()).filter(|unit| unit.is_there());
    let (keys, commands) = match unit {
        Some(unit) if systemctl::is_running() => (
            ["setup-start", "setup-what-it-does"],
            [format!("sudo systemctl enable --now {}", unit.name), format!("systemctl status {}", unit.name)],
        ),
        _ => {
            let typed = |what| match service {
                Some(user) => docsyncd_as(Some(&user.name), what),
                None => docsyncd(what),
            };
            (["setup-once", "setup-until"], [typed("sync"), typed("run")])
        }
    };
    lines(good, language, keys, &commands)
}

#[cfg(windows)]
fn how_to_start(_: &Path, good: bool, _: Option<&Reader>, language: Language) -> String {
    let commands = [docsyncd("service start"), docsyncd("service install")];
    lines(good, language, ["setup-start", "setup-install"], &commands)
}

/// Both commands, with a sentence before them if something is to be mended first.
fn lines(good: bool, language: Language, texts: [&str; 2], commands: &[String; 2]) -> String {
    let first = if good { String::new() } else { language.text("setup-fail-first") + " " };
    let lines = texts.iter().zip(commands).map(|(text, command)| with_command(language, text, command) + "\n");
    format!("\n{first}{}", lines.collect::<String>())
}
