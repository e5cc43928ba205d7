//! The only wiring: builds the stages from a configuration, runs them, and drains them. Every entry point (`run`,
//! `sync`, the demo, the tests) builds the same daemon.

mod away;
mod follow;
mod health_check;
pub(crate) mod memory;
mod parts;
pub mod reconcile;
pub mod refused;
mod server;
mod tasks;
mod writable;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use thiserror::Error;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::api::Meaning;
use crate::api::auth::CredentialError;
use crate::config::{Config, Loaded};
use crate::destinations::Adapter;
use crate::ledger::{Ledger, LedgerError, Millis, deliveries, documents, history, now, pauses, polls, process, work};
use crate::pipeline::deliver::Deliver;
use crate::pipeline::discover::{self, PollError};
use crate::pipeline::fetch::Fetch;
use crate::pipeline::marks::{self, Marks};
use crate::pipeline::report::Report;
use crate::pipeline::spool::CleanError;
use crate::pipeline::{
    Context, Counters, Edges, Heartbeats, Lane, Nudges, Numbers, Outages, Pauses, Progress, Scope, Shared, Signals,
    after, confirm, patients, polling, prune,
};
use crate::surfaces::{web, webhook};
use crate::system::readers::as_whom;
use reconcile::turns;

use self::tasks::Tasks;

pub use parts::{Connecting, Parts, client};
pub use server::Server;

/// How long the work in flight may take to finish when the daemon stops or reloads. Service managers of containers kill
/// after 30 s.
pub const DRAIN_LIMIT: Duration = Duration::from_secs(25);
/// How many accounts begin their first polls together; the next ones begin later. Each poll takes a connection and
/// memory.
const POLLS_AT_ONCE: usize = 16;
const POLLS_APART: Duration = Duration::from_millis(100);

/// Why a daemon cannot be built or cannot go on.
#[derive(Debug, Error)]
pub enum DaemonError {
    /// Any error of the ledger.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The credentials of an account. The configuration has to be mended.
    #[error(transparent)]
    Credential(#[from] CredentialError),
    /// TLS, `api.ca_file` or `api.proxy`. The configuration has to be mended.
    #[error("{0}")]
    Transport(String),
    /// The secrets of a destination. The configuration has to be mended.
    #[error("{0}")]
    Destination(String),
    /// The spool's folder cannot be used.
    #[error(
        "the spool {} cannot be used{}: {error}. Check that its disk is mounted and has space",
        .folder.display(),
        as_whom()
    )]
    Spool {
        /// The spool's folder.
        folder: PathBuf,
        /// The error of the system.
        error: std::io::Error,
    },
    /// Signals, or the events of the console, cannot be received.
    #[error("signals cannot be received from this system: {0}")]
    Requests(#[from] std::io::Error),
}

impl DaemonError {
    /// Whether a person has to mend the configuration (exit code 2) rather than the machine (exit code 1).
    pub fn is_configuration(&self) -> bool {
        matches!(
            self,
            DaemonError::Credential(_)
                | DaemonError::Transport(_)
                | DaemonError::Destination(_)
                | DaemonError::Ledger(LedgerError::Moved { .. })
        )
    }
}

/// The running stages.
pub struct Daemon {
    context: Shared,
    adapters: BTreeMap<String, Arc<dyn Adapter>>,
    tasks: Tasks,
    fatal: tokio::sync::Mutex<mpsc::UnboundedReceiver<LedgerError>>,
}

/// What [`Daemon::poll_once`] found.
#[derive(Debug, Default)]
pub struct Polled {
    /// The number of new documents.
    pub found: u64,
    /// The accounts that could not be polled, with the reasons.
    pub wrong: Vec<(String, String)>,
}

impl Daemon {
    /// Builds the stages and starts them. Polls start with [`Self::start_polls`]. With `probe_now`, all that is paused
    /// is tried at once.
    ///
    /// # Errors
    /// [`DaemonError`]; nothing runs then.
    pub async fn start(
        config: &Config,
        connecting: Connecting,
        ledger: Ledger,
        observer: Option<mpsc::UnboundedSender<Progress>>,
        probe_now: bool,
    ) -> Result<Self, DaemonError> {
        parts::secrets_of_destinations(config)?;
        let parts = Parts::of(config, &connecting.ready().await?)?;
        let mut daemon = Self::assemble(parts, ledger, observer, probe_now).await?;
        daemon.follow_patients(config).await?;
        Ok(daemon)
    }

