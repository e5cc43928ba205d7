//! What people and programs are shown of the ledger: the shapes behind `--json`. Their field names are stable.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde::Serialize;

use super::waits::Waits;
use super::{Millis, QueryResult, pauses, process};
use crate::language::Reason;
use crate::state::{STATES, State};

/// A time as RFC 3339 in UTC, with milliseconds.
pub fn time(at: Option<Millis>) -> Option<String> {
    at.and_then(|at| jiff::Timestamp::from_millisecond(at).ok()).map(|at| format!("{at:.3}"))
}

/// One account in `status`.
#[derive(Debug, Serialize)]
pub struct AccountView {
    /// Its name.
    pub account: String,
    /// When its list was last read without an error.
    pub last_poll: Option<String>,
    /// Why the last poll failed; null when it did not.
    pub poll_error: Option<String>,
    /// The same for people of any language.
    #[serde(skip)]
    pub told: Option<Reason>,
    /// When the whole list was last read.
    pub last_sweep: Option<String>,
    /// How many of its documents docsyncd still has to work on.
    pub waiting: i64,
    /// Whether it is in the configuration; the ledger does not know.
    pub configured: bool,
}

/// The documents that wait for an account.
fn waiting_for(db: &Connection, account: &str) -> QueryResult<i64> {
    let mut count = db.prepare_cached("SELECT count(*) FROM document WHERE state = ?1 AND account = ?2")?;
    let open = STATES.iter().filter(|state| state.is_open());
    open.map(|state| count.query_row(params![state.as_str(), account], |row| row.get::<_, i64>(0))).sum()
}

/// One pause in `status`.
#[derive(Debug, Serialize)]
pub struct PauseView {
    /// `account:NAME`, `fetch:NAME`, `report:NAME` or `destination:NAME`.
    pub scope: String,
    /// Why.
    pub reason: String,
    /// The same for people of any language.
    #[serde(skip)]
    pub told: Reason,
    /// Since when.
    pub since: Option<String>,
    /// When it is tried again.
    pub next_probe: Option<String>,
}

/// What the ledger has to say for `status`.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// Documents by state; every state is there.
    pub documents: BTreeMap<&'static str, i64>,
    /// Documents that docsyncd still has to work on.
    pub waiting: i64,
    /// Documents that ended in `failed` or `unreported`.
    pub failed: i64,
    /// Documents, of those that wait, that may have arrived at a destination which cannot be asked: a person has to look.
    pub may_have_arrived: i64,
    /// When a document was last reported as synchronized.
    pub last_success: Option<String>,
    /// Accounts by name.
    pub accounts: Vec<AccountView>,
    /// What is paused.
    pub pauses: Vec<PauseView>,
    /// What the process that works on the ledger, or did so last, says of itself.
    pub process: ProcessView,
}

/// A process in `status`.
#[derive(Debug, Default, Serialize)]
pub struct ProcessView {
    /// Its number in the system.
    pub pid: Option<u32>,
    /// When it started.
    pub started_at: Option<String>,
    /// Its version.
    pub version: Option<String>,
}

impl Summary {
    /// What there is to say before there is a ledger.
    pub fn of_nothing() -> Self {
        Self {
            documents: no_documents(),
            waiting: 0,
            failed: 0,
            may_have_arrived: 0,
            last_success: None,
            accounts: Vec::new(),
            pauses: Vec::new(),
            process: ProcessView::default(),
        }
    }
}

fn no_documents() -> BTreeMap<&'static str, i64> {
    STATES.iter().map(|state| (state.as_str(), 0)).collect()
}

/// Documents by state; every state is there.
pub(super) fn counts(db: &Connection) -> QueryResult<BTreeMap<&'static str, i64>> {
    let mut documents = no_documents();
    let mut counts = db.prepare("SELECT state, documents FROM document_count")?;
    for row in counts.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?)))? {
        let (state, count) = row?;
        if let Some(state) = State::parse(&state) {
            documents.insert(state.as_str(), count);
        }
    }
    Ok(documents)
}

