//! What the API's list shows, and what that means for known documents.

use rusqlite::{Connection, params};

use super::columns::{Statements as _, from_row};
use super::documents::{self, Document, revise, transition};
use super::tries::{self, Key};
use super::{Millis, QueryResult, deliveries, history};
pub use crate::domain::document::Listed;
use crate::domain::document::{DocumentUuid, contradict, edition};
use crate::domain::failure::{Call, Failure, Scope};
use crate::domain::state::{Event, State};

use self::taking::{Claim, ask_again, claim, lost, note_taken_over};
pub use self::taking::{adopt, another_may, orphans};

pub(super) mod taking;

/// Why a document without a PDF waits: in words, and as a code.
pub const NOT_RENDERED: (&str, &str) = ("the PDF is not rendered yet", "not_rendered");

/// The effect of seeing a document in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// The document is new: it is now `discovered`.
    New,
    /// The document is known, and there is nothing to do.
    Known,
    /// The document has ended, and would start over, or has to be read. One page may be stale, so the list must first be
    /// queried for the document. Nothing was written.
    Doubtful,
    /// The document of this number must be read: the service may have corrected its patient. Its
    /// `read_at` says so until it was.
    Unread(i64),
    /// The document starts over.
    Reopened {
        /// Why.
        event: Event,
        /// The ledger's number for it.
        id: i64,
        /// The round that ended.
        round: i64,
        /// How long the document waits before it starts; milliseconds.
        wait: Millis,
    },
}

/// A poll that reads an account's list.
#[derive(Debug, Clone)]
pub struct Reader {
    /// The account.
    pub account: String,
    /// The accounts of the configuration that can sign in.
    pub working: Vec<String>,
    /// The paused scopes of these accounts, and the other configured accounts that are paused as a whole.
    pub paused: Vec<Scope>,
    /// The number of the poll.
    pub poll: i64,
    /// Whether the list was queried for these documents, so that it is no stale page.
    pub confirmed: bool,
    /// How long a document that the list shows without a PDF is not read, unless the list shows a PDF before;
    /// milliseconds.
    pub draft_wait: Millis,
}

pub(crate) struct Known {
    pub(crate) id: i64,
    account: String,
    pub(crate) state: State,
    round: i64,
    pub(crate) listed: bool,
    pub(crate) listed_pdf: Option<String>,
    listed_patient: Option<String>,
    /// The patient that the document was last read with.
    patient: Option<String>,
    read_at: Option<Millis>,
    changed_at: Millis,
    absent_at: Option<Millis>,
    /// The PDF that the document was last read with.
    pdf: String,
    /// The last failure of its report, or else of the document.
    failure: Option<Failure>,
    /// The last failure of the document, whatever happened to its report.
    before_report: Option<Failure>,
    /// Whether a report of its failure may be under way.
    is_being_told: bool,
    /// Whether its report failed.
    report_failed: bool,
    /// When the document is due.
    due_at: Option<Millis>,
    /// The number of the last poll that showed the document.
    poll: i64,
}

pub(crate) fn known(db: &Connection, uuid: &DocumentUuid) -> QueryResult<Option<Known>> {
    let mut statement = db.prepare_cached(
        "SELECT id, account, state, round, listed, listed_pdf, pdf, listed_patient,
                CASE WHEN patient NOT LIKE 'letter %' THEN patient END AS patient, read_at, changed_at, absent_at,
                state = 'failing' AND failure_sent = 1 AS is_being_told, due_at, sweep AS poll, uuid
         FROM document WHERE uuid = ?1 COLLATE NOCASE",
    )?;
    let mut rows = statement.query([uuid.as_str()])?;
    while let Some(row) = rows.next()? {
        if row.get::<_, DocumentUuid>("uuid")? != *uuid {
            continue;
        }
        let (id, state) = (row.get("id")?, row.get("state")?);
        let report = tries::of(db, Key::report(id))?.failure;
        let told = tries::of(db, Key::told(id, state))?.last_failure();
        return Ok(Some(from_row!(row => Known {
            account, round, listed, listed_pdf, pdf, listed_patient, patient, read_at, changed_at, absent_at,
            is_being_told, due_at, poll;
            id: id, state: state, report_failed: report.is_some(), failure: report.or_else(|| told.clone()),
            before_report: told
        })));
    }
    Ok(None)
}

