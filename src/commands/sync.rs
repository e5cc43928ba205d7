//! `docsyncd sync`: one pass until nothing is due, with progress on a terminal and plain lines otherwise.

use std::io::{self, IsTerminal as _};
use std::time::Duration;

use indicatif::ProgressBar;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tracing::level_filters::LevelFilter;

use super::harmless::harmless;
use super::output::{complain, print, progress_bar};
use super::{Exit, Outcome, as_root, asked_to_stop, runtime, told};
use crate::config::Loaded;
use crate::daemon::{Connecting, Daemon, DaemonError, introduce};
use crate::domain::failure::Scope;
use crate::domain::state::State;
use crate::formats::language::{Language, Reason};
use crate::ledger::{Ledger, LedgerError, now};
use crate::pipeline::Progress;
use crate::system::logging;
use crate::system::service;
use crate::views;

/// How long in total `sync` waits for retries that are due soon, so that a brief network problem does not leave a
/// document to the next run.
const PATIENCE: Duration = Duration::from_secs(5);
/// The most polls of one `sync`.
const MAX_PASSES: usize = 1000;
/// The shortest and the longest pause between two looks for work.
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);
const LOOK_INTERVAL: Duration = Duration::from_millis(100);
/// How long to wait at the end for threads that hang.
const THREADS_LIMIT: Duration = Duration::from_millis(500);

/// At a terminal also what root left. A log that a program reads stays one.
pub(super) fn at_a_terminal(loaded: &Loaded, language: Language) -> Outcome {
    if !std::io::stderr().is_terminal() {
        return sync(loaded, language);
    }
    as_root::warned(loaded, language, || sync(loaded, language))
}

fn sync(loaded: &Loaded, language: Language) -> Outcome {
    let view = View::new(language);
    let mut log = loaded.config.log.clone();
    if view.bar.is_some() && log.file.is_none() {
        log.level = log.level.min(LevelFilter::WARN);
    }
    logging::start(log.level, log.format, log.to_file(), BesideBar(view.bar.clone()))?;
    for warning in &loaded.warnings {
        tracing::warn!(event = "config_warning", "{warning}");
    }
    let runtime = runtime()?;
    let exit = runtime.block_on(pass(loaded, view, language));
    runtime.shutdown_timeout(THREADS_LIMIT);
    match exit {
        // If a daemon runs, nothing is wrong, and `run` has another text for it.
        Err(DaemonError::Ledger(LedgerError::InUse(ledger))) => {
            let file = ledger.display().to_string();
            Err(told::said(language.fill("sync-runs", &[("file", (&file).into())]), Exit::Failed))
        }
        exit => Ok(exit?),
    }
}

async fn pass(loaded: &Loaded, mut view: View, language: Language) -> Result<Exit, DaemonError> {
    let mut requests = service::requests()?;
    let connecting = Connecting::begin(&loaded.config);
    let (ledger, _lock) = Ledger::open_exclusive(&loaded.config.state.path)?;
    introduce(&ledger, loaded, None).await?;
    let (observer, mut progress) = unbounded_channel();
    let daemon = Daemon::start(&loaded.config, connecting, ledger.clone(), Some(observer), true).await?;
    let mut interrupted = false;
    let ended = tokio::select! {
        done = work(&daemon, &mut progress, &mut view) => done,
        () = asked_to_stop(&mut requests) => {
            interrupted = true;
            Ok(Vec::new())
        }
        error = daemon.failed() => Err(error),
    };
    // Also after an error, because a renewal of tokens that is cut off loses them.
    daemon.drain().await;
    let wrong = ended?;
    while let Ok(event) = progress.try_recv() {
        view.show(&event);
    }
    view.end();
    let summary = ledger.read(views::summary).await?;
    let told = |reason: &Reason| match language {
        Language::English => reason.text.clone(),
        language => language.reason(reason),
    };
    for (account, reason) in &wrong {
        let known = summary.accounts.iter().find(|known| known.account == *account && language != Language::English);
        let why = known.and_then(|known| known.poll_error.as_ref()).map_or_else(|| reason.clone(), told);
        let values = [("name", account.into()), ("why", why.trim_end_matches('.').into())];
        complain(&format!("docsyncd: {}", language.fill("sync-account", &values)));
    }
    let reported = summary.documents.get("reported").copied().unwrap_or(0);
    let (waiting, failed) = (summary.waiting, summary.failed);
    let numbers = [("now", view.reported), ("reported", reported), ("failed", failed), ("waiting", waiting)];
    let said = print(&format!("{}\n", language.fill("sync-done", &numbers.map(|(name, count)| (name, count.into())))));
    // The reason why an account could not be polled was already said.
    let said_already =
        |scope: &str| wrong.iter().any(|(account, _)| scope == Scope::Account(account.clone()).to_string());
    for pause in summary.pauses.iter().filter(|pause| !said_already(&pause.scope)) {
        let (scope, why) = (language.scope(&pause.scope), told(&pause.reason));
        let values = [("scope", (&scope).into()), ("why", why.trim_end_matches('.').into())];
        complain(&format!("docsyncd: {}", language.fill("sync-paused", &values)));
    }
    if view.unreadable > 0 {
        let count = u64::try_from(view.unreadable).unwrap_or(u64::MAX);
        complain(&format!("docsyncd: {}", language.fill("sync-unreadable", &[("count", count.into())])));
    }
    let unfinished = waiting > 0 || failed > 0 || view.unreadable > 0;
    Ok(match said {
        Err(_) => Exit::Failed,
        Ok(_) if interrupted || !wrong.is_empty() => Exit::Failed,
        Ok(_) if unfinished => Exit::Unfinished,
        Ok(_) => Exit::Done,
    })
}

