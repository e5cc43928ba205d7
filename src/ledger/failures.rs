//! Documents that could not go on: waits, failures, and refused reports.

use rusqlite::{Connection, params};

use super::columns::Statements as _;
use super::documents::{self, Document, transition};
use super::history::Because;
use super::tries::{self, Key, Tries};
use super::{Millis, QueryResult};
use crate::domain::failure::Failure;
use crate::domain::state::{Event, State};

/// Why a document waits if the API shows its PDF but the server does not have the content yet: in words, and as a code.
/// The document never fails by this. A person is told when it lasts, as for anything that fails again and again.
pub const NO_CONTENT: (&str, &str) = ("the API shows a PDF, and its server has nothing there yet", "no_content");

/// A failure that may pass, or a wait.
pub struct Postponed<'a> {
    /// When to try again; `None`: the due time stays, and a pause holds the work back.
    pub due_at: Option<Millis>,
    /// Why.
    pub reason: &'a str,
    /// The same as a code: a failure, or the code of a wait.
    pub code: Option<&'a str>,
    /// The failure.
    pub failure: Option<&'a Failure>,
    /// The cost, if it counts as an attempt.
    pub charge: Option<Charge>,
}

/// The cost of an attempt.
pub struct Charge {
    /// Whether the download was not an acceptable PDF.
    pub doubtful: bool,
    /// The time that it adds to `failing_for`; milliseconds.
    pub failing_for: Millis,
    /// When the attempt began: a success that begins later came in between.
    pub began: Millis,
}

/// Each of the first attempts has a row in the history; of those after them, only some have.
const ALL_ATTEMPTS: u32 = 8;

impl Postponed<'_> {
    /// Whether the attempt gets a row in the history: a document that fails for days would have thousands.
    pub(super) fn is_news(&self, attempt: u32, before: Option<&Failure>) -> bool {
        attempt <= ALL_ATTEMPTS || attempt.is_power_of_two() || self.failure != before
    }
}

/// Ends the document by a failure, which is reported to the API from `due_at` on. `code` is the reason as a code;
/// `failure` is what others may turn out to share.
pub fn fail(
    db: &Connection,
    document: &Document,
    reason: &str,
    code: &str,
    failure: Option<&Failure>,
    due_at: Millis,
    now: Millis,
) -> QueryResult<Option<State>> {
    if matches!(document.state, State::Delivered | State::Failing) {
        // The report fails here, not the document.
        return refuse_report(db, document, reason, code, now);
    }
    let state =
        transition(db, document.id, document.round, Event::Refused, now, Some(Because::coded(reason, Some(code))))?;
    if state == Some(State::Failing) {
        tries::change(db, Key::fetch(document.id), |row| row.failure = failure.cloned())?;
        db.run(
            "UPDATE document SET due_at = ?2, tried_pdf = ?3 WHERE id = ?1",
            params![document.id, due_at, document.tried_pdf],
        )?;
    }
    Ok(state)
}

fn refuse_report(
    db: &Connection,
    document: &Document,
    reason: &str,
    code: &str,
    now: Millis,
) -> QueryResult<Option<State>> {
    // The document's own failure stays the reason, even if the API refuses the report of it.
    let kept = document.reason.as_deref().filter(|_| document.state == State::Failing);
    let why = match kept {
        Some(kept) => Because::coded(kept, document.reason_code.as_deref()),
        None => Because::coded(reason, Some(code)),
    };
    let state = transition(db, document.id, document.round, Event::ReportRefused, now, Some(why))?;
    if state == Some(State::Failed) && kept.is_some() {
        tries::say(db, Key::report(document.id), Some((reason, code)))?;
    }
    Ok(state)
}

/// Whether another account has the document now.
pub fn is_anothers(db: &Connection, document: &Document) -> QueryResult<bool> {
    db.prepare_cached("SELECT 1 FROM document WHERE id = ?1 AND account <> ?2")?
        .exists(params![document.id, document.version.account])
}

/// Ends a document whose report was refused, if the refusal still stands. Returns the document's state and the reason.
pub fn believe_refusal(db: &Connection, document: &Document, now: Millis) -> QueryResult<Option<(State, String)>> {
    let stands = |present: &Document| {
        present.version.account == document.version.account && present.tries.failure == document.tries.failure
    };
    let present = documents::of_round(db, document.id, document.round, document.state)?.filter(stands);
    let Some((reason, refused)) = present.and_then(|present| {
        let Tries { reason, failure, .. } = present.tries;
        Some((reason.unwrap_or_default(), failure?))
    }) else {
        return Ok(None);
    };
    Ok(refuse_report(db, document, &reason, &refused.to_string(), now)?.map(|state| (state, reason)))
}
