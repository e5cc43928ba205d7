//! Documents: what is due, and the one function that writes a change of state.

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::{Millis, QueryResult, deliveries, history};
use crate::document::{DocumentUuid, Version};
use crate::state::{Event, State, next};

/// A document as a stage works on it. It holds patient data in `metadata`, so it has no `Debug`.
#[derive(Clone)]
pub struct Document {
    /// The ledger's number for it.
    pub id: i64,
    /// Grows each time the document starts over: work of an older round is dropped.
    pub round: i64,
    /// Account, uuid and PDF.
    pub version: Version,
    /// Where it stands.
    pub state: State,
    /// `Metadata` as JSON, while the document is open.
    pub metadata: Option<String>,
    /// SHA-256 of the spooled PDF.
    pub sha256: Option<String>,
    /// Bytes of the spooled PDF.
    pub size: Option<u64>,
    /// Failed attempts in this state.
    pub attempts: u32,
    /// Downloads that were no acceptable PDF.
    pub strikes: u32,
    /// Times its spooled PDF was lost.
    pub started_over: u32,
    /// When the first of them failed.
    pub failing_since: Option<Millis>,
    /// Why it last failed, or why it is refused.
    pub reason: Option<String>,
    /// When anything about it last changed.
    pub changed_at: Millis,
    /// When the list first showed it.
    pub found_at: Millis,
}

/// The columns that [`read`] expects, of a table called `document`.
pub(super) const COLUMNS: &str = "document.id, document.round, document.account, document.uuid, document.pdf, \
     document.state, document.metadata, document.sha256, document.size, document.attempts, document.failing_since, \
     document.reason, document.strikes, document.changed_at, document.found_at, document.started_over";

pub(super) fn read(row: &Row<'_>) -> QueryResult<Document> {
    let (uuid, state): (String, String) = (row.get(3)?, row.get(5)?);
    let invalid = |column: usize, what: &str| {
        rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, what.to_owned().into())
    };
    Ok(Document {
        id: row.get(0)?,
        round: row.get(1)?,
        version: Version {
            account: row.get(2)?,
            uuid: DocumentUuid::parse(&uuid).ok_or_else(|| invalid(3, "not an identifier"))?,
            pdf: row.get(4)?,
        },
        state: State::parse(&state).ok_or_else(|| invalid(5, "not a state"))?,
        metadata: row.get(6)?,
        sha256: row.get(7)?,
        size: row.get(8)?,
        attempts: row.get(9)?,
        failing_since: row.get(10)?,
        reason: row.get(11)?,
        strikes: row.get(12)?,
        changed_at: row.get(13)?,
        found_at: row.get(14)?,
        started_over: row.get(15)?,
    })
}

/// Up to `limit` documents of the account that are due in this state, the longest due first.
///
/// # Errors
/// Those of SQLite.
pub fn due(db: &Connection, state: State, account: &str, now: Millis, limit: usize) -> QueryResult<Vec<Document>> {
    db.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM document WHERE state = ?1 AND account = ?2 AND due_at <= ?3 ORDER BY due_at LIMIT ?4"
    ))?
    .query_map(params![state.as_str(), account, now, limit], read)?
    .collect()
}

/// The due document that failed least, one that never did before all others: the best one to find out with whether a
/// pause can end, and the one that must not wait behind those that keep it up.
///
/// # Errors
/// Those of SQLite.
pub fn probe(db: &Connection, state: State, account: &str, now: Millis) -> QueryResult<Option<Document>> {
    db.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM document WHERE state = ?1 AND account = ?2 AND due_at <= ?3
         ORDER BY attempts, reason IS NOT NULL, due_at LIMIT 1"
    ))?
    .query_row(params![state.as_str(), account, now], read)
    .optional()
}

/// The next time after `now` at which a document of the account becomes due in this state.
///
/// # Errors
/// Those of SQLite.
pub fn next_due(db: &Connection, state: State, account: &str, now: Millis) -> QueryResult<Option<Millis>> {
    db.prepare_cached("SELECT min(due_at) FROM document WHERE state = ?1 AND account = ?2 AND due_at > ?3")?
        .query_row(params![state.as_str(), account, now], |row| row.get(0))
}

/// Brings due times of the account beyond `latest` back to `now`: no backoff is that long, so the clock was set back.
///
/// # Errors
/// Those of SQLite.
pub fn clamp_due(db: &Connection, account: &str, now: Millis, latest: Millis) -> QueryResult<usize> {
    let documents = db
        .prepare_cached(
            "UPDATE document SET due_at = ?1
             WHERE state IN ('discovered', 'fetched', 'delivered', 'failing') AND account = ?3 AND due_at > ?2",
        )?
        .execute(params![now, latest, account])?;
    let deliveries = db
        .prepare_cached("UPDATE delivery SET due_at = ?1 WHERE state = 'pending' AND due_at > ?2")?
        .execute(params![now, latest])?;
    let pauses =
        db.prepare_cached("UPDATE pause SET probe_at = ?1 WHERE probe_at > ?2")?.execute(params![now, latest])?;
    Ok(documents + deliveries + pauses)
}

