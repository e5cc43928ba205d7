//! Documents: which are due, and the only function that writes a change of state.

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::columns::{Statements as _, from_row};
use super::history::{self, Because};
use super::listed::is_there;
use super::listed::taking::ask_again;
use super::tries::{self, Key, Tries};
use super::{Millis, QueryResult, deliveries};
use crate::domain::document::{Version, edition, is_uuid};
use crate::domain::failure::Failure;
use crate::domain::state::{Event, State, next};

/// New versions of a document within a day that start at once.
const AT_ONCE: u32 = 3;
/// Why a document waits of which the API shows ever new versions, in words and as the code that stands for them.
const MANY_VERSIONS: (&str, &str) =
    ("the API shows ever new versions of it: they are fetched more and more rarely", "many_versions");
const DAY_MS: Millis = 24 * 60 * 60 * 1000;

/// A document as a stage processes it. Its `reason` may quote a name, so it has no `Debug`.
#[derive(Clone)]
pub struct Document {
    /// The ledger's number for it.
    pub id: i64,
    /// Increases each time the document starts over: work of an older round is dropped.
    pub round: i64,
    /// Account, uuid and PDF.
    pub version: Version,
    /// The account whose list first showed it, if that is another one.
    pub first_account: Option<String>,
    /// Its state.
    pub state: State,
    /// SHA-256 of the spooled PDF.
    pub sha256: Option<String>,
    /// Bytes of the spooled PDF.
    pub size: Option<u64>,
    /// The failed attempts in this state: to fetch the document, or to report it.
    pub tries: Tries,
    /// How often its spooled PDF was lost since it was last delivered.
    pub started_over: u32,
    /// Why it last failed, waits, or was refused.
    pub reason: Option<String>,
    /// The same as a code: a failure, or the code of a wait.
    pub reason_code: Option<String>,
    /// The last failure of the document itself, not of its report.
    pub failure: Option<Failure>,
    /// When the API last showed it.
    pub read_at: Option<Millis>,
    /// When the list first showed it.
    pub found_at: Millis,
    /// Whether it has deliveries, of any version.
    pub planned: bool,
    /// The PDF that this round tried to fetch, whatever the outcome.
    pub tried_pdf: Option<String>,
    /// The PDF that the list shows.
    pub listed_pdf: Option<String>,
    /// The patient's identifier, as the list shows it.
    pub listed_patient: Option<String>,
    /// The patient that the service named when the document was fetched.
    pub patient: Option<String>,
    /// For whom its version is ([`edition`]); `None` if it was not fetched yet.
    pub person: Option<String>,
    /// The patient's number that its version was, or may have been, delivered with.
    pub filed_by: Option<String>,
    /// Whether a delivery of this version took more than one attempt.
    pub delayed: bool,
    /// The PDF that the list or the answer to a report showed, and that docsyncd waited for in vain while the document
    /// itself showed another one: a server may name its PDFs in two ways.
    pub accepted_pdf: Option<String>,
    /// How long the document had been tried when two answers of the API first showed two PDFs of it, as they still do;
    /// milliseconds.
    pub disagreed_after: Option<Millis>,
    /// Whether it may have been delivered after the backup that this ledger was restored from ([`super::restored`]).
    pub in_doubt: bool,
}

impl Document {
    /// Whether docsyncd waited in vain for this PDF, which is shown elsewhere.
    pub fn has_accepted(&self, pdf: &str) -> bool {
        self.accepted_pdf.as_deref().is_some_and(|accepted| accepted.eq_ignore_ascii_case(pdf))
    }

    /// The version that this PDF is for the same patient as before.
    pub fn again(&self, pdf: &str) -> String {
        edition::next(&self.version.pdf, None, pdf, "", None)
    }

    /// The version that this PDF is for this patient. `has_number`: whether the patient has the number that it is
    /// `filed_by`, if both are known.
    pub fn version_for(&self, pdf: &str, whom: &str, has_number: Option<bool>) -> String {
        edition::next(&self.version.pdf, self.person.as_deref(), pdf, whom, has_number)
    }

    /// Whether it was decided without something of its patient that is known by now.
    pub fn is_news(&self, whom: &str) -> bool {
        self.person.as_ref().is_some_and(|then| edition::is_news(then, whom))
    }

