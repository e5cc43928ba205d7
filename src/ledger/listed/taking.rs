//! Documents that one account takes over from another.

use rusqlite::{Connection, params};

use super::super::columns::{Statements as _, as_json};
use super::super::{Millis, QueryResult, history};
use super::{Known, Listed, Reader};
use crate::document::DocumentUuid;
use crate::failure::{Call, Failure, Kind, Scope};
use crate::state::{STATES, State};

const MINUTE: Millis = 60 * 1000;
/// An account that only could not go on may have the document back after so long, if nothing comes of it with the one
/// that has it; milliseconds.
const PATIENCE: Millis = 2 * MINUTE;
/// One that was refused may after so long; milliseconds. Both waits are four times as long each further time, up to
/// [`AGAIN`] and [`LONGEST`].
const AGAIN: Millis = 60 * MINUTE;
/// The longest wait of one that was refused; milliseconds.
const LONGEST: Millis = 24 * 60 * MINUTE;
/// One that lost the document so often is no reason any more to wait for it.
pub(super) const OFTEN: u32 = 6;

/// What an account came to with the document when it last lost it to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Handover {
    /// Whether the API said no to the account: else it only could not go on.
    pub(super) was_refused: bool,
    /// How often it lost it.
    pub(super) times: u32,
    /// When.
    pub(super) at: Millis,
}

impl Handover {
    /// Whether accounts would pass it round if it went back now.
    fn is_recent(&self, now: Millis) -> bool {
        let (shortest, longest) = if self.was_refused { (AGAIN, LONGEST) } else { (PATIENCE, AGAIN) };
        let wait = shortest.saturating_mul(4_i64.saturating_pow(self.times.saturating_sub(1))).min(longest);
        self.is_younger(wait, now)
    }

    fn is_younger(&self, than: Millis, now: Millis) -> bool {
        now.abs_diff(self.at) < than.unsigned_abs()
    }
}

impl Reader {
    /// Whether nothing is paused of the account that a document in this state waits for.
    fn goes_on(&self, account: &str, state: State) -> bool {
        Scope::of(state, account).is_none_or(|scope| !self.paused.contains(&scope))
    }

    /// Whether the reader can bring a document in this state to its end.
    fn can_have(&self, state: State) -> bool {
        let is_filed = matches!(state, State::Fetched | State::Delivered);
        self.goes_on(&self.account, State::Delivered) && (is_filed || self.goes_on(&self.account, State::Discovered))
    }
}

impl Known {
    /// Whether its failure is such a one. A failure that is being told waits for that to end.
    fn has_failed(&self, is_such: fn(&Failure) -> bool) -> bool {
        !self.is_being_told && self.failure.as_ref().is_some_and(is_such)
    }

    /// Whether nothing comes of it with the account that has it: it failed, or waits although the list shows its PDF.
    fn does_not_go_on(&self, shown: &Listed, now: Millis) -> bool {
        let waits = || shown.pdf.is_some() && self.due_at.is_none_or(|due_at| due_at > now);
        self.state != State::Fetched && !self.is_being_told && (self.failure.is_some() || waits())
    }

    /// Whether the API said no to the account that has it, or that one has tried for long enough: what may pass does
    /// not speak against it, nor does what is answered to several of its documents alike, or not for good yet. All of
    /// that does where the reader had it `before` and may have it back. Who lacks the patient only can file it all the
    /// same.
    fn was_refused(&self, reader: &Reader, before: Option<Handover>) -> bool {
        let is_failing = self.state == State::Failing;
        let is_back = before.is_some_and(|before| !before.was_refused);
        let shares_a_pause = !is_back && !is_failing && !reader.goes_on(&self.account, self.state);
        let before_report = self.before_report.iter().filter(|_| is_failing);
        let is_sure = |failure: &Failure| is_back || is_failing || !matches!(failure.kind, Kind::Doubtful(_));
        let is_no = |failure: &Failure| failure.call != Call::Record && failure.is_refusal() && is_sure(failure);
        !self.state.is_open() || !shares_a_pause && self.failure.iter().chain(before_report).any(is_no)
    }
}

/// What a reader of the list has to do with a document that it shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claim {
    /// Nothing: it is another account's.
    None,
    /// It is its own, or nobody reads it any more.
    Free,
    /// The account that has it does not get on with it, and this one may.
    Stopped,
}

