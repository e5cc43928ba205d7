//! The four stages, the loop that each of them runs in, and the tasks beside them.
//!
//! A stage reads due rows from the ledger, does one thing with each, and writes one transition back. A nudge wakes the
//! next stage and carries no data, so that a restart and a normal run take the same path. Stages do not know each
//! other.

pub mod assign;
pub mod confirm;
pub mod counters;
pub mod deliver;
pub mod discover;
mod failures;
pub mod fetch;
mod heartbeats;
mod latest;
pub mod marks;
pub mod patients;
pub mod polling;
pub mod prune;
pub mod report;
pub mod spool;
mod stage;
mod transition_log;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};

use tokio::sync::{Notify, mpsc, watch};
use tokio_util::sync::CancellationToken;

pub use counters::Counters;
pub use failures::{Outages, Pauses, Scope, after};
pub use heartbeats::Heartbeats;
pub use patients::Numbers;
pub use spool::Spool;
pub use stage::{Lane, Stage, run_stage};

use failures::{Tell, for_so_long};

use crate::api::Api;
use crate::domain::document::DocumentUuid;
use crate::domain::retry::RetryPolicy;
use crate::domain::route::Route;
use crate::domain::state::State;
use crate::ledger::{Ledger, LedgerError, Millis, now};

/// What the stages work with, in three parts. Each function takes the parts that it needs.
pub struct Context {
    /// What docsyncd touches the world with.
    pub edges: Edges,
    /// What the configuration says.
    pub rules: Rules,
    /// What the parts of a daemon tell one another, and others.
    pub signals: Signals,
}

/// The edges: what docsyncd touches the world with, and which of it is left alone.
pub struct Edges {
    /// The ledger of the daemon.
    pub ledger: Ledger,
    /// Where fetched PDFs lie until they are delivered.
    pub spool: Spool,
    /// What is paused.
    pub pauses: Pauses,
    /// The API client of each account, by NAME.
    pub clients: BTreeMap<String, Box<dyn Api>>,
    /// Destinations whose adapter needs a file ([`crate::destinations::Adapter::needs_file`]).
    pub need_files: BTreeSet<String>,
    /// The practice's list of patients, if there is one.
    pub numbers: Option<Numbers>,
    /// When the daemon started: what was done before that was done by another one.
    pub started: Millis,
}

/// The rules: what the configuration says.
#[derive(Debug, Clone)]
pub struct Rules {
    /// Which documents go to which destinations.
    pub routes: Vec<Route>,
    /// Destinations that are asked whether their software took a letter, with the time after which a person is told
    /// that it did not.
    pub confirm_within: BTreeMap<String, std::time::Duration>,
    /// `[retry]`
    pub retry: RetryPolicy,
    /// The limits of `[sync]` and `[state]`.
    pub limits: Limits,
}

/// The signals: what the parts of a daemon tell one another, and others.
pub struct Signals {
    /// Wakes the stages.
    pub nudges: Nudges,
    /// Ends the stages: they finish the work in flight, and begin nothing new.
    pub stop: CancellationToken,
    /// The first error after which the daemon cannot go on.
    pub fatal: mpsc::UnboundedSender<LedgerError>,
    /// Receives progress, for whoever wants to see it.
    pub observer: Option<mpsc::UnboundedSender<Progress>>,
    /// How many reports have begun, and how many have ended: whoever reads the list has to know whether documents may
    /// have left it meanwhile. A report that is under way may have taken effect, whatever its answer will be.
    pub reports_begun: AtomicU64,
    /// See `reports_begun`.
    pub reports_ended: AtomicU64,
    /// What keeps failing, so that each outage is logged once and not at each failure.
    pub outages: Outages,
    /// Shows which loops are alive.
    pub heartbeats: Heartbeats,
    /// The numbers for `/metrics`.
    pub counters: Counters,
    /// How many documents and deliveries the stages are working on.
    pub in_flight: AtomicUsize,
}

/// The limits of `[sync]` and `[state]` that stages need.
#[derive(Debug, Clone)]
pub struct Limits {
    /// `sync.poll_interval`
    pub poll_interval: std::time::Duration,
    /// `sync.reconcile_interval`
    pub reconcile_interval: std::time::Duration,
    /// `sync.max_concurrency`
    pub max_concurrency: usize,
    /// `sync.max_pdf_bytes`
    pub max_pdf_bytes: u64,
    /// `sync.give_up_after` and `sync.pdf_grace`
    pub patience: crate::domain::failure::Patience,
    /// `state.keep_history`
    pub keep_history: std::time::Duration,
    /// `state.keep_names`
    pub keep_names: std::time::Duration,
    /// `state.spool_limit`
    pub spool_limit: u64,
}

impl Rules {
    /// The longest possible wait, and the longest wait for a PDF to be rendered. If a wait seems longer, the clock was
    /// set back.
    pub fn longest_waits(&self) -> (std::time::Duration, std::time::Duration) {
        let longest = self.retry.longest().max(self.limits.poll_interval).max(crate::domain::failure::HOLD) * 2;
        (longest, longest.max(self.limits.reconcile_interval * 2))
    }
}

