//! Work that failed or waits: its rows of `retry_state`. What never failed has none, and its success touches none.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::columns::{Statements as _, from_row};
use super::failures::{NO_CONTENT, Postponed};
use super::{Millis, QueryResult};
use crate::domain::failure::Failure;
use crate::domain::state::State;

/// What is known of the failed attempts at a piece of work. The reason may quote a name, so it has no `Debug`.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Tries {
    /// Failed attempts that counted.
    pub attempts: u32,
    /// Downloads among them that were not an acceptable PDF.
    pub doubtful: u32,
    /// Spooled PDFs of the document that were lost since it was last delivered.
    pub lost: u32,
    /// How often it was refused in the same way, with a success of other work before each time but the first.
    pub refusals: u32,
    /// When the first of the attempts failed or began.
    pub failing_since: Option<Millis>,
    /// How long it was tried; milliseconds. Pauses and the time that the machine was off do not count.
    pub failing_for: Millis,
    /// `failing_for` when two answers of the API first showed two PDFs of the document, as they still do.
    pub disagreed_after: Option<Millis>,
    /// The last failure.
    pub failure: Option<Failure>,
    /// Why it last failed or waits.
    pub reason: Option<String>,
    /// The same as a code: a failure, or the code of a wait.
    pub reason_code: Option<String>,
    /// When anything about the work last changed. This and the next one are the work's own, in its own table.
    pub changed_at: Millis,
    /// When the work was due, if it was.
    pub due_at: Option<Millis>,
}

/// Its columns in `retry_state`.
const COLUMNS: &str =
    "attempts, doubtful, lost, refusals, failing_since, failing_for, disagreed_after, failure, reason, reason_code";

/// Which piece of work: the document, what is done with it, and the PDF that a delivery is of.
#[derive(Clone, Copy)]
pub(crate) struct Key<'a>(i64, &'a str, &'a str);

impl<'a> Key<'a> {
    /// To fetch the document. NAME of a destination has no colon.
    pub(crate) fn fetch(document: i64) -> Self {
        Key(document, "fetch:", "")
    }

    /// To report it.
    pub(crate) fn report(document: i64) -> Self {
        Key(document, "report:", "")
    }

    /// To deliver this version of it.
    pub(crate) fn delivery(document: i64, pdf: &'a str, destination: &'a str) -> Self {
        Key(document, destination, pdf)
    }

    /// What is to be done with a document in this state, or what it ended with, as people are told.
    pub(crate) fn told(document: i64, state: State) -> Self {
        match state {
            State::Delivered | State::Unreported => Key::report(document),
            _ => Key::fetch(document),
        }
    }

    /// What the stages do with a document in this state.
    pub(crate) fn tried(document: i64, state: State) -> Self {
        if state == State::Discovered { Key::fetch(document) } else { Key::report(document) }
    }
}

/// What is known of this work, without its times.
pub(crate) fn of(db: &Connection, Key(document, work, pdf): Key<'_>) -> QueryResult<Tries> {
    let of_work = "FROM retry_state WHERE document = ?1 AND work = ?2 AND pdf = ?3";
    let found = db.prepare_cached(&format!("SELECT {COLUMNS} {of_work}"))?.query_row((document, work, pdf), |row| {
        Ok(from_row!(row => Tries {
            attempts, doubtful, lost, refusals, failing_since, failing_for, disagreed_after, failure, reason, reason_code;
            changed_at: 0, due_at: None
        }))
    });
    found.optional().map(Option::unwrap_or_default)
}

/// Whether anything is known of any work on the document.
pub(super) fn any(db: &Connection, document: i64) -> QueryResult<bool> {
    db.prepare_cached("SELECT 1 FROM retry_state WHERE document = ?1")?.exists([document])
}

/// Changes what is known of this work. Nothing is written if it stays what it was.
pub(super) fn change(db: &Connection, key: Key<'_>, change: impl FnOnce(&mut Tries)) -> QueryResult<()> {
    let before = of(db, key)?;
    let (mut after, Key(document, work, pdf)) = (before.clone(), key);
    change(&mut after);
    if after == before {
        return Ok(());
    }
    if after == Tries::default() {
        let gone = "DELETE FROM retry_state WHERE document = ?1 AND work = ?2 AND pdf = ?3";
        return db.run(gone, (document, work, pdf));
    }
    let Tries { attempts, doubtful, lost, refusals, failing_since, failing_for, disagreed_after, .. } = after;
    let (failure, reason, code) = (after.failure, after.reason, after.reason_code);
    db.run(
        &format!(
            "INSERT OR REPLACE INTO retry_state ({COLUMNS}, document, work, pdf)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)"
        ),
        (
            attempts,
            doubtful,
            lost,
            refusals,
            failing_since,
            failing_for,
            disagreed_after,
            failure,
            reason,
            code,
            document,
            work,
            pdf,
        ),
    )
}

/// Says why this work waits; `None`: it does not any more.
pub(super) fn say(db: &Connection, key: Key<'_>, why: Option<(&str, &str)>) -> QueryResult<()> {
    change(db, key, |row| (row.reason, row.reason_code) = why.map(|(text, code)| (text.into(), code.into())).unzip())
}

/// Another account takes over the document, which is in this state: answers of the API to the account before say
/// nothing about it. How long it was tried counts for both, and what is to be reported stays.
pub(super) fn taken_over(db: &Connection, document: i64, state: State) -> QueryResult<()> {
    db.run(
        "UPDATE retry_state SET refusals = 0, doubtful = 0, failing_since = NULL
         WHERE document = ?1 AND work IN ('fetch:', 'report:')",
        [document],
    )?;
    let Key(_, work, _) = Key::tried(document, state);
    db.run(
        "UPDATE retry_state SET failure = NULL, reason_code = NULL WHERE document = ?1 AND work = ?2 AND ?3",
        params![document, work, state.is_open()],
    )
}

/// The document is requested anew: earlier refusals no longer count.
pub(super) fn forget_refusals(db: &Connection, document: i64) -> QueryResult<()> {
    db.run("UPDATE retry_state SET refusals = 0 WHERE document = ?1 AND refusals > 0", [document])
}

impl Tries {
    /// The last failure, or the one by which the work ended; `None` also for the code of a wait, which is no failure.
    pub(super) fn last_failure(&self) -> Option<Failure> {
        self.failure.clone().or_else(|| Failure::parse(self.reason_code.as_deref()?))
    }

    /// The work failed in a way that may pass, or waits.
    pub(super) fn postpone(&mut self, postponed: &Postponed<'_>, now: Millis) {
        let Postponed { reason, code, failure, charge, .. } = postponed;
        match charge {
            _ if *code == Some(NO_CONTENT.1) => self.failing_since = self.failing_since.or(Some(now)),
            // A success before the first of these attempts is no evidence, even if the first one failed slowly.
            Some(charge) if self.attempts == 0 => self.failing_since = Some(charge.began),
            Some(charge) => self.failing_since = self.failing_since.or(Some(charge.began)),
            None => {}
        }
        if let Some(charge) = charge {
            self.attempts += 1;
            self.doubtful += u32::from(charge.doubtful);
            self.failing_for += charge.failing_for;
        }
        self.failure = failure.cloned().or(self.failure.take());
        (self.reason, self.reason_code) = (Some((*reason).to_owned()), code.map(str::to_owned));
    }
}