pub(super) fn sum(documents: &BTreeMap<&'static str, i64>, wanted: fn(State) -> bool) -> i64 {
    STATES.iter().filter(|state| wanted(**state)).filter_map(|state| documents.get(state.as_str())).sum()
}

/// Documents of which a delivery waits for a person to look.
///
/// # Errors
/// Any SQLite error.
pub(super) fn may_have_arrived(db: &Connection) -> QueryResult<i64> {
    db.prepare("SELECT count(DISTINCT document) FROM delivery INDEXED BY delivery_unconfirmed WHERE unconfirmed_at IS NOT NULL")?
        .query_row([], |row| row.get(0))
}

/// The summary.
///
/// # Errors
/// Any SQLite error.
pub fn summary(db: &Connection) -> QueryResult<Summary> {
    let documents = counts(db)?;
    let accounts = db
        .prepare("SELECT name, polled_at, poll_error, swept_at, poll_code FROM account ORDER BY name")?
        .query_map([], |row| {
            let (account, poll_error): (String, Option<String>) = (row.get(0)?, row.get(2)?);
            let (name, code) = (account.clone(), row.get(4)?);
            Ok(AccountView {
                waiting: waiting_for(db, &account)?,
                configured: true,
                account,
                last_poll: time(row.get(1)?),
                told: poll_error.clone().map(|text| Reason { text, code, name, ended: false }),
                poll_error,
                last_sweep: time(row.get(3)?),
            })
        })?
        .collect::<QueryResult<_>>()?;
    let pauses = pauses::all(db)?
        .into_iter()
        .map(|pause| PauseView {
            told: pause.told(),
            scope: pause.scope,
            reason: pause.reason,
            since: time(Some(pause.since)),
            next_probe: time(Some(pause.probe_at)),
        })
        .collect();
    let mut process = process::all(db)?;
    let last_success: Option<Millis> = process.get("last_success").and_then(|at| at.parse().ok());
    let process = ProcessView {
        pid: process.get("pid").and_then(|pid| pid.parse().ok()),
        started_at: process.remove("started_at"),
        version: process.remove("version"),
    };
    Ok(Summary {
        waiting: sum(&documents, State::is_open),
        failed: sum(&documents, |state| !state.is_open() && state.is_failure()),
        may_have_arrived: may_have_arrived(db)?,
        documents,
        last_success: time(last_success),
        accounts,
        pauses,
        process,
    })
}

/// What a daemon does, in a line for a person who looks at the service.
///
/// # Errors
/// Any SQLite error.
pub fn in_words(db: &Connection) -> QueryResult<String> {
    let documents = counts(db)?;
    let waiting = sum(&documents, State::is_open);
    let failed = sum(&documents, |state| !state.is_open() && state.is_failure());
    let mut words = match waiting {
        0 => "nothing waits".to_owned(),
        1 => "1 document waits".to_owned(),
        n => format!("{n} documents wait"),
    };
    if failed > 0 {
        words.push_str(&format!(", {failed} failed"));
    }
    match may_have_arrived(db)? {
        0 => {}
        count => words.push_str(&format!(", {count} may have arrived")),
    }
    for pause in pauses::all(db)? {
        words.push_str(&format!("; {} is paused: {}", pause.scope, pause.reason));
    }
    Ok(words)
}

/// One document in `list`.
#[derive(Debug, Serialize)]
pub struct DocumentView {
    /// Its identifier.
    pub uuid: String,
    /// The account that lists it.
    pub account: String,
    /// `document.type`
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Where it stands.
    pub state: String,
    /// Failed attempts in this state.
    pub attempts: u32,
    /// When it is worked on next.
    pub next_attempt: Option<String>,
    /// Why it waits or failed; also a pause, or a destination, that it waits for.
    pub reason: Option<String>,
    /// `createdAt` as the API printed it.
    pub created_at: String,
    /// When docsyncd first saw it.
    pub found_at: Option<String>,
    /// When anything about it last changed.
    pub changed_at: Option<String>,
    /// Bytes of its PDF.
    pub size: Option<u64>,
    /// Digest of its PDF.
    pub sha256: Option<String>,
    /// The destinations of its present version, as a person reads them; programs find them in `show`.
    #[serde(skip)]
    pub destinations: Option<String>,
}

