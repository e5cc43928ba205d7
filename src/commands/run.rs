//! `docsyncd run`: the daemon in the foreground, or as the service of Windows.

use std::io;
use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use tokio::sync::mpsc::UnboundedReceiver;

use super::output::complain;
use super::{Exit, Outcome, exit_of, runtime};
use crate::config::{self, LogConfig};
use crate::daemon::{Connecting, Server};
use crate::destinations::SCHEMA;
use crate::ledger::Ledger;
use crate::system::logging::{self, LevelHandle};
use crate::system::service::{self, Request};

/// How long to wait at the end for threads that hang (a share that does not answer).
const THREADS_LIMIT: Duration = Duration::from_millis(500);

/// Runs in the foreground.
pub(super) fn run(path: &Path) -> Outcome {
    let loaded = SCHEMA.load_default_env(path)?;
    let log = &loaded.config.log;
    let level = logging::start(log.level, log.format, log.to_file(), io::stderr())?;
    let has_file = log.file.is_some();
    let served = serve(path, loaded, level, || service::requests().context("cannot listen for signals"), || {});
    let Err(error) = served else { return served };
    tracing::error!(event = "ended", "{error:#}");
    if has_file {
        complain("docsyncd: the log file has the details");
    }
    // A log line on standard error has already said it.
    if has_file { Err(error) } else { Ok(exit_of(&error)) }
}

/// Runs until it is told to stop. `requests` is called inside the runtime. `ready` is called whenever a configuration
/// comes into force, the first time after the start.
fn serve(
    path: &Path,
    loaded: config::Loaded,
    level: LevelHandle,
    requests: impl FnOnce() -> anyhow::Result<UnboundedReceiver<Request>>,
    mut ready: impl FnMut(),
) -> Outcome {
    let started_with = loaded.config.log.clone();
    let runtime = runtime()?;
    let served = runtime.block_on(async {
        let requests = requests()?;
        let connecting = Connecting::begin(&loaded.config);
        let ledger = Ledger::open_exclusive(&loaded.config.state.path)?;
        let server = Server {
            loaded,
            ledger,
            requests,
            reload: || SCHEMA.load_default_env(path).map_err(|error| error.in_short()),
            applied: |new: &config::Loaded| {
                apply_log(&level, &started_with, &new.config.log);
                ready();
            },
            supervisor: service::supervisor(),
        };
        server.serve(path, connecting).await?;
        anyhow::Ok(Exit::Done)
    });
    runtime.shutdown_timeout(THREADS_LIMIT);
    served
}

/// A running daemon can change only the level of `[log]`.
fn apply_log(level: &LevelHandle, started_with: &LogConfig, new: &LogConfig) {
    level.set(new.level);
    let rest = |log: &LogConfig| (log.format, log.file.clone(), log.max_size, log.max_files);
    if rest(new) != rest(started_with) {
        tracing::warn!(
            event = "config_warning",
            "what changed in [log] besides `level` takes effect when docsyncd is started again"
        );
    }
}

#[cfg(not(windows))]
pub(super) fn as_service(_: &Path) -> Outcome {
    Err(super::UsageError("`run --service` is for Windows; here the service runs `docsyncd run`".to_owned()).into())
}

#[cfg(windows)]
pub(super) use windows::{as_service, is_ready};

#[cfg(windows)]
mod windows {
    use std::path::Path;

    use super::super::{Exit, Outcome, UsageError, exit_of, planted};
    use super::{LogConfig, serve};
    use crate::config::Loaded;
    use crate::daemon;
    use crate::destinations::{SCHEMA, refused_drive};
    use crate::system::logging::{self, EventLog};
    use crate::system::service::windows::dispatch;

    /// Runs as the service: the service controller starts and stops it, and the Event Log gets its messages.
    pub(crate) fn as_service(path: &Path) -> Outcome {
        let path = path.to_path_buf();
        dispatch(Box::new(move |requests, mut ready| {
            let events = EventLog::open();
            let served = usable(&path).and_then(|loaded| {
                let log = with_file(&loaded);
                let level = logging::start_service(log.level, log.format, log.to_file(), &events)?;
                serve(&path, loaded, level, || Ok(requests), &mut ready)
            });
            let exit = match served {
                Ok(exit) => exit,
                Err(error) => {
                    tracing::error!(event = "ended", "{error:#}");
                    events.ended(&format!("{error:#}"));
                    exit_of(&error)
                }
            };
            // Before the system learns that the service has ended.
            logging::flush();
            exit as u8
        }))?;
        Ok(Exit::Done)
    }

    /// Without `log.file`, a service logs beside the ledger, because nobody reads its standard error.
    fn with_file(loaded: &Loaded) -> LogConfig {
        let mut log = loaded.config.log.clone();
        log.file.get_or_insert_with(|| loaded.config.state.path.with_file_name("docsyncd.log"));
        log
    }

    /// The configuration, if a service can work with it.
    fn usable(path: &Path) -> anyhow::Result<Loaded> {
        planted::refuse(path)?;
        let loaded = SCHEMA.load_default_env(path)?;
        for destination in loaded.config.destinations.values() {
            if let Some(wrong) = destination.of().and_then(refused_drive) {
                return Err(UsageError(wrong).into());
            }
        }
        Ok(loaded)
    }

    /// Checks that the service would start: the configuration is valid, and at least one account has its key or secret.
    pub(crate) fn is_ready(path: &Path) -> anyhow::Result<()> {
        let loaded = usable(path)?;
        let transport = crate::api::Transport::new(&loaded.config.api).map_err(UsageError)?;
        let accounts = loaded.config.accounts.values();
        let mut configured =
            accounts.map(|account| daemon::client(&transport, &loaded.config, account).credentials().configured());
        match configured.find(Result::is_ok) {
            Some(_) => Ok(()),
            None => Err(UsageError("no account has its key or secret".to_owned()).into()),
        }
    }
}
