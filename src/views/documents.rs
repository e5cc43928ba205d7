//! Documents one by one: lists, `show`, the pages of letters, and the data for `preview`.

use std::ops::ControlFlow;

use rusqlite::{Connection, Row, params};
use serde::Serialize;

use super::in_json;
use super::waits::Waits;
use crate::domain::document::{DocumentUuid, edition};
use crate::domain::state::{STATES, State};
use crate::formats::language::{Language, Reason};
use crate::ledger::columns::{Statements as _, as_json, from_row};
use crate::ledger::documents::{self, Document};
use crate::ledger::history::{ASSIGNED, UNASSIGNED};
use crate::ledger::tries::{self, Key, Tries};
use crate::ledger::{Millis, QueryResult, listed};

/// One document. What is not in its JSON can be patient data, so it has no `Debug`.
#[derive(Clone, Serialize)]
pub struct DocumentView {
    /// The ledger's number of it.
    #[serde(skip)]
    pub id: i64,
    /// Its identifier.
    pub uuid: String,
    /// The account that lists it.
    pub account: String,
    /// `document.type`
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Its state.
    pub state: State,
    /// Failed attempts in this state.
    pub attempts: u32,
    /// When it is processed next.
    #[serde(serialize_with = "in_json")]
    pub next_attempt: Option<Millis>,
    /// Why it waits or failed, including a pause or a destination that it waits for.
    pub reason: Option<String>,
    /// `createdAt` as the API printed it.
    pub created_at: String,
    /// When docsyncd first saw it.
    #[serde(serialize_with = "in_json")]
    pub found_at: Millis,
    /// When anything about it last changed.
    #[serde(serialize_with = "in_json")]
    pub changed_at: Millis,
    /// Bytes of its PDF.
    pub size: Option<u64>,
    /// Digest of its PDF.
    pub sha256: Option<String>,
    /// The round, by which the spool identifies the PDF's file.
    #[serde(skip)]
    pub round: i64,
    /// The patient's name, as far as it is kept. Shown only to the person who asks.
    #[serde(skip)]
    pub name: Option<String>,
    /// `reason` as data, to be told in a person's language: one, or one for each destination that refused it.
    #[serde(skip)]
    pub reasons: Vec<Reason>,
    /// Its deliveries; programs find them in `show`.
    #[serde(skip)]
    pub deliveries: Vec<DeliveryView>,
}

/// A delivery.
#[derive(Clone, Serialize)]
pub struct DeliveryView {
    /// NAME of the destination.
    pub destination: String,
    /// `pending`, `filed`, `delivered` or `failed`.
    pub state: String,
    /// Failed attempts.
    pub attempts: u32,
    /// When it is tried next.
    #[serde(serialize_with = "in_json")]
    pub next_attempt: Option<Millis>,
    /// Why it waits or failed, or what is left to do there.
    pub reason: Option<Reason>,
    /// Where it lies. May contain patient data: shown to the person who asks, and never logged.
    pub place: Option<String>,
    /// The PDF's identifier.
    pub pdf: String,
    /// Of how many corrections of the patient or the number it knows. The highest is the one that counts: what has a
    /// lower one was filed for another patient.
    pub edition: u32,
    /// The same with its edition.
    #[serde(skip)]
    pub version: String,
    /// When the row last changed.
    #[serde(serialize_with = "in_json")]
    pub changed_at: Millis,
    /// Whether it may have arrived, and waits for a person to look there.
    pub may_have_arrived: bool,
    /// The proof that it is there (`proof::Proof`); null before that.
    pub proof: Option<String>,
    /// The patient's number that it was sent with. Shown only to the person who asks.
    #[serde(skip)]
    pub number: Option<String>,
    /// Why the patient's number is unknown (`patients::Unmatched`).
    #[serde(skip)]
    pub unmatched: Option<String>,
    /// Whether it is of the document's current version.
    #[serde(skip)]
    pub is_present: bool,
    /// Whether it was filed for another patient, or by another patient's number.
    #[serde(skip)]
    pub is_anothers: bool,
}