    /// Whether it may have been decided for another patient than this one: something that is known of both differs.
    pub fn may_be_anothers(&self, whom: &str) -> bool {
        self.person.as_ref().is_some_and(|then| edition::differ(then, whom))
    }
}

/// The columns that [`read`] expects: those that it takes one by one, and then the others in its order.
const COLUMNS: &str = "id, state, \
     EXISTS (SELECT 1 FROM retry_state WHERE retry_state.document = document.id) AS has_tries, changed_at, \
     due_at, account, uuid, pdf, round, first_account, sha256, size, read_at, found_at, \
     EXISTS (SELECT 1 FROM delivery WHERE delivery.document = document.id) AS planned, tried_pdf, listed_pdf, \
     listed_patient, CASE WHEN patient NOT LIKE 'letter %' THEN patient END AS patient, person, \
     coalesce(CASE WHEN number_pdf = pdf THEN number END, (SELECT max(any.number) FROM delivery AS any \
              WHERE any.document = document.id AND any.pdf = document.pdf)) AS filed_by, \
     EXISTS (SELECT 1 FROM retry_state WHERE retry_state.document = document.id AND retry_state.pdf = document.pdf \
             AND work NOT IN ('fetch:', 'report:') AND attempts > 0) AS delayed, accepted_pdf, in_doubt";

fn read(db: &Connection, row: &Row<'_>) -> QueryResult<Document> {
    let (id, state) = (row.get("id")?, row.get("state")?);
    // What never failed or waited is read with one statement.
    let has_tries: bool = row.get("has_tries")?;
    let of = |key| if has_tries { tries::of(db, key) } else { Ok(Tries::default()) };
    let Tries { failure, lost, disagreed_after, .. } = of(Key::fetch(id))?;
    let Tries { reason, reason_code, .. } = of(Key::told(id, state))?;
    let tried = of(Key::tried(id, state))?;
    Ok(from_row!(row => Document {
        round, first_account, sha256, size, read_at, found_at, planned, tried_pdf, listed_pdf, listed_patient, patient,
        person, filed_by, delayed, accepted_pdf, in_doubt;
        id: id, state: state, started_over: lost, reason: reason, reason_code: reason_code, failure: failure,
        disagreed_after: disagreed_after,
        tries: Tries { changed_at: row.get("changed_at")?, due_at: row.get("due_at")?, ..tried },
        version: Version { account: row.get("account")?, uuid: row.get("uuid")?, pdf: row.get("pdf")? }
    }))
}

/// The document of this number, if it is still in this round and state.
pub fn of_round(db: &Connection, id: i64, round: i64, state: State) -> QueryResult<Option<Document>> {
    Ok(by_number(db, id)?.filter(|document| document.round == round && document.state == state))
}

/// The document of this number.
pub fn by_number(db: &Connection, id: i64) -> QueryResult<Option<Document>> {
    db.prepare_cached(&format!("SELECT {COLUMNS} FROM document WHERE id = ?1"))?
        .query_row([id], |row| read(db, row))
        .optional()
}

/// The document's state; `None` if there is no such document.
pub fn state(db: &Connection, id: i64) -> QueryResult<Option<State>> {
    db.perhaps("SELECT state FROM document WHERE id = ?1", [id])
}

/// After the clock was set back, moves to `now` the due times that were chosen before: those beyond `latest`, as no
/// wait is that long, and those of rows that changed after `now`. A document that never failed may wait for its PDF
/// until `latest_draft`. Deliveries and pauses are moved too, of whichever account.
pub fn clamp_due(db: &Connection, account: &str, now: Millis, latest: Millis, latest_draft: Millis) -> QueryResult<()> {
    db.run(
        "UPDATE document INDEXED BY document_open SET due_at = ?1
         WHERE due_at > ?1 AND account = ?3 AND (changed_at > ?1
                OR due_at > ?2 AND (due_at > ?4 OR state <> 'discovered' OR EXISTS (
                    SELECT 1 FROM retry_state WHERE document = id AND work = 'fetch:' AND attempts > 0)))",
        params![now, latest, account, latest_draft],
    )?;
    db.run(
        "UPDATE delivery SET due_at = ?1 WHERE state = 'pending' AND due_at > ?1 AND (changed_at > ?1 OR due_at > ?2)",
        params![now, latest],
    )?;
    db.run("UPDATE pause SET probe_at = ?1 WHERE probe_at > ?1 AND (since > ?1 OR probe_at > ?2)", params![now, latest])
}