const DOCUMENT_COLUMNS: &str = "uuid, account, kind, state, attempts, due_at,
    reason || CASE WHEN state IN ('failing', 'failed') AND report_reason IS NOT NULL
        THEN ' (the API refused the report of this: ' || report_reason || ')' ELSE '' END,
    created_at, found_at, changed_at, size, sha256, id,
    (SELECT group_concat(destination, ', ') FROM delivery WHERE document = document.id AND pdf = document.pdf)";

fn read_document(row: &Row<'_>) -> QueryResult<DocumentView> {
    Ok(DocumentView {
        uuid: row.get(0)?,
        account: row.get(1)?,
        kind: row.get(2)?,
        state: row.get(3)?,
        attempts: row.get(4)?,
        next_attempt: time(row.get(5)?),
        reason: row.get(6)?,
        created_at: row.get(7)?,
        found_at: time(row.get(8)?),
        changed_at: time(row.get(9)?),
        size: row.get(10)?,
        sha256: row.get(11)?,
        destinations: row.get(13)?,
    })
}

/// With what an open document waits for, where its own row does not say it.
fn read_waiting(db: &Connection, waits: &Waits, row: &Row<'_>) -> QueryResult<DocumentView> {
    let mut document = read_document(row)?;
    if document.reason.is_none()
        && let Some(wait) = waits.of(db, row.get(12)?, &document.account, &document.state)?
    {
        document.next_attempt = time(Some(wait.until));
        document.attempts = wait.attempts;
        document.reason = Some(wait.reason.text);
    }
    Ok(document)
}

/// Shows documents one after the other, the newest change first; all, or those in one state. Reads no further once
/// `show` breaks. The ledger is seen as it was at the first of them, and holds no more than one in memory.
///
/// # Errors
/// Any SQLite error.
pub fn list(
    db: &Connection,
    state: Option<State>,
    mut show: impl FnMut(DocumentView) -> ControlFlow<()>,
) -> QueryResult<()> {
    // Each state has its documents in the order that is wanted, so that nothing has to be sorted: they are merged.
    let states = state.map_or(STATES.to_vec(), |state| vec![state]);
    let of_state = |state: &State| format!("SELECT {DOCUMENT_COLUMNS} FROM document WHERE state = '{state}'");
    let all = states.iter().map(of_state).collect::<Vec<_>>().join(" UNION ALL ");
    let mut statement = db.prepare(&format!("{all} ORDER BY changed_at DESC, id DESC"))?;
    let waits = Waits::read(db)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if show(read_waiting(db, &waits, row)?).is_break() {
            break;
        }
    }
    Ok(())
}

/// What is known of a document that the API lists.
pub struct Known {
    /// Where it stands.
    pub state: State,
    /// Whether it has ended and this PDF of it is nothing new.
    pub is_done: bool,
    /// The destinations that have a version, with its PDF and where it lies.
    pub delivered: Vec<(String, String, Option<String>)>,
}

