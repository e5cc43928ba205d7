//! Documents that one account takes over from another.

use rusqlite::{Connection, params};

use super::super::columns::{Statements as _, as_json};
use super::super::{Millis, QueryResult, history};
use super::{Known, Reader};
use crate::document::DocumentUuid;
use crate::failure::{Failure, Kind, Scope};
use crate::state::{STATES, State};

/// How long a document stays with the account that it was lent to, whatever comes of it there, when the lender can go on; milliseconds.
const LOAN: Millis = 2 * 60 * 1000;
/// When an open document may go to an account again that had it before; milliseconds.
const AGAIN: Millis = 60 * 60 * 1000;

impl Reader {
    /// Whether nothing is paused of the account that a document in this state waits for.
    fn goes_on(&self, account: &str, state: State) -> bool {
        Scope::of(state, account).is_none_or(|scope| !self.paused.contains(&scope))
    }

    /// Whether the reader can bring a document in this state to its end.
    fn can_have(&self, state: State) -> bool {
        let is_filed = matches!(state, State::Fetched | State::Delivered);
        self.working.contains(&self.account)
            && self.goes_on(&self.account, State::Delivered)
            && (is_filed || self.goes_on(&self.account, State::Discovered))
    }
}

impl Known {
    /// Whether the API does not show the document, or hear of it: another account may be answered otherwise. One whose failure is being
    /// told waits for that to end.
    fn is_stopped(&self) -> bool {
        !self.is_being_told && self.failure.as_ref().is_some_and(Failure::is_of_account)
    }

    /// Whether the account that has it was told no, also where that may pass.
    fn is_answered_no(&self) -> bool {
        !self.is_being_told && self.failure.as_ref().is_some_and(Failure::is_no)
    }

    /// Whether the account that has it was refused: what may pass does not speak against it.
    fn is_refused(&self) -> bool {
        let has_ended = self.state == State::Failing;
        let is_refusal =
            |failure: &Failure| failure.is_no() && (has_ended || matches!(failure.kind, Kind::Permanent(_)));
        self.failure.iter().chain(&self.before_report).any(is_refusal)
    }
}

/// What a reader of the list has to do with a document that it shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claim {
    /// Nothing: it is another account's.
    None,
    /// It is its own, or nobody reads it any more.
    Free,
    /// The account that has it is stopped, and this one was not asked yet.
    Stopped,
}

/// What the reader has to do with the document; and who would lend it: the account that has it, where it only could not go on, or who lent
/// it to that one.
pub(super) fn claim(
    db: &Connection,
    reader: &Reader,
    known: &Known,
    now: Millis,
) -> QueryResult<(Claim, Option<String>)> {
    if known.account == reader.account {
        return Ok((Claim::Free, None));
    }
    let is_open = known.state.is_open();
    let is_left_to_it = known.listed && reader.working.contains(&known.account);
    let loan = loan(db, known.id)?;
    let is_stopped = known.is_stopped() || is_left_to_it && !reader.goes_on(&known.account, known.state);
    let asks_another = known.listed
        && match (&loan, is_open) {
            // The lender may fail for long: what may pass with the borrower is a reason to give it back only after a while.
            (Some((lender, since)), true) if *lender == reader.account => {
                let is_over = known.state != State::Fetched
                    && !known.is_being_told
                    && now.abs_diff(*since) >= LOAN.unsigned_abs();
                known.is_answered_no() || is_over || is_left_to_it && !reader.goes_on(&known.account, known.state)
            }
            (Some(_), true) => known.is_answered_no(),
            (None, true) => is_stopped,
            // What was told of an account that is gone was told.
            (_, false) => is_left_to_it && known.state.is_failure() && known.is_stopped(),
        };
    let can_have = reader.can_have(known.state);
    let lender = match loan {
        Some((lender, _)) => (lender != reader.account).then_some(lender),
        None => (is_open && !known.is_refused()).then(|| known.account.clone()),
    };
    let since = if is_open { now.saturating_sub(AGAIN) } else { Millis::MIN };
    if asks_another && can_have && !has_had(db, known.id, &reader.account, since)? {
        return Ok((Claim::Stopped, lender));
    }
    Ok((if is_left_to_it || asks_another && !can_have { Claim::None } else { Claim::Free }, lender))
}