    /// Reads the practice's list of patients, and follows the changes of its file.
    ///
    /// # Errors
    /// Any error of the ledger.
    pub async fn follow_patients(&mut self, config: &Config) -> Result<(), LedgerError> {
        if let (Some(numbers), Some(config)) = (&self.context.edges.numbers, &config.patients) {
            numbers.patients.expect(patients::before(&self.context.edges.ledger).await?);
            let (list, used) = (numbers.patients.clone(), patients::used(self.context.edges.ledger.clone()));
            let (config, stop) = (config.clone(), self.context.signals.stop.clone());
            self.tasks
                .keep("list of patients", move || list.clone().follow(config.clone(), used.clone(), stop.clone()));
        }
        Ok(())
    }

    /// Does what [`Self::start`] does, with parts that are ready.
    ///
    /// # Errors
    /// Any error of the ledger or of the spool.
    pub async fn assemble(
        parts: Parts,
        ledger: Ledger,
        observer: Option<mpsc::UnboundedSender<Progress>>,
        probe_now: bool,
    ) -> Result<Self, DaemonError> {
        let accounts: Vec<String> = parts.clients.keys().cloned().collect();
        let destinations: Vec<String> = parts.adapters.keys().cloned().collect();
        let cut_off = prepare(&parts, &ledger, accounts.clone(), destinations.clone()).await?;
        let marks = Marks::new(cut_off, parts.rules.limits.max_concurrency);
        let (fatal_sender, fatal) = mpsc::unbounded_channel();
        let need_files =
            parts.adapters.iter().filter(|(_, to)| to.needs_file()).map(|(name, _)| name.clone()).collect();
        let adapters: BTreeMap<String, Arc<dyn Adapter>> =
            parts.adapters.into_iter().map(|(name, adapter)| (name, Arc::from(adapter))).collect();
        let edges = Edges {
            pauses: Pauses::load(ledger.clone(), parts.rules.retry.clone(), probe_now).await?,
            ledger,
            spool: parts.spool,
            clients: parts.clients,
            need_files,
            numbers: parts.numbers,
            started: now(),
        };
        let signals = Signals {
            nudges: Nudges::new(accounts.iter(), parts.rules.confirm_within.keys()),
            stop: CancellationToken::new(),
            fatal: fatal_sender,
            observer,
            reports_begun: AtomicU64::new(0),
            reports_ended: AtomicU64::new(0),
            outages: Outages::default(),
            heartbeats: Heartbeats::default(),
            counters: Counters::new(&accounts, &destinations),
            in_flight: AtomicUsize::new(0),
        };
        let context = Arc::new(Context { edges, rules: parts.rules, signals });
        let mut tasks = Tasks::new(context.signals.stop.clone());
        tasks.stage(&context, Fetch { lanes: Lane::of_accounts(accounts.iter(), Scope::Fetch), marks });
        tasks.stage(&context, Deliver::new(adapters.clone()));
        for (name, adapter) in adapters.iter().filter(|(name, _)| context.rules.confirm_within.contains_key(*name)) {
            let (name, adapter) = (name.clone(), Arc::clone(adapter));
            tasks.part("confirm", &context, move |context| confirm::run(context, name.clone(), Arc::clone(&adapter)));
        }
        tasks.stage(&context, Report(Lane::of_accounts(accounts.iter(), Scope::Report)));
        tasks.part("prune", &context, prune::run);
        tasks.part("patients", &context, patients::run);
        tasks.part("push", &context, patients::push);
        Ok(Self { context, adapters, tasks, fatal: tokio::sync::Mutex::new(fatal) })
    }

    /// Polls every account at its intervals, beginning now, and takes up what another process asks for.
    pub fn start_polls(&mut self) {
        for (number, account) in self.context.edges.clients.keys().enumerate() {
            let turn = POLLS_APART * u32::try_from(number / POLLS_AT_ONCE).unwrap_or(u32::MAX);
            let account = account.clone();
            self.tasks.part("poll", &self.context, move |context| polling::run(context, account.clone(), turn));
        }
        self.tasks.part("other processes", &self.context, follow::other_processes);
    }

    /// Starts the memory task and the tests of the ledger and the destinations, and what the configuration asks for:
    /// the status page, the webhooks and the comparison of all sides.
    pub fn start_listeners(&mut self, config: &Config) {
        self.tasks.part("memory", &self.context, memory::run);
        self.tasks.part("writable", &self.context, writable::run);
        let (adapters, destinations) = (self.adapters.clone(), config.destinations.clone());
        self.tasks
            .part("away", &self.context, move |context| away::run(context, adapters.clone(), destinations.clone()));
        let setup = webhook::Setup::of(config);
        self.tasks.part("webhook", &self.context, move |context| webhook::run(context, setup.clone()));
        if let Some(every) = config.reconcile_every {
            let emptied: BTreeSet<String> =
                config.destinations.values().filter(|to| to.is_emptied()).map(|to| to.name.clone()).collect();
            let adapters = self.adapters.clone();
            let begin = move |context| turns::run(context, adapters.clone(), emptied.clone(), every);
            self.tasks.part("reconcile", &self.context, begin);
        }
        if let Some(setup) = web::Setup::of(config) {
            self.tasks.part("web", &self.context, move |context| web::run(context, setup.clone()));
        }
    }