/// Whether a document that is filed, as far as anybody knows, must be read once more: the list names another patient
/// than the document had when it was read, or shows one that was reported, and that was away from the list or was not
/// read since its report. One that merely stays in the list is then left alone.
fn must_be_read(known: &Known, reader: &Reader, shown: &Listed) -> bool {
    let is_filed = matches!(known.state, State::Fetched | State::Delivered | State::Reported);
    if !is_filed || !known.listed || known.account != reader.account {
        return false;
    }
    let names_another = |named: &String| known.patient.as_ref().is_some_and(|read| contradict(named, read));
    let is_corrected = shown.patient != known.listed_patient && shown.patient.as_ref().is_some_and(names_another);
    let is_shown_anew = known.absent_at.is_some() || known.read_at.is_some_and(|read_at| read_at < known.changed_at);
    is_corrected || known.state == State::Reported && is_shown_anew || known.read_at.is_none()
}

/// The document is new.
fn found(db: &Connection, reader: &Reader, shown: &Listed, now: Millis) -> QueryResult<()> {
    let due_at = now.saturating_add(if shown.is_draft { reader.draft_wait } else { 0 });
    db.run(
        "INSERT INTO document (account, uuid, created_at, kind, state, listed_pdf, sweep, due_at, found_at, changed_at,
                               listed_patient)
         VALUES (?1, ?2, ?3, ?4, 'discovered', ?5, ?6, ?8, ?7, ?7, ?9)",
        params![
            reader.account,
            shown.uuid.as_str(),
            shown.created_at,
            shown.kind,
            documents::unless_anothers(db, 0, shown.pdf.as_deref())?,
            reader.poll,
            now,
            due_at,
            shown.patient
        ],
    )?;
    let id = db.last_insert_rowid();
    tries::say(db, Key::fetch(id), shown.is_draft.then_some(NOT_RENDERED))?;
    history::append(db, (id, None), now, "discovered", State::Discovered, 0, None)
}

