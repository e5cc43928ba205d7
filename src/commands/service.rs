//! `docsyncd service …`: the system's service, with the service controller on Windows and systemd on Linux.

use std::path::Path;

use super::{Outcome, language, told};
use crate::commands::cli::{ServiceCommand, Spoken};
use crate::destinations::SCHEMA;
use crate::formats::language::Language;

pub(super) fn service(config: &Path, command: ServiceCommand, spoken: Spoken) -> Outcome {
    let language = language::of_loaded(spoken, &SCHEMA.load_default_env(config));
    told::ended(language, service_in(config, command, language))
}

pub(super) fn service_in(config: &Path, command: ServiceCommand, language: Language) -> Outcome {
    #[cfg(unix)]
    return unix::service(config, command, language);
    #[cfg(windows)]
    return windows::service(config, command, language);
}

#[cfg(windows)]
mod windows {
    use std::path::{Path, PathBuf};

    use anyhow::Context as _;

    use super::super::output::{complain, print};
    use super::super::{Exit, Outcome, planted, run, setup, webhooks};
    use super::{Language, ServiceCommand};
    use crate::config::{self, default_path};
    use crate::system::logging::EventLog;
    use crate::system::permissions;
    use crate::system::service::windows::{self, Started, Stopped};

    pub(super) fn service(config: &Path, command: ServiceCommand, language: Language) -> Outcome {
        let say = |text: &str| print(&format!("{}\n", language.text(&format!("service-windows-{text}"))));
        match command {
            ServiceCommand::Install { start, answers, if_there } => {
                install(config, start, answers.as_deref(), if_there)
            }
            ServiceCommand::Uninstall => match windows::uninstall()? {
                true => {
                    webhooks::remove_all(config);
                    say("removed")
                }
                false => say("none"),
            },
            ServiceCommand::Start => match windows::start()? {
                Started::Now => say("runs"),
                Started::Already => say("runs-already"),
            },
            ServiceCommand::Stop => match windows::stop()? {
                Stopped::Now => say("stopped"),
                Stopped::Already => say("runs-not"),
            },
            ServiceCommand::Status => match windows::status()? {
                Some((runs, text)) => print(&text).map(|_| if runs { Exit::Done } else { Exit::Failed }),
                None => {
                    complain(&format!("docsyncd: {}", language.text("service-windows-missing")));
                    Ok(Exit::Failed)
                }
            },
        }
    }

    fn install(config: &Path, start: bool, answers: Option<&Path>, if_there: bool) -> Outcome {
        let program = std::env::current_exe().context("cannot find out where this program lies")?;
        let config = std::path::absolute(config).context("cannot find out where the configuration lies")?;
        planted::refuse_within()?;
        if let Some(answers) = answers {
            match setup::first(&config, &unquoted(answers), if_there) {
                Ok(true) => {}
                Ok(false) => return Ok(Exit::Done),
                Err(error) => {
                    EventLog::open().answers_failed(&format!("docsyncd is not configured. {error:#}"));
                    return Err(error);
                }
            }
        }
        let left_out = windows::install(&program, &config)?;
        // After the service is installed, because its account is one of those that the folders are opened for.
        let mut text = prepare_files(&config);
        // From now on nobody else can put anything there. This checks what was put there before.
        planted::refuse_within()?;
        for what in left_out {
            text.push_str(&format!("this system went without: {what}\n"));
        }
        let ready = run::is_ready(&config);
        let hint = match (&ready, start) {
            (Ok(()), true) => "",
            (Ok(()), false) => "Start it: docsyncd service start\n",
            (Err(_), _) => "Edit the configuration, try it with docsyncd check, then: docsyncd service start\n",
        };
        print(&format!("{text}the service is installed, with {}\n{hint}", config.display()))?;
        if start && ready.is_ok() {
            // It stays installed, because the installer must not undo everything.
            if let Err(error) = windows::start() {
                complain(&format!("docsyncd: {error}"));
            }
        }
        Ok(Exit::Done)
    }

    /// The path without quotation marks. The installer puts them around its property, and after a backslash at the end
    /// of a folder such a mark counts as part of the name.
    fn unquoted(path: &Path) -> PathBuf {
        path.to_str().map_or(path, |text| Path::new(text.trim_end_matches('"'))).components().collect()
    }

    /// Creates a missing configuration, and docsyncd's own folder, closed to others.
    fn prepare_files(config: &Path) -> String {
        let mut text = String::new();
        // A folder that somebody chose may hold other files, so only docsyncd's own is closed.
        if let Some(folder) = default_path().parent() {
            let closed = match permissions::create_folder(folder) {
                Ok(true) => Ok(()),
                Ok(false) => permissions::protect_folder(folder),
                Err(error) => Err(error),
            };
            if let Err(error) = closed {
                text.push_str(&format!("{} could not be closed to others: {error}\n", folder.display()));
            }
        }
        if !config.exists() {
            let written = config.parent().map_or(Ok(()), permissions::create_folders);
            match written.and_then(|()| std::fs::write(config, config::template())) {
                Ok(()) => text.push_str(&format!("{} written: edit it\n", config.display())),
                Err(error) => text.push_str(&format!("{} could not be written: {error}\n", config.display())),
            }
        }
        text
    }
}

