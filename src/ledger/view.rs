//! What people and programs are shown of the ledger: the shapes behind `--json`. Their field names are stable.

use super::Millis;

pub use self::documents::{DeliveryView, DocumentHistory, DocumentView, HistoryView, Known, known, list, show};
pub use self::status::{AccountView, PauseView, ProcessView, Summary, in_words, summary};
pub(super) use self::status::{counts, sum};

mod documents;
mod status;

/// A time as RFC 3339 in UTC, with milliseconds.
pub fn time(at: Option<Millis>) -> Option<String> {
    at.and_then(|at| jiff::Timestamp::from_millisecond(at).ok()).map(|at| format!("{at:.3}"))
}