/// The loop that looks which letters a destination's software took.
#[derive(Debug)]
pub struct Confirming {
    /// Wakes the loop: a letter was filed that counts once the software takes it.
    pub filed: Notify,
    /// Whether the loop has to look within seconds: for the first time, or for the second time at letters that are
    /// gone.
    pub is_busy: AtomicBool,
}

impl Default for Confirming {
    fn default() -> Self {
        Self { filed: Notify::new(), is_busy: AtomicBool::new(true) }
    }
}

/// Wakes stages. A nudge that comes early is kept.
#[derive(Debug, Default)]
pub struct Nudges {
    /// There may be something to fetch.
    pub fetch: Notify,
    /// There may be something to deliver.
    pub deliver: Notify,
    /// There may be something to report.
    pub report: Notify,
    /// Makes an account poll now, by NAME.
    pub poll: BTreeMap<String, Notify>,
    /// An account was paused, by NAME.
    pub reconsider: BTreeMap<String, Notify>,
    /// Changes when destinations are to be looked at now (`daemon::away`).
    pub look: watch::Sender<u64>,
    /// The loops that look for proof, by the NAME of the destination.
    pub confirm: BTreeMap<String, Confirming>,
}

impl Nudges {
    /// For these accounts, and for these destinations, which are asked for proof.
    pub fn new<'a>(
        accounts: impl Iterator<Item = &'a String> + Clone,
        confirming: impl Iterator<Item = &'a String>,
    ) -> Self {
        let each = || accounts.clone().map(|name| (name.clone(), Notify::new())).collect();
        let confirm = confirming.map(|name| (name.clone(), Confirming::default())).collect();
        Self { poll: each(), reconsider: each(), confirm, ..Self::default() }
    }

    /// Wakes the stages that read the ledger.
    pub fn stages(&self) {
        self.fetch.notify_one();
        self.deliver.notify_one();
        self.report.notify_one();
    }

    /// Makes the account's polls look at its pause: the next poll comes when the pause is to be probed.
    fn reconsider(&self, account: &str) {
        if let Some(nudge) = self.reconsider.get(account) {
            nudge.notify_one();
        }
    }

    /// Makes the account poll now.
    pub fn poll_now(&self, account: &str) {
        if let Some(nudge) = self.poll.get(account) {
            nudge.notify_one();
        }
    }

    /// Makes every account poll now.
    pub fn poll_all(&self) {
        self.poll.values().for_each(Notify::notify_one);
    }

    /// Ends every wait: each account polls now, each destination is looked at, and the stages look what is due.
    pub fn all(&self) {
        self.look.send_modify(|count| *count = count.wrapping_add(1));
        self.poll_all();
        self.stages();
    }

    /// Wakes the stage that works on documents in this state.
    fn after(&self, state: State) {
        match state {
            State::Discovered => self.fetch.notify_one(),
            State::Fetched => self.deliver.notify_one(),
            State::Delivered | State::Failing => self.report.notify_one(),
            State::Reported | State::Failed | State::Unreported | State::Withdrawn => {}
        }
    }
}

/// A piece of progress, as `docsyncd sync` shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// Documents were found in a list, or reopened.
    Found(u64),
    /// A page of a list shows so many documents without an identifier that can be used.
    Unreadable(usize),
    /// A document changed to this state.
    Moved {
        /// The identifier of the document.
        uuid: DocumentUuid,
        /// NAME of its account.
        account: String,
        /// Its new state.
        state: State,
        /// Why the state changed, if there is a reason.
        reason: Option<String>,
    },
}

impl Signals {
    /// Logs that the ledger fails: once at the beginning of an outage or for another error, then once an hour.
    fn ledger_error(&self, stage: Option<&str>, error: &LedgerError) {
        match self.outages.failed("ledger", &error.to_string(), now()) {
            Tell::Nothing => tracing::debug!(event = "ledger_failed", stage, "{error}; trying again"),
            Tell::Begun => tracing::error!(event = "ledger_failed", stage, "{error}; trying again"),
            Tell::GoesOn(long) => {
                let long = for_so_long(long);
                tracing::error!(event = "ledger_failed", stage, "{error}; trying again for {long} now");
            }
        }
    }

    /// Logs that the ledger works again, if it failed before.
    fn ledger_works(&self) {
        if let Some(long) = self.outages.ended("ledger", now()) {
            let long = for_so_long(long);
            tracing::info!(event = "ledger_works", "the ledger works again after {long}");
        }
    }

    /// Since when the stages cannot write the ledger, if they cannot. This is kept in memory, as the ledger cannot hold
    /// it.
    pub fn ledger_fails_since(&self) -> Option<Millis> {
        self.outages.since("ledger")
    }

    /// Sends progress to the observer, if there is one.
    fn observe(&self, progress: Progress) {
        if let Some(observer) = &self.observer {
            // The observer may have gone.
            let _ = observer.send(progress);
        }
    }
}

/// The context, as all stages share it.
pub type Shared = Arc<Context>;
