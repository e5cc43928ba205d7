//! What the API's list shows of documents, and what that means for those that are known.

use rusqlite::{Connection, params};

use super::columns::{Statements as _, from_row};
use super::documents::{self, Document, revise, transition};
use super::{Millis, QueryResult, deliveries, history};
use crate::document::DocumentUuid;
pub use crate::document::Listed;
use crate::failure::{Call, Failure, Scope};
use crate::state::{Event, State};

use self::taking::{Claim, ask_again, claim, lost, note_taken_over};
pub use self::taking::{adopt, another_may, orphans};

pub(super) mod taking;

/// Why a document waits that has no PDF, in words and as the code that stands for them.
pub const NOT_RENDERED: (&str, &str) = ("the PDF is not rendered yet", "not_rendered");

/// What seeing a listed document meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// Never seen before: it is now `discovered`.
    New,
    /// Known, nothing to do.
    Known,
    /// It would begin anew, though it has ended. One page may be stale: the list is to be asked for it. Nothing was
    /// written.
    Doubtful,
    /// It starts over.
    Reopened {
        /// Why.
        event: Event,
        /// The ledger's number for it.
        id: i64,
        /// The round that ended.
        round: i64,
        /// For how long it waits before that; milliseconds.
        wait: Millis,
    },
}

/// Who reads the list.
#[derive(Debug, Clone)]
pub struct Reader {
    /// Its account.
    pub account: String,
    /// The accounts of the configuration that can sign in.
    pub working: Vec<String>,
    /// What is paused of these, and which others of the configuration are paused as a whole.
    pub paused: Vec<Scope>,
    /// The number of the poll.
    pub poll: i64,
    /// Whether the list was asked for these documents, so that what it shows is no stale page.
    pub confirmed: bool,
    /// For how long what the list shows without a PDF is not read, unless it shows one before; milliseconds.
    pub draft_wait: Millis,
}

pub(crate) struct Known {
    pub(crate) id: i64,
    account: String,
    pub(crate) state: State,
    round: i64,
    pub(crate) listed: bool,
    pub(crate) listed_pdf: Option<String>,
    /// The PDF that it was last read with.
    pdf: String,
    /// How it, or its report, last failed.
    failure: Option<Failure>,
    /// How it last failed, whatever became of its report.
    before_report: Option<Failure>,
    /// Whether the API may be hearing of it just now.
    is_being_told: bool,
    /// When it is its turn.
    due_at: Option<Millis>,
    /// The number of the last poll that showed it.
    poll: i64,
}

/// `None` also for a word of a wait.
fn parsed(failure: Option<String>) -> Option<Failure> {
    failure.as_deref().and_then(Failure::parse)
}

pub(crate) fn known(db: &Connection, uuid: &DocumentUuid) -> QueryResult<Option<Known>> {
    let mut statement = db.prepare_cached(
        "SELECT id, account, state, round, listed, listed_pdf, pdf,
                coalesce(report_failure, failure, reason_code) AS failure,
                coalesce(failure, reason_code) AS before_report,
                state = 'failing' AND failure_sent = 1 AS is_being_told, due_at, sweep AS poll, uuid
         FROM document WHERE uuid = ?1 COLLATE NOCASE",
    )?;
    let mut rows = statement.query([uuid.as_str()])?;
    while let Some(row) = rows.next()? {
        if row.get::<_, DocumentUuid>("uuid")? != *uuid {
            continue;
        }
        return Ok(Some(from_row!(row => Known {
            id, account, state, round, listed, listed_pdf, pdf, failure: parsed, before_report: parsed, is_being_told, due_at,
            poll
        })));
    }
    Ok(None)
}

