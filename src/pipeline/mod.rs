//! The four stages, the loop that each of them runs in, and what is done when they are idle.
//!
//! A stage reads due rows from the ledger, does one thing with each, and writes one transition back. A nudge wakes the
//! next stage and carries no data, so that a restart and a normal run take the same path. Stages do not know each
//! other.

pub mod assign;
pub mod confirm;
pub mod counters;
pub mod deliver;
pub mod discover;
mod failure;
pub mod fetch;
mod heartbeats;
pub mod marks;
mod outages;
pub mod patients;
pub mod pauses;
pub mod polling;
pub mod prune;
pub mod report;
pub mod spool;
mod stage;
mod transition_log;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

pub use counters::Counters;
pub use heartbeats::Heartbeats;
pub use outages::Outages;
pub use patients::Numbers;
pub use pauses::{Pauses, Scope, after};
pub use spool::Spool;
pub use stage::{Lane, run_stage};

use outages::Tell;

use crate::api::Api;
use crate::document::DocumentUuid;
use crate::ledger::{Ledger, LedgerError, Millis, now};
use crate::retry::RetryPolicy;
use crate::route::Route;
use crate::state::State;

/// What every stage works with.
pub struct Context {
    /// The ledger.
    pub ledger: Ledger,
    /// The spool.
    pub spool: Spool,
    /// The pauses.
    pub pauses: Pauses,
    /// The API as each account sees it, by NAME.
    pub clients: BTreeMap<String, Box<dyn Api>>,
    /// Which documents go where.
    pub routes: Vec<Route>,
    /// Destinations that are given a file ([`crate::adapters::Adapter::needs_file`]).
    pub need_files: BTreeSet<String>,
    /// Destinations that are asked whether their software took a letter, with the time after which a person is told
    /// that it did not.
    pub confirm_within: BTreeMap<String, std::time::Duration>,
    /// The practice's list of patients, if there is one.
    pub numbers: Option<Numbers>,
    /// `[retry]`
    pub retry: RetryPolicy,
    /// The limits of `[sync]` and `[state]`.
    pub limits: Limits,
    /// Wakes the stages.
    pub nudges: Nudges,
    /// Ends the stages: what is in flight is finished, nothing new is begun.
    pub stop: CancellationToken,
    /// The first error that the daemon cannot go on with.
    pub fatal: mpsc::UnboundedSender<LedgerError>,
    /// Who wants to see progress.
    pub observer: Option<mpsc::UnboundedSender<Progress>>,
    /// The reports that are under way.
    pub reports: Reports,
    /// What fails again and again, so that it is not said again and again.
    pub outages: outages::Outages,
    /// Which loops live.
    pub heartbeats: Heartbeats,
    /// What `/metrics` tells of the work.
    pub counters: Counters,
    /// Which documents are marked before they are read.
    pub marks: marks::Marks,
    /// How many documents and deliveries the stages work on just now.
    pub in_flight: AtomicUsize,
    /// When the daemon started.
    pub started: Millis,
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
    pub patience: crate::failure::Patience,
    /// `state.keep_history`
    pub keep_history: std::time::Duration,
    /// `state.keep_names`
    pub keep_names: std::time::Duration,
    /// `state.spool_limit`
    pub spool_limit: u64,
}

impl Limits {
    /// No wait is longer than the first, and none for a PDF to be rendered than the second: where one seems to be, the
    /// clock was set back.
    pub fn longest_waits(&self, retry: &RetryPolicy) -> (std::time::Duration, std::time::Duration) {
        let longest = retry.longest().max(self.poll_interval).max(crate::failure::HOLD) * 2;
        (longest, longest.max(self.reconcile_interval * 2))
    }
}

/// The loop that looks which letters a destination's software has taken.
#[derive(Debug)]
pub struct Confirming {
    /// Something was filed that counts once it is taken.
    pub filed: Notify,
    /// Whether it is to look within seconds: its first look, or a second one at what is gone.
    pub is_busy: AtomicBool,
}

impl Default for Confirming {
    fn default() -> Self {
        Self { filed: Notify::new(), is_busy: AtomicBool::new(true) }
    }
}

/// Wakes stages; a nudge that comes early is kept.
#[derive(Debug, Default)]
pub struct Nudges {
    /// There may be something to fetch.
    pub fetch: Notify,
    /// There may be something to deliver.
    pub deliver: Notify,
    /// There may be something to report.
    pub report: Notify,
    /// Poll now, by account.
    pub poll: BTreeMap<String, Notify>,
    /// The account was paused, by account.
    pub reconsider: BTreeMap<String, Notify>,
    /// The loops that look for proof, by destination.
    pub confirm: BTreeMap<String, Confirming>,
}

impl Nudges {
    /// For these accounts, and destinations that are asked for proof.
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

    /// Makes the account's polls look at its pause: the next one comes when it is to be probed.
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

/// Counts reports, so that whoever reads the list knows whether documents may have left it meanwhile: one that is under
/// way may have taken effect already, whatever becomes of its answer.
#[derive(Debug, Default)]
pub struct Reports {
    begun: AtomicU64,
    ended: AtomicU64,
}

/// A moment, as [`Reports::mark`] gives it.
#[derive(Debug, Clone, Copy)]
struct ReportMark(u64);

impl Reports {
    /// A report is sent, until what this returns is dropped: its answer came, or will not come any more.
    fn begin(&self) -> impl Drop {
        self.begun.fetch_add(1, Ordering::SeqCst);
        UnderWay(&self.ended)
    }

    /// Now.
    fn mark(&self) -> ReportMark {
        ReportMark(self.ended.load(Ordering::SeqCst))
    }

    /// Whether no report was under way at the mark, and none was begun since.
    fn none_since(&self, mark: ReportMark) -> bool {
        self.begun.load(Ordering::SeqCst) == mark.0
    }
}

struct UnderWay<'a>(&'a AtomicU64);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Something that `docsyncd sync` shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// Documents were found in a list, or reopened.
    Found(u64),
    /// A page of a list shows so many documents without an identifier that can be used.
    Unreadable(usize),
    /// A document came into this state.
    Moved {
        /// The document.
        uuid: DocumentUuid,
        /// Its account.
        account: String,
        /// The state.
        state: State,
        /// Why.
        reason: Option<String>,
    },
}

impl Context {
    /// Says that the ledger fails, once for each outage and error.
    fn ledger_error(&self, stage: Option<&str>, error: &LedgerError) {
        match self.outages.failed("ledger", &error.to_string(), now()) {
            Tell::Nothing => tracing::debug!(event = "ledger_failed", stage, "{error}; trying again"),
            Tell::Begun => tracing::error!(event = "ledger_failed", stage, "{error}; trying again"),
            Tell::GoesOn(long) => {
                let long = outages::for_so_long(long);
                tracing::error!(event = "ledger_failed", stage, "{error}; trying again for {long} now");
            }
        }
    }

    /// Says that the ledger works again, where it did not.
    fn ledger_works(&self) {
        if let Some(long) = self.outages.ended("ledger", now()) {
            let long = outages::for_so_long(long);
            tracing::info!(event = "ledger_works", "the ledger works again after {long}");
        }
    }

    /// Since when the stages cannot write their ledger, if they cannot. It cannot be written there.
    pub fn ledger_fails_since(&self) -> Option<Millis> {
        self.outages.since("ledger")
    }

    /// Tells the observer, if there is one.
    fn observe(&self, progress: Progress) {
        if let Some(observer) = &self.observer {
            // The observer may have stopped looking.
            let _ = observer.send(progress);
        }
    }
}

/// A shared context.
pub type Shared = Arc<Context>;
