//! Documents that one account takes over from another.

use rusqlite::{Connection, params};

use super::super::columns::{Statements as _, as_json};
use super::super::{Millis, QueryResult, history};
use super::{Known, Reader};
use crate::document::DocumentUuid;
use crate::failure::{Call, Code, Failure, Kind};
use crate::state::{STATES, State};

impl Known {
    /// Whether the API does not show the document, or hear of it: another account may be answered otherwise. One whose failure is being
    /// told waits for that to end.
    fn is_stopped(&self) -> bool {
        let is_of_account = |failure: &Failure| {
            matches!(failure.call, Call::Read | Call::Record | Call::Report) && !matches!(failure.kind, Kind::Own(_))
        };
        !self.is_being_told && self.failure.as_ref().is_some_and(is_of_account)
    }

    /// Whether the account that has it was told no, of whatever the API was asked, the PDF too, also where that may pass.
    fn is_answered_no(&self) -> bool {
        let is_no = |failure: &Failure| match &failure.kind {
            Kind::Passing(Code::Status(status)) | Kind::Doubtful(Code::Status(status)) => {
                (400..500).contains(status) && ![408, 429].contains(status)
            }
            Kind::Permanent(_) => true,
            _ => false,
        };
        !self.is_being_told
            && self.failure.as_ref().is_some_and(|failure| failure.call != Call::Deliver && is_no(failure))
    }

    /// Whether the account that has it was refused: what may pass does not speak against it.
    fn is_refused(&self) -> bool {
        let is_refusal =
            |failure: &Failure| failure.call != Call::Deliver && matches!(failure.kind, Kind::Permanent(_));
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

/// What the reader has to do with the document; and whether it would be lent: the account that has it could only not go on.
pub(super) fn claim(db: &Connection, reader: &Reader, known: &Known) -> QueryResult<(Claim, bool)> {
    if known.account == reader.account {
        return Ok((Claim::Free, false));
    }
    let is_open = known.state.is_open();
    let is_left_to_it = known.listed && reader.working.contains(&known.account);
    let was_lent = lent_by(db, known.id)?.is_some();
    let asks_another = known.listed
        && match is_open {
            // The lender may fail for long: what may pass with the borrower is no reason to give it back.
            true if was_lent => known.is_answered_no(),
            true => known.is_stopped() || is_left_to_it && !reader.healthy.contains(&known.account),
            // What was told of an account that is gone was told.
            false => is_left_to_it && known.state.is_failure() && known.is_stopped(),
        };
    let is_healthy = reader.healthy.contains(&reader.account);
    let lent = is_open && !known.is_refused() && !was_lent;
    if asks_another && is_healthy && !has_had(db, known.id, &reader.account)? {
        return Ok((Claim::Stopped, lent));
    }
    Ok((if is_left_to_it || asks_another && !is_healthy { Claim::None } else { Claim::Free }, lent))
}

/// Whether the account has had the document before: accounts that all fail do not pass it round. Who lent it may have it back.
fn has_had(db: &Connection, id: i64, account: &str) -> QueryResult<bool> {
    db.prepare_cached("SELECT 1 FROM history WHERE document = ?1 AND event = 'taken_over' AND reason = ?2")?
        .exists(params![id, taken_over_from(account)])
}

/// The account that lent the document and may have it back, which it may once.
///
/// # Errors
/// Any SQLite error.
pub fn lender(db: &Connection, id: i64) -> QueryResult<Option<String>> {
    let Some(lender) = lent_by(db, id)? else { return Ok(None) };
    Ok((!has_had(db, id, &lender)?).then_some(lender))
}

/// The account from which another took the document over while it could not go on, which says nothing of what it may do. Each document
/// is lent once.
fn lent_by(db: &Connection, id: i64) -> QueryResult<Option<String>> {
    let reason: Option<String> = db.perhaps(
        "SELECT reason FROM history WHERE document = ?1 AND event = 'taken_over' AND reason LIKE '%' || ?2",
        params![id, LENT],
    )?;
    let account = |reason: &str| Some(reason.strip_prefix(TAKEN_OVER_FROM)?.strip_suffix(LENT)?.to_owned());
    Ok(reason.as_deref().and_then(account))
}

const TAKEN_OVER_FROM: &str = "taken over from account ";
const LENT: &str = ", which could not go on";

fn taken_over_from(account: &str) -> String {
    format!("{TAKEN_OVER_FROM}{account}")
}

pub(super) fn note_taken_over(
    db: &Connection,
    id: i64,
    from: &str,
    lent: bool,
    state: State,
    now: Millis,
) -> QueryResult<()> {
    let reason = taken_over_from(from) + if lent { LENT } else { "" };
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
    note_taken_over(db, id, &account, false, state, now)
}