/// Records that the list shows a document. Who lists it first reads it; another account takes over what nobody reads
/// any more: what left the list of the first, and what belongs to an account that is gone from the configuration or
/// cannot sign in. What the first does not get on with, or what waits while that one is paused, goes to another account
/// that can go on, and ever more rarely to one that had it before: soon to who only could not go on, and at once where
/// the other is refused.
///
/// # Errors
/// Any SQLite error.
pub fn see(db: &Connection, reader: &Reader, shown: &Listed, now: Millis) -> QueryResult<Seen> {
    let Some(known) = known(db, &shown.uuid)? else {
        let due_at = now.saturating_add(if shown.is_draft { reader.draft_wait } else { 0 });
        let (reason, code) = shown.is_draft.then_some(NOT_RENDERED).unzip();
        db.run("INSERT INTO document (account, uuid, created_at, kind, state, listed_pdf, sweep, due_at, found_at, changed_at, reason, reason_code)
             VALUES (?1, ?2, ?3, ?4, 'discovered', ?5, ?6, ?8, ?7, ?7, ?9, ?10)", params![
            reader.account,
            shown.uuid.as_str(),
            shown.created_at,
            shown.kind,
            shown.pdf,
            reader.poll,
            now,
            due_at,
            reason,
            code
        ])?;
        history::append(db, db.last_insert_rowid(), now, "discovered", State::Discovered, 0, None, None)?;
        return Ok(Seen::New);
    };
    let (id, state, is_open) = (known.id, known.state, known.state.is_open());
    let anothers = known.account != reader.account;
    let lost = if anothers { lost(db, id, &reader.account)? } else { None };
    let claim = claim(reader, &known, shown, lost, now);
    let is_stuck = claim == Claim::Stopped;
    if claim == Claim::None {
        return Ok(Seen::Known);
    }
    let revised = matches!((&known.listed_pdf, &shown.pdf), (Some(before), Some(present)) if before != present)
        // It was read with this one already: asked for again by a person, or after a failure.
        && shown.pdf.as_ref() != Some(&known.pdf);
    // A list that shows it twice, or another PDF at every request, begins it anew once a poll: reading on would never
    // end.
    if revised && known.listed && !anothers && known.poll == reader.poll {
        return Ok(Seen::Known);
    }
    if (revised || !known.listed || is_stuck) && !is_open && !reader.confirmed {
        return Ok(Seen::Doubtful);
    }
    db.run(
        "UPDATE document SET listed = 1, missing_at = NULL, absent_at = NULL, unasked = 0, account = ?4,
                -- What the API said to the account before says nothing of this one.
                report_failure = CASE WHEN account = ?4 THEN report_failure END,
                report_reason = CASE WHEN account = ?4 THEN report_reason END,
                failure = CASE WHEN account = ?4 OR state <> 'discovered' THEN failure END,
                reason_code = CASE WHEN account = ?4 OR state NOT IN ('discovered', 'delivered') THEN reason_code END,
                refusals = CASE WHEN account = ?4 THEN refusals ELSE 0 END,
                strikes = CASE WHEN account = ?4 THEN strikes ELSE 0 END,
                failing_since = CASE WHEN account = ?4 THEN failing_since END,
                due_at = CASE WHEN ?5 AND (state IN ('discovered', 'delivered') OR (state = 'failing' AND report_failure IS NOT NULL))
                              THEN ?6 ELSE due_at END,
                sweep = CASE WHEN account = ?4 THEN max(sweep, ?2) ELSE ?2 END, listed_pdf = coalesce(?3, listed_pdf)
         WHERE id = ?1",
        params![id, reader.poll, shown.pdf, reader.account, is_stuck, now],
    )?;
    if anothers {
        note_taken_over(db, reader, &known, lost, now)?;
    }
    if known.listed_pdf.is_none() && shown.pdf.is_some() {
        // Rendered at last: whoever waits for it need not wait any longer.
        db.run(
            "UPDATE document SET due_at = ?2, changed_at = ?2
             WHERE id = ?1 AND state = 'discovered' AND (attempts = 0 OR reason_code = 'not_rendered')",
            params![id, now],
        )?;
    }
    let reopened = |event, wait| Seen::Reopened { event, id, round: known.round, wait };
    if revised {
        let anew = revise(db, id, known.round, shown.pdf.as_deref(), now)?;
        return Ok(anew.map_or(Seen::Known, |(_, wait)| reopened(Event::Revised, wait)));
    }
    // What another account would be answered alike is told, and what may have been told stands.
    let may_differ = !known.is_being_told && known.before_report.as_ref().is_some_and(Failure::is_of_account);
    let event = match state {
        State::Failing if is_stuck && may_differ => Event::Retracted,
        // It lies where it belongs: another account tells it.
        State::Unreported if is_stuck => Event::Retracted,
        _ if !known.listed || is_stuck && !is_open => Event::Relisted,
        _ => return Ok(Seen::Known),
    };
    if !is_stuck {
        ask_again(db, id)?;
    }
    let moved = transition(db, id, known.round, event, now, None)?;
    Ok(moved.map_or(Seen::Known, |_| reopened(event, 0)))
}

