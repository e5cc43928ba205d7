//! What people and programs see of the ledger. A view only reads.
//!
//! The views that this file exports define the JSON of `--json`: their field names are stable.

use serde::{Serialize as _, Serializer};

use crate::ledger::Millis;

pub use self::came::came;
pub use self::documents::{
    DeliveryView, DocumentHistory, DocumentView, HistoryView, KnownDocument, Order, known, list, one, show, stands,
};
pub use self::status::{AccountView, PauseView, ProcessView, Summary, summary, summary_of};

mod came;
pub mod chain;
mod documents;
pub mod events;
pub mod facts;
pub mod letter;
pub mod letters;
pub mod measures;
pub mod named;
pub mod patients;
pub mod reconcile;
pub mod search;
mod status;
mod waits;

/// A time as RFC 3339 in UTC, with milliseconds.
pub fn time(at: Option<Millis>) -> Option<String> {
    at.and_then(|at| jiff::Timestamp::from_millisecond(at).ok()).map(|at| format!("{at:.3}"))
}

/// Writes a time into JSON, or null.
///
/// # Errors
/// Any error of the serializer.
pub fn in_json<S: Serializer>(at: &(impl Copy + Into<Option<Millis>>), serializer: S) -> Result<S::Ok, S::Error> {
    time((*at).into()).serialize(serializer)
}
