//! What the stages count for `/metrics`: how long each try takes, how polls end, how many bytes pass. Nothing decides
//! by these counters.
//!
//! They begin at zero with each start, and when the configuration is loaded anew, as counters of Prometheus may.

use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;

/// Upper bounds of the histograms' buckets; seconds. They reach from a file on a local disk to a download that takes
/// minutes.
const BUCKETS: [f64; 10] = [0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0];

/// The names of the stages in the log and in heartbeats.
const STAGES: [&str; 4] = ["discover", "fetch", "deliver", "report"];

/// One label: its name, which docsyncd chose, and its value.
pub type Label = (&'static str, String);

/// The counters. A clone counts into the same counters.
#[derive(Debug, Clone)]
pub struct Counters {
    /// How long each try of a stage took, however it ended; by `stage`. Seconds.
    pub tries: Family<[Label; 1], Histogram>,
    /// Polls that ended, by `account` and `result` (`ok`, `failed`).
    pub polls: Family<[Label; 2], Counter>,
    /// Bytes of PDFs that were downloaded.
    pub downloaded: Counter,
    /// Bytes of PDFs that a destination took; by `destination`.
    pub delivered: Family<[Label; 1], Counter>,
}

impl Counters {
    /// All counters at zero, for these accounts and destinations: what has not happened yet reads 0, not unknown.
    pub fn new(accounts: &[String], destinations: &[String]) -> Self {
        let new = Self {
            tries: Family::new_with_constructor(|| Histogram::new(BUCKETS)),
            polls: Family::default(),
            downloaded: Counter::default(),
            delivered: Family::default(),
        };
        for stage in STAGES {
            drop(new.tries.get_or_create(&[("stage", stage.to_owned())]));
        }
        for account in accounts {
            for result in ["ok", "failed"] {
                drop(new.polls.get_or_create(&[("account", account.clone()), ("result", result.to_owned())]));
            }
        }
        for destination in destinations {
            drop(new.delivered.get_or_create(&[("destination", destination.clone())]));
        }
        new
    }

    /// Counts a try of a stage.
    pub(super) fn tried(&self, stage: &'static str, took: Duration) {
        self.tries.get_or_create(&[("stage", stage.to_owned())]).observe(took.as_secs_f64());
    }

    /// Counts a poll that ended.
    pub(super) fn polled(&self, account: &str, good: bool) {
        let result = if good { "ok" } else { "failed" };
        self.polls.get_or_create(&[("account", account.to_owned()), ("result", result.to_owned())]).inc();
    }

    /// Counts a PDF that a destination took.
    pub(super) fn delivered(&self, destination: &str, bytes: u64) {
        self.delivered.get_or_create(&[("destination", destination.to_owned())]).inc_by(bytes);
    }
}