/// By what the list shows the document, which has ended, would begin anew, and the list cannot be asked for it. Returns
/// by how many polls in a row that was so.
///
/// # Errors
/// Any SQLite error.
pub fn could_not_ask(db: &Connection, uuid: &DocumentUuid) -> QueryResult<u32> {
    db.perhaps(
        "UPDATE document SET unasked = unasked + 1 WHERE uuid = ?1 COLLATE NOCASE RETURNING unasked",
        [uuid.as_str()],
    )
    .map(Option::unwrap_or_default)
}

/// Reading or reporting the document answered its account 404: the list is to be asked for it.
///
/// # Errors
/// Any SQLite error.
pub fn missing(db: &Connection, document: &Document, now: Millis) -> QueryResult<()> {
    db.run(
        "UPDATE document SET missing_at = coalesce(missing_at, ?4) WHERE id = ?1 AND round = ?2 AND account = ?3",
        params![document.id, document.round, document.version.account, now],
    )
}

/// The API shows the document itself: that it answered 404 before was wrong.
///
/// # Errors
/// Any SQLite error.
pub fn is_there(db: &Connection, id: i64) -> QueryResult<()> {
    db.run("UPDATE document SET missing_at = NULL, absent_at = NULL WHERE id = ?1 AND missing_at IS NOT NULL", [id])
}

/// What a poll has read of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Read {
    /// All of it, in polls from this number on.
    Whole(i64),
    /// Some of it, in the poll of this number.
    Part(i64),
}

/// Documents of the account that the list has not shown although it should, with numbers above `after`, the lowest
/// first: those that answer 404, those that ended lately (after three looks that showed them they are left to readings
/// of the whole list), and after a reading of the whole list everything else that is not under way to its destinations.
///
/// # Errors
/// Any SQLite error.
pub fn not_shown(
    db: &Connection,
    account: &str,
    read: Read,
    after: i64,
    limit: usize,
) -> QueryResult<Vec<(i64, DocumentUuid)>> {
    let (which, poll) = match read {
        Read::Whole(poll) => (
            "INDEXED BY document_in_list WHERE (listed = 1 OR missing_at IS NOT NULL)
               AND (missing_at IS NOT NULL OR state NOT IN ('fetched', 'delivered', 'failing'))",
            poll,
        ),
        Read::Part(poll) => (
            "INDEXED BY document_to_look_for
             WHERE (missing_at IS NOT NULL OR (listed = 1 AND looked < 3 AND state IN ('reported', 'failed')))",
            poll,
        ),
    };
    db.rows(
        &format!(
            "SELECT id, uuid FROM document {which} AND account = ?1 AND sweep < ?2 AND id > ?3 ORDER BY id LIMIT ?4"
        ),
        params![account, poll, after, limit],
    )
}

/// The list, asked for this document, shows it.
///
/// # Errors
/// Any SQLite error.
pub fn present(db: &Connection, id: i64) -> QueryResult<()> {
    db.run("UPDATE document SET looked = looked + 1, missing_at = NULL, absent_at = NULL WHERE id = ?1", [id])
}

/// What else is known when the list, asked for a document, does not show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Absence {
    /// The list of the synchronized documents shows it.
    pub synchronized: bool,
    /// The list shows others: it is not merely empty.
    pub others: bool,
    /// A look that decides must come so long after the first, also one of another process, unless the document is shown
    /// as synchronized.
    pub apart: Millis,
}

/// What [`absent`] came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// Nothing is decided.
    Undecided,
    /// A document that had ended, or of which the API was told how it ended, has left the list.
    Ended,
    /// A document that was open is withdrawn.
    Withdrawn,
    /// A report may be why the list does not show it, and a 404 is held against it: it is to be read first. Nothing is
    /// written.
    Doubtful,
}

/// Why a document is withdrawn.
pub const WITHDRAWN: &str = "the API does not show the document any more, asked for it twice";