/// What is known of the account's document with this uuid, which the API lists with this PDF.
///
/// # Errors
/// Any SQLite error.
pub fn known(db: &Connection, account: &str, uuid: &str, pdf: Option<&str>) -> QueryResult<Option<Known>> {
    let row = db
        .prepare_cached("SELECT id, state, listed, listed_pdf FROM document WHERE account = ?1 AND uuid = ?2")?
        .query_row(params![account, uuid], |row| {
            Ok((
                row.get::<_, i64>(0)?,
                row.get::<_, String>(1)?,
                row.get::<_, bool>(2)?,
                row.get::<_, Option<String>>(3)?,
            ))
        })
        .optional()?;
    let Some((id, state, listed, listed_pdf)) = row else { return Ok(None) };
    let Some(state) = State::parse(&state) else { return Ok(None) };
    let delivered = db
        .prepare_cached("SELECT destination, pdf, place FROM delivery WHERE document = ?1 AND +state = 'delivered'")?
        .query_map([id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<QueryResult<_>>()?;
    let is_done = !state.is_open() && listed && (pdf.is_none() || pdf == listed_pdf.as_deref());
    Ok(Some(Known { state, is_done, delivered }))
}

/// One delivery in `show`.
#[derive(Debug, Serialize)]
pub struct DeliveryView {
    /// NAME of the destination.
    pub destination: String,
    /// `pending`, `delivered` or `failed`.
    pub state: String,
    /// Failed attempts.
    pub attempts: u32,
    /// When it is tried next.
    pub next_attempt: Option<String>,
    /// Why it waits or failed.
    pub reason: Option<String>,
    /// Where it lies. May contain patient data: it is shown to the person who asks and never logged.
    pub place: Option<String>,
    /// The PDF's identifier.
    pub pdf: String,
    /// When the row last changed.
    pub changed_at: Option<String>,
    /// Whether it may have arrived, and waits for a person to look there.
    pub may_have_arrived: bool,
}

/// One row of history in `show`.
#[derive(Debug, Serialize)]
pub struct HistoryView {
    /// When.
    pub at: Option<String>,
    /// What happened.
    pub event: String,
    /// The state after it.
    pub state: String,
    /// Failed attempts so far.
    pub attempt: u32,
    /// The destination concerned.
    pub destination: Option<String>,
    /// Why.
    pub reason: Option<String>,
}

/// Everything about one document: `show`.
#[derive(Debug, Serialize)]
pub struct DocumentHistory {
    /// The document.
    #[serde(flatten)]
    pub document: DocumentView,
    /// Its deliveries.
    pub deliveries: Vec<DeliveryView>,
    /// Everything that happened to it, oldest first.
    pub history: Vec<HistoryView>,
}

/// The whole history of one document by the ledger's number.
///
/// # Errors
/// Any SQLite error.
pub fn show(db: &Connection, id: i64) -> QueryResult<DocumentHistory> {
    let waits = Waits::read(db)?;
    let sql = format!("SELECT {DOCUMENT_COLUMNS} FROM document WHERE id = ?1");
    let document = db.query_row(&sql, [id], |row| read_waiting(db, &waits, row))?;
    let deliveries = db
        .prepare(
            "SELECT destination, state, attempts, due_at, reason, place, pdf, changed_at, unconfirmed_at IS NOT NULL
             FROM delivery WHERE document = ?1 ORDER BY changed_at, destination",
        )?
        .query_map(params![id], |row| {
            Ok(DeliveryView {
                destination: row.get(0)?,
                state: row.get(1)?,
                attempts: row.get(2)?,
                next_attempt: time(row.get(3)?),
                reason: row.get(4)?,
                place: row.get(5)?,
                pdf: row.get(6)?,
                changed_at: time(row.get(7)?),
                may_have_arrived: row.get(8)?,
            })
        })?
        .collect::<QueryResult<_>>()?;
    let history = db
        .prepare("SELECT at, event, state, attempt, destination, reason FROM history WHERE document = ?1 ORDER BY id")?
        .query_map(params![id], |row| {
            Ok(HistoryView {
                at: time(row.get(0)?),
                event: row.get(1)?,
                state: row.get(2)?,
                attempt: row.get(3)?,
                destination: row.get(4)?,
                reason: row.get(5)?,
            })
        })?
        .collect::<QueryResult<_>>()?;
    Ok(DocumentHistory { document, deliveries, history })
}
