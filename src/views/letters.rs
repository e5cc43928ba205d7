//! What the status page shows of single documents. Everything is bounded, because a person reads the page.

use rusqlite::{Connection, Row, params};

use super::search::PlaceView;
use super::waits::Waits;
use crate::language::Reason;
use crate::ledger::columns::{Statements as _, from_row};
use crate::ledger::{Millis, QueryResult, now};
use crate::state::State;

/// A document on the status page. May hold patient data in `name` and `places`, so it has no `Debug`.
#[derive(Clone)]
pub struct LetterView {
    /// Its identifier.
    pub uuid: String,
    /// The account that lists it.
    pub account: String,
    /// `document.type`
    pub kind: Option<String>,
    /// Its state.
    pub state: State,
    /// Why it waits or failed, including a pause, or each destination that it waits for or that refused it.
    pub reasons: Vec<Reason>,
    /// When it is processed next.
    pub next_attempt: Option<Millis>,
    /// When docsyncd first saw it.
    pub found_at: Millis,
    /// When anything about it last changed.
    pub changed_at: Millis,
    /// The patient's name, as far as it is kept.
    pub name: Option<String>,
    /// Where it was filed, as far as that is kept.
    pub places: Vec<PlaceView>,
}

/// Some documents, and whether there are more.
#[derive(Clone, Default)]
pub struct Letters {
    /// Up to the requested number.
    pub shown: Vec<LetterView>,
    /// Whether these are not all.
    pub more: bool,
}

/// The order of the documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The last changed come first.
    Newest,
    /// Those unchanged for longest come first.
    Oldest,
}

const COLUMNS: &str = "uuid, account, kind, state, due_at AS next_attempt, found_at, changed_at,
    (SELECT nullif(shown, '') FROM name WHERE name.document = document.id) AS name, id, reason, reason_code";

fn read(row: &Row<'_>) -> QueryResult<(i64, LetterView)> {
    let mut letter = from_row!(row => LetterView {
        uuid, account, kind, state, next_attempt, found_at, changed_at, name; reasons: Vec::new(), places: Vec::new()
    });
    if let Some(text) = row.get("reason")? {
        let (name, ended) = (letter.account.clone(), letter.state.is_failure());
        letter.reasons.push(Reason { text, code: row.get("reason_code")?, name, ended });
    }
    Ok((row.get("id")?, letter))
}

/// Up to `limit` documents in one of these states that changed since `since`.
///
/// # Errors
/// Any SQLite error.
pub fn list(db: &Connection, states: &[State], since: Millis, order: Order, limit: usize) -> QueryResult<Letters> {
    let direction = if order == Order::Newest { "DESC" } else { "ASC" };
    let of_state =
        |state: &State| format!("SELECT {COLUMNS} FROM document WHERE state = '{state}' AND changed_at >= ?1");
    // One more than `limit`, to know whether there are more.
    let mut found: Vec<(i64, LetterView)> = db
        .prepare_cached(&format!(
            "{} ORDER BY changed_at {direction}, id {direction} LIMIT ?2",
            states.iter().map(of_state).collect::<Vec<_>>().join(" UNION ALL ")
        ))?
        .query_map(params![since, limit.saturating_add(1)], read)?
        .collect::<QueryResult<_>>()?;
    let more = found.len() > limit;
    found.truncate(limit);
    let waits = Waits::read(db)?;
    let shown = found.into_iter().map(|(id, letter)| whole(db, &waits, id, letter)).collect::<QueryResult<_>>()?;
    Ok(Letters { shown, more })
}

/// The document with this number in the ledger.
///
/// # Errors
/// Any SQLite error.
pub fn one(db: &Connection, id: i64) -> QueryResult<LetterView> {
    let (id, letter) =
        db.prepare_cached(&format!("SELECT {COLUMNS} FROM document WHERE id = ?1"))?.query_row([id], read)?;
    whole(db, &Waits::read(db)?, id, letter)
}