/// Moves the document by `event`, if it is still in `round` and the event means something in its state. Returns the
/// new state. With it goes: a row of history, the attempts back to zero, a new round when it starts over, and no
/// metadata once it has ended.
///
/// # Errors
/// Those of SQLite.
pub fn transition(
    db: &Connection,
    id: i64,
    round: i64,
    event: Event,
    now: Millis,
    reason: Option<&str>,
) -> QueryResult<Option<State>> {
    let row: Option<(String, u32)> = db
        .prepare_cached("SELECT state, attempts FROM document WHERE id = ?1 AND round = ?2")?
        .query_row(params![id, round], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((before, attempts)) = row else { return Ok(None) };
    let Some((before, after)) = State::parse(&before).and_then(|state| Some((state, next(state, event)?))) else {
        return Ok(None);
    };
    let starts_over = after == State::Discovered;
    db.prepare_cached(
        "UPDATE document SET state = ?2, round = round + ?3, attempts = 0, failing_since = NULL,
                strikes = 0, started_over = CASE WHEN ?8 THEN started_over ELSE 0 END,
                looked = 0, reason = ?4, due_at = ?5, changed_at = ?6,
                metadata = CASE WHEN ?7 THEN metadata END, history_removed = 0,
                failure_sent = CASE WHEN ?3 THEN 0 ELSE failure_sent END
         WHERE id = ?1",
    )?
    .execute(params![
        id,
        after.as_str(),
        i64::from(starts_over),
        reason,
        after.is_open().then_some(now),
        now,
        after.is_open() && !starts_over,
        // The spooled PDF may be lost again: how often is counted until it is delivered.
        matches!(event, Event::Fetched | Event::StartOver)
    ])?;
    if before == State::Fetched {
        deliveries::suspend(db, id)?;
    }
    if starts_over && matches!((before, event), (State::Reported, Event::RetryRequested) | (_, Event::Relisted)) {
        deliveries::forget_success(db, id)?;
    }
    history::append(db, id, now, event.as_str(), after, attempts, None, reason)?;
    Ok(Some(after))
}

/// As [`transition`] with [`Event::StartOver`], and not due before `due_at`.
///
/// # Errors
/// Those of SQLite.
pub fn start_over(
    db: &Connection,
    id: i64,
    round: i64,
    due_at: Millis,
    now: Millis,
    reason: &str,
) -> QueryResult<Option<State>> {
    let state = transition(db, id, round, Event::StartOver, now, Some(reason))?;
    if state.is_some() {
        db.prepare_cached("UPDATE document SET due_at = ?2, started_over = started_over + 1 WHERE id = ?1")?
            .execute(params![id, due_at])?;
    }
    Ok(state)
}

/// What the fetch stage learned about a document.
pub struct Fetched {
    /// `pdf.uuid`, or empty.
    pub pdf: String,
    /// `document.type`
    pub kind: Option<String>,
    /// `Metadata` as JSON.
    pub metadata: String,
    /// Digest and length of what lies in the spool; `None` when every destination has this version already, so that
    /// nothing was downloaded.
    pub spooled: Option<(String, u64)>,
}

/// Records what was fetched and which destinations must get it, and moves the document on.
///
/// # Errors
/// Those of SQLite.
pub fn fetched(
    db: &Connection,
    document: &Document,
    fetched: &Fetched,
    destinations: &[String],
    now: Millis,
) -> QueryResult<Option<State>> {
    let (sha256, size) = fetched.spooled.clone().unzip();
    let updated = db
        .prepare_cached(
            "UPDATE document SET pdf = ?3, kind = ?4, metadata = ?5, sha256 = coalesce(?6, sha256), size = coalesce(?7, size),
                    -- Where the list has shown no PDF yet, a later one in it must not pass for this one.
                    listed_pdf = coalesce(listed_pdf, nullif(?3, ''))
             WHERE id = ?1 AND round = ?2 AND state = 'discovered'",
        )?
        .execute(params![document.id, document.round, fetched.pdf, fetched.kind, fetched.metadata, sha256, size])?;
    if updated == 0 {
        return Ok(None);
    }
    let pending = deliveries::plan(db, document.id, &fetched.pdf, destinations, now)?;
    let event = if pending == 0 { Event::AllDelivered } else { Event::Fetched };
    transition(db, document.id, document.round, event, now, None)
}

/// A failure that may pass, or a wait.
pub struct Postponed<'a> {
    /// When to try again.
    pub due_at: Millis,
    /// Whether it counts as an attempt of the document's own.
    pub charged: bool,
    /// Whether what was downloaded was no acceptable PDF.
    pub strike: bool,
    /// Why.
    pub reason: &'a str,
    /// Since when it counts as failing, when this is an attempt or one failed before.
    pub failing_since: Millis,
}

