//! `docsyncd run`: a daemon that answers the system and is rebuilt when its configuration changes.

use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::OptionFuture;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval, sleep};
use tokio_util::sync::CancellationToken;

use super::health_check::check;
use super::parts::{Connecting, Parts, clients, secrets_of_destinations};
use super::refused;
use super::{Daemon, DaemonError, introduce};
use crate::api::Transport;
use crate::config::{Config, Loaded};
use crate::ledger::{Ledger, Lock, history, now, polls};
use crate::pipeline::Shared;
use crate::surfaces::alerts::{Alerts, Channels};
use crate::system::service::{ConfigWatch, News, Request, Supervisor};

/// How long a reload may take before the system's watchdog counts it as hanging. [`super::DRAIN_LIMIT`], the renewals
/// of tokens and the spool's disk bound the work in flight.
const RELOAD_LIMIT: Duration = Duration::from_secs(5 * 60);
/// How long to wait after the ledger failed.
const LEDGER_PAUSE: Duration = Duration::from_secs(2);

/// A daemon that is rebuilt when the configuration changes, until it is told to stop.
pub struct Server<R, L> {
    /// The configuration in force.
    pub loaded: Loaded,
    /// The ledger, and the lock that gives the right to it.
    pub ledger: (Ledger, Lock),
    /// The requests of the system.
    pub requests: mpsc::UnboundedReceiver<Request>,
    /// Reads the configuration again.
    pub reload: R,
    /// Called with each configuration that comes into force, also with the first.
    pub applied: L,
    /// Receives the state of the service.
    pub supervisor: Arc<dyn Supervisor>,
}

