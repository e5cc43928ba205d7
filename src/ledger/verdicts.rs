//! The failure of a document on its way to the API: kept back, sent, or taken back before that.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::documents::transition;
use super::{Millis, QueryResult, deliveries};
use crate::state::{Event, State};

/// What failed, in a way that turned out to be the origin's or the destination's.
#[derive(Debug, Clone)]
pub enum Verdict {
    /// The document itself.
    Document,
    /// Its delivery to this destination.
    Delivery(String),
    /// The report of it.
    Report,
}

/// What became of the verdicts that were to be taken back.
#[derive(Debug, Default)]
pub struct TakenBack {
    /// Those that were, by the state that the document is in now.
    pub states: Vec<State>,
    /// Those that stand for now, because the API may know of the failure.
    pub sent: usize,
}

/// Values of `document.failure_sent`.
const NOT_SENT: u8 = 0;
const SENT: u8 = 1;
/// Sent, and then others turned out to share the failure: to be taken back when the API says that it took no notice.
const SENT_AND_SHARED: u8 = 2;

/// Keeps a document that failed from being reported before `until`; one that is to be reported later stays so.
///
/// # Errors
/// Those of SQLite.
pub fn hold_report(db: &Connection, id: i64, until: Millis) -> QueryResult<()> {
    db.prepare_cached("UPDATE document SET due_at = max(due_at, ?2) WHERE id = ?1 AND state = 'failing'")?
        .execute(params![id, until])
        .map(|_| ())
}

/// Right before the API is told of the failure: from now on it may know of it, whatever becomes of the answer, and the
/// verdict stands. Returns whether it was sent before; `None` when there is nothing to tell any more.
///
/// # Errors
/// Those of SQLite.
pub fn sending(db: &Connection, id: i64, round: i64) -> QueryResult<Option<bool>> {
    let before = sent(db, id, round)?;
    if before == Some(NOT_SENT) {
        set_sent(db, id, SENT)?;
    }
    Ok(before.map(|before| before != NOT_SENT))
}

/// The API has certainly not taken notice of the failure. If others share it, the verdict is taken back now: returns the
/// state of the document then.
///
/// # Errors
/// Those of SQLite.
pub fn not_taken(db: &Connection, id: i64, round: i64, reason: &str, now: Millis) -> QueryResult<Option<State>> {
    match sent(db, id, round)? {
        Some(SENT_AND_SHARED) => transition(db, id, round, Event::TakenBack, now, Some(reason)),
        Some(_) => set_sent(db, id, NOT_SENT).map(|()| None),
        None => Ok(None),
    }
}

fn sent(db: &Connection, id: i64, round: i64) -> QueryResult<Option<u8>> {
    db.prepare_cached("SELECT failure_sent FROM document WHERE id = ?1 AND round = ?2 AND state = 'failing'")?
        .query_row(params![id, round], |row| row.get(0))
        .optional()
}

fn set_sent(db: &Connection, id: i64, sent: u8) -> QueryResult<()> {
    db.prepare_cached("UPDATE document SET failure_sent = ?2 WHERE id = ?1")?.execute(params![id, sent]).map(|_| ())
}

/// Takes back verdicts that turned out to be no fault of these documents; not those of which the API may know.
///
/// # Errors
/// Those of SQLite.
pub fn take_back(db: &Connection, ids: &[i64], verdict: &Verdict, reason: &str, now: Millis) -> QueryResult<TakenBack> {
    let mut taken_back = TakenBack::default();
    for id in ids {
        let row: Option<(i64, String, Option<String>)> = db
            .prepare_cached("SELECT round, state, reason FROM document WHERE id = ?1")?
            .query_row([id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .optional()?;
        let Some((round, state, of_its_own)) = row else { continue };
        let state = match (verdict, State::parse(&state)) {
            // That it failed is in no doubt, only that the API does not want to hear of it.
            (Verdict::Report, _) => transition(db, *id, round, Event::ReportTakenBack, now, of_its_own.as_deref())?,
            // It still waits for another destination.
            (Verdict::Delivery(destination), Some(State::Fetched)) => {
                deliveries::take_back(db, *id, destination, reason, now)?.then_some(State::Fetched)
            }
            (_, Some(State::Failing)) if sent(db, *id, round)? != Some(NOT_SENT) => {
                set_sent(db, *id, SENT_AND_SHARED)?;
                taken_back.sent += 1;
                None
            }
            _ => transition(db, *id, round, Event::TakenBack, now, Some(reason))?,
        };
        taken_back.states.extend(state);
    }
    Ok(taken_back)
}