/// Moves the document by `event`, if it is still in `round` and the event applies to its state. Returns the new state.
/// The same call appends a row of history, forgets the attempts, begins a new round if the document starts over, and
/// removes the metadata once it has ended or starts over.
pub fn transition(
    db: &Connection,
    id: i64,
    round: i64,
    event: Event,
    now: Millis,
    because: Option<Because<'_>>,
) -> QueryResult<Option<State>> {
    let row: Option<(State, bool)> = db
        .maybe("SELECT state, missing_at IS NOT NULL FROM document WHERE id = ?1 AND round = ?2", params![id, round])?;
    let Some((before, is_missing)) = row else { return Ok(None) };
    let Some(after) = next(before, event) else { return Ok(None) };
    let starts_over = after == State::Discovered;
    // A new request makes earlier findings void.
    let asked_anew = matches!(event, Event::RetryRequested | Event::Relisted);
    let is_asked_for = (before, event) == (State::Reported, Event::RetryRequested);
    db.run(
        "UPDATE document SET state = ?2, round = round + ?3, looked = 0, absent_at = NULL, due_at = ?4, changed_at = ?5,
                history_removed = 0, failure_sent = CASE WHEN ?3 THEN 0 ELSE failure_sent END,
                tried_pdf = CASE WHEN ?3 THEN NULL ELSE tried_pdf END,
                accepted_pdf = CASE WHEN ?6 THEN NULL ELSE accepted_pdf END,
                in_doubt = CASE WHEN ?7 THEN 0 ELSE in_doubt END
         WHERE id = ?1",
        params![
            id,
            after,
            i64::from(starts_over),
            after.is_open().then_some(now),
            now,
            asked_anew,
            is_asked_for || matches!(event, Event::AllDelivered | Event::ReportAccepted)
        ],
    )?;
    // Only where it changes: a column of an index that is set has the index written again.
    if is_missing {
        is_there(db, id)?;
    }
    if asked_anew {
        tries::forget_refusals(db, id)?;
    }
    let attempts = begin_anew(db, id, (before, event, after), because)?;
    if starts_over || !after.is_open() {
        db.run("DELETE FROM document_metadata WHERE document = ?1", [id])?;
    }
    if before == State::Fetched {
        deliveries::suspend(db, id)?;
    }
    if is_asked_for {
        deliveries::forget_success(db, id)?;
    }
    history::append(db, (id, None), now, event.as_str(), after, attempts, because)?;
    Ok(Some(after))
}

/// Of what is known of the attempts before the event, only what counts after it is left. Returns how many there were.
fn begin_anew(
    db: &Connection,
    id: i64,
    (before, event, after): (State, Event, State),
    because: Option<Because<'_>>,
) -> QueryResult<u32> {
    if because.is_none() && !tries::any(db, id)? {
        return Ok(0);
    }
    let Tries { attempts, .. } = tries::of(db, Key::tried(id, before))?;
    tries::change(db, Key::report(id), |row| *row = Tries::default())?;
    tries::change(db, Key::fetch(id), |row| {
        // The spooled PDF may be lost again: the losses are counted until the document is delivered.
        let lost = if matches!(event, Event::Fetched | Event::StartOver) { row.lost } else { 0 };
        // A failure that is taken back counts with those alike.
        let refusals = if matches!(event, Event::Refused | Event::Retracted) { row.refusals } else { 0 };
        let failing_since = row.failing_since.filter(|_| lost > 0);
        *row = Tries { lost, refusals, failing_since, ..Tries::default() };
    })?;
    tries::change(db, Key::told(id, after), |row| {
        row.reason = because.map(|because| because.text.to_owned());
        row.reason_code = because.and_then(|because| because.code).map(str::to_owned);
    })?;
    Ok(attempts)
}

/// A person looks at these documents: those that failed are no news any more. Those that did not fail stay unchanged,
/// so that a look at them writes nothing.
pub fn seen(db: &Connection, ids: &[i64], now: Millis) -> QueryResult<()> {
    ids.iter().try_for_each(|id| {
        db.run(
            "UPDATE document SET seen_at = max(?2, changed_at) WHERE id = ?1 AND state IN ('failed', 'unreported')
             AND (seen_at IS NULL OR seen_at < changed_at)",
            params![id, now],
        )
    })
}