impl<R, L> Server<R, L>
where
    R: FnMut() -> Result<Loaded, String>,
    L: FnMut(&Loaded),
{
    /// Runs until a request to stop, then drains.
    ///
    /// # Errors
    /// [`DaemonError`]: the daemon cannot be built, or the ledger broke.
    pub async fn serve(mut self, config_path: &Path, connecting: Connecting) -> Result<(), DaemonError> {
        let ledger = self.ledger.0.clone();
        introduce(&ledger, &self.loaded, polls::of_service(&self.loaded.config.state.path)).await?;
        refused::note(&ledger, config_path, &self.loaded, None).await;
        let mut daemon = Daemon::start(&self.loaded.config, connecting, ledger.clone(), None, false).await?;
        let mut alerts = Alerts::start(&self.loaded.config, &ledger).map_err(DaemonError::Transport)?;
        (self.applied)(&self.loaded);
        self.announce();
        let mut watch = ConfigWatch::new(config_path, self.loaded.file_sha256.clone());
        daemon.start_polls();
        daemon.start_listeners(&self.loaded.config);
        self.supervisor.tell(&News::Ready);
        let mut ticks = self.supervisor.listens_every().map(ticks);
        let mut told: Option<JoinHandle<()>> = None;
        let mut put_off = None;
        let running = loop {
            let request = tokio::select! {
                biased;
                Some(request) = std::future::ready(put_off.take()) => request,
                () = next(&mut ticks) => {
                    // One message at a time, in a task of its own: a ledger that hangs must not prevent a stop.
                    if told.as_ref().is_none_or(JoinHandle::is_finished) {
                        told = Some(tokio::spawn(tell(self.supervisor.clone(), daemon.context.clone())));
                    }
                    continue;
                }
                request = self.requests.recv() => request.unwrap_or(Request::Stop),
                () = watch.changed() => Request::Reload,
                () = alerts.broken() => {
                    alerts.drain().await;
                    alerts = Alerts::start(&self.loaded.config, &ledger).map_err(DaemonError::Transport)?;
                    continue;
                }
                error = daemon.failed() => {
                    tracing::error!(event = "ledger_failed", "{error}");
                    alerts.ledger_failed().await;
                    daemon.drain().await;
                    return Err(error.into());
                }
            };
            match request {
                Request::Stop => break Some(daemon),
                Request::PollNow => daemon.poll_now(),
                Request::Reload => {
                    self.supervisor.tell(&News::Reloading);
                    let before = self.loaded.file_sha256.clone();
                    let (reloaded, refused, asked) = self.reload_and_hear(daemon, &ledger, &mut ticks).await?;
                    let Some(reloaded) = reloaded else { break None };
                    (daemon, put_off) = (reloaded, asked);
                    refused::note(&ledger, config_path, &self.loaded, refused.as_deref()).await;
                    if self.loaded.file_sha256 != before {
                        watch.was_read(&self.loaded.file_sha256);
                    }
                    alerts.drain().await;
                    alerts = Alerts::start(&self.loaded.config, &ledger).map_err(DaemonError::Transport)?;
                    self.supervisor.tell(&News::Ready);
                }
            }
        };
        self.supervisor.tell(&News::Stopping);
        self.supervisor.tell(&News::Doing("finishing what is in flight".to_owned()));
        tracing::info!(event = "stopping", "stopping: what is in flight is finished first");
        refused::take_away(config_path);
        tokio::join!(OptionFuture::from(running.map(Daemon::drain)), alerts.drain());
        if let Err(error) = ledger.write(polls::end).await {
            tracing::debug!(event = "polls_not_recorded", "{error}");
        }
        tracing::info!(event = "stopped", "stopped");
        Ok(())
    }

    /// Runs [`Self::reload`] and hears the system meanwhile, because work in flight may take long to finish. Returns
    /// also the next request.
    async fn reload_and_hear(
        &mut self,
        running: Daemon,
        ledger: &Ledger,
        ticks: &mut Option<Interval>,
    ) -> Result<(Option<Daemon>, Option<String>, Option<Request>), DaemonError> {
        let (supervisor, stop, until) =
            (self.supervisor.clone(), CancellationToken::new(), Instant::now() + RELOAD_LIMIT);
        // The reload needs the rest of `self`.
        let mut requests = std::mem::replace(&mut self.requests, mpsc::unbounded_channel().1);
        let mut asked = None;
        let (reloaded, refused) = {
            let mut reload = pin!(self.reload(running, ledger, &stop));
            loop {
                tokio::select! {
                    reloaded = &mut reload => break reloaded?,
                    () = next(ticks), if Instant::now() < until => supervisor.tell(&News::Alive),
                    request = requests.recv(), if !stop.is_cancelled() => match request.unwrap_or(Request::Stop) {
                        Request::Stop => {
                            stop.cancel();
                            asked = Some(Request::Stop);
                        }
                        request => asked = asked.filter(|asked| *asked == Request::Reload).or(Some(request)),
                    },
                }
            }
        };
        self.requests = requests;
        Ok((reloaded, refused, asked))
    }

    /// A daemon with the new configuration, or the old daemon if the new configuration cannot be used. `None` if
    /// docsyncd has to stop before there is one. Returns also why the new configuration is refused.
    async fn reload(
        &mut self,
        running: Daemon,
        ledger: &Ledger,
        stop: &CancellationToken,
    ) -> Result<(Option<Daemon>, Option<String>), DaemonError> {
        let new = match (self.reload)().and_then(|new| usable(&self.loaded, new)) {
            Ok(new) => new,
            Err(whole) => {
                // The first line says what is wrong; what to do follows.
                let reason = whole.split('\n').next().unwrap_or_default();
                let reason = reason.split(". ").next().unwrap_or_default().trim_end_matches('.');
                tracing::error!(
                    event = "reload_refused",
                    reason,
                    "the new configuration is refused and the old one stays: {reason} (docsyncd check says what to do)"
                );
                return Ok((Some(running), Some(whole)));
            }
        };
        running.drain().await;
        let (started, why) = match start_again(&new.config, true, ledger, stop).await {
            Err(error) => {
                tracing::error!(
                    event = "reload_refused",
                    "the new configuration cannot be used, the old one stays: {error}"
                );
                (start_again(&self.loaded.config, false, ledger, stop).await?, Some(error.to_string()))
            }
            Ok(started) => (started, None),
        };
        let Some(mut daemon) = started else { return Ok((None, None)) };
        if why.is_none() {
            self.loaded = new;
            record(&mut daemon, self.loaded.sha256()).await;
            (self.applied)(&self.loaded);
            tracing::info!(event = "reloaded", "the new configuration is in force");
            self.announce();
        }
        daemon.start_polls();
        daemon.start_listeners(&self.loaded.config);
        Ok((Some(daemon), why))
    }

    fn announce(&self) {
        let config = &self.loaded.config;
        for warning in &self.loaded.warnings {
            tracing::warn!(event = "config_warning", "{warning}");
        }
        tracing::info!(
            event = "started",
            version = env!("CARGO_PKG_VERSION"),
            accounts = config.accounts.len(),
            destinations = config.destinations.len(),
            poll_interval_ms = u64::try_from(config.sync.poll_interval.as_millis()).unwrap_or(u64::MAX),
            "docsyncd runs"
        );
    }
}