/// Polls and works until nothing is due and a poll finds nothing new. A server may show more only after the first
/// documents were reported. Returns the accounts that could not be polled, with the reasons.
async fn work(
    daemon: &Daemon,
    progress: &mut UnboundedReceiver<Progress>,
    view: &mut View,
) -> Result<Vec<(String, String)>, LedgerError> {
    let mut patience = PATIENCE;
    let mut wrong = Vec::new();
    for _ in 0..MAX_PASSES {
        let poll = daemon.poll_once(patience);
        tokio::pin!(poll);
        let polled = loop {
            tokio::select! {
                polled = &mut poll => break polled?,
                Some(event) = progress.recv() => view.show(&event),
            }
        };
        wrong = polled.wrong;
        until_nothing_is_due(daemon, progress, view, &mut patience).await?;
        if polled.found == 0 || !wrong.is_empty() {
            break;
        }
    }
    daemon.look_for_ended().await;
    // It may have shown a new version.
    until_nothing_is_due(daemon, progress, view, &mut patience).await?;
    Ok(wrong)
}

async fn until_nothing_is_due(
    daemon: &Daemon,
    progress: &mut UnboundedReceiver<Progress>,
    view: &mut View,
    patience: &mut Duration,
) -> Result<(), LedgerError> {
    while let Some(at) = daemon.next_work().await? {
        let wait = Duration::from_millis(u64::try_from(at.saturating_sub(now())).unwrap_or(0));
        if wait > *patience {
            break;
        }
        let before = tokio::time::Instant::now();
        let look_again = tokio::time::sleep(wait.clamp(BETWEEN_LOOKS, LOOK_INTERVAL));
        tokio::pin!(look_again);
        loop {
            tokio::select! {
                () = &mut look_again => break,
                Some(event) = progress.recv() => view.show(&event),
            }
            if view.open == 0 {
                break;
            }
        }
        if !wait.is_zero() {
            *patience = patience.saturating_sub(before.elapsed());
        }
    }
    Ok(())
}

/// What a person sees: a bar on a terminal, otherwise a line for each document that ended.
struct View {
    language: Language,
    bar: Option<ProgressBar>,
    reported: u64,
    /// How many of the documents that were found have not ended. Those of an earlier run are not among them.
    open: i64,
    /// The most documents of one page without a usable identifier.
    unreadable: usize,
}

impl View {
    fn new(language: Language) -> Self {
        let bar = progress_bar(&language.text("sync-documents"));
        if let Some(bar) = &bar {
            bar.enable_steady_tick(Duration::from_millis(120));
        }
        Self { language, bar, reported: 0, open: 0, unreadable: 0 }
    }

    fn show(&mut self, event: &Progress) {
        match event {
            Progress::Found(count) => {
                self.open = self.open.saturating_add_unsigned(*count);
                if let Some(bar) = &self.bar {
                    bar.inc_length(*count);
                }
            }
            Progress::Unreadable(count) => self.unreadable = self.unreadable.max(*count),
            Progress::Moved { state, .. } if state.is_open() => {
                if let Some(bar) = &self.bar {
                    bar.set_message(self.language.state(state.as_str()));
                }
            }
            Progress::Moved { uuid, account, state, reason } => {
                self.reported += u64::from(*state == State::Reported);
                self.open -= 1;
                let why = match (reason, self.language) {
                    (None, _) => String::new(),
                    (Some(reason), Language::English) => format!(": {reason}"),
                    // The exact reason is English.
                    (Some(reason), _) => format!(" ({reason})"),
                };
                let line = format!("{:<10} {uuid} ({account}){why}", self.language.state(state.as_str()));
                match &self.bar {
                    Some(bar) => {
                        bar.inc(1);
                        if state.is_failure() {
                            bar.println(harmless(&line));
                        }
                    }
                    // If the reader went away, the synchronization continues.
                    None => drop(print(&format!("{line}\n"))),
                }
            }
        }
    }

    fn end(&self) {
        logging::flush();
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Writes log lines above the bar instead of into it.
struct BesideBar(Option<ProgressBar>);

impl io::Write for BesideBar {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        match &self.0 {
            Some(bar) => bar.suspend(|| io::stderr().write(line)),
            None => io::stderr().write(line),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