/// The API shows another PDF of the document (`pdf`), or none because another one is being rendered. The new version
/// starts, also if a report ended the round just before. The list showing the same PDF later is then no news. Returns
/// the state and how long the document waits: a few times a day not at all, then longer and longer.
pub fn revise(
    db: &Connection,
    id: i64,
    round: i64,
    pdf: Option<&str>,
    now: Millis,
) -> QueryResult<Option<(State, Millis)>> {
    let before = by_number(db, id)?;
    let Some(state) = transition(db, id, round, Event::Revised, now, None)? else { return Ok(None) };
    ask_again(db, id)?;
    let pdf = unless_anothers(db, id, pdf)?;
    let lately: u32 = db
        .prepare_cached("SELECT count(*) FROM history WHERE document = ?1 AND event = 'revised' AND at > ?2")?
        .query_row([id, now.saturating_sub(DAY_MS)], |row| row.get(0))?;
    let wait = wait_after(lately);
    let mut due_at = now.saturating_add(wait);
    // If the document has not been fetched since, it keeps its earlier due time: a list that shows another PDF at every
    // poll must not put it off each time.
    if let Some(Document { state: State::Discovered, tries: Tries { due_at: Some(due_before), .. }, .. }) = before {
        due_at = due_at.min(due_before);
    }
    tries::say(db, Key::fetch(id), (wait > 0).then_some(MANY_VERSIONS))?;
    db.run(
        "UPDATE document SET listed_pdf = coalesce(?2, listed_pdf), due_at = ?3 WHERE id = ?1",
        params![id, pdf, due_at],
    )?;
    Ok(Some((state, due_at.saturating_sub(now).max(0))))
}

/// The API showed the version of this round at `at`, for the same patient.
pub fn shown(db: &Connection, id: i64, round: i64, at: Millis) -> QueryResult<()> {
    db.run("UPDATE document SET read_at = ?3 WHERE id = ?1 AND round = ?2", params![id, round, at])
}

/// A person says that the document was filed by a number that is not its patient's: it is filed anew where a number is
/// needed. Returns whether it begins anew.
pub fn numbered_wrongly(db: &Connection, id: i64, now: Millis) -> QueryResult<bool> {
    db.run("UPDATE document SET person = '!' || ltrim(coalesce(person, '-'), '!') WHERE id = ?1", [id])?;
    let round = db.perhaps("SELECT round FROM document WHERE id = ?1", [id])?;
    round.map_or(Ok(false), |round| Ok(revise(db, id, round, None, now)?.is_some()))
}

/// The PDF, unless it is known as another document's: an answer that shows it is wrong, and filing it would put one
/// patient's letter into another's record. An identifier that is no uuid may be one of several documents.
pub fn unless_anothers<'p>(db: &Connection, id: i64, pdf: Option<&'p str>) -> QueryResult<Option<&'p str>> {
    let Some(known) = pdf.filter(|pdf| is_uuid(pdf)) else { return Ok(pdf) };
    let is_anothers = db
        .prepare_cached("SELECT 1 FROM document INDEXED BY document_pdf WHERE listed_pdf = ?1 AND id <> ?2")?
        .exists(params![known, id])?;
    Ok(pdf.filter(|_| !is_anothers))
}

/// How long a document waits after so many new versions within a day: the first few times not at all, then twice as
/// long each time, up to an hour. Otherwise an API that shows another PDF in every answer would have versions filed
/// without end.
fn wait_after(revisions: u32) -> Millis {
    match revisions.saturating_sub(AT_ONCE) {
        0 => 0,
        more => 1000_i64.saturating_mul(1 << more.min(12)).min(60 * 60 * 1000),
    }
}

/// Records that two answers of the API show two PDFs of the document, after it was tried for so long; `None`: they
/// agree.
pub fn disagree(db: &Connection, id: i64, after: Option<Millis>) -> QueryResult<()> {
    tries::change(db, Key::fetch(id), |row| row.disagreed_after = after)
}

/// Records that docsyncd waited in vain for this PDF, which is shown elsewhere.
pub fn accept(db: &Connection, id: i64, pdf: &str) -> QueryResult<()> {
    db.run("UPDATE document SET accepted_pdf = ?2 WHERE id = ?1", params![id, pdf])
}

