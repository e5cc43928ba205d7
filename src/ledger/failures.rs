//! Documents that could not go on: waits, failures, and refused reports.

use rusqlite::{Connection, params};

use super::columns::Statements as _;
use super::documents::{Document, transition};
use super::history::{self, Because};
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

/// Leaves the document in its state, to be tried again.
pub fn postpone(db: &Connection, document: &Document, postponed: &Postponed<'_>, now: Millis) -> QueryResult<()> {
    let Postponed { due_at, reason, code, failure, charge } = postponed;
    let (id, round, state) = (document.id, document.round, document.state);
    let (of_report, failing) = (matches!(state, State::Delivered | State::Failing), state == State::Failing);
    let (charged, doubtful) = (charge.is_some(), charge.as_ref().is_some_and(|charge| charge.doubtful));
    let (spent, began) = charge.as_ref().map(|charge| (charge.failing_for, charge.began)).unzip();
    let updated = db.change(
        // What was due stays due, whatever the clock says now.
        "UPDATE document SET due_at = coalesce(?3, min(due_at, ?6)), attempts = attempts + ?5, changed_at = ?6,
                strikes = strikes + ?8, failing_for = failing_for + coalesce(?9, 0),
                -- A failing document keeps the failure to be reported, whatever happens to the report.
                reason = CASE WHEN ?11 THEN reason ELSE ?4 END,
                reason_code = CASE WHEN ?11 THEN reason_code ELSE ?14 END,
                report_reason = CASE WHEN ?12 AND ?10 IS NOT NULL THEN ?4 ELSE report_reason END,
                failure = CASE WHEN ?12 THEN failure ELSE coalesce(?10, failure) END,
                report_failure = CASE WHEN ?12 THEN coalesce(?10, report_failure) ELSE report_failure END,
                -- A success before the first of these attempts is no evidence, even if the first one failed slowly.
                failing_since = CASE WHEN ?14 IS 'no_content' THEN coalesce(failing_since, ?6)
                                     WHEN NOT ?5 THEN failing_since WHEN attempts = 0 THEN ?13
                                     ELSE coalesce(failing_since, ?13) END
         WHERE id = ?1 AND round = ?2 AND state = ?7",
        params![
            id, round, due_at, reason, charged, now, state, doubtful, spent, failure, failing, of_report, began, code
        ],
    )?;
    // A wait that repeats itself every minute is no news.
    let before = document.tries.failure.as_ref();
    let (event, attempt, is_news) = match charge {
        Some(_) => {
            let attempt = document.tries.attempts + 1;
            ("postponed", attempt, postponed.is_news(attempt, before))
        }
        None if failing => ("waiting", document.tries.attempts, failure.is_some() && *failure != before),
        None => ("waiting", document.tries.attempts, document.reason_code.as_deref() != *code),
    };
    if updated > 0 && is_news {
        history::append(db, (id, None), now, event, state, attempt, Some(Because::coded(reason, *code)))?;
    }
    Ok(())
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
        return refuse_report(db, document, reason, Some(code), now);
    }
    let state =
        transition(db, document.id, document.round, Event::Refused, now, Some(Because::coded(reason, Some(code))))?;
    if state == Some(State::Failing) {
        db.run(
            "UPDATE document SET reason_code = ?2, failure = ?3, due_at = ?4, tried_pdf = ?5 WHERE id = ?1",
            params![document.id, code, failure, due_at, document.tried_pdf],
        )?;
    }
    Ok(state)
}

fn refuse_report(
    db: &Connection,
    document: &Document,
    reason: &str,
    code: Option<&str>,
    now: Millis,
) -> QueryResult<Option<State>> {
    // The document's own failure stays the reason, even if the API refuses the report of it.
    let kept = document.reason.as_deref().filter(|_| document.state == State::Failing);
    let why = Some(match kept {
        Some(kept) => Because::coded(kept, document.reason_code.as_deref()),
        None => Because::coded(reason, code),
    });
    let state = transition(db, document.id, document.round, Event::ReportRefused, now, why)?;
    if state.is_some() {
        let (column, value) = if kept.is_some() { ("report_reason", Some(reason)) } else { ("reason_code", code) };
        db.run(&format!("UPDATE document SET {column} = ?2 WHERE id = ?1"), params![document.id, value])?;
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
    let stands: Option<String> = db.perhaps(
        "SELECT coalesce(report_reason, '') FROM document WHERE id = ?1 AND round = ?2 AND report_failure = ?3 AND account = ?4",
        params![document.id, document.round, document.tries.failure, document.version.account],
    )?;
    let Some(reason) = stands else { return Ok(None) };
    let code = document.tries.failure.as_ref().map(Failure::to_string);
    Ok(refuse_report(db, document, &reason, code.as_deref(), now)?.map(|state| (state, reason)))
}