/// The state of a delivery that its destination's software has not taken yet.
const FILED: &str = "filed";
/// The code of what a person has to remove.
const BESIDE: &str = "not_replaced";
/// The same of what was filed for another patient, as in the history.
const FOR_ANOTHER: &str = "filed_for_another";

impl DeliveryView {
    /// Whether a person has to remove it, or what lies beside it.
    pub fn is_to_remove(&self) -> bool {
        let code = self.reason.as_ref().and_then(|reason| reason.code.as_deref());
        code.is_some_and(|code| code == BESIDE || code == FOR_ANOTHER)
    }

    /// What tells a copy apart from the one that counts, as the key of its text; `None`: it is that one. What was filed
    /// for another patient is to be removed until a person said that it is.
    pub fn mark(&self) -> Option<&'static str> {
        match (self.is_anothers, self.is_present) {
            (true, _) if self.is_to_remove() => Some("letter-for-another"),
            (true, _) => Some("letter-was-removed"),
            (false, false) => Some("letter-older-version"),
            (false, true) => None,
        }
    }

    /// What somebody is shown who looks for the letter of the patient of today: where it lies. Of what was filed for
    /// another patient that it lies there, until a person removed it, and not by which name; `None`: nothing.
    pub fn place_to_find(&self) -> Option<Option<String>> {
        match self.is_anothers {
            true => self.is_to_remove().then_some(None),
            false => self.place.clone().map(Some),
        }
    }
}

/// The state as people are told it: `filed` if nothing is left to be filed, and some software has not taken it yet.
pub fn stands(state: State, deliveries: &[DeliveryView]) -> &'static str {
    let has = |wanted: &str| deliveries.iter().any(|one| one.is_present && one.state == wanted);
    match state {
        State::Fetched if has(FILED) && !has("pending") => FILED,
        _ => state.as_str(),
    }
}

impl DocumentView {
    /// See [`stands`].
    pub fn stands(&self) -> &'static str {
        stands(self.state, &self.deliveries)
    }

    /// The deliveries of the current version.
    pub fn present(&self) -> impl Iterator<Item = &DeliveryView> {
        self.deliveries.iter().filter(|delivery| delivery.is_present)
    }
}

/// The order of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The last changed come first.
    Newest,
    /// Those unchanged for longest come first.
    Oldest,
}

/// Shows documents one after another, the last changed first: all, or those in one state. Reads no further once `show`
/// breaks. All are from the same moment, and only one is in memory at a time.
///
/// # Errors
/// Any SQLite error.
pub fn list(
    db: &Connection,
    state: Option<State>,
    show: impl FnMut(DocumentView) -> ControlFlow<()>,
) -> QueryResult<()> {
    let states = state.map_or(STATES.to_vec(), |state| vec![state]);
    each(db, &states, Millis::MIN, Order::Newest, show)
}

/// As [`list`], for documents in one of these states that changed since `since`.
pub(super) fn each(
    db: &Connection,
    states: &[State],
    since: Millis,
    order: Order,
    mut show: impl FnMut(DocumentView) -> ControlFlow<()>,
) -> QueryResult<()> {
    let direction = if order == Order::Newest { "DESC" } else { "ASC" };
    let sorted = format!("ORDER BY changed_at {direction}, id {direction}");
    let (open, ended): (Vec<State>, Vec<State>) = states.iter().partition(|state| state.is_open());
    let open: Vec<&str> = open.into_iter().map(State::as_str).collect();
    // What is open is sorted by its numbers. The index has each state's ended documents in the wanted order, so they
    // are merged and need no sorting.
    let open: Vec<(Millis, i64)> = db.rows(
        &format!(
            "SELECT changed_at, id FROM document INDEXED BY document_open WHERE due_at IS NOT NULL
               AND state IN (SELECT value FROM json_each(?1)) AND changed_at >= ?2 {sorted}"
        ),
        params![as_json(&open), since],
    )?;
    let mut open = open.into_iter().peekable();
    let all = ended.iter().map(|state| state.as_str()).chain([""]).map(|state| {
        format!("SELECT {COLUMNS} FROM document WHERE due_at IS NULL AND state = '{state}' AND changed_at >= ?1")
    });
    let all = all.collect::<Vec<_>>().join(" UNION ALL ");
    let mut one = db.prepare_cached(&format!("SELECT {COLUMNS} FROM document WHERE id = ?1"))?;
    let mut statement = db.prepare_cached(&format!("{all} {sorted}"))?;
    let waits = Waits::read(db)?;
    let mut rows = statement.query([since])?;
    loop {
        let next = rows.next()?;
        let at = next.map(|row| Ok::<_, rusqlite::Error>((row.get("changed_at")?, row.get("id")?))).transpose()?;
        let is_before = |open: &(Millis, i64)| at.is_none_or(|at| (*open < at) == (order == Order::Oldest));
        while let Some((_, id)) = open.next_if(is_before) {
            if show(one.query_row([id], |row| read(db, &waits, row))?).is_break() {
                return Ok(());
            }
        }
        let Some(row) = next else { return Ok(()) };
        if show(read(db, &waits, row)?).is_break() {
            return Ok(());
        }
    }
}