/// Since when the document fails in its present state; `None` when it does not.
///
/// # Errors
/// Those of SQLite.
pub fn failing_since(db: &Connection, id: i64) -> QueryResult<Option<Millis>> {
    let row = db.prepare_cached("SELECT failing_since FROM document WHERE id = ?1")?.query_row([id], |row| row.get(0));
    Ok(row.optional()?.flatten())
}

/// The documents of the account in these states could not be tried from `since` to `now`: that is none of the time for
/// which they fail (`sync.give_up_after`).
///
/// # Errors
/// Those of SQLite.
pub fn leave_out_time(db: &Connection, account: &str, states: &[State], since: Millis, now: Millis) -> QueryResult<()> {
    for state in states {
        db.prepare_cached(
            "UPDATE document SET failing_since = failing_since + max(0, ?4 - max(failing_since, ?3))
             WHERE state = ?1 AND account = ?2 AND failing_since IS NOT NULL",
        )?
        .execute(params![state.as_str(), account, since, now])?;
    }
    Ok(())
}

/// Leaves the document in its state until `due_at`.
///
/// # Errors
/// Those of SQLite.
pub fn postpone(db: &Connection, document: &Document, postponed: &Postponed<'_>, now: Millis) -> QueryResult<()> {
    let updated = db
        .prepare_cached(
            "UPDATE document SET due_at = ?3, attempts = attempts + ?5, changed_at = ?6,
                    strikes = strikes + ?8,
                    -- A failing document keeps what is to be reported, whatever becomes of the report.
                    reason = CASE WHEN state = 'failing' THEN reason ELSE ?4 END,
                    failing_since = CASE WHEN ?5 OR failing_since IS NOT NULL THEN ?9 END
             WHERE id = ?1 AND round = ?2 AND state = ?7",
        )?
        .execute(params![
            document.id,
            document.round,
            postponed.due_at,
            postponed.reason,
            i64::from(postponed.charged),
            now,
            document.state.as_str(),
            i64::from(postponed.strike),
            postponed.failing_since
        ])?;
    // A wait that repeats itself every minute says nothing new.
    let worth_a_row = postponed.charged || document.reason.as_deref() != Some(postponed.reason);
    if updated > 0 && worth_a_row {
        let (event, attempt) =
            if postponed.charged { ("postponed", document.attempts + 1) } else { ("waiting", document.attempts) };
        history::append(db, document.id, now, event, document.state, attempt, None, Some(postponed.reason))?;
    }
    Ok(())
}

/// What a person's retry did to a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retried {
    /// It goes on in this state.
    Moved(State),
    /// It was waiting for its next attempt and is due now.
    DueNow(State),
}

/// Retries one document because a person asked.
///
/// # Errors
/// Those of SQLite.
pub fn retry(db: &Connection, id: i64, now: Millis) -> QueryResult<Option<Retried>> {
    let row: Option<(i64, String)> = db
        .query_row("SELECT round, state FROM document WHERE id = ?1", [id], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((round, before)) = row else { return Ok(None) };
    if let Some(after) = transition(db, id, round, Event::RetryRequested, now, None)? {
        return Ok(Some(Retried::Moved(after)));
    }
    let Some(state) = State::parse(&before) else { return Ok(None) };
    db.execute("UPDATE document SET due_at = ?2 WHERE id = ?1 AND due_at IS NOT NULL", params![id, now])?;
    deliveries::due_now(db, id, now)?;
    history::append(db, id, now, Event::RetryRequested.as_str(), state, 0, None, None)?;
    Ok(Some(Retried::DueNow(state)))
}

/// The numbers of the documents with this uuid: one for each account that lists it.
///
/// # Errors
/// Those of SQLite.
pub fn find(db: &Connection, uuid: &str) -> QueryResult<Vec<i64>> {
    db.prepare("SELECT id FROM document WHERE uuid = ?1 COLLATE NOCASE ORDER BY account, id")?
        .query_map([uuid], |row| row.get(0))?
        .collect()
}

/// The numbers of up to `limit` documents that failed, above `after`, the lowest first.
///
/// # Errors
/// Those of SQLite.
pub fn failed(db: &Connection, after: i64, limit: usize) -> QueryResult<Vec<i64>> {
    db.prepare_cached(
        "SELECT id FROM document WHERE state IN ('failed', 'unreported') AND id > ?1 ORDER BY id LIMIT ?2",
    )?
    .query_map(params![after, limit], |row| row.get(0))?
    .collect()
}

/// Whether the PDF of a document should lie in the spool for this round.
///
/// # Errors
/// Those of SQLite.
pub fn is_spooled(db: &Connection, id: i64, round: i64) -> QueryResult<bool> {
    db.prepare_cached("SELECT 1 FROM document WHERE id = ?1 AND round = ?2 AND state = 'fetched'")?
        .exists(params![id, round])
}