    /// Reads the whole list of every account once, side by side. A failure that may pass is tried again during
    /// `patience`.
    ///
    /// # Errors
    /// Any error of the ledger.
    pub async fn poll_once(&self, patience: Duration) -> Result<Polled, LedgerError> {
        let mut polls = JoinSet::new();
        for account in self.context.edges.clients.keys() {
            let (context, account) = (self.context.clone(), account.clone());
            polls.spawn(async move { poll_patiently(&context, &account, patience).await });
        }
        let mut polled = Polled::default();
        while let Some(ended) = polls.join_next().await {
            match ended {
                Ok(result) => {
                    let (found, wrong) = result?;
                    polled.found += found;
                    polled.wrong.extend(wrong);
                }
                Err(error) => polled.wrong.push(("?".to_owned(), format!("internal error: {error}"))),
            }
        }
        polled.wrong.sort();
        Ok(polled)
    }

    /// Looks once whether what was reported has left the lists. A failure is no harm: then it stays unknown.
    pub async fn look_for_ended(&self) {
        for (account, client) in &self.context.edges.clients {
            if let Err(error) = discover::look_for_ended(&self.context, client.as_ref(), account).await {
                tracing::debug!(event = "look_failed", account, "{error:?}");
            }
        }
    }

    /// When work is due next. A time that is not after [`now`] means that there is work now. `None`: nothing is open,
    /// or only what waits for a paused account.
    ///
    /// # Errors
    /// Any error of the ledger.
    pub async fn next_work(&self) -> Result<Option<Millis>, LedgerError> {
        if self.context.signals.nudges.confirm.values().any(|confirming| !confirming.is_idle.load(Ordering::Relaxed)) {
            return Ok(Some(now()));
        }
        if self.context.edges.numbers.as_ref().is_some_and(Numbers::is_busy) {
            return Ok(Some(now()));
        }
        let pauses = &self.context.edges.pauses;
        let accounts = self.context.edges.clients.keys().cloned();
        let signed_in = accounts.filter(|name| pauses.paused_until(&Scope::Account(name.clone())).is_none());
        let of_accounts = signed_in.flat_map(|name| [Scope::Fetch(name.clone()), Scope::Report(name)]);
        let scopes = of_accounts.chain(self.adapters.keys().cloned().map(Scope::Destination));
        let lanes: Vec<(Scope, Option<Millis>)> =
            scopes.map(|scope| (scope.clone(), pauses.paused_until(&scope))).collect();
        self.context
            .edges
            .ledger
            .read(move |db| {
                let mut earliest: Option<Millis> = None;
                for (scope, paused_until) in lanes {
                    let due = work::next_due(db, &scope, Millis::MIN)?;
                    let workable = due.map(|due| paused_until.map_or(due, |until| due.max(until)));
                    earliest = [earliest, workable].into_iter().flatten().min();
                }
                Ok(earliest)
            })
            .await
    }

    /// Polls now, and tries all that is paused.
    pub fn poll_now(&self) {
        self.context.edges.pauses.probe_all_now();
        self.context.signals.nudges.poll_all();
        self.context.signals.nudges.stages();
    }

    /// Waits for an error after which the daemon cannot go on.
    pub async fn failed(&self) -> LedgerError {
        self.fatal.lock().await.recv().await.unwrap_or(LedgerError::Closed)
    }

    /// Begins nothing new, and waits at most [`DRAIN_LIMIT`] for what is in flight. Returns whether all of it finished.
    /// The next start takes up the rest.
    pub async fn drain(mut self) -> bool {
        self.context.signals.stop.cancel();
        let finished = tokio::time::timeout(DRAIN_LIMIT, self.tasks.ended()).await.is_ok();
        // A renewal of a token is a task of its own with a time of its own, so that a stage that hangs costs no
        // sign-in.
        self.tasks.abort();
        let clients = || self.context.edges.clients.values();
        let limit = clients().map(|client| client.longest_renewal()).max().unwrap_or_default();
        let settled = tokio::time::timeout(limit, join_all(clients().map(|client| client.settle())));
        let finished = settled.await.is_ok() && finished;
        // Then the next daemon need not fetch them again.
        self.context.edges.spool.write_all().await;
        // If this fails, the next daemon is only more careful.
        let _ = self.context.edges.ledger.write(process::end).await;
        if !finished {
            let seconds = DRAIN_LIMIT.as_secs();
            tracing::warn!(
                event = "drain_timeout",
                "not everything in flight ended within {seconds} s: it is taken up again"
            );
        }
        finished
    }
}