/// The documents with these numbers in the ledger, in that order.
///
/// # Errors
/// Any SQLite error; [`rusqlite::Error::QueryReturnedNoRows`] if there is none of that number.
pub(super) fn of(db: &Connection, ids: impl IntoIterator<Item = i64>) -> QueryResult<Vec<DocumentView>> {
    let waits = Waits::read(db)?;
    let mut statement = db.prepare_cached(&format!("SELECT {COLUMNS} FROM document WHERE id = ?1"))?;
    ids.into_iter().map(|id| statement.query_row([id], |row| read(db, &waits, row))).collect()
}

/// The document with this number in the ledger.
///
/// # Errors
/// Any SQLite error; [`rusqlite::Error::QueryReturnedNoRows`] if there is none of that number.
pub fn one(db: &Connection, id: i64) -> QueryResult<DocumentView> {
    of(db, [id])?.pop().ok_or(rusqlite::Error::QueryReturnedNoRows)
}

/// Everything about one document: `show`.
#[derive(Serialize)]
pub struct DocumentHistory {
    /// The document.
    #[serde(flatten)]
    pub document: DocumentView,
    /// Its deliveries, which `document` has no more.
    pub deliveries: Vec<DeliveryView>,
    /// Everything that happened to it, oldest first.
    pub history: Vec<HistoryView>,
}

/// One row of history in `show`.
#[derive(Serialize)]
pub struct HistoryView {
    /// When it happened.
    #[serde(serialize_with = "in_json")]
    pub at: Millis,
    /// What happened.
    pub event: String,
    /// The state after it.
    pub state: String,
    /// Failed attempts so far.
    pub attempt: u32,
    /// The destination concerned.
    pub destination: Option<String>,
    /// Why.
    pub reason: Option<Reason>,
    /// Who did it: the operating system's user, or a browser. Only of what a person did with this document.
    pub who: Option<String>,
    /// The patient's number that a person gave or took back. Shown only to the person who asks.
    #[serde(skip)]
    pub number: Option<String>,
}

impl HistoryView {
    /// "by anna" if a person did it; of a decision "Number 0042, in the practice's list; by anna". `who` as the place
    /// shows people. The number of a letter that was forgotten is not kept.
    pub fn by_whom(&self, language: Language, who: &str) -> String {
        if !is_decision(&self.event) {
            return language.fill("letter-by", &[("who", who.into())]);
        }
        let is_listed = self.reason.as_ref().is_some_and(|reason| reason.code.as_deref() == Some("listed"));
        let listed = language.text(if is_listed { "letter-listed" } else { "letter-not-listed" });
        let number = self.number.as_deref().unwrap_or("–");
        let values = [("number", number.into()), ("listed", (&listed).into()), ("who", who.into())];
        language.fill("letter-decision", &values)
    }
}

fn is_decision(event: &str) -> bool {
    [ASSIGNED, UNASSIGNED].contains(&event)
}