#[cfg(unix)]
mod unix {
    use std::path::{Path, PathBuf};

    use anyhow::Context as _;

    use super::super::output::{complain, docsyncd_as, print, say};
    use super::super::{Exit, Outcome, setup, told, webhooks};
    use super::{Language, ServiceCommand};
    use crate::config::default_path;
    use crate::destinations::SCHEMA;
    use crate::system::service::systemctl::{self, Unit};

    pub(super) fn service(config: &Path, command: ServiceCommand, language: Language) -> Outcome {
        if !systemctl::is_running() {
            complain(&format!("docsyncd: {}", language.text("service-no-systemd")));
            return Ok(Exit::Failed);
        }
        let config = std::path::absolute(config).context("cannot find out where the configuration lies")?;
        let unit = unit(&config, language)?;
        let of = |text: &str| language.fill(text, &[("unit", (&unit.name).into())]);
        if !unit.is_there() {
            complain(&format!("docsyncd: {}", of("service-no-unit")));
            return Ok(Exit::Failed);
        }
        match command {
            ServiceCommand::Install { start, answers, if_there } => {
                if let Some(answers) = answers
                    && !setup::first(&config, &answers, if_there)?
                {
                    return Ok(Exit::Done);
                }
                if systemctl::is_root()
                    && let Err(error) = unit.prepare(&written_into(&config))
                {
                    complain(&format!("docsyncd: {error}"));
                    return Ok(Exit::Failed);
                }
                let words: &[&str] = if start { &["enable", "--now"] } else { &["enable"] };
                after(ran(&unit, "install", words, language)?, || match start {
                    true => print(&format!("{}\n", of("service-installed-runs"))),
                    false => say(&format!("{}\n", of("service-installed"))),
                })
            }
            ServiceCommand::Uninstall => after(ran(&unit, "uninstall", &["disable", "--now"], language)?, || {
                webhooks::remove_all(&config);
                unit.forget();
                print(&format!("{}\n", of("service-uninstalled")))
            }),
            ServiceCommand::Start => {
                let ran = ran(&unit, "start", &["start"], language)?;
                after(ran, || print(&format!("{}\n", of("service-runs"))))
            }
            ServiceCommand::Stop => {
                let ran = ran(&unit, "stop", &["stop"], language)?;
                after(ran, || print(&format!("{}\n", of("service-runs-not"))))
            }
            ServiceCommand::Status => {
                let status = unit.systemctl(&["status", "--no-pager"]).context("cannot run systemctl")?;
                Ok(if status.success() { Exit::Done } else { Exit::Failed })
            }
        }
    }

    /// The folders that the service writes into besides its own; none if the configuration has errors, which `check`
    /// reports.
    fn written_into(config: &Path) -> Vec<PathBuf> {
        let Ok(loaded) = SCHEMA.load_default_env(config) else { return Vec::new() };
        let folders = loaded.config.destinations.values().filter_map(|destination| destination.settings.folder());
        let folders = folders.map(Path::to_path_buf);
        let log = loaded.config.log.file.as_deref().and_then(Path::parent).map(Path::to_path_buf);
        folders.chain(log).collect()
    }

    /// The unit for a configuration. It is a mistake in the call if no unit reads it.
    fn unit(config: &Path, language: Language) -> anyhow::Result<Unit> {
        let default = default_path();
        let folder = default.parent().unwrap_or(Path::new("/"));
        Unit::that_reads(config, &default).ok_or_else(|| {
            let [file, default, folder] = [config, &default, folder].map(|path| path.display().to_string());
            let values = [("file", (&file).into()), ("default", (&default).into()), ("folder", (&folder).into())];
            told::usage(language, "service-not-read", &values)
        })
    }

    /// Runs `systemctl`, and says what helps if that fails.
    fn ran(unit: &Unit, command: &str, words: &[&str], language: Language) -> Outcome {
        let status = unit.systemctl(words).context("cannot run systemctl")?;
        if status.success() {
            return Ok(Exit::Done);
        }
        if systemctl::is_root() {
            let said = language.fill("service-not-done", &[("unit", (&unit.name).into())]);
            complain(&format!("docsyncd: {said}"));
        } else {
            let command = docsyncd_as(Some("root"), &format!("service {command}"));
            let said = language.fill("service-only-root", &[("command", (&command).into())]);
            complain(&format!("docsyncd: {said}"));
        }
        Ok(Exit::Failed)
    }

    fn after(exit: Exit, say: impl FnOnce() -> Outcome) -> Outcome {
        if exit == Exit::Done { say() } else { Ok(exit) }
    }
}