/// What the reader has to do with the document, if this was the last time that it lost it.
pub(super) fn claim(reader: &Reader, known: &Known, shown: &Listed, lost: Option<Handover>, now: Millis) -> Claim {
    // What is in nobody's list but the reader's is the reader's.
    if known.account == reader.account || !known.listed {
        return Claim::Free;
    }
    let works = |account: &String| reader.working.contains(account);
    let (is_left_to_it, is_open) = (works(&known.account), known.state.is_open());
    let could_not_go_on = lost.is_some_and(|lost| !lost.was_refused);
    // Where the account that has it was refused, one that only could not go on is the better one, be it paused.
    let lacks_patient = known.has_failed(|failure| failure.call == Call::Record && failure.is_refusal());
    let was_refused = !known.is_being_told && known.was_refused(reader, lost);
    let goes_back = is_open && could_not_go_on && (lacks_patient || was_refused);
    let is_held_up = is_open && is_left_to_it && !reader.goes_on(&known.account, known.state);
    let needs_another = if is_open {
        let failed = known.has_failed(Failure::is_of_account);
        is_held_up || failed || could_not_go_on && known.does_not_go_on(shown, now)
    } else {
        // What was told of an account that is gone was told.
        is_left_to_it && known.state.is_failure() && known.has_failed(Failure::is_of_account)
    };
    let can_have = works(&reader.account) && (goes_back || reader.can_have(known.state));
    let is_too_early =
        !goes_back && lost.is_some_and(|lost| if is_open { lost.is_recent(now) } else { lost.was_refused });
    // Two polls may each take the other's account for one that cannot sign in.
    let may_sign_in = reader.paused.contains(&Scope::Account(known.account.clone()));
    let just_lost_it = is_open && may_sign_in && lost.is_some_and(|lost| lost.is_younger(PATIENCE, now));
    match (needs_another, can_have) {
        (true, true) if !is_too_early => Claim::Stopped,
        (true, false) => Claim::None,
        _ if is_left_to_it || just_lost_it => Claim::None,
        _ => Claim::Free,
    }
}

/// When the account last lost the document, if it did.
pub(super) fn lost(db: &Connection, id: i64, account: &str) -> QueryResult<Option<Handover>> {
    let row: Option<(bool, u32, Millis)> =
        db.maybe("SELECT refused, times, at FROM handover WHERE document = ?1 AND account = ?2", params![id, account])?;
    Ok(row.map(|(was_refused, times, at)| Handover { was_refused, times, at }))
}

/// Notes that the reader takes the document over, if this was the last time that it lost it.
pub(super) fn note_taken_over(
    db: &Connection,
    reader: &Reader,
    known: &Known,
    lost: Option<Handover>,
    now: Millis,
) -> QueryResult<()> {
    db.run(
        "INSERT INTO handover (document, account, refused, times, at) VALUES (?1, ?2, ?3, 1, ?4)
         ON CONFLICT DO UPDATE SET refused = excluded.refused, times = times + 1, at = excluded.at",
        params![known.id, known.account, known.was_refused(reader, lost), now],
    )?;
    note(db, known.id, &known.account, known.state, now)
}

fn note(db: &Connection, id: i64, from: &str, state: State, now: Millis) -> QueryResult<()> {
    history::append(db, id, now, "taken_over", state, 0, None, Some(&format!("taken over from account {from}")))
}

/// Whether one of these accounts lost the document, only could not go on, and may yet have it back, since it is listed:
/// what is refused to `account`, which has it now, says nothing of that one.
///
/// # Errors
/// Any SQLite error.
pub fn another_may(db: &Connection, id: i64, account: &str, configured: &[String]) -> QueryResult<bool> {
    db.prepare_cached(
        "SELECT 1 FROM handover JOIN document ON document.id = handover.document
         WHERE handover.document = ?1 AND document.listed AND handover.account <> ?2
           AND handover.account IN (SELECT value FROM json_each(?3)) AND NOT refused AND times < ?4",
    )?
    .exists(params![id, account, as_json(configured), OFTEN])
}

/// The document is asked for anew, or another version of it: every account may have it, at once.
pub(in crate::ledger) fn ask_again(db: &Connection, id: i64) -> QueryResult<()> {
    db.run("UPDATE handover SET refused = 0, times = 0, at = 0 WHERE document = ?1", [id])
}

/// Documents that wait and belong to an account that is gone from the configuration, so that nobody works on them.
/// Which ones, where there are more than `limit`, is left to chance, so that none hides behind others for ever.
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

/// An orphan that the account can see among the synchronized documents: the account takes it over. Where only the
/// report of it was open, its answer was lost, and it is told once more; else the next looks find that it has left the
/// list.
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
    note(db, id, &account, state, now)
}