/// Whether the account has had the document since then: accounts that all fail do not pass it round. Who lent it may have it back.
fn has_had(db: &Connection, id: i64, account: &str, since: Millis) -> QueryResult<bool> {
    let from = format!("{TAKEN_OVER_FROM}{account}");
    let for_another = format!("{from}{FOR}");
    db.prepare_cached(
        "SELECT 1 FROM history WHERE document = ?1 AND event = 'taken_over' AND at > ?4
           AND (reason = ?2 OR substr(reason, 1, length(?3)) = ?3)",
    )?
    .exists(params![id, from, for_another, since])
}

/// The account from which the one that has the document took it over, and when, where that one only could not go on: that says nothing of
/// what it may do, and it may have the document back.
///
/// # Errors
/// Any SQLite error.
pub fn loan(db: &Connection, id: i64) -> QueryResult<Option<(String, Millis)>> {
    let last: Option<(String, Millis)> = db.maybe(
        "SELECT reason, at FROM history WHERE document = ?1 AND event = 'taken_over' ORDER BY id DESC LIMIT 1",
        [id],
    )?;
    let lender = |reason: &str| {
        let from = reason.strip_prefix(TAKEN_OVER_FROM)?.strip_suffix(LENT)?;
        Some(from.rsplit_once(FOR).map_or(from, |(_, lender)| lender).to_owned())
    };
    Ok(last.and_then(|(reason, at)| Some((lender(&reason)?, at))))
}

const TAKEN_OVER_FROM: &str = "taken over from account ";
const FOR: &str = ", for account ";
const LENT: &str = ", which could not go on";

pub(super) fn note_taken_over(
    db: &Connection,
    id: i64,
    from: &str,
    lender: Option<&str>,
    state: State,
    now: Millis,
) -> QueryResult<()> {
    let reason = match lender {
        None => format!("{TAKEN_OVER_FROM}{from}"),
        Some(lender) if lender == from => format!("{TAKEN_OVER_FROM}{from}{LENT}"),
        Some(lender) => format!("{TAKEN_OVER_FROM}{from}{FOR}{lender}{LENT}"),
    };
    history::append(db, id, now, "taken_over", state, 0, None, Some(&reason))
}

/// Documents that wait and belong to an account that is gone from the configuration, so that nobody works on them. Which
/// ones, where there are more than `limit`, is left to chance, so that none hides behind others for ever.
///
/// # Errors
/// Any SQLite error.
pub fn orphans(db: &Connection, configured: &[String], limit: usize) -> QueryResult<Vec<(i64, DocumentUuid)>> {
    let open: Vec<&str> = STATES.into_iter().filter(|state| state.is_open()).map(State::as_str).collect();
    let mut query = db.prepare_cached(
        "SELECT document.id, document.uuid
         FROM account CROSS JOIN json_each(?2) AS open
              CROSS JOIN document INDEXED BY document_due ON document.state = open.value AND document.account = account.name
         WHERE account.name NOT IN (SELECT value FROM json_each(?1)) ORDER BY random() LIMIT ?3",
    )?;
    query.query_map(params![as_json(configured), as_json(&open), limit], |row| row.try_into())?.collect()
}

/// An orphan that the account can see among the synchronized documents: the account takes it over. Where only the report of
/// it was open, its answer was lost, and it is told once more; else the next looks find that it has left the list.
///
/// # Errors
/// Any SQLite error.
pub fn adopt(db: &Connection, id: i64, reader: &Reader, now: Millis) -> QueryResult<()> {
    let (account, state): (String, State) = db
        .prepare_cached("SELECT account, state FROM document WHERE id = ?1")?
        .query_row([id], |row| row.try_into())?;
    if reader.working.contains(&account) {
        return Ok(());
    }
    db.run(
        "UPDATE document SET account = ?2, sweep = ?3, report_failure = NULL, report_reason = NULL, refusals = 0
         WHERE id = ?1",
        params![id, reader.account, reader.poll],
    )?;
    note_taken_over(db, id, &account, None, state, now)
}