async fn poll_patiently(
    context: &Context,
    account: &str,
    patience: Duration,
) -> Result<(u64, Option<(String, String)>), LedgerError> {
    let until = tokio::time::Instant::now() + patience;
    loop {
        let began = now();
        let result = discover::poll(context, account, true).await;
        let (found, error) = match &result {
            Ok(polled) => (polled.found, None),
            Err(PollError::Api(error)) => (0, Some(error.clone())),
            Err(PollError::Ledger(error)) => return Err(error.clone()),
        };
        let wait = polling::settle(context, account, began, result).await?;
        let Some(error) = error else { return Ok((found, None)) };
        let may_pass = matches!(error.meaning(), Meaning::Transient | Meaning::Origin) && !error.pauses_account();
        if !may_pass || tokio::time::Instant::now() + wait > until {
            return Ok((0, Some((account.to_owned(), error.to_string()))));
        }
        tokio::time::sleep(wait).await;
    }
}

/// Prepares ledger and spool for a start. Returns whether the previous daemon was cut off.
async fn prepare(
    parts: &Parts,
    ledger: &Ledger,
    accounts: Vec<String>,
    known: Vec<String>,
) -> Result<bool, DaemonError> {
    let rules = &parts.rules;
    let (longest, longest_draft) = rules.longest_waits();
    let of_account =
        |name: &String| [Scope::Account(name.clone()), Scope::Fetch(name.clone()), Scope::Report(name.clone())];
    let scopes = accounts.iter().flat_map(of_account).chain(known.iter().cloned().map(Scope::Destination));
    let scopes: HashSet<String> = scopes.map(|scope| scope.to_string()).collect();
    let (retry, give_up_after) = (rules.retry.clone(), rules.limits.patience.give_up_after);
    let needing: Vec<String> = parts.numbers.iter().flat_map(|numbers| numbers.needed_by.iter().cloned()).collect();
    let asks: Vec<(String, Duration)> = rules.confirm_within.clone().into_iter().collect();
    let cut_off = ledger
        .write(move |db| {
            // A scope that is no longer configured is never tried again, so its pause would never end.
            for pause in pauses::all(db)?.iter().filter(|pause| !scopes.contains(&pause.scope)) {
                pauses::clear(db, &pause.scope)?;
            }
            for account in &accounts {
                let latest = |longest| after(now(), longest);
                documents::clamp_due(db, account, now(), latest(longest), latest(longest_draft))?;
            }
            deliveries::reroute_unknown(db, &known, now())?;
            deliveries::needs_none(db, &needing, now())?;
            deliveries::not_asked_for(db, &known, &asks, now())?;
            marks::begin(db, &retry, give_up_after, now())
        })
        .await?;
    let removed = parts.spool.clean(ledger).await.map_err(|error| match error {
        CleanError::Folder(error) => DaemonError::Spool { folder: parts.spool.folder().to_path_buf(), error },
        CleanError::Ledger(error) => DaemonError::Ledger(error),
    })?;
    if removed > 0 {
        tracing::debug!(event = "spool_cleaned", removed, "leftovers were removed from the spool");
    }
    Ok(cut_off)
}

/// Records who works on the ledger, for `docsyncd status`; and where good polls are noted, if not in the ledger.
///
/// # Errors
/// Any error of the ledger.
pub async fn introduce(ledger: &Ledger, loaded: &Loaded, polls_file: Option<PathBuf>) -> Result<(), LedgerError> {
    let sha256 = loaded.sha256();
    ledger
        .write(move |db| {
            history::configuration(db, now(), &sha256)?;
            // A process that was killed may have left this behind.
            process::remove(db, process::STATUS_PAGE)?;
            process::remove(db, process::WEBHOOK)?;
            process::remove(db, process::CLOCK)?;
            polls::begin(db, polls_file.as_deref())?;
            process::set(db, "pid", &std::process::id().to_string())?;
            process::set(db, "started_at", &format!("{:.3}", jiff::Timestamp::now()))?;
            process::set(db, "version", env!("CARGO_PKG_VERSION"))
        })
        .await
}