/// Records that the list shows a document. The account that lists a document first processes it. Another account takes
/// it over in two cases:
/// - The document left the first account's list, or that account is gone from the configuration or cannot sign in.
/// - The first account cannot process the document or is paused, and the other one can go on.
///
/// An account that had the document before gets it back ever more rarely: soon if it only could not go on, and at once
/// if the current account is refused.
pub fn see(db: &Connection, reader: &Reader, shown: &Listed, now: Millis) -> QueryResult<Seen> {
    let Some(known) = known(db, &shown.uuid)? else {
        found(db, reader, shown, now)?;
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
    let (pdf, before) = (shown.pdf.as_deref(), known.listed_pdf.as_deref());
    let pdf = if pdf == before { pdf } else { documents::unless_anothers(db, id, pdf)? };
    let revised = matches!((before, pdf), (Some(before), Some(present)) if before != present)
        // The document was already read with this PDF: after a person's retry, or after a failure.
        && pdf != Some(edition::rendered(&known.pdf));
    // A list may show the document twice, or another PDF at every request. It starts over at most once a poll, or
    // reading the list would never end.
    if revised && known.listed && !anothers && known.poll == reader.poll {
        return Ok(Seen::Known);
    }
    let is_unread = !revised && must_be_read(&known, reader, shown);
    if (is_unread || (revised || !known.listed || is_stuck) && !is_open) && !reader.confirmed {
        return Ok(Seen::Doubtful);
    }
    is_shown(db, reader, &known, shown.patient.as_deref(), (is_stuck, is_unread), now)?;
    shows_pdf(db, id, before, pdf, now)?;
    if anothers {
        note_taken_over(db, reader, &known, lost, now)?;
    }
    let reopened = |event, wait| Seen::Reopened { event, id, round: known.round, wait };
    if revised {
        let anew = revise(db, id, known.round, pdf, now)?;
        return Ok(anew.map_or(Seen::Known, |(_, wait)| reopened(Event::Revised, wait)));
    }
    // A failure that every account would get is reported, and a failure that the API may know of stands.
    let may_differ = !known.is_being_told && known.before_report.as_ref().is_some_and(Failure::is_of_account);
    let event = match state {
        State::Failing if is_stuck && may_differ => Event::Retracted,
        // The document is delivered: the other account reports it.
        State::Unreported if is_stuck => Event::Retracted,
        _ if !known.listed || is_stuck && !is_open => Event::Relisted,
        _ if is_unread => return Ok(Seen::Unread(id)),
        _ => return Ok(Seen::Known),
    };
    if !is_stuck {
        ask_again(db, id)?;
    }
    let moved = transition(db, id, known.round, event, now, None)?;
    Ok(moved.map_or(Seen::Known, |_| reopened(event, 0)))
}

/// The list of the reader's account shows the document, and for which patient. If it is stuck with another account, it
/// goes on at once.
fn is_shown(
    db: &Connection,
    reader: &Reader,
    known: &Known,
    patient: Option<&str>,
    (is_stuck, is_unread): (bool, bool),
    now: Millis,
) -> QueryResult<()> {
    let has_to = match known.state {
        State::Discovered | State::Delivered => true,
        state => state == State::Failing && known.report_failed,
    };
    if known.account != reader.account {
        tries::taken_over(db, known.id, known.state)?;
    }
    db.run(
        "UPDATE document SET listed = 1, missing_at = NULL, absent_at = NULL, unasked = 0, account = ?4,
                first_account = CASE WHEN account = ?4 THEN first_account ELSE coalesce(first_account, account) END,
                due_at = CASE WHEN ?5 THEN ?6 ELSE due_at END,
                sweep = CASE WHEN account = ?4 THEN max(sweep, ?2) ELSE ?2 END,
                listed_patient = coalesce(?3, listed_patient),
                read_at = CASE WHEN NOT ?7 THEN read_at END
         WHERE id = ?1",
        params![known.id, reader.poll, patient, reader.account, is_stuck && has_to, now, is_unread],
    )
}

/// The list shows this PDF, and showed the one `before`.
fn shows_pdf(db: &Connection, id: i64, before: Option<&str>, pdf: Option<&str>, now: Millis) -> QueryResult<()> {
    // Only where it changes: it is in an index.
    if pdf.is_some() && pdf != before {
        db.run("UPDATE document SET listed_pdf = ?2 WHERE id = ?1", params![id, pdf])?;
    }
    if before.is_none() && pdf.is_some() {
        // The PDF is rendered now: the document need not wait any longer.
        db.run(
            "UPDATE document SET due_at = ?2, changed_at = ?2
             WHERE id = ?1 AND state = 'discovered' AND NOT EXISTS (
                 SELECT 1 FROM retry_state
                 WHERE document = ?1 AND work = 'fetch:' AND attempts > 0 AND reason_code IS NOT 'not_rendered')",
            params![id, now],
        )?;
    }
    Ok(())
}

/// Counts a poll in which a document that has ended would start over, but the list could not be queried for it. Returns
/// the number of such polls in a row.
pub fn could_not_ask(db: &Connection, uuid: &DocumentUuid) -> QueryResult<u32> {
    db.perhaps(
        "UPDATE document SET unasked = unasked + 1 WHERE uuid = ?1 COLLATE NOCASE RETURNING unasked",
        [uuid.as_str()],
    )
    .map(Option::unwrap_or_default)
}

/// Reading or reporting the document returned 404 to its account: the list must be queried for it.
pub fn missing(db: &Connection, document: &Document, now: Millis) -> QueryResult<()> {
    db.run(
        "UPDATE document SET missing_at = coalesce(missing_at, ?4) WHERE id = ?1 AND round = ?2 AND account = ?3",
        params![document.id, document.round, document.version.account, now],
    )
}

/// The API shows the document itself: an earlier 404 was wrong.
pub fn is_there(db: &Connection, id: i64) -> QueryResult<()> {
    db.run("UPDATE document SET missing_at = NULL, absent_at = NULL WHERE id = ?1 AND missing_at IS NOT NULL", [id])
}

/// How much of the list was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Read {
    /// The whole list, in polls from this number on.
    Whole(i64),
    /// A part of the list, in the poll of this number.
    Part(i64),
}

/// Documents of the account that the list should have shown and did not, with numbers above `after`, the lowest first:
/// - those that return 404;
/// - those that ended lately; after three queries that showed one, it is left to readings of the whole list;
/// - after a reading of the whole list, all others that are not on their way to destinations or failing.
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