fn event(account: &str, row: &Row<'_>) -> QueryResult<HistoryView> {
    let (text, code): (Option<String>, Option<String>) = (row.get("reason")?, row.get("code")?);
    let event: String = row.get("event")?;
    let destination: Option<String> = row.get("destination")?;
    // The code stays when the reason was erased.
    let (number, text) = if is_decision(&event) {
        (text, code.as_deref().map(|code| if code == "listed" { LISTED } else { NOT_LISTED }.to_owned()))
    } else {
        (None, text)
    };
    let ended = ["delivery_failed", "refused"].contains(&event.as_str());
    let name = destination.clone().unwrap_or_else(|| account.to_owned());
    let reason = text.map(|text| Reason { text, code, name, ended });
    Ok(from_row!(row => HistoryView {
        at, state, attempt, who; reason: reason, event: event, destination: destination, number: number
    }))
}

/// The remark beside a number that a person gave.
const LISTED: &str = "in the practice's list";
/// See [`LISTED`].
const NOT_LISTED: &str = "not in the practice's list";

impl DocumentHistory {
    /// Whether the beginning of the history was removed (`state.keep_history`).
    pub fn is_cut(&self) -> bool {
        self.history.first().is_none_or(|row| row.event != "discovered")
    }
}

/// The whole history of one document by the ledger's number.
///
/// # Errors
/// Any SQLite error.
pub fn show(db: &Connection, id: i64) -> QueryResult<DocumentHistory> {
    let mut document = one(db, id)?;
    let mut deliveries = std::mem::take(&mut document.deliveries);
    // Once the service has it from elsewhere, nothing is to be filed any more.
    if [State::Reported, State::Withdrawn].contains(&document.state) {
        deliveries.retain(|delivery| delivery.state != "pending" || delivery.is_to_remove());
    }
    let history = db
        .prepare_cached(
            "SELECT at, event, state, attempt, destination, reason, code, who FROM history WHERE document = ?1 ORDER BY id",
        )?
        .query_map([id], |row| event(&document.account, row))?
        .collect::<QueryResult<_>>()?;
    Ok(DocumentHistory { document, deliveries, history })
}

/// What is known of a document that the API lists.
pub struct KnownDocument {
    /// The document itself.
    pub document: Document,
    /// See [`stands`].
    pub stands: &'static str,
    /// Whether it has ended and this PDF is not new.
    pub is_done: bool,
    /// Deliveries of versions that lie at their destination, proved or not.
    pub delivered: Vec<DeliveryView>,
}

/// What is known of the document with this uuid, whichever account lists it. `pdf` is the PDF that the API lists.
///
/// # Errors
/// Any SQLite error.
pub fn known(db: &Connection, uuid: &DocumentUuid, pdf: Option<&str>) -> QueryResult<Option<KnownDocument>> {
    let Some(listed::Known { id, state, listed, listed_pdf, .. }) = listed::known(db, uuid)? else {
        return Ok(None);
    };
    let mut delivered = deliveries(db, id)?;
    let stands = stands(state, &delivered);
    delivered.retain(|delivery| [FILED, "delivered"].contains(&delivery.state.as_str()));
    let is_done = !state.is_open() && listed && (pdf.is_none() || pdf == listed_pdf.as_deref());
    Ok(documents::by_number(db, id)?.map(|document| KnownDocument { document, stands, is_done, delivered }))
}

const COLUMNS: &str =
    "id, uuid, account, kind, state, due_at AS next_attempt, created_at, found_at, changed_at, size, sha256, round,
    (SELECT nullif(shown, '') FROM name WHERE name.document = document.id) AS name";

