//! `docsyncd service …`: the system's service, on Windows by its service controller, on Linux by systemd.

use std::path::Path;

use super::Outcome;
use crate::cli::ServiceCommand;

#[cfg(windows)]
pub(super) fn service(config: &Path, command: ServiceCommand) -> Outcome {
    windows::service(config, command)
}

#[cfg(unix)]
pub(super) fn service(_config: &Path, command: ServiceCommand) -> Outcome {
    unix::service(command)
}

#[cfg(windows)]
mod windows {
    use std::path::{Path, PathBuf};

    use anyhow::Context as _;

    use super::super::output::{complain, print};
    use super::super::{Exit, Outcome, run};
    use super::ServiceCommand;
    use crate::config::{self, default_path};
    use crate::private;
    use crate::service::windows::{self, Started, Stopped};

    pub(super) fn service(config: &Path, command: ServiceCommand) -> Outcome {
        match command {
            ServiceCommand::Install { start } => install(config, start),
            ServiceCommand::Uninstall => match windows::uninstall()? {
                true => print("the service is removed; configuration, ledger and logs stay\n"),
                false => print("there was no service\n"),
            },
            ServiceCommand::Start => match windows::start()? {
                Started::Now => print("the service runs\n"),
                Started::Already => print("the service runs already\n"),
            },
            ServiceCommand::Stop => match windows::stop()? {
                Stopped::Now => print("the service has stopped\n"),
                Stopped::Already => print("the service does not run\n"),
            },
            ServiceCommand::Status => match windows::status()? {
                Some((runs, text)) => print(&text).map(|_| if runs { Exit::Done } else { Exit::Failed }),
                None => {
                    complain("docsyncd: the service is not installed: docsyncd service install");
                    Ok(Exit::Failed)
                }
            },
        }
    }

    fn install(config: &Path, start: bool) -> Outcome {
        let program = std::env::current_exe().context("cannot find out where this program lies")?;
        let config = std::path::absolute(config).context("cannot find out where the configuration lies")?;
        let left_out = windows::install(&program, &config)?;
        // After the service is there: its account is one of those that the folders are opened for.
        let mut text = prepare_files(&config);
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
            // It is installed all the same: the installer must not take everything back.
            if let Err(error) = windows::start() {
                complain(&format!("docsyncd: {error}"));
            }
        }
        Ok(Exit::Done)
    }

    /// The configuration, where there is none yet, and the folders, closed to others.
    fn prepare_files(config: &Path) -> String {
        let mut text = String::new();
        let mut folders: Vec<PathBuf> = Vec::new();
        // A folder that somebody chose may hold more than ours, so only our own is closed.
        if let Some(ours) = default_path().parent() {
            folders.push(ours.to_path_buf());
        }
        for folder in &folders {
            let closed = match private::create_folder(folder) {
                Ok(true) => Ok(()),
                Ok(false) => private::protect_folder(folder),
                Err(error) => Err(error),
            };
            if let Err(error) = closed {
                text.push_str(&format!("{} could not be closed to others: {error}\n", folder.display()));
            }
        }
        if !config.exists() {
            let written = config.parent().map_or(Ok(()), private::create_folders);
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
    use std::process::ExitStatus;

    use anyhow::Context as _;

    use super::super::output::{complain, print};
    use super::super::{Exit, Outcome};
    use super::ServiceCommand;
    use crate::service::systemctl::{self, UNIT, systemctl};

    pub(super) fn service(command: ServiceCommand) -> Outcome {
        if !systemctl::is_running() {
            complain(
                "docsyncd: this system was not started by systemd, and docsyncd knows no other manager of services here. \
                 Let yours run `docsyncd run`: it logs to standard error, reads its configuration again on SIGHUP, and \
                 ends with 0 on SIGTERM within 30 s, when what is in flight is finished",
            );
            return Ok(Exit::Failed);
        }
        if !systemctl::has_unit() {
            complain(&format!(
                "docsyncd: there is no {UNIT}: the deb and rpm packages of docsyncd bring it, with its user and its folders"
            ));
            return Ok(Exit::Failed);
        }
        match command {
            ServiceCommand::Install { .. } => {
                print(&format!("{UNIT} is installed by docsyncd's package; it is made to start with the system\n"))?;
                ran(&["enable"])
            }
            ServiceCommand::Uninstall => {
                ran(&["disable", "--now"])?;
                print("it no longer starts with the system; remove docsyncd's package to remove it\n")
            }
            ServiceCommand::Start => ran(&["start"]),
            ServiceCommand::Stop => ran(&["stop"]),
            ServiceCommand::Status => ran(&["status", "--no-pager"]),
        }
    }

    fn ran(words: &[&str]) -> Outcome {
        let status: ExitStatus = systemctl(words).context("cannot run systemctl")?;
        Ok(if status.success() { Exit::Done } else { Exit::Failed })
    }
}
