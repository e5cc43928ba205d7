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
    /// Whether its failure is such a one. A failure that is being told waits for that to end.
    fn has_failed(&self, is_such: fn(&Failure) -> bool) -> bool {
        !self.is_being_told && self.failure.as_ref().is_some_and(is_such)
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
    let is_held_up = is_left_to_it && !reader.goes_on(&known.account, known.state);
    let loan = loan(db, known.id)?;
    let asks_another = known.listed
        && match &loan {
            // What was told of an account that is gone was told.
            _ if !is_open => is_left_to_it && known.state.is_failure() && known.has_failed(Failure::is_of_account),
            // The lender may fail for long: what may pass with the borrower is a reason to give it back only after a while, and what is
            // that one's turn none at all.
            Some((lender, since)) if *lender == reader.account => {
                let did_not_go_on = known.failure.is_some() || known.due_at.is_none_or(|due_at| due_at > now);
                let is_over = known.state != State::Fetched
                    && !known.is_being_told
                    && did_not_go_on
                    && now.abs_diff(*since) >= LOAN.unsigned_abs();
                known.has_failed(Failure::is_no) || is_over || is_held_up
            }
            _ => known.has_failed(Failure::is_of_account) || is_held_up,
        };
    let can_have = reader.can_have(known.state);
    let lender = match loan {
        Some((lender, _)) => (lender != reader.account).then_some(lender),
        None => {
            // What is paused with others alike was not refused for itself.
            let shares_a_pause = is_held_up && known.state == State::Discovered;
            let only_cannot_go_on = is_open && known.listed && (shares_a_pause || !known.is_refused());
            only_cannot_go_on.then(|| known.account.clone())
        }
    };
    let lately = if is_open { [now.saturating_sub(AGAIN), now] } else { [Millis::MIN, Millis::MAX] };
    if asks_another && can_have && !has_had(db, known.id, &reader.account, lately)? {
        return Ok((Claim::Stopped, lender));
    }
    Ok((if is_left_to_it || asks_another && !can_have { Claim::None } else { Claim::Free }, lender))
}

/// Whether the account has had the document between these two times: accounts that all fail do not pass it round. Who lent it may have it
/// back.
fn has_had(db: &Connection, id: i64, account: &str, [since, until]: [Millis; 2]) -> QueryResult<bool> {
    db.prepare_cached(
        "SELECT 1 FROM history WHERE document = ?1 AND event = 'taken_over' AND at BETWEEN ?4 AND ?5
           AND instr(reason || ?3, ?2 || ?3) = 1",
    )?
    .exists(params![id, format!("{TAKEN_OVER_FROM}{account}"), FOR, since, until])
}

/// The account from which the one that has the document took it over, and when, where that one only could not go on: that says nothing of
/// what it may do, and it may have the document back until that has ended. Who `forget`s a document forgets that, too.
///
/// # Errors
/// Any SQLite error.
pub fn loan(db: &Connection, id: i64) -> QueryResult<Option<(String, Millis)>> {
    let last: Option<(Option<String>, Millis)> = db.maybe(
        "SELECT CASE event WHEN 'taken_over' THEN reason END, at FROM history
         WHERE document = ?1 AND event IN ('taken_over', 'report_accepted', 'report_refused', 'gone') ORDER BY id DESC LIMIT 1",
        [id],
    )?;
    let lender = |reason: &str| {
        let from = reason.strip_prefix(TAKEN_OVER_FROM)?.strip_suffix(LENT)?;
        Some(from.rsplit_once(FOR).map_or(from, |(_, lender)| lender).to_owned())
    };
    Ok(last.and_then(|(reason, at)| Some((lender(&reason?)?, at))))
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