/// Reads a document. Adds what an open one waits for, if its own row does not say.
fn read(db: &Connection, waits: &Waits, row: &Row<'_>) -> QueryResult<DocumentView> {
    let (id, state) = (row.get("id")?, row.get("state")?);
    let mut document = from_row!(row => DocumentView {
        uuid, account, kind, next_attempt, created_at, found_at, changed_at, size, sha256, round, name;
        id: id, state: state, attempts: tries::of(db, Key::tried(id, state))?.attempts,
        reason: None, reasons: Vec::new(), deliveries: Vec::new()
    });
    let Tries { reason, reason_code: code, .. } = tries::of(db, Key::told(id, state))?;
    document.deliveries = deliveries(db, document.id)?;
    let is_failed = [State::Failing, State::Failed].contains(&document.state);
    if let Some(text) = reason {
        let report = tries::of(db, Key::report(id))?;
        document.reason = Some(match report.reason.filter(|_| is_failed && report.reason_code.is_some()) {
            Some(refused) => format!("{text} (the API refused the report of this: {refused})"),
            None => text.clone(),
        });
        let (name, ended) = (document.account.clone(), document.state.is_failure());
        document.reasons.push(Reason { text, code, name, ended });
    } else if let Some(wait) = waits.of(&document) {
        document.next_attempt = wait.until;
        document.attempts = wait.attempts;
        document.reason = Some(wait.reason.text.clone());
        document.reasons.push(wait.reason);
    }
    // Why destinations refused a document that failed, each in its own words, instead of all in one line.
    if is_failed && document.reasons.iter().all(|reason| reason.code.is_none()) {
        let failed = document.present().filter(|delivery| delivery.state == "failed");
        let refused: Vec<Reason> = failed.filter_map(|delivery| delivery.reason.clone()).collect();
        if !refused.is_empty() {
            document.reasons = refused;
        }
    }
    Ok(document)
}

/// The deliveries of a document, the last changed at the end. Of earlier versions only completed ones are included.
fn deliveries(db: &Connection, id: i64) -> QueryResult<Vec<DeliveryView>> {
    db.prepare_cached(
        "SELECT destination, state, CASE WHEN state <> 'filed' THEN due_at END AS next_attempt, to_remove, place, pdf,
                changed_at, unconfirmed_at IS NOT NULL AS may_have_arrived, proof, number, unmatched,
                pdf = (SELECT pdf FROM document WHERE id = ?1) AS is_present,
                (SELECT pdf FROM document WHERE id = ?1) AS present
         FROM delivery WHERE document = ?1 AND +state <> 'again'
           AND (is_present OR +state <> 'pending' OR to_remove IS NOT NULL)
         ORDER BY changed_at, destination",
    )?
    .query_map([id], |row| {
        let (name, ended): (String, _) = (row.get("destination")?, row.get_ref("state")?.as_str()? == "failed");
        let (version, present): (String, String) = (row.get("pdf")?, row.get("present")?);
        let edition = edition::edition(&version);
        let is_anothers = edition != edition::edition(&present);
        let Tries { attempts, reason, reason_code, .. } = tries::of(db, Key::delivery(id, &version, &name))?;
        let (text, code) = match row.get("to_remove")? {
            // What lies there for another patient is no old version.
            Some(text) => (Some(text), Some(if is_anothers { FOR_ANOTHER } else { BESIDE }.to_owned())),
            None => (reason, reason_code),
        };
        let reason = text.map(|text| Reason { text, code, name, ended });
        Ok(from_row!(row => DeliveryView {
            destination, state, next_attempt, place, changed_at, may_have_arrived, proof, number, unmatched,
            is_present; attempts: attempts, reason: reason, edition: edition, is_anothers: is_anothers,
            pdf: edition::rendered(&version).to_owned(), version: version
        }))
    })?
    .collect()
}

#[cfg(test)]
mod tests {
    use super::{DeliveryView, stands};
    use crate::domain::state::State;
    use crate::formats::language::Language;
    use crate::ledger::failures::{Charge, Postponed};
    use crate::ledger::work::Work;
    use crate::ledger::{accounts, deliveries, documents, listed, testing};