/// The list, asked for this document, does not show it. An empty list proves nothing by itself: there must be a 404, or
/// the document among the synchronized ones, or others in the list. The second such look decides, unless a report may
/// be why.
///
/// # Errors
/// Any SQLite error.
pub fn absent(db: &Connection, id: i64, absence: Absence, now: Millis) -> QueryResult<Left> {
    type Row = (i64, State, Option<Millis>, Option<Millis>, Option<Failure>);
    let (round, state, missing_at, absent_at, report_failure): Row = db
        .prepare_cached("SELECT round, state, missing_at, absent_at, report_failure FROM document WHERE id = ?1")?
        .query_row([id], |row| row.try_into())?;
    if !(absence.synchronized || absence.others || missing_at.is_some()) {
        return Ok(Left::Undecided);
    }
    match absent_at {
        // Afterwards: the clock was set back.
        Some(at) if at <= now => {
            if !absence.synchronized && now - at < absence.apart {
                return Ok(Left::Undecided);
            }
        }
        _ => {
            db.run("UPDATE document SET absent_at = ?2 WHERE id = ?1", [id, now])?;
            return Ok(Left::Undecided);
        }
    }
    // A report that is answered 404 is an answer about this very version.
    let by_report = missing_at.is_some() && report_failure.is_some_and(|failure| failure.call == Call::Report);
    let has_ended = !state.is_open() || !by_report && may_have_been_told(db, id)?;
    if has_ended && state.is_open() && missing_at.is_some() && !absence.synchronized {
        return Ok(Left::Doubtful);
    }
    db.run("UPDATE document SET listed = 0, missing_at = NULL, absent_at = NULL WHERE id = ?1", [id])?;
    if has_ended {
        return Ok(Left::Ended);
    }
    withdraw(db, id, round, now)
}

fn withdraw(db: &Connection, id: i64, round: i64, now: Millis) -> QueryResult<Left> {
    let moved = transition(db, id, round, Event::Gone, now, Some(WITHDRAWN))?;
    Ok(moved.map_or(Left::Undecided, |_| Left::Withdrawn))
}

/// What was [`Left::Doubtful`] was read, and the API does not know it.
///
/// # Errors
/// Any SQLite error.
pub fn is_gone(db: &Connection, id: i64, now: Millis) -> QueryResult<Left> {
    let round = db.perhaps(
        "UPDATE document SET listed = 0, missing_at = NULL, absent_at = NULL WHERE id = ?1 AND missing_at IS NOT NULL
         RETURNING round",
        [id],
    )?;
    round.map_or(Ok(Left::Undecided), |round| withdraw(db, id, round, now))
}

/// The list of the synchronized documents shows this one, which has ended, with another PDF than the one that it ended
/// with: what took it out of the list of unsynchronized ones may have been the report about that one. The other starts,
/// unless its version was delivered or waited for before. Returns the document as it was, what it is now, and for how
/// long it waits.
///
/// # Errors
/// Any SQLite error.
pub fn ended_with_another(
    db: &Connection,
    id: i64,
    pdf: &str,
    now: Millis,
) -> QueryResult<Option<(Document, State, Millis)>> {
    let Some(document) = documents::by_number(db, id)? else { return Ok(None) };
    let known = match document.state {
        State::Reported => Some(document.version.pdf.as_str()),
        State::Failed => document.tried_pdf.as_deref(),
        _ => None,
    };
    // A server may name its PDFs in two ways, which cost a wait before.
    if document.has_accepted(pdf)
        || known.is_none_or(|known| known.is_empty() || known.eq_ignore_ascii_case(pdf))
        || !deliveries::delivered_to(db, id, pdf)?.is_empty()
    {
        return Ok(None);
    }
    let anew = revise(db, id, document.round, Some(pdf), now)?;
    Ok(anew.map(|(state, wait)| (document, state, wait)))
}

/// Whether the API was told how a version of the document ended, or may have been, since it asked for it: from the
/// moment on in which there is something to report, whatever came between, a report may have taken effect whose answer
/// was lost. That the list does not show the document is what a report does, also where a new version of it waits by
/// now. One that the API does not give any more answers 404. Only what ended loses its history ([`super::prune`]).
fn may_have_been_told(db: &Connection, id: i64) -> QueryResult<bool> {
    db.perhaps(
        "SELECT event NOT IN ('discovered', 'relisted') FROM history
         WHERE document = ?1 AND event IN ('discovered', 'relisted', 'all_delivered', 'refused', 'report_accepted')
         ORDER BY id DESC LIMIT 1",
        [id],
    )
    .map(|told| told.unwrap_or(true))
}

#[cfg(test)]
mod tests;