/// The code of a document whose spooled PDF was lost.
const SPOOL_DAMAGED: &str = "spool_damaged";

/// Like [`transition`] with [`Event::StartOver`]; the document is not due before `due_at`.
pub fn start_over(
    db: &Connection,
    id: i64,
    round: i64,
    due_at: Millis,
    now: Millis,
    reason: &str,
) -> QueryResult<Option<State>> {
    let state = transition(db, id, round, Event::StartOver, now, Some(Because::coded(reason, Some(SPOOL_DAMAGED))))?;
    if state.is_some() {
        tries::change(db, Key::fetch(id), |row| {
            // A single loss is no trouble.
            row.failing_since = row.failing_since.or(Some(now)).filter(|_| row.lost > 0);
            row.lost += 1;
        })?;
        db.run("UPDATE document SET due_at = ?2 WHERE id = ?1", params![id, due_at])?;
    }
    Ok(state)
}

/// What the fetch stage learned about a document.
pub struct Fetched {
    /// `pdf.uuid`, or empty.
    pub pdf: String,
    /// For whom it is ([`edition`]).
    pub whom: String,
    /// Whether that patient has the number that the document is filed by, if both are known.
    pub has_number: Option<bool>,
    /// When the API was asked for the document.
    pub read_at: Millis,
    /// `document.type`
    pub kind: Option<String>,
    /// `patient.uuid`
    pub patient: Option<String>,
    /// `Metadata` as JSON.
    pub metadata: String,
    /// Digest and length of the spooled PDF; `None` if nothing was downloaded, because every destination already has
    /// this version.
    pub spooled: Option<(String, u64)>,
}

/// Records the fetched document and the destinations that must get it, and moves the document on.
pub fn fetched(
    db: &Connection,
    document: &Document,
    fetched: &Fetched,
    destinations: &[String],
    now: Millis,
) -> QueryResult<Option<State>> {
    let Fetched { pdf, whom, has_number, read_at, kind, patient, metadata, spooled } = fetched;
    let (sha256, size) = spooled.clone().unzip();
    let version = document.version_for(pdf, whom, *has_number);
    let known = document.person.as_deref().and_then(|before| edition::merged(before, whom));
    let updated = db.change("UPDATE document SET pdf = ?9, tried_pdf = ?3, kind = ?4, sha256 = coalesce(?5, sha256), size = coalesce(?6, size),
                    read_at = ?7, patient = coalesce(?8, patient), person = ?10
             WHERE id = ?1 AND round = ?2 AND state = 'discovered'", params![document.id, document.round, pdf, kind, sha256, size, read_at, patient, version, known.as_deref().unwrap_or(whom)])?;
    if updated == 0 {
        return Ok(None);
    }
    // If the list has shown no PDF yet, a different one that it shows later must count as new.
    db.run(
        "UPDATE document SET listed_pdf = nullif(?2, '') WHERE id = ?1 AND listed_pdf IS NULL",
        params![document.id, pdf],
    )?;
    db.run(
        "INSERT OR REPLACE INTO document_metadata (document, json) VALUES (?1, ?2)",
        params![document.id, metadata],
    )?;
    deliveries::void(db, document, (&version, whom), now)?;
    let pending = deliveries::plan(db, document.id, &version, destinations, now)?;
    let event = if pending == 0 { Event::AllDelivered } else { Event::Fetched };
    transition(db, document.id, document.round, event, now, None)
}

/// The length of the document's PDF in bytes, if the PDF should be in the spool for this round.
pub fn spooled(db: &Connection, id: i64, round: i64) -> QueryResult<Option<u64>> {
    let Some(document) = of_round(db, id, round, State::Fetched)? else { return Ok(None) };
    Ok(deliveries::any_pending(db, id, &document.version.pdf)?.then_some(document.size.unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_that_begins_anew_without_end_waits_longer_and_longer() {
        let waits: Vec<Millis> = [1, 3, 4, 5, 9, 14, 15, 1000].into_iter().map(wait_after).collect();
        let hour = 3_600_000;
        assert_eq!(waits, [0, 0, 2_000, 4_000, 64_000, 2_048_000, hour, hour]);
    }
}