    #[test]
    fn what_is_filed_and_not_yet_taken_is_not_to_be_filed() {
        for (deliveries, told) in [
            (vec!["filed"], "filed"),
            (vec!["filed", "delivered"], "filed"),
            (vec!["filed", "pending"], "fetched"),
            (vec!["pending"], "fetched"),
        ] {
            let (_folder, db) = testing::empty();
            listed::see(&db, &testing::reader("main"), &testing::shown("a", Some("p")), 10).unwrap();
            db.execute_batch("UPDATE document SET state = 'fetched', pdf = 'p'").unwrap();
            for (number, state) in deliveries.iter().enumerate() {
                let due_at = (*state == "pending").then_some(10);
                let row = rusqlite::params![format!("d{number}"), state, due_at];
                let sql = "INSERT INTO delivery (document, pdf, destination, state, due_at, changed_at)
                           SELECT id, 'p', ?1, ?2, ?3, 10 FROM document";
                db.execute(sql, row).unwrap();
            }
            let shown = super::show(&db, 1).unwrap();
            assert_eq!(stands(shown.document.state, &shown.deliveries), told, "{deliveries:?}");
            assert_eq!((super::one(&db, 1).unwrap().stands(), shown.document.state), (told, State::Fetched));
            let is_told = shown.document.reasons.iter().any(|one| one.code.as_deref() == Some("not_taken"));
            assert_eq!(
                is_told,
                told == "filed",
                "{deliveries:?}: what is to be filed first is no wait for the software"
            );
            let to_confirm = crate::views::facts::to_confirm(&db, None).unwrap();
            assert_eq!(to_confirm, u64::from(told == "filed"), "{deliveries:?}: counted once, as it stands in lists");
        }
    }

    #[test]
    fn a_copy_that_was_removed_is_told_apart_and_what_ended_elsewhere_waits_nowhere() {
        let (_folder, db) = testing::empty();
        listed::see(&db, &testing::reader("main"), &testing::shown("a", Some("p")), 10).unwrap();
        db.execute_batch(
            "UPDATE document SET state = 'reported', pdf = 'p/1';
             INSERT INTO delivery (document, pdf, destination, state, to_remove, changed_at) VALUES
                 (1, 'p', 'pms', 'delivered', 'remove it', 10), (1, 'o', 'pms', 'delivered', NULL, 11);
             INSERT INTO delivery (document, pdf, destination, state, changed_at) VALUES (1, 'p/1', 'pms', 'delivered', 12);
             INSERT INTO delivery (document, pdf, destination, state, due_at, changed_at) VALUES (1, 'p/1', 'later', 'pending', 13, 13)",
        )
        .unwrap();
        let marks = || super::show(&db, 1).unwrap().deliveries.iter().map(DeliveryView::mark).collect::<Vec<_>>();
        assert_eq!(marks(), [Some("letter-for-another"), Some("letter-was-removed"), None]);
        deliveries::removed(&db, 1).unwrap();
        assert_eq!(marks(), [Some("letter-was-removed"), Some("letter-was-removed"), None]);
        db.execute_batch("UPDATE delivery SET pdf = 'o/1' WHERE pdf = 'o'").unwrap();
        assert_eq!(marks(), [Some("letter-was-removed"), Some("letter-older-version"), None]);
    }

    #[test]
    fn a_reason_that_is_over_is_still_told_in_the_language_of_the_reader() {
        let (_folder, db) = testing::empty();
        accounts::progress(&db, "main").unwrap();
        listed::see(&db, &testing::reader("main"), &testing::shown("a", Some("p")), 10).unwrap();
        let document = || documents::by_number(&db, 1).unwrap().unwrap();
        let code = Some("read passing status_503");
        let charge = Some(Charge { doubtful: false, failing_for: 1, began: 10 });
        let postponed = Postponed { due_at: Some(11), reason: "HTTP 503", code, failure: None, charge };
        Work::from(&document()).postpone(&db, &postponed, 10).unwrap();
        documents::fetched(&db, &document(), &testing::fetched("p"), &["pms".to_owned()], 12).unwrap();
        let shown = super::show(&db, 1).unwrap();
        assert!(shown.document.reasons.is_empty(), "it is over");
        let told =
            shown.history.iter().find_map(|row| row.reason.as_ref()).map(|reason| Language::German.reason(reason));
        assert_eq!(told.as_deref(), Some("Der Dienst ist gestört (Code 503)."));
    }
}