/// Adds the data from other tables.
fn whole(db: &Connection, waits: &Waits, id: i64, mut letter: LetterView) -> QueryResult<LetterView> {
    if letter.reasons.is_empty()
        && let Some(wait) = waits.of(db, id, &letter.account, letter.state)?
    {
        letter.next_attempt = Some(wait.until);
        letter.reasons.push(wait.reason);
    }
    refusals_instead(db, id, letter.state, &mut letter.reasons)?;
    letter.places = db
        .prepare_cached(
            "SELECT destination, place, proof, state = 'filed' AS to_confirm, reason_code IS 'not_replaced' AS beside FROM delivery
             WHERE document = ?1 AND pdf = (SELECT pdf FROM document WHERE id = ?1) AND place IS NOT NULL",
        )?
        .query_map([id], |row| Ok(from_row!(row => PlaceView { destination, place, proof, to_confirm, beside })))?
        .collect::<QueryResult<_>>()?;
    Ok(letter)
}

const FAILED: [State; 2] = [State::Failing, State::Failed];

/// Why destinations refused a document that failed, each in its own words, instead of all in one line.
pub(super) fn refusals_instead(db: &Connection, id: i64, state: State, reasons: &mut Vec<Reason>) -> QueryResult<()> {
    if FAILED.contains(&state) && reasons.iter().all(|reason| reason.code.is_none()) {
        let refused = refusals(db, id)?;
        if !refused.is_empty() {
            *reasons = refused;
        }
    }
    Ok(())
}

/// Why destinations refused the document.
pub(crate) fn refusals(db: &Connection, id: i64) -> QueryResult<Vec<Reason>> {
    db.prepare_cached(
        "SELECT destination, reason, reason_code FROM delivery
         WHERE document = ?1 AND pdf = (SELECT pdf FROM document WHERE id = ?1) AND +state = 'failed' AND reason IS NOT NULL",
    )?
    .query_map([id], |row| Ok(Reason { name: row.get("destination")?, text: row.get("reason")?, code: row.get("reason_code")?, ended: true }))?
    .collect()
}

/// What became of documents between two moments.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Day {
    /// Filed, and the service was told.
    pub filed: u64,
    /// Ended by a failure.
    pub failed: u64,
    /// Whether there was an alert.
    pub alert: bool,
}

/// A day in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// Letters were filed, and nothing was wrong.
    Well,
    /// A letter failed, or something needed a person.
    Trouble,
    /// No letter came.
    Silent,
}

impl Day {
    /// The day in one word.
    pub fn told(self) -> Told {
        match self {
            Day { failed: 1.., .. } | Day { alert: true, .. } => Told::Trouble,
            Day { filed: 0, .. } => Told::Silent,
            _ => Told::Well,
        }
    }
}

/// What became of documents from each of these moments to the next. The result has one entry fewer than `moments`.
///
/// # Errors
/// Any SQLite error.
pub fn days(db: &Connection, moments: &[Millis]) -> QueryResult<Vec<Day>> {
    let mut count =
        db.prepare_cached("SELECT count(*) FROM document WHERE state = ?1 AND changed_at >= ?2 AND changed_at < ?3")?;
    let alerts: Vec<(Millis, Option<Millis>)> = match moments.first() {
        Some(first) => {
            db.rows("SELECT opened_at, over_at FROM alert WHERE over_at IS NULL OR over_at >= ?1", [first])?
        }
        None => Vec::new(),
    };
    let now = now();
    let mut days = Vec::new();
    for (from, to) in moments.iter().zip(moments.iter().skip(1)) {
        let mut of = |state: State| count.query_row(params![state, from, to], |row| row.get::<_, u64>(0));
        let alert = alerts.iter().any(|(opened_at, over_at)| opened_at < to && over_at.unwrap_or(now) >= *from);
        days.push(Day { filed: of(State::Reported)?, failed: of(State::Failed)? + of(State::Unreported)?, alert });
    }
    Ok(days)
}
