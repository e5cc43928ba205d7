//! Marks: which documents were being read when the process ended. An answer has bounds that keep it from ending the process;
//! should one do so all the same, the service would end again at every start.
//!
//! Nothing is marked until a daemon was cut off. The next one marks the documents that it reads first, among which is the one that
//! ended it, if one did. When it is cut off, too, those that it had marked are charged an attempt: they wait, longer each time, and
//! the others go on. A document that was marked by chance costs no more than that.

use std::sync::atomic::{AtomicUsize, Ordering};

use rusqlite::Connection;

use super::pauses::after;
use crate::failure::{Call, Code, Failure, Kind};
use crate::ledger::documents::{self, Document};
use crate::ledger::failures::{self, Charge, Postponed};
use crate::ledger::{Ledger, LedgerError, Millis, QueryResult, process};
use crate::retry::RetryPolicy;
use crate::state::State;

/// So many times `sync.max_concurrency` documents are marked after a daemon was cut off: what it had begun is due first.
const ROUNDS: usize = 4;
/// Why a document waits that had a mark.
const CUT_OFF: &str =
    "docsyncd was cut off twice, and at the second time it was reading this document, maybe among others";

/// How many documents are still to be marked.
#[derive(Debug, Default)]
pub struct Marks(AtomicUsize);

impl Marks {
    /// For a daemon that begins; `cut_off`: the one before did not end in good order.
    pub fn new(cut_off: bool, max_concurrency: usize) -> Self {
        Self(AtomicUsize::new(if cut_off { max_concurrency.saturating_mul(ROUNDS) } else { 0 }))
    }

    /// Marks the document before it is read, while that is wanted. Returns whether it did.
    ///
    /// # Errors
    /// Any error of the ledger.
    pub(super) async fn set(&self, ledger: &Ledger, document: &Document) -> Result<bool, LedgerError> {
        let one_less = |left: usize| left.checked_sub(1);
        if self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_err() {
            return Ok(false);
        }
        let (id, round) = (document.id, document.round);
        ledger.write(move |db| process::mark(db, id, round)).await.map(|()| true)
    }
}

/// A daemon begins: charges the documents that were marked when the one before was cut off. Returns whether it was.
///
/// # Errors
/// Any SQLite error.
pub fn begin(db: &Connection, retry: &RetryPolicy, now: Millis) -> QueryResult<bool> {
    let (cut_off, marks) = process::begin(db)?;
    let failure = Failure { call: Call::Read, kind: Kind::Passing(Code::word("cut_off")) }.to_string();
    for (id, round) in marks.into_iter().filter(|_| cut_off) {
        if let Some(document) = documents::of_round(db, id, round, State::Discovered)? {
            let charge = Some(Charge { began: now, failing_for: 0, doubtful: false });
            let due_at = Some(after(now, retry.delay(document.attempts + 1, None)));
            let postponed =
                Postponed { due_at, reason: CUT_OFF, code: Some(&failure), failure: Some(&failure), charge };
            failures::postpone(db, &document, &postponed, now)?;
        }
    }
    Ok(cut_off)
}
