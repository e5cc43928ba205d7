//! The last look before an effect. What was decided about a document is about one version of it, of one patient, and
//! the service may correct both. Whoever had to wait since the service last showed the document reads it again, before
//! a delivery as before a report. If it shows another version or another patient, the document begins anew.

use std::time::Duration;

use rusqlite::Connection;

use super::failures::{
    Failed, Scope, after, begins_anew, failed_call, is_of_another_patient, is_there, moved, other_document, wait,
    write_until_durable,
};
use super::transition_log::TransitionLog;
use super::{Context, Edges, Limits, Signals, fetch};
use crate::api::{Api, ApiError, Meaning};
use crate::domain::document::{Metadata, edition};
use crate::domain::failure::{Call, Kind};
use crate::domain::state::{Event, State};
use crate::ledger::deliveries::Delivery;
use crate::ledger::documents::{self, Document};
use crate::ledger::history::Because;
use crate::ledger::{Ledger, LedgerError, Millis, now};
use crate::patients::whom;

/// Why a document that was to be filed is read anew, or waits for that; in words, and as a code.
const NOT_READ: (&str, &str) =
    ("the service may have corrected it since, and does not show it now: it is read again first", "not_read");

/// What was read so long ago may be corrected since, and is read again: a letter that goes through at once takes less.
const FRESH: Duration = Duration::from_secs(10);

/// How long what was read counts without another look.
pub(super) fn fresh_for(limits: &Limits) -> Duration {
    limits.poll_interval.min(FRESH)
}

/// What the API shows of a document.
pub(super) enum Shown {
    /// The version that was decided about, for the same patient, as far as that can be known.
    Same,
    /// Another version, or something else of its patient.
    Another(String),
    /// No PDF: the document is being rendered anew.
    Nothing,
    /// The API does not give the document (any 4xx).
    Refused(Failed),
    Failed(Failed),
}

impl Shown {
    /// By its PDF alone.
    pub(super) fn of(document: &Document, pdf: &str) -> Self {
        let known = match document.state {
            State::Failing => document.tried_pdf.as_deref().or(document.listed_pdf.as_deref()).unwrap_or_default(),
            _ => edition::rendered(&document.version.pdf),
        };
        let is_known = pdf.is_empty() || known.is_empty() || pdf.eq_ignore_ascii_case(known);
        if is_known || document.has_accepted(pdf) { Shown::Same } else { Shown::Another(pdf.to_owned()) }
    }
}

/// Reads the document once more, to see which version the API shows, and of which patient.
pub(super) async fn look(edges: &Edges, client: &dyn Api, document: &Document) -> Result<Shown, LedgerError> {
    let read_at = now();
    let detail = match client.document(&document.version.uuid).await {
        Ok(detail) if !detail.is_of(&document.version.uuid) => return Ok(Shown::Failed(other_document())),
        Ok(detail) => detail,
        Err(error) => return unread(&edges.ledger, document, "reading the document once more", &error).await,
    };
    is_there(&edges.ledger, document).await?;
    let Some(pdf) = detail.pdf.as_ref().map(|pdf| pdf.uuid.clone()) else { return Ok(Shown::Nothing) };
    let shown = Shown::of(document, &pdf);
    // Of a failure nothing lies at anybody's.
    if !matches!(shown, Shown::Same) || document.state == State::Failing {
        return Ok(shown);
    }
    if is_of_another_patient(client, document, &detail).await {
        return Ok(Shown::Another(pdf));
    }
    let metadata = match fetch::metadata(client, &document.version.account, detail).await {
        Ok(metadata) => metadata,
        Err((doing, error)) => return unread(&edges.ledger, document, doing, &error).await,
    };
    // Whoever reads it anew knows whether that is another patient, or the same one under a corrected name, or of whom
    // nothing was shown before.
    if document.is_news(&whom(&metadata, &document.version.uuid)) {
        return Ok(Shown::Another(pdf));
    }
    let (id, round) = (document.id, document.round);
    edges.ledger.write(move |db| documents::shown(db, id, round, read_at)).await?;
    Ok(Shown::Same)
}

/// Whether an answer about the document shows something else of the patient than was known when it was decided about.
pub(super) fn may_be_anothers(document: &Document, shown: &Metadata) -> bool {
    document.may_be_anothers(&whom(shown, &document.version.uuid))
}

