//! Marks show which documents were being read when the process ended. Bounds keep an answer of the API from ending the
//! process. If one did so all the same, the service would end again at every start.
//!
//! Nothing is marked until a daemon was cut off. The next daemon marks the documents that it reads first. If a document
//! ended the daemon before, it is among these. If this daemon is cut off as well, its marked documents are charged an
//! attempt: they wait, longer each time, and the others go on. For a document that was marked by chance that is the
//! only cost. A document that ends each daemon is given up in the end.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rusqlite::Connection;

use super::failures::{after, gave_up};
use crate::domain::failure::{Call, Code, Failure, Kind};
use crate::domain::retry::RetryPolicy;
use crate::domain::state::State;
use crate::ledger::documents::{self, Document};
use crate::ledger::failures::{self, Charge, Postponed};
use crate::ledger::work::Work;
use crate::ledger::{Ledger, LedgerError, Millis, QueryResult, process};

/// This many times `sync.max_concurrency` documents are marked after a daemon was cut off. The documents that it had
/// begun are due first.
const ROUNDS: usize = 4;
/// Why a document waits that was marked.
const CUT_OFF: &str =
    "docsyncd was cut off twice, and at the second time it was reading this document, maybe among others";

/// How many documents are still to be marked.
#[derive(Debug, Default)]
pub struct Marks(AtomicUsize);

impl Marks {
    /// For a daemon that starts. `cut_off`: the previous daemon did not end in good order.
    pub fn new(cut_off: bool, max_concurrency: usize) -> Self {
        Self(AtomicUsize::new(if cut_off { max_concurrency.saturating_mul(ROUNDS) } else { 0 }))
    }

    /// Marks the document before it is read, while any are left to mark. Returns whether it did.
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

/// Called when a daemon starts. Charges the documents that were marked when the previous daemon was cut off. Returns
/// whether it was.
///
/// # Errors
/// Any SQLite error.
pub fn begin(db: &Connection, retry: &RetryPolicy, give_up_after: Duration, now: Millis) -> QueryResult<bool> {
    let (cut_off, marks) = process::begin(db)?;
    let failure = Failure { call: Call::Read, kind: Kind::Passing(Code::word("cut_off")) };
    let code = failure.to_string();
    for (id, round) in marks.into_iter().filter(|_| cut_off) {
        let Some(document) = documents::of_round(db, id, round, State::Discovered)? else { continue };
        // Nobody knows how long the document was read, and the time for which the machine was off does not count.
        let failing_for = document.tries.spent(0, now);
        if document.tries.failing_for.saturating_add(failing_for) >= after(0, give_up_after) {
            failures::fail(db, &document, &gave_up(give_up_after, CUT_OFF), &code, None, now, now)?;
            continue;
        }
        let charge = Some(Charge { began: now, failing_for, doubtful: false });
        let due_at = Some(after(now, retry.delay(document.tries.attempts + 1, None)));
        let postponed = Postponed { due_at, reason: CUT_OFF, code: Some(&code), failure: Some(&failure), charge };
        Work::from(&document).postpone(db, &postponed, now)?;
    }
    Ok(cut_off)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::document::DocumentUuid;
    use crate::ledger::listed::{self, Listed, Reader};

    const MINUTE: Duration = Duration::from_secs(60);
    const LIMIT: Duration = Duration::from_secs(3600);

    /// Starts a daemon `count` times, `apart` from one another. Each is cut off while it reads the document.
    async fn starts(apart: Duration, count: i64) -> Document {
        let folder = tempfile::tempdir().unwrap();
        let (ledger, _lock) = Ledger::open_exclusive(&folder.path().join("ledger.sqlite3")).unwrap();
        let work = move |db: &Connection| {
            let working = vec!["main".to_owned()];
            let reader = Reader {
                account: "main".to_owned(),
                paused: Vec::new(),
                working,
                poll: 1,
                confirmed: false,
                draft_wait: 0,
            };
            let uuid = DocumentUuid::parse("a").unwrap();
            listed::see(
                db,
                &reader,
                &Listed { uuid, created_at: String::new(), kind: None, pdf: None, is_draft: false, patient: None },
                0,
            )?;
            let retry = RetryPolicy { initial: MINUTE, max: MINUTE };
            for start in 0..count {
                begin(db, &retry, LIMIT, start * after(0, apart))?;
                process::mark(db, 1, 0)?;
            }
            documents::by_number(db, 1)
        };
        ledger.write(work).await.unwrap().unwrap()
    }

    #[tokio::test]
    async fn a_document_that_ends_every_daemon_is_given_up_and_told() {
        let document = starts(MINUTE * 2, 300).await;
        assert_eq!(document.state, State::Failing);
        assert!(document.reason.unwrap().starts_with("gave up after 1h"));
    }

    #[tokio::test]
    async fn days_for_which_the_machine_was_off_are_not_the_documents() {
        assert_eq!(starts(LIMIT * 24, 3).await.state, State::Discovered);
    }
}
