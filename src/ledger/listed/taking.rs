//! Documents that one account takes over from another.

use rusqlite::{Connection, params};

use super::super::columns::{Statements as _, as_json};
use super::super::{Millis, QueryResult, history, tries};
use super::{Known, Listed, Reader};
use crate::domain::document::DocumentUuid;
use crate::domain::failure::{Call, Failure, Kind, Scope};
use crate::domain::state::State;

const MINUTE: Millis = 60 * 1000;
/// The first wait before an account that only could not go on may have the document back, if the current account makes
/// no progress with it; milliseconds.
const PATIENCE: Millis = 2 * MINUTE;
/// The first wait before an account that was refused may have the document back; milliseconds. Each further time, both
/// waits are four times as long, up to [`AGAIN`] and [`LONGEST`].
const AGAIN: Millis = 60 * MINUTE;
/// The longest wait of an account that was refused; milliseconds.
const LONGEST: Millis = 24 * 60 * MINUTE;
/// An account that lost the document this often is no longer a reason to wait for it.
pub(super) const OFTEN: u32 = 6;

/// How an account last lost the document to another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Handover {
    /// Whether the API refused the document to the account. Otherwise the account only could not go on.
    pub(super) was_refused: bool,
    /// How often the account lost it.
    pub(super) times: u32,
    /// The last time.
    pub(super) at: Millis,
}

impl Handover {
    /// Whether giving the document back now would make accounts pass it back and forth.
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
    /// Whether no scope of the account is paused that a document in this state needs.
    fn goes_on(&self, account: &str, state: State) -> bool {
        Scope::of(state, account).is_none_or(|scope| !self.paused.contains(&scope))
    }

    /// Whether the reader can process a document in this state to its end.
    fn can_have(&self, state: State) -> bool {
        let is_filed = matches!(state, State::Fetched | State::Delivered);
        self.goes_on(&self.account, State::Delivered) && (is_filed || self.goes_on(&self.account, State::Discovered))
    }
}

impl Known {
    /// Whether `is_such` holds for its failure. A failure whose report is under way does not count until that has
    /// ended.
    fn has_failed(&self, is_such: fn(&Failure) -> bool) -> bool {
        !self.is_being_told && self.failure.as_ref().is_some_and(is_such)
    }

    /// Whether its account makes no progress: the document failed, or waits although the list shows its PDF.
    fn does_not_go_on(&self, shown: &Listed, now: Millis) -> bool {
        let waits = || shown.pdf.is_some() && self.due_at.is_none_or(|due_at| due_at > now);
        self.state != State::Fetched && !self.is_being_told && (self.failure.is_some() || waits())
    }

    /// Whether the API refused the document to its account, or the document has failed or ended. These are no refusals:
    /// a failure that may pass; a failure that the account's other documents share; a doubtful failure. The last two
    /// count if the reader had the document `before` and may have it back. A refused patient record never counts: the
    /// document can be filed without it.
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

/// What a reader of the list does with a document that it shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claim {
    /// Nothing: the document belongs to another account.
    None,
    /// The document is the reader's own, or no account processes it any more.
    Free,
    /// The account that has the document cannot process it, and the reader may.
    Stopped,
}

/// What the reader does with the document. `lost`: the last time that the reader lost it.
pub(super) fn claim(reader: &Reader, known: &Known, shown: &Listed, lost: Option<Handover>, now: Millis) -> Claim {
    // A document that only the reader's list shows is the reader's.
    if known.account == reader.account || !known.listed {
        return Claim::Free;
    }
    let works = |account: &String| reader.working.contains(account);
    let (is_left_to_it, is_open) = (works(&known.account), known.state.is_open());
    let could_not_go_on = lost.is_some_and(|lost| !lost.was_refused);
    // If the current account was refused, an account that only could not go on is the better one, even while it is
    // paused.
    let lacks_patient = known.has_failed(|failure| failure.call == Call::Record && failure.is_refusal());
    let was_refused = !known.is_being_told && known.was_refused(reader, lost);
    let goes_back = is_open && could_not_go_on && (lacks_patient || was_refused);
    let is_held_up = is_open && is_left_to_it && !reader.goes_on(&known.account, known.state);
    let needs_another = if is_open {
        let failed = known.has_failed(Failure::is_of_account);
        is_held_up || failed || could_not_go_on && known.does_not_go_on(shown, now)
    } else {
        // A failure that was reported for an account which is now gone stays reported.
        is_left_to_it && known.state.is_failure() && known.has_failed(Failure::is_of_account)
    };
    let can_have = works(&reader.account) && (goes_back || reader.can_have(known.state));
    let is_too_early =
        !goes_back && lost.is_some_and(|lost| if is_open { lost.is_recent(now) } else { lost.was_refused });
    // Two concurrent polls may each believe that the other's account cannot sign in.
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

/// Records that the reader takes the document over. `lost`: the last time that the reader lost it.
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
    let because = format!("taken over from account {from}");
    history::append(db, (id, None), now, "taken_over", state, 0, Some(because.as_str().into()))
}

/// Whether a configured account other than `account`, which has the document now, lost it, only could not go on, and
/// may get it back while it is listed. A refusal to `account` says nothing about such an account. A failure that the API
/// may know of stays with the account that told it.
pub fn another_may(db: &Connection, id: i64, account: &str, configured: &[String]) -> QueryResult<bool> {
    db.prepare_cached(
        "SELECT 1 FROM handover JOIN document ON document.id = handover.document
         WHERE handover.document = ?1 AND document.listed AND handover.account <> ?2
           AND NOT (document.state = 'failing' AND document.failure_sent)
           AND handover.account IN (SELECT value FROM json_each(?3)) AND NOT refused AND times < ?4",
    )?
    .exists(params![id, account, as_json(configured), OFTEN])
}

/// The document, or another version of it, is requested anew: every account may take it at once.
pub(in crate::ledger) fn ask_again(db: &Connection, id: i64) -> QueryResult<()> {
    db.run("UPDATE handover SET refused = 0, times = 0, at = 0 WHERE document = ?1", [id])
}

/// Open documents of accounts that are gone from the configuration, so that nobody processes them. If there are more
/// than `limit`, the choice is random, so that none stays behind others for ever.
pub fn orphans(db: &Connection, configured: &[String], limit: usize) -> QueryResult<Vec<(i64, DocumentUuid)>> {
    db.rows(
        "SELECT document.id, document.uuid
         FROM account CROSS JOIN document INDEXED BY document_open ON document.account = account.name
              AND document.state IN ('discovered', 'fetched', 'delivered', 'failing') AND document.due_at IS NOT NULL
         WHERE account.name NOT IN (SELECT value FROM json_each(?1)) ORDER BY random() LIMIT ?2",
        params![as_json(configured), limit],
    )
}

/// The account takes over an orphan that it sees among the synchronized documents. If only the report was open, its
/// answer was lost, and it is sent once more. Otherwise the next queries find that the document has left the list.
pub fn adopt(db: &Connection, id: i64, reader: &Reader, now: Millis) -> QueryResult<()> {
    let (account, state): (String, State) = db
        .prepare_cached("SELECT account, state FROM document WHERE id = ?1")?
        .query_row([id], |row| row.try_into())?;
    if reader.working.contains(&account) {
        return Ok(());
    }
    db.run(
        "UPDATE document SET first_account = coalesce(first_account, account), account = ?2, sweep = ?3 WHERE id = ?1",
        params![id, reader.account, reader.poll],
    )?;
    tries::taken_over(db, id, state)?;
    note(db, id, &account, state, now)
}