async fn unread(ledger: &Ledger, document: &Document, doing: &str, error: &ApiError) -> Result<Shown, LedgerError> {
    let is_refused = error.meaning() == Meaning::Permanent || matches!(error, ApiError::MissingScope { .. });
    let mut failed = failed_call(ledger, document, Call::Read, doing, error).await?;
    // The API showed the document before, so no answer to this read ends it.
    if let Kind::Permanent(code) = failed.failure.kind {
        failed.failure.kind = Kind::Passing(code);
    }
    Ok(if is_refused { Shown::Refused(failed) } else { Shown::Failed(failed) })
}

/// The same before a delivery: whether it may be made. If the API shows something else, the document begins anew. So it
/// does if the API shows nothing: the stage that fetches knows what that means. Nothing is asked of an account that is
/// paused: the delivery waits. If the fetching is paused because several documents cannot be read, it is asked about this
/// one all the same; and what cannot be read then waits.
pub(super) async fn is_same(context: &Context, delivery: &Delivery) -> Result<bool, LedgerError> {
    let Context { edges, rules, signals } = context;
    let document = &delivery.document;
    let is_fresh = |at: Millis| at <= now() && after(at, fresh_for(&rules.limits)) >= now();
    if document.read_at.is_some_and(is_fresh) {
        return Ok(true);
    }
    let fetch = Scope::Fetch(document.version.account.clone());
    let is_fetch_paused = edges.pauses.is_paused_but_for(&fetch, Call::Download);
    match look_unless_paused(edges, document).await? {
        Some(Shown::Same) => return Ok(true),
        Some(Shown::Another(pdf)) => revise(edges, signals, document, Some(pdf)).await?,
        Some(Shown::Refused(_) | Shown::Failed(_)) if is_fetch_paused => {
            edges.pauses.look_failed(&fetch);
            put_off(context, delivery).await?;
        }
        Some(Shown::Nothing | Shown::Refused(_) | Shown::Failed(_)) => read_anew(edges, signals, document).await?,
        None => put_off(context, delivery).await?,
    }
    Ok(false)
}

/// The delivery waits, because the document cannot be read now.
async fn put_off(context: &Context, delivery: &Delivery) -> Result<(), LedgerError> {
    let Context { edges, rules, .. } = context;
    edges.spool.write_all().await;
    let due_at = after(now(), rules.limits.poll_interval);
    wait(&edges.ledger, &delivery.into(), Some(due_at), NOT_READ.0, NOT_READ.1).await
}

/// The same of a document that waits for a person, or that the list shows although it is filed: the service may have
/// corrected its patient. Whatever else the service answers ends nothing: the next poll asks again.
pub(super) async fn follow(edges: &Edges, signals: &Signals, document: &Document) -> Result<(), LedgerError> {
    match look_unless_paused(edges, document).await? {
        Some(Shown::Another(pdf)) => revise(edges, signals, document, Some(pdf)).await,
        _ => Ok(()),
    }
}

async fn look_unless_paused(edges: &Edges, document: &Document) -> Result<Option<Shown>, LedgerError> {
    let account = &document.version.account;
    let is_paused = edges.pauses.is_paused_but_for(&Scope::Account(account.clone()), Call::Download)
        || edges.pauses.is_down_but_for(&Scope::Fetch(account.clone()), Call::Download);
    match edges.clients.get(account).filter(|_| !is_paused) {
        Some(client) => look(edges, client.as_ref(), document).await.map(Some),
        None => Ok(None),
    }
}

async fn read_anew(edges: &Edges, signals: &Signals, document: &Document) -> Result<(), LedgerError> {
    let (id, round) = (document.id, document.round);
    let because = Because::coded(NOT_READ.0, Some(NOT_READ.1));
    let write = move |db: &Connection| documents::transition(db, id, round, Event::StartOver, now(), Some(because));
    let state = edges.ledger.write(write).await?;
    TransitionLog::of(&document.version).warn("start_over", NOT_READ.0);
    moved(edges, signals, document, state, Some(NOT_READ.0)).await;
    Ok(())
}

/// The API shows another PDF or patient than was decided about, or no PDF: the document begins anew.
pub(super) async fn revise(
    edges: &Edges,
    signals: &Signals,
    document: &Document,
    pdf: Option<String>,
) -> Result<(), LedgerError> {
    let (id, round) = (document.id, document.round);
    let anew = write_until_durable(edges, signals, || {
        let pdf = pdf.clone();
        move |db| documents::revise(db, id, round, pdf.as_deref(), now())
    })
    .await?;
    begins_anew(edges, signals, document, anew).await;
    Ok(())
}
