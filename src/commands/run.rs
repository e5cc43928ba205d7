//! `docsyncd run`: the daemon in the foreground.

use std::io;
use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;

use super::output::complain;
use super::{Exit, Outcome, runtime};
use crate::config::{self, LogConfig};
use crate::daemon::Server;
use crate::ledger::Ledger;
use crate::logging::{self, LevelHandle};
use crate::service;

/// How long threads that hang (a share that does not answer) are waited for at the very end.
const THREADS_LIMIT: Duration = Duration::from_millis(500);

pub(super) fn run(path: &Path) -> Outcome {
    let loaded = config::load_default_env(path)?;
    let level = logging::start(&loaded.config.log, io::stderr)?;
    let started_with = loaded.config.log.clone();
    let runtime = runtime()?;
    let served = runtime.block_on(async {
        let requests = service::requests().context("cannot listen for signals")?;
        let ledger = Ledger::open_exclusive(&loaded.config.state.path)?;
        let server = Server {
            loaded,
            ledger,
            requests,
            reload: || config::load_default_env(path).map_err(|error| error.to_string()),
            applied: |new: &config::Loaded| apply_log(&level, &started_with, &new.config.log),
            supervisor: service::supervisor(),
        };
        server.serve(path).await?;
        anyhow::Ok(Exit::Done)
    });
    runtime.shutdown_timeout(THREADS_LIMIT);
    if let Err(error) = &served {
        tracing::error!(event = "ended", "{error:#}");
        if started_with.file.is_some() {
            complain("docsyncd: the log file has the details");
        }
    }
    served
}

/// Of a new `[log]` only the level can be changed in a running daemon.
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