/// Starts a daemon with this configuration. If it `is_new`, all of it has to be usable. While the ledger cannot be
/// written (a full disk), tries again. `None` if docsyncd has to stop.
async fn start_again(
    config: &Config,
    is_new: bool,
    ledger: &Ledger,
    stop: &CancellationToken,
) -> Result<Option<Daemon>, DaemonError> {
    while !stop.is_cancelled() {
        let starting = async {
            let connecting = Connecting::begin(config);
            if is_new {
                return Daemon::start(config, connecting, ledger.clone(), None, true).await;
            }
            let parts = Parts::of(config, &connecting.ready().await?)?;
            let mut old = Daemon::assemble(parts, ledger.clone(), None, true).await?;
            old.follow_patients(config).await?;
            Ok(old)
        };
        match starting.await {
            Err(DaemonError::Ledger(error)) if error.is_transient() => {
                tracing::error!(event = "ledger_failed", "{error}; trying again");
                stop.run_until_cancelled(sleep(LEDGER_PAUSE)).await;
            }
            started => return started.map(Some),
        }
    }
    Ok(None)
}

/// Records which configuration is in force. If the ledger cannot be written now, tries again beside the work.
async fn record(daemon: &mut Daemon, sha256: String) {
    let context = daemon.context.clone();
    let write = move |sha256: String| {
        let ledger = context.edges.ledger.clone();
        async move { ledger.write(move |db| history::configuration(db, now(), &sha256)).await }
    };
    let Err(error) = write(sha256.clone()).await else { return };
    tracing::error!(event = "ledger_failed", "{error}; trying again");
    let stop = daemon.context.signals.stop.clone();
    daemon.tasks.keep("configuration", move || {
        let (stop, write, sha256) = (stop.clone(), write.clone(), sha256.clone());
        async move {
            while stop.run_until_cancelled(sleep(LEDGER_PAUSE)).await.is_some() && write(sha256.clone()).await.is_err()
            {
            }
        }
    });
}

fn ticks(period: Duration) -> Interval {
    let mut ticks = interval(period.max(Duration::from_millis(10)));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

/// Waits for the next tick; for ever if there are no ticks.
async fn next(ticks: &mut Option<Interval>) {
    match ticks {
        Some(ticks) => {
            ticks.tick().await;
        }
        None => std::future::pending().await,
    }
}

/// Tells the system that the work goes on, and what it is. Stays silent if the work does not go on.
async fn tell(supervisor: Arc<dyn Supervisor>, context: Shared) {
    match check(&context).await {
        Ok(doing) => {
            supervisor.tell(&News::Alive);
            supervisor.tell(&News::Doing(doing));
        }
        Err(what) => {
            tracing::error!(
                event = "hangs",
                "{what}: systemd restarts it; elsewhere restart the service. Please report this"
            )
        }
    }
}

/// Checks that a new configuration can replace the old one in a running daemon.
fn usable(old: &Loaded, new: Loaded) -> Result<Loaded, String> {
    if new.config.state.path != old.config.state.path {
        return Err("state.path cannot change while docsyncd runs: restart it".to_owned());
    }
    let transport = Transport::new(&new.config.api)?;
    clients(&transport, &new.config).map_err(|error| error.to_string())?;
    secrets_of_destinations(&new.config).map_err(|error| error.to_string())?;
    Channels::of(&new.config)?;
    Ok(new)
}