/// A query of the list for this document shows it.
pub fn present(db: &Connection, id: i64) -> QueryResult<()> {
    db.run("UPDATE document SET looked = looked + 1, missing_at = NULL, absent_at = NULL WHERE id = ?1", [id])
}

/// What else is known when a query of the list for a document does not show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Absence {
    /// The list of synchronized documents shows the document.
    pub synchronized: bool,
    /// The list shows other documents, so it is not merely empty.
    pub others: bool,
    /// The least time between the first query and the one that decides, whichever process makes them. It does not apply
    /// to a document that is shown as synchronized. Milliseconds.
    pub apart: Millis,
}

/// The result of [`absent`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// Nothing is decided.
    Undecided,
    /// A document left the list that had ended, or whose end was or may have been reported.
    Ended,
    /// An open document is withdrawn.
    Withdrawn,
    /// A report may be the reason why the list does not show the document, but the document also returned 404. It must
    /// be read first. Nothing was written.
    Doubtful,
}

/// Why a document is withdrawn.
pub const WITHDRAWN: &str = "the API does not show the document any more, asked for it twice";

/// A query of the list for this document does not show it. An empty list alone proves nothing: there must also be a
/// 404, the document among the synchronized ones, or other documents in the list. The second such query decides, unless
/// a report may be the reason.
pub fn absent(db: &Connection, id: i64, absence: Absence, now: Millis) -> QueryResult<Left> {
    let (round, state, missing_at, absent_at): (i64, State, Option<Millis>, Option<Millis>) = db
        .prepare_cached("SELECT round, state, missing_at, absent_at FROM document WHERE id = ?1")?
        .query_row([id], |row| row.try_into())?;
    if !(absence.synchronized || absence.others || missing_at.is_some()) {
        return Ok(Left::Undecided);
    }
    match absent_at {
        // A time in the future means that the clock was set back.
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
    // A 404 to a report is an answer about this very version.
    let report_failure = tries::of(db, Key::report(id))?.failure;
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
    let moved = transition(db, id, round, Event::Gone, now, Some(WITHDRAWN.into()))?;
    Ok(moved.map_or(Left::Undecided, |_| Left::Withdrawn))
}

/// A document that was [`Left::Doubtful`] was read, and the API does not know it.
pub fn is_gone(db: &Connection, id: i64, now: Millis) -> QueryResult<Left> {
    let round = db.perhaps(
        "UPDATE document SET listed = 0, missing_at = NULL, absent_at = NULL WHERE id = ?1 AND missing_at IS NOT NULL
         RETURNING round",
        [id],
    )?;
    round.map_or(Ok(Left::Undecided), |round| withdraw(db, id, round, now))
}

/// The list of synchronized documents shows this document, which has ended, with another PDF than the one that it ended
/// with. The report of the old PDF may have taken it off the list of unsynchronized ones. The new PDF starts, unless
/// its version was delivered or waited for before. Returns the document as it was, its new state, and how long it
/// waits.
pub fn ended_with_another(
    db: &Connection,
    id: i64,
    pdf: &str,
    now: Millis,
) -> QueryResult<Option<(Document, State, Millis)>> {
    let Some(document) = documents::by_number(db, id)? else { return Ok(None) };
    let known = match document.state {
        State::Reported => Some(edition::rendered(&document.version.pdf)),
        State::Failed => document.tried_pdf.as_deref(),
        _ => None,
    };
    // `has_accepted`: a server that names its PDFs in two ways has already cost one wait.
    if document.has_accepted(pdf)
        || known.is_none_or(|known| known.is_empty() || known.eq_ignore_ascii_case(pdf))
        || !deliveries::delivered_to(db, id, &document.again(pdf))?.is_empty()
    {
        return Ok(None);
    }
    let anew = revise(db, id, document.round, Some(pdf), now)?;
    Ok(anew.map(|(state, wait)| (document, state, wait)))
}

/// Whether a report of how a version of the document ended was, or may have been, sent since the API last listed the
/// document anew. As soon as there is something to report, a report may have taken effect although its answer was lost.
/// A report takes a document off the list, also when a new version waits by now; a document that the API no longer has
/// returns 404. Without any history the answer is yes: only documents that ended lose their history ([`super::prune`]).
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
